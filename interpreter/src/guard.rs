//! The second line of defence: a panic of the backend becomes a [`Fault`].
//!
//! Without `std`, and where the program is built with `panic = "abort"`, a panic cannot be caught:
//! there only the faults that are found before the backend is called are answered.

use alloc::boxed::Box;

use burn_backend::ExecutionError;
use burn_std::future::DynFut;

use crate::context::Outcome;

/// Do `work`, and answer its panic as [`Fault::Panicked`](crate::Fault::Panicked).
///
/// Whatever `work` changes must be whole at every point where it can panic. A map of handles is:
/// each of its changes is one insertion or one removal.
#[cfg(feature = "std")]
pub(crate) fn guard<T>(work: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| panicked(payload))
}

#[cfg(feature = "std")]
#[cold]
#[inline(never)]
fn panicked<T>(payload: Box<dyn core::any::Any + Send>) -> Outcome<T> {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    let message = if let Some(message) = payload.downcast_ref::<&str>() {
        (*message).into()
    } else if let Some(message) = payload.downcast_ref::<alloc::string::String>() {
        message.clone()
    } else {
        "without a message".into()
    };
    // The payload is the backend's too: it may panic once more when it is dropped.
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        core::mem::forget(again);
    }
    Err(Box::new(crate::Fault::Panicked { message }))
}

/// Do `work`.
#[cfg(not(feature = "std"))]
pub(crate) fn guard<T>(work: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    work()
}

/// The future, which answers a panic as an error.
#[cfg(feature = "std")]
pub(crate) fn guard_future<T>(
    future: impl Future<Output = Result<T, ExecutionError>> + Send + 'static,
) -> DynFut<Result<T, ExecutionError>> {
    let mut future = Box::pin(future);
    Box::pin(core::future::poll_fn(move |context| {
        let polled = guard(|| Ok(future.as_mut().poll(context)));
        polled.unwrap_or_else(|fault| core::task::Poll::Ready(Err(fault.into_execution_error())))
    }))
}

/// The future.
#[cfg(not(feature = "std"))]
pub(crate) fn guard_future<T>(
    future: impl Future<Output = Result<T, ExecutionError>> + Send + 'static,
) -> DynFut<Result<T, ExecutionError>> {
    Box::pin(future)
}
