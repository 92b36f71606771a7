//! Quantized tensors: what becomes of them in float operations, and what a scheme must be.
//!
//! A scheme comes with the dtype of a tensor and is no more trusted than a shape: backends divide by
//! its block sizes and index by its axes. Nothing here is on the way of an operation without
//! quantized tensors.

use alloc::boxed::Box;
use alloc::string::String;

use burn_backend::{
    Backend, DType, DTypeUsage, DeviceOps, FloatDType, Shape, TensorData, TensorMetadata,
    TensorPrimitive,
    quantization::{BlockSize, QuantMode, QuantScheme, QuantStore, QuantValue, params_shape},
    tensor::{FloatTensor, QuantizedTensor},
};
use burn_ir::{BackendIr, OperationIr, TensorId, TensorIr};
use burn_std::quantization::{global_scale_size, scale_size};

use crate::context::{Context, Outcome};
use crate::error::Fault;
use crate::guard::guard;
use crate::held::Held;
use crate::info::Kind;
use crate::kind::{Float, TensorKind};
use crate::limits::{bytes, declared_bytes, elements};

/// What a context knows of quantized tensors.
#[derive(Default)]
pub(crate) struct InUse {
    /// Whether there is, or was, one.
    pub(crate) is_any: bool,
    /// The type in which the operation at hand computes with them.
    float: Option<FloatDType>,
}

pub(crate) struct Quantized;

impl<B: BackendIr> TensorKind<B> for Quantized {
    const KIND: Kind = Kind::Quantized;
    type Primitive = QuantizedTensor<B>;

    fn has(dtype: DType) -> bool {
        is_quantized(dtype)
    }

    fn put(held: &mut Held<B>, tensor: Self::Primitive) -> bool {
        if let Held::Quantized(place @ None) = held {
            *place = Some(tensor);
            return true;
        }
        held.replace(Held::Quantized(Some(tensor)))
    }

    fn held(held: &Held<B>) -> Option<&Self::Primitive> {
        match held {
            Held::Quantized(tensor) => tensor.as_ref(),
            _ => None,
        }
    }

    fn place(held: &mut Held<B>) -> Option<&mut Option<Self::Primitive>> {
        match held {
            Held::Quantized(place) => Some(place),
            _ => None,
        }
    }

    /// Nothing asks for it: a tensor that is to have another scheme is quantized anew.
    fn cast(tensor: Self::Primitive, _dtype: DType) -> Self::Primitive {
        tensor
    }

    fn quantized(tensor: Self::Primitive, scheme: &QuantScheme) -> Option<QuantizedTensor<B>> {
        <Float as TensorKind<B>>::quantized(B::dequantize(tensor, FloatDType::F32), scheme)
    }
}

#[inline]
pub(crate) fn is_quantized(dtype: DType) -> bool {
    matches!(dtype, DType::QFloat(_))
}

/// One is quantized, and the other is too or is a float: both become floats of one type.
#[cold]
pub(crate) fn become_alike(one: DType, other: DType) -> bool {
    let is_float = |dtype: DType| dtype.is_float() || is_quantized(dtype);
    (is_quantized(one) || is_quantized(other)) && is_float(one) && is_float(other)
}

/// Both are quantized in the same way, however that is stored: backends choose the store themselves.
pub(crate) fn same_scheme(actual: DType, declared: DType) -> bool {
    match (actual, declared) {
        (DType::QFloat(actual), DType::QFloat(declared)) => in_store(actual) == in_store(declared),
        _ => false,
    }
}

/// The scheme, one value after the other, its levels spelled out.
fn in_store(scheme: QuantScheme) -> QuantScheme {
    let scheme = scheme.with_store(QuantStore::Native);
    match (scheme.block_scale(), scheme.tensor_scale()) {
        (None, Some(dtype)) => scheme.per_tensor(dtype),
        _ => scheme,
    }
}

/// The tensor is quantized and is to stay so.
#[inline]
pub(crate) fn is_kept(tensor: &TensorIr, out: &TensorIr) -> bool {
    is_quantized(tensor.dtype) && is_quantized(out.dtype)
}

/// The tensor is quantized with one scale and is to stay so.
#[inline]
pub(crate) fn is_kept_whole(tensor: &TensorIr, out: &TensorIr) -> bool {
    is_kept(tensor, out) && has_one_scale(tensor.dtype) && has_one_scale(out.dtype)
}

fn has_one_scale(dtype: DType) -> bool {
    matches!(dtype, DType::QFloat(scheme) if scheme.block_scale().is_none())
}

/// At least one of them is quantized.
#[inline]
pub(crate) fn is_any(lhs: &TensorIr, rhs: &TensorIr) -> bool {
    is_quantized(lhs.dtype) || is_quantized(rhs.dtype)
}

/// The tensor in a type that every backend quantizes: none computes with more than 32 bits.
pub(crate) fn narrowed<B: Backend>(tensor: FloatTensor<B>) -> FloatTensor<B> {
    match tensor.dtype() {
        DType::F64 => B::float_cast(tensor, FloatDType::F32),
        _ => tensor,
    }
}

/// The scheme as the backend stores it; `None` if it has no such tensors.
///
/// Burn-ndarray unpacks 8-bit values, and says that it has them only unpacked.
pub(crate) fn stored<B: Backend>(device: &B::Device, scheme: QuantScheme) -> Option<QuantScheme> {
    let is_byte = matches!(scheme.value, QuantValue::Q8F | QuantValue::Q8S);
    let unpacked = is_byte.then(|| scheme.with_store(QuantStore::Native));
    let mut schemes = [Some(scheme), unpacked].into_iter().flatten();
    schemes.find(|scheme| is_stored::<B>(device, scheme))
}

/// Whether the backend has tensors of this scheme, in this store.
fn is_stored<B: Backend>(device: &B::Device, scheme: &QuantScheme) -> bool {
    if scheme.mode != QuantMode::Symmetric {
        return false;
    }
    // A backend may panic in place of an answer.
    let usage = guard(|| Ok(B::dtype_usage(device, DType::QFloat(*scheme))));
    usage.is_ok_and(|usage| {
        let is_float = matches!(
            scheme.value,
            QuantValue::E4M3 | QuantValue::E5M2 | QuantValue::E2M1
        );
        // Burn-flex says that it stores floats of 8 bits, and takes them for integers.
        let computes =
            usage.contains(DTypeUsage::Arithmetic) || usage.contains(DTypeUsage::Accelerated);
        usage.contains(DTypeUsage::Storage) && (computes || !is_float)
    })
}

/// Why the backend cannot have a tensor of this dtype and shape, if the dtype is quantized.
pub(crate) fn obstacle<B: Backend>(device: &B::Device, tensor: &TensorIr) -> Option<String> {
    let DType::QFloat(scheme) = tensor.dtype else {
        return None;
    };
    let reason = misfit(&scheme, &tensor.shape);
    let reason = reason.map(|reason| alloc::format!("a scheme does not fit its tensor: {reason}"));
    reason.or_else(|| match stored::<B>(device, scheme) {
        Some(_) => None,
        None => Some(alloc::format!(
            "the backend has no {:?} tensors",
            tensor.dtype
        )),
    })
}

/// Why a tensor of this shape cannot have the scheme.
pub(crate) fn misfit(scheme: &QuantScheme, shape: &[usize]) -> Option<String> {
    let rank = shape.len();
    if let Some(axis) = scheme.packing_dim()
        && axis >= rank
    {
        return Some(alloc::format!(
            "`store` packs axis {axis}, counted from the last, but the rank is {rank}"
        ));
    }
    let block = scheme.block_size()?;
    if !is_canonical(block) {
        return Some("the block size is malformed".into());
    }
    if block.len() > rank {
        return Some(alloc::format!(
            "blocks of {} axes, but the rank is {rank}",
            block.len()
        ));
    }
    let sizes = block.to_dim_vec(rank);
    let mut axes = sizes.iter().zip(shape).enumerate();
    axes.find_map(|(axis, (size, dim))| match (*size).into() {
        0 => Some(alloc::format!("a block size of 0 on axis {axis}")),
        size if dim % size != 0 => Some(alloc::format!(
            "blocks of {size} do not divide the {dim} of axis {axis}"
        )),
        _ => None,
    })
}

/// Whether the block size is one that can be made: what was deserialized may be another, and cannot
/// even be shown.
fn is_canonical(block: BlockSize) -> bool {
    // This reads no further than what there is, whatever length is claimed.
    block == BlockSize::new(block.as_dim::<{ BlockSize::MAX_DIMS }>())
}

/// The dtype, which can be shown.
pub(crate) fn readable(dtype: DType) -> DType {
    match dtype {
        DType::QFloat(scheme) => match scheme.block_scale() {
            Some(block) if !is_canonical(block.size) => {
                let sizes = block.size.as_dim::<{ BlockSize::MAX_DIMS }>();
                DType::QFloat(scheme.per_block(sizes, block.dtype))
            }
            _ => dtype,
        },
        dtype => dtype,
    }
}

/// The bytes of a quantized tensor: its values, and the scales behind them. `None` if they cannot be
/// counted.
pub(crate) fn quantized_bytes(shape: &Shape, scheme: &QuantScheme) -> Option<u64> {
    if misfit(scheme, shape).is_some() {
        return None;
    }
    let values = elements(shape)?;
    let values = match scheme.store {
        QuantStore::PackedU32(_) if scheme.size_bits_value() < 8 => {
            values.div_ceil(scheme.num_quants()).checked_mul(4)?
        }
        QuantStore::PackedNative(_) => values.div_ceil(scheme.num_quants()),
        QuantStore::PackedU32(_) | QuantStore::Native => values,
    };
    let scales = elements(&params_shape(shape, scheme))?;
    let scales = scales.checked_mul(scale_size(scheme.scale_dtype()))?;
    let total = values
        .checked_add(scales)?
        .checked_add(global_scale_size(scheme))?;
    Some(total as u64)
}

/// The dtype in which operations at hand compute, and what may be made.
impl<B: BackendIr> Context<B> {
    /// There is a quantized tensor from now on.
    pub(crate) fn begin_quantized(&mut self) {
        self.in_use.is_any = true;
        self.choose_look();
    }

    /// The operation is about to be executed: quantized tensors become floats of the type that its
    /// other tensors have.
    pub(crate) fn meet(&mut self, op: &OperationIr) {
        if self.in_use.is_any {
            let mut dtypes = op.inputs().chain(op.outputs()).map(|tensor| tensor.dtype);
            self.in_use.float = dtypes.find(DType::is_float).map(FloatDType::from);
        }
    }

    /// The type that a float output is computed in.
    pub(crate) fn float_dtype(&self, out: &TensorIr) -> FloatDType {
        match out.dtype {
            DType::QFloat(_) => self.computes_in(),
            dtype => dtype.into(),
        }
    }

    fn computes_in(&self) -> FloatDType {
        let default = || self.device.defaults().float_dtype;
        self.in_use.float.unwrap_or_else(default)
    }

    /// There is room for the tensor as floats, which it is for a while.
    fn admit_floats(&mut self, tensor: &TensorIr) -> Outcome {
        let dtype = DType::from(self.computes_in());
        let pending = self.pending;
        let admitted = self.admit_bytes(tensor.id, bytes(&tensor.shape, dtype));
        // They are not there for long.
        self.pending = pending;
        self.live_bytes.lose_count();
        admitted
    }

    /// The scheme of the tensor fits its shape, and the backend has it.
    fn admit_scheme(&mut self, id: TensorId, scheme: QuantScheme, shape: &Shape) -> Outcome {
        let dtype = DType::QFloat(scheme);
        if let Some(reason) = misfit(&scheme, shape) {
            let (id, dtype) = (self.name(id), readable(dtype));
            return Err(Box::new(Fault::UnfitScheme { id, dtype, reason }));
        }
        match stored::<B>(&self.device, scheme) {
            Some(_) => Ok(()),
            None => Err(Box::new(Fault::Quantized { dtype })),
        }
    }

    /// The data may be uploaded: there is room for them, and the backend has their dtype if it is a
    /// scheme.
    pub(crate) fn admit_data(&mut self, id: TensorId, data: &TensorData) -> Outcome {
        let (shape, dtype) = (data.shape(), data.dtype());
        let DType::QFloat(scheme) = dtype else {
            return self.admit_bytes(id, bytes(shape, dtype));
        };
        self.admit_quantized_data(id, scheme, data)
    }

    #[cold]
    fn admit_quantized_data(
        &mut self,
        id: TensorId,
        scheme: QuantScheme,
        data: &TensorData,
    ) -> Outcome {
        self.admit_scheme(id, scheme, data.shape())?;
        let is_flat = matches!(scheme.store, QuantStore::Native | QuantStore::PackedU32(0));
        if !is_flat && !is_stored::<B>(&self.device, &scheme) {
            let dtype = data.dtype();
            return Err(Box::new(Fault::Quantized { dtype }));
        }
        self.begin_quantized();
        self.admit_bytes(id, quantized_bytes(data.shape(), &scheme))?;
        self.live_bytes.lose_count();
        Ok(())
    }
}

/// Reading and writing where the kinds of before do not do.
impl<B: BackendIr> Context<B> {
    /// Read a tensor that the IR declares of another kind: a quantized one becomes a float.
    #[cold]
    pub(crate) fn read_other<K: TensorKind<B>>(
        &mut self,
        tensor: &TensorIr,
    ) -> Outcome<K::Primitive> {
        if !is_quantized(tensor.dtype) || K::KIND != Kind::Float {
            return Err(self.wrong_kind(tensor, K::KIND));
        }
        // The outputs have been admitted, and some inputs may be gone.
        self.pending = None;
        self.admit_floats(tensor)?;
        let quantized = self.quantized(tensor)?;
        let dtype = self.computes_in();
        K::dequantized(quantized, dtype).ok_or_else(|| self.wrong_kind(tensor, K::KIND))
    }

    /// The output that the IR declares of another kind may be made: a float that is quantized.
    #[cold]
    pub(crate) fn admit_other<K: TensorKind<B>>(&mut self, out: &TensorIr) -> Outcome {
        match K::KIND {
            Kind::Float => self.admit_quantized_or(out, Kind::Float),
            kind => Err(self.wrong_kind(out, kind)),
        }
    }

    fn admit_quantized_or(&mut self, out: &TensorIr, kind: Kind) -> Outcome {
        let DType::QFloat(scheme) = out.dtype else {
            return Err(self.wrong_kind(out, kind));
        };
        self.admit_scheme(out.id, scheme, &out.shape)?;
        self.admit_floats(out)?;
        self.admit_bytes(out.id, quantized_bytes(&out.shape, &scheme))
    }

    /// The output of a custom operation may be made, of whatever kind it is.
    pub(crate) fn admit_any(&mut self, out: &TensorIr) -> Outcome {
        if let DType::QFloat(scheme) = out.dtype {
            self.admit_scheme(out.id, scheme, &out.shape)?;
        }
        self.admit_bytes(out.id, declared_bytes(out))
    }

    /// Quantize the output as the IR declares it.
    #[cold]
    pub(crate) fn write_quantized<K: TensorKind<B>>(
        &mut self,
        out: &TensorIr,
        scheme: QuantScheme,
        output: K::Primitive,
    ) -> Outcome {
        if output.shape() != out.shape {
            return Err(self.misshaped(out, output.shape()));
        }
        let stored = stored::<B>(&self.device, scheme);
        let quantized = stored.and_then(|scheme| K::quantized(output, &scheme));
        match quantized {
            Some(quantized) => self.put_quantized(out, quantized),
            None => {
                let dtype = out.dtype;
                Err(Box::new(Fault::Quantized { dtype }))
            }
        }
    }
}

/// Reading and writing quantized tensors, as the generated functions spell it.
impl<B: BackendIr> Context<B> {
    pub(crate) fn quantized(&mut self, tensor: &TensorIr) -> Outcome<QuantizedTensor<B>> {
        if self.must_check()
            && let DType::QFloat(scheme) = tensor.dtype
        {
            self.admit_scheme(tensor.id, scheme, &tensor.shape)?;
        }
        self.read::<Quantized>(tensor)
    }

    pub(crate) fn admit_quantized(&mut self, out: &TensorIr) -> Outcome {
        self.admit_quantized_or(out, Kind::Quantized)
    }

    pub(crate) fn put_quantized(&mut self, out: &TensorIr, output: QuantizedTensor<B>) -> Outcome {
        self.begin_quantized();
        // The backend may store it in more bytes than the scheme asks for.
        self.live_bytes.lose_count();
        self.write::<Quantized>(out, output)
    }

    pub(crate) fn mixed(&mut self, tensor: &TensorIr) -> Outcome<TensorPrimitive<B>> {
        Ok(match is_quantized(tensor.dtype) {
            true => TensorPrimitive::QFloat(self.quantized(tensor)?),
            false => TensorPrimitive::Float(self.float(tensor)?),
        })
    }

    pub(crate) fn admit_mixed(&mut self, out: &TensorIr) -> Outcome {
        self.admit_float(out)
    }

    pub(crate) fn put_mixed(&mut self, out: &TensorIr, output: TensorPrimitive<B>) -> Outcome {
        match output {
            TensorPrimitive::Float(output) => self.put_float(out, output),
            TensorPrimitive::QFloat(output) if is_quantized(out.dtype) => {
                self.put_quantized(out, output)
            }
            TensorPrimitive::QFloat(output) => {
                let output = B::dequantize(output, out.dtype.into());
                self.put_float(out, output)
            }
        }
    }
}
