//! A prepared replay is what the bound operations are in a stream: the same values, errors and live
//! tensors, the first time and later.

#![expect(
    deprecated,
    reason = "burn-ndarray is on its way out, and still a second implementation"
)]

use burn_backend::ops::FloatTensorOps;
use burn_backend::{DType, TensorData};
use burn_flex::Flex;
use burn_interpreter::{CustomOpRegistry, Graph, Limits, TensorInterpreter};
use burn_ir::{CustomOpIr, GraphBindings, OperationIr, ScalarIr, TensorId, TensorIr, TensorStatus};
use burn_ndarray::NdArray;
use interpreter_tests::stream::{
    add, add_scalar, bindings, drop_all, floats, matmul, mul, out, ro, rw,
};
use interpreter_tests::{Engine, quietly, read};

const F32: DType = DType::F32;

fn registry() -> CustomOpRegistry<Flex> {
    let mut registry = CustomOpRegistry::<Flex>::new();
    registry.register("double", |handles, op, _| {
        let input = handles.get_float_tensor::<Flex>(&op.inputs[0]);
        let output = Flex::float_mul_scalar(input, 2.0.into());
        handles.register_float_tensor::<Flex>(&op.outputs[0].id, output);
    });
    registry.register("broken", |_, _, _| panic!("the handler is broken"));
    registry
}

/// The tensors 101, `[1, 2]`, and 102, `[3, 5]`.
fn interpreter() -> TensorInterpreter<Flex> {
    let mut interpreter = TensorInterpreter::with_custom_ops(Default::default(), registry());
    for (id, values) in [(101, [1.0_f32, 2.0]), (102, [3.0, 5.0])] {
        interpreter.register_tensor_data_id(TensorId::new(id), TensorData::from(values));
    }
    interpreter
}

fn custom(id: &'static str, input: TensorIr, output: TensorIr) -> OperationIr {
    OperationIr::Custom(CustomOpIr::new(id, &[input], &[output]))
}

/// What can be seen of an interpreter: its tensors 100 to 109, and how many there are of all. The ids
/// that intermediates get in a message are left out.
fn state(interpreter: &mut TensorInterpreter<Flex>) -> (Vec<Result<Vec<f32>, String>>, usize) {
    let masked = |message: String| {
        let mut parts = message.split("TensorId(");
        let mut masked = parts.next().unwrap_or_default().to_string();
        for part in parts {
            let (id, rest) = part.split_once(')').unwrap_or((part, ""));
            let id = if id.len() > 3 { "intermediate" } else { id };
            masked += &format!("TensorId({id}){rest}");
        }
        masked
    };
    let tensors = (100..110).map(|id| floats(interpreter, id, 2).map_err(masked));
    (tensors.collect(), interpreter.num_handles())
}

/// Three replays leave what the bound operations leave in a stream, from the same beginning.
fn assert_same(ops: Vec<OperationIr>, tensors: &[(u64, u64)], scalars: &[ScalarIr]) {
    let graph = Graph::new(ops);
    let bindings = bindings(tensors, &[2, 3], scalars);
    let mut streamed = interpreter();
    quietly(|| {
        for op in graph.bind(bindings.clone()).operations {
            streamed.register_op(op);
        }
    });
    let (expected, handles) = state(&mut streamed);
    for _ in 0..3 {
        let mut replayed = interpreter();
        quietly(|| graph.try_replay(&mut replayed, bindings.clone())).expect("the bindings fit");
        let (tensors, replayed_handles) = state(&mut replayed);
        assert_eq!(tensors, expected);
        // Of the intermediates that nothing has read, the replay lets go.
        let known = tensors.iter().filter(|tensor| match tensor {
            Ok(_) => true,
            Err(message) => !message.ends_with("use is over"),
        });
        assert_eq!(
            (known.count(), replayed_handles <= handles),
            (replayed_handles, true)
        );
    }
}

fn one() -> ScalarIr {
    ScalarIr::Float(1.0)
}

#[test]
fn values_and_live_tensors_are_those_of_the_stream() {
    let chain = vec![
        add_scalar(ro(0, &[0], F32), ScalarIr::UInt(0), out(2, &[0], F32)),
        mul(rw(2, &[0], F32), ro(1, &[0], F32), out(3, &[0], F32)),
        add(rw(3, &[0], F32), rw(0, &[0], F32), out(4, &[0], F32)),
    ];
    assert_same(chain, &[(0, 101), (1, 102), (4, 103)], &[one()]);
}

#[test]
fn two_inputs_may_be_one_tensor() {
    let sum = || add(ro(0, &[0], F32), ro(1, &[0], F32), out(2, &[0], F32));
    assert_same(vec![sum()], &[(0, 101), (1, 101), (2, 103)], &[]);
    // The last use of one of them is that of both.
    let op = add(rw(0, &[0], F32), ro(1, &[0], F32), out(2, &[0], F32));
    assert_same(vec![op], &[(0, 101), (1, 101), (2, 103)], &[]);
}

#[test]
fn an_output_may_take_the_place_of_an_input() {
    let ops = vec![
        add_scalar(ro(0, &[0], F32), one(), out(1, &[0], F32)),
        add(ro(0, &[0], F32), ro(1, &[0], F32), out(2, &[0], F32)),
    ];
    assert_same(ops, &[(0, 101), (1, 101), (2, 103)], &[]);
}

#[test]
fn a_tensor_that_is_dropped_in_the_graph_is_gone() {
    let ops = vec![
        add_scalar(ro(0, &[0], F32), one(), out(1, &[0], F32)),
        add_scalar(ro(1, &[0], F32), one(), out(2, &[0], F32)),
        OperationIr::Drop(rw(1, &[0], F32)),
        OperationIr::Drop(rw(0, &[0], F32)),
    ];
    assert_same(ops.clone(), &[(0, 101), (2, 103)], &[]);
    assert_same(ops, &[(0, 101), (1, 104), (2, 103)], &[]);
}

#[test]
fn faults_are_those_of_the_stream() {
    let missing = vec![
        add(ro(0, &[0], F32), ro(1, &[0], F32), out(2, &[0], F32)),
        add_scalar(rw(2, &[0], F32), one(), out(3, &[0], F32)),
        add_scalar(ro(1, &[0], F32), one(), out(4, &[0], F32)),
    ];
    assert_same(missing, &[(0, 109), (1, 102), (3, 103), (4, 104)], &[]);

    // Refused by a check, with an intermediate in the message.
    let misshaped = vec![
        add_scalar(ro(0, &[0], F32), one(), out(2, &[0], F32)),
        mul(ro(2, &[0], F32), ro(1, &[0], F32), out(3, &[1], F32)),
        add_scalar(rw(2, &[0], F32), one(), out(4, &[0], F32)),
    ];
    let tensors = [(0, 101), (1, 102), (3, 103), (4, 104)];
    assert_same(misshaped, &tensors, &[]);

    // An intermediate that is declared otherwise when it is read.
    let lied_of = vec![
        add_scalar(ro(0, &[0], F32), one(), out(2, &[0], F32)),
        add_scalar(ro(2, &[1], F32), one(), out(3, &[1], F32)),
        add_scalar(rw(2, &[0], F32), one(), out(4, &[0], F32)),
    ];
    assert_same(lied_of, &[(0, 101), (3, 103), (4, 104)], &[]);

    let used_up = vec![
        add_scalar(ro(0, &[0], F32), one(), out(2, &[0], F32)),
        add_scalar(rw(2, &[0], F32), one(), out(3, &[0], F32)),
        add_scalar(ro(2, &[0], F32), one(), out(4, &[0], F32)),
    ];
    assert_same(used_up, &[(0, 101), (3, 103), (4, 104)], &[]);
}

#[test]
fn custom_operations_find_their_tensors_among_the_handles() {
    let ops = vec![
        custom("double", ro(0, &[0], F32), out(2, &[0], F32)),
        add_scalar(rw(2, &[0], F32), one(), out(3, &[0], F32)),
        custom("double", rw(3, &[0], F32), out(4, &[0], F32)),
        add(ro(4, &[0], F32), ro(1, &[0], F32), out(5, &[0], F32)),
    ];
    assert_same(ops, &[(0, 101), (1, 102), (5, 103)], &[]);
    let broken = vec![
        add_scalar(ro(0, &[0], F32), one(), out(2, &[0], F32)),
        custom("broken", rw(2, &[0], F32), out(3, &[0], F32)),
        custom("double", rw(3, &[0], F32), out(4, &[0], F32)),
        add_scalar(ro(1, &[0], F32), one(), out(5, &[0], F32)),
    ];
    assert_same(broken, &[(0, 101), (1, 102), (4, 103), (5, 104)], &[]);
}

#[test]
fn b76_a_graph_is_replayed_with_other_dims() {
    let graph = Graph::new(vec![
        matmul(
            ro(0, &[0, 1], F32),
            ro(1, &[1, 2], F32),
            out(2, &[0, 2], F32),
        ),
        add_scalar(rw(2, &[0, 2], F32), one(), out(3, &[0, 2], F32)),
    ]);
    let mut interpreter = TensorInterpreter::<Flex>::new(Default::default());
    for dims in [
        [2, 2, 2],
        [2, 3, 4],
        [1, 1, 1],
        [0, 2, 2],
        [2, 3, 4],
        [2, 3, 4],
    ] {
        let [rows, inner, columns] = dims;
        let ones = |rows: usize, columns| TensorData::ones::<f32, _>([rows, columns]);
        interpreter.register_tensor_data_id(TensorId::new(101), ones(rows, inner));
        interpreter.register_tensor_data_id(TensorId::new(102), ones(inner, columns));
        let tensors = [(0, 101), (1, 102), (3, 103)];
        assert_eq!(
            graph.try_replay(&mut interpreter, bindings(&tensors, &dims, &[])),
            Ok(())
        );
        let data = read(&mut interpreter, &ro(103, &[rows, columns], F32)).expect("a product");
        let expected = vec![inner as f32 + 1.0; rows * columns];
        assert_eq!(data.as_slice::<f32>(), Ok(&expected[..]), "{dims:?}");
        drop_all(&mut interpreter, &[101, 102, 103]);
    }
}

#[test]
fn scalars_are_those_of_each_replay() {
    let graph = Graph::new(vec![add_scalar(
        ro(0, &[0], F32),
        ScalarIr::UInt(0),
        out(1, &[0], F32),
    )]);
    let mut interpreter = interpreter();
    for scalar in [1.0, 1.0, 2.5, f64::from(f32::MIN), 1.0] {
        let bindings = bindings(&[(0, 101), (1, 103)], &[2], &[ScalarIr::Float(scalar)]);
        graph.replay(&mut interpreter, bindings);
        let expected = vec![1.0 + scalar as f32, 2.0 + scalar as f32];
        assert_eq!(floats(&mut interpreter, 103, 2), Ok(expected));
    }
}

/// What was found out in one interpreter does not hold for another.
#[test]
fn a_graph_is_replayed_by_many_interpreters() {
    let graph = Graph::new(vec![add(
        ro(0, &[0], F32),
        ro(1, &[0], F32),
        out(2, &[0], F32),
    )]);
    let bindings = bindings(&[(0, 101), (1, 102), (2, 103)], &[2], &[]);
    let mut first = interpreter();
    for _ in 0..2 {
        graph.replay(&mut first, bindings.clone());
        assert_eq!(floats(&mut first, 103, 2), Ok(vec![4.0, 7.0]));
    }
    let mut other = TensorInterpreter::<NdArray>::start();
    for (id, values) in [(101, [1.0_f32, 2.0]), (102, [3.0, 5.0])] {
        other.register_tensor_data_id(TensorId::new(id), TensorData::from(values));
    }
    graph.replay(&mut other, bindings.clone());
    assert_eq!(floats(&mut other, 103, 2), Ok(vec![4.0, 7.0]));

    let mut small = interpreter().with_limits(Limits::default().max_tensor_bytes(4));
    graph.replay(&mut small, bindings.clone());
    let message = floats(&mut small, 103, 2).expect_err("it is too large");
    assert!(
        message.contains("TensorId(103) would take 8 bytes"),
        "{message}"
    );

    let mut few = interpreter().with_limits(Limits::default().max_live_tensors(3));
    graph.replay(&mut few, bindings.clone());
    assert_eq!(floats(&mut few, 103, 2), Ok(vec![4.0, 7.0]));
    let again = GraphBindings {
        tensors: vec![
            (TensorId::new(0), TensorId::new(101)),
            (TensorId::new(1), TensorId::new(102)),
            (TensorId::new(2), TensorId::new(104)),
        ],
        ..bindings
    };
    graph.replay(&mut few, again);
    let message = floats(&mut few, 104, 2).expect_err("it is one too many");
    assert!(message.contains("limit of 3"), "{message}");
}

/// A boundary tensor may be another at the next replay; what was declared of the last is not
/// believed of it.
#[test]
fn an_input_is_compared_at_every_replay() {
    let graph = Graph::new(vec![add_scalar(ro(0, &[0], F32), one(), out(1, &[0], F32))]);
    let bindings = bindings(&[(0, 101), (1, 103)], &[2], &[]);
    let mut interpreter = interpreter();
    for _ in 0..2 {
        graph.replay(&mut interpreter, bindings.clone());
        assert_eq!(floats(&mut interpreter, 103, 2), Ok(vec![2.0, 3.0]));
    }
    interpreter.register_tensor_data_id(TensorId::new(101), TensorData::from([1.0_f32]));
    graph.replay(&mut interpreter, bindings.clone());
    let message = floats(&mut interpreter, 103, 2).expect_err("the input is another");
    assert!(message.contains("TensorId(101)"), "{message}");
    interpreter.register_tensor_data_id(TensorId::new(101), TensorData::from([1_i32, 2]));
    graph.replay(&mut interpreter, bindings);
    let message = floats(&mut interpreter, 103, 2).expect_err("the input is another");
    assert!(message.contains("I32"), "{message}");
}

/// Intermediates that the handler of a custom operation sees take no id of the client's.
#[test]
fn hostile_ids_are_not_those_of_intermediates() {
    let graph = Graph::new(vec![
        add_scalar(ro(0, &[0], F32), one(), out(1, &[0], F32)),
        custom("double", rw(1, &[0], F32), out(2, &[0], F32)),
        custom("double", rw(2, &[0], F32), out(3, &[0], F32)),
    ]);
    let probe = graph.bind(bindings(&[(0, 101), (3, 103)], &[2], &[]));
    let last = probe.operations[1]
        .outputs()
        .next()
        .map(|tensor| tensor.id.value());
    let last = last.expect("an output");
    let mut interpreter = interpreter();
    let hostile = last..last + 64;
    for id in hostile.clone() {
        interpreter.register_tensor_data_id(TensorId::new(id), TensorData::from([7.0_f32]));
    }
    let before = interpreter.num_handles();
    let output = last + 64;
    graph.replay(
        &mut interpreter,
        bindings(&[(0, 101), (3, output)], &[2], &[]),
    );
    assert_eq!(floats(&mut interpreter, output, 2), Ok(vec![8.0, 12.0]));
    for id in hostile {
        assert_eq!(floats(&mut interpreter, id, 1), Ok(vec![7.0]));
    }
    assert_eq!(interpreter.num_handles(), before + 1);
    assert_eq!(
        probe.operations[1].inputs().next().map(|t| t.status),
        Some(TensorStatus::ReadWrite)
    );
}

/// Relative tensor 0 and one, twice 0 and one, three times 0 and one.
fn sums() -> Graph {
    Graph::new(vec![
        add_scalar(ro(0, &[0], F32), ScalarIr::UInt(0), out(1, &[0], F32)),
        add(ro(0, &[0], F32), rw(1, &[0], F32), out(2, &[0], F32)),
        add(ro(0, &[0], F32), ro(2, &[0], F32), out(3, &[0], F32)),
    ])
}

#[test]
fn interpreters_take_turns_with_a_graph_in_other_dims() {
    let graph = sums();
    let (mut one, mut other) = (interpreter(), interpreter());
    let data = TensorData::from([1.0_f32, 2.0, 3.0]);
    other.register_tensor_data_id(TensorId::new(101), data);
    let bindings = |dim| bindings(&[(0, 101), (3, 104)], &[dim], &[self::one()]);
    for _ in 0..8 {
        graph.replay(&mut one, bindings(2));
        assert_eq!(floats(&mut one, 104, 2), Ok(vec![4.0, 7.0]));
    }
    graph.replay(&mut other, bindings(3));
    assert_eq!(floats(&mut other, 104, 3), Ok(vec![4.0, 7.0, 10.0]));
    // Declared with the dims of the other, the same tensor is refused.
    quietly(|| graph.replay(&mut one, bindings(3)));
    let error = floats(&mut one, 104, 2).expect_err("it has 2 elements");
    assert!(error.contains("TensorId(101)"), "{error}");
}

#[test]
fn interpreters_take_turns_with_a_graph_and_bind_other_tensors() {
    let graph = sums();
    let (mut one, mut other) = (interpreter(), interpreter());
    let both = || bindings(&[(0, 101), (2, 103), (3, 104)], &[2], &[self::one()]);
    let last = || bindings(&[(0, 101), (3, 104)], &[2], &[self::one()]);
    graph.replay(&mut one, both());
    assert_eq!(floats(&mut one, 103, 2), Ok(vec![3.0, 5.0]));
    drop_all(&mut one, &[103, 104]);
    graph.replay(&mut other, last());
    assert_eq!(other.num_handles(), 3);
    // What is bound no more is an intermediate.
    graph.replay(&mut one, last());
    assert_eq!(floats(&mut one, 104, 2), Ok(vec![4.0, 7.0]));
    assert_eq!(one.num_handles(), 3);
}

/// Twice relative tensor 0, as 1.
fn twice() -> Graph {
    let input = || ro(0, &[0], F32);
    Graph::new(vec![add(input(), input(), out(1, &[0], F32))])
}

/// Another tensor takes the place of one that is consumed, dropped, or has to make room: it is not
/// taken for it.
#[test]
fn a_bound_tensor_is_not_taken_for_another() {
    let graph = twice();
    let consume = add_scalar(rw(200, &[2], F32), one(), out(201, &[2], F32));
    let drop = OperationIr::Drop(rw(200, &[2], F32));
    for gone in [Some(consume), Some(drop), None] {
        let mut interpreter = interpreter();
        let write = |id, scalar| add_scalar(ro(101, &[2], F32), scalar, out(id, &[2], F32));
        interpreter.register_op(write(200, one()));
        let bindings = || bindings(&[(0, 200), (1, 103)], &[2], &[]);
        graph.replay(&mut interpreter, bindings());
        assert_eq!(floats(&mut interpreter, 103, 2), Ok(vec![4.0, 6.0]));
        let stays = gone.is_none();
        gone.into_iter().for_each(|op| interpreter.register_op(op));
        interpreter.register_op(write(200 + 64, ScalarIr::Float(10.0)));
        quietly(|| graph.replay(&mut interpreter, bindings()));
        match floats(&mut interpreter, 103, 2) {
            Ok(values) => assert_eq!((values, stays), (vec![4.0, 6.0], true)),
            Err(error) => assert!(error.contains("TensorId(200)") && !stays, "{error}"),
        }
    }
}

/// The tensor of an id may become one of another shape between two replays.
#[test]
fn a_bound_tensor_is_looked_at_again() {
    let graph = twice();
    let mut interpreter = interpreter();
    let bindings = || bindings(&[(0, 101), (1, 103)], &[2], &[]);
    for _ in 0..8 {
        graph.replay(&mut interpreter, bindings());
        assert_eq!(floats(&mut interpreter, 103, 2), Ok(vec![2.0, 4.0]));
    }
    let other = TensorData::from([1.0_f32, 2.0, 3.0]);
    interpreter.register_tensor_data_id(TensorId::new(101), other);
    quietly(|| graph.replay(&mut interpreter, bindings()));
    let error = floats(&mut interpreter, 103, 2).expect_err("it has another shape");
    assert!(error.contains("[3]"), "{error}");
}
