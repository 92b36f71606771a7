//! The few operations whose backend call has another form than the operation.

use alloc::boxed::Box;
use alloc::format;

use burn_backend::{
    ops::{DeformConvOptions, UnfoldOptions},
    tensor::{BoolTensor, FloatTensor, IndexingUpdateOp, IntTensor},
};
use burn_ir::{BackendIr, Unfold4dOptionsIr};

use crate::context::Outcome;
use crate::error::Fault;

pub(crate) fn base_bool_select_assign<B: BackendIr>(
    tensor: BoolTensor<B>,
    dim: usize,
    indices: IntTensor<B>,
    value: BoolTensor<B>,
    update: IndexingUpdateOp,
) -> Outcome<BoolTensor<B>> {
    only_or(update)?;
    Ok(B::bool_select_or(tensor, dim, indices, value))
}

pub(crate) fn base_bool_scatter<B: BackendIr>(
    dim: usize,
    tensor: BoolTensor<B>,
    indices: IntTensor<B>,
    value: BoolTensor<B>,
    update: IndexingUpdateOp,
) -> Outcome<BoolTensor<B>> {
    only_or(update)?;
    Ok(B::bool_scatter_or(dim, tensor, indices, value))
}

/// On bools the backend updates with a logical or, which the IR calls `Add`.
fn only_or(update: IndexingUpdateOp) -> Outcome {
    match update {
        IndexingUpdateOp::Add => Ok(()),
        other => Err(Box::new(Fault::Refused {
            reason: format!("the backend updates bool tensors with `Add` only, not `{other:?}`"),
        })),
    }
}

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
