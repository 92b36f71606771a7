//! The drop-in, proved by the compiler: the same code compiles against burn-router's types and
//! against ours, signature by signature.

use burn_backend::{
    DType, DTypeUsageSet, ExecutionError, ProfileDuration, ProfileOptions, ProfileToken, Shape,
    TensorData,
};
use burn_flex::Flex;
use burn_ir::{
    BackendIr, CustomOpIr, GraphBindings, GraphIr, HandleContainer, HandleKind, OperationIr,
    TensorId, TensorIr,
};
use burn_router::{RouterClient, RouterTensor};
use burn_std::{DeviceSettings, future::DynFut};

type Device = <Flex as burn_backend::BackendTypes>::Device;
type Handle = <Flex as BackendIr>::Handle;

/// Every public method of `$krate`, with its signature.
macro_rules! assert_drop_in {
    ($name:ident, $krate:ident) => {
        #[test]
        fn $name() {
            use $krate::{CustomOpHandler, CustomOpRegistry, Graph, TensorInterpreter};

            type Interpreter = TensorInterpreter<Flex>;
            type Registry = CustomOpRegistry<Flex>;

            let _: fn(Device) -> Interpreter = Interpreter::new;
            let _: fn(Device, Registry) -> Interpreter = Interpreter::with_custom_ops;
            let _: fn(&mut Interpreter, &TensorIr) -> Handle = Interpreter::get_tensor_handle;
            let _: fn(&mut Interpreter, &TensorIr) -> HandleKind<Flex> = Interpreter::get_tensor;
            let _: fn(&mut Interpreter, TensorId, HandleKind<Flex>) =
                Interpreter::register_tensor_to_device;
            let _: fn(&mut Interpreter, TensorId, TensorId) = Interpreter::register_alias;
            let _: fn(&mut Interpreter, TensorId, TensorData) =
                Interpreter::register_tensor_data_id;
            let _: fn(&mut Interpreter, TensorData) -> TensorIr =
                Interpreter::register_tensor_data_desc;
            let _: fn(&Interpreter) -> DeviceSettings = Interpreter::device_settings;
            let _: fn(&mut Interpreter, OperationIr) = Interpreter::register_op;
            let _: fn(&mut Interpreter, TensorIr) -> DynFut<Result<TensorData, ExecutionError>> =
                Interpreter::read_tensor_async;
            let _: fn(&Interpreter) -> Device = Interpreter::device;
            let _: fn(&Interpreter) -> Result<(), ExecutionError> = Interpreter::sync;
            let _: fn(&Interpreter, u64) = Interpreter::seed;
            let _: fn(&Interpreter, DType) -> DTypeUsageSet = Interpreter::dtype_usage;
            let _: fn(&Interpreter) -> Result<Option<ProfileToken>, ExecutionError> =
                Interpreter::profile_start;
            let _: fn(
                &Interpreter,
                ProfileToken,
                ProfileOptions,
            ) -> Result<ProfileDuration, ExecutionError> = Interpreter::profile_end;
            let _: fn(&Interpreter, ProfileToken) = Interpreter::profile_abandon;

            fn register_tensor<C: RouterClient>(
                interpreter: &mut Interpreter,
                handle: Handle,
                client: C,
            ) -> RouterTensor<C> {
                interpreter.register_tensor(handle, Shape::new([1]), DType::F32, client)
            }
            let _ = register_tensor::<burn_capture::CaptureClient>;

            let _: fn() -> Registry = Registry::new;
            let _: fn() -> Registry = Registry::default;
            let _: fn(&Registry) -> Registry = Registry::clone;
            let handler: CustomOpHandler<Flex> = std::sync::Arc::new(
                |_: &mut HandleContainer<Handle>, _: &CustomOpIr, _: &Device| {},
            );
            let mut registry = Registry::new();
            registry.register("op", move |handles, ir, device| {
                handler(handles, ir, device)
            });

            let _: fn(Vec<OperationIr>) -> Graph = Graph::new;
            let _: fn(&Graph) -> usize = Graph::len;
            let _: fn(&Graph) -> bool = Graph::is_empty;
            let _: fn(&Graph) -> &[OperationIr] = Graph::operations;
            let _: fn(&Graph) -> &[TensorId] = Graph::inputs;
            let _: fn(&Graph) -> &[TensorId] = Graph::outputs;
            let _: fn(&Graph, GraphBindings) -> GraphIr = Graph::bind;
            let _: fn(&Graph, &mut Interpreter, GraphBindings) = Graph::replay::<Flex>;
            let _: fn(&Graph) -> Graph = Graph::clone;

            fn assert_auto_traits<T: Send + Sync + std::fmt::Debug>() {}
            assert_auto_traits::<Interpreter>();
            assert_auto_traits::<Graph>();
        }
    };
}

assert_drop_in!(burn_router_has_this_api, burn_router);
assert_drop_in!(burn_interpreter_has_this_api, burn_interpreter);
