//! `cargo xtask upstream train`: the digits, trained on two server processes.

use super::scratch;
use crate::Outcome;
use crate::process::{cargo, succeed};
use crate::workspace::Workspace;

pub(crate) const EXAMPLES: &str = "Example:
  cargo xtask upstream train";

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome, String> {
    let root = scratch::prepare(workspace)?;
    eprintln!("building client and server with burn-interpreter inside …");
    succeed(
        cargo()
            .args(["run", "--package", "digits-remote", "--target-dir"])
            .arg(workspace.target_dir())
            .current_dir(root),
    )?;
    Ok(Outcome::Fine)
}
