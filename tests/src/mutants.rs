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
        if writeln!(answers, "{index} {verdict}")
            .and_then(|()| answers.flush())
            .is_err()
        {
            return;
        }
    }
}

/// A row's cases, and what the row makes of each on each backend.
#[derive(Default)]
struct Row<'c> {
    cases: Vec<&'c Case>,
    expected: Vec<Vec<Result<Ran, String>>>,
}

impl Row<'_> {
    fn kills(&mut self, mutant: usize, select: fn(usize)) -> bool {
        if self.expected.is_empty() {
            select(NONE);
            let cases = self.cases.iter();
            self.expected = cases.map(|case| runs(case).collect()).collect();
        }
        select(mutant);
        let mut cases = self.cases.iter().zip(&self.expected);
        let killed = cases.any(|(case, expected)| {
            let mut pairs = runs(case).zip(expected);
            pairs.any(|(ran, expected)| match (ran, expected) {
                (Ok(ran), Ok(expected)) => expected.difference(&ran).is_some(),
                (Err(_), Err(_)) => false,
                _ => true,
            })
        });
        select(NONE);
        killed
    }
}

/// The runs of a case, one after the other as they are asked for.
fn runs(case: &Case) -> impl Iterator<Item = Result<Ran, String>> + use<'_> {
    let runs: [fn(&Case, TensorStatus) -> Result<Ran, String>; 2] = [ours::<Flex>, ours::<NdArray>];
    let statuses = [TensorStatus::ReadOnly, TensorStatus::ReadWrite];
    runs.into_iter()
        .flat_map(move |run| statuses.map(|status| (run, status)))
        .map(move |(run, status)| run(case, status))
}

fn ours<B: BackendIr>(case: &Case, status: TensorStatus) -> Result<Ran, String> {
    run::<B, burn_interpreter::TensorInterpreter<B>>(case, &case.op_with(status))
}
