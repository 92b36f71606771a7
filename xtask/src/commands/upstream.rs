//! `cargo xtask upstream`: Burn's own remote engine on our interpreter.
//!
//! burn-remote's server names burn-router's `TensorInterpreter` as a concrete type. A copy of
//! burn-router that re-exports ours in its place makes every user of burn-router a user of ours.
//! The copy is made from the source that cargo has: this repository holds no line of it.

mod patch;
mod scratch;
mod session;
mod test;
mod train;

use crate::outcome::{Failure, Outcome};
use crate::output::Output;
use crate::workspace::Workspace;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Copy burn-router with our interpreter inside, and print the lines that put it to use.
    #[command(after_help = patch::EXAMPLES)]
    Patch(patch::Args),
    /// Run burn-remote's own tests with our interpreter inside.
    #[command(after_help = test::EXAMPLES)]
    Test(test::Args),
    /// Send a bad operation to burn-remote's server, with our interpreter inside and without.
    #[command(after_help = session::EXAMPLES)]
    Session,
    /// Train the digits classifier on two server processes with our interpreter inside.
    #[command(after_help = train::EXAMPLES)]
    Train,
}

pub(crate) const EXAMPLES: &str = "Examples:
  cargo xtask upstream patch --out ../burn-router
  cargo xtask upstream test
  cargo xtask upstream session
  cargo xtask upstream train";

pub(crate) fn run(
    workspace: &Workspace,
    args: &Args,
    output: &mut Output,
) -> Result<Outcome, Failure> {
    let outcome = match &args.command {
        Command::Patch(args) => patch::run(workspace, args, output),
        Command::Test(args) => test::run(workspace, args, output),
        Command::Session => session::run(workspace, output),
        Command::Train => train::run(workspace, output),
    };
    Ok(outcome?)
}
