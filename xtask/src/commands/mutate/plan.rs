//! A row's function in parts, so that a mistake can change one of them.
//!
//! It is written out here and not by `burn-op-spec`, which cannot express a wrong row: it reads
//! fields through `op`, where a field may be named twice or not at all. The unchanged plan is run
//! beside its mutants, and must do what the generated function does.

use std::fmt;

use burn_op_spec::{Arity, Convert, Handling, Kind, Operation, OutputFact, Value};

/// An argument of the call.
#[derive(Clone, PartialEq)]
pub(super) enum Arg {
    /// A tensor that is read.
    Tensor {
        kind: Kind,
        arity: Arity,
        field: String,
    },
    /// A field that is no tensor.
    Plain { field: String, convert: Convert },
    /// What a tensor declares.
    Declared { tensor: String, fact: OutputFact },
    /// The interpreter's device, its context, or the whole IR struct.
    Given(&'static str),
    /// An expression that is in no row.
    Literal(&'static str),
}

/// A tensor that is written.
#[derive(Clone, PartialEq)]
pub(super) struct Output {
    pub(super) kind: Kind,
    pub(super) arity: Arity,
    pub(super) field: String,
    pub(super) is_written: bool,
}

/// The function of an operation.
#[derive(Clone)]
pub(super) struct Plan {
    ir_struct: String,
    /// `B::float_powi`, `custom::numeric_int_sum_dims::<B>`
    pub(super) callee: String,
    /// Whether the call can fail: a function written by hand can.
    is_custom: bool,
    pub(super) args: Vec<Arg>,
    pub(super) outputs: Vec<Output>,
}

impl Plan {
    /// The plan of an operation; `None` where nothing is called that has a tensor to write.
    pub(super) fn of(operation: Operation<'_>) -> Option<Self> {
        let body = operation.row.body.as_ref()?;
        let signature = &body.signature;
        let is_custom = match body.handling {
            Handling::Call => false,
            Handling::Custom(_) => true,
            Handling::Unsupported(_) => return None,
        };
        if signature.outputs.is_empty() {
            return None;
        }
        let callee = match is_custom {
            false => method(&operation.method()?),
            true => format!("custom::{}::<B>", operation.function()),
        };
        let args = signature.args.iter().map(|arg| {
            Some(match &arg.value {
                Value::Tensor(field) => Arg::Tensor {
                    kind: operation.kind(field.kind.value)?,
                    arity: field.arity,
                    field: field.name.value.clone(),
                },
                Value::Plain(field, convert) => Arg::Plain {
                    field: field.value.clone(),
                    convert: *convert,
                },
                Value::Declared(tensor, fact) => Arg::Declared {
                    tensor: tensor.value.clone(),
                    fact: *fact,
                },
                Value::Device => Arg::Given("&ctx.device"),
                Value::Context => Arg::Given("ctx"),
                Value::Whole => Arg::Given("op"),
            })
        });
        let outputs = signature.outputs.iter().map(|output| {
            Some(Output {
                kind: operation.kind(output.kind.value)?,
                arity: output.arity,
                field: output.name.value.clone(),
                is_written: true,
            })
        });
        Some(Self {
            ir_struct: signature.ir_struct.as_ref()?.value.clone(),
            callee,
            is_custom,
            args: args.collect::<Option<_>>()?,
            outputs: outputs.collect::<Option<_>>()?,
        })
    }

    /// The function under this name, in one line: an error of the compiler is known by its line.
    pub(super) fn function(&self, name: &str) -> String {
        let mut code = format!(
            "pub(super) fn {name}<B: BackendIr>(ctx: &mut Context<B>, op: &{}) -> Outcome {{",
            self.ir_struct
        );
        for (position, arg) in self.args.iter().enumerate() {
            if let Arg::Tensor { kind, arity, field } = arg {
                let read = match arity {
                    Arity::One => kind.name().to_string(),
                    Arity::Optional => format!("optional_{kind}"),
                    Arity::Many => format!("{kind}_list"),
                };
                code += &format!(" let arg{position} = ctx.{read}(&op.{field})?;");
            }
        }
        let args: Vec<_> = self.args.iter().enumerate().map(expression).collect();
        let fallible = if self.is_custom { "?" } else { "" };
        code += &format!(
            " let output = {}({}){fallible};",
            self.callee,
            args.join(", ")
        );
        for (position, output) in self.outputs.iter().enumerate() {
            let value = match self.outputs.len() {
                1 => "output".into(),
                _ => format!("output.{position}"),
            };
            let Output { kind, field, .. } = output;
            let put = match output.arity {
                Arity::Optional => format!("put_optional_{kind}"),
                _ => format!("put_{kind}"),
            };
            if output.is_written {
                code += &format!(" ctx.{put}(&op.{field}, {value})?;");
            }
        }
        code + " Ok(()) }"
    }
}

/// The path of a backend's method.
pub(super) fn method(name: &str) -> String {
    format!("B::{name}")
}

fn expression((position, arg): (usize, &Arg)) -> String {
    match arg {
        Arg::Tensor { .. } => format!("arg{position}"),
        Arg::Plain { field, convert } => match convert {
            Convert::Copy => format!("op.{field}"),
            Convert::Borrow => format!("&op.{field}"),
            Convert::Into => format!("convert(&op.{field})"),
            Convert::Elem => format!("op.{field}.elem()"),
        },
        Arg::Declared { tensor, fact } => match fact {
            OutputFact::Shape => format!("op.{tensor}.shape.clone()"),
            OutputFact::Dtype => format!("op.{tensor}.dtype.into()"),
        },
        Arg::Given(expression) | Arg::Literal(expression) => (*expression).into(),
    }
}

/// As a mutant's name calls it.
impl fmt::Display for Arg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Arg::Tensor { field, .. } | Arg::Plain { field, .. } => f.write_str(field),
            Arg::Declared { tensor, fact } => match fact {
                OutputFact::Shape => write!(f, "{tensor}.shape"),
                OutputFact::Dtype => write!(f, "{tensor}.dtype"),
            },
            Arg::Given(expression) | Arg::Literal(expression) => f.write_str(expression),
        }
    }
}
