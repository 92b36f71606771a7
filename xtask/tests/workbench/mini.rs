//! Every command on a workspace in miniature, and everything that can be wrong there.

use std::io::Read;
use std::process::Stdio;

use crate::support::{Scratch, read, run, snapshot, workspace, xtask};

/// The commands, as `--help` lists them.
fn commands() -> Vec<String> {
    let help = run("--help").stdout;
    let list = help
        .split_once("Commands:\n")
        .and_then(|(_, rest)| rest.split_once("\n\n"));
    let (list, _) = list.expect("the help lists the commands");
    let names = list
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next());
    names
        .filter(|name| *name != "help")
        .map(String::from)
        .collect()
}

#[test]
fn help() {
    for command in commands() {
        let help = run(&format!("{command} --help"));
        assert_eq!(help.code, Some(0), "{help}");
        assert!(help.stdout.contains("Example"), "{help}");
        snapshot(&format!("help_{command}"), help);
    }
}

/// The README names every command.
#[test]
fn readme_names_the_commands() {
    let readme = read(&workspace().join("README.md"));
    let row = readme.lines().find(|line| line.starts_with("| `xtask` |"));
    let row = row.expect("the README has the row");
    for command in commands() {
        assert!(row.contains(&command), "{command} is not in {row}");
    }
}

#[test]
fn list() {
    let scratch = Scratch::mini("list");
    snapshot("list", scratch.run("list"));
    snapshot(
        "list_filtered",
        scratch.run("list --kind int --status call"),
    );
    snapshot("list_json", scratch.run("list --format json sort"));
    snapshot("list_markdown", scratch.run("list --format markdown sum"));
    snapshot("list_nothing", scratch.run("list nothing"));
}

#[test]
fn show() {
    let scratch = Scratch::mini("show");
    for (name, what) in [
        ("show_all_kinds", "Powi"),
        ("show_call", "float.Hypot"),
        ("show_custom", "Sort"),
        ("show_unsupported", "numeric.Sum.int"),
    ] {
        snapshot(name, scratch.run(&format!("show {what}")));
    }
}

/// All names of an operation lead to it.
#[test]
fn names_of_an_operation() {
    let scratch = Scratch::mini("names");
    for name in [
        "Powi",
        "numeric.Powi",
        "numeric.Powi.float",
        "float_powi",
        "numeric_float_powi",
    ] {
        let shown = scratch.run(&format!("show {name}")).stdout;
        assert!(shown.contains("fn numeric_float_powi<"), "{name}: {shown}");
    }
}

#[test]
fn docs() {
    let scratch = Scratch::mini("docs");
    assert_eq!(scratch.run("docs --check").code, Some(0));
    snapshot("ops", scratch.read("OPS.md"));
    snapshot("counts", scratch.read("README.md"));
    scratch.edit("OPS.md", "| `Exp` |", "| `Expp` |");
    scratch.edit("README.md", "10 rows", "11 rows");
    scratch.write("interpreter-macros/spec/op-spec.schema.json", "{}");
    snapshot("docs_outdated", scratch.run("docs --check"));
    snapshot("docs_written", scratch.run("docs"));
    assert_eq!(scratch.run("docs --check").code, Some(0));
    scratch.edit("README.md", "<!-- /counts -->", "");
    snapshot("docs_without_a_place", scratch.run("docs"));
}

#[test]
fn diff() {
    let scratch = Scratch::mini("diff");
    snapshot("diff", scratch.run("diff 2.0.0"));
    snapshot("diff_of_nothing", scratch.run("diff 1.0.0 1.0.0"));
}

#[test]
fn upgrade() {
    let scratch = Scratch::mini("upgrade");
    let before = scratch.read("op-spec.toml");
    snapshot("upgrade", scratch.run("upgrade 2.0.0"));
    snapshot("upgraded", scratch.read("target/op-spec-2.0.0.toml"));
    assert_eq!(scratch.read("op-spec.toml"), before);
}

#[test]
fn new_op() {
    let scratch = Scratch::mini("new_op");
    let table = scratch.read("op-spec.toml");
    let row = "Hypot     = 'BinaryOpIr: float_hypot(lhs: float, rhs: float) -> out: float'\n";
    scratch.edit("op-spec.toml", row, "");
    scratch.edit(
        "tests/tests/differential/float.rs",
        ", binary(Float::Hypot)",
        "",
    );
    snapshot("new_op_dry", scratch.run("new-op Hypot --dry-run"));
    assert!(!scratch.read("op-spec.toml").contains("Hypot"));
    snapshot("new_op", scratch.run("new-op float.Hypot"));
    assert_eq!(scratch.read("op-spec.toml"), table);
    snapshot(
        "new_op_case",
        scratch.read("tests/tests/differential/float.rs"),
    );
    snapshot(
        "new_op_list",
        scratch.read("tests/tests/differential/main.rs"),
    );
}

/// The case that is there stays.
#[test]
fn new_op_with_a_case() {
    let scratch = Scratch::mini("new_op_with_a_case");
    let row = "Exp       = 'UnaryOpIr: float_exp(input: float) -> out: float'\n";
    scratch.edit("op-spec.toml", row, "");
    snapshot("new_op_with_a_case", scratch.run("new-op Exp"));
}

/// Boxed structs, structs with a `create` of their own, methods that return a struct.
#[test]
fn new_op_with_a_body() {
    let scratch = Scratch::mini("new_op_with_a_body");
    let table = scratch.read("op-spec.toml");
    let row = table.lines().find(|line| line.starts_with("Sort "));
    let row = row.expect("the row").to_string() + "\n";
    scratch.edit("op-spec.toml", &row, "");
    snapshot("new_op_with_a_body", scratch.run("new-op Sort"));
    assert_eq!(scratch.read("op-spec.toml"), table);
}

#[test]
fn new_op_without_a_method() {
    let scratch = Scratch::mini("new_op_without_a_method");
    scratch.edit(
        "op-spec.toml",
        "Sum.float = 'UnaryOpIr: sum(input: T) -> out: T'\n",
        "",
    );
    let unsupported = "Sum.int   = { sig = 'UnaryOpIr: (input: T) -> out: T', unsupported = \
                       'burn-backend has no `int_sum`' }\n";
    scratch.edit("op-spec.toml", unsupported, "");
    snapshot("new_op_without_a_method", scratch.run("new-op Sum"));
}

/// What names and types do not settle is marked.
#[test]
fn new_op_with_doubts() {
    let scratch = Scratch::mini("new_op_with_doubts");
    scratch.edit("Cargo.toml", "=1.0.0", "=2.0.0");
    snapshot("new_op_with_doubts", scratch.run("new-op Rotate"));
}

/// Without a suite that a tool knows its way in, the stub is shown only.
#[test]
fn new_op_without_a_suite() {
    let scratch = Scratch::mini("new_op_without_a_suite");
    scratch.edit("Cargo.toml", "=1.0.0", "=2.0.0");
    scratch.edit("tests/tests/differential/main.rs", "fn cases", "fn all");
    snapshot("new_op_without_a_suite", scratch.run("new-op Fmod"));
    assert!(
        !scratch
            .read("tests/tests/differential/float.rs")
            .contains("fmod")
    );
}

#[test]
fn wrong_use() {
    assert_eq!(run("").code, Some(2));
    let scratch = Scratch::mini("wrong_use");
    for (name, arguments) in [
        ("use_unknown_command", "chekc"),
        ("use_unknown_flag", "list --kind flaot"),
        ("use_unknown_group", "list --group flaot"),
        ("use_show_typo", "show Pwi"),
        ("use_show_nothing_near", "show Convolution"),
        ("use_new_op_with_a_row", "new-op Exp"),
        ("use_new_op_all_have_rows", "new-op Fmod"),
        ("use_version", "diff two"),
        ("use_unknown_version", "diff 3.0.0"),
        ("use_upgrade_unknown_version", "upgrade 3.0.0"),
    ] {
        let run = scratch.run(arguments);
        assert_eq!(run.code, Some(2), "{run}");
        insta::with_settings!({ filters => vec![(r"`[^`]*/fixtures", "`…/fixtures")] }, {
            snapshot(name, run);
        });
    }
    scratch.edit("Cargo.toml", "=1.0.0", "=2.0.0");
    snapshot("use_new_op_typo", scratch.run("new-op Fmodd"));
    snapshot("use_new_op_unknown", scratch.run("new-op Convolution"));
}

/// What a command needs and does not find.
#[test]
fn missing_files() {
    for (name, file, text) in [
        ("missing_pin", "Cargo.toml", "[workspace]\n"),
        ("missing_manifest", "Cargo.toml", "[workspace\n"),
        (
            "missing_version",
            "Cargo.toml",
            "[workspace.dependencies]\nburn-ir = { version = 'x' }\n",
        ),
        ("missing_rust", "interpreter/src/custom/bodies.rs", "fn ("),
    ] {
        let scratch = Scratch::mini(name);
        scratch.write(file, text);
        let run = scratch.run("check");
        assert_eq!(run.code, Some(2), "{run}");
        snapshot(name, run);
    }
    let run = run("check --root /nowhere");
    assert_eq!(run.code, Some(2), "{run}");
    snapshot("missing_workspace", run);
}

/// A command that needs a table free of mistakes shows the mistakes.
#[test]
fn mistakes_stop_a_command() {
    let scratch = Scratch::mini("mistakes");
    scratch.edit(
        "op-spec.toml",
        "float_exp(input: float)",
        "float_exp(input: flaot)",
    );
    let before = scratch.read("op-spec.toml");
    snapshot("mistakes", scratch.run("show Exp"));
    for command in ["list", "new-op Fmod", "diff 2.0.0", "upgrade 2.0.0", "docs"] {
        let run = scratch.run(command);
        assert_eq!(run.code, Some(1), "{run}");
        assert!(run.text().contains("unknown tensor kind `flaot`"), "{run}");
    }
    assert_eq!(scratch.read("op-spec.toml"), before);
}

/// A reader that leaves early is no error.
#[test]
fn closed_pipes() {
    for command in [
        "list",
        "show Powi",
        "check --format json",
        "list --format json",
    ] {
        let mut child = xtask(command)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the workbench runs");
        drop(child.stdout.take());
        let mut stderr = String::new();
        let mut pipe = child.stderr.take().expect("a pipe");
        pipe.read_to_string(&mut stderr).expect("text");
        let status = child.wait().expect("it ends");
        assert_eq!(status.code(), Some(0), "{command}: {stderr}");
        assert!(!stderr.contains("panicked"), "{command}: {stderr}");
    }
}

/// Colours reach terminals only, unless they are asked for.
#[test]
fn colours() {
    for command in ["list powi", "show Powi", "show Pwi", "check --format human"] {
        let plain = run(command).text();
        assert!(!plain.contains('\u{1b}'), "{command}: {plain}");
    }
    for command in ["list powi", "show Pwi", "show Powi"] {
        let output = xtask(command)
            .env_remove("NO_COLOR")
            .env("CLICOLOR_FORCE", "1")
            .output()
            .expect("the workbench runs");
        let text = [output.stdout, output.stderr].concat();
        assert!(text.contains(&0x1b), "{command}");
    }
}
