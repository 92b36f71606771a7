//! The table as data: groups of rows, each a call with its arguments and outputs.

use std::fmt;
use std::ops::{Deref, Range};

use heck::{ToShoutySnakeCase, ToSnakeCase};

/// A value and the bytes of the table it was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spanned<T> {
    /// What was read.
    pub value: T,
    /// Where it stands.
    pub span: Range<usize>,
}

impl<T> Spanned<T> {
    pub(crate) fn new(value: T, span: Range<usize>) -> Self {
        Self { value, span }
    }
}

impl<T> Deref for Spanned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// The kind of a tensor: which of the backend's primitives it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// `FloatTensor`
    Float,
    /// `IntTensor`
    Int,
    /// `BoolTensor`
    Bool,
    /// `QuantizedTensor`
    Quantized,
}

impl Kind {
    const ALL: [Kind; 4] = [Kind::Float, Kind::Int, Kind::Bool, Kind::Quantized];

    /// The name the table uses.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Float => "float",
            Kind::Int => "int",
            Kind::Bool => "bool",
            Kind::Quantized => "quantized",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The kind of an arm: quantized tensors come with the floats.
    pub(crate) fn of_arm(name: &str) -> Option<Self> {
        Self::from_name(name).filter(|kind| *kind != Kind::Quantized)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The kind of a tensor as a row writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KindRef {
    /// `T`: the kind of the arm.
    Arm,
    /// `Q`: the kind of the arm; where that is float, a quantized tensor stays quantized.
    Kept,
    /// `Q1`: as `Q`, if the tensor has one scale; one that has a scale for each block does not stay.
    KeptWhole,
    /// `mixed`: a float tensor, or a quantized one that the backend takes as it is.
    Mixed,
    /// A kind by name.
    Fixed(Kind),
}

impl KindRef {
    /// How a row writes it.
    pub fn name(self) -> &'static str {
        match self {
            KindRef::Arm => "T",
            KindRef::Kept => "Q",
            KindRef::KeptWhole => "Q1",
            KindRef::Mixed => "mixed",
            KindRef::Fixed(kind) => kind.name(),
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let mut others = [Self::Arm, Self::Kept, Self::KeptWhole, Self::Mixed].into_iter();
        let other = others.find(|other| other.name() == name);
        other.or_else(|| Kind::from_name(name).map(Self::Fixed))
    }

    /// Whether the backend has a call of its own for a quantized tensor.
    pub fn has_quantized_call(self) -> bool {
        matches!(self, Self::Kept | Self::KeptWhole | Self::Mixed)
    }
}

/// How many tensors a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// `name: K`, a `TensorIr`
    One,
    /// `name: K?`, an `Option<TensorIr>`
    Optional,
    /// `name: K[]`, a `Vec<TensorIr>`
    Many,
}

/// How a field of the IR becomes the argument of the backend's method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Convert {
    /// `name`: copied.
    Copy,
    /// `&name`: borrowed.
    Borrow,
    /// `name.into()`: converted into the type of the parameter.
    Into,
    /// `name.elem()`: a scalar as an element of the parameter's type.
    Elem,
}

/// What an output declares about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputFact {
    /// `out.shape`
    Shape,
    /// `out.dtype`
    Dtype,
}

/// A tensor that a row reads or writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The field of the IR struct; `a.b` is the field `b` of its field `a`.
    pub name: Spanned<String>,
    /// The kind of tensor.
    pub kind: Spanned<KindRef>,
    /// How many tensors.
    pub arity: Arity,
}

impl Field {
    /// The name of the tensor itself: `b` of `a.b`.
    pub fn variable(&self) -> &str {
        self.name.rsplit('.').next().unwrap_or(&self.name)
    }
}

/// The field of the IR struct that a field is in, or is: `a` of `a.b`.
pub fn root(field: &str) -> &str {
    field.split('.').next().unwrap_or(field)
}

/// An output of a row.
pub type Output = Field;

/// An argument of the backend's method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arg {
    /// `parameter = …`: the parameter it is for, where the field's name does not tell.
    pub parameter: Option<Spanned<String>>,
    /// What is passed.
    pub value: Value,
    /// Where it stands, without the parameter.
    pub span: Range<usize>,
}

/// What is passed for a parameter of the backend's method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// `name: K`: a tensor read from the handles.
    Tensor(Field),
    /// `name`, `&name`, `name.into()`, `name.elem()`: a field that is no tensor.
    Plain(Spanned<String>, Convert),
    /// `out.shape`, `out.dtype`: what an output declares.
    Declared(Spanned<String>, OutputFact),
    /// `device`: the interpreter's device.
    Device,
    /// `context`: handles, device and handlers.
    Context,
    /// `self`: the whole IR struct.
    Whole,
}

/// What must hold before a row's method is called: `function(field, …)`.
///
/// The function is written by hand; it gets the fields of the IR struct as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// The function.
    pub function: Spanned<String>,
    /// The fields it looks at.
    pub args: Vec<Spanned<String>>,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.function.value)?;
        write_list(f, self.args.iter().map(|arg| &arg.value))?;
        f.write_str(")")
    }
}

/// A row's call: `IrStruct: method(args; unused) -> outputs where checks`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The struct the IR variant carries; `None` for a variant without fields.
    pub ir_struct: Option<Spanned<String>>,
    /// The method as written in the row; `None` where nothing of the backend is called.
    pub method: Option<Spanned<String>>,
    /// The arguments, in the order of the method's parameters.
    pub args: Vec<Arg>,
    /// Fields of the IR struct that the backend does not ask for.
    pub unused: Vec<Spanned<String>>,
    /// The outputs, in the order the method returns them.
    pub outputs: Vec<Output>,
    /// The checks, where they are not those of the IR struct.
    pub checks: Option<Vec<Check>>,
}

impl Signature {
    /// The tensors the row reads, in the order of the arguments.
    pub fn inputs(&self) -> impl Iterator<Item = &Field> {
        self.args.iter().filter_map(|arg| match &arg.value {
            Value::Tensor(field) => Some(field),
            _ => None,
        })
    }

    /// The fields of the IR struct that the row names, each once, outputs last.
    pub fn fields(&self) -> impl Iterator<Item = &Spanned<String>> {
        let args = self.args.iter().filter_map(|arg| match &arg.value {
            Value::Tensor(Field { name, .. }) | Value::Plain(name, _) => Some(name),
            _ => None,
        });
        args.chain(&self.unused)
            .chain(self.outputs.iter().map(|output| &output.name))
    }

    /// Whether the row takes the IR struct whole instead of naming its fields.
    pub fn takes_whole(&self) -> bool {
        self.args.iter().any(|arg| arg.value == Value::Whole)
    }
}

/// The signature as a row writes it, without the IR struct in front.
impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}(",
            self.method.as_ref().map_or("", |method| method.as_str())
        )?;
        write_list(f, &self.args)?;
        if !self.unused.is_empty() {
            f.write_str("; ")?;
            write_list(f, self.unused.iter().map(|field| &field.value))?;
        }
        f.write_str(") -> ")?;
        match self.outputs.is_empty() {
            true => f.write_str("()")?,
            false => write_list(f, &self.outputs)?,
        }
        if let Some(checks) = &self.checks {
            f.write_str(" where ")?;
            match checks.is_empty() {
                true => f.write_str("()")?,
                false => write_list(f, checks)?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Arg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parameter) = &self.parameter {
            write!(f, "{} = ", parameter.value)?;
        }
        match &self.value {
            Value::Tensor(field) => field.fmt(f),
            Value::Plain(name, Convert::Copy) => f.write_str(name),
            Value::Plain(name, Convert::Borrow) => write!(f, "&{}", name.value),
            Value::Plain(name, Convert::Into) => write!(f, "{}.into()", name.value),
            Value::Plain(name, Convert::Elem) => write!(f, "{}.elem()", name.value),
            Value::Declared(name, OutputFact::Shape) => write!(f, "{}.shape", name.value),
            Value::Declared(name, OutputFact::Dtype) => write!(f, "{}.dtype", name.value),
            Value::Device => f.write_str("device"),
            Value::Context => f.write_str("context"),
            Value::Whole => f.write_str("self"),
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.kind.value.name();
        let arity = match self.arity {
            Arity::One => "",
            Arity::Optional => "?",
            Arity::Many => "[]",
        };
        write!(f, "{}: {kind}{arity}", self.name.value)
    }
}

fn write_list<T: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    items: impl IntoIterator<Item = T>,
) -> fmt::Result {
    for (position, item) in items.into_iter().enumerate() {
        let comma = if position == 0 { "" } else { ", " };
        write!(f, "{comma}{item}")?;
    }
    Ok(())
}

/// Who runs a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Handling {
    /// The backend's method, called with the arguments of the row.
    Call,
    /// A function written by hand, for this reason.
    Custom(String),
    /// Nobody: the operation is an error, for this reason.
    Unsupported(String),
}

/// What a row says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// The call.
    pub signature: Signature,
    /// Who runs it.
    pub handling: Handling,
    /// What must hold before it is run: the checks of the row, else those of its IR struct.
    pub checks: Vec<Check>,
}

/// A row: one variant of an IR enum, for one or several kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The variant of the group's IR enum.
    pub variant: Spanned<String>,
    /// The kind suffix of the key (`num` in `Equal.num`), if any.
    pub suffix: Option<Spanned<String>>,
    /// The line of the table, counted from 1.
    pub line: usize,
    /// What the row says; `None` if it could not be read.
    pub body: Option<Body>,
}

impl Row {
    /// Where the row's key stands, suffix included.
    pub fn key_span(&self) -> Range<usize> {
        let end = self
            .suffix
            .as_ref()
            .map_or(self.variant.span.end, |suffix| suffix.span.end);
        self.variant.span.start..end
    }

    /// Whether the row speaks for the arm of this kind.
    pub fn covers(&self, arm: Option<Kind>) -> bool {
        match self.suffix.as_ref().map(|suffix| suffix.as_str()) {
            None => true,
            Some("num") => matches!(arm, Some(Kind::Float | Kind::Int)),
            Some(kind) => arm.is_some_and(|arm| arm.name() == kind),
        }
    }
}

/// The variant of `OperationIr` that carries an arm's IR enum, such as `NumericFloat(_, op)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IrPattern {
    /// The variant of `OperationIr`.
    pub variant: Spanned<String>,
    /// Its fields: `true` for the one that is the operation, `false` for one that is skipped.
    pub fields: Vec<bool>,
}

/// One way in which `OperationIr` carries the group's operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arm {
    /// The kind the arm stands for; `None` where a group has one arm only.
    pub kind: Option<Kind>,
    /// The variant of `OperationIr`; `None` where the rows are its own variants.
    pub pattern: Option<IrPattern>,
}

/// The rows of one IR enum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The group's name: the enum's, without `OperationIr`, in snake case.
    pub name: Spanned<String>,
    /// The IR enum.
    pub ir: Spanned<String>,
    /// The arms, in the order of the kinds.
    pub arms: Vec<Arm>,
    /// How a method is spelled out from a row: `{kind}` and `{method}` are replaced.
    pub call: Option<Spanned<String>>,
    /// The rows, in the order of the text.
    pub rows: Vec<Row>,
}

/// What a group is called whose rows are the variants of `OperationIr` itself.
const OWN_VARIANTS: &str = "stream";

impl Group {
    /// The name a group must have, given its IR enum.
    pub(crate) fn name_for(ir: &str) -> Option<String> {
        match ir.strip_suffix("OperationIr")? {
            "" => Some(OWN_VARIANTS.into()),
            stem => Some(stem.to_snake_case()),
        }
    }

    /// The operations of one arm, in the order of the rows.
    pub fn operations<'t>(&'t self, arm: &'t Arm) -> impl Iterator<Item = Operation<'t>> {
        let rows = self.rows.iter().filter(|row| row.covers(arm.kind));
        rows.map(move |row| Operation {
            group: self,
            arm,
            row,
        })
    }
}

/// The checks that the operations of one IR struct share: a row of `[where]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StructChecks {
    /// The IR struct.
    pub ir_struct: Spanned<String>,
    /// The checks, in the order they are made.
    pub checks: Vec<Check>,
}

/// The whole table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The groups, in the order of the text.
    pub groups: Vec<Group>,
    /// The checks by IR struct, in the order of the text.
    pub checks: Vec<StructChecks>,
}

impl Table {
    /// Every operation: each row once for each arm it serves.
    pub fn operations(&self) -> impl Iterator<Item = Operation<'_>> {
        self.groups
            .iter()
            .flat_map(|group| group.arms.iter().flat_map(|arm| group.operations(arm)))
    }
}

/// A row in one arm: what a match arm of the interpreter executes.
#[derive(Clone, Copy, Debug)]
pub struct Operation<'t> {
    /// The group.
    pub group: &'t Group,
    /// The arm.
    pub arm: &'t Arm,
    /// The row.
    pub row: &'t Row,
}

impl Operation<'_> {
    /// The operation's name in errors, docs and traces: `numeric.Powi.float`, `module.Conv2d`.
    pub fn name(&self) -> String {
        let (group, variant) = (&*self.group.name, &*self.row.variant);
        match self.arm.kind {
            Some(kind) => format!("{group}.{variant}.{kind}"),
            None => format!("{group}.{variant}"),
        }
    }

    /// The name of the function that executes it: `numeric_float_powi`, `module_conv2d`.
    pub fn function(&self) -> String {
        let (group, variant) = (&*self.group.name, self.row.variant.to_snake_case());
        match self.arm.kind {
            Some(kind) => format!("{group}_{kind}_{variant}"),
            None => format!("{group}_{variant}"),
        }
    }

    /// The name of the static with its facts: `NUMERIC_FLOAT_POWI`.
    pub(crate) fn constant(&self) -> String {
        self.function().to_shouty_snake_case()
    }

    /// The backend's method, spelled out: `float_powi`. `None` where none is called.
    pub fn method(&self) -> Option<String> {
        let method = self.row.body.as_ref()?.signature.method.as_ref()?;
        Some(match (&self.group.call, self.arm.kind) {
            (Some(call), Some(kind)) => call
                .replace("{kind}", kind.name())
                .replace("{method}", method),
            _ => method.value.clone(),
        })
    }

    /// The backend's method for quantized tensors, spelled out: `q_reshape`. `None` where they are
    /// dequantized, as any float operation has them.
    pub fn quantized_method(&self) -> Option<String> {
        let body = self.row.body.as_ref()?;
        let mut inputs = body.signature.inputs();
        inputs.find(|input| input.kind.value.has_quantized_call())?;
        let method = self.method()?;
        Some(format!("q_{}", method.strip_prefix("float_")?))
    }

    /// The backend's methods, that for quantized tensors last.
    pub fn methods(&self) -> impl Iterator<Item = String> + use<> {
        self.method().into_iter().chain(self.quantized_method())
    }

    /// The kind that a row's notation means in this arm; `None` for a `T` without a kind, which
    /// [parsing](crate::parse) reports.
    pub fn kind(&self, kind: KindRef) -> Option<Kind> {
        match kind {
            KindRef::Arm | KindRef::Kept | KindRef::KeptWhole => self.arm.kind,
            KindRef::Mixed => Some(Kind::Float),
            KindRef::Fixed(kind) => Some(kind),
        }
    }
}
