//! A row's struct and its fields.

use std::ops::Range;

use burn_op_spec::{Arity, Body, Diagnostic, Group, Handling, Row, nearest, root};

use crate::upstream::{Struct, Upstream};

/// The row's struct is the variant's, and each of its fields exists and is named.
pub(super) fn check_fields(
    group: &Group,
    row: &Row,
    upstream: &Upstream,
    findings: &mut Vec<Diagnostic>,
) {
    let Some(body) = &row.body else { return };
    let variants = upstream
        .enums
        .get(group.ir.as_str())
        .map(|found| &found.variants);
    let mut variants = variants.into_iter().flatten();
    let Some(variant) = variants.find(|variant| variant.name == row.variant.value) else {
        return;
    };
    let named = body.signature.ir_struct.as_ref();
    if named.map(|name| name.as_str()) != variant.payload.as_deref() {
        let carries = variant
            .payload
            .as_deref()
            .map_or("nothing".into(), |name| format!("`{name}`"));
        let span = named.map_or(row.key_span(), |name| name.span.clone());
        findings.push(
            Diagnostic::new(format!("`{}` carries {carries}", variant.name), span)
                .note(format!("the variant stands at {}", variant.place)),
        );
        return;
    }
    let ir_struct = named.and_then(|name| Some((name, upstream.structs.get(name.as_str())?)));
    let Some((name, ir_struct)) = ir_struct else {
        return;
    };
    if body.signature.takes_whole() {
        return;
    }
    let finding = |message: String, span: Range<usize>| {
        Diagnostic::new(message, span).note(format!("the struct stands at {}", ir_struct.place))
    };
    let known = findings.len();
    for field in body.signature.fields() {
        if !ir_struct.fields.iter().any(|(name, _)| name == root(field)) {
            let names = ir_struct.fields.iter().map(|(name, _)| name.as_str());
            let message = format!("`{}` has no field `{}`", name.as_str(), field.as_str());
            let finding = finding(message, field.span.clone());
            let list: Vec<_> = names.clone().map(|name| format!("`{name}`")).collect();
            let list = format!("its fields are {}", list.join(", "));
            let help = match nearest(field, names) {
                Some(near) => format!("{list}; did you mean `{near}`?"),
                None => list,
            };
            findings.push(finding.help(help));
        }
    }
    for tensor in body.signature.inputs().chain(&body.signature.outputs) {
        let wanted = match tensor.arity {
            Arity::One => "TensorIr",
            Arity::Optional => "Option<TensorIr>",
            Arity::Many => "Vec<TensorIr>",
        };
        if let Some(ty) = nested_type(ir_struct, &tensor.name, upstream)
            && ty != wanted
        {
            let message = format!("field `{}` is `{ty}`, not `{wanted}`", tensor.name.as_str());
            findings.push(finding(message, tensor.name.span.clone()));
        }
    }
    // A field that is not named may be the one that is misspelt.
    if findings.len() > known || matches!(body.handling, Handling::Unsupported(_)) {
        return;
    }
    for field in parts(ir_struct, body, upstream) {
        let is_named = body.signature.fields().any(|name| name.value == field);
        if !is_named {
            findings.push(
                finding(
                    format!("the row does not use field `{field}`"),
                    row.key_span(),
                )
                .help(format!(
                    "pass it to the method, or add `; {field}` if the method has no use for it"
                )),
            );
        }
    }
}

/// The fields of the struct; of one whose own fields the row names, those.
fn parts(ir_struct: &Struct, body: &Body, upstream: &Upstream) -> Vec<String> {
    let names_within = |field: &str| {
        let mut named = body.signature.fields();
        named.any(|name| name.as_str() != field && root(name) == field)
    };
    let parts = ir_struct.fields.iter().flat_map(|(field, ty)| {
        match upstream.structs.get(ty).filter(|_| names_within(field)) {
            Some(inner) => {
                let inner = inner
                    .fields
                    .iter()
                    .map(|(name, _)| format!("{field}.{name}"));
                inner.collect()
            }
            None => vec![field.clone()],
        }
    });
    parts.collect()
}

/// The type of the field `name`, or of `b` in the struct of the field `a` for `a.b`.
fn nested_type<'u>(ir_struct: &'u Struct, name: &str, upstream: &'u Upstream) -> Option<&'u str> {
    let Some((outer, inner)) = name.split_once('.') else {
        return field_type(ir_struct, name);
    };
    let ty = field_type(ir_struct, outer)?;
    let inner_struct = upstream.structs.get(ty);
    Some(
        inner_struct
            .and_then(|found| field_type(found, inner))
            .unwrap_or(ty),
    )
}

pub(super) fn field_type<'s>(ir_struct: &'s Struct, name: &str) -> Option<&'s str> {
    let field = ir_struct.fields.iter().find(|(field, _)| field == name);
    field.map(|(_, ty)| ty.as_str())
}
