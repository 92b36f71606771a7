//! The cases that are forward passes of whole models.

use std::hint::black_box;

use burn_backend::tensor::FloatTensor;
use burn_backend::{DType, Shape};
use burn_ir::{
    ActivationOperationIr, BackendIr, BaseOperationIr, Conv2dOpIr, LinearOpIr, MaxPool2dOpIr,
    ModuleOperationIr, OperationIr, ShapeOpIr, TensorIr, TensorStatus, UnaryOpIr,
};

use crate::case::{Builder, Case, conv2d_options, float, out, tensor};

const F32: DType = DType::F32;

/// Two linear layers.
pub(crate) fn mlp<B: BackendIr>(mut builder: Builder) -> Case {
    let x = float::<B>(&[2, 8]);
    let first = Weights::<B>::new(&[8, 16], 16);
    let second = Weights::<B>::new(&[16, 4], 4);
    let direct = move || {
        let hidden = B::relu(first.linear(x.clone()));
        drop(black_box(second.linear(hidden)));
    };
    let x = builder.input(1, &[2, 8], TensorStatus::ReadOnly);
    let hidden = linear(&mut builder, x, [2, 3], (4, [2, 16]));
    builder.push(hidden);
    builder.push(relu((4, &[2, 16]), 5));
    let hidden = last_use(5, &[2, 16]);
    let output = linear(&mut builder, hidden, [6, 7], (8, [2, 4]));
    builder.dropped(output, direct)
}

/// The classifier of the example `digits`, for one image.
pub(crate) fn digits<B: BackendIr>(mut builder: Builder) -> Case {
    let x = float::<B>(&[1, 1, 8, 8]);
    let first = Weights::<B>::new(&[8, 1, 3, 3], 8);
    let second = Weights::<B>::new(&[16, 8, 3, 3], 16);
    let output = Weights::<B>::new(&[64, 10], 10);
    let direct = move || {
        let x = pooled::<B>(B::relu(first.conv2d(x.clone())));
        let x = pooled::<B>(B::relu(second.conv2d(x)));
        let x = B::float_reshape(x, Shape::new([1, 64]));
        drop(black_box(output.linear(x)));
    };
    let x = builder.input(1, &[1, 1, 8, 8], TensorStatus::ReadOnly);
    let first = conv2d(&mut builder, x, ([2, 3], &[8, 1, 3, 3]), (4, &[1, 8, 8, 8]));
    builder.push(first);
    builder.push(relu((4, &[1, 8, 8, 8]), 5));
    builder.push(max_pool2d((5, &[1, 8, 8, 8]), (6, &[1, 8, 4, 4])));
    let x = last_use(6, &[1, 8, 4, 4]);
    let second = conv2d(
        &mut builder,
        x,
        ([7, 8], &[16, 8, 3, 3]),
        (9, &[1, 16, 4, 4]),
    );
    builder.push(second);
    builder.push(relu((9, &[1, 16, 4, 4]), 10));
    builder.push(max_pool2d((10, &[1, 16, 4, 4]), (11, &[1, 16, 2, 2])));
    builder.push(OperationIr::BaseFloat(BaseOperationIr::Reshape(
        ShapeOpIr {
            input: last_use(11, &[1, 16, 2, 2]),
            out: out(12, &[1, 64], F32),
        },
    )));
    let x = last_use(12, &[1, 64]);
    let logits = linear(&mut builder, x, [13, 14], (15, [1, 10]));
    builder.dropped(logits, direct)
}

struct Weights<B: BackendIr> {
    weight: FloatTensor<B>,
    bias: FloatTensor<B>,
}

impl<B: BackendIr> Weights<B> {
    fn new(weight: &[usize], bias: usize) -> Self {
        Self {
            weight: float::<B>(weight),
            bias: float::<B>(&[bias]),
        }
    }

    fn linear(&self, x: FloatTensor<B>) -> FloatTensor<B> {
        B::linear(x, self.weight.clone(), Some(self.bias.clone()))
    }

    fn conv2d(&self, x: FloatTensor<B>) -> FloatTensor<B> {
        let options = conv2d_options(1).into();
        B::conv2d(x, self.weight.clone(), Some(self.bias.clone()), options)
    }
}

fn pooled<B: BackendIr>(x: FloatTensor<B>) -> FloatTensor<B> {
    B::max_pool2d(x, [2, 2], [2, 2], [0, 0], [1, 1], false)
}

fn last_use(id: u64, dims: &[usize]) -> TensorIr {
    tensor(id, dims, F32, TensorStatus::ReadWrite)
}

fn linear(
    builder: &mut Builder,
    x: TensorIr,
    [weight, bias]: [u64; 2],
    (id, dims): (u64, [usize; 2]),
) -> OperationIr {
    let weight_dims = [x.shape[1], dims[1]];
    OperationIr::Module(ModuleOperationIr::Linear(LinearOpIr {
        x,
        weight: builder.input(weight, &weight_dims, TensorStatus::ReadOnly),
        bias: Some(builder.input(bias, &dims[1..], TensorStatus::ReadOnly)),
        out: out(id, &dims, F32),
    }))
}

fn conv2d(
    builder: &mut Builder,
    x: TensorIr,
    ([weight, bias], weight_dims): ([u64; 2], &[usize; 4]),
    (id, dims): (u64, &[usize; 4]),
) -> OperationIr {
    OperationIr::Module(ModuleOperationIr::Conv2d(Conv2dOpIr {
        x,
        weight: builder.input(weight, weight_dims, TensorStatus::ReadOnly),
        bias: Some(builder.input(bias, &dims[1..2], TensorStatus::ReadOnly)),
        options: conv2d_options(1),
        out: out(id, dims, F32),
    }))
}

fn relu((id, dims): (u64, &[usize]), output: u64) -> OperationIr {
    OperationIr::Activation(ActivationOperationIr::Relu(UnaryOpIr {
        input: last_use(id, dims),
        out: out(output, dims, F32),
    }))
}

fn max_pool2d((id, dims): (u64, &[usize]), (output, out_dims): (u64, &[usize])) -> OperationIr {
    OperationIr::Module(ModuleOperationIr::MaxPool2d(MaxPool2dOpIr {
        x: last_use(id, dims),
        kernel_size: [2, 2],
        stride: [2, 2],
        padding: [0, 0],
        dilation: [1, 1],
        ceil_mode: false,
        out: out(output, out_dims, F32),
    }))
}
