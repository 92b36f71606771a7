//! Operations that move elements about: other shapes, parts, repetitions.

use burn_backend::{Shape, Slice, ops::unfold::calculate_unfold_shape};
use burn_ir::{PadModeIr, ScalarIr, TensorIr};
use burn_std::MetadataError;

use super::{
    axes, axis, ensure, refuse, same_dtype, scalar_of, shaped, shaped_as, shaped_by, unfit,
};
use crate::context::Outcome;
use crate::limits::elements;

/// Both tensors have as many elements.
pub(crate) fn reshaped(tensor: &TensorIr, out: &TensorIr) -> Outcome {
    let counts = (elements(&tensor.shape), elements(&out.shape));
    ensure(counts.0.is_some() && counts.0 == counts.1, || {
        let (from, to) = (&tensor.shape, &out.shape);
        alloc::format!("the shapes {from} and {to} do not have as many elements")
    })
}

/// The output is the tensor, repeated along axes of size 1 and along new axes in front.
pub(crate) fn expanded(tensor: &TensorIr, out: &TensorIr) -> Outcome {
    shaped_as(out, tensor.shape.expand(out.shape.clone()))
}

/// The output has both axes exchanged.
pub(crate) fn swapped(tensor: &TensorIr, dim1: &usize, dim2: &usize, out: &TensorIr) -> Outcome {
    shaped_as(out, tensor.shape.clone().swapped(*dim1, *dim2))
}

/// The output has the axes in this order, which names each of them once.
pub(crate) fn permuted(tensor: &TensorIr, axes: &[usize], out: &TensorIr) -> Outcome {
    self::axes(tensor, axes)?;
    shaped_as(out, tensor.shape.clone().permuted(axes))
}

/// The output has the windows of an axis, and their elements as its last axis.
pub(crate) fn unfolded(
    tensor: &TensorIr,
    dim: &usize,
    size: &usize,
    step: &usize,
    out: &TensorIr,
) -> Outcome {
    axis(tensor, dim)?;
    ensure(*step > 0, || "`step` is 0".into())?;
    ensure(*size > 0, || "`size` is 0".into())?;
    ensure(tensor.shape[*dim].checked_add(*step).is_some(), || {
        alloc::format!("`step` is too large: {step}")
    })?;
    shaped(
        out,
        &calculate_unfold_shape(tensor.shape.clone(), *dim, *size, *step),
    )
}

/// The part has the shape that the ranges cut out of the tensor.
pub(crate) fn sliced(tensor: &TensorIr, ranges: &[Slice], part: &TensorIr) -> Outcome {
    for (axis, (range, size)) in ranges.iter().zip(tensor.shape.iter()).enumerate() {
        let numbers = [Some(range.start), range.end, Some(range.step)];
        let counts = !numbers.contains(&Some(isize::MIN)) && isize::try_from(*size).is_ok();
        ensure(range.step != 0 && counts, || {
            alloc::format!("`ranges` has {range:?} for axis {axis} of size {size}")
        })?;
    }
    let (left, right) = (tensor.shape.rank(), ranges.len());
    ensure(right <= left, || {
        unfit(MetadataError::RankMismatch { left, right })
    })?;
    shaped_by(part, &tensor.shape, |axis, size| {
        ranges
            .get(axis)
            .map_or(size, |range| range.output_size(size))
    })
}

/// The output is the tensor, repeated along the axis.
pub(crate) fn repeated(tensor: &TensorIr, dim: &usize, times: &usize, out: &TensorIr) -> Outcome {
    axis(tensor, dim)?;
    ensure(tensor.shape[*dim].checked_mul(*times).is_some(), || {
        alloc::format!("`times` is too large: {times}")
    })?;
    shaped_as(out, tensor.shape.clone().repeat(*dim, *times))
}

/// The output has the tensors one after the other along the axis.
pub(crate) fn concatenated(tensors: &[TensorIr], dim: &usize, out: &TensorIr) -> Outcome {
    let Some((first, rest)) = tensors.split_first() else {
        return refuse("there is no tensor to concatenate".into());
    };
    axis(first, dim)?;
    rest.iter().try_for_each(|other| same_dtype(first, other))?;
    let mut sizes = tensors.iter().map(|tensor| tensor.shape.get(*dim));
    let total = sizes.try_fold(0_usize, |sum, size| sum.checked_add(*size.unwrap_or(&0)));
    ensure(total.is_some(), || {
        alloc::format!("the sizes along axis {dim} are too large to be added")
    })?;
    shaped_as(out, Shape::cat(tensors.iter().map(|t| &t.shape), *dim))
}

/// The output has the padding around the tensor, which has the elements to pad with.
pub(crate) fn padded(
    tensor: &TensorIr,
    padding: &[(usize, usize)],
    mode: &PadModeIr,
    out: &TensorIr,
) -> Outcome {
    if let PadModeIr::Constant(value) = mode {
        // On its way through the backends it is a float of 32 bits.
        scalar_of(tensor, &ScalarIr::Float(value.elem::<f32>().into()))?;
    }
    let mut shape = tensor.shape.clone();
    ensure(padding.len() == shape.rank(), || {
        let (count, rank) = (padding.len(), shape.rank());
        alloc::format!("`padding` has {count} pairs for {rank} axes")
    })?;
    for (axis, (size, (before, after))) in shape.iter_mut().zip(padding).enumerate() {
        let enough = match mode {
            PadModeIr::Constant(_) => true,
            PadModeIr::Reflect => before < size && after < size,
            PadModeIr::Edge => *size > 0 || (*before, *after) == (0, 0),
        };
        ensure(enough, || {
            alloc::format!(
                "axis {axis} of size {size} is too small for the padding ({before}, {after}) in \
                 the mode {mode:?}"
            )
        })?;
        let sum = size
            .checked_add(*before)
            .and_then(|sum| sum.checked_add(*after));
        match sum {
            Some(sum) => *size = sum,
            None => {
                return refuse(alloc::format!(
                    "the padding ({before}, {after}) of axis {axis} is too large"
                ));
            }
        }
    }
    shaped(out, &shape)
}
