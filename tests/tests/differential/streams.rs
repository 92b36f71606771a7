//! Arbitrary streams, valid and broken, against a [model](interpreter_tests::model).
//!
//! The operations are those of the cases, so each row has its share. A stream mixes them with
//! aliases, drops, reads and graphs; a part of the operations is broken, in one number or in one
//! tensor. A stream that differs is brought down to a few steps, which are printed as code.
//!
//! By default a few thousand operations with a fixed seed; more, and others, with
//!
//! ```text
//! STREAM_OPS=1000000 STREAM_SEED=1 cargo test -p interpreter-tests --test differential streams
//! ```

use std::collections::BTreeMap;

use burn_backend::{Shape, Slice, TensorData};
use burn_interpreter::op_info;
use burn_ir::{
    BackendIr, CustomOpIr, GraphBindings, IrVisitorMut, OperationIr, ScalarIr, TensorId, TensorIr,
    TensorStatus,
};
use interpreter_tests::model::{Step, check};
use interpreter_tests::stream::{out, ro, rw};
use interpreter_tests::{Case, set_statuses};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::cases;

/// How many choices a stream is made of.
const LENGTH: usize = 40;

/// The numbers that stand for the choices of one step.
type Choice = [u32; 6];

/// The number that the environment gives, else the default.
pub(crate) fn number(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().expect("a number"),
        Err(_) => default,
    }
}

fn run_streams<B: BackendIr>(backend: &str) {
    let (ops, seed) = (number("STREAM_OPS", 4_000), number("STREAM_SEED", 0));
    let cases = cases();
    let choices = prop::collection::vec(any::<Choice>(), LENGTH / 2..LENGTH);
    let config = Config {
        cases: u32::try_from(ops as usize / LENGTH).expect("fewer operations"),
        failure_persistence: None,
        // The steps themselves are brought down: fewer choices are other steps.
        max_shrink_iters: 0,
        ..Config::default()
    };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let outcome = TestRunner::new_with_rng(config, rng).run(&choices, |choices| {
        let steps = Writer::new(&cases).stream(&choices);
        check::<B>(&steps, backend).map_err(TestCaseError::fail)
    });
    if let Err(proptest::test_runner::TestError::Fail(reason, _)) = outcome {
        panic!("a stream differs from its model: {reason}");
    }
}

#[test]
fn streams_on_flex() {
    run_streams::<burn_flex::Flex>("Flex");
}

#[test]
fn streams_on_ndarray() {
    run_streams::<burn_ndarray::NdArray>("NdArray");
}

/// Writes streams.
struct Writer<'c> {
    cases: &'c [Case],
    steps: Vec<Step>,
    /// The tensors that should hold data.
    live: Vec<TensorIr>,
    /// Ids that hold an error or nothing.
    lost: Vec<TensorId>,
    next: u64,
}

impl<'c> Writer<'c> {
    fn new(cases: &'c [Case]) -> Self {
        Self {
            cases,
            steps: Vec::new(),
            live: Vec::new(),
            lost: vec![TensorId::new(u64::MAX), TensorId::new(1 << 63)],
            next: 0,
        }
    }

    fn stream(mut self, choices: &[Choice]) -> Vec<Step> {
        for choice in choices {
            self.choose(choice);
        }
        self.steps
    }

    fn choose(&mut self, choice: &Choice) {
        let [what, which, status, how, value, _] = *choice;
        match what % 20 {
            0..8 => {
                let op = self.op(which, status);
                self.execute(op);
            }
            8..12 => {
                let op = self.op(which, status);
                let op = with_another_number(&op, how, value).unwrap_or(op);
                self.break_off(op);
            }
            12 => {
                let mut op = self.op(which, status);
                let lost = self.lost[value as usize % self.lost.len()];
                let inputs: Vec<_> = op.inputs().map(|input| input.id).collect();
                if let Some(id) = pick(&inputs, how) {
                    rename(&mut op, id, lost);
                }
                self.break_off(op);
            }
            13 => {
                // An output takes the place of another tensor, of an input too.
                let mut op = self.op(which, status);
                let outputs: Vec<_> = op.outputs().map(|output| output.id).collect();
                let old = pick(&self.live, value).map(|tensor| tensor.id);
                if let Some((new, old)) = pick(&outputs, how).zip(old) {
                    rename(&mut op, new, old);
                    self.live.retain(|tensor| tensor.id != old);
                }
                self.execute(op);
            }
            14 => {
                if let Some(tensor) = pick(&self.live, which) {
                    let alias = TensorIr {
                        id: self.fresh(),
                        ..tensor.clone()
                    };
                    self.steps.push(Step::Alias(alias.id, tensor.id));
                    self.live.push(alias);
                }
            }
            15 => {
                let to = self.fresh();
                let from = self.lost[which as usize % self.lost.len()];
                self.steps.push(Step::Alias(to, from));
                self.lost.push(to);
            }
            16 => {
                let lost = pick(&self.lost, which);
                let live = pick(&self.live, which).map(|tensor| tensor.id);
                let id = if status % 4 == 0 { lost } else { live };
                if let Some(id) = id {
                    self.live.retain(|tensor| tensor.id != id);
                    self.lost.push(id);
                    let tensor = rw(id.value(), &[], burn_backend::DType::F32);
                    self.steps
                        .push(Step::Op(Box::new(OperationIr::Drop(tensor))));
                }
            }
            17 => {
                if let Some(mut tensor) = pick(&self.live, which) {
                    tensor.status = statuses(status)[0];
                    if tensor.status == TensorStatus::ReadWrite {
                        self.live.retain(|other| other.id != tensor.id);
                    }
                    self.steps.push(Step::Read(tensor));
                }
            }
            18 => {
                let input = pick(&self.live, which)
                    .unwrap_or_else(|| ro(7, &[1], burn_backend::DType::F32));
                let output = out(self.fresh().value(), &input.shape, input.dtype);
                let op = CustomOpIr::new("nobody's", &[input], &[output]);
                self.break_off(OperationIr::Custom(op));
            }
            _ => self.graph(choice),
        }
    }

    /// The operation of a case, on live tensors where they fit, else on uploaded ones.
    fn op(&mut self, which: u32, status: u32) -> OperationIr {
        let case = &self.cases[which as usize % self.cases.len()];
        let mut op = case.op.clone();
        let mut ids = Vec::new();
        for (position, (id, data)) in case.inputs.iter().enumerate() {
            let reuse = (status >> (position % 16)).is_multiple_of(4);
            let live = self.live.iter().rev().find(|tensor| {
                reuse && tensor.shape == *data.shape() && tensor.dtype == data.dtype()
            });
            let new = match live {
                // What an index points to must not change.
                Some(tensor) if !data.dtype().is_int() && !data.dtype().is_uint() => tensor.id,
                _ => self.upload(data.clone()),
            };
            ids.push((*id, new));
        }
        let outputs: Vec<_> = op.outputs().map(|output| output.id).collect();
        for output in outputs {
            ids.push((output, self.fresh()));
        }
        rename_all(&mut op, &ids.iter().copied().collect());
        let inputs: Vec<_> = op.inputs().map(|input| input.id).collect();
        set_statuses(&mut op, &inputs, statuses(status >> 16)[0]);
        op
    }

    /// Execute an operation that should succeed.
    fn execute(&mut self, op: OperationIr) {
        self.settle(&op);
        let outputs = op.outputs().cloned().map(|output| TensorIr {
            status: TensorStatus::ReadOnly,
            ..output
        });
        self.live.extend(outputs);
        self.steps.push(Step::Op(Box::new(op)));
    }

    /// Execute an operation that should fail.
    fn break_off(&mut self, op: OperationIr) {
        self.settle(&op);
        self.lost.extend(op.outputs().map(|output| output.id));
        self.steps.push(Step::Op(Box::new(op)));
    }

    /// What is used for the last time is gone.
    fn settle(&mut self, op: &OperationIr) {
        for input in op.inputs() {
            if input.status == TensorStatus::ReadWrite {
                self.live.retain(|tensor| tensor.id != input.id);
                self.lost.push(input.id);
            }
        }
    }

    /// A graph of some operations, with bindings that fit, or not quite.
    fn graph(&mut self, choice: &Choice) {
        let [_, which, status, how, value, count] = *choice;
        let ops: Vec<_> = (0..1 + count % 3)
            .map(|position| self.op(which.wrapping_add(position * 97), status & 0xffff))
            // Where a graph draws a number depends on what it drew before.
            .filter(|op| !op_info(op).variant.ends_with("Random"))
            .collect();
        let (ops, mut bindings, outputs) = Relative::of(ops);
        match how % 8 {
            0 => drop(bindings.tensors.pop()),
            1 => drop(bindings.shapes.pop()),
            2 => drop(bindings.scalars.pop()),
            3 => drop(bindings.ranges.pop()),
            // An output that is not bound is an intermediate.
            4 => bindings
                .tensors
                .retain(|(_, id)| !outputs.iter().any(|output| output.id == *id) || value % 2 == 0),
            5 => {
                if let Some(size) = bindings.shapes.first_mut() {
                    *size = value as usize % 5;
                }
            }
            _ => {}
        }
        self.lost
            .extend(outputs.into_iter().map(|output| output.id));
        self.steps.push(Step::Replay(ops, bindings));
    }

    fn upload(&mut self, data: TensorData) -> TensorId {
        let id = self.fresh();
        self.live.push(ro(id.value(), data.shape(), data.dtype()));
        self.steps.push(Step::Upload(id, data));
        id
    }

    fn fresh(&mut self) -> TensorId {
        self.next += 1;
        TensorId::new(self.next)
    }
}

fn pick<T: Clone>(of: &[T], which: u32) -> Option<T> {
    of.get(which as usize % of.len().max(1)).cloned()
}

fn statuses(choice: u32) -> [TensorStatus; 1] {
    [match choice % 3 {
        0 => TensorStatus::ReadWrite,
        _ => TensorStatus::ReadOnly,
    }]
}

fn rename(op: &mut OperationIr, from: TensorId, to: TensorId) {
    rename_all(op, &BTreeMap::from([(from, to)]));
}

fn rename_all(op: &mut OperationIr, ids: &BTreeMap<TensorId, TensorId>) {
    struct Renamer<'i>(&'i BTreeMap<TensorId, TensorId>);
    impl IrVisitorMut for Renamer<'_> {
        fn visit_tensor_mut(&mut self, tensor: &mut TensorIr) {
            tensor.id = *self.0.get(&tensor.id).unwrap_or(&tensor.id);
        }
    }
    op.visit_mut(&mut Renamer(ids));
}

/// The operation with one of its numbers changed: a dim, an id, an axis, an option, a scalar.
fn with_another_number(op: &OperationIr, how: u32, value: u32) -> Option<OperationIr> {
    fn numbers(json: &mut serde_json::Value) -> Vec<&mut serde_json::Value> {
        match json {
            serde_json::Value::Number(_) => vec![json],
            serde_json::Value::Array(items) => items.iter_mut().flat_map(numbers).collect(),
            serde_json::Value::Object(items) => items.values_mut().flat_map(numbers).collect(),
            _ => Vec::new(),
        }
    }
    let others = [0, 1, 2, 3, 7, 255, 1 << 20, 1 << 40, i64::MAX, -1, i64::MIN];
    let mut json = serde_json::to_value(op).ok()?;
    let mut numbers = numbers(&mut json);
    let count = numbers.len().max(1);
    **numbers.get_mut(how as usize % count)? = others[value as usize % others.len()].into();
    serde_json::from_value(json).ok()
}

/// Brings operations into relative form.
#[derive(Default)]
pub(crate) struct Relative {
    ids: Vec<TensorId>,
    shapes: Vec<usize>,
    scalars: Vec<ScalarIr>,
    ranges: Vec<Slice>,
}

impl Relative {
    /// The operations in relative form, their bindings, and their outputs.
    pub(crate) fn of(
        mut ops: Vec<OperationIr>,
    ) -> (Vec<OperationIr>, GraphBindings, Vec<TensorIr>) {
        let outputs = ops.iter().flat_map(OperationIr::outputs).cloned().collect();
        let mut relative = Self::default();
        for op in &mut ops {
            op.visit_mut(&mut relative);
        }
        let relative_ids = (0..).map(TensorId::new);
        let bindings = GraphBindings {
            tensors: relative_ids.zip(relative.ids).collect(),
            shapes: relative.shapes,
            scalars: relative.scalars,
            ranges: relative.ranges,
        };
        (ops, bindings, outputs)
    }
}

/// Where `item` stands in `table`, which has it from now on.
fn index_in<T: PartialEq>(table: &mut Vec<T>, item: T) -> usize {
    let found = table.iter().position(|other| *other == item);
    found.unwrap_or_else(|| {
        table.push(item);
        table.len() - 1
    })
}

impl IrVisitorMut for Relative {
    fn visit_tensor_mut(&mut self, tensor: &mut TensorIr) {
        tensor.id = TensorId::new(index_in(&mut self.ids, tensor.id) as u64);
        let dims = tensor.shape.iter();
        let dims: Vec<_> = dims.map(|dim| index_in(&mut self.shapes, *dim)).collect();
        tensor.shape = Shape::from(dims);
    }

    fn visit_scalar_mut(&mut self, scalar: &mut ScalarIr) {
        self.scalars.push(*scalar);
        *scalar = ScalarIr::UInt(self.scalars.len() as u64 - 1);
    }

    fn visit_range_mut(&mut self, range: &mut Slice) {
        self.ranges.push(*range);
        range.start = self.ranges.len() as isize - 1;
    }
}
