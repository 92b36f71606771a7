//! The custom operations of a graph, as their handlers are told of them: with ids in place of slots,
//! since a handler looks for its tensors among the handles. Their handlers are found once.

use alloc::vec::Vec;

use burn_ir::{BackendIr, CustomOpIr, OperationIr};

use crate::context::{Context, Outcome};
use crate::custom::run_handler;
use crate::guard::guard;

/// A custom operation, beside the one that has slots.
pub(super) struct Custom {
    /// Where that stands among the operations.
    pub(super) position: usize,
    named: CustomOpIr,
    /// Where the handler was, in the registry of the interpreter that replayed the graph before.
    handler: usize,
}

impl Custom {
    /// Those among the operations, in their order.
    pub(super) fn all(operations: &[OperationIr]) -> Vec<Self> {
        let operations = operations.iter().enumerate();
        let customs = operations.filter_map(|(position, operation)| match operation {
            OperationIr::Custom(op) => Some(Self {
                position,
                named: op.clone(),
                handler: 0,
            }),
            _ => None,
        });
        customs.collect()
    }

    /// What the operation declares is another matter than before.
    pub(super) fn renew(&mut self, operations: &[OperationIr]) {
        if let Some(OperationIr::Custom(op)) = operations.get(self.position) {
            self.named = op.clone();
        }
    }

    /// Put the ids of this replay in place, and see to it that the handler is found.
    pub(super) fn bind<B: BackendIr>(&mut self, operations: &[OperationIr], ctx: &mut Context<B>) {
        let Some(OperationIr::Custom(op)) = operations.get(self.position) else {
            return;
        };
        let named = self.named.inputs.iter_mut().chain(&mut self.named.outputs);
        for (tensor, named) in op.inputs.iter().chain(&op.outputs).zip(named) {
            named.id = ctx.name(tensor.id);
        }
        self.handler = ctx.custom_ops.find(&op.id, self.handler);
    }

    /// Execute the operation, which is `op` with slots in place of ids.
    pub(super) fn execute<B: BackendIr>(&self, op: &OperationIr, ctx: &mut Context<B>) -> Outcome {
        let work = |ctx: &mut Context<B>| {
            ctx.with_names(|ctx| guard(|| run_handler(self.handler, &self.named, ctx)))
        };
        match ctx.is_looked_at {
            true => ctx.observe(op, work),
            false => work(ctx),
        }
    }
}
