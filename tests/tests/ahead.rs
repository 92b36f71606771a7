//! What is told before anything is executed, and what is read at once.
#![expect(
    deprecated,
    reason = "burn-ndarray is on its way out, and still a second implementation"
)]

use burn_backend::{DType, ExecutionError, TensorData};
use burn_flex::Flex;
use burn_interpreter::{CustomOpRegistry, TensorInterpreter, Unsupported};
use burn_ir::{
    BaseOperationIr, CreationOpIr, CustomOpIr, NumericOperationIr, OperationIr, RandomOpIr,
    TensorError, TensorId,
};
use burn_ndarray::NdArray;
use burn_std::future::block_on;
use interpreter_tests::quietly;
use interpreter_tests::stream::{add_scalar, out, ro, rw, with_floats};

const F32: DType = DType::F32;

fn id(id: u64) -> TensorId {
    TensorId::new(id)
}

fn custom(name: &'static str) -> OperationIr {
    OperationIr::Custom(CustomOpIr::new(name, &[], &[out(9, &[1], F32)]))
}

/// `IntRandom`, which is no operation on floats.
fn random() -> OperationIr {
    OperationIr::NumericFloat(
        F32,
        NumericOperationIr::IntRandom(RandomOpIr {
            out: out(9, &[2], F32),
            distribution: burn_backend::Distribution::Default,
        }),
    )
}

#[test]
fn b89_everything_that_cannot_be_executed_is_told_at_once() {
    let mut interpreter = with_floats::<Flex>(&[&[1.0]]);
    let fine = add_scalar(
        ro(1, &[1], F32),
        burn_ir::ScalarIr::Float(1.0),
        out(2, &[1], F32),
    );
    let stream = [
        random(),
        fine.clone(),
        custom("nope"),
        random(),
        custom("nope"),
        custom("neither"),
        random(),
    ];
    let found = interpreter.preflight(&stream).expect_err("there are some");
    let told: Vec<_> = found.iter().map(Unsupported::to_string).collect();
    assert_eq!(
        told,
        [
            "operation `numeric.IntRandom.float` at position 0 and 2 times more: random integers \
             are an operation on ints; floats use `Random`",
            "operation `stream.Custom` (`nope`) at position 2 and once more: no handler is \
             registered under this id",
            "operation `stream.Custom` (`neither`) at position 5: no handler is registered under \
             this id",
        ]
    );
    for (position, op) in stream.into_iter().enumerate() {
        let failed = quietly(|| interpreter.try_register_op(op)).is_err();
        assert_eq!(failed, position != 1, "the operation at {position}");
    }
    assert_eq!(interpreter.preflight(&[fine]), Ok(()));
}

#[test]
fn a_dtype_that_the_backend_lacks() {
    let zeros = OperationIr::BaseFloat(BaseOperationIr::Zeros(CreationOpIr {
        out: out(1, &[2], DType::F16),
    }));
    let mut interpreter = with_floats::<NdArray>(&[]);
    let found = interpreter.preflight(std::slice::from_ref(&zeros));
    let found = found.expect_err("burn-ndarray has no such floats");
    assert_eq!(
        found[0].to_string(),
        "operation `base.Zeros.float` at position 0: the backend has no F16 tensors"
    );
    assert!(quietly(|| interpreter.try_register_op(zeros.clone())).is_err());
    assert_eq!(with_floats::<Flex>(&[]).preflight(&[zeros]), Ok(()));
}

#[test]
fn a_custom_operation_with_a_handler_can_be_executed() {
    let mut handlers = CustomOpRegistry::<Flex>::new();
    handlers.register("known", |_, _, _| {});
    let interpreter = TensorInterpreter::with_custom_ops(Default::default(), handlers);
    assert_eq!(interpreter.preflight(&[custom("known")]), Ok(()));
}

#[test]
fn several_tensors_are_read_in_their_order() {
    let mut interpreter = with_floats::<Flex>(&[&[1.0, 2.0], &[3.0]]);
    let data = [
        (id(3), TensorData::from([4i64, 5])),
        (id(4), TensorData::from([true, false])),
        (id(5), TensorData::from([6i32])),
    ];
    for (id, data) in &data {
        interpreter.register_tensor_data_id(*id, data.clone());
    }
    let tensors = [
        ro(4, &[2], interpreter_tests::BOOL),
        rw(1, &[2], F32),
        ro(77, &[1], F32),
        ro(3, &[2], DType::I64),
        ro(2, &[9], F32),
        rw(5, &[1], DType::I32),
        ro(2, &[1], F32),
    ];
    let read = block_on(interpreter.read_tensors_async(&tensors));
    let told: Vec<_> = read
        .into_iter()
        .map(|data| data.map_err(|error: ExecutionError| error.to_string()))
        .collect();
    assert_eq!(told[0], Ok(TensorData::from([true, false])));
    assert_eq!(told[1], Ok(TensorData::from([1.0f32, 2.0])));
    let message = told[2].as_ref().expect_err("there is no such tensor");
    assert!(
        message.contains("TensorId(77) was never registered"),
        "{message}"
    );
    assert_eq!(told[3], Ok(TensorData::from([4i64, 5])));
    let message = told[4].as_ref().expect_err("it has another shape");
    assert!(message.contains("shape [9]"), "{message}");
    assert_eq!(told[5], Ok(TensorData::from([6i32])));
    assert_eq!(told[6], Ok(TensorData::from([3.0f32])));
    assert_eq!(
        interpreter.num_handles(),
        3,
        "1 and 5 were read for the last time"
    );
    assert!(block_on(interpreter.read_tensors_async(&[])).is_empty());
}

#[test]
fn an_error_can_be_set_and_asked_for() {
    let mut interpreter = with_floats::<Flex>(&[&[1.0]]);
    assert_eq!(interpreter.read_failure(&id(1)), None);
    interpreter.set_error(
        id(1),
        TensorError::new(ExecutionError::generic("the link is gone")),
    );
    let failure = interpreter.read_failure(&id(1)).expect("it holds an error");
    assert!(failure.contains("the link is gone"), "{failure}");
    let failure = interpreter.read_failure(&id(2)).expect("there is none");
    assert!(
        failure.contains("TensorId(2) was never registered"),
        "{failure}"
    );
    let one = burn_ir::ScalarIr::Float(1.0);
    let error = interpreter
        .try_register_op(add_scalar(ro(1, &[1], F32), one, out(3, &[1], F32)))
        .expect_err("there is nothing to add to");
    assert!(error.to_string().contains("the link is gone"), "{error}");
    assert_eq!(
        (interpreter.live_tensors(), interpreter.live_bytes()),
        (0, 0)
    );
}
