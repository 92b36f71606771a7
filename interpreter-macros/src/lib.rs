//! The procedural macro behind `burn-interpreter`: a thin shell over `burn-op-spec`.
//!
//! It reads the table, hands it to the library, and turns what is wrong with it into compiler
//! errors.

use std::path::{Path, PathBuf};
use std::{env, fs};

use burn_op_spec::emit;
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{Ident, LitStr, Token, Visibility, parse_macro_input};

/// Emit a module that executes the operations of a table.
///
/// ```ignore
/// burn_interpreter_macros::operations!(mod operations = "op-spec.toml");
/// ```
///
/// The path is relative to the manifest of the crate that invokes the macro. The module has
/// `execute`, `op_info` and `OPERATIONS`; what it expects beside itself is said in
/// `burn_op_spec::emit`. Editing the table recompiles the crate.
///
/// # Errors
///
/// Every mistake in the table is a compiler error of its own, with the table's line, column and a
/// caret in the message. So is a table that cannot be read, with the full path that was tried.
#[proc_macro]
pub fn operations(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let invocation = parse_macro_input!(input as Invocation);
    expand(&invocation).into()
}

/// `pub mod name = "path"`
struct Invocation {
    visibility: Visibility,
    module: Ident,
    table: LitStr,
}

impl Parse for Invocation {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let visibility = input.parse()?;
        input.parse::<Token![mod]>()?;
        let module = input.parse()?;
        input.parse::<Token![=]>()?;
        let table = input.parse()?;
        Ok(Self {
            visibility,
            module,
            table,
        })
    }
}

fn expand(invocation: &Invocation) -> TokenStream {
    let Invocation {
        visibility,
        module,
        table,
    } = invocation;
    let (items, errors) = items(&table.value(), table.span());
    quote! {
        #(#errors)*
        #visibility mod #module {
            //! Generated from the table of operations. Edit the table, not this.
            #items
        }
    }
}

/// The items of the module and the errors beside it.
fn items(table: &str, span: Span) -> (TokenStream, Vec<TokenStream>) {
    let error = |message: &str| syn::Error::new(span, message).to_compile_error();
    let path = match resolve(table) {
        Ok(path) => path,
        Err(message) => return (emit::skeleton(), vec![error(&message)]),
    };
    let source = match fs::read_to_string(&path) {
        Ok(source) => source,
        Err(cause) => {
            let message = format!(
                "cannot read the table of operations `{}`: {cause}\n\
                 the path is relative to the Cargo.toml of the crate that invokes the macro",
                path.display()
            );
            return (emit::skeleton(), vec![error(&message)]);
        }
    };
    // What the compiler has seen included, cargo watches.
    let tracked = quote! {
        const _: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/", #table));
    };
    let parsed = burn_op_spec::parse(&source);
    if parsed.diagnostics.is_empty() {
        let operations = emit::operations(&parsed.table);
        return (quote!(#tracked #operations), Vec::new());
    }
    let errors = parsed.diagnostics.iter().map(|diagnostic| {
        let message = diagnostic.render(table, &source);
        error(message.strip_prefix("error: ").unwrap_or(&message))
    });
    let skeleton = emit::skeleton();
    (quote!(#tracked #skeleton), errors.collect())
}

/// The table's path, relative to the manifest of the invoking crate.
fn resolve(table: &str) -> Result<PathBuf, String> {
    let manifest = env::var_os("CARGO_MANIFEST_DIR")
        .ok_or("CARGO_MANIFEST_DIR is not set: the macro finds its table through cargo")?;
    Ok(Path::new(&manifest).join(table))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expansion(table: &str) -> (String, Vec<String>) {
        let (items, errors) = items(table, Span::call_site());
        let errors = errors.iter().map(ToString::to_string).collect();
        (items.to_string(), errors)
    }

    const TRACKED: &str = "const _ : & [u8] = include_bytes ! (concat ! \
                           (env ! (\"CARGO_MANIFEST_DIR\") , \"/\" , ";

    /// B21: cargo watches what the compiler has seen included, a table with mistakes too.
    #[test]
    fn an_edit_of_the_table_rebuilds() {
        for table in [
            "../op-spec.toml",
            "../tests/fixtures/fail/many_mistakes_at_once.toml",
        ] {
            let (items, _) = expansion(table);
            assert!(items.starts_with(&format!("{TRACKED}{table:?}")), "{items}");
        }
    }

    #[test]
    fn a_table_that_is_not_there_is_one_error() {
        let (_, errors) = expansion("missing.toml");
        assert_eq!(errors.len(), 1);
        assert!(
            errors[0].contains("cannot read the table of operations"),
            "{}",
            errors[0]
        );
        assert!(errors[0].contains("missing.toml"), "{}", errors[0]);
    }
}
