//! Movement: B58, B59, B63, B67, B68.

use burn_backend::{DType, Slice, TensorData};
use burn_ir::{
    BaseOperationIr, CatOpIr, FlipOpIr, MaskWhereOpIr, NumericOperationIr, OperationIr, PadModeIr,
    PadOpIr, PermuteOpIr, RepeatDimOpIr, ScalarIr, ShapeOpIr, SliceAssignOpIr, SliceOpIr,
    SwapDimsOpIr, TensorIr, UnfoldOpIr,
};
use interpreter_tests::Tensors;
use interpreter_tests::stream::out;

use crate::{F32, I64, costs_no_more, gives, refuses};

fn floats(values: &[f32], dims: &[usize]) -> TensorData {
    TensorData::new(values.to_vec(), dims.to_vec())
}

fn base(op: BaseOperationIr) -> OperationIr {
    OperationIr::BaseFloat(op)
}

fn result(t: &mut Tensors, dims: &[usize]) -> TensorIr {
    out(t.id().value(), dims, F32)
}

#[test]
fn b58_every_operand_broadcasts() {
    let expected = floats(&[-1.0, 20.0, -1.0, 10.0, -2.0, 30.0], &[2, 3]);
    let build = |t: &mut Tensors| {
        base(BaseOperationIr::MaskWhere(MaskWhereOpIr {
            tensor: t.data(floats(&[10.0, 20.0, 30.0], &[1, 3])),
            mask: t.data(TensorData::from([
                [true, false, true],
                [false, true, false],
            ])),
            value: t.data(floats(&[-1.0, -2.0], &[2, 1])),
            out: result(t, &[2, 3]),
        }))
    };
    for outputs in crate::survives(build) {
        match outputs {
            Ok(outputs) => assert_eq!(outputs, std::slice::from_ref(&expected)),
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn b59_a_negative_step_goes_backwards() {
    for (step, expected) in [(-1, vec![4i64, 3, 2, 1, 0]), (-2, vec![4, 2, 0])] {
        let len = expected.len();
        for dtype in [F32, I64, DType::I32] {
            let expected = TensorData::new(expected.clone(), [len]).convert_dtype(dtype);
            let build = |t: &mut Tensors| {
                let tensor = TensorData::from([0i64, 1, 2, 3, 4]).convert_dtype(dtype);
                let op = BaseOperationIr::Slice(SliceOpIr {
                    tensor: t.data(tensor),
                    ranges: vec![Slice::new(0, Some(5), step)],
                    out: out(t.id().value(), &[len], dtype),
                });
                match dtype {
                    F32 => OperationIr::BaseFloat(op),
                    _ => OperationIr::BaseInt(op),
                }
            };
            gives(build, &[expected]);
        }
    }
    let assign = |t: &mut Tensors| {
        base(BaseOperationIr::SliceAssign(SliceAssignOpIr {
            tensor: t.data(floats(&[0.0, 1.0, 2.0, 3.0, 4.0], &[5])),
            ranges: vec![Slice::new(0, Some(5), -2)],
            value: t.data(floats(&[9.0, 8.0, 7.0], &[3])),
            out: result(t, &[5]),
        }))
    };
    gives(assign, &[floats(&[7.0, 1.0, 8.0, 3.0, 9.0], &[5])]);
}

#[test]
fn b59_a_step_of_nothing_is_refused() {
    let mut range = Slice::new(0, Some(5), 1);
    range.step = 0;
    let build = |t: &mut Tensors| {
        base(BaseOperationIr::Slice(SliceOpIr {
            tensor: t.float(&[5]),
            ranges: vec![range],
            out: result(t, &[5]),
        }))
    };
    refuses(build, &["`ranges` has", "for axis 0 of size 5"]);
    for (start, end) in [
        (-9, 9),
        (-isize::MAX, isize::MAX),
        (isize::MAX, -isize::MAX),
    ] {
        costs_no_more(|t| {
            base(BaseOperationIr::Slice(SliceOpIr {
                tensor: t.float(&[2]),
                ranges: vec![Slice::new(start, Some(end), 1)],
                out: result(t, &[2]),
            }))
        });
    }
}

fn cat(
    build: impl Fn(&mut Tensors) -> Vec<TensorIr>,
    dims: &[usize],
) -> impl Fn(&mut Tensors) -> OperationIr {
    let dims = dims.to_vec();
    move |t| {
        let op = CatOpIr {
            tensors: build(t),
            dim: 1,
            out: result(t, &dims),
        };
        base(BaseOperationIr::Cat(op))
    }
}

#[test]
fn b63_parts_of_nothing() {
    let ones = || floats(&[1.0; 6], &[2, 3]);
    gives(
        cat(
            |t| vec![t.data(ones()), t.data(floats(&[], &[2, 0]))],
            &[2, 3],
        ),
        &[ones()],
    );
    gives(cat(|t| vec![t.data(ones())], &[2, 3]), &[ones()]);
    refuses(
        cat(|_| Vec::new(), &[2, 3]),
        &["there is no tensor to concatenate"],
    );
    refuses(
        cat(
            |t| vec![t.data(ones()), t.float_in_as(&[2, 1], 0.0..1.0, DType::F64)],
            &[2, 4],
        ),
        &["must have the same dtype: F32 and F64"],
    );
    refuses(
        cat(|t| vec![t.data(ones()), t.float(&[3, 1])], &[2, 4]),
        &["the shapes do not fit: [2, 3] and [3, 1]"],
    );
    let repeat = |t: &mut Tensors| {
        base(BaseOperationIr::RepeatDim(RepeatDimOpIr {
            tensor: t.float(&[2, 3]),
            dim: 0,
            times: 0,
            out: result(t, &[0, 3]),
        }))
    };
    for outputs in crate::survives(repeat) {
        assert!(
            outputs.is_err() || outputs.is_ok_and(|outputs| *outputs[0].shape() == [0, 3].into())
        );
    }
}

fn pad(
    dims: &[usize],
    padding: &[(usize, usize)],
    mode: PadModeIr,
    padded: &[usize],
) -> impl Fn(&mut Tensors) -> OperationIr {
    let (dims, padding, padded) = (dims.to_vec(), padding.to_vec(), padded.to_vec());
    move |t| {
        let op = NumericOperationIr::Pad(PadOpIr {
            input: t.float(&dims),
            padding: padding.clone(),
            mode,
            out: result(t, &padded),
        });
        OperationIr::NumericFloat(F32, op)
    }
}

#[test]
fn b67_padding_that_does_not_fit() {
    let zero = || PadModeIr::Constant(ScalarIr::Float(0.0));
    let refused = [
        (
            pad(&[2, 3], &[(usize::MAX, 1), (0, 0)], zero(), &[2, 3]),
            "is too large",
        ),
        (
            pad(&[2, 3], &[(1, 1)], zero(), &[4, 3]),
            "`padding` has 1 pairs for 2 axes",
        ),
        (
            pad(&[2, 3], &[(1, 1); 3], zero(), &[4, 5]),
            "`padding` has 3 pairs for 2 axes",
        ),
        (
            pad(&[2, 3], &[(0, 0), (3, 0)], PadModeIr::Reflect, &[2, 6]),
            "axis 1 of size 3 is too small",
        ),
        (
            pad(&[0, 3], &[(1, 0), (0, 0)], PadModeIr::Edge, &[1, 3]),
            "axis 0 of size 0 is too small",
        ),
        (
            pad(&[2, 3], &[(1, 0), (0, 0)], zero(), &[2, 3]),
            "the operation asks for [3, 3]",
        ),
    ];
    for (build, part) in refused {
        refuses(build, &[part]);
    }
    let filled = |t: &mut Tensors| {
        OperationIr::NumericFloat(
            F32,
            NumericOperationIr::Pad(PadOpIr {
                input: t.data(floats(&[1.0], &[1])),
                padding: vec![(1, 0)],
                mode: PadModeIr::Constant(ScalarIr::Float(f64::NAN)),
                out: result(t, &[2]),
            }),
        )
    };
    for outputs in crate::survives(filled) {
        let outputs = outputs.expect("a constant of any value");
        let values = outputs[0].as_slice::<f32>().expect("floats");
        assert!(values[0].is_nan() && values[1] == 1.0);
    }
}

#[test]
fn b68_shapes_that_do_not_fit() {
    type Build = fn(&mut Tensors) -> BaseOperationIr;
    let refused: [(Build, &str); 13] = [
        (|t| unfold(t, 1, 2, 0, &[2, 0, 2]), "`step` is 0"),
        (|t| unfold(t, 5, 2, 1, &[2, 2, 2]), "axis 5 is out of range"),
        (
            |t| unfold(t, 1, 4, 1, &[2, 1, 4]),
            "the operation asks for [2, 0, 4]",
        ),
        (|t| permute(t, &[0, 0]), "axis 0 is named twice"),
        (|t| permute(t, &[0]), "the ranks do not fit: 2 and 1"),
        (|t| permute(t, &[0, 2]), "axis 2 is out of range"),
        (|t| swap(t, 0, 5), "axis 5 is out of range for rank 2"),
        (|t| flip(t, &[1, 1]), "axis 1 is named twice"),
        (|t| flip(t, &[7]), "axis 7 is out of range"),
        (
            |t| BaseOperationIr::Reshape(shape(t, &[4, 2])),
            "do not have as many elements",
        ),
        (
            |t| BaseOperationIr::Expand(shape(t, &[3, 3])),
            "the sizes on axis 0 do not fit: 2 and 3",
        ),
        (
            |t| BaseOperationIr::Expand(shape(t, &[3])),
            "the ranks do not fit: 2 and 1",
        ),
        (|t| swap(t, 0, 0), "the operation asks for [2, 3]"),
    ];
    for (build, part) in refused {
        refuses(|t| base(build(t)), &[part]);
    }
}

fn unfold(
    t: &mut Tensors,
    dim: usize,
    size: usize,
    step: usize,
    dims: &[usize],
) -> BaseOperationIr {
    BaseOperationIr::Unfold(UnfoldOpIr {
        input: t.float(&[2, 3]),
        dim,
        size,
        step,
        out: result(t, dims),
    })
}

fn permute(t: &mut Tensors, axes: &[usize]) -> BaseOperationIr {
    BaseOperationIr::Permute(PermuteOpIr {
        input: t.float(&[2, 3]),
        axes: axes.to_vec(),
        out: result(t, &[3, 2]),
    })
}

fn swap(t: &mut Tensors, dim1: usize, dim2: usize) -> BaseOperationIr {
    BaseOperationIr::SwapDims(SwapDimsOpIr {
        input: t.float(&[2, 3]),
        dim1,
        dim2,
        out: result(t, &[3, 2]),
    })
}

fn flip(t: &mut Tensors, axes: &[usize]) -> BaseOperationIr {
    BaseOperationIr::Flip(FlipOpIr {
        input: t.float(&[2, 3]),
        axes: axes.to_vec(),
        out: result(t, &[2, 3]),
    })
}

fn shape(t: &mut Tensors, dims: &[usize]) -> ShapeOpIr {
    ShapeOpIr {
        input: t.float(&[2, 3]),
        out: result(t, dims),
    }
}
