//! The language of a row, `IrStruct: method(args; unused) -> outputs where checks`, of a row of
//! `[where]`, and of an arm, `Variant(_, op)`.

use std::ops::Range;

use crate::diagnostic::{Diagnostic, expected};
use crate::keys::{FIELD_KINDS, names};
use crate::model::{
    Arg, Arity, Check, Convert, Field, IrPattern, KindRef, OutputFact, Signature, Spanned, Value,
};

type Result<T> = std::result::Result<T, Diagnostic>;

/// Read a row's signature; `offset` is where `text` begins in the table.
pub(crate) fn parse_signature(text: &str, offset: usize) -> Result<Signature> {
    let mut parser = Parser::new(text, offset, "row");
    let signature = parser.signature()?;
    parser.end()?;
    Ok(signature)
}

/// Read the checks of an IR struct; `offset` is where `text` begins in the table.
pub(crate) fn parse_checks(text: &str, offset: usize) -> Result<Vec<Check>> {
    let mut parser = Parser::new(text, offset, "line of `[where]`");
    let checks = parser.checks()?;
    parser.end()?;
    Ok(checks)
}

/// Read an arm's pattern; `offset` is where `text` begins in the table.
pub(crate) fn parse_pattern(text: &str, offset: usize) -> Result<IrPattern> {
    let mut parser = Parser::new(text, offset, "arm");
    let pattern = parser.pattern()?;
    parser.end()?;
    Ok(pattern)
}

struct Parser<'t> {
    text: &'t str,
    offset: usize,
    position: usize,
    /// What the text is, for messages.
    what: &'static str,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str, offset: usize, what: &'static str) -> Self {
        Self {
            text,
            offset,
            position: 0,
            what,
        }
    }

    /// `[IrStruct ':'] [method] '(' [arg {',' arg}] [';' name {',' name}] ')' '->' outputs
    /// ['where' checks]`
    fn signature(&mut self) -> Result<Signature> {
        let mut name = self.identifier();
        let mut ir_struct = None;
        if name.is_some() && self.eat(":") {
            ir_struct = name;
            name = self.identifier();
        }
        self.expect("(")?;
        let mut args = Vec::new();
        let mut unused = Vec::new();
        let closed = |parser: &mut Self| parser.eat(")");
        if !closed(self) {
            if !self.eat(";") {
                args.push(self.arg()?);
                while self.eat(",") {
                    args.push(self.arg()?);
                }
                if self.eat(";") {
                    unused = self.names()?;
                }
            } else {
                unused = self.names()?;
            }
            self.expect_one(&[")", ","])?;
        }
        self.expect("->")?;
        Ok(Signature {
            ir_struct,
            method: name,
            args,
            unused,
            outputs: self.outputs()?,
            checks: self.own_checks()?,
        })
    }

    /// `['where' checks]`
    fn own_checks(&mut self) -> Result<Option<Vec<Check>>> {
        let start = self.position;
        match self.identifier() {
            Some(word) if word.as_str() == "where" => self.checks().map(Some),
            _ => {
                self.position = start;
                Ok(None)
            }
        }
    }

    /// `'(' ')' | check {',' check}`; `()` says that there are none.
    fn checks(&mut self) -> Result<Vec<Check>> {
        if self.eat("(") {
            self.expect(")")?;
            return Ok(Vec::new());
        }
        let mut checks = vec![self.check()?];
        while self.eat(",") {
            checks.push(self.check()?);
        }
        Ok(checks)
    }

    /// `function '(' name {',' name} ')'`
    fn check(&mut self) -> Result<Check> {
        let function = self.name("a check")?;
        self.expect("(")?;
        let args = self.names()?;
        self.expect_one(&[")", ","])?;
        Ok(Check { function, args })
    }

    /// `name {',' name}`
    fn names(&mut self) -> Result<Vec<Spanned<String>>> {
        let mut names = vec![self.name("a field of the IR struct")?];
        while self.eat(",") {
            names.push(self.name("a field of the IR struct")?);
        }
        Ok(names)
    }

    /// `[parameter '='] value`
    fn arg(&mut self) -> Result<Arg> {
        self.skip_blanks();
        let start = self.position;
        let mut parameter = self.identifier();
        if parameter.is_none() || !self.eat("=") {
            parameter = None;
            self.position = start;
        }
        self.skip_blanks();
        let start = self.here();
        let value = self.value()?;
        Ok(Arg {
            parameter,
            value,
            span: start..self.here(),
        })
    }

    /// `name ['.' name] ':' kind ['?' | '[]'] | ['&'] name ['.into()' | '.elem()'] | name '.shape'
    /// | …`
    fn value(&mut self) -> Result<Value> {
        if self.eat("&") {
            let name = self.name("a field of the IR struct")?;
            return Ok(Value::Plain(name, Convert::Borrow));
        }
        let name = self.name("an argument")?;
        if self.eat(":") {
            return Ok(Value::Tensor(self.field(name)?));
        }
        if self.eat(".") {
            return self.suffixed(name);
        }
        Ok(match name.as_str() {
            "device" => Value::Device,
            "context" => Value::Context,
            "self" => Value::Whole,
            _ => Value::Plain(name, Convert::Copy),
        })
    }

    /// What follows the dot of `out.shape`, `out.dtype`, `name.into()`, `name.elem()`, `name.name: K`.
    fn suffixed(&mut self, name: Spanned<String>) -> Result<Value> {
        let suffix = self.name("what to take of the field")?;
        if self.eat(":") {
            let nested = format!("{}.{}", *name, *suffix);
            let span = name.span.start..suffix.span.end;
            return Ok(Value::Tensor(self.field(Spanned::new(nested, span))?));
        }
        let convert = match suffix.as_str() {
            "shape" => return Ok(Value::Declared(name, OutputFact::Shape)),
            "dtype" => return Ok(Value::Declared(name, OutputFact::Dtype)),
            "into" => Convert::Into,
            "elem" => Convert::Elem,
            unknown => {
                let known = ["shape", "dtype", "into()", "elem()"];
                let help = expected(unknown, &known);
                let message = format!("unknown suffix `.{unknown}`");
                return Err(Diagnostic::new(message, suffix.span).help(help));
            }
        };
        self.expect("(")?;
        self.expect(")")?;
        Ok(Value::Plain(name, convert))
    }

    /// `kind ['?' | '[]']`, after `name ':'`
    fn field(&mut self, name: Spanned<String>) -> Result<Field> {
        let kind = self.name("a tensor kind")?;
        let Some(value) = KindRef::from_name(&kind) else {
            let known = names(FIELD_KINDS);
            return Err(Diagnostic::new(
                format!("unknown tensor kind `{}`", *kind),
                kind.span.clone(),
            )
            .help(expected(&kind, &known)));
        };
        let arity = if self.eat("?") {
            Arity::Optional
        } else if self.eat("[") {
            self.expect("]")?;
            Arity::Many
        } else {
            Arity::One
        };
        Ok(Field {
            name,
            kind: Spanned::new(value, kind.span),
            arity,
        })
    }

    /// `'(' ')' | output {',' output}`
    fn outputs(&mut self) -> Result<Vec<Field>> {
        if self.eat("(") {
            self.expect(")")?;
            return Ok(Vec::new());
        }
        let mut outputs = vec![self.output()?];
        while self.eat(",") {
            outputs.push(self.output()?);
        }
        Ok(outputs)
    }

    /// `name ':' kind ['?']`
    fn output(&mut self) -> Result<Field> {
        let name = self.name("an output")?;
        self.expect(":")?;
        let field = self.field(name)?;
        match field.arity {
            Arity::Many => Err(Diagnostic::new(
                "an output is one tensor, not a list",
                field.kind.span.start..self.here(),
            )),
            _ => Ok(field),
        }
    }

    /// `Variant '(' ('_' | 'op') {',' ('_' | 'op')} ')'`
    fn pattern(&mut self) -> Result<IrPattern> {
        let variant = self.name("a variant of `OperationIr`")?;
        let start = self.here();
        self.expect("(")?;
        let mut fields = Vec::new();
        loop {
            let field = self.name("`op` or `_`")?;
            match field.as_str() {
                "op" => fields.push(true),
                "_" => fields.push(false),
                other => {
                    return Err(
                        Diagnostic::new(format!("unknown field `{other}`"), field.span)
                            .help("write `op` for the operation and `_` for any other field"),
                    );
                }
            }
            if !self.eat(",") {
                break;
            }
        }
        self.expect_one(&[")", ","])?;
        match fields.iter().filter(|is_op| **is_op).count() {
            1 => Ok(IrPattern { variant, fields }),
            count => Err(Diagnostic::new(
                format!("{count} fields are called `op`"),
                start..self.here(),
            )
            .help("write `op` for the one field that is the operation")),
        }
    }

    fn here(&self) -> usize {
        self.offset + self.position
    }

    fn rest(&self) -> &'t str {
        &self.text[self.position..]
    }

    fn skip_blanks(&mut self) {
        self.position = self.text.len() - self.rest().trim_start().len();
    }

    fn eat(&mut self, symbol: &str) -> bool {
        self.skip_blanks();
        let found = self.rest().starts_with(symbol);
        if found {
            self.position += symbol.len();
        }
        found
    }

    fn expect(&mut self, symbol: &str) -> Result<()> {
        self.expect_one(&[symbol])
    }

    /// Eat the first of `symbols`; the others are what could have gone on instead.
    fn expect_one(&mut self, symbols: &[&str]) -> Result<()> {
        if self.eat(symbols[0]) {
            return Ok(());
        }
        let quoted: Vec<_> = symbols.iter().map(|symbol| format!("`{symbol}`")).collect();
        Err(self.unexpected(&quoted.join(" or ")))
    }

    fn identifier(&mut self) -> Option<Spanned<String>> {
        self.skip_blanks();
        let rest = self.rest();
        let length = rest
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        if length == 0 || rest.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let start = self.here();
        self.position += length;
        Some(Spanned::new(rest[..length].into(), start..start + length))
    }

    fn name(&mut self, what: &str) -> Result<Spanned<String>> {
        self.identifier().ok_or_else(|| self.unexpected(what))
    }

    fn end(&mut self) -> Result<()> {
        self.skip_blanks();
        match self.rest().is_empty() {
            true => Ok(()),
            false => Err(self.unexpected(&format!("the end of the {}", self.what))),
        }
    }

    /// The error of finding anything but `wanted` here.
    fn unexpected(&mut self, wanted: &str) -> Diagnostic {
        self.skip_blanks();
        let here = self.here();
        match self.rest().chars().next() {
            Some(found) => {
                let span: Range<usize> = here..here + found.len_utf8();
                Diagnostic::new(format!("expected {wanted}, found `{found}`"), span)
            }
            // The closing quote stands right after the text.
            None => Diagnostic::new(
                format!("expected {wanted}, but the {} ends here", self.what),
                here..here + 1,
            ),
        }
    }
}
