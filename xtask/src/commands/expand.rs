//! `cargo xtask expand`: what a row becomes.

use burn_op_spec::{Operation, emit};

use crate::Outcome;
use crate::workspace::table;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// An operation (`numeric.Powi.float`), all kinds of one (`numeric.Powi`) or a group
    /// (`numeric`); without it, the whole module.
    name: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<Outcome, String> {
    let table = table()?;
    let Some(name) = &args.name else {
        print(emit::operations(&table))?;
        return Ok(Outcome::Fine);
    };
    if let Some(group) = table.groups.iter().find(|group| group.name.value == *name) {
        print(emit::executors(group))?;
        print(emit::facts(group))?;
        return Ok(Outcome::Fine);
    }
    let is_meant = |operation: &Operation<'_>| {
        let full = operation.name();
        full == *name
            || full
                .strip_prefix(name.as_str())
                .is_some_and(|kind| kind.starts_with('.'))
    };
    let mut operations = table.operations().filter(is_meant).peekable();
    if operations.peek().is_none() {
        return Err(format!(
            "no operation or group is called `{name}`; a name is `group`, `group.Variant` or \
             `group.Variant.kind`"
        ));
    }
    operations.try_for_each(|operation| {
        print(emit::executor(operation))?;
        print(emit::fact(operation))
    })?;
    Ok(Outcome::Fine)
}

fn print(tokens: impl ToString) -> Result<(), String> {
    let code = tokens.to_string();
    let file = syn::parse_file(&code)
        .map_err(|cause| format!("the generated code is not Rust ({cause}):\n{code}"))?;
    print!("{}", prettyplease::unparse(&file));
    Ok(())
}
