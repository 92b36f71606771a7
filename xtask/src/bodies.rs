//! The bodies of `custom` rows, as the runtime offers them.

use std::collections::BTreeMap;
use std::fs;

use burn_op_spec::{Diagnostic, Handling, Operation, Table, nearest};
use quote::ToTokens;

use crate::workspace::Workspace;

/// Where they are.
const BODIES: &str = "interpreter/src/custom";

/// Every body by the name of its function, with the file and the line where it stands.
pub(crate) fn bodies(workspace: &Workspace) -> Result<BTreeMap<String, String>, String> {
    let functions = functions(workspace, BODIES)?.into_iter();
    Ok(functions.map(|(name, found)| (name, found.place)).collect())
}

/// A function of the runtime.
pub(crate) struct Function {
    /// The file and the line where it stands.
    pub(crate) place: String,
    /// The types of its parameters, as they are written, but for blanks.
    pub(crate) params: Vec<String>,
}

/// The functions that the files in `folder` offer, by name.
pub(crate) fn functions(
    workspace: &Workspace,
    folder: &str,
) -> Result<BTreeMap<String, Function>, String> {
    let mut functions = BTreeMap::new();
    let path = workspace.root().join(folder);
    let files = fs::read_dir(&path)
        .map_err(|cause| format!("cannot read `{}`: {cause}", path.display()))?;
    for file in files {
        let file = file.map_err(|cause| format!("`{folder}`: {cause}"))?;
        let path = format!("{folder}/{}", file.file_name().to_string_lossy());
        let source = workspace.read(&path)?;
        let parsed =
            syn::parse_file(&source).map_err(|cause| format!("{path} is not Rust: {cause}"))?;
        for item in parsed.items {
            if let syn::Item::Fn(function) = item
                && matches!(function.vis, syn::Visibility::Restricted(_))
            {
                let name = &function.sig.ident;
                let params = function.sig.inputs.iter().filter_map(|param| match param {
                    syn::FnArg::Typed(param) => {
                        Some(param.ty.to_token_stream().to_string().replace("& ", "&"))
                    }
                    syn::FnArg::Receiver(_) => None,
                });
                let found = Function {
                    place: format!("{path}:{}", name.span().start().line),
                    params: params.collect(),
                };
                functions.insert(name.to_string(), found);
            }
        }
    }
    Ok(functions)
}

/// The functions that `custom` rows are executed by.
fn wanted_bodies(table: &Table) -> impl Iterator<Item = Operation<'_>> {
    table.operations().filter(|operation| {
        let handling = operation.row.body.as_ref().map(|body| &body.handling);
        matches!(handling, Some(Handling::Custom(_)))
    })
}

/// Every custom row has a body.
pub(crate) fn missing_bodies(bodies: &BTreeMap<String, String>, table: &Table) -> Vec<Diagnostic> {
    let wanted: Vec<String> = wanted_bodies(table)
        .map(|operation| operation.function())
        .collect();
    let free = || bodies.keys().filter(|name| !wanted.contains(name));
    let mut findings = Vec::new();
    for operation in wanted_bodies(table) {
        let function = operation.function();
        if bodies.contains_key(&function) {
            continue;
        }
        let message = format!("`{}` has no body", operation.name());
        let help = match nearest(&function, free().map(String::as_str)) {
            Some(near) => format!("there is `fn {near}`; the name must be `{function}`"),
            None => format!("write `fn {function}` in {BODIES}/"),
        };
        findings.push(Diagnostic::new(message, operation.row.key_span()).help(help));
    }
    findings
}

/// Every body belongs to a custom row.
pub(crate) fn rowless_bodies(bodies: &BTreeMap<String, String>, table: &Table) -> Vec<Diagnostic> {
    let wanted: Vec<String> = wanted_bodies(table)
        .map(|operation| operation.function())
        .collect();
    let rowless = bodies.iter().filter(|(name, _)| !wanted.contains(name));
    let finding = |(name, place): (&String, &String)| {
        Diagnostic::new(format!("`fn {name}` is the body of no row"), 0..0)
            .note(format!("it stands at {place}"))
            .help("name it after a `custom` row, or make it private if it helps another body")
    };
    rowless.map(finding).collect()
}
