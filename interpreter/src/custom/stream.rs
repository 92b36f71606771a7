//! Operations that steer the stream: they work on handles, not on tensors.

use alloc::boxed::Box;

use burn_ir::{BackendIr, CustomOpIr, InitOperationIr, TensorIr};

use crate::context::{Context, Outcome};
use crate::error::Fault;
use crate::info::Kind;
use crate::kind::{Bool, Float, Int, kind_of};
use crate::quantized::Quantized;

/// The data of an initialized tensor is registered by itself.
pub(crate) fn stream_init<B: BackendIr>(_op: &InitOperationIr, _ctx: &mut Context<B>) -> Outcome {
    Ok(())
}

/// Dropping what is not there, or holds an error, is fine: cleaning up never fails.
pub(crate) fn stream_drop<B: BackendIr>(tensor: &TensorIr, ctx: &mut Context<B>) -> Outcome {
    ctx.forget(tensor.id);
    Ok(())
}

/// Run the handler, between a look at its inputs and a look at its outputs: it is held to the
/// declaration of the operation.
pub(crate) fn stream_custom<B: BackendIr>(op: &CustomOpIr, ctx: &mut Context<B>) -> Outcome {
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
    let compared = match kind_of(output.dtype) {
        Kind::Float => ctx.compare::<Float>(output),
        Kind::Int => ctx.compare::<Int>(output),
        Kind::Bool => ctx.compare::<Bool>(output),
        Kind::Quantized => {
            ctx.in_use.begin();
            ctx.compare::<Quantized>(output)
        }
    };
    compared.map_err(|fault| match *fault {
        Fault::Errored { error, .. } => Box::new(Fault::Handler { error }),
        Fault::MissingTensor { id } => Box::new(Fault::MissingOutput { id }),
        _ => fault,
    })
}
