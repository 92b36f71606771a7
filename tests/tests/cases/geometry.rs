//! Kernels that do not fit their input: B65, and channels that backends do not look at.

use burn_ir::{
    ActivationOperationIr, AttentionOpIr, AttentionOptionsIr, AvgPool1dOpIr, BatchNormOpIr,
    BinaryOpIr, Conv1dOpIr, Conv1dOptionsIr, Conv2dOpIr, Conv2dOptionsIr, Conv3dOpIr,
    Conv3dOptionsIr, ConvTranspose2dOpIr, ConvTranspose2dOptionsIr, LayerNormOpIr, LinearOpIr,
    MaxPool2dOpIr, ModuleOperationIr, OperationIr, ScalarIr, Unfold4dOpIr, Unfold4dOptionsIr,
};
use interpreter_tests::Tensors;
use interpreter_tests::stream::out;

use crate::{F32, refuses};

/// A convolution of images that is right, to be made wrong in one place.
#[derive(Clone)]
struct Conv2d {
    x: Vec<usize>,
    weight: Vec<usize>,
    bias: Option<usize>,
    options: Conv2dOptionsIr,
    out: Vec<usize>,
}

fn conv2d() -> Conv2d {
    Conv2d {
        x: vec![1, 4, 5, 5],
        weight: vec![2, 4, 3, 3],
        bias: None,
        options: Conv2dOptionsIr {
            stride: [1, 1],
            padding: [(0, 0), (0, 0)],
            dilation: [1, 1],
            groups: 1,
        },
        out: vec![1, 2, 3, 3],
    }
}

impl Conv2d {
    fn op(&self, t: &mut Tensors) -> OperationIr {
        OperationIr::Module(ModuleOperationIr::Conv2d(Conv2dOpIr {
            x: t.float(&self.x),
            weight: t.float(&self.weight),
            bias: self.bias.map(|len| t.float(&[len])),
            options: self.options.clone(),
            out: out(t.id().value(), &self.out, F32),
        }))
    }
}

#[test]
fn b65_convolutions_of_images() {
    type Mistake = fn(&mut Conv2d);
    let mistakes: [(Mistake, &str); 14] = [
        (
            |c| c.weight = vec![2, 4, 6, 6],
            "the kernel of size 6 is larger than axis 2",
        ),
        (
            |c| c.options.stride = [1, 0],
            "`stride` must be at least 1 in each axis: [1, 0]",
        ),
        (
            |c| c.options.dilation = [0, 1],
            "`dilation` must be at least 1 in each axis: [0, 1]",
        ),
        (
            |c| c.options.dilation = [usize::MAX, 1],
            "`dilation` is too large",
        ),
        (
            |c| c.options.padding[0] = (usize::MAX, 1),
            "`padding` is too large",
        ),
        (
            |c| c.options.padding[0] = (1 << 60, 0),
            "more working memory than the machine has",
        ),
        (
            |c| c.options.groups = 0,
            "4 channels in 0 groups do not fit",
        ),
        (
            |c| c.options.groups = 3,
            "4 channels in 3 groups do not fit",
        ),
        (
            |c| c.weight = vec![2, 4, 0, 3],
            "the kernel must be at least 1 in each axis: [0, 3]",
        ),
        (|c| c.weight = vec![2, 4, 3], "must have rank 4"),
        (|c| c.x = vec![4, 5, 5], "must have rank 4"),
        (
            |c| c.bias = Some(3),
            "with shape [3], but the operation asks for [2]",
        ),
        (
            |c| c.out = vec![1, 2, 3, 4],
            "with shape [1, 2, 3, 4], but the operation asks for [1, 2, 3, 3]",
        ),
        // With a kernel of one element burn-flex multiplies without a look at the channels.
        (
            |c| (c.weight, c.out) = (vec![2, 400, 1, 1], vec![1, 2, 5, 5]),
            "4 channels in 1 groups do not fit",
        ),
    ];
    for (mistake, part) in mistakes {
        let mut conv = conv2d();
        mistake(&mut conv);
        refuses(|t| conv.op(t), &[part]);
    }
}

#[test]
fn b65_convolutions_of_signals_and_volumes() {
    let conv1d = |t: &mut Tensors| {
        OperationIr::Module(ModuleOperationIr::Conv1d(Conv1dOpIr {
            x: t.float(&[1, 1, 2]),
            weight: t.float(&[1, 1, 5]),
            bias: None,
            options: Conv1dOptionsIr {
                stride: [1],
                padding: [(0, 0)],
                dilation: [1],
                groups: 1,
            },
            out: out(t.id().value(), &[1, 1, 1], F32),
        }))
    };
    refuses(conv1d, &["the kernel of size 5 is larger than axis 2"]);
    let conv3d = |t: &mut Tensors| {
        OperationIr::Module(ModuleOperationIr::Conv3d(Conv3dOpIr {
            x: t.float(&[1, 1, 2, 2, 2]),
            weight: t.float(&[1, 1, 1, 1, 2]),
            bias: None,
            options: Conv3dOptionsIr {
                stride: [1, 1, 0],
                padding: [0; 3],
                dilation: [1; 3],
                groups: 1,
            },
            out: out(t.id().value(), &[1, 1, 2, 2, 1], F32),
        }))
    };
    refuses(conv3d, &["`stride` must be at least 1"]);
}

#[test]
fn b65_transposed_convolutions() {
    let transposed = |x: [usize; 4], padding: usize, groups: usize| {
        move |t: &mut Tensors| {
            OperationIr::Module(ModuleOperationIr::ConvTranspose2d(ConvTranspose2dOpIr {
                x: t.float(&x),
                weight: t.float(&[2, 1, 3, 3]),
                bias: None,
                options: ConvTranspose2dOptionsIr {
                    stride: [1, 1],
                    padding: [padding; 2],
                    padding_out: [0; 2],
                    dilation: [1; 2],
                    groups,
                },
                out: out(t.id().value(), &[1, 1, 4, 4], F32),
            }))
        }
    };
    refuses(
        transposed([1, 2, 2, 2], 9, 1),
        &["does not fit the stride 1, the padding 9"],
    );
    refuses(
        transposed([1, 2, 0, 2], 0, 1),
        &["axis 2 of", "does not fit the stride 1"],
    );
    refuses(
        transposed([1, 2, 2, 2], 0, 0),
        &["2 channels in 0 groups do not fit"],
    );
    refuses(
        transposed([1, 3, 2, 2], 0, 1),
        &["3 channels in 1 groups do not fit"],
    );
}

#[test]
fn b65_pooling() {
    let max = |kernel_size, stride, dilation| {
        move |t: &mut Tensors| {
            OperationIr::Module(ModuleOperationIr::MaxPool2d(MaxPool2dOpIr {
                x: t.float(&[1, 1, 2, 2]),
                kernel_size,
                stride,
                padding: [0, 0],
                dilation,
                ceil_mode: false,
                out: out(t.id().value(), &[1, 1, 1, 1], F32),
            }))
        }
    };
    refuses(
        max([0, 2], [1, 1], [1, 1]),
        &["the kernel must be at least 1"],
    );
    refuses(
        max([2, 2], [0, 1], [1, 1]),
        &["`stride` must be at least 1"],
    );
    refuses(
        max([2, 2], [1, 1], [1, 0]),
        &["`dilation` must be at least 1"],
    );
    refuses(
        max([3, 2], [1, 1], [1, 1]),
        &["the kernel of size 3 is larger than axis 2"],
    );
    refuses(
        max([2, 2], [1, 1], [2, 1]),
        &["the kernel of size 3 is larger than axis 2"],
    );
    let average = |t: &mut Tensors| {
        OperationIr::Module(ModuleOperationIr::AvgPool1d(AvgPool1dOpIr {
            x: t.float(&[1, 1, 2]),
            kernel_size: 5,
            stride: 1,
            padding: 1,
            count_include_pad: true,
            ceil_mode: false,
            out: out(t.id().value(), &[1, 1, 1], F32),
        }))
    };
    refuses(average, &["the kernel of size 5 is larger than axis 2"]);
}

#[test]
fn b65_patches() {
    let patches = |kernel_size, stride| {
        move |t: &mut Tensors| {
            OperationIr::Module(ModuleOperationIr::Unfold4d(Unfold4dOpIr {
                x: t.float(&[1, 1, 3, 3]),
                kernel_size,
                options: Unfold4dOptionsIr {
                    stride,
                    padding: [0, 0],
                    dilation: [1, 1],
                },
                out: out(t.id().value(), &[1, 4, 4], F32),
            }))
        }
    };
    refuses(
        patches([4, 2], [1, 1]),
        &["the kernel of size 4 is larger than axis 2"],
    );
    refuses(patches([2, 2], [0, 1]), &["`stride` must be at least 1"]);
    refuses(patches([2, 0], [1, 1]), &["the kernel must be at least 1"]);
}

#[test]
fn parameters_of_another_size() {
    let normalize = |t: &mut Tensors| {
        OperationIr::Module(ModuleOperationIr::LayerNorm(LayerNormOpIr {
            input: t.float(&[2, 3]),
            gamma: t.float(&[2]),
            beta: None,
            epsilon: ScalarIr::Float(1e-5),
            out: out(t.id().value(), &[2, 3], F32),
        }))
    };
    refuses(
        normalize,
        &["with shape [2], but the operation asks for [3]"],
    );
    let normalize = |t: &mut Tensors| {
        OperationIr::Module(ModuleOperationIr::BatchNorm(BatchNormOpIr {
            x: t.float(&[2, 3]),
            gamma: t.float(&[3]),
            beta: t.float(&[3]),
            mean: t.float(&[3]),
            variance: t.float(&[4]),
            epsilon: ScalarIr::Float(1e-5),
            out: out(t.id().value(), &[2, 3], F32),
        }))
    };
    refuses(
        normalize,
        &["with shape [4], but the operation asks for [3]"],
    );
}

/// burn-flex reads the elements that an empty batch does not have.
#[test]
fn batches_without_matrices() {
    for (lhs, rhs, product) in [
        ([0, 3, 2], [1, 2, 2], [0, 3, 2]),
        ([1, 3, 2], [0, 2, 2], [0, 3, 2]),
    ] {
        let matmul = |t: &mut Tensors| {
            let (lhs, rhs) = (t.float(&lhs), t.float(&rhs));
            let out = out(t.id().value(), &product, F32);
            interpreter_tests::stream::matmul(lhs, rhs, out)
        };
        refuses(matmul, &["an empty batch is not broadcast"]);
    }
    let linear = |t: &mut Tensors| {
        OperationIr::Module(ModuleOperationIr::Linear(LinearOpIr {
            x: t.float(&[0, 3, 2]),
            weight: t.float(&[2, 2]),
            bias: None,
            out: out(t.id().value(), &[0, 3, 2], F32),
        }))
    };
    refuses(linear, &["has an empty batch"]);
}

/// The work of a kernel on padding is bounded: one element could ask for any amount of it.
#[test]
fn kernels_that_go_over_padding_for_ever() {
    const SIZE: usize = 1 << 18;
    let pool = |t: &mut Tensors| {
        OperationIr::Module(ModuleOperationIr::AvgPool1d(AvgPool1dOpIr {
            x: t.float(&[1, 1, 1]),
            kernel_size: SIZE,
            stride: 1,
            padding: SIZE,
            count_include_pad: true,
            ceil_mode: false,
            out: out(t.id().value(), &[1, 1, SIZE + 2], F32),
        }))
    };
    refuses(pool, &["over the padding alone", "[1, 1, 1]"]);
    // The same with the kernel and the padding of images.
    let pool = |t: &mut Tensors| {
        OperationIr::Module(ModuleOperationIr::MaxPool2d(MaxPool2dOpIr {
            x: t.float(&[1, 1, 2, 2]),
            kernel_size: [512; 2],
            stride: [1; 2],
            padding: [512; 2],
            dilation: [1; 2],
            ceil_mode: false,
            out: out(t.id().value(), &[1, 1, 515, 515], F32),
        }))
    };
    refuses(pool, &["over the padding alone"]);
    let convolution = |t: &mut Tensors| {
        OperationIr::Module(ModuleOperationIr::Conv1d(Conv1dOpIr {
            x: t.float(&[1, 1, 1]),
            weight: t.float(&[1, 1, SIZE]),
            bias: None,
            options: Conv1dOptionsIr {
                stride: [1],
                padding: [(SIZE, SIZE)],
                dilation: [1],
                groups: 1,
            },
            out: out(t.id().value(), &[1, 1, SIZE + 2], F32),
        }))
    };
    refuses(convolution, &["over the padding alone"]);
    let unfold = |t: &mut Tensors| {
        OperationIr::Module(ModuleOperationIr::Unfold4d(Unfold4dOpIr {
            x: t.float(&[1, 1, 1, 1]),
            kernel_size: [40; 2],
            options: Unfold4dOptionsIr {
                stride: [1; 2],
                padding: [60; 2],
                dilation: [1; 2],
            },
            out: out(t.id().value(), &[1, 1600, 82 * 82], F32),
        }))
    };
    refuses(unfold, &["over the padding alone"]);
}

/// A kernel may be larger than its input and mostly on padding, as in the last layers of a network.
#[test]
fn kernels_that_are_mostly_on_padding() {
    let pool = |t: &mut Tensors| {
        OperationIr::Module(ModuleOperationIr::AvgPool1d(AvgPool1dOpIr {
            x: t.data(burn_backend::TensorData::from([[[3.0f32]]])),
            kernel_size: 3,
            stride: 1,
            padding: 1,
            count_include_pad: true,
            ceil_mode: false,
            out: out(t.id().value(), &[1, 1, 1], F32),
        }))
    };
    crate::gives(pool, &[burn_backend::TensorData::from([[[1.0f32]]])]);
}

#[test]
fn vectors_are_not_transformed() {
    let linear = |t: &mut Tensors| {
        OperationIr::Module(ModuleOperationIr::Linear(LinearOpIr {
            x: t.float(&[3]),
            weight: t.float(&[3, 2]),
            bias: None,
            out: out(t.id().value(), &[2], F32),
        }))
    };
    refuses(linear, &["[3]", "is a vector"]);
}

#[test]
fn a_cap_of_scores_is_positive() {
    for cap in [0.0, -1.0, f64::NAN] {
        let attention = |t: &mut Tensors| {
            let [query, key, value] = [(); 3].map(|()| t.float(&[1, 1, 2, 2]));
            let options = AttentionOptionsIr {
                scale: None,
                softcap: Some(ScalarIr::Float(cap)),
                is_causal: false,
            };
            OperationIr::Module(ModuleOperationIr::Attention(AttentionOpIr {
                query,
                key,
                value,
                mask: None,
                attn_bias: None,
                options,
                out: out(t.id().value(), &[1, 1, 2, 2], F32),
            }))
        };
        refuses(attention, &["`softcap` must be positive"]);
    }
}

/// The slopes are for the channels of the tensor, and do not make it larger.
#[test]
fn slopes_for_more_channels_than_there_are() {
    let prelu = |t: &mut Tensors| {
        OperationIr::Activation(ActivationOperationIr::PRelu(BinaryOpIr {
            lhs: t.float(&[1, 1]),
            rhs: t.float(&[1, 3]),
            out: out(t.id().value(), &[1, 3], F32),
        }))
    };
    refuses(prelu, &["[1, 1]", "[1, 3]"]);
}
