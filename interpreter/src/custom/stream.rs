//! Operations that steer the stream: they work on handles, not on tensors.

use burn_ir::{BackendIr, CustomOpIr, InitOperationIr, TensorIr};

use crate::context::{Context, Outcome};
use crate::handler::run_handler;

/// The data of an initialized tensor is registered by itself.
pub(crate) fn stream_init<B: BackendIr>(_op: &InitOperationIr, _ctx: &mut Context<B>) -> Outcome {
    Ok(())
}

/// Dropping what is not there, or holds an error, is fine: cleaning up never fails.
pub(crate) fn stream_drop<B: BackendIr>(tensor: &TensorIr, ctx: &mut Context<B>) -> Outcome {
    ctx.forget(tensor.id);
    Ok(())
}

/// Run the handler of the operation: most likely that of the custom operation before.
///
/// Not part of the dispatch: other operations would pay for the registers that it needs.
#[inline(never)]
pub(crate) fn stream_custom<B: BackendIr>(op: &CustomOpIr, ctx: &mut Context<B>) -> Outcome {
    ctx.handler = ctx.custom_ops.find(&op.id, ctx.handler);
    run_handler(ctx.handler, op, ctx)
}
