//! Where the sources of a version are, which cargo fetches if they are not there.

use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::MetadataCommand;
use cargo_metadata::semver::Version;

use crate::output::Output;
use crate::process::cargo;
use crate::workspace::Workspace;

const PACKAGES: [&str; 2] = ["burn-ir", "burn-backend"];

/// The `src` folders of burn-ir and burn-backend.
pub(super) fn folders(
    workspace: &Workspace,
    version: &Version,
    output: &mut Output,
) -> Result<Vec<(&'static str, PathBuf)>, String> {
    if let Some(sources) = workspace.sources() {
        return PACKAGES
            .map(|name| unpacked(sources, name, version))
            .into_iter()
            .collect();
    }
    let manifest = match workspace.burn_version()? == *version {
        true => workspace.root().join("Cargo.toml"),
        false => fetch(workspace, &PACKAGES, version, output)?,
    };
    let metadata = MetadataCommand::new()
        .manifest_path(&manifest)
        .exec()
        .map_err(|cause| format!("cargo cannot find burn-ir {version}: {cause}"))?;
    let mut folders = Vec::new();
    for name in PACKAGES {
        let mut packages = metadata.packages.iter();
        let package = packages.find(|package| package.name == name && package.version == *version);
        let folder = package.and_then(|package| package.manifest_path.parent());
        let folder = folder.ok_or_else(|| {
            format!("the workspace does not depend on {name} {version}: see Cargo.toml")
        })?;
        folders.push((name, folder.join("src").into_std_path_buf()));
    }
    Ok(folders)
}

/// The folder of one package, which cargo fetches if need be.
pub(crate) fn folder(
    workspace: &Workspace,
    name: &'static str,
    version: &Version,
    output: &mut Output,
) -> Result<PathBuf, String> {
    if let Some(sources) = workspace.sources() {
        return Ok(sources.join(format!("{name}-{version}")));
    }
    let metadata = MetadataCommand::new()
        .manifest_path(fetch(workspace, &[name], version, output)?)
        .exec()
        .map_err(|cause| format!("cargo cannot find {name} {version}: {cause}"))?;
    let mut packages = metadata.packages.iter();
    let package = packages.find(|package| package.name == name);
    let folder = package.and_then(|package| package.manifest_path.parent());
    let folder = folder.ok_or_else(|| format!("cargo knows no {name} {version}"))?;
    Ok(folder.to_path_buf().into_std_path_buf())
}

/// The sources of a package in a folder of unpacked packages.
fn unpacked(
    sources: &Path,
    name: &'static str,
    version: &Version,
) -> Result<(&'static str, PathBuf), String> {
    let folder = sources.join(format!("{name}-{version}")).join("src");
    match folder.is_dir() {
        true => Ok((name, folder)),
        false => Err(format!(
            "`{}` has no folder `{name}-{version}/src`",
            sources.display()
        )),
    }
}

/// Let cargo fetch a version that the workspace does not use; gives the manifest that names it.
fn fetch(
    workspace: &Workspace,
    packages: &[&str],
    version: &Version,
    output: &mut Output,
) -> Result<PathBuf, String> {
    let folder = workspace.target_dir().join("xtask");
    let folder = folder.join(format!("{}-{version}", packages.join("-")));
    let manifest = folder.join("Cargo.toml");
    if folder.join("Cargo.lock").exists() {
        return Ok(manifest);
    }
    output.note(format_args!(
        "fetching {} {version} …",
        packages.join(" and ")
    ));
    write_manifest(&folder, packages, version)?;
    // cargo shows its own progress.
    let status = cargo()
        .args(["fetch", "--manifest-path"])
        .arg(&manifest)
        .status()
        .map_err(|cause| format!("cannot run cargo: {cause}"))?;
    match status.success() {
        true => Ok(manifest),
        false => Err(format!(
            "cargo cannot fetch {} {version}",
            packages.join(" and ")
        )),
    }
}

fn write_manifest(folder: &Path, packages: &[&str], version: &Version) -> Result<(), String> {
    let at = |cause| format!("`{}`: {cause}", folder.display());
    fs::create_dir_all(folder.join("src")).map_err(at)?;
    let mut manifest = String::from(
        "[workspace]\n\n[package]\nname = \"sources\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n",
    );
    for name in packages {
        manifest += &format!("{name} = {{ version = \"={version}\", default-features = false }}\n");
    }
    fs::write(folder.join("src/lib.rs"), "").map_err(at)?;
    fs::write(folder.join("Cargo.toml"), manifest).map_err(at)
}
