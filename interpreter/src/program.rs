//! Programs: a captured graph with its constants, to keep in a file and to run.
//!
//! A graph alone cannot be executed: the weights of a model are tensors that it reads and does not
//! produce. A [`Program`] holds both, is checked as a whole before anything runs, and can be run
//! again and again, on any backend.

mod error;
mod file;
mod messagepack;
mod prepared;

pub use error::{FileFault, Mismatch, ProgramError};
pub use prepared::PreparedProgram;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use burn_backend::TensorData;
use burn_ir::{BackendIr, GraphIr, OperationIr, TensorId, TensorIr, TensorStatus};

use crate::interpreter::TensorInterpreter;
use crate::preflight::Unsupported;
use crate::quantized::readable;

/// A graph and the constants it reads.
///
/// Its inputs, in the order of `GraphIr::inputs`, are supplied at each run; its outputs, in the
/// order of `GraphIr::outputs`, are what a run returns. Shapes and dtypes are fixed: those of the
/// capture.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    graph: GraphIr,
    constants: BTreeMap<TensorId, TensorData>,
    inputs: Vec<TensorIr>,
    outputs: Vec<TensorIr>,
}

impl Program {
    /// A program of `graph` and the tensors that it reads beside its inputs.
    ///
    /// Constants that the graph does not use are left out.
    ///
    /// # Errors
    ///
    /// [`ProgramError::Invalid`] when the graph cannot be executed with these constants: a tensor
    /// that it reads has no source or two, is read before it is produced or after its last use, a
    /// boundary tensor is unknown, listed twice or consumed
    /// in place, a constant is not what the graph declares.
    pub fn new(
        graph: GraphIr,
        constants: BTreeMap<TensorId, TensorData>,
    ) -> Result<Self, ProgramError> {
        let tensors = Tensors::of(&graph.operations);
        tensors.check_schemes()?;
        let inputs = tensors.inputs(&graph, &constants)?;
        check_order(&graph, &constants)?;
        let constants = tensors.constants(&graph, constants)?;
        let outputs = tensors.outputs(&graph, &constants)?;
        Ok(Self {
            graph,
            constants,
            inputs,
            outputs,
        })
    }

    /// A program of a graph that burn-capture recorded.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    #[cfg(feature = "capture")]
    pub fn from_captured(captured: burn_capture::CapturedGraph) -> Result<Self, ProgramError> {
        let burn_capture::CapturedGraph { graph, mut values } = captured;
        let declared: BTreeSet<TensorId> = graph
            .operations
            .iter()
            .flat_map(OperationIr::nodes)
            .map(|tensor| tensor.id)
            .collect();
        let mut operations = graph.operations;
        // The capture also keeps the values that its inputs had. They say the shape of an input that
        // no operation uses.
        for input in &graph.inputs {
            let value = values.remove(input);
            if let Some(data) =
                value.filter(|_| !declared.contains(input) && !graph.outputs.contains(input))
            {
                operations.push(OperationIr::Drop(TensorIr {
                    id: *input,
                    shape: data.shape().clone(),
                    status: TensorStatus::ReadWrite,
                    dtype: data.dtype(),
                }));
            }
        }
        let graph = GraphIr {
            operations,
            inputs: graph.inputs,
            outputs: graph.outputs,
        };
        Self::new(graph, values)
    }

    /// The graph.
    pub fn graph(&self) -> &GraphIr {
        &self.graph
    }

    /// The constants, by tensor id.
    pub fn constants(&self) -> &BTreeMap<TensorId, TensorData> {
        &self.constants
    }

    /// The inputs, as the graph declares them.
    pub fn inputs(&self) -> &[TensorIr] {
        &self.inputs
    }

    /// The outputs, as the graph declares them.
    pub fn outputs(&self) -> &[TensorIr] {
        &self.outputs
    }

    /// Execute the program on `device`, with one tensor for each of [`inputs`](Self::inputs), and
    /// return one for each of [`outputs`](Self::outputs).
    ///
    /// The program does not change: it can be run again, constants that the graph consumes in
    /// place included; faster with [`prepare`](Self::prepare). Blocks until the outputs are read.
    ///
    /// # Errors
    ///
    /// When an input is not of the captured shape and dtype, an operation fails, or an output
    /// cannot be read.
    pub fn run<B: BackendIr>(
        &self,
        device: &B::Device,
        inputs: Vec<TensorData>,
    ) -> Result<Vec<TensorData>, ProgramError> {
        self.run_in(TensorInterpreter::<B>::new(device.clone()), inputs)
    }

    /// Execute the program as [`run`](Self::run) does, in an interpreter that holds no tensors yet:
    /// one with handlers for custom operations, or with limits.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn run_in<B: BackendIr>(
        &self,
        interpreter: TensorInterpreter<B>,
        inputs: Vec<TensorData>,
    ) -> Result<Vec<TensorData>, ProgramError> {
        check_inputs(&self.inputs, &inputs)?;
        self.prepare_in(interpreter)?.run(inputs)
    }

    /// Whether the program can be executed on this device: see
    /// [`TensorInterpreter::preflight`](crate::TensorInterpreter::preflight), which takes custom
    /// operations into account too. Nothing is executed.
    ///
    /// # Errors
    ///
    /// Every operation that cannot be executed, with the reason.
    pub fn preflight<B: BackendIr>(&self, device: &B::Device) -> Result<(), Vec<Unsupported>> {
        TensorInterpreter::<B>::new(device.clone()).preflight(&self.graph.operations)
    }

    /// The program on `device`, ready to be run again and again: the constants are uploaded, and what
    /// each run would find out anew is found out.
    ///
    /// # Errors
    ///
    /// When a constant cannot be uploaded.
    pub fn prepare<B: BackendIr>(
        &self,
        device: &B::Device,
    ) -> Result<PreparedProgram<B>, ProgramError> {
        self.prepare_in(TensorInterpreter::new(device.clone()))
    }

    /// The program, as [`prepare`](Self::prepare) makes it ready, in an interpreter that holds no
    /// tensors yet: one with handlers for custom operations, or with limits.
    ///
    /// # Errors
    ///
    /// As [`prepare`](Self::prepare).
    pub fn prepare_in<B: BackendIr>(
        &self,
        interpreter: TensorInterpreter<B>,
    ) -> Result<PreparedProgram<B>, ProgramError> {
        PreparedProgram::new(self, interpreter)
    }
}

fn check_inputs(expected: &[TensorIr], given: &[TensorData]) -> Result<(), ProgramError> {
    if given.len() != expected.len() {
        return Err(ProgramError::InputCount {
            expected: expected.len(),
            given: given.len(),
        });
    }
    for (position, (input, data)) in expected.iter().zip(given).enumerate() {
        if let Some(mismatch) = Mismatch::find(input, data) {
            return Err(ProgramError::Input { position, mismatch });
        }
    }
    Ok(())
}

#[cfg(feature = "capture")]
impl TryFrom<burn_capture::CapturedGraph> for Program {
    type Error = ProgramError;

    fn try_from(captured: burn_capture::CapturedGraph) -> Result<Self, ProgramError> {
        Self::from_captured(captured)
    }
}

/// What the operations of a graph say of its tensors.
struct Tensors<'g> {
    /// The first and the last declaration of each.
    declared: BTreeMap<TensorId, (&'g TensorIr, &'g TensorIr)>,
    /// Those that are read and not produced.
    read: Vec<TensorId>,
    /// Those that are produced and left alive.
    produced: BTreeSet<TensorId>,
    /// Those that are dropped or consumed in place.
    consumed: BTreeSet<TensorId>,
}

impl<'g> Tensors<'g> {
    fn of(operations: &'g [OperationIr]) -> Self {
        let boundary = GraphIr::classify(operations);
        let mut tensors = Self {
            declared: BTreeMap::new(),
            read: boundary.inputs,
            produced: boundary.outputs.into_iter().collect(),
            consumed: BTreeSet::new(),
        };
        for operation in operations {
            let is_drop = matches!(operation, OperationIr::Drop(_));
            for tensor in operation.nodes() {
                let declared = tensors
                    .declared
                    .entry(tensor.id)
                    .or_insert((tensor, tensor));
                declared.1 = tensor;
                if is_drop || tensor.status == TensorStatus::ReadWrite {
                    tensors.consumed.insert(tensor.id);
                }
            }
        }
        tensors
    }

    /// A file can hold schemes that cannot even be shown.
    fn check_schemes(&self) -> Result<(), ProgramError> {
        let mut declared = self.declared.iter();
        let is_malformed = |tensor: &TensorIr| readable(tensor.dtype) != tensor.dtype;
        match declared.find(|(_, (first, last))| is_malformed(first) || is_malformed(last)) {
            Some((id, _)) => Err(invalid(
                "tensor",
                *id,
                "has a malformed quantization scheme",
            )),
            None => Ok(()),
        }
    }

    fn inputs(
        &self,
        graph: &GraphIr,
        constants: &BTreeMap<TensorId, TensorData>,
    ) -> Result<Vec<TensorIr>, ProgramError> {
        let mut seen = BTreeSet::new();
        let inputs = graph.inputs.iter().map(|id| {
            if !seen.insert(id) {
                return Err(invalid("input", *id, "is listed twice"));
            }
            if constants.contains_key(id) {
                return Err(invalid("input", *id, "is a constant too"));
            }
            match self.declared.get(id) {
                Some((first, _)) if self.read.contains(id) => Ok(TensorIr {
                    status: TensorStatus::ReadOnly,
                    ..(*first).clone()
                }),
                Some(_) => Err(invalid("input", *id, "is produced by the graph itself")),
                None => Err(invalid(
                    "input",
                    *id,
                    "is used by no operation, so nothing says its shape: let the graph drop it",
                )),
            }
        });
        let inputs = inputs.collect::<Result<_, _>>()?;
        let has_source = |id: &&TensorId| graph.inputs.contains(id) || constants.contains_key(id);
        match self.read.iter().find(|id| !has_source(id)) {
            Some(id) => Err(invalid(
                "tensor",
                *id,
                "is read, but it is neither an input, nor a constant, nor produced before",
            )),
            None => Ok(inputs),
        }
    }

    fn constants(
        &self,
        graph: &GraphIr,
        mut constants: BTreeMap<TensorId, TensorData>,
    ) -> Result<BTreeMap<TensorId, TensorData>, ProgramError> {
        constants.retain(|id, _| self.declared.contains_key(id) || graph.outputs.contains(id));
        for (id, data) in &constants {
            let Some((first, _)) = self.declared.get(id) else {
                continue;
            };
            if let Some(mismatch) = Mismatch::find(first, data) {
                return Err(ProgramError::Constant { mismatch });
            }
        }
        Ok(constants)
    }

    fn outputs(
        &self,
        graph: &GraphIr,
        constants: &BTreeMap<TensorId, TensorData>,
    ) -> Result<Vec<TensorIr>, ProgramError> {
        let mut seen = BTreeSet::new();
        let outputs = graph.outputs.iter().map(|id| {
            if !seen.insert(id) {
                return Err(invalid("output", *id, "is listed twice"));
            }
            let is_given = graph.inputs.contains(id) || constants.contains_key(id);
            if !self.produced.contains(id) && !is_given {
                return Err(invalid(
                    "output",
                    *id,
                    "is produced by no operation, or consumed",
                ));
            }
            if is_given && self.consumed.contains(id) {
                return Err(invalid("output", *id, "is consumed in place"));
            }
            let (shape, dtype) = match (self.declared.get(id), constants.get(id)) {
                (Some((_, last)), _) => (last.shape.clone(), last.dtype),
                (None, Some(data)) => (data.shape().clone(), data.dtype()),
                (None, None) => return Err(invalid("output", *id, "is used by no operation")),
            };
            Ok(TensorIr {
                id: *id,
                shape,
                status: TensorStatus::ReadOnly,
                dtype,
            })
        });
        outputs.collect()
    }
}

/// Every tensor is there when it is read: it is an input, a constant or produced before, and not
/// consumed since.
fn check_order(
    graph: &GraphIr,
    constants: &BTreeMap<TensorId, TensorData>,
) -> Result<(), ProgramError> {
    let mut live: BTreeSet<TensorId> = graph.inputs.iter().copied().collect();
    live.extend(constants.keys());
    let mut consumed = BTreeSet::new();
    for operation in &graph.operations {
        let is_drop = matches!(operation, OperationIr::Drop(_));
        for input in operation.inputs() {
            let reason = match live.contains(&input.id) {
                true => None,
                false if is_drop => None,
                false if consumed.contains(&input.id) => Some("is read after its last use"),
                false => Some("is read before it is produced"),
            };
            if let Some(reason) = reason {
                return Err(invalid("tensor", input.id, reason));
            }
            if is_drop || input.status == TensorStatus::ReadWrite {
                live.remove(&input.id);
                consumed.insert(input.id);
            }
        }
        live.extend(operation.outputs().map(|output| output.id));
    }
    Ok(())
}

fn invalid(role: &'static str, id: TensorId, reason: &'static str) -> ProgramError {
    ProgramError::Invalid { role, id, reason }
}
