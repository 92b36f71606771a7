//! What an operation will have changed when it is done, where limits count: its outputs are admitted
//! before its inputs are read. And what a handler may do to the tensors that are lent to it.

use burn_backend::ops::FloatTensorOps;
use burn_backend::{DType, ExecutionError, TensorData};
use burn_flex::Flex;
use burn_interpreter::{CustomOpRegistry, Fault, Graph, Limits, TensorInterpreter};
use burn_ir::{
    BaseOperationIr, CatOpIr, CustomOpIr, NumericOperationIr, OperationIr, ScalarIr, SelectOpIr,
    SortWithIndicesOpIr, TensorError, TensorId, TensorIr,
};
use interpreter_tests::stream::{add, add_scalar, bindings, floats, mul, out, ro, rw, with_floats};
use interpreter_tests::{eight_bits, quietly};

const F32: DType = DType::F32;
const I64: DType = DType::I64;
const ONE: ScalarIr = ScalarIr::Float(1.0);

fn id(id: u64) -> TensorId {
    TensorId::new(id)
}

fn select(tensor: TensorIr, indices: TensorIr, out: TensorIr) -> OperationIr {
    let dim = 0;
    OperationIr::BaseFloat(BaseOperationIr::Select(SelectOpIr {
        tensor,
        dim,
        indices,
        out,
    }))
}

fn sort(input: TensorIr, out: TensorIr, out_indices: TensorIr) -> OperationIr {
    let op = SortWithIndicesOpIr {
        input,
        dim: 0,
        descending: false,
        out,
        out_indices,
    };
    OperationIr::NumericFloat(F32, NumericOperationIr::SortWithIndices(op))
}

#[test]
fn a_panic_leaves_nothing_pending() {
    for limits in [
        Limits::default().max_live_tensors(10),
        Limits::default().max_live_bytes(64),
    ] {
        let mut interpreter = with_floats::<Flex>(&[&[1.0; 4]]).with_limits(limits);
        interpreter.register_tensor_data_id(id(2), TensorData::from([100_i64, 3]));
        let op = select(rw(1, &[4], F32), rw(2, &[2], I64), out(3, &[2], F32));
        let failed = quietly(|| interpreter.try_register_op(op)).expect_err("there is no item 100");
        assert!(matches!(failed.fault(), Fault::Panicked { .. }), "{failed}");
        let upload = |interpreter: &mut TensorInterpreter<Flex>, id_, len| {
            let data = TensorData::new(vec![1.0_f32; len], [len]);
            interpreter.try_register_tensor_data_id(id(id_), data)
        };
        upload(&mut interpreter, 5, 1).expect("there is room");
        if limits.max_live_bytes == 64 {
            upload(&mut interpreter, 6, 16).expect_err("there is no room for 64 bytes more");
        }
    }
}

#[test]
fn quantized_inputs_at_their_last_use() {
    let data = || TensorData::quantized(vec![2_i8, -4, 6, 8], [4], eight_bits(), &[0.5], None);
    let dtype = data().dtype();
    let limits = Limits::default().max_live_bytes(1 << 20);
    let mut interpreter = with_floats::<Flex>(&[]).with_limits(limits);
    for number in [1, 2] {
        interpreter.register_tensor_data_id(id(number), data());
    }
    interpreter
        .try_register_op(add(
            rw(1, &[4], dtype),
            rw(2, &[4], dtype),
            out(3, &[4], F32),
        ))
        .expect("there is room");
    assert_eq!(
        floats(&mut interpreter, 3, 4),
        Ok(vec![2.0, -4.0, 6.0, 8.0])
    );
    assert_eq!(interpreter.live_bytes(), 16);
}

/// The output takes the place of an input that another slot is bound to.
#[test]
fn a_replay_counts_as_a_stream_does() {
    let cat = |first, second, out| {
        let tensors = vec![first, second];
        OperationIr::BaseFloat(BaseOperationIr::Cat(CatOpIr {
            tensors,
            dim: 0,
            out,
        }))
    };
    let new = || {
        let limits = Limits::default().max_live_bytes(40);
        with_floats::<Flex>(&[&[1.0; 4], &[2.0; 4]]).with_limits(limits)
    };
    let mut streamed = new();
    let op = cat(rw(1, &[4], F32), ro(2, &[4], F32), out(1, &[8], F32));
    let failed = streamed.try_register_op(op).expect_err("there is no room");
    assert!(
        matches!(failed.fault(), Fault::TooManyBytes { .. }),
        "{failed}"
    );

    let mut replayed = new();
    let graph = Graph::new(vec![cat(
        rw(0, &[0], F32),
        ro(1, &[0], F32),
        out(2, &[1], F32),
    )]);
    graph.replay(
        &mut replayed,
        bindings(&[(0, 1), (1, 2), (2, 1)], &[4, 8], &[]),
    );
    assert_eq!(replayed.live_bytes(), streamed.live_bytes());
    let message = floats(&mut replayed, 1, 8).expect_err("there is no room");
    assert!(message.contains("40"), "{message}");
}

#[test]
fn one_tensor_bound_twice_is_let_go_of_once() {
    let graph = Graph::new(vec![add(
        rw(0, &[0], F32),
        rw(1, &[0], F32),
        out(2, &[0], F32),
    )]);
    let limits = Limits::default().max_live_tensors(10);
    let mut interpreter = with_floats::<Flex>(&[&[1.0]]).with_limits(limits);
    graph.replay(
        &mut interpreter,
        bindings(&[(0, 1), (1, 1), (2, 5)], &[1], &[]),
    );
    let message = floats(&mut interpreter, 5, 1).expect_err("the second use finds nothing");
    assert!(message.contains("never registered"), "{message}");
}

#[test]
fn two_outputs_bound_to_one_tensor_are_refused() {
    let graph = Graph::new(vec![
        add_scalar(ro(0, &[0], F32), ScalarIr::Float(1.0), out(1, &[0], F32)),
        sort(rw(1, &[0], F32), out(2, &[0], F32), out(3, &[0], I64)),
        add_scalar(ro(0, &[0], F32), ScalarIr::Float(2.0), out(4, &[0], F32)),
    ]);
    let mut interpreter = with_floats::<Flex>(&[&[2.0, 1.0]]);
    for _ in 0..2 {
        let bindings = bindings(&[(0, 1), (2, 5), (3, 5), (4, 6)], &[2], &[]);
        graph.replay(&mut interpreter, bindings);
        let message = floats(&mut interpreter, 5, 2).expect_err("it cannot be both");
        assert!(message.contains("is two of the outputs"), "{message}");
        assert_eq!(floats(&mut interpreter, 6, 2), Ok(vec![4.0, 3.0]));
        assert_eq!(interpreter.num_handles(), 3);
    }
}

#[test]
fn one_of_two_outputs_takes_the_place_of_the_input() {
    let limits = Limits::default().max_live_bytes(48);
    let mut interpreter = with_floats::<Flex>(&[&[3.0, 1.0, 2.0, 0.0]]).with_limits(limits);
    interpreter
        .try_register_op(sort(rw(1, &[4], F32), out(1, &[4], F32), out(2, &[4], I64)))
        .expect("16 bytes in place of 16, and 32 more");
    assert_eq!(interpreter.live_bytes(), 48);
    assert_eq!(floats(&mut interpreter, 1, 4), Ok(vec![0.0, 1.0, 2.0, 3.0]));
}

#[test]
fn outputs_count_before_they_are_written() {
    let limits = Limits::default().max_live_tensors(2);
    let mut interpreter = with_floats::<Flex>(&[&[2.0, 1.0]]).with_limits(limits);
    let op = |input| sort(input, out(3, &[2], F32), out(2, &[2], I64));
    let failed = interpreter.try_register_op(op(ro(1, &[2], F32)));
    let failed = failed.expect_err("one stays, and there are two more");
    assert!(
        matches!(failed.fault(), Fault::TooManyTensors { .. }),
        "{failed}"
    );
    for lost in [2, 3] {
        interpreter.register_op(OperationIr::Drop(rw(lost, &[2], F32)));
    }
    interpreter
        .try_register_op(op(rw(1, &[2], F32)))
        .expect("one goes, and there are two");
}

#[test]
fn an_error_in_the_place_of_a_tensor_has_no_bytes() {
    let limits = Limits::default().max_live_bytes(1 << 10);
    let mut interpreter = with_floats::<Flex>(&[&[1.0; 4], &[2.0; 4]]).with_limits(limits);
    interpreter.register_op(add_scalar(ro(1, &[4], F32), ONE, out(3, &[4], F32)));
    assert_eq!(interpreter.live_bytes(), 48);
    let relative = add_scalar(ro(0, &[0], F32), ONE, out(1, &[0], F32));
    Graph::new(vec![relative]).replay(&mut interpreter, bindings(&[(1, 2)], &[4], &[]));
    assert_eq!(interpreter.live_bytes(), 32);
}

#[test]
fn a_scalar_that_equals_the_one_before_may_be_another() {
    let scaled = mul_scalar(ro(0, &[0], F32), ScalarIr::UInt(0), out(1, &[0], F32));
    let graph = Graph::new(vec![scaled]);
    let mut interpreter = with_floats::<Flex>(&[&[1.0]]);
    for scalar in [0.0, -0.0] {
        let scalars = [ScalarIr::Float(scalar)];
        graph.replay(
            &mut interpreter,
            bindings(&[(0, 1), (1, 2)], &[1], &scalars),
        );
        let result = floats(&mut interpreter, 2, 1).expect("it is there");
        assert_eq!(result[0].to_bits(), (scalar as f32).to_bits());
    }
}

fn mul_scalar(lhs: TensorIr, rhs: ScalarIr, out: TensorIr) -> OperationIr {
    let op = burn_ir::ScalarOpIr { lhs, rhs, out };
    OperationIr::NumericFloat(F32, NumericOperationIr::MulScalar(op))
}

fn custom(name: &'static str, inputs: &[TensorIr], outputs: &[TensorIr]) -> OperationIr {
    OperationIr::Custom(CustomOpIr::new(name, inputs, outputs))
}

/// Handlers that do what they should not; the tensors 1 `[1]` and 2 `[2]`.
fn with_bad_handlers() -> TensorInterpreter<Flex> {
    let mut registry = CustomOpRegistry::<Flex>::new();
    let seven = |device: &_| Flex::float_from_data(TensorData::from([7.0_f32]), device);
    registry.register("idle", |_, _, _| {});
    registry.register("writes", move |handles, op: &CustomOpIr, device| {
        handles.register_float_tensor::<Flex>(&op.outputs[0].id, seven(device));
    });
    registry.register("strays", move |handles, _, device| {
        handles.register_float_tensor::<Flex>(&id(77), seven(device));
    });
    registry.register("strays in error", |handles, _, _| {
        let error = TensorError::new(ExecutionError::generic("it is lost"));
        handles.set_error(id(77), error);
    });
    registry.register("swaps", move |handles, op: &CustomOpIr, device| {
        handles.remove_handle(op.inputs[0].id);
        handles.register_float_tensor::<Flex>(&op.outputs[0].id, seven(device));
    });
    let mut interpreter = TensorInterpreter::with_custom_ops(Default::default(), registry);
    for number in [1, 2] {
        let data = TensorData::from([number as f32]);
        interpreter.register_tensor_data_id(id(number), data);
    }
    interpreter
}

#[test]
fn what_was_under_the_id_of_an_output_is_not_the_output() {
    let mut interpreter = with_bad_handlers();
    interpreter.register_op(add_scalar(ro(1, &[1], F32), ONE, out(5, &[1], F32)));
    let op = custom("idle", &[ro(1, &[1], F32)], &[out(5, &[1], F32)]);
    let failed = interpreter
        .try_register_op(op)
        .expect_err("nothing was written");
    assert!(
        matches!(failed.fault(), Fault::MissingOutput { .. }),
        "{failed}"
    );

    interpreter.register_op(add_scalar(ro(1, &[1], F32), ONE, out(6, &[1], F32)));
    let inputs = [rw(6, &[1], F32), rw(2, &[1], F32)];
    interpreter
        .try_register_op(custom("writes", &inputs, &[out(6, &[1], F32)]))
        .expect("the output is there");
    assert_eq!(floats(&mut interpreter, 6, 1), Ok(vec![7.0]));
    assert!(
        floats(&mut interpreter, 2, 1).is_err(),
        "it was used for the last time"
    );
}

#[test]
fn a_tensor_that_a_handler_strayed_to_is_written_over() {
    for name in ["strays", "strays in error"] {
        let mut interpreter = with_bad_handlers();
        let op = custom(name, &[ro(1, &[1], F32)], &[out(5, &[1], F32)]);
        interpreter
            .try_register_op(op)
            .expect_err("there is no output");
        let count = interpreter.num_handles();
        interpreter.register_op(add_scalar(ro(2, &[1], F32), ONE, out(77, &[1], F32)));
        assert_eq!(interpreter.num_handles(), count);
        assert_eq!(floats(&mut interpreter, 77, 1), Ok(vec![3.0]));
        interpreter.register_op(OperationIr::Drop(rw(77, &[1], F32)));
        assert!(floats(&mut interpreter, 77, 1).is_err(), "it was dropped");
    }
}

#[test]
fn a_last_use_ends_whatever_the_handler_takes() {
    let mut interpreter = with_bad_handlers();
    let inputs = [ro(1, &[1], F32), rw(2, &[1], F32)];
    interpreter
        .try_register_op(custom("swaps", &inputs, &[out(5, &[1], F32)]))
        .expect("the output is there");
    assert!(floats(&mut interpreter, 2, 1).is_err());
}

/// The end of the ids in the map is found again, with tensors in it and kept.
#[test]
fn ids_are_told_apart_long_after_a_handler() {
    let mut interpreter = with_bad_handlers();
    let op = custom("strays", &[ro(1, &[1], F32)], &[out(5, &[1], F32)]);
    interpreter
        .try_register_op(op)
        .expect_err("there is no output");
    for number in 100..400 {
        let op = mul(ro(1, &[1], F32), ro(2, &[1], F32), out(number, &[1], F32));
        interpreter.register_op(op);
    }
    for number in [1, 2, 77, 150, 399] {
        interpreter.register_op(add_scalar(ro(399, &[1], F32), ONE, out(number, &[1], F32)));
    }
    // 1, 2, 77, the error in 5, and the others.
    assert_eq!(interpreter.num_handles(), 304);
    for number in [1, 2, 77, 150] {
        assert_eq!(floats(&mut interpreter, number, 1), Ok(vec![3.0]));
        interpreter.register_op(OperationIr::Drop(rw(number, &[1], F32)));
        assert!(floats(&mut interpreter, number, 1).is_err());
    }
}
