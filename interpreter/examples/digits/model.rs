//! The classifier: two convolutions and a linear layer.

use anyhow::{Result, anyhow};
use burn::module::Module;
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::pool::{MaxPool2d, MaxPool2dConfig};
use burn::nn::{Linear, LinearConfig, PaddingConfig2d, Relu};
use burn::tensor::{Device, Tensor};

use crate::data::{DIGITS, SIDE};

const CHANNELS: [usize; 2] = [8, 16];

/// From images `[rows, 1, 8, 8]` to logits `[rows, 10]`.
#[derive(Module, Debug)]
pub(crate) struct Classifier {
    first: Conv2d,
    second: Conv2d,
    pool: MaxPool2d,
    activation: Relu,
    output: Linear,
}

impl Classifier {
    pub(crate) fn new(device: &Device) -> Self {
        let conv = |channels| {
            Conv2dConfig::new(channels, [3, 3])
                .with_padding(PaddingConfig2d::Same)
                .init(device)
        };
        // Both convolutions are followed by a pool that halves the side.
        let side = SIDE / 4;
        Self {
            first: conv([1, CHANNELS[0]]),
            second: conv(CHANNELS),
            pool: MaxPool2dConfig::new([2, 2]).with_strides([2, 2]).init(),
            activation: Relu::new(),
            output: LinearConfig::new(CHANNELS[1] * side * side, DIGITS).init(device),
        }
    }

    pub(crate) fn forward(&self, images: Tensor<4>) -> Tensor<2> {
        let x = self
            .pool
            .forward(self.activation.forward(self.first.forward(images)));
        let x = self
            .pool
            .forward(self.activation.forward(self.second.forward(x)));
        self.output.forward(x.flatten(1, 3))
    }

    /// The logits as plain numbers, row by row.
    pub(crate) fn logits(&self, images: Tensor<4>) -> Result<Vec<f32>> {
        let data = self.forward(images).into_data();
        let logits = data
            .as_slice::<f32>()
            .map_err(|cause| anyhow!("the logits: {cause}"))?;
        Ok(logits.to_vec())
    }
}
