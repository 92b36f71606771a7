//! The custom operations of a graph, as their handlers are told of them: with ids in place of slots,
//! since a handler looks for its tensors among the handles. Handlers are not looked up at each replay:
//! it is enough to see that they are where they were.

use alloc::vec::Vec;

use burn_ir::{BackendIr, CustomOpIr, OperationIr};

use crate::context::{Context, Outcome};
use crate::guard::guard;
use crate::handler::run_handler;

/// A custom operation, beside the one that has slots.
pub(super) struct Custom {
    /// Where that stands among the operations.
    pub(super) position: usize,
    named: CustomOpIr,
    /// Where the handler is in the registry of the interpreter that the graph was last bound for.
    handler: Option<usize>,
}

impl Custom {
    /// Those among the operations, in their order.
    pub(super) fn all(operations: &[OperationIr]) -> Vec<Self> {
        let operations = operations.iter().enumerate();
        let customs = operations.filter_map(|(position, operation)| match operation {
            OperationIr::Custom(op) => Some(Self {
                position,
                named: op.clone(),
                handler: None,
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
        ctx.work_on(op, |ctx| {
            ctx.with_names(|ctx| guard(|| run_handler(self.handler, &self.named, ctx)))
        })
    }
}
