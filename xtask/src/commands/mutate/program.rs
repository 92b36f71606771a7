//! The program that runs the cases. A mutant may take it down or keep it for ever: either kills
//! the mutant, and the program is started again.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

/// How long the cases of one row may take; they need milliseconds.
const LIMIT: Duration = Duration::from_secs(60);

/// What became of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Killed,
    Survived,
}

pub(super) struct Program {
    path: PathBuf,
    running: Option<Running>,
}

struct Running {
    process: Child,
    questions: ChildStdin,
    answers: Receiver<String>,
}

impl Program {
    pub(super) fn new(path: &Path) -> Self {
        Self {
            path: path.into(),
            running: None,
        }
    }

    /// Whether the cases of `row` kill the mutant.
    pub(super) fn ask(&mut self, mutant: usize, row: &str) -> Result<Verdict, String> {
        let mut running = match self.running.take() {
            Some(running) => running,
            None => self.start()?,
        };
        let asked = writeln!(running.questions, "{mutant} {row}");
        let answer = asked
            .ok()
            .and_then(|()| running.answers.recv_timeout(LIMIT).ok());
        let verdict = match answer.as_deref().and_then(|answer| answer.split_once(' ')) {
            Some((_, "killed")) => Verdict::Killed,
            Some((_, "survived")) => Verdict::Survived,
            Some((_, other)) => return Err(format!("the program answers `{other}`")),
            None => {
                running.end();
                return Ok(Verdict::Killed);
            }
        };
        self.running = Some(running);
        Ok(verdict)
    }

    fn start(&self) -> Result<Running, String> {
        let failed = |cause: &dyn std::fmt::Display| {
            format!("cannot run `{}`: {cause}", self.path.display())
        };
        let mut process = Command::new(&self.path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|cause| failed(&cause))?;
        let questions = process.stdin.take().ok_or_else(|| failed(&"no input"))?;
        let output = process.stdout.take().ok_or_else(|| failed(&"no output"))?;
        let (sender, answers) = channel();
        thread::spawn(move || {
            let lines = BufReader::new(output).lines().map_while(Result::ok);
            lines
                .map(|line| sender.send(line))
                .take_while(Result::is_ok)
                .for_each(drop);
        });
        Ok(Running {
            process,
            questions,
            answers,
        })
    }
}

impl Running {
    /// End the process, which may have ended by itself.
    fn end(mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            running.end();
        }
    }
}
