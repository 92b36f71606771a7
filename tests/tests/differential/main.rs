//! Every row of the table, executed by burn-router's interpreter and by ours: the same data bit for
//! bit, the same tensors left alive.
#![expect(
    deprecated,
    reason = "burn-ndarray is on its way out, and still a second implementation"
)]

mod activation;
mod base;
mod bytes;
mod convolution;
mod facts;
mod float;
mod int;
mod memory;
mod module;
mod numeric;
mod quantized;
mod recorded;
mod refused;
mod streams;
#[cfg(feature = "wgpu")]
mod wgpu;

use std::collections::BTreeSet;

use burn_backend::DType;
use burn_flex::Flex;
use burn_ir::{BackendIr, TensorStatus};
use burn_ndarray::NdArray;
use interpreter_tests::{Case, Verdict, compare};

/// The cases that upstream executes.
pub(crate) fn cases() -> Vec<Case> {
    let in_several_dtypes = [numeric::cases(), float::cases()];
    let in_one = [
        base::cases(),
        int::cases(),
        module::cases(),
        convolution::cases(),
        activation::cases(),
    ];
    let others = |case: &Case| {
        let pairs = [(DType::F32, DType::F64), (DType::I64, DType::I32)];
        pairs.map(|(one, other)| case.with_dtype(one, other))
    };
    let in_one: Vec<_> = in_one.into_iter().flatten().collect();
    let in_another: Vec<_> = in_one.iter().flat_map(others).flatten().collect();
    let cases = in_several_dtypes.into_iter().flatten();
    cases.chain(in_one).chain(in_another).collect()
}

/// The cases that ours executes on some backend: what `cargo xtask mutate` runs.
pub(crate) fn all_cases() -> Vec<Case> {
    [
        cases(),
        refused::cases(),
        quantized::cases(),
        recorded::cases().into(),
    ]
    .concat()
}

/// What a backend makes of some rows, other than the same data with both interpreters.
struct Known {
    /// Rows that it cannot execute, at least one of their cases.
    lacking: &'static [&'static str],
    /// Rows whose output it gives another dtype than the IR declares; ours converts it.
    undeclared: &'static [&'static str],
}

/// Indices of ints are I64 whatever the IR says, and bools that were gathered are tagged U8.
const FLEX: Known = Known {
    lacking: &["module.CtcLossBackward", "module.Interpolate"],
    undeclared: &[
        "base.Gather.bool",
        "base.Select.bool",
        "numeric.ArgMax.int",
        "numeric.ArgMin.int",
        "numeric.ArgSort.int",
        "numeric.ArgTopK.int",
        "numeric.MaxDimWithIndices.int",
        "numeric.MinDimWithIndices.int",
        "numeric.SortWithIndices.int",
        "numeric.TopKWithIndices.int",
    ],
};

const NDARRAY: Known = Known {
    lacking: &["module.CtcLossBackward", "module.Interpolate"],
    undeclared: &[],
};

/// Run all cases on `B`; the ones that are not the same are told at once.
fn run_all<B: BackendIr>(status: TensorStatus, known: &Known) {
    let mut failures = Vec::new();
    let mut lacking = BTreeSet::new();
    let mut undeclared = BTreeSet::new();
    for case in cases() {
        let name = case.name();
        match compare::<B>(&case, status) {
            Verdict::Same => {}
            Verdict::SameAsDeclared => {
                undeclared.insert(name);
            }
            Verdict::BothRefuse(..) => {
                lacking.insert(name);
            }
            verdict => failures.push(format!("{name}: {verdict:?}\n  {:?}", case.op)),
        }
    }
    assert!(
        failures.is_empty(),
        "{} differ\n{}",
        failures.len(),
        failures.join("\n")
    );
    assert_eq!(
        Vec::from_iter(lacking),
        known.lacking,
        "rows that the backend cannot execute"
    );
    assert_eq!(
        Vec::from_iter(undeclared),
        known.undeclared,
        "rows with another dtype"
    );
}

#[test]
fn flex_with_inputs_that_stay() {
    run_all::<Flex>(TensorStatus::ReadOnly, &FLEX);
}

#[test]
fn flex_with_inputs_at_their_last_use() {
    run_all::<Flex>(TensorStatus::ReadWrite, &FLEX);
}

#[test]
fn ndarray_with_inputs_that_stay() {
    run_all::<NdArray>(TensorStatus::ReadOnly, &NDARRAY);
}

#[test]
fn ndarray_with_inputs_at_their_last_use() {
    run_all::<NdArray>(TensorStatus::ReadWrite, &NDARRAY);
}

/// A row without a case fails, and is named.
#[test]
fn every_row_has_a_case() {
    let covered: BTreeSet<_> = cases()
        .iter()
        .map(Case::name)
        .chain(refused::NAMES)
        .collect();
    let rows = burn_interpreter::OPERATIONS.iter().map(|info| info.name);
    let missing: Vec<_> = rows.filter(|name| !covered.contains(name)).collect();
    assert!(
        missing.is_empty(),
        "rows without a case: {}",
        missing.join(", ")
    );
}
