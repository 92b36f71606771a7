//! The commands on the table of this workspace, and from Burn 0.22.1 to 0.23.0-pre.1.

use std::collections::BTreeSet;
use std::path::Path;

use crate::support::{Run, Scratch, fixtures, read, run, snapshot, workspace};

/// Snapshots without the lines of files that change with every operation.
fn without_lines(name: &str, run: Run) {
    insta::with_settings!({ filters => vec![
        (r"op-spec\.toml:\d+", "op-spec.toml:LINE"),
        (r"(tests/tests/\S+):\d+: .*", "$1:LINE"),
    ] }, {
        snapshot(name, run);
    });
}

#[test]
fn the_table_is_clean() {
    let run = run("check");
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stderr.contains("no findings"), "{run}");
}

#[test]
fn generated_files_are_up_to_date() {
    let run = run("docs --check");
    assert_eq!(run.code, Some(0), "{run}");
}

#[test]
fn list() {
    without_lines("real_list", run("list powi"));
    snapshot(
        "real_list_unsupported",
        run("list --status unsupported --group base"),
    );
}

#[test]
fn show() {
    without_lines("real_show", run("show numeric.Powi"));
}

/// A type error leads back to the row: the function is called like the operation, and its
/// documentation says the line.
#[test]
fn every_function_says_its_row() {
    let source = read(&workspace().join("op-spec.toml"));
    let parsed = burn_op_spec::parse(&source);
    for operation in parsed.table.operations() {
        let code = burn_op_spec::emit::executor(operation).to_string();
        if code.is_empty() {
            continue;
        }
        let row = source
            .lines()
            .nth(operation.row.line - 1)
            .unwrap_or_default();
        assert!(row.starts_with(&*operation.row.variant), "{row}");
        let place = format!("op-spec.toml:{}\"", operation.row.line);
        assert!(code.contains(&place), "{place} in {code}");
        assert!(
            code.contains(&format!("fn {} ", operation.function())),
            "{code}"
        );
    }
}

const NEXT: &str = "0.23.0-pre.1";

#[test]
fn diff() {
    without_lines("real_diff", run(&format!("diff {NEXT}")));
}

/// The rows that change with the next version, as a person wrote them, beside those of `upgrade`.
#[test]
fn upgrade() {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("upgraded.toml");
    let run = run(&format!("upgrade {NEXT} --out {}", out.display()));
    assert_eq!(run.code, Some(1), "{run}");

    let rows = |text: &str| -> BTreeSet<String> {
        let rows = text
            .lines()
            .filter(|line| line.contains("->") && !line.starts_with('#'));
        rows.map(|row| row.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect()
    };
    let before = rows(&read(&workspace().join("op-spec.toml")));
    let after = rows(&read(&out));
    let wanted = rows(&read(&fixtures().join(format!("{NEXT}.toml"))));
    let written: BTreeSet<_> = after.difference(&before).cloned().collect();
    let right = written.intersection(&wanted).count();
    let wrong: Vec<_> = written.symmetric_difference(&wanted).cloned().collect();
    let gone: Vec<_> = before.difference(&after).cloned().collect();
    snapshot(
        "real_upgrade",
        format!(
            "{right} of {} rows are right without an edit\n\nwrong or missing:\n{}\n\ngone:\n{}",
            wanted.len(),
            wrong.join("\n"),
            gone.join("\n")
        ),
    );
}

/// A header that is wrong is one mistake: what it hides is not told.
#[test]
fn a_wrong_header_is_one_finding() {
    let scratch = Scratch::real("headers");
    let table = scratch.read("op-spec.toml");
    let headers = table.lines().filter(|line| line.starts_with('['));
    let headers: Vec<_> = headers.map(str::to_owned).collect();
    assert!(headers.len() > 10, "{headers:?}");
    for (position, header) in headers.iter().enumerate() {
        // Misspelt, or another's.
        let wrong = match position % 2 {
            0 => format!("[{}", &header[2..]),
            _ => headers[(position + 5) % headers.len()].clone(),
        };
        let (right, wrong) = (format!("\n{header}\n"), format!("\n{wrong}\n"));
        scratch.edit("op-spec.toml", &right, &wrong);
        let check = scratch.run("check");
        let text = check.text();
        let findings = text.lines().filter(|line| line.starts_with("error"));
        assert_eq!(findings.count(), 1, "{wrong}: {check}");
        scratch.write("op-spec.toml", &table);
    }
}
