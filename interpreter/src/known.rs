//! What is known of the tensors last written: a tensor need not be compared with the IR at each use.
//!
//! The backend's answer to what shape a tensor has is a copy of it, which costs as much as looking
//! the tensor up.

use alloc::boxed::Box;
use alloc::vec;

use burn_backend::DType;
use burn_ir::{TensorId, TensorIr};

use crate::kind::same_plain_dtype;

/// A power of two: clients count ids up, so as many tensors in a row have places of their own.
const ENTRIES: usize = 256;
/// Shapes of a higher rank are not kept.
const RANK: usize = 5;

/// The dtype and shape of some tensors, each in the one place that its id gives it.
pub(crate) struct Known {
    entries: Box<[Entry]>,
    /// Entries of another age no longer hold.
    age: u64,
}

#[derive(Clone, Copy)]
struct Entry {
    id: u64,
    age: u64,
    dtype: DType,
    rank: usize,
    dims: [usize; RANK],
}

impl Default for Known {
    fn default() -> Self {
        let none = Entry {
            id: 0,
            age: 0,
            dtype: DType::F32,
            rank: 0,
            dims: [0; RANK],
        };
        Self {
            entries: vec![none; ENTRIES].into_boxed_slice(),
            age: 1,
        }
    }
}

impl Known {
    /// The tensor `id` is known to be what the IR declares.
    #[inline]
    pub(crate) fn holds(&self, id: TensorId, tensor: &TensorIr) -> bool {
        let entry = &self.entries[place(id)];
        entry.id == id.value()
            && entry.age == self.age
            && same_plain_dtype(entry.dtype, tensor.dtype)
            && same_dims(&tensor.shape, entry.dims.get(..entry.rank).unwrap_or(&[]))
    }

    /// The tensor `id` is what the IR declares.
    #[inline]
    pub(crate) fn learn(&mut self, id: TensorId, tensor: &TensorIr) {
        let entry = &mut self.entries[place(id)];
        let shape: &[usize] = &tensor.shape;
        entry.id = id.value();
        entry.age = if shape.len() <= RANK { self.age } else { 0 };
        entry.dtype = tensor.dtype;
        entry.rank = shape.len();
        for (known, dim) in entry.dims.iter_mut().zip(shape) {
            *known = *dim;
        }
    }

    /// The tensor `id` has become another.
    #[inline]
    pub(crate) fn forget(&mut self, id: TensorId) {
        let entry = &mut self.entries[place(id)];
        if entry.id == id.value() {
            entry.age = 0;
        }
    }

    /// Any tensor may have become another.
    pub(crate) fn forget_all(&mut self) {
        self.age += 1;
    }
}

#[inline]
fn place(id: TensorId) -> usize {
    id.value() as usize % ENTRIES
}

/// Both have the same dims: a loop, where a comparison of slices is a call.
#[inline]
pub(crate) fn same_dims(one: &[usize], other: &[usize]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one == other)
}
