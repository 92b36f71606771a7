//! `cargo xtask show`: what a row is, what it becomes, and what it is held against.

use std::collections::BTreeMap;

use burn_op_spec::{Handling, Operation, emit};

use crate::bodies::bodies;
use crate::find::find;
use crate::mentions::mentions;
use crate::outcome::{Failure, Outcome};
use crate::output::{HEADING, Output};
use crate::upstream::Upstream;
use crate::workspace::{TABLE, Workspace};

pub(crate) const EXAMPLES: &str = "Examples:
  cargo xtask show Powi                  by variant, all kinds
  cargo xtask show numeric.Powi.float    by name
  cargo xtask show float_powi            by method";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// A variant, an operation, a method or a generated function.
    name: String,
}

pub(crate) fn run(
    workspace: &Workspace,
    args: &Args,
    output: &mut Output,
) -> Result<Outcome, Failure> {
    let (source, table) = workspace.table()?;
    let mut operations = find(&table, &args.name)?;
    let upstream = Upstream::locked(workspace, output)?;
    let bodies = bodies(workspace)?;
    operations.sort_by_key(|operation| operation.row.line);
    for (position, of_row) in operations
        .chunk_by(|a, b| a.row.line == b.row.line)
        .enumerate()
    {
        if position > 0 {
            output.line("");
        }
        show_row(of_row[0], &source, &upstream, output);
        for operation in of_row {
            show_operation(*operation, &upstream, &bodies, output)?;
        }
        heading(output, "Tests");
        let mentions = mentions(workspace, of_row)?;
        mentions.iter().for_each(|mention| output.line(mention));
        if mentions.is_empty() {
            output.line("none");
        }
    }
    Ok(Outcome::Fine)
}

fn heading(output: &mut Output, text: &str) {
    output.line(format_args!("\n{HEADING}## {text}{HEADING:#}\n"));
}

/// The row and its struct, which all its operations share.
fn show_row(operation: Operation<'_>, source: &str, upstream: &Upstream, output: &mut Output) {
    let row = operation.row;
    let (group, variant) = (&*operation.group.name, &*row.variant);
    output.line(format_args!("{HEADING}# {group}.{variant}{HEADING:#}"));
    heading(output, &format!("Row, {TABLE}:{}", row.line));
    output.line(source.lines().nth(row.line - 1).unwrap_or_default());
    let body = row.body.as_ref();
    if let Some(name) = body.and_then(|body| body.signature.ir_struct.as_ref())
        && let Some(ir_struct) = upstream.structs.get(name.as_str())
    {
        heading(output, &format!("IR struct, {}", ir_struct.place));
        output.line(ir_struct.text());
    }
}

/// The method and the function of one kind.
fn show_operation(
    operation: Operation<'_>,
    upstream: &Upstream,
    bodies: &BTreeMap<String, String>,
    output: &mut Output,
) -> Result<(), String> {
    let name = operation.name();
    let methods = [
        ("Backend method", operation.method()),
        (
            "Backend method for quantized tensors",
            operation.quantized_method(),
        ),
    ];
    for (what, method) in methods {
        let Some(method) = method.and_then(|name| upstream.methods.get(&name)) else {
            continue;
        };
        let (owner, place) = (method.owner(), &method.place);
        heading(output, &format!("{what} of {name}: {owner}, {place}"));
        output.line(method.text());
    }
    heading(output, &format!("Generated function of {name}"));
    let code = emit::executor(operation);
    match code.is_empty() {
        true => output.line("none: the operation answers with an error"),
        false => output.line(pretty(&code.to_string())?),
    }
    let handling = operation.row.body.as_ref().map(|body| &body.handling);
    if let Some(Handling::Custom(_)) = handling {
        heading(output, &format!("Body of {name}, written by hand"));
        let function = operation.function();
        match bodies.get(&function) {
            Some(place) => output.line(format_args!("{place}: fn {function}")),
            None => output.line(format_args!("`fn {function}` is missing")),
        }
    }
    Ok(())
}

fn pretty(code: &str) -> Result<String, String> {
    let file = syn::parse_file(code)
        .map_err(|cause| format!("the generated code is not Rust ({cause}):\n{code}"))?;
    Ok(prettyplease::unparse(&file).trim_end().into())
}
