//! The cases: operations, the tensors they read, and the same calls on the backend itself.

use std::hint::black_box;

use burn_backend::ops::ConvOptions;
use burn_backend::tensor::{BoolTensor, FloatTensor, IntTensor};
use burn_backend::{BoolStore, DType, Scalar, Shape, Slice, TensorData};
use burn_ir::{
    BackendIr, BaseOperationIr, BinaryOpIr, CatOpIr, Conv1dOpIr, Conv1dOptionsIr, Conv2dOpIr,
    Conv2dOptionsIr, CustomOpIr, FloatOperationIr, HandleContainer, IrVisitorMut,
    MaxPool2dWithIndicesOpIr, ModuleOperationIr, NumericOperationIr, OperationIr, ReduceDimOpIr,
    ScalarIr, ScalarOpIr, SelectOpIr, ShapeOpIr, SliceOpIr, TensorId, TensorIr, TensorStatus,
    UnaryOpIr,
};

use crate::models;

/// The id of the custom operation, which adds 1.
pub const CUSTOM_OP: &str = "add_one";

/// The handler of the custom operation.
pub fn custom_op<B: BackendIr>(
    handles: &mut HandleContainer<B::Handle>,
    op: &CustomOpIr,
    _device: &B::Device,
) {
    let input = handles.get_float_tensor::<B>(&op.inputs[0]);
    let output = B::float_add_scalar(input, Scalar::Float(1.0));
    handles.register_float_tensor::<B>(&op.outputs[0].id, output);
}

const F32: DType = DType::F32;

pub(crate) struct Case {
    /// The tensors that are there before the first operation.
    pub(crate) inputs: Vec<(TensorId, TensorData)>,
    /// One round.
    pub(crate) ops: Vec<OperationIr>,
    /// The tensors that a round makes.
    pub(crate) made: Vec<TensorId>,
    /// The tensor that a round consumes and the only one it makes, which the next consumes.
    pub(crate) carried: Option<(TensorId, TensorId)>,
    /// The calls of one round.
    pub(crate) direct: Box<dyn FnMut()>,
}

impl Case {
    /// The operations of a round, `Drop` not counted.
    pub(crate) fn len(&self) -> usize {
        let is_drop = |op: &&OperationIr| matches!(op, OperationIr::Drop(_));
        self.ops.len() - self.ops.iter().filter(is_drop).count()
    }

    /// The operations of a round, whose ids are to be those of the round.
    pub(crate) fn round(&self, round: usize) -> (&[OperationIr], Round<'_>) {
        (&self.ops, Round { case: self, round })
    }

    /// What tensor `id` is called in a round. Clients count ids up.
    pub(crate) fn id(&self, id: TensorId, round: usize) -> TensorId {
        let position = |id: TensorId| self.made.iter().position(|made| *made == id);
        let count = |place: usize, round: usize| {
            TensorId::new(FIRST + (round * self.made.len() + place) as u64)
        };
        match self.carried {
            Some((input, _)) if input == id => count(0, round),
            _ => position(id).map_or(id, |place| count(place, round + 1)),
        }
    }
}

/// The ids of the tensors that a case makes begin here, above those of its inputs.
const FIRST: u64 = 2_000_000;

/// Gives tensors the ids of a round.
pub(crate) struct Round<'c> {
    case: &'c Case,
    round: usize,
}

impl IrVisitorMut for Round<'_> {
    fn visit_tensor_mut(&mut self, tensor: &mut TensorIr) {
        tensor.id = self.case.id(tensor.id, self.round);
    }
}

/// The names of all cases.
pub const CASES: &[&str] = &[
    "unary",
    "binary",
    "scalar",
    "comparison",
    "reduction",
    "reshape",
    "slice",
    "cat of 8",
    "select",
    "conv1d",
    "conv2d",
    "max pool",
    "custom",
    "mlp",
    "digits",
];

/// The case with this name.
pub(crate) fn case<B: BackendIr>(name: &str) -> Result<Case, String> {
    let mut builder = Builder::default();
    Ok(match name {
        "unary" => {
            let direct = chain::<B>(&[4], B::float_exp);
            let op = FloatOperationIr::Exp(UnaryOpIr {
                input: builder.input(1, &[4], TensorStatus::ReadWrite),
                out: out(2, &[4], F32),
            });
            builder.carried(OperationIr::Float(F32, op), direct)
        }
        "binary" => {
            let rhs = float::<B>(&[1]);
            let direct = chain::<B>(&[1], move |x| B::float_add(x, rhs.clone()));
            let op = NumericOperationIr::Add(BinaryOpIr {
                lhs: builder.input(1, &[1], TensorStatus::ReadWrite),
                rhs: builder.input(3, &[1], TensorStatus::ReadOnly),
                out: out(2, &[1], F32),
            });
            builder.carried(OperationIr::NumericFloat(F32, op), direct)
        }
        "scalar" => {
            let direct = chain::<B>(&[4], |x| B::float_mul_scalar(x, Scalar::Float(0.5)));
            let op = NumericOperationIr::MulScalar(ScalarOpIr {
                lhs: builder.input(1, &[4], TensorStatus::ReadWrite),
                rhs: ScalarIr::Float(0.5),
                out: out(2, &[4], F32),
            });
            builder.carried(OperationIr::NumericFloat(F32, op), direct)
        }
        "comparison" => {
            let bools = DType::Bool(BoolStore::Native);
            let (lhs, rhs) = (float::<B>(&[4]), float::<B>(&[4]));
            let direct = move || {
                let output: BoolTensor<B> =
                    B::float_greater(lhs.clone(), rhs.clone(), bools.into());
                drop(black_box(output));
            };
            let op = NumericOperationIr::Greater(BinaryOpIr {
                lhs: builder.input(1, &[4], TensorStatus::ReadOnly),
                rhs: builder.input(2, &[4], TensorStatus::ReadOnly),
                out: out(3, &[4], bools),
            });
            builder.dropped(OperationIr::NumericFloat(F32, op), direct)
        }
        "reduction" => {
            let x = float::<B>(&[2, 4]);
            let direct = move || drop(black_box(B::float_sum_dim(x.clone(), 1)));
            let op = NumericOperationIr::SumDim(ReduceDimOpIr {
                input: builder.input(1, &[2, 4], TensorStatus::ReadOnly),
                out: out(2, &[2, 1], F32),
                axis: 1,
                accumulator_len: 1,
            });
            builder.dropped(OperationIr::NumericFloat(F32, op), direct)
        }
        "reshape" => {
            let x = float::<B>(&[2, 4]);
            let direct = move || drop(black_box(B::float_reshape(x.clone(), Shape::new([8]))));
            let op = BaseOperationIr::Reshape(ShapeOpIr {
                input: builder.input(1, &[2, 4], TensorStatus::ReadOnly),
                out: out(2, &[8], F32),
            });
            builder.dropped(OperationIr::BaseFloat(op), direct)
        }
        "slice" => {
            let x = float::<B>(&[4, 4]);
            let ranges = vec![Slice::new(1, Some(3), 1), Slice::new(0, Some(2), 1)];
            let op = BaseOperationIr::Slice(SliceOpIr {
                tensor: builder.input(1, &[4, 4], TensorStatus::ReadOnly),
                ranges: ranges.clone(),
                out: out(2, &[2, 2], F32),
            });
            let direct = move || drop(black_box(B::float_slice(x.clone(), &ranges)));
            builder.dropped(OperationIr::BaseFloat(op), direct)
        }
        "cat of 8" => {
            let parts: Vec<FloatTensor<B>> = (0..8).map(|_| float::<B>(&[2])).collect();
            let direct = move || {
                drop(black_box(B::float_cat(parts.clone(), 0)));
            };
            let tensors = (1..=8).map(|id| builder.input(id, &[2], TensorStatus::ReadOnly));
            let op = BaseOperationIr::Cat(CatOpIr {
                tensors: tensors.collect(),
                dim: 0,
                out: out(9, &[16], F32),
            });
            builder.dropped(OperationIr::BaseFloat(op), direct)
        }
        "select" => {
            let x = float::<B>(&[4, 2]);
            let picks = || TensorData::from([2_i32, 0, 1]);
            let indices: IntTensor<B> = B::int_from_data(picks(), &B::Device::default());
            let direct = move || drop(black_box(B::float_select(x.clone(), 0, indices.clone())));
            let op = BaseOperationIr::Select(SelectOpIr {
                tensor: builder.input(1, &[4, 2], TensorStatus::ReadOnly),
                dim: 0,
                indices: builder.data(2, picks(), TensorStatus::ReadOnly),
                out: out(3, &[3, 2], F32),
            });
            builder.dropped(OperationIr::BaseFloat(op), direct)
        }
        "conv1d" => {
            let (x, weight) = (float::<B>(&[1, 1, 4]), float::<B>(&[1, 1, 2]));
            let options = Conv1dOptionsIr {
                stride: [1],
                padding: [(0, 0)],
                dilation: [1],
                groups: 1,
            };
            let op = ModuleOperationIr::Conv1d(Conv1dOpIr {
                x: builder.input(1, &[1, 1, 4], TensorStatus::ReadOnly),
                weight: builder.input(2, &[1, 1, 2], TensorStatus::ReadOnly),
                bias: None,
                options: options.clone(),
                out: out(3, &[1, 1, 3], F32),
            });
            let direct = move || {
                let options: ConvOptions<1> = options.clone().into();
                drop(black_box(B::conv1d(
                    x.clone(),
                    weight.clone(),
                    None,
                    options,
                )));
            };
            builder.dropped(OperationIr::Module(op), direct)
        }
        "conv2d" => {
            let x = float::<B>(&[1, 1, 4, 4]);
            let (weight, bias) = (float::<B>(&[2, 1, 2, 2]), float::<B>(&[2]));
            let options = conv2d_options(0);
            let op = ModuleOperationIr::Conv2d(Conv2dOpIr {
                x: builder.input(1, &[1, 1, 4, 4], TensorStatus::ReadOnly),
                weight: builder.input(2, &[2, 1, 2, 2], TensorStatus::ReadOnly),
                bias: Some(builder.input(3, &[2], TensorStatus::ReadOnly)),
                options: options.clone(),
                out: out(4, &[1, 2, 3, 3], F32),
            });
            let direct = move || {
                let (x, weight, bias) = (x.clone(), weight.clone(), Some(bias.clone()));
                let output = B::conv2d(x, weight, bias, options.clone().into());
                drop(black_box(output));
            };
            builder.dropped(OperationIr::Module(op), direct)
        }
        "max pool" => {
            let x = float::<B>(&[1, 1, 4, 4]);
            let direct = move || {
                let (side, none) = ([2, 2], [0, 0]);
                drop(black_box(B::max_pool2d_with_indices(
                    x.clone(),
                    side,
                    side,
                    none,
                    [1, 1],
                    false,
                    DType::I32.into(),
                )));
            };
            let op = ModuleOperationIr::MaxPool2dWithIndices(MaxPool2dWithIndicesOpIr {
                x: builder.input(1, &[1, 1, 4, 4], TensorStatus::ReadOnly),
                kernel_size: [2, 2],
                stride: [2, 2],
                padding: [0, 0],
                dilation: [1, 1],
                ceil_mode: false,
                out: out(2, &[1, 1, 2, 2], F32),
                out_indices: out(3, &[1, 1, 2, 2], DType::I32),
            });
            builder.dropped(OperationIr::Module(op), direct)
        }
        "custom" => {
            let direct = chain::<B>(&[4], |x| B::float_add_scalar(x, Scalar::Float(1.0)));
            let input = builder.input(1, &[4], TensorStatus::ReadWrite);
            let op = CustomOpIr::new(CUSTOM_OP, &[input], &[out(2, &[4], F32)]);
            builder.carried(OperationIr::Custom(op), direct)
        }
        "mlp" => models::mlp::<B>(builder),
        "digits" => models::digits::<B>(builder),
        _ => return Err(format!("there is no case `{name}`, but {CASES:?}")),
    })
}

/// A tensor as an operation names it.
pub(crate) fn tensor(id: u64, dims: &[usize], dtype: DType, status: TensorStatus) -> TensorIr {
    TensorIr {
        id: TensorId::new(id),
        shape: Shape::from(dims.to_vec()),
        status,
        dtype,
    }
}

/// A tensor to be written.
pub(crate) fn out(id: u64, dims: &[usize], dtype: DType) -> TensorIr {
    tensor(id, dims, dtype, TensorStatus::NotInit)
}

/// A convolution that pads each side by as much.
pub(crate) fn conv2d_options(padding: usize) -> Conv2dOptionsIr {
    Conv2dOptionsIr {
        stride: [1, 1],
        padding: [(padding, padding); 2],
        dilation: [1, 1],
        groups: 1,
    }
}

fn data(dims: &[usize]) -> TensorData {
    let count = dims.iter().product::<usize>();
    let values: Vec<f32> = (0..count).map(|i| (i as f32).sin() / 8.0).collect();
    TensorData::new(values, Shape::from(dims.to_vec()))
}

/// The backend's tensor with the data of an input of these dims.
pub(crate) fn float<B: BackendIr>(dims: &[usize]) -> FloatTensor<B> {
    B::float_from_data(data(dims), &B::Device::default())
}

/// Calls that each take the output of the one before.
fn chain<B: BackendIr>(
    dims: &[usize],
    call: impl Fn(FloatTensor<B>) -> FloatTensor<B> + 'static,
) -> impl FnMut() + 'static {
    let mut x = Some(float::<B>(dims));
    move || x = x.take().map(&call)
}

/// Puts a case together.
#[derive(Default)]
pub(crate) struct Builder {
    inputs: Vec<(TensorId, TensorData)>,
    ops: Vec<OperationIr>,
}

impl Builder {
    /// An input with this data.
    fn data(&mut self, id: u64, data: TensorData, status: TensorStatus) -> TensorIr {
        let input = tensor(id, data.shape(), data.dtype(), status);
        self.inputs.push((input.id, data));
        input
    }

    /// A float input.
    pub(crate) fn input(&mut self, id: u64, dims: &[usize], status: TensorStatus) -> TensorIr {
        self.data(id, data(dims), status)
    }

    /// One more operation.
    pub(crate) fn push(&mut self, op: OperationIr) {
        self.ops.push(op);
    }

    /// One operation from tensor 1, whose last use it is, to tensor 2.
    fn carried(mut self, op: OperationIr, direct: impl FnMut() + 'static) -> Case {
        self.push(op);
        self.case(Some((TensorId::new(1), TensorId::new(2))), direct)
    }

    /// A last operation, whose outputs are dropped.
    pub(crate) fn dropped(mut self, op: OperationIr, direct: impl FnMut() + 'static) -> Case {
        let drops: Vec<OperationIr> = op
            .outputs()
            .map(|output| TensorIr {
                status: TensorStatus::ReadWrite,
                ..output.clone()
            })
            .map(OperationIr::Drop)
            .collect();
        self.push(op);
        self.ops.extend(drops);
        self.case(None, direct)
    }

    fn case(self, carried: Option<(TensorId, TensorId)>, direct: impl FnMut() + 'static) -> Case {
        let outputs = self.ops.iter().flat_map(|op| op.outputs());
        Case {
            made: outputs.map(|output| output.id).collect(),
            inputs: self.inputs,
            ops: self.ops,
            carried,
            direct: Box::new(direct),
        }
    }
}
