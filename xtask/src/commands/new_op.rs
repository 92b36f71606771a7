//! `cargo xtask new-op`: a row for a variant that has none, in its place in the table.

use burn_op_spec::{Group, Table, nearest};

use crate::Outcome;
use crate::infer::{Inferred, infer};
use crate::upstream::{Upstream, Variant};
use crate::workspace::{TABLE, Workspace};

pub(crate) const EXAMPLES: &str = "Examples:
  cargo xtask new-op Hypot               write the row
  cargo xtask new-op float.Hypot         of the variant in this group
  cargo xtask new-op Hypot --dry-run     only show it";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The variant, with or without its group.
    name: String,
    /// Show the row, and write nothing.
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(workspace: &Workspace, args: &Args) -> Result<Outcome, String> {
    let (source, table) = workspace.table()?;
    let upstream = Upstream::locked(workspace)?;
    let (group, variant) = find_variant(&args.name, &table, &upstream)?;
    let rows = infer(group, variant, &upstream);
    let lines = lines(&rows, &variant.name, &source, group);
    lines.iter().for_each(|line| println!("{line}"));
    if !args.dry_run {
        let text = insert(&source, group, variant, &upstream, &lines);
        workspace.write(TABLE, &text)?;
        eprintln!("\nwrote it to [{}.ops] of {TABLE}", group.name.value);
    }
    for doubt in rows.iter().flat_map(|row| &row.doubts) {
        eprintln!("to decide: {doubt}");
    }
    eprintln!(
        "\nWhat is left to do:\n{}",
        left_to_do(group, variant, &rows)
    );
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
            match (found.name == variant, has_row) {
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
        (None, None) => format!(
            "no variant without a row is called `{name}`; {} variant(s) have none",
            known.len()
        ),
    })
}

/// The rows as lines, aligned with the group's.
pub(crate) fn lines(rows: &[Inferred], variant: &str, source: &str, group: &Group) -> Vec<String> {
    let width = group.rows.first().and_then(|row| {
        let line = source.lines().nth(row.line - 1)?;
        line.find('=')
    });
    let width = width.unwrap_or_default().saturating_sub(1);
    let line = |row: &Inferred| {
        let key = match row.suffix {
            Some(suffix) => format!("{variant}.{suffix}"),
            None => variant.into(),
        };
        format!("{key:width$} = {}", row.value)
    };
    rows.iter().map(line).collect()
}

/// The table with `lines` behind the rows of the variants that stand before this one in the enum.
pub(crate) fn insert(
    source: &str,
    group: &Group,
    variant: &Variant,
    upstream: &Upstream,
    lines: &[String],
) -> String {
    let variants = upstream
        .enums
        .get(group.ir.as_str())
        .map(|found| &found.variants);
    let order: Vec<&str> = variants
        .into_iter()
        .flatten()
        .map(|found| found.name.as_str())
        .collect();
    let position = |name: &str| order.iter().position(|other| *other == name);
    let own = position(&variant.name);
    let before = group.rows.iter().filter(|row| position(&row.variant) < own);
    let line = before.map(|row| row.line).max();
    let line = line.or_else(|| Some(group.rows.first()?.line - 1));
    let line = line.unwrap_or_else(|| source.lines().count());
    let mut text: Vec<&str> = source.lines().collect();
    let line = line.min(text.len());
    text.splice(line..line, lines.iter().map(String::as_str));
    text.join("\n") + "\n"
}

/// What no tool can do.
fn left_to_do(group: &Group, variant: &Variant, rows: &[Inferred]) -> String {
    let name = &variant.name;
    let group_name = &*group.name;
    let needs = |word: &str| rows.iter().any(|row| row.value.contains(word));
    let mut steps = vec!["cargo xtask check".to_string()];
    if needs("custom = ") {
        steps.push(
            "write the body in interpreter/src/custom/, and the reason in the row; \
             `cargo xtask check` says its name"
                .to_owned(),
        );
    }
    if needs("unsupported = ") {
        steps.push("say in the row why no method executes it, or which one does".into());
    }
    let payload = variant.payload.as_deref().unwrap_or("its struct");
    steps.push(format!(
        "add a case to tests/tests/differential/ for the group `{group_name}`:\n\n     \
         case(&|t| {{\n         let input = t.float(&[2, 3]);\n         \
         {name}({payload}::create(input, || t.id()))\n     }})\n"
    ));
    steps.push("cargo test -p interpreter-tests, and review the snapshots".into());
    steps.push("cargo xtask docs".into());
    let numbered = steps
        .iter()
        .enumerate()
        .map(|(index, step)| format!("  {}. {step}", index + 1));
    numbered.collect::<Vec<_>>().join("\n")
}
