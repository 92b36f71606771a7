//! The checks that `where` names, as the runtime offers them.

use std::collections::{BTreeMap, BTreeSet};

use burn_op_spec::{Body, Check, Diagnostic, Handling, Row, Table, nearest};

use crate::bodies::{Function, functions};
use crate::upstream::Upstream;
use crate::workspace::Workspace;

/// Where they are.
const CHECKS: &str = "interpreter/src/check";

/// What is wrong with the checks: functions that are not there, fields they do not take, structs
/// that are not checked, functions that nothing names.
pub(crate) fn check_checks(
    workspace: &Workspace,
    table: &Table,
    upstream: &Upstream,
) -> Result<Vec<Diagnostic>, String> {
    let rows: Vec<(&Row, &Body)> = executed(table).collect();
    if table.checks.is_empty() && rows.iter().all(|(_, body)| body.checks.is_empty()) {
        return Ok(Vec::new());
    }
    let functions = functions(workspace, CHECKS)?;
    let mut findings = Vec::new();
    // The checks of an IR struct stand for several rows: what is wrong is said once.
    let mut said = BTreeSet::new();
    for (row, body) in &rows {
        for check in &body.checks {
            let ir_struct = body.signature.ir_struct.as_ref();
            let fields = ir_struct.and_then(|name| upstream.structs.get(name.as_str()));
            let fields = fields.map_or(&[][..], |found| &found.fields);
            if said.insert(check.function.span.start) {
                findings.extend(check_call(check, &functions, fields));
            }
        }
        findings.extend(check_struct(table, row, body, &mut said));
    }
    // A misspelt check is one mistake: the function that was meant is named.
    let meant = |check: &Check| {
        let name = check.function.as_str();
        match functions.contains_key(name) {
            true => Some(name.to_owned()),
            false => nearest(name, functions.keys().map(String::as_str)).map(String::from),
        }
    };
    let checks = rows.iter().flat_map(|(_, body)| &body.checks);
    let named: BTreeSet<String> = checks.filter_map(meant).collect();
    for (name, function) in functions.iter().filter(|(name, _)| !named.contains(*name)) {
        let finding = Diagnostic::new(format!("`fn {name}` is the check of no row"), 0..0);
        findings.push(
            finding
                .note(format!("it stands at {}", function.place))
                .help("name it after `where`, or make it `pub(super)` if it helps another check"),
        );
    }
    Ok(findings)
}

/// The rows that name fields and are executed.
fn executed(table: &Table) -> impl Iterator<Item = (&Row, &Body)> {
    let rows = table.groups.iter().flat_map(|group| &group.rows);
    let bodies = rows.filter_map(|row| Some((row, row.body.as_ref()?)));
    bodies.filter(|(_, body)| {
        !matches!(body.handling, Handling::Unsupported(_)) && !body.signature.takes_whole()
    })
}

/// The function is there and takes these fields.
fn check_call(
    check: &Check,
    functions: &BTreeMap<String, Function>,
    fields: &[(String, String)],
) -> Option<Diagnostic> {
    let name = &check.function;
    let Some(function) = functions.get(name.as_str()) else {
        let finding = Diagnostic::new(format!("there is no check `{}`", **name), name.span.clone());
        return Some(match nearest(name, functions.keys().map(String::as_str)) {
            Some(near) => finding.help(format!("did you mean `{near}`?")),
            None => finding.help(format!("write `pub(crate) fn {}` in {CHECKS}/", **name)),
        });
    };
    let at = |finding: Diagnostic| finding.note(format!("it stands at {}", function.place));
    let (wanted, given) = (function.params.len(), check.args.len());
    if wanted != given {
        let message = format!("`{}` takes {wanted} fields, not {given}", **name);
        return Some(at(Diagnostic::new(message, name.span.clone())));
    }
    check
        .args
        .iter()
        .zip(&function.params)
        .find_map(|(arg, param)| {
            let (_, ty) = fields.iter().find(|(field, _)| *field == arg.value)?;
            if takes(param, ty) {
                return None;
            }
            let message = format!("`{}` is `{ty}`, but the check takes `{param}`", **arg);
            Some(at(Diagnostic::new(message, arg.span.clone())))
        })
}

/// Whether a parameter takes a reference to a field.
fn takes(param: &str, field: &str) -> bool {
    let bare = |text: &str| text.replace(' ', "");
    let (param, field) = (bare(param), bare(field));
    let list = field
        .strip_prefix("Vec<")
        .and_then(|item| item.strip_suffix('>'));
    param == format!("&{field}") || list.is_some_and(|item| param == format!("&[{item}]"))
}

/// The row has checks of its own, or its struct has.
fn check_struct(
    table: &Table,
    row: &Row,
    body: &Body,
    said: &mut BTreeSet<usize>,
) -> Option<Diagnostic> {
    let ir_struct = body.signature.ir_struct.as_ref()?;
    let mut of_structs = table.checks.iter();
    let known = body.signature.checks.is_some()
        || of_structs.any(|checks| **checks.ir_struct == **ir_struct);
    (!known && said.insert(row.key_span().start)).then(|| {
        let message = format!("nothing is said of what `{}` must fulfil", **ir_struct);
        Diagnostic::new(message, ir_struct.span.clone()).help(format!(
            "add `{} = '…'` under `[where]`, or `'()'` if there is nothing to check before the \
             backend is called",
            **ir_struct
        ))
    })
}
