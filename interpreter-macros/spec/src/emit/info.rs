//! The facts of the rows as statics.

use proc_macro2::TokenStream;
use quote::quote;

use super::{TABLE, ident};
use crate::model::{Arity, Field, Handling, Kind, Operation, Table};

/// `OPERATIONS`, which lists the facts of every row.
pub(super) fn list(table: &Table) -> TokenStream {
    let constants = table
        .operations()
        .map(|operation| ident(&operation.constant()));
    quote! {
        /// The facts of every row of the table, in its order; a row that serves several kinds is
        /// listed once for each.
        pub static OPERATIONS: &[&OpInfo] = &[#(&#constants),*];
    }
}

/// ```text
/// static NUMERIC_FLOAT_POWI: OpInfo = OpInfo {
///     name: "numeric.Powi.float",
///     group: "numeric",
///     variant: "Powi",
///     kind: Some(Kind::Float),
///     method: Some("float_powi"),
///     quantized_method: None,
///     inputs: &[TensorInfo::new("lhs", Kind::Float, Arity::One), …],
///     outputs: &[TensorInfo::new("out", Kind::Float, Arity::One)],
///     status: OpStatus::Call,
///     line: 123,
/// };
/// ```
pub(super) fn fact(operation: Operation<'_>) -> Option<TokenStream> {
    let body = operation.row.body.as_ref()?;
    let constant = ident(&operation.constant());
    let (name, group) = (operation.name(), &*operation.group.name);
    let variant = &*operation.row.variant;
    let doc = format!(" `{name}`, {TABLE}:{}", operation.row.line);
    let kind = option(operation.arm.kind.map(kind_path));
    let method = option(operation.method().map(|method| quote!(#method)));
    let quantized_method = operation.quantized_method();
    let quantized_method = option(quantized_method.map(|method| quote!(#method)));
    let inputs = body
        .signature
        .inputs()
        .map(|field| tensor(operation, field));
    let outputs = &body.signature.outputs;
    let outputs = outputs.iter().map(|field| tensor(operation, field));
    let status = match &body.handling {
        Handling::Call => quote!(OpStatus::Call),
        Handling::Custom(reason) => quote!(OpStatus::Custom { reason: #reason }),
        Handling::Unsupported(reason) => quote!(OpStatus::Unsupported { reason: #reason }),
    };
    let line = proc_macro2::Literal::usize_unsuffixed(operation.row.line);
    Some(quote! {
        #[doc = #doc]
        static #constant: OpInfo = OpInfo {
            name: #name,
            group: #group,
            variant: #variant,
            kind: #kind,
            method: #method,
            quantized_method: #quantized_method,
            inputs: &[#(#inputs),*],
            outputs: &[#(#outputs),*],
            status: #status,
            line: #line,
        };
    })
}

/// `TensorInfo::new("lhs", Kind::Float, Arity::One)`
fn tensor(operation: Operation<'_>, field: &Field) -> Option<TokenStream> {
    let name = field.name.as_str();
    let kind = kind_path(operation.kind(field.kind.value)?);
    let arity = match field.arity {
        Arity::One => quote!(Arity::One),
        Arity::Optional => quote!(Arity::Optional),
        Arity::Many => quote!(Arity::Many),
    };
    Some(quote!(TensorInfo::new(#name, #kind, #arity)))
}

fn kind_path(kind: Kind) -> TokenStream {
    match kind {
        Kind::Float => quote!(Kind::Float),
        Kind::Int => quote!(Kind::Int),
        Kind::Bool => quote!(Kind::Bool),
        Kind::Quantized => quote!(Kind::Quantized),
    }
}

fn option(value: Option<TokenStream>) -> TokenStream {
    match value {
        Some(value) => quote!(Some(#value)),
        None => quote!(None),
    }
}
