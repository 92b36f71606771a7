//! Runs a case of the bench in one variant: what an instruction counter counts.
//!
//! `interpreter-bench VARIANT BACKEND CASE MODE ROUNDS [LIVE]`, where `VARIANT` is `direct`, `build`,
//! `ours`, `upstream`, or `operations` to print how many there are in a round; `MODE` is `stream`, or
//! the number of operations of a graph that is replayed; `LIVE` is the number of other tensors.
//! Without arguments: the names of the cases.

use std::env;
use std::process::ExitCode;

use interpreter_bench::run_job;
use interpreter_bench_baseline::{CASES, Flex, Job, Mode, operations};

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    if args.is_empty() {
        CASES.iter().for_each(|case| println!("{case}"));
        return ExitCode::SUCCESS;
    }
    let done = parse(&args).and_then(|(variant, backend, job)| match variant {
        "operations" => operations::<Flex>(&job).map(|count| println!("{count}")),
        _ => run_job(variant, backend, &job),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

fn parse(args: &[String]) -> Result<(&str, &str, Job), String> {
    let [variant, backend, case, mode, rounds, rest @ ..] = args else {
        return Err("wants VARIANT BACKEND CASE MODE ROUNDS [LIVE]".into());
    };
    let number = |text: &String| -> Result<usize, String> {
        text.parse().map_err(|_| format!("`{text}` is no number"))
    };
    let mode = match mode.as_str() {
        "stream" => Mode::Stream,
        _ => Mode::Replay(number(mode)?),
    };
    let job = Job {
        case: case.clone(),
        mode,
        live: rest.first().map_or(Ok(0), number)? as u64,
        rounds: number(rounds)?,
    };
    Ok((variant, backend, job))
}
