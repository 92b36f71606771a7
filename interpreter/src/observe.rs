//! What is to be known of an operation while it is executed: who looks on, a profiler or spans of the
//! feature `tracing`, and what quantized tensors and limits ask for. Without any there is one branch.

#[cfg(feature = "tracing")]
use alloc::string::String;
#[cfg(feature = "std")]
use std::time::Instant;

use burn_ir::{BackendIr, OperationIr};

use crate::context::{Context, Outcome};
use crate::operations;

#[cfg(feature = "std")]
struct Profiled {
    name: &'static str,
    bytes: [u64; 2],
    start: Instant,
}

impl<B: BackendIr> Context<B> {
    /// Execute an operation.
    #[inline]
    pub(crate) fn execute(&mut self, op: &OperationIr) -> Outcome {
        self.work_on(op, |ctx| operations::execute(ctx, op))
    }

    /// Do the work of an operation, which is [observed](Self::observe) where that is of use.
    #[inline]
    pub(crate) fn work_on(
        &mut self,
        op: &OperationIr,
        work: impl FnOnce(&mut Self) -> Outcome,
    ) -> Outcome {
        match self.is_looked_at {
            true => self.observe(op, work),
            false => work(self),
        }
    }

    /// Whether someone looks on, a tensor is quantized, or what a limit allows depends on what else
    /// there is: whether operations are [observed](Self::observe).
    pub(crate) fn choose_look(&mut self) {
        #[cfg(feature = "std")]
        let is_profiled = self.profiler.is_some();
        #[cfg(not(feature = "std"))]
        let is_profiled = false;
        let is_limited = self.small == 0;
        self.is_looked_at =
            cfg!(feature = "tracing") || is_profiled || self.in_use.is_any || is_limited;
    }

    /// Do the work of an operation, with all that may be of use to know of it.
    #[inline(never)]
    fn observe(&mut self, op: &OperationIr, work: impl FnOnce(&mut Self) -> Outcome) -> Outcome {
        self.meet(op);
        if self.small == 0 {
            self.pending = Some(self.pending(op));
        }
        #[cfg(feature = "tracing")]
        let _span = self.span(op);
        #[cfg(feature = "std")]
        let profiled = self.profiler.as_ref().map(|_| profiled(op));
        let outcome = work(self);
        self.pending = None;
        #[cfg(feature = "std")]
        if let Some(profiled) = profiled {
            self.record(profiled);
        }
        outcome
    }

    #[cfg(feature = "std")]
    fn record(&mut self, profiled: Profiled) {
        if let Some(profiler) = &mut self.profiler {
            if profiler.synchronises() {
                // A failure of the backend is told by the next read or sync.
                let _ = B::sync(&self.device);
            }
            profiler.record(profiled.name, profiled.start, profiled.bytes);
        }
    }

    #[cfg(feature = "tracing")]
    fn span(&mut self, op: &OperationIr) -> tracing::span::EnteredSpan {
        let span = tracing::trace_span!(
            "operation",
            name = crate::op_info(op).name,
            inputs = tracing::field::Empty,
            outputs = tracing::field::Empty,
        );
        if !span.is_disabled() {
            let named = self.named(op);
            span.record("inputs", list(named.inputs()));
            span.record("outputs", list(named.outputs()));
        }
        span.entered()
    }
}

#[cfg(feature = "std")]
fn profiled(op: &OperationIr) -> Profiled {
    use burn_ir::TensorIr;

    use crate::limits::declared_bytes;

    let bytes =
        |sum: u64, tensor: &TensorIr| sum.saturating_add(declared_bytes(tensor).unwrap_or(0));
    Profiled {
        name: crate::op_info(op).name,
        bytes: [op.inputs().fold(0, bytes), op.outputs().fold(0, bytes)],
        start: Instant::now(),
    }
}

/// Ids and shapes: `TensorId(1) [2, 3], TensorId(4) [3]`
#[cfg(feature = "tracing")]
fn list<'t>(tensors: impl Iterator<Item = &'t burn_ir::TensorIr>) -> String {
    let tensors = tensors.map(|tensor| alloc::format!("{} {}", tensor.id, tensor.shape));
    tensors.collect::<alloc::vec::Vec<String>>().join(", ")
}
