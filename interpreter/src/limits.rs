//! How much an interpreter may hold.

use alloc::vec::Vec;

use burn_backend::{DType, Shape};
use burn_ir::TensorIr;
use portable_atomic::{AtomicU64, Ordering};

use crate::quantized::quantized_bytes;

/// What an interpreter refuses to hold or to run.
///
/// The defaults refuse only what the machine cannot hold. A tensor counts as if it owned its data,
/// also where the backend shares them with another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The bytes of one tensor. By default the memory of the machine, swap included; without the
    /// feature `std`, the largest allocation of the target. A device with more memory than the
    /// machine needs another limit.
    pub max_tensor_bytes: u64,
    /// The bytes of all tensors together. By default without limit.
    pub max_live_bytes: u64,
    /// The number of tensors, those that hold an error included. By default without limit.
    ///
    /// An operation that this limit refuses leaves its error in its outputs. There may be as many
    /// ids again for that; an error beyond is told by the next `sync`, and its id is not known.
    pub max_live_tensors: usize,
    /// The number of operations of a graph that is replayed. By default without limit.
    pub max_graph_ops: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_tensor_bytes: machine_bytes(),
            max_live_bytes: u64::MAX,
            max_live_tensors: usize::MAX,
            max_graph_ops: usize::MAX,
        }
    }
}

impl Limits {
    /// Refuse tensors of more bytes.
    pub fn max_tensor_bytes(mut self, bytes: u64) -> Self {
        self.max_tensor_bytes = bytes;
        self
    }

    /// Refuse tensors that would bring all together to more bytes.
    pub fn max_live_bytes(mut self, bytes: u64) -> Self {
        self.max_live_bytes = bytes;
        self
    }

    /// Refuse tensors beyond this number.
    pub fn max_live_tensors(mut self, tensors: usize) -> Self {
        self.max_live_tensors = tensors;
        self
    }

    /// So many elements, whatever their type, are within the limits. None if that depends on what
    /// else there is.
    pub(crate) fn small(&self) -> usize {
        let is_absolute = self.max_live_bytes == u64::MAX && self.max_live_tensors == usize::MAX;
        let most = self.max_tensor_bytes / LARGEST_ELEMENT as u64;
        match is_absolute {
            true => SMALL.min(most.try_into().unwrap_or(SMALL)),
            false => 0,
        }
    }

    /// Refuse to replay graphs of more operations.
    pub fn max_graph_ops(mut self, ops: usize) -> Self {
        self.max_graph_ops = ops;
        self
    }
}

/// The memory of the machine, swap included, in bytes.
#[cfg(feature = "std")]
pub(crate) fn machine_bytes() -> u64 {
    use std::sync::OnceLock;

    use sysinfo::{MemoryRefreshKind, RefreshKind, System};

    static BYTES: OnceLock<u64> = OnceLock::new();
    *BYTES.get_or_init(|| {
        let memory = MemoryRefreshKind::everything();
        let system = System::new_with_specifics(RefreshKind::nothing().with_memory(memory));
        let bytes = system.total_memory().saturating_add(system.total_swap());
        // A system that does not tell how much it has.
        if bytes == 0 {
            largest_allocation()
        } else {
            bytes
        }
    })
}

/// The largest allocation of the target, in bytes.
#[cfg(not(feature = "std"))]
pub(crate) fn machine_bytes() -> u64 {
    largest_allocation()
}

fn largest_allocation() -> u64 {
    isize::MAX as u64
}

/// From this size on, the allocator is asked before a backend is: a backend that is refused an
/// allocation ends the program.
pub(crate) const LARGE: u64 = 16 << 20;

/// The bytes of the largest type of elements.
pub(crate) const LARGEST_ELEMENT: usize = 8;

/// So many elements are not large, whatever their type.
pub(crate) const SMALL: usize = LARGE as usize / LARGEST_ELEMENT - 1;

/// Whether there are elements, and no more than `most`.
#[inline]
pub(crate) fn is_small(shape: &[usize], most: usize) -> bool {
    elements(shape).is_some_and(|elements| (1..=most).contains(&elements))
}

/// Whether the allocator has as many bytes to give, if they are many.
#[inline]
pub(crate) fn is_allocatable(bytes: u64) -> bool {
    bytes < LARGE || is_given(bytes)
}

static ASKED: AtomicU64 = AtomicU64::new(0);

/// How often the allocator was asked, by whichever thread. What depended on its answer is another
/// matter the next time.
pub(crate) fn asked() -> u64 {
    ASKED.load(Ordering::Relaxed)
}

#[cold]
fn is_given(bytes: u64) -> bool {
    ASKED.fetch_add(1, Ordering::Relaxed);
    let mut trial = Vec::<u8>::new();
    let given = usize::try_from(bytes).is_ok_and(|bytes| trial.try_reserve_exact(bytes).is_ok());
    given && core::hint::black_box(&trial).capacity() > 0
}

/// The number of elements, if it can be counted.
#[inline]
pub(crate) fn elements(shape: &[usize]) -> Option<usize> {
    shape.iter().copied().try_fold(1_usize, usize::checked_mul)
}

/// The bytes of the elements, if they can be counted.
///
/// Backends go over the axes of a tensor that has no elements, too: its other axes must not be
/// longer than those of a tensor that the machine could hold.
#[inline]
pub(crate) fn bytes(shape: &Shape, dtype: DType) -> Option<u64> {
    if let DType::QFloat(scheme) = dtype {
        return quantized_bytes(shape, &scheme);
    }
    let size = |elements: usize| elements.checked_mul(dtype.size()).map(|bytes| bytes as u64);
    match elements(shape)? {
        0 => {
            let mut axes = shape.iter().map(|dim| (*dim).max(1));
            let extent = size(axes.try_fold(1_usize, usize::checked_mul)?)?;
            (extent <= machine_bytes()).then_some(0)
        }
        elements => size(elements),
    }
}

/// The bytes that the IR declares.
#[inline]
pub(crate) fn declared_bytes(tensor: &TensorIr) -> Option<u64> {
    bytes(&tensor.shape, tensor.dtype)
}
