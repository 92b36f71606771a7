//! Custom operations: handlers that users register for operations the table does not know.

use alloc::string::{String, ToString};
use alloc::sync::Arc;

use burn_backend::BackendTypes;
use burn_ir::{BackendIr, CustomOpIr, HandleContainer};
use hashbrown::HashMap;

/// Executes one custom operation: `(handles, operation, device)`.
///
/// It takes its inputs out of the handles (`get_float_tensor` and the like, with the tensors of
/// [`CustomOpIr::inputs`]), computes on the device, and registers a tensor for each of
/// [`CustomOpIr::outputs`] under its id.
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
    handlers: HashMap<String, CustomOpHandler<B>>,
}

impl<B: BackendIr> Default for CustomOpRegistry<B> {
    fn default() -> Self {
        Self {
            handlers: HashMap::new(),
        }
    }
}

impl<B: BackendIr> core::fmt::Debug for CustomOpRegistry<B> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_set().entries(self.handlers.keys()).finish()
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
        self.handlers.insert(id.to_string(), Arc::new(handler));
    }

    /// The handler for `id`.
    pub(crate) fn get(&self, id: &str) -> Option<&CustomOpHandler<B>> {
        self.handlers.get(id)
    }
}
