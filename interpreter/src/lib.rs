//! Executes Burn's tensor operation IR on any backend.
//!
//! Burn describes tensor work as `burn_ir::OperationIr`. [`TensorInterpreter`] executes it on a
//! backend that implements `burn_ir::BackendIr`. It is a drop-in for the interpreter of
//! burn-router: same names, same signatures, same meaning. Its match arms are generated from a
//! table, `op-spec.toml`, that has one row an operation.
//!
//! # What happens when an operation fails
//!
//! A failed operation is a fact about its outputs, not about the process:
//!
//! - its outputs hold an error that names the operation, its tensors, their shapes and dtypes, and
//!   what to do;
//! - operations that read such an output are skipped, and their outputs hold the same cause;
//! - reading such a tensor returns the error; dropping it is fine, and writing it recovers it;
//! - inputs with the status `ReadWrite` are released: that was their last use;
//! - every other tensor keeps its value and can be used on.
//!
//! [`try_register_op`](TensorInterpreter::try_register_op) returns the error as well. An operation
//! without outputs reports its failure at the next [`sync`](TensorInterpreter::sync).
//!
//! Found before the backend is called: tensors that are missing, hold an error, or are not of the
//! kind, dtype and shape that the IR declares, operations and custom operations that nobody
//! executes. A panic of the backend or of a custom operation's handler is caught, which takes the
//! feature `std` and `panic = "unwind"`; without them such a panic ends the program.
//!
//! # Features
//!
//! - `std` (default): catches panics of the backend, and has [`Program`]s. Without it the crate is
//!   `no_std` with `alloc`.
//! - `router`: `TensorInterpreter::register_tensor`, which returns a tensor of burn-router.
//! - `tracing`: a span for each operation and each replay, with the row's name and the ids and shapes
//!   of its tensors.
//! - `capture`: makes a `Program` of a graph captured by burn-capture.
#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(not(feature = "std"), allow(rustdoc::broken_intra_doc_links))]

extern crate alloc;

mod check;
mod collective;
mod context;
mod custom;
mod custom_op;
mod error;
mod graph;
mod guard;
mod info;
mod interpreter;
mod kind;
mod known;
mod limits;
mod live;
mod observe;
#[cfg(feature = "std")]
mod profile;
#[cfg(feature = "std")]
mod program;
mod slots;

burn_interpreter_macros::operations!(mod operations = "op-spec.toml"); // a variant not covered needs a row there

pub use collective::Collective;
pub use custom_op::{CustomOpHandler, CustomOpRegistry};
pub use error::{Fault, OpError};
pub use graph::{BindingError, Graph};
pub use info::{Arity, Kind, OpInfo, OpStatus, TensorInfo};
pub use interpreter::TensorInterpreter;
pub use limits::Limits;
pub use operations::{OPERATIONS, op_info};
#[cfg(feature = "std")]
pub use profile::{Profiler, RowProfile};
#[cfg(feature = "std")]
pub use program::{FileFault, Mismatch, PreparedProgram, Program, ProgramError};
