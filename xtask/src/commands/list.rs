//! `cargo xtask list`: the rows of the table.

use burn_op_spec::{Body, Group, Handling, Row};
use serde_json::json;

use crate::outcome::{Failure, Outcome};
use crate::output::{HEADING, Output};
use crate::workspace::Workspace;

pub(crate) const EXAMPLES: &str = "Examples:
  cargo xtask list pool                        rows with `pool` in their variant or method
  cargo xtask list --group numeric --kind int  the int rows of a group
  cargo xtask list --status custom             the exceptions
  cargo xtask list --format markdown           a table to paste";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// A part of the variant or the method.
    filter: Option<String>,
    /// Only this group.
    #[arg(long)]
    group: Option<String>,
    /// Only rows for this kind: float, int or bool.
    #[arg(long, value_parser = ["float", "int", "bool"])]
    kind: Option<String>,
    /// Only rows that call this method, as the row or as the backend spells it.
    #[arg(long)]
    method: Option<String>,
    /// Only rows with this status.
    #[arg(long, value_enum)]
    status: Option<Status>,
    /// How to write the list.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Status {
    Call,
    Custom,
    Unsupported,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Table,
    Json,
    Markdown,
}

/// A row as it is listed.
struct Listed {
    group: String,
    variant: String,
    kinds: Vec<String>,
    call: String,
    status: &'static str,
    reason: String,
    line: usize,
}

impl Listed {
    fn exception(&self) -> String {
        match self.reason.is_empty() {
            true => String::new(),
            false => format!("{}: {}", self.status, self.reason),
        }
    }
}

pub(crate) fn run(
    workspace: &Workspace,
    args: &Args,
    output: &mut Output,
) -> Result<Outcome, Failure> {
    let (_, table) = workspace.table()?;
    if let Some(name) = &args.group
        && !table.groups.iter().any(|group| group.name.value == *name)
    {
        let known: Vec<_> = table
            .groups
            .iter()
            .map(|group| group.name.as_str())
            .collect();
        return Err(format!(
            "no group is called `{name}`: there are {}",
            known.join(", ")
        )
        .into());
    }
    let mut rows = Vec::new();
    for group in &table.groups {
        for row in &group.rows {
            if let Some(body) = &row.body
                && matches(args, group, row, body)
            {
                rows.push(listed(group, row, body));
            }
        }
    }
    match args.format {
        Format::Table => print_table(&rows, output),
        Format::Json => print_json(&rows, output),
        Format::Markdown => print_markdown(&rows, output),
    }
    if rows.is_empty() {
        output.note("no row is like that: `cargo xtask list` shows them all");
        return Ok(Outcome::Found);
    }
    Ok(Outcome::Fine)
}

fn matches(args: &Args, group: &Group, row: &Row, body: &Body) -> bool {
    let arms = || group.arms.iter().filter(|arm| row.covers(arm.kind));
    let methods: Vec<String> = arms()
        .flat_map(|arm| {
            group
                .operations(arm)
                .filter(|operation| operation.row == row)
        })
        .flat_map(|operation| operation.methods())
        .chain(
            body.signature
                .method
                .as_ref()
                .map(|method| method.value.clone()),
        )
        .collect();
    let has_text = |text: &String| {
        let text = text.to_lowercase();
        row.variant.to_lowercase().contains(&text)
            || methods.iter().any(|method| method.contains(&text))
    };
    let has_kind = |kind: &String| {
        let of_arm = arms().any(|arm| arm.kind.is_some_and(|arm| arm.name() == kind));
        of_arm || (group.name.value == *kind && arms().all(|arm| arm.kind.is_none()))
    };
    let status = match body.handling {
        Handling::Call => Status::Call,
        Handling::Custom(_) => Status::Custom,
        Handling::Unsupported(_) => Status::Unsupported,
    };
    args.filter.as_ref().is_none_or(has_text)
        && args
            .group
            .as_ref()
            .is_none_or(|name| group.name.value == *name)
        && args.kind.as_ref().is_none_or(has_kind)
        && args
            .method
            .as_ref()
            .is_none_or(|method| methods.contains(method))
        && args.status.is_none_or(|wanted| wanted == status)
}

fn listed(group: &Group, row: &Row, body: &Body) -> Listed {
    let kinds = group.arms.iter().filter(|arm| row.covers(arm.kind));
    let (status, reason) = match &body.handling {
        Handling::Call => ("call", ""),
        Handling::Custom(reason) => ("custom", reason.as_str()),
        Handling::Unsupported(reason) => ("unsupported", reason.as_str()),
    };
    Listed {
        group: group.name.value.clone(),
        variant: row.variant.value.clone(),
        kinds: kinds
            .filter_map(|arm| Some(arm.kind?.name().into()))
            .collect(),
        call: body.signature.to_string(),
        status,
        reason: reason.into(),
        line: row.line,
    }
}

fn print_table(rows: &[Listed], output: &mut Output) {
    let cells = |row: &Listed| {
        [
            row.group.clone(),
            row.variant.clone(),
            row.kinds.join(" "),
            row.call.clone(),
            row.exception(),
        ]
    };
    if rows.is_empty() {
        return;
    }
    let mut table = vec![["GROUP", "VARIANT", "KINDS", "CALL", "EXCEPTION"].map(String::from)];
    table.extend(rows.iter().map(cells));
    let width = |column: usize| {
        table
            .iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or_default()
    };
    let widths = [width(0), width(1), width(2), width(3).min(80)];
    for (position, [group, variant, kinds, call, exception]) in table.iter().enumerate() {
        let line = format!(
            "{group:0$}  {variant:1$}  {kinds:2$}  {call:3$}  {exception}",
            widths[0], widths[1], widths[2], widths[3]
        );
        match position {
            0 => output.line(format_args!("{HEADING}{}{HEADING:#}", line.trim_end())),
            _ => output.line(line.trim_end()),
        }
    }
}

fn print_json(rows: &[Listed], output: &mut Output) {
    let rows = rows.iter().map(|row| {
        json!({
            "group": row.group,
            "variant": row.variant,
            "kinds": row.kinds,
            "call": row.call,
            "status": row.status,
            "reason": (!row.reason.is_empty()).then_some(&row.reason),
            "line": row.line,
        })
    });
    output.line(format_args!(
        "{:#}",
        serde_json::Value::Array(rows.collect())
    ));
}

fn print_markdown(rows: &[Listed], output: &mut Output) {
    output.line("| group | variant | kinds | call | exception |\n| --- | --- | --- | --- | --- |");
    for row in rows {
        let exception = row.exception();
        let (group, variant, kinds) = (&row.group, &row.variant, row.kinds.join(" "));
        output.line(format_args!(
            "| {group} | `{variant}` | {kinds} | `{}` | {exception} |",
            row.call
        ));
    }
}
