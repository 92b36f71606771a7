//! A program that executes Burn's IR with burn-interpreter.
//!
//! What stands between the marks is the example in the README; `cargo xtask docs` puts it there.

use std::error::Error;

use burn_backend::{DType, Shape, TensorData, ops::FloatTensorOps};
use burn_flex::Flex;
use burn_interpreter::{CustomOpRegistry, Graph, TensorInterpreter};
use burn_ir::{
    BinaryOpIr, CustomOpIr, GraphBindings, NumericOperationIr, OperationIr, TensorId, TensorIr,
    TensorStatus,
};
use burn_std::future::block_on;

/// A tensor of two floats, by its id.
fn tensor(id: u64, shape: usize, status: TensorStatus) -> TensorIr {
    TensorIr {
        id: TensorId::new(id),
        shape: Shape::new([shape]),
        status,
        dtype: DType::F32,
    }
}

/// A tensor of two floats that stays.
fn read(id: u64) -> TensorIr {
    tensor(id, 2, TensorStatus::ReadOnly)
}

/// A tensor of two floats that is written.
fn write(id: u64) -> TensorIr {
    tensor(id, 2, TensorStatus::NotInit)
}

fn add(lhs: TensorIr, rhs: TensorIr, out: TensorIr) -> OperationIr {
    let add = NumericOperationIr::Add(BinaryOpIr { lhs, rhs, out });
    OperationIr::NumericFloat(DType::F32, add)
}

fn values(interpreter: &mut TensorInterpreter<Flex>, id: u64) -> Result<Vec<f32>, Box<dyn Error>> {
    let data = block_on(interpreter.read_tensor_async(read(id)))?;
    Ok(data
        .as_slice::<f32>()
        .map_err(|cause| format!("{cause:?}"))?
        .to_vec())
}

fn main() -> Result<(), Box<dyn Error>> {
    // example
    // An operation that burn-ir does not know needs a handler.
    let mut handlers = CustomOpRegistry::<Flex>::new();
    handlers.register("double", |handles, op, _device| {
        let input = handles.get_float_tensor::<Flex>(&op.inputs[0]);
        let output = Flex::float_mul_scalar(input, 2.0.into());
        handles.register_float_tensor::<Flex>(&op.outputs[0].id, output);
    });
    let mut interpreter = TensorInterpreter::with_custom_ops(Default::default(), handlers);

    // Two tensors go in, two operations are executed, one tensor comes out.
    interpreter.register_tensor_data_id(TensorId::new(0), TensorData::from([1.0f32, 2.0]));
    interpreter.register_tensor_data_id(TensorId::new(1), TensorData::from([10.0f32, 20.0]));
    interpreter.try_register_op(add(read(0), read(1), write(2)))?;
    let double = CustomOpIr::new("double", &[read(2)], &[write(3)]);
    interpreter.try_register_op(OperationIr::Custom(double))?;
    assert_eq!(values(&mut interpreter, 3)?, [22.0, 44.0]);

    // A failed operation costs its outputs: they hold the error, and everything else goes on.
    if let Err(error) = interpreter.try_register_op(add(read(0), read(7), write(8))) {
        println!("{error}");
    }
    assert!(values(&mut interpreter, 8).is_err());
    assert_eq!(values(&mut interpreter, 0)?, [1.0, 2.0]);

    // A graph is executed again and again: its ids and dims are bound anew each time.
    let relative = |id, status| tensor(id, 0, status);
    let graph = Graph::new(vec![add(
        relative(0, TensorStatus::ReadOnly),
        relative(1, TensorStatus::ReadOnly),
        relative(2, TensorStatus::NotInit),
    )]);
    for (input, output) in [(1, 4), (4, 5)] {
        let ids = [(0, 0), (1, input), (2, output)];
        let tensors = ids.map(|(relative, id)| (TensorId::new(relative), TensorId::new(id)));
        let bindings = GraphBindings {
            tensors: tensors.into(),
            shapes: vec![2],
            scalars: Vec::new(),
            ranges: Vec::new(),
        };
        graph.try_replay(&mut interpreter, bindings)?;
    }
    assert_eq!(values(&mut interpreter, 5)?, [12.0, 24.0]);
    // end of the example
    println!(
        "{} operations are known",
        burn_interpreter::OPERATIONS.len()
    );
    Ok(())
}
