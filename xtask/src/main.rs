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
    pub(crate) mod new_op;
    pub(crate) mod package;
    pub(crate) mod show;
    pub(crate) mod stack;
    pub(crate) mod upgrade;
}
mod crosscheck;
mod find;
mod infer;
mod report;
mod upstream;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use commands::{
    bench, check, compile_cost, diff, docs, list, new_op, package, show, stack, upgrade,
};
use workspace::Workspace;

/// The maintainer's workbench of burn-interpreter.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version)]
struct Cli {
    #[command(flatten)]
    workspace: Workspace,
    #[command(subcommand)]
    command: Command,
}

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
    /// Write a row for a variant that has none, and say what is left to do.
    #[command(after_help = new_op::EXAMPLES)]
    NewOp(new_op::Args),
    /// Show what another version of burn-ir and burn-backend changes, and which rows.
    #[command(after_help = diff::EXAMPLES)]
    Diff(diff::Args),
    /// Write the table for another version, as far as a tool can.
    #[command(after_help = upgrade::EXAMPLES)]
    Upgrade(upgrade::Args),
    /// Write the files that are made from the table: OPS.md and the counts in the README.
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
}

/// What a command comes to, if nothing went wrong on the way.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Fine,
    Found,
}

fn main() -> ExitCode {
    let Cli { workspace, command } = Cli::parse();
    let outcome = match command {
        Command::Check(args) => check::run(&workspace, &args),
        Command::List(args) => list::run(&workspace, &args),
        Command::Show(args) => show::run(&workspace, &args),
        Command::NewOp(args) => new_op::run(&workspace, &args),
        Command::Diff(args) => diff::run(&workspace, &args),
        Command::Upgrade(args) => upgrade::run(&workspace, &args),
        Command::Docs(args) => docs::run(&workspace, &args),
        Command::Bench(args) => bench::run(&workspace, &args),
        Command::CompileCost => compile_cost::run(&workspace),
        Command::Stack => stack::run(&workspace),
        Command::Package => package::run(&workspace),
    };
    match outcome {
        Ok(Outcome::Fine) => ExitCode::SUCCESS,
        Ok(Outcome::Found) => ExitCode::from(1),
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}
