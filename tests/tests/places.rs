//! Where a tensor is held makes no difference: among the handles, near because it was written last or
//! is read often, in a slot of a replay. Ids that share a place, that no client counts up to, and that
//! are used again are held against a map.

use std::collections::HashMap;

use burn_backend::ops::FloatTensorOps;
use burn_backend::{DType, ExecutionError, TensorData};
use burn_flex::Flex;
use burn_interpreter::{CustomOpRegistry, Graph, Limits, TensorInterpreter};
use burn_ir::{
    CustomOpIr, GraphBindings, OperationIr, ScalarIr, TensorError, TensorId, TensorIr, TensorStatus,
};
use interpreter_tests::stream::{add, add_scalar, bindings, out, ro, rw};
use interpreter_tests::{Engine, quietly, read};
use proptest::prelude::*;

const F32: DType = DType::F32;
const ONE: ScalarIr = ScalarIr::Float(1.0);

/// Some have the same last bits, some are near the highest, some are those of the interpreter itself.
const IDS: [u64; 16] = [
    1,
    2,
    65,
    66,
    129,
    257,
    1 << 20,
    (1 << 20) + 1,
    (1 << 62) - 1,
    1 << 62,
    (1 << 62) + 1,
    (1 << 63) - 1,
    1 << 63,
    (1 << 63) + 1,
    u64::MAX - 64,
    u64::MAX,
];

#[derive(Clone, Debug)]
enum Step {
    Upload(u64),
    /// One more than the input, which is consumed or not.
    Next(u64, bool, u64),
    Sum(u64, u64, bool, u64),
    /// The input is read so often that it is worth keeping near.
    ReadOften(u64, u64),
    Drop(u64),
    Alias(u64, u64),
    Fail(u64),
    /// One more than the input, by a handler.
    Custom(u64, bool, u64),
    /// Two more than the input, by a graph with a custom operation or without.
    Replay(u64, bool, u64, bool),
    /// The sum of two, and that of what they are then: both outputs are bound, or the first.
    SumTwice([u64; 2], u64, Option<u64>),
    Read(u64, bool),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let id = || prop::sample::select(&IDS[..]);
    let is = any::<bool>;
    let step = prop_oneof![
        3 => id().prop_map(Step::Upload),
        6 => (id(), is(), id()).prop_map(|(input, last, out)| Step::Next(input, last, out)),
        3 => (id(), id(), is(), id()).prop_map(|(lhs, rhs, last, out)| Step::Sum(lhs, rhs, last, out)),
        2 => (id(), id()).prop_map(|(input, out)| Step::ReadOften(input, out)),
        2 => id().prop_map(Step::Drop),
        1 => (id(), id()).prop_map(|(to, from)| Step::Alias(to, from)),
        1 => id().prop_map(Step::Fail),
        2 => (id(), is(), id()).prop_map(|(input, last, out)| Step::Custom(input, last, out)),
        3 => (id(), is(), id(), is())
            .prop_map(|(input, last, out, custom)| Step::Replay(input, last, out, custom)),
        4 => ([id(), id()], id(), prop::option::of(id()))
            .prop_map(|(inputs, first, second)| Step::SumTwice(inputs, first, second)),
        2 => (id(), is()).prop_map(|(id, last)| Step::Read(id, last)),
    ];
    prop::collection::vec(step, 1..80)
}

/// The interpreter, and what it should hold: a number or, as `None`, an error.
struct Pair {
    interpreter: TensorInterpreter<Flex>,
    model: HashMap<u64, Option<f32>>,
    uploads: f32,
}

fn registry() -> CustomOpRegistry<Flex> {
    let mut registry = CustomOpRegistry::new();
    registry.register("next", |handles, op: &CustomOpIr, _| {
        let input = handles.get_float_tensor::<Flex>(&op.inputs[0]);
        let next = Flex::float_add_scalar(input, 1.0.into());
        handles.register_float_tensor::<Flex>(&op.outputs[0].id, next);
    });
    registry
}

fn input(id: u64, is_last: bool) -> TensorIr {
    match is_last {
        true => rw(id, &[1], F32),
        false => ro(id, &[1], F32),
    }
}

fn output(id: u64) -> TensorIr {
    out(id, &[1], F32)
}

impl Pair {
    fn new(limits: Limits) -> Self {
        let interpreter = TensorInterpreter::with_custom_ops(Default::default(), registry());
        Self {
            interpreter: interpreter.with_limits(limits),
            model: HashMap::new(),
            uploads: 0.0,
        }
    }

    /// The number that `id` holds; it is consumed at its last use.
    fn take(&mut self, id: u64, is_last: bool) -> Option<f32> {
        match is_last {
            true => self.model.remove(&id).flatten(),
            false => self.model.get(&id).copied().flatten(),
        }
    }

    fn execute(&mut self, op: OperationIr) {
        quietly(|| self.interpreter.register_op(op));
    }

    fn step(&mut self, step: &Step) -> Result<(), TestCaseError> {
        match *step {
            Step::Upload(id) => {
                self.uploads += 100.0;
                let data = TensorData::from([self.uploads]);
                self.interpreter
                    .register_tensor_data_id(TensorId::new(id), data);
                self.model.insert(id, Some(self.uploads));
            }
            Step::Next(id, is_last, out) => {
                self.execute(add_scalar(input(id, is_last), ONE, output(out)));
                let next = self.take(id, is_last).map(|value| value + 1.0);
                self.model.insert(out, next);
            }
            Step::Sum(lhs, rhs, is_last, out) => {
                self.execute(add(ro(lhs, &[1], F32), input(rhs, is_last), output(out)));
                let lhs = self.take(lhs, false);
                let sum = self.take(rhs, is_last).zip(lhs).map(|(rhs, lhs)| lhs + rhs);
                self.model.insert(out, sum);
            }
            Step::ReadOften(id, out) => {
                for _ in 0..7 {
                    self.step(&Step::Next(id, false, out))?;
                }
            }
            Step::Drop(id) => {
                self.execute(OperationIr::Drop(rw(id, &[1], F32)));
                self.model.remove(&id);
            }
            Step::Alias(to, from) => {
                self.interpreter
                    .register_alias(TensorId::new(to), TensorId::new(from));
                let value = self.take(from, false);
                self.model.insert(to, value);
            }
            Step::Fail(id) => {
                let error = TensorError::new(ExecutionError::generic("it is lost"));
                self.interpreter.set_error(TensorId::new(id), error);
                self.model.insert(id, None);
            }
            Step::Custom(id, is_last, out) => {
                let op = CustomOpIr::new("next", &[input(id, is_last)], &[output(out)]);
                self.execute(OperationIr::Custom(op));
                let next = self.take(id, is_last).map(|value| value + 1.0);
                self.model.insert(out, next);
            }
            Step::Replay(id, is_last, out, is_custom) => {
                let bindings = bindings(&[(0, id), (2, out)], &[1], &[ONE]);
                let graph = usize::from(is_last) + 2 * usize::from(is_custom);
                self.replay(graph, bindings);
                let next = self.take(id, is_last).map(|value| value + 2.0);
                self.model.insert(out, next);
            }
            Step::SumTwice(inputs, first, second) => {
                let [lhs, rhs] = inputs;
                let mut tensors = vec![(0, lhs), (1, rhs), (2, first)];
                tensors.extend(second.map(|second| (3, second)));
                self.replay(SUM_TWICE, bindings(&tensors, &[1], &[]));
                for out in [Some(first), second].into_iter().flatten() {
                    let [lhs, rhs] = inputs.map(|id| self.take(id, false));
                    let sum = lhs.zip(rhs).map(|(lhs, rhs)| lhs + rhs);
                    self.model.insert(out, sum);
                }
            }
            Step::Read(id, is_last) => {
                let read = self.interpreter.read(input(id, is_last));
                self.assert_reads(id, read)?;
                if is_last {
                    self.model.remove(&id);
                }
            }
        }
        prop_assert_eq!(self.interpreter.num_handles(), self.model.len());
        let live = self.model.values().flatten().count();
        prop_assert_eq!(self.interpreter.live_tensors(), live);
        prop_assert_eq!(self.interpreter.live_bytes(), 4 * live as u64);
        Ok(())
    }

    fn replay(&mut self, graph: usize, bindings: GraphBindings) {
        GRAPHS.with(|graphs| quietly(|| graphs[graph].replay(&mut self.interpreter, bindings)));
    }

    fn assert_reads(&self, id: u64, read: Result<TensorData, String>) -> Result<(), TestCaseError> {
        let number = read.map(|data| data.iter::<f32>().next());
        let expected = self.model.get(&id).copied().flatten();
        prop_assert_eq!(number.ok().flatten(), expected, "tensor {}", id);
        Ok(())
    }
}

const SUM_TWICE: usize = 4;

thread_local! {
    /// Replayed again and again, by one interpreter after the other.
    static GRAPHS: [Graph; 5] = [
        graph(false, false),
        graph(true, false),
        graph(false, true),
        graph(true, true),
        sum_twice(),
    ];
}

fn relative(tensor: TensorIr) -> TensorIr {
    TensorIr {
        shape: [0].into(),
        ..tensor
    }
}

fn sum_twice() -> Graph {
    let input = |id| relative(ro(id, &[0], F32));
    let sum = |out| add(input(0), input(1), relative(output(out)));
    Graph::new(vec![sum(2), sum(3)])
}

/// The input, and two more.
fn graph(is_last: bool, is_custom: bool) -> Graph {
    let scalar = ScalarIr::UInt(0);
    let first = add_scalar(relative(input(0, is_last)), scalar, relative(output(1)));
    let (input, output) = (relative(rw(1, &[1], F32)), relative(output(2)));
    let second = match is_custom {
        true => OperationIr::Custom(CustomOpIr::new("next", &[input], &[output])),
        false => add_scalar(input, scalar, output),
    };
    Graph::new(vec![first, second])
}

fn run(steps: &[Step], limits: Limits) -> Result<(), TestCaseError> {
    let mut pair = Pair::new(limits);
    for step in steps {
        pair.step(step)?;
    }
    for id in IDS {
        let tensor = ro(id, &[1], F32);
        let read = read(&mut pair.interpreter, &tensor);
        pair.assert_reads(id, read)?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn it_makes_no_difference_where_a_tensor_is(steps in steps()) {
        run(&steps, Limits::default())?;
    }

    #[test]
    fn nor_when_limits_count(steps in steps()) {
        run(&steps, Limits::default().max_live_bytes(1 << 20))?;
    }
}

/// More tensors than there are places, all of them read again and again.
#[test]
fn more_tensors_than_places() {
    let mut pair = Pair::new(Limits::default());
    let ids = 1..=300;
    for id in ids.clone() {
        pair.step(&Step::Upload(id)).expect("uploaded");
        pair.step(&Step::Next(id, true, 1_000 + id))
            .expect("written");
    }
    for round in 0..20 {
        for id in ids.clone() {
            let written = Step::Sum(1_000 + id, 1_000 + (id * 7) % 300 + 1, false, 2_000 + id);
            pair.step(&written).expect("both are read");
            let is_last = round % 2 == 0;
            pair.step(&Step::Read(2_000 + id, is_last))
                .expect("the sum is right");
        }
    }
}

/// A handler finds every tensor, wherever it was before.
#[test]
fn a_handler_finds_all_tensors() {
    let mut registry = registry();
    registry.register("count", |handles, op: &CustomOpIr, device| {
        let count = handles.num_handles() as f32;
        let has_all = (1..=5).all(|id| handles.has_handle(&TensorId::new(id)));
        assert!(has_all, "a tensor is not there");
        let count = Flex::float_from_data(TensorData::from([count]), device);
        handles.register_float_tensor::<Flex>(&op.outputs[0].id, count);
    });
    let mut interpreter = TensorInterpreter::<Flex>::with_custom_ops(Default::default(), registry);
    interpreter.register_tensor_data_id(TensorId::new(1), TensorData::from([1.0f32]));
    for _ in 0..6 {
        // Tensor 1 is kept near, and the outputs are.
        for id in 2..=5 {
            interpreter.register_op(add_scalar(ro(1, &[1], F32), ONE, output(id)));
        }
    }
    let op = CustomOpIr::new("count", &[], &[output(6)]);
    interpreter
        .try_register_op(OperationIr::Custom(op))
        .expect("all are there");
    let count = interpreter.read(TensorIr {
        status: TensorStatus::ReadWrite,
        ..output(6)
    });
    assert_eq!(count.map(|data| data.iter::<f32>().next()), Ok(Some(5.0)));
}
