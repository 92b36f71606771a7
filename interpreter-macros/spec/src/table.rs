//! From TOML to the model: groups, keys, rows.

use std::ops::Range;

use toml::Spanned as TomlSpanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::diagnostic::{Diagnostic, expected, nearest};
use crate::keys::{CHECKS_KEY, GROUP_KEYS, KIND_KEYS, ROW_KEYS, SUFFIX_KEYS, names};
use crate::model::{Arm, Body, Group, Handling, Kind, Row, Spanned, StructChecks, Table};
use crate::signature::{parse_checks, parse_pattern, parse_signature};

/// A key with its value, in the order of the text.
type Entry<'t, 's> = (&'t TomlSpanned<DeString<'s>>, &'t TomlSpanned<DeValue<'s>>);

/// Read the table; what cannot be read goes to `diagnostics`.
pub(crate) fn parse(source: &str, diagnostics: &mut Vec<Diagnostic>) -> Table {
    let (document, errors) = DeTable::parse_recoverable(source);
    let is_header = |error: &toml::de::Error| {
        let start = error.span().unwrap_or(0..0).start.min(source.len());
        let line = source[..start].rfind('\n').map_or(0, |end| end + 1);
        source[line..].trim_start().starts_with('[')
    };
    let has_wrong_header = errors.iter().any(is_header);
    let errors = errors
        .iter()
        .filter(|error| !has_wrong_header || is_header(error));
    diagnostics.extend(errors.map(|error| {
        let span = error.span().unwrap_or(0..0);
        let first = earlier_key(source, &span);
        let diagnostic = Diagnostic::new(format!("this is not TOML: {}", error.message()), span);
        match first {
            Some(first) => diagnostic.related(first, "first here"),
            None => diagnostic,
        }
    }));
    // Nobody can say where the lines below a wrong header belong.
    if has_wrong_header {
        return Table::default();
    }
    let mut reader = Reader {
        source,
        diagnostics,
        incomplete: Vec::new(),
    };
    let mut table = Table::default();
    for (name, value) in sorted(document.get_ref()) {
        match name.get_ref().as_ref() {
            name if name == CHECKS_KEY.name => table.checks = reader.checks(value),
            _ => table.groups.extend(reader.group(name, value)),
        }
    }
    let incomplete = reader.incomplete;
    report_incomplete(&table, incomplete, diagnostics);
    resolve_checks(&mut table);
    table
}

/// Report the groups that do not say their IR enum, unless that stands under a header which is
/// wrong itself.
fn report_incomplete(
    table: &Table,
    incomplete: Vec<Spanned<String>>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let is_misnamed = |group: &Group| {
        Group::name_for(&group.ir).is_some_and(|name| {
            *group.name != name && incomplete.iter().any(|other| **other == name)
        })
    };
    if table.groups.iter().any(is_misnamed) {
        return;
    }
    for name in incomplete {
        let message = format!("group `{}` does not say its IR enum", *name);
        let groups = table.groups.iter().map(|group| group.name.as_str());
        let near = nearest(&name, groups.chain([CHECKS_KEY.name]));
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "add `ir = 'NameOperationIr'`, the enum of burn-ir the rows belong to".into(),
        };
        diagnostics.push(Diagnostic::new(message, name.span.clone()).help(help));
    }
}

/// Give each row its checks: its own, else those of its IR struct.
fn resolve_checks(table: &mut Table) {
    let rows = table.groups.iter_mut().flat_map(|group| &mut group.rows);
    for body in rows.filter_map(|row| row.body.as_mut()) {
        let of_struct = || {
            let ir_struct = body.signature.ir_struct.as_ref()?;
            let mut checks = table.checks.iter();
            checks.find(|checks| **checks.ir_struct == **ir_struct)
        };
        body.checks = match &body.signature.checks {
            Some(own) => own.clone(),
            None => of_struct().map_or_else(Vec::new, |found| found.checks.clone()),
        };
    }
}

/// The earlier line that begins with the key or header at `span`, if that is what stands there.
fn earlier_key(source: &str, span: &Range<usize>) -> Option<Range<usize>> {
    let key = source
        .get(span.clone())
        .filter(|key| !key.trim().is_empty())?;
    let mut start = 0;
    source[..span.start].split_inclusive('\n').find_map(|line| {
        let line_start = start;
        start += line.len();
        let name = line.strip_prefix('[').unwrap_or(line);
        let at = line_start + line.len() - name.len();
        let rest = name.strip_prefix(key)?;
        let is_key = rest.starts_with([' ', '=', '.', ']']);
        is_key.then(|| at..at + key.len())
    })
}

/// The entries of a TOML table in the order of the text.
fn sorted<'t, 's>(table: &'t DeTable<'s>) -> Vec<Entry<'t, 's>> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

struct Reader<'s, 'd> {
    source: &'s str,
    diagnostics: &'d mut Vec<Diagnostic>,
    /// The groups that do not say their IR enum.
    incomplete: Vec<Spanned<String>>,
}

impl Reader<'_, '_> {
    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn report_unknown_key(&mut self, what: &str, key: &TomlSpanned<DeString<'_>>, known: &[&str]) {
        let name = key.get_ref();
        self.report(
            Diagnostic::new(format!("unknown {what} `{name}`"), key.span())
                .help(expected(name, known)),
        );
    }

    /// A table that has nothing of a group.
    fn report_no_group(&mut self, name: &TomlSpanned<DeString<'_>>) {
        let header = name.get_ref();
        let help = match nearest(header, [CHECKS_KEY.name]) {
            Some(near) => format!("did you mean `[{near}]`?"),
            None => "a group has `ir`, the enum of burn-ir the rows belong to".into(),
        };
        let message = format!(
            "`[{header}]` is neither a group nor `[{}]`",
            CHECKS_KEY.name
        );
        self.report(Diagnostic::new(message, name.span()).help(help));
    }

    fn group(
        &mut self,
        name: &TomlSpanned<DeString<'_>>,
        value: &TomlSpanned<DeValue<'_>>,
    ) -> Option<Group> {
        let Some(keys) = value.get_ref().as_table() else {
            self.report(
                Diagnostic::new(format!("unknown key `{}`", name.get_ref()), name.span())
                    .help("the table holds groups, `[group]` and `[group.ops]`, and `[where]`"),
            );
            return None;
        };
        let is_known = |key: &str| names(GROUP_KEYS).contains(&key);
        if !keys.is_empty() && !keys.keys().any(|key| is_known(key.get_ref())) {
            self.report_no_group(name);
            return None;
        }
        let reported = self.diagnostics.len();
        let mut group = Group {
            name: Spanned::new(name.get_ref().to_string(), name.span()),
            ir: Spanned::new(String::new(), name.span()),
            arms: Vec::new(),
            call: None,
            rows: Vec::new(),
        };
        let mut arms_key = None;
        for (key, value) in sorted(keys) {
            match key.get_ref().as_ref() {
                "ir" => group.ir = self.text("ir", value)?,
                "call" => group.call = Some(self.text("call", value)?),
                "arm" | "arms" => {
                    if let Some(first) = arms_key.replace(key.span()) {
                        self.report(
                            Diagnostic::new("a group has either `arm` or `arms`", key.span())
                                .related(first, "first given here"),
                        );
                        return None;
                    }
                    group.arms = self.arms(value)?;
                }
                "ops" => group.rows = self.rows(value),
                _ => self.report_unknown_key("key of a group", key, &names(GROUP_KEYS)),
            }
        }
        if group.ir.is_empty() {
            // What is reported may be the key that is missed.
            if self.diagnostics.len() == reported {
                self.incomplete.push(group.name);
            }
            return None;
        }
        if group.arms.is_empty() {
            group.arms.push(Arm {
                kind: None,
                pattern: None,
            });
        }
        Some(group)
    }

    /// `IrStruct = 'checks'`
    fn checks(&mut self, value: &TomlSpanned<DeValue<'_>>) -> Vec<StructChecks> {
        let Some(entries) = value.get_ref().as_table() else {
            let message = format!("`{}` is a table of checks by IR struct", CHECKS_KEY.name);
            self.report(Diagnostic::new(message, value.span()));
            return Vec::new();
        };
        let mut all = Vec::new();
        for (ir_struct, value) in sorted(entries) {
            let Some(text) = self.text("a check", value) else {
                continue;
            };
            match parse_checks(&text, text.span.start) {
                Ok(checks) => all.push(StructChecks {
                    ir_struct: Spanned::new(ir_struct.get_ref().to_string(), ir_struct.span()),
                    checks,
                }),
                Err(diagnostic) => self.report(diagnostic),
            }
        }
        all
    }

    /// `'Variant(op)'` or `{ float = 'Variant(op)', … }`
    fn arms(&mut self, value: &TomlSpanned<DeValue<'_>>) -> Option<Vec<Arm>> {
        let Some(kinds) = value.get_ref().as_table() else {
            let pattern = self.text("arm", value)?;
            return Some(vec![self.arm(None, &pattern)?]);
        };
        let mut arms = Vec::new();
        for (key, value) in sorted(kinds) {
            let Some(kind) = Kind::of_arm(key.get_ref()) else {
                self.report_unknown_key("kind", key, &names(KIND_KEYS));
                continue;
            };
            let pattern = self.text("arm", value)?;
            arms.push(self.arm(Some(kind), &pattern)?);
        }
        arms.sort_by_key(|arm| arm.kind);
        Some(arms)
    }

    fn arm(&mut self, kind: Option<Kind>, pattern: &Spanned<String>) -> Option<Arm> {
        match parse_pattern(pattern, pattern.span.start) {
            Ok(pattern) => Some(Arm {
                kind,
                pattern: Some(pattern),
            }),
            Err(diagnostic) => {
                self.report(diagnostic);
                None
            }
        }
    }

    fn rows(&mut self, value: &TomlSpanned<DeValue<'_>>) -> Vec<Row> {
        let Some(entries) = value.get_ref().as_table() else {
            self.report(Diagnostic::new("`ops` is a table of rows", value.span()));
            return Vec::new();
        };
        let mut rows = Vec::new();
        for (variant, value) in sorted(entries) {
            let per_kind = value
                .get_ref()
                .as_table()
                .filter(|table| is_per_kind(table));
            let Some(kinds) = per_kind else {
                rows.push(self.row(variant, None, value));
                continue;
            };
            for (suffix, value) in sorted(kinds) {
                let name = suffix.get_ref().as_ref();
                let mut meant = Some(name);
                let suffixes = names(SUFFIX_KEYS);
                if !suffixes.contains(&name) {
                    self.report_unknown_key("kind", suffix, &suffixes);
                    meant = nearest(name, suffixes);
                }
                if let Some(meant) = meant {
                    let suffix = Spanned::new(meant.into(), suffix.span());
                    rows.push(self.row(variant, Some(suffix), value));
                }
            }
        }
        rows.sort_by_key(|row| row.key_span().end);
        rows
    }

    fn row(
        &mut self,
        variant: &TomlSpanned<DeString<'_>>,
        suffix: Option<Spanned<String>>,
        value: &TomlSpanned<DeValue<'_>>,
    ) -> Row {
        let name = variant.get_ref();
        let mut variant = Spanned::new(name.to_string(), variant.span());
        if let Some(suffix) = &suffix {
            // TOML knows the first `Variant` of several dotted keys only.
            variant.span = self.prefix(name, suffix.span.start);
        }
        let mut row = Row {
            variant,
            suffix,
            line: 1 + self.source[..value.span().start].matches('\n').count(),
            body: None,
        };
        row.body = self.body(row.key_span(), value);
        row
    }

    /// Where `name.` stands right before `suffix`; nowhere (an empty span) if it does not.
    fn prefix(&self, name: &str, suffix: usize) -> Range<usize> {
        let before = self.source[..suffix].trim_end();
        let before = before.strip_suffix('.').map_or("", str::trim_end);
        match before.strip_suffix(name) {
            Some(rest) => rest.len()..before.len(),
            None => suffix..suffix,
        }
    }

    /// `'signature'` or `{ sig = 'signature', custom | unsupported = 'why' }`
    fn body(&mut self, key: Range<usize>, value: &TomlSpanned<DeValue<'_>>) -> Option<Body> {
        let Some(attributes) = value.get_ref().as_table() else {
            let signature = self.text("a row", value)?;
            return self.call(signature, Handling::Call);
        };
        let mut signature = None;
        let mut handling: Option<(Range<usize>, Handling)> = None;
        for (attribute, value) in sorted(attributes) {
            let exception = match attribute.get_ref().as_ref() {
                "sig" => {
                    signature = Some(self.text("sig", value)?);
                    continue;
                }
                "custom" => Handling::Custom as fn(String) -> Handling,
                "unsupported" => Handling::Unsupported,
                _ => {
                    self.report_unknown_key("key of a row", attribute, &names(ROW_KEYS));
                    return None;
                }
            };
            let reason = self.text("a reason", value)?;
            if reason.trim().is_empty() {
                self.report(
                    Diagnostic::new("an exception needs its reason", value.span())
                        .help("say why the backend's method cannot simply be called"),
                );
            }
            if let Some((first, _)) = &handling {
                self.report(
                    Diagnostic::new(
                        "a row is either `custom` or `unsupported`",
                        attribute.span(),
                    )
                    .related(first.clone(), "first given here"),
                );
                return None;
            }
            handling = Some((attribute.span(), exception(reason.value)));
        }
        let Some(signature) = signature else {
            self.report(Diagnostic::new("the row has no signature", key).help(
                "add `sig = 'IrStruct: method(arguments) -> outputs'`: it says which tensors \
                     the operation reads and writes",
            ));
            return None;
        };
        let handling = handling.map_or(Handling::Call, |(_, handling)| handling);
        self.call(signature, handling)
    }

    fn call(&mut self, text: Spanned<String>, handling: Handling) -> Option<Body> {
        match parse_signature(&text, text.span.start) {
            Ok(signature) => Some(Body {
                signature,
                handling,
                checks: Vec::new(),
            }),
            Err(diagnostic) => {
                self.report(diagnostic);
                None
            }
        }
    }

    /// The text of a literal string, with the span of what stands between the quotes.
    ///
    /// Only literal strings, because in them a position in the text is a position in the table.
    fn text(&mut self, what: &str, value: &TomlSpanned<DeValue<'_>>) -> Option<Spanned<String>> {
        let span = value.span();
        let raw = &self.source[span.clone()];
        match value.get_ref().as_str() {
            Some(text) if raw.starts_with('\'') && !raw.starts_with("'''") => {
                Some(Spanned::new(text.into(), span.start + 1..span.end - 1))
            }
            Some(_) => {
                self.report(
                    Diagnostic::new(format!("{what} is written in double quotes"), span)
                        .help("write it in single quotes: '…'"),
                );
                None
            }
            None => {
                self.report(
                    Diagnostic::new(format!("{what} is a text"), span)
                        .help("write it in single quotes: '…'"),
                );
                None
            }
        }
    }
}

/// Whether a row's table tells kinds apart (`Equal.num = …`) instead of giving keys of a row.
fn is_per_kind(table: &DeTable<'_>) -> bool {
    !table.is_empty()
        && table.iter().all(|(key, value)| {
            let is_row_key = names(ROW_KEYS).contains(&key.get_ref().as_ref());
            !is_row_key && (value.get_ref().as_str().is_some() || value.get_ref().is_table())
        })
}
