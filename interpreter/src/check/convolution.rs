//! Convolutions: `x` is `[batch, channels, …]`, `weight` is `[channels_out, channels_in, …]`, and
//! the other way round for a transposed convolution.

use burn_backend::ops::conv::{calculate_conv_output_shape, calculate_conv_transpose_output_shape};
use burn_ir::{
    Conv1dOptionsIr, Conv2dOptionsIr, Conv3dOptionsIr, ConvTranspose1dOptionsIr,
    ConvTranspose2dOptionsIr, ConvTranspose3dOptionsIr, DeformableConv2dOptionsIr, TensorIr,
    Unfold4dOptionsIr,
};

use super::{
    ensure, rank, refuse, same_dtype, same_shape, shaped, shaped_as, together, two, working_memory,
};
use crate::context::Outcome;
use crate::limits::{SMALL, is_small};

/// How a kernel goes over the axes of its input.
pub(super) struct Window<const N: usize> {
    pub(super) kernel: [usize; N],
    pub(super) stride: [usize; N],
    pub(super) padding: [(usize, usize); N],
    pub(super) dilation: [usize; N],
}

impl<const N: usize> Window<N> {
    /// The kernel's size in each axis, its elements spread out.
    fn extents(&self) -> Outcome<[usize; N]> {
        let mut sizes = self.kernel.iter().chain(&self.stride).chain(&self.dilation);
        if sizes.any(|size| *size == 0) {
            return self.refuse_zero();
        }
        if self.dilation == [1; N] {
            return Ok(self.kernel);
        }
        let mut extents = [0; N];
        for (axis, extent) in extents.iter_mut().enumerate() {
            let gaps = self.dilation[axis].checked_mul(self.kernel[axis] - 1);
            match gaps.and_then(|gaps| gaps.checked_add(1)) {
                Some(sum) => *extent = sum,
                None => {
                    return refuse(alloc::format!(
                        "`dilation` is too large: {:?}",
                        self.dilation
                    ));
                }
            }
        }
        Ok(extents)
    }

    #[cold]
    fn refuse_zero<T>(&self) -> Outcome<T> {
        let (field, sizes) = match self {
            Self { kernel, .. } if kernel.contains(&0) => ("the kernel", kernel),
            Self { stride, .. } if stride.contains(&0) => ("`stride`", stride),
            Self { dilation, .. } => ("`dilation`", dilation),
        };
        refuse(alloc::format!(
            "{field} must be at least 1 in each axis: {sizes:?}"
        ))
    }

    /// The kernel has at least one place in the padded input, which can be held in memory, and is
    /// not mostly on padding. `slack` is how far its last place may reach beyond; `per_channel` is
    /// how often it goes over each channel.
    pub(super) fn fits(&self, x: &TensorIr, slack: [usize; N], per_channel: usize) -> Outcome {
        rank(x, N + 2)?;
        let extents = self.extents()?;
        let sizes = &x.shape[2..];
        let is_padded = self.padding != [(0, 0); N] || slack != [0; N];
        let mut pairs = extents.iter().zip(sizes);
        // Of a small input that is not padded, a kernel makes no copy that is large, and no steps
        // beside it.
        if !is_padded && is_small(&x.shape[..], SMALL) && pairs.all(|(extent, size)| extent <= size)
        {
            return Ok(());
        }
        self.fits_closely(x, extents, slack, per_channel)
    }

    fn fits_closely(
        &self,
        x: &TensorIr,
        extents: [usize; N],
        slack: [usize; N],
        per_channel: usize,
    ) -> Outcome {
        let mut elements = x.shape[0].checked_mul(x.shape[1]);
        let mut places = [0; N];
        for axis in 0..N {
            let size = x.shape[axis + 2];
            let (before, after) = self.padding[axis];
            let padded = size
                .checked_add(before)
                .and_then(|sum| sum.checked_add(after));
            // Room for the sums that the shape functions make on the way.
            let reach = padded.and_then(|padded| padded.checked_add(slack[axis]));
            let Some((padded, reach)) = padded.zip(reach) else {
                return refuse(alloc::format!("`padding` is too large: {:?}", self.padding));
            };
            ensure(extents[axis] <= reach, || {
                alloc::format!(
                    "the kernel of size {} is larger than axis {} of {} of shape {} with its \
                     padding",
                    extents[axis],
                    axis + 2,
                    x.id,
                    x.shape
                )
            })?;
            elements = elements.and_then(|elements| elements.checked_mul(padded));
            places[axis] = (reach - extents[axis]) / self.stride[axis] + 1;
        }
        working_memory(x, elements)?;
        let batch = [x.shape[0], x.shape[1], per_channel];
        let factors = batch.iter().chain(&self.kernel).chain(&places);
        let mut factors = factors.map(|factor| *factor as u64);
        match factors.try_fold(1, u64::checked_mul) {
            Some(steps) if steps <= PADDING_STEPS => Ok(()),
            _ => self.steps_are_bounded(x, batch, places),
        }
    }

    /// Most steps of the kernel may meet the input, or those that do not are few.
    #[cold]
    fn steps_are_bounded(&self, x: &TensorIr, batch: [usize; 3], places: [usize; N]) -> Outcome {
        let mut steps = Steps::new(batch);
        for (axis, places) in places.into_iter().enumerate() {
            steps.add_axis(self.kernel[axis], places, x.shape[axis + 2]);
        }
        steps.bounded(x)
    }
}

/// The steps of a kernel that are nothing but padding may be this many, whatever the others are:
/// some seconds of work.
const PADDING_STEPS: u64 = 1 << 32;

/// How often the elements of a kernel meet an element of the padded input.
///
/// A tensor of one element can ask for any number of steps, by its padding. What a kernel does with
/// the elements of the input is what the operation is for, and is not bounded.
struct Steps {
    all: u128,
    /// At least those which meet the input itself.
    on_input: u128,
}

impl Steps {
    fn new(factors: [usize; 3]) -> Self {
        let factors = factors.map(|factor| factor as u128);
        let all = factors.into_iter().fold(1, u128::saturating_mul);
        Self { all, on_input: all }
    }

    /// A kernel of this length is at as many places along an axis of this size.
    fn add_axis(&mut self, kernel: usize, places: usize, size: usize) {
        let product = |one: usize, other: usize| one as u128 * other as u128;
        self.all = self.all.saturating_mul(product(kernel, places));
        // An element of the input meets each of the kernel once, and no more than one a place.
        let met = product(size, kernel.min(places));
        self.on_input = self.on_input.saturating_mul(met);
    }

    /// Most steps may meet the input, or those that do not are few.
    fn bounded(&self, x: &TensorIr) -> Outcome {
        let on_padding = self.all.saturating_sub(self.on_input);
        ensure(
            on_padding <= self.on_input.max(PADDING_STEPS.into()),
            || {
                let (id, shape) = (x.id, &x.shape);
                alloc::format!(
                    "the kernel would go over the padding alone {on_padding} times, for {id} of \
                     shape {shape}"
                )
            },
        )
    }
}

/// The channels of both sides fit the groups.
fn grouped(x: &TensorIr, weight: &TensorIr, groups: usize) -> Outcome {
    let (channels, per_group) = (x.shape[1], weight.shape[1]);
    let fits = groups > 0
        && weight.shape[0].is_multiple_of(groups)
        && per_group.checked_mul(groups) == Some(channels);
    ensure(fits, || {
        alloc::format!(
            "{channels} channels in {groups} groups do not fit {} of shape {}",
            weight.id,
            weight.shape
        )
    })
}

fn convolved<const N: usize>(
    x: &TensorIr,
    weight: &TensorIr,
    window: Window<N>,
    groups: usize,
    out: &TensorIr,
) -> Outcome {
    same_dtype(x, weight)?;
    rank(x, N + 2)?;
    grouped(x, weight, groups)?;
    window.fits(x, [0; N], weight.shape[0] / groups)?;
    let Window {
        stride,
        padding,
        dilation,
        ..
    } = &window;
    shaped_as(
        out,
        calculate_conv_output_shape(&x.shape, &weight.shape, stride, padding, dilation),
    )
}

/// The sizes of the kernel, the last axes of the weight.
fn kernel<const N: usize>(weight: &TensorIr) -> Outcome<[usize; N]> {
    rank(weight, N + 2)?;
    let mut kernel = [0; N];
    kernel.copy_from_slice(&weight.shape[2..]);
    Ok(kernel)
}

/// The output is the convolution of a signal.
pub(crate) fn convolved1d(
    x: &TensorIr,
    weight: &TensorIr,
    options: &Conv1dOptionsIr,
    out: &TensorIr,
) -> Outcome {
    let window = Window {
        kernel: kernel(weight)?,
        stride: options.stride,
        padding: options.padding,
        dilation: options.dilation,
    };
    convolved(x, weight, window, options.groups, out)
}

/// The output is the convolution of an image.
pub(crate) fn convolved2d(
    x: &TensorIr,
    weight: &TensorIr,
    options: &Conv2dOptionsIr,
    out: &TensorIr,
) -> Outcome {
    let window = Window {
        kernel: kernel(weight)?,
        stride: options.stride,
        padding: options.padding,
        dilation: options.dilation,
    };
    convolved(x, weight, window, options.groups, out)
}

/// The output is the convolution of a volume.
pub(crate) fn convolved3d(
    x: &TensorIr,
    weight: &TensorIr,
    options: &Conv3dOptionsIr,
    out: &TensorIr,
) -> Outcome {
    let window = Window {
        kernel: kernel(weight)?,
        stride: options.stride,
        padding: options.padding.map(|padding| (padding, padding)),
        dilation: options.dilation,
    };
    convolved(x, weight, window, options.groups, out)
}

/// The output is the deformable convolution of an image: an offset of two coordinates, and a
/// weight where there is a mask, for each element of the kernel in each place.
pub(crate) fn deformed2d(
    x: &TensorIr,
    offset: &TensorIr,
    weight: &TensorIr,
    mask: &Option<TensorIr>,
    options: &DeformableConv2dOptionsIr,
    out: &TensorIr,
) -> Outcome {
    let window = Window {
        kernel: kernel(weight)?,
        stride: options.stride,
        padding: options.padding.map(|padding| (padding, padding)),
        dilation: options.dilation,
    };
    let mut per_place = window.kernel.into_iter().chain([options.offset_groups]);
    let per_place = per_place.try_fold(1_usize, usize::checked_mul);
    convolved(x, weight, window, options.weight_groups, out)?;
    let offset_groups = options.offset_groups;
    let fits = offset_groups > 0 && x.shape[1].is_multiple_of(offset_groups);
    ensure(fits, || {
        let channels = x.shape[1];
        alloc::format!("{channels} channels cannot be parted into {offset_groups} offset groups")
    })?;
    let Some(coordinates) = per_place.and_then(|n| n.checked_mul(2)) else {
        return refuse("the kernel is too large".into());
    };
    let field = |channels| [x.shape[0], channels, out.shape[2], out.shape[3]];
    same_dtype(x, offset)?;
    shaped(offset, &field(coordinates))?;
    match mask {
        Some(mask) => {
            same_dtype(x, mask)?;
            shaped(mask, &field(coordinates / 2))
        }
        None => Ok(()),
    }
}

/// Each gradient is that of its tensor, in shape, and a tensor of its own.
#[allow(clippy::too_many_arguments)]
pub(crate) fn deformed_gradients(
    x: &TensorIr,
    offset: &TensorIr,
    weight: &TensorIr,
    mask: &Option<TensorIr>,
    bias: &Option<TensorIr>,
    input_grad: &TensorIr,
    offset_grad: &TensorIr,
    weight_grad: &TensorIr,
    mask_grad: &Option<TensorIr>,
    bias_grad: &Option<TensorIr>,
) -> Outcome {
    let tensors = [
        Some(x),
        Some(offset),
        Some(weight),
        mask.as_ref(),
        bias.as_ref(),
    ];
    let gradients = [
        Some(input_grad),
        Some(offset_grad),
        Some(weight_grad),
        mask_grad.as_ref(),
        bias_grad.as_ref(),
    ];
    for (position, (tensor, gradient)) in tensors.into_iter().zip(gradients).enumerate() {
        let Some(gradient) = gradient else { continue };
        for other in gradients[..position].iter().flatten() {
            two(other, gradient)?;
        }
        if let Some(tensor) = tensor {
            same_shape(tensor, gradient)?;
        }
    }
    together(gradients.into_iter().flatten())
}

/// The bias, where it is given, has an element for each channel of the output.
pub(crate) fn channels(bias: &Option<TensorIr>, x: &TensorIr, out: &TensorIr) -> Outcome {
    let Some(bias) = bias else {
        return Ok(());
    };
    same_dtype(x, bias)?;
    bias_gradient(bias, out)
}

/// The bias has an element for each channel of the output.
pub(crate) fn bias_gradient(bias: &TensorIr, out: &TensorIr) -> Outcome {
    match out.shape.get(1) {
        Some(channels) => shaped(bias, &[*channels]),
        None => refuse(alloc::format!("{} has no channels", out.id)),
    }
}

/// The geometry of a transposed convolution.
struct Transposed<const N: usize> {
    stride: [usize; N],
    padding: [usize; N],
    padding_out: [usize; N],
    dilation: [usize; N],
    groups: usize,
}

impl<const N: usize> Transposed<N> {
    fn convolved(self, x: &TensorIr, weight: &TensorIr, out: &TensorIr) -> Outcome {
        same_dtype(x, weight)?;
        rank(x, N + 2)?;
        let window = Window {
            kernel: kernel::<N>(weight)?,
            stride: self.stride,
            padding: self.padding.map(|padding| (padding, padding)),
            dilation: self.dilation,
        };
        let extents = window.extents()?;
        let groups = self.groups;
        let fits = groups > 0
            && x.shape[1] == weight.shape[0]
            && x.shape[1].is_multiple_of(groups)
            && weight.shape[1].checked_mul(groups).is_some();
        ensure(fits, || {
            alloc::format!(
                "{} channels in {groups} groups do not fit {} of shape {}",
                x.shape[1],
                weight.id,
                weight.shape
            )
        })?;
        // The input goes through every element of the kernel before the results are added up.
        let mut elements = x.shape[0].checked_mul(weight.shape[1] * groups);
        for (axis, extent) in extents.into_iter().enumerate() {
            let size = x.shape[axis + 2];
            let spread = size
                .checked_sub(1)
                .and_then(|steps| steps.checked_mul(self.stride[axis]))
                .and_then(|sum| sum.checked_add(extent))
                .and_then(|sum| sum.checked_add(self.padding_out[axis]));
            let cut = self.padding[axis].checked_mul(2);
            let fits = spread.zip(cut).is_some_and(|(spread, cut)| cut <= spread);
            ensure(fits, || {
                let (padding, padding_out) = (self.padding[axis], self.padding_out[axis]);
                alloc::format!(
                    "axis {} of {} of shape {} does not fit the stride {}, the padding {padding} \
                     and the output padding {padding_out}",
                    axis + 2,
                    x.id,
                    x.shape,
                    self.stride[axis]
                )
            })?;
            let places = size.checked_mul(window.kernel[axis]).max(spread);
            elements = elements.and_then(|elements| elements.checked_mul(places?));
        }
        working_memory(x, elements)?;
        shaped_as(
            out,
            calculate_conv_transpose_output_shape(
                &x.shape,
                &weight.shape,
                &self.stride,
                &self.padding,
                &self.padding_out,
                &self.dilation,
                groups,
            ),
        )
    }
}

/// The output is the transposed convolution of a signal.
pub(crate) fn transposed1d(
    x: &TensorIr,
    weight: &TensorIr,
    options: &ConvTranspose1dOptionsIr,
    out: &TensorIr,
) -> Outcome {
    let ConvTranspose1dOptionsIr {
        stride,
        padding,
        padding_out,
        dilation,
        groups,
    } = *options;
    let transposed = Transposed {
        stride,
        padding,
        padding_out,
        dilation,
        groups,
    };
    transposed.convolved(x, weight, out)
}

/// The output is the transposed convolution of an image.
pub(crate) fn transposed2d(
    x: &TensorIr,
    weight: &TensorIr,
    options: &ConvTranspose2dOptionsIr,
    out: &TensorIr,
) -> Outcome {
    let ConvTranspose2dOptionsIr {
        stride,
        padding,
        padding_out,
        dilation,
        groups,
    } = *options;
    let transposed = Transposed {
        stride,
        padding,
        padding_out,
        dilation,
        groups,
    };
    transposed.convolved(x, weight, out)
}

/// The output is the transposed convolution of a volume.
pub(crate) fn transposed3d(
    x: &TensorIr,
    weight: &TensorIr,
    options: &ConvTranspose3dOptionsIr,
    out: &TensorIr,
) -> Outcome {
    let ConvTranspose3dOptionsIr {
        stride,
        padding,
        padding_out,
        dilation,
        groups,
    } = *options;
    let transposed = Transposed {
        stride,
        padding,
        padding_out,
        dilation,
        groups,
    };
    transposed.convolved(x, weight, out)
}

/// The output has the patches of an image: `[batch, channels · kernel, places]`.
pub(crate) fn patches(
    x: &TensorIr,
    kernel: &[usize; 2],
    options: &Unfold4dOptionsIr,
    out: &TensorIr,
) -> Outcome {
    let window = Window {
        kernel: *kernel,
        stride: options.stride,
        padding: options.padding.map(|padding| (padding, padding)),
        dilation: options.dilation,
    };
    rank(x, 4)?;
    let mut patch = [x.shape[1], kernel[0], kernel[1]].into_iter();
    let patch = patch.try_fold(1_usize, usize::checked_mul);
    window.fits(x, [0; 2], patch.unwrap_or(usize::MAX))?;
    // Backends without such a kernel convolve with a weight that has a channel for each element.
    working_memory(x, patch.and_then(|patch| patch.checked_mul(patch)))?;
    let Some(patch) = patch else {
        return refuse("`kernel_size` is too large".into());
    };
    let mut places = 1_usize;
    for (axis, (before, after)) in window.padding.iter().enumerate() {
        let size = burn_backend::ops::conv::calculate_conv_output_size_asymmetric(
            kernel[axis],
            window.stride[axis],
            (*before, *after),
            window.dilation[axis],
            x.shape[axis + 2],
        );
        match places.checked_mul(size) {
            Some(product) => places = product,
            None => return refuse("there are too many patches".into()),
        }
    }
    shaped(out, &[x.shape[0], patch, places])
}
