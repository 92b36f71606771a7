//! The dispatcher of burn-router for one backend, and nothing else: what it costs to compile.

use burn_flex::Flex;
use burn_ir::{OperationIr, TensorId, TensorIr};
use burn_router::TensorInterpreter;

fn main() {
    let mut interpreter = TensorInterpreter::<Flex>::new(Default::default());
    let tensor = TensorIr::uninit(TensorId::new(0), [1].into(), burn_backend::DType::F32);
    interpreter.register_op(OperationIr::Drop(tensor));
}
