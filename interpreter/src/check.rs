//! What must hold before a backend is called: the functions that the table's `where` names.
//!
//! A check looks at what the IR declares: shapes, dtypes, axes and options. It answers what a
//! backend would answer with a panic, with memory it does not own, or with an allocation that ends
//! the program. Output shapes are those that burn-ir's builders and burn-backend's shape functions
//! give; a field that would make these overflow or panic is refused first. That a tensor is what
//! the IR declares is the affair of [`Context::read`](crate::context::Context::read).
//!
//! A check that holds costs a few comparisons; what it says otherwise is put together out of line.

#![allow(
    unused_imports,
    reason = "the generated code uses them, and there is none while the table has mistakes"
)]

mod convolution;
mod elementwise;
mod indexing;
mod linear;
mod module;
mod movement;
mod pooling;
mod quantization;
mod reduction;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use burn_backend::{DType, Shape};
use burn_ir::TensorIr;
use burn_std::MetadataError;

use crate::context::Outcome;
use crate::error::Fault;
use crate::known::same_dims;
use crate::limits::{
    LARGEST_ELEMENT, SMALL, declared_bytes, is_allocatable, is_small, machine_bytes,
};

pub(crate) use convolution::*;
pub(crate) use elementwise::*;
pub(crate) use indexing::*;
pub(crate) use linear::*;
pub(crate) use module::*;
pub(crate) use movement::*;
pub(crate) use pooling::*;
pub(crate) use quantization::*;
pub(crate) use reduction::*;

/// Refuse an operation whose fields do not fit, or data that do not.
#[cold]
pub(crate) fn refuse<T>(reason: String) -> Outcome<T> {
    Err(Box::new(Fault::Refused { reason }))
}

/// Refuse the operation unless `holds`.
#[inline]
fn ensure(holds: bool, reason: impl FnOnce() -> String) -> Outcome {
    if holds { Ok(()) } else { refuse(reason()) }
}

/// The IR declares the shape `dims` for `tensor`.
#[inline]
fn shaped(tensor: &TensorIr, dims: &[usize]) -> Outcome {
    if same_dims(&tensor.shape[..], dims) {
        return Ok(());
    }
    misshaped(tensor, dims)
}

/// The IR declares the shape for `tensor`, but for the size of one axis.
fn shaped_but(tensor: &TensorIr, shape: &Shape, axis: usize, size: usize) -> Outcome {
    shaped_by(
        tensor,
        shape,
        |at, other| {
            if at == axis { size } else { other }
        },
    )
}

/// The IR declares the shape for `tensor` that the other has with these sizes on its axes. Nothing
/// is copied to find out.
#[inline]
fn shaped_by(tensor: &TensorIr, shape: &Shape, size: impl Fn(usize, usize) -> usize) -> Outcome {
    let (dims, shape) = (&tensor.shape[..], &shape[..]);
    let mut pairs = dims.iter().zip(shape).enumerate();
    if dims.len() == shape.len() && pairs.all(|(axis, (dim, other))| *dim == size(axis, *other)) {
        return Ok(());
    }
    let sizes = shape.iter().enumerate();
    let fitting: Vec<usize> = sizes.map(|(axis, other)| size(axis, *other)).collect();
    misshaped(tensor, &fitting)
}

#[cold]
fn misshaped(tensor: &TensorIr, dims: &[usize]) -> Outcome {
    Err(Box::new(Fault::UnfitShape {
        id: tensor.id,
        declared: tensor.shape.clone(),
        fitting: Shape::from(dims.to_vec()),
    }))
}

/// The IR declares the shape that one of burn's shape functions gives for `out`.
fn shaped_as(out: &TensorIr, shape: Result<Shape, MetadataError>) -> Outcome {
    match shape {
        Ok(shape) => shaped(out, &shape),
        Err(error) => refuse(unfit(error)),
    }
}

#[cold]
fn unfit(error: MetadataError) -> String {
    match error {
        MetadataError::RankMismatch { left, right } => {
            alloc::format!("the ranks do not fit: {left} and {right}")
        }
        MetadataError::IncompatibleDims { left, right, dim } => {
            alloc::format!("the sizes on axis {dim} do not fit: {left} and {right}")
        }
        MetadataError::OutOfBounds { dim, rank } => {
            alloc::format!("axis {dim} is out of range for rank {rank}")
        }
        MetadataError::IncompatibleShapes { left, right } => {
            alloc::format!("the shapes do not fit: {left} and {right}")
        }
        MetadataError::Invalid { reason } => reason,
    }
}

/// The tensor has the rank.
fn rank(tensor: &TensorIr, rank: usize) -> Outcome {
    ensure(tensor.shape.rank() == rank, || {
        let (id, shape) = (tensor.id, &tensor.shape);
        alloc::format!("{id} must have rank {rank}, but its shape is {shape}")
    })
}

/// Outputs that are made together can be held together. Whether one fits is found where it is
/// admitted.
pub(crate) fn together<'t>(outputs: impl IntoIterator<Item = &'t TensorIr> + Clone) -> Outcome {
    let most = SMALL / outputs.clone().into_iter().count().max(1);
    let is_small = |output: &TensorIr| is_small(&output.shape[..], most);
    if outputs.clone().into_iter().all(is_small) {
        return Ok(());
    }
    let bytes = outputs.into_iter().filter_map(declared_bytes);
    let bytes = bytes.fold(0, u64::saturating_add);
    ensure(is_allocatable(bytes), || {
        alloc::format!("there is no memory for the {bytes} bytes of the outputs together")
    })
}

/// A kernel's working memory of this many elements of the tensor's type is no more than what the
/// machine has: a failed allocation inside of a kernel would end the program.
fn working_memory(tensor: &TensorIr, elements: Option<usize>) -> Outcome {
    let size = match tensor.dtype {
        // It is dequantized.
        DType::QFloat(_) => DType::F32.size(),
        dtype => dtype.size(),
    };
    let bytes = elements.and_then(|elements| elements.checked_mul(size));
    let bytes = bytes.map(|bytes| bytes as u64);
    let fits = bytes.is_some_and(|bytes| bytes <= machine_bytes() && is_allocatable(bytes));
    ensure(fits, || {
        let (id, shape) = (tensor.id, &tensor.shape);
        alloc::format!(
            "the kernel would need more working memory than the machine has, for {id} of shape \
             {shape}"
        )
    })
}
