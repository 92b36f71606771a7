//! What an operation becomes on a backend that records operations instead of executing them.
//!
//! burn-router's backend turns each of its methods into the operation that the method is for. So an
//! operation that is interpreted on it comes back as itself, with each argument in the field that it
//! came from: another oracle that nobody here wrote, and one that looks at every argument.

use std::collections::BTreeMap;

use burn_capture::{CaptureBackend, CaptureDevice};
use burn_fusion::Fusion;
use burn_interpreter::TensorInterpreter;
use burn_ir::{
    BackendIr, IrVisitorMut, NumericOperationIr, OperationIr, ScalarIr, ScalarOpIr, TensorId,
    TensorIr, TensorStatus,
};

use crate::case::Case;
use crate::quietly;

/// The operations that the case's becomes. Its tensors have the ids of the case, others are counted
/// from 1000.
pub fn record(case: &Case) -> Result<Vec<OperationIr>, String> {
    let mut names = BTreeMap::new();
    let ops = capture::<CaptureBackend>(case, &[], |interpreter| {
        let tensors = case.op.inputs().chain(case.op.outputs());
        for tensor in tensors.map(|tensor| with_status(tensor, TensorStatus::ReadOnly)) {
            if let Ok(handle) = interpreter.try_get_tensor_handle(&tensor) {
                names.insert(handle.id(), tensor.id);
            }
        }
    })?;
    let ops = ops.into_iter().filter(|op| !is_upload(op));
    Ok(ops.map(|op| rename(op, &mut names)).collect())
}

/// The operations that the case's becomes on burn-fusion's backend, which has methods that
/// burn-router's lacks, over the recording one. Only for operations whose outputs are floats.
pub fn record_fused(case: &Case) -> Result<Vec<OperationIr>, String> {
    // An operation alone is not fused: others read what it writes.
    let readers: Vec<_> = case
        .op
        .outputs()
        .map(|output| {
            let lhs = with_status(output, TensorStatus::ReadOnly);
            let add = ScalarOpIr::create(lhs, ScalarIr::Float(1.0), || TensorId::new(2000));
            OperationIr::NumericFloat(output.dtype, NumericOperationIr::AddScalar(add))
        })
        .collect();
    let mut ops = capture::<Fusion<CaptureBackend>>(case, &readers, |_| {})?;
    ops.truncate(ops.len() - readers.len());
    // Its handles do not tell the ids of the record, but uploads come first and in order.
    let uploads = ops.iter().filter(|op| is_upload(op));
    let uploads = uploads
        .flat_map(OperationIr::outputs)
        .map(|tensor| tensor.id);
    let mut names: BTreeMap<_, _> = uploads.zip(case.inputs.iter().map(|(id, _)| *id)).collect();
    let written = ops
        .iter()
        .filter(|op| !is_upload(op))
        .flat_map(OperationIr::outputs);
    names.extend(
        written
            .map(|tensor| tensor.id)
            .zip(case.op.outputs().map(|output| output.id)),
    );
    let ops = ops.into_iter().filter(|op| !is_upload(op));
    Ok(ops.map(|op| rename(op, &mut names)).collect())
}

/// The case's operation in the form that records have.
pub fn recorded_form(case: &Case) -> OperationIr {
    let mut op = case.op.clone();
    op.visit_mut(&mut Visitor(&mut |tensor| {
        *tensor = with_status(tensor, TensorStatus::ReadOnly)
    }));
    op
}

/// Interpret the case and `more` on a backend that records; `look` at the interpreter then.
fn capture<B: BackendIr<Device = CaptureDevice>>(
    case: &Case,
    more: &[OperationIr],
    look: impl FnOnce(&mut TensorInterpreter<B>),
) -> Result<Vec<OperationIr>, String> {
    let device = CaptureDevice::default();
    let mut executed = Ok(());
    let captured = quietly(|| {
        device.capture_scope(|scope| {
            let mut interpreter = TensorInterpreter::<B>::new(device);
            for (id, data) in &case.inputs {
                interpreter.register_tensor_data_id(*id, data.clone());
            }
            let op = case.op_with(TensorStatus::ReadOnly);
            let mut ops = [&[op], more].concat().into_iter();
            executed = ops.try_for_each(|op| interpreter.try_register_op(op));
            look(&mut interpreter);
            // What is fused is recorded when it must be done.
            B::sync(&device).ok();
            scope.complete([], [])
        })
    });
    executed.map_err(|error| error.to_string())?;
    let captured = captured.map_err(|error| error.to_string())?;
    Ok(captured.graph.operations)
}

fn is_upload(op: &OperationIr) -> bool {
    matches!(op, OperationIr::Init(_))
}

/// The operation with other names for its tensors, and one status for all of them.
fn rename(mut op: OperationIr, names: &mut BTreeMap<TensorId, TensorId>) -> OperationIr {
    op.visit_mut(&mut Visitor(&mut |tensor| {
        let unnamed = TensorId::new(1000 + names.len() as u64);
        *tensor = with_status(tensor, TensorStatus::ReadOnly);
        tensor.id = *names.entry(tensor.id).or_insert(unnamed);
    }));
    op
}

struct Visitor<'v>(&'v mut dyn FnMut(&mut TensorIr));

impl IrVisitorMut for Visitor<'_> {
    fn visit_tensor_mut(&mut self, tensor: &mut TensorIr) {
        (self.0)(tensor);
    }
}

fn with_status(tensor: &TensorIr, status: TensorStatus) -> TensorIr {
    TensorIr {
        status,
        ..tensor.clone()
    }
}
