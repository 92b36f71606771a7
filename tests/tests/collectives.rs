//! Collective operations over threads: interpreters that reduce together, and one that does not.
//!
//! The backends here have no collectives of their own, so they are given some.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use burn_backend::distributed::ReduceOperation;
use burn_backend::ops::FloatTensorOps;
use burn_backend::{DType, DeviceId, ExecutionError, Scalar, tensor::FloatTensor};
use burn_flex::{Flex, FlexDevice};
use burn_interpreter::{Collective, TensorInterpreter};
use burn_ir::{AllReduceOpIr, DistributedOperationIr, OperationIr, ScalarIr};
use interpreter_tests::Engine;
use interpreter_tests::stream::{add_scalar, floats, out, ro, with_floats};

const F32: DType = DType::F32;

/// Where the members of a group meet, one reduction after the other.
#[derive(Clone)]
struct Group {
    members: usize,
    patience: Duration,
    round: Arc<(Mutex<Round>, Condvar)>,
}

#[derive(Default)]
struct Round {
    number: usize,
    sum: Option<FloatTensor<Flex>>,
    joined: usize,
    /// The result of the last round that everyone joined.
    result: Option<FloatTensor<Flex>>,
    /// Why there will be no result.
    failure: Option<String>,
}

impl Group {
    fn of(members: usize) -> Self {
        Self {
            members,
            patience: Duration::from_secs(20),
            round: Arc::default(),
        }
    }

    /// A group that does not wait for those who are late.
    fn impatient(members: usize) -> Self {
        Self {
            patience: Duration::from_millis(50),
            ..Self::of(members)
        }
    }

    fn give_up(&self, why: &str) -> ExecutionError {
        let (round, arrived) = &*self.round;
        let mut round = round.lock().expect("no member panics");
        let failure = round.failure.get_or_insert(why.to_owned()).clone();
        arrived.notify_all();
        ExecutionError::generic(failure)
    }
}

/// A member of a group. It fails the reductions that it is told to.
struct Member {
    group: Group,
    fails: bool,
}

impl Collective<Flex> for Member {
    fn all_reduce(
        &mut self,
        tensor: FloatTensor<Flex>,
        op: ReduceOperation,
        _devices: Vec<DeviceId>,
        _device: &FlexDevice,
    ) -> Result<FloatTensor<Flex>, ExecutionError> {
        if self.fails {
            return Err(self.group.give_up("a member has lost its link"));
        }
        let (round, arrived) = &*self.group.round;
        let mut round = round.lock().expect("no member panics");
        let number = round.number;
        round.sum = Some(match round.sum.take() {
            Some(sum) => Flex::float_add(sum, tensor),
            None => tensor,
        });
        round.joined += 1;
        if round.joined == self.group.members {
            let sum = round.sum.take().expect("it was just joined");
            round.result = Some(match op {
                ReduceOperation::Sum => sum,
                ReduceOperation::Mean => {
                    Flex::float_div_scalar(sum, Scalar::Float(round.joined as f64))
                }
            });
            (round.joined, round.number) = (0, number + 1);
            arrived.notify_all();
        }
        let (round, waited) = arrived
            .wait_timeout_while(round, self.group.patience, |round| {
                round.number == number && round.failure.is_none()
            })
            .expect("no member panics");
        if let Some(failure) = &round.failure {
            return Err(ExecutionError::generic(failure.clone()));
        }
        if waited.timed_out() {
            drop(round);
            return Err(self.group.give_up("a member did not come"));
        }
        Ok(round.result.clone().expect("the round is over"))
    }

    fn sync(&mut self, _device: &FlexDevice) -> Result<(), ExecutionError> {
        let (round, _) = &*self.group.round;
        match &round.lock().expect("no member panics").failure {
            Some(failure) => Err(ExecutionError::generic(failure.clone())),
            None => Ok(()),
        }
    }
}

fn all_reduce(op: ReduceOperation) -> OperationIr {
    OperationIr::Distributed(DistributedOperationIr::AllReduce(AllReduceOpIr {
        tensor: ro(1, &[2], F32),
        op,
        device_ids: Vec::new(),
        out: out(2, &[2], F32),
    }))
}

const SYNC: OperationIr = OperationIr::Distributed(DistributedOperationIr::SyncCollective);

/// What a member reads of the reduction, of its own tensor afterwards, and of `sync`.
type Seen = (Result<Vec<f32>, String>, Vec<f32>, bool);

/// Let these members reduce, each on a thread with an interpreter of its own.
fn reduce(members: Vec<Member>, op: ReduceOperation) -> Vec<Seen> {
    std::thread::scope(|scope| {
        let threads = (1..).zip(members).map(|(number, member)| {
            scope.spawn(move || {
                let own = number as f32;
                let mut interpreter: TensorInterpreter<Flex> =
                    with_floats(&[&[own, 10.0 * own]]).with_collective(member);
                interpreter.register_op(all_reduce(op));
                interpreter.register_op(SYNC);
                let one = ScalarIr::Float(1.0);
                let next = add_scalar(ro(1, &[2], F32), one, out(3, &[2], F32));
                assert_eq!(interpreter.execute(next), Ok(()));
                let reduced = floats(&mut interpreter, 2, 2);
                let other = floats(&mut interpreter, 3, 2).expect("it has no part in it");
                (reduced, other, interpreter.sync().is_ok())
            })
        });
        let threads: Vec<_> = threads.collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined.map(|seen| seen.expect("no member panics")).collect()
    })
}

fn members(group: &Group, count: usize) -> Vec<Member> {
    let member = || Member {
        group: group.clone(),
        fails: false,
    };
    std::iter::repeat_with(member).take(count).collect()
}

#[test]
fn everyone_has_the_sum_and_the_mean() {
    for count in [2, 4] {
        let sum: f32 = (1..=count).map(|own| own as f32).sum();
        for (op, expected) in [
            (ReduceOperation::Sum, sum),
            (ReduceOperation::Mean, sum / count as f32),
        ] {
            let seen = reduce(members(&Group::of(count), count), op);
            for (number, (reduced, other, synced)) in (1..).zip(seen) {
                assert_eq!(reduced, Ok(vec![expected, 10.0 * expected]));
                assert_eq!(other, [number as f32 + 1.0, 10.0 * number as f32 + 1.0]);
                assert!(synced);
            }
        }
    }
}

#[test]
fn without_one_member_no_one_has_a_result() {
    let seen = reduce(members(&Group::impatient(3), 2), ReduceOperation::Sum);
    for (reduced, _, synced) in seen {
        let message = reduced.expect_err("there is no sum");
        for part in ["`distributed.AllReduce`", "a member did not come"] {
            assert!(message.contains(part), "{part} is not in {message}");
        }
        assert!(!synced, "the failed `SyncCollective` is told");
    }
}

#[test]
fn a_member_that_fails_is_told_to_everyone() {
    let mut members = members(&Group::of(2), 2);
    members[1].fails = true;
    for (reduced, _, _) in reduce(members, ReduceOperation::Mean) {
        let message = reduced.expect_err("there is no mean");
        assert!(
            message.contains("the collective failed: a member has lost its link"),
            "{message}"
        );
    }
}
