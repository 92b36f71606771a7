//! From the model to Rust: the code that executes the operations of a table.
//!
//! One small function per operation, matches that only dispatch, and a static with the facts of
//! each row. The code expects the module that it is placed in to have these siblings: `context`
//! (`Context`, `Outcome`, `convert`, `unsupported`), `custom` (the functions of custom rows) and `info` (`OpInfo`
//! and the types of its fields).

mod dispatch;
mod function;
mod info;

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use crate::model::{Group, Table};

/// The name to show for a table in the documentation of the generated code.
const TABLE: &str = "op-spec.toml";

/// Everything that executes the operations of `table`, as the items of one module.
///
/// The table must be free of [diagnostics](crate::Parsed::diagnostics).
pub fn operations(table: &Table) -> TokenStream {
    let imports = imports(table);
    let entries = dispatch::entries(table);
    let facts = info::facts(table);
    let groups = table.groups.iter().map(group);
    quote! {
        #imports
        #entries
        #facts
        #(#groups)*
    }
}

/// The functions, matches and facts of one group.
pub fn group(group: &Group) -> TokenStream {
    let arms = group.arms.iter().map(|arm| {
        let execute = dispatch::execute(group, arm);
        let info = dispatch::info(group, arm);
        let operations = group.operations(arm).map(|operation| {
            let fact = info::fact(operation);
            let function = function::function(operation);
            quote!(#fact #function)
        });
        quote!(#execute #info #(#operations)*)
    });
    quote!(#(#arms)*)
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
        use super::context::{Context, Outcome, convert, unsupported};
        use super::custom;
        use super::info::{Arity, Kind, OpInfo, OpStatus, TensorInfo};
    }
}

fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}
