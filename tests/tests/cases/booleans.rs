//! Operations on bools that upstream does not execute: B10, B35, and every update by index.

use burn_backend::{BoolStore, DType, TensorData, tensor::IndexingUpdateOp};
use burn_ir::{
    BaseOperationIr, CastOpIr, GatherNdOpIr, OperationIr, ScatterNdOpIr, ScatterOpIr,
    SelectAssignOpIr,
};
use interpreter_tests::stream::out;
use interpreter_tests::{BOOL, Tensors};

use crate::{gives, survives};

const UPDATES: [(IndexingUpdateOp, [bool; 4]); 5] = [
    (IndexingUpdateOp::Assign, [false, true, false, true]),
    (IndexingUpdateOp::Add, [false, true, true, true]),
    (IndexingUpdateOp::Max, [false, true, true, true]),
    (IndexingUpdateOp::Mul, [false, false, false, true]),
    (IndexingUpdateOp::Min, [false, false, false, true]),
];

/// What is there and what comes, in every combination; the fifth element stays.
fn old() -> TensorData {
    TensorData::from([false, false, true, true, true])
}

fn new() -> TensorData {
    TensorData::from([false, true, false, true])
}

#[test]
fn every_update_by_index() {
    for (update, [a, b, c, d]) in UPDATES {
        let expected = [TensorData::from([a, b, c, d, true])];
        let scatter = |t: &mut Tensors| {
            OperationIr::BaseBool(BaseOperationIr::Scatter(ScatterOpIr {
                tensor: t.data(old()),
                dim: 0,
                indices: t.ints(&[0, 1, 2, 3, 4], &[5]),
                value: t.data(TensorData::from([false, true, false, true, true])),
                update,
                out: out(t.id().value(), &[5], BOOL),
            }))
        };
        gives(scatter, &expected);
        let select = |t: &mut Tensors| {
            OperationIr::BaseBool(BaseOperationIr::SelectAssign(SelectAssignOpIr {
                tensor: t.data(old()),
                dim: 0,
                indices: t.ints(&[0, 1, 2, 3], &[4]),
                value: t.data(new()),
                update,
                out: out(t.id().value(), &[5], BOOL),
            }))
        };
        gives(select, &expected);
        let scatter_nd = |t: &mut Tensors| {
            OperationIr::BaseBool(BaseOperationIr::ScatterNd(ScatterNdOpIr {
                data: t.data(old()),
                indices: t.ints(&[0, 1, 2, 3], &[4, 1]),
                values: t.data(new()),
                reduction: update,
                out: out(t.id().value(), &[5], BOOL),
            }))
        };
        gives(scatter_nd, &expected);
    }
}

#[test]
fn b10_coordinates_into_bools() {
    for (row, column, expected) in [(1, 0, false), (1, 1, true)] {
        let gather = |t: &mut Tensors| {
            OperationIr::BaseBool(BaseOperationIr::GatherNd(GatherNdOpIr {
                data: t.data(TensorData::from([[true, false], [false, true]])),
                indices: t.ints(&[row, column], &[1, 2]),
                out: out(t.id().value(), &[1], BOOL),
            }))
        };
        gives(gather, &[TensorData::from([expected])]);
    }
}

/// The truth stays, the store is the one that is asked for.
#[test]
fn b35_bools_of_another_store() {
    let cast = |store| {
        move |t: &mut Tensors| {
            OperationIr::BaseBool(BaseOperationIr::Cast(CastOpIr {
                input: t.data(TensorData::from([true, false])),
                out: out(t.id().value(), &[2], DType::Bool(store)),
            }))
        }
    };
    gives(cast(BoolStore::Native), &[TensorData::from([true, false])]);
    for store in [BoolStore::U8, BoolStore::U32] {
        for outputs in survives(cast(store)).into_iter().flatten() {
            assert_eq!(outputs[0].dtype(), DType::Bool(store));
            assert_eq!(outputs[0].iter::<bool>().collect::<Vec<_>>(), [true, false]);
        }
    }
    let [flex, _] = survives(cast(BoolStore::U8));
    assert!(flex.is_ok(), "burn-flex has the store");
}

/// A bool of other bytes than 0 and 1 is no bool: a backend would go on with whatever it is.
#[test]
fn bools_that_are_none() {
    fn refuse<B: burn_ir::BackendIr>() {
        let mut interpreter = burn_interpreter::TensorInterpreter::<B>::new(Default::default());
        let word = |word: u32| [1_u32.to_ne_bytes(), word.to_ne_bytes()].concat();
        let stores = [
            (BoolStore::Native, vec![1, 2]),
            (BoolStore::U8, vec![1, 255]),
            (BoolStore::U32, word(2)),
        ];
        for (store, bytes) in stores {
            let dtype = DType::Bool(store);
            let data = TensorData::from_bytes_vec(bytes, [2], dtype);
            let refused = interpreter.try_register_tensor_data_id(burn_ir::TensorId::new(1), data);
            let message = refused.expect_err("it is no bool").to_string();
            assert!(
                message.contains("but the element at 1 is neither"),
                "{message}"
            );
        }
    }
    refuse::<burn_flex::Flex>();
    refuse::<burn_ndarray::NdArray>();
}
