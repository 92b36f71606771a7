//! Runs a case of the bench in one variant: what an instruction counter counts.
//!
//! `interpreter-bench VARIANT BACKEND CASE MODE ROUNDS [LIVE]`, where `VARIANT` is `direct`, `build`,
//! `ours`, `upstream`, or `operations` to print how many there are in a round; `MODE` is `stream`, or
//! the number of operations of a graph that is replayed; `LIVE` is the number of other tensors.
//! Without arguments: the names of the cases.

use std::env;
use std::process::ExitCode;

use burn_backend::TensorData;
use burn_interpreter::{CustomOpRegistry, Graph, TensorInterpreter};
use burn_ir::{BackendIr, GraphBindings, OperationIr, TensorId, TensorIr};
use burn_std::future::block_on;
use interpreter_bench_baseline::{
    CASES, CUSTOM_OP, Flex, Interpreter, Job, Mode, baseline, custom_op, operations, run,
};

/// The interpreter of this workspace.
struct Ours<B: BackendIr>(TensorInterpreter<B>);

impl<B: BackendIr> Interpreter<B> for Ours<B> {
    type Graph = Graph;

    fn start() -> Self {
        let mut custom_ops = CustomOpRegistry::default();
        custom_ops.register(CUSTOM_OP, custom_op::<B>);
        let device = B::Device::default();
        Self(TensorInterpreter::with_custom_ops(device, custom_ops))
    }

    fn upload(&mut self, id: TensorId, data: TensorData) {
        self.0.register_tensor_data_id(id, data);
    }

    fn execute(&mut self, op: OperationIr) {
        self.0.register_op(op);
    }

    fn graph(ops: Vec<OperationIr>) -> Graph {
        Graph::new(ops)
    }

    fn replay(&mut self, graph: &Graph, bindings: GraphBindings) {
        graph.replay(&mut self.0, bindings);
    }

    fn read(&mut self, tensor: TensorIr) -> Result<TensorData, String> {
        block_on(self.0.read_tensor_async(tensor)).map_err(|error| error.to_string())
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    if args.is_empty() {
        CASES.iter().for_each(|case| println!("{case}"));
        return ExitCode::SUCCESS;
    }
    match parse(&args).and_then(|(variant, backend, job)| dispatch(variant, backend, &job)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

fn parse(args: &[String]) -> Result<(&str, &str, Job), String> {
    let [variant, backend, case, mode, rounds, rest @ ..] = args else {
        return Err("wants VARIANT BACKEND CASE MODE ROUNDS [LIVE]".into());
    };
    let number = |text: &String| -> Result<usize, String> {
        text.parse().map_err(|_| format!("`{text}` is no number"))
    };
    let mode = match mode.as_str() {
        "stream" => Mode::Stream,
        _ => Mode::Replay(number(mode)?),
    };
    let job = Job {
        case: case.clone(),
        mode,
        live: rest.first().map_or(Ok(0), number)? as u64,
        rounds: number(rounds)?,
    };
    Ok((variant, backend, job))
}

fn dispatch(variant: &str, backend: &str, job: &Job) -> Result<(), String> {
    match (variant, backend) {
        ("operations", _) => {
            println!("{}", operations::<Flex>(job)?);
            Ok(())
        }
        ("ours", "flex") => run::<Flex, Ours<Flex>>(job),
        #[cfg(feature = "ndarray")]
        ("ours", "ndarray") => {
            use interpreter_bench_baseline::NdArray;
            run::<NdArray, Ours<NdArray>>(job)
        }
        ("ours", _) => Err(format!("there is no backend `{backend}` here")),
        _ => baseline(variant, backend, job),
    }
}
