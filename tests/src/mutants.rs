//! Mutants of rows: whether a row's cases tell a wrong row from the right one.
//!
//! `cargo xtask mutate` builds a runtime whose rows can be told at run time which mistake to make,
//! and a program around [`serve`]. What the row itself makes of its cases is computed once; the
//! differential suite proves that it is right. A mutant is killed by the first case of which it
//! makes anything else.
#![expect(
    deprecated,
    reason = "burn-ndarray is on its way out, and still a second implementation"
)]

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};

use burn_flex::Flex;
use burn_ir::{BackendIr, TensorStatus};
use burn_ndarray::NdArray;

use crate::case::Case;
use crate::compare::{Ran, run};

/// The row itself, without a mistake.
const NONE: usize = usize::MAX;

/// Answer each line `INDEX ROW` of standard input by `INDEX killed`, `INDEX survived`, or
/// `INDEX killed on wgpu` if that is the only backend that tells the mutant from the row.
/// `select` tells the runtime which mutant to be.
pub fn serve(cases: &[Case], select: fn(usize)) {
    let mut rows: BTreeMap<&str, Row<'_>> = BTreeMap::new();
    for case in cases {
        rows.entry(case.name()).or_default().cases.push(case);
    }
    let mut answers = io::stdout().lock();
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let Some((index, row)) = line.split_once(' ') else {
            continue;
        };
        let verdict = match (index.parse(), rows.get_mut(row)) {
            (Ok(index), Some(row)) => row.verdict(index, select),
            _ => "survived",
        };
        let answered = writeln!(answers, "{index} {verdict}");
        if answered.and_then(|()| answers.flush()).is_err() {
            return;
        }
    }
}

type Outcome = Result<Ran, String>;
type Runner = fn(&Case, TensorStatus) -> Outcome;

const CPU: [Runner; 2] = [ours::<Flex>, ours::<NdArray>];
#[cfg(feature = "wgpu")]
const WGPU: [Runner; 1] = [ours::<burn_wgpu::Wgpu>];
#[cfg(not(feature = "wgpu"))]
const WGPU: [Runner; 0] = [];

/// A row's cases, and what the row makes of each.
#[derive(Default)]
struct Row<'c> {
    cases: Vec<&'c Case>,
    on_cpu: Option<Vec<Outcome>>,
    on_wgpu: Option<Vec<Outcome>>,
}

impl Row<'_> {
    fn verdict(&mut self, mutant: usize, select: fn(usize)) -> &'static str {
        let Self {
            cases,
            on_cpu,
            on_wgpu,
        } = self;
        if differs(cases, on_cpu, &CPU, mutant, select) {
            "killed"
        } else if differs(cases, on_wgpu, &WGPU, mutant, select) {
            "killed on wgpu"
        } else {
            "survived"
        }
    }
}

/// Whether the mutant makes anything else of a case than the row does, which is computed once.
fn differs(
    cases: &[&Case],
    expected: &mut Option<Vec<Outcome>>,
    runners: &[Runner],
    mutant: usize,
    select: fn(usize),
) -> bool {
    let runs = || {
        let statuses = [TensorStatus::ReadOnly, TensorStatus::ReadWrite];
        let runners = runners
            .iter()
            .flat_map(move |run| statuses.map(|status| (run, status)));
        let runs = cases
            .iter()
            .flat_map(move |case| runners.clone().map(move |run| (case, run)));
        runs.map(|(case, (run, status))| run(case, status))
    };
    select(NONE);
    let expected = expected.get_or_insert_with(|| runs().collect());
    select(mutant);
    let differs = runs()
        .zip(&*expected)
        .any(|(ran, expected)| match (ran, expected) {
            (Ok(ran), Ok(expected)) => expected.difference(&ran).is_some(),
            (Err(_), Err(_)) => false,
            _ => true,
        });
    select(NONE);
    differs
}

fn ours<B: BackendIr>(case: &Case, status: TensorStatus) -> Outcome {
    run::<B, burn_interpreter::TensorInterpreter<B>>(case, &case.op_with(status))
}
