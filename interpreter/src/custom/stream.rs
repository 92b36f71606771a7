//! Operations that steer the stream: they work on handles, not on tensors.

use alloc::boxed::Box;

use burn_ir::{BackendIr, CustomOpIr, InitOperationIr, TensorIr, TensorStatus};

use crate::context::{Context, Outcome};
use crate::error::Fault;
use crate::info::Kind;
use crate::kind::{Bool, Float, Int, kind_of};

/// The data of an initialized tensor is registered by itself.
pub(crate) fn stream_init<B: BackendIr>(_op: &InitOperationIr, _ctx: &mut Context<B>) -> Outcome {
    Ok(())
}

/// Dropping what is not there, or holds an error, is fine: cleaning up never fails.
pub(crate) fn stream_drop<B: BackendIr>(tensor: &TensorIr, ctx: &mut Context<B>) -> Outcome {
    ctx.forget(tensor.id);
    Ok(())
}

pub(crate) fn stream_custom<B: BackendIr>(op: &CustomOpIr, ctx: &mut Context<B>) -> Outcome {
    match ctx.slots.is_replaying() {
        false => run_handler(op, ctx),
        true => ctx.with_handles(op, run_handler),
    }
}

/// Run the handler, between a look at its inputs and a look at its outputs: it is held to the
/// declaration of the operation.
fn run_handler<B: BackendIr>(op: &CustomOpIr, ctx: &mut Context<B>) -> Outcome {
    let Some(handler) = ctx.custom_ops.get(&op.id) else {
        return Err(Box::new(Fault::MissingHandler { id: op.id.clone() }));
    };
    // The handler may change any tensor.
    ctx.live_bytes.lose_count();
    ctx.known.forget_all();
    for input in &op.inputs {
        if !ctx.handles.has_handle(&input.id) {
            return Err(ctx.no_data(input.id));
        }
    }
    // An output may be known from before; only what the handler writes counts.
    for output in &op.outputs {
        if op.inputs.iter().all(|input| input.id != output.id) {
            ctx.handles.remove_handle(output.id);
        }
    }
    handler(&mut ctx.handles, op, &ctx.device);
    for input in &op.inputs {
        if op.outputs.iter().all(|output| output.id != input.id) {
            ctx.handles.free(input);
        }
    }
    op.outputs
        .iter()
        .try_for_each(|output| check_output(output, ctx))
}

/// An output of a handler is what the operation declares.
fn check_output<B: BackendIr>(output: &TensorIr, ctx: &mut Context<B>) -> Outcome {
    if let Some(error) = ctx.handles.error(&output.id) {
        let error = error.clone();
        return Err(Box::new(Fault::Handler { error }));
    }
    if !ctx.handles.has_handle(&output.id) {
        return Err(Box::new(Fault::MissingOutput { id: output.id }));
    }
    let look = TensorIr {
        status: TensorStatus::ReadOnly,
        ..output.clone()
    };
    match kind_of(output.dtype) {
        Ok(Kind::Float) => ctx.read::<Float>(&look).map(drop),
        Ok(Kind::Int) => ctx.read::<Int>(&look).map(drop),
        Ok(Kind::Bool) => ctx.read::<Bool>(&look).map(drop),
        // A quantized tensor is the handler's own affair.
        Err(_) => Ok(()),
    }
}
