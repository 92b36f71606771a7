//! `cargo xtask package`: what users of the registry would get.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::outcome::{Failure, Outcome};
use crate::output::Output;
use crate::workspace::{Workspace, cargo};

/// The publishable crates, each after those it depends on.
const CRATES: [&str; 3] = [
    "burn-op-spec",
    "burn-interpreter-macros",
    "burn-interpreter",
];
const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(crate) const EXAMPLES: &str = "Example:
  cargo xtask package";

pub(crate) fn run(workspace: &Workspace, output: &mut Output) -> Result<Outcome, Failure> {
    let packed = workspace.target_dir().join("package");
    let scratch = workspace.target_dir().join("packed");
    output.note(format_args!("packing {} …", CRATES.join(", ")));
    pack(workspace)?;
    if scratch.exists() {
        fs::remove_dir_all(&scratch).map_err(|cause| at(&scratch, &cause))?;
    }
    fs::create_dir_all(scratch.join("src")).map_err(|cause| at(&scratch, &cause))?;
    for name in CRATES {
        let archive = packed.join(format!("{name}-{VERSION}.crate"));
        succeed(
            Command::new("tar")
                .arg("xzf")
                .arg(archive)
                .arg("-C")
                .arg(&scratch),
        )?;
    }
    write_consumer(workspace, &scratch)?;
    // A folder without the workspace above it: nothing but the packed files can be found.
    output.note("building what was packed …");
    let build = Command::new(cargo())
        .args(["run", "--target-dir"])
        .arg(workspace.target_dir())
        .current_dir(&scratch)
        .status();
    match build {
        Ok(status) if status.success() => {
            output.line(format_args!(
                "packed and built outside the workspace: {}",
                CRATES.join(", ")
            ));
            Ok(Outcome::Fine)
        }
        Ok(_) => Ok(Outcome::Found),
        Err(cause) => Err(format!("cannot run cargo: {cause}").into()),
    }
}

fn pack(workspace: &Workspace) -> Result<(), String> {
    let mut package = Command::new(cargo());
    package.args(["package", "--no-verify", "--allow-dirty", "--quiet"]);
    for name in CRATES {
        package.args(["--package", name]);
    }
    succeed(package.current_dir(workspace.root()))
}

/// A program that uses the packed runtime, with the packed macro and library in place of the
/// registry's.
fn write_consumer(workspace: &Workspace, scratch: &Path) -> Result<(), String> {
    let mut manifest = format!(
        "[workspace]\n\n\
         [package]\n\
         name = \"packed\"\n\
         version = \"0.0.0\"\n\
         edition = \"2024\"\n\n\
         [dependencies]\n\
         burn-interpreter = {{ path = \"burn-interpreter-{VERSION}\" }}\n\n\
         [patch.crates-io]\n"
    );
    for name in &CRATES[..2] {
        manifest += &format!("{name} = {{ path = \"{name}-{VERSION}\" }}\n");
    }
    let program = "fn main() {\n    \
                   println!(\"{} operations\", burn_interpreter::OPERATIONS.len());\n}\n";
    let write = |file: &str, text: &str| {
        let path = scratch.join(file);
        fs::write(&path, text).map_err(|cause| at(&path, &cause))
    };
    write("Cargo.toml", &manifest)?;
    write("src/main.rs", program)?;
    // The versions that the workspace is tested with.
    let lock = scratch.join("Cargo.lock");
    fs::copy(workspace.root().join("Cargo.lock"), &lock).map_err(|cause| at(&lock, &cause))?;
    Ok(())
}

fn succeed(command: &mut Command) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{command:?} ended with {status}")),
        Err(cause) => Err(format!("cannot run {command:?}: {cause}")),
    }
}

fn at(path: &Path, cause: &dyn std::fmt::Display) -> String {
    format!("`{}`: {cause}", path.display())
}
