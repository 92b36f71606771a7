//! How much memory a piece of work takes at most.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static TAKEN: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Do `work`; the most memory that this thread took for it at one time, in bytes.
pub(crate) fn peak_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = TAKEN.get();
    PEAK.set(before);
    let done = work();
    (done, PEAK.get().saturating_sub(before))
}

fn count(taken: usize) {
    TAKEN.set(taken);
    PEAK.set(PEAK.get().max(taken));
}

// SAFETY: every call goes to the system's allocator as it came; the counters are constant at the
// start and have no destructor, so that they neither allocate nor vanish before the thread does.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(TAKEN.get().wrapping_add(layout.size()));
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // What another thread took may be given back here.
        TAKEN.set(TAKEN.get().saturating_sub(layout.size()));
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}
