//! `cargo xtask diff`: what another version of burn-ir and burn-backend changes, and which rows.

use std::collections::BTreeSet;
use std::fmt::Write;

use burn_op_spec::{Group, Handling, Row, Table};
use cargo_metadata::semver::Version;

use crate::edit;
use crate::infer::infer;
use crate::outcome::{Failure, Outcome};
use crate::output::{ADDED, ATTENTION, HEADING, Output, REMOVED};
use crate::upstream::{Upstream, Variant};
use crate::workspace::{TABLE, Workspace};

pub(crate) const EXAMPLES: &str = "Examples:
  cargo xtask diff 0.23.0-pre.1           from the version that the workspace pins
  cargo xtask diff 0.22.0 0.22.1          from one version to another";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The version to compare with; with a second one, the version to begin from.
    version: Version,
    /// The version to compare with.
    to: Option<Version>,
}

pub(crate) fn run(
    workspace: &Workspace,
    args: &Args,
    output: &mut Output,
) -> Result<Outcome, Failure> {
    let (source, table) = workspace.table()?;
    let (from, to) = match &args.to {
        Some(to) => (args.version.clone(), to.clone()),
        None => (workspace.burn_version()?, args.version.clone()),
    };
    let diff = Diff {
        table: &table,
        source: &source,
        old: &Upstream::version(workspace, &from, output)?,
        new: &Upstream::version(workspace, &to, output)?,
    };
    let changes = [diff.enums(), diff.structs(), diff.methods()].concat();
    output.line(format_args!(
        "{HEADING}burn-ir and burn-backend, {from} to {to}: {} change(s){HEADING:#}",
        changes.len()
    ));
    for change in &changes {
        let style = match change.chars().next() {
            Some('+') => ADDED,
            Some('-') => REMOVED,
            _ => ATTENTION,
        };
        let (title, rest) = change.split_once('\n').unwrap_or((change, ""));
        let newline = if rest.is_empty() { "" } else { "\n" };
        output.line(format_args!("\n{style}{title}{style:#}{newline}{rest}"));
    }
    Ok(match changes.is_empty() {
        true => Outcome::Fine,
        false => Outcome::Found,
    })
}

struct Diff<'d> {
    table: &'d Table,
    source: &'d str,
    old: &'d Upstream,
    new: &'d Upstream,
}

impl Diff<'_> {
    /// Variants of operation enums that come, go, or carry something else.
    fn enums(&self) -> Vec<String> {
        let names: BTreeSet<&String> = self
            .old
            .enums
            .keys()
            .chain(self.new.enums.keys())
            .filter(|name| name.ends_with("OperationIr"))
            .collect();
        let mut changes = Vec::new();
        for name in names {
            let variants = |upstream: &'_ Upstream| -> Vec<(String, Option<String>)> {
                let found = upstream.enums.get(name).map(|found| &found.variants);
                let found = found.into_iter().flatten();
                found
                    .map(|variant| (variant.name.clone(), variant.payload.clone()))
                    .collect()
            };
            let (old, new) = (variants(self.old), variants(self.new));
            for (variant, _) in &old {
                if !new.iter().any(|(other, _)| other == variant) {
                    changes.push(format!(
                        "- {name}::{variant}{}",
                        self.rows_of(name, variant)
                    ));
                }
            }
            for (variant, payload) in &new {
                let carried = |payload: &Option<String>| match payload {
                    Some(name) => format!("`{name}`"),
                    None => "nothing".into(),
                };
                let shown = payload
                    .as_deref()
                    .map_or(String::new(), |name| format!("({name})"));
                match old.iter().find(|(other, _)| other == variant) {
                    None => changes.push(format!(
                        "+ {name}::{variant}{shown}{}",
                        self.row_to_write(name, variant)
                    )),
                    Some((_, before)) if before != payload => changes.push(format!(
                        "~ {name}::{variant} carries {}, before {}{}",
                        carried(payload),
                        carried(before),
                        self.rows_of(name, variant)
                    )),
                    Some(_) => {}
                }
            }
        }
        changes
    }

    /// Fields of the structs that rows name.
    fn structs(&self) -> Vec<String> {
        let mut changes = Vec::new();
        for (name, old) in &self.old.structs {
            let Some(new) = self.new.structs.get(name) else {
                continue;
            };
            let rows = self.rows(|_, row| {
                let body = row.body.as_ref();
                let ir_struct = body.and_then(|body| body.signature.ir_struct.as_ref());
                ir_struct.is_some_and(|ir_struct| ir_struct.value == *name)
            });
            if old.fields == new.fields || rows.is_empty() {
                continue;
            }
            let mut change = format!("~ {name}, at {}", new.place);
            for (field, ty) in &old.fields {
                if !new.fields.contains(&(field.clone(), ty.clone())) {
                    let _ = write!(change, "\n    - {field}: {ty}");
                }
            }
            for (field, ty) in &new.fields {
                if !old.fields.contains(&(field.clone(), ty.clone())) {
                    let _ = write!(change, "\n    + {field}: {ty}");
                }
            }
            changes.push(change + &rows);
        }
        changes
    }

    /// Methods that rows call, and methods that rows miss.
    fn methods(&self) -> Vec<String> {
        let mut changes = Vec::new();
        for (name, old) in &self.old.methods {
            let rows = self.rows(|group, row| {
                let arms = group.arms.iter().flat_map(|arm| group.operations(arm));
                let mut own = arms.filter(|operation| operation.row == row);
                own.any(|operation| operation.method().as_deref() == Some(name))
            });
            if rows.is_empty() {
                continue;
            }
            let before = old.signature(name);
            match self.new.methods.get(name) {
                None => changes.push(format!("- {before}, at {}{rows}", old.place)),
                Some(new) if new.signature(name) != before => changes.push(format!(
                    "~ fn {name}, at {}\n    - {before}\n    + {}{rows}",
                    new.place,
                    new.signature(name)
                )),
                Some(_) => {}
            }
        }
        for (name, new) in &self.new.methods {
            let quoted = format!("`{name}`");
            let rows = self.rows(|_, row| {
                let handling = row.body.as_ref().map(|body| &body.handling);
                matches!(handling, Some(Handling::Unsupported(reason)) if reason.contains(&quoted))
            });
            if !self.old.methods.contains_key(name) && !rows.is_empty() {
                changes.push(format!("+ {}, at {}{rows}", new.signature(name), new.place));
            }
        }
        changes
    }

    fn rows_of(&self, ir: &str, variant: &str) -> String {
        self.rows(|group, row| *group.ir == ir && *row.variant == variant)
    }

    /// The rows that a change touches, as they stand in the table, and what they must become.
    fn rows(&self, is_touched: impl Fn(&Group, &Row) -> bool) -> String {
        let mut text = String::new();
        for group in &self.table.groups {
            let mut touched: Vec<&str> = Vec::new();
            for row in group.rows.iter().filter(|row| is_touched(group, row)) {
                let line = self.source.lines().nth(row.line - 1).unwrap_or_default();
                let _ = write!(text, "\n    {TABLE}:{}  {line}", row.line);
                touched.push(&row.variant);
            }
            touched.dedup();
            for variant in touched {
                text += &self.row_to_write(&group.ir, variant);
            }
        }
        text
    }

    /// The rows that a variant needs, if it has none or other ones.
    fn row_to_write(&self, ir: &str, name: &str) -> String {
        let group = self.table.groups.iter().find(|group| *group.ir == ir);
        let variants = self.new.enums.get(ir).map(|found| &found.variants);
        let is_meant = |variant: &&Variant| variant.name == name;
        let variant = variants.and_then(|variants| variants.iter().find(is_meant));
        let Some(group) = group else {
            return format!("\n    write: a group with `ir = '{ir}'`");
        };
        let Some(variant) = variant else {
            return String::new();
        };
        if self.new.carries_enum(variant) {
            return format!("\n    write: `arm = '{name}(op)'` in the group of its enum");
        }
        let rows = infer(group, variant, self.new);
        let lines = edit::lines(&rows, name, self.source, group);
        let own = group.rows.iter().filter(|row| *row.variant == name);
        let own: Vec<_> = own
            .filter_map(|row| self.source.lines().nth(row.line - 1))
            .collect();
        if own == lines {
            return String::new();
        }
        let write = if own.is_empty() { "write" } else { "instead" };
        let lines = lines.iter().map(|line| format!("\n    {write}: {line}"));
        lines.collect()
    }
}
