//! Scalars that a dtype does not have, or that no backend takes: B45, B47.

use burn_backend::{DType, TensorData};
use burn_ir::{
    BaseOperationIr, ClampOpIr, FloatOperationIr, FullOpIr, IntOperationIr, MaskFillOpIr,
    NumericOperationIr, OperationIr, ScalarIr, ScalarOpIr,
};
use interpreter_tests::stream::out;
use interpreter_tests::{BOOL, Tensors};

use crate::numeric::{numeric, scalar};
use crate::{F32, I64, costs_no_more, gives, refuses, survives};

#[test]
fn b45_int_scalars_are_exact() {
    use NumericOperationIr::{AddScalar, Clamp, Full, MulScalar};
    gives(
        scalar(
            TensorData::from([3i64]),
            ScalarIr::Int(2_147_483_648),
            MulScalar,
        ),
        &[TensorData::from([6_442_450_944i64])],
    );
    gives(
        scalar(
            TensorData::from([0i64]),
            ScalarIr::Int(9_007_199_254_740_993),
            AddScalar,
        ),
        &[TensorData::from([9_007_199_254_740_993i64])],
    );
    let large = [9_007_199_254_740_992i64, 9_007_199_254_740_993];
    let equal = |t: &mut Tensors| {
        OperationIr::BaseInt(BaseOperationIr::EqualElem(ScalarOpIr {
            lhs: t.data(TensorData::from(large)),
            rhs: ScalarIr::Int(large[1]),
            out: out(t.id().value(), &[2], BOOL),
        }))
    };
    gives(equal, &[TensorData::from([false, true])]);
    let equal = |t: &mut Tensors| {
        OperationIr::BaseInt(BaseOperationIr::EqualElem(ScalarOpIr {
            lhs: t.data(TensorData::from([u64::MAX])),
            rhs: ScalarIr::UInt(u64::MAX),
            out: out(t.id().value(), &[1], BOOL),
        }))
    };
    gives(equal, &[TensorData::from([true])]);
    let full = |t: &mut Tensors| {
        numeric(
            I64,
            Full(FullOpIr {
                value: ScalarIr::Int(i64::MIN),
                out: out(t.id().value(), &[1], I64),
            }),
        )
    };
    gives(full, &[TensorData::from([i64::MIN])]);
    let clamp = |t: &mut Tensors| {
        numeric(
            I64,
            Clamp(ClampOpIr {
                tensor: t.data(TensorData::from(large)),
                min: ScalarIr::Int(large[0]),
                max: ScalarIr::Int(large[1]),
                out: out(t.id().value(), &[2], I64),
            }),
        )
    };
    gives(clamp, &[TensorData::from(large)]);
}

/// A scalar that the dtype does not have costs the output, or is what the backend makes of it.
#[test]
fn b47_scalars_that_the_dtype_does_not_have() {
    use NumericOperationIr::AddScalar;
    let rows = [
        (TensorData::from([1u64]), ScalarIr::Int(-1)),
        (TensorData::from([1u8]), ScalarIr::Int(300)),
        (TensorData::from([1i64]), ScalarIr::Float(f64::NAN)),
        (TensorData::from([1i64]), ScalarIr::Bool(true)),
    ];
    for (data, rhs) in rows {
        for error in survives(scalar(data, rhs, AddScalar))
            .into_iter()
            .filter_map(Result::err)
        {
            let message = error.to_string();
            assert!(message.contains("numeric.AddScalar.int"), "{message}");
        }
    }
    costs_no_more(|t| {
        OperationIr::BaseInt(BaseOperationIr::MaskFill(MaskFillOpIr {
            tensor: t.data(TensorData::from([1i8])),
            mask: t.data(TensorData::from([true])),
            value: ScalarIr::Int(1_000),
            out: out(t.id().value(), &[1], DType::I8),
        }))
    });
    costs_no_more(|t| {
        numeric(
            DType::U8,
            NumericOperationIr::Full(FullOpIr {
                value: ScalarIr::Float(1.5),
                out: out(t.id().value(), &[1], DType::U8),
            }),
        )
    });
}

/// What a backend answers with a panic, or takes for another number, is refused before one is called.
#[test]
fn scalars_that_no_backend_takes() {
    use NumericOperationIr::{AddScalar, DivScalar, LowerElem, RemScalar};
    let ints = || TensorData::from([5i32]);
    for scalar_op in [AddScalar, LowerElem] {
        for rhs in [
            ScalarIr::Int(i64::MIN),
            ScalarIr::UInt(1 << 40),
            ScalarIr::Float(f64::NAN),
        ] {
            refuses(
                scalar(ints(), rhs, scalar_op),
                &["I32, which does not hold"],
            );
        }
    }
    let bytes = || TensorData::from([5u8]);
    refuses(
        scalar(bytes(), ScalarIr::Int(-1), AddScalar),
        &["U8, which does not hold"],
    );
    for rhs in [
        ScalarIr::Int(0),
        ScalarIr::Float(0.5),
        ScalarIr::Bool(false),
    ] {
        refuses(scalar(ints(), rhs, DivScalar), &["divided by zero"]);
        refuses(scalar(ints(), rhs, RemScalar), &["divided by zero"]);
    }
    let full = |t: &mut Tensors| {
        let full = FullOpIr {
            value: ScalarIr::Int(1 << 40),
            out: out(t.id().value(), &[1], DType::I32),
        };
        numeric(DType::I32, NumericOperationIr::Full(full))
    };
    refuses(full, &["I32, which does not hold"]);
    // A fraction is cut off, as backends do.
    gives(
        scalar(ints(), ScalarIr::Float(2.75), AddScalar),
        &[TensorData::from([7i32])],
    );
}

/// burn-backend takes exponents as integers of one width, and shifts as numbers of bits.
#[test]
fn exponents_and_shifts_that_no_backend_takes() {
    let long = || TensorData::from([5i64]);
    let power = |data, rhs| scalar(data, rhs, NumericOperationIr::PowiScalar);
    refuses(
        power(long(), ScalarIr::Int(1 << 40)),
        &["the exponent Int", "is no I32"],
    );
    // The exponent need not be of the dtype.
    gives(
        power(TensorData::from([1u8, 0]), ScalarIr::UInt(256)),
        &[TensorData::from([1u8, 0])],
    );
    let floats = || TensorData::from([1.5f32]);
    refuses(
        power(floats(), ScalarIr::Float(1e30)),
        &["the exponent Float", "is no I64"],
    );
    let float = |op: fn(ScalarOpIr) -> FloatOperationIr, rhs| {
        move |t: &mut Tensors| {
            let lhs = t.data(TensorData::from([4.0f32]));
            let out = out(t.id().value(), &[1], F32);
            OperationIr::Float(F32, op(ScalarOpIr { lhs, rhs, out }))
        }
    };
    for rhs in [
        ScalarIr::Float(1e30),
        ScalarIr::Float(f64::INFINITY),
        ScalarIr::UInt(u64::MAX),
    ] {
        refuses(
            float(FloatOperationIr::PowfScalar, rhs),
            &["is whole, but no I64"],
        );
    }
    let half = float(FloatOperationIr::PowfScalar, ScalarIr::Float(0.5));
    gives(half, &[TensorData::from([2.0f32])]);
    for op in [
        IntOperationIr::BitwiseLeftShiftScalar,
        IntOperationIr::BitwiseRightShiftScalar,
    ] {
        let shift = |t: &mut Tensors| {
            let lhs = t.data(long());
            let (rhs, out) = (ScalarIr::Int(-1), out(t.id().value(), &[1], I64));
            OperationIr::Int(op(ScalarOpIr { lhs, rhs, out }))
        };
        refuses(shift, &["bits cannot be shifted by Int(-1)"]);
    }
}
