//! The row that a variant probably needs, from its IR struct and the backend's methods.
//!
//! What names and types settle is written as if by hand. Where they leave a choice, the row says
//! which parameter an argument is for, and the doubt is told.

use burn_op_spec::{Arm, Group, Kind};
use heck::ToSnakeCase;

use crate::upstream::{Method, Struct, Upstream, Variant};

/// A row, and what a person should look at.
#[derive(Clone, Debug)]
pub(crate) struct Inferred {
    /// The kind suffix of the key, if the row is not for all kinds.
    pub(crate) suffix: Option<&'static str>,
    /// What stands after the `=`.
    pub(crate) value: String,
    pub(crate) doubts: Vec<String>,
}

/// The rows of `variant` in `group`.
pub(crate) fn infer(group: &Group, variant: &Variant, upstream: &Upstream) -> Vec<Inferred> {
    let drafts: Vec<Draft> = group
        .arms
        .iter()
        .map(|arm| draft(group, arm, variant, upstream))
        .collect();
    let rows = partition(&drafts);
    let fixed = fixed_kinds(&rows);
    rows.into_iter()
        .map(|(suffix, members)| write(suffix, &members, &fixed))
        .collect()
}

/// A row for one arm, with the kinds that the method has.
#[derive(Clone, Debug)]
struct Draft {
    kind: Option<Kind>,
    ir_struct: Option<String>,
    /// The method as a row writes it; `None` if the backend has none.
    method: Option<String>,
    args: Vec<String>,
    /// The tensors among the arguments and outputs: `{0}` in the texts stands for the first's kind.
    tensors: Vec<(String, Kind)>,
    unused: Vec<String>,
    outputs: Vec<String>,
    exception: Option<String>,
    doubts: Vec<String>,
}

fn draft(group: &Group, arm: &Arm, variant: &Variant, upstream: &Upstream) -> Draft {
    let mut draft = Draft {
        kind: arm.kind,
        ir_struct: variant.payload.clone(),
        method: None,
        args: Vec::new(),
        tensors: Vec::new(),
        unused: Vec::new(),
        outputs: Vec::new(),
        exception: None,
        doubts: Vec::new(),
    };
    let ir_struct = variant
        .payload
        .as_ref()
        .and_then(|name| upstream.structs.get(name));
    match find_method(group, arm, &variant.name, upstream) {
        Some(found) => {
            draft.method = Some(found.written);
            if let Some(nearest) = found.doubt {
                draft.doubts.push(nearest);
            }
            let returned = returned_fields(found.method, ir_struct, upstream);
            let outputs = ir_struct.map(|ir_struct| output_fields(ir_struct, &returned));
            fill(
                &mut draft,
                ir_struct,
                found.method,
                &outputs.unwrap_or_default(),
            );
        }
        None => {
            let wanted = spelled(group, arm, &variant.name.to_snake_case());
            draft.exception = Some(format!("unsupported = 'burn-backend has no `{wanted}`'"));
            if let Some(ir_struct) = ir_struct {
                leave_open(&mut draft, ir_struct);
            }
        }
    }
    draft
}

struct Found<'u> {
    written: String,
    method: &'u Method,
    doubt: Option<String>,
}

/// A method's name as the group spells it for an arm.
fn spelled(group: &Group, arm: &Arm, written: &str) -> String {
    match (&group.call, arm.kind) {
        (Some(call), Some(kind)) => call
            .replace("{kind}", kind.name())
            .replace("{method}", written),
        _ => written.into(),
    }
}

/// The method that is called like the variant, or nearly so.
fn find_method<'u>(
    group: &Group,
    arm: &Arm,
    variant: &str,
    upstream: &'u Upstream,
) -> Option<Found<'u>> {
    let prefix = spelled(group, arm, "");
    let own = format!("{}_", *group.name);
    let bare = |name: &str| -> Option<String> { name.strip_prefix(&prefix).map(Into::into) };
    let squeeze = |name: &str| name.replace('_', "").to_lowercase();
    let spelled = variant.to_snake_case();
    // The inverse functions of trigonometry: `ArcCos` is `acos`.
    let spelled = spelled
        .strip_prefix("arc_")
        .map_or(spelled.clone(), |rest| format!("a{rest}"));
    let wanted = squeeze(&spelled);
    let methods = || {
        upstream
            .methods
            .iter()
            .filter_map(|(name, method)| Some((bare(name)?, method)))
    };
    let exact = methods().find(|(name, _)| {
        squeeze(name) == wanted
            || name
                .strip_prefix(&own)
                .is_some_and(|rest| squeeze(rest) == wanted)
    });
    if let Some((written, method)) = exact {
        return Some(Found {
            written,
            method,
            doubt: None,
        });
    }
    let words = |name: &str| name.split('_').map(String::from).collect::<Vec<_>>();
    let wanted = words(&spelled);
    let alike = |a: &String, b: &String| {
        let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
        short == long || (short.len() >= 3 && long.starts_with(short.as_str()))
    };
    let close = methods().find(|(name, _)| {
        let name = name.strip_prefix(&own).unwrap_or(name);
        let name = words(name);
        name.len() == wanted.len() && name.iter().zip(&wanted).all(|(a, b)| alike(a, b))
    });
    close.map(|(written, method)| Found {
        doubt: Some(format!("is `{written}` the method of `{variant}`?")),
        written,
        method,
    })
}

/// The fields of `ir_struct` that the operation writes; `returned` are the fields of the struct
/// that the method returns, if it returns one.
fn output_fields<'s>(ir_struct: &'s Struct, returned: &[String]) -> Vec<&'s (String, String)> {
    let is_tensor = |ty: &str| ty == "TensorIr" || ty == "Option<TensorIr>";
    let tensors = || ir_struct.fields.iter().filter(|(_, ty)| is_tensor(ty));
    let is_out = |name: &str| name == "out" || (name.starts_with("out_") && name != "out_grad");
    let is_returned = |name: &String| returned.contains(name);
    let same: Vec<_> = tensors().filter(|(name, _)| is_returned(name)).collect();
    if !same.is_empty() && same.len() == returned.len() {
        return same;
    }
    let named: Vec<_> = tensors()
        .filter(|(name, _)| is_out(name) || is_returned(name))
        .collect();
    if !named.is_empty() {
        return named;
    }
    tensors()
        .filter(|(name, _)| name.ends_with("_grad") && name != "out_grad")
        .collect()
}

/// The fields of the struct that a method returns. Those of a tuple have no names: they are the
/// tensors of the IR that the method does not take.
fn returned_fields(
    method: &Method,
    ir_struct: Option<&Struct>,
    upstream: &Upstream,
) -> Vec<String> {
    if method.output.starts_with('(') {
        let fields = ir_struct
            .into_iter()
            .flat_map(|ir_struct| &ir_struct.fields);
        let is_taken = |field: &str| method.params.iter().any(|(param, _)| param == field);
        let left = fields.filter(|(name, ty)| ty.contains("TensorIr") && !is_taken(name));
        let left: Vec<String> = left.map(|(name, _)| name.clone()).collect();
        let is_all = left.len() == kinds_in(&method.output).len();
        return if is_all { left } else { Vec::new() };
    }
    let name = method.output.split('<').next().unwrap_or_default();
    let found = upstream.structs.get(name);
    let fields = found.into_iter().flat_map(|found| &found.fields);
    fields.map(|(name, _)| name.clone()).collect()
}

/// Match the method's parameters with the fields of the struct.
fn fill(
    draft: &mut Draft,
    ir_struct: Option<&Struct>,
    method: &Method,
    outputs: &[&(String, String)],
) {
    let no_fields = Vec::new();
    let fields = ir_struct.map_or(&no_fields, |ir_struct| &ir_struct.fields);
    let returned = kinds_in(&method.output);
    let is_struct = !method.output.is_empty() && returned.len() != outputs.len();
    let mut open: Vec<_> = fields
        .iter()
        .filter(|field| !outputs.contains(field))
        .collect();

    // By name first, so that a parameter in front does not take the field of one behind.
    let mut chosen: Vec<Option<&(String, String)>> = Vec::new();
    for (param, ty) in &method.params {
        let found = open
            .iter()
            .position(|(name, field)| name == param && fits(field, ty));
        chosen.push(found.map(|position| open.remove(position)));
    }
    for ((_, ty), chosen) in method.params.iter().zip(&mut chosen) {
        if chosen.is_none()
            && let Some(position) = open.iter().position(|(_, field)| fits(field, ty))
        {
            *chosen = Some(open.remove(position));
        }
    }
    let unsure: Vec<&str> = method
        .params
        .iter()
        .zip(&chosen)
        .filter(|((param, _), chosen)| chosen.is_some_and(|(name, _)| name != param))
        .map(|((_, ty), _)| ty.as_str())
        .collect();
    for ((param, ty), chosen) in method.params.iter().zip(chosen) {
        let is_unsure = unsure.iter().filter(|other| *other == ty).count() > 1;
        let label = match chosen {
            Some((name, _)) if is_unsure && name != param => format!("{param} = "),
            _ => String::new(),
        };
        let value = argument(draft, chosen, ty, outputs, &returned, is_struct);
        match value {
            Some(value) => draft.args.push(format!("{label}{value}")),
            None => draft
                .doubts
                .push(format!("what is passed for `{param}: {ty}`?")),
        }
        if !label.is_empty() {
            draft
                .doubts
                .push(format!("is {} right?", label.trim_end_matches(" = ")));
        }
    }
    for (name, _) in &open {
        draft
            .doubts
            .push(format!("the method has no use for `{name}`?"));
    }
    draft.unused = open.iter().map(|(name, _)| name.clone()).collect();
    write_outputs(draft, outputs, &returned, is_struct);
    if is_struct {
        draft.exception = Some("custom = 'the backend returns a struct'".into());
    }
}

/// An argument as a row writes it.
fn argument(
    draft: &mut Draft,
    field: Option<&(String, String)>,
    ty: &str,
    outputs: &[&(String, String)],
    returned: &[Kind],
    is_struct: bool,
) -> Option<String> {
    if let Some((name, field)) = field {
        if let [kind] = kinds_in(ty).as_slice() {
            let arity = match field.as_str() {
                "Option<TensorIr>" => "?",
                "Vec<TensorIr>" => "[]",
                _ => "",
            };
            draft.tensors.push((name.clone(), *kind));
            return Some(format!("{name}: {{{}}}{arity}", draft.tensors.len() - 1));
        }
        return Some(match () {
            () if field == ty => name.clone(),
            () if ty.starts_with('&') => format!("&{name}"),
            () if field == "ScalarIr" && ty != "Scalar" => format!("{name}.elem()"),
            () => format!("{name}.into()"),
        });
    }
    let kind = match ty {
        "Shape" => return outputs.first().map(|(name, _)| format!("{name}.shape")),
        "&Device<B>" | "&Device" => return Some("device".into()),
        "FloatDType" => Kind::Float,
        "IntDType" => Kind::Int,
        "BoolDType" => Kind::Bool,
        _ => return None,
    };
    // Of several outputs the indices have a dtype of their own.
    let by_kind = outputs
        .iter()
        .zip(returned)
        .filter(|(_, returned)| **returned == kind);
    let by_kind = by_kind.map(|((name, _), _)| name).next_back();
    let indices = outputs
        .iter()
        .map(|(name, _)| name)
        .find(|name| name.contains("indices"));
    let output = if is_struct { indices } else { by_kind };
    output.map(|name| format!("{name}.dtype"))
}

fn write_outputs(
    draft: &mut Draft,
    outputs: &[&(String, String)],
    returned: &[Kind],
    is_struct: bool,
) {
    for (position, (name, ty)) in outputs.iter().enumerate() {
        let guessed = if name.contains("indices") {
            Kind::Int
        } else {
            Kind::Float
        };
        let kind = if is_struct {
            guessed
        } else {
            returned.get(position).copied().unwrap_or(guessed)
        };
        let arity = if ty == "Option<TensorIr>" { "?" } else { "" };
        draft.tensors.push((name.clone(), kind));
        draft
            .outputs
            .push(format!("{name}: {{{}}}{arity}", draft.tensors.len() - 1));
    }
}

/// The tensors of an operation that no method executes.
fn leave_open(draft: &mut Draft, ir_struct: &Struct) {
    let kind = draft.kind.unwrap_or(Kind::Float);
    let outputs = output_fields(ir_struct, &[]);
    for field in &ir_struct.fields {
        let (name, ty) = field;
        if outputs.contains(&field) {
            continue;
        }
        if ty.contains("TensorIr") {
            let kind = if name.contains("indices") {
                Kind::Int
            } else {
                kind
            };
            draft.tensors.push((name.clone(), kind));
            draft
                .args
                .push(format!("{name}: {{{}}}", draft.tensors.len() - 1));
        }
    }
    let returned = vec![kind; outputs.len()];
    write_outputs(draft, &outputs, &returned, false);
}

/// Whether a field of the IR can become a parameter of this type.
fn fits(field: &str, ty: &str) -> bool {
    let has_tensor = !kinds_in(ty).is_empty();
    if field.contains("TensorIr") || has_tensor {
        let wrapper = |text: &str| (text.starts_with("Option<"), text.starts_with("Vec<"));
        return field.contains("TensorIr") && has_tensor && wrapper(field) == wrapper(ty);
    }
    let item = field
        .strip_prefix("Vec<")
        .and_then(|inner| inner.strip_suffix('>'));
    match ty {
        "Scalar" | "f64" | "f32" => field == "ScalarIr",
        "Shape" | "&Device<B>" | "FloatDType" | "IntDType" | "BoolDType" => false,
        _ if field == ty => true,
        _ if ty.starts_with('&') => item.is_some_and(|item| ty == format!("&[{item}]")),
        // burn-ir has a type of its own, which converts.
        _ => field.ends_with("Ir") && field != "ScalarIr" && ty.starts_with(char::is_uppercase),
    }
}

/// The kinds of the tensors that a type is made of, in order.
fn kinds_in(ty: &str) -> Vec<Kind> {
    let kinds = [
        ("FloatTensor<B>", Kind::Float),
        ("IntTensor<B>", Kind::Int),
        ("BoolTensor<B>", Kind::Bool),
    ];
    let mut found: Vec<(usize, Kind)> = kinds
        .iter()
        .flat_map(|(name, kind)| ty.match_indices(name).map(|(at, _)| (at, *kind)))
        .collect();
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, kind)| kind).collect()
}

/// The drafts by row: all kinds in one if they agree, else float and int in one, else each.
fn partition(drafts: &[Draft]) -> Vec<(Option<&'static str>, Vec<Draft>)> {
    let [first, ..] = drafts else {
        return Vec::new();
    };
    if first.kind.is_none() || agree(drafts) {
        return vec![(None, drafts.to_vec())];
    }
    let numbers: Vec<Draft> = drafts
        .iter()
        .filter(|draft| draft.kind != Some(Kind::Bool))
        .cloned()
        .collect();
    let has_bool = numbers.len() < drafts.len();
    let mut rows = Vec::new();
    let mut rest: Vec<&Draft> = drafts.iter().collect();
    if has_bool && numbers.len() == 2 && agree(&numbers) {
        rows.push((Some("num"), numbers));
        rest.retain(|draft| draft.kind == Some(Kind::Bool));
    }
    rows.extend(
        rest.into_iter()
            .map(|draft| (draft.kind.map(Kind::name), vec![draft.clone()])),
    );
    rows
}

/// Whether the drafts are one row: the same but for kinds, and each kind the arm's or fixed.
fn agree(drafts: &[Draft]) -> bool {
    let [first, rest @ ..] = drafts else {
        return true;
    };
    let same = rest.iter().all(|draft| {
        draft.method == first.method
            && draft.args == first.args
            && draft.unused == first.unused
            && draft.outputs == first.outputs
            && draft.exception == first.exception
    });
    same && (0..first.tensors.len()).all(|position| {
        let is_arms = drafts
            .iter()
            .all(|draft| Some(draft.tensors[position].1) == draft.kind);
        let is_fixed = rest
            .iter()
            .all(|draft| draft.tensors[position].1 == first.tensors[position].1);
        is_arms || is_fixed
    })
}

/// The tensors that have one kind in all rows of the variant.
fn fixed_kinds(rows: &[(Option<&'static str>, Vec<Draft>)]) -> Vec<(String, Kind)> {
    let members = || rows.iter().flat_map(|(_, members)| members);
    let mut fixed: Vec<(String, Kind)> = Vec::new();
    for (name, kind) in members().flat_map(|draft| &draft.tensors) {
        let mut others = members()
            .flat_map(|draft| &draft.tensors)
            .filter(|(other, _)| other == name);
        let is_fixed = others.all(|(_, other)| other == kind);
        let is_arms = members().all(|draft| draft.kind == Some(*kind));
        if is_fixed && !is_arms && !fixed.iter().any(|(known, _)| known == name) {
            fixed.push((name.clone(), *kind));
        }
    }
    fixed
}

fn write(suffix: Option<&'static str>, members: &[Draft], fixed: &[(String, Kind)]) -> Inferred {
    let draft = &members[0];
    let kind_of = |position: usize| {
        let (name, kind) = &draft.tensors[position];
        let is_fixed = draft.kind.is_none() || fixed.iter().any(|(known, _)| known == name);
        if is_fixed { kind.name() } else { "T" }
    };
    let kinds = |text: &String| {
        let mut text = text.clone();
        for position in 0..draft.tensors.len() {
            text = text.replace(&format!("{{{position}}}"), kind_of(position));
        }
        text
    };
    let list = |texts: &[String]| texts.iter().map(kinds).collect::<Vec<_>>().join(", ");
    let ir_struct = draft
        .ir_struct
        .as_ref()
        .map_or(String::new(), |name| format!("{name}: "));
    let unused = match draft.unused.is_empty() || draft.method.is_none() {
        true => String::new(),
        false => format!("; {}", draft.unused.join(", ")),
    };
    let outputs = match draft.outputs.is_empty() {
        true => "()".into(),
        false => list(&draft.outputs),
    };
    let method = draft.method.as_deref().unwrap_or_default();
    let signature = format!(
        "'{ir_struct}{method}({}{unused}) -> {outputs}'",
        list(&draft.args)
    );
    let value = match &draft.exception {
        None => signature,
        Some(exception) => format!("{{ sig = {signature}, {exception} }}"),
    };
    Inferred {
        suffix,
        value,
        doubts: draft.doubts.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Workspace;

    /// Every row of the real table, taken out and inferred again: how many come back identical.
    #[test]
    fn rows_of_the_real_table_come_back() {
        let workspace = Workspace::here();
        let (source, table) = workspace.table().expect("the table is fine");
        let upstream = Upstream::locked(&workspace).expect("the sources are there");
        let line = |row: &burn_op_spec::Row| {
            let line = source.lines().nth(row.line - 1).unwrap_or_default();
            line.split_once('=')
                .map_or("", |(_, value)| value.trim())
                .to_string()
        };
        let mut different = Vec::new();
        let mut total = 0;
        for group in &table.groups {
            let Some(found) = upstream.enums.get(group.ir.as_str()) else {
                continue;
            };
            for variant in &found.variants {
                let rows: Vec<_> = group
                    .rows
                    .iter()
                    .filter(|row| row.variant.value == variant.name)
                    .collect();
                if rows.is_empty() {
                    continue;
                }
                total += 1;
                let wanted: Vec<_> = rows
                    .iter()
                    .map(|row| {
                        (
                            row.suffix.as_ref().map(|suffix| suffix.value.clone()),
                            line(row),
                        )
                    })
                    .collect();
                let inferred: Vec<_> = infer(group, variant, &upstream)
                    .into_iter()
                    .map(|row| (row.suffix.map(String::from), row.value))
                    .collect();
                if inferred != wanted {
                    different.push(format!("{}: {inferred:?}\n    {wanted:?}", variant.name));
                }
            }
        }
        let identical = total - different.len();
        println!(
            "{identical} of {total} variants come back identical\n{}",
            different.join("\n")
        );
        assert!(
            identical * 100 >= total * 85,
            "only {identical} of {total} come back"
        );
    }
}
