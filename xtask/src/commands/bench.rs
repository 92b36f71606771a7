//! `cargo xtask bench`: what the interpreter adds on top of the backend, in instructions.
//!
//! An instruction count repeats itself where a time does not. valgrind counts the benchmark program
//! at two lengths; the difference is free of its start-up. What the same calls cost without an
//! interpreter, and what building the operations costs, is taken off.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::outcome::{Failure, Outcome};
use crate::output::Output;
use crate::process::cargo;
use crate::workspace::Workspace;

pub(crate) const EXAMPLES: &str = "Examples:
  cargo xtask bench
  cargo xtask bench --case binary --case conv2d
  cargo xtask bench --ndarray
  cargo xtask bench --time";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only this case; may be given again.
    #[arg(long = "case", value_name = "CASE")]
    cases: Vec<String>,
    /// Measure on NdArray too.
    #[arg(long)]
    ndarray: bool,
    /// Measure wall time instead, with divan.
    #[arg(long)]
    time: bool,
}

/// The operations of a graph that is replayed.
const GRAPH: usize = 10;

/// The cases of one operation of fixed arity, without lists and windows.
const BASIC: [&str; 5] = ["unary", "binary", "scalar", "comparison", "reduction"];

/// The largest ratio of our overhead to upstream's.
fn bound(case: &str, mode: &str) -> f64 {
    match (mode, BASIC.contains(&case)) {
        ("stream", true) => 0.5,
        ("stream", false) => 0.8,
        _ => 0.15,
    }
}

/// How much the cost of an operation may differ with the number of tensors or of operations.
const SPREAD: f64 = 1.2;

/// glibc keeps all freed chunks of up to 1 KiB by their size. Otherwise what a call to it takes depends
/// on the history of the heap: hundreds of instructions where models are replayed, in any variant.
const ALLOCATOR: [(&str, &str); 1] = [("GLIBC_TUNABLES", "glibc.malloc.tcache_count=65535")];

pub(crate) fn run(
    workspace: &Workspace,
    args: &Args,
    output: &mut Output,
) -> Result<Outcome, Failure> {
    if args.time {
        return Ok(time(workspace, args)?);
    }
    let bench = Bench::build(workspace, args.ndarray)?;
    let known = bench.cases()?;
    let is_known = |case: &&String| !known.contains(case);
    if let Some(case) = args.cases.iter().find(is_known) {
        return Err(format!("there is no case `{case}`: {}", known.join(", ")).into());
    }
    let is_chosen = |case: &&String| args.cases.is_empty() || args.cases.contains(case);
    let backends: &[&str] = if args.ndarray {
        &["flex", "ndarray"]
    } else {
        &["flex"]
    };
    let mut is_within = true;
    output.line("overhead in instructions an operation; direct: the call itself\n");
    for backend in backends {
        output.line(format_args!(
            "{:<8} {:<12} {:<7} {:>8} {:>9} {:>7} {:>6} {:>6}",
            "backend", "case", "mode", "direct", "upstream", "ours", "ratio", "bound"
        ));
        for case in known.iter().filter(is_chosen) {
            for mode in ["stream", "replay"] {
                let row = bench.row(backend, case, mode)?;
                is_within &= row.ratio() <= bound(case, mode);
                row.print(backend, case, mode, output);
            }
        }
        output.line("");
    }
    if args.cases.is_empty() {
        is_within &= bench.linear(output)?;
    }
    Ok(if is_within {
        Outcome::Fine
    } else {
        Outcome::Found
    })
}

/// What an operation costs beside the call itself.
struct Row {
    direct: f64,
    upstream: f64,
    ours: f64,
}

impl Row {
    fn ratio(&self) -> f64 {
        self.ours / self.upstream
    }

    fn print(&self, backend: &str, case: &str, mode: &str, output: &mut Output) {
        let bound = bound(case, mode);
        let verdict = if self.ratio() <= bound { "" } else { "  over" };
        output.line(format_args!(
            "{backend:<8} {case:<12} {mode:<7} {:>8.0} {:>9.0} {:>7.0} {:>6.2} {bound:>6.2}{verdict}",
            self.direct,
            self.upstream,
            self.ours,
            self.ratio(),
        ));
    }
}

/// The benchmark program.
struct Bench {
    program: PathBuf,
    scratch: PathBuf,
}

impl Bench {
    fn build(workspace: &Workspace, ndarray: bool) -> Result<Self, String> {
        let mut build = cargo();
        build.args(["build", "--release", "--package", "interpreter-bench"]);
        if ndarray {
            build.args(["--features", "ndarray"]);
        }
        let status = build.current_dir(workspace.root()).status();
        if !status
            .map_err(|cause| cannot_run("cargo", &cause))?
            .success()
        {
            return Err("the benchmark program does not build".into());
        }
        let scratch = workspace.target_dir().join("bench");
        fs::create_dir_all(&scratch)
            .map_err(|cause| format!("cannot create `{}`: {cause}", scratch.display()))?;
        Ok(Self {
            program: workspace.target_dir().join("release/interpreter-bench"),
            scratch,
        })
    }

    fn cases(&self) -> Result<Vec<String>, String> {
        Ok(self.output(&[])?.lines().map(str::to_string).collect())
    }

    fn output(&self, args: &[&str]) -> Result<String, String> {
        let output = Command::new(&self.program).args(args).output();
        let output = output.map_err(|cause| cannot_run("interpreter-bench", &cause))?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn row(&self, backend: &str, case: &str, mode: &str) -> Result<Row, String> {
        let direct = self.cost("direct", backend, case, "stream", 0)?;
        let mode = match mode {
            "stream" => mode.to_string(),
            _ => GRAPH.to_string(),
        };
        let build = self.cost("build", backend, case, &mode, 0)?;
        let over = |variant| -> Result<f64, String> {
            Ok(self.cost(variant, backend, case, &mode, 0)? - direct - build)
        };
        Ok(Row {
            direct,
            upstream: over("upstream")?,
            ours: over("ours")?,
        })
    }

    /// The cost of an operation does not depend on how many tensors or operations there are.
    fn linear(&self, output: &mut Output) -> Result<bool, String> {
        let live = [10, 1_000, 100_000].map(|live| {
            let cost = self.cost("ours", "flex", "binary", "stream", live)?;
            Ok((format!("{live} tensors"), cost))
        });
        let graphs = ["10", "100", "10000"].map(|ops| {
            let cost = self.cost("ours", "flex", "binary", ops, 0)?;
            Ok((format!("a graph of {ops}"), cost))
        });
        let mut is_within = true;
        for series in [live, graphs] {
            let series = series.into_iter().collect::<Result<Vec<_>, String>>()?;
            let first = series.first().map_or(1.0, |(_, cost)| *cost);
            for (what, cost) in series {
                let ratio = cost / first;
                let holds = (1.0 / SPREAD..=SPREAD).contains(&ratio);
                is_within &= holds;
                let verdict = if holds { "" } else { "  not linear" };
                output.line(format_args!(
                    "{what:<20} {cost:>8.0} an operation {ratio:>6.2}{verdict}"
                ));
            }
        }
        Ok(is_within)
    }

    /// The instructions of an operation.
    fn cost(
        &self,
        variant: &str,
        backend: &str,
        case: &str,
        mode: &str,
        live: u64,
    ) -> Result<f64, String> {
        let ops = self.output(&["operations", backend, case, mode, "0"])?;
        let ops: usize = ops
            .trim()
            .parse()
            .map_err(|_| format!("`interpreter-bench operations` printed `{ops}`"))?;
        // As many operations in any mode.
        let rounds = (400 / ops).max(2);
        let count = |rounds: usize| {
            let (rounds, live) = (rounds.to_string(), live.to_string());
            self.count(&[variant, backend, case, mode, &rounds, &live])
        };
        let (short, long) = (count(rounds)?, count(2 * rounds)?);
        Ok((long as f64 - short as f64) / (rounds * ops) as f64)
    }

    /// The instructions of a run of the program.
    fn count(&self, args: &[&str]) -> Result<u64, String> {
        let out = self.scratch.join("callgrind.out");
        let status = Command::new("valgrind")
            .args(["--tool=callgrind", "--quiet"])
            .arg(format!("--callgrind-out-file={}", out.display()))
            .arg(&self.program)
            .args(args)
            .envs(ALLOCATOR)
            .stdout(Stdio::null())
            .status()
            .map_err(|cause| cannot_run("valgrind", &cause))?;
        if !status.success() {
            return Err(format!("`interpreter-bench {}` failed", args.join(" ")));
        }
        let text = fs::read_to_string(&out)
            .map_err(|cause| format!("cannot read `{}`: {cause}", out.display()))?;
        let totals = text.lines().find_map(|line| {
            line.strip_prefix("summary: ")
                .or_else(|| line.strip_prefix("totals: "))
        });
        totals
            .and_then(|count| count.trim().parse().ok())
            .ok_or_else(|| format!("`{}` has no total", out.display()))
    }
}

/// Wall time is for a person to look at: it has no bound.
fn time(workspace: &Workspace, args: &Args) -> Result<Outcome, String> {
    let mut bench = cargo();
    bench.args(["bench", "--package", "interpreter-bench", "--bench", "time"]);
    if args.ndarray {
        bench.args(["--features", "ndarray"]);
    }
    bench.arg("--").args(&args.cases);
    let status = bench.current_dir(workspace.root()).status();
    match status
        .map_err(|cause| cannot_run("cargo", &cause))?
        .success()
    {
        true => Ok(Outcome::Fine),
        false => Err("the wall time was not measured".into()),
    }
}

fn cannot_run(program: &str, cause: &dyn std::fmt::Display) -> String {
    let hint = match program {
        "valgrind" => " (Debian: `apt-get install valgrind`)",
        _ => "",
    };
    format!("cannot run {program}: {cause}{hint}")
}
