//! Running other programs, cargo most of all.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// The cargo that runs this program.
pub(crate) fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Run `command` to its end; an error if it fails.
pub(crate) fn succeed(command: &mut Command) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{command:?} ended with {status}")),
        Err(cause) => Err(format!("cannot run {command:?}: {cause}")),
    }
}

/// An error about a file.
pub(crate) fn at(path: &Path, cause: &dyn std::fmt::Display) -> String {
    format!("`{}`: {cause}", path.display())
}

/// An empty folder, whatever was there.
pub(crate) fn fresh_folder(path: &Path) -> Result<(), String> {
    if path.exists() {
        fs::remove_dir_all(path).map_err(|cause| at(path, &cause))?;
    }
    fs::create_dir_all(path).map_err(|cause| at(path, &cause))
}

/// Write a file, unless it says that already: cargo builds again what is newer.
pub(crate) fn write_if_changed(path: &Path, text: &str) -> Result<(), String> {
    if fs::read_to_string(path).is_ok_and(|present| present == text) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|cause| at(folder, &cause))?;
    }
    fs::write(path, text).map_err(|cause| at(path, &cause))
}
