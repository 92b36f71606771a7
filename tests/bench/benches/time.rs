//! Wall time of the cases on Flex: run by `cargo xtask bench --time`.
//!
//! A sample is a run of a case from its beginning, with as many rounds as make its start small.

use divan::Bencher;
use divan::counter::ItemsCount;
use interpreter_bench::run_job;
use interpreter_bench_baseline::{CASES, Flex, Job, Mode, operations};

fn main() {
    divan::main();
}

/// The operations of a graph that is replayed.
const GRAPH: usize = 10;
/// The operations of a sample.
const OPERATIONS: usize = 2_000;

fn measure(bencher: Bencher<'_, '_>, variant: &str, case: &str, mode: Mode) {
    let job = |rounds| Job {
        case: case.into(),
        mode,
        live: 0,
        rounds,
    };
    let of_round = operations::<Flex>(&job(1)).expect("the case is one of the list");
    let job = job(OPERATIONS.div_ceil(of_round));
    bencher
        .counter(ItemsCount::new(job.rounds * of_round))
        .bench(|| run_job(variant, "flex", &job));
}

#[divan::bench(args = CASES)]
fn direct(bencher: Bencher<'_, '_>, case: &str) {
    measure(bencher, "direct", case, Mode::Stream);
}

#[divan::bench(args = CASES)]
fn stream_ours(bencher: Bencher<'_, '_>, case: &str) {
    measure(bencher, "ours", case, Mode::Stream);
}

#[divan::bench(args = CASES)]
fn stream_upstream(bencher: Bencher<'_, '_>, case: &str) {
    measure(bencher, "upstream", case, Mode::Stream);
}

#[divan::bench(args = CASES)]
fn replay_ours(bencher: Bencher<'_, '_>, case: &str) {
    measure(bencher, "ours", case, Mode::Replay(GRAPH));
}

#[divan::bench(args = CASES)]
fn replay_upstream(bencher: Bencher<'_, '_>, case: &str) {
    measure(bencher, "upstream", case, Mode::Replay(GRAPH));
}
