//! What can go wrong with an operation, and how it is told.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use burn_backend::{DType, ExecutionError, Shape};
use burn_ir::{TensorError, TensorId, TensorIr};

use crate::info::{Kind, OpInfo, OpStatus};
use crate::quantized::readable;

/// What went wrong.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Fault {
    /// The interpreter does not execute the operation; its [status](OpInfo::status) says why.
    Unsupported,
    /// The group of the operation is not part of this build of the interpreter.
    Disabled {
        /// The feature of burn-interpreter that it takes.
        feature: &'static str,
    },
    /// A tensor was never registered, or its last use is over.
    MissingTensor {
        /// The tensor.
        id: TensorId,
    },
    /// A tensor is read with the status of one that does not exist yet.
    NotInitialized {
        /// The tensor.
        id: TensorId,
    },
    /// A tensor holds no data because the operation that writes it failed.
    Errored {
        /// The tensor.
        id: TensorId,
        /// Why it holds no data.
        error: TensorError,
    },
    /// The IR gives a tensor a dtype that is not of the kind the operation asks for.
    WrongKind {
        /// The tensor.
        id: TensorId,
        /// The kind that is asked for.
        expected: Kind,
        /// The dtype the IR declares.
        declared: DType,
    },
    /// A tensor's elements are not of the type the IR declares.
    WrongDtype {
        /// The tensor.
        id: TensorId,
        /// The dtype the IR declares.
        declared: DType,
        /// The dtype the tensor has.
        actual: DType,
    },
    /// A tensor's shape is not the one the IR declares.
    WrongShape {
        /// The tensor.
        id: TensorId,
        /// The shape the IR declares.
        declared: Shape,
        /// The shape the tensor has.
        actual: Shape,
    },
    /// The IR gives a tensor a shape that does not fit the operation.
    UnfitShape {
        /// The tensor.
        id: TensorId,
        /// The shape the IR declares.
        declared: Shape,
        /// The shape that fits the operation's other tensors and fields.
        fitting: Shape,
    },
    /// A tensor is larger than the [limits](crate::Limits) allow, or than can be counted.
    TensorTooLarge {
        /// The tensor.
        id: TensorId,
        /// Its size in bytes; `None` where it cannot be counted.
        bytes: Option<u64>,
        /// The largest size allowed, in bytes.
        limit: u64,
    },
    /// A tensor would bring all together beyond the [limits](crate::Limits).
    TooManyBytes {
        /// The tensor.
        id: TensorId,
        /// Its size in bytes.
        bytes: u64,
        /// The bytes of all others.
        live: u64,
        /// The bytes allowed for all together.
        limit: u64,
    },
    /// There are as many tensors as the [limits](crate::Limits) allow.
    TooManyTensors {
        /// The tensor.
        id: TensorId,
        /// The number allowed.
        limit: usize,
    },
    /// The allocator does not have the memory for a tensor.
    OutOfMemory {
        /// The tensor.
        id: TensorId,
        /// Its size in bytes.
        bytes: u64,
    },
    /// The backend has no tensors that are quantized in this way.
    Quantized {
        /// The dtype.
        dtype: DType,
    },
    /// The quantization scheme of a tensor does not fit its shape.
    UnfitScheme {
        /// The tensor.
        id: TensorId,
        /// The dtype, which is the scheme.
        dtype: DType,
        /// What does not fit.
        reason: String,
    },
    /// The data of a tensor have another length than their shape and dtype ask for.
    UnfitData {
        /// The tensor.
        id: TensorId,
        /// The number of bytes.
        bytes: u64,
        /// The number of bytes asked for; `None` where it cannot be counted.
        expected: Option<u64>,
    },
    /// The fields of the operation do not fit its tensors, or are beyond what the backend can do.
    Refused {
        /// What does not fit.
        reason: String,
    },
    /// The devices did not come to a result together.
    Collective {
        /// Why not.
        reason: String,
    },
    /// No handler is registered for a custom operation.
    MissingHandler {
        /// The id of the custom operation.
        id: String,
    },
    /// The handler of a custom operation left out one of the declared outputs.
    MissingOutput {
        /// The output.
        id: TensorId,
    },
    /// The handler of a custom operation claimed an output with an error of its own.
    Handler {
        /// The error.
        error: TensorError,
    },
    /// The backend, or the handler of a custom operation, panicked.
    Panicked {
        /// The message of the panic.
        message: String,
    },
}

impl Fault {
    /// Whether a check refused the operation, before anything was done.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self, Fault::Refused { .. } | Fault::UnfitShape { .. })
    }

    /// What to do about it.
    fn help(&self) -> &'static str {
        match self {
            Fault::Unsupported => "use an operation that the interpreter executes",
            Fault::Quantized { .. } => "use a scheme that the backend has, as `dtype_usage` tells",
            Fault::UnfitScheme { .. } => "make the scheme fit the tensor's shape",
            Fault::UnfitData { .. } => {
                "give the values of the whole tensor, and the scales if it is quantized"
            }
            Fault::Disabled { .. } => "build burn-interpreter with that feature",
            Fault::MissingTensor { .. } => {
                "register the tensor before its first use, and use it as `ReadWrite` only once, last"
            }
            Fault::NotInitialized { .. } => "give inputs the status `ReadOnly` or `ReadWrite`",
            Fault::Errored { .. } => "mend the operation that failed first",
            Fault::WrongKind { .. } | Fault::WrongDtype { .. } | Fault::WrongShape { .. } => {
                "make the IR declare what the tensor is"
            }
            Fault::TensorTooLarge { .. }
            | Fault::TooManyBytes { .. }
            | Fault::TooManyTensors { .. }
            | Fault::OutOfMemory { .. } => {
                "drop tensors that are no longer needed, or raise the `Limits` of the interpreter"
            }
            Fault::Refused { .. } | Fault::UnfitShape { .. } | Fault::Panicked { .. } => {
                "check the operation's fields against its tensors"
            }
            Fault::Collective { .. } => "see that every device takes part",
            Fault::MissingHandler { .. } => {
                "register a handler under this id with `CustomOpRegistry::register`"
            }
            Fault::MissingOutput { .. } | Fault::Handler { .. } => {
                "make the handler register a tensor for every output the IR declares"
            }
        }
    }

    /// The error that a read of a tensor reports which this fault left without data.
    pub(crate) fn into_execution_error(self) -> ExecutionError {
        match self {
            Fault::Errored { error, .. } | Fault::Handler { error } if error.depth() == 0 => {
                error.cause().clone()
            }
            fault => ExecutionError::with_context(alloc::format!("{fault}")),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Unsupported => write!(f, "it is not supported"),
            Fault::Disabled { feature } => {
                write!(
                    f,
                    "the interpreter is built without the feature `{feature}`"
                )
            }
            Fault::MissingTensor { id } => {
                write!(f, "{id} was never registered, or its last use is over")
            }
            Fault::NotInitialized { id } => {
                write!(f, "{id} is read with the status `NotInit`")
            }
            Fault::Errored { id, error } => write!(f, "{id} holds no data: {error}"),
            Fault::WrongKind {
                id,
                expected,
                declared,
            } => write!(
                f,
                "{id} must be a {expected} tensor, but the IR declares {declared:?}"
            ),
            Fault::WrongDtype {
                id,
                declared,
                actual,
            } => write!(
                f,
                "the IR declares {id} as {declared:?}, but it is {actual:?}"
            ),
            Fault::WrongShape {
                id,
                declared,
                actual,
            } => write!(
                f,
                "the IR declares {id} with shape {declared}, but it has {actual}"
            ),
            Fault::UnfitShape {
                id,
                declared,
                fitting,
            } => write!(
                f,
                "the IR declares {id} with shape {declared}, but the operation asks for {fitting}"
            ),
            Fault::TensorTooLarge {
                id,
                bytes: Some(bytes),
                limit,
            } => write!(f, "{id} would take {bytes} bytes, but the limit is {limit}"),
            Fault::TensorTooLarge { id, limit, .. } => write!(
                f,
                "{id} would take more bytes than can be counted, but the limit is {limit}"
            ),
            Fault::TooManyBytes {
                id,
                bytes,
                live,
                limit,
            } => write!(
                f,
                "{id} would take {bytes} bytes beside the {live} of other tensors, but the limit \
                 is {limit}"
            ),
            Fault::TooManyTensors { id, limit } => {
                write!(f, "{id} would be one tensor more than the limit of {limit}")
            }
            Fault::OutOfMemory { id, bytes } => {
                write!(f, "there is no memory for the {bytes} bytes of {id}")
            }
            Fault::Quantized { dtype } => write!(f, "the backend has no {dtype:?} tensors"),
            Fault::UnfitScheme { id, dtype, reason } => {
                write!(f, "the scheme of {id} does not fit: {reason}: {dtype:?}")
            }
            Fault::UnfitData {
                id,
                bytes,
                expected: Some(expected),
            } => write!(
                f,
                "{id} takes {expected} bytes of data, but there are {bytes}"
            ),
            Fault::UnfitData { id, bytes, .. } => write!(
                f,
                "{id} takes more bytes of data than can be counted, but there are {bytes}"
            ),
            Fault::Refused { reason } => f.write_str(reason),
            Fault::Collective { reason } => write!(f, "the collective failed: {reason}"),
            Fault::MissingHandler { id } => {
                write!(
                    f,
                    "no handler is registered for the custom operation `{id}`"
                )
            }
            Fault::MissingOutput { id } => write!(f, "the handler left out the output {id}"),
            Fault::Handler { error } => write!(f, "the handler reports: {error}"),
            Fault::Panicked { message } => write!(f, "the backend panicked: {message}"),
        }
    }
}

impl core::error::Error for Fault {}

/// An operation that produced none of its outputs.
///
/// The outputs hold the error in place of data: operations that read them are skipped and pass it
/// on, and reading one of them returns it. All other tensors are as they were, except that inputs
/// with the status `ReadWrite` are released.
#[derive(Clone)]
pub struct OpError(Box<Inner>);

#[derive(Clone)]
struct Inner {
    op: &'static OpInfo,
    custom_op: Option<String>,
    fault: Fault,
    inputs: Vec<TensorIr>,
    outputs: Vec<TensorIr>,
}

impl OpError {
    pub(crate) fn new(op: &burn_ir::OperationIr, fault: Fault) -> Self {
        let custom_op = match op {
            burn_ir::OperationIr::Custom(custom) => Some(custom.id.clone()),
            _ => None,
        };
        Self(Box::new(Inner {
            op: crate::op_info(op),
            custom_op,
            fault,
            inputs: op.inputs().map(shown).collect(),
            outputs: op.outputs().map(shown).collect(),
        }))
    }

    /// The operation.
    pub fn op(&self) -> &'static OpInfo {
        self.0.op
    }

    /// The id of the custom operation, if it is one.
    pub fn custom_op(&self) -> Option<&str> {
        self.0.custom_op.as_deref()
    }

    /// What went wrong.
    pub fn fault(&self) -> &Fault {
        &self.0.fault
    }

    /// The tensors it reads, as the IR declares them.
    pub fn inputs(&self) -> &[TensorIr] {
        &self.0.inputs
    }

    /// The tensors it should have written, as the IR declares them.
    pub fn outputs(&self) -> &[TensorIr] {
        &self.0.outputs
    }

    /// The error its outputs carry in place of data.
    pub(crate) fn tensor_error(&self) -> TensorError {
        match self.fault() {
            Fault::Errored { error, .. } => error.propagated(),
            Fault::Handler { error } => error.clone(),
            _ => TensorError::new(ExecutionError::with_context(alloc::format!("{self}"))),
        }
    }
}

/// The tensor, whose dtype can be shown.
fn shown(tensor: &TensorIr) -> TensorIr {
    TensorIr {
        dtype: readable(tensor.dtype),
        ..tensor.clone()
    }
}

/// How many tensors of a list an error names.
const SHOWN: usize = 8;

fn write_tensors(f: &mut fmt::Formatter<'_>, verb: &str, tensors: &[TensorIr]) -> fmt::Result {
    if tensors.is_empty() {
        return Ok(());
    }
    write!(f, "\n  it {verb}")?;
    for (position, tensor) in tensors.iter().take(SHOWN).enumerate() {
        let comma = if position == 0 { "" } else { "," };
        write!(
            f,
            "{comma} {} {:?} {}",
            tensor.id, tensor.dtype, tensor.shape
        )?;
    }
    match tensors.len().saturating_sub(SHOWN) {
        0 => Ok(()),
        more => write!(f, " and {more} more"),
    }
}

impl fmt::Display for OpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner {
            op,
            custom_op,
            fault,
            inputs,
            outputs,
        } = &*self.0;
        let verb = match fault {
            Fault::Errored { .. } => "was skipped",
            _ => "failed",
        };
        write!(f, "operation `{}`", op.name)?;
        if let Some(id) = custom_op {
            write!(f, " (`{id}`)")?;
        }
        write!(f, " {verb}: {fault}")?;
        if let (Fault::Unsupported, OpStatus::Unsupported { reason }) = (fault, op.status) {
            write!(f, ": {reason}")?;
        }
        write_tensors(f, "reads", inputs)?;
        write_tensors(f, "writes", outputs)?;
        write!(f, "\n  help: {}", fault.help())
    }
}

impl fmt::Debug for OpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpError")
            .field("op", &self.0.op.name)
            .field("custom_op", &self.0.custom_op)
            .field("fault", &self.0.fault)
            .field("inputs", &self.0.inputs)
            .field("outputs", &self.0.outputs)
            .finish()
    }
}

impl core::error::Error for OpError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        Some(self.fault())
    }
}
