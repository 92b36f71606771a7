//! What is known of tensors: one need not be compared with the IR at each use.
//!
//! The backend's answer to what shape a tensor has is a copy of it, which costs as much as looking
//! the tensor up.

use alloc::boxed::Box;
use alloc::vec;

use burn_backend::DType;
use burn_ir::{TensorId, TensorIr};

use crate::kind::same_plain_dtype;

/// Shapes of a higher rank are not kept.
const RANK: usize = 5;

/// The dtype and shape of a tensor, unless it is quantized or of a high rank.
#[derive(Clone, Copy)]
pub(crate) struct Facts {
    dtype: DType,
    /// Higher than that of any shape that is kept, if this one is not.
    rank: usize,
    dims: [usize; RANK],
}

impl Facts {
    /// Nothing is known.
    pub(crate) const NONE: Self = Self {
        dtype: DType::F32,
        rank: RANK + 1,
        dims: [0; RANK],
    };

    /// The tensor is what the IR declares.
    #[inline]
    pub(crate) fn learn(&mut self, tensor: &TensorIr) {
        let shape = &tensor.shape[..];
        self.dtype = tensor.dtype;
        self.rank = shape.len();
        for (known, dim) in self.dims.iter_mut().zip(shape) {
            *known = *dim;
        }
    }

    /// The tensor is known to be what the IR declares.
    #[inline]
    pub(crate) fn fit(&self, tensor: &TensorIr) -> bool {
        let dims = self.dims.get(..self.rank);
        same_plain_dtype(self.dtype, tensor.dtype)
            && dims.is_some_and(|dims| same_dims(&tensor.shape[..], dims))
    }
}

/// Both have the same dims: a loop, where a comparison of slices is a call.
#[inline]
pub(crate) fn same_dims(one: &[usize], other: &[usize]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one == other)
}

/// A power of two: clients count ids up, so as many tensors in a row have places of their own.
const PLACES: usize = 256;

/// What is known of some tensors, each in the one place that its id gives it.
pub(crate) struct Known {
    places: Box<[Place]>,
    /// What was learned at another age no longer holds.
    age: u64,
}

#[derive(Clone, Copy)]
struct Place {
    id: TensorId,
    age: u64,
    /// How often it was found to be known.
    reads: u32,
    facts: Facts,
}

impl Default for Known {
    fn default() -> Self {
        let none = Place {
            id: TensorId::new(0),
            age: 0,
            reads: 0,
            facts: Facts::NONE,
        };
        Self {
            places: vec![none; PLACES].into_boxed_slice(),
            age: 1,
        }
    }
}

impl Known {
    /// How often the tensor `id` was found to be what the IR declares, with this time; 0 if it is not
    /// known to be.
    #[inline]
    pub(crate) fn reads(&mut self, id: TensorId, tensor: &TensorIr) -> u32 {
        let place = &mut self.places[place(id)];
        if place.id != id || place.age != self.age || !place.facts.fit(tensor) {
            return 0;
        }
        place.reads = place.reads.saturating_add(1);
        place.reads
    }

    /// The tensor `id` is what the IR declares.
    pub(crate) fn learn(&mut self, id: TensorId, tensor: &TensorIr) {
        let place = &mut self.places[place(id)];
        place.id = id;
        place.age = self.age;
        place.reads = 0;
        place.facts.learn(tensor);
    }

    /// The tensor `id` is this.
    pub(crate) fn note(&mut self, id: TensorId, facts: Facts) {
        self.places[place(id)] = Place {
            id,
            age: self.age,
            reads: 0,
            facts,
        };
    }

    /// The tensor `id` has become another.
    #[inline]
    pub(crate) fn forget(&mut self, id: TensorId) {
        let place = &mut self.places[place(id)];
        if place.id == id {
            place.age = 0;
        }
    }

    /// Any tensor may have become another.
    pub(crate) fn forget_all(&mut self) {
        self.age += 1;
    }
}

#[inline]
fn place(id: TensorId) -> usize {
    id.value() as usize % PLACES
}
