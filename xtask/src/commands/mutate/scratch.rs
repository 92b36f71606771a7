//! The workspace in which the mutants live: a copy of the runtime whose generated functions can be
//! told at run time which mistake to make, and the program that runs the cases.
//!
//! One build holds all mutants. What the compiler rejects is taken out first, by the lines of its
//! errors.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use burn_op_spec::emit;
use cargo_metadata::Message;
use cargo_metadata::diagnostic::DiagnosticLevel;
use quote::format_ident;
use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, Value};

use super::mistakes::Mutant;
use crate::output::Output;
use crate::process::{at, cargo, write_if_changed};
use crate::workspace::Workspace;

/// The line of the runtime that is replaced by the generated code.
const MACRO: &str = "burn_interpreter_macros::operations!";
/// The program's name.
const PROGRAM: &str = "mutants";

/// The file of the mutants, one a line.
const MUTANTS: &str = "interpreter/src/operations/mutants.rs";

pub(super) struct Scratch<'w> {
    workspace: &'w Workspace,
    root: PathBuf,
}

/// What the compiler makes of the mutants.
enum Compiled {
    /// The program that runs them.
    Program(PathBuf),
    /// Those that have errors.
    Rejected(BTreeSet<usize>),
}

impl<'w> Scratch<'w> {
    /// Write the workspace, without any mutant.
    pub(super) fn new(workspace: &'w Workspace) -> Result<Self, String> {
        let root = workspace.target_dir().join("mutants");
        let scratch = Self { workspace, root };
        scratch.write_manifests()?;
        scratch.write_runtime()?;
        scratch.write("Cargo.lock", &workspace.read("Cargo.lock")?)?;
        Ok(scratch)
    }

    /// The members: the runtime, and the harness of the tests with the program that runs mutants.
    fn write_manifests(&self) -> Result<(), String> {
        let read = |file: &str| -> Result<DocumentMut, String> {
            let text = self.workspace.read(file)?;
            text.parse().map_err(|cause| format!("{file}: {cause}"))
        };
        let here = |path: &str| self.workspace.root().join(path).display().to_string();

        let mut root = read("Cargo.toml")?;
        let table = root
            .get_mut("workspace")
            .ok_or("Cargo.toml has no [workspace]")?;
        table["members"] = Item::Value(Value::Array(Array::from_iter(["interpreter", "tests"])));
        let dependencies = &mut table["dependencies"];
        for (name, path) in [
            ("burn-interpreter-macros", "interpreter-macros"),
            ("burn-op-spec", "interpreter-macros/spec"),
        ] {
            dependencies[name]["path"] = Item::Value(here(path).into());
        }
        self.write("Cargo.toml", &root.to_string())?;
        self.write(
            "interpreter/Cargo.toml",
            &self.workspace.read("interpreter/Cargo.toml")?,
        )?;

        let mut tests = read("tests/Cargo.toml")?;
        tests.remove("lints");
        tests["lib"]["path"] = Item::Value(here("tests/src/lib.rs").into());
        tests["package"]["autotests"] = Item::Value(false.into());
        let mut program = Table::new();
        program["name"] = Item::Value(PROGRAM.into());
        program["path"] = Item::Value(format!("{PROGRAM}.rs").into());
        program["harness"] = Item::Value(false.into());
        tests["test"] = Item::ArrayOfTables(ArrayOfTables::from_iter([program]));
        self.write("tests/Cargo.toml", &tests.to_string())?;
        let program = format!(
            "#![allow(warnings)]\n\
             #[path = {:?}]\nmod differential;\nuse differential::{{all_cases, cases}};\n\
             fn main() {{\n    interpreter_tests::mutants::serve(\
             &all_cases(), burn_interpreter::operations::select);\n}}\n",
            here("tests/tests/differential/main.rs")
        );
        self.write(&format!("tests/{PROGRAM}.rs"), &program)
    }

    /// The runtime's source, with a module where the macro was.
    fn write_runtime(&self) -> Result<(), String> {
        let source = self.workspace.root().join("interpreter/src");
        for file in files(&source)? {
            let text = fs::read_to_string(source.join(&file)).map_err(|cause| at(&file, &cause))?;
            let text = match file == Path::new("lib.rs") {
                true => without_macro(&text)?,
                false => text,
            };
            self.write(&format!("interpreter/src/{}", file.display()), &text)?;
        }
        Ok(())
    }

    /// Build the program with all mutants that compile. Returns it and the indices of those that
    /// the compiler rejected.
    pub(super) fn build(
        &self,
        table: &burn_op_spec::Table,
        mutants: &[Mutant],
        output: &mut Output,
    ) -> Result<(PathBuf, BTreeSet<usize>), String> {
        let mut rejected = BTreeSet::new();
        loop {
            self.write_operations(table, mutants, &rejected)?;
            output.note(format_args!(
                "compiling {} mutants …",
                mutants.len() - rejected.len()
            ));
            match self.compile()? {
                Compiled::Program(program) => return Ok((program, rejected)),
                Compiled::Rejected(found) => rejected.extend(found),
            }
        }
    }

    /// The generated code, each function split in the row's own and a choice among its mutants.
    fn write_operations(
        &self,
        table: &burn_op_spec::Table,
        mutants: &[Mutant],
        rejected: &BTreeSet<usize>,
    ) -> Result<(), String> {
        let mut file: syn::File = syn::parse2(emit::operations(table))
            .map_err(|cause| format!("the generated code is not Rust: {cause}"))?;
        let mut chosen = String::new();
        for operation in table.operations() {
            let name = operation.function();
            let function = file.items.iter_mut().find_map(|item| match item {
                syn::Item::Fn(function) if function.sig.ident == name => Some(function),
                _ => None,
            });
            let Some(function) = function else { continue };
            let row = operation.name();
            let own = (0..mutants.len()).filter(|index| mutants[*index].row == row);
            let own: Vec<_> = own.filter(|index| !rejected.contains(index)).collect();
            if own.is_empty() {
                continue;
            }
            function.sig.ident = format_ident!("{name}_of_the_row");
            let ir_struct = operation.row.body.as_ref();
            let ir_struct = ir_struct.and_then(|body| body.signature.ir_struct.as_ref());
            let ir_struct = ir_struct.map_or("()", |ir_struct| ir_struct.as_str());
            let _ = write!(
                chosen,
                "fn {name}<B: BackendIr>(ctx: &mut Context<B>, op: &{ir_struct}) -> Outcome {{ match selected() {{"
            );
            for index in own {
                let _ = write!(chosen, " {index} => mutants::mutant_{index}(ctx, op),");
            }
            let _ = writeln!(chosen, " _ => {name}_of_the_row(ctx, op) }} }}");
        }
        let select = "mod mutants;\n\
            static SELECTED: ::core::sync::atomic::AtomicUsize = ::core::sync::atomic::AtomicUsize::new(usize::MAX);\n\
            pub fn select(mutant: usize) { SELECTED.store(mutant, ::core::sync::atomic::Ordering::Relaxed) }\n\
            fn selected() -> usize { SELECTED.load(::core::sync::atomic::Ordering::Relaxed) }\n";
        let operations = prettyplease::unparse(&file);
        self.write(
            "interpreter/src/operations.rs",
            &format!("{operations}\n{select}{chosen}"),
        )?;

        // One line a mutant, whether it is there or not: its line is its index.
        let mut lines = String::new();
        for (index, mutant) in mutants.iter().enumerate() {
            if !rejected.contains(&index) {
                lines += &mutant.plan.function(&format!("mutant_{index}"));
            }
            lines.push('\n');
        }
        self.write(MUTANTS, &format!("{lines}use super::*;\n"))
    }

    fn compile(&self) -> Result<Compiled, String> {
        let mut build = cargo();
        build.args([
            "test",
            "--no-run",
            "--package",
            "interpreter-tests",
            "--test",
            PROGRAM,
        ]);
        build.args(["--message-format", "json", "--target-dir"]);
        build
            .arg(self.workspace.target_dir())
            .current_dir(&self.root);
        let output = build
            .output()
            .map_err(|cause| format!("cannot run {build:?}: {cause}"))?;
        let mut program = None;
        let mut rejected = BTreeSet::new();
        let mut elsewhere = String::new();
        for message in Message::parse_stream(output.stdout.as_slice()) {
            match message {
                Ok(Message::CompilerArtifact(artifact)) if artifact.target.name == PROGRAM => {
                    program = artifact.executable;
                }
                Ok(Message::CompilerMessage(message)) => {
                    let diagnostic = message.message;
                    let mut spans = diagnostic.spans.iter();
                    match spans.find(|span| span.is_primary) {
                        _ if diagnostic.level != DiagnosticLevel::Error => {}
                        Some(span) if span.file_name.ends_with(MUTANTS) => {
                            rejected.insert(span.line_start - 1);
                        }
                        _ => elsewhere += &diagnostic.rendered.unwrap_or_default(),
                    }
                }
                _ => {}
            }
        }
        match program {
            Some(program) if output.status.success() => Ok(Compiled::Program(program.into())),
            _ if !rejected.is_empty() => Ok(Compiled::Rejected(rejected)),
            _ => Err(format!(
                "the copy of the runtime does not compile:\n{elsewhere}{}",
                String::from_utf8_lossy(&output.stderr)
            )),
        }
    }

    fn write(&self, file: &str, text: &str) -> Result<(), String> {
        write_if_changed(&self.root.join(file), text)
    }
}

/// The runtime's root with a module in the place of the macro.
fn without_macro(library: &str) -> Result<String, String> {
    let mut lines: Vec<_> = library.lines().collect();
    let at = lines.iter().position(|line| line.starts_with(MACRO));
    let at = at.ok_or_else(|| format!("interpreter/src/lib.rs has no line `{MACRO}(…)`"))?;
    lines[at] = "pub mod operations;";
    let attributes = lines
        .iter()
        .position(|line| line.starts_with("#!["))
        .unwrap_or(0);
    lines.insert(attributes, "#![allow(warnings)]");
    Ok(lines.join("\n") + "\n")
}

/// The files below a folder, by their path in it.
fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).map_err(|cause| at(&next, &cause))? {
            let path = entry.map_err(|cause| at(&next, &cause))?.path();
            match path.is_dir() {
                true => folders.push(path),
                false => found.push(path.strip_prefix(folder).unwrap_or(&path).to_path_buf()),
            }
        }
    }
    Ok(found)
}
