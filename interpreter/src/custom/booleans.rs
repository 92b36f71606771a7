//! Operations on bools that the backend has for ints only.
//!
//! They are done on ints, 0 and 1, on the device. What an update by index means for bools, where
//! `old` is the element that is there and `new` the one that comes:
//!
//! | update | meaning | old, new: `00` | `01` | `10` | `11` |
//! | --- | --- | --- | --- | --- | --- |
//! | `Assign` | new | 0 | 1 | 0 | 1 |
//! | `Add`, `Max` | old or new | 0 | 1 | 1 | 1 |
//! | `Mul`, `Min` | old and new | 0 | 0 | 0 | 1 |
//!
//! Where an index comes several times, `Add`, `Max`, `Mul` and `Min` take all of its values in;
//! which one `Assign` leaves is the backend's choice, as for numbers.

use burn_backend::{
    BoolDType, IntDType, Scalar,
    tensor::{BoolTensor, IndexingUpdateOp, IntTensor},
};
use burn_ir::BackendIr;

use crate::context::Outcome;

/// The type of the ints that stand for bools: every backend has it.
const INTS: IntDType = IntDType::I32;

fn into_ints<B: BackendIr>(bools: BoolTensor<B>) -> IntTensor<B> {
    B::bool_into_int(bools, INTS)
}

fn into_bools<B: BackendIr>(ints: IntTensor<B>, dtype: BoolDType) -> BoolTensor<B> {
    B::int_not_equal_elem(ints, Scalar::Int(0), dtype)
}

/// The update of 0 and 1 that is this one of bools.
fn on_ints(update: IndexingUpdateOp) -> IndexingUpdateOp {
    match update {
        IndexingUpdateOp::Assign => IndexingUpdateOp::Assign,
        IndexingUpdateOp::Add | IndexingUpdateOp::Max => IndexingUpdateOp::Max,
        IndexingUpdateOp::Mul | IndexingUpdateOp::Min => IndexingUpdateOp::Min,
    }
}

pub(crate) fn base_bool_select_assign<B: BackendIr>(
    tensor: BoolTensor<B>,
    dim: usize,
    indices: IntTensor<B>,
    value: BoolTensor<B>,
    update: IndexingUpdateOp,
    dtype: BoolDType,
) -> Outcome<BoolTensor<B>> {
    if let IndexingUpdateOp::Add = update {
        return Ok(B::bool_select_or(tensor, dim, indices, value));
    }
    let [tensor, value] = [into_ints::<B>(tensor), into_ints::<B>(value)];
    let updated = B::int_select_assign(tensor, dim, indices, value, on_ints(update));
    Ok(into_bools::<B>(updated, dtype))
}

pub(crate) fn base_bool_scatter<B: BackendIr>(
    dim: usize,
    tensor: BoolTensor<B>,
    indices: IntTensor<B>,
    value: BoolTensor<B>,
    update: IndexingUpdateOp,
    dtype: BoolDType,
) -> Outcome<BoolTensor<B>> {
    if let IndexingUpdateOp::Add = update {
        return Ok(B::bool_scatter_or(dim, tensor, indices, value));
    }
    let [tensor, value] = [into_ints::<B>(tensor), into_ints::<B>(value)];
    let updated = B::int_scatter(dim, tensor, indices, value, on_ints(update));
    Ok(into_bools::<B>(updated, dtype))
}

pub(crate) fn base_bool_scatter_nd<B: BackendIr>(
    data: BoolTensor<B>,
    indices: IntTensor<B>,
    values: BoolTensor<B>,
    reduction: IndexingUpdateOp,
    dtype: BoolDType,
) -> Outcome<BoolTensor<B>> {
    let [data, values] = [into_ints::<B>(data), into_ints::<B>(values)];
    let updated = B::int_scatter_nd(data, indices, values, on_ints(reduction));
    Ok(into_bools::<B>(updated, dtype))
}

pub(crate) fn base_bool_gather_nd<B: BackendIr>(
    data: BoolTensor<B>,
    indices: IntTensor<B>,
    dtype: BoolDType,
) -> Outcome<BoolTensor<B>> {
    let gathered = B::int_gather_nd(into_ints::<B>(data), indices);
    Ok(into_bools::<B>(gathered, dtype))
}

pub(crate) fn base_bool_cast<B: BackendIr>(
    input: BoolTensor<B>,
    dtype: BoolDType,
) -> Outcome<BoolTensor<B>> {
    Ok(into_bools::<B>(into_ints::<B>(input), dtype))
}
