//! Quantization: the scales fit the scheme, and the scheme its tensor.

use burn_backend::{
    DType, Shape,
    quantization::{QuantScheme, global_scale_dtype, params_shape},
};
use burn_ir::{QuantizationParametersIr, TensorIr};

use super::{ensure, refuse, same_dtype};
use crate::context::Outcome;
use crate::known::same_dims;
use crate::limits::elements;
use crate::quantized::{misfit, same_scheme};

/// The output is quantized with the scheme, of which there are as many scales as blocks.
pub(crate) fn quantized_by(
    tensor: &TensorIr,
    qparams: &QuantizationParametersIr,
    scheme: &QuantScheme,
    out: &TensorIr,
) -> Outcome {
    if let Some(reason) = misfit(scheme, &tensor.shape) {
        return refuse(alloc::format!("`scheme` does not fit: {reason}"));
    }
    ensure(same_scheme(out.dtype, DType::QFloat(*scheme)), || {
        let id = out.id;
        alloc::format!("the IR does not declare {id} with the operation's `scheme`, {scheme:?}")
    })?;
    let QuantizationParametersIr { scales, global } = qparams;
    same_dtype(tensor, scales)?;
    let blocks = params_shape(&tensor.shape, scheme);
    let is_one = scheme.block_size().is_none() && elements(&scales.shape) == Some(1);
    ensure(is_one || same_dims(&scales.shape, &blocks), || {
        let (id, shape) = (scales.id, &scales.shape);
        alloc::format!("the scheme takes scales of shape {blocks}, but that of {id} is {shape}")
    })?;
    match (global_scale_dtype(scheme), global) {
        (Some(_), Some(global)) => ensure(
            global.dtype == DType::F32 && elements(&global.shape) == Some(1),
            || {
                let (id, dtype, shape) = (global.id, global.dtype, &global.shape);
                let one = Shape::new([1]);
                alloc::format!(
                    "the global scale must be F32 of shape {one}, but {id} is {dtype:?} of {shape}"
                )
            },
        ),
        (Some(_), None) => refuse("the scheme takes a global scale, but there is none".into()),
        (None, Some(global)) => refuse(alloc::format!(
            "the scheme takes no global scale, but {} is given",
            global.id
        )),
        (None, None) => Ok(()),
    }
}
