//! The profiler: what it records, in a stream and in a replay.

use burn_backend::{DType, TensorData};
use burn_flex::Flex;
use burn_interpreter::{Graph, Profiler, TensorInterpreter};
use burn_ir::{GraphBindings, OperationIr, ScalarIr, TensorId};
use interpreter_tests::stream::{add_scalar, matmul, out, ro, rw};

const F32: DType = DType::F32;
const ONE: ScalarIr = ScalarIr::Float(1.0);

fn interpreter() -> TensorInterpreter<Flex> {
    let mut interpreter =
        TensorInterpreter::new(Default::default()).with_profiler(Profiler::new().synchronised());
    interpreter.register_tensor_data_id(TensorId::new(1), TensorData::from([[1.0_f32; 2]; 2]));
    interpreter
}

fn square(input: u64, output: u64) -> OperationIr {
    let (lhs, rhs) = (ro(input, &[2, 2], F32), ro(input, &[2, 2], F32));
    matmul(lhs, rhs, out(output, &[2, 2], F32))
}

/// The name, count and bytes of each row, by name.
fn facts(profiler: &Profiler) -> Vec<(&'static str, usize, u64, u64)> {
    let rows = profiler.rows().into_iter();
    let mut facts: Vec<_> = rows
        .map(|row| {
            assert!(
                row.median <= row.largest && row.largest <= row.total,
                "{row:?}"
            );
            (row.name, row.count, row.bytes_in, row.bytes_out)
        })
        .collect();
    facts.sort_unstable();
    facts
}

#[test]
fn a_stream_is_recorded_by_row() {
    let mut interpreter = interpreter();
    interpreter.register_op(square(1, 2));
    interpreter.register_op(square(2, 3));
    let sum = add_scalar(rw(3, &[2, 2], F32), ONE, out(4, &[2, 2], F32));
    interpreter.register_op(sum);
    let profiler = interpreter.take_profiler().expect("one was set");
    let expected = [
        ("float.Matmul", 2, 64, 32),
        ("numeric.AddScalar.float", 1, 16, 16),
    ];
    assert_eq!(facts(&profiler), expected);
    // Nothing is recorded from here on.
    interpreter.register_op(square(4, 5));
    assert!(interpreter.profiler().is_none());

    let table = profiler.to_string();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 3, "{table}");
    assert!(lines[0].starts_with("operation"), "{table}");
}

#[test]
fn a_replay_is_recorded_by_row() {
    let graph = Graph::new(vec![square(1, 2), square(2, 3)]);
    let graph_bindings = GraphBindings {
        tensors: vec![
            (TensorId::new(1), TensorId::new(1)),
            (TensorId::new(3), TensorId::new(9)),
        ],
        shapes: vec![0, 1, 2],
        scalars: vec![],
        ranges: vec![],
    };
    let mut interpreter = interpreter();
    for _ in 0..3 {
        graph.replay(&mut interpreter, graph_bindings.clone());
    }
    let profiler = interpreter.profiler().expect("one was set");
    assert_eq!(facts(profiler), [("float.Matmul", 6, 192, 96)]);
}

#[test]
fn the_trace_has_an_event_for_each_operation() {
    let mut interpreter = interpreter();
    interpreter.register_op(square(1, 2));
    interpreter.register_op(square(2, 3));
    let mut trace = Vec::new();
    let profiler = interpreter.profiler().expect("one was set");
    profiler
        .write_chrome_trace(&mut trace)
        .expect("a vector can be written to");
    let trace: serde_json::Value = serde_json::from_slice(&trace).expect("it is JSON");
    let events = trace["traceEvents"].as_array().expect("a list of events");
    assert_eq!(events.len(), 2);
    for event in events {
        assert_eq!(event["name"], "float.Matmul");
        assert_eq!(event["ph"], "X");
        assert_eq!(event["args"]["bytes in"], 32);
        assert!(
            event["ts"].is_number() && event["dur"].is_number(),
            "{event}"
        );
    }
    let starts = |at: usize| events[at]["ts"].as_f64().expect("a number");
    assert!(starts(0) <= starts(1));
}
