//! A program made ready to be run: what does not change from run to run is done once.

use alloc::vec::Vec;

use burn_backend::TensorData;
use burn_ir::{BackendIr, GraphBindings, OperationIr, TensorId, TensorIr, TensorStatus};
use burn_std::future::block_on;
use hashbrown::HashSet;

use super::{Program, ProgramError, check_inputs};
use crate::graph::prepared::Prepared;
use crate::interpreter::TensorInterpreter;
use crate::profile::Profiler;

/// A [`Program`] on a device, with its constants uploaded.
///
/// Made by [`Program::prepare`].
pub struct PreparedProgram<B: BackendIr> {
    interpreter: TensorInterpreter<B>,
    graph: Prepared,
    bindings: GraphBindings,
    inputs: Vec<TensorIr>,
    outputs: Vec<TensorIr>,
    /// The constants that the graph consumes, and the names under which they stay.
    consumed: Vec<(TensorId, TensorId)>,
    /// The boundary tensors that do not outlive a run.
    passing: Vec<TensorId>,
}

impl<B: BackendIr> core::fmt::Debug for PreparedProgram<B> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("PreparedProgram")
            .field("interpreter", &self.interpreter)
            .field("inputs", &self.inputs)
            .field("outputs", &self.outputs)
            .finish_non_exhaustive()
    }
}

impl<B: BackendIr> PreparedProgram<B> {
    pub(super) fn new(
        program: &Program,
        mut interpreter: TensorInterpreter<B>,
    ) -> Result<Self, ProgramError> {
        let (ids, consumable) = ids(program);
        let mut consumed = Vec::new();
        for (id, data) in &program.constants {
            let mut stays = *id;
            if consumable.contains(id) {
                while ids.contains(&stays) {
                    stays = interpreter.fresh_id();
                }
                consumed.push((*id, stays));
            }
            interpreter
                .try_register_tensor_data_id(stays, data.clone())
                .map_err(|source| ProgramError::Upload { id: *id, source })?;
        }
        let inputs = program.inputs.iter().map(|input| input.id);
        let outputs = program.outputs.iter().map(|output| output.id);
        let passing: Vec<TensorId> = inputs
            .chain(outputs.filter(|id| !program.constants.contains_key(id)))
            .chain(consumed.iter().map(|(id, _)| *id))
            .collect();
        let constants = program.constants.keys();
        let boundary = constants.chain(&passing).map(|id| (*id, *id));
        Ok(Self {
            interpreter,
            graph: Prepared::concrete(&program.graph),
            bindings: GraphBindings {
                tensors: boundary.collect(),
                shapes: Vec::new(),
                scalars: Vec::new(),
                ranges: Vec::new(),
            },
            inputs: program.inputs.clone(),
            outputs: program.outputs.clone(),
            consumed,
            passing,
        })
    }

    /// The same program, its operations recorded by the profiler.
    pub fn with_profiler(mut self, profiler: Profiler) -> Self {
        self.interpreter = self.interpreter.with_profiler(profiler);
        self
    }

    /// Stop recording, and return the profiler, if one is set.
    pub fn take_profiler(&mut self) -> Option<Profiler> {
        self.interpreter.take_profiler()
    }

    /// Execute the program with one tensor for each input, and return one for each output, as
    /// [`Program::run`] does.
    ///
    /// # Errors
    ///
    /// When an input is not of the captured shape and dtype, an operation fails, or an output
    /// cannot be read. The program can be run again all the same.
    pub fn run(&mut self, inputs: Vec<TensorData>) -> Result<Vec<TensorData>, ProgramError> {
        check_inputs(&self.inputs, &inputs)?;
        let outputs = self.execute(inputs);
        for id in &self.passing {
            self.interpreter.context.forget(*id);
        }
        outputs
    }

    fn execute(&mut self, inputs: Vec<TensorData>) -> Result<Vec<TensorData>, ProgramError> {
        let interpreter = &mut self.interpreter;
        for (id, stays) in &self.consumed {
            interpreter
                .try_register_alias(*id, *stays)
                .map_err(|source| ProgramError::Upload { id: *id, source })?;
        }
        for (input, data) in self.inputs.iter().zip(inputs) {
            interpreter
                .try_register_tensor_data_id(input.id, data)
                .map_err(|source| ProgramError::Upload {
                    id: input.id,
                    source,
                })?;
        }
        let mut failure = None;
        if self.graph.bind(&mut interpreter.context, &self.bindings) {
            self.graph
                .run(&mut interpreter.context, |position, source| {
                    failure = Some(ProgramError::Operation { position, source });
                    true
                });
        }
        if let Some(failure) = failure {
            return Err(failure);
        }
        let outputs = self.outputs.iter().map(|output| {
            let read = block_on(interpreter.read_tensor_async(output.clone()));
            read.map_err(|source| ProgramError::Output {
                id: output.id,
                source,
            })
        });
        outputs.collect()
    }
}

/// The ids of the graph, and of these the tensors that it drops or changes in place.
fn ids(program: &Program) -> (HashSet<TensorId>, HashSet<TensorId>) {
    let (mut ids, mut consumed) = (HashSet::new(), HashSet::new());
    for operation in &program.graph.operations {
        let is_drop = matches!(operation, OperationIr::Drop(_));
        for tensor in operation.nodes() {
            ids.insert(tensor.id);
            if is_drop || tensor.status == TensorStatus::ReadWrite {
                consumed.insert(tensor.id);
            }
        }
    }
    (ids, consumed)
}
