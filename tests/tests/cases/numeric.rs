//! Numbers at their edges: B05, B13, B49, B50, B51, B52, B54, B55, B62.

use burn_backend::{BoolStore, DType, TensorData, tensor::IndexingUpdateOp};
use burn_interpreter::Fault;
use burn_ir::{
    AttentionOpIr, AttentionOptionsIr, BaseOperationIr, BinaryOpIr, CastOpIr, ClampOpIr,
    FloatOperationIr, GatherOpIr, MaxPool2dWithIndicesBackwardOpIr, MaxPool2dWithIndicesOpIr,
    ModuleOperationIr, NumericOperationIr, OperationIr, ReduceDimOpIr, ReduceOpIr, ScalarIr,
    ScalarOpIr, ScatterOpIr, SelectAssignOpIr, SelectOpIr, TopKWithIndicesOpIr, UnaryOpIr,
};
use interpreter_tests::Tensors;
use interpreter_tests::stream::out;

use crate::{F32, I64, costs_no_more, gives, refuses, survives};

pub(crate) fn numeric(dtype: DType, op: NumericOperationIr) -> OperationIr {
    match dtype.is_float() {
        true => OperationIr::NumericFloat(dtype, op),
        false => OperationIr::NumericInt(dtype, op),
    }
}

/// An operation with a scalar, on this data.
pub(crate) fn scalar(
    data: TensorData,
    rhs: ScalarIr,
    op: fn(ScalarOpIr) -> NumericOperationIr,
) -> impl Fn(&mut Tensors) -> OperationIr {
    move |t| {
        let lhs = t.data(data.clone());
        let out = out(t.id().value(), data.shape(), data.dtype());
        numeric(data.dtype(), op(ScalarOpIr { lhs, rhs, out }))
    }
}

/// An operation on two tensors of one shape.
fn binary(
    data: [TensorData; 2],
    op: fn(BinaryOpIr) -> NumericOperationIr,
) -> impl Fn(&mut Tensors) -> OperationIr {
    move |t| {
        let [lhs, rhs] = data.clone().map(|data| t.data(data));
        let out = out(t.id().value(), data[0].shape(), data[0].dtype());
        numeric(data[0].dtype(), op(BinaryOpIr { lhs, rhs, out }))
    }
}

#[test]
fn b05_every_update_by_index() {
    use IndexingUpdateOp::{Add, Assign, Max, Min, Mul};
    let updates = [
        (Assign, [4.0f32, 2.0, 9.0]),
        (Add, [5.0, 7.0, 12.0]),
        (Mul, [4.0, 10.0, 27.0]),
        (Min, [1.0, 2.0, 3.0]),
        (Max, [4.0, 5.0, 9.0]),
    ];
    for (update, expected) in updates {
        for dtype in [F32, I64] {
            let data = |values: [f32; 3]| TensorData::from(values).convert_dtype(dtype);
            let base = |op| match dtype {
                F32 => OperationIr::BaseFloat(op),
                _ => OperationIr::BaseInt(op),
            };
            let scatter = |t: &mut Tensors| {
                base(BaseOperationIr::Scatter(ScatterOpIr {
                    tensor: t.data(data([1.0, 5.0, 3.0])),
                    dim: 0,
                    indices: t.ints(&[0, 1, 2], &[3]),
                    value: t.data(data([4.0, 2.0, 9.0])),
                    update,
                    out: out(t.id().value(), &[3], dtype),
                }))
            };
            gives(scatter, &[data(expected)]);
            let select = |t: &mut Tensors| {
                base(BaseOperationIr::SelectAssign(SelectAssignOpIr {
                    tensor: t.data(data([1.0, 5.0, 3.0])),
                    dim: 0,
                    indices: t.ints(&[0, 1, 2], &[3]),
                    value: t.data(data([4.0, 2.0, 9.0])),
                    update,
                    out: out(t.id().value(), &[3], dtype),
                }))
            };
            gives(select, &[data(expected)]);
        }
    }
}

#[test]
fn b13_the_output_has_the_dtype_that_the_ir_declares() {
    for dtype in [DType::I32, I64] {
        let argmax = |t: &mut Tensors| {
            numeric(
                F32,
                NumericOperationIr::ArgMax(ReduceDimOpIr {
                    input: t.data(TensorData::from([1.0f32, 5.0, 3.0])),
                    axis: 0,
                    accumulator_len: 1,
                    out: out(t.id().value(), &[1], dtype),
                }),
            )
        };
        gives(argmax, &[TensorData::from([1i64]).convert_dtype(dtype)]);
    }
    for store in [BoolStore::Native, BoolStore::U8] {
        let equal = |t: &mut Tensors| {
            OperationIr::BaseFloat(BaseOperationIr::Equal(BinaryOpIr {
                lhs: t.data(TensorData::from([1.0f32, 2.0])),
                rhs: t.data(TensorData::from([1.0f32, 3.0])),
                out: out(t.id().value(), &[2], DType::Bool(store)),
            }))
        };
        for outputs in survives(equal).into_iter().flatten() {
            assert_eq!(outputs[0].dtype(), DType::Bool(store));
            assert_eq!(outputs[0].iter::<bool>().collect::<Vec<_>>(), [true, false]);
        }
    }
}

#[test]
fn b49_floats_that_are_no_ints() {
    let into_int = |t: &mut Tensors| {
        OperationIr::Float(
            F32,
            FloatOperationIr::IntoInt(CastOpIr {
                input: t.data(TensorData::from([1.5f32, f32::NAN, f32::INFINITY])),
                out: out(t.id().value(), &[3], I64),
            }),
        )
    };
    let [flex, ndarray] = survives(into_int);
    assert_eq!(
        flex.expect("it saturates"),
        [TensorData::from([1, 0, i64::MAX])]
    );
    let error = ndarray.expect_err("it does not");
    assert!(matches!(error.fault(), Fault::Panicked { .. }), "{error}");
}

#[test]
fn b50_division_by_nothing() {
    use NumericOperationIr::{Div, DivScalar, Rem, RemScalar};
    let ones = || TensorData::from([1i64, 2]);
    let bytes = || TensorData::from([1u8, 2]);
    for outputs in [
        survives(binary([ones(), TensorData::from([0i64, 1])], Div)),
        survives(binary([ones(), TensorData::from([0i64, 1])], Rem)),
        survives(scalar(ones(), ScalarIr::Int(0), DivScalar)),
        survives(scalar(ones(), ScalarIr::Int(0), RemScalar)),
        survives(scalar(
            TensorData::from([i64::MIN]),
            ScalarIr::Int(-1),
            DivScalar,
        )),
        survives(binary([bytes(), TensorData::from([0u8, 1])], Div)),
        survives(scalar(bytes(), ScalarIr::UInt(0), RemScalar)),
    ] {
        for error in outputs.into_iter().filter_map(Result::err) {
            assert!(error.to_string().contains("numeric."), "{error}");
        }
    }
    let by_nothing = survives(binary([ones(), TensorData::from([0i64, 1])], Div));
    assert!(
        by_nothing.iter().all(Result::is_err),
        "there is no quotient"
    );
}

/// An overflow wraps in a release build, and is an error of the output where the backend checks.
#[test]
fn b51_overflow_costs_no_more_than_the_output() {
    use NumericOperationIr::{Abs, Add, AddScalar, MulScalar, Powi, Sum};
    let max = || TensorData::from([i64::MAX]);
    let wraps = |outputs: [crate::Outputs; 2], wrapped: TensorData| {
        for outputs in outputs.into_iter().flatten() {
            assert_eq!(outputs, std::slice::from_ref(&wrapped));
        }
    };
    wraps(
        survives(scalar(max(), ScalarIr::Int(1), AddScalar)),
        TensorData::from([i64::MIN]),
    );
    wraps(
        survives(scalar(max(), ScalarIr::Int(2), MulScalar)),
        TensorData::from([-2i64]),
    );
    let abs = |t: &mut Tensors| {
        numeric(
            I64,
            Abs(UnaryOpIr {
                input: t.data(TensorData::from([i64::MIN])),
                out: out(t.id().value(), &[1], I64),
            }),
        )
    };
    wraps(survives(abs), TensorData::from([i64::MIN]));
    let sum = |t: &mut Tensors| {
        numeric(
            I64,
            Sum(ReduceOpIr {
                input: t.data(TensorData::from([i64::MAX; 2])),
                out: out(t.id().value(), &[1], I64),
            }),
        )
    };
    wraps(survives(sum), TensorData::from([-2i64]));
    let bytes = [TensorData::from([127i8]), TensorData::from([1i8])];
    wraps(survives(binary(bytes, Add)), TensorData::from([-128i8]));
    costs_no_more(binary(
        [TensorData::from([3i64]), TensorData::from([41i64])],
        Powi,
    ));
    costs_no_more(binary(
        [TensorData::from([2i64]), TensorData::from([-1i64])],
        Powi,
    ));
}

#[test]
fn b52_bounds_that_cross() {
    let clamp = |data: TensorData, min, max| {
        move |t: &mut Tensors| {
            numeric(
                data.dtype(),
                NumericOperationIr::Clamp(ClampOpIr {
                    tensor: t.data(data.clone()),
                    min,
                    max,
                    out: out(t.id().value(), &[1], data.dtype()),
                }),
            )
        }
    };
    costs_no_more(clamp(
        TensorData::from([1.5f32]),
        ScalarIr::Float(2.0),
        ScalarIr::Float(1.0),
    ));
    costs_no_more(clamp(
        TensorData::from([1.5f32]),
        ScalarIr::Float(f64::NAN),
        ScalarIr::Float(1.0),
    ));
    let ints = clamp(TensorData::from([1i64]), ScalarIr::Int(2), ScalarIr::Int(1));
    let [flex, ndarray] = survives(ints);
    flex.expect_err("burn-flex has no value for it");
    assert_eq!(
        ndarray.expect("one of the bounds"),
        [TensorData::from([2i64])]
    );
}

#[test]
fn b54_indices_of_every_dtype() {
    for dtype in [DType::I32, I64] {
        let pool = |t: &mut Tensors| {
            OperationIr::Module(ModuleOperationIr::MaxPool2dWithIndices(
                MaxPool2dWithIndicesOpIr {
                    x: t.data(TensorData::new(vec![1.0f32, 4.0, 3.0, 2.0], [1, 1, 2, 2])),
                    kernel_size: [2, 2],
                    stride: [2, 2],
                    padding: [0, 0],
                    dilation: [1, 1],
                    ceil_mode: false,
                    out: out(t.id().value(), &[1, 1, 1, 1], F32),
                    out_indices: out(t.id().value(), &[1, 1, 1, 1], dtype),
                },
            ))
        };
        let indices = TensorData::new(vec![1i64], [1, 1, 1, 1]).convert_dtype(dtype);
        gives(
            pool,
            &[TensorData::new(vec![4.0f32], [1, 1, 1, 1]), indices.clone()],
        );
        let backward = |t: &mut Tensors| {
            OperationIr::Module(ModuleOperationIr::MaxPool2dWithIndicesBackward(
                MaxPool2dWithIndicesBackwardOpIr {
                    x: t.data(TensorData::new(vec![1.0f32, 4.0, 3.0, 2.0], [1, 1, 2, 2])),
                    grad: t.data(TensorData::new(vec![5.0f32], [1, 1, 1, 1])),
                    indices: t.data(indices.clone()),
                    kernel_size: [2, 2],
                    stride: [2, 2],
                    padding: [0, 0],
                    dilation: [1, 1],
                    ceil_mode: false,
                    out: out(t.id().value(), &[1, 1, 2, 2], F32),
                },
            ))
        };
        let expected = TensorData::new(vec![0.0f32, 5.0, 0.0, 0.0], [1, 1, 2, 2]);
        for outputs in survives(backward) {
            match outputs {
                Ok(outputs) => assert_eq!(outputs, std::slice::from_ref(&expected)),
                Err(error) => assert!(error.to_string().contains(&format!("{dtype:?}")), "{error}"),
            }
        }
    }
    for dtype in [DType::I32, I64, DType::U8, DType::U32] {
        let tensor = || TensorData::from([10.0f32, 20.0, 30.0]);
        let indices = || TensorData::from([2i64, 0]).convert_dtype(dtype);
        let select = |t: &mut Tensors| {
            OperationIr::BaseFloat(BaseOperationIr::Select(SelectOpIr {
                tensor: t.data(tensor()),
                dim: 0,
                indices: t.data(indices()),
                out: out(t.id().value(), &[2], F32),
            }))
        };
        let gather = |t: &mut Tensors| {
            OperationIr::BaseFloat(BaseOperationIr::Gather(GatherOpIr {
                tensor: t.data(tensor()),
                dim: 0,
                indices: t.data(indices()),
                out: out(t.id().value(), &[2], F32),
            }))
        };
        for outputs in survives(select).into_iter().chain(survives(gather)) {
            match outputs {
                Ok(outputs) => assert_eq!(outputs, [TensorData::from([30.0f32, 10.0])]),
                Err(error) => assert!(error.to_string().contains(&format!("{dtype:?}")), "{error}"),
            }
        }
    }
}

#[test]
fn b55_top_k_has_its_k_in_the_accumulator() {
    let data = || TensorData::from([3.0f32, 1.0, 2.0]);
    let reduce = |accumulator_len, len, dtype, op: fn(ReduceDimOpIr) -> NumericOperationIr| {
        move |t: &mut Tensors| {
            numeric(
                F32,
                op(ReduceDimOpIr {
                    input: t.data(data()),
                    axis: 0,
                    accumulator_len,
                    out: out(t.id().value(), &[len], dtype),
                }),
            )
        }
    };
    use NumericOperationIr::{ArgTopK, SumDim, TopK};
    gives(reduce(2, 2, F32, TopK), &[TensorData::from([3.0f32, 2.0])]);
    gives(reduce(2, 2, I64, ArgTopK), &[TensorData::from([0i64, 2])]);
    gives(reduce(2, 1, F32, SumDim), &[TensorData::from([6.0f32])]);
    refuses(
        reduce(2, 3, F32, TopK),
        &["with shape [3], but the operation asks for [2]"],
    );
    refuses(reduce(4, 4, F32, TopK), &["has no 4 elements to keep"]);
    for outputs in survives(reduce(0, 0, F32, TopK)).into_iter().flatten() {
        assert_eq!(outputs[0].num_elements(), 0);
    }
    let both = |t: &mut Tensors| {
        numeric(
            F32,
            NumericOperationIr::TopKWithIndices(TopKWithIndicesOpIr {
                tensor: t.data(data()),
                dim: 0,
                k: 2,
                out: out(t.id().value(), &[2], F32),
                out_indices: out(t.id().value(), &[2], I64),
            }),
        )
    };
    gives(
        both,
        &[TensorData::from([3.0f32, 2.0]), TensorData::from([0i64, 2])],
    );
}

/// Each option of attention has its effect, and a row that sees nothing is no NaN.
#[test]
fn b62_attention_and_its_options() {
    fn attention(
        masked: bool,
        options: AttentionOptionsIr,
        keys: usize,
    ) -> impl Fn(&mut Tensors) -> OperationIr {
        move |t| {
            let mut mask = vec![false; 2 * keys];
            mask[..keys].fill(true);
            OperationIr::Module(ModuleOperationIr::Attention(AttentionOpIr {
                query: t.float(&[1, 1, 2, 2]),
                key: t.float(&[1, 1, keys, 2]),
                value: t.float(&[1, 1, keys, 2]),
                mask: masked.then(|| t.data(TensorData::new(mask, [1, 1, 2, keys]))),
                attn_bias: None,
                options: options.clone(),
                out: out(t.id().value(), &[1, 1, 2, 2], F32),
            }))
        }
    }
    let plain = AttentionOptionsIr {
        scale: None,
        softcap: None,
        is_causal: false,
    };
    let values = |outputs: crate::Outputs| {
        let outputs = outputs.unwrap_or_else(|error| panic!("{error}"));
        outputs[0].to_vec::<f32>().expect("floats")
    };
    for outputs in survives(attention(true, plain.clone(), 2)) {
        assert_eq!(values(outputs)[..2], [0.0, 0.0], "nothing to attend to");
    }
    let [base, _] = survives(attention(false, plain.clone(), 4)).map(values);
    for options in [
        AttentionOptionsIr {
            scale: Some(ScalarIr::Float(0.5)),
            ..plain.clone()
        },
        AttentionOptionsIr {
            softcap: Some(ScalarIr::Float(0.1)),
            ..plain.clone()
        },
        AttentionOptionsIr {
            is_causal: true,
            ..plain.clone()
        },
    ] {
        let [flex, ndarray] = survives(attention(false, options.clone(), 4)).map(values);
        assert_ne!(flex, base, "{options:?} changes nothing");
        for (flex, ndarray) in flex.iter().zip(ndarray) {
            assert!(
                (flex - ndarray).abs() < 1e-5,
                "{flex} and {ndarray} for {options:?}"
            );
        }
    }
}
