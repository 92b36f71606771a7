//! Collective operations.

use burn_backend::{
    distributed::{DistributedOps, ReduceOperation},
    tensor::FloatTensor,
};
use burn_ir::{BackendIr, DeviceIdIr};

use crate::context::{Context, Outcome};

/// The reduction is queued; a flush that fails has no one to tell but the next `sync`.
#[allow(unsafe_code)]
pub(crate) fn distributed_all_reduce<B: BackendIr>(
    tensor: FloatTensor<B>,
    op: ReduceOperation,
    device_ids: &[DeviceIdIr],
    ctx: &mut Context<B>,
) -> Outcome<FloatTensor<B>> {
    let device_ids = device_ids.iter().map(|id| (*id).into()).collect();
    let reduced = <B as DistributedOps<B>>::all_reduce(tensor, op, device_ids);
    // SAFETY: `assume_resolved` asks that `sync_collective` is called before the tensor takes part
    // in a computation. The stream does that: whoever records an `AllReduce` records a
    // `SyncCollective` before the first operation that reads its output.
    let reduced = unsafe { reduced.assume_resolved() };
    if let Err(error) = B::flush(&ctx.device) {
        ctx.defer(error);
    }
    Ok(reduced)
}
