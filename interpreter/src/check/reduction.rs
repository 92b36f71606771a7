//! Reductions, scans and sorting.

use burn_ir::TensorIr;

use super::{ensure, shaped, shaped_but};
use crate::context::Outcome;

/// The axis is one of the tensor's.
pub(crate) fn axis(tensor: &TensorIr, axis: &usize) -> Outcome {
    ensure(*axis < tensor.shape.rank(), || {
        let (id, shape) = (tensor.id, &tensor.shape);
        alloc::format!("axis {axis} is out of range for {id} of shape {shape}")
    })
}

/// The axes are the tensor's, each named once.
pub(crate) fn axes(tensor: &TensorIr, axes: &[usize]) -> Outcome {
    for (position, one) in axes.iter().enumerate() {
        axis(tensor, one)?;
        ensure(!axes[..position].contains(one), || {
            alloc::format!("axis {one} is named twice in {axes:?}")
        })?;
    }
    Ok(())
}

/// There is an element to choose.
pub(crate) fn not_empty(tensor: &TensorIr) -> Outcome {
    ensure(!tensor.shape.contains(&0), || {
        let (id, shape) = (tensor.id, &tensor.shape);
        alloc::format!("{id} of shape {shape} has no element to choose from")
    })
}

/// There is an element to choose along the axis.
pub(crate) fn axis_not_empty(tensor: &TensorIr, axis: &usize) -> Outcome {
    self::axis(tensor, axis)?;
    ensure(tensor.shape[*axis] != 0, || {
        let (id, shape) = (tensor.id, &tensor.shape);
        alloc::format!("axis {axis} of {id} of shape {shape} has no element to choose from")
    })
}

/// The output is the one element of a whole reduction.
pub(crate) fn reduced(out: &TensorIr) -> Outcome {
    shaped(out, &[1])
}

/// The output keeps one element of the axis.
pub(crate) fn reduced_axis(tensor: &TensorIr, axis: &usize, out: &TensorIr) -> Outcome {
    kept(tensor, axis, 1, out)
}

/// The output keeps one element of each of the axes.
pub(crate) fn reduced_axes(tensor: &TensorIr, axes: &[usize], out: &TensorIr) -> Outcome {
    let mut shape = tensor.shape.clone();
    for axis in axes {
        self::axis(tensor, axis)?;
        shape[*axis] = 1;
    }
    shaped(out, &shape)
}

/// The output keeps the first `k` elements of the axis, which has as many.
pub(crate) fn top_k(tensor: &TensorIr, axis: &usize, k: &usize, out: &TensorIr) -> Outcome {
    self::axis(tensor, axis)?;
    ensure(*k <= tensor.shape[*axis], || {
        let (id, shape) = (tensor.id, &tensor.shape);
        alloc::format!("axis {axis} of {id} of shape {shape} has no {k} elements to keep")
    })?;
    kept(tensor, axis, *k, out)
}

fn kept(tensor: &TensorIr, axis: &usize, count: usize, out: &TensorIr) -> Outcome {
    self::axis(tensor, axis)?;
    shaped_but(out, &tensor.shape, *axis, count)
}
