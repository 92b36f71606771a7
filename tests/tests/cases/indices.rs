//! Indices and shapes that cannot be trusted: B71, B78.

use burn_backend::{TensorData, tensor::IndexingUpdateOp};
use burn_ir::{
    BaseOperationIr, EmbeddingOpIr, GatherNdOpIr, GatherOpIr, MaxPool2dWithIndicesBackwardOpIr,
    ModuleOperationIr, OperationIr, ScatterNdOpIr, ScatterOpIr, SelectOpIr,
};
use interpreter_tests::Tensors;
use interpreter_tests::stream::out;

use crate::{F32, refuses, survives};

fn tensor() -> TensorData {
    TensorData::from([10.0f32, 20.0, 30.0])
}

#[test]
fn b71_an_index_out_of_range_costs_the_output() {
    for index in [3, i64::MAX, i64::MIN] {
        let select = |t: &mut Tensors| {
            OperationIr::BaseFloat(BaseOperationIr::Select(SelectOpIr {
                tensor: t.data(tensor()),
                dim: 0,
                indices: t.ints(&[index], &[1]),
                out: out(t.id().value(), &[1], F32),
            }))
        };
        let gather = |t: &mut Tensors| {
            OperationIr::BaseFloat(BaseOperationIr::Gather(GatherOpIr {
                tensor: t.data(tensor()),
                dim: 0,
                indices: t.ints(&[index], &[1]),
                out: out(t.id().value(), &[1], F32),
            }))
        };
        let embedding = |t: &mut Tensors| {
            OperationIr::Module(ModuleOperationIr::Embedding(EmbeddingOpIr {
                weights: t.float(&[3, 2]),
                indices: t.ints(&[index], &[1, 1]),
                out: out(t.id().value(), &[1, 1, 2], F32),
            }))
        };
        let scatter = |t: &mut Tensors| {
            OperationIr::BaseFloat(BaseOperationIr::ScatterNd(ScatterNdOpIr {
                data: t.data(tensor()),
                indices: t.ints(&[index], &[1, 1]),
                values: t.float(&[1]),
                reduction: IndexingUpdateOp::Add,
                out: out(t.id().value(), &[3], F32),
            }))
        };
        for outputs in [
            survives(select),
            survives(gather),
            survives(embedding),
            survives(scatter),
        ] {
            assert!(
                outputs.iter().all(Result::is_err),
                "there is no element {index}"
            );
        }
    }
    let backward = |t: &mut Tensors| {
        OperationIr::Module(ModuleOperationIr::MaxPool2dWithIndicesBackward(
            MaxPool2dWithIndicesBackwardOpIr {
                x: t.float(&[1, 1, 2, 2]),
                grad: t.float(&[1, 1, 1, 1]),
                indices: t.ints(&[99], &[1, 1, 1, 1]),
                kernel_size: [2, 2],
                stride: [1, 1],
                padding: [0, 0],
                dilation: [1, 1],
                ceil_mode: false,
                out: out(t.id().value(), &[1, 1, 2, 2], F32),
            },
        ))
    };
    assert!(
        survives(backward).iter().all(Result::is_err),
        "there is no element 99"
    );
}

#[test]
fn b71_shapes_of_indices_that_do_not_fit() {
    let gather = |t: &mut Tensors| {
        OperationIr::BaseFloat(BaseOperationIr::Gather(GatherOpIr {
            tensor: t.float(&[2, 3]),
            dim: 1,
            indices: t.ints(&[0; 12], &[4, 3]),
            out: out(t.id().value(), &[4, 3], F32),
        }))
    };
    refuses(gather, &["does not index axis 1 of"]);
    let gather = |t: &mut Tensors| {
        OperationIr::BaseFloat(BaseOperationIr::Gather(GatherOpIr {
            tensor: t.float(&[2, 3]),
            dim: 2,
            indices: t.ints(&[0], &[1, 1]),
            out: out(t.id().value(), &[1, 1], F32),
        }))
    };
    refuses(gather, &["axis 2 is out of range"]);
    let scatter = |t: &mut Tensors| {
        OperationIr::BaseFloat(BaseOperationIr::Scatter(ScatterOpIr {
            tensor: t.float(&[2, 3]),
            dim: 1,
            indices: t.ints(&[0; 6], &[2, 3]),
            value: t.float(&[2, 2]),
            update: IndexingUpdateOp::Add,
            out: out(t.id().value(), &[2, 3], F32),
        }))
    };
    refuses(
        scatter,
        &["with shape [2, 2], but the operation asks for [2, 3]"],
    );
    for indices in [vec![2, 3], vec![]] {
        let gather = |t: &mut Tensors| {
            let count = indices.iter().product();
            OperationIr::BaseFloat(BaseOperationIr::GatherNd(GatherNdOpIr {
                data: t.float(&[4]),
                indices: t.ints(&vec![0; count], &indices),
                out: out(t.id().value(), &[2], F32),
            }))
        };
        refuses(gather, &["is no coordinate in"]);
    }
}
