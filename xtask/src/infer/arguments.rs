//! The fields of an IR struct, each for the parameter that it is probably meant for.

use burn_op_spec::Kind;

use super::draft::Draft;
use super::outputs::write_outputs;
use crate::upstream::{Method, Struct};

/// Match the method's parameters with the fields of the struct.
pub(super) fn fill(
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
pub(super) fn kinds_in(ty: &str) -> Vec<Kind> {
    let kinds = [
        ("FloatTensor<B>", Kind::Float),
        ("IntTensor<B>", Kind::Int),
        ("BoolTensor<B>", Kind::Bool),
        ("QuantizedTensor<B>", Kind::Quantized),
    ];
    let mut found: Vec<(usize, Kind)> = kinds
        .iter()
        .flat_map(|(name, kind)| ty.match_indices(name).map(|(at, _)| (at, *kind)))
        .collect();
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, kind)| kind).collect()
}
