//! What no single row can tell: gaps, overlaps, names that clash, notation out of place.

mod quantized;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::diagnostic::{Diagnostic, nearest};
use crate::model::{
    Arm, Body, Field, Group, Handling, Kind, KindRef, Row, Signature, Spanned, StructChecks, Table,
    Value, root,
};

/// Check the table as a whole; what is wrong goes to `diagnostics`.
pub(crate) fn lint(table: &Table, diagnostics: &mut Vec<Diagnostic>) {
    for group in &table.groups {
        lint_name(group, diagnostics);
    }
    // What is missing may be what could not be read, or stands under a wrong name.
    let is_whole = diagnostics.is_empty();
    for group in &table.groups {
        lint_identifiers(group, diagnostics);
        lint_call(group, diagnostics);
        lint_coverage(group, diagnostics);
        lint_siblings(group, diagnostics);
        for row in &group.rows {
            if let Some(body) = &row.body {
                lint_row(group, row, body, diagnostics);
            }
        }
    }
    lint_functions(table, diagnostics);
    lint_checks(table, diagnostics);
    if is_whole {
        lint_structs(table, diagnostics);
    }
}

/// A group is named after its IR enum.
fn lint_name(group: &Group, diagnostics: &mut Vec<Diagnostic>) {
    let (name, ir) = (&group.name, &group.ir);
    match Group::name_for(ir) {
        Some(expected) if expected == **name => {}
        Some(expected) => diagnostics.push(
            Diagnostic::new(format!("unknown group `{}`", **name), name.span.clone())
                .related(ir.span.clone(), "the group of this enum")
                .help(format!("the group of `{}` is called `{expected}`", **ir)),
        ),
        None => diagnostics.push(
            Diagnostic::new(format!("unknown IR enum `{}`", **ir), ir.span.clone())
                .help("the enums of operations in burn-ir are called `…OperationIr`"),
        ),
    }
}

/// Whatever becomes a name in the generated code can be one.
fn lint_identifiers(group: &Group, diagnostics: &mut Vec<Diagnostic>) {
    let mut check = |what: &str, name: &str, span: &Range<usize>| {
        if !is_identifier(name) {
            diagnostics.push(
                Diagnostic::new(
                    format!("`{name}` cannot be the name of {what}"),
                    span.clone(),
                )
                .help(
                    "a name has letters, digits and `_`, begins with a letter, and is no keyword",
                ),
            );
        }
    };
    check("an enum", &group.ir, &group.ir.span);
    for row in &group.rows {
        check("a variant", &row.variant, &row.key_span());
        for body in row
            .body
            .iter()
            .filter(|body| body.handling == Handling::Call)
        {
            if let Some(method) = &body.signature.method {
                check("a method", method, &method.span);
            }
        }
    }
    if let Some(call) = &group.call {
        let spelled = call.replace("{kind}", "kind").replace("{method}", "method");
        check("a method", &spelled, &call.span);
    }
}

/// The keywords that could be mistaken for names of methods, variants or enums.
const KEYWORDS: [&str; 38] = [
    "Self", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue",
    "crate", "do", "dyn", "else", "enum", "extern", "final", "fn", "for", "if", "impl", "in",
    "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
    "return", "self", "static", "struct", "while",
];

fn is_identifier(name: &str) -> bool {
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic());
    let goes_on = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    begins && goes_on && !KEYWORDS.contains(&name)
}

/// `call` spells a method out per kind, so it belongs to groups with several arms.
fn lint_call(group: &Group, diagnostics: &mut Vec<Diagnostic>) {
    let has_kinds = group.arms.iter().any(|arm| arm.kind.is_some());
    match &group.call {
        Some(call) if !has_kinds => diagnostics.push(
            Diagnostic::new("`call` needs `arms`", call.span.clone())
                .help("a group with one arm writes the backend's method in full in each row"),
        ),
        Some(call) => {
            for part in ["{kind}", "{method}"] {
                if !call.contains(part) {
                    diagnostics.push(Diagnostic::new(
                        format!("`call` does not say where `{part}` goes"),
                        call.span.clone(),
                    ));
                }
            }
        }
        None if has_kinds => diagnostics.push(
            Diagnostic::new(
                format!("group `{}` has `arms` but no `call`", *group.name),
                group.name.span.clone(),
            )
            .help("add `call = '{kind}_{method}'`, or how else the methods of a kind are called"),
        ),
        None => {}
    }
}

/// Every variant has one row for each arm: none missing, none twice.
fn lint_coverage(group: &Group, diagnostics: &mut Vec<Diagnostic>) {
    let has_kinds = group.arms.iter().any(|arm| arm.kind.is_some());
    for (position, row) in group.rows.iter().enumerate() {
        if let Some(suffix) = &row.suffix
            && !group.arms.iter().any(|arm| row.covers(arm.kind))
        {
            let group_name = &*group.name;
            let diagnostic = match has_kinds {
                true => Diagnostic::new(
                    format!("group `{group_name}` has no arm for `.{}`", **suffix),
                    suffix.span.clone(),
                ),
                false => Diagnostic::new(
                    format!("`.{}` in a group with one arm", **suffix),
                    suffix.span.clone(),
                )
                .help("there are no kinds to tell apart: remove it"),
            };
            diagnostics.push(diagnostic);
        }
        let overlaps = |other: &&Row| {
            let shares = |arm: &Arm| row.covers(arm.kind) && other.covers(arm.kind);
            *other.variant == *row.variant && group.arms.iter().any(shares)
        };
        if let Some(first) = group.rows[..position].iter().find(overlaps) {
            diagnostics.push(
                Diagnostic::new(
                    format!("`{}` has two rows for the same kind", *row.variant),
                    row.key_span(),
                )
                .related(first.key_span(), "the first row"),
            );
        }
        lint_missing_kinds(group, row, diagnostics);
    }
}

/// The kinds that no row of a variant serves, reported at its last row.
fn lint_missing_kinds(group: &Group, row: &Row, diagnostics: &mut Vec<Diagnostic>) {
    let siblings = || {
        group
            .rows
            .iter()
            .filter(|other| *other.variant == *row.variant)
    };
    if siblings().next_back() != Some(row) {
        return;
    }
    for kind in group.arms.iter().filter_map(|arm| arm.kind) {
        if siblings().any(|sibling| sibling.covers(Some(kind))) {
            continue;
        }
        let variant = &*row.variant;
        diagnostics.push(
            Diagnostic::new(
                format!("`{variant}` has no row for {kind} tensors"),
                row.key_span(),
            )
            .help(format!(
                "add `{variant}.{kind} = …`; if the backend has no such method: \
                     `{{ sig = '…', unsupported = 'why' }}`"
            )),
        );
    }
}

/// The rows of one variant stand side by side, and only where they differ.
fn lint_siblings(group: &Group, diagnostics: &mut Vec<Diagnostic>) {
    for (position, row) in group.rows.iter().enumerate() {
        let is_sibling = |other: &&Row| *other.variant == *row.variant;
        let Some(first) = group.rows[..position].iter().rfind(is_sibling) else {
            continue;
        };
        if group.rows[position - 1].variant.value != *row.variant {
            diagnostics.push(
                Diagnostic::new(
                    format!("the rows of `{}` are apart", *row.variant),
                    row.key_span(),
                )
                .related(first.key_span(), "move it next to this one"),
            );
        }
        let mergeable = group.rows[..position]
            .iter()
            .rfind(|other| mergeable(group, other, row));
        if let Some(first) = mergeable {
            diagnostics.push(
                Diagnostic::new(
                    format!("two rows of `{}` say the same", *row.variant),
                    row.key_span(),
                )
                .related(first.key_span(), "merge it with this one")
                .help("use `.num` for float and int, or no suffix for every kind"),
            );
        }
    }
}

/// Whether one row could say what these two rows of a variant say: a row can be for float and int,
/// or for all kinds if all agree.
fn mergeable(group: &Group, a: &Row, b: &Row) -> bool {
    let is_number = |row: &Row| !row.covers(Some(Kind::Bool));
    let mut siblings = group.rows.iter().filter(|row| *row.variant == *b.variant);
    *a.variant == *b.variant
        && alike(group, a, b)
        && ((is_number(a) && is_number(b)) || siblings.all(|row| alike(group, row, b)))
}

/// Whether two rows say the same, each about its own kinds.
fn alike(group: &Group, a: &Row, b: &Row) -> bool {
    let (Some(a_body), Some(b_body)) = (&a.body, &b.body) else {
        return false;
    };
    // A tensor's kind is the same if both write the same, or each its own arm's.
    let is_own = |kind: KindRef, row: &Row| {
        let mut arms = group.arms.iter().filter(|arm| row.covers(arm.kind));
        match kind {
            KindRef::Arm => true,
            KindRef::Fixed(kind) => arms.all(|arm| arm.kind == Some(kind)),
            KindRef::Kept | KindRef::KeptWhole | KindRef::Mixed => false,
        }
    };
    let mut tensors = fields(&a_body.signature).zip(fields(&b_body.signature));
    a_body.handling == b_body.handling
        && without_kinds(&a_body.signature) == without_kinds(&b_body.signature)
        && tensors.all(|(x, y)| {
            let (x, y) = (x.kind.value, y.kind.value);
            x == y || (is_own(x, a) && is_own(y, b))
        })
}

/// The tensors that a row reads and writes.
fn fields(signature: &Signature) -> impl Iterator<Item = &Field> {
    signature.inputs().chain(&signature.outputs)
}

/// The text of a signature, all its kinds alike.
fn without_kinds(signature: &Signature) -> String {
    let mut signature = signature.clone();
    for arg in &mut signature.args {
        if let Value::Tensor(field) = &mut arg.value {
            field.kind.value = KindRef::Arm;
        }
    }
    for output in &mut signature.outputs {
        output.kind.value = KindRef::Arm;
    }
    let ir_struct = signature.ir_struct.as_ref();
    format!(
        "{}: {signature}",
        ir_struct.map_or("", |name| name.as_str())
    )
}

/// The notation of one row fits its group and its handling.
fn lint_row(group: &Group, row: &Row, body: &Body, diagnostics: &mut Vec<Diagnostic>) {
    let signature = &body.signature;
    let is_custom = matches!(body.handling, Handling::Custom(_));
    if signature.method.is_none() && body.handling == Handling::Call {
        diagnostics.push(
            Diagnostic::new("the row calls no method", row.key_span())
                .help("write the backend's method before `(`, or say `custom` or `unsupported`"),
        );
    }
    if signature.ir_struct.is_none()
        && let Some(field) = signature.fields().next()
    {
        diagnostics.push(
            Diagnostic::new("the row names fields but no IR struct", field.span.clone())
                .help("begin the row with the struct the variant carries: `NameOpIr: method(…)`"),
        );
    }
    for arg in &signature.args {
        if matches!(arg.value, Value::Context | Value::Whole) && !is_custom {
            diagnostics.push(
                Diagnostic::new("only a custom row takes this argument", arg.span.clone())
                    .help("a backend's method takes tensors, fields and `device`"),
            );
        }
    }
    lint_kinds(group, signature, diagnostics);
    quantized::lint(group, row, body, diagnostics);
    lint_fields(signature, diagnostics);
}

/// `T` needs a kind to stand for.
fn lint_kinds(group: &Group, signature: &Signature, diagnostics: &mut Vec<Diagnostic>) {
    if group.arms.iter().any(|arm| arm.kind.is_some()) {
        return;
    }
    for field in signature.inputs().chain(&signature.outputs) {
        if let kind @ (KindRef::Arm | KindRef::Kept | KindRef::KeptWhole) = field.kind.value {
            let message = format!("`{}` in a group with one arm", kind.name());
            diagnostics.push(
                Diagnostic::new(message, field.kind.span.clone())
                    .help("write the kind: `float`, `int` or `bool`"),
            );
        }
    }
}

/// Every field is named once, and `out.shape`, `out.dtype` are taken of an output.
fn lint_fields(signature: &Signature, diagnostics: &mut Vec<Diagnostic>) {
    let mut seen: HashMap<&str, &Spanned<String>> = HashMap::new();
    for field in signature.fields() {
        if let Some(first) = seen.insert(field, field) {
            diagnostics.push(
                Diagnostic::new(
                    format!("field `{}` is named twice", **field),
                    field.span.clone(),
                )
                .related(first.span.clone(), "first here"),
            );
        }
        if signature.takes_whole() {
            diagnostics.push(
                Diagnostic::new("`self` is the whole IR struct", field.span.clone())
                    .help("name either `self` or the fields, not both"),
            );
        }
    }
    let outputs = || signature.outputs.iter().map(|output| output.name.as_str());
    for arg in &signature.args {
        if let Value::Declared(name, _) = &arg.value
            && !outputs().any(|output| output == name.as_str())
        {
            let mut diagnostic = Diagnostic::new(
                format!("`{}` is no output of the row", **name),
                name.span.clone(),
            );
            if let Some(near) = nearest(name, outputs()) {
                diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
            }
            diagnostics.push(diagnostic);
        }
    }
}

/// Each operation has a function of its own name.
fn lint_functions(table: &Table, diagnostics: &mut Vec<Diagnostic>) {
    let mut seen: HashMap<String, &Row> = HashMap::new();
    for operation in table.operations() {
        let function = operation.function();
        match seen.get(&function) {
            // Two rows for one variant are reported as such.
            Some(first) if *first.variant != *operation.row.variant => diagnostics.push(
                Diagnostic::new(
                    format!("the function of this row is called `{function}`, like another's"),
                    operation.row.key_span(),
                )
                .related(first.key_span(), "the other row"),
            ),
            Some(_) => {}
            None => {
                seen.insert(function, operation.row);
            }
        }
    }
}

/// Checks look at fields of the row.
fn lint_checks(table: &Table, diagnostics: &mut Vec<Diagnostic>) {
    let rows = table.groups.iter().flat_map(|group| &group.rows);
    let bodies: Vec<&Body> = rows.filter_map(|row| row.body.as_ref()).collect();
    // The checks of an IR struct stand for several rows: what is wrong is said once.
    let (mut said, mut missing) = (HashSet::new(), HashSet::new());
    let executed = |body: &&&Body| !matches!(body.handling, Handling::Unsupported(_));
    for body in bodies.iter().filter(executed) {
        for arg in body.checks.iter().flat_map(|check| &check.args) {
            let fields = || body.signature.fields().map(|field| field.as_str());
            if fields().any(|field| field == arg.as_str() || root(field) == arg.as_str()) {
                continue;
            }
            if body.signature.checks.is_none() && is_field_elsewhere(&bodies, body, arg) {
                let diagnostic = missing_field(body, arg);
                if missing.insert((diagnostic.span.start, arg.as_str())) {
                    diagnostics.push(diagnostic);
                }
                continue;
            }
            if !said.insert(arg.span.start) {
                continue;
            }
            let ir_struct = body.signature.ir_struct.as_ref();
            let message = match ir_struct.filter(|_| body.signature.checks.is_none()) {
                _ if body.signature.takes_whole() => {
                    "a row that takes `self` has no checks".to_owned()
                }
                Some(ir_struct) => format!("`{}` is no field of `{}`", **arg, **ir_struct),
                None => format!("`{}` is no field of the row", **arg),
            };
            let diagnostic = Diagnostic::new(message, arg.span.clone());
            diagnostics.push(match nearest(arg, fields()) {
                Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
                None => diagnostic,
            });
        }
    }
}

/// The IR structs that have checks have rows.
fn lint_structs(table: &Table, diagnostics: &mut Vec<Diagnostic>) {
    let structs = || {
        let rows = table.groups.iter().flat_map(|group| &group.rows);
        let bodies = rows.filter_map(|row| row.body.as_ref());
        bodies.filter_map(|body| Some(body.signature.ir_struct.as_ref()?.as_str()))
    };
    for StructChecks { ir_struct, .. } in &table.checks {
        if !structs().any(|used| used == ir_struct.as_str()) {
            let message = format!("no row is of `{}`", **ir_struct);
            let diagnostic = Diagnostic::new(message, ir_struct.span.clone());
            diagnostics.push(match nearest(ir_struct, structs()) {
                Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
                None => diagnostic,
            });
        }
    }
}

/// Whether another row of the same IR struct names the field.
fn is_field_elsewhere(bodies: &[&Body], body: &Body, field: &Spanned<String>) -> bool {
    let ir_struct = |body: &Body| {
        body.signature
            .ir_struct
            .as_ref()
            .map(|name| name.value.clone())
    };
    bodies.iter().any(|other| {
        ir_struct(other) == ir_struct(body)
            && other.signature.fields().any(|name| **name == **field)
    })
}

/// The row leaves out, or misspells, a field that its struct is checked by.
fn missing_field(body: &Body, field: &Spanned<String>) -> Diagnostic {
    let near = nearest(field, body.signature.fields().map(|name| name.as_str()));
    let mut names = body.signature.fields();
    let near = near.and_then(|near| names.find(|name| name.as_str() == near));
    let ir_struct = body.signature.ir_struct.as_ref();
    let span = near.or(ir_struct).map_or(0..0, |name| name.span.clone());
    let diagnostic = Diagnostic::new(
        format!("the row does not name the field `{}`", **field),
        span,
    )
    .related(field.span.clone(), "which its struct is checked by");
    match near {
        Some(_) => diagnostic.help(format!("did you mean `{}`?", **field)),
        None => diagnostic,
    }
}
