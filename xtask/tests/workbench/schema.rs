//! The schema that editors use, beside the parser.

use std::fs;

use burn_op_spec::parse;
use jsonschema::Validator;

use crate::support::{read, snapshot, workspace};

fn validator() -> Validator {
    let schema = read(&workspace().join("interpreter-macros/spec/op-spec.schema.json"));
    let schema = serde_json::from_str(&schema).expect("the schema is JSON");
    jsonschema::draft7::new(&schema).expect("the schema is one")
}

/// What the schema has against a table; that it is no TOML, if it is not.
fn mistakes(validator: &Validator, table: &str) -> Vec<String> {
    let table: toml::Table = match table.parse() {
        Ok(table) => table,
        Err(_) => return vec!["not TOML".into()],
    };
    let value = serde_json::to_value(table).expect("TOML without dates is JSON");
    let errors = validator.iter_errors(&value);
    errors.map(|error| error.to_string()).collect()
}

/// The tables of a folder of fixtures, by name.
fn tables(folder: &str) -> Vec<(String, String)> {
    let folder = workspace().join("tests/fixtures").join(folder);
    let entries = fs::read_dir(&folder).expect("the fixtures are there");
    let mut tables: Vec<_> = entries
        .map(|entry| entry.expect("a fixture").path())
        .map(|path| {
            let name = path.file_stem().expect("a name").to_string_lossy();
            (name.into_owned(), read(&path))
        })
        .collect();
    tables.sort();
    assert!(!tables.is_empty());
    tables
}

#[test]
fn tables_that_the_parser_reads_are_valid() {
    let validator = validator();
    let mut tables = tables("pass");
    tables.push(("the table".into(), read(&workspace().join("op-spec.toml"))));
    for (name, table) in tables {
        assert!(parse(&table).diagnostics.is_empty(), "{name}");
        assert_eq!(mistakes(&validator, &table), Vec::<String>::new(), "{name}");
    }
}

/// A schema sees one value at a time: what is left to the parser is about several, or about quotes.
#[test]
fn tables_that_only_the_parser_refuses() {
    let validator = validator();
    let passed = tables("fail")
        .into_iter()
        .filter(|(_, table)| mistakes(&validator, table).is_empty())
        .map(|(name, _)| name);
    snapshot(
        "tables_that_only_the_parser_refuses",
        passed.collect::<Vec<_>>().join("\n"),
    );
}

const GROUP: &str = "[base]\nir = 'BaseOperationIr'\narms = { float = 'BaseFloat(op)' }\n\
                     call = '{kind}_{method}'\n[base.ops]\n";

#[test]
fn unknown_keys_are_refused_by_both() {
    let validator = validator();
    let row = "sig = 'UnaryOpIr: abs(input: T) -> out: T'";
    for (known, unknown) in [
        ("[base]", "key = 'x'\n[base]"),
        (
            "ir = 'BaseOperationIr'",
            "ir = 'BaseOperationIr'\nirr = 'BaseOperationIr'",
        ),
        ("{ float =", "{ flot ="),
        (row, &format!("{row}, why = 'x'")),
        ("Abs =", "Abs.flot ="),
        ("Abs = {", "Abs.float.float = {"),
    ] {
        let table = format!("{GROUP}Abs = {{ {row} }}\n");
        assert_eq!(mistakes(&validator, &table), Vec::<String>::new());
        assert_eq!(table.matches(known).count(), 1, "{known}");
        let table = table.replace(known, unknown);
        assert!(!parse(&table).diagnostics.is_empty(), "{table}");
        assert!(!mistakes(&validator, &table).is_empty(), "{table}");
    }
}

/// The regular expression of a row and the parser of rows: the same verdict on every row of the
/// table, and on every row with a token left out, doubled or in another's place.
#[test]
fn the_language_of_rows_is_the_parsers() {
    let validator = validator();
    let table = read(&workspace().join("op-spec.toml"));
    let mut verdicts = [0; 2];
    let rows = table.lines().filter(|line| !line.starts_with('#'));
    let rows = rows.filter_map(|line| line.split('\'').nth(1));
    for row in rows.filter(|row| row.contains("->")) {
        let tokens = tokens(row);
        let mut rows = vec![row.to_string()];
        for at in 0..tokens.len() {
            let (before, rest) = tokens.split_at(at);
            rows.push([before, &rest[1..]].concat().concat());
            rows.push([before, &rest[..1], rest].concat().concat());
            if at > 0 {
                let swapped = [&before[..at - 1], &rest[..1], &before[at - 1..], &rest[1..]];
                rows.push(swapped.concat().concat());
            }
        }
        for row in rows {
            let table = format!("{GROUP}Abs = '{row}'\n");
            let parsed = parse(&table).table;
            let is_row = parsed.groups.iter().flat_map(|group| &group.rows);
            let is_row = is_row.map(|row| row.body.is_some()).next();
            let is_valid = mistakes(&validator, &table).is_empty();
            assert_eq!(is_row, Some(is_valid), "{row}");
            verdicts[usize::from(is_valid)] += 1;
        }
    }
    assert!(verdicts.iter().all(|count| *count > 500), "{verdicts:?}");
}

/// Words, and everything else by character.
fn tokens(row: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut tokens = Vec::new();
    let mut rest = row;
    while !rest.is_empty() {
        let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len()).max(1);
        let (token, left) = rest.split_at(word);
        tokens.push(token);
        rest = left;
    }
    tokens
}
