//! `float`: functions, matrix products, random numbers, conversions.

use burn_backend::{DType, Distribution, Shape, TensorData};
use burn_ir::{
    BinaryOpIr, CastOpIr, CrossOpIr, FloatOperationIr as Float, GridSample2dOpIr,
    GridSampleOptionsIr, GridSamplePaddingModeIr, InterpolateModeIr, MatmulOpIr, OperationIr,
    RandomOpIr, ScalarIr, ScalarOpIr, UnaryOpIr,
};
use interpreter_tests::{BOOL, Case, Tensors};

pub(crate) fn cases() -> Vec<Case> {
    [DType::F32, DType::F64]
        .into_iter()
        .flat_map(cases_in)
        .collect()
}

fn cases_in(dtype: DType) -> Vec<Case> {
    let case =
        |build: &dyn Fn(&mut Tensors) -> Float| Case::new(|t| OperationIr::Float(dtype, build(t)));
    let unary = |variant: fn(UnaryOpIr) -> Float, range: std::ops::Range<f32>| {
        case(&|t| {
            let input = t.float_in_as(&[2, 3], range.clone(), dtype);
            variant(UnaryOpIr::create(input, || t.id()))
        })
    };
    let any = -2.0..2.0;
    let binary = |variant: fn(BinaryOpIr) -> Float| {
        case(&|t| {
            let lhs = t.float_in_as(&[2, 3], 0.5..3.0, dtype);
            let rhs = t.float_in_as(&[2, 3], -2.0..2.0, dtype);
            variant(BinaryOpIr::create(lhs, rhs, || t.id()))
        })
    };
    let power = |exponent: f64| {
        case(&|t| {
            let lhs = t.float_in_as(&[2, 3], 0.5..3.0, dtype);
            Float::PowfScalar(ScalarOpIr::create(lhs, ScalarIr::Float(exponent), || {
                t.id()
            }))
        })
    };
    // B24: one tensor is both sides, which also tells the order in which they are read.
    let both = |variant: fn(BinaryOpIr) -> Float| {
        case(&|t| {
            let both = t.float_in_as(&[2, 3], 0.5..3.0, dtype);
            variant(BinaryOpIr::create(both.clone(), both, || t.id()))
        })
    };
    let special = |variant: fn(UnaryOpIr) -> Float| {
        case(&|t| {
            let values = [1.5f32, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0];
            let input = t.data(TensorData::from(values).convert_dtype(dtype));
            variant(UnaryOpIr::create_comparison(input, BOOL, || t.id()))
        })
    };
    let mut cases = vec![
        unary(Float::Exp, any.clone()),
        unary(Float::Log, 0.1..9.0),
        unary(Float::Log1p, -0.5..9.0),
        unary(Float::Erf, any.clone()),
        unary(Float::Sqrt, 0.0..9.0),
        unary(Float::Cos, any.clone()),
        unary(Float::Cosh, any.clone()),
        unary(Float::Sin, any.clone()),
        unary(Float::Sinh, any.clone()),
        unary(Float::Tan, any.clone()),
        unary(Float::Tanh, any.clone()),
        unary(Float::ArcCos, -1.0..1.0),
        unary(Float::ArcCosh, 1.0..9.0),
        unary(Float::ArcSin, -1.0..1.0),
        unary(Float::ArcSinh, any.clone()),
        unary(Float::ArcTan, any.clone()),
        unary(Float::ArcTanh, -0.9..0.9),
        unary(Float::Round, -9.0..9.0),
        unary(Float::Floor, -9.0..9.0),
        unary(Float::Ceil, -9.0..9.0),
        unary(Float::Trunc, -9.0..9.0),
        unary(Float::Recip, 0.5..9.0),
        binary(Float::ArcTan2),
        binary(Float::Powf),
        binary(Float::Hypot),
        both(Float::Hypot),
        special(Float::IsNan),
        special(Float::IsInf),
        power(1.75),
        // Exponents that backends compute in another way.
        power(2.0),
        power(-2.0),
        case(&|t| {
            let lhs = t.float_in_as(&[2, 3, 4], any.clone(), dtype);
            let rhs = t.float_in_as(&[1, 4, 5], any.clone(), dtype);
            Float::Matmul(MatmulOpIr::create(lhs, rhs, || t.id()))
        }),
        // B24: one tensor is both sides.
        case(&|t| {
            let both = t.float_in_as(&[2, 2], any.clone(), dtype);
            Float::Matmul(MatmulOpIr::create(both.clone(), both, || t.id()))
        }),
        case(&|t| {
            let lhs = t.float_in_as(&[2, 4, 3], any.clone(), dtype);
            let rhs = t.float_in_as(&[2, 4, 3], any.clone(), dtype);
            Float::Cross(CrossOpIr::create(lhs, rhs, 2, || t.id()))
        }),
        case(&|t| {
            let normal = Distribution::Normal(2.0, 0.5);
            Float::Random(RandomOpIr::create(
                Shape::new([2, 3]),
                dtype,
                normal,
                || t.id(),
            ))
        }),
        case(&|t| {
            let range = Distribution::Uniform(-3.0, -1.0);
            Float::Random(RandomOpIr::create(Shape::new([2, 3]), dtype, range, || {
                t.id()
            }))
        }),
        case(&|t| {
            let tensor = t.float_in_as(&[1, 2, 3, 4], any.clone(), dtype);
            let grid = t.float_in_as(&[1, 2, 5, 2], -0.9..0.9, dtype);
            let options = GridSampleOptionsIr {
                mode: InterpolateModeIr::Bilinear,
                padding_mode: GridSamplePaddingModeIr::Border,
                align_corners: true,
            };
            Float::GridSample2d(GridSample2dOpIr::create(tensor, grid, options, || t.id()))
        }),
    ];
    for int in [DType::I32, DType::I64, DType::U8] {
        cases.push(case(&|t| {
            let input = t.float_in_as(&[2, 3], 0.0..9.0, dtype);
            Float::IntoInt(CastOpIr::create(input, int, || t.id()))
        }));
    }
    cases
}
