//! `module`: convolutions, their gradients, unfolding.

use burn_ir::{
    Conv1dBiasBackwardOpIr, Conv1dOpIr, Conv1dOptionsIr, Conv1dWeightBackwardOpIr,
    Conv1dXBackwardOpIr, Conv2dBiasBackwardOpIr, Conv2dOpIr, Conv2dOptionsIr,
    Conv2dWeightBackwardOpIr, Conv2dXBackwardOpIr, Conv3dBiasBackwardOpIr, Conv3dOpIr,
    Conv3dOptionsIr, Conv3dWeightBackwardOpIr, Conv3dXBackwardOpIr,
    ConvTranspose1dBiasBackwardOpIr, ConvTranspose1dOpIr, ConvTranspose1dOptionsIr,
    ConvTranspose1dWeightBackwardOpIr, ConvTranspose2dBiasBackwardOpIr, ConvTranspose2dOpIr,
    ConvTranspose2dOptionsIr, ConvTranspose2dWeightBackwardOpIr, ConvTranspose3dBiasBackwardOpIr,
    ConvTranspose3dOpIr, ConvTranspose3dOptionsIr, ConvTranspose3dWeightBackwardOpIr,
    DeformConv2dBackwardOpIr, DeformConv2dOpIr, DeformableConv2dOptionsIr,
    ModuleOperationIr as Module, OperationIr, Unfold4dOpIr, Unfold4dOptionsIr,
};
use interpreter_tests::{Case, Tensors};

fn case(build: impl FnOnce(&mut Tensors) -> Module) -> Case {
    Case::new(|t| OperationIr::Module(build(t)))
}

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = conv1d();
    cases.extend(conv2d());
    cases.extend(conv3d());
    cases.extend(transposed());
    cases.extend(transposed_gradients());
    cases.extend(deformable());
    cases.push(case(|t| {
        let x = t.float(&[1, 2, 7, 9]);
        let options = Unfold4dOptionsIr {
            stride: [1, 2],
            padding: [1, 0],
            dilation: [2, 1],
        };
        Module::Unfold4d(Unfold4dOpIr::create(x, [2, 3], options, || t.id()))
    }));
    cases
}

fn conv1d() -> Vec<Case> {
    // [2, 4, 9] and [6, 2, 3] in two groups: [2, 6, 3]
    let options = || Conv1dOptionsIr {
        stride: [2],
        padding: [(1, 0)],
        dilation: [2],
        groups: 2,
    };
    let symmetric = || Conv1dOptionsIr {
        padding: [(1, 1)],
        ..options()
    };
    let mut cases = vec![
        case(|t| {
            let (x, weight) = (t.float(&[2, 4, 9]), t.float(&[6, 2, 3]));
            let grad = t.float(&[2, 6, 4]);
            let op = Conv1dXBackwardOpIr::create(x, weight, grad, symmetric(), || t.id());
            Module::Conv1dXBackward(op)
        }),
        case(|t| {
            let (x, weight) = (t.float(&[2, 4, 9]), t.float(&[6, 2, 3]));
            let grad = t.float(&[2, 6, 4]);
            let op = Conv1dWeightBackwardOpIr::create(x, weight, grad, symmetric(), || t.id());
            Module::Conv1dWeightBackward(op)
        }),
        case(|t| {
            let (x, bias, grad) = (t.float(&[2, 4, 9]), t.float(&[6]), t.float(&[2, 6, 4]));
            Module::Conv1dBiasBackward(Conv1dBiasBackwardOpIr::create(x, bias, grad, || t.id()))
        }),
    ];
    for with_bias in [true, false] {
        cases.push(case(|t| {
            let (x, weight) = (t.float(&[2, 4, 9]), t.float(&[6, 2, 3]));
            let bias = with_bias.then(|| t.float(&[6]));
            Module::Conv1d(Conv1dOpIr::create(x, weight, bias, symmetric(), || t.id()))
        }));
    }
    cases
}

fn conv2d() -> Vec<Case> {
    // [2, 4, 8, 13] and [6, 2, 2, 3] in two groups: [2, 6, 4, 5]
    let options = || Conv2dOptionsIr {
        stride: [2, 3],
        padding: [(1, 1), (2, 2)],
        dilation: [3, 2],
        groups: 2,
    };
    let mut cases = vec![
        case(|t| {
            let (x, weight) = (t.float(&[2, 4, 8, 13]), t.float(&[6, 2, 2, 3]));
            let grad = t.float(&[2, 6, 4, 5]);
            let op = Conv2dXBackwardOpIr::create(x, weight, grad, options(), || t.id());
            Module::Conv2dXBackward(op)
        }),
        case(|t| {
            let (x, weight) = (t.float(&[2, 4, 8, 13]), t.float(&[6, 2, 2, 3]));
            let grad = t.float(&[2, 6, 4, 5]);
            let op = Conv2dWeightBackwardOpIr::create(x, weight, grad, options(), || t.id());
            Module::Conv2dWeightBackward(op)
        }),
        case(|t| {
            let (x, bias) = (t.float(&[2, 4, 8, 13]), t.float(&[6]));
            let grad = t.float(&[2, 6, 4, 5]);
            Module::Conv2dBiasBackward(Conv2dBiasBackwardOpIr::create(x, bias, grad, || t.id()))
        }),
    ];
    for with_bias in [true, false] {
        cases.push(case(|t| {
            let (x, weight) = (t.float(&[2, 4, 8, 13]), t.float(&[6, 2, 2, 3]));
            let bias = with_bias.then(|| t.float(&[6]));
            Module::Conv2d(Conv2dOpIr::create(x, weight, bias, options(), || t.id()))
        }));
    }
    cases
}

fn conv3d() -> Vec<Case> {
    // [1, 2, 6, 7, 8] and [4, 1, 2, 3, 2] in two groups: [1, 4, 4, 3, 3]
    let options = || Conv3dOptionsIr {
        stride: [2, 1, 3],
        padding: [1, 0, 2],
        dilation: [1, 2, 3],
        groups: 2,
    };
    let mut cases = vec![
        case(|t| {
            let (x, weight) = (t.float(&[1, 2, 6, 7, 8]), t.float(&[4, 1, 2, 3, 2]));
            let grad = t.float(&[1, 4, 4, 3, 3]);
            let op = Conv3dXBackwardOpIr::create(x, weight, grad, options(), || t.id());
            Module::Conv3dXBackward(op)
        }),
        case(|t| {
            let (x, weight) = (t.float(&[1, 2, 6, 7, 8]), t.float(&[4, 1, 2, 3, 2]));
            let grad = t.float(&[1, 4, 4, 3, 3]);
            let op = Conv3dWeightBackwardOpIr::create(x, weight, grad, options(), || t.id());
            Module::Conv3dWeightBackward(op)
        }),
        case(|t| {
            let (x, bias) = (t.float(&[1, 2, 6, 7, 8]), t.float(&[4]));
            let grad = t.float(&[1, 4, 4, 3, 3]);
            Module::Conv3dBiasBackward(Conv3dBiasBackwardOpIr::create(x, bias, grad, || t.id()))
        }),
    ];
    for with_bias in [true, false] {
        cases.push(case(|t| {
            let (x, weight) = (t.float(&[1, 2, 6, 7, 8]), t.float(&[4, 1, 2, 3, 2]));
            let bias = with_bias.then(|| t.float(&[4]));
            Module::Conv3d(Conv3dOpIr::create(x, weight, bias, options(), || t.id()))
        }));
    }
    cases
}

fn options1() -> ConvTranspose1dOptionsIr {
    ConvTranspose1dOptionsIr {
        stride: [2],
        padding: [1],
        padding_out: [1],
        dilation: [1],
        groups: 2,
    }
}

fn options2() -> ConvTranspose2dOptionsIr {
    ConvTranspose2dOptionsIr {
        stride: [2, 1],
        padding: [1, 0],
        padding_out: [1, 0],
        dilation: [1, 2],
        groups: 2,
    }
}

fn options3() -> ConvTranspose3dOptionsIr {
    ConvTranspose3dOptionsIr {
        stride: [2, 1, 1],
        padding: [1, 0, 0],
        padding_out: [1, 0, 0],
        dilation: [1, 1, 2],
        groups: 2,
    }
}

fn transposed() -> Vec<Case> {
    let mut cases = Vec::new();
    for with_bias in [true, false] {
        cases.push(case(|t| {
            let (x, weight) = (t.float(&[1, 4, 5]), t.float(&[4, 3, 3]));
            let bias = with_bias.then(|| t.float(&[6]));
            Module::ConvTranspose1d(ConvTranspose1dOpIr::create(
                x,
                weight,
                bias,
                options1(),
                || t.id(),
            ))
        }));
        cases.push(case(|t| {
            let (x, weight) = (t.float(&[1, 4, 3, 5]), t.float(&[4, 3, 3, 2]));
            let bias = with_bias.then(|| t.float(&[6]));
            Module::ConvTranspose2d(ConvTranspose2dOpIr::create(
                x,
                weight,
                bias,
                options2(),
                || t.id(),
            ))
        }));
        cases.push(case(|t| {
            let (x, weight) = (t.float(&[1, 2, 3, 4, 5]), t.float(&[2, 2, 3, 2, 2]));
            let bias = with_bias.then(|| t.float(&[4]));
            Module::ConvTranspose3d(ConvTranspose3dOpIr::create(
                x,
                weight,
                bias,
                options3(),
                || t.id(),
            ))
        }));
    }
    cases
}

fn transposed_gradients() -> Vec<Case> {
    vec![
        case(|t| {
            let (x, weight) = (t.float(&[1, 4, 5]), t.float(&[4, 3, 3]));
            let grad = t.float(&[1, 6, 10]);
            Module::ConvTranspose1dWeightBackward(ConvTranspose1dWeightBackwardOpIr::create(
                x,
                weight,
                grad,
                options1(),
                || t.id(),
            ))
        }),
        case(|t| {
            let (x, bias, grad) = (t.float(&[1, 4, 5]), t.float(&[6]), t.float(&[1, 6, 10]));
            Module::ConvTranspose1dBiasBackward(ConvTranspose1dBiasBackwardOpIr::create(
                x,
                bias,
                grad,
                || t.id(),
            ))
        }),
        case(|t| {
            let (x, weight) = (t.float(&[1, 4, 3, 5]), t.float(&[4, 3, 3, 2]));
            let grad = t.float(&[1, 6, 6, 7]);
            Module::ConvTranspose2dWeightBackward(ConvTranspose2dWeightBackwardOpIr::create(
                x,
                weight,
                grad,
                options2(),
                || t.id(),
            ))
        }),
        case(|t| {
            let (x, bias) = (t.float(&[1, 4, 3, 5]), t.float(&[6]));
            let grad = t.float(&[1, 6, 6, 7]);
            Module::ConvTranspose2dBiasBackward(ConvTranspose2dBiasBackwardOpIr::create(
                x,
                bias,
                grad,
                || t.id(),
            ))
        }),
        case(|t| {
            let (x, weight) = (t.float(&[1, 2, 3, 4, 5]), t.float(&[2, 2, 3, 2, 2]));
            let grad = t.float(&[1, 4, 6, 5, 7]);
            Module::ConvTranspose3dWeightBackward(ConvTranspose3dWeightBackwardOpIr::create(
                x,
                weight,
                grad,
                options3(),
                || t.id(),
            ))
        }),
        case(|t| {
            let (x, bias) = (t.float(&[1, 2, 3, 4, 5]), t.float(&[4]));
            let grad = t.float(&[1, 4, 6, 5, 7]);
            Module::ConvTranspose3dBiasBackward(ConvTranspose3dBiasBackwardOpIr::create(
                x,
                bias,
                grad,
                || t.id(),
            ))
        }),
    ]
}

fn deformable() -> Vec<Case> {
    // [1, 4, 5, 6] and [2, 2, 2, 3] in two groups: [1, 2, 3, 2]
    let options = || DeformableConv2dOptionsIr {
        stride: [2, 1],
        padding: [1, 0],
        dilation: [1, 2],
        weight_groups: 2,
        offset_groups: 2,
    };
    let mut cases = Vec::new();
    for (masked, biased) in [(true, true), (true, false), (false, true), (false, false)] {
        cases.push(case(|t| {
            let (x, offset) = (
                t.float(&[1, 4, 5, 6]),
                t.float_in(&[1, 24, 3, 2], -0.4..0.4),
            );
            let weight = t.float(&[2, 2, 2, 3]);
            let mask = masked.then(|| t.float_in(&[1, 12, 3, 2], 0.1..0.9));
            let bias = biased.then(|| t.float(&[2]));
            let op = DeformConv2dOpIr::create(x, offset, weight, mask, bias, options(), || t.id());
            Module::DeformableConv2d(Box::new(op))
        }));
        cases.push(case(|t| {
            let (x, offset) = (
                t.float(&[1, 4, 5, 6]),
                t.float_in(&[1, 24, 3, 2], -0.4..0.4),
            );
            let weight = t.float(&[2, 2, 2, 3]);
            let mask = masked.then(|| t.float_in(&[1, 12, 3, 2], 0.1..0.9));
            let bias = biased.then(|| t.float(&[2]));
            let grad = t.float(&[1, 2, 3, 2]);
            let op = DeformConv2dBackwardOpIr::create(
                x,
                offset,
                weight,
                mask,
                bias,
                grad,
                options(),
                || t.id(),
            );
            Module::DeformableConv2dBackward(Box::new(op))
        }));
    }
    cases
}
