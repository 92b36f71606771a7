//! Tensors where nothing is looked up for them.
//!
//! In the map of handles an id is hashed whenever a tensor is put, looked at or taken, and a handle is
//! moved that is as large as the largest kind. Most tensors are read soon after they were written,
//! once: they never need to be there. Others, the weights of a model, are read again and again.

use alloc::boxed::Box;
use core::mem;

use burn_ir::{BackendIr, TensorId, TensorIr};

use crate::held::Held;
use crate::kind::TensorKind;
use crate::known::Facts;

/// As many as the bits of a word. Clients count ids up, so as many tensors in a row have places of
/// their own.
const PLACES: usize = u64::BITS as usize;

/// Some tensors, each in the one place that its id gives it.
pub(crate) struct Near<B: BackendIr> {
    places: Box<[Entry<B>]>,
    /// The places that hold a tensor, by bit.
    taken: u64,
    /// The places whose tensor was not read since another tensor was to be there, by bit.
    idle: u64,
    /// How many tensors have gone from their places.
    gone: u64,
}

/// A place that holds the tensor it was seen to hold, unless tensors have gone since.
#[derive(Clone, Copy)]
pub(crate) struct Sight {
    place: usize,
    gone: u64,
}

impl Sight {
    /// Nothing was seen.
    pub(crate) const NONE: Self = Self {
        place: 0,
        gone: u64::MAX,
    };
}

/// A tensor, what is known of it, and its id.
pub(crate) struct Entry<B: BackendIr> {
    /// Where no tensor is, an id that belongs in another place.
    id: u64,
    pub(crate) facts: Facts,
    pub(crate) held: Held<B>,
}

impl<B: BackendIr> Entry<B> {
    /// No tensor, in the place of `id`.
    fn none(id: u64) -> Self {
        Self {
            id: !id,
            facts: Facts::NONE,
            held: Held::default(),
        }
    }

    pub(crate) fn id(&self) -> TensorId {
        TensorId::new(self.id)
    }
}

impl<B: BackendIr> Default for Near<B> {
    fn default() -> Self {
        Self {
            places: (0..PLACES as u64).map(Entry::none).collect(),
            taken: 0,
            idle: 0,
            gone: 0,
        }
    }
}

impl<B: BackendIr> Near<B> {
    /// How many tensors there are.
    pub(crate) fn len(&self) -> usize {
        self.taken.count_ones() as usize
    }

    /// The tensor `id`, if it is here.
    #[inline]
    pub(crate) fn get(&self, id: TensorId) -> Option<&Entry<B>> {
        let entry = &self.places[place(id)];
        (entry.id == id.value()).then_some(entry)
    }

    /// The tensor `id`, if it is here and what the IR declares, to be looked at again.
    pub(crate) fn sight(&self, id: TensorId, tensor: &TensorIr) -> Option<Sight> {
        let entry = self.get(id)?;
        entry.facts.fit(tensor).then_some(Sight {
            place: place(id),
            gone: self.gone,
        })
    }

    /// The tensor that was seen, if it is sure to be here still.
    #[inline]
    pub(crate) fn again(&self, sight: Sight) -> Option<&Held<B>> {
        match sight.gone == self.gone {
            true => self.places.get(sight.place).map(|entry| &entry.held),
            false => None,
        }
    }

    /// The tensor `id` of this kind, if it is here and what the IR declares, to be taken out: it is
    /// no longer here.
    #[inline]
    pub(crate) fn release<K: TensorKind<B>>(
        &mut self,
        id: TensorId,
        tensor: &TensorIr,
    ) -> Option<&mut Option<K::Primitive>> {
        let place = place(id);
        let entry = &mut self.places[place];
        if entry.id != id.value() || !entry.facts.fit(tensor) {
            return None;
        }
        let held = K::place(&mut entry.held).filter(|held| held.is_some())?;
        self.taken &= !bit(place);
        self.gone += 1;
        entry.id = !id.value();
        Some(held)
    }

    /// Whether a tensor is in the place of `id`.
    #[inline]
    pub(crate) fn is_taken(&self, id: TensorId) -> bool {
        self.taken & bit(place(id)) != 0
    }

    /// Drop the tensor `id`, if it is here. Whether it was.
    pub(crate) fn discard(&mut self, id: TensorId) -> bool {
        let place = place(id);
        let entry = &mut self.places[place];
        if entry.id != id.value() {
            return false;
        }
        self.taken &= !bit(place);
        self.gone += 1;
        entry.id = !id.value();
        entry.held.clear();
        true
    }

    /// The tensor `id`, which is no longer here.
    pub(crate) fn remove(&mut self, id: TensorId) -> Option<Entry<B>> {
        match self.get(id) {
            Some(_) => self.vacate(id),
            None => None,
        }
    }

    /// The tensor in the place of `id`, which is no longer there.
    pub(crate) fn vacate(&mut self, id: TensorId) -> Option<Entry<B>> {
        let place = place(id);
        let is_taken = self.is_taken(id);
        self.taken &= !bit(place);
        self.gone += 1;
        is_taken.then(|| mem::replace(&mut self.places[place], Entry::none(id.value())))
    }

    /// Whether the tensor in the place of `id` may go: it was not read since the last time that was
    /// asked.
    pub(crate) fn is_idle(&mut self, id: TensorId) -> bool {
        let bit = bit(place(id));
        let was_idle = self.idle & bit != 0;
        self.idle |= bit;
        was_idle
    }

    /// The tensor in the place of `id` is in use.
    #[inline]
    pub(crate) fn used(&mut self, id: TensorId) {
        if self.idle != 0 {
            self.idle &= !bit(place(id));
        }
    }

    /// The place of `id`, where no tensor is, for one that is what the IR declares.
    #[inline]
    pub(crate) fn prepare(&mut self, id: TensorId, tensor: &TensorIr) -> &mut Held<B> {
        let place = place(id);
        self.taken |= bit(place);
        let entry = &mut self.places[place];
        entry.id = id.value();
        entry.facts.learn(tensor);
        &mut entry.held
    }

    /// Any of the tensors, which is no longer here.
    pub(crate) fn pop(&mut self) -> Option<Entry<B>> {
        match self.taken {
            0 => None,
            taken => self.vacate(TensorId::new(taken.trailing_zeros().into())),
        }
    }

    /// All tensors.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Entry<B>> {
        let is_taken = |(place, _): &(usize, _)| self.taken & bit(*place) != 0;
        let places = self.places.iter().enumerate();
        places.filter(is_taken).map(|(_, entry)| entry)
    }
}

#[inline]
fn place(id: TensorId) -> usize {
    id.value() as usize % PLACES
}

#[inline]
fn bit(place: usize) -> u64 {
    1 << place
}
