//! Bytes that nobody wrote: what burn-remote receives and what a program file holds, damaged.
//!
//! Whatever the bytes are, they are decoded or refused, with memory in proportion to their number;
//! and what they decode to is executed or is an error. MessagePack is the format of both.
//!
//! By default a few thousand pieces with a fixed seed; more, and others, with
//!
//! ```text
//! BYTES_PIECES=1000000 BYTES_SEED=1 cargo test -p interpreter-tests --test differential bytes
//! ```

use std::collections::BTreeMap;

use burn_backend::TensorData;
use burn_flex::Flex;
use burn_interpreter::{Graph, Limits, Program, TensorInterpreter};
use burn_ir::{GraphBindings, GraphIr, OperationIr, TensorId};
use burn_std::future::block_on;
use interpreter_tests::{Case, quietly, random_numbers};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::cases;
use super::memory::peak_of;
use super::streams::{Relative, number};

/// Bytes that a decoder takes for the beginning of something large, or of something else.
const TRAPS: [&[u8]; 12] = [
    b"\xcf\xff\xff\xff\xff\xff\xff\xff\xff",
    b"\xd3\x80\x00\x00\x00\x00\x00\x00\x00",
    b"\xdd\xff\xff\xff\xff",
    b"\xdf\xff\xff\xff\xff",
    b"\xc6\xff\xff\xff\xff",
    b"\xdb\xff\xff\xff\xff",
    b"\xdc\xff\xff",
    b"\xc0",
    b"\x00",
    b"\xff",
    b"\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00",
    b"\xca\x7f\x80\x00\x00",
];

/// Memory that a decoder may take beyond a small multiple of its input: serde reserves up to a
/// mebibyte for a list before it has seen its first item.
const RESERVED: usize = 8 << 20;

/// What decodes a shape asks for as much memory as it claims to be long, and takes a refusal for an
/// answer. A program file is looked at before; what burn-remote decodes is its own.
const SHAPE: usize = 8 * u32::MAX as usize;

fn pieces() -> (u64, StdRng) {
    let seed = number("BYTES_SEED", 0);
    (number("BYTES_PIECES", 4_000), StdRng::seed_from_u64(seed))
}

/// Damage in a few places.
fn damaged(mut bytes: Vec<u8>, random: &mut StdRng) -> Vec<u8> {
    for _ in 0..random.random_range(1..3) {
        let at = random.random_range(0..=bytes.len());
        let trap = TRAPS[random.random_range(0..TRAPS.len())];
        match random.random_range(0..8) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..bytes.len().min(at + 3))),
            2 => drop(bytes.splice(at..bytes.len().min(at + trap.len()), trap.iter().copied())),
            3 => drop(bytes.splice(at..bytes.len().min(at + 1), trap.iter().copied())),
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << random.random_range(0..8);
                }
            }
        }
    }
    bytes
}

fn encoded(value: &impl Serialize) -> Vec<u8> {
    rmp_serde::to_vec(value).expect("it can be encoded")
}

/// What the bytes decode to, if anything, within bounds of memory.
fn decoded<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let (decoded, peak) = peak_of(|| rmp_serde::from_slice(bytes).ok());
    let bound = RESERVED + SHAPE + 256 * bytes.len();
    assert!(
        peak <= bound,
        "{peak} bytes of memory for {} bytes",
        bytes.len()
    );
    decoded
}

fn interpreter(case: &Case) -> TensorInterpreter<Flex> {
    let limits = Limits::default().max_tensor_bytes(1 << 20);
    let mut interpreter = TensorInterpreter::new(Default::default()).with_limits(limits);
    for (id, data) in &case.inputs {
        interpreter.register_tensor_data_id(*id, data.clone());
    }
    interpreter
}

/// The outputs can be asked for, whatever became of the operation.
fn read_outputs<'o>(
    interpreter: &mut TensorInterpreter<Flex>,
    ops: impl IntoIterator<Item = &'o OperationIr>,
) {
    for op in ops {
        for output in op.outputs() {
            let mut tensor = output.clone();
            tensor.status = burn_ir::TensorStatus::ReadOnly;
            drop(block_on(interpreter.read_tensor_async(tensor)));
        }
    }
}

#[test]
fn operations() {
    let (pieces, mut random) = pieces();
    let cases = cases();
    let mut executed = 0;
    for _ in 0..pieces {
        let case = &cases[random.random_range(0..cases.len())];
        let bytes = damaged(encoded(&case.op), &mut random);
        let Some(op) = decoded::<OperationIr>(&bytes) else {
            continue;
        };
        let _alone = random_numbers();
        let mut interpreter = interpreter(case);
        quietly(|| {
            interpreter.register_op(op.clone());
            read_outputs(&mut interpreter, [&op]);
        });
        executed += 1;
    }
    assert!(
        executed > pieces / 50,
        "too few pieces are operations: {executed}"
    );
}

#[test]
fn graphs_and_bindings() {
    let (pieces, mut random) = pieces();
    let cases = cases();
    let mut executed = 0;
    for _ in 0..pieces {
        let case = &cases[random.random_range(0..cases.len())];
        let (ops, bindings, _) = Relative::of(vec![case.op.clone()]);
        let (mut graph, mut bindings) = (encoded(&GraphIr::new(ops)), encoded(&bindings));
        match random.random() {
            true => graph = damaged(graph, &mut random),
            false => bindings = damaged(bindings, &mut random),
        }
        let graph = decoded::<GraphIr>(&graph);
        let Some((graph, bindings)) = graph.zip(decoded::<GraphBindings>(&bindings)) else {
            continue;
        };
        let _alone = random_numbers();
        let mut interpreter = interpreter(case);
        quietly(|| {
            let graph = Graph::new(graph.operations);
            let bound = graph.bind(bindings.clone());
            graph.replay(&mut interpreter, bindings);
            read_outputs(&mut interpreter, &bound.operations);
        });
        executed += 1;
    }
    assert!(
        executed > pieces / 50,
        "too few pieces are graphs: {executed}"
    );
}

#[test]
fn programs() {
    let (pieces, mut random) = pieces();
    let cases = cases();
    let mut executed = 0;
    for _ in 0..pieces {
        let case = &cases[random.random_range(0..cases.len())];
        // The tensors that are read are constants, not inputs.
        let mut graph = GraphIr::new(vec![case.op.clone()]);
        graph.inputs.clear();
        let constants: BTreeMap<TensorId, TensorData> = case.inputs.iter().cloned().collect();
        let program = Program::new(graph, constants);
        let Ok(program) = program else { continue };
        let file = program.to_bytes().expect("it can be encoded");
        let payload = encoded(&(program.graph(), program.constants()));
        let start = file.len() - payload.len();
        assert_eq!(file[start..], payload);
        let payload = damaged(payload, &mut random);
        let mut file = file[..start - 12].to_vec();
        file.extend_from_slice(&(payload.len() as u64).to_le_bytes());
        file.extend_from_slice(&crc32fast::hash(&payload).to_le_bytes());
        file.extend_from_slice(&payload);

        let (loaded, peak) = peak_of(|| Program::from_bytes(&file));
        let bound = RESERVED + 256 * file.len();
        assert!(
            peak <= bound,
            "{peak} bytes of memory for {} bytes",
            file.len()
        );
        let Ok(program) = loaded else { continue };
        let limits = Limits::default().max_tensor_bytes(1 << 20);
        let _alone = random_numbers();
        let interpreter = TensorInterpreter::<Flex>::new(Default::default()).with_limits(limits);
        drop(quietly(|| program.run_in(interpreter, Vec::new())));
        executed += 1;
    }
    assert!(
        executed > pieces / 50,
        "too few pieces are programs: {executed}"
    );
}
