//! `cargo xtask compile-cost`: what it takes to compile the dispatcher for one backend, beside
//! burn-router's.
//!
//! Two examples of the bench have nothing in them but one dispatcher on Flex. Everything they depend
//! on is built first, and only they are timed.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::outcome::{Failure, Outcome};
use crate::output::Output;
use crate::process::cargo;
use crate::workspace::{TABLE, Workspace};

pub(crate) const EXAMPLES: &str = "Example:
  cargo xtask compile-cost";

const OURS: &str = "dispatch_ours";
const UPSTREAM: &str = "dispatch_upstream";
/// Of as many measurements the shortest counts.
const TRIES: usize = 3;

pub(crate) fn run(workspace: &Workspace, output: &mut Output) -> Result<Outcome, Failure> {
    let mut costs = Vec::new();
    for example in [OURS, UPSTREAM] {
        compile(workspace, example)?;
        let mut best = Duration::MAX;
        for _ in 0..TRIES {
            touch(&workspace.root().join(source(example)))?;
            best = best.min(compile(workspace, example)?);
        }
        costs.push((best, llvm_lines(workspace, example)?));
    }
    let mut rebuild = Duration::MAX;
    for _ in 0..TRIES {
        touch(&workspace.root().join(TABLE))?;
        rebuild = rebuild.min(compile(workspace, OURS)?);
    }
    let [(ours, our_lines), (upstream, their_lines)] = costs[..] else {
        return Err("not all dispatchers were compiled".to_owned().into());
    };
    let ratio = ours.as_secs_f64() / upstream.as_secs_f64();
    let line_ratio = our_lines as f64 / their_lines as f64;
    output.line("one dispatcher on Flex      ours  upstream  ratio");
    output.line(format_args!(
        "seconds               {:>10.1} {:>9.1} {ratio:>6.2}",
        ours.as_secs_f64(),
        upstream.as_secs_f64()
    ));
    output.line(format_args!(
        "lines of LLVM IR      {our_lines:>10} {their_lines:>9} {line_ratio:>6.2}"
    ));
    output.line(format_args!(
        "after an edit of a row{:>10.1}",
        rebuild.as_secs_f64()
    ));
    Ok(Outcome::Fine)
}

fn source(example: &str) -> String {
    format!("tests/bench/examples/{example}.rs")
}

/// Compile an example in the dev profile, as a whole, and keep its LLVM IR.
fn compile(workspace: &Workspace, example: &str) -> Result<Duration, String> {
    let start = Instant::now();
    let status = cargo()
        .args(["rustc", "--quiet", "--package", "interpreter-bench"])
        .args(["--example", example, "--", "--emit=llvm-ir,link"])
        .args(["-C", "codegen-units=1"])
        .env("CARGO_INCREMENTAL", "0")
        .current_dir(workspace.root())
        .status()
        .map_err(|cause| format!("cannot run cargo: {cause}"))?;
    match status.success() {
        true => Ok(start.elapsed()),
        false => Err(format!("the example `{example}` does not build")),
    }
}

/// Make cargo believe that the file was edited.
fn touch(file: &Path) -> Result<(), String> {
    fs::OpenOptions::new()
        .append(true)
        .open(file)
        .and_then(|file| file.set_modified(std::time::SystemTime::now()))
        .map_err(|cause| format!("cannot touch `{}`: {cause}", file.display()))
}

/// The lines in the functions of the example's newest LLVM IR.
fn llvm_lines(workspace: &Workspace, example: &str) -> Result<usize, String> {
    let folder = workspace.target_dir().join("debug/examples");
    let cannot_read =
        |cause: std::io::Error| format!("cannot read `{}`: {cause}", folder.display());
    let mut newest = None;
    for entry in fs::read_dir(&folder).map_err(cannot_read)? {
        let entry = entry.map_err(cannot_read)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(&format!("{example}-")) && name.ends_with(".ll") {
            let modified = entry.metadata().and_then(|data| data.modified());
            newest = newest.max(Some((modified.map_err(cannot_read)?, entry.path())));
        }
    }
    let (_, file) = newest.ok_or_else(|| format!("there is no LLVM IR of `{example}`"))?;
    let text = fs::read_to_string(&file).map_err(cannot_read)?;
    let mut is_inside = false;
    let lines = text.lines().filter(|line| {
        is_inside = (is_inside || line.starts_with("define")) && *line != "}";
        is_inside && !line.is_empty()
    });
    Ok(lines.count())
}
