//! Products of matrices and vectors.

use burn_backend::calculate_matmul_output;
use burn_ir::TensorIr;

use super::{axis, ensure, rank, refuse, shaped, shaped_as};
use crate::context::Outcome;

/// The output is the product of both batches of matrices.
pub(crate) fn multiplied(lhs: &TensorIr, rhs: &TensorIr, out: &TensorIr) -> Outcome {
    ensure(lhs.shape.rank() >= 2, || {
        let (id, shape) = (lhs.id, &lhs.shape);
        alloc::format!("{id} of shape {shape} is no matrix")
    })?;
    shaped_as(out, calculate_matmul_output(&lhs.shape, &rhs.shape))?;
    // Backends take the larger of both sizes for the batch, and read what an empty one has not.
    let batch = |tensor: &TensorIr| tensor.shape[..tensor.shape.rank() - 2].contains(&0);
    ensure(batch(lhs) == batch(rhs), || {
        let (lhs, rhs) = (&lhs.shape, &rhs.shape);
        alloc::format!("an empty batch is not broadcast: {lhs} and {rhs}")
    })
}

/// Both tensors hold vectors of three elements along the axis.
pub(crate) fn crossed(lhs: &TensorIr, rhs: &TensorIr, dim: &usize) -> Outcome {
    axis(lhs, dim)?;
    axis(rhs, dim)?;
    ensure(lhs.shape[*dim] == 3 && rhs.shape[*dim] == 3, || {
        let (lhs, rhs) = (&lhs.shape, &rhs.shape);
        alloc::format!("the shapes {lhs} and {rhs} do not have 3 elements on axis {dim}")
    })
}

/// `y` is `x`, each of its last vectors multiplied by `weight` of shape `[d_input, d_output]`.
pub(crate) fn transformed(x: &TensorIr, weight: &TensorIr, y: &TensorIr) -> Outcome {
    rank(weight, 2)?;
    ensure(x.shape.rank() >= 2, || {
        let (id, shape) = (x.id, &x.shape);
        alloc::format!("{id} of shape {shape} is a vector, which backends cannot transform")
    })?;
    let (id, batch) = (
        x.id,
        x.shape.split_at_checked(x.shape.rank().saturating_sub(2)),
    );
    ensure(batch.is_none_or(|(batch, _)| !batch.contains(&0)), || {
        let shape = &x.shape;
        alloc::format!("{id} of shape {shape} has an empty batch, which backends cannot transform")
    })?;
    let mut shape = x.shape.clone();
    match shape.last_mut() {
        Some(last) if *last == weight.shape[0] => *last = weight.shape[1],
        _ => {
            return refuse(alloc::format!(
                "{} of shape {} cannot be multiplied by {} of shape {}",
                x.id,
                x.shape,
                weight.id,
                weight.shape
            ));
        }
    }
    shaped(y, &shape)
}

/// The vector has an element for each of the last axis of the tensor.
pub(crate) fn last_axis(vector: &TensorIr, tensor: &TensorIr) -> Outcome {
    match tensor.shape.last() {
        Some(size) => shaped(vector, &[*size]),
        None => refuse(alloc::format!("{} has no axis", tensor.id)),
    }
}

/// The optional vector, where it is given, has an element for each of the last axis.
pub(crate) fn optional_last_axis(vector: &Option<TensorIr>, tensor: &TensorIr) -> Outcome {
    vector
        .as_ref()
        .map_or(Ok(()), |vector| last_axis(vector, tensor))
}
