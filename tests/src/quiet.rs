//! Panics that are expected, without their noise.

use std::cell::Cell;
use std::panic;
use std::sync::Once;

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Do `work`; what panics on this thread meanwhile is not printed.
pub fn quietly<T>(work: impl FnOnce() -> T) -> T {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let print = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                print(info);
            }
        }));
    });
    let before = QUIET.replace(true);
    let done = panic::catch_unwind(panic::AssertUnwindSafe(work));
    QUIET.set(before);
    done.unwrap_or_else(|payload| panic::resume_unwind(payload))
}
