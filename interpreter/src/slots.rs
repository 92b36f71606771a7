//! Where the tensors of a graph are while it is replayed.
//!
//! The operations of a prepared graph have slots in place of ids. A tensor of the graph's boundary
//! is bound to the id that the client knows it by, and stays with the client's other tensors; its
//! slot knows where it was seen there, so that it is looked for and compared with the IR once, not at
//! each use. An intermediate tensor is held by its slot: nothing is looked up for it. It gets an id
//! only where others must be told of it in an error. One that a custom operation reads or writes has
//! an id for the whole replay, and is among the handles: its handler looks for it there.

use alloc::vec::Vec;
use core::mem;

use burn_ir::{
    BackendIr, IrVisitorMut, OperationIr, TensorError, TensorId, TensorIr, TensorStatus,
};
use hashbrown::HashMap;

use crate::context::Context;
use crate::graph::{INTERMEDIATE, fresh_id};
use crate::held::{Held, Told};
use crate::kind::TensorKind;
use crate::tensors::Sighted;

/// What a slot holds: no more than one of these.
pub(crate) struct Slot<B: BackendIr> {
    /// A tensor of the boundary, by the client's id.
    bound: Option<TensorId>,
    /// Where that was seen to be what all uses declare.
    sighted: Sighted,
    error: Option<TensorError>,
    held: Held<B>,
}

impl<B: BackendIr> Default for Slot<B> {
    fn default() -> Self {
        Self {
            bound: None,
            sighted: Sighted::NONE,
            error: None,
            held: Held::default(),
        }
    }
}

impl<B: BackendIr> Slot<B> {
    /// Whether it holds neither a tensor nor an error, for one that is not bound.
    fn is_empty(&self) -> bool {
        self.held.is_empty() && self.error.is_none()
    }

    /// Empty it. Whether it held anything.
    #[inline]
    fn clear(&mut self) -> bool {
        if self.error.is_none() {
            return self.held.clear();
        }
        self.drop_error();
        true
    }

    #[cold]
    #[inline(never)]
    fn drop_error(&mut self) {
        self.error = None;
    }
}

/// Where a tensor is.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Place {
    /// Under an id that clients know.
    Client(TensorId),
    Slot(usize),
}

/// The id that others know a slot by, and the replay it was given in; 0 for none.
#[derive(Clone, Copy)]
struct Name {
    replay: u64,
    id: TensorId,
}

/// The slots of the graph that is replayed; without one, there are none.
pub(crate) struct Slots<B: BackendIr> {
    /// As many as any replay took; empty between replays.
    slots: Vec<Slot<B>>,
    /// How many this replay takes.
    len: usize,
    /// Those that are bound, and stay so until they are bound anew: most often the next replay binds
    /// the same ones.
    bound: Vec<usize>,
    /// The number of the graph that they are bound for; 0 for none.
    graph: u64,
    /// The ids of operations are slots now.
    is_replaying: bool,
    /// Whoever reads a slot declares the dtype and shape that it was written with.
    is_uniform: bool,
    /// They do, and the bytes of tensors are not counted.
    are_trusted: bool,
    /// The operations, which have not changed since, passed all checks in a replay before.
    is_checked: bool,
    /// They do so in this replay, and will again.
    pub(crate) is_clean: bool,
    /// How many hold a tensor or an error.
    occupied: usize,
    /// The number of the replay, from 1 on.
    replay: u64,
    /// The ids given to slots, in this replay or one before.
    names: Vec<Name>,
    /// The ids of intermediate tensors that are among the handles.
    own_ids: Vec<TensorId>,
    /// A client's id is like that of an intermediate tensor.
    has_hostile_ids: bool,
}

impl<B: BackendIr> Default for Slots<B> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            len: 0,
            bound: Vec::new(),
            graph: 0,
            is_replaying: false,
            is_uniform: false,
            are_trusted: false,
            is_checked: false,
            is_clean: false,
            occupied: 0,
            replay: 0,
            names: Vec::new(),
            own_ids: Vec::new(),
            has_hostile_ids: false,
        }
    }
}

impl<B: BackendIr> Slots<B> {
    /// Begin a replay with as many slots.
    pub(crate) fn open(&mut self, len: usize, is_uniform: bool, is_checked: bool) {
        if self.slots.len() < len {
            self.slots.resize_with(len, Slot::default);
        }
        self.len = len;
        self.replay += 1;
        self.is_replaying = true;
        self.is_uniform = is_uniform;
        self.are_trusted = is_uniform;
        self.is_checked = is_checked;
        self.is_clean = true;
    }

    /// Tensors in slots are counted as they go.
    pub(crate) fn distrust(&mut self) {
        self.are_trusted = false;
    }

    /// Others know the slots by these ids, which no one else uses.
    pub(crate) fn give_names(&mut self, ids: &[TensorId]) {
        let replay = self.replay;
        let names = ids.iter().map(|id| Name { replay, id: *id });
        self.names.clear();
        self.names.extend(names);
    }

    #[inline]
    pub(crate) fn is_checked(&self) -> bool {
        self.is_checked
    }

    /// Whether the slots are bound for the graph with this number.
    pub(crate) fn are_of(&self, graph: u64) -> bool {
        self.graph == graph
    }

    /// Bind other slots than before, for the graph with this number.
    pub(crate) fn begin_binding(&mut self, graph: u64) {
        for slot in self.bound.drain(..) {
            let slot = &mut self.slots[slot];
            slot.bound = None;
            slot.sighted = Sighted::NONE;
        }
        self.graph = graph;
    }

    /// The tensor of the slot is one of the boundary.
    pub(crate) fn bind(&mut self, slot: usize, id: TensorId) {
        self.has_hostile_ids |= id.value() & INTERMEDIATE != 0;
        self.bind_to(slot, id);
    }

    /// Bind a slot that was not, so that nothing was seen.
    fn bind_to(&mut self, slot: usize, id: TensorId) {
        self.bound.push(slot);
        self.slots[slot].bound = Some(id);
    }

    /// The same for a slot that is bound for this graph, which declares what it did.
    #[inline]
    pub(crate) fn bind_again(&mut self, slot: usize, id: TensorId) {
        self.has_hostile_ids |= id.value() & INTERMEDIATE != 0;
        let slot = &mut self.slots[slot];
        if slot.bound != Some(id) {
            slot.bound = Some(id);
            slot.sighted = Sighted::NONE;
        }
    }

    /// The tensor of the boundary that a slot is bound to, and where it was seen.
    #[inline]
    pub(crate) fn bound(&self, slot: usize) -> Option<(TensorId, Sighted)> {
        let slot = &self.slots[slot];
        slot.bound.map(|id| (id, slot.sighted))
    }

    /// The tensor of the boundary that an operation calls `id` was seen to be what the IR
    /// declares. That is kept in mind where all uses declare the same.
    pub(crate) fn see(&mut self, id: TensorId, sighted: Sighted) {
        if self.is_uniform {
            self.slots[id.value() as usize].sighted = sighted;
        }
    }

    /// The id of the tensor of the boundary that a slot is bound to.
    pub(crate) fn bound_id(&self, slot: usize) -> Option<TensorId> {
        self.slots[slot].bound
    }

    pub(crate) fn is_bound(&self, slot: usize) -> bool {
        self.bound_id(slot).is_some()
    }

    /// Where the tensor is that an operation calls `id`.
    #[inline]
    pub(crate) fn place(&self, id: TensorId) -> Place {
        if !self.is_replaying {
            return Place::Client(id);
        }
        let slot = id.value() as usize;
        match self.slots[slot].bound {
            Some(id) => Place::Client(id),
            None => Place::Slot(slot),
        }
    }

    pub(crate) fn is_replaying(&self) -> bool {
        self.is_replaying
    }

    /// How many slots hold a tensor or an error.
    #[inline]
    pub(crate) fn occupied(&self) -> usize {
        self.occupied
    }

    /// Whether a slot that is not bound holds neither a tensor nor an error.
    pub(crate) fn is_empty(&self, slot: usize) -> bool {
        self.slots[slot].is_empty()
    }

    /// The error in a slot that is not bound.
    pub(crate) fn error(&self, slot: usize) -> Option<&TensorError> {
        self.slots[slot].error.as_ref()
    }

    /// Empty a slot that is not bound.
    #[inline]
    pub(crate) fn clear(&mut self, slot: usize) {
        self.occupied -= usize::from(self.slots[slot].clear());
    }

    /// Leave an error in a slot that is not bound.
    pub(crate) fn set_error(&mut self, slot: usize, error: TensorError) {
        self.clear(slot);
        self.occupied += 1;
        self.slots[slot].error = Some(error);
    }

    /// Whether a tensor that is in a slot is what whoever reads it declares, and is not counted.
    #[inline]
    pub(crate) fn are_trusted(&self) -> bool {
        self.are_trusted
    }

    /// The tensor in a slot that is not bound, if it is of this kind.
    #[inline]
    pub(crate) fn held<K: TensorKind<B>>(&self, slot: usize) -> Option<&K::Primitive> {
        K::held(&self.slots[slot].held)
    }

    /// That tensor, to be taken out: it is no longer in the slot.
    #[inline]
    pub(crate) fn release<K: TensorKind<B>>(
        &mut self,
        slot: usize,
    ) -> Option<&mut Option<K::Primitive>> {
        let held = K::place(&mut self.slots[slot].held).filter(|held| held.is_some())?;
        self.occupied -= 1;
        Some(held)
    }

    /// The place for a tensor in a slot that is not bound.
    #[inline]
    pub(crate) fn prepare(&mut self, slot: usize) -> &mut Held<B> {
        let slot = &mut self.slots[slot];
        if slot.error.is_some() {
            slot.drop_error();
            self.occupied -= 1;
        }
        &mut slot.held
    }

    /// A tensor was put in a slot that was empty.
    #[inline]
    pub(crate) fn filled(&mut self) {
        self.occupied += 1;
    }

    /// What the tensor in a slot that is not bound tells of itself, if there is one.
    pub(crate) fn told(&self, slot: usize) -> Option<Told> {
        self.slots[slot].held.told()
    }

    /// The bytes of all tensors in slots.
    pub(crate) fn total_bytes(&self) -> u64 {
        let bytes = (0..self.len).filter_map(|slot| Some(self.told(slot)?.bytes));
        bytes.fold(0, u64::saturating_add)
    }

    fn is_bound_to(&self, id: TensorId) -> bool {
        let is_it = |slot: &Slot<B>| slot.bound == Some(id);
        self.has_hostile_ids && self.slots[..self.len].iter().any(is_it)
    }
}

/// The end of a replay, and what others are told of the tensors in slots.
impl<B: BackendIr> Context<B> {
    /// The intermediate tensors in these slots are among the handles.
    pub(crate) fn bind_own(&mut self, slots: &[usize]) {
        for slot in slots {
            if !self.slots.is_bound(*slot) {
                let id = self.name_of(*slot);
                self.slots.bind_to(*slot, id);
                self.slots.own_ids.push(id);
            }
        }
    }

    /// Let go of the tensors that nothing has read.
    pub(crate) fn close_slots(&mut self) {
        let slots = &mut self.slots;
        slots.is_replaying = false;
        slots.is_checked = false;
        if slots.occupied > 0 {
            self.live_bytes.remove_with(|| slots.total_bytes());
            for slot in &mut slots.slots[..slots.len] {
                slot.clear();
            }
            slots.occupied = 0;
        }
        slots.has_hostile_ids = false;
        if !slots.own_ids.is_empty() {
            slots.begin_binding(0);
        }
        while let Some(id) = self.slots.own_ids.pop() {
            self.forget(id);
        }
    }

    /// The id of the tensor that an operation calls `id`.
    pub(crate) fn name(&mut self, id: TensorId) -> TensorId {
        match self.slots.place(id) {
            Place::Client(id) => id,
            Place::Slot(slot) => self.name_of(slot),
        }
    }

    /// The id of the tensor that the slot holds. A slot keeps its id from replay to replay, as long
    /// as no one else uses it.
    pub(crate) fn name_of(&mut self, slot: usize) -> TensorId {
        let replay = self.slots.replay;
        let is_taken = |id: TensorId| self.tensors.knows(id) || self.slots.is_bound_to(id);
        let name = match self.slots.names.get(slot) {
            Some(name) if name.replay == replay => return name.id,
            Some(name) if name.replay > 0 && !is_taken(name.id) => name.id,
            _ => fresh_id(is_taken),
        };
        if self.slots.names.len() <= slot {
            let none = Name {
                replay: 0,
                id: name,
            };
            self.slots.names.resize(slot + 1, none);
        }
        self.slots.names[slot] = Name { replay, id: name };
        name
    }

    /// The operation with ids in place of slots.
    pub(crate) fn named(&mut self, op: &OperationIr) -> OperationIr {
        let slots: Vec<TensorId> = op.nodes().into_iter().map(|tensor| tensor.id).collect();
        let ids = slots.iter().map(|slot| (*slot, self.name(*slot)));
        renamed(op, &ids.collect())
    }

    /// Do `work` with ids in place of slots.
    pub(crate) fn with_names<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let was_replaying = mem::take(&mut self.slots.is_replaying);
        let was_checked = mem::take(&mut self.slots.is_checked);
        let result = work(self);
        self.slots.is_replaying = was_replaying;
        self.slots.is_checked = was_checked;
        result
    }

    /// Let go of the inputs of an operation that failed, at their last use, and leave its error in
    /// the outputs.
    pub(crate) fn settle(&mut self, op: &OperationIr, error: &TensorError) {
        for input in op.inputs() {
            match self.slots.place(input.id) {
                _ if input.status != TensorStatus::ReadWrite => (),
                Place::Client(id) => drop(self.tensors.forget(id)),
                Place::Slot(slot) => self.slots.clear(slot),
            }
        }
        for output in op.outputs() {
            match self.slots.place(output.id) {
                Place::Client(id) => self.claim(id, error),
                Place::Slot(slot) => self.slots.set_error(slot, error.clone()),
            }
        }
    }
}

/// The operation with these ids in place of those.
fn renamed(op: &OperationIr, ids: &HashMap<TensorId, TensorId>) -> OperationIr {
    struct Renamer<'i>(&'i HashMap<TensorId, TensorId>);

    impl IrVisitorMut for Renamer<'_> {
        fn visit_tensor_mut(&mut self, tensor: &mut TensorIr) {
            tensor.id = self.0.get(&tensor.id).copied().unwrap_or(tensor.id);
        }
    }

    let mut op = op.clone();
    op.visit_mut(&mut Renamer(ids));
    op
}
