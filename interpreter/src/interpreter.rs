//! The interpreter: what burn-router's has, and a fallible twin where that one panics.

use alloc::boxed::Box;
use alloc::string::{String, ToString};

use burn_backend::{
    DType, DTypeUsageSet, DeviceOps, ExecutionError, ProfileDuration, ProfileOptions, ProfileToken,
    TensorData,
};
use burn_ir::{BackendIr, HandleKind, OperationIr, TensorError, TensorId, TensorIr, TensorStatus};
use burn_std::{DeviceSettings, future::DynFut};

use crate::collective::Collective;
use crate::context::{Context, Outcome};
use crate::custom_op::CustomOpRegistry;
use crate::error::{Fault, OpError};
use crate::guard::{guard, guard_future};
use crate::held::Told;
use crate::info::Kind;
use crate::kind::{Bool, Float, Int, kind_of};
use crate::limits::Limits;
use crate::upload;

/// Ids that the interpreter gives out itself begin here: clients count up from 0, and the
/// intermediates of graphs have the highest bit.
const FIRST_OWN_ID: u64 = 1 << 62;

/// Executes tensor operations on a backend.
///
/// It has one owner and no lock on the way of an operation: every operation takes `&mut self`.
///
/// A failed operation is a fact about its outputs. They hold the error in place of data,
/// operations that read them are skipped and pass it on, reading one of them returns it, and
/// everything else goes on. [The crate's documentation](crate) says which failures are caught.
pub struct TensorInterpreter<B: BackendIr> {
    pub(crate) context: Context<B>,
    next_own_id: u64,
}

impl<B: BackendIr> core::fmt::Debug for TensorInterpreter<B> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("TensorInterpreter")
            .field("device", &self.context.device)
            .field("num_handles", &self.num_handles())
            .finish_non_exhaustive()
    }
}

/// Construction and execution.
impl<B: BackendIr> TensorInterpreter<B> {
    /// An interpreter on `device`, without handlers for custom operations.
    pub fn new(device: B::Device) -> Self {
        Self::with_custom_ops(device, CustomOpRegistry::default())
    }

    /// An interpreter on `device` that executes custom operations with these handlers.
    pub fn with_custom_ops(device: B::Device, custom_ops: CustomOpRegistry<B>) -> Self {
        Self {
            context: Context::new(device, custom_ops),
            next_own_id: FIRST_OWN_ID,
        }
    }

    /// The same interpreter, with these limits.
    pub fn with_limits(mut self, limits: Limits) -> Self {
        let counts = limits.max_live_bytes != u64::MAX;
        self.context.live_bytes.set_counting(counts);
        self.context.pending = None;
        self.context.small = limits.small();
        self.context.limits = limits;
        self.context.choose_look();
        self
    }

    /// The same interpreter, taking part in collective operations in this way.
    pub fn with_collective(mut self, collective: impl Collective<B> + 'static) -> Self {
        self.context.collective = Box::new(collective);
        self
    }

    /// The same interpreter, its operations recorded by the profiler.
    #[cfg(feature = "std")]
    pub fn with_profiler(mut self, profiler: crate::Profiler) -> Self {
        self.context.profiler = Some(Box::new(profiler));
        self.context.choose_look();
        self
    }

    /// The profiler, if one is set.
    #[cfg(feature = "std")]
    pub fn profiler(&self) -> Option<&crate::Profiler> {
        self.context.profiler.as_deref()
    }

    /// Stop recording, and return the profiler, if one is set.
    #[cfg(feature = "std")]
    pub fn take_profiler(&mut self) -> Option<crate::Profiler> {
        let profiler = self.context.profiler.take();
        self.context.choose_look();
        profiler.map(|profiler| *profiler)
    }

    /// The limits.
    pub fn limits(&self) -> &Limits {
        &self.context.limits
    }

    /// Execute an operation; its failure is left in its outputs.
    ///
    /// Never panics. The failure of an operation without outputs is reported by the next
    /// [`sync`](Self::sync).
    #[inline]
    pub fn register_op(&mut self, op: OperationIr) {
        let ctx = &mut self.context;
        if let Err(fault) = guard(|| ctx.execute(&op)) {
            // The outputs carry the error.
            ctx.fail(&op, *fault);
        }
    }

    /// Execute an operation, as [`register_op`](Self::register_op) does, and return its failure
    /// too.
    ///
    /// # Errors
    ///
    /// When the operation failed, or was skipped because a tensor it reads holds an error. The
    /// interpreter can be used on either way.
    pub fn try_register_op(&mut self, op: OperationIr) -> Result<(), OpError> {
        let ctx = &mut self.context;
        guard(|| ctx.execute(&op)).map_err(|fault| ctx.fail(&op, *fault))
    }

    /// How many tensors are known: those that hold data and those that hold an error.
    pub fn num_handles(&self) -> usize {
        self.context.tensors.len()
    }

    /// How many tensors hold data.
    pub fn live_tensors(&self) -> usize {
        self.context.tensors.live()
    }

    /// The bytes of the tensors that hold data, each counted as if it owned its data: an alias
    /// counts like a copy.
    pub fn live_bytes(&self) -> u64 {
        self.context.live_bytes()
    }
}

/// Tensors in.
impl<B: BackendIr> TensorInterpreter<B> {
    /// Upload `data` as the tensor `id`.
    ///
    /// Never panics: if the backend refuses the data, the tensor holds the error.
    pub fn register_tensor_data_id(&mut self, id: TensorId, data: TensorData) {
        // The tensor carries the error.
        let _ = self.try_register_tensor_data_id(id, data);
    }

    /// Upload `data` as the tensor `id`.
    ///
    /// # Errors
    ///
    /// When the backend refuses the data. The tensor holds the error too.
    pub fn try_register_tensor_data_id(
        &mut self,
        id: TensorId,
        data: TensorData,
    ) -> Result<(), Fault> {
        let admitted = self.context.admit_data(id, &data);
        let device = &self.context.device;
        let handle = guard(|| {
            admitted?;
            upload::whole(id, &data)?;
            Ok(match kind_of(data.dtype()) {
                Kind::Float => B::float_tensor_handle(B::float_from_data(data, device)),
                Kind::Int => B::int_tensor_handle(B::int_from_data(data, device)),
                Kind::Bool => B::bool_tensor_handle(B::bool_from_data(data, device)),
                Kind::Quantized => B::quantized_tensor_handle(B::q_from_data(data, device)),
            })
        });
        self.settle(id, handle)
    }

    /// Upload `data` as a tensor with an id that nothing uses.
    ///
    /// Never panics: if the backend refuses the data, the tensor holds the error.
    pub fn register_tensor_data_desc(&mut self, data: TensorData) -> TensorIr {
        let tensor = TensorIr {
            id: self.fresh_id(),
            shape: data.shape().clone(),
            status: TensorStatus::ReadWrite,
            dtype: data.dtype(),
        };
        self.register_tensor_data_id(tensor.id, data);
        tensor
    }

    /// Make `new_id` a second name for the data of `src_id`. Both must be dropped.
    ///
    /// Never panics: if the source holds no data, the alias holds the source's error.
    pub fn register_alias(&mut self, new_id: TensorId, src_id: TensorId) {
        // The alias carries the error.
        let _ = self.try_register_alias(new_id, src_id);
    }

    /// Make `new_id` a second name for the data of `src_id`.
    ///
    /// # Errors
    ///
    /// When the source holds no data. The alias holds the error too.
    pub fn try_register_alias(&mut self, new_id: TensorId, src_id: TensorId) -> Result<(), Fault> {
        let source = self.context.tensors.copy(src_id);
        let handle = source.ok_or_else(|| self.context.no_data(src_id));
        let handle = handle.and_then(|handle| {
            let bytes = Told::by_handle::<B>(&handle).bytes;
            self.context.admit_bytes(new_id, Some(bytes))?;
            Ok(handle)
        });
        self.settle(new_id, handle)
    }

    /// Move a tensor of another interpreter to this one's device and register it as `id`.
    ///
    /// Never panics: if the backend cannot move it, the tensor holds the error.
    pub fn register_tensor_to_device(&mut self, id: TensorId, tensor: HandleKind<B>) {
        // The tensor carries the error.
        let _ = self.try_register_tensor_to_device(id, tensor);
    }

    /// Move a tensor of another interpreter to this one's device and register it as `id`.
    ///
    /// # Errors
    ///
    /// When the backend cannot move it. The tensor holds the error too.
    pub fn try_register_tensor_to_device(
        &mut self,
        id: TensorId,
        tensor: HandleKind<B>,
    ) -> Result<(), Fault> {
        let admitted = self
            .context
            .admit_bytes(id, Some(Told::by_kind(&tensor).bytes));
        if let HandleKind::Quantized(_) = tensor {
            self.context.begin_quantized();
        }
        let device = &self.context.device;
        let handle = guard(|| {
            admitted?;
            Ok(match tensor {
                HandleKind::Float(tensor) => {
                    B::float_tensor_handle(B::float_to_device(tensor, device))
                }
                HandleKind::Int(tensor) => B::int_tensor_handle(B::int_to_device(tensor, device)),
                HandleKind::Bool(tensor) => {
                    B::bool_tensor_handle(B::bool_to_device(tensor, device))
                }
                HandleKind::Quantized(tensor) => {
                    B::quantized_tensor_handle(B::q_to_device(tensor, device))
                }
            })
        });
        self.settle(id, handle)
    }

    /// Let `id` hold `error` in place of data: reading it returns the error, and operations that
    /// read it are skipped.
    pub fn set_error(&mut self, id: TensorId, error: TensorError) {
        self.context.tensors.set_error(id, error);
        self.context.live_bytes.lose_count();
    }

    /// Why `id` cannot be read: the error it holds, or that there is no such tensor. `None` if it
    /// can.
    pub fn read_failure(&self, id: &TensorId) -> Option<String> {
        match self.context.tensors.has_data(*id) {
            true => None,
            false => Some(self.context.no_data(*id).to_string()),
        }
    }

    /// Register a backend's handle under an id that nothing uses, as a tensor of burn-router.
    #[cfg(feature = "router")]
    pub fn register_tensor<C: burn_router::RouterClient>(
        &mut self,
        handle: B::Handle,
        shape: burn_backend::Shape,
        dtype: DType,
        client: C,
    ) -> burn_router::RouterTensor<C> {
        let id = self.fresh_id();
        self.context.live_bytes.lose_count();
        if let DType::QFloat(_) = dtype {
            self.context.begin_quantized();
        }
        self.context.register(id, handle);
        burn_router::RouterTensor::new(id, shape, dtype, client)
    }

    /// Register what came of preparing the tensor `id`: its handle or an error.
    fn settle(&mut self, id: TensorId, handle: Outcome<B::Handle>) -> Result<(), Fault> {
        match handle {
            Ok(handle) => {
                self.context.register(id, handle);
                Ok(())
            }
            Err(fault) => {
                let error = match &*fault {
                    Fault::Errored { error, .. } => error.clone(),
                    fault => TensorError::new(ExecutionError::with_context(alloc::format!(
                        "{id} was not registered: {fault}"
                    ))),
                };
                self.context.claim(id, &error);
                self.context.live_bytes.lose_count();
                Err(*fault)
            }
        }
    }

    pub(crate) fn fresh_id(&mut self) -> TensorId {
        loop {
            let id = TensorId::new(self.next_own_id);
            self.next_own_id = self.next_own_id.wrapping_add(1);
            if !self.context.tensors.knows(id) {
                return id;
            }
        }
    }
}

/// Tensors out.
impl<B: BackendIr> TensorInterpreter<B> {
    /// The data of `tensor`, as a future that owns it.
    ///
    /// The tensor must have the dtype and shape that `tensor` declares. With the status
    /// `ReadWrite` it is released, its error included.
    ///
    /// # Errors
    ///
    /// When the tensor holds no data, is not what `tensor` declares, or the backend fails.
    pub fn read_tensor_async(
        &mut self,
        tensor: TensorIr,
    ) -> DynFut<Result<TensorData, ExecutionError>> {
        let read = guard(|| {
            Ok(match self.context.primitive(&tensor)? {
                HandleKind::Float(primitive) => guard_future(B::float_into_data(primitive)),
                HandleKind::Int(primitive) => guard_future(B::int_into_data(primitive)),
                HandleKind::Bool(primitive) => guard_future(B::bool_into_data(primitive)),
                HandleKind::Quantized(primitive) => guard_future(B::q_into_data(primitive)),
            })
        });
        read.unwrap_or_else(|fault| {
            let error = self.context.release(&tensor, *fault).into_execution_error();
            Box::pin(core::future::ready(Err(error)))
        })
    }

    /// The backend's handle of `tensor`; with the status `ReadWrite` the interpreter lets go of
    /// it.
    ///
    /// # Panics
    ///
    /// When the tensor holds no data, with the reason. See
    /// [`try_get_tensor_handle`](Self::try_get_tensor_handle).
    pub fn get_tensor_handle(&mut self, tensor: &TensorIr) -> B::Handle {
        self.try_get_tensor_handle(tensor)
            .unwrap_or_else(|fault| panic!("cannot get the handle of {}: {fault}", tensor.id))
    }

    /// The backend's handle of `tensor`.
    ///
    /// # Errors
    ///
    /// When the tensor holds no data.
    pub fn try_get_tensor_handle(&mut self, tensor: &TensorIr) -> Result<B::Handle, Fault> {
        self.context.live_bytes.lose_count();
        self.context
            .handle(tensor.id, tensor.status)
            .map_err(|fault| *fault)
    }

    /// The backend's primitive of `tensor`, as its dtype says; with the status `ReadWrite` the
    /// interpreter lets go of it.
    ///
    /// # Panics
    ///
    /// When the tensor holds no data or is not what `tensor` declares, with the reason. See
    /// [`try_get_tensor`](Self::try_get_tensor).
    pub fn get_tensor(&mut self, tensor: &TensorIr) -> HandleKind<B> {
        self.try_get_tensor(tensor)
            .unwrap_or_else(|fault| panic!("cannot get {}: {fault}", tensor.id))
    }

    /// The backend's primitive of `tensor`, as its dtype says.
    ///
    /// # Errors
    ///
    /// When the tensor holds no data, or is not what `tensor` declares.
    pub fn try_get_tensor(&mut self, tensor: &TensorIr) -> Result<HandleKind<B>, Fault> {
        guard(|| self.context.primitive(tensor))
            .map_err(|fault| self.context.release(tensor, *fault))
    }
}

/// The backend and its device.
impl<B: BackendIr> TensorInterpreter<B> {
    /// The device the operations run on.
    pub fn device(&self) -> B::Device {
        self.context.device.clone()
    }

    /// The default dtypes of the device.
    pub fn device_settings(&self) -> DeviceSettings {
        self.context.device.defaults()
    }

    /// Wait until the backend has done all its work.
    ///
    /// # Errors
    ///
    /// When that work failed, or when since the last call something failed that no tensor could
    /// carry: an operation without outputs, or the flush of a collective operation.
    pub fn sync(&self) -> Result<(), ExecutionError> {
        if let Some(error) = self.context.deferred.lock().take() {
            return Err(error);
        }
        guard(|| Ok(B::sync(&self.context.device)))
            .unwrap_or_else(|fault| Err(fault.into_execution_error()))
    }

    /// Seed the backend's random numbers.
    pub fn seed(&self, seed: u64) {
        B::seed(&self.context.device, seed)
    }

    /// What the backend can do with elements of type `dtype`.
    pub fn dtype_usage(&self, dtype: DType) -> DTypeUsageSet {
        B::dtype_usage(&self.context.device, dtype)
    }

    /// Open a profiling window; `None` if the backend has none.
    ///
    /// # Errors
    ///
    /// When the backend cannot open it.
    pub fn profile_start(&self) -> Result<Option<ProfileToken>, ExecutionError> {
        B::profile_start(&self.context.device)
    }

    /// Close a profiling window.
    ///
    /// # Errors
    ///
    /// When the backend cannot measure it.
    pub fn profile_end(
        &self,
        token: ProfileToken,
        options: ProfileOptions,
    ) -> Result<ProfileDuration, ExecutionError> {
        B::profile_end(&self.context.device, token, options)
    }

    /// Close a profiling window without measuring it.
    pub fn profile_abandon(&self, token: ProfileToken) {
        B::profile_abandon(&self.context.device, token)
    }
}

impl<B: BackendIr> Context<B> {
    /// Take `tensor` as the primitive its dtype says.
    fn primitive(&mut self, tensor: &TensorIr) -> Outcome<HandleKind<B>> {
        if self.tensors.error(tensor.id).is_some() {
            return Err(self.no_data(tensor.id));
        }
        Ok(match kind_of(tensor.dtype) {
            Kind::Float => HandleKind::Float(self.read_out::<Float>(tensor)?),
            Kind::Int => HandleKind::Int(self.read_out::<Int>(tensor)?),
            Kind::Bool => HandleKind::Bool(self.read_out::<Bool>(tensor)?),
            Kind::Quantized => HandleKind::Quantized(self.quantized(tensor)?),
        })
    }

    /// Settle a failed read: its last use is over all the same.
    fn release(&mut self, tensor: &TensorIr, fault: Fault) -> Fault {
        if let TensorStatus::ReadWrite = tensor.status {
            self.tensors.forget(tensor.id);
        }
        self.live_bytes.lose_count();
        fault
    }
}
