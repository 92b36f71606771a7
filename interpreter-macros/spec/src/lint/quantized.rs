//! The kinds of tensors that a backend has a call of its own for.

use std::ops::Range;

use super::fields;
use crate::diagnostic::Diagnostic;
use crate::model::{Arity, Body, Field, Group, Handling, Operation, Row};

/// `Q`, `Q1` and `mixed` stand where a backend has a call for quantized tensors: for each of the
/// row's, and for what comes of them.
pub(super) fn lint(group: &Group, row: &Row, body: &Body, diagnostics: &mut Vec<Diagnostic>) {
    let signature = &body.signature;
    let mut tensors = fields(signature).filter(|field| field.kind.value.has_quantized_call());
    let Some(first) = tensors.next() else {
        return;
    };
    let kind = first.kind.value;
    let mut report = |message: String, span: &Range<usize>, help: &str| {
        diagnostics.push(Diagnostic::new(message, span.clone()).help(help));
    };
    let mut arms = group.arms.iter().filter(|arm| row.covers(arm.kind));
    let is_called = body.handling == Handling::Call
        && arms.any(|arm| Operation { group, arm, row }.quantized_method().is_some());
    if !is_called {
        report(
            format!("`{}` in a row that calls no method of floats", kind.name()),
            &first.kind.span,
            "the call for quantized tensors is `q_…` in place of `float_…`",
        );
    }
    for other in tensors.filter(|other| other.kind.value != kind) {
        report(
            format!("`{}` beside `{}`", other.kind.value.name(), kind.name()),
            &other.kind.span,
            "a row has one way with quantized tensors",
        );
    }
    let is_kept = |field: &Field| field.kind.value == kind;
    if is_called && !signature.outputs.iter().all(is_kept) {
        report(
            format!(
                "the output of a row with `{}` is of another kind",
                kind.name()
            ),
            &row.key_span(),
            "what comes of a quantized tensor is of the same kind",
        );
    }
    for field in fields(signature).filter(|field| is_kept(field) && field.arity != Arity::One) {
        report(
            format!("`{}` is one tensor", kind.name()),
            &field.kind.span,
            "write the kind of an optional tensor or of a list as `T` or `float`",
        );
    }
}
