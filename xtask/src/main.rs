//! The maintainer's workbench.
//!
//! One file a command. Exit codes: 0 fine, 1 something was found, 2 wrong use.

mod commands {
    //! The commands, one file each.

    pub(crate) mod check;
    pub(crate) mod expand;
    pub(crate) mod package;
}
mod crosscheck;
mod upstream;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use commands::{check, expand, package};

/// The maintainer's workbench of burn-interpreter.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check the table: every mistake, with line, column and what to do.
    #[command(after_help = "Example: cargo xtask check")]
    Check,
    /// Print the code generated for an operation, a group or the whole table.
    #[command(
        after_help = "Examples: cargo xtask expand numeric.Powi.float\n          \
                            cargo xtask expand numeric.Powi\n          cargo xtask expand module"
    )]
    Expand(expand::Args),
    /// Pack the publishable crates and build what was packed outside the workspace.
    #[command(after_help = "Example: cargo xtask package")]
    Package,
}

/// What a command comes to, if nothing went wrong on the way.
enum Outcome {
    Fine,
    Found,
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Check => check::run(),
        Command::Expand(args) => expand::run(&args),
        Command::Package => package::run(),
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
