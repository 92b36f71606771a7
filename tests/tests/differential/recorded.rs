//! Every case on a backend that records what it is asked: an operation comes back as itself.
//!
//! The methods of such a backend, burn-router's or burn-fusion's, are the inverse of an interpreter.
//! What this proves of a row does not depend on what a backend computes: each argument is where it
//! belongs, or another field of the operation that comes back is wrong.

use std::collections::BTreeSet;

use burn_backend::distributed::ReduceOperation;
use burn_ir::{AllReduceOpIr, DeviceIdIr, DistributedOperationIr, OperationIr};
use interpreter_tests::{Case, record, record_fused, recorded_form};

use crate::all_cases;

/// Rows that come back as something else, at least one of their cases, and why.
const OTHERWISE: [(&str, &str); 15] = [
    ("base.Cast.bool", COMPOSED),
    ("base.GatherNd.bool", COMPOSED),
    ("base.Scatter.bool", COMPOSED),
    ("base.ScatterNd.bool", COMPOSED),
    ("base.SelectAssign.bool", COMPOSED),
    ("float.Dequantize", "burn-router has no quantized tensors"),
    ("float.IsInf", "burn-router leaves it to other operations"),
    ("float.IsNan", "burn-router leaves it to other operations"),
    ("float.PowfScalar", "some exponents are products"),
    ("float.Quantize", "burn-router has no quantized tensors"),
    ("numeric.Pad.int", "the value is a float on the way"),
    (
        "numeric.Powi.float",
        "burn-router asks for one dtype on both sides",
    ),
    ("numeric.PowiScalar.float", "some exponents are products"),
    ("numeric.PowiScalar.int", "some exponents are products"),
    (
        "numeric.SumDims.int",
        "there is no such method: one sum an axis",
    ),
];

const COMPOSED: &str = "backends have no such method: it is composed of others, on ints";

/// Operations that no backend here executes, and every backend can record.
pub(crate) fn cases() -> [Case; 2] {
    [
        Case::new(|t| {
            let tensor = t.float(&[2, 3]);
            let devices = [(1, 2), (3, 4)];
            let device_ids = devices.map(|(type_id, index_id)| DeviceIdIr { type_id, index_id });
            let op = ReduceOperation::Mean;
            let reduce = AllReduceOpIr::create(tensor, op, device_ids.into(), || t.id());
            OperationIr::Distributed(DistributedOperationIr::AllReduce(reduce))
        }),
        Case::new(|_| OperationIr::Distributed(DistributedOperationIr::SyncCollective)),
    ]
}

#[test]
fn an_operation_comes_back_as_itself() {
    let mut otherwise = BTreeSet::new();
    let mut failures = Vec::new();
    for case in all_cases() {
        let (recorded, name) = (record(&case), case.name());
        let itself = Ok(vec![recorded_form(&case)]);
        if recorded == itself || record_fused(&case) == itself {
            continue;
        }
        match OTHERWISE.iter().any(|(row, _)| *row == name) {
            true => drop(otherwise.insert(name)),
            false => failures.push(format!("{name}: {:?}\n  {recorded:?}", case.op)),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert_eq!(Vec::from_iter(otherwise), OTHERWISE.map(|(name, _)| name));
}
