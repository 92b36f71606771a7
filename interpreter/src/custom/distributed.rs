//! Collective operations: the interpreter's [`Collective`](crate::Collective) does them.

use alloc::boxed::Box;

use burn_backend::{ExecutionError, distributed::ReduceOperation, tensor::FloatTensor};
use burn_ir::{BackendIr, DeviceIdIr};

use crate::context::{Context, Outcome};
use crate::error::Fault;

pub(crate) fn distributed_all_reduce<B: BackendIr>(
    tensor: FloatTensor<B>,
    op: ReduceOperation,
    device_ids: &[DeviceIdIr],
    ctx: &mut Context<B>,
) -> Outcome<FloatTensor<B>> {
    let devices = device_ids.iter().map(|id| (*id).into()).collect();
    let reduced = ctx.collective.all_reduce(tensor, op, devices, &ctx.device);
    if let Some(error) = ctx.collective.take_error() {
        ctx.defer(error);
    }
    reduced.map_err(failed)
}

pub(crate) fn distributed_sync_collective<B: BackendIr>(ctx: &mut Context<B>) -> Outcome {
    ctx.collective.sync(&ctx.device).map_err(failed)
}

fn failed(error: ExecutionError) -> Box<Fault> {
    Box::new(Fault::Collective {
        reason: error.reason().into(),
    })
}
