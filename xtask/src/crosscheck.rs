//! The table against the sources of burn-ir and burn-backend.
//!
//! rustc finds a method or a field that does not exist, but it cannot say which row is meant, and
//! it cannot see that two tensors of one kind are swapped. This can.

mod call;
mod fields;
mod variants;

use std::collections::BTreeSet;

use burn_op_spec::{Diagnostic, Table, nearest};

use crate::upstream::Upstream;
use call::check_call;
use fields::check_fields;
use variants::{check_arms, check_carriers, check_rows, check_variants};

/// Everything that the sources contradict in the table and that the table lacks, in its order.
pub(crate) fn crosscheck(table: &Table, upstream: &Upstream) -> Vec<Diagnostic> {
    let mut findings = contradictions(table, upstream);
    for group in &table.groups {
        check_variants(group, upstream, &mut findings);
    }
    check_carriers(table, upstream, &mut findings);
    findings.sort_by_key(|finding| finding.span.start);
    findings
}

/// Everything in the table that the sources contradict; this can be said of a part of a table too.
pub(crate) fn contradictions(table: &Table, upstream: &Upstream) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for group in &table.groups {
        check_rows(group, upstream, &mut findings);
        for row in &group.rows {
            check_fields(group, row, upstream, &mut findings);
        }
    }
    check_arms(table, upstream, &mut findings);
    let mut seen = BTreeSet::new();
    for operation in table.operations() {
        for finding in check_call(operation, upstream) {
            // A row that serves several kinds is told once.
            if seen.insert((finding.span.start, finding.message.clone())) {
                findings.push(finding);
            }
        }
    }
    findings
}

fn guess<'n>(
    finding: Diagnostic,
    name: &str,
    names: impl IntoIterator<Item = &'n str>,
) -> Diagnostic {
    match nearest(name, names) {
        Some(near) => finding.help(format!("did you mean `{near}`?")),
        None => finding,
    }
}
