//! `cargo xtask docs`: the files that are written from the table.

use std::collections::BTreeMap;
use std::fmt::Write;

use burn_op_spec::{Group, Handling, Kind, Operation, Row, Signature, Table};
use cargo_metadata::semver::Version;

use crate::outcome::{Failure, Outcome};
use crate::output::Output;
use crate::schema::{self, SCHEMA};
use crate::upstream::Upstream;
use crate::workspace::{TABLE, Workspace};

pub(crate) const EXAMPLES: &str = "Examples:
  cargo xtask docs            write them
  cargo xtask docs --check    say whether they are as the table has them";

const OPS: &str = "OPS.md";
const README: &str = "README.md";
/// The lines of the README between which the counts stand.
const COUNTS: [&str; 2] = ["<!-- counts: cargo xtask docs -->", "<!-- /counts -->"];
/// Those between which the example stands, and the file it is taken from.
const EXAMPLE: [&str; 2] = ["<!-- example: cargo xtask docs -->", "<!-- /example -->"];
const EXAMPLE_SOURCE: &str = "tests/downstream/src/main.rs";
/// The lines of that file between which the example stands.
const EXAMPLE_MARKS: [&str; 2] = ["    // example\n", "    // end of the example\n"];

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Write nothing; fail if a file is not what the table makes of it.
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(
    workspace: &Workspace,
    args: &Args,
    output: &mut Output,
) -> Result<Outcome, Failure> {
    let (_, table) = workspace.table()?;
    let upstream = Upstream::locked(workspace, output)?;
    let version = workspace.burn_version()?;
    let files = [
        (OPS, ops(&table) + &links(&table, &upstream, &version)),
        (README, readme(workspace, &table)?),
        (SCHEMA, schema::text()),
    ];
    let mut outcome = Outcome::Fine;
    for (file, wanted) in files {
        if workspace.read(file).ok().as_ref() == Some(&wanted) {
            continue;
        }
        if args.check {
            output.error(format_args!(
                "{file} is not what {TABLE} makes of it: run `cargo xtask docs`"
            ));
            outcome = Outcome::Found;
        } else {
            workspace.write(file, &wanted)?;
            output.note(format_args!("wrote {file}"));
        }
    }
    Ok(outcome)
}

/// The README with the counts of this table, and the example as its source has it.
fn readme(workspace: &Workspace, table: &Table) -> Result<String, String> {
    let readme = workspace.read(README)?;
    let readme = with_block(&readme, COUNTS, &counts(table))?;
    let source = workspace.read(EXAMPLE_SOURCE)?;
    let [begin, end] = EXAMPLE_MARKS;
    let example = source
        .split_once(begin)
        .and_then(|(_, rest)| rest.split_once(end));
    let (example, _) = example.ok_or_else(|| {
        format!(
            "{EXAMPLE_SOURCE} has no lines `{}` and `{}`",
            begin.trim(),
            end.trim()
        )
    })?;
    let lines = example
        .lines()
        .map(|line| line.strip_prefix("    ").unwrap_or(line));
    let example = lines.collect::<Vec<_>>().join("\n");
    with_block(&readme, EXAMPLE, &format!("\n```rust\n{example}\n```\n\n"))
}

/// The README with `text` between two of its lines.
fn with_block(readme: &str, [begin, end]: [&str; 2], text: &str) -> Result<String, String> {
    let parts = readme.split_once(begin).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(end)?;
        Some((before, after))
    });
    match parts {
        Some((before, after)) => Ok(format!("{before}{begin}\n{text}{end}{after}")),
        None => Err(format!("{README} has no lines `{begin}` and `{end}`")),
    }
}

fn counts(table: &Table) -> String {
    let rows = || table.groups.iter().flat_map(|group| &group.rows);
    let of = |is: fn(&Handling) -> bool| {
        rows()
            .filter(|row| row.body.as_ref().is_some_and(|body| is(&body.handling)))
            .count()
    };
    format!(
        "{} rows for {} operations: {} calls, {} with a body written by hand, {} not \
         supported, with the reason.\n",
        rows().count(),
        table.operations().count(),
        of(|handling| matches!(handling, Handling::Call)),
        of(|handling| matches!(handling, Handling::Custom(_))),
        of(|handling| matches!(handling, Handling::Unsupported(_))),
    )
}

/// Every operation: kinds, backend method, tensors, exceptions.
fn ops(table: &Table) -> String {
    let mut text = format!(
        "# Operations\n\nWritten from `{TABLE}` by `cargo xtask docs`; edit the table.\n\n{}\n\
         Arguments are in the order of the backend's method; `T` is a tensor of the operation's \
         kind, and the top of the table explains the rest. A method `q_…` is called for quantized \
         tensors.\n",
        counts(table)
    );
    for group in &table.groups {
        let arms = group.arms.iter().filter_map(|arm| arm.pattern.as_ref());
        let arms: Vec<_> = arms
            .map(|pattern| format!("`{}`", *pattern.variant))
            .collect();
        let carried = match arms.is_empty() {
            true => String::new(),
            false => format!(", carried by {}", arms.join(", ")),
        };
        let (name, ir) = (&*group.name, &*group.ir);
        let _ = write!(
            text,
            "\n## {name}\n\n[`burn_ir::{ir}`]{carried}.\n\n\
             | operation | kinds | backend method | arguments | outputs | exception |\n\
             | --- | --- | --- | --- | --- | --- |\n"
        );
        for row in &group.rows {
            text += &line(group, row);
        }
    }
    text
}

fn line(group: &Group, row: &Row) -> String {
    let Some(body) = &row.body else {
        return String::new();
    };
    let arms = group.arms.iter().filter(|arm| row.covers(arm.kind));
    let operations = arms.clone().flat_map(|arm| {
        group
            .operations(arm)
            .filter(|operation| operation.row == row)
    });
    let methods: Vec<_> = operations
        .flat_map(|operation: Operation<'_>| operation.methods())
        .map(|method| format!("[`{method}`]"))
        .collect();
    let kinds: Vec<_> = arms.filter_map(|arm| arm.kind).map(Kind::name).collect();
    let exception = match &body.handling {
        Handling::Call => String::new(),
        Handling::Custom(reason) => format!("by hand: {reason}"),
        Handling::Unsupported(reason) => format!("**not supported**: {reason}"),
    };
    let Signature { args, outputs, .. } = &body.signature;
    let (args, outputs) = (list(args), list(outputs));
    let (variant, kinds, methods) = (&*row.variant, kinds.join(", "), methods.join(", "));
    format!("| `{variant}` | {kinds} | {methods} | {args} | {outputs} | {exception} |\n")
}

/// Arguments or outputs, as a row writes them.
fn list<T: ToString>(items: &[T]) -> String {
    let items: Vec<_> = items.iter().map(T::to_string).collect();
    items.join(", ")
}

/// Where the methods and enums that the tables name are documented.
fn links(table: &Table, upstream: &Upstream, version: &Version) -> String {
    let mut targets = BTreeMap::new();
    for name in table.operations().flat_map(|operation| operation.methods()) {
        if let Some(method) = upstream.methods.get(&name) {
            let modules = upstream.modules(&method.place);
            let anchor = match method.is_provided() {
                true => "method",
                false => "tymethod",
            };
            let trait_page = format!("{modules}/trait.{}.html#{anchor}.{name}", method.owner());
            targets.insert(name, ("burn-backend", "burn_backend", trait_page));
        }
    }
    for group in &table.groups {
        let ir = &*group.ir;
        let page = format!("enum.{ir}.html");
        targets.insert(format!("burn_ir::{ir}"), ("burn-ir", "burn_ir", page));
    }
    let mut text = String::from("\n");
    for (name, (package, library, page)) in targets {
        let _ = writeln!(
            text,
            "[`{name}`]: https://docs.rs/{package}/{version}/{library}/{page}"
        );
    }
    text
}
