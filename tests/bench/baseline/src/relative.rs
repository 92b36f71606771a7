//! A case as a graph: its stream, several times over, in relative form.

use burn_backend::Slice;
use burn_ir::{
    GraphBindings, IrVisitorMut, OperationIr, ScalarIr, TensorId, TensorIr, TensorStatus,
};

use crate::case::Case;

/// The operations of a graph and the bindings of its first replays, after which they repeat.
pub(crate) struct Relative {
    pub(crate) ops: Vec<OperationIr>,
    pub(crate) bindings: Vec<GraphBindings>,
}

impl Relative {
    /// At least as many operations of the case, `Drop` not counted.
    pub(crate) fn of(case: &Case, ops: usize) -> Self {
        let mut graph = Vec::new();
        let mut relativizer = Relativizer::default();
        let rounds = ops.div_ceil(case.len());
        for round in case.stream().iter().cycle().take(rounds) {
            for op in round {
                let mut op = op.clone();
                op.visit_mut(&mut relativizer);
                graph.push(op);
            }
        }
        let Relativizer {
            current,
            inputs,
            shapes,
            scalars,
            ranges,
            ..
        } = relativizer;
        // What the last round leaves, under the id that an even or an odd number of rounds leads to.
        let last = case.carried.and_then(|(input, output)| {
            let last = TensorId::new(if rounds.is_multiple_of(2) {
                input
            } else {
                output
            });
            let last = current.iter().find(|(concrete, _)| *concrete == last)?;
            Some(last.1)
        });
        let bind = |input: u64, output: u64| {
            let mut tensors = inputs.clone();
            for (_, concrete) in &mut tensors {
                if Some(*concrete) == case.carried.map(|(first, _)| TensorId::new(first)) {
                    *concrete = TensorId::new(input);
                }
            }
            tensors.extend(last.map(|relative| (relative, TensorId::new(output))));
            GraphBindings {
                tensors,
                shapes: shapes.clone(),
                scalars: scalars.clone(),
                ranges: ranges.clone(),
            }
        };
        let bindings = match case.carried {
            Some((input, output)) => vec![bind(input, output), bind(output, input)],
            None => vec![bind(0, 0)],
        };
        Self {
            ops: graph,
            bindings,
        }
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
