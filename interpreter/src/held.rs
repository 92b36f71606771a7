//! A tensor of any kind, where it can be taken out and nothing larger than the tensor is moved.

use burn_backend::{
    DType, Shape, TensorMetadata,
    tensor::{BoolTensor, FloatTensor, IntTensor, QuantizedTensor},
};
use burn_ir::{BackendIr, HandleKind, TensorHandle};
use castaway::cast;

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
    /// Whether the tensor was taken out.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Float(tensor) => tensor.is_none(),
            Self::Int(tensor) => tensor.is_none(),
            Self::Bool(tensor) => tensor.is_none(),
            Self::Quantized(tensor) => tensor.is_none(),
        }
    }

    /// Drop the tensor.
    pub(crate) fn clear(&mut self) {
        match self {
            Self::Float(tensor) => *tensor = None,
            Self::Int(tensor) => *tensor = None,
            Self::Bool(tensor) => *tensor = None,
            Self::Quantized(tensor) => *tensor = None,
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
