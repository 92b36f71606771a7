//! `cargo xtask upstream train`: the digits, trained on two server processes.

use super::scratch;
use crate::outcome::Outcome;
use crate::output::Output;
use crate::process::{cargo, succeed};
use crate::workspace::Workspace;

pub(crate) const EXAMPLES: &str = "Example:
  cargo xtask upstream train";

pub(crate) fn run(workspace: &Workspace, output: &mut Output) -> Result<Outcome, String> {
    let root = scratch::prepare(workspace, output)?;
    output.note("building client and server with burn-interpreter inside …");
    succeed(
        cargo()
            .args(["run", "--package", "digits-remote", "--target-dir"])
            .arg(workspace.target_dir())
            .current_dir(root),
    )?;
    Ok(Outcome::Fine)
}
