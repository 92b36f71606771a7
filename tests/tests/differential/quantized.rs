//! Quantized tensors, which upstream does not execute: what ours makes of them, against the backend
//! itself and against values computed by hand.

use burn_backend::quantization::{QuantScheme, QuantizationParametersPrimitive, ScaleDtype};
use burn_backend::{
    Backend, DType, FloatDType, Shape, Slice, TensorData, TensorMetadata, TensorPrimitive,
};
use burn_flex::Flex;
use burn_interpreter::TensorInterpreter;
use burn_ir::{
    BackendIr, BaseOperationIr as Base, BinaryOpIr, CatOpIr, DequantizeOpIr, FlipOpIr,
    FloatOperationIr, GatherOpIr, LinearOpIr, MatmulOpIr, ModuleOperationIr, NumericOperationIr,
    OperationIr, PermuteOpIr, QuantizationParametersIr, QuantizeOpIr, RepeatDimOpIr, SelectOpIr,
    ShapeOpIr, SliceOpIr, SwapDimsOpIr, TensorIr, TensorStatus, UnaryOpIr,
};
use burn_ndarray::NdArray;
use burn_std::future::block_on;
use interpreter_tests::{BOOL, Case, Tensors, eight_bits, run};

/// The cases of the two rows that are about nothing else.
pub(crate) fn cases() -> Vec<Case> {
    let quantized = schemes().map(|scheme| {
        Case::new(|t| {
            let tensor = t.float(&[2, 8]);
            let scales = scales(scheme);
            let scales = t.data(scales);
            let global = scheme.block_scale().and(scheme.tensor_scale());
            let global = global.map(|_| t.data(TensorData::from([0.5f32])));
            let qparams = QuantizationParametersIr { scales, global };
            float(FloatOperationIr::Quantize(QuantizeOpIr::create(
                tensor,
                qparams,
                scheme,
                || t.id(),
            )))
        })
    });
    let dequantized = [DType::F32, DType::F64].map(|dtype| {
        Case::new(|t| {
            let input = t.quantized(&[2, 8]);
            let op = DequantizeOpIr::create(input, dtype, || t.id());
            float(FloatOperationIr::Dequantize(op))
        })
    });
    quantized.into_iter().chain(dequantized).collect()
}

/// One scale; a scale a block; scales of blocks with a global one.
fn schemes() -> [QuantScheme; 3] {
    let blocks = eight_bits().per_block([4], ScaleDtype::F32);
    let two_levels = eight_bits().per_block([4], ScaleDtype::F16);
    [eight_bits(), blocks, two_levels.per_tensor(ScaleDtype::F32)]
}

/// Scales for values from -2 to 2 of shape [2, 8], no two alike.
fn scales(scheme: QuantScheme) -> TensorData {
    match scheme.block_scale() {
        None => TensorData::from([1.0f32 / 64.0]),
        Some(_) => TensorData::from([[0.03125f32, 0.0625], [0.046875, 0.015625]]),
    }
}

fn float(op: FloatOperationIr) -> OperationIr {
    OperationIr::Float(DType::F32, op)
}

/// The outputs of a case on `B`, the same whether its inputs stay or not.
fn outputs<B: BackendIr>(case: &Case) -> Result<Vec<TensorData>, String> {
    let [one, other] = [TensorStatus::ReadOnly, TensorStatus::ReadWrite].map(|status| {
        let ran = run::<B, TensorInterpreter<B>>(case, &case.op_with(status))?;
        let alive = if status == TensorStatus::ReadOnly {
            case.inputs.len()
        } else {
            0
        };
        assert_eq!(ran.alive.len(), alive, "{}", case.name());
        Ok(ran.outputs)
    });
    assert_eq!(one, other, "{}", case.name());
    one
}

/// The output of a case on `B`.
fn output<B: BackendIr>(case: &Case) -> TensorData {
    let outputs = outputs::<B>(case).unwrap_or_else(|error| panic!("{}: {error}", case.name()));
    let [output] = <[_; 1]>::try_from(outputs).expect("it has one output");
    output
}

fn device<B: Backend>() -> B::Device {
    B::Device::default()
}

fn q<B: Backend>(data: &TensorData) -> B::QuantizedTensorPrimitive {
    B::q_from_data(data.clone(), &device::<B>())
}

fn f<B: Backend>(data: &TensorData) -> B::FloatTensorPrimitive {
    B::float_from_data(data.clone(), &device::<B>())
}

fn q_data<B: Backend>(tensor: B::QuantizedTensorPrimitive) -> TensorData {
    block_on(B::q_into_data(tensor)).expect("the backend reads its own tensor")
}

fn f_data<B: Backend>(tensor: B::FloatTensorPrimitive) -> TensorData {
    block_on(B::float_into_data(tensor)).expect("the backend reads its own tensor")
}

/// Values from -2 to 2, quantized by the backend itself.
fn quantized<B: Backend>(scheme: QuantScheme, dims: &[usize]) -> TensorData {
    let case = Case::new(|t| {
        t.float(dims);
        OperationIr::Drop(t.float(&[1]))
    });
    let tensor = f::<B>(&case.inputs[0].1);
    q_data::<B>(B::quantize_dynamic(tensor, &scheme))
}

fn dequantized<B: Backend>(data: &TensorData) -> TensorData {
    f_data::<B>(B::dequantize(q::<B>(data), FloatDType::F32))
}

fn values(data: &TensorData) -> Vec<f32> {
    data.clone()
        .convert::<f32>()
        .as_slice::<f32>()
        .expect("it is converted")
        .to_vec()
}

fn assert_close(one: &TensorData, other: &TensorData, what: &str) {
    assert_eq!(one.shape(), other.shape(), "{what}");
    let pairs = values(one).into_iter().zip(values(other));
    for (one, other) in pairs {
        assert!((one - other).abs() <= 0.02, "{what}: {one} and {other}");
    }
}

/// Run the tests on both CPU backends.
macro_rules! on_both {
    ($($name:ident)*) => {
        mod flex {
            $(#[test] fn $name() { super::$name::<super::Flex>(); })*
        }
        mod ndarray {
            $(#[test] fn $name() { super::$name::<super::NdArray>(); })*
        }
    };
}

on_both! {
    quantize_and_dequantize_are_the_backends
    a_quantized_tensor_with_one_scale_stays_as_the_backend_has_it
    blocks_move_with_their_axes
    other_moves_of_blocks_quantize_anew
    b41_values_come_back
    products_are_the_backends
    others_compute_with_floats
    what_is_recorded_is_what_comes_out
    a_float_beside_a_quantized_tensor_decides_the_type
    an_output_is_quantized_without_an_input_that_is
}

/// 0.5 and 0.25 are exact: the values are known without a backend.
#[test]
fn quantized_values_are_these() {
    let case = |scheme, scales, global: Option<f32>| {
        Case::new(|t| {
            let tensor = t.data(TensorData::from([[1.0f32, -0.5, 0.3, 100.0]]));
            let scales = t.data(scales);
            let global = global.map(|global| t.data(TensorData::from([global])));
            let qparams = QuantizationParametersIr { scales, global };
            let op = QuantizeOpIr::create(tensor, qparams, scheme, || t.id());
            float(FloatOperationIr::Quantize(op))
        })
    };
    let blocks = eight_bits().per_block([2], ScaleDtype::F16);
    let cases = [
        (
            case(eight_bits(), TensorData::from([0.5f32]), None),
            [2i8, -1, 1, 127],
            [1.0f32, -0.5, 0.5, 63.5],
        ),
        (
            case(blocks, TensorData::from([[0.25f32, 1.0]]), None),
            [4, -2, 0, 100],
            [1.0, -0.5, 0.0, 100.0],
        ),
        (
            case(
                blocks.per_tensor(ScaleDtype::F32),
                TensorData::from([[0.5f32, 2.0]]),
                Some(0.5),
            ),
            [4, -2, 0, 100],
            [1.0, -0.5, 0.0, 100.0],
        ),
    ];
    for (case, integers, floats) in cases {
        for data in [output::<Flex>(&case), output::<NdArray>(&case)] {
            let bytes = integers.map(|integer| integer as u8);
            assert_eq!(data.as_bytes()[..4], bytes);
            assert_eq!(values(&dequantized::<Flex>(&data)), floats);
        }
    }
}

fn quantize_and_dequantize_are_the_backends<B: BackendIr>() {
    for case in cases() {
        let data = |position: usize| &case.inputs[position].1;
        let direct = match &case.op {
            OperationIr::Float(_, FloatOperationIr::Quantize(op)) => {
                let qparams = QuantizationParametersPrimitive {
                    scales: f::<B>(data(1)),
                    global: op.qparams.global.as_ref().map(|_| f::<B>(data(2))),
                };
                q_data::<B>(B::quantize(f::<B>(data(0)), &op.scheme, qparams))
            }
            OperationIr::Float(_, FloatOperationIr::Dequantize(op)) => {
                f_data::<B>(B::dequantize(q::<B>(data(0)), op.out.dtype.into()))
            }
            other => panic!("{other:?} is no case of this"),
        };
        assert_eq!(output::<B>(&case), direct, "{:?}", case.op);
    }
}

/// The nine operations that backends have for quantized tensors, of a tensor of shape [4, 8].
fn moves() -> [fn(TensorIr, &mut Tensors) -> Base; 9] {
    [
        |x, t| Base::Reshape(ShapeOpIr::reshape(x, Shape::new([2, 16]), || t.id())),
        |x, t| Base::SwapDims(SwapDimsOpIr::create(x, 0, 1, || t.id())),
        |x, t| Base::Permute(PermuteOpIr::create(x, vec![1, 0], || t.id())),
        |x, t| Base::Flip(FlipOpIr::create(x, vec![1], || t.id())),
        |x, t| Base::Expand(ShapeOpIr::expand(x, Shape::new([2, 4, 8]), || t.id())),
        |x, t| {
            let ranges = vec![Slice::new(1, Some(3), 1), Slice::new(0, Some(8), -2)];
            Base::Slice(SliceOpIr::create(x, ranges, || t.id()))
        },
        |x, t| {
            let indices = t.ints(&[3, 0, 2, 1, 7, 5, 6, 4], &[8]);
            Base::Select(SelectOpIr::create(x, 1, indices, || t.id()))
        },
        |x, t| {
            let indices = t.ints(&[1, 0, 3, 3, 2, 2, 0, 1], &[1, 8]);
            Base::Gather(GatherOpIr::create(x, 0, indices, || t.id()))
        },
        |x, t| Base::RepeatDim(RepeatDimOpIr::create(x, 0, 2, || t.id())),
    ]
}

fn moved(data: &TensorData, op: fn(TensorIr, &mut Tensors) -> Base) -> Case {
    Case::new(|t| {
        let input = t.data(data.clone());
        OperationIr::BaseFloat(op(input, t))
    })
}

/// The backend's own method for the operation.
fn moved_by_backend<B: BackendIr>(case: &Case) -> TensorData {
    let x = q::<B>(&case.inputs[0].1);
    let indices = || B::int_from_data(case.inputs[1].1.clone(), &device::<B>());
    let OperationIr::BaseFloat(op) = &case.op else {
        panic!("{:?} is no move", case.op);
    };
    q_data::<B>(match op {
        Base::Reshape(op) => B::q_reshape(x, op.out.shape.clone()),
        Base::SwapDims(op) => B::q_swap_dims(x, op.dim1, op.dim2),
        Base::Permute(op) => B::q_permute(x, &op.axes),
        Base::Flip(op) => B::q_flip(x, &op.axes),
        Base::Expand(op) => B::q_expand(x, op.out.shape.clone()),
        Base::Slice(op) => B::q_slice(x, &op.ranges),
        Base::Select(op) => B::q_select(x, op.dim, indices()),
        Base::Gather(op) => B::q_gather(op.dim, x, indices()),
        Base::RepeatDim(op) => B::q_repeat_dim(x, op.dim, op.times),
        other => panic!("{other:?} is no move"),
    })
}

fn a_quantized_tensor_with_one_scale_stays_as_the_backend_has_it<B: BackendIr>() {
    let data = quantized::<B>(eight_bits(), &[4, 8]);
    for op in moves() {
        let case = moved(&data, op);
        assert_eq!(
            output::<B>(&case),
            moved_by_backend::<B>(&case),
            "{}",
            case.name()
        );
    }
}

fn blocks_move_with_their_axes<B: BackendIr>() {
    for scheme in &schemes()[1..] {
        let data = quantized::<B>(*scheme, &[4, 8]);
        for op in &moves()[1..3] {
            let case = moved(&data, *op);
            let moved = output::<B>(&case);
            assert_eq!(moved, moved_by_backend::<B>(&case), "{}", case.name());
            let axes = B::float_permute(f::<B>(&dequantized::<B>(&data)), &[1, 0]);
            assert_close(&dequantized::<B>(&moved), &f_data::<B>(axes), case.name());
        }
    }
}

/// What the operation makes of the floats, bit for bit as floats have it.
fn of_floats<B: BackendIr>(case: &Case) -> TensorData {
    let floats = case.inputs.iter().map(|(id, data)| {
        let data = match data.dtype() {
            DType::QFloat(_) => dequantized::<B>(data),
            _ => data.clone(),
        };
        (*id, data)
    });
    let floats = floats.collect();
    let mut plain = Case {
        inputs: floats,
        op: case.op.clone(),
    };
    struct Floats;
    impl burn_ir::IrVisitorMut for Floats {
        fn visit_tensor_mut(&mut self, tensor: &mut TensorIr) {
            if let DType::QFloat(_) = tensor.dtype {
                tensor.dtype = DType::F32;
            }
        }
    }
    plain.op.visit_mut(&mut Floats);
    output::<B>(&plain)
}

fn other_moves_of_blocks_quantize_anew<B: BackendIr>() {
    for scheme in &schemes()[1..] {
        let data = quantized::<B>(*scheme, &[4, 8]);
        for op in moves() {
            let case = moved(&data, op);
            let moved = output::<B>(&case);
            let declared = case.op.outputs().next().expect("it has one").dtype;
            assert_eq!(moved.dtype(), declared, "{}", case.name());
            let moved = dequantized::<B>(&moved);
            assert_close(&moved, &of_floats::<B>(&case), case.name());
        }
    }
}

/// B41: what is quantized and dequantized is what it was, but for the rounding.
fn b41_values_come_back<B: BackendIr>() {
    for scheme in schemes() {
        let floats: Vec<f32> = (0..256).map(|i| i as f32 / 256.0).collect();
        let floats = TensorData::new(floats, [8, 32]);
        let data = q_data::<B>(B::quantize_dynamic(f::<B>(&floats), &scheme));
        let case = Case::new(|t| {
            let input = t.data(data.clone());
            let op = DequantizeOpIr::create(input, DType::F32, || t.id());
            float(FloatOperationIr::Dequantize(op))
        });
        let found = values(&output::<B>(&case));
        let pairs = found.into_iter().zip(values(&floats));
        assert!(
            pairs
                .into_iter()
                .all(|(one, other)| (one - other).abs() <= 1e-2)
        );
    }
}

fn products_are_the_backends<B: BackendIr>() {
    for scheme in schemes() {
        let lhs = quantized::<B>(scheme, &[4, 8]);
        let rhs = quantized::<B>(scheme, &[8, 4]);
        let sides = [[true, true], [true, false], [false, true]];
        for [is_left, is_right] in sides {
            let side = |data: &TensorData, is_quantized| match is_quantized {
                true => data.clone(),
                false => dequantized::<B>(data),
            };
            let (lhs, rhs) = (side(&lhs, is_left), side(&rhs, is_right));
            let primitive = |data: &TensorData| match data.dtype() {
                DType::QFloat(_) => TensorPrimitive::QFloat(q::<B>(data)),
                _ => TensorPrimitive::Float(f::<B>(data)),
            };
            let direct = match B::q_matmul(primitive(&lhs), primitive(&rhs)) {
                TensorPrimitive::Float(product) => f_data::<B>(product),
                TensorPrimitive::QFloat(_) => panic!("the device does not propagate"),
            };
            for dtype in [DType::F32, DType::F64, DType::QFloat(scheme)] {
                let case = Case::new(|t| {
                    let (lhs, rhs) = (t.data(lhs.clone()), t.data(rhs.clone()));
                    let op = MatmulOpIr::create_mixed(lhs, rhs, dtype, || t.id());
                    float(FloatOperationIr::Matmul(op))
                });
                let product = output::<B>(&case);
                match dtype {
                    DType::QFloat(_) => {
                        let requantized = B::quantize_dynamic(f::<B>(&direct), &scheme);
                        assert_eq!(product, q_data::<B>(requantized));
                    }
                    dtype => assert_eq!(product, direct.clone().convert_dtype(dtype)),
                }
            }
        }
    }
}

fn exp(data: &TensorData, dtype: DType) -> Case {
    Case::new(|t| {
        let input = t.data(data.clone());
        let mut op = UnaryOpIr::create(input, || t.id());
        op.out.dtype = dtype;
        float(FloatOperationIr::Exp(op))
    })
}

fn add(lhs: &TensorData, rhs: &TensorData) -> Case {
    Case::new(|t| {
        let (lhs, rhs) = (t.data(lhs.clone()), t.data(rhs.clone()));
        OperationIr::NumericFloat(
            DType::F32,
            NumericOperationIr::Add(BinaryOpIr::create(lhs, rhs, || t.id())),
        )
    })
}

/// Outputs that are no floats, and those that are recorded as floats, are those of the floats.
fn others_compute_with_floats<B: BackendIr>() {
    for scheme in schemes() {
        let one = quantized::<B>(scheme, &[4, 8]);
        let other = quantized::<B>(scheme, &[8, 4]);
        let greater = Case::new(|t| {
            let lhs = t.data(one.clone());
            let rhs = t.data(dequantized::<B>(&one));
            let op = BinaryOpIr::create_comparison;
            let mut op = op(lhs.clone(), lhs, BOOL, || t.id());
            op.rhs = rhs;
            OperationIr::NumericFloat(DType::F32, NumericOperationIr::GreaterEqual(op))
        });
        assert!(
            output::<B>(&greater).iter::<bool>().all(|greater| greater),
            "a tensor is as great as itself"
        );
        let case = exp(&one, DType::F32);
        assert_eq!(output::<B>(&case), of_floats::<B>(&case));
        let linear = Case::new(|t| {
            let x = t.float(&[3, 8]);
            let weight = t.data(other.clone());
            let out = TensorIr::uninit(t.id(), Shape::new([3, 4]), DType::F32);
            let op = LinearOpIr {
                x,
                weight,
                bias: None,
                out,
            };
            OperationIr::Module(ModuleOperationIr::Linear(op))
        });
        assert_eq!(output::<B>(&linear), of_floats::<B>(&linear));
    }
}

/// An output that is recorded as quantized is the floats quantized.
fn what_is_recorded_is_what_comes_out<B: BackendIr>() {
    for scheme in schemes() {
        let one = quantized::<B>(scheme, &[4, 8]);
        let other = quantized::<B>(scheme, &[4, 8]);
        let cat = Case::new(|t| {
            let tensors = [&one, &other].map(|data| t.data(data.clone()));
            OperationIr::BaseFloat(Base::Cat(CatOpIr::create(tensors.into(), 0, || t.id())))
        });
        let cases = [exp(&one, DType::QFloat(scheme)), add(&one, &other), cat];
        for case in cases {
            let requantized = B::quantize_dynamic(f::<B>(&of_floats::<B>(&case)), &scheme);
            assert_eq!(
                output::<B>(&case),
                q_data::<B>(requantized),
                "{}",
                case.name()
            );
        }
        let floats = output::<B>(&exp(&one, DType::F64));
        assert_eq!(floats.dtype(), DType::F64);
        assert_close(
            &floats,
            &output::<B>(&exp(&one, DType::F32)),
            "the exponential",
        );
    }
}

fn a_float_beside_a_quantized_tensor_decides_the_type<B: BackendIr>() {
    let data = quantized::<B>(eight_bits(), &[2, 4]);
    let case = Case::new(|t| {
        let lhs = t.float_in_as(&[2, 4], -1.0..1.0, DType::F64);
        let rhs = t.data(data.clone());
        let out = TensorIr::uninit(t.id(), lhs.shape.clone(), DType::F32);
        let op = BinaryOpIr { lhs, rhs, out };
        OperationIr::NumericFloat(DType::F64, NumericOperationIr::Mul(op))
    });
    let rhs = B::dequantize(q::<B>(&data), FloatDType::F64);
    let product = B::float_mul(f::<B>(&case.inputs[0].1), rhs);
    assert_eq!(
        output::<B>(&case),
        f_data::<B>(B::float_cast(product, FloatDType::F32))
    );
}

fn an_output_is_quantized_without_an_input_that_is<B: BackendIr>() {
    let case = Case::new(|t| {
        let dtype = DType::QFloat(eight_bits());
        let out = TensorIr::uninit(t.id(), Shape::new([2, 2]), dtype);
        OperationIr::BaseFloat(Base::Ones(burn_ir::CreationOpIr { out }))
    });
    let data = output::<B>(&case);
    assert_eq!(values(&dequantized::<B>(&data)), [1.0; 4]);
    let tensor = q::<B>(&data);
    assert_eq!(tensor.dtype(), DType::QFloat(eight_bits()));
}
