//! Where a row belongs in the text of the table, and how it is written there.

use burn_op_spec::Group;

use crate::infer::Inferred;
use crate::upstream::Enum;

/// Rows as lines, aligned with the group's; doubtful places are marked behind the row.
pub(crate) fn lines(rows: &[Inferred], variant: &str, source: &str, group: &Group) -> Vec<String> {
    let first = group.rows.first();
    let line = first.and_then(|row| source.lines().nth(row.line - 1));
    let equals = line.and_then(|line| line.find(" ="));
    let width = equals.unwrap_or_default();
    let line = |row: &Inferred| {
        let key = match row.suffix {
            Some(suffix) => format!("{variant}.{suffix}"),
            None => variant.into(),
        };
        let line = format!("{key:width$} = {}", row.value);
        match row.doubts.is_empty() {
            true => line,
            false => format!("{line} # to decide: {}", row.doubts.join(" ")),
        }
    };
    rows.iter().map(line).collect()
}

/// How many lines of the table stand before the rows of a variant: those up to the rows of the
/// variants that stand before it in the enum.
pub(crate) fn place(group: &Group, variant: &str, ir: &Enum, source: &str) -> usize {
    let position = |name: &str| ir.variants.iter().position(|found| found.name == name);
    let own = position(variant);
    let is_before = |name: &str| position(name).is_some_and(|other| Some(other) <= own);
    let before = group.rows.iter().filter(|row| is_before(&row.variant));
    let before = before.map(|row| row.line).max();
    let first = || group.rows.first().map(|row| row.line - 1);
    before.or_else(first).unwrap_or_else(|| {
        let header = format!("[{}.ops]", *group.name);
        let line = source.lines().position(|line| line.trim() == header);
        line.map_or(line_of(source, group.name.span.start), |line| line + 1)
    })
}

/// The text with `lines` behind its first `place` lines.
pub(crate) fn insert(source: &str, place: usize, lines: &[String]) -> String {
    let mut text: Vec<&str> = source.lines().collect();
    let place = place.min(text.len());
    text.splice(place..place, lines.iter().map(String::as_str));
    text.join("\n") + "\n"
}

/// The line of a byte, counted from 1.
pub(crate) fn line_of(source: &str, byte: usize) -> usize {
    1 + source[..byte].matches('\n').count()
}
