//! `numeric`: arithmetic, comparison, reductions, sorting; for floats and ints.

use burn_backend::{DType, Distribution, Shape};
use burn_ir::{
    BinaryOpIr, ClampOpIr, DimOpIr, FullOpIr, NumericOperationIr as Numeric, OperationIr,
    PadModeIr, PadOpIr, RandomOpIr, ReduceDimOpIr, ReduceDimWithIndicesOpIr, ReduceDimsOpIr,
    ReduceOpIr, ScalarIr, ScalarOpIr, SortOpIr, SortWithIndicesOpIr, TensorIr, TopKWithIndicesOpIr,
    UnaryOpIr,
};
use interpreter_tests::{BOOL, Case, Tensors};

/// A dtype to compute in.
#[derive(Clone, Copy)]
struct Numbers(DType);

impl Numbers {
    fn is_float(self) -> bool {
        self.0.is_float()
    }

    /// Numbers of both signs; the one farthest from zero is negative.
    fn tensor(self, t: &mut Tensors, dims: &[usize]) -> TensorIr {
        self.tensor_in(t, dims, -3.0..2.0, -12..10)
    }

    /// Few different numbers, so that two tensors have some in common: for comparison.
    fn steps(self, t: &mut Tensors, dims: &[usize]) -> TensorIr {
        t.steps(dims, if self.is_float() { 0.25 } else { 0.0 }, self.0)
    }

    /// Positive numbers: for what must not be zero, and for dtypes without a sign.
    fn positive(self, t: &mut Tensors, dims: &[usize]) -> TensorIr {
        self.tensor_in(t, dims, 0.5..3.0, 1..9)
    }

    fn tensor_in(
        self,
        t: &mut Tensors,
        dims: &[usize],
        floats: std::ops::Range<f32>,
        ints: std::ops::Range<i64>,
    ) -> TensorIr {
        match self.is_float() {
            true => t.float_in_as(dims, floats, self.0),
            false => t.int_in_as(dims, ints, self.0),
        }
    }

    fn scalar(self, value: i64) -> ScalarIr {
        match self.0 {
            dtype if dtype.is_float() => ScalarIr::Float(value as f64 + 0.25),
            dtype if dtype.is_uint() => ScalarIr::UInt(value.unsigned_abs()),
            _ => ScalarIr::Int(value),
        }
    }

    fn op(self, op: Numeric) -> OperationIr {
        match self.is_float() {
            true => OperationIr::NumericFloat(self.0, op),
            false => OperationIr::NumericInt(self.0, op),
        }
    }

    /// The dtype of indices that the backend chooses where the IR gives it no choice.
    fn indices(self) -> DType {
        if self.is_float() { DType::I32 } else { self.0 }
    }
}

/// Shapes, and an axis of each that is none of the numbers a case could have by accident.
const PLACES: [(&[usize], usize); 3] = [(&[5], 0), (&[2, 3, 5], 2), (&[2, 4, 3, 2], 1)];

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in [DType::F32, DType::F64, DType::I32, DType::I64] {
        let numbers = Numbers(dtype);
        cases.extend(arithmetic(numbers));
        cases.extend(unary(numbers));
        cases.extend(comparison(numbers));
        for (dims, axis) in PLACES {
            cases.extend(reductions(numbers, dims, axis));
            cases.extend(order(numbers, dims, axis));
        }
        cases.extend(of_several_dims(numbers));
        cases.extend(without_elements(numbers));
        cases.extend(creation(numbers));
    }
    cases.extend(unsigned(Numbers(DType::U8)));
    cases
}

fn arithmetic(n: Numbers) -> Vec<Case> {
    let binary = |variant: fn(BinaryOpIr) -> Numeric| {
        Case::new(|t| {
            let (lhs, rhs) = (n.positive(t, &[2, 3]), n.positive(t, &[2, 3]));
            n.op(variant(BinaryOpIr::create(lhs, rhs, || t.id())))
        })
    };
    // B24: one tensor is both sides, which also tells the order in which they are read.
    let both = |variant: fn(BinaryOpIr) -> Numeric| {
        Case::new(|t| {
            let both = n.positive(t, &[2]);
            n.op(variant(BinaryOpIr::create(both.clone(), both, || t.id())))
        })
    };
    let power = |exponent: ScalarIr| {
        Case::new(|t| {
            let lhs = n.positive(t, &[2, 3]);
            n.op(Numeric::PowiScalar(ScalarOpIr::create(
                lhs,
                exponent,
                || t.id(),
            )))
        })
    };
    let scalar = |variant: fn(ScalarOpIr) -> Numeric, value: i64| {
        Case::new(|t| {
            let lhs = n.positive(t, &[2, 3]);
            n.op(variant(ScalarOpIr::create(lhs, n.scalar(value), || t.id())))
        })
    };
    // Some of the positive numbers are less, some are more.
    let middle = if n.is_float() { 1 } else { 4 };
    let mut cases = vec![
        binary(Numeric::Add),
        binary(Numeric::Sub),
        binary(Numeric::Mul),
        binary(Numeric::Div),
        binary(Numeric::Rem),
        scalar(Numeric::AddScalar, 3),
        scalar(Numeric::SubScalar, 2),
        scalar(Numeric::MulScalar, 3),
        scalar(Numeric::DivScalar, 2),
        scalar(Numeric::RemScalar, 2),
        power(n.scalar(3)),
        // Exponents that backends compute in another way.
        power(ScalarIr::Int(0)),
        power(n.scalar(2)),
        scalar(Numeric::ClampMin, middle),
        scalar(Numeric::ClampMax, middle),
        // One side is broadcast.
        Case::new(|t| {
            let (lhs, rhs) = (n.positive(t, &[2, 1]), n.positive(t, &[1, 3]));
            n.op(Numeric::Add(BinaryOpIr::create(lhs, rhs, || t.id())))
        }),
        both(Numeric::Add),
        both(Numeric::Mul),
        Case::new(|t| {
            let lhs = n.positive(t, &[2, 3]);
            let exponents = if n.is_float() { DType::I64 } else { n.0 };
            let rhs = t.int_in_as(&[2, 3], 0..4, exponents);
            let out = UnaryOpIr::create(lhs.clone(), || t.id()).out;
            n.op(Numeric::Powi(BinaryOpIr { lhs, rhs, out }))
        }),
        Case::new(|t| {
            let (tensor, min, max) = (n.tensor(t, &[2, 6]), n.scalar(-2), n.scalar(2));
            n.op(Numeric::Clamp(ClampOpIr::create(tensor, min, max, || {
                t.id()
            })))
        }),
    ];
    if n.is_float() {
        cases.push(power(ScalarIr::Int(-2)));
    }
    cases
}

fn unsigned(n: Numbers) -> Vec<Case> {
    vec![
        Case::new(|t| {
            let (lhs, rhs) = (n.positive(t, &[2, 3]), n.positive(t, &[2, 3]));
            n.op(Numeric::Mul(BinaryOpIr::create(lhs, rhs, || t.id())))
        }),
        Case::new(|t| {
            let lhs = n.positive(t, &[2, 3]);
            n.op(Numeric::AddScalar(ScalarOpIr::create(
                lhs,
                n.scalar(200),
                || t.id(),
            )))
        }),
        Case::new(|t| {
            let input = n.positive(t, &[2, 5]);
            n.op(Numeric::MaxDim(ReduceDimOpIr::create(input, 1, 1, || {
                t.id()
            })))
        }),
    ]
}

fn unary(n: Numbers) -> Vec<Case> {
    let unary = |variant: fn(UnaryOpIr) -> Numeric| {
        Case::new(|t| {
            let input = n.tensor(t, &[2, 3]);
            n.op(variant(UnaryOpIr::create(input, || t.id())))
        })
    };
    let along = |variant: fn(DimOpIr) -> Numeric| {
        Case::new(|t| {
            let input = n.tensor(t, &[2, 3, 4]);
            n.op(variant(DimOpIr::create(input, 2, || t.id())))
        })
    };
    let pad = |mode: PadModeIr| {
        Case::new(|t| {
            let input = n.tensor(t, &[2, 3]);
            n.op(Numeric::Pad(PadOpIr::create(
                input,
                vec![(1, 0), (0, 2)],
                mode,
                || t.id(),
            )))
        })
    };
    vec![
        unary(Numeric::Abs),
        unary(Numeric::Neg),
        unary(Numeric::Sign),
        along(Numeric::CumSum),
        along(Numeric::CumProd),
        along(Numeric::CumMin),
        along(Numeric::CumMax),
        pad(PadModeIr::Constant(n.scalar(3))),
        pad(PadModeIr::Edge),
        pad(PadModeIr::Reflect),
    ]
}

fn comparison(n: Numbers) -> Vec<Case> {
    let binary = |variant: fn(BinaryOpIr) -> Numeric| {
        Case::new(|t| {
            let (lhs, rhs) = (n.steps(t, &[4, 6]), n.steps(t, &[4, 6]));
            n.op(variant(BinaryOpIr::create_comparison(
                lhs,
                rhs,
                BOOL,
                || t.id(),
            )))
        })
    };
    let scalar = |variant: fn(ScalarOpIr) -> Numeric| {
        Case::new(|t| {
            let lhs = n.steps(t, &[4, 6]);
            n.op(variant(ScalarOpIr::create_comparison(
                lhs,
                n.scalar(2),
                BOOL,
                || t.id(),
            )))
        })
    };
    vec![
        binary(Numeric::Greater),
        binary(Numeric::GreaterEqual),
        binary(Numeric::Lower),
        binary(Numeric::LowerEqual),
        scalar(Numeric::GreaterElem),
        scalar(Numeric::GreaterEqualElem),
        scalar(Numeric::LowerElem),
        scalar(Numeric::LowerEqualElem),
    ]
}

fn reductions(n: Numbers, dims: &[usize], axis: usize) -> Vec<Case> {
    let all = |variant: fn(ReduceOpIr) -> Numeric| {
        Case::new(|t| {
            let input = n.tensor(t, dims);
            n.op(variant(ReduceOpIr::create(input, || t.id())))
        })
    };
    let along = |variant: fn(ReduceDimOpIr) -> Numeric, accumulator_len: usize| {
        Case::new(|t| {
            let input = n.tensor(t, dims);
            n.op(variant(ReduceDimOpIr::create(
                input,
                axis,
                accumulator_len,
                || t.id(),
            )))
        })
    };
    let index = |variant: fn(ReduceDimOpIr) -> Numeric, accumulator_len: usize| {
        Case::new(|t| {
            let (input, dtype) = (n.tensor(t, dims), n.indices());
            n.op(variant(ReduceDimOpIr::create_arg(
                input,
                axis,
                accumulator_len,
                dtype,
                || t.id(),
            )))
        })
    };
    let both = |variant: fn(ReduceDimWithIndicesOpIr) -> Numeric| {
        Case::new(|t| {
            let (tensor, dtype) = (n.tensor(t, dims), n.indices());
            n.op(variant(ReduceDimWithIndicesOpIr::create(
                tensor,
                axis,
                dtype,
                || t.id(),
            )))
        })
    };
    vec![
        all(Numeric::Mean),
        all(Numeric::Sum),
        all(Numeric::Prod),
        all(Numeric::Max),
        all(Numeric::Min),
        all(Numeric::MaxAbs),
        along(Numeric::MeanDim, 1),
        along(Numeric::SumDim, 1),
        along(Numeric::ProdDim, 1),
        along(Numeric::MaxDim, 1),
        along(Numeric::MinDim, 1),
        along(Numeric::MaxAbsDim, 1),
        // B55: `accumulator_len` is the k.
        along(Numeric::TopK, 3),
        index(Numeric::ArgTopK, 3),
        index(Numeric::ArgMax, 1),
        index(Numeric::ArgMin, 1),
        both(Numeric::MaxDimWithIndices),
        both(Numeric::MinDimWithIndices),
        Case::new(|t| {
            let (tensor, dtype) = (n.tensor(t, dims), n.indices());
            n.op(Numeric::TopKWithIndices(TopKWithIndicesOpIr::create(
                tensor,
                axis,
                3,
                dtype,
                || t.id(),
            )))
        }),
    ]
}

fn of_several_dims(n: Numbers) -> [Case; 1] {
    [Case::new(|t| {
        let input = n.tensor(t, &[2, 3, 4]);
        n.op(Numeric::SumDims(ReduceDimsOpIr::create(
            input,
            vec![0, 2],
            || t.id(),
        )))
    })]
}

/// Tensors without elements are legal wherever no element is asked for.
fn without_elements(n: Numbers) -> [Case; 4] {
    [
        Case::new(|t| {
            let (lhs, rhs) = (n.tensor(t, &[0, 3]), n.tensor(t, &[0, 3]));
            n.op(Numeric::Add(BinaryOpIr::create(lhs, rhs, || t.id())))
        }),
        Case::new(|t| {
            let input = n.tensor(t, &[2, 0]);
            n.op(Numeric::Neg(UnaryOpIr::create(input, || t.id())))
        }),
        Case::new(|t| {
            let input = n.tensor(t, &[0, 3]);
            n.op(Numeric::Sum(ReduceOpIr::create(input, || t.id())))
        }),
        Case::new(|t| {
            let input = n.tensor(t, &[0, 3]);
            n.op(Numeric::SumDim(ReduceDimOpIr::create(input, 0, 1, || {
                t.id()
            })))
        }),
    ]
}

fn order(n: Numbers, dims: &[usize], axis: usize) -> Vec<Case> {
    let mut cases = Vec::new();
    for descending in [false, true] {
        cases.push(Case::new(|t| {
            let input = n.tensor(t, dims);
            n.op(Numeric::Sort(SortOpIr::create(
                input,
                axis,
                descending,
                || t.id(),
            )))
        }));
        cases.push(Case::new(|t| {
            let (input, dtype) = (n.tensor(t, dims), n.indices());
            n.op(Numeric::ArgSort(SortOpIr::create_arg(
                input,
                axis,
                descending,
                dtype,
                || t.id(),
            )))
        }));
        cases.push(Case::new(|t| {
            let (input, dtype) = (n.tensor(t, dims), n.indices());
            let op = SortWithIndicesOpIr::create(input, axis, descending, dtype, || t.id());
            n.op(Numeric::SortWithIndices(op))
        }));
    }
    cases
}

fn creation(n: Numbers) -> Vec<Case> {
    let mut cases = vec![Case::new(|t| {
        let op = FullOpIr::create(Shape::new([2, 3]), n.0, n.scalar(7), || t.id());
        n.op(Numeric::Full(op))
    })];
    if !n.is_float() {
        cases.push(Case::new(|t| {
            let range = Distribution::Uniform(-50.0, 50.0);
            let op = RandomOpIr::create(Shape::new([2, 3]), n.0, range, || t.id());
            n.op(Numeric::IntRandom(op))
        }));
    }
    cases
}
