//! Collective operations: what several devices do together.

use alloc::vec::Vec;

use burn_backend::{
    DeviceId, ExecutionError,
    distributed::{DistributedOps, ReduceOperation},
    tensor::FloatTensor,
};
use burn_ir::BackendIr;

/// How an interpreter takes part in collective operations.
///
/// By default it asks the backend's own `DistributedOps`. Give it another implementation where the
/// backend has none, or to test: [`with_collective`](crate::TensorInterpreter::with_collective).
pub trait Collective<B: BackendIr>: Send + Sync {
    /// Reduce `tensor` over the devices, element by element; each gets the result, of the shape of
    /// its own tensor.
    ///
    /// The result may be pending until [`sync`](Self::sync): whoever sends the operations sends a
    /// `SyncCollective` before it reads the result.
    ///
    /// # Errors
    ///
    /// When there is no result and will be none. The output of the operation carries the error.
    fn all_reduce(
        &mut self,
        tensor: FloatTensor<B>,
        op: ReduceOperation,
        devices: Vec<DeviceId>,
        device: &B::Device,
    ) -> Result<FloatTensor<B>, ExecutionError>;

    /// Wait until the results of earlier operations are there.
    ///
    /// # Errors
    ///
    /// When one of them is not. The next `sync` of the interpreter reports the error.
    fn sync(&mut self, device: &B::Device) -> Result<(), ExecutionError>;

    /// A failure that came to light after the operation it belongs to: the next `sync` of the
    /// interpreter reports it.
    fn take_error(&mut self) -> Option<ExecutionError> {
        None
    }
}

/// The backend's own collective operations.
#[derive(Debug, Default)]
pub(crate) struct BackendCollective {
    /// The reductions are queued; a flush that fails has no one to tell but the next `sync`.
    failed_flush: Option<ExecutionError>,
}

impl<B: BackendIr> Collective<B> for BackendCollective {
    #[allow(unsafe_code)]
    fn all_reduce(
        &mut self,
        tensor: FloatTensor<B>,
        op: ReduceOperation,
        devices: Vec<DeviceId>,
        device: &B::Device,
    ) -> Result<FloatTensor<B>, ExecutionError> {
        let reduced = <B as DistributedOps<B>>::all_reduce(tensor, op, devices);
        // SAFETY: `assume_resolved` asks that `sync_collective` is called before the tensor takes
        // part in a computation. The stream does that: whoever records an `AllReduce` records a
        // `SyncCollective` before the first operation that reads its output.
        let reduced = unsafe { reduced.assume_resolved() };
        self.failed_flush = B::flush(device).err().or(self.failed_flush.take());
        Ok(reduced)
    }

    fn sync(&mut self, device: &B::Device) -> Result<(), ExecutionError> {
        B::sync_collective(device);
        Ok(())
    }

    fn take_error(&mut self) -> Option<ExecutionError> {
        self.failed_flush.take()
    }
}
