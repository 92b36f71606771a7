//! Tests that run on both CPU backends.

/// Run each test, which is generic in its backend, on both CPU backends: on what the caller calls
/// `Flex` and `NdArray`.
#[macro_export]
macro_rules! on_both {
    ($($(#[$doc:meta])* fn $name:ident<$b:ident>() $body:block)*) => {$(
        $(#[$doc])*
        #[test]
        fn $name() {
            fn on<$b: BackendIr>() $body
            on::<Flex>();
            on::<NdArray>();
        }
    )*};
}
