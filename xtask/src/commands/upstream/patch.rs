//! `cargo xtask upstream patch`: a burn-router whose interpreter is ours.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use toml_edit::{DocumentMut, InlineTable, Item, Value};

use crate::outcome::Outcome;
use crate::output::Output;
use crate::process::{at, fresh_folder};
use crate::upstream;
use crate::workspace::Workspace;

pub(crate) const EXAMPLES: &str = "Example:
  cargo xtask upstream patch --out ../burn-router";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Where to write the copy: a new folder, or an earlier copy, which is replaced.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// The modules that ours take the place of, with the public names that each must have.
const MODULES: [(&str, &[&str]); 3] = [
    ("custom_op", &["CustomOpHandler", "CustomOpRegistry"]),
    ("graph", &["Graph"]),
    // Nothing of burn-router hands out an `InterpreterContext`: it needs no replacement.
    ("interpreter", &["InterpreterContext", "TensorInterpreter"]),
];
/// What the crate offers in their place.
const REEXPORT: &str =
    "pub use burn_interpreter::{CustomOpHandler, CustomOpRegistry, Graph, TensorInterpreter};";

pub(crate) fn run(
    workspace: &Workspace,
    args: &Args,
    output: &mut Output,
) -> Result<Outcome, String> {
    let version = workspace.burn_version()?;
    write(workspace, &args.out, output)?;
    let folder = fs::canonicalize(&args.out).map_err(|cause| at(&args.out, &cause))?;
    output.line(format_args!(
        "burn-router {version} with burn-interpreter inside; for the Cargo.toml of your workspace:\n"
    ));
    output.line(patch_lines(&[("burn-router", &folder)]));
    Ok(Outcome::Fine)
}

/// The lines that make a workspace use these packages instead of the registry's.
pub(super) fn patch_lines(packages: &[(&str, &Path)]) -> String {
    let mut lines = String::from("[patch.crates-io]\n");
    for (name, folder) in packages {
        let path = Value::from(folder.display().to_string());
        lines += &format!("{name} = {{ path ={} }}\n", path.decorated(" ", ""));
    }
    lines
}

/// Copy the pinned burn-router to `out`, with our interpreter in place of its own.
pub(super) fn write(workspace: &Workspace, out: &Path, output: &mut Output) -> Result<(), String> {
    let version = workspace.burn_version()?;
    let unknown = |what: String| {
        format!(
            "burn-router {version} is not what this command knows: {what}\n\
             its source has changed: look at what `interpreter`, `graph` and `custom_op` are there, \
             and teach xtask/src/commands/upstream/patch.rs"
        )
    };
    let source = upstream::folder(workspace, "burn-router", &version, output)?;
    let library = read(&source.join("src/lib.rs"))?;
    let library = without_modules(&library).map_err(unknown)?;
    for (module, known) in MODULES {
        let text = read(&source.join(format!("src/{module}.rs"))).map_err(unknown)?;
        let names =
            public_names(&text).map_err(|cause| unknown(format!("src/{module}.rs: {cause}")))?;
        let known: BTreeSet<_> = known.iter().map(ToString::to_string).collect();
        if names != known {
            return Err(unknown(format!(
                "src/{module}.rs offers {}, and not {}",
                list(&names),
                list(&known)
            )));
        }
    }
    let interpreter = workspace.root().join("interpreter");
    let interpreter = fs::canonicalize(&interpreter).map_err(|cause| at(&interpreter, &cause))?;
    let manifest = read(&source.join("Cargo.toml"))?;
    let manifest = with_interpreter(&manifest, &interpreter).map_err(unknown)?;

    if out.exists() && !is_copy(out)? {
        return Err(format!(
            "`{}` is neither empty nor an earlier copy of burn-router: choose another folder",
            out.display()
        ));
    }
    fresh_folder(out)?;
    copy(&source, out)?;
    for (module, _) in MODULES {
        let file = out.join(format!("src/{module}.rs"));
        fs::remove_file(&file).map_err(|cause| at(&file, &cause))?;
    }
    for (file, text) in [("src/lib.rs", library), ("Cargo.toml", manifest)] {
        let path = out.join(file);
        fs::write(&path, text).map_err(|cause| at(&path, &cause))?;
    }
    Ok(())
}

/// The library's root without the modules and their re-exports, and with ours.
fn without_modules(library: &str) -> Result<String, String> {
    let mut lines: Vec<&str> = library.lines().collect();
    for (module, _) in MODULES {
        for line in [format!("mod {module};"), format!("pub use {module}::*;")] {
            let before = lines.len();
            lines.retain(|present| *present != line);
            match before - lines.len() {
                1 => {}
                count => {
                    return Err(format!(
                        "src/lib.rs has {count} lines `{line}`, and not one"
                    ));
                }
            }
        }
    }
    lines.push(REEXPORT);
    Ok(lines.join("\n") + "\n")
}

/// The names of a module that other crates see.
fn public_names(module: &str) -> Result<BTreeSet<String>, String> {
    use syn::{Item, Visibility};

    let file = syn::parse_file(module).map_err(|cause| cause.to_string())?;
    let name = |item: &Item| {
        let (visibility, name) = match item {
            Item::Const(item) => (&item.vis, item.ident.to_string()),
            Item::Enum(item) => (&item.vis, item.ident.to_string()),
            Item::Fn(item) => (&item.vis, item.sig.ident.to_string()),
            Item::Mod(item) => (&item.vis, item.ident.to_string()),
            Item::Static(item) => (&item.vis, item.ident.to_string()),
            Item::Struct(item) => (&item.vis, item.ident.to_string()),
            Item::Trait(item) => (&item.vis, item.ident.to_string()),
            Item::Type(item) => (&item.vis, item.ident.to_string()),
            Item::Union(item) => (&item.vis, item.ident.to_string()),
            Item::Use(item) => (&item.vis, "a re-export".to_string()),
            _ => return None,
        };
        matches!(visibility, Visibility::Public(_)).then_some(name)
    };
    Ok(file.items.iter().filter_map(name).collect())
}

/// The manifest with a dependency on our interpreter, whose `std` goes with burn-router's.
fn with_interpreter(manifest: &str, interpreter: &Path) -> Result<String, String> {
    let mut manifest: DocumentMut = manifest
        .parse()
        .map_err(|cause| format!("Cargo.toml is not TOML: {cause}"))?;
    let std = manifest
        .get_mut("features")
        .and_then(|features| features.get_mut("std"))
        .and_then(Item::as_array_mut)
        .ok_or("Cargo.toml has no feature `std`")?;
    std.push("burn-interpreter/std");
    let dependencies = manifest
        .get_mut("dependencies")
        .and_then(Item::as_table_mut)
        .ok_or("Cargo.toml has no [dependencies]")?;
    let mut dependency = InlineTable::new();
    dependency.insert("path", interpreter.display().to_string().into());
    dependency.insert("default-features", false.into());
    dependency.insert("features", Value::from_iter(["full"]));
    dependencies.insert(
        "burn-interpreter",
        Item::Value(Value::InlineTable(dependency)),
    );
    Ok(manifest.to_string())
}

/// Whether `folder` is empty, or a burn-router with burn-interpreter among its dependencies.
fn is_copy(folder: &Path) -> Result<bool, String> {
    let mut entries = fs::read_dir(folder).map_err(|cause| at(folder, &cause))?;
    if entries.next().is_none() {
        return Ok(true);
    }
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
    let manifest: DocumentMut = manifest.parse().unwrap_or_default();
    let name = manifest
        .get("package")
        .and_then(|package| package.get("name"));
    let dependencies = manifest.get("dependencies");
    Ok(name.and_then(Item::as_str) == Some("burn-router")
        && dependencies.is_some_and(|table| table.get("burn-interpreter").is_some()))
}

/// Copy the files of a package: without its lock, and without what cargo keeps for itself.
pub(super) fn copy(from: &Path, to: &Path) -> Result<(), String> {
    fs::create_dir_all(to).map_err(|cause| at(to, &cause))?;
    for entry in fs::read_dir(from).map_err(|cause| at(from, &cause))? {
        let entry = entry.map_err(|cause| at(from, &cause))?;
        let name = entry.file_name();
        let shown = name.to_string_lossy();
        if shown.starts_with('.') || shown == "Cargo.lock" || shown == "Cargo.toml.orig" {
            continue;
        }
        let (from, to) = (entry.path(), to.join(&name));
        match from.is_dir() {
            true => copy(&from, &to)?,
            // The text and not the file: what the registry holds may be read only.
            false => fs::read(&from)
                .and_then(|bytes| fs::write(&to, bytes))
                .map_err(|cause| at(&from, &cause))?,
        }
    }
    Ok(())
}

fn read(file: &Path) -> Result<String, String> {
    fs::read_to_string(file).map_err(|cause| at(file, &cause))
}

fn list(names: &BTreeSet<String>) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIBRARY: &str = "mod a;\nmod custom_op;\nmod graph;\nmod interpreter;\n\
        pub use a::*;\npub use custom_op::*;\npub use graph::*;\npub use interpreter::*;\n";

    #[test]
    fn three_modules_go_and_ours_come() {
        let expected = format!("mod a;\npub use a::*;\n{REEXPORT}\n");
        assert_eq!(without_modules(LIBRARY), Ok(expected));
    }

    #[test]
    fn a_library_of_another_form_is_refused() {
        let without = LIBRARY.replace("pub use graph::*;", "pub use graph::Graph;");
        let twice = LIBRARY.replace("mod a;", "mod graph;");
        assert_eq!(
            without_modules(&without),
            Err("src/lib.rs has 0 lines `pub use graph::*;`, and not one".into())
        );
        assert_eq!(
            without_modules(&twice),
            Err("src/lib.rs has 2 lines `mod graph;`, and not one".into())
        );
    }

    #[test]
    fn only_what_other_crates_see_counts() {
        let module = "pub struct A; struct B; pub(crate) fn c() {} pub use d::E; impl A {}";
        let names = public_names(module).expect("it is Rust");
        assert_eq!(Vec::from_iter(names), ["A", "a re-export"]);
    }

    #[test]
    fn the_manifest_depends_on_ours_with_its_std() {
        let manifest = "[features]\nstd = [\"a/std\"]\n\n[dependencies]\n";
        let manifest = with_interpreter(manifest, Path::new("/ours")).expect("it is a manifest");
        assert!(
            manifest.contains(r#"std = ["a/std", "burn-interpreter/std"]"#),
            "{manifest}"
        );
        let dependency = r#"burn-interpreter = { path = "/ours", default-features = false, features = ["full"] }"#;
        assert!(manifest.contains(dependency), "{manifest}");
        assert!(with_interpreter("[dependencies]\n", Path::new("/ours")).is_err());
    }
}
