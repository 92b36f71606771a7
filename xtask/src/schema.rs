//! The JSON schema of the table, for editors: it completes and explains the keys, and refuses what
//! the parser refuses as far as a schema can.
//!
//! Its keys are the parser's own. The language of a row is written once more here, as a regular
//! expression; a test holds both against each other.

use burn_op_spec::keys::{
    CHECKS_KEY, FIELD_KINDS, GROUP_KEYS, KIND_KEYS, Key, ROW_KEYS, SUFFIX_KEYS,
};
use serde_json::{Map, Value, json};

/// Where the schema is, as the first line of the table says.
pub(crate) const SCHEMA: &str = "interpreter-macros/spec/op-spec.schema.json";

/// The schema as a file.
pub(crate) fn text() -> String {
    format!("{:#}\n", schema())
}

fn schema() -> Value {
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$comment": "Written by `cargo xtask docs`; do not edit.",
        "title": "Table of operations",
        "description": "One row an operation of `burn_ir::OperationIr`: the backend call it makes.",
        "type": "object",
        "properties": {
            (CHECKS_KEY.name): {
                "description": CHECKS_KEY.about,
                "type": "object",
                "additionalProperties": { "type": "string", "pattern": checks_of_struct() },
            },
        },
        "additionalProperties": { "$ref": "#/definitions/group" },
        "definitions": {
            "group": group(),
            "row": {
                "anyOf": [
                    { "$ref": "#/definitions/signature" },
                    { "$ref": "#/definitions/exception" },
                    {
                        "type": "object",
                        "minProperties": 1,
                        "additionalProperties": false,
                        "properties": properties(&SUFFIX_KEYS, |_| json!({ "anyOf": [
                            { "$ref": "#/definitions/signature" },
                            { "$ref": "#/definitions/exception" },
                        ] })),
                    },
                ],
            },
            "signature": {
                "description": "The backend call: IrStruct: method(argument, …) -> output, …",
                "type": "string",
                "pattern": signature(),
            },
            "exception": {
                "type": "object",
                "required": ["sig"],
                "not": { "required": ["custom", "unsupported"] },
                "additionalProperties": false,
                "properties": properties(&ROW_KEYS, |name| match name {
                    "sig" => json!({ "$ref": "#/definitions/signature" }),
                    _ => json!({ "type": "string", "pattern": r"\S" }),
                }),
            },
            "pattern": { "type": "string", "pattern": pattern() },
        },
    })
}

fn group() -> Value {
    let one = json!({ "$ref": "#/definitions/pattern" });
    let by_kind = json!({
        "type": "object",
        "additionalProperties": false,
        "properties": properties(&KIND_KEYS, |_| one.clone()),
    });
    json!({
        "type": "object",
        "required": ["ir"],
        "not": { "required": ["arm", "arms"] },
        "additionalProperties": false,
        "properties": properties(&GROUP_KEYS, |name| match name {
            "ir" => json!({ "type": "string", "pattern": "OperationIr$" }),
            "arm" | "arms" => json!({ "anyOf": [one.clone(), by_kind.clone()] }),
            "call" => json!({ "type": "string" }),
            _ => json!({
                "type": "object",
                "additionalProperties": { "$ref": "#/definitions/row" },
            }),
        }),
    })
}

/// The keys with their schemas and what they say.
fn properties(keys: &[Key], schema: impl Fn(&str) -> Value) -> Value {
    let entries = keys.iter().map(|key| {
        // Beside a `$ref` a description counts for nothing.
        let schema = json!({ "description": key.about, "allOf": [schema(key.name)] });
        (key.name.to_string(), schema)
    });
    Value::Object(entries.collect::<Map<_, _>>())
}

const NAME: &str = "[A-Za-z_][A-Za-z0-9_]*";

/// `(float|int|…)`
fn kind() -> String {
    format!("({})", FIELD_KINDS.map(|kind| kind.name).join("|"))
}

fn list(item: &str) -> String {
    format!(r"{item}(\s*,\s*{item})*")
}

/// `'(' ')' | check {',' check}`
fn checks() -> String {
    let check = format!(r"{NAME}\s*\(\s*{}\s*\)", list(NAME));
    format!(r"(\(\s*\)|{})", list(&check))
}

/// The checks of an IR struct.
fn checks_of_struct() -> String {
    format!(r"^\s*{}\s*$", checks())
}

/// `[IrStruct ':'] [method] '(' [arg {',' arg}] [';' name {',' name}] ')' '->' outputs
/// ['where' checks]`
fn signature() -> String {
    let suffix = r"\.\s*(shape|dtype|(into|elem)\s*\(\s*\))";
    let kind = kind();
    let tensor = format!(r"(\.\s*{NAME}\s*)?:\s*{kind}(\s*(\?|\[\s*\]))?");
    let value = format!(r"(&\s*{NAME}|{NAME}(\s*({tensor}|{suffix}))?)");
    let args = list(&format!(r"({NAME}\s*=\s*)?{value}"));
    let unused = format!(r";\s*{}", list(NAME));
    let outputs = list(&format!(r"{NAME}\s*:\s*{kind}(\s*\?)?"));
    format!(
        r"^\s*({NAME}\s*:\s*)?({NAME}\s*)?\(\s*({args}(\s*{unused})?|{unused})?\s*\)\s*->\s*(\(\s*\)|{outputs})(\s*\bwhere\b\s*{})?\s*$",
        checks()
    )
}

/// `Variant '(' ('_' | 'op') {',' ('_' | 'op')} ')'`, with one `op`.
fn pattern() -> String {
    format!(r"^\s*{NAME}\s*\(\s*(_\s*,\s*)*op\s*(,\s*_\s*)*\)\s*$")
}
