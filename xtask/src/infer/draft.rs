//! A row for one kind, before the rows of all kinds are put together.

use burn_op_spec::{Arm, Group, Kind};
use heck::ToSnakeCase;

use super::arguments::fill;
use super::method::{find_method, spelled};
use super::outputs::{output_fields, returned_fields, write_outputs};
use crate::upstream::{Struct, Upstream, Variant};

/// A row for one arm, with the kinds that the method has.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) kind: Option<Kind>,
    pub(super) ir_struct: Option<String>,
    /// The method as a row writes it; `None` if the backend has none.
    pub(super) method: Option<String>,
    pub(super) args: Vec<String>,
    /// The tensors among the arguments and outputs: `{0}` in the texts stands for the first's kind.
    pub(super) tensors: Vec<(String, Kind)>,
    pub(super) unused: Vec<String>,
    pub(super) outputs: Vec<String>,
    pub(super) exception: Option<String>,
    pub(super) doubts: Vec<String>,
}

pub(super) fn draft(group: &Group, arm: &Arm, variant: &Variant, upstream: &Upstream) -> Draft {
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
