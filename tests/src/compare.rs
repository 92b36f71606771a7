//! One case through both interpreters.

use std::sync::{Mutex, MutexGuard};

use burn_backend::TensorData;
use burn_ir::{BackendIr, OperationIr, TensorId, TensorIr, TensorStatus};

use crate::case::Case;
use crate::engine::{Engine, read};

/// What came of a case.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Both give the same data, bit for bit, and leave the same tensors alive.
    Same,
    /// The same, once upstream's data has the dtype that the IR declares: there it has another.
    SameAsDeclared,
    /// Neither can execute it: upstream's message and ours.
    BothRefuse(String, String),
    /// Only ours executes it: upstream's message and our outputs.
    OnlyOurs(String, Vec<TensorData>),
    /// They differ, and how.
    Different(String),
}

/// Random numbers come from a generator that the whole process shares: who seeds it and draws from
/// it does so alone, as long as this lives.
pub fn random_numbers() -> MutexGuard<'static, ()> {
    static GENERATOR: Mutex<()> = Mutex::new(());
    GENERATOR
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Run `case` on `B` through burn-router's interpreter and ours, with this status for its inputs.
pub fn compare<B: BackendIr>(case: &Case, status: TensorStatus) -> Verdict {
    let _alone = random_numbers();
    let op = case.op_with(status);
    let theirs = run::<B, burn_router::TensorInterpreter<B>>(case, &op);
    let ours = run::<B, burn_interpreter::TensorInterpreter<B>>(case, &op);
    match (theirs, ours) {
        (Ok(mut theirs), Ok(ours)) => {
            let is_declared = theirs.convert(&op);
            match (theirs.difference(&ours), is_declared) {
                (None, true) => Verdict::Same,
                (None, false) => Verdict::SameAsDeclared,
                (Some(difference), _) => Verdict::Different(difference),
            }
        }
        (Err(theirs), Err(ours)) => Verdict::BothRefuse(theirs, ours),
        (Err(theirs), Ok(ours)) => Verdict::OnlyOurs(theirs, ours.outputs),
        (Ok(_), Err(ours)) => Verdict::Different(format!("only ours refuses it: {ours}")),
    }
}

/// What an interpreter made of a case.
#[derive(Debug)]
pub struct Ran {
    /// The operation's outputs.
    pub outputs: Vec<TensorData>,
    /// Which of the case's tensors can still be read.
    pub alive: Vec<TensorId>,
}

impl Ran {
    /// Give the outputs the dtypes that the operation declares; whether they had them.
    pub fn convert(&mut self, op: &OperationIr) -> bool {
        let mut is_declared = true;
        for (data, output) in self.outputs.iter_mut().zip(op.outputs()) {
            if data.dtype() != output.dtype {
                *data = data.clone().convert_dtype(output.dtype);
                is_declared = false;
            }
        }
        is_declared
    }

    /// How the other differs from this, which is upstream's, if it does.
    pub fn difference(&self, other: &Self) -> Option<String> {
        for (position, (theirs, ours)) in self.outputs.iter().zip(&other.outputs).enumerate() {
            if theirs.shape() != ours.shape() || theirs.dtype() != ours.dtype() {
                return Some(format!(
                    "output {position} is {:?} {} upstream, {:?} {} here",
                    theirs.dtype(),
                    theirs.shape(),
                    ours.dtype(),
                    ours.shape()
                ));
            }
            if theirs.as_bytes() != ours.as_bytes() {
                return Some(format!(
                    "output {position} is {theirs} upstream, {ours} here"
                ));
            }
        }
        (self.alive != other.alive)
            .then(|| format!("alive: {:?} upstream, {:?} here", self.alive, other.alive))
    }
}

/// Run a case through one interpreter.
pub fn run<B: BackendIr, E: Engine<B>>(case: &Case, op: &OperationIr) -> Result<Ran, String> {
    B::seed(&B::Device::default(), 7);
    let mut engine = E::start();
    for (id, data) in &case.inputs {
        engine.upload(*id, data.clone())?;
    }
    engine.execute(op.clone())?;
    let outputs = op
        .outputs()
        .map(|output| read(&mut engine, output))
        .collect::<Result<_, _>>()?;
    let inputs = case.inputs.iter().map(|(id, data)| TensorIr {
        id: *id,
        shape: data.shape().clone(),
        status: TensorStatus::ReadOnly,
        dtype: data.dtype(),
    });
    let alive = inputs
        .filter(|input| read(&mut engine, input).is_ok())
        .map(|input| input.id);
    Ok(Ran {
        outputs,
        alive: alive.collect(),
    })
}
