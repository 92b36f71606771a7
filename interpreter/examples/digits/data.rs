//! The digits: reading, splitting, batches as tensors.

use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use burn::tensor::{Device, Int, Tensor, TensorData};
use flate2::read::GzDecoder;
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

/// Pixels of a side of an image.
pub(crate) const SIDE: usize = 8;
/// Pixels of an image.
const PIXELS: usize = SIDE * SIDE;
/// Different digits.
pub(crate) const DIGITS: usize = 10;
/// The brightest pixel.
const WHITE: u8 = 16;

/// An image and the digit it shows.
#[derive(Clone)]
pub(crate) struct Row {
    pixels: [f32; PIXELS],
    digit: u8,
}

/// Rows of the data set.
#[derive(Clone)]
pub(crate) struct Rows(Vec<Row>);

/// The rows, shuffled, in 80 % to train on and 20 % to test with.
pub(crate) fn load(seed: u64) -> Result<(Rows, Rows)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/digits.csv.gz");
    let file = std::fs::File::open(&path).with_context(|| path.display().to_string())?;
    let mut rows = read(GzDecoder::new(file)).with_context(|| path.display().to_string())?;
    rows.shuffle(&mut StdRng::seed_from_u64(seed));
    let test = rows.split_off(rows.len() * 8 / 10);
    Ok((Rows(rows), Rows(test)))
}

/// Rows of 64 pixels, 0 to 16, and the digit.
fn read(source: impl Read) -> Result<Vec<Row>> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(source);
    let mut rows = Vec::new();
    for (position, record) in reader.deserialize::<Vec<u8>>().enumerate() {
        let row = record.map_err(Into::into).and_then(parse);
        rows.push(row.with_context(|| format!("row {}", position + 1))?);
    }
    ensure!(!rows.is_empty(), "there are no rows");
    Ok(rows)
}

fn parse(values: Vec<u8>) -> Result<Row> {
    ensure!(
        values.len() == PIXELS + 1,
        "expected {PIXELS} pixels and a digit, found {} values",
        values.len()
    );
    let (pixels, digit) = (&values[..PIXELS], values[PIXELS]);
    ensure!(
        pixels.iter().all(|pixel| *pixel <= WHITE),
        "a pixel is above {WHITE}"
    );
    ensure!(usize::from(digit) < DIGITS, "{digit} is no digit");
    Ok(Row {
        pixels: std::array::from_fn(|pixel| f32::from(pixels[pixel]) / f32::from(WHITE)),
        digit,
    })
}

impl Rows {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The rows in a new order, in batches of at most `size`.
    pub(crate) fn batches(&self, size: usize, rng: &mut StdRng) -> Vec<Rows> {
        let mut rows = self.0.clone();
        rows.shuffle(rng);
        rows.chunks(size)
            .map(|batch| Rows(batch.to_vec()))
            .collect()
    }

    /// The images as data of shape `[rows, 1, 8, 8]`, each pixel from 0 to 1.
    pub(crate) fn image_data(&self) -> TensorData {
        let pixels: Vec<f32> = self.0.iter().flat_map(|row| row.pixels).collect();
        TensorData::new(pixels, [self.len(), 1, SIDE, SIDE])
    }

    /// The images as a tensor of shape `[rows, 1, 8, 8]`.
    pub(crate) fn images(&self, device: &Device) -> Tensor<4> {
        Tensor::from_data(self.image_data(), device)
    }

    /// The digits as a tensor of shape `[rows]`.
    pub(crate) fn digits(&self, device: &Device) -> Tensor<1, Int> {
        let digits: Vec<i32> = self.0.iter().map(|row| row.digit.into()).collect();
        let rows = digits.len();
        Tensor::from_data(TensorData::new(digits, [rows]), device)
    }

    /// The share of rows whose digit has the highest of its ten logits.
    pub(crate) fn accuracy(&self, logits: &[f32]) -> f64 {
        let pairs = predictions(logits).zip(&self.0);
        let right = pairs.filter(|(predicted, row)| *predicted == usize::from(row.digit));
        right.count() as f64 / self.len() as f64
    }
}

/// The digit with the highest logit, row by row.
pub(crate) fn predictions(logits: &[f32]) -> impl Iterator<Item = usize> {
    logits.chunks(DIGITS).map(|row| {
        let best = row
            .iter()
            .enumerate()
            .max_by(|(_, a), (_, b)| a.total_cmp(b));
        best.map_or(0, |(digit, _)| digit)
    })
}
