//! What cannot be executed, told before anything is.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use burn_backend::{DType, DTypeUsage};
use burn_ir::{BackendIr, OperationIr};

use crate::info::{OpInfo, OpStatus};
use crate::interpreter::TensorInterpreter;
use crate::quantized;

/// An operation that the interpreter or its backend cannot execute, whatever its tensors hold.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unsupported {
    /// The operation.
    pub op: &'static OpInfo,
    /// The id of the custom operation, if it is one.
    pub custom_op: Option<String>,
    /// Why it cannot be executed.
    pub reason: String,
    /// Where it stands for the first time, counted from 0.
    pub position: usize,
    /// How often it stands there.
    pub count: usize,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "operation `{}`", self.op.name)?;
        if let Some(id) = &self.custom_op {
            write!(f, " (`{id}`)")?;
        }
        write!(f, " at position {}", self.position)?;
        match self.count {
            1 => {}
            2 => write!(f, " and once more")?,
            count => write!(f, " and {} times more", count - 1)?,
        }
        write!(f, ": {}", self.reason)
    }
}

impl core::error::Error for Unsupported {}

/// A look ahead.
impl<B: BackendIr> TensorInterpreter<B> {
    /// Whether these operations can be executed: none is unsupported, each custom operation has a
    /// handler, and the backend has the dtypes of all tensors. Nothing is executed.
    ///
    /// What depends on data, on shapes or on other devices shows only when an operation is
    /// executed.
    ///
    /// # Errors
    ///
    /// Every operation that cannot be executed, once for each reason, in the order of the stream.
    pub fn preflight(&self, operations: &[OperationIr]) -> Result<(), Vec<Unsupported>> {
        let mut found: Vec<Unsupported> = Vec::new();
        for (position, operation) in operations.iter().enumerate() {
            let Some(reason) = self.obstacle(operation) else {
                continue;
            };
            let op = crate::op_info(operation);
            let custom_op = match operation {
                OperationIr::Custom(custom) => Some(custom.id.clone()),
                _ => None,
            };
            let same = |known: &&mut Unsupported| {
                known.op == op && known.custom_op == custom_op && known.reason == reason
            };
            match found.iter_mut().find(same) {
                Some(known) => known.count += 1,
                None => found.push(Unsupported {
                    op,
                    custom_op,
                    reason,
                    position,
                    count: 1,
                }),
            }
        }
        match found.is_empty() {
            true => Ok(()),
            false => Err(found),
        }
    }

    /// Why the operation cannot be executed.
    fn obstacle(&self, operation: &OperationIr) -> Option<String> {
        let op = crate::op_info(operation);
        if let OpStatus::Unsupported { reason } = op.status {
            return Some(reason.to_string());
        }
        if let Some(feature) = crate::operations::missing_feature(operation) {
            let reason = alloc::format!("the interpreter is built without the feature `{feature}`");
            return Some(reason);
        }
        if let OperationIr::Custom(custom) = operation
            && self.context.custom_ops.find(&custom.id, None).is_none()
        {
            return Some("no handler is registered under this id".to_string());
        }
        let mut tensors = operation.nodes().into_iter();
        tensors.find_map(|tensor| match tensor.dtype {
            DType::QFloat(_) => quantized::obstacle::<B>(&self.context.device, tensor),
            dtype if self.stores(dtype) => None,
            dtype => Some(alloc::format!("the backend has no {dtype:?} tensors")),
        })
    }

    /// Whether the backend has tensors of this dtype.
    fn stores(&self, dtype: DType) -> bool {
        let dtype = match dtype {
            // Backends without such a type of their own use f32 for it.
            DType::Flex32 => DType::F32,
            dtype => dtype,
        };
        self.dtype_usage(dtype).contains(DTypeUsage::Storage)
    }
}
