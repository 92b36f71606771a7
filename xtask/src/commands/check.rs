//! `cargo xtask check`: what is wrong with the table, by itself and beside the upstream sources.

use std::fs;

use crate::Outcome;
use crate::crosscheck::crosscheck;
use crate::upstream::Upstream;
use crate::workspace::{TABLE, read_table, root};

/// The table as the published runtime carries it.
const SHIPPED: &str = "interpreter/op-spec.toml";

pub(crate) fn run() -> Result<Outcome, String> {
    let (source, parsed) = read_table()?;
    for diagnostic in &parsed.diagnostics {
        eprintln!("{}\n", diagnostic.render(TABLE, &source));
    }
    let mut findings = parsed.diagnostics.len();
    if findings == 0 {
        let upstream = Upstream::locked()?;
        for finding in crosscheck(&parsed.table, &upstream) {
            eprintln!("{}\n", finding.render(TABLE, &source));
            findings += 1;
        }
    }
    if fs::read_to_string(root().join(SHIPPED)).ok().as_ref() != Some(&source) {
        eprintln!(
            "error: `{SHIPPED}` is not `{TABLE}`\n  \
             = help: the published crate carries the table: `ln -sf ../{TABLE} {SHIPPED}`, or copy \
             it where links are not possible\n"
        );
        findings += 1;
    }
    if findings > 0 {
        eprintln!("{findings} finding(s)");
        return Ok(Outcome::Found);
    }
    let operations = parsed.table.operations().count();
    let rows: usize = parsed
        .table
        .groups
        .iter()
        .map(|group| group.rows.len())
        .sum();
    println!("{TABLE}: {rows} rows, {operations} operations, no findings");
    Ok(Outcome::Fine)
}
