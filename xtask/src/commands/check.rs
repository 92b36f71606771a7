//! `cargo xtask check`: what is wrong with the table, by itself and beside the upstream sources.

use std::collections::BTreeMap;
use std::fs;

use burn_op_spec::{Diagnostic, Handling, Table, nearest};

use crate::Outcome;
use crate::crosscheck::crosscheck;
use crate::report::{Format, report};
use crate::upstream::Upstream;
use crate::workspace::{TABLE, Workspace};

pub(crate) const EXAMPLES: &str = "Examples:
  cargo xtask check                    all findings, as rustc shows them
  cargo xtask check --format json      for editors
  cargo xtask check --format github    as annotations";

/// The table as the published runtime carries it.
const SHIPPED: &str = "interpreter/op-spec.toml";

/// Where the bodies of `custom` rows are.
const BODIES: &str = "interpreter/src/custom";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// How to write the findings.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

pub(crate) fn run(workspace: &Workspace, args: &Args) -> Result<Outcome, String> {
    let (source, parsed) = workspace.parse_table()?;
    let mut findings = parsed.diagnostics;
    if findings.is_empty() {
        findings.extend(check_bodies(workspace, &parsed.table)?);
        let upstream = Upstream::locked(workspace)?;
        findings.extend(crosscheck(&parsed.table, &upstream));
    }
    if workspace.read(SHIPPED).ok().as_ref() != Some(&source) {
        findings.push(
            Diagnostic::new(format!("`{SHIPPED}` is not this table"), 0..0).help(format!(
                "the published crate carries the table: `ln -sf ../{TABLE} {SHIPPED}`, or copy it \
                 where links are not possible"
            )),
        );
    }
    findings.sort_by_key(|finding| finding.span.start);
    report(&findings, TABLE, &source, args.format);
    if findings.is_empty() {
        let operations = parsed.table.operations().count();
        let rows: usize = parsed
            .table
            .groups
            .iter()
            .map(|group| group.rows.len())
            .sum();
        eprintln!("{TABLE}: {rows} rows, {operations} operations, no findings");
        return Ok(Outcome::Fine);
    }
    eprintln!("{TABLE}: {} finding(s)", findings.len());
    Ok(Outcome::Found)
}

/// Every custom row has a body, every body a custom row.
fn check_bodies(workspace: &Workspace, table: &Table) -> Result<Vec<Diagnostic>, String> {
    let bodies = read_bodies(workspace)?;
    let mut findings = Vec::new();
    let mut wanted = Vec::new();
    for operation in table.operations() {
        let handling = operation.row.body.as_ref().map(|body| &body.handling);
        if !matches!(handling, Some(Handling::Custom(_))) {
            continue;
        }
        let function = operation.function();
        if !bodies.contains_key(&function) {
            let message = format!("`{}` has no body", operation.name());
            let help = match nearest(&function, bodies.keys().map(String::as_str)) {
                Some(near) => format!("there is `fn {near}`; the name must be `{function}`"),
                None => format!("write `fn {function}` in {BODIES}/"),
            };
            findings.push(Diagnostic::new(message, operation.row.key_span()).help(help));
        }
        wanted.push(function);
    }
    let orphans = bodies.iter().filter(|(name, _)| !wanted.contains(name));
    findings.extend(orphans.map(|(name, file)| {
        Diagnostic::new(format!("`fn {name}` is the body of no row"), 0..0)
            .note(format!("it stands in {BODIES}/{file}"))
            .help("name it after a `custom` row, or make it private if it helps another body")
    }));
    Ok(findings)
}

/// The functions that the folder of bodies offers, with their file.
fn read_bodies(workspace: &Workspace) -> Result<BTreeMap<String, String>, String> {
    let mut bodies = BTreeMap::new();
    let folder = workspace.root().join(BODIES);
    let files = fs::read_dir(&folder)
        .map_err(|cause| format!("cannot read `{}`: {cause}", folder.display()))?;
    for file in files {
        let file = file.map_err(|cause| format!("`{BODIES}`: {cause}"))?;
        let name = file.file_name().to_string_lossy().into_owned();
        let source = workspace.read(&format!("{BODIES}/{name}"))?;
        let parsed = syn::parse_file(&source)
            .map_err(|cause| format!("{BODIES}/{name} is not Rust: {cause}"))?;
        for item in parsed.items {
            if let syn::Item::Fn(function) = item
                && !matches!(function.vis, syn::Visibility::Inherited)
            {
                bodies.insert(function.sig.ident.to_string(), name.clone());
            }
        }
    }
    Ok(bodies)
}
