//! Cases: an operation and the tensors it reads.

use std::ops::Range;

use burn_backend::{
    BoolStore, DType, Shape, TensorData,
    quantization::{QuantScheme, QuantStore, QuantValue},
};
use burn_ir::{IrVisitorMut, OperationIr, TensorId, TensorIr, TensorStatus};

/// An operation and the data of the tensors it reads.
#[derive(Clone, Debug)]
pub struct Case {
    /// The tensors, to be uploaded before the operation.
    pub inputs: Vec<(TensorId, TensorData)>,
    /// The operation.
    pub op: OperationIr,
}

impl Case {
    /// The case of the operation that `build` makes of tensors it asks for.
    pub fn new(build: impl FnOnce(&mut Tensors) -> OperationIr) -> Self {
        let mut tensors = Tensors::default();
        let op = build(&mut tensors);
        Self {
            inputs: tensors.inputs,
            op,
        }
    }

    /// The name of the operation's row.
    pub fn name(&self) -> &'static str {
        burn_interpreter::op_info(&self.op).name
    }

    /// The case with each tensor of one dtype in another, and the operation's own dtype with them;
    /// `None` if it has no tensor of the one.
    pub fn with_dtype(&self, one: DType, other: DType) -> Option<Self> {
        struct Dtypes(DType, DType, bool);
        impl IrVisitorMut for Dtypes {
            fn visit_tensor_mut(&mut self, tensor: &mut TensorIr) {
                if tensor.dtype == self.0 {
                    tensor.dtype = self.1;
                    self.2 = true;
                }
            }
        }
        let mut case = self.clone();
        for (_, data) in &mut case.inputs {
            if data.dtype() == one {
                *data = data.clone().convert_dtype(other);
            }
        }
        let mut dtypes = Dtypes(one, other, false);
        case.op.visit_mut(&mut dtypes);
        if let OperationIr::NumericFloat(dtype, _)
        | OperationIr::NumericInt(dtype, _)
        | OperationIr::Float(dtype, _) = &mut case.op
            && *dtype == one
        {
            *dtype = other;
        }
        dtypes.2.then_some(case)
    }

    /// The operation with this status for each of its inputs. An id that is read several times has
    /// it at its last use only, and is `ReadOnly` before.
    pub fn op_with(&self, status: TensorStatus) -> OperationIr {
        let mut op = self.op.clone();
        let ids: Vec<TensorId> = self.inputs.iter().map(|(id, _)| *id).collect();
        set_statuses(&mut op, &ids, status);
        op
    }
}

/// Give the tensors `ids` of an operation a status: at the last use of each, `ReadOnly` before.
pub fn set_statuses(op: &mut OperationIr, ids: &[TensorId], status: TensorStatus) {
    struct Uses<'i>(&'i [TensorId], Vec<TensorId>);
    impl IrVisitorMut for Uses<'_> {
        fn visit_tensor_mut(&mut self, tensor: &mut TensorIr) {
            if self.0.contains(&tensor.id) {
                self.1.push(tensor.id);
            }
        }
    }
    struct Setter<'u>(&'u [TensorId], usize, TensorStatus);
    impl IrVisitorMut for Setter<'_> {
        fn visit_tensor_mut(&mut self, tensor: &mut TensorIr) {
            if self.0.get(self.1) != Some(&tensor.id) {
                return;
            }
            self.1 += 1;
            let is_last = !self.0[self.1..].contains(&tensor.id);
            tensor.status = if is_last {
                self.2
            } else {
                TensorStatus::ReadOnly
            };
        }
    }
    let mut uses = Uses(ids, Vec::new());
    op.visit_mut(&mut uses);
    op.visit_mut(&mut Setter(&uses.1, 0, status));
}

/// Makes tensors no two of which are alike.
#[derive(Debug, Default)]
pub struct Tensors {
    inputs: Vec<(TensorId, TensorData)>,
    next: u64,
}

impl Tensors {
    /// An id that is not used yet, for an output.
    pub fn id(&mut self) -> TensorId {
        self.next += 1;
        TensorId::new(self.next)
    }

    /// A tensor with this data.
    pub fn data(&mut self, data: TensorData) -> TensorIr {
        let tensor = TensorIr {
            id: self.id(),
            shape: data.shape().clone(),
            status: TensorStatus::ReadOnly,
            dtype: data.dtype(),
        };
        self.inputs.push((tensor.id, data));
        tensor
    }

    /// An f32 tensor with values from -2 to 2, no two alike.
    pub fn float(&mut self, dims: &[usize]) -> TensorIr {
        self.float_in(dims, -2.0..2.0)
    }

    /// An f32 tensor with values in `range`, no two alike.
    pub fn float_in(&mut self, dims: &[usize], range: Range<f32>) -> TensorIr {
        self.float_in_as(dims, range, DType::F32)
    }

    /// A float tensor of this dtype with values in `range`, no two alike.
    pub fn float_in_as(&mut self, dims: &[usize], range: Range<f32>, dtype: DType) -> TensorIr {
        let values = self.spread(dims);
        let values = values.map(|x| range.start + (range.end - range.start) * x as f32);
        let data = TensorData::new(values.collect::<Vec<f32>>(), shape(dims));
        self.data(data.convert_dtype(dtype))
    }

    /// An i64 tensor with values from -9 to 9.
    pub fn int(&mut self, dims: &[usize]) -> TensorIr {
        self.int_in(dims, -9..10)
    }

    /// An i64 tensor with values in `range`.
    pub fn int_in(&mut self, dims: &[usize], range: Range<i64>) -> TensorIr {
        self.int_in_as(dims, range, DType::I64)
    }

    /// An int tensor of this dtype with values in `range`.
    pub fn int_in_as(&mut self, dims: &[usize], range: Range<i64>, dtype: DType) -> TensorIr {
        let width = (range.end - range.start) as f64;
        let values = self.spread(dims).map(|x| range.start + (width * x) as i64);
        let data = TensorData::new(values.collect::<Vec<i64>>(), shape(dims));
        self.data(data.convert_dtype(dtype))
    }

    /// An i64 tensor with these values.
    pub fn ints(&mut self, values: &[i64], dims: &[usize]) -> TensorIr {
        self.data(TensorData::new(values.to_vec(), shape(dims)))
    }

    /// A bool tensor with both values.
    pub fn bool(&mut self, dims: &[usize]) -> TensorIr {
        let values = self.spread(dims).map(|x| x < 0.5);
        let data = TensorData::new(values.collect::<Vec<bool>>(), shape(dims));
        self.data(data)
    }

    /// A tensor quantized to 8 bits with one scale, with values from -2 to 2.
    pub fn quantized(&mut self, dims: &[usize]) -> TensorIr {
        let values = self.spread(dims).map(|x| (254.0 * x) as i16 - 127);
        let values: Vec<i8> = values.map(|value| value as i8).collect();
        self.data(TensorData::quantized(
            values,
            shape(dims),
            eight_bits(),
            &[2.0 / 127.0],
            None,
        ))
    }

    /// A tensor of seven steps, -3 to 3 with `shift` added. Two such tensors are the same at every
    /// seventh element, and differ at others.
    pub fn steps(&mut self, dims: &[usize], shift: f64, dtype: DType) -> TensorIr {
        let factor = self.next + 1;
        let count = dims.iter().product::<usize>() as u64;
        let values = (0..count).map(|position| (position * factor % 7) as f64 - 3.0 + shift);
        let data = TensorData::new(values.collect::<Vec<f64>>(), shape(dims));
        self.data(data.convert_dtype(dtype))
    }

    /// Numbers from 0 to 1, no two alike, and others for each tensor.
    fn spread(&self, dims: &[usize]) -> impl Iterator<Item = f64> + use<> {
        const GOLDEN: f64 = 0.618_033_988_749_895;
        let start = (self.next + 1) as f64 * 0.377_1;
        let count: usize = dims.iter().product();
        (0..count).map(move |position| (start + position as f64 * GOLDEN).fract())
    }
}

/// Quantization to 8 bits, as both CPU backends have it; with one scale unless a level is added.
pub fn eight_bits() -> QuantScheme {
    let scheme = QuantScheme::default().with_value(QuantValue::Q8S);
    scheme.with_store(QuantStore::Native)
}

/// The dtype of bools that both CPU backends have.
pub const BOOL: DType = DType::Bool(BoolStore::Native);

fn shape(dims: &[usize]) -> Shape {
    Shape::from(dims.to_vec())
}
