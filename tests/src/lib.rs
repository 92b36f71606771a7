//! What the test suites share: cases made of IR, and two interpreters to run them through.
//!
//! burn-router's interpreter is the oracle. Nobody here wrote it.

mod case;
mod compare;
mod engine;
pub mod model;
pub mod mutants;
mod quiet;
pub mod stream;

pub use case::{BOOL, Case, Tensors, set_statuses};
pub use compare::{Ran, Verdict, compare, random_numbers, run};
pub use engine::{Engine, read};
pub use quiet::quietly;
