//! What can go wrong with a program.

use std::boxed::Box;
use std::path::PathBuf;
use std::string::String;
use std::{fmt, io};

use burn_backend::{DType, ExecutionError, Shape, TensorData};
use burn_ir::{TensorId, TensorIr};

use crate::error::{Fault, OpError};
use crate::quantized::{readable, same_scheme};

/// What is wrong with the bytes of a program file.
#[derive(Debug)]
#[non_exhaustive]
pub enum FileFault {
    /// They are not a program.
    Magic,
    /// They are of another version of the format.
    Format {
        /// The version of the file.
        found: u32,
        /// The version that is read.
        expected: u32,
    },
    /// The program is of another version of burn-ir, whose operations are not these.
    BurnIr {
        /// The version of the file.
        found: String,
        /// The version that is read.
        expected: &'static str,
    },
    /// The file ends early.
    Truncated {
        /// The bytes it should have.
        expected: u64,
        /// The bytes it has.
        found: u64,
    },
    /// The file goes on after the program.
    Trailing {
        /// The bytes too many.
        bytes: u64,
    },
    /// The checksum is not that of the bytes.
    Checksum,
    /// The bytes are whole, but do not say a program.
    Payload {
        /// What the decoder says.
        reason: String,
    },
}

impl fmt::Display for FileFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileFault::Magic => {
                write!(f, "this is no program file: write one with `Program::save`")
            }
            FileFault::Format { found, expected } => write!(
                f,
                "the file has format version {found}, but this is version {expected}: save the \
                 program again"
            ),
            FileFault::BurnIr { found, expected } => write!(
                f,
                "the program is of burn-ir {found}, but this is burn-ir {expected}: its operations \
                 may mean something else, capture it again"
            ),
            FileFault::Truncated { expected, found } => write!(
                f,
                "the file ends after {found} of {expected} bytes: copy or save it again"
            ),
            FileFault::Trailing { bytes } => write!(
                f,
                "the file has {bytes} byte(s) after the program: copy or save it again"
            ),
            FileFault::Checksum => {
                write!(
                    f,
                    "the file is corrupt, its checksum is wrong: copy or save it again"
                )
            }
            FileFault::Payload { reason } => {
                write!(f, "the file is whole, but holds no program: {reason}")
            }
        }
    }
}

/// A tensor that is not what the graph declares.
#[derive(Clone, Debug)]
pub struct Mismatch {
    /// The graph's declaration.
    pub expected: TensorIr,
    /// The shape it has.
    pub shape: Shape,
    /// The dtype it has.
    pub dtype: DType,
}

impl Mismatch {
    /// How `data` differs from the declaration `expected`, if it does.
    pub(super) fn find(expected: &TensorIr, data: &TensorData) -> Option<Box<Self>> {
        let (dtype, declared) = (data.dtype(), expected.dtype);
        let is_declared = dtype == declared || same_scheme(dtype, declared);
        (!is_declared || *data.shape() != expected.shape).then(|| {
            Box::new(Self {
                expected: expected.clone(),
                shape: data.shape().clone(),
                dtype: readable(dtype),
            })
        })
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            expected,
            shape,
            dtype,
        } = self;
        write!(
            f,
            "{} must be {:?} {}, as captured, but is {dtype:?} {shape}",
            expected.id, expected.dtype, expected.shape
        )
    }
}

/// What went wrong with a program.
#[derive(Debug)]
#[non_exhaustive]
pub enum ProgramError {
    /// A file could not be read or written.
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The bytes of a file are not a program.
    File {
        /// The file; `None` if the bytes came from elsewhere.
        path: Option<PathBuf>,
        /// What is wrong with them.
        fault: FileFault,
    },
    /// The program could not be encoded.
    Encode {
        /// What the encoder says.
        reason: String,
    },
    /// The graph and its constants do not fit together.
    Invalid {
        /// What the tensor is: an input, an output, a tensor in between.
        role: &'static str,
        /// The tensor.
        id: TensorId,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A constant is not what the graph declares.
    Constant {
        /// What it should be and what it is.
        mismatch: Box<Mismatch>,
    },
    /// The number of inputs is wrong.
    InputCount {
        /// How many the program has.
        expected: usize,
        /// How many were given.
        given: usize,
    },
    /// An input is not of the captured shape and dtype.
    Input {
        /// Its position.
        position: usize,
        /// What it should be and what it is.
        mismatch: Box<Mismatch>,
    },
    /// The backend refused an input or a constant.
    Upload {
        /// The tensor.
        id: TensorId,
        /// Why.
        source: Fault,
    },
    /// An operation failed.
    Operation {
        /// Its position in the graph.
        position: usize,
        /// The failure.
        source: OpError,
    },
    /// An output could not be read.
    Output {
        /// The tensor.
        id: TensorId,
        /// Why.
        source: ExecutionError,
    },
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProgramError::Io { path, source } => write!(f, "`{}`: {source}", path.display()),
            ProgramError::File { path, fault } => match path {
                Some(path) => write!(f, "`{}`: {fault}", path.display()),
                None => fault.fmt(f),
            },
            ProgramError::Encode { reason } => {
                write!(f, "the program cannot be encoded: {reason}")
            }
            ProgramError::Invalid { role, id, reason } => {
                write!(f, "the graph is no program: its {role} {id} {reason}")
            }
            ProgramError::Constant { mismatch } => write!(f, "the constant {mismatch}"),
            ProgramError::InputCount { expected, given } => write!(
                f,
                "the program takes {expected} input(s), {given} were given"
            ),
            ProgramError::Input { position, mismatch } => {
                write!(f, "input {position}, {mismatch}")
            }
            ProgramError::Upload { id, source } => write!(f, "{id} was not uploaded: {source}"),
            ProgramError::Operation { position, source } => {
                write!(f, "at position {position} of the graph: {source}")
            }
            ProgramError::Output { id, source } => {
                write!(f, "the output {id} cannot be read: {source}")
            }
        }
    }
}

impl core::error::Error for ProgramError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            ProgramError::Io { source, .. } => Some(source),
            ProgramError::Upload { source, .. } => Some(source),
            ProgramError::Operation { source, .. } => Some(source),
            ProgramError::Output { source, .. } => Some(source),
            _ => None,
        }
    }
}
