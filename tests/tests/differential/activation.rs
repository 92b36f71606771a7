//! `activation`: the functions between layers, and their gradients.

use burn_ir::{
    ActivationOperationIr as Activation, BinaryOpIr, DimOpIr, HardSigmoidOpIr, OperationIr,
    ScalarIr, ScalarOpIr, UnaryOpIr,
};
use interpreter_tests::{Case, Tensors};

pub(crate) fn cases() -> Vec<Case> {
    let case = |build: &dyn Fn(&mut Tensors) -> Activation| {
        Case::new(|t| OperationIr::Activation(build(t)))
    };
    let unary = |variant: fn(UnaryOpIr) -> Activation| {
        case(&|t| {
            let input = t.float(&[2, 3]);
            variant(UnaryOpIr::create(input, || t.id()))
        })
    };
    let backward = |variant: fn(BinaryOpIr) -> Activation| {
        case(&|t| {
            let (lhs, rhs) = (
                t.float_in(&[2, 3], -0.9..0.9),
                t.float_in(&[2, 3], 2.0..5.0),
            );
            variant(BinaryOpIr::create(lhs, rhs, || t.id()))
        })
    };
    let along = |variant: fn(DimOpIr) -> Activation| {
        case(&|t| {
            let input = t.float(&[2, 3, 4]);
            variant(DimOpIr::create(input, 2, || t.id()))
        })
    };
    vec![
        unary(Activation::Relu),
        unary(Activation::Gelu),
        unary(Activation::Sigmoid),
        unary(Activation::LogSigmoid),
        backward(Activation::ReluBackward),
        backward(Activation::GeluBackward),
        backward(Activation::SigmoidBackward),
        backward(Activation::LogSigmoidBackward),
        along(Activation::Softmax),
        along(Activation::LogSoftmax),
        along(Activation::Softmin),
        case(&|t| {
            let lhs = t.float(&[2, 3]);
            Activation::LeakyRelu(ScalarOpIr::create(lhs, ScalarIr::Float(0.3), || t.id()))
        }),
        case(&|t| {
            let (lhs, rhs) = (t.float(&[2, 3]), t.float_in(&[1, 3], 0.1..0.9));
            Activation::PRelu(BinaryOpIr::create(lhs, rhs, || t.id()))
        }),
        case(&|t| {
            let tensor = t.float(&[2, 3]);
            let (alpha, beta) = (ScalarIr::Float(0.3), ScalarIr::Float(0.4));
            Activation::HardSigmoid(HardSigmoidOpIr::create(tensor, alpha, beta, || t.id()))
        }),
    ]
}
