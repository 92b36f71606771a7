//! The tensors by the ids that clients know them by.
//!
//! Their home is burn-ir's `HandleContainer`: custom operations work on it. The tensors written last,
//! and those read most, are near until their place is needed or a custom operation may look for them.

use burn_ir::{BackendIr, Handle, HandleContainer, TensorError, TensorId, TensorIr};

use crate::held::{Held, Told};
use crate::kind::TensorKind;
use crate::known::Known;
use crate::near::{Entry, Near, Sight};

/// Ids from here on are given out by the interpreter itself, besides those that clients count up.
const OWN: u64 = 1 << 62;

/// A tensor among the handles that is read as often, without becoming another, is kept near.
const READS: u32 = 4;

/// All tensors but those in the slots of a replay: each is among the handles or near.
pub(crate) struct Tensors<B: BackendIr> {
    handles: HandleContainer<B::Handle>,
    /// What is known of tensors among the handles.
    known: Known,
    /// The tensors written last.
    written: Near<B>,
    /// Tensors that were read often.
    kept: Near<B>,
    /// No id of a client from here on is among the handles, or kept. The highest number if someone
    /// may have put any id there.
    end: u64,
    /// How many tensors were written since the end is not known.
    written_since: usize,
}

/// Where a near tensor was seen.
#[derive(Clone, Copy)]
pub(crate) enum Sighted {
    Written(Sight),
    Kept(Sight),
}

impl Sighted {
    pub(crate) const NONE: Self = Self::Written(Sight::NONE);
}

impl<B: BackendIr> Default for Tensors<B> {
    fn default() -> Self {
        Self {
            handles: HandleContainer::new(),
            known: Known::default(),
            written: Near::default(),
            kept: Near::default(),
            end: 0,
            written_since: 0,
        }
    }
}

/// Looking.
impl<B: BackendIr> Tensors<B> {
    /// How many hold data or an error.
    pub(crate) fn len(&self) -> usize {
        self.handles.num_handles() + self.written.len() + self.kept.len()
    }

    /// How many hold data.
    pub(crate) fn live(&self) -> usize {
        let handles = &self.handles;
        let errors = match handles.has_errors() {
            false => 0,
            true => handles
                .handle_ids()
                .filter(|id| handles.error(id).is_some())
                .count(),
        };
        self.len() - errors
    }

    /// Whether `id` holds data.
    pub(crate) fn has_data(&self, id: TensorId) -> bool {
        self.near_told(id).is_some() || self.handles.has_handle(&id)
    }

    /// The error that `id` holds.
    pub(crate) fn error(&self, id: TensorId) -> Option<&TensorError> {
        match self.handles.has_errors() {
            false => None,
            true => self.handles.error(&id),
        }
    }

    /// Whether `id` holds data or an error.
    pub(crate) fn knows(&self, id: TensorId) -> bool {
        self.has_data(id) || self.error(id).is_some()
    }

    /// The handle of the tensor `id`, if it is among the handles.
    pub(crate) fn handle(&self, id: TensorId) -> Option<&B::Handle> {
        self.handles.get_handle_ref(&id)
    }

    /// The bytes of the tensor `id`, if it holds data.
    pub(crate) fn bytes(&self, id: TensorId) -> Option<u64> {
        let told = self.near_told(id).or_else(|| {
            let handle = self.handles.get_handle_ref(&id);
            handle.map(Told::by_handle::<B>)
        });
        told.map(|told| told.bytes)
    }

    fn near_told(&self, id: TensorId) -> Option<Told> {
        let entry = self.written.get(id).or_else(|| self.kept.get(id));
        entry.and_then(|entry| entry.held.told())
    }

    /// The bytes of all tensors.
    pub(crate) fn total_bytes(&self) -> u64 {
        let ids = self.handles.handle_ids();
        let handles = ids.filter_map(|id| self.handles.get_handle_ref(id));
        let handles = handles.map(Told::by_handle::<B>);
        let near = self.written.iter().chain(self.kept.iter());
        let near = near.filter_map(|entry| entry.held.told());
        let bytes = handles.chain(near).map(|told| told.bytes);
        bytes.fold(0, u64::saturating_add)
    }
}

/// The near tensors.
impl<B: BackendIr> Tensors<B> {
    /// The tensor `id`, if it is near and known to be what the IR declares.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn near(&mut self, id: TensorId, tensor: &TensorIr) -> Option<&Held<B>> {
        let entry = match self.written.get(id) {
            Some(entry) => entry,
            None => {
                self.kept.used(id);
                self.kept.get(id)?
            }
        };
        entry.facts.fit(tensor).then_some(&entry.held)
    }

    /// The same, to be taken out: it is no longer under `id`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn release<K: TensorKind<B>>(
        &mut self,
        id: TensorId,
        tensor: &TensorIr,
    ) -> Option<&mut Option<K::Primitive>> {
        match self.written.get(id) {
            Some(_) => self.written.release::<K>(id, tensor),
            None => self.kept.release::<K>(id, tensor),
        }
    }

    /// Where to look for the tensor `id` again, if it is near and known to be what the IR declares.
    pub(crate) fn sight(&self, id: TensorId, tensor: &TensorIr) -> Option<Sighted> {
        let written = self.written.sight(id, tensor).map(Sighted::Written);
        written.or_else(|| self.kept.sight(id, tensor).map(Sighted::Kept))
    }

    /// The tensor that was seen, if it is sure to be there still.
    #[inline]
    pub(crate) fn again(&self, sighted: Sighted) -> Option<&Held<B>> {
        match sighted {
            Sighted::Written(sight) => self.written.again(sight),
            Sighted::Kept(sight) => self.kept.again(sight),
        }
    }

    /// Whether [room must be made](Self::make_room) for a tensor under `id`.
    #[inline]
    pub(crate) fn has_no_room(&self, id: TensorId) -> bool {
        self.written.is_taken(id) || self.may_be_there(id)
    }

    /// Let go of what `id` holds, and clear its place among the tensors written last. Whether it held
    /// nothing.
    #[inline(never)]
    pub(crate) fn make_room(&mut self, id: TensorId) -> bool {
        if self.end == u64::MAX {
            self.look_for_end();
        }
        let is_new = !self.forget(id);
        if let Some(other) = self.written.vacate(id) {
            self.settle(other);
        }
        is_new
    }

    /// The place for a tensor under `id`, which is what the IR declares, where there is room.
    #[inline]
    pub(crate) fn prepare(&mut self, id: TensorId, tensor: &TensorIr) -> &mut Held<B> {
        self.written.prepare(id, tensor)
    }

    /// Put a tensor that was near among the handles.
    fn settle(&mut self, entry: Entry<B>) {
        let id = entry.id();
        if let Some(handle) = entry.held.into_handle() {
            self.known.note(id, entry.facts);
            self.raise_end(id);
            self.handles.register_handle(id, handle);
        }
    }

    fn remove_near(&mut self, id: TensorId) -> Option<Entry<B>> {
        self.written.remove(id).or_else(|| self.kept.remove(id))
    }

    /// The tensor `id` is near no more: it is among the handles, if it is at all.
    fn settle_one(&mut self, id: TensorId) {
        if let Some(entry) = self.remove_near(id) {
            self.settle(entry);
        }
    }

    /// Keep the tensor `id` near, if it was read as often as is worth that.
    #[inline]
    pub(crate) fn keep(&mut self, id: TensorId, tensor: &TensorIr, reads: u32) {
        if reads >= READS && (!self.kept.is_taken(id) || self.kept.is_idle(id)) {
            self.move_near(id, tensor);
        }
    }

    #[cold]
    fn move_near(&mut self, id: TensorId, tensor: &TensorIr) {
        let Some(Handle::Existing(handle)) = self.handles.remove_handle(id) else {
            return;
        };
        if let Some(other) = self.kept.vacate(id) {
            self.settle(other);
        }
        *self.kept.prepare(id, tensor) = Held::of_handle(handle, tensor);
    }

    /// Whether `id` may be among the handles, or kept.
    #[inline]
    pub(crate) fn may_be_there(&self, id: TensorId) -> bool {
        id.value() < self.end || id.value() >= OWN
    }

    /// Find the end anew, when as many tensors were written as must be looked at.
    fn look_for_end(&mut self) {
        self.written_since += 1;
        if self.written_since > self.handles.num_handles() {
            let kept = self.kept.iter().map(|entry| entry.id());
            let ids = self.handles.handle_ids().copied().chain(kept);
            let ids = ids.map(|id| id.value()).filter(|id| *id < OWN);
            self.end = ids.max().map_or(0, |last| last + 1);
        }
    }

    fn raise_end(&mut self, id: TensorId) {
        if id.value() < OWN {
            self.end = self.end.max(id.value() + 1);
        }
    }
}

/// The handles.
impl<B: BackendIr> Tensors<B> {
    /// How often the tensor `id`, which is among the handles, was found to be what the IR declares,
    /// with this time; 0 if it is not known to be.
    pub(crate) fn reads(&mut self, id: TensorId, tensor: &TensorIr) -> u32 {
        self.settle_one(id);
        self.known.reads(id, tensor)
    }

    /// The tensor `id` is what the IR declares.
    pub(crate) fn learn(&mut self, id: TensorId, tensor: &TensorIr) {
        self.known.learn(id, tensor);
    }

    /// A copy of the handle of the tensor `id`.
    pub(crate) fn copy(&mut self, id: TensorId) -> Option<B::Handle> {
        self.settle_one(id);
        self.handles.get_handle_ref(&id).cloned()
    }

    /// Take out what `id` holds.
    pub(crate) fn take(&mut self, id: TensorId) -> Option<Handle<B::Handle>> {
        self.settle_one(id);
        self.handles.remove_handle(id)
    }

    /// Let go of what `id` holds. Whether there was anything.
    pub(crate) fn forget(&mut self, id: TensorId) -> bool {
        self.written.discard(id)
            || self.kept.discard(id)
            || self.handles.remove_handle(id).is_some()
    }

    /// Put a handle, of which nothing is known, under `id`. Whether nothing was there.
    pub(crate) fn register(&mut self, id: TensorId, handle: B::Handle) -> bool {
        let is_new = !self.forget(id);
        self.known.forget(id);
        self.raise_end(id);
        self.handles.register_handle(id, handle);
        is_new
    }

    /// Let `id` hold `error` in place of data.
    pub(crate) fn set_error(&mut self, id: TensorId, error: TensorError) {
        self.forget(id);
        self.raise_end(id);
        self.handles.set_error(id, error);
    }

    /// The handles of all tensors, for one who may change any of them.
    pub(crate) fn lend(&mut self) -> &mut HandleContainer<B::Handle> {
        while let Some(entry) = self.written.pop().or_else(|| self.kept.pop()) {
            self.settle(entry);
        }
        self.known.forget_all();
        self.end = u64::MAX;
        self.written_since = 0;
        &mut self.handles
    }
}
