//! Executing the program file on a backend, and the table of what came of it.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, ensure};
use burn_interpreter::{Profiler, Program};
use burn_ir::BackendIr;

use crate::data::{Rows, predictions};

/// What one backend made of the program.
pub(crate) struct Execution {
    pub(crate) backend: &'static str,
    operations: usize,
    logits: Vec<f32>,
    time: Duration,
    pub(crate) profiler: Option<Profiler>,
}

impl Execution {
    /// Load the program at `path` and run it over all rows.
    pub(crate) fn of<B: BackendIr>(
        backend: &'static str,
        path: &Path,
        rows: &Rows,
        profiler: Option<Profiler>,
    ) -> Result<Self> {
        let program = Program::load(path)?;
        let start = Instant::now();
        let mut prepared = program.prepare::<B>(&B::Device::default())?;
        if let Some(profiler) = profiler {
            prepared = prepared.with_profiler(profiler);
        }
        let outputs = prepared.run(vec![rows.image_data()])?;
        let time = start.elapsed();
        ensure!(
            outputs.len() == 1,
            "{} outputs instead of the logits",
            outputs.len()
        );
        let logits = outputs[0].as_slice::<f32>();
        Ok(Self {
            backend,
            operations: program.graph().len(),
            logits: logits
                .map_err(|cause| anyhow!("the logits: {cause}"))?
                .to_vec(),
            time,
            profiler: prepared.take_profiler(),
        })
    }

    /// How many rows are predicted otherwise than by the model, whose logits are given.
    pub(crate) fn different_predictions(&self, model: &[f32]) -> usize {
        let pairs = predictions(&self.logits).zip(predictions(model));
        pairs.filter(|(ours, models)| ours != models).count()
    }

    /// The largest absolute difference to the logits of the model.
    fn largest_difference(&self, model: &[f32]) -> f32 {
        let pairs = self.logits.iter().zip(model);
        pairs
            .map(|(ours, models)| (ours - models).abs())
            .fold(0.0, f32::max)
    }
}

pub(crate) fn print_table(executions: &[Execution], rows: &Rows, model: &[f32]) {
    println!("backend  operations  rows  accuracy  largest difference      time");
    for execution in executions {
        println!(
            "{:<7}  {:>10}  {:>4}  {:>7.1}%  {:>18.2e}  {:>6} ms",
            execution.backend,
            execution.operations,
            rows.len(),
            100.0 * rows.accuracy(&execution.logits),
            execution.largest_difference(model),
            execution.time.as_millis(),
        );
    }
}
