//! Operations that go element by element, and the shapes they share.

use alloc::string::String;

use burn_backend::{DType, Distribution, Shape};
use burn_ir::{ScalarIr, TensorIr};
use burn_std::{bf16, f16};

use super::{ensure, refuse, shaped, shaped_as, together};
use crate::context::Outcome;
use crate::kind;
use crate::known::same_dims;
use crate::quantized::{become_alike, readable};

/// Both tensors have the same shape.
#[inline]
pub(crate) fn same_shape(tensor: &TensorIr, other: &TensorIr) -> Outcome {
    shaped(other, &tensor.shape[..])
}

/// The outputs are two tensors, and there is memory for both.
pub(crate) fn two(first: &TensorIr, second: &TensorIr) -> Outcome {
    ensure(first.id != second.id, || {
        alloc::format!("{} is two of the outputs", first.id)
    })?;
    together([first, second])
}

/// The scalar is one that the tensor's type holds, if that is an integer: backends convert it, and
/// refuse another in their own way. What follows the point is cut off.
#[inline]
pub(crate) fn scalar_of(tensor: &TensorIr, scalar: &ScalarIr) -> Outcome {
    match is_integer(tensor.dtype) {
        true => integer_of(tensor, scalar),
        false => Ok(()),
    }
}

fn integer_of(tensor: &TensorIr, scalar: &ScalarIr) -> Outcome {
    let dtype = tensor.dtype;
    ensure(integer(scalar, dtype).is_some(), || {
        alloc::format!("{} is {dtype:?}, which does not hold {scalar:?}", tensor.id)
    })
}

/// The scalar is not zero, where the tensor holds integers.
pub(crate) fn divisor(tensor: &TensorIr, scalar: &ScalarIr) -> Outcome {
    let dtype = tensor.dtype;
    let holds = !is_integer(dtype) || integer(scalar, dtype) != Some(0);
    ensure(holds, || {
        alloc::format!("the integers of {} cannot be divided by zero", tensor.id)
    })
}

/// The exponent is an integer of the width that burn-backend takes it in.
pub(crate) fn exponent(tensor: &TensorIr, scalar: &ScalarIr) -> Outcome {
    let width = match is_integer(tensor.dtype) {
        true => DType::I32,
        false => DType::I64,
    };
    ensure(integer(scalar, width).is_some(), || {
        alloc::format!("the exponent {scalar:?} is no {width:?}")
    })
}

/// The exponent, where it is whole, is an integer of the width that burn-backend takes it in.
pub(crate) fn power(scalar: &ScalarIr) -> Outcome {
    let has_fraction = matches!(*scalar, ScalarIr::Float(value) if value.floor() != value);
    ensure(
        has_fraction || integer(scalar, DType::I64).is_some(),
        || alloc::format!("the exponent {scalar:?} is whole, but no I64"),
    )
}

/// Bits are shifted by a number of them.
pub(crate) fn shift(scalar: &ScalarIr) -> Outcome {
    ensure(integer(scalar, DType::U32).is_some(), || {
        alloc::format!("bits cannot be shifted by {scalar:?}")
    })
}

fn is_integer(dtype: DType) -> bool {
    dtype.is_int() || dtype.is_uint()
}

/// The scalar as an integer in the range of the dtype.
fn integer(scalar: &ScalarIr, dtype: DType) -> Option<i128> {
    let (low, high) = match dtype {
        DType::I64 => (i64::MIN.into(), i64::MAX.into()),
        DType::I32 => (i32::MIN.into(), i32::MAX.into()),
        DType::I16 => (i16::MIN.into(), i16::MAX.into()),
        DType::I8 => (i8::MIN.into(), i8::MAX.into()),
        DType::U64 => (0, u64::MAX.into()),
        DType::U32 => (0, u32::MAX.into()),
        DType::U16 => (0, u16::MAX.into()),
        DType::U8 => (0, u8::MAX.into()),
        _ => return None,
    };
    let value: i128 = match *scalar {
        ScalarIr::Float(value) => in_dtype(value, dtype)? as i128,
        ScalarIr::Int(value) => value.into(),
        ScalarIr::UInt(value) => value.into(),
        ScalarIr::Bool(value) => value.into(),
    };
    (low..=high).contains(&value).then_some(value)
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
    let (one, other) = (&lhs.shape[..], &rhs.shape[..]);
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
        Distribution::Normal(mean, deviation) => {
            deviation.is_finite() && (dtype.is_float() || is_far_inside(mean, deviation, dtype))
        }
        Distribution::Uniform(low, high) => match (in_dtype(low, dtype), in_dtype(high, dtype)) {
            (Some(low), Some(high)) => low < high && is_drawn_from(high - low, dtype),
            _ => false,
        },
    };
    ensure(drawable, || {
        alloc::format!("no {dtype:?} can be drawn from the distribution {distribution:?}")
    })
}

/// Hardly anything that is drawn from the normal distribution is out of the range of the dtype: less
/// than one number in ten thousand.
fn is_far_inside(mean: f64, deviation: f64, dtype: DType) -> bool {
    let reach = 4.0 * deviation.abs();
    [mean - reach, mean + reach]
        .into_iter()
        .all(|value| in_dtype(value, dtype).is_some())
}

/// A range of this width can be drawn from: its width is a number of the type that backends draw in.
fn is_drawn_from(width: f64, dtype: DType) -> bool {
    match dtype {
        DType::F32 | DType::Flex32 | DType::F16 | DType::BF16 => (width as f32).is_finite(),
        _ => width.is_finite(),
    }
}

/// The value as the dtype holds it, in the range of the dtype.
fn in_dtype(value: f64, dtype: DType) -> Option<f64> {
    // The largest integer of 64 bits is no float: the nearest is out of range.
    let below = f64::next_down;
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
        DType::I64 => (value.trunc(), i64::MIN as f64, below(i64::MAX as f64)),
        DType::I32 => (value.trunc(), i32::MIN.into(), i32::MAX.into()),
        DType::I16 => (value.trunc(), i16::MIN.into(), i16::MAX.into()),
        DType::I8 => (value.trunc(), i8::MIN.into(), i8::MAX.into()),
        DType::U64 => (value.trunc(), 0.0, below(u64::MAX as f64)),
        DType::U32 => (value.trunc(), 0.0, u32::MAX.into()),
        DType::U16 => (value.trunc(), 0.0, u16::MAX.into()),
        DType::U8 => (value.trunc(), 0.0, u8::MAX.into()),
        DType::Bool(_) | DType::QFloat(_) => return None,
    };
    (low..=high).contains(&value).then_some(value)
}
