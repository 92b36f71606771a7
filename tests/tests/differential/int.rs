//! `int` and `bool`: bits, logic, conversions.

use burn_backend::DType;
use burn_ir::{
    BinaryOpIr, BoolOperationIr as Bool, CastOpIr, IntOperationIr as Int, MatmulOpIr, OperationIr,
    ScalarIr, ScalarOpIr, UnaryOpIr,
};
use interpreter_tests::Case;

pub(crate) fn cases() -> Vec<Case> {
    let binary = |variant: fn(BinaryOpIr) -> Int| {
        Case::new(|t| {
            let (lhs, rhs) = (t.int_in(&[2, 3], 1..200), t.int_in(&[2, 3], 1..7));
            OperationIr::Int(variant(BinaryOpIr::create(lhs, rhs, || t.id())))
        })
    };
    let scalar = |variant: fn(ScalarOpIr) -> Int| {
        Case::new(|t| {
            let lhs = t.int_in(&[2, 3], 1..200);
            OperationIr::Int(variant(ScalarOpIr::create(lhs, ScalarIr::Int(3), || {
                t.id()
            })))
        })
    };
    let logic = |variant: fn(BinaryOpIr) -> Bool| {
        Case::new(|t| {
            let (lhs, rhs) = (t.bool(&[2, 6]), t.bool(&[2, 6]));
            OperationIr::Bool(variant(BinaryOpIr::create(lhs, rhs, || t.id())))
        })
    };
    // B24: one tensor is both sides, which also tells the order in which they are read.
    let both = |variant: fn(BinaryOpIr) -> Int| {
        Case::new(|t| {
            let both = t.int_in(&[2, 3], 1..200);
            OperationIr::Int(variant(BinaryOpIr::create(both.clone(), both, || t.id())))
        })
    };
    let both_bools = |variant: fn(BinaryOpIr) -> Bool| {
        Case::new(|t| {
            let both = t.bool(&[2, 3]);
            OperationIr::Bool(variant(BinaryOpIr::create(both.clone(), both, || t.id())))
        })
    };
    let mut cases = vec![
        binary(Int::BitwiseAnd),
        binary(Int::BitwiseOr),
        binary(Int::BitwiseXor),
        binary(Int::BitwiseLeftShift),
        binary(Int::BitwiseRightShift),
        both(Int::BitwiseAnd),
        both(Int::BitwiseOr),
        both(Int::BitwiseXor),
        scalar(Int::BitwiseAndScalar),
        scalar(Int::BitwiseOrScalar),
        scalar(Int::BitwiseXorScalar),
        scalar(Int::BitwiseLeftShiftScalar),
        scalar(Int::BitwiseRightShiftScalar),
        Case::new(|t| {
            let input = t.int(&[2, 3]);
            OperationIr::Int(Int::BitwiseNot(UnaryOpIr::create(input, || t.id())))
        }),
        Case::new(|t| {
            let (lhs, rhs) = (t.int(&[2, 3]), t.int(&[3, 4]));
            OperationIr::Int(Int::Matmul(MatmulOpIr::create(lhs, rhs, || t.id())))
        }),
        logic(Bool::And),
        logic(Bool::Or),
        logic(Bool::Xor),
        both_bools(Bool::And),
        both_bools(Bool::Or),
        both_bools(Bool::Xor),
        Case::new(|t| {
            let input = t.bool(&[2, 3]);
            OperationIr::Bool(Bool::Not(UnaryOpIr::create(input, || t.id())))
        }),
    ];
    for dtype in [DType::F32, DType::F64] {
        cases.push(Case::new(|t| {
            let input = t.int(&[2, 3]);
            OperationIr::Int(Int::IntoFloat(CastOpIr::create(input, dtype, || t.id())))
        }));
        cases.push(Case::new(|t| {
            let input = t.bool(&[2, 3]);
            OperationIr::Bool(Bool::IntoFloat(CastOpIr::create(input, dtype, || t.id())))
        }));
    }
    for dtype in [DType::I32, DType::I64, DType::U8] {
        cases.push(Case::new(|t| {
            let input = t.bool(&[2, 3]);
            OperationIr::Bool(Bool::IntoInt(CastOpIr::create(input, dtype, || t.id())))
        }));
    }
    cases
}
