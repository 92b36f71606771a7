//! What the operations work on: reading inputs, writing outputs, and what becomes of a failure.

use alloc::boxed::Box;
use alloc::vec::Vec;

use burn_backend::{
    DType, ExecutionError, Shape, TensorMetadata,
    tensor::{BoolTensor, FloatTensor, IntTensor},
};
use burn_ir::{BackendIr, Handle, HandleContainer, OperationIr, TensorId, TensorIr, TensorStatus};
use burn_std::sync::Mutex;

use crate::collective::{BackendCollective, Collective};
use crate::custom_op::CustomOpRegistry;
use crate::error::{Fault, OpError};
use crate::info::Kind;
use crate::kind::{self, Bool, Float, Int, TensorKind, same_dtype};
use crate::known::{Known, same_dims};
use crate::limits::{Limits, declared_bytes};
use crate::live::LiveBytes;
use crate::slots::{Place, Slot, Slots};

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
    pub(crate) slots: Slots<B::Handle>,
    pub(crate) known: Known,
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
            slots: Slots::default(),
            known: Known::default(),
            deferred: Mutex::new(None),
        }
    }

    /// Take the handle of `tensor` as its status says: a copy, or the handle itself on its last
    /// use. One look-up at most.
    pub(crate) fn handle(&mut self, tensor: &TensorIr) -> Outcome<B::Handle> {
        let place = self.slots.place(tensor.id);
        match tensor.status {
            TensorStatus::ReadOnly => match self.look(place) {
                Some(handle) => Ok(handle.clone()),
                None => Err(self.no_handle(place, tensor.status)),
            },
            status => self.take(place, status),
        }
    }

    /// The handle in a place.
    #[inline(always)]
    fn look(&self, place: Place) -> Option<&B::Handle> {
        match place {
            Place::Container(id) => self.handles.get_handle_ref(&id),
            Place::Slot(slot) => self.slots.held(slot),
        }
    }

    /// Take the handle out of a place, at its last use.
    #[inline(always)]
    fn take(&mut self, place: Place, status: TensorStatus) -> Outcome<B::Handle> {
        match place {
            _ if status == TensorStatus::NotInit => (),
            Place::Container(id) => match self.handles.remove_handle(id) {
                Some(Handle::Existing(handle)) => return Ok(handle),
                Some(Handle::Errored(error)) => return Err(Box::new(Fault::Errored { id, error })),
                Some(Handle::NotInit) | None => (),
            },
            Place::Slot(slot) => {
                if let Some(handle) = self.slots.take_held(slot) {
                    return Ok(handle);
                }
            }
        }
        Err(self.no_handle(place, status))
    }

    /// Why a place gives no handle.
    #[cold]
    fn no_handle(&mut self, place: Place, status: TensorStatus) -> Box<Fault> {
        let (id, slot) = match place {
            Place::Container(id) => (id, None),
            Place::Slot(slot) => (self.name_of(slot), Some(slot)),
        };
        match slot.map(|slot| self.slots.get(slot)) {
            _ if status == TensorStatus::NotInit => Box::new(Fault::NotInitialized { id }),
            Some(Slot::Errored(error)) => {
                let error = error.clone();
                Box::new(Fault::Errored { id, error })
            }
            _ => self.no_data(id),
        }
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
            return Err(self.wrong_kind(tensor, K::KIND));
        }
        let place = self.slots.place(tensor.id);
        let is_known = match place {
            Place::Container(id) => self.known.holds(id, tensor),
            Place::Slot(_) => self.slots.is_uniform(),
        };
        let primitive = match tensor.status {
            TensorStatus::ReadOnly => match self.look(place) {
                Some(handle) => kind::tensor_copy::<B, K>(handle, &tensor.shape),
                None => return Err(self.no_handle(place, tensor.status)),
            },
            status => kind::tensor::<B, K>(self.take(place, status)?, &tensor.shape),
        };
        match primitive {
            Ok(primitive) if is_known || is_declared(&primitive, tensor) => {
                if !is_known && let Place::Container(id) = place {
                    self.known.learn(id, tensor);
                }
                if let TensorStatus::ReadWrite = tensor.status {
                    self.live_bytes.remove_declared(tensor);
                }
                Ok(primitive)
            }
            Ok(primitive) => Err(self.undeclared(tensor, &primitive)),
            Err(actual) => Err(self.wrong_dtype(tensor, *actual)),
        }
    }

    /// Whether the operation at hand must be checked, or was before and has not changed since.
    #[inline]
    pub(crate) fn must_check(&self) -> bool {
        !self.slots.is_checked()
    }

    /// The output that `out` declares may be made: its dtype is of the kind, its size within the
    /// limits.
    pub(crate) fn admit<K: TensorKind<B>>(&mut self, out: &TensorIr) -> Outcome {
        if !self.must_check() {
            return Ok(());
        }
        if !K::has(out.dtype) {
            return Err(self.wrong_kind(out, K::KIND));
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
        if !same_dtype(output.dtype(), out.dtype) {
            output = K::cast(output, out.dtype);
        }
        if self.must_check() && !is_declared(&output, out) {
            return Err(self.undeclared(out, &output));
        }
        let place = self.slots.place(out.id);
        self.put(place, K::into_handle(output));
        if let Place::Container(id) = place {
            self.known.learn(id, out);
        }
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
        let op_error = match self.slots.is_replaying() {
            false => OpError::new(op, fault),
            true => {
                let named = self.named(op);
                OpError::new(&named, self.with_names(|ctx| ctx.renamed(&named, fault)))
            }
        };
        let error = op_error.tensor_error();
        self.settle(op, &error);
        self.live_bytes.lose_count();
        self.slots.is_clean = false;
        if op_error.outputs().is_empty() {
            self.defer(error.cause().clone());
        }
        op_error
    }

    /// The fault of an operation whose tensors had slots in place of ids.
    fn renamed(&mut self, named: &OperationIr, fault: Fault) -> Fault {
        if !fault.is_refusal() {
            return fault;
        }
        // The checks refuse it again, and call the tensors by their ids.
        match crate::operations::execute(self, named) {
            Err(renamed) if renamed.is_refusal() => *renamed,
            _ => fault,
        }
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
            (Some(out), None) => {
                let id = self.name(out.id);
                Err(Box::new(Fault::MissingOutput { id }))
            }
            (None, _) => Ok(()),
        }
    }
}

/// The backend's tensor is what the IR declares.
#[inline]
fn is_declared(primitive: &impl TensorMetadata, tensor: &TensorIr) -> bool {
    same_dtype(primitive.dtype(), tensor.dtype) && same_dims(&primitive.shape(), &tensor.shape)
}

/// What a tensor is, and is not.
impl<B: BackendIr> Context<B> {
    /// What of the backend's tensor is not what the IR declares.
    #[cold]
    fn undeclared(&mut self, tensor: &TensorIr, actual: &impl TensorMetadata) -> Box<Fault> {
        match same_dtype(actual.dtype(), tensor.dtype) {
            true => self.wrong_shape(tensor, actual.shape()),
            false => self.wrong_dtype(tensor, actual.dtype()),
        }
    }

    #[cold]
    fn wrong_kind(&mut self, tensor: &TensorIr, expected: Kind) -> Box<Fault> {
        Box::new(match tensor.dtype {
            dtype @ DType::QFloat(_) => Fault::Quantized { dtype },
            declared => Fault::WrongKind {
                id: self.name(tensor.id),
                expected,
                declared,
            },
        })
    }

    #[cold]
    fn wrong_dtype(&mut self, tensor: &TensorIr, actual: DType) -> Box<Fault> {
        Box::new(Fault::WrongDtype {
            id: self.name(tensor.id),
            declared: tensor.dtype,
            actual,
        })
    }

    fn wrong_shape(&mut self, tensor: &TensorIr, actual: Shape) -> Box<Fault> {
        Box::new(Fault::WrongShape {
            id: self.name(tensor.id),
            declared: tensor.shape.clone(),
            actual,
        })
    }
}
