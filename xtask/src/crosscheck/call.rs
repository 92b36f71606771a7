//! A row's call beside the method it names.

use std::collections::BTreeMap;
use std::ops::Range;

use burn_op_spec::{
    Arg, Arity, Body, Convert, Diagnostic, Field, Handling, Kind, KindRef, Operation, OutputFact,
    Value,
};

use super::fields::field_type;
use super::guess;
use crate::upstream::{Method, Struct, Upstream};

/// The row calls a method that exists, with arguments and outputs of its types and in its order.
pub(super) fn check_call(operation: Operation<'_>, upstream: &Upstream) -> Vec<Diagnostic> {
    let Some(body) = &operation.row.body else {
        return Vec::new();
    };
    if let Handling::Unsupported(reason) = &body.handling {
        return outdated_reason(operation, reason, upstream)
            .into_iter()
            .collect();
    }
    let (Some(written), Some(name)) = (&body.signature.method, operation.method()) else {
        return Vec::new();
    };
    let missing = |name: &str| {
        let names = upstream.methods.keys().map(String::as_str);
        let finding = Diagnostic::new(
            format!("burn-backend has no method `{name}`"),
            written.span.clone(),
        );
        vec![guess(finding, name, names)]
    };
    let Some(method) = upstream.methods.get(&name) else {
        return missing(&name);
    };
    let call = Call {
        operation,
        body,
        ir_struct: body
            .signature
            .ir_struct
            .as_ref()
            .and_then(|ir| upstream.structs.get(ir.as_str())),
        name: &name,
        method,
        is_quantized: false,
    };
    let mut findings = call.mismatches();
    if let Some(name) = operation.quantized_method() {
        findings.extend(match upstream.methods.get(&name) {
            Some(method) => Call {
                name: &name,
                method,
                is_quantized: true,
                ..call
            }
            .mismatches(),
            None => missing(&name),
        });
    }
    match body.handling {
        Handling::Call if findings.is_empty() => call.unclear_names(),
        Handling::Call => findings,
        Handling::Custom(_) if findings.is_empty() && !takes_special(body) => {
            findings.push(call.finding(
                "the row needs no `custom`: the method takes what it lists".into(),
                operation.row.key_span(),
            ));
            findings
        }
        Handling::Custom(_) | Handling::Unsupported(_) => Vec::new(),
    }
}

/// A reason that says the backend lacks a method which it has.
fn outdated_reason(
    operation: Operation<'_>,
    reason: &str,
    upstream: &Upstream,
) -> Option<Diagnostic> {
    let (name, method) = reason
        .split('`')
        .skip(1)
        .step_by(2)
        .find_map(|name| Some((name, upstream.methods.get(name)?)))?;
    let message = format!("burn-backend has `{name}`: the reason is out of date");
    let finding = Diagnostic::new(message, operation.row.key_span());
    let signature = method.signature(name);
    Some(
        finding
            .note(format!("`{signature}` at {}", method.place))
            .help("call it; or say why it does not do"),
    )
}

fn takes_special(body: &Body) -> bool {
    let special = |arg: &Arg| matches!(arg.value, Value::Context | Value::Whole);
    body.signature.args.iter().any(special)
}

/// A row's call beside the method it names.
#[derive(Clone, Copy)]
struct Call<'c> {
    operation: Operation<'c>,
    body: &'c Body,
    ir_struct: Option<&'c Struct>,
    name: &'c str,
    method: &'c Method,
    /// Whether it is the call for quantized tensors.
    is_quantized: bool,
}

impl Call<'_> {
    fn finding(&self, message: String, span: Range<usize>) -> Diagnostic {
        let signature = self.method.signature(self.name);
        Diagnostic::new(message, span).note(format!("`{signature}` at {}", self.method.place))
    }

    /// The type of a tensor in this call.
    fn tensor_type(&self, field: &Field) -> &'static str {
        match field.kind.value {
            KindRef::Kept | KindRef::KeptWhole if self.is_quantized => "QuantizedTensor<B>",
            KindRef::Mixed if self.is_quantized => "TensorPrimitive<B>",
            kind => self.operation.kind(kind).map_or("", tensor_type),
        }
    }

    /// Arguments and outputs that are not of the method's types.
    fn mismatches(&self) -> Vec<Diagnostic> {
        let signature = &self.body.signature;
        let (args, params) = (&signature.args, &self.method.params);
        let method = signature
            .method
            .as_ref()
            .map_or(0..0, |method| method.span.clone());
        if args.len() != params.len() {
            let message = format!(
                "`{}` takes {} argument(s), the row lists {}",
                self.name,
                params.len(),
                args.len()
            );
            return vec![self.finding(message, method)];
        }
        let mut findings = Vec::new();
        for (arg, (param, ty)) in args.iter().zip(params) {
            if !self.fits(&arg.value, ty) {
                let message = format!("this is no `{ty}` for the parameter `{param}`");
                findings.push(self.finding(message, arg.span.clone()));
            }
        }
        let kinds = signature.outputs.iter().map(|output| {
            let kind = self.tensor_type(output);
            match output.arity {
                Arity::Optional => format!("Option<{kind}>"),
                _ => kind.into(),
            }
        });
        let kinds: Vec<_> = kinds.collect();
        let output = match kinds.as_slice() {
            [one] => one.clone(),
            [] => String::new(),
            several => format!("({})", several.join(", ")),
        };
        if output != self.method.output {
            let shown = |ty: &str| {
                if ty.is_empty() {
                    "nothing".into()
                } else {
                    format!("`{ty}`")
                }
            };
            let message = format!(
                "`{}` returns {}, the row lists {}",
                self.name,
                shown(&self.method.output),
                shown(&output)
            );
            findings.push(self.finding(message, method));
        }
        findings
    }

    /// Whether `value` is of the parameter's type.
    fn fits(&self, value: &Value, ty: &str) -> bool {
        let plain = |name: &str| self.ir_struct.and_then(|ir| field_type(ir, name));
        match value {
            Value::Tensor(field) => {
                let kind = self.tensor_type(field);
                match field.arity {
                    Arity::One => ty == kind,
                    Arity::Optional => ty == format!("Option<{kind}>"),
                    Arity::Many => ty == format!("Vec<{kind}>"),
                }
            }
            Value::Plain(name, Convert::Copy) => plain(name).is_none_or(|field| field == ty),
            Value::Plain(name, Convert::Borrow) => plain(name).is_none_or(|field| {
                let slice = field
                    .strip_prefix("Vec<")
                    .and_then(|inner| inner.strip_suffix('>'));
                ty == format!("&{field}") || slice.is_some_and(|item| ty == format!("&[{item}]"))
            }),
            Value::Plain(name, Convert::Into) => {
                let is_tensor = ty.ends_with("Tensor<B>") || ty.contains("Tensor<B>>");
                !is_tensor && !ty.starts_with('&') && plain(name).is_none_or(|field| field != ty)
            }
            Value::Plain(name, Convert::Elem) => {
                matches!(ty, "f32" | "f64" | "i32" | "i64")
                    && plain(name).is_none_or(|field| field == "ScalarIr")
            }
            Value::Declared(_, OutputFact::Shape) => ty == "Shape",
            Value::Declared(name, OutputFact::Dtype) => {
                let outputs = &self.body.signature.outputs;
                let output = outputs
                    .iter()
                    .find(|output| output.name.value == name.value);
                let kind = output.and_then(|output| self.operation.kind(output.kind.value));
                kind.is_none_or(|kind| ty == dtype_type(kind))
            }
            Value::Device => ty == "&Device<B>" || ty == "&Device",
            Value::Context | Value::Whole => false,
        }
    }

    /// Arguments that could be swapped with another of the same type, and whose names do not tell
    /// that they are not.
    fn unclear_names(&self) -> Vec<Diagnostic> {
        let mut findings = Vec::new();
        let pairs: Vec<_> = self
            .body
            .signature
            .args
            .iter()
            .zip(&self.method.params)
            .collect();
        let mut unclear: BTreeMap<&str, Vec<(&Arg, &str)>> = BTreeMap::new();
        for (arg, (param, ty)) in &pairs {
            if let Some(label) = &arg.parameter {
                if label.value != *param {
                    let message =
                        format!("the parameter here is `{param}`, not `{}`", label.as_str());
                    findings.push(self.finding(message, label.span.clone()));
                }
                continue;
            }
            let name = own_name(&arg.value);
            if name == param {
                continue;
            }
            if pairs
                .iter()
                .any(|(_, (other, other_ty))| other == name && other_ty == ty)
            {
                let message = format!("`{name}` is passed for the parameter `{param}`");
                findings.push(self.finding(message, arg.span.clone()).help(format!(
                    "swap the arguments; if it is meant so: `{param} = …`"
                )));
                continue;
            }
            unclear.entry(ty).or_default().push((arg, param));
        }
        // One of a type that is left is the one that remains.
        for (ty, args) in unclear.into_iter().filter(|(_, args)| args.len() > 1) {
            let quoted = |names: Vec<&str>| {
                names
                    .iter()
                    .map(|name| format!("`{name}`"))
                    .collect::<Vec<_>>()
                    .join(", ")
            };
            let params: Vec<&str> = args.iter().map(|(_, param)| *param).collect();
            let message = format!(
                "nothing tells that these are {} in this order",
                quoted(params.clone())
            );
            let labels: Vec<_> = params
                .iter()
                .map(|param| format!("`{param} = …`"))
                .collect();
            let span = args[0].0.span.start..args[args.len() - 1].0.span.end;
            findings.push(self.finding(message, span).help(format!(
                "they have one type, `{ty}`: if the order is right, write {}",
                labels.join(", ")
            )));
        }
        findings
    }
}

/// What the row calls the argument.
fn own_name(value: &Value) -> &str {
    match value {
        Value::Tensor(field) => &field.name,
        Value::Plain(name, _) => name,
        Value::Declared(_, OutputFact::Shape) => "shape",
        Value::Declared(_, OutputFact::Dtype) => "dtype",
        Value::Device => "device",
        Value::Context => "context",
        Value::Whole => "self",
    }
}

fn tensor_type(kind: Kind) -> &'static str {
    match kind {
        Kind::Float => "FloatTensor<B>",
        Kind::Int => "IntTensor<B>",
        Kind::Bool => "BoolTensor<B>",
        Kind::Quantized => "QuantizedTensor<B>",
    }
}

/// The type of a dtype; a quantized tensor's is its scheme.
fn dtype_type(kind: Kind) -> &'static str {
    match kind {
        Kind::Quantized => "QuantScheme",
        Kind::Float => "FloatDType",
        Kind::Int => "IntDType",
        Kind::Bool => "BoolDType",
    }
}
