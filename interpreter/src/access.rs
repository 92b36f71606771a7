//! Reading inputs and writing outputs, wherever tensors are held.
//!
//! A tensor is large, and a copy of it at each return of a small function is much of what an operation
//! costs. So these functions return it at once where it most likely is, and some are inlined; but not
//! in an unoptimised build, where their frames would add up to a large one.

use alloc::boxed::Box;
use alloc::vec::Vec;

use burn_backend::{DType, Shape, TensorMetadata};
use burn_ir::{BackendIr, Handle, TensorId, TensorIr, TensorStatus};

use crate::context::{Context, Outcome};
use crate::error::Fault;
use crate::held::{Held, Mismatch};
use crate::info::Kind;
use crate::kind::{TensorKind, same_dtype, same_plain_dtype};
use crate::limits::{declared_bytes, is_small};
use crate::quantized::readable;
use crate::slots::Place;
use crate::tensors::Sighted;

/// Reading.
impl<B: BackendIr> Context<B> {
    /// Take the handle of a tensor as its status says: a copy, or the handle itself on its last use.
    pub(crate) fn handle(&mut self, id: TensorId, status: TensorStatus) -> Outcome<B::Handle> {
        let handle = match status {
            TensorStatus::ReadOnly => self.tensors.copy(id),
            TensorStatus::ReadWrite => match self.tensors.take(id) {
                Some(Handle::Existing(handle)) => Some(handle),
                Some(Handle::Errored(error)) => return Err(Box::new(Fault::Errored { id, error })),
                Some(Handle::NotInit) | None => None,
            },
            TensorStatus::NotInit => None,
        };
        handle.ok_or_else(|| self.no_handle(Place::Client(id), status))
    }

    /// Why a place gives no handle.
    #[cold]
    fn no_handle(&mut self, place: Place, status: TensorStatus) -> Box<Fault> {
        let (id, slot) = match place {
            Place::Client(id) => (id, None),
            Place::Slot(slot) => (self.name_of(slot), Some(slot)),
        };
        match slot.and_then(|slot| self.slots.error(slot)) {
            _ if status == TensorStatus::NotInit => Box::new(Fault::NotInitialized { id }),
            Some(error) => {
                let error = error.clone();
                Box::new(Fault::Errored { id, error })
            }
            None => self.no_data(id),
        }
    }

    /// Why `id` holds no data.
    #[cold]
    pub(crate) fn no_data(&self, id: TensorId) -> Box<Fault> {
        Box::new(match self.tensors.error(id) {
            Some(error) => Fault::Errored {
                id,
                error: error.clone(),
            },
            None => Fault::MissingTensor { id },
        })
    }

    /// Read `tensor`, which must be what the IR declares: its kind, dtype and shape.
    #[inline]
    pub(crate) fn read<K: TensorKind<B>>(&mut self, tensor: &TensorIr) -> Outcome<K::Primitive> {
        match self.slots.is_replaying() {
            true => self.read_replayed::<K>(tensor),
            false if K::has(tensor.dtype) => self.read_near::<K>(tensor.id, tensor),
            false => self.read_other::<K>(tensor),
        }
    }

    /// Read a tensor that is near, most likely.
    #[inline(never)]
    fn read_near<K: TensorKind<B>>(
        &mut self,
        id: TensorId,
        tensor: &TensorIr,
    ) -> Outcome<K::Primitive> {
        match tensor.status {
            TensorStatus::ReadOnly => {
                if let Some(primitive) = self.tensors.near(id, tensor).and_then(K::held) {
                    return Ok(primitive.clone());
                }
            }
            TensorStatus::ReadWrite => {
                if let Some(place) = self.tensors.release::<K>(id, tensor) {
                    // Before the tensor is taken out: it is moved once then.
                    self.live_bytes.remove_declared(tensor);
                    if let Some(primitive) = place.take() {
                        return Ok(primitive);
                    }
                }
            }
            TensorStatus::NotInit => (),
        }
        self.read_handle::<K>(id, tensor)
    }

    /// Read a tensor of the graph that is replayed. One that is found to be of the kind is declared to
    /// be, too: so it was admitted, or seen.
    #[inline(never)]
    fn read_replayed<K: TensorKind<B>>(&mut self, tensor: &TensorIr) -> Outcome<K::Primitive> {
        let slot = tensor.id.value() as usize;
        match self.slots.bound(slot) {
            Some((id, sighted)) => self.read_bound::<K>(id, sighted, tensor),
            None => self.read_slot::<K>(slot, tensor),
        }
    }

    /// Read a tensor of the boundary, which was seen before, most likely.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn read_bound<K: TensorKind<B>>(
        &mut self,
        id: TensorId,
        sighted: Sighted,
        tensor: &TensorIr,
    ) -> Outcome<K::Primitive> {
        if tensor.status == TensorStatus::ReadOnly
            && let Some(primitive) = self.tensors.again(sighted).and_then(K::held)
        {
            return Ok(primitive.clone());
        }
        self.read_unseen::<K>(id, tensor)
    }

    /// Read a tensor of the boundary, and note where it is seen if it stays there.
    #[inline(never)]
    fn read_unseen<K: TensorKind<B>>(
        &mut self,
        id: TensorId,
        tensor: &TensorIr,
    ) -> Outcome<K::Primitive> {
        if !K::has(tensor.dtype) {
            return self.read_other::<K>(tensor);
        }
        if tensor.status == TensorStatus::ReadOnly
            && let Some(sighted) = self.tensors.sight(id, tensor)
        {
            self.slots.see(tensor.id, sighted);
        }
        self.read_near::<K>(id, tensor)
    }

    /// Read a tensor in a slot, most likely without a look at it. There is no call on this path but
    /// that of `clone`: registers need not be saved for another.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn read_slot<K: TensorKind<B>>(
        &mut self,
        slot: usize,
        tensor: &TensorIr,
    ) -> Outcome<K::Primitive> {
        match tensor.status {
            TensorStatus::ReadOnly if self.slots.are_trusted() => {
                if let Some(primitive) = self.slots.held::<K>(slot) {
                    return Ok(primitive.clone());
                }
            }
            TensorStatus::ReadWrite if self.slots.are_trusted() => {
                if let Some(primitive) = self.slots.release::<K>(slot).and_then(Option::take) {
                    return Ok(primitive);
                }
            }
            _ => (),
        }
        self.read_other_slot::<K>(slot, tensor)
    }

    /// Read a tensor in a slot that may be declared otherwise than it was written, may be counted, or
    /// may not be there.
    #[inline(never)]
    fn read_other_slot<K: TensorKind<B>>(
        &mut self,
        slot: usize,
        tensor: &TensorIr,
    ) -> Outcome<K::Primitive> {
        if !K::has(tensor.dtype) {
            return self.read_other::<K>(tensor);
        }
        let primitive = match tensor.status {
            TensorStatus::ReadOnly => self.slots.held::<K>(slot).cloned(),
            TensorStatus::ReadWrite => self.slots.release::<K>(slot).and_then(Option::take),
            TensorStatus::NotInit => None,
        };
        match primitive {
            Some(primitive) => self.compared::<K>(primitive, tensor),
            None => Err(self.not_in_slot(slot, tensor)),
        }
    }

    /// Read `tensor` for someone outside, who is not told another shape than that of the backend's
    /// tensor.
    pub(crate) fn read_out<K: TensorKind<B>>(
        &mut self,
        tensor: &TensorIr,
    ) -> Outcome<K::Primitive> {
        let primitive = self.read::<K>(tensor)?;
        match Mismatch::of(&primitive, tensor) {
            None => Ok(primitive),
            Some(mismatch) => Err(self.mismatched(tensor, mismatch)),
        }
    }

    /// Read a tensor that is among the handles, or of which it is not known that it is what the IR
    /// declares.
    #[inline(never)]
    fn read_handle<K: TensorKind<B>>(
        &mut self,
        id: TensorId,
        tensor: &TensorIr,
    ) -> Outcome<K::Primitive> {
        let mut held = self.held(id, tensor)?;
        match K::place(&mut held).and_then(Option::take) {
            Some(primitive) => Ok(primitive),
            None => Err(self.wrong_kind(tensor, K::KIND)),
        }
    }

    /// The tensor of a handle, taken as its status says, if it is what the IR declares.
    fn held(&mut self, id: TensorId, tensor: &TensorIr) -> Outcome<Held<B>> {
        let reads = self.tensors.reads(id, tensor);
        let handle = self.handle(id, tensor.status)?;
        let held = Held::of_handle(handle, tensor);
        if reads == 0
            && let Some(mismatch) = held.mismatch(tensor)
        {
            return Err(self.mismatched(tensor, mismatch));
        }
        match tensor.status {
            TensorStatus::ReadWrite => self.live_bytes.remove_declared(tensor),
            _ if reads == 0 => self.tensors.learn(id, tensor),
            _ => self.tensors.keep(id, tensor, reads),
        }
        Ok(held)
    }

    /// Compare the tensor, which is among the handles, with what the IR declares.
    pub(crate) fn compare(&mut self, tensor: &TensorIr) -> Outcome {
        let id = tensor.id;
        let Some(handle) = self.tensors.handle(id) else {
            return Err(self.no_data(id));
        };
        match Mismatch::of_handle::<B>(handle, tensor) {
            None => {
                self.tensors.learn(id, tensor);
                Ok(())
            }
            Some(mismatch) => Err(self.mismatched(tensor, mismatch)),
        }
    }

    /// The tensor, if it is what the IR declares.
    fn compared<K: TensorKind<B>>(
        &mut self,
        primitive: K::Primitive,
        tensor: &TensorIr,
    ) -> Outcome<K::Primitive> {
        if let Some(mismatch) = Mismatch::of(&primitive, tensor) {
            return Err(self.mismatched(tensor, mismatch));
        }
        if let TensorStatus::ReadWrite = tensor.status {
            self.live_bytes.remove_declared(tensor);
        }
        Ok(primitive)
    }

    /// Why the slot gives no tensor of the kind.
    #[cold]
    fn not_in_slot(&mut self, slot: usize, tensor: &TensorIr) -> Box<Fault> {
        match self.slots.told(slot) {
            Some(told) if tensor.status != TensorStatus::NotInit => {
                self.mismatched(tensor, Mismatch::Dtype(told.dtype))
            }
            _ => self.no_handle(Place::Slot(slot), tensor.status),
        }
    }

    pub(crate) fn read_optional<K: TensorKind<B>>(
        &mut self,
        tensor: &Option<TensorIr>,
    ) -> Outcome<Option<K::Primitive>> {
        tensor
            .as_ref()
            .map(|tensor| self.read::<K>(tensor))
            .transpose()
    }

    pub(crate) fn read_list<K: TensorKind<B>>(
        &mut self,
        tensors: &[TensorIr],
    ) -> Outcome<Vec<K::Primitive>> {
        let mut list = Vec::with_capacity(tensors.len());
        for tensor in tensors {
            list.push(self.read::<K>(tensor)?);
        }
        Ok(list)
    }
}

/// Writing.
impl<B: BackendIr> Context<B> {
    /// Whether the operation at hand must be checked, or was before and has not changed since.
    #[inline]
    pub(crate) fn must_check(&self) -> bool {
        !self.slots.is_checked()
    }

    /// The output that `out` declares may be made: its dtype is of the kind, its size within the
    /// limits.
    #[inline]
    pub(crate) fn admit<K: TensorKind<B>>(&mut self, out: &TensorIr) -> Outcome {
        if K::has(out.dtype) && is_small(&out.shape[..], self.small) {
            return Ok(());
        }
        self.admit_large::<K>(out)
    }

    #[cold]
    fn admit_large<K: TensorKind<B>>(&mut self, out: &TensorIr) -> Outcome {
        match K::has(out.dtype) {
            true => self.admit_bytes(out.id, declared_bytes(out)),
            false => self.admit_other::<K>(out),
        }
    }

    /// Register `output`, which was admitted, as the tensor that `out` declares. That it has the
    /// shape was found before the call.
    ///
    /// Where the backend chose another dtype (that of indices, mostly), the output is converted:
    /// its dtype is what the IR says.
    pub(crate) fn write<K: TensorKind<B>>(
        &mut self,
        out: &TensorIr,
        output: K::Primitive,
    ) -> Outcome {
        self.write_as::<K, false>(out, output)
    }

    /// The same; the output is known to have the dtype, if `IS_ALIKE`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn write_as<K: TensorKind<B>, const IS_ALIKE: bool>(
        &mut self,
        out: &TensorIr,
        output: K::Primitive,
    ) -> Outcome {
        if !IS_ALIKE && !same_plain_dtype(output.dtype(), out.dtype) {
            return self.write_other::<K>(out, output);
        }
        match self.slots.place(out.id) {
            Place::Client(id) => {
                if self.tensors.has_no_room(id) && !self.tensors.make_room(id) {
                    // It takes the place of another.
                    self.live_bytes.lose_count();
                }
                K::put(self.tensors.prepare(id, out), output);
            }
            Place::Slot(slot) => match K::put(self.slots.prepare(slot), output) {
                true => self.slots.filled(),
                false => self.live_bytes.lose_count(),
            },
        }
        Ok(())
    }

    /// Register `output` in the dtype that `out` declares.
    #[cold]
    fn write_other<K: TensorKind<B>>(
        &mut self,
        out: &TensorIr,
        mut output: K::Primitive,
    ) -> Outcome {
        if !same_dtype(output.dtype(), out.dtype) {
            if let DType::QFloat(scheme) = out.dtype {
                return self.write_quantized::<K>(out, scheme, output);
            }
            output = K::cast(output, out.dtype);
        }
        if self.must_check()
            && let Some(mismatch) = Mismatch::of(&output, out)
        {
            return Err(self.mismatched(out, mismatch));
        }
        self.write_as::<K, true>(out, output)
    }
}

/// What a tensor is not.
impl<B: BackendIr> Context<B> {
    #[cold]
    pub(crate) fn wrong_kind(&mut self, tensor: &TensorIr, expected: Kind) -> Box<Fault> {
        Box::new(Fault::WrongKind {
            id: self.name(tensor.id),
            expected,
            declared: readable(tensor.dtype),
        })
    }

    #[cold]
    pub(crate) fn misshaped(&mut self, tensor: &TensorIr, actual: Shape) -> Box<Fault> {
        self.mismatched(tensor, Mismatch::Shape(actual))
    }

    #[cold]
    fn mismatched(&mut self, tensor: &TensorIr, mismatch: Mismatch) -> Box<Fault> {
        let id = self.name(tensor.id);
        Box::new(match mismatch {
            Mismatch::Dtype(actual) => Fault::WrongDtype {
                id,
                declared: readable(tensor.dtype),
                actual,
            },
            Mismatch::Shape(actual) => Fault::WrongShape {
                id,
                declared: tensor.shape.clone(),
                actual,
            },
        })
    }
}
