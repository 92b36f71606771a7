//! The mutants that no case can kill, each with its reason.

use std::collections::{BTreeMap, BTreeSet};

use toml::de::DeTable;

use super::mistakes::Mutant;
use crate::workspace::Workspace;

/// The list: tables with a reason, and the mutants that it is the reason for.
pub(super) const FILE: &str = "tests/equivalent-mutants.toml";

pub(super) struct Equivalents(BTreeMap<String, String>);

impl Equivalents {
    pub(super) fn read(workspace: &Workspace) -> Result<Self, String> {
        let text = workspace.read(FILE)?;
        let document = DeTable::parse(&text).map_err(|cause| format!("{FILE}: {cause}"))?;
        let mut reasons = BTreeMap::new();
        for (key, table) in document.get_ref() {
            let wrong = |what: &str| format!("{FILE}: [{}] {what}", key.get_ref());
            let table = table
                .get_ref()
                .as_table()
                .ok_or_else(|| wrong("is no table"))?;
            let reason = table
                .get("reason")
                .and_then(|reason| reason.get_ref().as_str());
            let reason = reason.filter(|reason| !reason.is_empty());
            let reason = reason.ok_or_else(|| wrong("gives no reason"))?;
            let mutants = table
                .get("mutants")
                .and_then(|mutants| mutants.get_ref().as_array());
            for mutant in mutants.ok_or_else(|| wrong("lists no mutants"))? {
                let name = mutant
                    .get_ref()
                    .as_str()
                    .ok_or_else(|| wrong("lists what is no text"))?;
                if reasons
                    .insert(name.to_string(), reason.to_string())
                    .is_some()
                {
                    return Err(wrong(&format!("lists `{name}`, which is listed already")));
                }
            }
        }
        Ok(Self(reasons))
    }

    /// Why no case can kill this mutant.
    pub(super) fn reason(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The names that no mutant has.
    pub(super) fn unknown(&self, mutants: &[Mutant]) -> Vec<String> {
        let known: BTreeSet<_> = mutants.iter().map(|mutant| mutant.name.as_str()).collect();
        let listed = self.0.keys();
        listed
            .filter(|name| !known.contains(name.as_str()))
            .cloned()
            .collect()
    }
}
