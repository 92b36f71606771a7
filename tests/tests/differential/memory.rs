//! How much memory a piece of work takes at most.

/// Do `work`; the most memory that this thread took for it at one time, in bytes.
pub(crate) fn peak_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let mut done = None;
    let taken = allocation_counter::measure(|| done = Some(work()));
    let done = done.expect("the work was done");
    (done, taken.bytes_max as usize)
}
