//! The maintainer's workbench.
//!
//! One file a command. Exit codes: 0 fine, 1 something was found, 2 wrong use.

mod commands {
    //! The commands, one file each.

    pub(crate) mod bench;
    pub(crate) mod check;
    pub(crate) mod compile_cost;
    pub(crate) mod diff;
    pub(crate) mod docs;
    pub(crate) mod list;
    pub(crate) mod mutate;
    pub(crate) mod new_op;
    pub(crate) mod package;
    pub(crate) mod show;
    pub(crate) mod stack;
    pub(crate) mod upgrade;
    pub(crate) mod upstream;
}
mod bodies;
mod checks;
mod crosscheck;
mod edit;
mod find;
mod infer;
mod mentions;
mod outcome;
mod output;
mod process;
mod report;
mod schema;
mod stub;
mod upstream;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use commands::{
    bench, check, compile_cost, diff, docs, list, new_op, package, show, stack, upgrade,
};
use outcome::exit_code;
use output::Output;
use workspace::Workspace;

/// The maintainer's workbench of burn-interpreter.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version, after_help = EXAMPLES)]
struct Cli {
    #[command(flatten)]
    workspace: Workspace,
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  cargo xtask show Powi            what a row becomes
  cargo xtask new-op Fmod          begin a row
  cargo xtask check                what is wrong with the table
  cargo xtask check --help         more of a command

Exit codes: 0 fine, 1 something was found, 2 wrong use or something is missing.";

#[derive(Subcommand)]
enum Command {
    /// Check the table, by itself and beside the sources of burn-ir and burn-backend.
    #[command(after_help = check::EXAMPLES)]
    Check(check::Args),
    /// List the rows of the table.
    #[command(after_help = list::EXAMPLES)]
    List(list::Args),
    /// Show everything about an operation: its row, its IR struct, its method, its code, its tests.
    #[command(after_help = show::EXAMPLES)]
    Show(show::Args),
    /// Write a row for a variant that has none and a stub of its case, and say what is left to do.
    #[command(after_help = new_op::EXAMPLES)]
    NewOp(new_op::Args),
    /// Show what another version of burn-ir and burn-backend changes, and which rows.
    #[command(after_help = diff::EXAMPLES)]
    Diff(diff::Args),
    /// Write the table for another version, as far as a tool can.
    #[command(after_help = upgrade::EXAMPLES)]
    Upgrade(upgrade::Args),
    /// Write the files that are made from the table: OPS.md, the counts in the README, the schema.
    #[command(after_help = docs::EXAMPLES)]
    Docs(docs::Args),
    /// Count what the interpreter adds on top of the backend, beside burn-router's.
    #[command(after_help = bench::EXAMPLES)]
    Bench(bench::Args),
    /// Measure what it takes to compile the dispatcher for one backend, beside burn-router's.
    #[command(after_help = compile_cost::EXAMPLES)]
    CompileCost,
    /// Show the largest frames of the interpreter's functions in an unoptimised build.
    #[command(after_help = stack::EXAMPLES)]
    Stack,
    /// Pack the publishable crates and build what was packed outside the workspace.
    #[command(after_help = package::EXAMPLES)]
    Package,
    /// Get every row wrong in every plausible way, and see whether its cases notice.
    #[command(after_help = commands::mutate::EXAMPLES)]
    Mutate(commands::mutate::Args),
    /// Put our interpreter inside burn-router, and run Burn's own remote engine on it.
    #[command(after_help = commands::upstream::EXAMPLES)]
    Upstream(commands::upstream::Args),
}

fn main() -> ExitCode {
    let Cli { workspace, command } = Cli::parse();
    let mut output = Output::new();
    let result = match command {
        Command::Check(args) => check::run(&workspace, &args, &mut output),
        Command::List(args) => list::run(&workspace, &args, &mut output),
        Command::Show(args) => show::run(&workspace, &args, &mut output),
        Command::NewOp(args) => new_op::run(&workspace, &args, &mut output),
        Command::Diff(args) => diff::run(&workspace, &args, &mut output),
        Command::Upgrade(args) => upgrade::run(&workspace, &args, &mut output),
        Command::Docs(args) => docs::run(&workspace, &args, &mut output),
        Command::Bench(args) => bench::run(&workspace, &args, &mut output),
        Command::CompileCost => compile_cost::run(&workspace, &mut output),
        Command::Stack => stack::run(&workspace, &mut output),
        Command::Package => package::run(&workspace, &mut output),
        Command::Mutate(args) => commands::mutate::run(&workspace, &args, &mut output),
        Command::Upstream(args) => commands::upstream::run(&workspace, &args, &mut output),
    };
    let code = exit_code(result, &mut output);
    match output.finish() {
        Ok(()) => code,
        Err(message) => exit_code(Err(message.into()), &mut Output::new()),
    }
}
