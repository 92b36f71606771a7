//! Rows that upstream does not execute: what ours makes of them, against the backend itself.

use burn_backend::ops::IntTensorOps;
use burn_backend::{BoolStore, DType, Distribution, Shape, TensorData, tensor::IndexingUpdateOp};
use burn_flex::Flex;
use burn_interpreter::{Fault, TensorInterpreter};
use burn_ir::{
    BaseOperationIr, CastOpIr, CustomOpIr, DistributedOperationIr, GatherNdOpIr, InitOperationIr,
    NumericOperationIr, OperationIr, RandomOpIr, ScatterNdOpIr, ScatterOpIr, SelectAssignOpIr,
    TensorStatus,
};
use burn_std::future::block_on;
use interpreter_tests::{Case, Tensors, Verdict, compare, quietly, read};

/// The rows whose case is here, in `cases`, in `quantized`, or in the tests of handles and custom
/// operations.
pub(crate) const NAMES: [&str; 12] = [
    "base.Cast.bool",
    "base.Cast.int",
    "base.GatherNd.bool",
    "base.ScatterNd.bool",
    "distributed.AllReduce",
    "distributed.SyncCollective",
    "float.Dequantize",
    "float.Quantize",
    "numeric.IntRandom.float",
    "stream.Custom",
    "stream.Drop",
    "stream.Init",
];

/// The cases that ours executes, and upstream does not.
pub(crate) fn cases() -> Vec<Case> {
    let bools =
        [Bools::cast, Bools::gather_nd].map(|op| Case::new(|t| OperationIr::BaseBool(op(t))));
    let updates = UPDATES.into_iter().flat_map(|update| {
        [Bools::scatter, Bools::select_assign, Bools::scatter_nd]
            .map(|op| Case::new(|t| OperationIr::BaseBool(op(t, update))))
    });
    CASTS
        .map(cast)
        .into_iter()
        .chain(bools)
        .chain(updates)
        .collect()
}

const UPDATES: [IndexingUpdateOp; 5] = [
    IndexingUpdateOp::Assign,
    IndexingUpdateOp::Add,
    IndexingUpdateOp::Mul,
    IndexingUpdateOp::Min,
    IndexingUpdateOp::Max,
];

/// Operations on bools that upstream does not execute; the cases on bools compare what they give
/// with what it should be.
struct Bools;

impl Bools {
    fn cast(t: &mut Tensors) -> BaseOperationIr {
        let input = t.bool(&[3, 4]);
        let dtype = DType::Bool(BoolStore::U8);
        BaseOperationIr::Cast(CastOpIr::create(input, dtype, || t.id()))
    }

    fn gather_nd(t: &mut Tensors) -> BaseOperationIr {
        let data = t.bool(&[3, 4]);
        let indices = t.ints(&[2, 0, 1, 3], &[2, 2]);
        BaseOperationIr::GatherNd(GatherNdOpIr::create(data, indices, || t.id()))
    }

    fn scatter_nd(t: &mut Tensors, update: IndexingUpdateOp) -> BaseOperationIr {
        let data = t.bool(&[3, 4]);
        let indices = t.ints(&[2, 0], &[2, 1]);
        let values = t.bool(&[2, 4]);
        BaseOperationIr::ScatterNd(ScatterNdOpIr::create(data, indices, values, update, || {
            t.id()
        }))
    }

    fn scatter(t: &mut Tensors, update: IndexingUpdateOp) -> BaseOperationIr {
        let tensor = t.bool(&[3, 3]);
        let indices = t.ints(&[2, 0, 1, 1, 2, 0, 0, 1, 2], &[3, 3]);
        let value = t.bool(&[3, 3]);
        BaseOperationIr::Scatter(ScatterOpIr::create(
            tensor,
            1,
            indices,
            value,
            update,
            || t.id(),
        ))
    }

    fn select_assign(t: &mut Tensors, update: IndexingUpdateOp) -> BaseOperationIr {
        let tensor = t.bool(&[3, 3]);
        let indices = t.ints(&[2, 0], &[2]);
        let value = t.bool(&[3, 2]);
        BaseOperationIr::SelectAssign(SelectAssignOpIr::create(
            tensor,
            1,
            indices,
            value,
            update,
            || t.id(),
        ))
    }
}

const CASTS: [DType; 4] = [DType::I32, DType::I16, DType::U8, DType::U64];

fn cast(dtype: DType) -> Case {
    Case::new(|t| {
        let input = t.ints(&[1, -2, 70_000], &[3]);
        OperationIr::BaseInt(BaseOperationIr::Cast(CastOpIr::create(
            input,
            dtype,
            || t.id(),
        )))
    })
}

/// B35: upstream panics; the backend has the method.
#[test]
fn b35_cast_of_ints_is_the_backends() {
    for dtype in CASTS {
        let case = cast(dtype);
        let direct = quietly(|| {
            let data = TensorData::from([1i64, -2, 70_000]);
            let tensor =
                Flex::int_cast(Flex::int_from_data(data, &Default::default()), dtype.into());
            block_on(Flex::int_into_data(tensor)).expect("the backend reads its own tensor")
        });
        let Verdict::OnlyOurs(_, outputs) = compare::<Flex>(&case, TensorStatus::ReadOnly) else {
            panic!("upstream executes the cast to {dtype:?} now: move the case to base.rs");
        };
        assert_eq!(outputs, [direct], "{dtype:?}");
    }
}

/// Both the error and the output say which row it is, and why nobody executes it.
fn assert_unsupported(case: &Case, reason: &str) {
    let mut interpreter = TensorInterpreter::<Flex>::new(Default::default());
    for (id, data) in &case.inputs {
        interpreter.register_tensor_data_id(*id, data.clone());
    }
    let error = interpreter
        .try_register_op(case.op.clone())
        .expect_err("the row is not supported");
    assert!(matches!(error.fault(), Fault::Unsupported), "{error}");
    assert_eq!(error.op().name, case.name());
    for output in case.op.outputs() {
        let read = read(&mut interpreter, output).expect_err("the output holds the error");
        assert!(read.contains(case.name()), "{read}");
        assert!(read.contains(reason), "{read}");
    }
    for (id, data) in &case.inputs {
        let input = case
            .op
            .inputs()
            .find(|input| input.id == *id)
            .expect("the case reads it");
        assert_eq!(read(&mut interpreter, input), Ok(data.clone()));
    }
}

#[test]
fn b36_random_integers_are_no_operation_on_floats() {
    assert_unsupported(
        &Case::new(|t| {
            let range = Distribution::Uniform(0.0, 9.0);
            let op = RandomOpIr::create(Shape::new([2]), DType::F32, range, || t.id());
            OperationIr::NumericFloat(DType::F32, NumericOperationIr::IntRandom(op))
        }),
        "an operation on ints",
    );
}

/// The names above are those of operations, so a row cannot hide behind one that is gone.
#[test]
fn names_are_names_of_operations() {
    let operations = [
        OperationIr::Distributed(DistributedOperationIr::SyncCollective),
        OperationIr::Custom(CustomOpIr::new("none", &[], &[])),
        OperationIr::Init(InitOperationIr::create(Shape::new([1]), DType::F32, || {
            burn_ir::TensorId::new(0)
        })),
    ];
    for operation in &operations {
        assert!(NAMES.contains(&burn_interpreter::op_info(operation).name));
    }
    for name in NAMES {
        assert!(
            burn_interpreter::OPERATIONS
                .iter()
                .any(|info| info.name == name),
            "{name}"
        );
    }
}
