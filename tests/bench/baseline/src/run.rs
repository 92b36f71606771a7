//! Running a case as often as a job says, in the variant it says.

use std::hint::black_box;

use burn_backend::TensorData;
use burn_ir::{BackendIr, GraphBindings, OperationIr, TensorId, TensorIr, TensorStatus};

use crate::case::{Case, Round, case};
use crate::relative::Relative;

/// An interpreter that is measured.
pub trait Interpreter<B: BackendIr> {
    /// A graph in its relative form.
    type Graph;

    /// On the backend's default device, with the handler of the custom operation.
    fn start() -> Self;
    /// Upload a tensor.
    fn upload(&mut self, id: TensorId, data: TensorData);
    /// Execute an operation.
    fn execute(&mut self, op: OperationIr);
    /// A graph of these operations.
    fn graph(ops: Vec<OperationIr>) -> Self::Graph;
    /// Replay a graph.
    fn replay(&mut self, graph: &Self::Graph, bindings: GraphBindings);
    /// Read a tensor.
    ///
    /// # Errors
    ///
    /// When it holds no data.
    fn read(&mut self, tensor: TensorIr) -> Result<TensorData, String>;
}

/// How the operations of a case reach the interpreter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// One by one.
    Stream,
    /// As a graph of at least as many operations.
    Replay(usize),
}

/// A case and how often it is run.
#[derive(Clone, Debug)]
pub struct Job {
    /// The name of the case.
    pub case: String,
    /// As a stream or as a graph.
    pub mode: Mode,
    /// How many tensors are there beside those of the case.
    pub live: u64,
    /// How often the stream or the graph is run.
    pub rounds: usize,
}

/// The number of operations in a round of the job, `Drop` not counted.
///
/// # Errors
///
/// When there is no such case.
pub fn operations<B: BackendIr>(job: &Job) -> Result<usize, String> {
    let len = case::<B>(&job.case)?.len();
    Ok(match job.mode {
        Mode::Stream => len,
        Mode::Replay(ops) => len * ops.div_ceil(len),
    })
}

/// Make the calls of the case on the backend itself, as a stream does.
pub(crate) fn direct<B: BackendIr>(job: &Job) -> Result<(), String> {
    let mut call = case::<B>(&job.case)?.direct;
    for _ in 0..job.rounds {
        call();
    }
    Ok(())
}

/// Build what the interpreter is given, and drop it.
pub(crate) fn build<B: BackendIr>(job: &Job) -> Result<(), String> {
    let case = case::<B>(&job.case)?;
    match job.mode {
        Mode::Stream => {
            for round in 0..job.rounds {
                let (ops, mut ids) = case.round(round);
                for op in ops {
                    receive(black_box(with(op, &mut ids)));
                }
            }
        }
        Mode::Replay(ops) => {
            let relative = Relative::of(&case, ops);
            for round in 0..job.rounds {
                receive(black_box(relative.bindings(round)));
            }
        }
    }
    Ok(())
}

/// Take something over and drop it, as an interpreter does.
#[inline(never)]
fn receive<T>(_something: T) {}

/// Run the case on the interpreter.
///
/// # Errors
///
/// When there is no such case, or a result cannot be read.
pub fn run<B: BackendIr, I: Interpreter<B>>(job: &Job) -> Result<(), String> {
    let case = case::<B>(&job.case)?;
    let mut interpreter = I::start();
    for id in 0..job.live {
        let data = TensorData::from([0.0_f32]);
        interpreter.upload(TensorId::new(1_000_000 + id), data);
    }
    for (id, data) in &case.inputs {
        interpreter.upload(case.id(*id, 0), data.clone());
    }
    match job.mode {
        Mode::Stream => {
            for round in 0..job.rounds {
                let (ops, mut ids) = case.round(round);
                for op in ops {
                    interpreter.execute(black_box(with(op, &mut ids)));
                }
            }
        }
        Mode::Replay(ops) => {
            let relative = Relative::of(&case, ops);
            let graph = I::graph(relative.ops.clone());
            for round in 0..job.rounds {
                interpreter.replay(&graph, black_box(relative.bindings(round)));
            }
        }
    }
    check(&case, job.rounds, &mut interpreter)
}

/// The operation with the ids of the round.
#[inline(never)]
fn with(op: &OperationIr, ids: &mut Round<'_>) -> OperationIr {
    let mut op = op.clone();
    op.visit_mut(ids);
    op
}

/// Every output of the round can be read: nothing failed on the way.
fn check<B: BackendIr, I: Interpreter<B>>(
    case: &Case,
    round: usize,
    interpreter: &mut I,
) -> Result<(), String> {
    let (ops, mut ids) = case.round(round);
    for op in ops {
        if matches!(op, OperationIr::Drop(_)) {
            continue;
        }
        let op = with(op, &mut ids);
        interpreter.execute(op.clone());
        for output in op.outputs() {
            let tensor = TensorIr {
                status: TensorStatus::ReadOnly,
                ..output.clone()
            };
            interpreter.read(tensor)?;
        }
    }
    Ok(())
}
