//! The kinds of tensors as types, so that reading and writing a handle is written once.

use core::mem::discriminant;

use burn_backend::{
    DType, FloatDType, IntDType, Scalar, TensorMetadata,
    quantization::QuantScheme,
    tensor::{BoolTensor, FloatTensor, IntTensor, QuantizedTensor},
};
use burn_ir::BackendIr;

use crate::held::Held;
use crate::info::Kind;
use crate::quantized::{narrowed, same_scheme};

/// A kind of tensor and the backend's primitive for it.
pub(crate) trait TensorKind<B: BackendIr> {
    /// The kind as a value.
    const KIND: Kind;
    /// The backend's primitive.
    type Primitive: TensorMetadata;

    /// Whether tensors of this kind have elements of type `dtype`.
    fn has(dtype: DType) -> bool;
    /// Hold the tensor, mostly where one of its kind was taken out. Whether none was there.
    fn put(held: &mut Held<B>, tensor: Self::Primitive) -> bool;
    /// The tensor that is held, if it is of this kind.
    fn held(held: &Held<B>) -> Option<&Self::Primitive>;
    /// The place of the tensor that is held, or was taken out, if it is of this kind.
    fn place(held: &mut Held<B>) -> Option<&mut Option<Self::Primitive>>;
    /// `tensor` with elements of type `dtype`, as far as the backend has it.
    fn cast(tensor: Self::Primitive, dtype: DType) -> Self::Primitive;
    /// What a quantized tensor is among those of this kind.
    fn dequantized(_tensor: QuantizedTensor<B>, _dtype: FloatDType) -> Option<Self::Primitive> {
        None
    }
    /// The tensor quantized with a scheme that the backend has, by scales that fit its values.
    fn quantized(_tensor: Self::Primitive, _scheme: &QuantScheme) -> Option<QuantizedTensor<B>> {
        None
    }
}

pub(crate) struct Float;
pub(crate) struct Int;
pub(crate) struct Bool;

impl<B: BackendIr> TensorKind<B> for Float {
    const KIND: Kind = Kind::Float;
    type Primitive = FloatTensor<B>;

    fn has(dtype: DType) -> bool {
        dtype.is_float()
    }

    #[inline]
    fn put(held: &mut Held<B>, tensor: Self::Primitive) -> bool {
        if let Held::Float(place @ None) = held {
            *place = Some(tensor);
            return true;
        }
        held.replace(Held::Float(Some(tensor)))
    }

    #[inline]
    fn held(held: &Held<B>) -> Option<&Self::Primitive> {
        match held {
            Held::Float(tensor) => tensor.as_ref(),
            _ => None,
        }
    }

    #[inline]
    fn place(held: &mut Held<B>) -> Option<&mut Option<Self::Primitive>> {
        match held {
            Held::Float(place) => Some(place),
            _ => None,
        }
    }

    fn cast(tensor: Self::Primitive, dtype: DType) -> Self::Primitive {
        B::float_cast(tensor, dtype.into())
    }

    fn dequantized(tensor: QuantizedTensor<B>, dtype: FloatDType) -> Option<Self::Primitive> {
        Some(B::dequantize(tensor, dtype))
    }

    fn quantized(tensor: Self::Primitive, scheme: &QuantScheme) -> Option<QuantizedTensor<B>> {
        Some(B::quantize_dynamic(narrowed::<B>(tensor), scheme))
    }
}

impl<B: BackendIr> TensorKind<B> for Int {
    const KIND: Kind = Kind::Int;
    type Primitive = IntTensor<B>;

    fn has(dtype: DType) -> bool {
        dtype.is_int() || dtype.is_uint()
    }

    #[inline]
    fn put(held: &mut Held<B>, tensor: Self::Primitive) -> bool {
        if let Held::Int(place @ None) = held {
            *place = Some(tensor);
            return true;
        }
        held.replace(Held::Int(Some(tensor)))
    }

    #[inline]
    fn held(held: &Held<B>) -> Option<&Self::Primitive> {
        match held {
            Held::Int(tensor) => tensor.as_ref(),
            _ => None,
        }
    }

    #[inline]
    fn place(held: &mut Held<B>) -> Option<&mut Option<Self::Primitive>> {
        match held {
            Held::Int(place) => Some(place),
            _ => None,
        }
    }

    fn cast(tensor: Self::Primitive, dtype: DType) -> Self::Primitive {
        B::int_cast(tensor, dtype.into())
    }
}

impl<B: BackendIr> TensorKind<B> for Bool {
    const KIND: Kind = Kind::Bool;
    type Primitive = BoolTensor<B>;

    fn has(dtype: DType) -> bool {
        dtype.is_bool()
    }

    #[inline]
    fn put(held: &mut Held<B>, tensor: Self::Primitive) -> bool {
        if let Held::Bool(place @ None) = held {
            *place = Some(tensor);
            return true;
        }
        held.replace(Held::Bool(Some(tensor)))
    }

    #[inline]
    fn held(held: &Held<B>) -> Option<&Self::Primitive> {
        match held {
            Held::Bool(tensor) => tensor.as_ref(),
            _ => None,
        }
    }

    #[inline]
    fn place(held: &mut Held<B>) -> Option<&mut Option<Self::Primitive>> {
        match held {
            Held::Bool(place) => Some(place),
            _ => None,
        }
    }

    /// Burn has no cast of bools: they go through ints.
    fn cast(tensor: Self::Primitive, dtype: DType) -> Self::Primitive {
        let ints = B::bool_into_int(tensor, IntDType::I32);
        B::int_not_equal_elem(ints, Scalar::Int(0), dtype.into())
    }
}

/// The kind of tensors with elements of type `dtype`.
pub(crate) fn kind_of(dtype: DType) -> Kind {
    match dtype {
        DType::QFloat(_) => Kind::Quantized,
        DType::Bool(_) => Kind::Bool,
        dtype if dtype.is_float() => Kind::Float,
        _ => Kind::Int,
    }
}

/// Whether a tensor with elements of type `actual` is what the IR means by `declared`.
///
/// `Flex32` is `F32` on backends that have no such type of their own.
#[inline]
pub(crate) fn same_dtype(actual: DType, declared: DType) -> bool {
    same_plain_dtype(actual, declared) || same_other_dtype(actual, declared)
}

/// Both are the same type of numbers, or bools that are stored alike.
#[inline]
pub(crate) fn same_plain_dtype(actual: DType, declared: DType) -> bool {
    match (actual, declared) {
        (DType::Bool(actual), DType::Bool(declared)) => actual == declared,
        (DType::QFloat(_), _) => false,
        _ => discriminant(&actual) == discriminant(&declared),
    }
}

#[inline(never)]
fn same_other_dtype(actual: DType, declared: DType) -> bool {
    actual == declared
        || same_scheme(actual, declared)
        || matches!(
            (actual, declared),
            (DType::F32, DType::Flex32) | (DType::Flex32, DType::F32)
        )
}
