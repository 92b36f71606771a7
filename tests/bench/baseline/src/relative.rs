//! A case as a graph: its stream, several times over, in relative form.

use burn_backend::Slice;
use burn_ir::{
    GraphBindings, IrVisitorMut, OperationIr, ScalarIr, TensorId, TensorIr, TensorStatus,
};

use crate::case::Case;

/// The operations of a graph and its bindings.
pub(crate) struct Relative<'c> {
    case: &'c Case,
    pub(crate) ops: Vec<OperationIr>,
    bindings: GraphBindings,
}

impl<'c> Relative<'c> {
    /// At least as many operations of the case, `Drop` not counted.
    pub(crate) fn of(case: &'c Case, ops: usize) -> Self {
        let mut graph = Vec::new();
        let mut relativizer = Relativizer::default();
        let rounds = ops.div_ceil(case.len());
        for round in 0..rounds {
            let (ops, mut ids) = case.round(round);
            for op in ops {
                let mut op = op.clone();
                op.visit_mut(&mut ids);
                op.visit_mut(&mut relativizer);
                graph.push(op);
            }
        }
        let mut tensors = relativizer.inputs;
        if let Some((input, output)) = case.carried {
            let first = case.id(input, 0);
            for (_, concrete) in tensors.iter_mut().filter(|(_, id)| *id == first) {
                *concrete = input;
            }
            let last = case.id(output, rounds - 1);
            let mut current = relativizer.current.iter();
            let last = current.find(|(concrete, _)| *concrete == last);
            tensors.extend(last.map(|(_, relative)| (*relative, output)));
        }
        Self {
            case,
            ops: graph,
            bindings: GraphBindings {
                tensors,
                shapes: relativizer.shapes,
                scalars: relativizer.scalars,
                ranges: relativizer.ranges,
            },
        }
    }

    /// The bindings of a replay.
    pub(crate) fn bindings(&self, round: usize) -> GraphBindings {
        let mut bindings = self.bindings.clone();
        for (_, id) in &mut bindings.tensors {
            *id = self.case.id(*id, round);
        }
        bindings
    }
}

#[derive(Default)]
struct Relativizer {
    /// What each concrete id stands for at this point.
    current: Vec<(TensorId, TensorId)>,
    inputs: Vec<(TensorId, TensorId)>,
    next: u64,
    shapes: Vec<usize>,
    scalars: Vec<ScalarIr>,
    ranges: Vec<Slice>,
}

impl IrVisitorMut for Relativizer {
    fn visit_tensor_mut(&mut self, tensor: &mut TensorIr) {
        let known = self.current.iter().position(|(id, _)| *id == tensor.id);
        let relative = match (known, tensor.status) {
            (Some(position), TensorStatus::ReadOnly | TensorStatus::ReadWrite) => {
                self.current[position].1
            }
            _ => {
                let relative = TensorId::new(self.next);
                self.next += 1;
                if let Some(position) = known {
                    self.current.swap_remove(position);
                }
                self.current.push((tensor.id, relative));
                if tensor.status != TensorStatus::NotInit {
                    self.inputs.push((relative, tensor.id));
                }
                relative
            }
        };
        tensor.id = relative;
        for dim in tensor.shape.iter_mut() {
            let known = self.shapes.iter().position(|size| size == dim);
            *dim = known.unwrap_or_else(|| {
                self.shapes.push(*dim);
                self.shapes.len() - 1
            });
        }
    }

    fn visit_scalar_mut(&mut self, scalar: &mut ScalarIr) {
        self.scalars.push(*scalar);
        *scalar = ScalarIr::UInt(self.scalars.len() as u64 - 1);
    }

    fn visit_range_mut(&mut self, range: &mut Slice) {
        self.ranges.push(*range);
        *range = Slice::new(self.ranges.len() as isize - 1, None, 1);
    }
}
