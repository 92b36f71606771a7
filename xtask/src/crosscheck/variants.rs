//! Rows and variants, in both directions.

use std::collections::BTreeSet;

use burn_op_spec::{Diagnostic, Group, Row, Table};

use super::guess;
use crate::upstream::Upstream;

/// The group's enum exists, and every row is one of its variants, in their order.
pub(super) fn check_rows(group: &Group, upstream: &Upstream, findings: &mut Vec<Diagnostic>) {
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
}

/// Every variant of the group's enum has rows.
pub(super) fn check_variants(group: &Group, upstream: &Upstream, findings: &mut Vec<Diagnostic>) {
    let Some(found) = upstream.enums.get(group.ir.as_str()) else {
        return;
    };
    let ir = group.ir.as_str();
    let carried = carried_enums(group, upstream);
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
                "`cargo xtask new-op {}.{}` writes it to [{0}.ops]",
                group.name.as_str(),
                variant.name,
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
    let variants = variants.into_iter().flatten();
    let carries = variants.filter(|variant| upstream.carries_enum(variant));
    carries.map(|variant| variant.name.clone()).collect()
}

/// Every arm is a variant of `OperationIr` that carries the group's enum.
pub(super) fn check_arms(table: &Table, upstream: &Upstream, findings: &mut Vec<Diagnostic>) {
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
}

/// Every variant of `OperationIr` that carries an enum is the arm of a group.
pub(super) fn check_carriers(table: &Table, upstream: &Upstream, findings: &mut Vec<Diagnostic>) {
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
