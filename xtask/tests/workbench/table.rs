//! Everything that `check` finds, one mistake at a time, in the table in miniature.

use crate::support::{Scratch, snapshot};

/// A name, what to replace in the table, and with what.
type Mistake = (&'static str, &'static str, &'static str);

const MISTAKES: &[Mistake] = &[
    (
        "no_row",
        "Exp       = 'UnaryOpIr: float_exp(input: float) -> out: float'\n",
        "",
    ),
    ("unknown_variant", "Exp       =", "Expp      ="),
    (
        "wrong_order",
        "[float.ops]\nExp       = 'UnaryOpIr: float_exp(input: float) -> out: float'\nHypot     = 'BinaryOpIr: float_hypot(lhs: float, rhs: float) -> out: float'\n",
        "[float.ops]\nHypot     = 'BinaryOpIr: float_hypot(lhs: float, rhs: float) -> out: float'\nExp       = 'UnaryOpIr: float_exp(input: float) -> out: float'\n",
    ),
    (
        "unknown_enum",
        "ir = 'FloatOperationIr'",
        "ir = 'FlotOperationIr'",
    ),
    ("unknown_arm", "arm = 'Float(_, op)'", "arm = 'Flot(_, op)'"),
    (
        "arm_of_another_enum",
        "arm = 'Float(_, op)'",
        "arm = 'NumericInt(_, op)'",
    ),
    (
        "other_struct",
        "'UnaryOpIr: float_exp",
        "'BinaryOpIr: float_exp",
    ),
    (
        "unknown_field",
        "float_hypot(lhs: float, rhs: float)",
        "float_hypot(lhs: float, rsh: float)",
    ),
    (
        "unused_field",
        "float_clamp(tensor: float, min.elem(), max.elem())",
        "float_clamp(tensor: float, min.elem())",
    ),
    (
        "list_of_tensors",
        "float_exp(input: float)",
        "float_exp(input: float[])",
    ),
    ("unknown_method", "float_hypot(", "float_hypott("),
    (
        "arity",
        "float_hypot(lhs: float, rhs: float)",
        "float_hypot(lhs: float; rhs)",
    ),
    ("kind", "float_exp(input: float)", "float_exp(input: int)"),
    (
        "output_kind",
        "float_exp(input: float) -> out: float",
        "float_exp(input: float) -> out: bool",
    ),
    ("swapped", "add(lhs: T, rhs: T)", "add(rhs: T, lhs: T)"),
    (
        "unclear_names",
        "(y = lhs: float, x = rhs: float)",
        "(lhs: float, rhs: float)",
    ),
    (
        "wrong_label",
        "(y = lhs: float, x = rhs: float)",
        "(x = lhs: float, y = rhs: float)",
    ),
    ("conversion", "min.elem(), max.elem()", "min, max.elem()"),
    (
        "custom_that_is_a_call",
        "'UnaryOpIr: float_exp(input: float) -> out: float'",
        "{ sig = 'UnaryOpIr: float_exp(input: float) -> out: float', custom = 'why' }",
    ),
    ("outdated_reason", "no `int_sum`", "no `int_add`"),
    (
        "rows_to_merge",
        "Powi      = 'BinaryOpIr: powi(lhs: T, rhs: int) -> out: T'",
        "Powi.float = 'BinaryOpIr: powi(lhs: float, rhs: int) -> out: float'\nPowi.int  = 'BinaryOpIr: powi(lhs: int, rhs: int) -> out: int'",
    ),
    ("body_with_another_name", "Sort      = {", "Sorts     = {"),
    (
        "unknown_key",
        "arm = 'Float(_, op)'",
        "arms_ = 'Float(_, op)'",
    ),
    (
        "no_schema",
        "#:schema interpreter-macros/spec/op-spec.schema.json\n",
        "",
    ),
    ("not_toml", "[float.ops]", "[float.ops"),
    (
        "all_at_once",
        "float_hypot(lhs: float, rhs: float)",
        "float_hypot(lhs: flaot, rhs: float)",
    ),
];

#[test]
fn mistakes() {
    let scratch = Scratch::mini("table");
    let table = scratch.read("op-spec.toml");
    assert_eq!(scratch.run("check").code, Some(0));
    for (name, from, to) in MISTAKES {
        scratch.edit("op-spec.toml", from, to);
        if *name == "all_at_once" {
            scratch.edit("op-spec.toml", "add(lhs: T", "add(lsh: T");
        }
        let run = scratch.run("check");
        assert_eq!(run.code, Some(1), "{name}: {run}");
        snapshot(&format!("check_{name}"), run);
        scratch.write("op-spec.toml", &table);
        scratch.write("interpreter/op-spec.toml", &table);
    }
}

/// What must hold, for the table in miniature.
const CHECKS: &str = "
[where]
UnaryOpIr  = 'same_shape(input, out)'
BinaryOpIr = 'broadcast(lhs, rhs, out)'
ClampOpIr  = '()'
SortOpIr   = '()'
";

const CHECK_FUNCTIONS: &str = "
pub(crate) fn same_shape(tensor: &TensorIr, other: &TensorIr) -> Outcome {}
pub(crate) fn broadcast(lhs: &TensorIr, rhs: &TensorIr, out: &TensorIr) -> Outcome {}
fn helper() {}
";

#[test]
fn checks() {
    let mistakes: [Mistake; 5] = [
        ("unknown_check", "same_shape(input", "same_shap(input"),
        ("check_with_other_fields", "(lhs, rhs, out)'", "(lhs, rhs)'"),
        (
            "check_of_another_type",
            "ClampOpIr  = '()'",
            "ClampOpIr  = 'same_shape(tensor, min)'",
        ),
        ("struct_without_checks", "ClampOpIr  = '()'\n", ""),
        (
            "check_of_no_row",
            "'broadcast(lhs, rhs, out)'",
            "'same_shape(lhs, out)'",
        ),
    ];
    let scratch = Scratch::mini("checks");
    std::fs::create_dir_all(scratch.root().join("interpreter/src/check")).expect("a folder");
    scratch.write("interpreter/src/check/shapes.rs", CHECK_FUNCTIONS);
    let table = scratch.read("op-spec.toml") + CHECKS;
    for (name, from, to) in mistakes {
        scratch.write("op-spec.toml", &table);
        scratch.write("interpreter/op-spec.toml", &table);
        assert_eq!(scratch.run("check").code, Some(0));
        scratch.edit("op-spec.toml", from, to);
        let run = scratch.run("check");
        assert_eq!(run.code, Some(1), "{name}: {run}");
        snapshot(&format!("check_{name}"), run);
    }
}

#[test]
fn files_that_belong_to_the_table() {
    let scratch = Scratch::mini("files");
    scratch.write("interpreter/op-spec.toml", "");
    scratch.write("interpreter-macros/spec/op-spec.schema.json", "{}");
    scratch.edit(
        "interpreter/src/custom/bodies.rs",
        "fn helper",
        "pub(crate) fn helper",
    );
    snapshot("check_files", scratch.run("check"));
}

#[test]
fn formats() {
    let scratch = Scratch::mini("formats");
    scratch.edit("op-spec.toml", "add(lhs: T, rhs: T)", "add(rhs: T, lhs: T)");
    for format in ["json", "github"] {
        let run = scratch.run(&format!("check --format {format}"));
        assert_eq!(run.code, Some(1), "{run}");
        snapshot(&format!("check_{format}"), run);
    }
    let json = scratch.run("check --format json").stdout;
    serde_json::from_str::<serde_json::Value>(&json).expect("JSON");
}
