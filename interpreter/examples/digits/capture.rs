//! From the model to a program file.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use burn::backend::capture::CaptureBackend;
use burn::module::Module;
use burn::tensor::{Device, Tensor};
use burn_interpreter::Program;
use burn_ir::TensorId;

use crate::data::Rows;
use crate::model::Classifier;

/// Capture the model's forward pass over as many rows as `rows` has, and save it.
pub(crate) fn save(model: &Classifier, rows: &Rows) -> Result<PathBuf> {
    let program = capture(model, rows)?;
    let path = target_dir().join("digits.program");
    program.save(&path)?;
    Ok(path)
}

fn capture(model: &Classifier, rows: &Rows) -> Result<Program> {
    let device = Device::capture();
    let mut boundary = Err(anyhow!("nothing was captured"));
    let captured = device.capture_scope(|scope| {
        let model = model.clone().to_device(&device);
        let images = rows.images(&device);
        let input = id(images.clone());
        let output = id(model.forward(images));
        boundary = input.and_then(|input| Ok((input, output?)));
        let ids = boundary.as_ref().ok();
        scope.complete(ids.map(|(input, _)| *input), ids.map(|(_, output)| *output))
    });
    boundary?;
    let captured = captured
        .map_err(|cause| anyhow!("{cause}"))
        .context("capturing the model")?;
    Ok(Program::from_captured(captured)?)
}

/// The id under which a tensor on the capture device is recorded.
fn id<const D: usize>(tensor: Tensor<D>) -> Result<TensorId> {
    let primitive = tensor.try_into_primitive::<CaptureBackend>();
    let primitive = primitive.map_err(|_| anyhow!("the tensor is not on a capture device"))?;
    Ok(primitive.id())
}

/// The folder that cargo builds into: the one this program was built into.
fn target_dir() -> PathBuf {
    let program = env::current_exe().unwrap_or_default();
    // target/PROFILE/examples/digits
    let built = program.ancestors().nth(3).map(Path::to_path_buf);
    built
        .filter(|folder| folder.is_dir())
        .unwrap_or_else(env::temp_dir)
}
