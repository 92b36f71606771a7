//! What the interpreter holds: handles in and out, and the bytes they stand for.

use alloc::boxed::Box;
use alloc::vec::Vec;

use burn_ir::{BackendIr, OperationIr, TensorError, TensorId, TensorIr, TensorStatus};

use crate::context::{Context, Outcome};
use crate::error::Fault;
use crate::limits::{LARGE, declared_bytes, is_allocatable};
use crate::slots::Place;

/// What the operation at hand will have changed when it is done: its outputs are admitted before its
/// inputs are read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pending {
    /// The tensors that it lets go of.
    released: usize,
    /// Their bytes, and those of the tensors that its outputs take the place of.
    bytes: u64,
    /// The tensors that it was allowed to make, besides those in whose place others are made.
    made: usize,
}

/// The bytes of all tensors. They are counted as tensors come and go, if there is a limit; and anew
/// after something that may have changed any of them, a failure or a custom operation.
#[derive(Debug, Default)]
pub(crate) struct LiveBytes {
    count: u64,
    is_counting: bool,
    is_lost: bool,
}

impl LiveBytes {
    /// Count the bytes from now on, or do not.
    pub(crate) fn set_counting(&mut self, is_counting: bool) {
        *self = Self {
            count: 0,
            is_counting,
            is_lost: true,
        };
    }

    /// Whether bytes are counted.
    pub(crate) fn is_counting(&self) -> bool {
        self.is_counting
    }

    /// A tensor went.
    #[inline]
    pub(crate) fn remove_declared(&mut self, tensor: &TensorIr) {
        if self.is_counting {
            self.remove(declared_bytes(tensor).unwrap_or(0));
        }
    }

    /// Tensors of as many bytes went.
    pub(crate) fn remove_with(&mut self, bytes: impl FnOnce() -> u64) {
        if self.is_counting {
            self.remove(bytes());
        }
    }

    fn remove(&mut self, bytes: u64) {
        self.count = self.count.saturating_sub(bytes);
    }

    /// The count no longer holds.
    pub(crate) fn lose_count(&mut self) {
        self.is_lost = true;
    }
}

impl<B: BackendIr> Context<B> {
    /// What the operation lets go of. What an output takes the place of is not part of it yet.
    pub(crate) fn pending(&self, op: &OperationIr) -> Pending {
        let place = |tensor: &TensorIr| self.slots.place(tensor.id);
        let mut places = Vec::new();
        let mut pending = Pending::default();
        for input in op.inputs() {
            let (id, input) = (input.id, (place(input), input.status));
            let is_last = input.1 == TensorStatus::ReadWrite && !places.contains(&input.0);
            if is_last && op.outputs().all(|output| place(output) != input.0) {
                places.push(input.0);
                pending.released += usize::from(self.is_there(id));
                pending.bytes += self.bytes_in_place_of(id);
            }
        }
        pending
    }

    fn is_there(&self, id: TensorId) -> bool {
        match self.slots.place(id) {
            Place::Client(id) => self.tensors.knows(id),
            Place::Slot(slot) => !self.slots.is_empty(slot),
        }
    }

    /// The bytes of all tensors.
    pub(crate) fn live_bytes(&self) -> u64 {
        if self.live_bytes.is_counting && !self.live_bytes.is_lost {
            return self.live_bytes.count;
        }
        let bytes = self.tensors.total_bytes();
        bytes.saturating_add(self.slots.total_bytes())
    }

    /// A tensor of as many bytes may be made; it is counted from now on.
    #[inline]
    pub(crate) fn admit_bytes(&mut self, id: TensorId, bytes: Option<u64>) -> Outcome {
        let Some(bytes) = bytes.filter(|bytes| *bytes <= self.limits.max_tensor_bytes) else {
            return Err(self.too_large(id, bytes));
        };
        let is_limited = self.live_bytes.is_counting || self.limits.max_live_tensors != usize::MAX;
        match bytes >= LARGE || is_limited {
            true => self.admit_slowly(id, bytes),
            false => Ok(()),
        }
    }

    /// A tensor that is large, or that a limit may speak against, may be made.
    #[cold]
    fn admit_slowly(&mut self, id: TensorId, bytes: u64) -> Outcome {
        // It may be otherwise the next time.
        self.slots.is_clean = false;
        if !is_allocatable(bytes) {
            let id = self.name(id);
            return Err(Box::new(Fault::OutOfMemory { id, bytes }));
        }
        let pending = self.pending.unwrap_or_default();
        let replaced = self.bytes_in_place_of(id);
        if self.live_bytes.is_counting {
            let limit = self.limits.max_live_bytes;
            let live = self.live_bytes();
            self.live_bytes.count = live;
            self.live_bytes.is_lost = false;
            let live = live.saturating_sub(replaced).saturating_sub(pending.bytes);
            if live.saturating_add(bytes) > limit {
                let id = self.name(id);
                return Err(Box::new(Fault::TooManyBytes {
                    id,
                    bytes,
                    live,
                    limit,
                }));
            }
        }
        let limit = self.limits.max_live_tensors;
        let tensors = self.tensors.len() + self.slots.occupied() + pending.made;
        let is_new = !self.is_there(id);
        if is_new && tensors.saturating_sub(pending.released) >= limit {
            let id = self.name(id);
            return Err(Box::new(Fault::TooManyTensors { id, limit }));
        }
        self.live_bytes.count = self.live_bytes.count.saturating_add(bytes);
        if let Some(pending) = &mut self.pending {
            pending.bytes = pending.bytes.saturating_add(replaced);
            pending.made += usize::from(is_new);
        }
        Ok(())
    }

    /// The bytes of the tensor that `id` holds now.
    fn bytes_in_place_of(&self, id: TensorId) -> u64 {
        let bytes = match self.slots.place(id) {
            Place::Client(id) => self.tensors.bytes(id),
            Place::Slot(slot) => self.slots.told(slot).map(|told| told.bytes),
        };
        bytes.unwrap_or(0)
    }

    #[cold]
    fn too_large(&mut self, id: TensorId, bytes: Option<u64>) -> Box<Fault> {
        let limit = self.limits.max_tensor_bytes;
        let id = self.name(id);
        Box::new(Fault::TensorTooLarge { id, bytes, limit })
    }

    /// Register the handle of a tensor that was admitted, under an id that clients know.
    pub(crate) fn register(&mut self, id: TensorId, handle: B::Handle) {
        if !self.tensors.register(id, handle) {
            // It took the place of another.
            self.live_bytes.lose_count();
        }
    }

    /// Let `id` hold `error` in place of data.
    ///
    /// Errors cost memory too: as many ids as may hold data may hold an error besides. One beyond
    /// is left for the next `sync`, and its id is not known.
    pub(crate) fn claim(&mut self, id: TensorId, error: &TensorError) {
        let limit = self.limits.max_live_tensors.saturating_mul(2);
        if self.tensors.len() >= limit && !self.tensors.knows(id) {
            return self.defer(error.cause().clone());
        }
        self.tensors.set_error(id, error.clone());
        self.live_bytes.lose_count();
    }

    /// Let go of `id`, whatever it holds.
    pub(crate) fn forget(&mut self, id: TensorId) {
        if self.live_bytes.is_counting {
            let bytes = self.bytes_in_place_of(id);
            self.live_bytes.remove(bytes);
        }
        match self.slots.place(id) {
            Place::Client(id) => drop(self.tensors.forget(id)),
            Place::Slot(slot) => self.slots.clear(slot),
        }
    }
}
