//! `cargo xtask upstream session`: what a bad operation costs a session of burn-remote's server.
//!
//! The same program is built with our interpreter inside and with burn-router's, which is the reason
//! for ours: there the session is lost. The program checks both.

use super::scratch;
use crate::outcome::Outcome;
use crate::output::Output;
use crate::process::{cargo, succeed};
use crate::workspace::Workspace;

pub(crate) const EXAMPLES: &str = "Example:
  cargo xtask upstream session";

pub(crate) fn run(workspace: &Workspace, output: &mut Output) -> Result<Outcome, String> {
    let patched = scratch::prepare(workspace, output)?;
    let plain = patched.join(scratch::PLAIN);
    for (root, interpreter) in [(patched, "burn-interpreter"), (plain, "burn-router's own")] {
        output.note(format_args!(
            "building client and server with {interpreter} inside …"
        ));
        succeed(
            cargo()
                .args(["run", "--package", scratch::SESSION, "--target-dir"])
                .arg(workspace.target_dir())
                .current_dir(root),
        )?;
    }
    Ok(Outcome::Fine)
}
