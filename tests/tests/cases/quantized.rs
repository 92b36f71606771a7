//! Quantization schemes, scales and bytes that do not fit.

use burn_backend::quantization::{QuantMode, QuantScheme, QuantStore, QuantValue, ScaleDtype};
use burn_backend::{DType, Shape, TensorData};
use burn_flex::Flex;
use burn_interpreter::{CustomOpRegistry, Fault, TensorInterpreter};
use burn_ir::{
    BackendIr, BaseOperationIr, CustomOpIr, DequantizeOpIr, FloatOperationIr, OperationIr,
    PermuteOpIr, QuantizationParametersIr, QuantizeOpIr, SliceOpIr, TensorId, TensorIr, UnaryOpIr,
};
use burn_ndarray::NdArray;
use burn_std::Bytes;
use interpreter_tests::stream::{out, ro};
use interpreter_tests::{Tensors, eight_bits, quietly, read};

use crate::{F32, refuses};

fn blocks(sizes: &[u8]) -> QuantScheme {
    eight_bits().per_block(sizes, ScaleDtype::F32)
}

/// A block size as no constructor makes it: it claims more axes than it can hold.
fn malformed() -> QuantScheme {
    let scheme = serde_json::to_string(&blocks(&[4])).expect("it is plain data");
    let (before, after) = scheme.split_once("\"len\":1").expect("it has one axis");
    serde_json::from_str(&format!("{before}\"len\":200{after}")).expect("the types are right")
}

/// A scheme that does not fit a tensor of shape [2, 10], and what is said of it.
fn unfit() -> [(QuantScheme, &'static str); 6] {
    let packed = eight_bits().with_store(QuantStore::PackedU32(5));
    [
        (blocks(&[0]), "a block size of 0 on axis 1"),
        (blocks(&[0, 5]), "a block size of 0 on axis 0"),
        (blocks(&[4]), "blocks of 4 do not divide the 10 of axis 1"),
        (blocks(&[2, 1, 5]), "blocks of 3 axes, but the rank is 2"),
        (
            packed,
            "`store` packs axis 5, counted from the last, but the rank is 2",
        ),
        (malformed(), "the block size is malformed"),
    ]
}

/// Schemes that neither CPU backend has.
fn lacking() -> [QuantScheme; 3] {
    [
        eight_bits().with_mode(QuantMode::Lookup),
        eight_bits().with_value(QuantValue::E4M3),
        eight_bits()
            .per_block([2], ScaleDtype::F32)
            .per_tensor(ScaleDtype::F16),
    ]
}

fn float(op: FloatOperationIr) -> OperationIr {
    OperationIr::Float(F32, op)
}

fn quantize(
    t: &mut Tensors,
    scheme: QuantScheme,
    scales: TensorData,
    global: Option<TensorData>,
) -> OperationIr {
    let tensor = t.float(&[2, 10]);
    let scales = t.data(scales);
    let global = global.map(|global| t.data(global));
    let qparams = QuantizationParametersIr { scales, global };
    let op = QuantizeOpIr::create(tensor, qparams, scheme, || t.id());
    float(FloatOperationIr::Quantize(op))
}

fn one() -> TensorData {
    TensorData::from([1.0f32])
}

#[test]
fn b44_schemes_that_do_not_fit() {
    for (scheme, reason) in unfit() {
        refuses(
            |t| quantize(t, scheme, one(), None),
            &["`scheme` does not fit", reason],
        );
    }
    for scheme in lacking() {
        let scales = TensorData::from([[1.0f32; 5]; 2]);
        let (scales, global) = match scheme.block_scale() {
            Some(_) => (scales, Some(one())),
            None => (one(), None),
        };
        let build = |t: &mut Tensors| quantize(t, scheme, scales.clone(), global.clone());
        refuses(build, &["the backend has no QFloat"]);
    }
}

/// B44: a handler is not run for an output that cannot be.
#[test]
fn b44_schemes_of_custom_operations_that_do_not_fit() {
    for (scheme, reason) in unfit() {
        let mut handlers = CustomOpRegistry::<Flex>::new();
        handlers.register("make", |_, _, _| panic!("it is run"));
        let mut interpreter = TensorInterpreter::with_custom_ops(Default::default(), handlers);
        let output = out(1, &[2, 10], DType::QFloat(scheme));
        let op = OperationIr::Custom(CustomOpIr::new("make", &[], &[output]));
        let error = interpreter.try_register_op(op).expect_err("it cannot be");
        let message = error.to_string();
        assert!(
            message.contains("the scheme of TensorId(1) does not fit") && message.contains(reason),
            "{message}"
        );
    }
}

/// B44: what an operation declares of its output is no more trusted.
#[test]
fn b44_declared_schemes_that_do_not_fit() {
    for (scheme, reason) in unfit() {
        let dtype = DType::QFloat(scheme);
        refuses(
            |t| {
                let mut op = UnaryOpIr::create(t.float(&[2, 10]), || t.id());
                op.out.dtype = dtype;
                float(FloatOperationIr::Exp(op))
            },
            &["the scheme of TensorId(2) does not fit", reason],
        );
        refuses(
            |t| {
                let mut input = t.quantized(&[2, 10]);
                let (id, shape) = (t.id(), Shape::new([10, 2]));
                input.dtype = dtype;
                let out = TensorIr::uninit(id, shape, DType::QFloat(eight_bits()));
                let axes = vec![1, 0];
                OperationIr::BaseFloat(BaseOperationIr::Permute(PermuteOpIr { input, axes, out }))
            },
            &["the scheme of TensorId(1) does not fit", reason],
        );
    }
    for scheme in lacking() {
        refuses(
            |t| {
                let mut op = UnaryOpIr::create(t.float(&[2, 10]), || t.id());
                op.out.dtype = DType::QFloat(scheme);
                float(FloatOperationIr::Exp(op))
            },
            &["the backend has no QFloat"],
        );
    }
}

/// A slice that cuts through blocks has no scheme of the same blocks.
#[test]
fn blocks_that_an_operation_would_cut() {
    refuses(
        |t| {
            let data = TensorData::quantized(vec![1i8; 8], [8], blocks(&[4]), &[1.0, 2.0], None);
            let tensor = t.data(data);
            let ranges = vec![burn_backend::Slice::new(0, Some(3), 1)];
            let op = SliceOpIr::create(tensor, ranges, || t.id());
            OperationIr::BaseFloat(BaseOperationIr::Slice(op))
        },
        &["blocks of 4 do not divide the 3 of axis 0"],
    );
}

#[test]
fn scales_that_do_not_fit() {
    let two_levels = || {
        blocks(&[5])
            .per_block([5], ScaleDtype::F16)
            .per_tensor(ScaleDtype::F32)
    };
    let grid = || TensorData::from([[1.0f32, 2.0], [3.0, 4.0]]);
    let cases = [
        (
            eight_bits(),
            grid(),
            None,
            "takes scales of shape [1], but that of TensorId(2) is [2, 2]",
        ),
        (
            blocks(&[5]),
            one(),
            None,
            "takes scales of shape [2, 2], but that of TensorId(2) is [1]",
        ),
        (
            blocks(&[5]),
            TensorData::from([1.0f32, 2.0, 3.0, 4.0]),
            None,
            "but that of TensorId(2) is [4]",
        ),
        (
            eight_bits(),
            one().convert_dtype(DType::F64),
            None,
            "TensorId(1) and TensorId(2) must have the same dtype: F32 and F64",
        ),
        (
            eight_bits(),
            one(),
            Some(one()),
            "no global scale, but TensorId(3) is given",
        ),
        (
            two_levels(),
            grid(),
            None,
            "the scheme takes a global scale, but there is none",
        ),
        (
            two_levels(),
            grid(),
            Some(grid()),
            "the global scale must be F32 of shape [1]",
        ),
        (
            two_levels(),
            grid(),
            Some(one().convert_dtype(DType::F64)),
            "the global scale must be F32 of shape [1]",
        ),
    ];
    for (scheme, scales, global, reason) in cases {
        refuses(
            |t| quantize(t, scheme, scales.clone(), global.clone()),
            &[reason],
        );
    }
    refuses(
        |t| quantize(t, eight_bits(), TensorData::from([1i64]), None),
        &["must have the same dtype: F32 and I64"],
    );
    refuses(
        |t| {
            let op = quantize(t, eight_bits(), one(), None);
            let OperationIr::Float(dtype, FloatOperationIr::Quantize(mut op)) = op else {
                panic!("it quantizes");
            };
            op.out.dtype = DType::QFloat(blocks(&[5]));
            OperationIr::Float(dtype, FloatOperationIr::Quantize(op))
        },
        &["does not declare TensorId(3) with the operation's `scheme`"],
    );
}

#[test]
fn only_quantized_tensors_are_dequantized() {
    refuses(
        |t| {
            let op = DequantizeOpIr::create(t.float(&[2]), F32, || t.id());
            float(FloatOperationIr::Dequantize(op))
        },
        &["TensorId(1) must be a quantized tensor, but the IR declares F32"],
    );
    refuses(
        |t| {
            let mut input = t.float(&[2]);
            input.dtype = DType::QFloat(eight_bits());
            let op = DequantizeOpIr::create(input, F32, || t.id());
            float(FloatOperationIr::Dequantize(op))
        },
        &["the IR declares TensorId(1) as QFloat", "but it is F32"],
    );
}

/// B43: bytes that a scheme does not take cost their own tensor, and are not looked at by the
/// backend.
#[test]
fn b43_bytes_that_do_not_fit() {
    fn on<B: BackendIr>() {
        let packed = |dim| eight_bits().with_store(QuantStore::PackedU32(dim));
        let two_levels = blocks(&[2]).per_block([2], ScaleDtype::F16);
        let cases = [
            (packed(0), 3, "takes 20 bytes of data, but there are 3"),
            (packed(0), 21, "takes 20 bytes of data, but there are 21"),
            (eight_bits(), 0, "takes 20 bytes of data, but there are 0"),
            (blocks(&[2]), 20, "takes 48 bytes of data, but there are 20"),
            (
                two_levels.per_tensor(ScaleDtype::F32),
                32,
                "takes 36 bytes of data, but there are 32",
            ),
            (blocks(&[0]), 20, "a block size of 0 on axis 1"),
            (
                blocks(&[3]),
                20,
                "blocks of 3 do not divide the 4 of axis 1",
            ),
            (malformed(), 20, "the block size is malformed"),
            (
                packed(2),
                20,
                "`store` packs axis 2, counted from the last, but the rank is 2",
            ),
            (
                packed(usize::MAX),
                20,
                "counted from the last, but the rank is 2",
            ),
            (
                eight_bits().with_value(QuantValue::E4M3),
                20,
                "the backend has no QFloat",
            ),
        ];
        for (scheme, bytes, reason) in cases {
            let mut interpreter = TensorInterpreter::<B>::new(B::Device::default());
            let bytes = Bytes::from_bytes_vec(vec![1; bytes]);
            let data = TensorData::from_bytes(bytes, [4, 4], DType::QFloat(scheme));
            let registered =
                quietly(|| interpreter.try_register_tensor_data_id(TensorId::new(1), data));
            let fault = registered.expect_err("the data do not fit");
            assert!(
                !matches!(fault, Fault::Panicked { .. }),
                "it is not foreseen: {fault}"
            );
            assert!(
                fault.to_string().contains(reason),
                "{reason} is not in {fault}"
            );
            let tensor = ro(1, &[4, 4], DType::QFloat(eight_bits()));
            let message = read(&mut interpreter, &tensor).expect_err("it holds no data");
            assert!(message.contains(reason), "{message}");

            let good = TensorData::quantized(vec![1i8; 16], [4, 4], eight_bits(), &[0.5], None);
            interpreter.register_tensor_data_id(TensorId::new(1), good.clone());
            assert_eq!(read(&mut interpreter, &tensor), Ok(good));
        }
    }
    on::<Flex>();
    on::<NdArray>();
}

/// B43: stores that a backend cannot take apart are an error too.
#[test]
fn b43_stores_that_the_backend_lacks() {
    fn on<B: BackendIr>() {
        let stores = [QuantStore::PackedU32(1), QuantStore::PackedNative(0)];
        for store in stores {
            let mut interpreter = TensorInterpreter::<B>::new(B::Device::default());
            let dtype = DType::QFloat(eight_bits().with_store(store));
            let data = TensorData::from_bytes(Bytes::from_bytes_vec(vec![1; 20]), [4, 4], dtype);
            let registered =
                quietly(|| interpreter.try_register_tensor_data_id(TensorId::new(1), data));
            assert!(registered.is_err());
            assert!(interpreter.read_failure(&TensorId::new(1)).is_some());
        }
    }
    on::<Flex>();
    on::<NdArray>();
}
