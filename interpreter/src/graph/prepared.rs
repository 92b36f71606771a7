//! A graph made ready to be replayed: what every replay would find out anew is found out once.
//!
//! The operations have slots in place of ids, see [`Slots`](crate::slots::Slots), and the dims,
//! scalars and ranges of the replay before. Those are put in place anew only where they differ.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::any::TypeId;

use burn_backend::{DType, Shape, Slice};
use burn_ir::{
    BackendIr, GraphBindings, GraphIr, IrVisitorMut, OperationIr, ScalarIr, TensorId, TensorIr,
};
use hashbrown::HashMap;
use portable_atomic::{AtomicU64, Ordering};

use crate::context::Context;
use crate::error::OpError;
use crate::graph::customs::Custom;
use crate::guard::guard;
use crate::limits::{Limits, asked};

pub(crate) struct Prepared {
    /// It tells whether slots are bound for this graph, with these dims and this order.
    number: u64,
    operations: Vec<OperationIr>,
    slots: HashMap<TensorId, usize>,
    /// The tensors of the bindings in the order that they stood in the last time, with their slots.
    order: Vec<(TensorId, Option<usize>)>,
    /// Whether all inputs are among them.
    is_complete: bool,
    /// The slots of the graph's inputs, in their order.
    inputs: Vec<usize>,
    /// The ids that others know the slots by, unless that is of no importance.
    names: Option<Vec<TensorId>>,
    /// Whether all uses of a tensor declare the same dtype and dims.
    is_uniform: bool,
    dims: Table<usize>,
    scalars: Table<ScalarIr>,
    ranges: Table<Slice>,
    /// The operations that have scalars or ranges.
    varying: Vec<usize>,
    /// The slots of the tensors that custom operations read or write, each once.
    of_custom: Vec<usize>,
    /// The slots of the outputs of operations that have several.
    several: Vec<Vec<usize>>,
    /// Those of which several are bound.
    several_bound: Vec<Vec<usize>>,
    /// Whether no operation is a custom one or a `Drop`.
    is_plain: bool,
    /// The custom operations, in their order.
    customs: Vec<Custom>,
    /// The backend and the limits that the operations, as they are, passed all checks with.
    checked: Option<(TypeId, Limits)>,
}

static NUMBERS: AtomicU64 = AtomicU64::new(1);

/// A number that no graph has had.
fn next_number() -> u64 {
    NUMBERS.fetch_add(1, Ordering::Relaxed)
}

/// What the bindings give by index, and where it belongs.
struct Table<T> {
    /// The index of each place, in the order that operations are visited in; `None` for a literal.
    places: Vec<Option<usize>>,
    /// The bound values; `None` before the first replay.
    bound: Option<Vec<T>>,
    /// How many values there must be.
    len: usize,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self {
            places: Vec::new(),
            bound: None,
            len: 0,
        }
    }
}

impl<T: Clone> Table<T> {
    /// One more place, which takes the value of an index.
    fn add(&mut self, index: usize) {
        self.places.push(Some(index));
        self.len = self.len.max(index.saturating_add(1));
    }

    fn add_literal(&mut self) {
        self.places.push(None);
    }

    /// Whether the values differ from those in place; they are in place now.
    fn changes(&mut self, values: &[T], is_same: impl Fn(&T, &T) -> bool) -> bool {
        if let Some(bound) = &self.bound
            && bound.len() == values.len()
            && bound
                .iter()
                .zip(values)
                .all(|(one, other)| is_same(one, other))
        {
            return false;
        }
        let bound = self.bound.get_or_insert_default();
        bound.clear();
        bound.extend_from_slice(values);
        true
    }

    /// The value of the place.
    fn value(&self, place: &mut usize) -> Option<&T> {
        let index = self.places.get(*place).copied().flatten();
        *place += 1;
        self.bound.as_ref()?.get(index?)
    }
}

impl Prepared {
    /// A graph in relative form.
    pub(crate) fn new(graph: &GraphIr) -> Self {
        Self::of(graph, Preparer::new(true))
    }

    /// A graph in which ids, dims, scalars and ranges are what they are.
    #[cfg(feature = "std")]
    pub(crate) fn concrete(graph: &GraphIr) -> Self {
        let mut prepared = Self::of(graph, Preparer::new(false));
        let mut names: Vec<(usize, TensorId)> = prepared
            .slots
            .iter()
            .map(|(id, slot)| (*slot, *id))
            .collect();
        names.sort_unstable();
        prepared.names = Some(names.into_iter().map(|(_, id)| id).collect());
        prepared
    }

    fn of(graph: &GraphIr, mut preparer: Preparer) -> Self {
        let mut operations = graph.operations.clone();
        let mut varying = Vec::new();
        for (position, operation) in operations.iter_mut().enumerate() {
            let count =
                |preparer: &Preparer| preparer.scalars.places.len() + preparer.ranges.places.len();
            let before = count(&preparer);
            operation.visit_mut(&mut preparer);
            if count(&preparer) > before {
                varying.push(position);
            }
        }
        let slots = preparer.slots;
        let customs = Custom::all(&operations);
        let is_plain =
            |op: &OperationIr| !matches!(op, OperationIr::Custom(_) | OperationIr::Drop(_));
        let is_plain = operations.iter().all(is_plain);
        let of_custom = operations
            .iter()
            .filter(|op| matches!(op, OperationIr::Custom(_)));
        let slot = |tensor: &TensorIr| tensor.id.value() as usize;
        let several = operations.iter().map(|op| op.outputs().map(slot).collect());
        let several = several.filter(|outputs: &Vec<usize>| outputs.len() > 1);
        let several = several.collect();
        let of_custom: BTreeSet<usize> = of_custom
            .flat_map(|op| op.inputs().chain(op.outputs()))
            .map(|tensor| tensor.id.value() as usize)
            .collect();
        Self {
            number: next_number(),
            operations,
            inputs: graph
                .inputs
                .iter()
                .filter_map(|input| slots.get(input).copied())
                .collect(),
            slots,
            order: Vec::new(),
            is_complete: false,
            names: None,
            is_uniform: preparer.is_uniform,
            dims: preparer.dims,
            scalars: preparer.scalars,
            ranges: preparer.ranges,
            varying,
            of_custom: of_custom.into_iter().collect(),
            several,
            several_bound: Vec::new(),
            is_plain,
            customs,
            checked: None,
        }
    }

    /// Bind the graph to one invocation, if the bindings fit; nothing changes if they do not.
    pub(crate) fn bind<B: BackendIr>(
        &mut self,
        ctx: &mut Context<B>,
        bindings: &GraphBindings,
    ) -> bool {
        let GraphBindings {
            tensors,
            shapes,
            scalars,
            ranges,
        } = bindings;
        if shapes.len() < self.dims.len
            || scalars.len() < self.scalars.len
            || ranges.len() < self.ranges.len
        {
            return false;
        }
        let dims = self.dims.changes(shapes, usize::eq);
        let others =
            self.scalars.changes(scalars, is_same_scalar) | self.ranges.changes(ranges, Slice::eq);
        if dims || others {
            self.put_in_place(dims);
        }
        let is_checked = self.checked == Some((TypeId::of::<B>(), ctx.limits));
        ctx.slots
            .open(self.slots.len(), self.is_uniform, is_checked);
        if ctx.live_bytes.is_counting() {
            ctx.slots.distrust();
        }
        if let Some(names) = &self.names {
            ctx.slots.give_names(names);
        }
        if !self.bind_again(ctx, tensors) && !self.bind_anew(ctx, tensors) {
            return false;
        }
        if !self.customs.is_empty() {
            ctx.bind_own(&self.of_custom);
            for custom in &mut self.customs {
                custom.bind(&self.operations, ctx);
            }
        }
        true
    }

    /// Bind the tensors, if the slots are bound for them.
    fn bind_again<B: BackendIr>(
        &self,
        ctx: &mut Context<B>,
        tensors: &[(TensorId, TensorId)],
    ) -> bool {
        if !ctx.slots.are_of(self.number) || tensors.len() != self.order.len() {
            return false;
        }
        for ((relative, concrete), (known, slot)) in tensors.iter().zip(&self.order) {
            match slot {
                _ if relative != known => return false,
                Some(slot) => ctx.slots.bind_again(*slot, *concrete),
                None => (),
            }
        }
        true
    }

    /// Bind the tensors, if all inputs are among them.
    fn bind_anew<B: BackendIr>(
        &mut self,
        ctx: &mut Context<B>,
        tensors: &[(TensorId, TensorId)],
    ) -> bool {
        let relatives = || tensors.iter().map(|(relative, _)| relative);
        let is_as_before = self.is_complete && relatives().eq(self.order.iter().map(|(id, _)| id));
        if !is_as_before {
            self.put_in_order(relatives());
        }
        ctx.slots.begin_binding(self.number);
        for ((_, concrete), (_, slot)) in tensors.iter().zip(&self.order) {
            if let Some(slot) = slot {
                ctx.slots.bind(*slot, *concrete);
            }
        }
        if !self.is_complete {
            ctx.slots.begin_binding(0);
            ctx.close_slots();
        }
        self.is_complete
    }

    /// Find the slots of the tensors in the order that they stand in.
    #[cold]
    fn put_in_order<'t>(&mut self, tensors: impl Iterator<Item = &'t TensorId>) {
        self.number = next_number();
        let tensors = tensors.map(|id| (*id, self.slots.get(id).copied()));
        self.order = tensors.collect();
        let bound: BTreeSet<usize> = self.order.iter().filter_map(|(_, slot)| *slot).collect();
        self.is_complete = self.inputs.iter().all(|input| bound.contains(input));
        let several = self.several.iter().map(|outputs| {
            let outputs = outputs.iter().copied();
            outputs.filter(|output| bound.contains(output)).collect()
        });
        let several = several.filter(|outputs: &Vec<usize>| outputs.len() > 1);
        self.several_bound = several.collect();
    }

    /// Whether two outputs of one operation are bound to one tensor: slots do not show that.
    #[inline]
    pub(crate) fn has_shared_outputs<B: BackendIr>(&self, ctx: &Context<B>) -> bool {
        self.several_bound.iter().any(|outputs| {
            let ids = || outputs.iter().filter_map(|slot| ctx.slots.bound_id(*slot));
            let is_again = |(position, id)| ids().take(position).any(|other| other == id);
            ids().enumerate().any(is_again)
        })
    }

    #[cold]
    fn put_in_place(&mut self, dims: bool) {
        self.checked = None;
        let mut patcher = Patcher {
            dims: dims.then_some(&self.dims),
            scalars: &self.scalars,
            ranges: &self.ranges,
            places: [0; 3],
        };
        let operations = &mut self.operations;
        match dims {
            true => operations
                .iter_mut()
                .for_each(|op| op.visit_mut(&mut patcher)),
            false => {
                for position in &self.varying {
                    operations[*position].visit_mut(&mut patcher);
                }
            }
        }
        for custom in &mut self.customs {
            if dims || self.varying.binary_search(&custom.position).is_ok() {
                custom.renew(&self.operations);
            }
        }
        if dims {
            self.number = next_number();
        }
    }

    /// Execute the operations, with the bindings last given, up to one whose failure ends the replay.
    pub(crate) fn run<B: BackendIr>(
        &mut self,
        ctx: &mut Context<B>,
        mut ends: impl FnMut(usize, OpError) -> bool,
    ) {
        let asked_before = asked();
        let mut next = 0;
        let mut customs = self.customs.iter();
        loop {
            // Guarded as a whole: an operation that fails does not end the replay.
            let outcome = guard(|| {
                let rest = self.operations.iter().skip(next);
                if self.is_plain {
                    for operation in rest {
                        next += 1;
                        ctx.execute(operation)?;
                    }
                    return Ok(());
                }
                for operation in rest {
                    next += 1;
                    match operation {
                        OperationIr::Custom(_) => {
                            if let Some(custom) = customs.next() {
                                custom.execute(operation, ctx)?;
                            }
                        }
                        OperationIr::Drop(tensor) if !ctx.is_looked_at => ctx.forget(tensor.id),
                        operation => ctx.execute(operation)?,
                    }
                }
                Ok(())
            });
            let Err(fault) = outcome else { break };
            let position = next - 1;
            let error = ctx.fail(&self.operations[position], *fault);
            if ends(position, error) {
                break;
            }
        }
        // Whether there is memory, and how many tensors there are, is another matter each time.
        if !ctx.slots.is_checked()
            && ctx.slots.is_clean
            && asked() == asked_before
            && ctx.limits.max_live_tensors == usize::MAX
        {
            self.checked = Some((TypeId::of::<B>(), ctx.limits));
        }
        ctx.close_slots();
    }
}

/// Both are the same number: 0.0 and -0.0 are not.
#[inline]
fn is_same_scalar(one: &ScalarIr, other: &ScalarIr) -> bool {
    match (one, other) {
        (ScalarIr::Float(one), ScalarIr::Float(other)) => one.to_bits() == other.to_bits(),
        _ => one == other,
    }
}

/// Puts slots in place of ids, and notes where the bindings belong.
struct Preparer {
    is_relative: bool,
    slots: HashMap<TensorId, usize>,
    declared: Vec<(DType, Shape)>,
    is_uniform: bool,
    dims: Table<usize>,
    scalars: Table<ScalarIr>,
    ranges: Table<Slice>,
}

impl Preparer {
    fn new(is_relative: bool) -> Self {
        Self {
            is_relative,
            slots: HashMap::new(),
            declared: Vec::new(),
            is_uniform: true,
            dims: Table::default(),
            scalars: Table::default(),
            ranges: Table::default(),
        }
    }
}

impl IrVisitorMut for Preparer {
    fn visit_tensor_mut(&mut self, tensor: &mut TensorIr) {
        let next = self.slots.len();
        let slot = *self.slots.entry(tensor.id).or_insert(next);
        tensor.id = TensorId::new(slot as u64);
        match self.declared.get(slot) {
            Some((dtype, dims)) => {
                self.is_uniform &= *dtype == tensor.dtype && *dims == tensor.shape;
            }
            None => self.declared.push((tensor.dtype, tensor.shape.clone())),
        }
        for dim in tensor.shape.iter().filter(|_| self.is_relative) {
            self.dims.add(*dim);
        }
    }

    fn visit_scalar_mut(&mut self, scalar: &mut ScalarIr) {
        match *scalar {
            // An index beyond all tables is found to be so.
            ScalarIr::UInt(index) if self.is_relative => {
                self.scalars.add(index.try_into().unwrap_or(usize::MAX))
            }
            _ => self.scalars.add_literal(),
        }
    }

    fn visit_range_mut(&mut self, range: &mut Slice) {
        match self.is_relative {
            true => self
                .ranges
                .add(range.start.try_into().unwrap_or(usize::MAX)),
            false => self.ranges.add_literal(),
        }
    }
}

/// Puts what is bound in its place.
struct Patcher<'p> {
    dims: Option<&'p Table<usize>>,
    scalars: &'p Table<ScalarIr>,
    ranges: &'p Table<Slice>,
    places: [usize; 3],
}

impl IrVisitorMut for Patcher<'_> {
    fn visit_tensor_mut(&mut self, tensor: &mut TensorIr) {
        let Some(dims) = self.dims else { return };
        for dim in tensor.shape.iter_mut() {
            *dim = dims.value(&mut self.places[0]).copied().unwrap_or(*dim);
        }
    }

    fn visit_scalar_mut(&mut self, scalar: &mut ScalarIr) {
        let bound = self.scalars.value(&mut self.places[1]);
        *scalar = bound.copied().unwrap_or(*scalar);
    }

    fn visit_range_mut(&mut self, range: &mut Slice) {
        let bound = self.ranges.value(&mut self.places[2]);
        *range = bound.copied().unwrap_or(*range);
    }
}
