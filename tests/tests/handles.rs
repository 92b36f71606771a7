//! What becomes of tensors: aliases, transfers, drops, and failures that cost their own outputs.
#![expect(
    deprecated,
    reason = "burn-ndarray is on its way out, and still a second implementation"
)]

use burn_backend::distributed::ReduceOperation;
use burn_backend::{DType, TensorData};
use burn_flex::Flex;
use burn_interpreter::{Fault, TensorInterpreter};
use burn_ir::{
    AllReduceOpIr, BackendIr, BaseOperationIr, BinaryOpIr, CatOpIr, DistributedOperationIr,
    HandleKind, InitOperationIr, NumericOperationIr, OperationIr, ReduceDimOpIr, ScalarIr,
    TensorId, TensorIr, TensorStatus,
};
use burn_ndarray::NdArray;
use burn_std::future::block_on;
use interpreter_tests::stream::{
    add, add_scalar, drop_all, floats, matmul, mul, out, ro, rw, with_floats,
};
use interpreter_tests::{on_both, quietly, read};

const F32: DType = DType::F32;
const I64: DType = DType::I64;
const ONE: ScalarIr = ScalarIr::Float(1.0);

fn id(id: u64) -> TensorId {
    TensorId::new(id)
}

on_both! {
    fn b01_a_missing_tensor_costs_only_the_outputs<B>() {
        let mut interpreter = with_floats::<B>(&[&[1.0, 2.0]]);
        let error = interpreter
            .try_register_op(add(ro(1, &[2], F32), ro(9, &[2], F32), out(2, &[2], F32)))
            .expect_err("there is no tensor 9");
        assert!(matches!(error.fault(), Fault::MissingTensor { id: missing } if *missing == id(9)));
        let message = floats(&mut interpreter, 2, 2).expect_err("the output holds the error");
        assert!(message.contains("numeric.Add.float") && message.contains("TensorId(9)"), "{message}");

        interpreter.register_op(add_scalar(ro(1, &[2], F32), ONE, out(3, &[2], F32)));
        assert_eq!(floats(&mut interpreter, 3, 2), Ok(vec![2.0, 3.0]));
    }

    /// Upstream's `max_dim` of nothing ends the session.
    fn b08_a_reduction_of_nothing_costs_only_its_output<B>() {
        let mut interpreter = with_floats::<B>(&[&[1.0, 2.0]]);
        interpreter.register_tensor_data_id(id(7), TensorData::new(Vec::<f32>::new(), [2, 0]));
        let op = ReduceDimOpIr {
            input: ro(7, &[2, 0], F32),
            out: out(8, &[2, 1], F32),
            axis: 1,
            accumulator_len: 1,
        };
        let op = OperationIr::NumericFloat(F32, NumericOperationIr::MaxDim(op));
        let failed = quietly(|| interpreter.try_register_op(op)).expect_err("there is no maximum");
        assert_eq!(failed.op().name, "numeric.MaxDim.float");
        interpreter.register_op(add(ro(1, &[2], F32), ro(1, &[2], F32), out(3, &[2], F32)));
        assert_eq!(floats(&mut interpreter, 3, 2), Ok(vec![2.0, 4.0]));
    }

    fn b09_one_failure_is_one_cause_however_much_follows<B>() {
        let mut interpreter = with_floats::<B>(&[&[1.0]]);
        interpreter.register_op(add_scalar(ro(99, &[1], F32), ONE, out(50, &[1], F32)));
        for step in 0..1_000 {
            let op = add_scalar(rw(1 + step * 100, &[1], F32), ONE, out(101 + step * 100, &[1], F32));
            assert!(interpreter.try_register_op(op).is_ok());
        }
        assert_eq!(floats(&mut interpreter, 100_001, 1), Ok(vec![1_001.0]));
        assert_eq!(interpreter.num_handles(), 2);
    }

    fn b24_one_tensor_as_both_inputs<B>() {
        let mut interpreter = with_floats::<B>(&[&[2.0, 3.0]]);
        interpreter.register_op(mul(ro(1, &[2], F32), rw(1, &[2], F32), out(2, &[2], F32)));
        assert_eq!(floats(&mut interpreter, 2, 2), Ok(vec![4.0, 9.0]));
        assert_eq!(interpreter.num_handles(), 1);

        let cat = CatOpIr {
            tensors: vec![ro(2, &[2], F32), rw(2, &[2], F32)],
            dim: 0,
            out: out(3, &[4], F32),
        };
        interpreter.register_op(OperationIr::BaseFloat(BaseOperationIr::Cat(cat)));
        assert_eq!(floats(&mut interpreter, 3, 4), Ok(vec![4.0, 9.0, 4.0, 9.0]));
        assert_eq!(interpreter.num_handles(), 1);
    }

    /// `ReadWrite` is the last use: reading the id again, in the same operation too, is an error.
    fn b24_nothing_is_read_after_its_last_use<B>() {
        for second in [TensorStatus::ReadOnly, TensorStatus::ReadWrite] {
            let mut interpreter = with_floats::<B>(&[&[2.0, 3.0]]);
            let rhs = TensorIr { status: second, ..ro(1, &[2], F32) };
            let error = interpreter
                .try_register_op(mul(rw(1, &[2], F32), rhs, out(2, &[2], F32)))
                .expect_err("the tensor is gone");
            assert!(matches!(error.fault(), Fault::MissingTensor { id: gone } if *gone == id(1)));
            drop_all(&mut interpreter, &[1, 2]);
            assert_eq!(interpreter.num_handles(), 0);
        }
    }

    fn b26_a_tensor_is_what_the_ir_declares<B>() {
        let mut interpreter = with_floats::<B>(&[&[1.0, 2.0]]);
        interpreter.register_tensor_data_id(id(5), TensorData::from([1i64, 2]));
        interpreter.register_tensor_data_id(id(6), TensorData::from([true, false]));
        let lies = [
            ro(5, &[2], F32),
            ro(1, &[2], DType::F64),
            ro(6, &[2], DType::U8),
            ro(1, &[3], F32),
            ro(1, &[2, 1], F32),
        ];
        for lie in lies {
            let declared = lie.dtype;
            let result = TensorIr { status: TensorStatus::NotInit, id: id(9), ..lie.clone() };
            let op = add_scalar(lie.clone(), ScalarIr::Int(1), result.clone());
            let error = quietly(|| interpreter.try_register_op(op)).expect_err("it is a lie");
            assert!(error.to_string().contains(&format!("{declared:?}")), "{error}");
            assert!(read(&mut interpreter, &result).is_err());
            assert!(read(&mut interpreter, &lie).is_err(), "{lie:?}");
        }
        let data = read(&mut interpreter, &ro(5, &[2], DType::I64));
        assert_eq!(data, Ok(TensorData::from([1i64, 2])));
        assert_eq!(floats(&mut interpreter, 1, 2), Ok(vec![1.0, 2.0]));
    }

    fn b29_an_alias_of_what_failed_has_its_cause<B>() {
        let mut interpreter = with_floats::<B>(&[]);
        interpreter.register_op(add_scalar(ro(99, &[1], F32), ONE, out(2, &[1], F32)));
        interpreter.register_alias(id(3), id(2));
        interpreter.register_op(add_scalar(ro(3, &[1], F32), ONE, out(4, &[1], F32)));
        for errored in [2, 3, 4] {
            let message = floats(&mut interpreter, errored, 1).expect_err("its source failed");
            assert!(message.contains("TensorId(99)"), "{message}");
        }
        assert!(interpreter.try_register_alias(id(5), id(77)).is_err());
        let message = floats(&mut interpreter, 5, 1).expect_err("its source never was");
        assert!(message.contains("TensorId(77)"), "{message}");
        drop_all(&mut interpreter, &[2, 3, 4, 5]);
        assert_eq!(interpreter.num_handles(), 0);
    }

    fn b29_a_live_alias_keeps_its_value<B>() {
        let mut interpreter = with_floats::<B>(&[&[1.0, 2.0]]);
        interpreter.register_alias(id(2), id(1));
        interpreter.register_op(add_scalar(rw(1, &[2], F32), ONE, out(3, &[2], F32)));
        assert_eq!(floats(&mut interpreter, 2, 2), Ok(vec![1.0, 2.0]));
        assert_eq!(floats(&mut interpreter, 3, 2), Ok(vec![2.0, 3.0]));
    }

    fn b30_dropping_never_fails<B>() {
        let mut interpreter = with_floats::<B>(&[&[1.0]]);
        drop_all(&mut interpreter, &[42, 1, 1]);
        interpreter.register_op(add_scalar(ro(99, &[1], F32), ONE, out(2, &[1], F32)));
        assert_eq!(interpreter.num_handles(), 1);
        drop_all(&mut interpreter, &[2]);
        assert_eq!(interpreter.num_handles(), 0);
        interpreter.register_tensor_data_id(id(2), TensorData::from([5.0f32]));
        assert_eq!(floats(&mut interpreter, 2, 1), Ok(vec![5.0]));
    }

    fn b31_an_uploaded_tensor_takes_no_ones_id<B>() {
        let mut interpreter = with_floats::<B>(&[]);
        let first = interpreter.register_tensor_data_desc(TensorData::from([1.0f32]));
        let next = first.id.value() + 1;
        interpreter.register_tensor_data_id(id(next), TensorData::from([7.0f32]));
        let second = interpreter.register_tensor_data_desc(TensorData::from([2.0f32]));
        assert_ne!(second.id.value(), next);
        assert_eq!(floats(&mut interpreter, next, 1), Ok(vec![7.0]));
        assert_eq!(floats(&mut interpreter, second.id.value(), 1), Ok(vec![2.0]));
    }

    fn b33_nothing_is_left_behind<B>() {
        let mut interpreter = with_floats::<B>(&[]);
        for step in 0..10_000 {
            interpreter.register_tensor_data_id(id(step), TensorData::from([1.0f32; 8]));
            let init = InitOperationIr { out: out(step, &[8], F32) };
            interpreter.register_op(OperationIr::Init(init));
            drop_all(&mut interpreter, &[step]);
        }
        assert_eq!(interpreter.num_handles(), 0);
        for step in 0..10_000 {
            interpreter.register_op(add_scalar(ro(1, &[1], F32), ONE, out(step + 2, &[1], F32)));
            drop_all(&mut interpreter, &[step + 2]);
        }
        assert_eq!(interpreter.num_handles(), 0);
    }

    fn b38_collectives_that_the_backend_lacks<B>() {
        let mut interpreter = with_floats::<B>(&[&[1.0, 2.0]]);
        let reduce = AllReduceOpIr {
            tensor: ro(1, &[2], F32),
            out: out(2, &[2], F32),
            op: ReduceOperation::Sum,
            device_ids: Vec::new(),
        };
        quietly(|| {
            interpreter.register_op(OperationIr::Distributed(DistributedOperationIr::AllReduce(reduce)));
            interpreter.register_op(OperationIr::Distributed(DistributedOperationIr::SyncCollective));
        });
        let message = floats(&mut interpreter, 2, 2).expect_err("it was not reduced");
        assert!(message.contains("distributed.AllReduce"), "{message}");
        interpreter.register_op(add_scalar(ro(1, &[2], F32), ONE, out(3, &[2], F32)));
        let message = interpreter.sync().expect_err("it was not synchronized").to_string();
        assert!(message.contains("distributed.SyncCollective"), "{message}");
        assert!(interpreter.sync().is_ok());
        assert_eq!(floats(&mut interpreter, 3, 2), Ok(vec![2.0, 3.0]));
    }

    /// The cause is told once, with its tensors; what depends on it is told by its depth.
    fn b78_the_cause_names_the_operation_and_its_tensors<B>() {
        let mut interpreter = with_floats::<B>(&[]);
        interpreter.register_tensor_data_id(id(1), TensorData::from([[1.0f32; 3]; 2]));
        interpreter.register_tensor_data_id(id(2), TensorData::from([[1.0f32; 5]; 4]));
        let op = matmul(ro(1, &[2, 3], F32), ro(2, &[4, 5], F32), out(3, &[2, 5], F32));
        quietly(|| interpreter.register_op(op));
        let skipped = interpreter
            .try_register_op(add_scalar(ro(3, &[2, 5], F32), ONE, out(4, &[2, 5], F32)))
            .expect_err("there is nothing to add to");
        assert!(skipped.to_string().contains("was skipped"), "{skipped}");
        let message = read(&mut interpreter, &ro(4, &[2, 5], F32)).expect_err("it was skipped");
        assert_eq!(message.matches("float.Matmul").count(), 1, "{message}");
        for part in ["TensorId(1) F32 [2, 3]", "TensorId(2) F32 [4, 5]", "TensorId(3)", "skipped 1"] {
            assert!(message.contains(part), "{part} is not in {message}");
        }
    }

    fn a_last_use_is_over_even_if_the_operation_fails<B>() {
        let mut interpreter = with_floats::<B>(&[&[1.0], &[2.0]]);
        interpreter.register_op(add(rw(1, &[1], F32), ro(99, &[1], F32), out(3, &[1], F32)));
        interpreter.register_op(add(ro(3, &[1], F32), rw(2, &[1], F32), out(4, &[1], F32)));
        interpreter.register_op(add(rw(3, &[1], F32), ro(4, &[1], F32), out(5, &[1], F32)));
        drop_all(&mut interpreter, &[4, 5]);
        assert_eq!(interpreter.num_handles(), 0);
    }

    /// An error is released by the read that would have consumed the tensor, and written over.
    fn an_error_lives_as_long_as_its_tensor<B>() {
        let mut interpreter = with_floats::<B>(&[]);
        interpreter.register_op(add_scalar(ro(99, &[1], F32), ONE, out(2, &[1], F32)));
        assert!(block_on(interpreter.read_tensor_async(ro(2, &[1], F32))).is_err());
        assert!(block_on(interpreter.read_tensor_async(rw(2, &[1], F32))).is_err());
        assert_eq!(interpreter.num_handles(), 0);

        interpreter.register_op(add_scalar(ro(99, &[1], F32), ONE, out(2, &[1], F32)));
        interpreter.register_tensor_data_id(id(2), TensorData::from([5.0f32]));
        assert_eq!(floats(&mut interpreter, 2, 1), Ok(vec![5.0]));
    }

    fn an_output_is_no_input<B>() {
        let mut interpreter = with_floats::<B>(&[&[1.0]]);
        let error = interpreter
            .try_register_op(add_scalar(out(1, &[1], F32), ONE, out(2, &[1], F32)))
            .expect_err("the input has the status of an output");
        assert!(matches!(error.fault(), Fault::NotInitialized { .. }), "{error}");
    }

    /// The backend's panic becomes an error of the output, and nothing else changes.
    fn a_panic_of_the_backend_is_caught<B>() {
        let mut interpreter = with_floats::<B>(&[&[1.0, 2.0]]);
        interpreter.register_tensor_data_id(id(5), TensorData::from([3i64, 0]));
        let op = BinaryOpIr {
            lhs: ro(5, &[2], I64),
            rhs: ro(5, &[2], I64),
            out: out(2, &[2], I64),
        };
        let op = OperationIr::NumericInt(I64, NumericOperationIr::Div(op));
        let error = quietly(|| interpreter.try_register_op(op)).expect_err("nothing by nothing");
        assert!(matches!(error.fault(), Fault::Panicked { .. }), "{error}");
        assert_eq!(floats(&mut interpreter, 1, 2), Ok(vec![1.0, 2.0]));
    }

    fn tensors_move_between_interpreters<B>() {
        let mut source = with_floats::<B>(&[&[1.0, 2.0]]);
        source.register_tensor_data_id(id(2), TensorData::from([3i64]));
        source.register_tensor_data_id(id(3), TensorData::from([true]));
        let mut target = TensorInterpreter::<B>::new(source.device());
        let tensors = [
            ro(1, &[2], F32),
            rw(2, &[1], DType::I64),
            rw(3, &[1], interpreter_tests::BOOL),
        ];
        for tensor in &tensors {
            let primitive = source.get_tensor(tensor);
            target.register_tensor_to_device(tensor.id, primitive);
        }
        assert_eq!(source.num_handles(), 1);
        assert_eq!(floats(&mut target, 1, 2), Ok(vec![1.0, 2.0]));
        assert_eq!(read(&mut target, &tensors[1]), Ok(TensorData::from([3i64])));
        assert_eq!(read(&mut target, &tensors[2]), Ok(TensorData::from([true])));
        assert!(matches!(source.get_tensor(&tensors[0]), HandleKind::Float(_)));
    }

    fn what_is_not_there_is_an_error_to_those_who_ask<B>() {
        let mut interpreter = with_floats::<B>(&[]);
        let tensor = ro(9, &[1], F32);
        assert!(matches!(
            interpreter.try_get_tensor_handle(&tensor),
            Err(Fault::MissingTensor { .. })
        ));
        assert!(matches!(interpreter.try_get_tensor(&tensor), Err(Fault::MissingTensor { .. })));
        let message = floats(&mut interpreter, 9, 1).expect_err("it never was");
        assert!(message.contains("TensorId(9) was never registered"), "{message}");
    }
}

#[test]
#[should_panic(expected = "TensorId(9) was never registered")]
fn get_tensor_panics_with_the_reason() {
    quietly(|| with_floats::<Flex>(&[]).get_tensor(&ro(9, &[1], F32)));
}

#[test]
#[should_panic(expected = "TensorId(9) was never registered")]
fn get_tensor_handle_panics_with_the_reason() {
    quietly(|| with_floats::<Flex>(&[]).get_tensor_handle(&ro(9, &[1], F32)));
}
