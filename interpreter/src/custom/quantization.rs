//! Quantization with given scales: the backend takes them as a struct, and some schemes in another
//! store than the one that is asked for.

use alloc::boxed::Box;

use burn_backend::{
    DType,
    quantization::{QuantScheme, QuantizationParametersPrimitive},
    tensor::{FloatTensor, QuantizedTensor},
};
use burn_ir::BackendIr;

use crate::context::Outcome;
use crate::error::Fault;
use crate::quantized::{narrowed, stored};

pub(crate) fn float_quantize<B: BackendIr>(
    tensor: FloatTensor<B>,
    scheme: &QuantScheme,
    scales: FloatTensor<B>,
    global: Option<FloatTensor<B>>,
    device: &B::Device,
) -> Outcome<QuantizedTensor<B>> {
    let Some(stored) = stored::<B>(device, *scheme) else {
        let dtype = DType::QFloat(*scheme);
        return Err(Box::new(Fault::Quantized { dtype }));
    };
    let scales = narrowed::<B>(scales);
    let qparams = QuantizationParametersPrimitive { scales, global };
    Ok(B::quantize(narrowed::<B>(tensor), &stored, qparams))
}
