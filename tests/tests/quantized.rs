//! Quantized tensors wherever a tensor goes: uploads, reads, aliases, transfers, programs, limits.
#![expect(
    deprecated,
    reason = "burn-ndarray is on its way out, and still a second implementation"
)]

use std::collections::BTreeMap;

use burn_backend::quantization::{QuantScheme, QuantStore, ScaleDtype};
use burn_backend::{DType, TensorData, TensorMetadata};
use burn_flex::Flex;
use burn_interpreter::{CustomOpRegistry, Fault, Limits, Program, TensorInterpreter, Unsupported};
use burn_ir::{
    BackendIr, BaseOperationIr, CustomOpIr, DequantizeOpIr, FlipOpIr, FloatOperationIr, GraphIr,
    HandleKind, OperationIr, TensorId, TensorIr, UnaryOpIr,
};
use burn_ndarray::NdArray;
use burn_std::future::block_on;
use interpreter_tests::stream::{add, drop_all, matmul, out, ro, rw};
use interpreter_tests::{eight_bits, on_both, quietly, read};

const F32: DType = DType::F32;

fn id(id: u64) -> TensorId {
    TensorId::new(id)
}

/// One scale, a scale a block, and two levels.
fn all() -> [TensorData; 3] {
    let blocks = eight_bits().per_block([2], ScaleDtype::F32);
    let levels = eight_bits()
        .per_block([2], ScaleDtype::F16)
        .per_tensor(ScaleDtype::F32);
    [
        data(eight_bits(), &[0.5], None),
        data(blocks, &[0.5, 0.25], None),
        data(levels, &[1.0, 0.5], Some(0.5)),
    ]
}

/// 1, -2, 3, 4 with 0.5 as their scale, or with 0.5 and 0.25.
fn data(scheme: QuantScheme, scales: &[f32], global: Option<f32>) -> TensorData {
    TensorData::quantized(vec![2i8, -4, 6, 8], [4], scheme, scales, global)
}

fn floats_of(data: &TensorData) -> TensorData {
    match data.dtype() {
        DType::QFloat(scheme) if scheme.block_scale().is_none() => {
            TensorData::from([1.0f32, -2.0, 3.0, 4.0])
        }
        _ => TensorData::from([1.0f32, -2.0, 1.5, 2.0]),
    }
}

fn with<B: BackendIr>(data: &TensorData) -> TensorInterpreter<B> {
    let mut interpreter = TensorInterpreter::new(B::Device::default());
    interpreter.register_tensor_data_id(id(1), data.clone());
    interpreter
}

fn dequantize(input: TensorIr, to: u64) -> OperationIr {
    let op = DequantizeOpIr::create(input, F32, || id(to));
    OperationIr::Float(F32, FloatOperationIr::Dequantize(op))
}

fn flip(input: TensorIr, to: u64) -> OperationIr {
    let op = FlipOpIr::create(input, vec![0], || id(to));
    OperationIr::BaseFloat(BaseOperationIr::Flip(op))
}

on_both! {
    fn what_is_uploaded_is_read<B>() {
        for data in all() {
            let mut interpreter = with::<B>(&data);
            let tensor = ro(1, &[4], data.dtype());
            assert_eq!(read(&mut interpreter, &tensor), Ok(data.clone()));
            let described = interpreter.register_tensor_data_desc(data.clone());
            assert_eq!((described.dtype, &*described.shape), (data.dtype(), &[4][..]));
            let several = block_on(interpreter.read_tensors_async(&[
                described,
                ro(9, &[4], data.dtype()),
                rw(1, &[4], data.dtype()),
            ]));
            assert_eq!(several[0].as_ref().ok(), Some(&data));
            assert!(several[1].is_err(), "there is no such tensor");
            assert_eq!(several[2].as_ref().ok(), Some(&data));
            assert_eq!(interpreter.num_handles(), 0, "both were read for the last time");
        }
    }

    fn an_alias_and_a_transfer_are_the_tensor<B>() {
        for data in all() {
            let mut source = with::<B>(&data);
            source.register_alias(id(2), id(1));
            drop_all(&mut source, &[1]);
            let tensor = ro(2, &[4], data.dtype());
            let HandleKind::Quantized(primitive) = source.get_tensor(&tensor) else {
                panic!("it is quantized");
            };
            assert_eq!(primitive.dtype(), data.dtype());
            let mut target = TensorInterpreter::<B>::new(B::Device::default());
            target.register_tensor_to_device(id(2), HandleKind::Quantized(primitive));
            for interpreter in [&mut source, &mut target] {
                assert_eq!(read(interpreter, &tensor), Ok(data.clone()));
                assert_eq!(interpreter.try_register_op(dequantize(rw(2, &[4], data.dtype()), 3)).ok(), Some(()));
                assert_eq!(read(interpreter, &ro(3, &[4], F32)), Ok(floats_of(&data)));
                assert_eq!(interpreter.live_tensors(), 1, "the quantized one is gone");
            }
        }
    }

    /// Backends unpack values; the tensor is still the one that the IR declares.
    fn a_packed_tensor_is_read_as_the_backend_stores_it<B>() {
        let packed = eight_bits().with_store(QuantStore::PackedU32(0));
        let mut interpreter = with::<B>(&data(packed, &[0.5], None));
        let tensor = ro(1, &[4], DType::QFloat(packed));
        let unpacked = data(eight_bits(), &[0.5], None);
        assert_eq!(read(&mut interpreter, &tensor), Ok(unpacked.clone()));
        interpreter.register_op(flip(tensor, 2));
        interpreter.register_op(flip(rw(2, &[4], DType::QFloat(packed)), 3));
        assert_eq!(read(&mut interpreter, &ro(3, &[4], DType::QFloat(packed))), Ok(unpacked));
    }

    fn a_tensor_is_what_the_ir_declares<B>() {
        let mut interpreter = with::<B>(&all()[0]);
        let blocks = all()[1].dtype();
        let message = read(&mut interpreter, &ro(1, &[4], blocks)).expect_err("it has one scale");
        assert!(message.contains("the IR declares TensorId(1) as QFloat"), "{message}");
        let message = read(&mut interpreter, &ro(1, &[2], all()[0].dtype()));
        assert!(message.expect_err("it has 4").contains("shape [2], but it has [4]"));
        let message = read(&mut interpreter, &ro(1, &[4], F32)).expect_err("it is quantized");
        assert!(message.contains("as F32, but it is QFloat"), "{message}");
        assert!(read(&mut interpreter, &ro(1, &[4], all()[0].dtype())).is_ok());
    }

    fn an_error_passes_on<B>() {
        let mut interpreter = with::<B>(&all()[0]);
        let dtype = all()[0].dtype();
        let error = interpreter.try_register_op(flip(ro(7, &[4], dtype), 2));
        assert!(matches!(error.expect_err("7 is missing").fault(), Fault::MissingTensor { .. }));
        let error = interpreter.try_register_op(dequantize(ro(2, &[4], dtype), 3));
        assert!(matches!(error.expect_err("2 failed").fault(), Fault::Errored { .. }));
        let sum = add(rw(1, &[4], dtype), rw(3, &[4], F32), out(4, &[4], F32));
        assert!(interpreter.try_register_op(sum).is_err());
        assert_eq!(interpreter.live_tensors(), 0, "1 was read for the last time");
    }

    /// A tensor counts with its scales.
    fn bytes_are_those_of_values_and_scales<B>() {
        let sizes = all().map(|data| {
            let interpreter = with::<B>(&data).with_limits(Limits::default());
            assert_eq!(interpreter.live_bytes(), data.as_bytes().len() as u64);
            interpreter.live_bytes()
        });
        assert_eq!(sizes, [8, 12, 12]);
        // While it is dequantized there is a copy.
        let limits = Limits::default().max_live_bytes(24);
        let mut interpreter = TensorInterpreter::<B>::new(B::Device::default()).with_limits(limits);
        let (data, dtype) = (&all()[0], all()[0].dtype());
        for tensor in 1..=3 {
            assert!(interpreter.try_register_tensor_data_id(id(tensor), data.clone()).is_ok());
        }
        assert_eq!(interpreter.live_bytes(), 24);
        let fault = interpreter.try_register_tensor_data_id(id(4), data.clone());
        assert!(matches!(fault, Err(Fault::TooManyBytes { bytes: 8, live: 24, .. })), "{fault:?}");
        drop_all(&mut interpreter, &[3]);
        let error = interpreter.try_register_op(flip(ro(1, &[4], dtype), 5));
        let error = error.expect_err("16 bytes as floats beside 16");
        assert!(matches!(error.fault(), Fault::TooManyBytes { bytes: 16, .. }), "{error}");
        drop_all(&mut interpreter, &[2]);
        assert!(interpreter.try_register_op(flip(rw(1, &[4], dtype), 5)).is_ok());
        assert_eq!(interpreter.live_bytes(), 8);
    }

    fn a_program_has_quantized_constants_and_inputs<B>() {
        for weight in all() {
            let dtype = weight.dtype();
            // 6 = flip(1) + 2, both of them quantized and the sum a float; 7 is 2, dequantized.
            let operations = vec![
                flip(ro(1, &[4], dtype), 5),
                add(rw(5, &[4], dtype), ro(2, &[4], dtype), out(6, &[4], F32)),
                dequantize(rw(2, &[4], dtype), 7),
            ];
            let graph = GraphIr { operations, inputs: vec![id(1)], outputs: vec![id(6), id(7)] };
            let constants = BTreeMap::from([(id(2), weight.clone())]);
            let program = Program::new(graph, constants).expect("the program is whole");
            let bytes = program.to_bytes().expect("it can be encoded");
            let program = Program::from_bytes(&bytes).expect("the file holds the program");
            assert_eq!(program.constants()[&id(2)], weight);
            assert_eq!(program.preflight::<B>(&B::Device::default()), Ok(()));
            let mut prepared = program.prepare::<B>(&B::Device::default()).expect("it is uploaded");
            for _ in 0..3 {
                let outputs = prepared.run(vec![weight.clone()]).expect("it runs");
                let weights = floats_of(&weight);
                let weights = weights.as_slice::<f32>().expect("floats");
                let sums = outputs[0].as_slice::<f32>().expect("floats");
                for (position, sum) in sums.iter().enumerate() {
                    let expected = weights[3 - position] + weights[position];
                    assert!((sum - expected).abs() < 0.02, "{sums:?} of {weights:?}");
                }
                assert_eq!(outputs[1], floats_of(&weight));
            }
            let other = quietly(|| prepared.run(vec![TensorData::from([1.0f32; 4])]));
            let message = other.expect_err("the input is quantized").to_string();
            assert!(message.contains("must be QFloat"), "{message}");
        }
    }

    fn a_handler_can_leave_quantized_tensors<B>() {
        let mut handlers = CustomOpRegistry::<B>::new();
        handlers.register("copy", |handles, op, _| {
            let tensor = handles.get_quantized_tensor::<B>(&op.inputs[0]);
            handles.register_quantized_tensor::<B>(&op.outputs[0].id, tensor);
        });
        let data = &all()[1];
        let mut interpreter = TensorInterpreter::with_custom_ops(B::Device::default(), handlers);
        interpreter.register_tensor_data_id(id(1), data.clone());
        let copy = |dtype| {
            let outputs = [out(2, &[4], dtype)];
            OperationIr::Custom(CustomOpIr::new("copy", &[ro(1, &[4], data.dtype())], &outputs))
        };
        assert!(interpreter.try_register_op(copy(data.dtype())).is_ok());
        assert_eq!(read(&mut interpreter, &ro(2, &[4], data.dtype())).as_ref(), Ok(data));
        let error = interpreter.try_register_op(copy(all()[0].dtype()));
        let error = error.expect_err("the tensor has two scales");
        assert!(matches!(error.fault(), Fault::WrongDtype { .. }), "{error}");
    }

    fn preflight_tells_what_the_backend_lacks<B>() {
        let interpreter = with::<B>(&all()[0]);
        let exp = |scheme: QuantScheme| {
            let input = ro(1, &[4], all()[0].dtype());
            let mut op = UnaryOpIr::create(input, || id(2));
            op.out.dtype = DType::QFloat(scheme);
            OperationIr::Float(F32, FloatOperationIr::Exp(op))
        };
        let dtype = all()[0].dtype();
        let fine = [
            exp(eight_bits()),
            flip(ro(1, &[4], dtype), 3),
            matmul(ro(1, &[4, 4], dtype), ro(2, &[4, 4], F32), out(3, &[4, 4], F32)),
        ];
        assert_eq!(interpreter.preflight(&fine), Ok(()));
        let blocks = |size| eight_bits().per_block([size], ScaleDtype::F32);
        let stream = [
            exp(blocks(3)),
            exp(blocks(2).per_tensor(ScaleDtype::F32)),
            exp(blocks(3)),
        ];
        let found = interpreter.preflight(&stream).expect_err("no backend has them");
        let told: Vec<_> = found.iter().map(Unsupported::to_string).collect();
        assert_eq!(
            told[0],
            "operation `float.Exp` at position 0 and once more: a scheme does not fit its tensor: \
             blocks of 3 do not divide the 4 of axis 0"
        );
        assert!(told[1].contains("at position 1: the backend has no QFloat"), "{}", told[1]);
        assert_eq!(told.len(), 2);
        for op in stream {
            let mut interpreter = with::<B>(&all()[0]);
            assert!(quietly(|| interpreter.try_register_op(op)).is_err());
        }
    }
}
