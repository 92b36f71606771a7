//! What the interpreter holds: handles in and out, and the bytes they stand for.

use alloc::boxed::Box;

use burn_ir::{BackendIr, TensorError, TensorId, TensorIr};

use crate::context::{Context, Outcome};
use crate::error::Fault;
use crate::kind::held_bytes;
use crate::limits::{LARGE, declared_bytes, is_allocatable};
use crate::slots::{Place, Slot};

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

    /// A tensor went.
    #[inline]
    pub(crate) fn remove_declared(&mut self, tensor: &TensorIr) {
        if self.is_counting {
            self.remove(declared_bytes(tensor).unwrap_or(0));
        }
    }

    /// A tensor went.
    pub(crate) fn remove_held<B: BackendIr>(&mut self, handle: &B::Handle) {
        if self.is_counting {
            self.remove(held_bytes::<B>(handle));
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
    /// The bytes of all tensors.
    pub(crate) fn live_bytes(&self) -> u64 {
        if self.live_bytes.is_counting && !self.live_bytes.is_lost {
            return self.live_bytes.count;
        }
        let ids = self.handles.handle_ids();
        let handles = ids.filter_map(|id| self.handles.get_handle_ref(id));
        let handles = handles.chain(self.slots.all_held());
        handles.map(held_bytes::<B>).fold(0, u64::saturating_add)
    }

    /// A tensor of as many bytes may be made; it is counted from now on.
    #[inline]
    pub(crate) fn admit_bytes(&mut self, id: TensorId, bytes: Option<u64>) -> Outcome {
        let Some(bytes) = bytes.filter(|bytes| *bytes <= self.limits.max_tensor_bytes) else {
            return Err(self.too_large(id, bytes));
        };
        let tensors = self.handles.num_handles() + self.slots.occupied();
        if bytes >= LARGE || self.live_bytes.is_counting || tensors >= self.limits.max_live_tensors
        {
            return self.admit_slowly(id, bytes, tensors);
        }
        Ok(())
    }

    /// A tensor that is large, or that a limit may speak against, may be made.
    #[cold]
    fn admit_slowly(&mut self, id: TensorId, bytes: u64, tensors: usize) -> Outcome {
        // It may be otherwise the next time.
        self.slots.is_clean = false;
        if !is_allocatable(bytes) {
            let id = self.name(id);
            return Err(Box::new(Fault::OutOfMemory { id, bytes }));
        }
        if self.live_bytes.is_counting {
            let limit = self.limits.max_live_bytes;
            let live = self.live_bytes();
            self.live_bytes.count = live;
            self.live_bytes.is_lost = false;
            // What it takes the place of goes.
            let live = live.saturating_sub(self.bytes_in_place_of(id));
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
        let is_new = match self.slots.place(id) {
            Place::Container(id) => !self.knows(&id),
            Place::Slot(slot) => matches!(self.slots.get(slot), Slot::Empty),
        };
        if tensors >= limit && is_new {
            let id = self.name(id);
            return Err(Box::new(Fault::TooManyTensors { id, limit }));
        }
        self.live_bytes.count = self.live_bytes.count.saturating_add(bytes);
        Ok(())
    }

    /// The bytes of the tensor that `id` holds now.
    fn bytes_in_place_of(&self, id: TensorId) -> u64 {
        let held = match self.slots.place(id) {
            Place::Container(id) => self.handles.get_handle_ref(&id),
            Place::Slot(slot) => self.slots.held(slot),
        };
        held.map_or(0, held_bytes::<B>)
    }

    #[cold]
    fn too_large(&mut self, id: TensorId, bytes: Option<u64>) -> Box<Fault> {
        let limit = self.limits.max_tensor_bytes;
        let id = self.name(id);
        Box::new(Fault::TensorTooLarge { id, bytes, limit })
    }

    /// Register the handle of a tensor that was admitted.
    pub(crate) fn register(&mut self, id: TensorId, handle: B::Handle) {
        self.known.forget(id);
        self.put(self.slots.place(id), handle);
    }

    /// Put the handle of a tensor in its place. What is known of the tensor there before no longer
    /// holds.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn put(&mut self, place: Place, handle: B::Handle) {
        let is_new = match place {
            Place::Container(id) => {
                let known = self.handles.num_handles();
                self.handles.register_handle(id, handle);
                self.handles.num_handles() != known
            }
            Place::Slot(slot) => self.slots.put(slot, Slot::Held(handle)),
        };
        if !is_new {
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
        if self.handles.num_handles() >= limit && !self.knows(&id) {
            return self.defer(error.cause().clone());
        }
        self.handles.set_error(id, error.clone());
    }

    /// Let go of `id`, whatever it holds.
    pub(crate) fn forget(&mut self, id: TensorId) {
        if self.live_bytes.is_counting {
            let bytes = self.bytes_in_place_of(id);
            self.live_bytes.remove(bytes);
        }
        // Dropped where they are: a handle is large.
        match self.slots.place(id) {
            Place::Container(id) => drop(self.handles.remove_handle(id)),
            Place::Slot(slot) => drop(self.slots.take(slot)),
        }
    }
}
