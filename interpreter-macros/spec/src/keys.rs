//! The keys of the table, each with what it says: what the reader accepts and what an editor
//! completes.

/// A key of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// How it is written.
    pub name: &'static str,
    /// What it says.
    pub about: &'static str,
}

const fn key(name: &'static str, about: &'static str) -> Key {
    Key { name, about }
}

/// The key beside the groups.
pub const CHECKS_KEY: Key = key(
    "where",
    "What must hold before a backend is called, by IR struct: functions of \
     interpreter/src/check.rs with fields of the struct.",
);

/// The keys of a group.
pub const GROUP_KEYS: [Key; 5] = [
    key("ir", "The enum of burn-ir; the group is named after it."),
    key("arm", "The variant of `OperationIr` that carries the enum."),
    key(
        "arms",
        "The variants of `OperationIr` that carry the enum, one a kind.",
    ),
    key(
        "call",
        "How a method is spelled out from a row's: `{kind}` and `{method}` are replaced.",
    ),
    key("ops", "The rows, in the order of the enum."),
];

/// The keys of a row with an exception.
pub const ROW_KEYS: [Key; 3] = [
    key("sig", "The call: which tensors are read and written."),
    key(
        "custom",
        "Why the body is written by hand, in interpreter/src/custom/ under the arm's name.",
    ),
    key(
        "unsupported",
        "Why nobody executes the operation: it answers with this reason.",
    ),
];

/// The kinds of tensors.
pub const KIND_KEYS: [Key; 3] = [
    key("float", "For float tensors."),
    key("int", "For int tensors."),
    key("bool", "For bool tensors."),
];

/// The kinds that a row can be for.
pub const SUFFIX_KEYS: [Key; 4] = [
    KIND_KEYS[0],
    KIND_KEYS[1],
    KIND_KEYS[2],
    key("num", "For float and int tensors."),
];

/// The kinds of the tensors in a row.
pub const FIELD_KINDS: [Key; 8] = [
    key("float", "A float tensor; a quantized one is dequantized."),
    key("int", "An int tensor."),
    key("bool", "A bool tensor."),
    key("quantized", "A quantized tensor."),
    key("mixed", "A float tensor, or a quantized one as it is."),
    key("T", "A tensor of the arm's kind."),
    key("Q", "As `T`; a quantized tensor stays quantized."),
    key("Q1", "As `Q`, if the tensor has one scale."),
];

/// The names of some keys.
pub(crate) fn names<const N: usize>(keys: [Key; N]) -> [&'static str; N] {
    keys.map(|key| key.name)
}
