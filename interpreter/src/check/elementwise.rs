//! Operations that go element by element, and the shapes they share.

use alloc::string::String;

use burn_backend::{DType, Distribution, Shape};
use burn_ir::TensorIr;
use burn_std::{bf16, f16};

use super::{ensure, refuse, shaped, shaped_as};
use crate::context::Outcome;
use crate::kind;
use crate::known::same_dims;
use crate::quantized::{become_alike, readable};

/// Both tensors have the same shape.
pub(crate) fn same_shape(tensor: &TensorIr, other: &TensorIr) -> Outcome {
    shaped(other, &tensor.shape)
}

/// The outputs are two tensors.
pub(crate) fn two(first: &TensorIr, second: &TensorIr) -> Outcome {
    ensure(first.id != second.id, || {
        alloc::format!("{} is two of the outputs", first.id)
    })
}

/// Both tensors have elements of the same type.
pub(crate) fn same_dtype(tensor: &TensorIr, other: &TensorIr) -> Outcome {
    match kind::same_dtype(tensor.dtype, other.dtype) {
        true => Ok(()),
        false if become_alike(tensor.dtype, other.dtype) => Ok(()),
        false => refuse(two_dtypes(tensor, other)),
    }
}

#[cold]
fn two_dtypes(tensor: &TensorIr, other: &TensorIr) -> String {
    alloc::format!(
        "{} and {} must have the same dtype: {:?} and {:?}",
        tensor.id,
        other.id,
        readable(tensor.dtype),
        readable(other.dtype)
    )
}

/// The optional tensor, where it is given, has elements of the type of the other.
pub(crate) fn same_optional_dtype(tensor: &TensorIr, other: &Option<TensorIr>) -> Outcome {
    other
        .as_ref()
        .map_or(Ok(()), |other| same_dtype(tensor, other))
}

/// The output has the shape that both inputs broadcast to.
pub(crate) fn broadcast(lhs: &TensorIr, rhs: &TensorIr, out: &TensorIr) -> Outcome {
    let (one, other): (&[usize], &[usize]) = (&lhs.shape, &rhs.shape);
    if same_dims(one, other) {
        return shaped(out, one);
    }
    shaped_as(out, lhs.shape.broadcast(&rhs.shape))
}

/// The output has the shape that the three inputs broadcast to.
pub(crate) fn broadcast_three(
    first: &TensorIr,
    second: &TensorIr,
    third: &TensorIr,
    out: &TensorIr,
) -> Outcome {
    if first.shape == second.shape && first.shape == third.shape {
        return shaped(out, &first.shape);
    }
    let shapes = [&first.shape, &second.shape, &third.shape];
    shaped_as(out, Shape::broadcast_many(shapes))
}

/// The distribution is one that can be drawn from, in the output's type: where it is not, backends
/// lose their seed.
pub(crate) fn distribution(distribution: &Distribution, out: &TensorIr) -> Outcome {
    let dtype = match out.dtype {
        // It is drawn as floats, and quantized.
        DType::QFloat(_) => DType::F32,
        dtype => dtype,
    };
    let drawable = match *distribution {
        Distribution::Default => true,
        Distribution::Bernoulli(probability) => (0.0..=1.0).contains(&probability),
        Distribution::Normal(_, deviation) => deviation.is_finite(),
        Distribution::Uniform(low, high) => match (in_dtype(low, dtype), in_dtype(high, dtype)) {
            (Some(low), Some(high)) => low < high && (high - low).is_finite(),
            _ => false,
        },
    };
    ensure(drawable, || {
        alloc::format!("no {dtype:?} can be drawn from the distribution {distribution:?}")
    })
}

/// The value as the dtype holds it, in the range of the dtype.
fn in_dtype(value: f64, dtype: DType) -> Option<f64> {
    let (value, low, high) = match dtype {
        DType::F64 => (value, f64::MIN, f64::MAX),
        DType::F32 | DType::Flex32 => (f64::from(value as f32), f32::MIN.into(), f32::MAX.into()),
        DType::F16 => (
            f16::from_f64(value).into(),
            f16::MIN.into(),
            f16::MAX.into(),
        ),
        DType::BF16 => (
            bf16::from_f64(value).into(),
            bf16::MIN.into(),
            bf16::MAX.into(),
        ),
        DType::I64 => (value.trunc(), i64::MIN as f64, i64::MAX as f64),
        DType::I32 => (value.trunc(), i32::MIN.into(), i32::MAX.into()),
        DType::I16 => (value.trunc(), i16::MIN.into(), i16::MAX.into()),
        DType::I8 => (value.trunc(), i8::MIN.into(), i8::MAX.into()),
        DType::U64 => (value.trunc(), 0.0, u64::MAX as f64),
        DType::U32 => (value.trunc(), 0.0, u32::MAX.into()),
        DType::U16 => (value.trunc(), 0.0, u16::MAX.into()),
        DType::U8 => (value.trunc(), 0.0, u8::MAX.into()),
        DType::Bool(_) | DType::QFloat(_) => return None,
    };
    (low..=high).contains(&value).then_some(value)
}
