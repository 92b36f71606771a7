//! What the operations work on, the functions that the generated code calls by kind, and what becomes
//! of a failure.

use alloc::boxed::Box;
use alloc::vec::Vec;

use burn_backend::{
    ExecutionError, Shape,
    tensor::{BoolTensor, FloatTensor, IntTensor},
};
use burn_ir::{BackendIr, OperationIr, TensorIr};
use burn_std::sync::Mutex;

use crate::collective::{BackendCollective, Collective};
use crate::custom_op::CustomOpRegistry;
use crate::error::{Fault, OpError};
use crate::kind::{Bool, Float, Int};
use crate::limits::Limits;
use crate::live::{LiveBytes, Pending};
use crate::quantized::InUse;
use crate::slots::Slots;
use crate::tensors::Tensors;

/// What a step of an operation comes to. The fault is boxed: a word on the way that has none.
pub(crate) type Outcome<T = ()> = Result<T, Box<Fault>>;

/// The outcome of an operation that nobody executes.
#[cold]
pub(crate) fn unsupported() -> Outcome {
    Err(Box::new(Fault::Unsupported))
}

/// The outcome of an operation whose group is not part of this build.
#[cold]
#[allow(dead_code, reason = "with all groups there is none")]
pub(crate) fn disabled(feature: &'static str) -> Outcome {
    Err(Box::new(Fault::Disabled { feature }))
}

/// A field of the IR as the type the backend's method takes.
pub(crate) fn convert<T: Clone, U: From<T>>(field: &T) -> U {
    field.clone().into()
}

/// The shape that an output declares, for the backend's call.
///
/// A copy of its dims in one go, where `Clone` goes one by one.
pub(crate) fn shape_of(out: &TensorIr) -> Shape {
    match out.shape[..] {
        [] => Shape::new([]),
        [a] => Shape::new([a]),
        [a, b] => Shape::new([a, b]),
        [a, b, c] => Shape::new([a, b, c]),
        [a, b, c, d] => Shape::new([a, b, c, d]),
        _ => out.shape.clone(),
    }
}

/// The handles and what else the operations need.
pub(crate) struct Context<B: BackendIr> {
    pub(crate) tensors: Tensors<B>,
    pub(crate) device: B::Device,
    pub(crate) custom_ops: CustomOpRegistry<B>,
    /// Where the handler of the custom operation before was found.
    pub(crate) handler: Option<usize>,
    pub(crate) collective: Box<dyn Collective<B>>,
    pub(crate) limits: Limits,
    /// Outputs of no more elements are within the limits.
    pub(crate) small: usize,
    pub(crate) live_bytes: LiveBytes,
    /// Of the operation at hand, where limits count.
    pub(crate) pending: Option<Pending>,
    pub(crate) slots: Slots<B>,
    pub(crate) in_use: InUse,
    /// Whether operations are executed with a closer look: see [`choose_look`](Self::choose_look).
    pub(crate) is_looked_at: bool,
    #[cfg(feature = "std")]
    pub(crate) profiler: Option<Box<crate::Profiler>>,
    /// A failure that no tensor could carry, for the next `sync` to report. The first is kept.
    pub(crate) deferred: Mutex<Option<ExecutionError>>,
}

impl<B: BackendIr> Context<B> {
    pub(crate) fn new(device: B::Device, custom_ops: CustomOpRegistry<B>) -> Self {
        let limits = Limits::default();
        Self {
            tensors: Tensors::default(),
            device,
            custom_ops,
            handler: None,
            collective: Box::new(BackendCollective::default()),
            small: limits.small(),
            limits,
            live_bytes: LiveBytes::default(),
            pending: None,
            slots: Slots::default(),
            in_use: InUse::default(),
            is_looked_at: cfg!(feature = "tracing"),
            #[cfg(feature = "std")]
            profiler: None,
            deferred: Mutex::new(None),
        }
    }

    /// Settle a failed operation: its last uses are over, its outputs carry the error.
    #[cold]
    pub(crate) fn fail(&mut self, op: &OperationIr, fault: Fault) -> OpError {
        let op_error = match self.slots.is_replaying() {
            false => OpError::new(op, fault),
            true => {
                let named = self.named(op);
                OpError::new(&named, self.with_names(|ctx| ctx.renamed(&named, fault)))
            }
        };
        let error = op_error.tensor_error();
        self.pending = None;
        self.settle(op, &error);
        self.live_bytes.lose_count();
        self.slots.is_clean = false;
        if op_error.outputs().is_empty() {
            self.defer(error.cause().clone());
        }
        op_error
    }

    /// The fault of an operation whose tensors had slots in place of ids.
    fn renamed(&mut self, named: &OperationIr, fault: Fault) -> Fault {
        // A custom operation has ids already, and its handler must not be run on the way.
        if !fault.is_refusal() || matches!(named, OperationIr::Custom(_)) {
            return fault;
        }
        // The checks refuse it again, and call the tensors by their ids.
        match crate::operations::execute(self, named) {
            Err(renamed) if renamed.is_refusal() => *renamed,
            _ => fault,
        }
    }

    /// Leave `error` for the next `sync`.
    pub(crate) fn defer(&mut self, error: ExecutionError) {
        self.deferred.lock().get_or_insert(error);
    }
}

/// Reading and writing by kind, as the generated functions spell it.
impl<B: BackendIr> Context<B> {
    pub(crate) fn float(&mut self, tensor: &TensorIr) -> Outcome<FloatTensor<B>> {
        self.read::<Float>(tensor)
    }

    pub(crate) fn int(&mut self, tensor: &TensorIr) -> Outcome<IntTensor<B>> {
        self.read::<Int>(tensor)
    }

    pub(crate) fn bool(&mut self, tensor: &TensorIr) -> Outcome<BoolTensor<B>> {
        self.read::<Bool>(tensor)
    }

    pub(crate) fn optional_float(
        &mut self,
        tensor: &Option<TensorIr>,
    ) -> Outcome<Option<FloatTensor<B>>> {
        self.read_optional::<Float>(tensor)
    }

    pub(crate) fn optional_bool(
        &mut self,
        tensor: &Option<TensorIr>,
    ) -> Outcome<Option<BoolTensor<B>>> {
        self.read_optional::<Bool>(tensor)
    }

    pub(crate) fn float_list(&mut self, tensors: &[TensorIr]) -> Outcome<Vec<FloatTensor<B>>> {
        self.read_list::<Float>(tensors)
    }

    pub(crate) fn int_list(&mut self, tensors: &[TensorIr]) -> Outcome<Vec<IntTensor<B>>> {
        self.read_list::<Int>(tensors)
    }

    pub(crate) fn bool_list(&mut self, tensors: &[TensorIr]) -> Outcome<Vec<BoolTensor<B>>> {
        self.read_list::<Bool>(tensors)
    }

    pub(crate) fn admit_float(&mut self, out: &TensorIr) -> Outcome {
        self.admit::<Float>(out)
    }

    pub(crate) fn admit_int(&mut self, out: &TensorIr) -> Outcome {
        self.admit::<Int>(out)
    }

    pub(crate) fn admit_bool(&mut self, out: &TensorIr) -> Outcome {
        self.admit::<Bool>(out)
    }

    pub(crate) fn admit_optional_float(&mut self, out: &Option<TensorIr>) -> Outcome {
        out.as_ref().map_or(Ok(()), |out| self.admit::<Float>(out))
    }

    pub(crate) fn put_float(&mut self, out: &TensorIr, output: FloatTensor<B>) -> Outcome {
        self.write::<Float>(out, output)
    }

    pub(crate) fn put_int(&mut self, out: &TensorIr, output: IntTensor<B>) -> Outcome {
        self.write::<Int>(out, output)
    }

    pub(crate) fn put_bool(&mut self, out: &TensorIr, output: BoolTensor<B>) -> Outcome {
        self.write::<Bool>(out, output)
    }

    /// An output that the IR declares must be there; one that it does not is let go.
    pub(crate) fn put_optional_float(
        &mut self,
        out: &Option<TensorIr>,
        output: Option<FloatTensor<B>>,
    ) -> Outcome {
        match (out, output) {
            (Some(out), Some(output)) => self.put_float(out, output),
            (Some(out), None) => {
                let id = self.name(out.id);
                Err(Box::new(Fault::MissingOutput { id }))
            }
            (None, _) => Ok(()),
        }
    }
}
