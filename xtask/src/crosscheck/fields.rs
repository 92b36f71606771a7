//! A row's struct and its fields.

use std::ops::Range;

use burn_op_spec::{Arity, Diagnostic, Group, Handling, Row, nearest};

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
        if !ir_struct
            .fields
            .iter()
            .any(|(name, _)| *name == field.value)
        {
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
        if let Some(ty) = field_type(ir_struct, &tensor.name)
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
    for (field, _) in &ir_struct.fields {
        let is_named = body.signature.fields().any(|name| name.value == *field);
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

pub(super) fn field_type<'s>(ir_struct: &'s Struct, name: &str) -> Option<&'s str> {
    let field = ir_struct.fields.iter().find(|(field, _)| field == name);
    field.map(|(_, ty)| ty.as_str())
}
