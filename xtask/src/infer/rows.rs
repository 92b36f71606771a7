//! One row for all kinds that agree.

use burn_op_spec::Kind;

use super::Inferred;
use super::draft::Draft;

/// The drafts by row: all kinds in one if they agree, else float and int in one, else each.
pub(super) fn partition(drafts: &[Draft]) -> Vec<(Option<&'static str>, Vec<Draft>)> {
    let [first, ..] = drafts else {
        return Vec::new();
    };
    if first.kind.is_none() || agree(drafts) {
        return vec![(None, drafts.to_vec())];
    }
    let numbers: Vec<Draft> = drafts
        .iter()
        .filter(|draft| draft.kind != Some(Kind::Bool))
        .cloned()
        .collect();
    let has_bool = numbers.len() < drafts.len();
    let mut rows = Vec::new();
    let mut rest: Vec<&Draft> = drafts.iter().collect();
    if has_bool && numbers.len() == 2 && agree(&numbers) {
        rows.push((Some("num"), numbers));
        rest.retain(|draft| draft.kind == Some(Kind::Bool));
    }
    rows.extend(
        rest.into_iter()
            .map(|draft| (draft.kind.map(Kind::name), vec![draft.clone()])),
    );
    rows
}

/// Whether the drafts are one row: the same but for kinds, and each kind the arm's or fixed.
fn agree(drafts: &[Draft]) -> bool {
    let [first, rest @ ..] = drafts else {
        return true;
    };
    let same = rest.iter().all(|draft| {
        draft.method == first.method
            && draft.args == first.args
            && draft.unused == first.unused
            && draft.outputs == first.outputs
            && draft.exception == first.exception
    });
    same && (0..first.tensors.len()).all(|position| {
        let is_arms = drafts
            .iter()
            .all(|draft| Some(draft.tensors[position].1) == draft.kind);
        let is_fixed = rest
            .iter()
            .all(|draft| draft.tensors[position].1 == first.tensors[position].1);
        is_arms || is_fixed
    })
}

/// The tensors that have one kind in all rows of the variant.
pub(super) fn fixed_kinds(rows: &[(Option<&'static str>, Vec<Draft>)]) -> Vec<(String, Kind)> {
    let members = || rows.iter().flat_map(|(_, members)| members);
    let mut fixed: Vec<(String, Kind)> = Vec::new();
    for (name, kind) in members().flat_map(|draft| &draft.tensors) {
        let mut others = members()
            .flat_map(|draft| &draft.tensors)
            .filter(|(other, _)| other == name);
        let is_fixed = others.all(|(_, other)| other == kind);
        let is_arms = members().all(|draft| draft.kind == Some(*kind));
        if is_fixed && !is_arms && !fixed.iter().any(|(known, _)| known == name) {
            fixed.push((name.clone(), *kind));
        }
    }
    fixed
}

pub(super) fn write(
    suffix: Option<&'static str>,
    members: &[Draft],
    fixed: &[(String, Kind)],
) -> Inferred {
    let draft = &members[0];
    let kind_of = |position: usize| {
        let (name, kind) = &draft.tensors[position];
        let is_fixed = draft.kind.is_none() || fixed.iter().any(|(known, _)| known == name);
        if is_fixed { kind.name() } else { "T" }
    };
    let kinds = |text: &String| {
        let mut text = text.clone();
        for position in 0..draft.tensors.len() {
            text = text.replace(&format!("{{{position}}}"), kind_of(position));
        }
        text
    };
    let list = |texts: &[String]| texts.iter().map(kinds).collect::<Vec<_>>().join(", ");
    let ir_struct = draft
        .ir_struct
        .as_ref()
        .map_or(String::new(), |name| format!("{name}: "));
    let unused = match draft.unused.is_empty() || draft.method.is_none() {
        true => String::new(),
        false => format!("; {}", draft.unused.join(", ")),
    };
    let outputs = match draft.outputs.is_empty() {
        true => "()".into(),
        false => list(&draft.outputs),
    };
    let method = draft.method.as_deref().unwrap_or_default();
    let signature = format!(
        "'{ir_struct}{method}({}{unused}) -> {outputs}'",
        list(&draft.args)
    );
    let value = match &draft.exception {
        None => signature,
        Some(exception) => format!("{{ sig = {signature}, {exception} }}"),
    };
    Inferred {
        suffix,
        value,
        doubts: draft.doubts.clone(),
    }
}
