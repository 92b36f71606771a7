//! `cargo xtask show`: what a row is, what it becomes, and what it is held against.

use std::fs;
use std::path::Path;

use burn_op_spec::{Operation, emit};

use crate::Outcome;
use crate::find::find;
use crate::upstream::Upstream;
use crate::workspace::{TABLE, Workspace};

pub(crate) const EXAMPLES: &str = "Examples:
  cargo xtask show Powi                  by variant, all kinds
  cargo xtask show numeric.Powi.float    by name
  cargo xtask show float_powi            by method";

/// Where the tests are.
const TESTS: &str = "tests/tests";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// A variant, an operation, a method or a generated function.
    name: String,
}

pub(crate) fn run(workspace: &Workspace, args: &Args) -> Result<Outcome, String> {
    let (source, table) = workspace.table()?;
    let operations = find(&table, &args.name)?;
    let upstream = Upstream::locked(workspace)?;
    for (position, operation) in operations.into_iter().enumerate() {
        if position > 0 {
            println!();
        }
        show(operation, &source, &upstream)?;
        show_tests(operation, workspace);
    }
    Ok(Outcome::Fine)
}

fn show(operation: Operation<'_>, source: &str, upstream: &Upstream) -> Result<(), String> {
    let row = operation.row;
    println!("# {}", operation.name());
    println!("\n## Row, {TABLE}:{}\n", row.line);
    println!("{}", source.lines().nth(row.line - 1).unwrap_or_default());
    let body = row.body.as_ref();
    if let Some(name) = body.and_then(|body| body.signature.ir_struct.as_ref())
        && let Some(ir_struct) = upstream.structs.get(name.as_str())
    {
        println!(
            "\n## IR struct, {}\n\n{}",
            ir_struct.place,
            ir_struct.text()
        );
    }
    if let Some(name) = operation.method()
        && let Some(method) = upstream.methods.get(&name)
    {
        println!("\n## Backend method, {}\n\n{}", method.place, method.text());
    }
    let code = emit::executor(operation);
    match code.is_empty() {
        true => println!("\n## Generated function\n\nnone: the operation is not supported"),
        false => println!("\n## Generated function\n\n{}", pretty(&code.to_string())?),
    }
    Ok(())
}

/// The tests that name the operation.
fn show_tests(operation: Operation<'_>, workspace: &Workspace) {
    let name = operation.name();
    let mut found = Vec::new();
    search(
        &workspace.root().join(TESTS),
        TESTS,
        &format!("\"{name}\""),
        &mut found,
    );
    println!("\n## Tests\n");
    match found.is_empty() {
        true => println!("no test names `{name}`"),
        false => found.iter().for_each(|place| println!("{place}")),
    }
}

/// The lines of Rust files below `folder` that contain `text`.
fn search(folder: &Path, shown: &str, text: &str, found: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy())
            .unwrap_or_default();
        let shown = format!("{shown}/{name}");
        if path.is_dir() {
            search(&path, &shown, text, found);
        } else if path.extension().is_some_and(|extension| extension == "rs")
            && let Ok(source) = fs::read_to_string(&path)
        {
            let lines = source
                .lines()
                .enumerate()
                .filter(|(_, line)| line.contains(text));
            found.extend(lines.map(|(line, _)| format!("{shown}:{}", line + 1)));
        }
    }
}

fn pretty(code: &str) -> Result<String, String> {
    let file = syn::parse_file(code)
        .map_err(|cause| format!("the generated code is not Rust ({cause}):\n{code}"))?;
    Ok(prettyplease::unparse(&file).trim_end().into())
}
