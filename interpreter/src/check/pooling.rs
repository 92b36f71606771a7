//! Pooling: `x` is `[batch, channels, …]`, and the output keeps the first two axes.

use burn_backend::ops::conv::calculate_pool_output_size;
use burn_ir::TensorIr;

use super::convolution::Window;
use super::{ensure, rank, refuse, shaped, shaped_by};
use crate::context::Outcome;

fn pooled<const N: usize>(
    x: &TensorIr,
    window: &Window<N>,
    ceil_mode: bool,
    out: &TensorIr,
) -> Outcome {
    // The last window may begin inside and end outside.
    let slack = match ceil_mode {
        true => window.stride.map(|stride| stride.saturating_sub(1)),
        false => [0; N],
    };
    window.fits(x, slack, 1)?;
    shaped_by(out, &x.shape, |axis, size| match axis.checked_sub(2) {
        None => size,
        Some(axis) => calculate_pool_output_size(
            window.kernel[axis],
            window.stride[axis],
            window.padding[axis].0,
            window.dilation[axis],
            size,
            ceil_mode,
        ),
    })
}

/// The output is the average pooling of a signal.
pub(crate) fn averaged1d(
    x: &TensorIr,
    kernel: &usize,
    stride: &usize,
    padding: &usize,
    ceil_mode: &bool,
    out: &TensorIr,
) -> Outcome {
    pooled1d(x, kernel, stride, padding, &1, ceil_mode, out)
}

/// The output is the average pooling of an image.
pub(crate) fn averaged2d(
    x: &TensorIr,
    kernel: &[usize; 2],
    stride: &[usize; 2],
    padding: &[usize; 2],
    ceil_mode: &bool,
    out: &TensorIr,
) -> Outcome {
    pooled2d(x, kernel, stride, padding, &[1, 1], ceil_mode, out)
}

/// The output is the pooling of a signal.
pub(crate) fn pooled1d(
    x: &TensorIr,
    kernel: &usize,
    stride: &usize,
    padding: &usize,
    dilation: &usize,
    ceil_mode: &bool,
    out: &TensorIr,
) -> Outcome {
    let window = Window {
        kernel: [*kernel],
        stride: [*stride],
        padding: [(*padding, *padding)],
        dilation: [*dilation],
    };
    pooled(x, &window, *ceil_mode, out)
}

/// The output is the pooling of an image.
pub(crate) fn pooled2d(
    x: &TensorIr,
    kernel: &[usize; 2],
    stride: &[usize; 2],
    padding: &[usize; 2],
    dilation: &[usize; 2],
    ceil_mode: &bool,
    out: &TensorIr,
) -> Outcome {
    let window = Window {
        kernel: *kernel,
        stride: *stride,
        padding: padding.map(|padding| (padding, padding)),
        dilation: *dilation,
    };
    pooled(x, &window, *ceil_mode, out)
}

/// The output has the sizes that are asked for, and each element something to come from.
fn resized<const N: usize>(x: &TensorIr, sizes: [usize; N], out: &TensorIr) -> Outcome {
    rank(x, N + 2)?;
    let empty = x.shape[2..].contains(&0) || sizes.contains(&0);
    ensure(!empty, || {
        let (id, shape) = (x.id, &x.shape);
        alloc::format!("{id} of shape {shape} cannot be brought to the size {sizes:?}")
    })?;
    let mut shape = x.shape.clone();
    shape[2..].copy_from_slice(&sizes);
    shaped(out, &shape)
}

/// The output is the signal at another size.
pub(crate) fn resized1d(x: &TensorIr, output_size: &usize, out: &TensorIr) -> Outcome {
    resized(x, [*output_size], out)
}

/// The output is the image at another size.
pub(crate) fn resized2d(x: &TensorIr, output_size: &[usize; 2], out: &TensorIr) -> Outcome {
    resized(x, *output_size, out)
}

/// The output is the volume at another size.
pub(crate) fn resized3d(x: &TensorIr, output_size: &[usize; 3], out: &TensorIr) -> Outcome {
    resized(x, *output_size, out)
}

fn resized_gradient<const N: usize>(x: &TensorIr, grad: &TensorIr) -> Outcome {
    rank(grad, N + 2)?;
    let mut sizes = [0; N];
    sizes.copy_from_slice(&grad.shape[2..]);
    resized(x, sizes, grad)
}

/// The gradient is that of the signal at another size.
pub(crate) fn resized_gradient1d(x: &TensorIr, grad: &TensorIr) -> Outcome {
    resized_gradient::<1>(x, grad)
}

/// The gradient is that of the image at another size.
pub(crate) fn resized_gradient2d(x: &TensorIr, grad: &TensorIr) -> Outcome {
    resized_gradient::<2>(x, grad)
}

/// The gradient is that of the volume at another size.
pub(crate) fn resized_gradient3d(x: &TensorIr, grad: &TensorIr) -> Outcome {
    resized_gradient::<3>(x, grad)
}

/// The output has an element of the image for each point of the grid, `[batch, …, 2]`.
pub(crate) fn sampled2d(tensor: &TensorIr, grid: &TensorIr, out: &TensorIr) -> Outcome {
    rank(tensor, 4)?;
    rank(grid, 4)?;
    if grid.shape[0] != tensor.shape[0] || grid.shape[3] != 2 {
        return refuse(alloc::format!(
            "{} of shape {} is no grid for {} of shape {}",
            grid.id,
            grid.shape,
            tensor.id,
            tensor.shape
        ));
    }
    let [batch, channels] = [tensor.shape[0], tensor.shape[1]];
    shaped(out, &[batch, channels, grid.shape[1], grid.shape[2]])
}
