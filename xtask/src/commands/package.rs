//! `cargo xtask package`: what users of the registry would get.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::outcome::{Failure, Outcome};
use crate::output::Output;
use crate::process::{at, cargo, fresh_folder, succeed};
use crate::workspace::Workspace;

/// The publishable crates, each after those it depends on.
const CRATES: [&str; 3] = [
    "burn-op-spec",
    "burn-interpreter-macros",
    "burn-interpreter",
];
/// A user of the packed runtime, outside the workspace.
const CONSUMER: &str = "tests/downstream";
const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(crate) const EXAMPLES: &str = "Example:
  cargo xtask package";

pub(crate) fn run(workspace: &Workspace, output: &mut Output) -> Result<Outcome, Failure> {
    let packed = workspace.target_dir().join("package");
    let scratch = workspace.target_dir().join("packed");
    output.note(format_args!("packing {} …", CRATES.join(", ")));
    pack(workspace)?;
    fresh_folder(&scratch)?;
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
    let build = cargo()
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
    let mut package = cargo();
    package.args(["package", "--no-verify", "--allow-dirty", "--quiet"]);
    for name in CRATES {
        package.args(["--package", name]);
    }
    succeed(package.current_dir(workspace.root()))
}

/// The crate that is a user, with what was packed in place of the registry's.
fn write_consumer(workspace: &Workspace, scratch: &Path) -> Result<(), String> {
    let mut manifest = workspace.read(&format!("{CONSUMER}/Cargo.toml"))?;
    manifest += "\n[patch.crates-io]\n";
    for name in CRATES {
        manifest += &format!("{name} = {{ path = \"{name}-{VERSION}\" }}\n");
    }
    let program = workspace.read(&format!("{CONSUMER}/src/main.rs"))?;
    let write = |file: &str, text: &str| {
        let path = scratch.join(file);
        fs::write(&path, text).map_err(|cause| at(&path, &cause))
    };
    write("Cargo.toml", &manifest)?;
    write("src/main.rs", &program)?;
    // The versions that the workspace is tested with.
    let lock = scratch.join("Cargo.lock");
    fs::copy(workspace.root().join("Cargo.lock"), &lock).map_err(|cause| at(&lock, &cause))?;
    Ok(())
}
