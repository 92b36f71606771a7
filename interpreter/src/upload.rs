//! What must hold of the data of a tensor before a backend sees it.

use alloc::boxed::Box;

use burn_backend::{BoolStore, DType, TensorData};
use burn_ir::TensorId;

use crate::check::refuse;
use crate::context::Outcome;
use crate::error::Fault;
use crate::limits;

/// The data of the tensor `id` have as many bytes as their shape and dtype say, and bools are 0 or 1.
///
/// Data may come from another program, and their constructors count the bytes of plain dtypes only.
/// Backends take bytes for elements: other bools than these are no bools, and what a backend makes of
/// them is no value.
pub(crate) fn whole(id: TensorId, data: &TensorData) -> Outcome {
    let dtype = data.dtype();
    let bytes = data.as_bytes().len() as u64;
    let expected = limits::bytes(data.shape(), dtype);
    if expected != Some(bytes) {
        return Err(Box::new(Fault::UnfitData {
            id,
            bytes,
            expected,
        }));
    }
    let size = match dtype {
        DType::Bool(BoolStore::Native | BoolStore::U8) => 1,
        DType::Bool(BoolStore::U32) => 4,
        _ => return Ok(()),
    };
    let is_bool = |element: &[u8]| match *element {
        [byte] => byte <= 1,
        [a, b, c, d] => u32::from_ne_bytes([a, b, c, d]) <= 1,
        _ => false,
    };
    let mut elements = data.as_bytes().chunks_exact(size);
    match elements.position(|element| !is_bool(element)) {
        Some(position) => refuse(alloc::format!(
            "a {dtype:?} is 0 or 1, but the element at {position} is neither"
        )),
        None => Ok(()),
    }
}
