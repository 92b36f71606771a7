//! Tables that must fail, each with its message: what is wrong, where, and what to do.

use std::fs;

fn messages(source: &str) -> Vec<String> {
    let parsed = burn_op_spec::parse(source);
    let render = |diagnostic: &burn_op_spec::Diagnostic| diagnostic.render("op-spec.toml", source);
    parsed.diagnostics.iter().map(render).collect()
}

/// B19: unknown keys, kinds and suffixes, rows that are twice there, and all else.
#[test]
fn broken_tables() {
    insta::glob!("../fixtures/fail", "*.toml", |path| {
        let source = fs::read_to_string(path).expect("the fixture can be read");
        let name = path
            .file_stem()
            .expect("a fixture has a name")
            .to_string_lossy();
        let messages = messages(&source);
        assert!(!messages.is_empty(), "{name} has no mistakes");
        insta::with_settings!({
            omit_expression => true,
            prepend_module_to_snapshot => false,
        }, {
            insta::assert_snapshot!("broken", messages.join("\n\n"));
        });
    });
}

const GOOD: &str = "[bool]\nir = 'BoolOperationIr'\narm = 'Bool(op)'\n\n[bool.ops]\n\
                    Not = 'UnaryOpIr: bool_not(input: bool) -> out: bool'\n";

#[test]
fn b88_line_ends_of_windows_and_a_byte_order_mark_are_fine() {
    assert_eq!(messages(GOOD), Vec::<String>::new());
    assert_eq!(messages(&GOOD.replace('\n', "\r\n")), Vec::<String>::new());
    assert_eq!(messages(&format!("\u{feff}{GOOD}")), Vec::<String>::new());
}

#[test]
fn positions_hold_with_line_ends_of_windows_and_a_byte_order_mark() {
    let broken = GOOD.replace("input: bool", "input: boll");
    let place = "--> op-spec.toml:6:35";
    for source in [
        broken.clone(),
        broken.replace('\n', "\r\n"),
        format!("\u{feff}{broken}"),
    ] {
        let messages = messages(&source);
        assert_eq!(messages.len(), 1);
        assert!(messages[0].contains(place), "{}", messages[0]);
    }
}

/// Whatever the text, reading it ends in a table or in messages that point into it.
#[test]
fn no_text_is_too_broken() {
    let table = include_str!("../../op-spec.toml");
    let start = table.find("[base]").expect("the table has a group");
    for (cut, _) in table
        .char_indices()
        .filter(|(at, _)| *at >= start)
        .step_by(61)
    {
        let torn = &table[..cut];
        for diagnostic in burn_op_spec::parse(torn).diagnostics {
            assert!(diagnostic.span.start <= torn.len());
            assert!(!diagnostic.render("op-spec.toml", torn).is_empty());
        }
    }
}
