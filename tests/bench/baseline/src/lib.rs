//! What the bench measures: operations called directly on a backend, and executed by an
//! interpreter.
//!
//! burn-router's interpreter is instantiated here, in a crate that does not depend on
//! burn-interpreter: an edit of the latter does not compile the former anew.
#![cfg_attr(
    feature = "ndarray",
    expect(
        deprecated,
        reason = "burn-ndarray is on its way out, and still a second implementation"
    )
)]

mod case;
mod models;
mod relative;
mod run;

pub use burn_flex::Flex;
#[cfg(feature = "ndarray")]
pub use burn_ndarray::NdArray;
pub use case::{CASES, CUSTOM_OP, custom_op};
pub use run::{Interpreter, Job, Mode, operations, run};

use burn_backend::TensorData;
use burn_ir::{BackendIr, GraphBindings, OperationIr, TensorId, TensorIr};
use burn_router::{CustomOpRegistry, Graph, TensorInterpreter};
use burn_std::future::block_on;

/// burn-router's interpreter.
#[derive(Debug)]
pub struct Upstream<B: BackendIr>(TensorInterpreter<B>);

impl<B: BackendIr> Interpreter<B> for Upstream<B> {
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

/// Run a job in a variant that needs no burn-interpreter: `direct`, `build` or `upstream`.
///
/// # Errors
///
/// When there is no such variant, backend or case, or a result cannot be read.
pub fn baseline(variant: &str, backend: &str, job: &Job) -> Result<(), String> {
    match backend {
        "flex" => on::<Flex>(variant, job),
        #[cfg(feature = "ndarray")]
        "ndarray" => on::<NdArray>(variant, job),
        _ => Err(format!("there is no backend `{backend}` here")),
    }
}

fn on<B: BackendIr>(variant: &str, job: &Job) -> Result<(), String> {
    match variant {
        "direct" => run::direct::<B>(job),
        "build" => run::build::<B>(job),
        "upstream" => run::<B, Upstream<B>>(job),
        _ => Err(format!("there is no variant `{variant}`")),
    }
}
