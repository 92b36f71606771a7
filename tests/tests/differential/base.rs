//! `base`: shapes, indexing, masks, comparison, creation; for floats, ints and bools.

use burn_backend::{DType, Shape, Slice, tensor::IndexingUpdateOp};
use burn_ir::{
    BaseOperationIr as Base, BinaryOpIr, CastOpIr, CatOpIr, CreationOpIr, FlipOpIr, GatherNdOpIr,
    GatherOpIr, MaskFillOpIr, MaskWhereOpIr, OperationIr, PermuteOpIr, ReduceDimOpIr, ReduceOpIr,
    RepeatDimOpIr, ScalarIr, ScalarOpIr, ScatterNdOpIr, ScatterOpIr, SelectAssignOpIr, SelectOpIr,
    ShapeOpIr, SliceAssignOpIr, SliceOpIr, SwapDimsOpIr, TensorIr, UnfoldOpIr,
};
use interpreter_tests::{BOOL, Case, Tensors};

/// A kind of tensor, for cases that are the same for all of them.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Float,
    Int,
    Bool,
}

impl Kind {
    fn tensor(self, t: &mut Tensors, dims: &[usize]) -> TensorIr {
        match self {
            Kind::Float => t.float(dims),
            Kind::Int => t.int(dims),
            Kind::Bool => t.bool(dims),
        }
    }

    /// A tensor with elements that are zero, and some that are the same as in another.
    fn steps(self, t: &mut Tensors, dims: &[usize]) -> TensorIr {
        match self {
            Kind::Float => t.steps(dims, 0.0, DType::F32),
            Kind::Int => t.steps(dims, 0.0, DType::I64),
            Kind::Bool => t.bool(dims),
        }
    }

    fn scalar(self) -> ScalarIr {
        match self {
            Kind::Float => ScalarIr::Float(2.0),
            Kind::Int => ScalarIr::Int(2),
            Kind::Bool => ScalarIr::Bool(false),
        }
    }

    fn op(self, op: Base) -> OperationIr {
        match self {
            Kind::Float => OperationIr::BaseFloat(op),
            Kind::Int => OperationIr::BaseInt(op),
            Kind::Bool => OperationIr::BaseBool(op),
        }
    }

    fn dtypes(self) -> &'static [DType] {
        match self {
            Kind::Float => &[DType::F32, DType::F64],
            Kind::Int => &[DType::I32, DType::I64, DType::U8],
            Kind::Bool => &[BOOL],
        }
    }
}

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for kind in [Kind::Float, Kind::Int, Kind::Bool] {
        cases.extend(shapes(kind));
        cases.extend(indexing(kind));
        cases.extend(masks(kind));
        cases.extend(comparison(kind));
        cases.extend(creation(kind));
    }
    cases.extend(casts());
    cases
}

fn shapes(kind: Kind) -> Vec<Case> {
    let case = |build: &dyn Fn(&mut Tensors) -> Base| Case::new(|t| kind.op(build(t)));
    vec![
        case(&|t| {
            let input = kind.tensor(t, &[2, 3, 4]);
            Base::Reshape(ShapeOpIr::reshape(input, Shape::new([6, 4]), || t.id()))
        }),
        case(&|t| {
            let input = kind.tensor(t, &[2, 2, 3, 4]);
            Base::SwapDims(SwapDimsOpIr::create(input, 2, 3, || t.id()))
        }),
        case(&|t| {
            let input = kind.tensor(t, &[2, 3, 4]);
            Base::Permute(PermuteOpIr::create(input, vec![2, 0, 1], || t.id()))
        }),
        case(&|t| {
            let input = kind.tensor(t, &[2, 3, 4]);
            Base::Flip(FlipOpIr::create(input, vec![2, 1], || t.id()))
        }),
        case(&|t| {
            let input = kind.tensor(t, &[3, 1]);
            Base::Expand(ShapeOpIr::expand(input, Shape::new([2, 3, 4]), || t.id()))
        }),
        case(&|t| {
            let input = kind.tensor(t, &[2, 2, 10]);
            Base::Unfold(UnfoldOpIr::create(input, 2, 4, 3, || t.id()))
        }),
        case(&|t| {
            let input = kind.tensor(t, &[2, 3, 2]);
            Base::RepeatDim(RepeatDimOpIr::create(input, 2, 3, || t.id()))
        }),
        case(&|t| {
            let tensors = [[2, 2, 3], [2, 2, 1], [2, 2, 2]].map(|dims| kind.tensor(t, &dims));
            Base::Cat(CatOpIr::create(tensors.into(), 2, || t.id()))
        }),
        // Without elements.
        case(&|t| {
            let input = kind.tensor(t, &[2, 0]);
            Base::Reshape(ShapeOpIr::reshape(input, Shape::new([0, 6]), || t.id()))
        }),
        case(&|t| {
            let input = kind.tensor(t, &[0, 3]);
            Base::SwapDims(SwapDimsOpIr::create(input, 0, 1, || t.id()))
        }),
        case(&|t| {
            let tensors = [[2, 3], [0, 3]].map(|dims| kind.tensor(t, &dims));
            Base::Cat(CatOpIr::create(tensors.into(), 0, || t.id()))
        }),
    ]
}

fn indexing(kind: Kind) -> Vec<Case> {
    let case = |build: &dyn Fn(&mut Tensors) -> Base| Case::new(|t| kind.op(build(t)));
    let mut cases = vec![
        case(&|t| {
            let tensor = kind.tensor(t, &[4, 5]);
            let ranges = vec![Slice::new(1, Some(4), 2), Slice::new(0, Some(5), -2)];
            Base::Slice(SliceOpIr::create(tensor, ranges, || t.id()))
        }),
        case(&|t| {
            let tensor = kind.tensor(t, &[4, 5]);
            let value = kind.tensor(t, &[2, 3]);
            let ranges = vec![Slice::new(1, Some(4), 2), Slice::new(0, Some(5), -2)];
            Base::SliceAssign(SliceAssignOpIr::create(tensor, ranges, value, || t.id()))
        }),
        case(&|t| {
            let tensor = kind.tensor(t, &[2, 2, 4]);
            let indices = t.ints(&[3, 0, 2], &[3]);
            Base::Select(SelectOpIr::create(tensor, 2, indices, || t.id()))
        }),
        case(&|t| {
            let tensor = kind.tensor(t, &[2, 2, 4]);
            let indices = t.ints(&[3, 0, 2], &[3]);
            let value = kind.tensor(t, &[2, 2, 3]);
            let update = IndexingUpdateOp::Add;
            Base::SelectAssign(SelectAssignOpIr::create(
                tensor,
                2,
                indices,
                value,
                update,
                || t.id(),
            ))
        }),
        case(&|t| {
            let tensor = kind.tensor(t, &[1, 2, 3]);
            let indices = t.ints(&[2, 0, 1, 2], &[1, 2, 2]);
            Base::Gather(GatherOpIr::create(tensor, 2, indices, || t.id()))
        }),
        case(&|t| {
            let tensor = kind.tensor(t, &[1, 3, 4]);
            let indices = t.ints(&[2, 0, 1, 2, 3, 0], &[1, 3, 2]);
            let value = kind.tensor(t, &[1, 3, 2]);
            let update = IndexingUpdateOp::Add;
            Base::Scatter(ScatterOpIr::create(
                tensor,
                2,
                indices,
                value,
                update,
                || t.id(),
            ))
        }),
    ];
    if kind == Kind::Bool {
        return cases;
    }
    let updates = [
        IndexingUpdateOp::Assign,
        IndexingUpdateOp::Mul,
        IndexingUpdateOp::Min,
        IndexingUpdateOp::Max,
    ];
    for update in updates {
        cases.push(case(&|t| {
            let tensor = kind.tensor(t, &[1, 3]);
            let indices = t.ints(&[1, 2, 0], &[1, 3]);
            let value = kind.tensor(t, &[1, 3]);
            Base::Scatter(ScatterOpIr::create(
                tensor,
                1,
                indices,
                value,
                update,
                || t.id(),
            ))
        }));
        cases.push(case(&|t| {
            let tensor = kind.tensor(t, &[3]);
            let indices = t.ints(&[1, 2, 0], &[3]);
            let value = kind.tensor(t, &[3]);
            Base::SelectAssign(SelectAssignOpIr::create(
                tensor,
                0,
                indices,
                value,
                update,
                || t.id(),
            ))
        }));
        cases.push(case(&|t| {
            let data = kind.tensor(t, &[3, 2]);
            let indices = t.ints(&[2, 1, 0, 0], &[2, 2]);
            let values = kind.tensor(t, &[2]);
            Base::ScatterNd(ScatterNdOpIr::create(data, indices, values, update, || {
                t.id()
            }))
        }));
    }
    cases.push(case(&|t| {
        let data = kind.tensor(t, &[3, 2]);
        let indices = t.ints(&[2, 1, 0, 0], &[2, 2]);
        Base::GatherNd(GatherNdOpIr::create(data, indices, || t.id()))
    }));
    cases
}

fn masks(kind: Kind) -> Vec<Case> {
    let case = |build: &dyn Fn(&mut Tensors) -> Base| Case::new(|t| kind.op(build(t)));
    vec![
        case(&|t| {
            let tensor = kind.tensor(t, &[2, 3]);
            let mask = t.bool(&[2, 3]);
            let value = kind.tensor(t, &[2, 3]);
            Base::MaskWhere(MaskWhereOpIr::create(tensor, mask, value, || t.id()))
        }),
        case(&|t| {
            let tensor = kind.tensor(t, &[2, 3]);
            let mask = t.bool(&[2, 3]);
            Base::MaskFill(MaskFillOpIr::create(tensor, mask, kind.scalar(), || t.id()))
        }),
    ]
}

fn comparison(kind: Kind) -> Vec<Case> {
    let case = |build: &dyn Fn(&mut Tensors) -> Base| Case::new(|t| kind.op(build(t)));
    // Some elements of the two sides must be equal.
    let sides = |t: &mut Tensors| (kind.steps(t, &[3, 6]), kind.steps(t, &[3, 6]));
    vec![
        case(&|t| {
            let (lhs, rhs) = sides(t);
            Base::Equal(BinaryOpIr::create_comparison(lhs, rhs, BOOL, || t.id()))
        }),
        case(&|t| {
            let lhs = kind.steps(t, &[3, 6]);
            Base::Equal(BinaryOpIr::create_comparison(
                lhs.clone(),
                lhs,
                BOOL,
                || t.id(),
            ))
        }),
        case(&|t| {
            let lhs = kind.steps(t, &[3, 6]);
            Base::EqualElem(ScalarOpIr::create_comparison(
                lhs,
                kind.scalar(),
                BOOL,
                || t.id(),
            ))
        }),
        case(&|t| {
            let (lhs, rhs) = sides(t);
            Base::NotEqual(BinaryOpIr::create_comparison(lhs, rhs, BOOL, || t.id()))
        }),
        // B24: one tensor is both sides, which also tells the order in which they are read.
        case(&|t| {
            let both = kind.steps(t, &[3, 6]);
            Base::NotEqual(BinaryOpIr::create_comparison(
                both.clone(),
                both,
                BOOL,
                || t.id(),
            ))
        }),
        case(&|t| {
            let lhs = kind.steps(t, &[3, 6]);
            Base::NotEqualElem(ScalarOpIr::create_comparison(
                lhs,
                kind.scalar(),
                BOOL,
                || t.id(),
            ))
        }),
        case(&|t| {
            let input = kind.steps(t, &[3, 6]);
            Base::All(ReduceOpIr::create_bool(input, BOOL, || t.id()))
        }),
        case(&|t| {
            let input = kind.steps(t, &[3, 6]);
            Base::Any(ReduceOpIr::create_bool(input, BOOL, || t.id()))
        }),
        case(&|t| {
            let input = kind.steps(t, &[3, 4, 2]);
            Base::AllDim(ReduceDimOpIr::create_bool(input, 2, 1, BOOL, || t.id()))
        }),
        case(&|t| {
            let input = kind.steps(t, &[3, 4, 2]);
            Base::AnyDim(ReduceDimOpIr::create_bool(input, 2, 1, BOOL, || t.id()))
        }),
    ]
}

fn creation(kind: Kind) -> Vec<Case> {
    let case = |build: &dyn Fn(&mut Tensors) -> Base| Case::new(|t| kind.op(build(t)));
    let mut cases = Vec::new();
    for dtype in kind.dtypes() {
        let create = |t: &mut Tensors| CreationOpIr::create(Shape::new([2, 3]), *dtype, || t.id());
        cases.push(case(&|t| Base::Ones(create(t))));
        cases.push(case(&|t| Base::Zeros(create(t))));
    }
    // An empty tensor has no values to compare, unless it has no elements.
    let dtype = kind.dtypes()[0];
    cases.push(case(&|t| {
        Base::Empty(CreationOpIr::create(Shape::new([0, 3]), dtype, || t.id()))
    }));
    cases
}

fn casts() -> Vec<Case> {
    let float = [DType::F64, DType::F32].map(|dtype| {
        Case::new(|t| {
            let input = t.float(&[2, 3]);
            OperationIr::BaseFloat(Base::Cast(CastOpIr::create(input, dtype, || t.id())))
        })
    });
    float.into()
}
