//! What must hold of the data of a tensor before a backend sees it.

use alloc::boxed::Box;
use alloc::string::String;

use burn_backend::{BoolStore, DType, TensorData};

use crate::context::Outcome;
use crate::error::Fault;
use crate::limits::bytes;

/// The data have as many bytes as their shape and dtype say, and bools are 0 or 1.
///
/// Data may come from another program. Backends take their bytes for elements: other bools than
/// these are no bools, and what a backend makes of them is no value.
pub(crate) fn whole(data: &TensorData) -> Outcome {
    let dtype = data.dtype();
    let len = data.bytes().len();
    // How many bytes the blocks of a quantized tensor take is its scheme's affair.
    if !matches!(dtype, DType::QFloat(_)) && bytes(data.shape(), dtype) != Some(len as u64) {
        let shape = data.shape();
        return refuse(alloc::format!(
            "the data have {len} bytes, which are no {dtype:?} of shape {shape}"
        ));
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
    match data
        .bytes()
        .chunks_exact(size)
        .position(|element| !is_bool(element))
    {
        Some(position) => refuse(alloc::format!(
            "a {dtype:?} is 0 or 1, but the element at {position} is neither"
        )),
        None => Ok(()),
    }
}

#[cold]
fn refuse(reason: String) -> Outcome {
    Err(Box::new(Fault::Refused { reason }))
}
