//! What the operations work on: reading inputs, writing outputs, and what becomes of a failure.
//!
//! A handle is large, and a copy of it at each return of a small function is much of what an
//! operation costs. So these are inlined, but not in an unoptimised build, where their frames would
//! add up to a large one.

use alloc::boxed::Box;
use alloc::vec::Vec;

use burn_backend::{
    DType, ExecutionError, Shape, TensorMetadata,
    tensor::{BoolTensor, FloatTensor, IntTensor},
};
use burn_ir::{
    BackendIr, Handle, HandleContainer, HandleKind, OperationIr, TensorId, TensorIr, TensorStatus,
};
use burn_std::sync::Mutex;
use castaway::cast;

use crate::collective::{BackendCollective, Collective};
use crate::custom_op::CustomOpRegistry;
use crate::error::{Fault, OpError};
use crate::info::Kind;
use crate::kind::{self, Bool, Float, Held, Int, TensorKind, same_dtype};
use crate::known::{Known, same_dims};
use crate::limits::{Limits, declared_bytes};
use crate::live::LiveBytes;
use crate::quantized::{InUse, readable};
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
    pub(crate) in_use: InUse,
    #[cfg(feature = "std")]
    pub(crate) profiler: Option<Box<crate::Profiler>>,
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
            in_use: InUse::default(),
            #[cfg(feature = "std")]
            profiler: None,
            deferred: Mutex::new(None),
        }
    }

    /// Take the handle of `tensor` as its status says: a copy, or the handle itself on its last
    /// use. One look-up at most.
    pub(crate) fn handle(&mut self, tensor: &TensorIr) -> Outcome<B::Handle> {
        let place = self.slots.place(tensor.id);
        match tensor.status {
            TensorStatus::ReadOnly => match look(&self.handles, &self.slots, place) {
                Some(handle) => Ok(handle.clone()),
                None => Err(self.no_handle(place, tensor.status)),
            },
            status => self.take(place, status),
        }
    }

    /// Take the handle out of a place, at its last use.
    #[cfg_attr(not(debug_assertions), inline(always))]
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
            return self.read_other::<K>(tensor);
        }
        let place = self.slots.place(tensor.id);
        let is_known = match place {
            Place::Container(id) => self.known.holds(id, tensor),
            Place::Slot(_) => self.slots.is_uniform(),
        };
        match tensor.status {
            TensorStatus::ReadOnly => self.read_copy::<K>(place, tensor, is_known),
            TensorStatus::ReadWrite => self.read_last::<K>(place, tensor, is_known),
            TensorStatus::NotInit => Err(self.no_handle(place, tensor.status)),
        }
    }

    /// A copy of the tensor, made where the caller wants it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn read_copy<K: TensorKind<B>>(
        &mut self,
        place: Place,
        tensor: &TensorIr,
        is_known: bool,
    ) -> Outcome<K::Primitive> {
        let Some(handle) = look(&self.handles, &self.slots, place) else {
            return Err(self.no_handle(place, tensor.status));
        };
        match declared::<B, K>(handle, tensor, is_known) {
            Ok(Some(primitive)) => {
                if !is_known && let Place::Container(id) = place {
                    self.known.learn(id, tensor);
                }
                Ok(primitive.clone())
            }
            Ok(None) => {
                let made = kind::made::<B, K>(handle.clone(), tensor);
                self.made::<K>(made, tensor, is_known)
            }
            Err(mismatch) => Err(self.mismatched(tensor, *mismatch)),
        }
    }

    /// Compare the tensor with what the IR declares, where it is.
    pub(crate) fn compare<K: TensorKind<B>>(&mut self, tensor: &TensorIr) -> Outcome {
        let place = self.slots.place(tensor.id);
        let Some(handle) = look(&self.handles, &self.slots, place) else {
            return Err(self.no_handle(place, TensorStatus::ReadOnly));
        };
        match declared::<B, K>(handle, tensor, false) {
            Ok(Some(_)) => Ok(()),
            Ok(None) => {
                let made = kind::made::<B, K>(handle.clone(), tensor);
                self.made::<K>(made, tensor, false).map(drop)
            }
            Err(mismatch) => Err(self.mismatched(tensor, *mismatch)),
        }
    }

    /// The tensor itself, which is moved no more often than need be: it is large.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn read_last<K: TensorKind<B>>(
        &mut self,
        place: Place,
        tensor: &TensorIr,
        is_known: bool,
    ) -> Outcome<K::Primitive> {
        let id = match place {
            Place::Container(id) => id,
            Place::Slot(slot) => {
                return match self.slots.take_held(slot) {
                    Some(handle) => self.of_kind::<K>(handle, tensor, is_known),
                    None => Err(self.no_handle(place, tensor.status)),
                };
            }
        };
        match self.handles.remove_handle(id) {
            Some(Handle::Existing(handle)) => self.of_kind::<K>(handle, tensor, is_known),
            Some(Handle::Errored(error)) => Err(Box::new(Fault::Errored { id, error })),
            Some(Handle::NotInit) | None => Err(self.no_handle(place, tensor.status)),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn of_kind<K: TensorKind<B>>(
        &mut self,
        handle: B::Handle,
        tensor: &TensorIr,
        is_known: bool,
    ) -> Outcome<K::Primitive> {
        match cast!(handle, HandleKind<B>) {
            Ok(kinded) => match K::of(kinded) {
                Ok(primitive) => self.made::<K>(primitive, tensor, is_known),
                Err(other) => {
                    let mismatch = Mismatch::Dtype(Held::of(&other).dtype);
                    Err(self.mismatched(tensor, mismatch))
                }
            },
            Err(handle) => {
                let made = kind::made::<B, K>(handle, tensor);
                self.made::<K>(made, tensor, is_known)
            }
        }
    }

    /// The tensor that was made of a handle, if it is what the IR declares.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn made<K: TensorKind<B>>(
        &mut self,
        primitive: K::Primitive,
        tensor: &TensorIr,
        is_known: bool,
    ) -> Outcome<K::Primitive> {
        if !is_known && !is_declared(&primitive, tensor) {
            return Err(self.mismatched(tensor, Mismatch::of(&primitive, tensor)));
        }
        if let TensorStatus::ReadWrite = tensor.status {
            self.live_bytes.remove_declared(tensor);
        }
        Ok(primitive)
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
            return self.admit_other::<K>(out);
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
            if let DType::QFloat(scheme) = out.dtype {
                return self.write_quantized::<K>(out, scheme, output);
            }
            output = K::cast(output, out.dtype);
        }
        if self.must_check() && !is_declared(&output, out) {
            return Err(self.mismatched(out, Mismatch::of(&output, out)));
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

/// The handle in a place.
#[cfg_attr(not(debug_assertions), inline(always))]
fn look<'c, H: Clone>(
    handles: &'c HandleContainer<H>,
    slots: &'c Slots<H>,
    place: Place,
) -> Option<&'c H> {
    match place {
        Place::Container(id) => handles.get_handle_ref(&id),
        Place::Slot(slot) => slots.held(slot),
    }
}

/// What a tensor is, where the IR declares something else.
enum Mismatch {
    Dtype(DType),
    Shape(Shape),
}

impl Mismatch {
    #[cold]
    fn of(actual: &impl TensorMetadata, tensor: &TensorIr) -> Self {
        match same_dtype(actual.dtype(), tensor.dtype) {
            true => Self::Shape(actual.shape()),
            false => Self::Dtype(actual.dtype()),
        }
    }
}

/// The tensor that a handle holds, if it is what the IR declares; `None` where handles do not hold
/// tensors.
#[cfg_attr(not(debug_assertions), inline(always))]
fn declared<'h, B: BackendIr, K: TensorKind<B>>(
    handle: &'h B::Handle,
    tensor: &TensorIr,
    is_known: bool,
) -> Result<Option<&'h K::Primitive>, Box<Mismatch>> {
    let Ok(kinded) = cast!(handle, &HandleKind<B>) else {
        return Ok(None);
    };
    match K::of_ref(kinded) {
        Some(primitive) if is_known || is_declared(primitive, tensor) => Ok(Some(primitive)),
        Some(primitive) => Err(Box::new(Mismatch::of(primitive, tensor))),
        None => Err(Box::new(Mismatch::Dtype(Held::of(kinded).dtype))),
    }
}

/// What a tensor is not.
impl<B: BackendIr> Context<B> {
    #[cold]
    pub(crate) fn wrong_kind(&mut self, tensor: &TensorIr, expected: Kind) -> Box<Fault> {
        Box::new(Fault::WrongKind {
            id: self.name(tensor.id),
            expected,
            declared: readable(tensor.dtype),
        })
    }

    #[cold]
    pub(crate) fn misshaped(&mut self, tensor: &TensorIr, actual: Shape) -> Box<Fault> {
        self.mismatched(tensor, Mismatch::Shape(actual))
    }

    #[cold]
    fn mismatched(&mut self, tensor: &TensorIr, mismatch: Mismatch) -> Box<Fault> {
        let id = self.name(tensor.id);
        Box::new(match mismatch {
            Mismatch::Dtype(actual) => Fault::WrongDtype {
                id,
                declared: readable(tensor.dtype),
                actual,
            },
            Mismatch::Shape(actual) => Fault::WrongShape {
                id,
                declared: tensor.shape.clone(),
                actual,
            },
        })
    }
}
