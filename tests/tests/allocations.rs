//! The interpreter allocates nothing by itself: an operation of fixed arity makes as many
//! allocations as the same call on the backend.

use allocation_counter::measure;
use burn_backend::ops::{ConvOptions, FloatTensorOps, ModuleOps};
use burn_backend::{BoolStore, DType, Scalar, Shape, TensorData};
use burn_flex::{Flex, FlexTensor};
use burn_interpreter::{Graph, TensorInterpreter};
use burn_ir::{
    BaseOperationIr, Conv1dOpIr, Conv1dOptionsIr, GraphBindings, ModuleOperationIr,
    NumericOperationIr, OperationIr, ReduceDimOpIr, ScalarIr, ShapeOpIr, TensorId,
};
use interpreter_tests::stream::{add, add_scalar, bindings, matmul, out, ro, rw};

const F32: DType = DType::F32;
const BOOL: DType = DType::Bool(BoolStore::Native);

/// How often an operation is executed: the first few may grow what is kept.
const ROUNDS: usize = 64;

fn tensor(dims: &[usize]) -> FlexTensor {
    Flex::float_from_data(data(dims), &Default::default())
}

fn data(dims: &[usize]) -> TensorData {
    TensorData::new(
        vec![0.5_f32; dims.iter().product()],
        Shape::from(dims.to_vec()),
    )
}

/// The allocations of the second half of the rounds.
fn steady(mut round: impl FnMut()) -> u64 {
    (0..ROUNDS).for_each(|_| round());
    measure(|| (0..ROUNDS).for_each(|_| round())).count_total
}

/// The operation reads tensors from 1 on, of these dims, and writes tensor 9, which is dropped.
fn assert_adds_none(
    name: &str,
    inputs: &[&[usize]],
    op: OperationIr,
    mut direct: impl FnMut(&[FlexTensor]),
) {
    let tensors: Vec<FlexTensor> = inputs.iter().map(|dims| tensor(dims)).collect();
    let direct = steady(|| direct(&tensors));

    let mut interpreter = TensorInterpreter::<Flex>::new(Default::default());
    for (id, dims) in (1..).zip(inputs) {
        interpreter.register_tensor_data_id(TensorId::new(id), data(dims));
    }
    let drop = OperationIr::Drop(rw(9, &[1], F32));
    // Built before they are counted.
    let mut ops: Vec<[OperationIr; 2]> = vec![[op, drop]; 2 * ROUNDS];
    let ours = steady(|| {
        for op in ops.pop().into_iter().flatten() {
            assert!(interpreter.try_register_op(op).is_ok(), "{name}");
        }
    });
    assert_eq!(ours, direct, "{name}");
}

#[test]
fn a_stream_allocates_what_the_calls_do() {
    let one = || ro(1, &[2, 2], F32);
    let two = || ro(2, &[2, 2], F32);
    let nine = || out(9, &[2, 2], F32);
    let square: &[usize] = &[2, 2];
    assert_adds_none("Add", &[square; 2], add(one(), two(), nine()), |x| {
        drop(Flex::float_add(x[0].clone(), x[1].clone()));
    });
    let op = add_scalar(one(), ScalarIr::Float(1.0), nine());
    assert_adds_none("AddScalar", &[square], op, |x| {
        drop(Flex::float_add_scalar(x[0].clone(), Scalar::Float(1.0)));
    });
    let op = OperationIr::NumericFloat(
        F32,
        NumericOperationIr::Greater(burn_ir::BinaryOpIr {
            lhs: one(),
            rhs: two(),
            out: out(9, square, BOOL),
        }),
    );
    assert_adds_none("Greater", &[square; 2], op, |x| {
        drop(Flex::float_greater(x[0].clone(), x[1].clone(), BOOL.into()));
    });
    let op = OperationIr::NumericFloat(
        F32,
        NumericOperationIr::SumDim(ReduceDimOpIr {
            input: one(),
            out: out(9, &[2, 1], F32),
            axis: 1,
            accumulator_len: 1,
        }),
    );
    assert_adds_none("SumDim", &[square], op, |x| {
        drop(Flex::float_sum_dim(x[0].clone(), 1));
    });
    let op = OperationIr::BaseFloat(BaseOperationIr::Reshape(ShapeOpIr {
        input: one(),
        out: out(9, &[4], F32),
    }));
    assert_adds_none("Reshape", &[square], op, |x| {
        drop(Flex::float_reshape(x[0].clone(), Shape::new([4])));
    });
    assert_adds_none("Matmul", &[square; 2], matmul(one(), two(), nine()), |x| {
        drop(Flex::float_matmul(x[0].clone(), x[1].clone()));
    });
    let op = OperationIr::Module(ModuleOperationIr::Conv1d(Conv1dOpIr {
        x: ro(1, &[1, 1, 4], F32),
        weight: ro(2, &[1, 1, 2], F32),
        bias: None,
        options: Conv1dOptionsIr {
            stride: [1],
            padding: [(0, 0)],
            dilation: [1],
            groups: 1,
        },
        out: out(9, &[1, 1, 3], F32),
    }));
    assert_adds_none("Conv1d", &[&[1, 1, 4], &[1, 1, 2]], op, |x| {
        let options = ConvOptions::new([1], [0], [1], 1);
        drop(Flex::conv1d(x[0].clone(), x[1].clone(), None, options));
    });
}

#[test]
fn a_replay_allocates_what_the_calls_do() {
    const OPS: u64 = 10;
    let rhs = tensor(&[4]);
    let mut x = Some(tensor(&[4]));
    let direct = steady(|| {
        for _ in 0..OPS {
            x = x.take().map(|x| Flex::float_add(x, rhs.clone()));
        }
    });

    let ops = (0..OPS).map(|step| {
        // Tensor 0 is the one that stays; the others go from hand to hand.
        let (input, output) = (step + 1, step + 2);
        add(
            rw(input, &[0], F32),
            ro(0, &[0], F32),
            out(output, &[0], F32),
        )
    });
    let graph = Graph::new(ops.collect());
    let mut interpreter = TensorInterpreter::<Flex>::new(Default::default());
    for id in [100, 101] {
        interpreter.register_tensor_data_id(TensorId::new(id), data(&[4]));
    }
    let mut bindings: Vec<GraphBindings> = (0..2 * ROUNDS as u64)
        .rev()
        .map(|round| GraphBindings {
            tensors: vec![
                (TensorId::new(0), TensorId::new(100)),
                (TensorId::new(1), TensorId::new(101 + round)),
                (TensorId::new(OPS + 1), TensorId::new(102 + round)),
            ],
            shapes: vec![4],
            scalars: vec![],
            ranges: vec![],
        })
        .collect();
    let ours = steady(|| {
        if let Some(bindings) = bindings.pop() {
            assert_eq!(graph.try_replay(&mut interpreter, bindings), Ok(()));
        }
    });
    assert_eq!(ours, direct);
    assert_eq!(interpreter.live_tensors(), 2);
}

/// Memory that a kernel was found to have for its work may be gone at the next replay.
#[test]
fn a_replay_asks_for_large_working_memory_each_time() {
    const PADDING: usize = 4 << 20;
    // Dims by their index in the bindings.
    let op = OperationIr::Module(ModuleOperationIr::Conv1d(Conv1dOpIr {
        x: ro(0, &[0, 0, 1], F32),
        weight: ro(1, &[0, 0, 2], F32),
        bias: None,
        options: Conv1dOptionsIr {
            stride: [PADDING],
            padding: [(PADDING, PADDING)],
            dilation: [1],
            groups: 1,
        },
        out: out(2, &[0, 0, 3], F32),
    }));
    let graph = Graph::new(vec![op]);
    let mut interpreter = TensorInterpreter::<Flex>::new(Default::default());
    interpreter.register_tensor_data_id(TensorId::new(100), data(&[1, 1, 4]));
    interpreter.register_tensor_data_id(TensorId::new(101), data(&[1, 1, 2]));
    for _ in 0..3 {
        let bindings = bindings(&[(0, 100), (1, 101), (2, 102)], &[1, 4, 2, 3], &[]);
        let measured = measure(|| {
            assert_eq!(graph.try_replay(&mut interpreter, bindings), Ok(()));
        });
        let padded = (2 * PADDING * F32.size()) as u64;
        assert!(measured.bytes_total >= padded, "{measured:?}");
    }
}
