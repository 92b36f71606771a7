//! Reading and writing by index. Whether an index is in range depends on data: the backend's
//! kernels look at it.

use burn_ir::TensorIr;

use super::{axis, ensure, rank, shaped, shaped_but};
use crate::context::Outcome;

/// The part has, along the axis, an element for each of the indices.
pub(crate) fn selected(
    tensor: &TensorIr,
    dim: &usize,
    indices: &TensorIr,
    part: &TensorIr,
) -> Outcome {
    axis(tensor, dim)?;
    rank(indices, 1)?;
    shaped_but(part, &tensor.shape, *dim, indices.shape[0])
}

/// The part has an element for each of the indices, which cover the other axes whole.
pub(crate) fn gathered(
    tensor: &TensorIr,
    dim: &usize,
    indices: &TensorIr,
    part: &TensorIr,
) -> Outcome {
    axis(tensor, dim)?;
    rank(indices, tensor.shape.rank())?;
    let mut pairs = tensor.shape.iter().zip(indices.shape.iter()).enumerate();
    let covers = pairs.all(|(position, (size, count))| position == *dim || size == count);
    ensure(covers, || {
        alloc::format!(
            "{} of shape {} does not index axis {dim} of {} of shape {}",
            indices.id,
            indices.shape,
            tensor.id,
            tensor.shape
        )
    })?;
    shaped(part, &indices.shape)
}

/// The part has, for each coordinate in the last axis of the indices, what it points to.
pub(crate) fn gathered_nd(data: &TensorIr, indices: &TensorIr, part: &TensorIr) -> Outcome {
    let coordinates = indices.shape.split_last();
    let Some((len, batch)) = coordinates.filter(|(len, _)| **len <= data.shape.rank()) else {
        return super::refuse(alloc::format!(
            "the last axis of {} of shape {} is no coordinate in {} of shape {}",
            indices.id,
            indices.shape,
            data.id,
            data.shape
        ));
    };
    let mut shape = alloc::vec::Vec::from(batch);
    shape.extend_from_slice(&data.shape[*len..]);
    shaped(part, &shape)
}
