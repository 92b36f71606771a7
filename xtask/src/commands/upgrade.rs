//! `cargo xtask upgrade`: the table for another version of burn-ir and burn-backend, as far as a
//! tool can write it, and what a person must decide.

use std::fs;
use std::path::PathBuf;

use burn_op_spec::{Diagnostic, Table};
use cargo_metadata::semver::Version;

use crate::bodies::{bodies, missing_bodies, rowless_bodies};
use crate::crosscheck::crosscheck;
use crate::edit::{self, line_of};
use crate::infer::infer;
use crate::outcome::{Failure, Outcome};
use crate::output::Output;
use crate::report::{Format, report};
use crate::upstream::Upstream;
use crate::workspace::Workspace;

pub(crate) const EXAMPLES: &str = "Examples:
  cargo xtask upgrade 0.23.0-pre.1                   to target/op-spec-0.23.0-pre.1.toml
  cargo xtask upgrade 0.23.0-pre.1 --out new.toml    to a file of your choice";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The version to upgrade to.
    version: Version,
    /// Where to write it, instead of the target folder.
    #[arg(long)]
    out: Option<PathBuf>,
}

pub(crate) fn run(
    workspace: &Workspace,
    args: &Args,
    output: &mut Output,
) -> Result<Outcome, Failure> {
    let (source, table) = workspace.table()?;
    let upstream = Upstream::version(workspace, &args.version, output)?;
    let upgraded = upgrade(&source, &table, &upstream);
    let out = args.out.clone().unwrap_or_else(|| {
        workspace
            .target_dir()
            .join(format!("op-spec-{}.toml", args.version))
    });
    if let Some(folder) = out.parent() {
        fs::create_dir_all(folder).map_err(|cause| format!("`{}`: {cause}", folder.display()))?;
    }
    fs::write(&out, &upgraded.text).map_err(|cause| format!("`{}`: {cause}", out.display()))?;

    let parsed = burn_op_spec::parse(&upgraded.text);
    let mut findings = parsed.diagnostics;
    if findings.is_empty() {
        let bodies = bodies(workspace)?;
        findings = crosscheck(&parsed.table, &upstream);
        findings.extend(missing_bodies(&bodies, &parsed.table));
        findings.extend(rowless_bodies(&bodies, &parsed.table));
        findings.sort_by_key(|finding| finding.span.start);
    }
    let shown = out.strip_prefix(workspace.root()).unwrap_or(&out);
    let shown = shown.display().to_string();
    report(output, &findings, &shown, &upgraded.text, Format::Human);
    for doubt in &upgraded.doubts {
        output.doubt(doubt);
    }
    output.line(format_args!(
        "{shown}: {} row(s) added, {} rewritten, {} removed; {} finding(s), {} doubt(s)",
        upgraded.added,
        upgraded.rewritten,
        upgraded.removed,
        findings.len(),
        upgraded.doubts.len()
    ));
    Ok(match findings.is_empty() && upgraded.doubts.is_empty() {
        true => Outcome::Fine,
        false => Outcome::Found,
    })
}

/// A table for another version.
struct Upgraded {
    text: String,
    added: usize,
    rewritten: usize,
    removed: usize,
    doubts: Vec<String>,
}

fn upgrade(source: &str, table: &Table, upstream: &Upstream) -> Upgraded {
    let mut upgraded = Upgraded {
        text: String::new(),
        added: 0,
        rewritten: 0,
        removed: 0,
        doubts: Vec::new(),
    };
    let broken: Vec<usize> = crosscheck(table, upstream)
        .iter()
        .map(|finding: &Diagnostic| line_of(source, finding.span.start))
        .collect();
    let mut lines: Vec<Vec<String>> = source.lines().map(|line| vec![line.into()]).collect();
    for (index, group) in table.groups.iter().enumerate() {
        let Some(found) = upstream.enums.get(group.ir.as_str()) else {
            upgraded.removed += group.rows.len();
            let first = line_of(source, group.name.span.start) - 1;
            let next = table.groups.get(index + 1);
            let end = next.map_or(lines.len(), |next| {
                line_of(source, next.name.span.start) - 1
            });
            lines[first..end].iter_mut().for_each(Vec::clear);
            continue;
        };
        for row in &group.rows {
            if !found
                .variants
                .iter()
                .any(|variant| variant.name == *row.variant)
            {
                lines[row.line - 1].clear();
                upgraded.removed += 1;
            }
        }
        for variant in &found.variants {
            let is_own = |line: &usize| {
                let mut rows = group.rows.iter();
                rows.any(|row| row.line == *line && *row.variant == variant.name)
            };
            let is_carried = upstream.carries_enum(variant);
            let has_row = group.rows.iter().any(|row| *row.variant == variant.name);
            if is_carried || (has_row && !broken.iter().any(is_own)) {
                continue;
            }
            let rows = infer(group, variant, upstream);
            let doubts = rows.iter().flat_map(|row| &row.doubts);
            upgraded
                .doubts
                .extend(doubts.map(|doubt| format!("{}: {doubt}", variant.name)));
            let inferred = edit::lines(&rows, &variant.name, source, group);
            match has_row {
                true => upgraded.rewritten += inferred.len(),
                false => upgraded.added += inferred.len(),
            }
            let place = edit::place(group, &variant.name, found, source);
            for row in group.rows.iter().filter(|row| *row.variant == variant.name) {
                lines[row.line - 1].clear();
            }
            lines[place - 1].extend(inferred);
        }
    }
    upgraded.text = lines.concat().join("\n") + "\n";
    upgraded
}
