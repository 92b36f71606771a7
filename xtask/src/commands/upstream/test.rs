//! `cargo xtask upstream test`: burn-remote's own tests with our interpreter inside.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cargo_metadata::Message;
use indicatif::{ProgressBar, ProgressStyle};

use super::scratch;
use crate::outcome::Outcome;
use crate::output::Output;
use crate::process::cargo;
use crate::workspace::Workspace;

pub(crate) const EXAMPLES: &str = "Examples:
  cargo xtask upstream test
  cargo xtask upstream test --suite unit --suite websocket";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// A suite to run; all of them unless one is named.
    #[arg(long = "suite", value_name = "SUITE")]
    suites: Vec<Suite>,
}

/// The suites of burn-remote 0.22.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Suite {
    /// The tests of the library.
    Unit,
    /// Clients and servers over WebSocket.
    Websocket,
    /// Clients and servers over Iroh.
    Iroh,
}

impl Suite {
    const ALL: [Suite; 3] = [Suite::Unit, Suite::Websocket, Suite::Iroh];

    fn name(self) -> &'static str {
        match self {
            Suite::Unit => "unit",
            Suite::Websocket => "websocket",
            Suite::Iroh => "iroh",
        }
    }

    /// The target that cargo builds it as.
    fn target(self) -> &'static str {
        match self {
            Suite::Unit => "burn_remote",
            other => other.name(),
        }
    }

    /// How many tests it has: fewer would prove less.
    fn tests(self) -> usize {
        match self {
            Suite::Unit => 44,
            Suite::Websocket => 20,
            Suite::Iroh => 27,
        }
    }
}

/// The one test that must fail, and why.
const DIFFERENCE: (Suite, &str, &str) = (
    Suite::Unit,
    "server::worker::tests::a_panicking_task_still_tears_its_session_down",
    "it expects that reading a tensor nobody wrote panics, which ends the session;\n\
     our interpreter answers that read with an error, and the session lives",
);

/// What a suite came to: each test with its verdict, and what was printed besides.
#[derive(Default)]
struct Run {
    verdicts: BTreeMap<String, String>,
    output: Vec<String>,
    is_complete: bool,
}

impl Run {
    /// Take a line of the test program's output; whether it was a verdict.
    fn take(&mut self, line: &str) -> bool {
        self.is_complete |= line.starts_with("test result: ");
        let verdict = line
            .strip_prefix("test ")
            .and_then(|line| line.rsplit_once(" ... "));
        match verdict {
            Some((name, verdict)) => {
                let name = name.trim_end_matches(" - should panic");
                self.verdicts.insert(name.into(), verdict.into());
                true
            }
            None => {
                self.output.push(line.into());
                false
            }
        }
    }

    fn count(&self, verdict: &str) -> usize {
        let verdicts = self.verdicts.values();
        verdicts.filter(|found| *found == verdict).count()
    }

    /// Whatever is not as it must be.
    fn surprises(&self, suite: Suite) -> Vec<String> {
        let name = suite.name();
        let mut surprises = Vec::new();
        if !self.is_complete {
            surprises.push(format!(
                "{name}: the test program ended before its tests did"
            ));
        }
        if self.verdicts.len() != suite.tests() {
            let (expected, found) = (suite.tests(), self.verdicts.len());
            surprises.push(format!("{name}: {found} tests instead of {expected}"));
        }
        for (test, verdict) in &self.verdicts {
            let must = if is_difference(suite, test) {
                "FAILED"
            } else {
                "ok"
            };
            if verdict != must {
                surprises.push(format!(
                    "{name}: {test} must be `{must}` and is `{verdict}`"
                ));
            }
        }
        if suite == DIFFERENCE.0 && !self.verdicts.contains_key(DIFFERENCE.1) {
            surprises.push(format!("{name}: {} was not run", DIFFERENCE.1));
        }
        surprises
    }
}

fn is_difference(suite: Suite, test: &str) -> bool {
    (suite, test) == (DIFFERENCE.0, DIFFERENCE.1)
}

pub(crate) fn run(
    workspace: &Workspace,
    args: &Args,
    output: &mut Output,
) -> Result<Outcome, String> {
    let suites = Suite::ALL.into_iter();
    let suites = suites.filter(|suite| args.suites.is_empty() || args.suites.contains(suite));
    let root = scratch::prepare(workspace, output)?;
    let programs = build(workspace, &root, output)?;
    let mut runs = Vec::new();
    for suite in suites {
        let program = programs.get(suite.target());
        let program =
            program.ok_or_else(|| format!("cargo built no tests `{}`", suite.target()))?;
        let folder = root.join("burn-remote");
        runs.push((suite, execute(suite, program, &folder, output)?));
    }

    output.line("\nsuite      tests  passed  failed");
    for (suite, run) in &runs {
        let (name, tests) = (suite.name(), run.verdicts.len());
        let (passed, failed) = (run.count("ok"), run.count("FAILED"));
        output.line(format_args!(
            "{name:<9}  {tests:>5}  {passed:>6}  {failed:>6}"
        ));
    }
    let surprises: Vec<_> = runs
        .iter()
        .flat_map(|(suite, run)| run.surprises(*suite))
        .collect();
    if surprises.is_empty() {
        if runs.iter().any(|(suite, _)| *suite == DIFFERENCE.0) {
            output.line(format_args!(
                "\nthe one expected difference: {}\n{}",
                DIFFERENCE.1, DIFFERENCE.2
            ));
        }
        return Ok(Outcome::Fine);
    }
    for (suite, run) in &runs {
        if !run.surprises(*suite).is_empty() {
            output.note(format_args!(
                "\n== {}\n{}",
                suite.name(),
                run.output.join("\n")
            ));
        }
    }
    surprises.iter().for_each(|surprise| output.error(surprise));
    Ok(Outcome::Found)
}

/// Build the test programs, by the name of their target.
fn build(
    workspace: &Workspace,
    root: &Path,
    output: &mut Output,
) -> Result<BTreeMap<String, PathBuf>, String> {
    let failed = |cause: &dyn std::fmt::Display| format!("cargo cannot build burn-remote: {cause}");
    output.note("building burn-remote's tests with burn-interpreter inside …");
    let mut build = cargo()
        .args(["test", "--no-run", "--package", "burn-remote"])
        .args([
            "--message-format",
            "json-render-diagnostics",
            "--target-dir",
        ])
        .arg(workspace.target_dir())
        .current_dir(root)
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|cause| failed(&cause))?;
    let mut programs = BTreeMap::new();
    if let Some(stdout) = build.stdout.take() {
        for message in Message::parse_stream(BufReader::new(stdout)) {
            if let Message::CompilerArtifact(artifact) = message.map_err(|cause| failed(&cause))?
                && let Some(program) = artifact.executable
                && artifact.profile.test
            {
                programs.insert(artifact.target.name, program.into_std_path_buf());
            }
        }
    }
    match build.wait() {
        Ok(status) if status.success() => Ok(programs),
        Ok(status) => Err(failed(&status)),
        Err(cause) => Err(failed(&cause)),
    }
}

/// Run one suite, and show how far it is.
fn execute(
    suite: Suite,
    program: &Path,
    folder: &Path,
    output: &mut Output,
) -> Result<Run, String> {
    let failed = |cause| format!("cannot run `{}`: {cause}", program.display());
    let progress = ProgressBar::new(suite.tests() as u64).with_style(style());
    progress.set_message(suite.name());
    if progress.is_hidden() {
        output.note(format_args!(
            "running {} tests: {}",
            suite.tests(),
            suite.name()
        ));
    }
    let mut tests = Command::new(program)
        .current_dir(folder)
        .env("RUST_LOG", "off")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(failed)?;
    let mut run = Run::default();
    if let Some(stdout) = tests.stdout.take() {
        for line in BufReader::new(stdout).lines() {
            if run.take(&line.map_err(failed)?) {
                progress.inc(1);
            }
        }
    }
    tests.wait().map_err(failed)?;
    progress.finish_and_clear();
    Ok(run)
}

fn style() -> ProgressStyle {
    let template = "{msg:9} {bar:40} {pos}/{len} tests, {elapsed}";
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_of(output: &str) -> Run {
        let mut run = Run::default();
        for line in output.lines() {
            run.take(line);
        }
        run
    }

    /// A run of the suite in which each test passed but those that `verdict` says.
    fn output(suite: Suite, verdict: fn(usize) -> &'static str) -> String {
        let lines = (0..suite.tests()).map(|test| format!("test t{test} ... {}\n", verdict(test)));
        lines.collect::<String>() + "test result: ok. 0 passed"
    }

    #[test]
    fn all_passed_is_no_surprise() {
        let run = run_of(&output(Suite::Websocket, |_| "ok"));
        assert_eq!(run.surprises(Suite::Websocket), [""; 0]);
        assert_eq!(run.count("ok"), Suite::Websocket.tests());
    }

    #[test]
    fn a_failure_an_end_and_a_missing_test_are_surprises() {
        let failed = output(Suite::Iroh, |test| if test == 3 { "FAILED" } else { "ok" });
        assert_eq!(
            run_of(&failed).surprises(Suite::Iroh),
            ["iroh: t3 must be `ok` and is `FAILED`"]
        );
        assert_eq!(
            run_of("test t0 ... ok").surprises(Suite::Websocket),
            [
                "websocket: the test program ended before its tests did",
                "websocket: 1 tests instead of 20"
            ]
        );
    }

    #[test]
    fn the_expected_difference_must_fail() {
        let others =
            output(Suite::Unit, |_| "ok").replace("test t0 ", &format!("test {} ", DIFFERENCE.1));
        let passed = run_of(&others);
        assert_eq!(
            passed.surprises(Suite::Unit),
            [format!(
                "unit: {} must be `FAILED` and is `ok`",
                DIFFERENCE.1
            )]
        );
        let failed = run_of(&others.replace(
            &format!("test {} ... ok", DIFFERENCE.1),
            &format!("test {} ... FAILED", DIFFERENCE.1),
        ));
        assert_eq!(failed.surprises(Suite::Unit), [""; 0]);
        let absent = run_of(&output(Suite::Unit, |_| "ok"));
        assert_eq!(
            absent.surprises(Suite::Unit),
            [format!("unit: {} was not run", DIFFERENCE.1)]
        );
    }
}
