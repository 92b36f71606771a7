//! The few operations whose backend call has another form than the operation.

use burn_backend::{
    ops::{DeformConvOptions, UnfoldOptions},
    tensor::{FloatTensor, IntTensor},
};
use burn_ir::{BackendIr, Unfold4dOptionsIr};

use crate::context::Outcome;

pub(crate) fn numeric_int_sum_dims<B: BackendIr>(
    input: IntTensor<B>,
    axes: &[usize],
) -> Outcome<IntTensor<B>> {
    Ok(axes
        .iter()
        .fold(input, |sum, axis| B::int_sum_dim(sum, *axis)))
}

pub(crate) type DeformConv2dGrads<B> = (
    FloatTensor<B>,
    FloatTensor<B>,
    FloatTensor<B>,
    Option<FloatTensor<B>>,
    Option<FloatTensor<B>>,
);

pub(crate) fn module_deformable_conv2d_backward<B: BackendIr>(
    x: FloatTensor<B>,
    offset: FloatTensor<B>,
    weight: FloatTensor<B>,
    mask: Option<FloatTensor<B>>,
    bias: Option<FloatTensor<B>>,
    out_grad: FloatTensor<B>,
    options: DeformConvOptions<2>,
) -> Outcome<DeformConv2dGrads<B>> {
    let grads = B::deform_conv2d_backward(x, offset, weight, mask, bias, out_grad, options);
    Ok((
        grads.x_grad,
        grads.offset_grad,
        grads.weight_grad,
        grads.mask_grad,
        grads.bias_grad,
    ))
}

pub(crate) fn module_unfold4d<B: BackendIr>(
    x: FloatTensor<B>,
    kernel_size: [usize; 2],
    options: &Unfold4dOptionsIr,
) -> Outcome<FloatTensor<B>> {
    let options = UnfoldOptions::new(options.stride, options.padding, options.dilation);
    Ok(B::unfold4d(x, kernel_size, options))
}
