//! The row that a variant probably needs, from its IR struct and the backend's methods.
//!
//! What names and types settle is written as if by hand. Where they leave a choice, the row says
//! which parameter an argument is for, and the doubt is told.

mod arguments;
mod draft;
mod method;
mod outputs;
mod rows;

use burn_op_spec::Group;

use crate::upstream::{Upstream, Variant};
use draft::{Draft, draft};
use rows::{fixed_kinds, partition, write};

/// A row, and what a person should look at.
#[derive(Clone, Debug)]
pub(crate) struct Inferred {
    /// The kind suffix of the key, if the row is not for all kinds.
    pub(crate) suffix: Option<&'static str>,
    /// What stands after the `=`.
    pub(crate) value: String,
    pub(crate) doubts: Vec<String>,
}

/// The rows of `variant` in `group`.
pub(crate) fn infer(group: &Group, variant: &Variant, upstream: &Upstream) -> Vec<Inferred> {
    let drafts: Vec<Draft> = group
        .arms
        .iter()
        .map(|arm| draft(group, arm, variant, upstream))
        .collect();
    let rows = partition(&drafts);
    let fixed = fixed_kinds(&rows);
    rows.into_iter()
        .map(|(suffix, members)| write(suffix, &members, &fixed))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Output;
    use crate::workspace::Workspace;

    /// Every row of the real table, taken out and inferred again: how many come back identical.
    #[test]
    fn rows_of_the_real_table_come_back() {
        let workspace = Workspace::here();
        let (source, table) = workspace.table().expect("the table is fine");
        let upstream =
            Upstream::locked(&workspace, &mut Output::new()).expect("the sources are there");
        let line = |row: &burn_op_spec::Row| {
            let line = source.lines().nth(row.line - 1).unwrap_or_default();
            line.split_once('=')
                .map_or("", |(_, value)| value.trim())
                .to_string()
        };
        let mut different = Vec::new();
        let mut total = 0;
        for group in &table.groups {
            let Some(found) = upstream.enums.get(group.ir.as_str()) else {
                continue;
            };
            for variant in &found.variants {
                let rows: Vec<_> = group
                    .rows
                    .iter()
                    .filter(|row| row.variant.value == variant.name)
                    .collect();
                if rows.is_empty() {
                    continue;
                }
                total += 1;
                let wanted: Vec<_> = rows
                    .iter()
                    .map(|row| {
                        (
                            row.suffix.as_ref().map(|suffix| suffix.value.clone()),
                            line(row),
                        )
                    })
                    .collect();
                let inferred: Vec<_> = infer(group, variant, &upstream)
                    .into_iter()
                    .map(|row| (row.suffix.map(String::from), row.value))
                    .collect();
                if inferred != wanted {
                    different.push(format!("{}: {inferred:?}\n    {wanted:?}", variant.name));
                }
            }
        }
        let identical = total - different.len();
        println!(
            "{identical} of {total} variants come back identical\n{}",
            different.join("\n")
        );
        assert!(
            identical * 100 >= total * 85,
            "only {identical} of {total} come back"
        );
    }
}
