//! The workspace a command works on: its folder, its table, its upstream sources.

use std::path::{Path, PathBuf};
use std::{env, fs};

use burn_op_spec::{Parsed, Table};
use cargo_metadata::semver::Version;
use toml::de::DeTable;

use crate::outcome::Failure;

/// The name of the table, as messages show it.
pub(crate) const TABLE: &str = "op-spec.toml";

/// Where to work, unless it is here.
#[derive(clap::Args)]
pub(crate) struct Workspace {
    /// The workspace, instead of this one.
    #[arg(long, global = true, value_name = "DIR", default_value_os_t = here(), hide_default_value = true)]
    root: PathBuf,
    /// A folder with `burn-ir-VERSION` and `burn-backend-VERSION`, instead of what cargo fetches.
    #[arg(long, global = true, value_name = "DIR")]
    sources: Option<PathBuf>,
}

fn here() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_path_buf()
}

impl Workspace {
    /// The workspace that this program is part of.
    #[cfg(test)]
    pub(crate) fn here() -> Self {
        Self {
            root: here(),
            sources: None,
        }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn sources(&self) -> Option<&Path> {
        self.sources.as_deref()
    }

    /// The folder that cargo builds into.
    pub(crate) fn target_dir(&self) -> PathBuf {
        env::var_os("CARGO_TARGET_DIR").map_or_else(|| self.root.join("target"), PathBuf::from)
    }

    /// The text of a file, by its path in the workspace.
    pub(crate) fn read(&self, file: &str) -> Result<String, String> {
        let path = self.root.join(file);
        fs::read_to_string(&path)
            .map_err(|cause| format!("cannot read `{}`: {cause}", path.display()))
    }

    /// Write a file, by its path in the workspace.
    pub(crate) fn write(&self, file: &str, text: &str) -> Result<(), String> {
        let path = self.root.join(file);
        fs::write(&path, text)
            .map_err(|cause| format!("cannot write `{}`: {cause}", path.display()))
    }

    /// The text of the table and what was read from it.
    pub(crate) fn parse_table(&self) -> Result<(String, Parsed), String> {
        let source = self.read(TABLE)?;
        let parsed = burn_op_spec::parse(&source);
        Ok((source, parsed))
    }

    /// The text of the table and the table, which must be free of mistakes.
    pub(crate) fn table(&self) -> Result<(String, Table), Failure> {
        let (source, parsed) = self.parse_table()?;
        match parsed.diagnostics.is_empty() {
            true => Ok((source, parsed.table)),
            false => Err(Failure::Mistakes {
                findings: parsed.diagnostics,
                source,
            }),
        }
    }

    /// The version of the burn crates that the workspace pins.
    pub(crate) fn burn_version(&self) -> Result<Version, String> {
        let manifest = self.read("Cargo.toml")?;
        let document = DeTable::parse(&manifest)
            .map_err(|cause| format!("Cargo.toml is not TOML: {}", cause.message()))?;
        let mut keys = ["workspace", "dependencies", "burn-ir", "version"].into_iter();
        let first = keys.next().and_then(|key| document.get_ref().get(key));
        let version = keys.fold(first, |value, key| value?.get_ref().as_table()?.get(key));
        let version = version.and_then(|version| version.get_ref().as_str());
        let version =
            version.ok_or("Cargo.toml pins no version of burn-ir in [workspace.dependencies]")?;
        Version::parse(version.trim_start_matches('='))
            .map_err(|cause| format!("Cargo.toml pins burn-ir to `{version}`: {cause}"))
    }
}
