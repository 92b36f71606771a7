//! Train a digits classifier with Burn, capture its forward pass, save it, and execute the file
//! with the interpreter on several backends.
//!
//! ```text
//! cargo run --example digits
//! cargo run --example digits --features wgpu
//! cargo run --example digits -- --profile trace.json
//! ```
//!
//! With `--profile FILE` it prints where the time goes on Flex, and writes a trace that Perfetto
//! opens.
//!
//! Exits with an error when the classifier is not accurate enough, or when a backend predicts
//! another digit than the model itself.
#![expect(
    deprecated,
    reason = "burn-ndarray is on its way out, and still a second implementation"
)]

mod capture;
mod data;
mod execute;
mod model;
mod train;

use std::env;
use std::fs::File;
use std::io::BufWriter;

use anyhow::{Context, Result, bail, ensure};
use burn::tensor::Device;
use burn_interpreter::Profiler;
#[expect(
    deprecated,
    reason = "a second implementation to compare with, as long as there is one"
)]
use burn_ndarray::NdArray;

use crate::execute::Execution;

const SEED: u64 = 42;
/// The share of the test rows that the classifier must get right.
const ACCURACY: f64 = 0.95;

fn main() -> Result<()> {
    let args: Vec<String> = env::args().skip(1).collect();
    let trace = match args.as_slice() {
        [] => None,
        [flag, file] if flag == "--profile" => Some(file),
        _ => bail!("the only option is `--profile FILE`"),
    };
    let (train_rows, test_rows) = data::load(SEED).context("the digits cannot be loaded")?;
    let device = Device::flex();
    device.seed(SEED);

    println!("training on {} rows", train_rows.len());
    let model = train::train(&train_rows, SEED, &device);
    let logits = model.logits(test_rows.images(&device))?;
    let accuracy = test_rows.accuracy(&logits);
    println!(
        "the model gets {:.1} % of {} test rows right",
        100.0 * accuracy,
        test_rows.len()
    );
    ensure!(
        accuracy >= ACCURACY,
        "the model must get {:.0} % of the test rows right",
        100.0 * ACCURACY
    );

    let path = capture::save(&model, &test_rows)?;
    println!("captured and saved as {}\n", path.display());

    let executions = [
        Execution::of::<burn_flex::Flex>(
            "flex",
            &path,
            &test_rows,
            trace.map(|_| Profiler::new()),
        )?,
        Execution::of::<NdArray>("ndarray", &path, &test_rows, None)?,
        #[cfg(feature = "wgpu")]
        Execution::of::<burn_wgpu::Wgpu>("wgpu", &path, &test_rows, None)?,
    ];
    execute::print_table(&executions, &test_rows, &logits);
    if let (Some(file), Some(profiler)) = (trace, &executions[0].profiler) {
        println!("\n{profiler}");
        let to = File::create(file).with_context(|| format!("cannot create `{file}`"))?;
        profiler.write_chrome_trace(BufWriter::new(to))?;
        println!("the trace is {file}");
    }
    for execution in &executions {
        let different = execution.different_predictions(&logits);
        ensure!(
            different == 0,
            "{} predicts another digit than the model for {different} row(s)",
            execution.backend
        );
    }
    Ok(())
}
