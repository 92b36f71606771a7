//! The dispatcher of burn-interpreter for one backend, and nothing else: what it costs to compile.

use burn_flex::Flex;
use burn_interpreter::TensorInterpreter;
use burn_ir::{OperationIr, TensorId, TensorIr};

fn main() {
    let mut interpreter = TensorInterpreter::<Flex>::new(Default::default());
    let tensor = TensorIr::uninit(TensorId::new(0), [1].into(), burn_backend::DType::F32);
    interpreter.register_op(OperationIr::Drop(tensor));
}
