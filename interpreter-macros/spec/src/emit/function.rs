//! The function that executes one operation.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::{TABLE, ident};
use crate::model::{
    Arg, Arity, Check, Convert, Field, Handling, Operation, OutputFact, Signature, Value,
};

/// ```text
/// /// `numeric.Powi.float`: `B::float_powi`, op-spec.toml:123
/// fn numeric_float_powi<B: BackendIr>(ctx: &mut Context<B>, op: &BinaryOpIr) -> Outcome {
///     let BinaryOpIr { lhs, rhs, out } = op;
///     if ctx.must_check() {
///         check::broadcast(lhs, rhs, out)?;
///     }
///     let lhs = ctx.float(lhs)?;
///     let rhs = ctx.int(rhs)?;
///     ctx.admit_float(out)?;
///     let output = B::float_powi(lhs, rhs);
///     ctx.put_float(out, output)
/// }
/// ```
///
/// Nothing for an unsupported operation: the dispatching match answers it.
pub(super) fn function(operation: Operation<'_>) -> Option<TokenStream> {
    let body = operation.row.body.as_ref()?;
    let signature = &body.signature;
    let name = ident(&operation.function());
    let args = signature.args.iter().map(arg);
    let (call, doc) = match &body.handling {
        Handling::Unsupported(_) => return None,
        Handling::Call => {
            let method = operation.method()?;
            let path = ident(&method);
            (quote!(B::#path(#(#args),*)), format!("`B::{method}`"))
        }
        Handling::Custom(reason) => {
            let fallible = if signature.outputs.is_empty() {
                quote!()
            } else {
                quote!(?)
            };
            let doc = format!("written by hand: {reason}");
            (quote!(custom::#name::<B>(#(#args),*) #fallible), doc)
        }
    };
    let doc = format!(
        " `{}`: {doc}, {TABLE}:{}",
        operation.name(),
        operation.row.line
    );
    let op = signature.ir_struct.as_ref().map(|ir_struct| {
        let ir_struct = ident(ir_struct);
        quote!(, op: &#ir_struct)
    });
    let fields = destructure(signature, &body.checks);
    let checks = checks(&body.checks);
    let reads = signature.inputs().map(|input| read(operation, input));
    let admits = signature
        .outputs
        .iter()
        .map(|output| admit(operation, output));
    let writes = writes(operation, signature, call, &body.handling);
    Some(quote! {
        #[doc = #doc]
        fn #name<B: BackendIr>(ctx: &mut Context<B> #op) -> Outcome {
            #fields
            #checks
            #(#reads)*
            #(#admits)*
            #writes
        }
    })
}

/// `let BinaryOpIr { lhs, rhs, out } = op;`
///
/// Without `..`: a field that burn-ir adds is an error until the row says what becomes of it.
fn destructure(signature: &Signature, checks: &[Check]) -> Option<TokenStream> {
    let ir_struct = ident(signature.ir_struct.as_ref()?);
    if signature.takes_whole() {
        return None;
    }
    let is_checked = |field: &str| {
        let mut args = checks.iter().flat_map(|check| &check.args);
        args.any(|arg| arg.as_str() == field)
    };
    let fields = signature.fields().map(|field| {
        let name = ident(field);
        match signature.unused.contains(field) && !is_checked(field) {
            true => quote!(#name: _),
            false => quote!(#name),
        }
    });
    Some(quote!(let #ir_struct { #(#fields),* } = op;))
}

/// `if ctx.must_check() { check::broadcast(lhs, rhs, out)?; }`
///
/// They look at nothing but the operation: one that is executed again unchanged passes them again.
fn checks(checks: &[Check]) -> Option<TokenStream> {
    let calls = checks.iter().map(check);
    (!checks.is_empty()).then(|| quote!(if ctx.must_check() { #(#calls)* }))
}

/// `check::broadcast(lhs, rhs, out)?;`
fn check(check: &Check) -> TokenStream {
    let function = ident(&check.function);
    let args = check.args.iter().map(|arg| ident(arg));
    quote!(check::#function(#(#args),*)?;)
}

/// `ctx.admit_float(out)?;`
fn admit(operation: Operation<'_>, output: &Field) -> Option<TokenStream> {
    let name = ident(&output.name);
    let kind = operation.kind(output.kind.value)?.name();
    let admit = match output.arity {
        Arity::Optional => format_ident!("admit_optional_{kind}"),
        _ => format_ident!("admit_{kind}"),
    };
    Some(quote!(ctx.#admit(#name)?;))
}

/// `let lhs = ctx.float(lhs)?;`
fn read(operation: Operation<'_>, field: &Field) -> Option<TokenStream> {
    let name = ident(&field.name);
    let kind = operation.kind(field.kind.value)?.name();
    let read = match field.arity {
        Arity::One => format_ident!("{kind}"),
        Arity::Optional => format_ident!("optional_{kind}"),
        Arity::Many => format_ident!("{kind}_list"),
    };
    Some(quote!(let #name = ctx.#read(#name)?;))
}

/// `lhs`, `*axis`, `axes`, `convert(options)`, `out.dtype.into()`, …
fn arg(arg: &Arg) -> TokenStream {
    match &arg.value {
        Value::Tensor(field) => {
            let name = ident(&field.name);
            quote!(#name)
        }
        Value::Plain(name, convert) => {
            let name = ident(name);
            match convert {
                Convert::Copy => quote!(*#name),
                Convert::Borrow => quote!(#name),
                Convert::Into => quote!(convert(#name)),
                Convert::Elem => quote!(#name.elem()),
            }
        }
        Value::Declared(name, fact) => {
            let name = ident(name);
            match fact {
                OutputFact::Shape => quote!(#name.shape.clone()),
                OutputFact::Dtype => quote!(#name.dtype.into()),
            }
        }
        Value::Device => quote!(&ctx.device),
        Value::Context => quote!(ctx),
        Value::Whole => quote!(op),
    }
}

/// `let output = B::float_powi(lhs, rhs); ctx.put_float(out, output)`
fn writes(
    operation: Operation<'_>,
    signature: &Signature,
    call: TokenStream,
    handling: &Handling,
) -> TokenStream {
    let write = |field: &Field, value: TokenStream| {
        let name = ident(&field.name);
        let kind = operation.kind(field.kind.value)?.name();
        let put = match field.arity {
            Arity::Optional => format_ident!("put_optional_{kind}"),
            _ => format_ident!("put_{kind}"),
        };
        Some(quote!(ctx.#put(#name, #value)))
    };
    match signature.outputs.as_slice() {
        [] if *handling == Handling::Call => quote!(#call; Ok(())),
        [] => call,
        [one] => {
            let write = write(one, quote!(output));
            quote!(let output = #call; #write)
        }
        [rest @ .., last] => {
            let values = (0..signature.outputs.len()).map(proc_macro2::Literal::usize_unsuffixed);
            let mut values = values.map(|index| quote!(outputs.#index));
            let rest: Vec<_> = rest
                .iter()
                .zip(values.by_ref())
                .map(|(field, value)| write(field, value))
                .collect();
            let last = values.next().and_then(|value| write(last, value));
            quote!(let outputs = #call; #(#rest?;)* #last)
        }
    }
}
