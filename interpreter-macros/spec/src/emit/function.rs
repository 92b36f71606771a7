//! The function that executes one operation.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::{TABLE, ident};
use crate::model::{
    Arg, Arity, Check, Convert, Field, Handling, Kind, KindRef, Operation, OutputFact, Signature,
    Value, root,
};

/// ```text
/// /// `numeric.Powi.float`: `B::float_powi`, op-spec.toml:123
/// fn numeric_float_powi<B: BackendIr>(ctx: &mut Context<B>, op: &BinaryOpIr) -> Outcome {
///     let BinaryOpIr { lhs, rhs, out } = op;
///     if ctx.must_check() {
///         check::broadcast(lhs, rhs, out)?;
///         ctx.admit_float(out)?;
///     }
///     let lhs = ctx.float(lhs)?;
///     let rhs = ctx.int(rhs)?;
///     let output = B::float_powi(lhs, rhs);
///     ctx.put_float(out, output)
/// }
/// ```
///
/// A row that keeps quantized tensors has a second function for them, see [`quantized`].
///
/// Nothing for an unsupported operation: the dispatching match answers it.
pub(super) fn function(operation: Operation<'_>) -> Option<TokenStream> {
    let body = operation.row.body.as_ref()?;
    let signature = &body.signature;
    let name = ident(&operation.function());
    let args = signature.args.iter().map(|value| arg(operation, value));
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
    let op = op(signature);
    let fields = destructure(signature, &body.checks);
    let checks = body.checks.iter().map(check);
    let admits = admits(operation, Tensors::Plain);
    let checks = match quantized_turn(operation, signature) {
        None => must_check(checks.chain(admits)),
        Some(turn) => {
            let (checks, admits) = (must_check(checks), must_check(admits));
            Some(quote!(#checks #turn #admits))
        }
    };
    let steps = steps(operation, Tensors::Plain, call);
    let quantized = quantized(operation, signature);
    Some(quote! {
        #[doc = #doc]
        fn #name<B: BackendIr>(ctx: &mut Context<B> #op) -> Outcome {
            #fields
            #checks
            #steps
        }
        #quantized
    })
}

/// ```text
/// /// `base.Reshape.float` of a quantized tensor: `B::q_reshape`, op-spec.toml:123
/// #[cold]
/// fn base_float_reshape_quantized<B: BackendIr>(ctx: &mut Context<B>, op: &ShapeOpIr) -> Outcome {
///     let ShapeOpIr { input, out } = op;
///     if ctx.must_check() {
///         ctx.admit_quantized(out)?;
///     }
///     let input = ctx.quantized(input)?;
///     let output = B::q_reshape(input, shape_of(out));
///     ctx.put_quantized(out, output)
/// }
/// ```
fn quantized(operation: Operation<'_>, signature: &Signature) -> Option<TokenStream> {
    let method = operation.quantized_method()?;
    let name = quantized_function(operation);
    let args = signature.args.iter().map(|value| arg(operation, value));
    let path = ident(&method);
    let doc = format!(
        " `{}` of a quantized tensor: `B::{method}`, {TABLE}:{}",
        operation.name(),
        operation.row.line
    );
    let op = op(signature);
    let fields = destructure(signature, &[]);
    let checks = must_check(admits(operation, Tensors::Quantized));
    let steps = steps(operation, Tensors::Quantized, quote!(B::#path(#(#args),*)));
    Some(quote! {
        #[doc = #doc]
        #[cold]
        fn #name<B: BackendIr>(ctx: &mut Context<B> #op) -> Outcome {
            #fields
            #checks
            #steps
        }
    })
}

fn quantized_function(operation: Operation<'_>) -> proc_macro2::Ident {
    format_ident!("{}_quantized", operation.function())
}

/// `if quantized::is_kept(input, out) { return base_float_reshape_quantized(ctx, op); }`
fn quantized_turn(operation: Operation<'_>, signature: &Signature) -> Option<TokenStream> {
    operation.quantized_method()?;
    let mut tensors = signature.inputs().chain(&signature.outputs);
    let kind = tensors.find(|field| field.kind.value.has_quantized_call())?;
    let kind = kind.kind.value;
    let (test, fields): (_, Vec<&Field>) = match kind {
        KindRef::Mixed => ("is_any", signature.inputs().collect()),
        KindRef::KeptWhole => (
            "is_kept_whole",
            signature.inputs().chain(&signature.outputs).collect(),
        ),
        _ => (
            "is_kept",
            signature.inputs().chain(&signature.outputs).collect(),
        ),
    };
    let fields = fields.into_iter().filter(|field| field.kind.value == kind);
    let fields = fields.map(|field| ident(field.variable()));
    let (test, function) = (ident(test), quantized_function(operation));
    Some(quote!(if quantized::#test(#(#fields),*) { return #function(ctx, op); }))
}

/// `, op: &BinaryOpIr`
fn op(signature: &Signature) -> Option<TokenStream> {
    let ir_struct = ident(signature.ir_struct.as_ref()?);
    Some(quote!(, op: &#ir_struct))
}

/// Which of a row's tensors are meant: those that all operations have, or those of the call for
/// quantized tensors.
#[derive(Clone, Copy, PartialEq)]
enum Tensors {
    Plain,
    Quantized,
}

/// What the context calls a field's kind.
fn kind(operation: Operation<'_>, tensors: Tensors, field: &Field) -> Option<&'static str> {
    Some(match (tensors, field.kind.value) {
        (Tensors::Quantized, KindRef::Kept | KindRef::KeptWhole) => "quantized",
        (Tensors::Quantized, KindRef::Mixed) => "mixed",
        (_, kind) => operation.kind(kind)?.name(),
    })
}

/// The inputs are read, the call is made, and its outputs are written.
fn steps(operation: Operation<'_>, tensors: Tensors, call: TokenStream) -> Option<TokenStream> {
    let body = operation.row.body.as_ref()?;
    let signature = &body.signature;
    let reads = signature
        .inputs()
        .map(|field| read(kind(operation, tensors, field), field));
    let writes = writes(operation, tensors, call, &body.handling);
    Some(quote!(#(#reads)* #writes))
}

/// That the outputs may be made is found before an input is read.
fn admits(operation: Operation<'_>, tensors: Tensors) -> impl Iterator<Item = TokenStream> {
    let body = operation.row.body.as_ref();
    let outputs = body.into_iter().flat_map(|body| &body.signature.outputs);
    outputs.filter_map(move |field| admit(kind(operation, tensors, field), field))
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
    let mut roots = Vec::new();
    let mut fields = signature.fields().collect::<Vec<_>>();
    fields.retain(|field| {
        let is_new = !roots.contains(&root(field));
        roots.push(root(field));
        is_new
    });
    let fields = fields.into_iter().map(|field| {
        let name = ident(root(field));
        match signature.unused.contains(field) && !is_checked(field) {
            true => quote!(#name: _),
            false => quote!(#name),
        }
    });
    Some(quote!(let #ir_struct { #(#fields),* } = op;))
}

/// `if ctx.must_check() { check::broadcast(lhs, rhs, out)?; ctx.admit_float(out)?; }`
///
/// They look at nothing but the operation: one that is executed again unchanged passes them again.
fn must_check(steps: impl Iterator<Item = TokenStream>) -> Option<TokenStream> {
    let mut steps = steps.peekable();
    steps.peek()?;
    Some(quote!(if ctx.must_check() { #(#steps)* }))
}

/// `check::broadcast(lhs, rhs, out)?;`
fn check(check: &Check) -> TokenStream {
    let function = ident(&check.function);
    let args = check.args.iter().map(|arg| ident(arg));
    quote!(check::#function(#(#args),*)?;)
}

/// `ctx.admit_float(out)?;`
fn admit(kind: Option<&str>, output: &Field) -> Option<TokenStream> {
    let (kind, name) = (kind?, ident(&output.name));
    let admit = match output.arity {
        Arity::Optional => format_ident!("admit_optional_{kind}"),
        _ => format_ident!("admit_{kind}"),
    };
    Some(quote!(ctx.#admit(#name)?;))
}

/// `let lhs = ctx.float(lhs)?;`, `let scales = ctx.float(&qparams.scales)?;`
fn read(kind: Option<&str>, field: &Field) -> Option<TokenStream> {
    let (kind, name) = (kind?, ident(field.variable()));
    let place = match field.name.split_once('.') {
        Some((root, _)) => {
            let root = ident(root);
            quote!(&#root.#name)
        }
        None => quote!(#name),
    };
    let read = match field.arity {
        Arity::One => format_ident!("{kind}"),
        Arity::Optional => format_ident!("optional_{kind}"),
        Arity::Many => format_ident!("{kind}_list"),
    };
    Some(quote!(let #name = ctx.#read(#place)?;))
}

/// `lhs`, `*axis`, `axes`, `convert(options)`, `out.dtype.into()`, …
fn arg(operation: Operation<'_>, arg: &Arg) -> TokenStream {
    match &arg.value {
        Value::Tensor(field) => {
            let name = ident(field.variable());
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
        Value::Declared(output, fact) => {
            let name = ident(output);
            match fact {
                OutputFact::Shape => quote!(shape_of(#name)),
                OutputFact::Dtype if is_float(operation, output) => quote!(ctx.float_dtype(#name)),
                OutputFact::Dtype => quote!(#name.dtype.into()),
            }
        }
        Value::Device => quote!(&ctx.device),
        Value::Context => quote!(ctx),
        Value::Whole => quote!(op),
    }
}

/// Whether an output is a float tensor: one that is to be quantized is computed as a float.
fn is_float(operation: Operation<'_>, output: &str) -> bool {
    let body = operation.row.body.as_ref();
    let mut outputs = body.into_iter().flat_map(|body| &body.signature.outputs);
    let output = outputs.find(|field| field.name.as_str() == output);
    output.and_then(|field| operation.kind(field.kind.value)) == Some(Kind::Float)
}

/// `let output = B::float_powi(lhs, rhs); ctx.put_float(out, output)`
fn writes(
    operation: Operation<'_>,
    tensors: Tensors,
    call: TokenStream,
    handling: &Handling,
) -> TokenStream {
    let body = operation.row.body.as_ref();
    let outputs = body.map_or(&[][..], |body| body.signature.outputs.as_slice());
    let write = |field: &Field, value: TokenStream| {
        let name = ident(&field.name);
        let kind = kind(operation, tensors, field)?;
        let put = match field.arity {
            Arity::Optional => format_ident!("put_optional_{kind}"),
            _ => format_ident!("put_{kind}"),
        };
        Some(quote!(ctx.#put(#name, #value)))
    };
    match outputs {
        [] if *handling == Handling::Call => quote!(#call; Ok(())),
        [] => call,
        [one] => {
            let write = write(one, quote!(output));
            quote!(let output = #call; #write)
        }
        [rest @ .., last] => {
            let values = (0..outputs.len()).map(proc_macro2::Literal::usize_unsuffixed);
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
