//! What a command says: its result on stdout, everything beside it on stderr.
//!
//! Colours reach terminals only. A reader that leaves early, as `head` does, is no error: the
//! command does its work all the same.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};

/// Names of what follows.
pub(crate) const HEADING: Style = Style::new().bold();
/// What went wrong.
pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
/// What a person must look at.
pub(crate) const ATTENTION: Style = AnsiColor::Yellow.on_default().bold();
/// What comes, and what goes.
pub(crate) const ADDED: Style = AnsiColor::Green.on_default();
pub(crate) const REMOVED: Style = AnsiColor::Red.on_default();

/// Where a command writes to.
pub(crate) struct Output {
    result: AutoStream<io::Stdout>,
    notes: AutoStream<io::Stderr>,
    /// The first write that failed for another reason than that nobody reads.
    failed: Option<io::Error>,
}

impl Output {
    /// The streams of this process.
    pub(crate) fn new() -> Self {
        Self {
            result: AutoStream::auto(io::stdout()),
            notes: AutoStream::auto(io::stderr()),
            failed: None,
        }
    }

    /// A line of the result.
    pub(crate) fn line(&mut self, text: impl Display) {
        let written = writeln!(self.result, "{text}");
        self.keep(written);
    }

    /// A line beside the result: progress, counts, what is left to do.
    pub(crate) fn note(&mut self, text: impl Display) {
        let written = writeln!(self.notes, "{text}");
        self.keep(written);
    }

    /// What went wrong, beside the result.
    pub(crate) fn error(&mut self, message: impl Display) {
        self.note(format_args!("{ERROR}error{ERROR:#}: {message}"));
    }

    /// What a person must decide, beside the result.
    pub(crate) fn doubt(&mut self, doubt: impl Display) {
        self.note(format_args!("{ATTENTION}to decide{ATTENTION:#}: {doubt}"));
    }

    /// Whether everything was written that somebody reads.
    pub(crate) fn finish(mut self) -> Result<(), String> {
        let flushed = self.result.flush();
        self.keep(flushed);
        match self.failed {
            None => Ok(()),
            Some(cause) => Err(format!("cannot write the output: {cause}")),
        }
    }

    fn keep(&mut self, written: io::Result<()>) {
        if let Err(cause) = written
            && cause.kind() != ErrorKind::BrokenPipe
        {
            self.failed.get_or_insert(cause);
        }
    }
}
