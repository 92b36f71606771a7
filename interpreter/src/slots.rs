//! Where the tensors of a graph are while it is replayed.
//!
//! The operations of a prepared graph have slots in place of ids. A tensor of the graph's boundary
//! is bound to the id that the client knows it by, and stays among the other handles. An
//! intermediate tensor is held by its slot: nothing is looked up for it. It gets an id only where
//! others must be told of it in an error. One that a custom operation reads or writes has an id for
//! the whole replay, and is among the handles: its handler looks for it there.

use alloc::vec::Vec;
use core::mem;

use burn_ir::{
    BackendIr, CustomOpIr, IrVisitorMut, OperationIr, TensorError, TensorId, TensorIr, TensorStatus,
};

use crate::context::{Context, Outcome};
use crate::custom::stream_custom;
use crate::graph::{INTERMEDIATE, fresh_id};
use crate::guard::guard;

/// What a slot holds.
#[derive(Default)]
pub(crate) enum Slot<H> {
    #[default]
    Empty,
    /// A tensor of the boundary, by the client's id.
    Bound(TensorId),
    Held(H),
    Errored(TensorError),
}

/// Where a tensor is.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    Container(TensorId),
    Slot(usize),
}

/// The id that others know a slot by, and the replay it was given in; 0 for none.
#[derive(Clone, Copy)]
struct Name {
    replay: u64,
    id: TensorId,
}

/// The slots of the graph that is replayed; without one, there are none.
pub(crate) struct Slots<H> {
    slots: Vec<Slot<H>>,
    /// The ids of operations are slots now.
    is_replaying: bool,
    /// Whoever reads a slot declares the dtype and shape that it was written with.
    is_uniform: bool,
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
    /// The slots of the custom operation at hand; kept, as the room for them is.
    of_custom: Vec<TensorId>,
    /// A client's id is like that of an intermediate tensor.
    has_hostile_ids: bool,
}

impl<H> Default for Slots<H> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            is_replaying: false,
            is_uniform: false,
            is_checked: false,
            is_clean: false,
            occupied: 0,
            replay: 0,
            names: Vec::new(),
            own_ids: Vec::new(),
            of_custom: Vec::new(),
            has_hostile_ids: false,
        }
    }
}

impl<H> Slots<H> {
    /// Begin a replay with as many slots.
    pub(crate) fn open(&mut self, len: usize, is_uniform: bool, is_checked: bool) {
        self.slots.clear();
        self.slots.resize_with(len, Slot::default);
        self.replay += 1;
        self.is_replaying = true;
        self.is_uniform = is_uniform;
        self.is_checked = is_checked;
        self.is_clean = true;
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

    /// The tensor of the slot is one of the boundary.
    pub(crate) fn bind(&mut self, slot: usize, id: TensorId) {
        self.has_hostile_ids |= id.value() & INTERMEDIATE != 0;
        self.slots[slot] = Slot::Bound(id);
    }

    pub(crate) fn is_bound(&self, slot: usize) -> bool {
        matches!(self.slots[slot], Slot::Bound(_))
    }

    /// Where the tensor is that an operation calls `id`.
    #[inline]
    pub(crate) fn place(&self, id: TensorId) -> Place {
        if !self.is_replaying {
            return Place::Container(id);
        }
        let slot = id.value() as usize;
        match self.slots[slot] {
            Slot::Bound(id) => Place::Container(id),
            _ => Place::Slot(slot),
        }
    }

    pub(crate) fn is_replaying(&self) -> bool {
        self.is_replaying
    }

    /// Whether a tensor that is held by a slot has been compared with what the IR declares.
    #[inline]
    pub(crate) fn is_uniform(&self) -> bool {
        self.is_uniform
    }

    /// How many slots hold a tensor or an error.
    #[inline]
    pub(crate) fn occupied(&self) -> usize {
        self.occupied
    }

    pub(crate) fn get(&self, slot: usize) -> &Slot<H> {
        &self.slots[slot]
    }

    /// Empty a slot that is not bound.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn take(&mut self, slot: usize) -> Slot<H> {
        let content = mem::take(&mut self.slots[slot]);
        self.occupied -= usize::from(!matches!(content, Slot::Empty));
        content
    }

    /// Take the tensor out of a slot that is not bound.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn take_held(&mut self, slot: usize) -> Option<H> {
        if !matches!(self.slots[slot], Slot::Held(_)) {
            return None;
        }
        match self.take(slot) {
            Slot::Held(handle) => Some(handle),
            _ => None,
        }
    }

    /// Fill a slot that is not bound. Whether it was empty.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn put(&mut self, slot: usize, content: Slot<H>) -> bool {
        let slot = &mut self.slots[slot];
        let was_empty = matches!(slot, Slot::Empty);
        *slot = content;
        self.occupied += usize::from(was_empty);
        was_empty
    }

    /// The tensor in a slot that is not bound.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn held(&self, slot: usize) -> Option<&H> {
        match &self.slots[slot] {
            Slot::Held(handle) => Some(handle),
            _ => None,
        }
    }

    /// The tensors in slots.
    pub(crate) fn all_held(&self) -> impl Iterator<Item = &H> {
        self.slots.iter().filter_map(|slot| match slot {
            Slot::Held(handle) => Some(handle),
            _ => None,
        })
    }

    fn is_bound_to(&self, id: TensorId) -> bool {
        let is_it = |slot: &Slot<H>| matches!(slot, Slot::Bound(bound) if *bound == id);
        self.has_hostile_ids && self.slots.iter().any(is_it)
    }
}

/// The end of a replay, and what others are told of the tensors in slots.
impl<B: BackendIr> Context<B> {
    /// The intermediate tensors in these slots are among the handles.
    pub(crate) fn bind_own(&mut self, slots: &[usize]) {
        for slot in slots {
            if !self.slots.is_bound(*slot) {
                let id = self.name_of(*slot);
                self.slots.slots[*slot] = Slot::Bound(id);
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
            for slot in slots.slots.drain(..) {
                if let Slot::Held(handle) = slot {
                    self.live_bytes.remove_held::<B>(&handle);
                }
            }
            slots.occupied = 0;
        }
        slots.has_hostile_ids = false;
        while let Some(id) = self.slots.own_ids.pop() {
            self.forget(id);
        }
    }

    /// The id of the tensor that an operation calls `id`.
    pub(crate) fn name(&mut self, id: TensorId) -> TensorId {
        match self.slots.place(id) {
            Place::Container(id) => id,
            Place::Slot(slot) => self.name_of(slot),
        }
    }

    /// The id of the tensor that the slot holds. A slot keeps its id from replay to replay, as long
    /// as no one else uses it.
    pub(crate) fn name_of(&mut self, slot: usize) -> TensorId {
        let replay = self.slots.replay;
        let is_taken = |id: TensorId| self.knows(&id) || self.slots.is_bound_to(id);
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
        struct Namer<'c, B: BackendIr>(&'c mut Context<B>);

        impl<B: BackendIr> IrVisitorMut for Namer<'_, B> {
            fn visit_tensor_mut(&mut self, tensor: &mut TensorIr) {
                tensor.id = self.0.name(tensor.id);
            }
        }

        let mut op = op.clone();
        op.visit_mut(&mut Namer(self));
        op
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

    /// Execute a custom operation, which has ids in place of slots meanwhile.
    pub(crate) fn execute_custom(&mut self, op: &mut CustomOpIr) -> Outcome {
        let mut slots = mem::take(&mut self.slots.of_custom);
        for tensor in op.inputs.iter_mut().chain(&mut op.outputs) {
            slots.push(tensor.id);
            tensor.id = self.name(tensor.id);
        }
        let outcome = self.with_names(|ctx| guard(|| stream_custom(op, ctx)));
        let tensors = op.inputs.iter_mut().chain(&mut op.outputs);
        for (tensor, id) in tensors.zip(slots.drain(..)) {
            tensor.id = id;
        }
        self.slots.of_custom = slots;
        outcome
    }

    /// Let go of the inputs of an operation that failed, at their last use, and leave its error in
    /// the outputs.
    pub(crate) fn settle(&mut self, op: &OperationIr, error: &TensorError) {
        for input in op.inputs() {
            match self.slots.place(input.id) {
                _ if input.status != TensorStatus::ReadWrite => (),
                Place::Container(id) => drop(self.handles.remove_handle(id)),
                Place::Slot(slot) => drop(self.slots.take(slot)),
            }
        }
        for output in op.outputs() {
            match self.slots.place(output.id) {
                Place::Container(id) => self.claim(id, error),
                Place::Slot(slot) => {
                    self.slots.put(slot, Slot::Errored(error.clone()));
                }
            }
        }
    }
}
