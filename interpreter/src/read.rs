//! Reading several tensors at once.

use alloc::boxed::Box;
use alloc::vec::Vec;

use burn_backend::{ExecutionError, TensorData, ops::TransactionPrimitive};
use burn_ir::{BackendIr, HandleKind, TensorIr};
use burn_std::future::DynFut;

use crate::guard::{guard, guard_future};
use crate::interpreter::TensorInterpreter;

/// Where the data of a tensor will be.
enum Place {
    Float(usize),
    Int(usize),
    Bool(usize),
    Quantized(usize),
    /// Nowhere: it could not be taken.
    Failed(ExecutionError),
}

/// Tensors out, several at once.
impl<B: BackendIr> TensorInterpreter<B> {
    /// The data of `tensors`, in their order, read as one transaction where the backend has
    /// transactions. Each tensor is read as [`read_tensor_async`](Self::read_tensor_async) does.
    ///
    /// A tensor that cannot be read has an error in its place and does not touch the others. If the
    /// backend fails the transaction, all of its tensors have that error.
    pub fn read_tensors_async(
        &mut self,
        tensors: &[TensorIr],
    ) -> DynFut<Vec<Result<TensorData, ExecutionError>>> {
        let mut transaction = TransactionPrimitive::<B>::default();
        let places = tensors
            .iter()
            .map(|tensor| self.take(tensor, &mut transaction));
        let places: Vec<_> = places.collect();
        // A backend may fail to begin the transaction, too.
        let begun = guard(|| Ok(guard_future(B::tr_execute(transaction))));
        Box::pin(async move {
            let data = match begun {
                Ok(data) => data.await,
                Err(fault) => Err(fault.into_execution_error()),
            };
            let mut data = data.map(|data| {
                let [floats, ints, bools, quantized] = [
                    data.read_floats,
                    data.read_ints,
                    data.read_bools,
                    data.read_qfloats,
                ]
                .map(|list| list.into_iter().map(Some).collect::<Vec<_>>());
                (floats, ints, bools, quantized)
            });
            let mut taken = |place| {
                let (floats, ints, bools, quantized) = match &mut data {
                    Ok(data) => data,
                    Err(error) => return Err(error.clone()),
                };
                let (list, position) = match place {
                    Place::Float(position) => (floats, position),
                    Place::Int(position) => (ints, position),
                    Place::Bool(position) => (bools, position),
                    Place::Quantized(position) => (quantized, position),
                    Place::Failed(error) => return Err(error),
                };
                let data = list.get_mut(position).and_then(Option::take);
                data.ok_or_else(|| {
                    ExecutionError::generic("the backend left a tensor out of its transaction")
                })
            };
            places.into_iter().map(&mut taken).collect()
        })
    }

    /// Take `tensor` into the transaction.
    fn take(&mut self, tensor: &TensorIr, transaction: &mut TransactionPrimitive<B>) -> Place {
        fn push<T>(list: &mut Vec<T>, item: T) -> usize {
            list.push(item);
            list.len() - 1
        }
        match self.try_get_tensor(tensor) {
            Ok(HandleKind::Float(float)) => Place::Float(push(&mut transaction.read_floats, float)),
            Ok(HandleKind::Int(int)) => Place::Int(push(&mut transaction.read_ints, int)),
            Ok(HandleKind::Bool(bool)) => Place::Bool(push(&mut transaction.read_bools, bool)),
            Ok(HandleKind::Quantized(quantized)) => {
                Place::Quantized(push(&mut transaction.read_qfloats, quantized))
            }
            Err(fault) => Place::Failed(fault.into_execution_error()),
        }
    }
}
