//! Pooling with indices: the backend returns structs.

use burn_backend::{
    IntDType,
    tensor::{FloatTensor, IntTensor},
};
use burn_ir::BackendIr;

use crate::context::Outcome;

pub(crate) fn module_max_pool1d_with_indices<B: BackendIr>(
    x: FloatTensor<B>,
    kernel_size: usize,
    stride: usize,
    padding: usize,
    dilation: usize,
    ceil_mode: bool,
    indices_dtype: IntDType,
) -> Outcome<(FloatTensor<B>, IntTensor<B>)> {
    let pooled = B::max_pool1d_with_indices(
        x,
        kernel_size,
        stride,
        padding,
        dilation,
        ceil_mode,
        indices_dtype,
    );
    Ok((pooled.output, pooled.indices))
}

#[allow(clippy::too_many_arguments)]
pub(crate) fn module_max_pool1d_with_indices_backward<B: BackendIr>(
    x: FloatTensor<B>,
    kernel_size: usize,
    stride: usize,
    padding: usize,
    dilation: usize,
    ceil_mode: bool,
    grad: FloatTensor<B>,
    indices: IntTensor<B>,
) -> Outcome<FloatTensor<B>> {
    let backward = B::max_pool1d_with_indices_backward(
        x,
        kernel_size,
        stride,
        padding,
        dilation,
        ceil_mode,
        grad,
        indices,
    );
    Ok(backward.x_grad)
}

pub(crate) fn module_max_pool2d_with_indices<B: BackendIr>(
    x: FloatTensor<B>,
    kernel_size: [usize; 2],
    stride: [usize; 2],
    padding: [usize; 2],
    dilation: [usize; 2],
    ceil_mode: bool,
    indices_dtype: IntDType,
) -> Outcome<(FloatTensor<B>, IntTensor<B>)> {
    let pooled = B::max_pool2d_with_indices(
        x,
        kernel_size,
        stride,
        padding,
        dilation,
        ceil_mode,
        indices_dtype,
    );
    Ok((pooled.output, pooled.indices))
}

#[allow(clippy::too_many_arguments)]
pub(crate) fn module_max_pool2d_with_indices_backward<B: BackendIr>(
    x: FloatTensor<B>,
    kernel_size: [usize; 2],
    stride: [usize; 2],
    padding: [usize; 2],
    dilation: [usize; 2],
    ceil_mode: bool,
    grad: FloatTensor<B>,
    indices: IntTensor<B>,
) -> Outcome<FloatTensor<B>> {
    let backward = B::max_pool2d_with_indices_backward(
        x,
        kernel_size,
        stride,
        padding,
        dilation,
        ceil_mode,
        grad,
        indices,
    );
    Ok(backward.x_grad)
}
