//! What a command comes to.

use std::process::ExitCode;

use burn_op_spec::Diagnostic;

use crate::output::Output;
use crate::workspace::TABLE;

/// What a command comes to if it could do its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Nothing to say against.
    Fine,
    /// It found something that a person must look at.
    Found,
}

/// Why a command could not do its work.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The table has mistakes.
    Mistakes {
        findings: Vec<Diagnostic>,
        source: String,
    },
    /// Wrong use, or something that the command needs is not there.
    Use(String),
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self::Use(message)
    }
}

/// The exit code: 0 fine, 1 found something, 2 wrong use.
pub(crate) fn exit_code(result: Result<Outcome, Failure>, output: &mut Output) -> ExitCode {
    match result {
        Ok(Outcome::Fine) => ExitCode::SUCCESS,
        Ok(Outcome::Found) => ExitCode::from(1),
        Err(Failure::Mistakes { findings, source }) => {
            for finding in &findings {
                output.note(finding.render_styled(TABLE, &source) + "\n");
            }
            output.error(format_args!(
                "{TABLE} has {} mistake(s); nothing else was done",
                findings.len()
            ));
            ExitCode::from(1)
        }
        Err(Failure::Use(message)) => {
            output.error(message);
            ExitCode::from(2)
        }
    }
}
