//! Train the digits classifier on remote devices: two server processes, one client.
//!
//! ```text
//! cargo xtask upstream train
//! ```
//!
//! The servers host Flex, and execute what arrives with the interpreter of this workspace, which a
//! patched burn-router puts inside. The client has the autodiff graph and no tensor of its own.
//! Each batch is halved: both devices compute gradients at the same time, and the optimizer adds
//! them up. This is Burn's ordinary API, and nothing of the interpreter shows in it.

mod data;
mod model;

use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use std::{any, env, io, thread};

use anyhow::{Context, Result, anyhow, bail, ensure};
use burn::module::Module;
use burn::nn::loss::CrossEntropyLossConfig;
use burn::optim::{AdamConfig, GradientsParams, MultiGradientsParams};
use burn::remote::RemoteHost;
use burn::server::telemetry::{TelemetryEvent, TelemetryProbe, TelemetrySubscription};
use burn::server::{RemoteServer, WebSocketTransport};
use burn::tensor::Device;
use burn_flex::Flex;
use indicatif::{ProgressBar, ProgressStyle};
use rand::SeedableRng;
use rand::rngs::StdRng;

use crate::data::Rows;
use crate::model::Classifier;

const SEED: u64 = 42;
const SERVERS: usize = 2;
const EPOCHS: u64 = 6;
/// Rows of a step on each device.
const ROWS: usize = 16;
const LEARNING_RATE: f64 = 5e-3;
/// The share of the test rows that the classifier must get right.
const ACCURACY: f64 = 0.9;
/// Events that wait to be counted.
const BACKLOG: usize = 1 << 16;

fn main() -> Result<()> {
    match env::args().nth(1).as_deref() {
        None => client(),
        Some("serve") => serve(),
        Some(other) => bail!("`{other}` is no argument: there is `serve` and nothing"),
    }
}

/// Host one device until the client ends the process. Prints the address, and at the end of standard input
/// the operations executed.
fn serve() -> Result<()> {
    let interpreter = any::type_name::<burn_router::TensorInterpreter<Flex>>();
    ensure!(
        interpreter.starts_with("burn_interpreter::"),
        "burn-router is not patched: it executes with {interpreter}"
    );
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("ws://{}", listener.local_addr()?);
    let (probe, events) = TelemetryProbe::channel(BACKLOG);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let operations = Arc::new(AtomicU64::new(0));
    runtime.spawn(count(events, operations.clone()));
    let serving = RemoteServer::new([Device::flex()])
        .with_telemetry(probe)
        .serve_async(WebSocketTransport::from_listener(listener));
    runtime.spawn(serving);
    io::stdin().read_to_end(&mut Vec::new())?;
    println!("{}", operations.load(Ordering::Relaxed));
    // The other server may have a connection to this one, so the client ends both at once. A client
    // that is gone does not.
    thread::sleep(Duration::from_secs(10));
    Ok(())
}

/// Count the operations among the events, without those that only drop a tensor.
async fn count(mut events: TelemetrySubscription, operations: Arc<AtomicU64>) {
    while let Some(event) = events.recv().await {
        if matches!(*event, TelemetryEvent::Op { .. }) {
            operations.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// A server process.
struct Server {
    process: Child,
    /// Ends when it is dropped.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    address: String,
}

impl Server {
    fn start() -> Result<Self> {
        let mut process = Command::new(env::current_exe()?)
            .arg("serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = process.stdin.take();
        let output = process.stdout.take().context("a server without output")?;
        let mut server = Self {
            process,
            input,
            output: BufReader::new(output),
            address: String::new(),
        };
        server.address = server.line().context("the server did not start")?;
        Ok(server)
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        ensure!(self.output.read_line(&mut line)? > 0, "the server is gone");
        Ok(line.trim_end().to_string())
    }

    fn device(&self) -> Result<Device> {
        let host = RemoteHost::websocket(&self.address);
        Device::remote_options(&host)
            .init()
            .map_err(|cause| anyhow!("{}: {cause}", self.address))
    }

    /// The operations that it executed.
    fn operations(&mut self) -> Result<u64> {
        self.input = None;
        self.line()?.parse().context("the server did not count")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn client() -> Result<()> {
    let mut servers = (0..SERVERS)
        .map(|_| Server::start())
        .collect::<Result<Vec<_>>>()?;
    let devices = servers
        .iter()
        .map(Server::device)
        .collect::<Result<Vec<_>>>()?;
    let (train_rows, test_rows) = data::load(SEED).context("the digits cannot be loaded")?;

    println!(
        "training on {} rows and {SERVERS} remote devices",
        train_rows.len()
    );
    let model = train(&train_rows, &devices)?;
    let logits = model.logits(test_rows.images(&devices[0]))?;
    let accuracy = test_rows.accuracy(&logits);
    println!(
        "the model gets {:.1} % of {} test rows right",
        100.0 * accuracy,
        test_rows.len()
    );

    println!("\nserver                 operations");
    for server in &mut servers {
        let operations = server.operations()?;
        println!("{:<21}  {operations:>10}", server.address);
    }
    // At once: a server that sees the other go complains.
    for server in &mut servers {
        server.process.kill()?;
    }
    ensure!(
        accuracy >= ACCURACY,
        "the model must get {:.0} % of the test rows right",
        100.0 * ACCURACY
    );
    Ok(())
}

/// A classifier that is trained on `rows`, ready for inference on the first device.
fn train(rows: &Rows, devices: &[Device]) -> Result<Classifier> {
    let autodiff: Vec<_> = devices.iter().cloned().map(Device::autodiff).collect();
    autodiff[0].seed(SEED);
    let mut model = Classifier::new(&autodiff[0]);
    let mut optimizer = AdamConfig::new().init();
    let mut rng = StdRng::seed_from_u64(SEED);

    let steps = rows.len().div_ceil(ROWS).div_ceil(devices.len()) as u64;
    let progress = ProgressBar::new(EPOCHS * steps).with_style(style());
    for epoch in 1..=EPOCHS {
        let mut total = 0.0;
        for step in rows.batches(ROWS, &mut rng).chunks(devices.len()) {
            let mut losses = Vec::new();
            let mut gradients = MultiGradientsParams::default();
            for (batch, (device, autodiff)) in step.iter().zip(devices.iter().zip(&autodiff)) {
                let model = model.clone().fork(autodiff);
                let loss = CrossEntropyLossConfig::new().init(autodiff).forward(
                    model.forward(batch.images(autodiff)),
                    batch.digits(autodiff),
                );
                let found = GradientsParams::from_grads(loss.backward(), &model);
                gradients.grads.push((found, device.clone()));
                losses.push((loss, batch.len()));
            }
            model = optimizer.step_multi(LEARNING_RATE, model, gradients);
            for (loss, rows) in losses {
                total += loss.into_scalar::<f64>() * rows as f64;
            }
            progress.inc(1);
        }
        let mean = total / rows.len() as f64;
        progress.set_message(format!("loss {mean:.4}"));
        if progress.is_hidden() {
            println!("epoch {epoch} of {EPOCHS}: loss {mean:.4}");
        }
    }
    progress.finish();
    Ok(model.valid().to_device(&devices[0]))
}

fn style() -> ProgressStyle {
    let template = "{bar:40} {pos}/{len} steps, {elapsed}, {msg}";
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
