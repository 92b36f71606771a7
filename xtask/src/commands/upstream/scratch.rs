//! The workspace that the other commands of `upstream` build: burn-router with our interpreter inside,
//! burn-remote from the registry, the digits example on remote devices, and a program about sessions.
//! Below it stands another one with that program and burn-router as it is.

use std::fs;
use std::path::{Path, PathBuf};

use toml_edit::{DocumentMut, InlineTable, Item, Table, Value};

use super::patch;
use crate::output::Output;
use crate::process::{at, fresh_folder, write_if_changed};
use crate::upstream;
use crate::workspace::Workspace;

/// The folder of the workspace with burn-router as it is.
pub(super) const PLAIN: &str = "plain";

/// The package of the program about sessions.
pub(super) const SESSION: &str = "session";

/// Make the workspace, and return its folder. What is there already and has not changed is left
/// alone, so that cargo does not build it again.
pub(super) fn prepare(workspace: &Workspace, output: &mut Output) -> Result<PathBuf, String> {
    let version = workspace.burn_version()?;
    let root = workspace.target_dir().join("upstream");
    let staged = root.join("staged");
    fresh_folder(&staged)?;

    patch::write(workspace, &staged.join("burn-router"), output)?;
    let source = upstream::folder(workspace, "burn-remote", &version, output)?;
    write_remote(&source, &staged.join("burn-remote"), &version.to_string())?;
    let digits = staged.join("digits");
    patch::copy(
        &workspace.root().join("interpreter/examples/digits"),
        &digits,
    )?;
    write_if_changed(
        &digits.join("Cargo.toml"),
        &digits_manifest(&version.to_string()),
    )?;
    let session = staged.join(SESSION);
    patch::copy(&workspace.root().join("tests/remote"), &session)?;
    write_if_changed(
        &session.join("Cargo.toml"),
        &session_manifest(&version.to_string()),
    )?;
    patch::copy(&session, &staged.join(PLAIN).join(SESSION))?;
    for package in ["burn-router", "burn-remote", "digits", SESSION] {
        settle(&staged.join(package), &root.join(package))?;
    }
    let plain = root.join(PLAIN);
    fs::create_dir_all(&plain).map_err(|cause| at(&plain, &cause))?;
    settle(&staged.join(PLAIN).join(SESSION), &plain.join(SESSION))?;
    let [router, remote] = ["burn-router", "burn-remote"].map(|package| root.join(package));
    let patched = patch::patch_lines(&[("burn-router", &router), ("burn-remote", &remote)]);
    write_workspace(
        &root,
        &["burn-remote", "digits", SESSION],
        &patched,
        &source,
    )?;
    write_workspace(&plain, &[SESSION], "", &source)?;
    Ok(root)
}

/// Write a workspace's manifest, and lock the versions that burn-remote itself was tested with.
fn write_workspace(
    root: &Path,
    members: &[&str],
    patched: &str,
    remote: &Path,
) -> Result<(), String> {
    let manifest = format!("[workspace]\nresolver = \"3\"\nmembers = {members:?}\n\n{patched}");
    write_if_changed(&root.join("Cargo.toml"), &manifest)?;
    let lock = root.join("Cargo.lock");
    if !lock.exists() {
        let tested = remote.join("Cargo.lock");
        fs::copy(&tested, &lock).map_err(|cause| at(&tested, &cause))?;
    }
    Ok(())
}

/// Copy burn-remote, with the dev-dependencies that packing it took away.
fn write_remote(source: &Path, out: &Path, version: &str) -> Result<(), String> {
    patch::copy(source, out)?;
    let parse = |file: &str| {
        let path = source.join(file);
        let text = fs::read_to_string(&path).map_err(|cause| at(&path, &cause))?;
        text.parse::<DocumentMut>()
            .map_err(|cause| at(&path, &cause))
    };
    let (original, mut manifest) = (parse("Cargo.toml.orig")?, parse("Cargo.toml")?);
    let stripped = original.get("dev-dependencies").and_then(Item::as_table);
    let present = manifest
        .entry("dev-dependencies")
        .or_insert(Item::Table(Table::new()))
        .as_table_mut()
        .ok_or("burn-remote's [dev-dependencies] are not a table")?;
    for (name, item) in stripped.into_iter().flatten() {
        let Some(dependency) = item
            .as_inline_table()
            .filter(|item| item.contains_key("path"))
        else {
            continue;
        };
        let mut restored = InlineTable::new();
        restored.insert("version", Value::from(format!("={version}")));
        if let Some(features) = dependency.get("features") {
            restored.insert("features", features.clone());
        }
        present.insert(name, Item::Value(Value::InlineTable(restored)));
    }
    let path = out.join("Cargo.toml");
    fs::write(&path, manifest.to_string()).map_err(|cause| at(&path, &cause))
}

/// The example's data and model, with the program that trains on remote devices.
fn digits_manifest(version: &str) -> String {
    let burn = [
        "autodiff",
        "flex",
        "optim",
        "remote-server",
        "remote-websocket",
        "std",
    ];
    format!(
        "[package]\nname = \"digits-remote\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
         autoexamples = false\n\n\
         [[bin]]\nname = \"digits-remote\"\npath = \"remote.rs\"\n\n\
         [dependencies]\n\
         anyhow = \"1\"\n\
         burn = {{ version = \"={version}\", default-features = false, features = {burn:?} }}\n\
         burn-router = \"={version}\"\n\
         burn-flex = \"={version}\"\n\
         csv = \"1\"\n\
         flate2 = \"1\"\n\
         indicatif = \"0.18\"\n\
         rand = {{ version = \"0.9\", default-features = false, features = [\"std_rng\"] }}\n\
         tokio = {{ version = \"1\", features = [\"io-util\", \"macros\", \"rt-multi-thread\"] }}\n"
    )
}

/// The program about sessions.
fn session_manifest(version: &str) -> String {
    let burn = ["flex", "remote-server", "remote-websocket", "std"];
    format!(
        "[package]\nname = \"{SESSION}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [[bin]]\nname = \"{SESSION}\"\npath = \"session.rs\"\n\n\
         [dependencies]\n\
         anyhow = \"1\"\n\
         burn = {{ version = \"={version}\", default-features = false, features = {burn:?} }}\n\
         burn-router = \"={version}\"\n\
         burn-flex = \"={version}\"\n\
         tokio = {{ version = \"1\", features = [\"rt-multi-thread\"] }}\n"
    )
}

/// Put `staged` in the place of `present`.
fn settle(staged: &Path, present: &Path) -> Result<(), String> {
    if files(staged)? == files(present).unwrap_or_default() {
        return Ok(());
    }
    fresh_folder(present)?;
    fs::remove_dir(present).map_err(|cause| at(present, &cause))?;
    fs::rename(staged, present).map_err(|cause| at(staged, &cause))
}

/// The files below a folder, by their path in it.
fn files(folder: &Path) -> Result<Vec<(PathBuf, Vec<u8>)>, String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).map_err(|cause| at(&next, &cause))? {
            let path = entry.map_err(|cause| at(&next, &cause))?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let bytes = fs::read(&path).map_err(|cause| at(&path, &cause))?;
                let name = path.strip_prefix(folder).unwrap_or(&path).to_path_buf();
                found.push((name, bytes));
            }
        }
    }
    found.sort();
    Ok(found)
}
