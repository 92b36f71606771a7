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
    use crate::edit;
    use crate::output::Output;
    use crate::workspace::Workspace;

    /// The table without the checks of single rows: no method tells them.
    fn without_checks(source: &str) -> String {
        let lines = source.lines().map(|line| match line.split_once(" where ") {
            Some((row, _)) if row.contains("-> ") && !row.starts_with('#') => format!("{row}'\n"),
            _ => format!("{line}\n"),
        });
        lines.collect()
    }

    /// The rows of every variant of the table, taken out and put back: how many tables come back
    /// identical, and which rows do not.
    #[test]
    fn rows_of_the_real_table_come_back() {
        let workspace = Workspace::here();
        let (source, _) = workspace.table().expect("the table is fine");
        let source = without_checks(&source);
        let table = burn_op_spec::parse(&source).table;
        let upstream =
            Upstream::locked(&workspace, &mut Output::new()).expect("the sources are there");
        let (mut total, mut marked) = (0, 0);
        let mut different = Vec::new();
        for group in &table.groups {
            let ir = upstream.enums.get(group.ir.as_str());
            let ir = ir.expect("burn-ir has the enum");
            for variant in &ir.variants {
                let is_own = |line: usize| {
                    let mut rows = group.rows.iter();
                    rows.any(|row| row.line == line && *row.variant == variant.name)
                };
                let lines = source.lines().enumerate();
                let left = lines.filter(|(index, _)| !is_own(index + 1));
                let left: String = left.map(|(_, line)| format!("{line}\n")).collect();
                if left == source {
                    continue;
                }
                total += 1;
                let parsed = burn_op_spec::parse(&left).table;
                let mut groups = parsed.groups.iter();
                let group = groups.find(|other| *other.name == *group.name);
                let group = group.expect("the group is still there");
                let mut rows = infer(group, variant, &upstream);
                let has_doubts = rows.iter().any(|row| !row.doubts.is_empty());
                let marked_lines = edit::lines(&rows, &variant.name, &left, group);
                rows.iter_mut().for_each(|row| row.doubts.clear());
                let lines = edit::lines(&rows, &variant.name, &left, group);
                let place = edit::place(group, &variant.name, ir, &left);
                match edit::insert(&left, place, &lines) == source {
                    true => marked += usize::from(has_doubts),
                    false => different.push(marked_lines.join("\n")),
                }
            }
        }
        let identical = total - marked - different.len();
        insta::with_settings!({
            prepend_module_to_snapshot => false,
            omit_expression => true,
        }, {
            insta::assert_snapshot!(
                "rows_that_come_back",
                format!(
                    "of {total} variants {identical} come back identical, {marked} but for a mark \
                     of doubt, {} as\n\n{}",
                    different.len(),
                    different.join("\n")
                )
            );
        });
    }
}
