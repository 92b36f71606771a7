//! Creation: B16, B56, and distributions that cannot be drawn from.

use burn_backend::{BoolStore, DType, Distribution, TensorData};
use burn_interpreter::Fault;
use burn_ir::{
    BaseOperationIr, CreationOpIr, FloatOperationIr, FullOpIr, NumericOperationIr, OperationIr,
    RandomOpIr, ScalarIr,
};
use interpreter_tests::stream::out;
use interpreter_tests::{Case, Tensors};

use crate::{F32, I64, refuses, run, survives};

fn creation(dtype: DType, dims: &[usize], op: fn(CreationOpIr) -> BaseOperationIr) -> OperationIr {
    let op = op(CreationOpIr {
        out: out(1, dims, dtype),
    });
    match dtype {
        DType::Bool(_) => OperationIr::BaseBool(op),
        dtype if dtype.is_float() => OperationIr::BaseFloat(op),
        _ => OperationIr::BaseInt(op),
    }
}

#[test]
fn b16_what_no_machine_can_hold() {
    use BaseOperationIr::{Empty, Ones, Zeros};
    let sizes: [&[usize]; 4] = [
        &[1 << 44],
        &[usize::MAX],
        &[1 << 32, 1 << 32],
        &[usize::MAX, usize::MAX, 2],
    ];
    for dims in sizes {
        for op in [Empty, Ones, Zeros] {
            let case = Case::new(|_| creation(F32, dims, op));
            let error = run::<burn_flex::Flex>(&case).expect_err("there is no such machine");
            assert!(
                matches!(error.fault(), Fault::TensorTooLarge { .. }),
                "{error}"
            );
        }
        let expand = |t: &mut Tensors| {
            OperationIr::BaseFloat(BaseOperationIr::Expand(burn_ir::ShapeOpIr {
                input: t.float(&[1]),
                out: out(t.id().value(), dims, F32),
            }))
        };
        refuses(expand, &["but the limit is"]);
    }
}

#[test]
fn b56_a_tensor_has_the_dtype_that_is_asked_for() {
    use BaseOperationIr::{Ones, Zeros};
    let dtypes = [
        DType::F64,
        DType::F16,
        DType::I32,
        DType::Bool(BoolStore::U8),
        DType::Bool(BoolStore::U32),
    ];
    for dtype in dtypes {
        for (op, one) in [(Zeros as fn(_) -> _, false), (Ones, true)] {
            for outputs in survives(|_| creation(dtype, &[2], op))
                .into_iter()
                .flatten()
            {
                assert_eq!(outputs[0].dtype(), dtype);
                assert_eq!(outputs[0].iter::<bool>().collect::<Vec<_>>(), [one; 2]);
            }
        }
        for outputs in survives(|_| creation(dtype, &[2], BaseOperationIr::Empty))
            .into_iter()
            .flatten()
        {
            assert_eq!(outputs[0].dtype(), dtype);
        }
        if let DType::Bool(_) = dtype {
            continue;
        }
        let full = |_: &mut Tensors| {
            let op = NumericOperationIr::Full(FullOpIr {
                value: ScalarIr::new(3i64, &dtype),
                out: out(1, &[2], dtype),
            });
            match dtype.is_float() {
                true => OperationIr::NumericFloat(dtype, op),
                false => OperationIr::NumericInt(dtype, op),
            }
        };
        for outputs in survives(full).into_iter().flatten() {
            assert_eq!(outputs, [TensorData::from([3i64; 2]).convert_dtype(dtype)]);
        }
    }
}

/// Backends lose their seed over them: they are refused before.
#[test]
fn distributions_that_cannot_be_drawn_from() {
    use Distribution::{Bernoulli, Normal, Uniform};
    let distributions = [
        Bernoulli(1.5),
        Bernoulli(f64::NAN),
        Uniform(1.0, 1.0),
        Uniform(2.0, 1.0),
        Uniform(0.0, f64::INFINITY),
        Uniform(f64::MIN, f64::MAX),
        Uniform(-2e38, 2e38),
        Normal(0.0, f64::NAN),
        Normal(0.0, f64::INFINITY),
    ];
    for distribution in distributions {
        let random = |_: &mut Tensors| {
            OperationIr::Float(
                F32,
                FloatOperationIr::Random(RandomOpIr {
                    out: out(1, &[2], F32),
                    distribution,
                }),
            )
        };
        refuses(random, &["can be drawn from the distribution"]);
    }
    for (dtype, distribution) in [(I64, Uniform(0.2, 0.8)), (DType::U8, Uniform(-1.0, 3.0))] {
        let random = |_: &mut Tensors| {
            OperationIr::NumericInt(
                dtype,
                NumericOperationIr::IntRandom(RandomOpIr {
                    out: out(1, &[2], dtype),
                    distribution,
                }),
            )
        };
        refuses(random, &["can be drawn from the distribution"]);
    }
}

/// Hardly a number that is drawn may be out of the range of the dtype.
#[test]
fn integers_that_cannot_be_drawn() {
    use Distribution::{Normal, Uniform};
    let distributions = [
        (Normal(f64::NAN, 1.0), I64),
        (Normal(f64::INFINITY, 1.0), I64),
        (Normal(0.0, f64::NAN), I64),
        (Normal(1e30, 1.0), I64),
        (Normal(0.0, 1e19), I64),
        (Normal(0.0, 1.0), DType::U8),
        (Uniform(0.0, i64::MAX as f64), I64),
        (Uniform(f64::NAN, 1.0), I64),
        (Uniform(3.0, 3.5), I64),
        (Uniform(-1.0, 3.0), DType::U8),
    ];
    for (distribution, dtype) in distributions {
        let random = |t: &mut Tensors| {
            let random = RandomOpIr {
                distribution,
                out: out(t.id().value(), &[4], dtype),
            };
            OperationIr::NumericInt(dtype, NumericOperationIr::IntRandom(random))
        };
        refuses(random, &["can be drawn from"]);
    }
}

#[test]
fn integers_are_drawn_in_any_dtype_that_has_them() {
    let distributions = [
        (DType::U8, Distribution::Normal(100.0, 20.0)),
        (DType::I8, Distribution::Normal(0.0, 10.0)),
        (DType::U64, Distribution::Normal(10.0, 1.0)),
    ];
    for (dtype, distribution) in distributions {
        let random = |t: &mut Tensors| {
            let out = out(t.id().value(), &[8], dtype);
            let random = RandomOpIr { distribution, out };
            OperationIr::NumericInt(dtype, NumericOperationIr::IntRandom(random))
        };
        for outputs in survives(random) {
            let output = outputs.expect("they are drawn").remove(0);
            assert_eq!((output.dtype(), output.shape()), (dtype, &[8].into()));
        }
    }
}
