//! Inputs that went wrong in software of this kind, under the ids of the collection they are from.
//!
//! An operation that cannot be executed costs its own outputs, is told from a panic of the backend
//! where it can be foreseen, and leaves every other tensor as it was.
#![expect(
    deprecated,
    reason = "burn-ndarray is on its way out, and still a second implementation"
)]

mod booleans;
mod creation;
mod geometry;
mod indices;
mod limits;
mod movement;
mod numeric;
mod quantized;
mod scalars;

use burn_backend::{DType, TensorData};
use burn_flex::Flex;
use burn_interpreter::{Fault, OpError, TensorInterpreter};
use burn_ir::{BackendIr, TensorId, TensorStatus};
use burn_ndarray::NdArray;
use interpreter_tests::stream::ro;
use interpreter_tests::{Case, Tensors, quietly, read};

const F32: DType = DType::F32;
const I64: DType = DType::I64;

/// What came of a case: its outputs or its error.
type Outputs = Result<Vec<TensorData>, OpError>;

/// Execute a case beside a tensor that has no part in it, and see that nothing but the outputs is
/// lost.
fn run<B: BackendIr>(case: &Case) -> Outputs {
    let bystander = TensorId::new(1_000_000);
    let data = TensorData::from([1.0f32, 2.0]);
    let mut interpreter = TensorInterpreter::<B>::new(B::Device::default());
    interpreter.register_tensor_data_id(bystander, data.clone());
    for (id, data) in &case.inputs {
        interpreter
            .try_register_tensor_data_id(*id, data.clone())
            .expect("the inputs are fine");
    }
    let op = case.op_with(TensorStatus::ReadOnly);
    let done = quietly(|| interpreter.try_register_op(op.clone()));
    let outputs: Vec<_> = op
        .outputs()
        .map(|output| read(&mut interpreter, output))
        .collect();

    let tensor = ro(bystander.value(), &[2], F32);
    assert_eq!(read(&mut interpreter, &tensor), Ok(data));
    for (id, data) in &case.inputs {
        let tensor = ro(id.value(), data.shape(), data.dtype());
        assert!(read(&mut interpreter, &tensor).is_ok(), "an input is lost");
    }
    match done {
        Ok(()) => Ok(outputs
            .into_iter()
            .map(|output| output.expect("an output of an operation that was executed"))
            .collect()),
        Err(error) => {
            for output in outputs {
                let message = output.expect_err("an output of an operation that failed");
                assert!(message.contains(error.op().name), "{message}");
            }
            Err(error)
        }
    }
}

/// Both CPU backends give these outputs.
#[track_caller]
fn gives(build: impl Fn(&mut Tensors) -> burn_ir::OperationIr, expected: &[TensorData]) {
    let case = Case::new(build);
    for outputs in [run::<Flex>(&case), run::<NdArray>(&case)] {
        let outputs = outputs.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(outputs, expected, "{}", case.name());
    }
}

/// The operation is refused before a backend is called, with a message that has these parts.
#[track_caller]
fn refuses(build: impl Fn(&mut Tensors) -> burn_ir::OperationIr, parts: &[&str]) {
    let case = Case::new(build);
    for outputs in [run::<Flex>(&case), run::<NdArray>(&case)] {
        let error = outputs.expect_err("it cannot be executed");
        let message = error.to_string();
        assert!(
            !matches!(error.fault(), Fault::Panicked { .. }),
            "it is not foreseen: {message}"
        );
        for part in parts.iter().copied().chain([case.name()]) {
            assert!(message.contains(part), "{part} is not in {message}");
        }
    }
}

/// What each backend makes of it is its own affair: a value or an error of the output.
#[track_caller]
fn survives(build: impl Fn(&mut Tensors) -> burn_ir::OperationIr) -> [Outputs; 2] {
    let case = Case::new(build);
    [run::<Flex>(&case), run::<NdArray>(&case)]
}

/// Whatever comes of it, no more than the outputs is at stake; [`run`] sees to it.
fn costs_no_more(build: impl Fn(&mut Tensors) -> burn_ir::OperationIr) {
    drop(survives(build));
}
