//! Mutants of rows: whether a row's cases tell a wrong row from the right one.
//!
//! `cargo xtask mutate` builds a runtime whose rows can be told at run time which mistake to make,
//! and a program around [`serve`]. What the row itself makes of its cases is computed once, executed
//! and recorded; the differential suite proves that it is right. A mutant is killed by the first case
//! of which it makes anything else.
#![expect(
    deprecated,
    reason = "burn-ndarray is on its way out, and still a second implementation"
)]

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};

use burn_flex::Flex;
use burn_ir::{BackendIr, OperationIr, TensorStatus};
use burn_ndarray::NdArray;

use crate::case::Case;
use crate::compare::{Ran, run};
use crate::record::{record, record_fused};

/// The row itself, without a mistake.
const NONE: usize = usize::MAX;

/// Answer each line `INDEX ROW` of standard input by a line `INDEX killed` or `INDEX survived`.
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
        let killed = match (index.parse(), rows.get_mut(row)) {
            (Ok(index), Some(row)) => row.kills(index, select),
            _ => false,
        };
        let verdict = if killed { "killed" } else { "survived" };
        let answered = writeln!(answers, "{index} {verdict}");
        if answered.and_then(|()| answers.flush()).is_err() {
            return;
        }
    }
}

/// A row's cases, and what the row makes of each: what comes out of them, and what is recorded.
#[derive(Default)]
struct Row<'c> {
    cases: Vec<&'c Case>,
    ran: Option<Vec<Result<Ran, String>>>,
    recorded: Option<Vec<Result<Vec<OperationIr>, String>>>,
}

impl Row<'_> {
    fn kills(&mut self, mutant: usize, select: fn(usize)) -> bool {
        let ran = || self.cases.iter().flat_map(|case| runs(case));
        // Where burn-router's backend lacks the method, burn-fusion's has it.
        let recorded = |case: &&Case| record(case).or_else(|_| record_fused(case));
        let recorded = || self.cases.iter().map(recorded);
        let is_other = |row: &Ran, mutant: &Ran| row.difference(mutant).is_some();
        differs(ran, &mut self.ran, is_other, mutant, select)
            || differs(recorded, &mut self.recorded, Vec::ne, mutant, select)
    }
}

/// Whether the mutant makes anything else of the cases than the row does, which is computed once.
fn differs<T, I: Iterator<Item = Result<T, String>>>(
    run: impl Fn() -> I,
    row: &mut Option<Vec<Result<T, String>>>,
    is_other: impl Fn(&T, &T) -> bool,
    mutant: usize,
    select: fn(usize),
) -> bool {
    select(NONE);
    let row = row.get_or_insert_with(|| run().collect());
    select(mutant);
    let differs = run().zip(&*row).any(|pair| match pair {
        (Ok(mutant), Ok(row)) => is_other(row, &mutant),
        (Err(_), Err(_)) => false,
        _ => true,
    });
    select(NONE);
    differs
}

/// A case on each backend, with inputs of each status.
fn runs(case: &Case) -> impl Iterator<Item = Result<Ran, String>> + use<'_> {
    let backends: [fn(&Case, TensorStatus) -> _; 2] = [ours::<Flex>, ours::<NdArray>];
    let statuses = [TensorStatus::ReadOnly, TensorStatus::ReadWrite];
    let runs = backends
        .into_iter()
        .flat_map(move |run| statuses.map(|status| (run, status)));
    runs.map(move |(run, status)| run(case, status))
}

fn ours<B: BackendIr>(case: &Case, status: TensorStatus) -> Result<Ran, String> {
    run::<B, burn_interpreter::TensorInterpreter<B>>(case, &case.op_with(status))
}
