//! A model of what a stream leaves behind: which tensors hold which data, which hold whose error.
//!
//! What an operation gives does not depend on what else there is: the model executes it in an
//! interpreter of its own, on copies of the data of its inputs, and expects the same of the
//! interpreter that has seen the whole stream.

use std::collections::{BTreeMap, BTreeSet};

use burn_backend::TensorData;
use burn_interpreter::{Graph, Limits, TensorInterpreter, op_info};
use burn_ir::{BackendIr, GraphBindings, OperationIr, TensorId, TensorIr, TensorStatus};
use serde::{Deserialize, Serialize};

use crate::engine::{Engine, read};
use crate::{quietly, random_numbers};

/// What a client can do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Step {
    /// Upload a tensor.
    Upload(TensorId, TensorData),
    /// Execute an operation.
    Op(Box<OperationIr>),
    /// Give the second tensor the first as another name.
    Alias(TensorId, TensorId),
    /// Read a tensor.
    Read(TensorIr),
    /// Replay a graph.
    Replay(Vec<OperationIr>, GraphBindings),
}

/// What a tensor holds.
#[derive(Clone, Debug)]
enum Holds {
    Data(TensorData),
    /// An error that says one of these: the operation that failed first, mostly.
    Error(BTreeSet<String>),
}

type Mismatch = String;

/// Run the steps of `script`, JSON as [`check`] prints it, on `B`, and compare with the model.
pub fn reproduce<B: BackendIr>(script: &str) -> Result<(), Mismatch> {
    let steps: Vec<Step> = serde_json::from_str(script).map_err(|error| error.to_string())?;
    run::<B>(&steps)
}

/// Run the steps on `B` and compare with the model; what differs is told with the code that
/// reproduces it in as few steps as will do. `backend` is the backend in that code.
pub fn check<B: BackendIr>(steps: &[Step], backend: &str) -> Result<(), Mismatch> {
    let Err(mut mismatch) = run::<B>(steps) else {
        return Ok(());
    };
    let mut steps = steps.to_vec();
    let mut chunk = steps.len() / 2;
    while chunk > 0 {
        let mut start = 0;
        while start < steps.len() {
            let mut fewer = steps.clone();
            fewer.drain(start..steps.len().min(start + chunk));
            match run::<B>(&fewer) {
                Err(other) => (steps, mismatch) = (fewer, other),
                Ok(()) => start += chunk,
            }
        }
        chunk /= 2;
    }
    let script = serde_json::to_string(&steps).unwrap_or_else(|error| error.to_string());
    Err(format!(
        "{mismatch}\n\n    interpreter_tests::model::reproduce::<{backend}>(\n        r#\"{script}\"#,\n    )\n"
    ))
}

fn run<B: BackendIr>(steps: &[Step]) -> Result<(), Mismatch> {
    let mut model = Model::<B>::new();
    for (position, step) in steps.iter().enumerate() {
        model
            .step(step)
            .map_err(|mismatch| format!("step {position}: {mismatch}"))?;
    }
    model.finish()
}

/// No tensor of a test is larger.
fn limits() -> Limits {
    Limits::default().max_tensor_bytes(1 << 20)
}

fn interpreter<B: BackendIr>() -> TensorInterpreter<B> {
    TensorInterpreter::new(B::Device::default()).with_limits(limits())
}

struct Model<B: BackendIr> {
    interpreter: TensorInterpreter<B>,
    tensors: BTreeMap<TensorId, Holds>,
    /// Whether the next `sync` has an error to report.
    deferred: bool,
}

impl<B: BackendIr> Model<B> {
    fn new() -> Self {
        Self {
            interpreter: interpreter(),
            tensors: BTreeMap::new(),
            deferred: false,
        }
    }

    fn step(&mut self, step: &Step) -> Result<(), Mismatch> {
        match step {
            Step::Upload(id, data) => self.upload(*id, data),
            Step::Op(op) => self.op(op),
            Step::Alias(to, from) => self.alias(*to, *from),
            Step::Read(tensor) => self.read(tensor),
            Step::Replay(ops, bindings) => self.replay(ops, bindings),
        }?;
        let (held, known) = (self.interpreter.num_handles(), self.tensors.len());
        same("tensors", held, known)
    }

    fn upload(&mut self, id: TensorId, data: &TensorData) -> Result<(), Mismatch> {
        let uploaded = self.interpreter.upload(id, data.clone());
        let alone = interpreter::<B>().upload(id, data.clone());
        same("upload succeeds", uploaded.is_ok(), alone.is_ok())?;
        let holds = match alone {
            Ok(()) => Holds::Data(data.clone()),
            Err(_) => not_registered(),
        };
        self.tensors.insert(id, holds);
        Ok(())
    }

    fn alias(&mut self, to: TensorId, from: TensorId) -> Result<(), Mismatch> {
        let done = self.interpreter.try_register_alias(to, from);
        let source = self.tensors.get(&from).cloned();
        let expected = matches!(source, Some(Holds::Data(_)));
        same("alias succeeds", done.is_ok(), expected)?;
        let holds = source.unwrap_or(not_registered());
        self.tensors.insert(to, holds);
        Ok(())
    }

    fn read(&mut self, tensor: &TensorIr) -> Result<(), Mismatch> {
        let data = self.interpreter.read(tensor.clone());
        match self.tensors.get(&tensor.id) {
            Some(Holds::Data(held))
                if held.dtype() == tensor.dtype && *held.shape() == tensor.shape =>
            {
                if tensor.status == TensorStatus::NotInit {
                    same(
                        "what is read to be written is an error",
                        data.is_err(),
                        true,
                    )?;
                } else {
                    let data = data.map_err(|error| format!("{} is lost: {error}", tensor.id))?;
                    similar(&data, held)?;
                }
            }
            _ => same("a read that lies succeeds", data.is_ok(), false)?,
        }
        if tensor.status == TensorStatus::ReadWrite {
            self.tensors.remove(&tensor.id);
        }
        Ok(())
    }

    fn op(&mut self, op: &OperationIr) -> Result<(), Mismatch> {
        let _alone = random_numbers();
        let expected = self.expect(op);
        B::seed(&B::Device::default(), 7);
        let done = quietly(|| self.interpreter.try_register_op(op.clone()));
        if let Err(error) = &done {
            same(
                "the error is of the operation",
                error.op().name,
                op_info(op).name,
            )?;
        }
        if done.is_ok() != expected {
            let name = op_info(op).name;
            return Err(match done {
                Ok(()) => format!("{name} succeeds, but fails alone"),
                Err(error) => format!("it succeeds alone: {error}"),
            });
        }
        if op.outputs().next().is_none() && done.is_err() {
            self.deferred = true;
        }
        for output in op.outputs() {
            self.compare(output)?;
        }
        Ok(())
    }

    fn replay(&mut self, ops: &[OperationIr], bindings: &GraphBindings) -> Result<(), Mismatch> {
        let _alone = random_numbers();
        let graph = Graph::new(ops.to_vec());
        let replayed = quietly(|| graph.try_replay(&mut self.interpreter, bindings.clone()));
        let bound = graph.try_bind(bindings.clone());
        same("replay and bind agree", replayed.is_ok(), bound.is_ok())?;
        let Ok(bound) = bound else {
            return Ok(());
        };
        let concrete: BTreeSet<_> = bindings.tensors.iter().map(|(_, id)| *id).collect();
        for op in &bound.operations {
            let succeeds = self.expect(op);
            self.deferred |= op.outputs().next().is_none() && !succeeds;
        }
        for op in &bound.operations {
            for output in op.outputs() {
                if !concrete.contains(&output.id) {
                    self.tensors.remove(&output.id);
                }
            }
        }
        let outputs = bound.operations.iter().flat_map(|op| op.outputs());
        for output in outputs.filter(|output| concrete.contains(&output.id)) {
            self.compare(output)?;
        }
        Ok(())
    }

    /// Do `op` in the model; whether it succeeds.
    fn expect(&mut self, op: &OperationIr) -> bool {
        let mut inputs = BTreeMap::new();
        let mut errors = BTreeSet::from([format!("`{}`", op_info(op).name)]);
        let mut gone = BTreeSet::new();
        let mut complete = true;
        if let OperationIr::Drop(tensor) = op {
            self.tensors.remove(&tensor.id);
            return true;
        }
        for input in op.inputs() {
            match self.tensors.get(&input.id) {
                Some(Holds::Data(data)) if !gone.contains(&input.id) => {
                    inputs.insert(input.id, data.clone());
                }
                Some(Holds::Error(texts)) => {
                    errors.extend(texts.iter().cloned());
                    complete = false;
                }
                _ => complete = false,
            }
            if input.status == TensorStatus::ReadWrite {
                gone.insert(input.id);
            }
        }
        let outputs = match complete {
            true => alone::<B>(op, &inputs),
            false => None,
        };
        for id in gone {
            self.tensors.remove(&id);
        }
        let succeeds = outputs.is_some();
        let mut outputs = outputs.into_iter().flatten();
        for output in op.outputs() {
            let holds = match outputs.next() {
                Some(data) => Holds::Data(data),
                None => Holds::Error(errors.clone()),
            };
            self.tensors.insert(output.id, holds);
        }
        succeeds
    }

    /// The interpreter holds what the model says.
    fn compare(&mut self, tensor: &TensorIr) -> Result<(), Mismatch> {
        let data = read(&mut self.interpreter, tensor);
        match (self.tensors.get(&tensor.id), data) {
            (Some(Holds::Data(held)), Ok(data)) => similar(&data, held),
            (Some(Holds::Data(_)), Err(error)) => Err(format!("{} is lost: {error}", tensor.id)),
            (Some(Holds::Error(texts)), Err(error)) => {
                match texts.iter().any(|text| error.contains(text)) {
                    true => Ok(()),
                    false => Err(format!("none of {texts:?} is in: {error}")),
                }
            }
            (Some(Holds::Error(texts)), Ok(_)) => Err(format!(
                "{} is read after a failure of {texts:?}",
                tensor.id
            )),
            (None, Ok(_)) => Err(format!("{} is read, but is gone", tensor.id)),
            (None, Err(_)) => Ok(()),
        }
    }

    /// Every tensor is what it should be; when all are dropped, nothing is left.
    fn finish(mut self) -> Result<(), Mismatch> {
        let held: Vec<_> = self
            .tensors
            .iter()
            .filter_map(|(id, holds)| match holds {
                Holds::Data(data) => Some(TensorIr {
                    id: *id,
                    shape: data.shape().clone(),
                    status: TensorStatus::ReadOnly,
                    dtype: data.dtype(),
                }),
                Holds::Error(_) => None,
            })
            .collect();
        same(
            "tensors with data",
            self.interpreter.live_tensors(),
            held.len(),
        )?;
        let bytes: usize = held
            .iter()
            .map(|tensor| tensor.shape.num_elements() * tensor.dtype.size())
            .sum();
        same("bytes", self.interpreter.live_bytes(), bytes as u64)?;
        for tensor in &held {
            self.compare(tensor)?;
        }
        let sync = quietly(|| self.interpreter.sync());
        same("an error is left for sync", sync.is_err(), self.deferred)?;
        for id in std::mem::take(&mut self.tensors).into_keys() {
            self.interpreter.register_op(OperationIr::Drop(TensorIr {
                id,
                shape: [0].into(),
                status: TensorStatus::ReadWrite,
                dtype: burn_backend::DType::F32,
            }));
        }
        same(
            "tensors after the last drop",
            self.interpreter.num_handles(),
            0,
        )?;
        same(
            "bytes after the last drop",
            self.interpreter.live_bytes(),
            0,
        )
    }
}

/// What `op` gives in an interpreter that has nothing but its inputs; `None` if it fails.
fn alone<B: BackendIr>(
    op: &OperationIr,
    inputs: &BTreeMap<TensorId, TensorData>,
) -> Option<Vec<TensorData>> {
    let mut interpreter = interpreter::<B>();
    for (id, data) in inputs {
        interpreter.upload(*id, data.clone()).ok()?;
    }
    B::seed(&B::Device::default(), 7);
    interpreter.execute(op.clone()).ok()?;
    let outputs = op.outputs();
    outputs
        .map(|output| read(&mut interpreter, output).ok())
        .collect()
}

/// The error of a tensor that no operation writes.
fn not_registered() -> Holds {
    Holds::Error(BTreeSet::from(["was not registered".to_owned()]))
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, is: T, should_be: T) -> Result<(), Mismatch> {
    match is == should_be {
        true => Ok(()),
        false => Err(format!("{what}: {is:?}, not {should_be:?}")),
    }
}

/// The same numbers; those of floats may come of another order of additions, since the data of a
/// tensor may lie in another order.
fn similar(data: &TensorData, other: &TensorData) -> Result<(), Mismatch> {
    let same = data.dtype() == other.dtype() && data.shape() == other.shape();
    let close = || {
        let pairs = data.iter::<f64>().zip(other.iter::<f64>());
        data.dtype().is_float()
            && pairs.into_iter().all(|(a, b)| {
                let near = (a - b).abs() <= 1e-3 * (1.0 + a.abs().max(b.abs()));
                near || a == b || (a.is_nan() && b.is_nan())
            })
    };
    match same && (data.as_bytes() == other.as_bytes() || close()) {
        true => Ok(()),
        false => Err(format!("{data} is not {other}")),
    }
}
