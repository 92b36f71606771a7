//! The two interpreters behind one face.

use std::panic::{AssertUnwindSafe, catch_unwind};

use burn_backend::TensorData;
use burn_ir::{BackendIr, OperationIr, TensorId, TensorIr, TensorStatus};
use burn_std::future::block_on;

use crate::quietly;

/// An interpreter, with failures as texts: upstream's are panics.
pub trait Engine<B: BackendIr> {
    /// On the backend's default device.
    fn start() -> Self;
    /// Upload a tensor.
    fn upload(&mut self, id: TensorId, data: TensorData) -> Result<(), String>;
    /// Execute an operation.
    fn execute(&mut self, op: OperationIr) -> Result<(), String>;
    /// Read a tensor.
    fn read(&mut self, tensor: TensorIr) -> Result<TensorData, String>;
}

impl<B: BackendIr> Engine<B> for burn_interpreter::TensorInterpreter<B> {
    fn start() -> Self {
        Self::new(B::Device::default())
    }

    fn upload(&mut self, id: TensorId, data: TensorData) -> Result<(), String> {
        quietly(|| self.try_register_tensor_data_id(id, data)).map_err(|fault| fault.to_string())
    }

    fn execute(&mut self, op: OperationIr) -> Result<(), String> {
        quietly(|| self.try_register_op(op)).map_err(|error| error.to_string())
    }

    fn read(&mut self, tensor: TensorIr) -> Result<TensorData, String> {
        quietly(|| block_on(self.read_tensor_async(tensor))).map_err(|error| error.to_string())
    }
}

impl<B: BackendIr> Engine<B> for burn_router::TensorInterpreter<B> {
    fn start() -> Self {
        Self::new(B::Device::default())
    }

    fn upload(&mut self, id: TensorId, data: TensorData) -> Result<(), String> {
        caught(|| self.register_tensor_data_id(id, data))
    }

    fn execute(&mut self, op: OperationIr) -> Result<(), String> {
        caught(|| self.register_op(op))
    }

    fn read(&mut self, tensor: TensorIr) -> Result<TensorData, String> {
        caught(|| block_on(self.read_tensor_async(tensor)))?.map_err(|error| error.to_string())
    }
}

/// Read `tensor` and leave it where it is.
pub fn read<B: BackendIr>(
    engine: &mut impl Engine<B>,
    tensor: &TensorIr,
) -> Result<TensorData, String> {
    engine.read(TensorIr {
        status: TensorStatus::ReadOnly,
        ..tensor.clone()
    })
}

fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    quietly(|| catch_unwind(AssertUnwindSafe(work))).map_err(|payload| {
        let text = payload.downcast_ref::<String>().cloned();
        let text = text.or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).into()));
        text.unwrap_or_else(|| "a panic without a message".into())
    })
}
