//! Graphs: a sequence of operations in relative form, executed again and again.
//!
//! In relative form the ids of tensors are positions, the dims of shapes are indices into a table,
//! and scalars and slice ranges are placeholders. [`GraphBindings`] say what they stand for in one
//! invocation.
//!
//! [`Graph::bind`] makes operations of them that anyone can execute. [`Graph::replay`] does not: it
//! executes operations that were made ready once.

mod customs;
pub(crate) mod prepared;

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use burn_backend::{ExecutionError, Slice};
use burn_ir::{
    BackendIr, GraphBindings, GraphIr, IrVisitorMut, OperationIr, ScalarIr, TensorError, TensorId,
    TensorIr,
};
use burn_std::sync::Mutex;
use hashbrown::{HashMap, HashSet};
use portable_atomic::{AtomicU64, Ordering};

use crate::interpreter::TensorInterpreter;
use prepared::Prepared;

/// The ids of intermediate tensors have this bit, those that clients count up do not.
pub(crate) const INTERMEDIATE: u64 = 1 << 63;

static INTERMEDIATES: AtomicU64 = AtomicU64::new(0);

/// An id for an intermediate tensor: one that no one uses, whatever ids the client chose.
pub(crate) fn fresh_id(is_taken: impl Fn(TensorId) -> bool) -> TensorId {
    loop {
        let count = INTERMEDIATES.fetch_add(1, Ordering::Relaxed);
        let id = TensorId::new(count | INTERMEDIATE);
        if !is_taken(id) {
            return id;
        }
    }
}

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
/// It is made ready to be replayed when it first is. Cheap to clone: the operations are shared, and
/// what was made ready too.
#[derive(Clone)]
pub struct Graph {
    shared: Arc<Shared>,
}

struct Shared {
    graph: GraphIr,
    /// As many as were ever replayed at the same time. Boxed: a replay takes one out and puts it
    /// back.
    #[expect(clippy::vec_box, reason = "to move a box costs less")]
    prepared: Mutex<Vec<Box<Prepared>>>,
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graph")
            .field("graph", &self.shared.graph)
            .finish()
    }
}

impl Graph {
    /// A graph of these operations, which are in relative form.
    pub fn new(ops: Vec<OperationIr>) -> Self {
        Self {
            shared: Arc::new(Shared {
                graph: GraphIr::new(ops),
                prepared: Mutex::new(Vec::new()),
            }),
        }
    }

    /// The number of operations.
    pub fn len(&self) -> usize {
        self.shared.graph.len()
    }

    /// Whether there is no operation.
    pub fn is_empty(&self) -> bool {
        self.shared.graph.is_empty()
    }

    /// The operations, in relative form.
    pub fn operations(&self) -> &[OperationIr] {
        &self.shared.graph.operations
    }

    /// The tensors that the graph reads and does not produce, by relative id.
    pub fn inputs(&self) -> &[TensorId] {
        &self.shared.graph.inputs
    }

    /// The tensors that the graph produces and leaves alive, by relative id.
    pub fn outputs(&self) -> &[TensorId] {
        &self.shared.graph.outputs
    }

    /// The operations of one invocation, with fresh ids for tensors that are not bound. Nothing is
    /// computed.
    ///
    /// A dim, scalar or range that its table does not have stays as it is, as in burn-router. Use
    /// [`try_bind`](Self::try_bind) where the bindings are not known to fit.
    pub fn bind(&self, bindings: GraphBindings) -> GraphIr {
        GraphIr::new(self.bound(bindings).operations)
    }

    /// The operations of one invocation, as [`bind`](Self::bind) gives them.
    ///
    /// A `ScalarIr::UInt` is always a placeholder here. Scalars of other types are literals.
    ///
    /// # Errors
    ///
    /// When an input is not bound, or a table is too short.
    pub fn try_bind(&self, bindings: GraphBindings) -> Result<GraphIr, BindingError> {
        let tensors = bindings.tensors.iter();
        let bound: HashSet<TensorId> = tensors.map(|(relative, _)| *relative).collect();
        if let Some(relative) = self.inputs().iter().find(|input| !bound.contains(*input)) {
            return Err(BindingError::UnboundInput {
                relative: *relative,
            });
        }
        let bound = self.bound(bindings);
        bound.error.map_or(Ok(GraphIr::new(bound.operations)), Err)
    }

    /// Execute one invocation.
    ///
    /// Intermediate tensors are released at the end, whether an operation reads them or not. An
    /// operation that fails costs its own outputs, as in
    /// [`register_op`](TensorInterpreter::register_op). With bindings that do not fit, nothing is
    /// executed and the bound outputs carry the error; no input is consumed, those that the graph
    /// reads as `ReadWrite` included.
    pub fn replay<B: BackendIr>(
        &self,
        interpreter: &mut TensorInterpreter<B>,
        bindings: GraphBindings,
    ) {
        if let Err(error) = self.replay_bound(interpreter, &bindings) {
            let reason = alloc::format!("a graph was not replayed: {error}");
            let error = TensorError::new(ExecutionError::with_context(reason));
            let outputs: HashSet<&TensorId> = self.outputs().iter().collect();
            for (relative, concrete) in &bindings.tensors {
                if outputs.contains(relative) {
                    interpreter.context.claim(*concrete, &error);
                }
            }
        }
    }

    /// Execute one invocation, as [`replay`](Self::replay) does.
    ///
    /// # Errors
    ///
    /// With bindings that do not fit, or a graph that is too long. Nothing is executed then, and no
    /// tensor changes. A failed operation is no error here: its outputs carry it.
    pub fn try_replay<B: BackendIr>(
        &self,
        interpreter: &mut TensorInterpreter<B>,
        bindings: GraphBindings,
    ) -> Result<(), BindingError> {
        self.replay_bound(interpreter, &bindings)
    }

    fn replay_bound<B: BackendIr>(
        &self,
        interpreter: &mut TensorInterpreter<B>,
        bindings: &GraphBindings,
    ) -> Result<(), BindingError> {
        let (len, limit) = (self.len(), interpreter.limits().max_graph_ops);
        if len > limit {
            return Err(BindingError::TooManyOps { len, limit });
        }
        #[cfg(feature = "tracing")]
        let _span = tracing::trace_span!("replay", operations = len).entered();
        let prepared = self.shared.prepared.lock().pop();
        let mut prepared = prepared.unwrap_or_else(|| Box::new(Prepared::new(&self.shared.graph)));
        let replayed = match prepared.bind(&mut interpreter.context, bindings) {
            true if prepared.has_shared_outputs(&interpreter.context) => {
                interpreter.context.close_slots();
                self.replay_one_by_one(interpreter, bindings)
            }
            true => {
                // The outputs of an operation that fails carry its error.
                prepared.run(&mut interpreter.context, |_, _| false);
                Ok(())
            }
            false => self.try_bind(bindings.clone()).map(drop),
        };
        self.shared.prepared.lock().push(prepared);
        replayed
    }

    /// Execute the operations of one invocation as a stream, and release the intermediate tensors.
    fn replay_one_by_one<B: BackendIr>(
        &self,
        interpreter: &mut TensorInterpreter<B>,
        bindings: &GraphBindings,
    ) -> Result<(), BindingError> {
        let tensors = bindings.tensors.iter();
        let bound: HashSet<TensorId> = tensors.map(|(_, concrete)| *concrete).collect();
        let operations = self.try_bind(bindings.clone())?.operations;
        let outputs = operations.iter().flat_map(|op| op.outputs());
        let made: Vec<TensorId> = outputs.map(|output| output.id).collect();
        for operation in operations {
            interpreter.register_op(operation);
        }
        for id in made.into_iter().filter(|id| !bound.contains(id)) {
            interpreter.context.forget(id);
        }
        Ok(())
    }

    fn bound(&self, bindings: GraphBindings) -> Bound {
        let mut binder = Binder {
            concrete: bindings.tensors.iter().map(|(_, id)| *id).collect(),
            ids: bindings.tensors.into_iter().collect(),
            shapes: &bindings.shapes,
            scalars: &bindings.scalars,
            ranges: &bindings.ranges,
            error: None,
        };
        let mut operations = self.shared.graph.operations.clone();
        for operation in &mut operations {
            operation.visit_mut(&mut binder);
        }
        Bound {
            operations,
            error: binder.error,
        }
    }
}

/// A graph's operations for one invocation.
struct Bound {
    operations: Vec<OperationIr>,
    /// The first thing that the bindings do not have.
    error: Option<BindingError>,
}

/// Puts what the bindings say in place of the relative form.
struct Binder<'b> {
    concrete: HashSet<TensorId>,
    ids: HashMap<TensorId, TensorId>,
    shapes: &'b [usize],
    scalars: &'b [ScalarIr],
    ranges: &'b [Slice],
    error: Option<BindingError>,
}

impl Binder<'_> {
    fn report(&mut self, error: BindingError) {
        self.error.get_or_insert(error);
    }
}

impl IrVisitorMut for Binder<'_> {
    fn visit_tensor_mut(&mut self, tensor: &mut TensorIr) {
        let concrete = &self.concrete;
        let fresh = || fresh_id(|id| concrete.contains(&id));
        tensor.id = *self.ids.entry(tensor.id).or_insert_with(fresh);
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
