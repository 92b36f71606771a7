//! What the operations work on: reading inputs, writing outputs, and what becomes of a failure.

use alloc::boxed::Box;
use alloc::vec::Vec;

use burn_backend::{
    DType, ExecutionError, TensorMetadata,
    tensor::{BoolTensor, FloatTensor, IntTensor},
};
use burn_ir::{
    BackendIr, Handle, HandleContainer, OperationIr, TensorHandle, TensorId, TensorIr, TensorStatus,
};
use burn_std::sync::Mutex;

use crate::collective::{BackendCollective, Collective};
use crate::custom_op::CustomOpRegistry;
use crate::error::{Fault, OpError};
use crate::kind::{Bool, Float, Int, TensorKind, held, same_dtype};
use crate::limits::{Limits, declared_bytes};
use crate::live::LiveBytes;

/// What a step of an operation comes to. The fault is boxed: a word on the way that has none.
pub(crate) type Outcome<T = ()> = Result<T, Box<Fault>>;

/// The outcome of an operation that nobody executes.
#[cold]
pub(crate) fn unsupported() -> Outcome {
    Err(Box::new(Fault::Unsupported))
}

/// The outcome of an operation whose group is not part of this build.
#[cold]
#[allow(dead_code, reason = "with all groups there is none")]
pub(crate) fn disabled(feature: &'static str) -> Outcome {
    Err(Box::new(Fault::Disabled { feature }))
}

/// A field of the IR as the type the backend's method takes.
pub(crate) fn convert<T: Clone, U: From<T>>(field: &T) -> U {
    field.clone().into()
}

/// The handles and what else the operations need.
pub(crate) struct Context<B: BackendIr> {
    pub(crate) handles: HandleContainer<B::Handle>,
    pub(crate) device: B::Device,
    pub(crate) custom_ops: CustomOpRegistry<B>,
    pub(crate) collective: Box<dyn Collective<B>>,
    pub(crate) limits: Limits,
    pub(crate) live_bytes: LiveBytes,
    /// A failure that no tensor could carry, for the next `sync` to report. The first is kept.
    pub(crate) deferred: Mutex<Option<ExecutionError>>,
}

impl<B: BackendIr> Context<B> {
    pub(crate) fn new(device: B::Device, custom_ops: CustomOpRegistry<B>) -> Self {
        Self {
            handles: HandleContainer::new(),
            device,
            custom_ops,
            collective: Box::new(BackendCollective::default()),
            limits: Limits::default(),
            live_bytes: LiveBytes::default(),
            deferred: Mutex::new(None),
        }
    }

    /// Take the handle of `tensor` as its status says: a copy, or the handle itself on its last
    /// use. One look-up either way.
    pub(crate) fn handle(&mut self, tensor: &TensorIr) -> Outcome<B::Handle> {
        let handle = match tensor.status {
            TensorStatus::ReadOnly => self.handles.get_handle_ref(&tensor.id).cloned(),
            TensorStatus::ReadWrite => match self.handles.remove_handle(tensor.id) {
                Some(Handle::Existing(handle)) => Some(handle),
                Some(Handle::Errored(error)) => {
                    return Err(Box::new(Fault::Errored {
                        id: tensor.id,
                        error,
                    }));
                }
                Some(Handle::NotInit) | None => None,
            },
            TensorStatus::NotInit => {
                return Err(Box::new(Fault::NotInitialized { id: tensor.id }));
            }
        };
        handle.ok_or_else(|| self.no_data(tensor.id))
    }

    /// Why `id` holds no data.
    #[cold]
    pub(crate) fn no_data(&self, id: TensorId) -> Box<Fault> {
        Box::new(match self.handles.error(&id) {
            Some(error) => Fault::Errored {
                id,
                error: error.clone(),
            },
            None => Fault::MissingTensor { id },
        })
    }

    /// Read `tensor`, which must be what the IR declares: its kind, dtype and shape.
    pub(crate) fn read<K: TensorKind<B>>(&mut self, tensor: &TensorIr) -> Outcome<K::Primitive> {
        if !K::has(tensor.dtype) {
            return Err(wrong_kind::<B, K>(tensor));
        }
        let handle = self.handle(tensor)?;
        if let Some(held) = held::<B>(&handle)
            && held.kind != Some(K::KIND)
        {
            return Err(wrong_dtype(tensor, held.dtype));
        }
        let primitive = K::from_handle(TensorHandle {
            handle,
            shape: tensor.shape.clone(),
        });
        if !same_dtype(primitive.dtype(), tensor.dtype) {
            return Err(wrong_dtype(tensor, primitive.dtype()));
        }
        if primitive.shape() != tensor.shape {
            return Err(wrong_shape(tensor, &primitive));
        }
        if let TensorStatus::ReadWrite = tensor.status {
            self.live_bytes.remove(declared_bytes(tensor));
        }
        Ok(primitive)
    }

    /// The output that `out` declares may be made: its dtype is of the kind, its size within the
    /// limits.
    pub(crate) fn admit<K: TensorKind<B>>(&mut self, out: &TensorIr) -> Outcome {
        if !K::has(out.dtype) {
            return Err(wrong_kind::<B, K>(out));
        }
        self.admit_bytes(out.id, declared_bytes(out))
    }

    /// Register `output`, which was admitted, as the tensor that `out` declares.
    ///
    /// Where the backend chose another dtype (that of indices, mostly), the output is converted:
    /// its dtype is what the IR says.
    pub(crate) fn write<K: TensorKind<B>>(
        &mut self,
        out: &TensorIr,
        mut output: K::Primitive,
    ) -> Outcome {
        if output.shape() != out.shape {
            return Err(wrong_shape(out, &output));
        }
        if !same_dtype(output.dtype(), out.dtype) {
            output = K::cast(output, out.dtype);
            if !same_dtype(output.dtype(), out.dtype) {
                return Err(wrong_dtype(out, output.dtype()));
            }
        }
        self.register(out.id, K::into_handle(output));
        Ok(())
    }

    fn read_optional<K: TensorKind<B>>(
        &mut self,
        tensor: &Option<TensorIr>,
    ) -> Outcome<Option<K::Primitive>> {
        tensor
            .as_ref()
            .map(|tensor| self.read::<K>(tensor))
            .transpose()
    }

    fn read_list<K: TensorKind<B>>(&mut self, tensors: &[TensorIr]) -> Outcome<Vec<K::Primitive>> {
        tensors
            .iter()
            .map(|tensor| self.read::<K>(tensor))
            .collect()
    }

    /// Whether anything is known of `id`: data or an error.
    pub(crate) fn knows(&self, id: &TensorId) -> bool {
        self.handles.has_handle(id) || self.handles.error(id).is_some()
    }

    /// Settle a failed operation: its last uses are over, its outputs carry the error.
    #[cold]
    pub(crate) fn fail(&mut self, op: &OperationIr, fault: Fault) -> OpError {
        for input in op.inputs() {
            self.handles.free(input);
        }
        self.live_bytes.lose_count();
        let op_error = OpError::new(op, fault);
        let error = op_error.tensor_error();
        for output in op.outputs() {
            self.handles.set_error(output.id, error.clone());
        }
        if op_error.outputs().is_empty() {
            self.defer(error.cause().clone());
        }
        op_error
    }

    /// Leave `error` for the next `sync`.
    pub(crate) fn defer(&mut self, error: ExecutionError) {
        self.deferred.lock().get_or_insert(error);
    }
}

/// Reading and writing by kind, as the generated functions spell it.
impl<B: BackendIr> Context<B> {
    pub(crate) fn float(&mut self, tensor: &TensorIr) -> Outcome<FloatTensor<B>> {
        self.read::<Float>(tensor)
    }

    pub(crate) fn int(&mut self, tensor: &TensorIr) -> Outcome<IntTensor<B>> {
        self.read::<Int>(tensor)
    }

    pub(crate) fn bool(&mut self, tensor: &TensorIr) -> Outcome<BoolTensor<B>> {
        self.read::<Bool>(tensor)
    }

    pub(crate) fn optional_float(
        &mut self,
        tensor: &Option<TensorIr>,
    ) -> Outcome<Option<FloatTensor<B>>> {
        self.read_optional::<Float>(tensor)
    }

    pub(crate) fn optional_bool(
        &mut self,
        tensor: &Option<TensorIr>,
    ) -> Outcome<Option<BoolTensor<B>>> {
        self.read_optional::<Bool>(tensor)
    }

    pub(crate) fn float_list(&mut self, tensors: &[TensorIr]) -> Outcome<Vec<FloatTensor<B>>> {
        self.read_list::<Float>(tensors)
    }

    pub(crate) fn int_list(&mut self, tensors: &[TensorIr]) -> Outcome<Vec<IntTensor<B>>> {
        self.read_list::<Int>(tensors)
    }

    pub(crate) fn bool_list(&mut self, tensors: &[TensorIr]) -> Outcome<Vec<BoolTensor<B>>> {
        self.read_list::<Bool>(tensors)
    }

    pub(crate) fn admit_float(&mut self, out: &TensorIr) -> Outcome {
        self.admit::<Float>(out)
    }

    pub(crate) fn admit_int(&mut self, out: &TensorIr) -> Outcome {
        self.admit::<Int>(out)
    }

    pub(crate) fn admit_bool(&mut self, out: &TensorIr) -> Outcome {
        self.admit::<Bool>(out)
    }

    pub(crate) fn admit_optional_float(&mut self, out: &Option<TensorIr>) -> Outcome {
        out.as_ref().map_or(Ok(()), |out| self.admit::<Float>(out))
    }

    pub(crate) fn put_float(&mut self, out: &TensorIr, output: FloatTensor<B>) -> Outcome {
        self.write::<Float>(out, output)
    }

    pub(crate) fn put_int(&mut self, out: &TensorIr, output: IntTensor<B>) -> Outcome {
        self.write::<Int>(out, output)
    }

    pub(crate) fn put_bool(&mut self, out: &TensorIr, output: BoolTensor<B>) -> Outcome {
        self.write::<Bool>(out, output)
    }

    /// An output that the IR declares must be there; one that it does not is let go.
    pub(crate) fn put_optional_float(
        &mut self,
        out: &Option<TensorIr>,
        output: Option<FloatTensor<B>>,
    ) -> Outcome {
        match (out, output) {
            (Some(out), Some(output)) => self.put_float(out, output),
            (Some(out), None) => Err(Box::new(Fault::MissingOutput { id: out.id })),
            (None, _) => Ok(()),
        }
    }
}

#[cold]
fn wrong_kind<B: BackendIr, K: TensorKind<B>>(tensor: &TensorIr) -> Box<Fault> {
    Box::new(match tensor.dtype {
        dtype @ DType::QFloat(_) => Fault::Quantized { dtype },
        declared => Fault::WrongKind {
            id: tensor.id,
            expected: K::KIND,
            declared,
        },
    })
}

#[cold]
fn wrong_dtype(tensor: &TensorIr, actual: DType) -> Box<Fault> {
    Box::new(Fault::WrongDtype {
        id: tensor.id,
        declared: tensor.dtype,
        actual,
    })
}

#[cold]
fn wrong_shape(tensor: &TensorIr, actual: &impl TensorMetadata) -> Box<Fault> {
    Box::new(Fault::WrongShape {
        id: tensor.id,
        declared: tensor.shape.clone(),
        actual: actual.shape(),
    })
}
