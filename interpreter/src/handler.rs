//! Custom operations are executed by handlers of the user, which may do anything to the handles: they
//! are held to what their operation declares.

use alloc::boxed::Box;

use burn_ir::{BackendIr, CustomOpIr, Handle, HandleContainer, TensorIr};

use crate::check;
use crate::context::{Context, Outcome};
use crate::error::Fault;
use crate::graph::fresh_id;
use crate::guard::guard;
use crate::limits::is_small;
use crate::quantized::is_quantized;

/// Run the handler in this place of the registry, if its outputs are within the limits, between a
/// look at its inputs and a look at its outputs.
///
/// Only what the handler writes is an output. An input that an output takes the place of is known
/// to the handler by another id, so what stands under the output's id is the handler's.
pub(crate) fn run_handler<B: BackendIr>(
    handler: Option<usize>,
    op: &CustomOpIr,
    ctx: &mut Context<B>,
) -> Outcome {
    let Some(handler) = handler else {
        return Err(Box::new(Fault::MissingHandler { id: op.id.clone() }));
    };
    admit(&op.outputs, ctx)?;
    let handler = ctx.custom_ops.handler(handler);
    // The handler may change any tensor.
    ctx.live_bytes.lose_count();
    let handles = ctx.tensors.lend();
    if let Some(input) = op
        .inputs
        .iter()
        .find(|tensor| !handles.has_handle(&tensor.id))
    {
        return Err(ctx.no_data(input.id));
    }
    let set_aside = set_aside(op, handles);
    let seen = set_aside.as_ref().unwrap_or(op);
    let done = guard(|| {
        handler(handles, seen, &ctx.device);
        Ok(())
    });
    for (input, seen) in op.inputs.iter().zip(&seen.inputs) {
        match input.id == seen.id {
            true => handles.free(input),
            false => drop(handles.remove_handle(seen.id)),
        }
    }
    done?;
    op.outputs
        .iter()
        .try_for_each(|output| check_output(output, ctx))
}

/// The outputs that are declared may be made, one by one and together.
fn admit<B: BackendIr>(outputs: &[TensorIr], ctx: &mut Context<B>) -> Outcome {
    let most = ctx.small / outputs.len().max(1);
    let is_small =
        |output: &TensorIr| is_small(&output.shape[..], most) && !is_quantized(output.dtype);
    if outputs.iter().all(is_small) {
        return Ok(());
    }
    for output in outputs {
        ctx.admit_any(output)?;
    }
    check::together(outputs)
}

/// Free the ids of the outputs. Where one is an input's too, the input gets another id, under which
/// the operation that is returned has it.
fn set_aside<H: Clone>(op: &CustomOpIr, handles: &mut HandleContainer<H>) -> Option<CustomOpIr> {
    let mut renamed = None;
    for output in &op.outputs {
        let Some(Handle::Existing(handle)) = handles.remove_handle(output.id) else {
            continue;
        };
        if op.inputs.iter().all(|input| input.id != output.id) {
            continue;
        }
        let is_of_op = |id| {
            op.inputs
                .iter()
                .chain(&op.outputs)
                .any(|tensor| tensor.id == id)
        };
        let id =
            fresh_id(|id| is_of_op(id) || handles.has_handle(&id) || handles.error(&id).is_some());
        handles.register_handle(id, handle);
        let renamed: &mut CustomOpIr = renamed.get_or_insert_with(|| op.clone());
        for input in &mut renamed.inputs {
            if input.id == output.id {
                input.id = id;
            }
        }
    }
    renamed
}

/// An output of a handler is what the operation declares.
fn check_output<B: BackendIr>(output: &TensorIr, ctx: &mut Context<B>) -> Outcome {
    if is_quantized(output.dtype) {
        ctx.begin_quantized();
    }
    ctx.compare(output).map_err(|fault| match *fault {
        Fault::Errored { error, .. } => Box::new(Fault::Handler { error }),
        Fault::MissingTensor { id } => Box::new(Fault::MissingOutput { id }),
        _ => fault,
    })
}
