//! What the test suites share: cases made of IR, and two interpreters to run them through.
//!
//! The oracles are burn-router's interpreter, and its backend, which turns a call back into the
//! operation that it is for. Nobody here wrote them.

mod backends;
mod case;
mod compare;
mod engine;
pub mod model;
pub mod mutants;
mod quiet;
mod record;
pub mod stream;

pub use case::{BOOL, Case, Tensors, eight_bits, set_statuses};
pub use compare::{Ran, Verdict, compare, random_numbers, run};
pub use engine::{Engine, read};
pub use quiet::quietly;
pub use record::{record, record_fused, recorded_form};
