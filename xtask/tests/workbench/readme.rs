//! The steps of the README's "Add an operation", on a scratch copy.

use crate::support::{Run, Scratch, read, workspace};

/// A text of the README between ```` ``` ````, with the words before it.
struct Block {
    before: String,
    text: String,
}

/// The section's blocks of text.
fn blocks() -> Vec<Block> {
    let readme = read(&workspace().join("README.md"));
    let section = readme
        .split("\n## ")
        .find(|part| part.starts_with("Add an operation\n"));
    let parts: Vec<&str> = section
        .expect("the README has the section")
        .split("```")
        .collect();
    parts
        .chunks_exact(2)
        .map(|pair| {
            let text = pair[1].strip_prefix("text").expect("a block is ```text");
            let lines: Vec<_> = text.lines().map(str::trim).collect();
            Block {
                before: pair[0].split_whitespace().collect::<Vec<_>>().join(" "),
                text: lines.join("\n").trim().into(),
            }
        })
        .collect()
}

/// The block that follows these words.
fn block<'b>(blocks: &'b [Block], words: &str) -> &'b str {
    let mut blocks = blocks.iter().filter(|block| block.before.contains(words));
    let block = blocks
        .next()
        .unwrap_or_else(|| panic!("no block follows `{words}`"));
    &block.text
}

/// Each line of a block is a line of what the command wrote, in this order, but for blanks.
fn assert_says(run: &Run, block: &str) {
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = run.text();
    let mut lines = text.lines().map(words);
    for line in block.lines().map(words) {
        assert!(
            lines.any(|said| said == line),
            "`{line}` is not said by {run}"
        );
    }
}

/// Take the example's operation out: its row, which is given back, and its case.
fn take_out(scratch: &Scratch) -> String {
    let table = scratch.read("op-spec.toml");
    let row = table.lines().find(|line| line.starts_with("Hypot "));
    let row = row.expect("the row of the example").to_string();
    scratch.edit("op-spec.toml", &format!("{row}\n"), "");
    scratch.edit("tests/tests/differential/float.rs", CASE, "");
    row
}

const CASE: &str = "        binary(Float::Hypot),\n        both(Float::Hypot),\n";

#[test]
fn add_an_operation() {
    let blocks = blocks();
    let scratch = Scratch::real("readme");
    let table = scratch.read("op-spec.toml");
    let row = take_out(&scratch);

    let check = scratch.run("check");
    assert_eq!(check.code, Some(1), "{check}");
    assert_says(&check, block(&blocks, "`cargo xtask check` also says"));

    let new_op = scratch.run("new-op float.Hypot");
    assert_eq!(new_op.code, Some(0), "{new_op}");
    assert_says(
        &new_op,
        block(&blocks, "`cargo xtask new-op float.Hypot` writes"),
    );
    assert_eq!(scratch.read("op-spec.toml"), table);
    let case = scratch.read("tests/tests/differential/float.rs");
    assert!(case.contains("pub(crate) fn hypot_cases()"), "{new_op}");
    assert!(case.contains("FloatOperationIr::Hypot("), "{case}");
    let list = scratch.read("tests/tests/differential/main.rs");
    assert!(list.contains("        float::hypot_cases(),\n"), "{list}");

    scratch.edit("op-spec.toml", &row, &row.replace("rhs", "rsh"));
    let check = scratch.run("check");
    assert_eq!(check.code, Some(1), "{check}");
    assert_says(&check, block(&blocks, "with `rsh` for `rhs`:"));

    let swapped = row.replace("lhs: float, rhs: float", "rhs: float, lhs: float");
    scratch.edit("op-spec.toml", &row.replace("rhs", "rsh"), &swapped);
    let check = scratch.run("check");
    assert!(
        check.text().contains("is passed for the parameter"),
        "{check}"
    );

    scratch.edit("op-spec.toml", &swapped, &row);
    assert_eq!(scratch.run("check").code, Some(0));
    let show = scratch.run("show float.Hypot");
    assert!(
        show.stdout.contains("tests/tests/differential/float.rs:"),
        "{show}"
    );
    let docs = scratch.run("docs --check");
    assert_eq!(docs.code, Some(0), "{docs}");
}

/// The steps that compile the runtime and its tests.
#[test]
#[ignore = "takes minutes: compiles a copy of the workspace"]
fn add_an_operation_and_compile() {
    let blocks = blocks();
    let scratch = Scratch::whole("readme_whole");
    let row = take_out(&scratch);
    let check = scratch.cargo("check -p burn-interpreter");
    assert_says(&check, block(&blocks, "`cargo check` names"));
    assert!(
        check.stderr.contains("`cargo xtask check` names the row"),
        "{check}"
    );

    let new_op = scratch.run("new-op float.Hypot");
    assert_eq!(new_op.code, Some(0), "{new_op}");
    let test = scratch.cargo("test -p interpreter-tests --test differential --test generated");
    assert_eq!(test.code, Some(0), "{test}");

    let suite = "tests/tests/differential/main.rs";
    scratch.edit(suite, "        float::hypot_cases(),\n", "");
    let test = scratch.cargo("test -p interpreter-tests --test differential every_row");
    assert_eq!(test.code, Some(101), "{test}");
    assert_says(&test, block(&blocks, "Without one"));

    // A type error of the row: rustc names the method, the check the row.
    scratch.edit("op-spec.toml", &row, &row.replace("lhs: float", "lhs: int"));
    let check = scratch.cargo("check -p burn-interpreter");
    assert!(check.stderr.contains("fn float_hypot("), "{check}");
    assert!(
        check.stderr.contains("`cargo xtask check` names the row"),
        "{check}"
    );
    let check = scratch.run("check");
    assert!(
        check.stdout.contains("this is no `FloatTensor<B>`"),
        "{check}"
    );
    assert!(
        check
            .stdout
            .contains(&row.replace("lhs: float", "lhs: int")),
        "{check}"
    );
}
