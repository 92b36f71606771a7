//! The workspace the command works on: its folder and its table.

use std::path::{Path, PathBuf};
use std::{env, fs};

use burn_op_spec::{Parsed, Table};

/// The name of the table, as messages show it.
pub(crate) const TABLE: &str = "op-spec.toml";

/// The workspace's folder.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// The folder that cargo builds into.
pub(crate) fn target_dir() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// The text of the table and what was read from it.
pub(crate) fn read_table() -> Result<(String, Parsed), String> {
    let path = root().join(TABLE);
    let source = fs::read_to_string(&path)
        .map_err(|cause| format!("cannot read `{}`: {cause}", path.display()))?;
    let parsed = burn_op_spec::parse(&source);
    Ok((source, parsed))
}

/// The table, which must be free of mistakes.
pub(crate) fn table() -> Result<Table, String> {
    let (_, parsed) = read_table()?;
    match parsed.diagnostics.len() {
        0 => Ok(parsed.table),
        mistakes => Err(format!(
            "{TABLE} has {mistakes} mistake(s): `cargo xtask check` shows them"
        )),
    }
}
