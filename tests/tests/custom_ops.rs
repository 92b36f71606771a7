//! Custom operations: handlers are run, and held to what their operation declares.

use std::sync::{Arc, Mutex};

use burn_backend::ops::{FloatTensorOps, IntTensorOps};
use burn_backend::{DType, ExecutionError, TensorData};
use burn_flex::Flex;
use burn_interpreter::{CustomOpRegistry, Fault, Graph, Limits, OpError, TensorInterpreter};
use burn_ir::{
    BackendIr, CustomOpIr, HandleContainer, OperationIr, ScalarIr, TensorError, TensorId, TensorIr,
};
use interpreter_tests::stream::{add_scalar, bindings, drop_all, floats, out, ro, rw};
use interpreter_tests::{quietly, read};

const F32: DType = DType::F32;

fn op(id: &'static str, inputs: &[TensorIr], outputs: &[TensorIr]) -> OperationIr {
    OperationIr::Custom(CustomOpIr::new(id, inputs, outputs))
}

/// Registers a handler that multiplies by `factor`.
fn register_factor(registry: &mut CustomOpRegistry<Flex>, id: &str, factor: f32) {
    registry.register(id, move |handles, ir, _| {
        let input = handles.get_float_tensor::<Flex>(&ir.inputs[0]);
        let output = Flex::float_mul_scalar(input, factor.into());
        handles.register_float_tensor::<Flex>(&ir.outputs[0].id, output);
    });
}

/// A handler that multiplies by the scalar of its operation.
fn scale(handles: &mut HandleContainer<<Flex as BackendIr>::Handle>, ir: &CustomOpIr) {
    let input = handles.get_float_tensor::<Flex>(&ir.inputs[0]);
    let output = Flex::float_mul_scalar(input, ir.scalars[0].into());
    handles.register_float_tensor::<Flex>(&ir.outputs[0].id, output);
}

fn registry() -> CustomOpRegistry<Flex> {
    let mut registry = CustomOpRegistry::<Flex>::new();
    register_factor(&mut registry, "double", 2.0);
    registry.register("bad", |_, _, _| panic!("the handler is broken"));
    registry.register("half", |handles, ir, device| {
        let output = Flex::float_from_data(TensorData::from([1.0f32]), device);
        handles.register_float_tensor::<Flex>(&ir.outputs[0].id, output);
    });
    registry.register("typed", |handles, ir, device| {
        let output = Flex::int_from_data(TensorData::from([1i64]), device);
        handles.register_int_tensor::<Flex>(&ir.outputs[0].id, output);
    });
    registry.register("shaped", |handles, ir, device| {
        let output = Flex::float_from_data(TensorData::from([1.0f32, 2.0]), device);
        handles.register_float_tensor::<Flex>(&ir.outputs[0].id, output);
    });
    registry.register("refuses", |handles, ir, _| {
        let error = TensorError::new(ExecutionError::generic("the file is not there"));
        handles.set_error(ir.outputs[0].id, error);
    });
    registry.register("idle", |_, _, _| {});
    registry
}

/// An interpreter with the handlers above and the tensor 1, `[3]`.
fn interpreter() -> TensorInterpreter<Flex> {
    let mut interpreter = TensorInterpreter::with_custom_ops(Default::default(), registry());
    interpreter.register_tensor_data_id(TensorId::new(1), TensorData::from([3.0f32]));
    interpreter
}

#[test]
fn a_handler_gets_its_tensors_and_scalars() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let mut registry = CustomOpRegistry::<Flex>::new();
    let record = seen.clone();
    registry.register("scale", move |handles, ir, _| {
        record
            .lock()
            .expect("nobody panics")
            .extend(ir.scalars.iter().copied());
        scale(handles, ir);
    });
    let mut interpreter = TensorInterpreter::with_custom_ops(Default::default(), registry);
    interpreter.register_tensor_data_id(TensorId::new(1), TensorData::from([2.0f32, 4.0]));
    let (input, output) = (rw(1, &[2], F32), out(2, &[2], F32));
    let scalars = vec![ScalarIr::Float(3.0)];
    let scale = CustomOpIr::with_scalars("scale", &[input], &[output], scalars.clone());
    assert!(
        interpreter
            .try_register_op(OperationIr::Custom(scale))
            .is_ok()
    );
    assert_eq!(floats(&mut interpreter, 2, 2), Ok(vec![6.0, 12.0]));
    assert_eq!(*seen.lock().expect("nobody panics"), scalars);
    assert_eq!(interpreter.num_handles(), 1);
}

#[test]
fn a_handler_can_make_tensors_of_nothing() {
    let mut registry = CustomOpRegistry::<Flex>::default();
    registry.register("load", |handles, ir, device| {
        let data = TensorData::from([10i64, 20, 30]);
        let tensor = Flex::int_from_data(data, device);
        handles.register_int_tensor::<Flex>(&ir.outputs[0].id, tensor);
    });
    let mut interpreter = TensorInterpreter::with_custom_ops(Default::default(), registry);
    interpreter.register_op(op("load", &[], &[out(2, &[3], DType::I64)]));
    let data = read(&mut interpreter, &ro(2, &[3], DType::I64));
    assert_eq!(data, Ok(TensorData::from([10i64, 20, 30])));
}

#[test]
fn the_last_handler_of_an_id_counts() {
    let mut registry = registry();
    registry.register("idle", |handles, ir, device| {
        let output = Flex::float_from_data(TensorData::from([9.0f32]), device);
        handles.register_float_tensor::<Flex>(&ir.outputs[0].id, output);
    });
    let mut interpreter = TensorInterpreter::with_custom_ops(Default::default(), registry.clone());
    interpreter.register_op(op("idle", &[], &[out(2, &[1], F32)]));
    assert_eq!(floats(&mut interpreter, 2, 1), Ok(vec![9.0]));
}

#[test]
fn handlers_take_turns() {
    let mut registry = CustomOpRegistry::<Flex>::new();
    register_factor(&mut registry, "times 2", 2.0);
    register_factor(&mut registry, "times 5", 5.0);
    let mut interpreter = TensorInterpreter::with_custom_ops(Default::default(), registry);
    interpreter.register_tensor_data_id(TensorId::new(0), TensorData::from([1.0f32]));
    let ids = ["times 5", "times 2", "times 2", "times 5", "times 2"];
    for (input, id) in (0..).zip(ids) {
        interpreter.register_op(op(
            id,
            &[rw(input, &[1], F32)],
            &[out(input + 1, &[1], F32)],
        ));
    }
    assert_eq!(floats(&mut interpreter, 5, 1), Ok(vec![200.0]));
}

/// A graph is replayed with the handlers of the interpreter that replays it, not of one before.
#[test]
fn a_graph_finds_the_handlers_of_each_interpreter() {
    let operations = [(0, "times a", 1), (1, "times b", 2)];
    let operations = operations
        .map(|(input, id, output)| op(id, &[ro(input, &[0], F32)], &[out(output, &[0], F32)]));
    let graph = Graph::new(operations.to_vec());
    let start = |factors: &[(&str, f32)]| {
        let mut registry = CustomOpRegistry::<Flex>::new();
        for (id, factor) in factors {
            register_factor(&mut registry, id, *factor);
        }
        let mut interpreter = TensorInterpreter::with_custom_ops(Default::default(), registry);
        interpreter.register_tensor_data_id(TensorId::new(101), TensorData::from([1.0f32]));
        interpreter
    };
    let mut interpreters = [
        (start(&[("times a", 2.0), ("times b", 3.0)]), Some(6.0)),
        (start(&[("times b", 5.0), ("times a", 7.0)]), Some(35.0)),
        (start(&[("times b", 11.0)]), None),
    ];
    for _ in 0..2 {
        for (interpreter, expected) in &mut interpreters {
            let bindings = bindings(&[(0, 101), (2, 102)], &[1], &[]);
            graph.replay(interpreter, bindings);
            let result = floats(interpreter, 102, 1);
            match expected {
                Some(value) => assert_eq!(result, Ok(vec![*value])),
                None => {
                    let message = result.expect_err("there is no handler");
                    assert!(message.contains("`times a`"), "{message}");
                }
            }
        }
    }
}

/// What is declared of the outputs is held against the limits before the handler is run, in a stream
/// and in a replay.
#[test]
fn limits_hold_for_the_outputs_of_handlers() {
    let two_tensors = 2 * F32.size() as u64;
    let limits = [
        (Limits::default().max_live_bytes(two_tensors), "beside the"),
        (Limits::default().max_live_tensors(2), "limit of 2"),
        (
            Limits::default().max_tensor_bytes(two_tensors),
            "would take",
        ),
    ];
    for (limits, message) in limits {
        let mut registry = registry();
        registry.register("large", |_, _, _| panic!("it is not run"));
        let start = || {
            let device = Default::default();
            let interpreter = TensorInterpreter::with_custom_ops(device, registry.clone());
            let mut interpreter = interpreter.with_limits(limits);
            interpreter.register_tensor_data_id(TensorId::new(1), TensorData::from([3.0f32]));
            interpreter
        };
        let fits = |input, output| op("double", &[input], &[output]);
        let outputs = [out(3, &[5], F32), out(4, &[5], F32)];
        let mut interpreter = start();
        interpreter.register_op(fits(ro(1, &[1], F32), out(2, &[1], F32)));
        assert_eq!(floats(&mut interpreter, 2, 1), Ok(vec![6.0]));
        interpreter.register_op(op("large", &[ro(1, &[1], F32)], &outputs));
        for id in [3, 4] {
            let error = floats(&mut interpreter, id, 5).expect_err("it is too much");
            assert!(error.contains(message), "{error}");
        }
        // There is room where an input goes, or the output takes its place.
        drop_all(&mut interpreter, &[3, 4]);
        interpreter.register_op(fits(rw(2, &[1], F32), out(2, &[1], F32)));
        interpreter.register_op(fits(rw(2, &[1], F32), out(5, &[1], F32)));
        interpreter.register_op(fits(ro(1, &[1], F32), out(5, &[1], F32)));
        assert_eq!(floats(&mut interpreter, 5, 1), Ok(vec![6.0]));
        assert_eq!(interpreter.live_bytes(), two_tensors);

        let mut interpreter = start();
        let outputs = [out(12, &[1], F32), out(13, &[1], F32)];
        let graph = Graph::new(vec![
            fits(ro(10, &[0], F32), out(11, &[0], F32)),
            op("large", &[ro(10, &[0], F32)], &outputs),
        ]);
        for _ in 0..2 {
            let tensors = [(10, 1), (11, 2), (12, 3), (13, 4)];
            graph.replay(&mut interpreter, bindings(&tensors, &[1, 5], &[]));
            assert_eq!(floats(&mut interpreter, 2, 1), Ok(vec![6.0]));
            let error = floats(&mut interpreter, 3, 5).expect_err("it is too much");
            assert!(error.contains(message), "{error}");
            drop_all(&mut interpreter, &[3, 4]);
        }
    }
}

/// One that has no tensors is no exception.
#[test]
fn a_graph_runs_handlers_that_take_and_make_nothing() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let mut registry = CustomOpRegistry::<Flex>::new();
    for id in ["one", "other"] {
        let seen = seen.clone();
        registry.register(id, move |_, _, _| {
            seen.lock().expect("nobody panics").push(id);
        });
    }
    let mut interpreter = TensorInterpreter::with_custom_ops(Default::default(), registry);
    let graph = Graph::new(vec![op("other", &[], &[]), op("one", &[], &[])]);
    for _ in 0..2 {
        graph.replay(&mut interpreter, bindings(&[], &[], &[]));
    }
    let seen = seen.lock().expect("nobody panics");
    assert_eq!(*seen, ["other", "one", "other", "one"]);
}

#[test]
fn a_handler_gets_the_scalars_of_each_replay() {
    let mut registry = CustomOpRegistry::<Flex>::new();
    registry.register("scale", |handles, ir, _| scale(handles, ir));
    let mut interpreter = TensorInterpreter::with_custom_ops(Default::default(), registry);
    interpreter.register_tensor_data_id(TensorId::new(101), TensorData::from([1.0f32]));
    let (input, output) = (ro(0, &[0], F32), out(1, &[0], F32));
    let scale = CustomOpIr::with_scalars("scale", &[input], &[output], vec![ScalarIr::UInt(0)]);
    let graph = Graph::new(vec![OperationIr::Custom(scale)]);
    for factor in [2.0, 3.0, 3.0, 2.0] {
        let scalars = [ScalarIr::Float(factor)];
        graph.replay(
            &mut interpreter,
            bindings(&[(0, 101), (1, 102)], &[1], &scalars),
        );
        assert_eq!(floats(&mut interpreter, 102, 1), Ok(vec![factor as f32]));
    }
}

/// B79: whatever a handler does wrong, its operation's outputs hold an error that names it, and
/// everything else goes on.
fn assert_fails(id: &'static str, outputs: &[TensorIr], check: impl Fn(&OpError) -> bool) {
    let mut interpreter = interpreter();
    let failed = quietly(|| interpreter.try_register_op(op(id, &[ro(1, &[1], F32)], outputs)));
    let error = failed.expect_err("the handler does not do what it should");
    assert!(check(&error), "{error}");
    assert_eq!(error.custom_op(), Some(id));
    for output in outputs {
        let message = read(&mut interpreter, output).expect_err("the output holds the error");
        assert!(
            message.contains("stream.Custom") || message.contains("not there"),
            "{message}"
        );
        let below = add_scalar(
            ro(output.id.value(), &[1], F32),
            ScalarIr::Float(1.0),
            out(8, &[1], F32),
        );
        assert!(interpreter.try_register_op(below).is_err());
    }
    interpreter.register_op(op("double", &[ro(1, &[1], F32)], &[out(9, &[1], F32)]));
    assert_eq!(floats(&mut interpreter, 9, 1), Ok(vec![6.0]));
    drop_all(&mut interpreter, &[1, 2, 3, 8, 9]);
    assert_eq!(interpreter.num_handles(), 0);
}

#[test]
fn b79_no_handler() {
    assert_fails("nope", &[out(2, &[1], F32)], |error| {
        matches!(error.fault(), Fault::MissingHandler { id } if id == "nope")
            && error.to_string().contains("CustomOpRegistry::register")
    });
}

#[test]
fn b79_a_handler_that_panics() {
    assert_fails(
        "bad",
        &[out(2, &[1], F32)],
        |error| matches!(error.fault(), Fault::Panicked { message } if message == "the handler is broken"),
    );
}

#[test]
fn b79_a_handler_that_leaves_an_output_out() {
    assert_fails(
        "half",
        &[out(2, &[1], F32), out(3, &[1], F32)],
        |error| matches!(error.fault(), Fault::MissingOutput { id } if id.value() == 3),
    );
}

#[test]
fn b79_a_handler_that_makes_another_kind() {
    assert_fails("typed", &[out(2, &[1], F32)], |error| {
        error.to_string().contains("`typed`")
    });
}

#[test]
fn b79_a_handler_that_makes_another_shape() {
    assert_fails("shaped", &[out(2, &[1], F32)], |error| {
        matches!(error.fault(), Fault::WrongShape { .. })
    });
}

#[test]
fn a_handler_can_say_why_it_fails() {
    assert_fails(
        "refuses",
        &[out(2, &[1], F32)],
        |error| matches!(error.fault(), Fault::Handler { error } if error.root() == "the file is not there"),
    );
}

#[test]
fn a_handler_is_not_run_without_its_inputs() {
    let mut interpreter = interpreter();
    let double = op("double", &[ro(77, &[1], F32)], &[out(2, &[1], F32)]);
    let error = interpreter
        .try_register_op(double)
        .expect_err("there is no tensor 77");
    assert!(
        matches!(error.fault(), Fault::MissingTensor { id } if id.value() == 77),
        "{error}"
    );
    let below = op("double", &[rw(2, &[1], F32)], &[out(3, &[1], F32)]);
    let error = interpreter
        .try_register_op(below)
        .expect_err("its input holds an error");
    assert!(matches!(error.fault(), Fault::Errored { .. }), "{error}");
    drop_all(&mut interpreter, &[1, 3]);
    assert_eq!(interpreter.num_handles(), 0);
}

/// The operation says that the use is the last, so it is, whatever the handler takes.
#[test]
fn an_input_at_its_last_use_is_released() {
    let mut interpreter = interpreter();
    assert!(
        interpreter
            .try_register_op(op("idle", &[rw(1, &[1], F32)], &[]))
            .is_ok()
    );
    assert_eq!(interpreter.num_handles(), 0);
}

/// An operation without outputs has no tensor to carry its failure: the next sync does.
#[test]
fn the_failure_of_an_operation_without_outputs_waits_for_sync() {
    let mut interpreter = interpreter();
    quietly(|| interpreter.register_op(op("bad", &[], &[])));
    let message = interpreter
        .sync()
        .expect_err("the handler panicked")
        .to_string();
    assert!(
        message.contains("`bad`") && message.contains("the handler is broken"),
        "{message}"
    );
    assert!(interpreter.sync().is_ok());
}

/// Whatever stands in the place of an output before, the handler must write it.
#[test]
fn an_output_that_takes_the_place_of_an_input_must_be_written() {
    for input in [ro(1, &[1], F32), rw(1, &[1], F32)] {
        let mut interpreter = interpreter();
        let inputs = [input.clone(), input.clone()];
        let failed = interpreter.try_register_op(op("idle", &inputs, &[out(1, &[1], F32)]));
        let error = failed.expect_err("the handler wrote nothing");
        assert!(
            matches!(error.fault(), Fault::MissingOutput { id } if id.value() == 1),
            "{error}"
        );
        assert!(floats(&mut interpreter, 1, 1).is_err());
        drop_all(&mut interpreter, &[1]);
        assert_eq!(interpreter.num_handles(), 0);
    }
}

#[test]
fn an_output_can_take_the_place_of_an_input() {
    for input in [ro(1, &[1], F32), rw(1, &[1], F32)] {
        let mut interpreter = interpreter();
        let done = interpreter.try_register_op(op("double", &[input], &[out(1, &[1], F32)]));
        assert!(done.is_ok());
        assert_eq!(floats(&mut interpreter, 1, 1), Ok(vec![6.0]));
        assert_eq!(interpreter.num_handles(), 1);
    }
}

/// What a handler panics with may panic itself.
#[test]
fn a_panic_with_a_bomb_is_a_failure_like_others() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            std::panic::panic_any(Self);
        }
    }
    let mut registry = registry();
    registry.register("bomb", |_, _, _| std::panic::panic_any(Bomb));
    let mut interpreter = TensorInterpreter::with_custom_ops(Default::default(), registry);
    interpreter.register_tensor_data_id(TensorId::new(1), TensorData::from([3.0f32]));
    let bomb = op("bomb", &[rw(1, &[1], F32)], &[out(1, &[1], F32)]);
    let failed = quietly(|| interpreter.try_register_op(bomb));
    let error = failed.expect_err("the handler panicked");
    assert!(matches!(error.fault(), Fault::Panicked { .. }), "{error}");
    drop_all(&mut interpreter, &[1]);
    assert_eq!(interpreter.num_handles(), 0);
}
