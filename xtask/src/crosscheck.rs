//! The table against the sources of burn-ir and burn-backend.
//!
//! rustc finds a method or a field that does not exist, but it cannot say which row is meant, and
//! it cannot see that two tensors of one kind are swapped. This can.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use burn_op_spec::{
    Arg, Arity, Body, Convert, Diagnostic, Group, Handling, Kind, Operation, OutputFact, Row,
    Table, Value, nearest,
};

use crate::upstream::{Method, Struct, Upstream};

/// Everything in the table that the sources contradict, in the order of the table.
pub(crate) fn crosscheck(table: &Table, upstream: &Upstream) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for group in &table.groups {
        check_variants(group, upstream, &mut findings);
        for row in &group.rows {
            check_fields(group, row, upstream, &mut findings);
        }
    }
    check_arms(table, upstream, &mut findings);
    let mut seen = BTreeSet::new();
    for operation in table.operations() {
        for finding in check_call(operation, upstream) {
            // A row that serves several kinds is told once.
            if seen.insert((finding.span.start, finding.message.clone())) {
                findings.push(finding);
            }
        }
    }
    findings.sort_by_key(|finding| finding.span.start);
    findings
}

/// Every variant of the group's enum has rows, every row a variant, in the enum's order.
fn check_variants(group: &Group, upstream: &Upstream, findings: &mut Vec<Diagnostic>) {
    let ir = group.ir.as_str();
    let Some(found) = upstream.enums.get(ir) else {
        let names = upstream.enums.keys().map(String::as_str);
        let message = format!("burn-ir has no enum `{ir}`");
        findings.push(guess(
            Diagnostic::new(message, group.ir.span.clone()),
            ir,
            names,
        ));
        return;
    };
    let carried = carried_enums(group, upstream);
    let mut last = None;
    for row in &group.rows {
        let name = row.variant.as_str();
        let position = found
            .variants
            .iter()
            .position(|variant| variant.name == name);
        let Some(position) = position else {
            let names = found.variants.iter().map(|variant| variant.name.as_str());
            let message = format!("`{ir}` has no variant `{name}`");
            let finding = Diagnostic::new(message, row.variant.span.clone());
            findings.push(guess(finding, name, names));
            continue;
        };
        if let Some((last, before)) = last
            && position < last
        {
            let before: &Row = before;
            findings.push(
                Diagnostic::new(
                    format!(
                        "`{name}` stands before `{}` in `{ir}`",
                        before.variant.as_str()
                    ),
                    row.key_span(),
                )
                .related(before.key_span(), "move it before this one")
                .note(format!("the order of {}", found.variants[position].place)),
            );
        }
        last = Some((position, row));
    }
    for variant in &found.variants {
        let has_row = group
            .rows
            .iter()
            .any(|row| row.variant.value == variant.name);
        if has_row || carried.contains(&variant.name) {
            continue;
        }
        let payload = variant.payload.as_deref();
        let payload_text = payload.map_or(String::new(), |name| format!("({name})"));
        findings.push(
            Diagnostic::new(
                format!("`{ir}::{}{payload_text}` has no row", variant.name),
                group.name.span.clone(),
            )
            .note(format!("the variant stands at {}", variant.place))
            .help(format!(
                "add `{} = '{}method(…) -> out: …'` to [{}.ops]",
                variant.name,
                payload.map_or(String::new(), |name| format!("{name}: ")),
                group.name.as_str(),
            )),
        );
    }
}

/// The variants of `OperationIr` that carry another enum: the arms of other groups.
fn carried_enums(group: &Group, upstream: &Upstream) -> BTreeSet<String> {
    if group.arms.iter().any(|arm| arm.pattern.is_some()) {
        return BTreeSet::new();
    }
    let variants = upstream
        .enums
        .get(group.ir.as_str())
        .map(|found| &found.variants);
    let carries = variants.into_iter().flatten().filter(|variant| {
        let payload = variant.payload.as_deref();
        payload.is_some_and(|payload| upstream.enums.contains_key(payload))
    });
    carries.map(|variant| variant.name.clone()).collect()
}

/// Every variant of `OperationIr` that carries an enum is the arm of a group.
fn check_arms(table: &Table, upstream: &Upstream, findings: &mut Vec<Diagnostic>) {
    for group in &table.groups {
        for pattern in group.arms.iter().filter_map(|arm| arm.pattern.as_ref()) {
            let variants = upstream
                .enums
                .get("OperationIr")
                .map(|found| &found.variants);
            let mut variants = variants.into_iter().flatten();
            let name = pattern.variant.as_str();
            let found = variants.clone().find(|variant| variant.name == name);
            let span = pattern.variant.span.clone();
            match found {
                None => {
                    let names = variants.by_ref().map(|variant| variant.name.as_str());
                    let message = format!("`OperationIr` has no variant `{name}`");
                    findings.push(guess(Diagnostic::new(message, span), name, names));
                }
                Some(found) if found.payload.as_deref() != Some(group.ir.as_str()) => {
                    findings.push(
                        Diagnostic::new(
                            format!("`OperationIr::{name}` does not carry `{}`", *group.ir),
                            span,
                        )
                        .note(format!("the variant stands at {}", found.place)),
                    );
                }
                Some(_) => {}
            }
        }
    }
    let arms: BTreeSet<&str> = table
        .groups
        .iter()
        .flat_map(|group| &group.arms)
        .filter_map(|arm| Some(arm.pattern.as_ref()?.variant.as_str()))
        .collect();
    for group in table
        .groups
        .iter()
        .filter(|group| group.arms.iter().any(|arm| arm.pattern.is_none()))
    {
        for variant in carried_enums(group, upstream) {
            if !arms.contains(variant.as_str()) {
                findings.push(
                    Diagnostic::new(
                        format!("`OperationIr::{variant}` is the arm of no group"),
                        group.ir.span.clone(),
                    )
                    .help(format!(
                        "add `arm = '{variant}(op)'` to the group of its enum"
                    )),
                );
            }
        }
    }
}

/// The row's struct is the variant's, and each of its fields exists and is named.
fn check_fields(group: &Group, row: &Row, upstream: &Upstream, findings: &mut Vec<Diagnostic>) {
    let Some(body) = &row.body else { return };
    let variants = upstream
        .enums
        .get(group.ir.as_str())
        .map(|found| &found.variants);
    let mut variants = variants.into_iter().flatten();
    let Some(variant) = variants.find(|variant| variant.name == row.variant.value) else {
        return;
    };
    let named = body.signature.ir_struct.as_ref();
    if named.map(|name| name.as_str()) != variant.payload.as_deref() {
        let carries = variant
            .payload
            .as_deref()
            .map_or("nothing".into(), |name| format!("`{name}`"));
        let span = named.map_or(row.key_span(), |name| name.span.clone());
        findings.push(
            Diagnostic::new(format!("`{}` carries {carries}", variant.name), span)
                .note(format!("the variant stands at {}", variant.place)),
        );
        return;
    }
    let ir_struct = named.and_then(|name| Some((name, upstream.structs.get(name.as_str())?)));
    let Some((name, ir_struct)) = ir_struct else {
        return;
    };
    if body.signature.takes_whole() {
        return;
    }
    let finding = |message: String, span: Range<usize>| {
        Diagnostic::new(message, span).note(format!("the struct stands at {}", ir_struct.place))
    };
    let known = findings.len();
    for field in body.signature.fields() {
        if !ir_struct
            .fields
            .iter()
            .any(|(name, _)| *name == field.value)
        {
            let names = ir_struct.fields.iter().map(|(name, _)| name.as_str());
            let message = format!("`{}` has no field `{}`", name.as_str(), field.as_str());
            let finding = finding(message, field.span.clone());
            let list: Vec<_> = names.clone().map(|name| format!("`{name}`")).collect();
            let list = format!("its fields are {}", list.join(", "));
            let help = match nearest(field, names) {
                Some(near) => format!("{list}; did you mean `{near}`?"),
                None => list,
            };
            findings.push(finding.help(help));
        }
    }
    for tensor in body.signature.inputs().chain(&body.signature.outputs) {
        let wanted = match tensor.arity {
            Arity::One => "TensorIr",
            Arity::Optional => "Option<TensorIr>",
            Arity::Many => "Vec<TensorIr>",
        };
        if let Some(ty) = field_type(ir_struct, &tensor.name)
            && ty != wanted
        {
            let message = format!("field `{}` is `{ty}`, not `{wanted}`", tensor.name.as_str());
            findings.push(finding(message, tensor.name.span.clone()));
        }
    }
    // A field that is not named may be the one that is misspelt.
    if findings.len() > known || matches!(body.handling, Handling::Unsupported(_)) {
        return;
    }
    for (field, _) in &ir_struct.fields {
        let is_named = body.signature.fields().any(|name| name.value == *field);
        if !is_named {
            findings.push(
                finding(
                    format!("the row does not use field `{field}`"),
                    row.key_span(),
                )
                .help(format!(
                    "pass it to the method, or add `; {field}` if the method has no use for it"
                )),
            );
        }
    }
}

fn field_type<'s>(ir_struct: &'s Struct, name: &str) -> Option<&'s str> {
    let field = ir_struct.fields.iter().find(|(field, _)| field == name);
    field.map(|(_, ty)| ty.as_str())
}

/// The row calls a method that exists, with arguments and outputs of its types and in its order.
fn check_call(operation: Operation<'_>, upstream: &Upstream) -> Vec<Diagnostic> {
    let Some(body) = &operation.row.body else {
        return Vec::new();
    };
    let (Some(written), Some(name)) = (&body.signature.method, operation.method()) else {
        return Vec::new();
    };
    let Some(method) = upstream.methods.get(&name) else {
        let names = upstream.methods.keys().map(String::as_str);
        let finding = Diagnostic::new(
            format!("burn-backend has no method `{name}`"),
            written.span.clone(),
        );
        return vec![guess(finding, &name, names)];
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
    };
    let mut findings = call.mismatches();
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

fn takes_special(body: &Body) -> bool {
    let special = |arg: &Arg| matches!(arg.value, Value::Context | Value::Whole);
    body.signature.args.iter().any(special)
}

/// A row's call beside the method it names.
struct Call<'c> {
    operation: Operation<'c>,
    body: &'c Body,
    ir_struct: Option<&'c Struct>,
    name: &'c str,
    method: &'c Method,
}

impl Call<'_> {
    fn finding(&self, message: String, span: Range<usize>) -> Diagnostic {
        let signature = self.method.signature(self.name);
        Diagnostic::new(message, span).note(format!("`{signature}` at {}", self.method.place))
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
            let kind = self
                .operation
                .kind(output.kind.value)
                .map_or("", tensor_type);
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
                let kind = self
                    .operation
                    .kind(field.kind.value)
                    .map_or("", tensor_type);
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
    }
}

fn dtype_type(kind: Kind) -> &'static str {
    match kind {
        Kind::Float => "FloatDType",
        Kind::Int => "IntDType",
        Kind::Bool => "BoolDType",
    }
}

fn guess<'n>(
    finding: Diagnostic,
    name: &str,
    names: impl IntoIterator<Item = &'n str>,
) -> Diagnostic {
    match nearest(name, names) {
        Some(near) => finding.help(format!("did you mean `{near}`?")),
        None => finding,
    }
}
