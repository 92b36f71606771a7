//! Which operations a person means.

use burn_op_spec::{Operation, Table, nearest};

/// The operations that go by `name`: `Powi`, `numeric.Powi`, `numeric.Powi.float`, `float_powi`,
/// `numeric_float_powi`.
pub(crate) fn find<'t>(table: &'t Table, name: &str) -> Result<Vec<Operation<'t>>, String> {
    let found: Vec<_> = table
        .operations()
        .filter(|operation| names(*operation).iter().any(|known| known == name))
        .collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let known: Vec<String> = table.operations().flat_map(names).collect();
    let message = format!("no operation is called `{name}`");
    Err(match nearest(name, known.iter().map(String::as_str)) {
        Some(near) => format!("{message}; did you mean `{near}`?"),
        None => format!("{message}: `cargo xtask list` shows them all"),
    })
}

/// Every name an operation goes by.
fn names(operation: Operation<'_>) -> Vec<String> {
    let variant = operation.row.variant.value.clone();
    let with_group = format!("{}.{variant}", operation.group.name.value);
    let mut names = vec![variant, with_group, operation.name(), operation.function()];
    names.extend(operation.methods());
    names
}
