//! What an interpreter refuses to hold.

use burn_backend::TensorData;
use burn_flex::Flex;
use burn_interpreter::{BindingError, Fault, Graph, Limits, TensorInterpreter};
use burn_ir::{
    BaseOperationIr, NumericOperationIr, OperationIr, ScalarIr, ShapeOpIr, SortWithIndicesOpIr,
    TensorId,
};
use interpreter_tests::Engine;
use interpreter_tests::stream::{add, add_scalar, drop_all, floats, out, ro, rw, with_floats};

use crate::F32;

const ONE: ScalarIr = ScalarIr::Float(1.0);

fn id(id: u64) -> TensorId {
    TensorId::new(id)
}

fn limited(limits: Limits) -> TensorInterpreter<Flex> {
    with_floats::<Flex>(&[&[1.0; 4], &[2.0; 4]]).with_limits(limits)
}

#[test]
fn the_bytes_of_a_tensor() {
    let mut interpreter = limited(Limits::default().max_tensor_bytes(16));
    assert_eq!(
        interpreter.execute(add_scalar(ro(1, &[4], F32), ONE, out(3, &[4], F32))),
        Ok(())
    );
    let five = TensorData::from([0.0f32; 5]);
    let fault = interpreter.try_register_tensor_data_id(id(4), five);
    let fault = fault.expect_err("it is too large");
    assert_eq!(
        fault.to_string(),
        "TensorId(4) would take 20 bytes, but the limit is 16"
    );
    let message = floats(&mut interpreter, 4, 5).expect_err("it was not registered");
    assert!(message.contains("but the limit is 16"), "{message}");
}

#[test]
fn the_bytes_of_all_tensors() {
    let mut interpreter = limited(Limits::default().max_live_bytes(48));
    assert_eq!(
        (interpreter.live_bytes(), interpreter.live_tensors()),
        (32, 2)
    );
    let sum = |to| add(ro(1, &[4], F32), ro(2, &[4], F32), out(to, &[4], F32));
    assert_eq!(interpreter.execute(sum(3)), Ok(()));
    assert_eq!(interpreter.live_bytes(), 48);
    let error = interpreter
        .try_register_op(sum(4))
        .expect_err("it is one too many");
    assert!(
        matches!(
            error.fault(),
            Fault::TooManyBytes {
                live: 48,
                bytes: 16,
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(
        (interpreter.live_bytes(), interpreter.live_tensors()),
        (48, 3)
    );
    // What takes the place of its input needs no more.
    assert_eq!(
        interpreter.execute(add_scalar(rw(3, &[4], F32), ONE, out(5, &[4], F32))),
        Ok(())
    );
    // What was dropped is free again, also if an error took its place before.
    drop_all(&mut interpreter, &[1, 4, 5]);
    assert_eq!(
        (interpreter.live_bytes(), interpreter.live_tensors()),
        (16, 1)
    );
    interpreter.register_alias(id(6), id(2));
    interpreter.register_alias(id(6), id(2));
    assert_eq!(interpreter.live_bytes(), 32);
    drop_all(&mut interpreter, &[2, 6]);
    assert_eq!(
        (interpreter.live_bytes(), interpreter.live_tensors()),
        (0, 0)
    );
}

#[test]
fn a_tensor_counts_once_also_while_it_is_replaced() {
    let data = || TensorData::from([1.0f32, 2.0]);
    let limits = Limits::default().max_live_bytes(8);
    let mut interpreter = with_floats::<Flex>(&[]).with_limits(limits);
    for _ in 0..3 {
        assert!(
            interpreter
                .try_register_tensor_data_id(id(1), data())
                .is_ok()
        );
    }
    assert_eq!(interpreter.live_bytes(), 8);
    assert!(
        interpreter
            .try_register_tensor_data_id(id(2), data())
            .is_err()
    );
    assert_eq!(floats(&mut interpreter, 1, 2), Ok(vec![1.0, 2.0]));
}

/// Backends go over the other axes of a tensor without elements, and allocate by them.
#[test]
fn the_axes_of_a_tensor_without_elements() {
    let mut interpreter = with_floats::<Flex>(&[]);
    let data = TensorData::new(Vec::<f32>::new(), [1_usize << 44, 0]);
    let fault = interpreter.try_register_tensor_data_id(id(1), data);
    let fault = fault.expect_err("no machine goes over such an axis");
    assert!(
        matches!(fault, Fault::TensorTooLarge { bytes: None, .. }),
        "{fault}"
    );
    let data = TensorData::new(Vec::<f32>::new(), [1_usize << 10, 0]);
    assert!(interpreter.try_register_tensor_data_id(id(1), data).is_ok());
    assert_eq!(interpreter.live_bytes(), 0);
}

#[test]
fn the_number_of_tensors() {
    let mut interpreter = limited(Limits::default().max_live_tensors(3));
    let sum = |to| add(ro(1, &[4], F32), ro(2, &[4], F32), out(to, &[4], F32));
    assert_eq!(interpreter.execute(sum(3)), Ok(()));
    assert_eq!(
        interpreter.execute(sum(3)),
        Ok(()),
        "it takes the place of another"
    );
    let error = interpreter
        .try_register_op(sum(4))
        .expect_err("it is one too many");
    assert!(
        matches!(error.fault(), Fault::TooManyTensors { limit: 3, .. }),
        "{error}"
    );
}

#[test]
fn the_length_of_a_graph() {
    let mut interpreter = limited(Limits::default().max_graph_ops(1));
    let op = |to| add_scalar(ro(0, &[0], F32), ONE, out(to, &[0], F32));
    let bindings = || burn_ir::GraphBindings {
        tensors: vec![(id(0), id(1)), (id(1), id(3))],
        shapes: vec![4],
        scalars: Vec::new(),
        ranges: Vec::new(),
    };
    assert!(
        Graph::new(vec![op(1)])
            .try_replay(&mut interpreter, bindings())
            .is_ok()
    );
    let error = Graph::new(vec![op(1), op(2)]).try_replay(&mut interpreter, bindings());
    assert_eq!(error, Err(BindingError::TooManyOps { len: 2, limit: 1 }));
}

/// An error takes memory too: a client that only fails comes to an end of it.
#[test]
fn the_number_of_errors() {
    let mut interpreter = limited(Limits::default().max_live_tensors(3));
    for to in 10..100 {
        let missing = add_scalar(ro(9, &[4], F32), ONE, out(to, &[4], F32));
        assert!(interpreter.try_register_op(missing).is_err());
        let data = TensorData::from([1.0f32; 4]);
        let _ = interpreter.try_register_tensor_data_id(id(100 + to), data);
        interpreter.register_alias(id(200 + to), id(9));
    }
    assert_eq!(
        (interpreter.live_tensors(), interpreter.num_handles()),
        (2, 6)
    );
    // One whose id is not known is told all the same.
    let message = floats(&mut interpreter, 99, 4).expect_err("it was not made");
    assert!(message.contains("TensorId(99)"), "{message}");
    assert!(interpreter.sync().is_err());
    drop_all(&mut interpreter, &(10..100).collect::<Vec<_>>());
    drop_all(&mut interpreter, &(110..300).collect::<Vec<_>>());
    assert_eq!(interpreter.num_handles(), 2);
    assert_eq!(
        interpreter.execute(add_scalar(ro(1, &[4], F32), ONE, out(10, &[4], F32))),
        Ok(())
    );
}

/// Each of the outputs fits in what memory there is, both do not. The test runs itself with less
/// memory: a backend that is refused an allocation ends the program.
#[cfg(target_os = "linux")]
#[test]
fn the_memory_of_two_outputs() {
    const LESS: &str = "INTERPRETER_TESTS_LESS_MEMORY";
    const SIZE: usize = 1 << 28;
    if std::env::var_os(LESS).is_none() {
        let run = "ulimit -v 3145728 && exec \"$0\" --exact limits::the_memory_of_two_outputs";
        let program = std::env::current_exe().expect("this program");
        let mut limited = std::process::Command::new("sh");
        let status = limited
            .arg("-c")
            .arg(run)
            .arg(program)
            .env(LESS, "1")
            .status();
        assert!(status.expect("it runs").success());
        return;
    }
    let mut interpreter = with_floats::<Flex>(&[&[1.0]]);
    // Nothing is copied.
    let expand = OperationIr::BaseFloat(BaseOperationIr::Expand(ShapeOpIr {
        input: ro(1, &[1], F32),
        out: out(2, &[SIZE], F32),
    }));
    assert_eq!(interpreter.execute(expand), Ok(()));
    let sort = NumericOperationIr::SortWithIndices(SortWithIndicesOpIr {
        input: ro(2, &[SIZE], F32),
        dim: 0,
        descending: false,
        out: out(3, &[SIZE], F32),
        out_indices: out(4, &[SIZE], crate::I64),
    });
    let message = interpreter.execute(OperationIr::NumericFloat(F32, sort));
    let message = message.expect_err("there is not as much memory");
    assert!(message.contains("of the outputs together"), "{message}");
}
