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
//! # Which failures are answered
//!
//! | what | when | [`Fault`] |
//! | --- | --- | --- |
//! | a tensor that is missing, was used for the last time, or holds an error | before the call | `MissingTensor`, `NotInitialized`, `Errored` |
//! | a tensor that is not of the kind, dtype or shape that the IR declares | before the call | `WrongKind`, `WrongDtype`, `WrongShape` |
//! | shapes, axes, ranges, kernels, strides, groups, scalars, distributions that do not fit | before the call | `UnfitShape`, `Refused` |
//! | a kernel that would go over padding for ever | before the call | `Refused` |
//! | a quantization scheme that does not fit its tensor, or that the backend lacks | before the call | `UnfitScheme`, `Quantized` |
//! | data of another length than their tensor has, bools that are neither 0 nor 1 | at the upload | `UnfitData`, `Refused` |
//! | a tensor beyond the [`Limits`], or beyond what the machine can hold | before the call | `TensorTooLarge`, `TooManyBytes`, `TooManyTensors`, `OutOfMemory` |
//! | an operation or a custom operation that nobody executes | before the call | `Unsupported`, `MissingHandler` |
//! | a collective that did not come to a result | from the [`Collective`] | `Collective` |
//! | a handler that leaves out an output, or reports an error | after the call | `MissingOutput`, `Handler` |
//! | what depends on data: an index out of range, a division by a tensor with a zero, an overflow where the backend checks for it | during the call | `Panicked` |
//! | what one backend lacks and another has: modes of interpolation, the gradient of the CTC loss, grouped heads of attention | during the call | `Panicked` |
//!
//! The checks before the call are the table's: the lines under `[where]`. They answer the same in
//! debug and release builds, on every backend, and need no `std`. The last line is the second line
//! of defence: a panic is caught, which takes the feature `std` and `panic = "unwind"`. **Without
//! them such a panic ends the program.** Backends that do not check indices at all (GPUs) answer an
//! index out of range with a value of their own.
//!
//! What shape an output has is found before the call, too: a backend is not asked for the shape of
//! what it made, except where a client reads it, or a handler of a custom operation made it. One that
//! makes another shape than Burn's own shape functions say is found out there.
//!
//! How long an operation takes is bounded by nothing but the sizes of its tensors: what is refused
//! is work on padding, which has no size of its own. Errors take memory too: with
//! [`Limits::max_live_tensors`] there are no more ids that hold one than that number again.
//!
//! An integer that overflows wraps where the backend is built without overflow checks, and is an
//! error of the output where it is built with them.
//!
//! A message names the operation, the cause, the tensors and what to do:
//!
//! ```text
//! operation `float.Matmul` failed: the shapes do not fit: [2, 3] and [4, 5]
//!   it reads TensorId(1) F32 [2, 3], TensorId(2) F32 [4, 5]
//!   it writes TensorId(3) F32 [2, 5]
//!   help: check the operation's fields against its tensors
//! ```
//!
//! # Quantized tensors
//!
//! They go wherever a tensor goes. An operation that moves elements keeps them quantized, through the
//! backend's method for that ([`OpInfo::quantized_method`]), as `Matmul` does. Any other operation on
//! floats dequantizes them, to the type that its other tensors have, and quantizes its output with
//! the scheme that the IR records, by scales that fit the values.
//!
//! A tensor with a scale for each block is kept where its axes are permuted; other moves dequantize it
//! and quantize it anew, because some backends move the values without the scales. The blocks must
//! tile the output. How quantized values are stored is the backend's choice: a scheme that differs in
//! its `store` only is the same.
//!
//! # Features
//!
//! - `full` (default): every group of operations. A group is also a feature by itself: `base`,
//!   `numeric`, `float`, `int`, `bool`, `module`, `activation`, `distributed`. An operation of a
//!   group that is left out is an error that names the feature.
//! - `std` (default): catches panics of the backend, and has [`Program`]s. Without it the crate is
//!   `no_std` with `alloc`.
//! - `router`: `TensorInterpreter::register_tensor`, which returns a tensor of burn-router.
//! - `tracing`: a span for each operation and each replay, with the row's name and the ids and shapes
//!   of its tensors.
//! - `capture`: makes a `Program` of a graph captured by burn-capture.
#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(not(feature = "full"), allow(dead_code))]
#![cfg_attr(not(feature = "std"), allow(rustdoc::broken_intra_doc_links))]

extern crate alloc;

mod access;
mod check;
mod collective;
mod context;
mod custom;
mod custom_op;
mod error;
mod graph;
mod guard;
mod handler;
mod held;
mod info;
mod interpreter;
mod kind;
mod known;
mod limits;
mod live;
mod near;
mod observe;
mod preflight;
#[cfg(feature = "std")]
mod profile;
#[cfg(feature = "std")]
mod program;
mod quantized;
mod read;
mod slots;
mod tensors;
mod upload;

burn_interpreter_macros::operations!(mod operations = "op-spec.toml"); // errors here: `cargo xtask check` names the row

pub use collective::Collective;
pub use custom_op::{CustomOpHandler, CustomOpRegistry};
pub use error::{Fault, OpError};
pub use graph::{BindingError, Graph};
pub use info::{Arity, Kind, OpInfo, OpStatus, TensorInfo};
pub use interpreter::TensorInterpreter;
pub use limits::Limits;
pub use operations::{OPERATIONS, op_info};
pub use preflight::Unsupported;
#[cfg(feature = "std")]
pub use profile::{Profiler, RowProfile};
#[cfg(feature = "std")]
pub use program::{FileFault, Mismatch, PreparedProgram, Program, ProgramError};
