//! A stub of the differential case of a new row: what a person fills in.

use std::fs;

use burn_op_spec::{Arm, Group, Kind, KindRef, Row};
use heck::ToSnakeCase;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::upstream::{Upstream, Variant};
use crate::workspace::Workspace;

/// Where the differential suite is.
pub(crate) const SUITE: &str = "tests/tests/differential";

/// A function with the cases of a variant.
pub(crate) struct Stub {
    /// The function's name.
    pub(crate) name: String,
    /// The function.
    pub(crate) text: String,
    /// The types for which a person must say a value.
    pub(crate) open: Vec<String>,
}

/// The stub for `variant`, whose rows are `rows`; `None` if no backend executes them.
pub(crate) fn stub(
    group: &Group,
    variant: &Variant,
    rows: &[Row],
    upstream: &Upstream,
) -> Result<Option<Stub>, String> {
    let mut open = Vec::new();
    let mut cases = Vec::new();
    for arm in &group.arms {
        let row = rows.iter().find(|row| row.covers(arm.kind));
        let body = row.and_then(|row| row.body.as_ref());
        if let Some(body) = body
            && body.signature.method.is_some()
        {
            let kind_of = |field: &str| {
                let mut inputs = body.signature.inputs();
                let input = inputs.find(|input| input.name.value == field);
                match input.map(|input| input.kind.value) {
                    Some(KindRef::Fixed(kind)) => kind,
                    _ => arm.kind.unwrap_or(Kind::Float),
                }
            };
            cases.push(case(group, arm, variant, upstream, kind_of, &mut open));
        }
    }
    if cases.is_empty() {
        return Ok(None);
    }
    let name = format!("{}_cases", variant.name.to_snake_case());
    let function = format_ident!("{name}");
    let doc = format!(" `{}.{}`", *group.name, variant.name);
    let item = quote! {
        #[doc = #doc]
        pub(crate) fn #function() -> Vec<Case> {
            Vec::from([#(#cases),*])
        }
    };
    let file = syn::parse2(item).map_err(|cause| format!("the stub is not Rust: {cause}"))?;
    open.sort();
    open.dedup();
    Ok(Some(Stub {
        name,
        text: prettyplease::unparse(&file),
        open,
    }))
}

/// Write the stub into the suite; gives the file and the line where it stands, or `None` if the
/// suite has no place for it.
pub(crate) fn write(
    workspace: &Workspace,
    group: &Group,
    stub: &Stub,
) -> Result<Option<String>, String> {
    let main = format!("{SUITE}/main.rs");
    let Some((module, file)) = module(workspace, group)? else {
        return Ok(None);
    };
    let (Ok(cases), Ok(suite)) = (workspace.read(&file), workspace.read(&main)) else {
        return Ok(None);
    };
    let Some(end) = list_end(&suite) else {
        return Ok(None);
    };
    let comma = if suite[..end].ends_with(')') { "," } else { "" };
    let entry = format!("{comma}\n        {module}::{}(),", stub.name);
    workspace.write(&main, &format!("{}{entry}{}", &suite[..end], &suite[end..]))?;
    workspace.write(&file, &format!("{}\n\n{}", cases.trim_end(), stub.text))?;
    let line = cases.trim_end().matches('\n').count() + 3;
    Ok(Some(format!("{file}:{line}")))
}

/// Where `main.rs` of the suite ends its list of cases: the longest of the lists in its `cases` of
/// calls like `int::cases()`. Shorter ones are of cases with something to them.
fn list_end(suite: &str) -> Option<usize> {
    let file = syn::parse_file(suite).ok()?;
    let mut items = file.items.iter();
    let cases = items.find_map(|item| match item {
        syn::Item::Fn(function) if function.sig.ident == "cases" => Some(function),
        _ => None,
    })?;
    let lists = cases.block.stmts.iter().filter_map(|statement| {
        let syn::Stmt::Local(local) = statement else {
            return None;
        };
        let syn::Expr::Array(list) = &*local.init.as_ref()?.expr else {
            return None;
        };
        let mut items = list.elems.iter();
        items.all(is_list_of_cases).then_some(list)
    });
    let list = lists.max_by_key(|list| list.elems.len())?;
    let bracket = list.bracket_token.span.close().byte_range().start;
    Some(suite[..bracket].trim_end().len())
}

/// `int::cases()`, `float::hypot_cases()`
fn is_list_of_cases(item: &syn::Expr) -> bool {
    let syn::Expr::Call(call) = item else {
        return false;
    };
    let syn::Expr::Path(function) = &*call.func else {
        return false;
    };
    let name = function.path.segments.last();
    name.is_some_and(|name| name.ident.to_string().ends_with("cases")) && call.args.is_empty()
}

/// The module of the suite that has the cases of a group, and its file.
fn module(workspace: &Workspace, group: &Group) -> Result<Option<(String, String)>, String> {
    let folder = workspace.root().join(SUITE);
    let Ok(entries) = fs::read_dir(&folder) else {
        return Ok(None);
    };
    let mut modules: Vec<String> = entries
        .flatten()
        .filter_map(|entry| Some(entry.file_name().to_str()?.strip_suffix(".rs")?.to_string()))
        .collect();
    // The group's own first, else one that builds its enum.
    modules.sort_by_key(|module| (*module != *group.name, module.clone()));
    for module in modules {
        let file = format!("{SUITE}/{module}.rs");
        let source = workspace.read(&file)?;
        if source.contains("pub(crate) fn cases()") && source.contains(&*group.ir) {
            return Ok(Some((module, file)));
        }
    }
    Ok(None)
}

/// `Case::new(|t| OperationIr::Float(DType::F32, FloatOperationIr::Hypot(BinaryOpIr::create(…))))`
fn case(
    group: &Group,
    arm: &Arm,
    variant: &Variant,
    upstream: &Upstream,
    kind_of: impl Fn(&str) -> Kind,
    open: &mut Vec<String>,
) -> TokenStream {
    let (ir, name) = (
        format_ident!("{}", *group.ir),
        format_ident!("{}", variant.name),
    );
    let payload = variant.payload.as_ref().map(|payload| {
        let created = created(payload, upstream, kind_of, open);
        match variant.is_boxed {
            true => quote!((Box::new(#created))),
            false => quote!((#created)),
        }
    });
    let built = quote!(burn_ir::#ir::#name #payload);
    let operation = match &arm.pattern {
        None => built,
        Some(pattern) => {
            let carrier = format_ident!("{}", *pattern.variant);
            let dtype = match arm.kind {
                Some(Kind::Int) => quote!(burn_backend::DType::I64),
                _ => quote!(burn_backend::DType::F32),
            };
            let fields = pattern.fields.iter().map(|is_op| match is_op {
                true => &built,
                false => &dtype,
            });
            quote!(burn_ir::OperationIr::#carrier(#(#fields),*))
        }
    };
    quote!(Case::new(|t| #operation))
}

/// `BinaryOpIr::create(t.float(&[2, 3]), t.float(&[2, 3]), || t.id())`
fn created(
    payload: &str,
    upstream: &Upstream,
    kind_of: impl Fn(&str) -> Kind,
    open: &mut Vec<String>,
) -> TokenStream {
    if payload == "TensorIr" || !upstream.structs.contains_key(payload) {
        return value(payload, kind_of(""), open);
    }
    let values = parameters(payload, upstream);
    let values = values.iter().map(|(name, ty)| match name.as_str() {
        "new_id" => quote!(|| t.id()),
        _ => value(ty, kind_of(name), open),
    });
    let payload = format_ident!("{payload}");
    quote!(burn_ir::#payload::create(#(#values),*))
}

/// What `create` of a struct takes: as it is written, or the fields that it does not make itself.
fn parameters(ir_struct: &str, upstream: &Upstream) -> Vec<(String, String)> {
    if let Some(params) = upstream.creators.get(ir_struct) {
        return params.clone();
    }
    let fields = upstream.structs.get(ir_struct).map(|found| &found.fields);
    let fields = fields.into_iter().flatten();
    let is_made = |name: &str| name == "out" || name.starts_with("out_");
    let mut params: Vec<_> = fields.filter(|(name, _)| !is_made(name)).cloned().collect();
    params.push(("new_id".into(), "impl FnOnce() -> TensorId".into()));
    params
}

/// A value to begin with.
fn value(ty: &str, kind: Kind, open: &mut Vec<String>) -> TokenStream {
    let tensor = || {
        let kind = format_ident!("{}", kind.name());
        quote!(t.#kind(&[2, 3]))
    };
    match ty {
        "TensorIr" => tensor(),
        "Option<TensorIr>" => {
            let tensor = tensor();
            quote!(Some(#tensor))
        }
        "Vec<TensorIr>" => {
            let tensor = tensor();
            quote!(vec![#tensor])
        }
        "ScalarIr" if kind == Kind::Int => quote!(burn_ir::ScalarIr::Int(3)),
        "ScalarIr" => quote!(burn_ir::ScalarIr::Float(0.75)),
        "usize" => quote!(1),
        "bool" => quote!(true),
        "Shape" => quote!(burn_backend::Shape::new([2, 3])),
        "DType" if kind == Kind::Int => quote!(burn_backend::DType::I64),
        "DType" => quote!(burn_backend::DType::F32),
        _ => {
            open.push(ty.into());
            let message = format!("a `{ty}`");
            quote!(todo!(#message))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Output;

    /// The suite has a list of cases, whose last entry is where a new one follows.
    #[test]
    fn the_suite_has_a_list() {
        let suite = Workspace::here().read(&format!("{SUITE}/main.rs"));
        let suite = suite.expect("the suite is there");
        let end = list_end(&suite).expect("it lists its cases");
        assert!(suite[..end].ends_with("activation::cases(),"), "{suite}");
        assert!(list_end("fn cases() -> Vec<Case> { all() }").is_none());
        assert!(list_end("no Rust").is_none());
    }

    /// Whatever a variant carries, its stub is Rust, and the suite has a file for it.
    #[test]
    fn every_variant_has_a_stub() {
        let workspace = Workspace::here();
        let (_, table) = workspace.table().expect("the table is fine");
        let upstream =
            Upstream::locked(&workspace, &mut Output::new()).expect("the sources are there");
        for group in &table.groups {
            let ir = &upstream.enums[group.ir.as_str()];
            for variant in &ir.variants {
                let rows = group.rows.iter().filter(|row| *row.variant == variant.name);
                let rows: Vec<_> = rows.cloned().collect();
                let is_called = rows
                    .iter()
                    .filter_map(|row| row.body.as_ref())
                    .any(|body| body.signature.method.is_some());
                let stub = stub(group, variant, &rows, &upstream).expect("the stub is Rust");
                assert_eq!(stub.is_some(), is_called, "{}", variant.name);
                let has_place = module(&workspace, group).expect("the suite can be read");
                assert!(has_place.is_some() || !is_called, "{}", variant.name);
            }
        }
    }
}
