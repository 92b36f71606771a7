//! Graphs: binding the relative form, replaying it, and bindings that do not fit.

use burn_backend::{DType, Shape, Slice, TensorData};
use burn_flex::Flex;
use burn_interpreter::{BindingError, Graph, TensorInterpreter};
use burn_ir::{
    BaseOperationIr, CustomOpIr, GraphBindings, NumericOperationIr, OperationIr, PadModeIr,
    PadOpIr, ScalarIr, SliceOpIr, TensorId, TensorIr, TensorStatus,
};
use interpreter_tests::stream::{add_scalar, bindings, floats, mul, out, ro, rw, with_floats};

const F32: DType = DType::F32;

fn id(id: u64) -> TensorId {
    TensorId::new(id)
}

/// `0 + scalar` is 1, `0 * 1` is 2; dim 0 is the length.
fn shifted_product(last: TensorIr) -> Graph {
    Graph::new(vec![
        add_scalar(ro(0, &[0], F32), ScalarIr::UInt(0), out(1, &[0], F32)),
        mul(last, rw(1, &[0], F32), out(2, &[0], F32)),
    ])
}

#[test]
fn binding_puts_ids_dims_scalars_and_ranges_in_place() {
    let slice = SliceOpIr {
        tensor: ro(0, &[0, 1], F32),
        ranges: vec![Slice::new(0, None, 1)],
        out: out(1, &[2, 1], F32),
    };
    let custom = CustomOpIr::with_scalars(
        "custom",
        &[ro(1, &[2, 1], F32)],
        &[out(2, &[2, 1], F32)],
        vec![ScalarIr::UInt(0), ScalarIr::Float(0.5)],
    );
    let graph = Graph::new(vec![
        OperationIr::BaseFloat(BaseOperationIr::Slice(slice)),
        OperationIr::Custom(custom),
    ]);
    assert_eq!((graph.len(), graph.is_empty()), (2, false));
    assert_eq!(
        (graph.inputs(), graph.outputs()),
        (&[id(0)][..], &[id(1), id(2)][..])
    );

    let range = Slice::new(2, Some(8), 2);
    let mut bindings = bindings(&[(0, 100), (2, 102)], &[8, 4, 3], &[ScalarIr::UInt(7)]);
    bindings.ranges = vec![range];
    for bound in [
        graph.bind(bindings.clone()),
        graph.try_bind(bindings).expect("they fit"),
    ] {
        let OperationIr::BaseFloat(BaseOperationIr::Slice(slice)) = &bound.operations[0] else {
            panic!("the first operation is a slice");
        };
        let OperationIr::Custom(custom) = &bound.operations[1] else {
            panic!("the second operation is custom");
        };
        assert_eq!((slice.tensor.id, custom.outputs[0].id), (id(100), id(102)));
        assert_eq!(slice.tensor.shape, Shape::new([8, 4]));
        assert_eq!(slice.ranges, [range]);
        assert_eq!(slice.out.shape, Shape::new([3, 4]));
        // One id for all uses of the intermediate, and not the relative one.
        assert_eq!(slice.out.id, custom.inputs[0].id);
        assert_ne!(slice.out.id, id(1));
        // A bound scalar is not looked up again, a literal stays.
        assert_eq!(custom.scalars, [ScalarIr::UInt(7), ScalarIr::Float(0.5)]);
        assert_eq!(bound.inputs, [id(100)]);
    }
}

#[test]
fn the_constant_of_a_pad_is_a_scalar() {
    let pad = PadOpIr {
        input: ro(0, &[0], F32),
        out: out(1, &[1], F32),
        padding: vec![(1, 0)],
        mode: PadModeIr::Constant(ScalarIr::UInt(0)),
    };
    let graph = Graph::new(vec![OperationIr::NumericFloat(
        F32,
        NumericOperationIr::Pad(pad),
    )]);
    let mut interpreter = with_floats::<Flex>(&[&[1.0, 2.0]]);
    let scalars = [ScalarIr::Float(6.5)];
    graph.replay(
        &mut interpreter,
        bindings(&[(0, 1), (1, 9)], &[2, 3], &scalars),
    );
    assert_eq!(floats(&mut interpreter, 9, 3), Ok(vec![6.5, 1.0, 2.0]));
}

#[test]
fn every_binding_has_intermediates_of_its_own() {
    let graph = shifted_product(ro(0, &[0], F32));
    let intermediate = |output| {
        let bound = graph.bind(bindings(
            &[(0, 1), (2, output)],
            &[2],
            &[ScalarIr::Float(1.0)],
        ));
        let first = bound.operations[0].outputs().next().map(|tensor| tensor.id);
        first.expect("the first operation has an output")
    };
    assert_ne!(intermediate(10), intermediate(11));
}

#[test]
fn b28_an_input_that_stays_is_there_after_every_replay() {
    let graph = shifted_product(ro(0, &[0], F32));
    let mut interpreter = with_floats::<Flex>(&[&[1.0, 2.0]]);
    for (replay, output) in [201, 202].into_iter().enumerate() {
        let scalars = [ScalarIr::Float(1.0)];
        graph.replay(
            &mut interpreter,
            bindings(&[(0, 1), (2, output)], &[2], &scalars),
        );
        assert_eq!(floats(&mut interpreter, output, 2), Ok(vec![2.0, 6.0]));
        assert_eq!(floats(&mut interpreter, 1, 2), Ok(vec![1.0, 2.0]));
        assert_eq!(interpreter.num_handles(), 2 + replay);
    }
}

#[test]
fn an_input_at_its_last_use_is_gone_after_the_replay() {
    let graph = shifted_product(rw(0, &[0], F32));
    let mut interpreter = with_floats::<Flex>(&[&[1.0, 2.0]]);
    graph.replay(
        &mut interpreter,
        bindings(&[(0, 1), (2, 9)], &[2], &[ScalarIr::Float(1.0)]),
    );
    assert_eq!(floats(&mut interpreter, 9, 2), Ok(vec![2.0, 6.0]));
    assert_eq!(interpreter.num_handles(), 1);
}

#[test]
fn b14_intermediates_that_nothing_reads_do_not_pile_up() {
    let graph = Graph::new(vec![
        add_scalar(ro(0, &[0], F32), ScalarIr::Float(1.0), out(1, &[0], F32)),
        add_scalar(ro(0, &[0], F32), ScalarIr::Float(2.0), out(2, &[0], F32)),
    ]);
    let mut interpreter = with_floats::<Flex>(&[&[1.0]]);
    for _ in 0..1_000 {
        graph.replay(&mut interpreter, bindings(&[(0, 1), (2, 9)], &[1], &[]));
    }
    assert_eq!(interpreter.num_handles(), 2);
    assert_eq!(floats(&mut interpreter, 9, 1), Ok(vec![3.0]));
}

/// A replay with bindings that do not fit changes nothing, but that the outputs hold the reason.
fn assert_refused(graph: &Graph, bindings: GraphBindings, error: &BindingError, reason: &str) {
    let mut interpreter = with_floats::<Flex>(&[&[1.0, 2.0]]);
    assert_eq!(graph.try_bind(bindings.clone()).as_ref(), Err(error));
    assert_eq!(
        graph
            .try_replay(&mut interpreter, bindings.clone())
            .as_ref(),
        Err(error)
    );
    assert_eq!(interpreter.num_handles(), 1);
    graph.replay(&mut interpreter, bindings);
    let message = floats(&mut interpreter, 102, 2).expect_err("nothing was replayed");
    assert!(message.contains(reason), "{message}");
    assert_eq!(floats(&mut interpreter, 1, 2), Ok(vec![1.0, 2.0]));
    assert_eq!(interpreter.num_handles(), 2);
}

#[test]
fn b73_an_input_without_a_tensor() {
    let graph = Graph::new(vec![mul(
        rw(0, &[0], F32),
        ro(1, &[0], F32),
        out(2, &[0], F32),
    )]);
    let error = BindingError::UnboundInput { relative: id(1) };
    assert_refused(
        &graph,
        bindings(&[(0, 1), (2, 102)], &[2], &[]),
        &error,
        "TensorId(1)",
    );
}

/// So many inputs, looked for one by one among as many tensors, would take days.
#[test]
fn a_graph_with_many_inputs_is_bound_at_once() {
    let ids = || (0..400_000).rev();
    let ops = ids()
        .map(|id| OperationIr::Drop(rw(id, &[], F32)))
        .collect();
    let graph = Graph::new(ops);
    let pairs: Vec<(u64, u64)> = ids().rev().map(|id| (id, id)).collect();
    let bound = graph.try_bind(bindings(&pairs, &[], &[]));
    assert_eq!(bound.map(|graph| graph.len()), Ok(400_000));
}

#[test]
fn b75_tables_that_are_too_short() {
    let scalar = Graph::new(vec![add_scalar(
        ro(0, &[0], F32),
        ScalarIr::UInt(3),
        out(2, &[0], F32),
    )]);
    let tensors = [(0, 1), (2, 102)];
    let error = BindingError::UnboundScalar {
        placeholder: 3,
        len: 1,
    };
    let scalars = [ScalarIr::Float(1.0)];
    assert_refused(
        &scalar,
        bindings(&tensors, &[2], &scalars),
        &error,
        "scalar 3",
    );

    let dim = Graph::new(vec![add_scalar(
        ro(0, &[4], F32),
        ScalarIr::Float(1.0),
        out(2, &[4], F32),
    )]);
    let error = BindingError::UnboundDim { index: 4, len: 1 };
    assert_refused(&dim, bindings(&tensors, &[2], &[]), &error, "dim 4");

    for placeholder in [2, -1] {
        let slice = SliceOpIr {
            tensor: ro(0, &[0], F32),
            ranges: vec![Slice::new(placeholder, None, 1)],
            out: out(2, &[0], F32),
        };
        let range = Graph::new(vec![OperationIr::BaseFloat(BaseOperationIr::Slice(slice))]);
        let error = BindingError::UnboundRange {
            placeholder,
            len: 0,
        };
        assert_refused(&range, bindings(&tensors, &[2], &[]), &error, "range");
    }
}

/// In the lenient form a placeholder that no table has is a literal, as in burn-router.
#[test]
fn binding_without_checks_leaves_what_the_tables_do_not_have() {
    let graph = Graph::new(vec![add_scalar(
        ro(0, &[0], F32),
        ScalarIr::UInt(3),
        out(2, &[0], F32),
    )]);
    let bound = graph.bind(bindings(&[(0, 1), (2, 9)], &[2], &[]));
    let OperationIr::NumericFloat(_, NumericOperationIr::AddScalar(op)) = &bound.operations[0]
    else {
        panic!("the operation adds a scalar");
    };
    assert_eq!(op.rhs, ScalarIr::UInt(3));
}

/// Ids that clients choose are not taken by intermediates, whichever they are.
#[test]
fn intermediates_never_collide_with_a_clients_ids() {
    let graph = shifted_product(ro(0, &[0], F32));
    let mut interpreter = TensorInterpreter::<Flex>::new(Default::default());
    let probe = graph.bind(bindings(&[(0, 1), (2, 9)], &[1], &[ScalarIr::Float(1.0)]));
    let last = probe.operations[0]
        .outputs()
        .next()
        .expect("an output")
        .id
        .value();
    for hostile in last..last + 64 {
        interpreter.register_tensor_data_id(id(hostile), TensorData::from([hostile as f32]));
    }
    let tensors = [(0, last), (2, last + 1)];
    graph.replay(
        &mut interpreter,
        bindings(&tensors, &[1], &[ScalarIr::Float(0.0)]),
    );
    let square = (last as f32) * (last as f32);
    assert_eq!(floats(&mut interpreter, last + 1, 1), Ok(vec![square]));
    for hostile in last + 2..last + 64 {
        assert_eq!(
            floats(&mut interpreter, hostile, 1),
            Ok(vec![hostile as f32])
        );
    }
    assert_eq!(interpreter.num_handles(), 64);
}

/// A failed operation inside a graph costs its own outputs, as in a stream.
#[test]
fn a_failure_in_a_graph_costs_its_outputs() {
    let graph = Graph::new(vec![
        add_scalar(ro(0, &[0], F32), ScalarIr::Float(1.0), out(2, &[0], F32)),
        add_scalar(ro(1, &[0], F32), ScalarIr::Float(1.0), out(3, &[0], F32)),
        add_scalar(rw(3, &[0], F32), ScalarIr::Float(1.0), out(4, &[0], F32)),
    ]);
    let mut interpreter = with_floats::<Flex>(&[&[1.0]]);
    graph.replay(
        &mut interpreter,
        bindings(&[(0, 1), (1, 77), (2, 102), (4, 104)], &[1], &[]),
    );
    assert_eq!(floats(&mut interpreter, 102, 1), Ok(vec![2.0]));
    let message = floats(&mut interpreter, 104, 1).expect_err("its source never was");
    assert!(message.contains("TensorId(77)"), "{message}");
    assert_eq!(interpreter.num_handles(), 3);
}

/// The statuses in a relative graph are those of its owner.
#[test]
fn statuses_are_kept() {
    let graph = shifted_product(ro(0, &[0], F32));
    let bound = graph.bind(bindings(&[(0, 1), (2, 9)], &[1], &[ScalarIr::Float(1.0)]));
    let statuses: Vec<_> = bound.operations[1]
        .inputs()
        .map(|input| input.status)
        .collect();
    assert_eq!(statuses, [TensorStatus::ReadOnly, TensorStatus::ReadWrite]);
}
