//! The method that a variant is about, by its name.

use burn_op_spec::{Arm, Group};
use heck::ToSnakeCase;

use crate::upstream::{Method, Upstream};

pub(super) struct Found<'u> {
    pub(super) written: String,
    pub(super) method: &'u Method,
    pub(super) doubt: Option<String>,
}

/// A method's name as the group spells it for an arm.
pub(super) fn spelled(group: &Group, arm: &Arm, written: &str) -> String {
    match (&group.call, arm.kind) {
        (Some(call), Some(kind)) => call
            .replace("{kind}", kind.name())
            .replace("{method}", written),
        _ => written.into(),
    }
}

/// The method that is called like the variant, or nearly so.
pub(super) fn find_method<'u>(
    group: &Group,
    arm: &Arm,
    variant: &str,
    upstream: &'u Upstream,
) -> Option<Found<'u>> {
    let prefix = spelled(group, arm, "");
    let own = format!("{}_", *group.name);
    let bare = |name: &str| -> Option<String> { name.strip_prefix(&prefix).map(Into::into) };
    let squeeze = |name: &str| name.replace('_', "").to_lowercase();
    let spelled = variant.to_snake_case();
    // The inverse functions of trigonometry: `ArcCos` is `acos`.
    let spelled = spelled
        .strip_prefix("arc_")
        .map_or(spelled.clone(), |rest| format!("a{rest}"));
    let wanted = squeeze(&spelled);
    let methods = || {
        upstream
            .methods
            .iter()
            .filter_map(|(name, method)| Some((bare(name)?, method)))
    };
    let exact = methods().find(|(name, _)| {
        squeeze(name) == wanted
            || name
                .strip_prefix(&own)
                .is_some_and(|rest| squeeze(rest) == wanted)
    });
    if let Some((written, method)) = exact {
        return Some(Found {
            written,
            method,
            doubt: None,
        });
    }
    let words = |name: &str| name.split('_').map(String::from).collect::<Vec<_>>();
    let wanted = words(&spelled);
    let alike = |a: &String, b: &String| {
        let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
        short == long || (short.len() >= 3 && long.starts_with(short.as_str()))
    };
    let close = methods().find(|(name, _)| {
        let name = name.strip_prefix(&own).unwrap_or(name);
        let name = words(name);
        name.len() == wanted.len() && name.iter().zip(&wanted).all(|(a, b)| alike(a, b))
    });
    close.map(|(written, method)| Found {
        doubt: Some(format!("is `{written}` the method of `{variant}`?")),
        written,
        method,
    })
}
