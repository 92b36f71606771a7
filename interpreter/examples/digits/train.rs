//! Training, with Burn's own modules and optimizer.

use burn::module::Module;
use burn::nn::loss::CrossEntropyLossConfig;
use burn::optim::{AdamConfig, GradientsParams};
use burn::tensor::Device;
use indicatif::{ProgressBar, ProgressStyle};
use rand::SeedableRng;
use rand::rngs::StdRng;

use crate::data::Rows;
use crate::model::Classifier;

const EPOCHS: u64 = 16;
const BATCH: usize = 32;
const LEARNING_RATE: f64 = 5e-3;

/// A classifier that is trained on `rows`, ready for inference on `device`.
pub(crate) fn train(rows: &Rows, seed: u64, device: &Device) -> Classifier {
    let autodiff = device.clone().autodiff();
    let mut model = Classifier::new(&autodiff);
    let mut optimizer = AdamConfig::new().init();
    let loss = CrossEntropyLossConfig::new().init(&autodiff);
    let mut rng = StdRng::seed_from_u64(seed);

    let steps = rows.len().div_ceil(BATCH) as u64;
    let progress = ProgressBar::new(EPOCHS * steps).with_style(style());
    for epoch in 1..=EPOCHS {
        let mut total = 0.0;
        for batch in rows.batches(BATCH, &mut rng) {
            let logits = model.forward(batch.images(&autodiff));
            let loss = loss.forward(logits, batch.digits(&autodiff));
            total += loss.clone().into_scalar::<f64>() * batch.len() as f64;
            let gradients = GradientsParams::from_grads(loss.backward(), &model);
            model = optimizer.step(LEARNING_RATE, model, gradients);
            progress.inc(1);
        }
        let mean = total / rows.len() as f64;
        progress.set_message(format!("loss {mean:.4}"));
        if progress.is_hidden() {
            println!("epoch {epoch} of {EPOCHS}: loss {mean:.4}");
        }
    }
    progress.finish();
    model.valid()
}

fn style() -> ProgressStyle {
    let template = "{bar:40} {pos}/{len} steps, {elapsed}, {msg}";
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
