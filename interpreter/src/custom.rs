//! The bodies of the table's `custom` rows, under the mechanical name of their arm.
//!
//! A body takes the arguments its row lists and returns the row's outputs; reading the inputs,
//! registering the outputs and answering faults is generated, as for any other row.

#![allow(
    unused_imports,
    reason = "the generated code uses them, and there is none while the table has mistakes"
)]

mod booleans;
mod distributed;
mod irregular;
mod pooling;
mod quantization;
mod stream;

pub(crate) use booleans::*;
pub(crate) use distributed::*;
pub(crate) use irregular::*;
pub(crate) use pooling::*;
pub(crate) use quantization::*;
pub(crate) use stream::*;
