//! `module` without convolutions: normalization, embedding, linear, pooling, attention, loss.

use burn_backend::DType;
use burn_ir::{
    AdaptiveAvgPool1dBackwardOpIr, AdaptiveAvgPool1dOpIr, AdaptiveAvgPool2dBackwardOpIr,
    AdaptiveAvgPool2dOpIr, AdaptiveAvgPool3dBackwardOpIr, AdaptiveAvgPool3dOpIr, AttentionOpIr,
    AttentionOptionsIr, AvgPool1dBackwardOpIr, AvgPool1dOpIr, AvgPool2dBackwardOpIr, AvgPool2dOpIr,
    BatchNormOpIr, CtcLossBackwardOpIr, CtcLossOpIr, EmbeddingBackwardOpIr, EmbeddingOpIr,
    InterpolateBackwardOpIr, InterpolateModeIr, InterpolateOpIr, InterpolateOptionsIr,
    LayerNormOpIr, LinearBiasBackwardOpIr, LinearOpIr, LinearWeightBackwardOpIr,
    LinearXBackwardOpIr, MaxPool1dOpIr, MaxPool1dWithIndicesBackwardOpIr, MaxPool1dWithIndicesOpIr,
    MaxPool2dOpIr, MaxPool2dWithIndicesBackwardOpIr, MaxPool2dWithIndicesOpIr,
    ModuleOperationIr as Module, OperationIr, ScalarIr,
};
use interpreter_tests::{Case, Tensors};

fn case(build: impl FnOnce(&mut Tensors) -> Module) -> Case {
    Case::new(|t| OperationIr::Module(build(t)))
}

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = layers();
    cases.extend(average_pools());
    cases.extend(max_pools());
    cases.extend(interpolation());
    cases.extend(attention());
    cases.extend(losses());
    cases
}

fn layers() -> Vec<Case> {
    let mut cases = vec![
        case(|t| {
            let x = t.float(&[2, 3, 4]);
            let [gamma, beta, mean] = [(); 3].map(|()| t.float(&[3]));
            let variance = t.float_in(&[3], 0.5..2.0);
            let epsilon = ScalarIr::Float(0.25);
            Module::BatchNorm(BatchNormOpIr::create(
                x,
                gamma,
                beta,
                mean,
                variance,
                epsilon,
                || t.id(),
            ))
        }),
        case(|t| {
            let (weights, indices) = (t.float(&[4, 3]), t.ints(&[3, 0, 2, 2], &[2, 2]));
            Module::Embedding(EmbeddingOpIr::create(weights, indices, || t.id()))
        }),
        case(|t| {
            let weights = t.float(&[4, 3]);
            let (grad, indices) = (t.float(&[2, 2, 3]), t.ints(&[3, 0, 2, 2], &[2, 2]));
            Module::EmbeddingBackward(EmbeddingBackwardOpIr::create(
                weights,
                grad,
                indices,
                || t.id(),
            ))
        }),
        case(|t| {
            let (weight, grad) = (t.float(&[3, 4]), t.float(&[2, 4]));
            Module::LinearXBackward(LinearXBackwardOpIr::create(weight, grad, || t.id()))
        }),
        case(|t| {
            let (x, grad) = (t.float(&[2, 3]), t.float(&[2, 4]));
            Module::LinearWeightBackward(LinearWeightBackwardOpIr::create(x, grad, || t.id()))
        }),
        case(|t| {
            let grad = t.float(&[2, 4]);
            Module::LinearBiasBackward(LinearBiasBackwardOpIr::create(grad, || t.id()))
        }),
    ];
    for with_bias in [true, false] {
        cases.push(case(|t| {
            let (x, weight) = (t.float(&[2, 3]), t.float(&[3, 4]));
            let bias = with_bias.then(|| t.float(&[4]));
            Module::Linear(LinearOpIr::create(x, weight, bias, || t.id()))
        }));
        cases.push(case(|t| {
            let (input, gamma) = (t.float(&[2, 3, 4]), t.float(&[4]));
            let beta = with_bias.then(|| t.float(&[4]));
            Module::LayerNorm(LayerNormOpIr::create(input, gamma, beta, 0.25, || t.id()))
        }));
    }
    cases
}

fn average_pools() -> Vec<Case> {
    let mut cases = adaptive_pools();
    // The last window is a part of one: with `ceil_mode` there is an output more.
    for (ceil, include_pad) in [(false, true), (true, false)] {
        let more = usize::from(ceil);
        cases.push(case(|t| {
            let x = t.float(&[1, 2, 12]);
            let op = AvgPool1dOpIr::create(x, 5, 3, 2, include_pad, ceil, || t.id());
            Module::AvgPool1d(op)
        }));
        cases.push(case(|t| {
            let (x, grad) = (t.float(&[1, 2, 12]), t.float(&[1, 2, 4 + more]));
            let op = AvgPool1dBackwardOpIr::create(x, grad, 5, 3, 2, include_pad, ceil, || t.id());
            Module::AvgPool1dBackward(op)
        }));
        cases.push(case(|t| {
            let x = t.float(&[1, 2, 9, 11]);
            let (kernel, stride, padding) = ([4, 5], [2, 3], [1, 2]);
            let op =
                AvgPool2dOpIr::create(x, kernel, stride, padding, include_pad, ceil, || t.id());
            Module::AvgPool2d(op)
        }));
        cases.push(case(|t| {
            let x = t.float(&[1, 2, 9, 11]);
            let grad = t.float(&[1, 2, 4 + more, 4 + more]);
            let op = AvgPool2dBackwardOpIr::create(
                x,
                grad,
                [4, 5],
                [2, 3],
                [1, 2],
                include_pad,
                ceil,
                || t.id(),
            );
            Module::AvgPool2dBackward(op)
        }));
    }
    cases
}

fn adaptive_pools() -> Vec<Case> {
    vec![
        case(|t| {
            let x = t.float(&[1, 2, 7]);
            Module::AdaptiveAvgPool1d(AdaptiveAvgPool1dOpIr::create(x, 3, || t.id()))
        }),
        case(|t| {
            let (x, grad) = (t.float(&[1, 2, 7]), t.float(&[1, 2, 3]));
            Module::AdaptiveAvgPool1dBackward(AdaptiveAvgPool1dBackwardOpIr::create(
                x,
                grad,
                || t.id(),
            ))
        }),
        case(|t| {
            let x = t.float(&[1, 2, 7, 5]);
            Module::AdaptiveAvgPool2d(AdaptiveAvgPool2dOpIr::create(x, [3, 2], || t.id()))
        }),
        case(|t| {
            let (x, grad) = (t.float(&[1, 2, 7, 5]), t.float(&[1, 2, 3, 2]));
            Module::AdaptiveAvgPool2dBackward(AdaptiveAvgPool2dBackwardOpIr::create(
                x,
                grad,
                || t.id(),
            ))
        }),
        case(|t| {
            let x = t.float(&[1, 2, 4, 5, 6]);
            Module::AdaptiveAvgPool3d(AdaptiveAvgPool3dOpIr::create(x, [2, 3, 4], || t.id()))
        }),
        case(|t| {
            let (x, grad) = (t.float(&[1, 2, 4, 5, 6]), t.float(&[1, 2, 2, 3, 4]));
            Module::AdaptiveAvgPool3dBackward(AdaptiveAvgPool3dBackwardOpIr::create(
                x,
                grad,
                || t.id(),
            ))
        }),
    ]
}

fn max_pools() -> Vec<Case> {
    let mut cases = Vec::new();
    // The last window is a part of one: with `ceil_mode` there is an output more.
    for ceil in [false, true] {
        let more = usize::from(ceil);
        cases.push(case(|t| {
            let x = t.float(&[1, 2, 20]);
            Module::MaxPool1d(MaxPool1dOpIr::create(x, 5, 3, 2, 4, ceil, || t.id()))
        }));
        cases.push(case(|t| {
            let (x, grad) = (t.float(&[1, 1, 20]), t.float(&[1, 1, 3 + more]));
            // Each lies in the window whose gradient it gets.
            let indices = t.ints(&[2, 5, 8, 11][..3 + more], &[1, 1, 3 + more]);
            let op = MaxPool1dWithIndicesBackwardOpIr::create(
                x,
                grad,
                indices,
                5,
                3,
                2,
                4,
                ceil,
                || t.id(),
            );
            Module::MaxPool1dWithIndicesBackward(op)
        }));
        let (kernel, stride, padding, dilation) = ([4, 5], [2, 3], [1, 2], [3, 2]);
        cases.push(case(|t| {
            let x = t.float(&[1, 2, 13, 12]);
            let op = MaxPool2dOpIr::create(x, kernel, stride, padding, dilation, ceil, || t.id());
            Module::MaxPool2d(op)
        }));
        cases.push(case(|t| {
            let side = 3 + more;
            let x = t.float(&[1, 1, 13, 12]);
            let grad = t.float(&[1, 1, side, side]);
            let windows = (0..side).flat_map(|row| (0..side).map(move |column| (row, column)));
            let places: Vec<i64> = windows
                .map(|(row, column)| (12 * (2 * row + 2) + 3 * column) as i64)
                .collect();
            let indices = t.ints(&places, &[1, 1, side, side]);
            let op = MaxPool2dWithIndicesBackwardOpIr::create(
                x,
                grad,
                indices,
                kernel,
                stride,
                padding,
                dilation,
                ceil,
                || t.id(),
            );
            Module::MaxPool2dWithIndicesBackward(op)
        }));
        for dtype in [DType::I32, DType::I64] {
            cases.push(case(|t| {
                let x = t.float(&[1, 2, 20]);
                let op = MaxPool1dWithIndicesOpIr::create(x, 5, 3, 2, 4, ceil, dtype, || t.id());
                Module::MaxPool1dWithIndices(op)
            }));
            cases.push(case(|t| {
                let x = t.float(&[1, 2, 13, 12]);
                let op = MaxPool2dWithIndicesOpIr::create(
                    x,
                    kernel,
                    stride,
                    padding,
                    dilation,
                    ceil,
                    dtype,
                    || t.id(),
                );
                Module::MaxPool2dWithIndices(op)
            }));
        }
    }
    cases
}

fn interpolation() -> Vec<Case> {
    let modes = [
        (InterpolateModeIr::Nearest, false),
        (InterpolateModeIr::NearestExact, false),
        (InterpolateModeIr::Bilinear, true),
        (InterpolateModeIr::Bicubic, false),
        (InterpolateModeIr::Lanczos3, true),
    ];
    let forward = modes.map(|(mode, align_corners)| {
        case(|t| {
            let x = t.float(&[1, 2, 3, 4]);
            let options = InterpolateOptionsIr {
                mode,
                align_corners,
            };
            Module::Interpolate(InterpolateOpIr::create(x, [5, 7], options, || t.id()))
        })
    });
    let mut cases = Vec::from(forward);
    cases.push(case(|t| {
        let (x, grad) = (t.float(&[1, 2, 3, 4]), t.float(&[1, 2, 5, 7]));
        let options = InterpolateOptionsIr {
            mode: InterpolateModeIr::Nearest,
            align_corners: false,
        };
        Module::InterpolateBackward(InterpolateBackwardOpIr::create(
            x,
            grad,
            [5, 7],
            options,
            || t.id(),
        ))
    }));
    cases
}

fn attention() -> Vec<Case> {
    let options = AttentionOptionsIr {
        scale: Some(ScalarIr::Float(0.3)),
        softcap: Some(ScalarIr::Float(1.5)),
        is_causal: false,
    };
    let plain = AttentionOptionsIr {
        scale: None,
        softcap: None,
        is_causal: true,
    };
    let build = |options: AttentionOptionsIr, masked: bool, biased: bool| {
        case(|t| {
            let query = t.float(&[1, 2, 3, 4]);
            let key = t.float(&[1, 2, 5, 4]);
            let value = t.float(&[1, 2, 5, 6]);
            let mask = masked.then(|| t.bool(&[1, 2, 3, 5]));
            let bias = biased.then(|| t.float(&[1, 2, 3, 5]));
            let op = AttentionOpIr::create(query, key, value, mask, bias, options, || t.id());
            Module::Attention(op)
        })
    };
    vec![
        build(options.clone(), true, true),
        build(options.clone(), false, true),
        build(options, true, false),
        build(plain, false, false),
    ]
}

fn losses() -> Vec<Case> {
    // Two sequences of 5 steps and 4 symbols, the last of which is the blank.
    vec![case(|t| {
        let log_probs = t.float_in(&[5, 2, 4], -3.0..-0.1);
        let targets = t.ints(&[0, 1, 2, 2, 0, 1], &[2, 3]);
        let input_lengths = t.ints(&[5, 4], &[2]);
        let target_lengths = t.ints(&[3, 2], &[2]);
        let op = CtcLossOpIr::create(log_probs, targets, input_lengths, target_lengths, 3, || {
            t.id()
        });
        Module::CtcLoss(op)
    })]
    .into_iter()
    .chain(ctc_backward())
    .collect()
}

fn ctc_backward() -> Option<Case> {
    Some(case(|t| {
        let log_probs = t.float_in(&[5, 2, 4], -3.0..-0.1);
        let targets = t.ints(&[0, 1, 2, 2, 0, 1], &[2, 3]);
        let input_lengths = t.ints(&[5, 4], &[2]);
        let target_lengths = t.ints(&[3, 2], &[2]);
        let grad = t.float(&[2]);
        let op = CtcLossBackwardOpIr::create(
            log_probs,
            targets,
            input_lengths,
            target_lengths,
            grad,
            3,
            || t.id(),
        );
        Module::CtcLossBackward(op)
    }))
}
