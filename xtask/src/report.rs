//! Findings as a person, an editor or a forge reads them.

use burn_op_spec::Diagnostic;
use serde_json::json;

use crate::output::Output;

/// How findings are written.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// As rustc does: the line, a caret, what to do.
    Human,
    /// A JSON array, for editors.
    Json,
    /// Workflow commands that become annotations on a forge.
    Github,
}

/// Write findings about `source`, which is shown as `path`.
pub(crate) fn report(
    output: &mut Output,
    findings: &[Diagnostic],
    path: &str,
    source: &str,
    format: Format,
) {
    match format {
        Format::Human => {
            for finding in findings {
                output.line(finding.render_styled(path, source) + "\n");
            }
        }
        Format::Json => {
            let findings: Vec<_> = findings
                .iter()
                .map(|finding| to_json(finding, path, source))
                .collect();
            output.line(format_args!("{:#}", serde_json::Value::Array(findings)));
        }
        Format::Github => {
            for finding in findings {
                output.line(to_command(finding, path, source));
            }
        }
    }
}

/// Line and column of a byte, both counted from 1, the column in characters.
fn position(source: &str, byte: usize) -> (usize, usize) {
    let before = &source[..byte.min(source.len())];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = 1 + before.matches('\n').count();
    (line, 1 + before[line_start..].chars().count())
}

fn to_json(finding: &Diagnostic, path: &str, source: &str) -> serde_json::Value {
    let (line, column) = position(source, finding.span.start);
    let (end_line, end_column) = position(source, finding.span.end);
    let related = finding.related.as_ref().map(|related| {
        let (line, column) = position(source, related.span.start);
        json!({ "line": line, "column": column, "message": related.label })
    });
    json!({
        "path": path,
        "line": line,
        "column": column,
        "end_line": end_line,
        "end_column": end_column,
        "severity": "error",
        "message": finding.message,
        "related": related,
        "note": finding.note,
        "help": finding.help,
    })
}

fn to_command(finding: &Diagnostic, path: &str, source: &str) -> String {
    let (line, column) = position(source, finding.span.start);
    let (end_line, end_column) = position(source, finding.span.end);
    let mut text = finding.message.clone();
    for more in [&finding.note, &finding.help].into_iter().flatten() {
        text += &format!("\n{more}");
    }
    let text = text
        .replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A");
    format!(
        "::error file={path},line={line},endLine={end_line},col={column},endColumn={end_column}::{text}"
    )
}
