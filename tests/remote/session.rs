//! Sessions of burn-remote's server, whatever interpreter it has inside.
//!
//! ```text
//! cargo xtask upstream session
//! ```
//!
//! builds this program twice, with burn-router as it is and with our interpreter in it. A client sends
//! an operation that fails, and looks at what is left: of its session, and of another one. It also
//! moves a large tensor, and counts operations a second over loopback.
//!
//! Exits with an error when the interpreter inside is ours and a session was lost, or when it is
//! burn-router's and none was: then the reason for this workspace is gone.

use std::any;
use std::net::TcpListener;
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use burn::remote::RemoteHost;
use burn::server::{RemoteServer, WebSocketTransport};
use burn::tensor::{Device, Tensor, TensorData};
use burn_flex::Flex;

/// No answer within this time is none.
const PATIENCE: Duration = Duration::from_secs(60);
/// 64 MiB of f32.
const LARGE: usize = 16 << 20;
/// The operations whose time is taken.
const OPERATIONS: usize = 20_000;
/// Of as many measurements the shortest counts.
const TRIES: usize = 3;

fn main() -> Result<()> {
    let interpreter = any::type_name::<burn_router::TensorInterpreter<Flex>>();
    let is_ours = interpreter.starts_with("burn_interpreter::");
    // What the server's threads say of their panics is what is expected of them.
    panic::set_hook(Box::new(|_| ()));

    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let host = RemoteHost::websocket(&format!("ws://{}", listener.local_addr()?));
    let server = RemoteServer::new([Device::flex(), Device::flex()]);
    runtime.spawn(server.serve_async(WebSocketTransport::from_listener(listener)));
    // Each device of a host has a session of its own.
    let device = |index| {
        let options = Device::remote_options(&host).device_index(index);
        options
            .init()
            .map_err(|cause| anyhow!("no session: {cause}"))
    };
    let (session, other) = (device(0)?, device(1)?);

    println!(
        "interpreter      {}",
        if is_ours {
            "burn-interpreter"
        } else {
            "burn-router"
        }
    );
    large(session.clone()).context("64 MiB")?;
    println!("64 MiB           the same bytes came back");
    let mut best = Duration::MAX;
    for _ in 0..TRIES {
        best = best.min(operations(session.clone())?);
    }
    let rate = OPERATIONS as f64 / best.as_secs_f64();
    println!("operations       {rate:.0} a second");

    let kept = Tensor::<1>::from_floats([1.0, 2.0], &session);
    let kept_by_other = Tensor::<1>::from_floats([3.0, 4.0], &other);
    let error = answer(fails(session.clone()))?.expect_err("an empty axis has no largest element");
    println!(
        "a bad operation  {}",
        error.lines().next().unwrap_or_default()
    );
    let is_alive = answer(move || values(kept * 2.0))? == Ok(vec![2.0, 4.0]);
    let is_other_alive = answer(move || values(kept_by_other * 2.0))? == Ok(vec![6.0, 8.0]);
    println!(
        "its session      {}",
        if is_alive { "goes on" } else { "is lost" }
    );
    println!(
        "another session  {}",
        if is_other_alive { "goes on" } else { "is lost" }
    );

    ensure!(is_other_alive, "the other session was lost");
    ensure!(
        is_alive == is_ours,
        "the session must go on with burn-interpreter inside, and be lost without"
    );
    runtime.shutdown_background();
    Ok(())
}

/// The largest elements along an empty axis.
fn fails(session: Device) -> impl FnOnce() -> Result<Vec<f32>, String> + Send + 'static {
    move || values(Tensor::<2>::zeros([0, 3], &session).max_dim(0).reshape([3]))
}

fn values(tensor: Tensor<1>) -> Result<Vec<f32>, String> {
    tensor
        .try_into_vec_as()
        .map_err(|error| format!("{:#}", anyhow::Error::from(error)))
}

/// What the work comes to. A client whose session is lost may panic, or wait for ever.
fn answer(
    work: impl FnOnce() -> Result<Vec<f32>, String> + Send + 'static,
) -> Result<Result<Vec<f32>, String>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let answer = panic::catch_unwind(AssertUnwindSafe(work));
        // Nobody listens to one that comes too late.
        let _ = sender.send(answer.unwrap_or_else(|_| Err("the client panicked".into())));
    });
    match receiver.recv_timeout(PATIENCE) {
        Ok(answer) => Ok(answer),
        Err(RecvTimeoutError::Timeout) => Ok(Err("no answer".into())),
        Err(RecvTimeoutError::Disconnected) => Err(anyhow!("a client ended without an answer")),
    }
}

/// A large tensor goes up and comes down.
fn large(session: Device) -> Result<()> {
    let data: Vec<f32> = (0..LARGE).map(|i| (i % 7) as f32).collect();
    let expected: Vec<f32> = data.iter().map(|value| -value).collect();
    let tensor = Tensor::<1>::from_data(TensorData::new(data, [LARGE]), &session);
    let found = answer(move || values(tensor * -1.0))?.map_err(|error| anyhow!(error))?;
    ensure!(found == expected, "other bytes came back");
    Ok(())
}

/// The time of as many operations, and of reading what they come to.
fn operations(session: Device) -> Result<Duration> {
    let start = Instant::now();
    let mut tensor = Tensor::<1>::from_floats([0.0], &session);
    for _ in 0..OPERATIONS {
        tensor = tensor + 1.0;
    }
    let found = answer(move || values(tensor))?.map_err(|error| anyhow!(error))?;
    ensure!(found == [OPERATIONS as f32], "{found:?}");
    Ok(start.elapsed())
}
