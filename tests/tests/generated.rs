//! The generated code as a reviewer reads it: one snapshot a group of the table, and one a feature
//! of the table's language.

use std::fs;

use burn_op_spec::{Table, emit};

/// The table of the workspace, free of mistakes.
fn table() -> (String, Table) {
    let source = include_str!("../../op-spec.toml");
    (source.into(), parse(source, "op-spec.toml"))
}

fn parse(source: &str, name: &str) -> Table {
    let parsed = burn_op_spec::parse(source);
    let mistakes: Vec<_> = parsed
        .diagnostics
        .iter()
        .map(|diagnostic| diagnostic.render(name, source))
        .collect();
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
    parsed.table
}

fn pretty(tokens: impl ToString) -> String {
    let file = syn::parse_file(&tokens.to_string()).expect("the generated code is Rust");
    prettyplease::unparse(&file)
}

/// Snapshots without the lines of the table, so that a new row changes no other.
fn settings(description: &str) -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"op-spec\.toml:\d+", "op-spec.toml:LINE");
    settings.add_filter(r"line: \d+", "line: LINE");
    settings.set_description(description);
    settings.set_omit_expression(true);
    settings.set_prepend_module_to_snapshot(false);
    settings
}

#[test]
fn groups() {
    let (_, table) = table();
    for group in &table.groups {
        let name = &*group.name;
        settings(&format!("what the rows of [{name}.ops] become")).bind(|| {
            insta::assert_snapshot!(format!("group_{name}"), pretty(emit::executors(group)));
        });
    }
}

#[test]
fn features_of_the_language() {
    insta::glob!("../fixtures/pass", "*.toml", |path| {
        let source = fs::read_to_string(path).expect("the fixture can be read");
        let name = path
            .file_stem()
            .expect("a fixture has a name")
            .to_string_lossy();
        let table = parse(&source, &name);
        let code = table
            .groups
            .iter()
            .map(|group| pretty(emit::executors(group)) + "\n" + &pretty(emit::facts(group)));
        let code: Vec<_> = code.collect();
        settings(source.trim_end()).bind(|| {
            insta::assert_snapshot!("feature", code.join("\n"));
        });
    });
}

/// The entry points of the module look at the variant of `OperationIr` only.
#[test]
fn entry_points() {
    let source = "[bool]\nir = 'BoolOperationIr'\narm = 'Bool(op)'\n[bool.ops]\n\
                  Not = 'UnaryOpIr: bool_not(input: bool) -> out: bool'\n\
                  [stream]\nir = 'OperationIr'\n[stream.ops]\n\
                  Drop = { sig = 'TensorIr: (self, context) -> ()', custom = 'releases a handle' }\n";
    let table = parse(source, "entry_points");
    settings("the module of a table with two rows").bind(|| {
        insta::assert_snapshot!("entry_points", pretty(emit::operations(&table)));
    });
}

/// What stands in for the operations while the table has mistakes.
#[test]
fn skeleton() {
    settings("the module of a table with mistakes").bind(|| {
        insta::assert_snapshot!("skeleton", pretty(emit::skeleton()));
    });
}

/// The table that the published runtime carries is the table of the workspace.
#[test]
fn shipped_table_is_the_table() {
    let (source, _) = table();
    assert_eq!(source, include_str!("../../interpreter/op-spec.toml"));
}
