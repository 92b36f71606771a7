//! The table of Burn's tensor operations, as a library.
//!
//! `op-spec.toml` holds one row for each operation of `burn_ir::OperationIr`: the backend call it
//! makes. This crate turns that text into a typed [`Table`] with positions, finds every mistake in
//! it at once, and emits the Rust that executes the operations. The proc macro, the maintainer's
//! tools and the tests all go through it, so they agree on what a row means.
//!
//! The language of the table is described at the top of `op-spec.toml`. No operation is known to
//! this crate by name.
//!
//! ```
//! let parsed = burn_op_spec::parse(
//!     "[bool]
//!     ir = 'BoolOperationIr'
//!     arm = 'Bool(op)'
//!     [bool.ops]
//!     Not = 'UnaryOpIr: bool_not(input: bool) -> out: bool'",
//! );
//! assert!(parsed.diagnostics.is_empty());
//!
//! let operation = parsed.table.operations().next().expect("the table has a row");
//! assert_eq!(operation.name(), "bool.Not");
//! assert_eq!(operation.method().as_deref(), Some("bool_not"));
//! ```

mod diagnostic;
pub mod emit;
pub mod keys;
mod lint;
mod model;
mod signature;
mod table;

pub use diagnostic::{Diagnostic, Related, nearest};
pub use model::{
    Arg, Arity, Arm, Body, Check, Convert, Field, Group, Handling, IrPattern, Kind, KindRef,
    Operation, Output, OutputFact, Row, Signature, Spanned, StructChecks, Table, Value, root,
};

/// A table and everything that is wrong with it.
#[derive(Debug)]
pub struct Parsed {
    /// What could be read. With diagnostics it is incomplete: rows that could not be read have no
    /// [body](Row::body), and groups that could not be read are missing.
    pub table: Table,
    /// The mistakes, in the order of the text. Empty for a table that can be used.
    pub diagnostics: Vec<Diagnostic>,
}

/// Read a table from the text of an `op-spec.toml` and check it.
///
/// Never fails: the mistakes are listed in [`Parsed::diagnostics`], all of them at once.
pub fn parse(source: &str) -> Parsed {
    let mut diagnostics = Vec::new();
    let table = table::parse(source, &mut diagnostics);
    lint::lint(&table, &mut diagnostics);
    diagnostics.sort_by_key(|diagnostic| diagnostic.span.start);
    Parsed { table, diagnostics }
}
