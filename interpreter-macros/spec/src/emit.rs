//! From the model to Rust: the code that executes the operations of a table.
//!
//! One small function per operation, matches that only dispatch, and a static with the facts of
//! each row. The code expects the module that it is placed in to have these siblings: `check` (the
//! functions of `where`), `context` (`Context`, `Outcome`, `convert`, `disabled`, `shape_of`,
//! `unsupported`), `custom` (the functions of custom rows), `info` (`OpInfo` and the types of its
//! fields) and `quantized` (which tensors the backend's call for quantized ones takes).

mod dispatch;
mod function;
mod info;

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use crate::model::{Group, Operation, Table};

/// The name to show for a table in the documentation of the generated code.
const TABLE: &str = "op-spec.toml";

/// Everything that executes the operations of `table`, as the items of one module.
///
/// The table must be free of [diagnostics](crate::Parsed::diagnostics).
pub fn operations(table: &Table) -> TokenStream {
    let imports = imports(table);
    let entries = dispatch::entries(table);
    let list = info::list(table);
    let groups = table.groups.iter().map(|group| {
        let executors = executors(group);
        let facts = facts(group);
        quote!(#executors #facts)
    });
    quote! {
        #imports
        #entries
        #list
        #(#groups)*
    }
}

/// The functions that execute a group's operations, and the matches that choose one.
pub fn executors(group: &Group) -> TokenStream {
    let arms = group.arms.iter().map(|arm| {
        let dispatch = dispatch::execute(group, arm);
        let functions = group.operations(arm).map(executor);
        quote!(#dispatch #(#functions)*)
    });
    quote!(#(#arms)*)
}

/// The facts of a group's operations, and the matches that find them.
pub fn facts(group: &Group) -> TokenStream {
    let arms = group.arms.iter().map(|arm| {
        let dispatch = dispatch::info(group, arm);
        let facts = group.operations(arm).map(fact);
        quote!(#dispatch #(#facts)*)
    });
    quote!(#(#arms)*)
}

/// The function that executes one operation. Empty where nothing executes it.
pub fn executor(operation: Operation<'_>) -> TokenStream {
    function::function(operation).unwrap_or_default()
}

/// The static with the facts of one operation.
pub fn fact(operation: Operation<'_>) -> TokenStream {
    info::fact(operation).unwrap_or_default()
}

/// What [`operations`] offers, without an operation behind it: it keeps the crate's names
/// resolved when the table cannot be used, so that the table's mistakes are the only errors.
pub fn skeleton() -> TokenStream {
    quote! {
        use ::burn_ir::{BackendIr, OperationIr};
        use super::context::{Context, Outcome, unsupported};
        use super::info::OpInfo;

        pub(crate) fn execute<B: BackendIr>(
            _ctx: &mut Context<B>,
            _op: &OperationIr,
        ) -> Outcome {
            unsupported()
        }
        pub(crate) fn missing_feature(_op: &OperationIr) -> Option<&'static str> {
            None
        }
        pub fn op_info(_op: &OperationIr) -> &'static OpInfo {
            OPERATIONS[0]
        }
        pub static OPERATIONS: &[&OpInfo] = &[];
    }
}

/// The IR enums and structs by name, so that the code reads without paths.
fn imports(table: &Table) -> TokenStream {
    let mut names = BTreeSet::from(["BackendIr", "OperationIr"]);
    for group in &table.groups {
        names.insert(&group.ir);
        for body in group.rows.iter().filter_map(|row| row.body.as_ref()) {
            names.extend(body.signature.ir_struct.as_ref().map(|name| name.as_str()));
        }
    }
    let names = names.into_iter().map(ident);
    quote! {
        use ::burn_ir::{#(#names),*};
        use super::check;
        use super::context::{Context, Outcome, convert, disabled, shape_of, unsupported};
        use super::custom;
        use super::info::{Arity, Kind, OpInfo, OpStatus, TensorInfo};
        use super::quantized;
    }
}

fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}
