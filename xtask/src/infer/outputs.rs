//! The tensors that an operation writes.

use burn_op_spec::Kind;

use super::arguments::kinds_in;
use super::draft::Draft;
use crate::upstream::{Method, Struct, Upstream};

/// The fields of `ir_struct` that the operation writes; `returned` are the fields of the struct
/// that the method returns, if it returns one.
pub(super) fn output_fields<'s>(
    ir_struct: &'s Struct,
    returned: &[String],
) -> Vec<&'s (String, String)> {
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
pub(super) fn returned_fields(
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

pub(super) fn write_outputs(
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
