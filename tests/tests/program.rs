//! Programs: what a file holds, what is refused, and that a run leaves the program as it was.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use burn_backend::ops::FloatTensorOps;
use burn_backend::{DType, TensorData};
use burn_flex::Flex;
use burn_interpreter::{CustomOpRegistry, FileFault, Program, ProgramError, TensorInterpreter};
use burn_ir::{CustomOpIr, GraphIr, OperationIr, ScalarIr, TensorId, TensorIr};
use interpreter_tests::quietly;
use interpreter_tests::stream::{add, add_scalar, matmul, mul, out, ro, rw};

const F32: DType = DType::F32;
const ONE: ScalarIr = ScalarIr::Float(1.0);

fn id(id: u64) -> TensorId {
    TensorId::new(id)
}

fn graph(operations: Vec<OperationIr>, inputs: &[u64], outputs: &[u64]) -> GraphIr {
    GraphIr {
        operations,
        inputs: inputs.iter().map(|input| id(*input)).collect(),
        outputs: outputs.iter().map(|output| id(*output)).collect(),
    }
}

/// `4 = (1 + 2) * 2`, where 1 is the input and 2, `[10, 20]`, a constant that is consumed.
fn program() -> Program {
    let operations = vec![
        add(ro(1, &[2], F32), ro(2, &[2], F32), out(3, &[2], F32)),
        mul(rw(3, &[2], F32), rw(2, &[2], F32), out(4, &[2], F32)),
    ];
    let constants = BTreeMap::from([(id(2), TensorData::from([10.0f32, 20.0]))]);
    Program::new(graph(operations, &[1], &[4]), constants).expect("the program is whole")
}

fn run(program: &Program, input: [f32; 2]) -> Result<Vec<TensorData>, ProgramError> {
    quietly(|| program.run::<Flex>(&Default::default(), vec![TensorData::from(input)]))
}

#[test]
fn a_program_can_be_run_again() {
    let program = program();
    for _ in 0..3 {
        let outputs = run(&program, [1.0, 2.0]).expect("it runs");
        assert_eq!(outputs, [TensorData::from([110.0f32, 440.0])]);
    }
}

/// The constant that the graph consumes is uploaded once, and there in each run.
#[test]
fn a_prepared_program_runs_again_and_again() {
    let program = program();
    let mut prepared = program
        .prepare::<Flex>(&Default::default())
        .expect("the constants are uploaded");
    for input in [[1.0f32, 2.0], [1.0, 2.0], [0.0, -20.0]] {
        let outputs = prepared.run(vec![TensorData::from(input)]);
        let expected = run(&program, input).expect("it runs");
        assert_eq!(outputs.expect("it runs"), expected);
    }
}

/// What a run leaves behind is nothing, not even if it fails.
#[test]
fn a_prepared_program_runs_after_a_failure() {
    let mut custom_ops = CustomOpRegistry::<Flex>::new();
    custom_ops.register("positive", |handles, op, _| {
        let input = handles.get_float_tensor::<Flex>(&op.inputs[0]);
        let first = f32::from_le_bytes(input.bytes()[..4].try_into().expect("four bytes"));
        assert!(first > 0.0, "{first} is not positive");
        handles.register_float_tensor::<Flex>(&op.outputs[0].id, input);
    });
    let custom = CustomOpIr::new("positive", &[rw(3, &[2], F32)], &[out(4, &[2], F32)]);
    let operations = vec![
        add(rw(1, &[2], F32), rw(2, &[2], F32), out(3, &[2], F32)),
        OperationIr::Custom(custom),
        add_scalar(rw(4, &[2], F32), ONE, out(5, &[2], F32)),
    ];
    let constants = BTreeMap::from([(id(2), TensorData::from([10.0f32, 20.0]))]);
    let program = Program::new(graph(operations, &[1], &[5]), constants).expect("it is whole");
    let interpreter = TensorInterpreter::with_custom_ops(Default::default(), custom_ops);
    let mut prepared = program
        .prepare_in(interpreter)
        .expect("the constants are uploaded");
    for _ in 0..2 {
        let outputs = prepared.run(vec![TensorData::from([1.0f32, 2.0])]);
        let expected = [TensorData::from([12.0f32, 23.0])];
        assert_eq!(outputs.expect("it runs"), expected);
        let error = quietly(|| prepared.run(vec![TensorData::from([-10.0f32, 2.0])]));
        let error = error.expect_err("it is not positive");
        assert!(
            matches!(error, ProgramError::Operation { position: 1, .. }),
            "{error}"
        );
    }
}

#[test]
fn a_file_holds_the_program() {
    let path =
        std::env::temp_dir().join(format!("burn-interpreter-{}.program", std::process::id()));
    let program = program();
    program.save(&path).expect("it is saved");
    let loaded = Program::load(&path);
    fs::remove_file(&path).expect("it was saved");
    let loaded = loaded.expect("it is loaded");
    assert_eq!(loaded, program);
    let outputs = run(&loaded, [0.0, 0.0]).expect("it runs");
    assert_eq!(outputs, [TensorData::from([100.0f32, 400.0])]);
}

#[test]
fn large_constants_are_kept_compact() {
    let count = 10_000;
    let values: Vec<f32> = (0..count).map(|value| value as f32).collect();
    let operations = vec![add(
        ro(1, &[count], F32),
        ro(2, &[count], F32),
        out(3, &[count], F32),
    )];
    let constants = BTreeMap::from([(id(2), TensorData::new(values, [count]))]);
    let program = Program::new(graph(operations, &[1], &[3]), constants).expect("it is whole");
    let bytes = program.to_bytes().expect("it is encoded");
    assert!(
        bytes.len() < 4 * count + 1_000,
        "{} bytes for {count} floats",
        bytes.len()
    );
}

/// B76: two captures that share a constant can be stored and run each by itself.
#[test]
fn b76_each_program_has_its_constants() {
    let constants = BTreeMap::from([(id(2), TensorData::from([2.0f32]))]);
    for (input, output) in [(1, 3), (11, 13)] {
        let add = add(
            ro(input, &[1], F32),
            ro(2, &[1], F32),
            out(output, &[1], F32),
        );
        let graph = graph(vec![add], &[input], &[output]);
        let program = Program::new(graph, constants.clone()).expect("it is whole");
        let bytes = program.to_bytes().expect("it is encoded");
        let loaded = Program::from_bytes(&bytes).expect("it is decoded");
        let inputs = vec![TensorData::from([1.0f32])];
        let outputs = loaded
            .run::<Flex>(&Default::default(), inputs)
            .expect("it runs");
        assert_eq!(outputs, [TensorData::from([3.0f32])]);
    }
}

#[test]
fn an_output_can_be_an_input_or_a_constant() {
    let operations = vec![add_scalar(ro(1, &[1], F32), ONE, out(3, &[1], F32))];
    let constants = BTreeMap::from([(id(2), TensorData::from([7.0f32]))]);
    let program = Program::new(graph(operations, &[1], &[1, 2, 3]), constants);
    let program = program.expect("it is whole");
    let outputs = program.run::<Flex>(&Default::default(), vec![TensorData::from([5.0f32])]);
    let expected = [5.0f32, 7.0, 6.0].map(|value| TensorData::from([value]));
    assert_eq!(outputs.expect("it runs"), expected);
}

#[test]
fn custom_operations_need_their_handlers() {
    let double = CustomOpIr::new("double", &[ro(1, &[1], F32)], &[out(2, &[1], F32)]);
    let graph = graph(vec![OperationIr::Custom(double)], &[1], &[2]);
    let program = Program::new(graph, BTreeMap::new()).expect("it is whole");
    let input = || vec![TensorData::from([4.0f32])];

    let error = program
        .run::<Flex>(&Default::default(), input())
        .expect_err("no handler");
    assert!(
        error
            .to_string()
            .starts_with("at position 0 of the graph: operation `stream.Custom`")
    );

    let mut registry = CustomOpRegistry::<Flex>::new();
    registry.register("double", |handles, ir, _| {
        let tensor = handles.get_float_tensor::<Flex>(&ir.inputs[0]);
        let tensor = Flex::float_mul_scalar(tensor, 2.0.into());
        handles.register_float_tensor::<Flex>(&ir.outputs[0].id, tensor);
    });
    let outputs = program.run_in(
        TensorInterpreter::with_custom_ops(Default::default(), registry),
        input(),
    );
    assert_eq!(outputs.expect("it runs"), [TensorData::from([8.0f32])]);
}

#[test]
fn a_graph_and_constants_that_do_not_fit_are_refused() {
    let add_one = |input: TensorIr| add_scalar(input, ONE, out(2, &[1], F32));
    let constant = |tensor: u64, data: TensorData| BTreeMap::from([(id(tensor), data)]);
    let none = BTreeMap::new;
    let one = || TensorData::from([1.0f32]);
    let cases = [
        (graph(vec![add_one(ro(1, &[1], F32))], &[], &[2]), none()),
        (
            graph(vec![add_one(ro(1, &[1], F32))], &[1, 1], &[2]),
            none(),
        ),
        (
            graph(vec![add_one(ro(1, &[1], F32))], &[1], &[2]),
            constant(1, one()),
        ),
        (
            graph(vec![add_one(ro(1, &[1], F32))], &[1, 2], &[2]),
            none(),
        ),
        (
            graph(vec![add_one(ro(1, &[1], F32))], &[1, 9], &[2]),
            none(),
        ),
        (
            graph(vec![add_one(ro(1, &[1], F32))], &[1], &[2, 2]),
            none(),
        ),
        (graph(vec![add_one(ro(1, &[1], F32))], &[1], &[9]), none()),
        (graph(vec![add_one(rw(1, &[1], F32))], &[1], &[1]), none()),
        (
            graph(vec![add_one(ro(1, &[1], F32))], &[], &[2]),
            constant(1, TensorData::from([1.0f32, 2.0])),
        ),
        (
            graph(vec![add_one(ro(1, &[1], F32))], &[], &[2]),
            constant(1, TensorData::from([1i64])),
        ),
        // An operation reads what the next one produces.
        (
            graph(
                vec![
                    add_scalar(ro(3, &[1], F32), ONE, out(2, &[1], F32)),
                    add_scalar(ro(1, &[1], F32), ONE, out(3, &[1], F32)),
                ],
                &[1],
                &[2],
            ),
            none(),
        ),
        // A constant is consumed twice.
        (
            graph(
                vec![
                    add_scalar(rw(1, &[1], F32), ONE, out(3, &[1], F32)),
                    add_scalar(rw(1, &[1], F32), ONE, out(2, &[1], F32)),
                ],
                &[],
                &[2],
            ),
            constant(1, one()),
        ),
    ];
    let messages = cases.map(|(graph, constants)| {
        Program::new(graph, constants)
            .expect_err("it does not fit")
            .to_string()
    });
    insta::assert_snapshot!("refused_programs", messages.join("\n"));
}

#[test]
fn inputs_that_do_not_fit_are_refused() {
    let program = program();
    let run = |inputs: Vec<TensorData>| {
        let outcome = program.run::<Flex>(&Default::default(), inputs);
        outcome.expect_err("the inputs do not fit").to_string()
    };
    let good = || TensorData::from([1.0f32, 2.0]);
    let messages = [
        run(vec![]),
        run(vec![good(), good()]),
        run(vec![TensorData::from([1.0f32, 2.0, 3.0])]),
        run(vec![TensorData::from([[1.0f32, 2.0]])]),
        run(vec![TensorData::from([1i64, 2])]),
    ];
    insta::assert_snapshot!("refused_inputs", messages.join("\n"));
}

#[test]
fn an_operation_that_fails_is_told_with_its_position() {
    let operations = vec![
        add_scalar(ro(1, &[2, 3], F32), ONE, out(2, &[2, 3], F32)),
        matmul(
            ro(1, &[2, 3], F32),
            ro(2, &[2, 3], F32),
            out(3, &[2, 3], F32),
        ),
    ];
    let program = Program::new(graph(operations, &[1], &[3]), BTreeMap::new());
    let program = program.expect("its tensors are all there");
    let input = vec![TensorData::from([[1.0f32; 3]; 2])];
    let error = quietly(|| program.run::<Flex>(&Default::default(), input));
    let error = error.expect_err("the shapes do not fit");
    let ProgramError::Operation { position, source } = &error else {
        panic!("{error}");
    };
    assert_eq!((*position, source.op().name), (1, "float.Matmul"));
    // The tensors are called what the program calls them.
    assert_eq!(source.inputs()[1].id, id(2));
    assert!(source.to_string().contains("TensorId(2)"), "{source}");
}

/// The byte at which each part of a file begins.
const MAGIC: usize = 0;
const FORMAT: usize = 8;
const VERSION: usize = 16;

#[test]
fn damaged_files_are_told_apart() {
    let whole = program().to_bytes().expect("it is encoded");
    let damaged = |at: usize, with: &[u8]| {
        let mut bytes = whole.clone();
        bytes[at..at + with.len()].copy_from_slice(with);
        bytes
    };
    let version = VERSION..VERSION + "0.22.1".len();
    assert_eq!(&whole[version.clone()], b"0.22.1");
    let last = whole.len() - 1;
    let messages = [
        damaged(MAGIC, b"PK"),
        damaged(FORMAT, &7u32.to_le_bytes()),
        damaged(VERSION, b"0.23.0"),
        whole[..last].to_vec(),
        [&whole[..], b"more"].concat(),
        damaged(last, &[!whole[last]]),
        // The length of the payload is the largest there is.
        damaged(version.end, &u64::MAX.to_le_bytes()),
        // The length of the version is the largest there is.
        damaged(VERSION - 4, &u32::MAX.to_le_bytes()),
        Vec::new(),
    ]
    .map(|bytes| {
        Program::from_bytes(&bytes)
            .expect_err("it is damaged")
            .to_string()
    });
    insta::assert_snapshot!("damaged_files", messages.join("\n"));
}

#[test]
fn a_file_that_ends_early_is_an_error_wherever_it_ends() {
    let whole = program().to_bytes().expect("it is encoded");
    for length in 0..whole.len() {
        let error = Program::from_bytes(&whole[..length]).expect_err("it ends early");
        assert!(matches!(
            error,
            ProgramError::File {
                fault: FileFault::Magic | FileFault::Truncated { .. },
                ..
            }
        ));
    }
}

#[test]
fn a_flipped_byte_is_an_error_wherever_it_is() {
    let whole = program().to_bytes().expect("it is encoded");
    for position in 0..whole.len() {
        for mask in [0x01, 0x80, 0xff] {
            let mut bytes = whole.clone();
            bytes[position] ^= mask;
            assert!(Program::from_bytes(&bytes).is_err(), "byte {position}");
        }
    }
}

/// The payload itself, with a checksum that fits: whatever it says, it is a program or an error.
#[test]
fn a_hostile_payload_is_a_program_or_an_error() {
    let whole = program().to_bytes().expect("it is encoded");
    let header = VERSION + "0.22.1".len();
    let payload = whole[header + 12..].to_vec();
    let with_payload = |payload: &[u8]| {
        let length = (payload.len() as u64).to_le_bytes();
        let checksum = crc32fast::hash(payload).to_le_bytes();
        [&whole[..header], &length, &checksum, payload].concat()
    };
    assert_eq!(with_payload(&payload), whole);
    for position in 0..payload.len() {
        for byte in [0x00, 0x7f, 0x80, 0xc1, 0xdd, 0xff, payload[position] ^ 0x01] {
            let mut payload = payload.clone();
            payload[position] = byte;
            if let Ok(program) = Program::from_bytes(&with_payload(&payload)) {
                // Running it is an error at worst.
                let _ = run(&program, [1.0, 2.0]);
            }
        }
    }
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let path = PathBuf::from("no/such.program");
    let error = Program::load(&path).expect_err("there is no such file");
    assert!(
        error.to_string().starts_with("`no/such.program`: "),
        "{error}"
    );
    let error = program().save(&path).expect_err("there is no such folder");
    assert!(
        error.to_string().starts_with("`no/such.program`: "),
        "{error}"
    );
    let here = PathBuf::from(file!()).with_file_name("program.rs");
    let manifest = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(here.file_name().expect("this file has a name"));
    let error = Program::load(&manifest).expect_err("this file is no program");
    assert!(
        error
            .to_string()
            .contains("program.rs`: this is no program file"),
        "{error}"
    );
}

/// The version that files are marked with is the one that the workspace pins.
#[test]
fn files_are_marked_with_the_pinned_version() {
    let manifest = include_str!("../../Cargo.toml");
    let bytes = program().to_bytes().expect("it is encoded");
    let version = String::from_utf8_lossy(&bytes[VERSION..VERSION + 6]).into_owned();
    assert!(manifest.contains(&format!("burn-ir = {{ version = \"={version}\"")));
}

/// A captured model may have an input that it does not use: its value says the shape.
#[test]
fn a_captured_input_that_nothing_uses() {
    let add_one = add_scalar(ro(1, &[1], F32), ONE, out(2, &[1], F32));
    let captured = burn_capture::CapturedGraph {
        graph: graph(vec![add_one], &[1, 9], &[2]),
        values: BTreeMap::from([
            (id(1), TensorData::from([5.0f32])),
            (id(9), TensorData::from([1i64, 2])),
        ]),
    };
    let program = Program::from_captured(captured).expect("it is a program");
    assert_eq!(program.inputs()[1].shape.to_vec(), [2]);
    let unused = TensorData::from([3i64, 4]);
    let inputs = vec![TensorData::from([1.0f32]), unused];
    let outputs = program.run::<Flex>(&Default::default(), inputs);
    assert_eq!(outputs.expect("it runs"), [TensorData::from([2.0f32])]);
    let wrong = vec![TensorData::from([1.0f32]), TensorData::from([3i64])];
    assert!(program.run::<Flex>(&Default::default(), wrong).is_err());
}
