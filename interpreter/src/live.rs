//! What the interpreter holds: handles in and out, and the bytes they stand for.

use alloc::boxed::Box;
use alloc::vec::Vec;

use burn_ir::{BackendIr, Handle, TensorId};

use crate::context::{Context, Outcome};
use crate::error::Fault;
use crate::kind::held_bytes;

/// From this size on, the allocator is asked before a backend is: a backend that is refused an
/// allocation ends the program.
const LARGE: u64 = 16 << 20;

/// The bytes of all tensors: counted as they come and go, and anew after something that may have
/// changed any of them, a failure or a custom operation.
#[derive(Debug, Default)]
pub(crate) struct LiveBytes {
    count: u64,
    lost: bool,
}

impl LiveBytes {
    /// A tensor of as many bytes went.
    pub(crate) fn remove(&mut self, bytes: Option<u64>) {
        self.count = self.count.saturating_sub(bytes.unwrap_or(0));
    }

    /// The count no longer holds.
    pub(crate) fn lose_count(&mut self) {
        self.lost = true;
    }
}

impl<B: BackendIr> Context<B> {
    /// The bytes of all tensors.
    pub(crate) fn live_bytes(&self) -> u64 {
        if !self.live_bytes.lost {
            return self.live_bytes.count;
        }
        let ids = self.handles.handle_ids();
        let handles = ids.filter_map(|id| self.handles.get_handle_ref(id).cloned());
        handles.map(held_bytes::<B>).fold(0, u64::saturating_add)
    }

    /// A tensor of as many bytes may be made; it is counted from now on.
    pub(crate) fn admit_bytes(&mut self, id: TensorId, bytes: Option<u64>) -> Outcome {
        let limit = self.limits.max_tensor_bytes;
        let Some(bytes) = bytes.filter(|bytes| *bytes <= limit) else {
            return Err(Box::new(Fault::TensorTooLarge { id, bytes, limit }));
        };
        if bytes >= LARGE {
            allocatable(id, bytes)?;
        }
        if self.limits.max_live_bytes != u64::MAX {
            let limit = self.limits.max_live_bytes;
            let live = self.live_bytes();
            self.live_bytes = LiveBytes {
                count: live,
                lost: false,
            };
            if live.saturating_add(bytes) > limit {
                return Err(Box::new(Fault::TooManyBytes {
                    id,
                    bytes,
                    live,
                    limit,
                }));
            }
        }
        let limit = self.limits.max_live_tensors;
        if self.handles.num_handles() >= limit && !self.knows(&id) {
            return Err(Box::new(Fault::TooManyTensors { id, limit }));
        }
        self.live_bytes.count = self.live_bytes.count.saturating_add(bytes);
        Ok(())
    }

    /// Register the handle of a tensor that was admitted.
    pub(crate) fn register(&mut self, id: TensorId, handle: B::Handle) {
        let known = self.handles.num_handles();
        self.handles.register_handle(id, handle);
        if self.handles.num_handles() == known {
            // It took the place of another.
            self.live_bytes.lose_count();
        }
    }

    /// Let go of `id`, whatever it holds.
    pub(crate) fn forget(&mut self, id: TensorId) {
        if let Some(Handle::Existing(handle)) = self.handles.remove_handle(id) {
            self.live_bytes.remove(Some(held_bytes::<B>(handle)));
        }
    }
}

/// The allocator has as many bytes to give.
#[cold]
fn allocatable(id: TensorId, bytes: u64) -> Outcome {
    let mut trial = Vec::<u8>::new();
    let given = usize::try_from(bytes).is_ok_and(|bytes| trial.try_reserve_exact(bytes).is_ok());
    match given && core::hint::black_box(&trial).capacity() > 0 {
        true => Ok(()),
        false => Err(Box::new(Fault::OutOfMemory { id, bytes })),
    }
}
