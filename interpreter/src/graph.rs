//! Graphs: a sequence of operations in relative form, executed again and again.
//!
//! In relative form the ids of tensors are positions, the dims of shapes are indices into a table,
//! and scalars and slice ranges are placeholders. [`GraphBindings`] say what they stand for in one
//! invocation.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use burn_backend::{ExecutionError, Slice};
use burn_ir::{
    BackendIr, GraphBindings, GraphIr, IrVisitorMut, OperationIr, ScalarIr, TensorError, TensorId,
    TensorIr,
};
use hashbrown::{HashMap, HashSet};
use portable_atomic::{AtomicU64, Ordering};

use crate::interpreter::TensorInterpreter;

/// The ids of intermediate tensors have this bit, those that clients count up do not.
const INTERMEDIATE: u64 = 1 << 63;

static INTERMEDIATES: AtomicU64 = AtomicU64::new(0);

/// Bindings that do not fit the graph they are for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BindingError {
    /// The graph is longer than the interpreter's [`Limits`](crate::Limits) allow.
    TooManyOps {
        /// The number of its operations.
        len: usize,
        /// The number allowed.
        limit: usize,
    },
    /// An input of the graph is bound to no tensor.
    UnboundInput {
        /// The input's id in the graph.
        relative: TensorId,
    },
    /// The graph asks for a dim that the table does not have.
    UnboundDim {
        /// The index of the dim.
        index: usize,
        /// The length of `GraphBindings::shapes`.
        len: usize,
    },
    /// The graph asks for a scalar that the table does not have.
    UnboundScalar {
        /// The placeholder.
        placeholder: u64,
        /// The length of `GraphBindings::scalars`.
        len: usize,
    },
    /// The graph asks for a slice range that the table does not have.
    UnboundRange {
        /// The placeholder.
        placeholder: isize,
        /// The length of `GraphBindings::ranges`.
        len: usize,
    },
}

impl fmt::Display for BindingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BindingError::TooManyOps { len, limit } => {
                write!(
                    f,
                    "the graph has {len} operations, but the limit is {limit}"
                )
            }
            BindingError::UnboundInput { relative } => write!(
                f,
                "the graph's input {relative} is bound to no tensor: add it to \
                 `GraphBindings::tensors`"
            ),
            BindingError::UnboundDim { index, len } => write!(
                f,
                "the graph asks for dim {index}, but `GraphBindings::shapes` has {len}"
            ),
            BindingError::UnboundScalar { placeholder, len } => write!(
                f,
                "the graph asks for scalar {placeholder}, but `GraphBindings::scalars` has {len}"
            ),
            BindingError::UnboundRange { placeholder, len } => write!(
                f,
                "the graph asks for range {placeholder}, but `GraphBindings::ranges` has {len}"
            ),
        }
    }
}

impl core::error::Error for BindingError {}

/// A sequence of operations in relative form.
///
/// Cheap to clone: the operations are shared.
#[derive(Clone, Debug)]
pub struct Graph {
    graph: Arc<GraphIr>,
}

impl Graph {
    /// A graph of these operations, which are in relative form.
    pub fn new(ops: Vec<OperationIr>) -> Self {
        Self {
            graph: Arc::new(GraphIr::new(ops)),
        }
    }

    /// The number of operations.
    pub fn len(&self) -> usize {
        self.graph.len()
    }

    /// Whether there is no operation.
    pub fn is_empty(&self) -> bool {
        self.graph.is_empty()
    }

    /// The operations, in relative form.
    pub fn operations(&self) -> &[OperationIr] {
        &self.graph.operations
    }

    /// The tensors that the graph reads and does not produce, by relative id.
    pub fn inputs(&self) -> &[TensorId] {
        &self.graph.inputs
    }

    /// The tensors that the graph produces and leaves alive, by relative id.
    pub fn outputs(&self) -> &[TensorId] {
        &self.graph.outputs
    }

    /// The operations of one invocation, with fresh ids for tensors that are not bound. Nothing is
    /// computed.
    ///
    /// A dim, scalar or range that its table does not have stays as it is, as in burn-router. Use
    /// [`try_bind`](Self::try_bind) where the bindings are not known to fit.
    pub fn bind(&self, bindings: GraphBindings) -> GraphIr {
        GraphIr::new(self.bound(bindings, |_| false).operations)
    }

    /// The operations of one invocation, as [`bind`](Self::bind) gives them.
    ///
    /// A `ScalarIr::UInt` is always a placeholder here. Scalars of other types are literals.
    ///
    /// # Errors
    ///
    /// When an input is not bound, or a table is too short.
    pub fn try_bind(&self, bindings: GraphBindings) -> Result<GraphIr, BindingError> {
        self.try_bound(bindings, |_| false)
            .map(|bound| GraphIr::new(bound.operations))
    }

    /// Execute one invocation.
    ///
    /// Intermediate tensors are released at the end, whether an operation reads them or not. An
    /// operation that fails costs its own outputs, as in
    /// [`register_op`](TensorInterpreter::register_op). With bindings that do not fit, nothing is
    /// executed and the bound outputs carry the error.
    pub fn replay<B: BackendIr>(
        &self,
        interpreter: &mut TensorInterpreter<B>,
        bindings: GraphBindings,
    ) {
        let outputs: HashSet<TensorId> = self.outputs().iter().copied().collect();
        let bound = bindings
            .tensors
            .iter()
            .filter(|(relative, _)| outputs.contains(relative));
        let bound: Vec<TensorId> = bound.map(|(_, concrete)| *concrete).collect();
        if let Err(error) = self.try_replay(interpreter, bindings) {
            let reason = alloc::format!("a graph was not replayed: {error}");
            let error = TensorError::new(ExecutionError::with_context(reason));
            for id in bound {
                interpreter.set_error(id, error.clone());
            }
        }
    }

    /// Execute one invocation, as [`replay`](Self::replay) does.
    ///
    /// # Errors
    ///
    /// With bindings that do not fit, or a graph that is too long. Nothing is executed then, and no
    /// tensor changes. A failed
    /// operation is no error here: its outputs carry it.
    pub fn try_replay<B: BackendIr>(
        &self,
        interpreter: &mut TensorInterpreter<B>,
        bindings: GraphBindings,
    ) -> Result<(), BindingError> {
        let (len, limit) = (self.len(), interpreter.limits().max_graph_ops);
        if len > limit {
            return Err(BindingError::TooManyOps { len, limit });
        }
        let bound = self.try_bound(bindings, |id| interpreter.context.knows(&id))?;
        for operation in bound.operations {
            interpreter.register_op(operation);
        }
        for id in bound.intermediates {
            interpreter.context.forget(id);
        }
        Ok(())
    }

    fn try_bound(
        &self,
        bindings: GraphBindings,
        is_taken: impl Fn(TensorId) -> bool,
    ) -> Result<Bound, BindingError> {
        let tensors = &bindings.tensors;
        let is_bound = |input: &&TensorId| tensors.iter().any(|(relative, _)| relative == *input);
        if let Some(relative) = self.inputs().iter().find(|input| !is_bound(input)) {
            return Err(BindingError::UnboundInput {
                relative: *relative,
            });
        }
        let bound = self.bound(bindings, is_taken);
        bound.error.map_or(Ok(()), Err)?;
        Ok(Bound {
            error: None,
            ..bound
        })
    }

    fn bound(&self, bindings: GraphBindings, is_taken: impl Fn(TensorId) -> bool) -> Bound {
        let concrete: HashSet<TensorId> = bindings.tensors.iter().map(|(_, id)| *id).collect();
        let mut binder = Binder {
            ids: bindings.tensors.into_iter().collect(),
            shapes: &bindings.shapes,
            scalars: &bindings.scalars,
            ranges: &bindings.ranges,
            is_taken: |id| concrete.contains(&id) || is_taken(id),
            intermediates: Vec::new(),
            error: None,
        };
        let mut operations = self.graph.operations.clone();
        for operation in &mut operations {
            operation.visit_mut(&mut binder);
        }
        Bound {
            operations,
            intermediates: binder.intermediates,
            error: binder.error,
        }
    }
}

/// A graph's operations for one invocation.
struct Bound {
    operations: Vec<OperationIr>,
    intermediates: Vec<TensorId>,
    /// The first thing that the bindings do not have.
    error: Option<BindingError>,
}

/// Puts what the bindings say in place of the relative form.
struct Binder<'b, F> {
    ids: HashMap<TensorId, TensorId>,
    shapes: &'b [usize],
    scalars: &'b [ScalarIr],
    ranges: &'b [Slice],
    is_taken: F,
    intermediates: Vec<TensorId>,
    error: Option<BindingError>,
}

impl<F: Fn(TensorId) -> bool> Binder<'_, F> {
    /// An id that no one uses, whatever ids the client chose.
    fn fresh_id(&self) -> TensorId {
        loop {
            let count = INTERMEDIATES.fetch_add(1, Ordering::Relaxed);
            let id = TensorId::new(count | INTERMEDIATE);
            if !(self.is_taken)(id) {
                return id;
            }
        }
    }

    fn report(&mut self, error: BindingError) {
        self.error.get_or_insert(error);
    }
}

impl<F: Fn(TensorId) -> bool> IrVisitorMut for Binder<'_, F> {
    fn visit_tensor_mut(&mut self, tensor: &mut TensorIr) {
        tensor.id = match self.ids.get(&tensor.id) {
            Some(id) => *id,
            None => {
                let id = self.fresh_id();
                self.ids.insert(tensor.id, id);
                self.intermediates.push(id);
                id
            }
        };
        for dim in tensor.shape.iter_mut() {
            match self.shapes.get(*dim) {
                Some(bound) => *dim = *bound,
                None => {
                    let len = self.shapes.len();
                    self.report(BindingError::UnboundDim { index: *dim, len });
                }
            }
        }
    }

    fn visit_scalar_mut(&mut self, scalar: &mut ScalarIr) {
        let ScalarIr::UInt(placeholder) = *scalar else {
            return;
        };
        let bound = usize::try_from(placeholder)
            .ok()
            .and_then(|index| self.scalars.get(index));
        match bound {
            Some(bound) => *scalar = *bound,
            None => {
                let len = self.scalars.len();
                self.report(BindingError::UnboundScalar { placeholder, len });
            }
        }
    }

    fn visit_range_mut(&mut self, range: &mut Slice) {
        let placeholder = range.start;
        let bound = usize::try_from(placeholder)
            .ok()
            .and_then(|index| self.ranges.get(index));
        match bound {
            Some(bound) => *range = *bound,
            None => {
                let len = self.ranges.len();
                self.report(BindingError::UnboundRange { placeholder, len });
            }
        }
    }
}
