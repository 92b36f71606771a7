//! B32: the facts of the rows against burn-ir, which keeps several lists of an operation's tensors
//! by hand.

use std::collections::BTreeSet;

use burn_interpreter::{Arity, TensorInfo, op_info};
use burn_ir::{IrVisitorMut, OperationIr, TensorId, TensorIr, TensorStatus};

use crate::cases;

/// The ids of all tensors that an operation's visitor sees, sorted.
fn visited(op: &OperationIr) -> Vec<TensorId> {
    struct Ids(Vec<TensorId>);
    impl IrVisitorMut for Ids {
        fn visit_tensor_mut(&mut self, tensor: &mut TensorIr) {
            self.0.push(tensor.id);
        }
    }
    let mut ids = Ids(Vec::new());
    op.clone().visit_mut(&mut ids);
    ids.0.sort();
    ids.0
}

/// Whether `count` tensors can be those of these fields.
fn fits(fields: &[TensorInfo], count: usize) -> bool {
    let of = |arity: Arity| fields.iter().filter(|field| field.arity == arity).count();
    let (one, optional, many) = (of(Arity::One), of(Arity::Optional), of(Arity::Many));
    count >= one && (many > 0 || count <= one + optional)
}

#[test]
fn b32_a_rows_tensors_are_those_of_its_operation() {
    for case in cases() {
        let info = op_info(&case.op);
        let inputs: Vec<_> = case.op.inputs().map(|tensor| tensor.id).collect();
        let outputs: Vec<_> = case.op.outputs().map(|tensor| tensor.id).collect();
        assert!(fits(info.inputs, inputs.len()), "{}: {inputs:?}", info.name);
        assert!(
            fits(info.outputs, outputs.len()),
            "{}: {outputs:?}",
            info.name
        );
        let mut both = [inputs, outputs].concat();
        both.sort();
        assert_eq!(visited(&case.op), both, "{}", info.name);
    }
}

/// burn-ir 0.22.1 forgets the indices of these two when it marks tensors as read only.
const FORGOTTEN: [&str; 2] = [
    "module.MaxPool1dWithIndicesBackward",
    "module.MaxPool2dWithIndicesBackward",
];

#[test]
fn b32_what_mark_read_only_forgets() {
    let mut forgotten = BTreeSet::new();
    for case in cases() {
        let mut op = case.op_with(TensorStatus::ReadWrite);
        let ids: Vec<_> = op.inputs().map(|tensor| tensor.id).collect();
        op.mark_read_only(&ids);
        if op
            .inputs()
            .any(|tensor| tensor.status == TensorStatus::ReadWrite)
        {
            forgotten.insert(case.name());
        }
    }
    assert_eq!(Vec::from_iter(forgotten), FORGOTTEN);
}
