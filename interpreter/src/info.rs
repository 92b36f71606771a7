//! The facts of the rows: how errors, traces, docs and tests name an operation.

use core::fmt;

/// The kind of a tensor: which of the backend's primitives it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A float tensor.
    Float,
    /// An int tensor, signed or unsigned.
    Int,
    /// A bool tensor.
    Bool,
    /// A quantized tensor.
    Quantized,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Float => "float",
            Kind::Int => "int",
            Kind::Bool => "bool",
            Kind::Quantized => "quantized",
        })
    }
}

/// How many tensors a field of an operation holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Arity {
    /// One tensor.
    One,
    /// One tensor or none.
    Optional,
    /// A list of tensors.
    Many,
}

/// A tensor that an operation reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct TensorInfo {
    /// The field of the operation's IR struct.
    pub name: &'static str,
    /// The kind the tensor must have. A float tensor may be quantized too: it is dequantized, or
    /// taken as it is by the [method for those](OpInfo::quantized_method).
    pub kind: Kind,
    /// How many tensors the field holds.
    pub arity: Arity,
}

impl TensorInfo {
    pub(crate) const fn new(name: &'static str, kind: Kind, arity: Arity) -> Self {
        Self { name, kind, arity }
    }
}

/// Who executes an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OpStatus {
    /// The backend's [method](OpInfo::method), called with the fields of the operation.
    Call,
    /// A function written by hand.
    Custom {
        /// Why the method cannot simply be called.
        reason: &'static str,
    },
    /// Nobody: the operation answers with an error.
    Unsupported {
        /// Why.
        reason: &'static str,
    },
}

/// The facts of one operation: a row of `op-spec.toml` for one kind of tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct OpInfo {
    /// The operation's name: `numeric.Powi.float`, `module.Conv2d`.
    pub name: &'static str,
    /// The group of the table, named after the IR enum: `numeric` for `NumericOperationIr`.
    pub group: &'static str,
    /// The variant of the IR enum.
    pub variant: &'static str,
    /// The kind of the arm; `None` in a group that has one arm only.
    pub kind: Option<Kind>,
    /// The backend's method, `float_powi`; `None` where none is called.
    pub method: Option<&'static str>,
    /// The backend's method that takes quantized tensors in place of floats, `q_reshape`; `None` where
    /// they are dequantized.
    pub quantized_method: Option<&'static str>,
    /// The tensors it reads, in the order of the method's parameters. Empty for `stream.Custom`,
    /// whose tensors are known at run time only, and for `stream.Init` and `stream.Drop`.
    pub inputs: &'static [TensorInfo],
    /// The tensors it writes, in the order the method returns them.
    pub outputs: &'static [TensorInfo],
    /// Who executes it.
    pub status: OpStatus,
    /// The line of its row in `op-spec.toml`, counted from 1.
    pub line: u32,
}
