//! The tests that cover a row.
//!
//! Cases take their names from values, so a row is found by the constructor of its variant, such as
//! `Numeric::Powi`, under whatever name a file knows the enum; or by its name in quotes.

use std::fs;
use std::path::Path;

use burn_op_spec::Operation;
use proc_macro2::{TokenStream, TokenTree};

use crate::workspace::Workspace;

/// Where the tests are.
const TESTS: &str = "tests/tests";

/// A line of the tests.
pub(crate) struct Mention {
    /// The file, as it is shown.
    pub(crate) file: String,
    pub(crate) line: usize,
    text: String,
}

/// `tests/tests/differential/numeric.rs:102: Numeric::Powi(BinaryOpIr::create(…`
impl std::fmt::Display for Mention {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.text)
    }
}

/// The lines that build the row's variant or name one of its operations, and the snapshot with the
/// function of each.
pub(crate) fn mentions(
    workspace: &Workspace,
    operations: &[Operation<'_>],
) -> Result<Vec<Mention>, String> {
    let Some(first) = operations.first() else {
        return Ok(Vec::new());
    };
    let names: Vec<String> = operations.iter().map(Operation::name).collect();
    let functions: Vec<String> = operations.iter().map(Operation::function).collect();
    let group = &*first.group.name;
    let snapshot = format!("group_{group}.snap");
    let mut found = Vec::new();
    for (path, shown) in files(&workspace.root().join(TESTS), TESTS) {
        let read = || {
            fs::read_to_string(&path)
                .map_err(|cause| format!("cannot read `{}`: {cause}", path.display()))
        };
        let lines = if shown.ends_with(".rs") {
            constructions(&read()?, &first.group.ir, &first.row.variant, &names)
                .map_err(|cause| format!("{shown} is not Rust: {cause}"))?
        } else if shown.ends_with(&snapshot) {
            let is_one = |line: &str| {
                let name = line
                    .strip_prefix("fn ")
                    .and_then(|rest| rest.split('<').next());
                name.is_some_and(|name| functions.iter().any(|function| function == name))
            };
            let source = read()?;
            let lines = source.lines().enumerate();
            lines
                .filter(|(_, line)| is_one(line))
                .map(|(line, text)| (line + 1, text.into()))
                .collect()
        } else {
            continue;
        };
        found.extend(lines.into_iter().map(|(line, text)| Mention {
            file: shown.clone(),
            line,
            text,
        }));
    }
    Ok(found)
}

/// The files below `folder`, in the order of their names, with the path that is shown.
fn files(folder: &Path, shown: &str) -> Vec<(std::path::PathBuf, String)> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let shown = format!("{shown}/{name}");
        match path.is_dir() {
            true => found.extend(files(&path, &shown)),
            false => found.push((path, shown)),
        }
    }
    found
}

/// The lines of a source that build `ir::variant` or quote one of `names`.
fn constructions(
    source: &str,
    ir: &str,
    variant: &str,
    names: &[String],
) -> Result<Vec<(usize, String)>, proc_macro2::LexError> {
    let mut tokens = Vec::new();
    flatten(source.parse()?, &mut tokens);
    let text = |position: usize| tokens.get(position).map_or("", |(text, _)| text.as_str());
    let aliases: Vec<&str> = (0..tokens.len())
        .filter(|at| text(*at) == ir && text(at + 1) == "as")
        .map(|at| text(at + 2))
        .chain([ir])
        .collect();
    let mut lines: Vec<usize> = Vec::new();
    for (at, (token, line)) in tokens.iter().enumerate() {
        let is_variant = aliases.contains(&token.as_str())
            && [":", ":", variant] == [text(at + 1), text(at + 2), text(at + 3)];
        let quoted = token
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'));
        let is_name = quoted.is_some_and(|quoted| names.iter().any(|name| name == quoted));
        if (is_variant || is_name) && lines.last() != Some(line) {
            lines.push(*line);
        }
    }
    let line = |line: usize| source.lines().nth(line - 1).unwrap_or_default().trim();
    Ok(lines.into_iter().map(|at| (at, line(at).into())).collect())
}

/// All tokens with their lines, those of groups among them: macros hide calls from a parser.
fn flatten(stream: TokenStream, tokens: &mut Vec<(String, usize)>) {
    for token in stream {
        match token {
            TokenTree::Group(group) => flatten(group.stream(), tokens),
            other => tokens.push((other.to_string(), other.span().start().line)),
        }
    }
}
