//! `cargo xtask new-op`: a row for a variant that has none, in its place in the table, and a stub
//! of its differential case.

use burn_op_spec::{Group, Table, nearest};

use crate::edit;
use crate::infer::{Inferred, infer};
use crate::mentions::mentions;
use crate::outcome::{Failure, Outcome};
use crate::output::{HEADING, Output};
use crate::stub::{self, SUITE, stub};
use crate::upstream::{Upstream, Variant};
use crate::workspace::{TABLE, Workspace};

pub(crate) const EXAMPLES: &str = "Examples:
  cargo xtask new-op Fmod                write the row and the stub of its case
  cargo xtask new-op float.Fmod          of the variant in this group
  cargo xtask new-op Fmod --dry-run      only show them";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The variant, with or without its group.
    name: String,
    /// Show the row and the stub, and write nothing.
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(
    workspace: &Workspace,
    args: &Args,
    output: &mut Output,
) -> Result<Outcome, Failure> {
    let (source, table) = workspace.table()?;
    let upstream = Upstream::locked(workspace, output)?;
    let (group, variant) = find_variant(&args.name, &table, &upstream)?;
    let rows = infer(group, variant, &upstream);
    let lines = edit::lines(&rows, &variant.name, &source, group);
    let ir = upstream.enums.get(group.ir.as_str());
    let place = ir.map_or(0, |ir| edit::place(group, &variant.name, ir, &source));
    let text = edit::insert(&source, place, &lines);
    lines.iter().for_each(|line| output.line(line));
    if !args.dry_run {
        workspace.write(TABLE, &text)?;
        output.note(format_args!(
            "wrote {TABLE}:{}, in [{}.ops]",
            place + 1,
            *group.name
        ));
    }
    for doubt in rows.iter().flat_map(|row| &row.doubts) {
        output.doubt(doubt);
    }
    let case = write_case(workspace, args, &text, group, variant, &upstream, output)?;
    output.note(format_args!("\n{HEADING}What is left to do{HEADING:#}"));
    for (index, step) in left_to_do(group, variant, &rows, case).iter().enumerate() {
        output.note(format_args!("  {}. {step}", index + 1));
    }
    Ok(Outcome::Fine)
}

/// The variant that `name` means, which must have no row yet.
fn find_variant<'t, 'u>(
    name: &str,
    table: &'t Table,
    upstream: &'u Upstream,
) -> Result<(&'t Group, &'u Variant), String> {
    let (wanted, variant) = match name.split_once('.') {
        Some((group, variant)) => (Some(group), variant),
        None => (None, name),
    };
    let groups = table
        .groups
        .iter()
        .filter(|group| wanted.is_none_or(|name| *group.name == name));
    let mut known = Vec::new();
    let mut with_row = None;
    for group in groups {
        let variants = upstream
            .enums
            .get(group.ir.as_str())
            .map(|found| &found.variants);
        for found in variants.into_iter().flatten() {
            let has_row = group.rows.iter().any(|row| row.variant.value == found.name);
            match (
                found.name == variant,
                has_row || upstream.carries_enum(found),
            ) {
                (true, false) => return Ok((group, found)),
                (true, true) => with_row = Some(group),
                (false, false) => known.push(found.name.as_str()),
                (false, true) => {}
            }
        }
    }
    Err(match (with_row, nearest(variant, known.iter().copied())) {
        (Some(group), _) => format!(
            "`{variant}` has a row in [{}.ops]: `cargo xtask show {variant}` shows it",
            *group.name
        ),
        (None, Some(near)) => format!("no variant is called `{name}`; did you mean `{near}`?"),
        (None, None) if known.is_empty() => {
            format!("no variant without a row is called `{name}`: all have one")
        }
        (None, None) => format!(
            "no variant without a row is called `{name}`; there are {}",
            known.join(", ")
        ),
    })
}

/// Where the differential case of the new row is.
enum Case {
    /// It was there before.
    Known(String),
    /// The stub was written, or would be; a person must say values of these types.
    Written(String, Vec<String>),
    /// The suite has no place that a tool finds: the stub is shown.
    Shown,
    /// Nobody executes the row.
    None,
}

/// Write the stub of the differential case, unless there is one.
fn write_case(
    workspace: &Workspace,
    args: &Args,
    text: &str,
    group: &Group,
    variant: &Variant,
    upstream: &Upstream,
    output: &mut Output,
) -> Result<Case, String> {
    let table = burn_op_spec::parse(text).table;
    let operations: Vec<_> = table
        .operations()
        .filter(|operation| *operation.group.name == *group.name)
        .filter(|operation| *operation.row.variant == variant.name)
        .collect();
    let known = mentions(workspace, &operations)?;
    // The list of rows that wgpu lacks names a row without a case of it.
    let is_case = |file: &str| file.starts_with(SUITE) && !file.ends_with("/wgpu.rs");
    if let Some(known) = known.iter().find(|mention| is_case(&mention.file)) {
        return Ok(Case::Known(format!("{}:{}", known.file, known.line)));
    }
    let rows: Vec<_> = operations
        .iter()
        .map(|operation| operation.row.clone())
        .collect();
    let Some(stub) = stub(group, variant, &rows, upstream)? else {
        return Ok(Case::None);
    };
    output.line(format_args!("\n{}", stub.text.trim_end()));
    if args.dry_run {
        return Ok(Case::Shown);
    }
    Ok(match stub::write(workspace, group, &stub)? {
        Some(place) => {
            output.note(format_args!("wrote {place}"));
            Case::Written(place, stub.open)
        }
        None => Case::Shown,
    })
}

/// What no tool can do.
fn left_to_do(group: &Group, variant: &Variant, rows: &[Inferred], case: Case) -> Vec<String> {
    let name = format!("{}.{}", *group.name, variant.name);
    let needs = |word: &str| rows.iter().any(|row| row.value.contains(word));
    let mut steps = Vec::new();
    if rows.iter().any(|row| !row.doubts.is_empty()) {
        steps.push(format!(
            "decide what is doubtful in the row; `cargo xtask show {name}` helps"
        ));
    }
    if needs("custom = ") {
        steps.push(
            "write the body in interpreter/src/custom/, and the reason in the row; \
             `cargo xtask check` says its name"
                .into(),
        );
    }
    if needs("unsupported = ") {
        steps.push("say in the row why no method executes it, or which one does".into());
    }
    steps.push("cargo xtask check".into());
    steps.push(match case {
        Case::Known(place) => format!("look at the case that is there: {place}"),
        Case::Written(place, open) if open.is_empty() => {
            format!("give the case tensors that tell right from wrong: {place}")
        }
        Case::Written(place, open) => {
            let open: Vec<_> = open.iter().map(|ty| format!("`{ty}`")).collect();
            format!("fill in the case, it lacks {}: {place}", open.join(", "))
        }
        Case::Shown => format!("add this case to {SUITE}/, and its function to main.rs there"),
        Case::None => format!("add a test of the error to {SUITE}/refused.rs"),
    });
    steps.push("cargo fmt".into());
    steps.push("cargo test -p interpreter-tests, and review the snapshots".into());
    steps.push("cargo xtask docs".into());
    steps
}
