//! The cases of the bench, in every variant.
#![cfg_attr(
    feature = "ndarray",
    expect(
        deprecated,
        reason = "burn-ndarray is on its way out, and still a second implementation"
    )
)]

use burn_backend::TensorData;
use burn_interpreter::{CustomOpRegistry, Graph, TensorInterpreter};
use burn_ir::{BackendIr, GraphBindings, OperationIr, TensorId, TensorIr};
use burn_std::future::block_on;
use interpreter_bench_baseline::{CUSTOM_OP, Flex, Interpreter, Job, baseline, custom_op, run};

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

/// Run a job in a variant: `direct`, `build`, `ours` or `upstream`.
///
/// # Errors
///
/// When there is no such variant, backend or case, or a result cannot be read.
pub fn run_job(variant: &str, backend: &str, job: &Job) -> Result<(), String> {
    match (variant, backend) {
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
