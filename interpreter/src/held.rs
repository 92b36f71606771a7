//! A tensor of any kind, where it can be taken out and nothing larger than the tensor is moved.

use burn_backend::{
    DType, Shape, TensorMetadata,
    tensor::{BoolTensor, FloatTensor, IntTensor, QuantizedTensor},
};
use burn_ir::{BackendIr, HandleKind, TensorHandle, TensorIr};
use castaway::cast;

use crate::info::Kind;
use crate::kind::{kind_of, same_dtype};
use crate::known::same_dims;
use crate::limits::bytes;

/// A tensor by its kind, or none: it was taken out.
///
/// A [`HandleKind`] is as large as a quantized tensor, whatever it holds, and all of it is moved when
/// it is taken out of its place.
pub(crate) enum Held<B: BackendIr> {
    Float(Option<FloatTensor<B>>),
    Int(Option<IntTensor<B>>),
    Bool(Option<BoolTensor<B>>),
    Quantized(Option<QuantizedTensor<B>>),
}

impl<B: BackendIr> Default for Held<B> {
    fn default() -> Self {
        Self::Float(None)
    }
}

impl<B: BackendIr> From<HandleKind<B>> for Held<B> {
    fn from(tensor: HandleKind<B>) -> Self {
        match tensor {
            HandleKind::Float(tensor) => Self::Float(Some(tensor)),
            HandleKind::Int(tensor) => Self::Int(Some(tensor)),
            HandleKind::Bool(tensor) => Self::Bool(Some(tensor)),
            HandleKind::Quantized(tensor) => Self::Quantized(Some(tensor)),
        }
    }
}

impl<B: BackendIr> Held<B> {
    /// The tensor that a handle is of. One that does not carry the kind is of any.
    pub(crate) fn of_handle(handle: B::Handle, tensor: &TensorIr) -> Self {
        let handle = match cast!(handle, HandleKind<B>) {
            Ok(tensor) => return tensor.into(),
            Err(handle) => handle,
        };
        let shape = tensor.shape.clone();
        let handle = TensorHandle { handle, shape };
        match kind_of(tensor.dtype) {
            Kind::Float => Self::Float(Some(B::float_tensor(handle))),
            Kind::Int => Self::Int(Some(B::int_tensor(handle))),
            Kind::Bool => Self::Bool(Some(B::bool_tensor(handle))),
            Kind::Quantized => Self::Quantized(Some(B::quantized_tensor(handle))),
        }
    }

    /// What the tensor is, if it is not what the IR declares.
    pub(crate) fn mismatch(&self, tensor: &TensorIr) -> Option<Mismatch> {
        match self {
            Self::Float(held) => Mismatch::of(held.as_ref()?, tensor),
            Self::Int(held) => Mismatch::of(held.as_ref()?, tensor),
            Self::Bool(held) => Mismatch::of(held.as_ref()?, tensor),
            Self::Quantized(held) => Mismatch::of(held.as_ref()?, tensor),
        }
    }

    /// Whether the tensor was taken out.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Float(tensor) => tensor.is_none(),
            Self::Int(tensor) => tensor.is_none(),
            Self::Bool(tensor) => tensor.is_none(),
            Self::Quantized(tensor) => tensor.is_none(),
        }
    }

    /// Hold another tensor, whatever was here. Whether none was.
    #[inline(never)]
    pub(crate) fn replace(&mut self, other: Self) -> bool {
        let was_empty = self.is_empty();
        *self = other;
        was_empty
    }

    /// Drop the tensor. Whether there was one.
    #[inline]
    pub(crate) fn clear(&mut self) -> bool {
        #[inline]
        fn clear<T>(tensor: &mut Option<T>) -> bool {
            let was_there = tensor.is_some();
            *tensor = None;
            was_there
        }
        match self {
            Self::Float(tensor) => clear(tensor),
            Self::Int(tensor) => clear(tensor),
            Self::Bool(tensor) => clear(tensor),
            Self::Quantized(tensor) => clear(tensor),
        }
    }

    /// The backend's handle of the tensor.
    pub(crate) fn into_handle(self) -> Option<B::Handle> {
        match self {
            Self::Float(tensor) => tensor.map(B::float_tensor_handle),
            Self::Int(tensor) => tensor.map(B::int_tensor_handle),
            Self::Bool(tensor) => tensor.map(B::bool_tensor_handle),
            Self::Quantized(tensor) => tensor.map(B::quantized_tensor_handle),
        }
    }

    /// What the tensor tells of itself.
    pub(crate) fn told(&self) -> Option<Told> {
        match self {
            Self::Float(tensor) => tensor.as_ref().map(Told::by),
            Self::Int(tensor) => tensor.as_ref().map(Told::by),
            Self::Bool(tensor) => tensor.as_ref().map(Told::by),
            Self::Quantized(tensor) => tensor.as_ref().map(Told::by),
        }
    }
}

/// What a tensor of the backend tells of itself.
pub(crate) struct Told {
    pub(crate) dtype: DType,
    /// As if it owned its data.
    pub(crate) bytes: u64,
}

impl Told {
    fn by(tensor: &impl TensorMetadata) -> Self {
        let dtype = tensor.dtype();
        Self {
            dtype,
            bytes: bytes(&tensor.shape(), dtype).unwrap_or(0),
        }
    }

    pub(crate) fn by_kind<B: BackendIr>(tensor: &HandleKind<B>) -> Self {
        match tensor {
            HandleKind::Float(tensor) => Self::by(tensor),
            HandleKind::Int(tensor) => Self::by(tensor),
            HandleKind::Bool(tensor) => Self::by(tensor),
            HandleKind::Quantized(tensor) => Self::by(tensor),
        }
    }

    /// By a handle; one that does not carry the kind is that of a tensor of any kind.
    pub(crate) fn by_handle<B: BackendIr>(handle: &B::Handle) -> Self {
        match cast!(handle, &HandleKind<B>) {
            Ok(tensor) => Self::by_kind(tensor),
            Err(handle) => {
                let (handle, shape) = (handle.clone(), Shape::new([]));
                Self::by(&B::float_tensor(TensorHandle { handle, shape }))
            }
        }
    }
}

/// What a tensor is, where the IR declares something else.
pub(crate) enum Mismatch {
    Dtype(DType),
    Shape(Shape),
}

impl Mismatch {
    /// What the backend's tensor is, if it is not what the IR declares.
    pub(crate) fn of(actual: &impl TensorMetadata, tensor: &TensorIr) -> Option<Self> {
        Self::between(actual.dtype(), actual.shape(), tensor)
    }

    fn between(dtype: DType, shape: Shape, tensor: &TensorIr) -> Option<Self> {
        if !same_dtype(dtype, tensor.dtype) {
            return Some(Self::Dtype(dtype));
        }
        (!same_dims(&shape[..], &tensor.shape[..])).then_some(Self::Shape(shape))
    }

    /// What the tensor of a handle is, if it is not what the IR declares.
    pub(crate) fn of_handle<B: BackendIr>(handle: &B::Handle, tensor: &TensorIr) -> Option<Self> {
        match cast!(handle, &HandleKind<B>) {
            Ok(HandleKind::Float(actual)) => Self::of(actual, tensor),
            Ok(HandleKind::Int(actual)) => Self::of(actual, tensor),
            Ok(HandleKind::Bool(actual)) => Self::of(actual, tensor),
            Ok(HandleKind::Quantized(actual)) => Self::of(actual, tensor),
            Err(handle) => Held::<B>::of_handle(handle.clone(), tensor).mismatch(tensor),
        }
    }
}
