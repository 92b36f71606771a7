//! Custom operations: handlers that users register for operations the table does not know.

use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use burn_backend::BackendTypes;
use burn_ir::{BackendIr, CustomOpIr, HandleContainer};
use hashbrown::HashMap;

/// Executes one custom operation: `(handles, operation, device)`.
///
/// It takes its inputs out of the handles (`get_float_tensor` and the like, with the tensors of
/// [`CustomOpIr::inputs`]), computes on the device, and registers a tensor for each of
/// [`CustomOpIr::outputs`] under its id. What these declare is within the
/// [`Limits`](crate::Limits) of the interpreter: the handler is not run where it is not.
///
/// When it returns, every output must be there with the dtype and shape that the operation
/// declares; a handler that cannot produce one says why with [`HandleContainer::set_error`].
/// Anything else, a panic included, fails the operation: all its outputs then carry the error.
pub type CustomOpHandler<B> = Arc<
    dyn Fn(
            &mut HandleContainer<<B as BackendIr>::Handle>,
            &CustomOpIr,
            &<B as BackendTypes>::Device,
        ) + Send
        + Sync,
>;

/// The handlers of custom operations, by id.
///
/// Cheap to clone: the handlers are shared.
#[derive(Clone)]
pub struct CustomOpRegistry<B: BackendIr> {
    /// With their ids, each of which is in one place for good.
    handlers: Vec<(String, CustomOpHandler<B>)>,
    places: HashMap<String, usize>,
}

impl<B: BackendIr> Default for CustomOpRegistry<B> {
    fn default() -> Self {
        Self {
            handlers: Vec::new(),
            places: HashMap::new(),
        }
    }
}

impl<B: BackendIr> core::fmt::Debug for CustomOpRegistry<B> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let ids = self.handlers.iter().map(|(id, _)| id);
        f.debug_set().entries(ids).finish()
    }
}

impl<B: BackendIr> CustomOpRegistry<B> {
    /// A registry without handlers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Execute custom operations with this `id` by `handler`, instead of the one before, if any.
    pub fn register<F>(&mut self, id: &str, handler: F)
    where
        F: Fn(&mut HandleContainer<B::Handle>, &CustomOpIr, &B::Device) + Send + Sync + 'static,
    {
        let handler: CustomOpHandler<B> = Arc::new(handler);
        match self.places.get(id) {
            Some(place) => self.handlers[*place].1 = handler,
            None => {
                self.places.insert(id.to_string(), self.handlers.len());
                self.handlers.push((id.to_string(), handler));
            }
        }
    }

    /// The place of the handler for `id`, if there is one: the same as before, most likely.
    pub(crate) fn find(&self, id: &str, before: Option<usize>) -> Option<usize> {
        let known = before.and_then(|place| self.handlers.get(place));
        match known {
            Some((known, _)) if known == id => before,
            _ => self.places.get(id).copied(),
        }
    }

    /// The handler in a place that was found.
    pub(crate) fn handler(&self, place: usize) -> &CustomOpHandler<B> {
        &self.handlers[place].1
    }
}
