//! Short names for the operations that streams in tests are made of.

use burn_backend::{DType, Shape, TensorData};
use burn_interpreter::TensorInterpreter;
use burn_ir::{
    BackendIr, BinaryOpIr, GraphBindings, MatmulOpIr, NumericOperationIr, OperationIr, ScalarIr,
    ScalarOpIr, TensorId, TensorIr, TensorStatus,
};

use crate::engine::{Engine, read};

/// A tensor by id, for reading: `ReadOnly`.
pub fn ro(id: u64, dims: &[usize], dtype: DType) -> TensorIr {
    with_status(id, dims, dtype, TensorStatus::ReadOnly)
}

/// A tensor by id, for its last use: `ReadWrite`.
pub fn rw(id: u64, dims: &[usize], dtype: DType) -> TensorIr {
    with_status(id, dims, dtype, TensorStatus::ReadWrite)
}

/// A tensor by id, to be written: `NotInit`.
pub fn out(id: u64, dims: &[usize], dtype: DType) -> TensorIr {
    with_status(id, dims, dtype, TensorStatus::NotInit)
}

fn with_status(id: u64, dims: &[usize], dtype: DType, status: TensorStatus) -> TensorIr {
    TensorIr {
        id: TensorId::new(id),
        shape: Shape::from(dims.to_vec()),
        status,
        dtype,
    }
}

/// Bindings of a graph without ranges: tensors by relative and concrete id, dims, scalars.
pub fn bindings(tensors: &[(u64, u64)], shapes: &[usize], scalars: &[ScalarIr]) -> GraphBindings {
    let pair =
        |(relative, concrete): &(u64, u64)| (TensorId::new(*relative), TensorId::new(*concrete));
    GraphBindings {
        tensors: tensors.iter().map(pair).collect(),
        shapes: shapes.to_vec(),
        scalars: scalars.to_vec(),
        ranges: Vec::new(),
    }
}

/// `out = lhs + rhs`, in the dtype of `lhs`.
pub fn add(lhs: TensorIr, rhs: TensorIr, out: TensorIr) -> OperationIr {
    numeric(
        NumericOperationIr::Add(BinaryOpIr {
            lhs,
            rhs,
            out: out.clone(),
        }),
        &out,
    )
}

/// `out = lhs * rhs`, element by element.
pub fn mul(lhs: TensorIr, rhs: TensorIr, out: TensorIr) -> OperationIr {
    numeric(
        NumericOperationIr::Mul(BinaryOpIr {
            lhs,
            rhs,
            out: out.clone(),
        }),
        &out,
    )
}

/// `out = lhs + scalar`
pub fn add_scalar(lhs: TensorIr, rhs: ScalarIr, out: TensorIr) -> OperationIr {
    numeric(
        NumericOperationIr::AddScalar(ScalarOpIr {
            lhs,
            rhs,
            out: out.clone(),
        }),
        &out,
    )
}

/// The matrix product of floats.
pub fn matmul(lhs: TensorIr, rhs: TensorIr, out: TensorIr) -> OperationIr {
    let op = burn_ir::FloatOperationIr::Matmul(MatmulOpIr { lhs, rhs, out });
    OperationIr::Float(DType::F32, op)
}

fn numeric(op: NumericOperationIr, out: &TensorIr) -> OperationIr {
    match out.dtype.is_float() {
        true => OperationIr::NumericFloat(out.dtype, op),
        false => OperationIr::NumericInt(out.dtype, op),
    }
}

/// An interpreter with f32 tensors of rank 1, under the ids 1, 2, …
pub fn with_floats<B: BackendIr>(tensors: &[&[f32]]) -> TensorInterpreter<B> {
    let mut interpreter = TensorInterpreter::new(B::Device::default());
    for (id, values) in (1..).zip(tensors) {
        let data = TensorData::new(values.to_vec(), [values.len()]);
        interpreter.register_tensor_data_id(TensorId::new(id), data);
    }
    interpreter
}

/// The values of an f32 tensor of rank 1, which stays.
pub fn floats<B: BackendIr>(
    interpreter: &mut TensorInterpreter<B>,
    id: u64,
    len: usize,
) -> Result<Vec<f32>, String> {
    let data = read(interpreter, &ro(id, &[len], DType::F32))?;
    Ok(data
        .as_slice::<f32>()
        .map_err(|error| error.to_string())?
        .to_vec())
}

/// Drop these ids.
pub fn drop_all<B: BackendIr>(interpreter: &mut TensorInterpreter<B>, ids: &[u64]) {
    for id in ids {
        let op = OperationIr::Drop(rw(*id, &[1], DType::F32));
        assert_eq!(Engine::<B>::execute(interpreter, op), Ok(()));
    }
}
