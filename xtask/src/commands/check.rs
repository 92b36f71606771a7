//! `cargo xtask check`: what is wrong with the table, by itself and beside the upstream sources.

use burn_op_spec::Diagnostic;

use crate::bodies::{bodies, missing_bodies, rowless_bodies};
use crate::checks::check_checks;
use crate::crosscheck::{contradictions, crosscheck};
use crate::outcome::{Failure, Outcome};
use crate::output::Output;
use crate::report::{Format, report};
use crate::schema::{self, SCHEMA};
use crate::upstream::Upstream;
use crate::workspace::{TABLE, Workspace};

pub(crate) const EXAMPLES: &str = "Examples:
  cargo xtask check                    all findings, as rustc shows them
  cargo xtask check --format json      for editors
  cargo xtask check --format github    as annotations";

/// The table as the published runtime carries it.
const SHIPPED: &str = "interpreter/op-spec.toml";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// How to write the findings.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

pub(crate) fn run(
    workspace: &Workspace,
    args: &Args,
    output: &mut Output,
) -> Result<Outcome, Failure> {
    let (source, parsed) = workspace.parse_table()?;
    let table = parsed.table;
    let mut findings = parsed.diagnostics;
    let upstream = Upstream::locked(workspace, output)?;
    let bodies = bodies(workspace)?;
    // What could be read is checked all the same; what is missing may be what could not be read.
    if findings.is_empty() {
        findings.extend(crosscheck(&table, &upstream));
        findings.extend(rowless_bodies(&bodies, &table));
        findings.extend(check_checks(workspace, &table, &upstream)?);
    } else {
        findings.extend(contradictions(&table, &upstream));
    }
    findings.extend(missing_bodies(&bodies, &table));
    findings.extend(check_files(workspace, &source));
    findings.sort_by_key(|finding| finding.span.start);
    report(output, &findings, TABLE, &source, args.format);
    if findings.is_empty() {
        let operations = table.operations().count();
        let rows: usize = table.groups.iter().map(|group| group.rows.len()).sum();
        output.note(format_args!(
            "{TABLE}: {rows} rows, {operations} operations, no findings"
        ));
        return Ok(Outcome::Fine);
    }
    output.note(format_args!("{TABLE}: {} finding(s)", findings.len()));
    Ok(Outcome::Found)
}

/// The files that belong to the table: what the published crate carries, and the schema.
fn check_files(workspace: &Workspace, source: &str) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    if workspace.read(SHIPPED).ok().as_deref() != Some(source) {
        let finding = Diagnostic::new(format!("`{SHIPPED}` is not this table"), 0..0);
        findings.push(finding.help(format!(
            "the published crate carries the table: `ln -sf ../{TABLE} {SHIPPED}`, or copy it \
             where links are not possible"
        )));
    }
    let first = format!("#:schema {SCHEMA}");
    let text = source.trim_start_matches('\u{feff}');
    if text.lines().next().map(str::trim_end) != Some(&first) {
        let finding = Diagnostic::new("the table does not name its schema", 0..0);
        findings.push(finding.help(format!("let it begin with the line `{first}`")));
    }
    if workspace.read(SCHEMA).ok() != Some(schema::text()) {
        let finding = Diagnostic::new(format!("`{SCHEMA}` is not what the parser reads"), 0..0);
        findings.push(finding.help("run `cargo xtask docs`"));
    }
    findings
}
