//! The mutants that no case can kill, each with its reason.

use std::collections::BTreeSet;

use toml::de::DeTable;

use super::mistakes::Mutant;
use crate::workspace::Workspace;

/// The list: tables with a reason, and the mutants that it is the reason for.
pub(super) const FILE: &str = "tests/equivalent-mutants.toml";

pub(super) struct Equivalents(BTreeSet<String>);

impl Equivalents {
    pub(super) fn read(workspace: &Workspace) -> Result<Self, String> {
        Self::parse(&workspace.read(FILE)?)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let document = DeTable::parse(text).map_err(|cause| format!("{FILE}: {cause}"))?;
        let mut all = BTreeSet::new();
        for (key, table) in document.get_ref() {
            let wrong = |what: &str| format!("{FILE}: [{}] {what}", key.get_ref());
            let table = table
                .get_ref()
                .as_table()
                .ok_or_else(|| wrong("is no table"))?;
            let reason = table
                .get("reason")
                .and_then(|reason| reason.get_ref().as_str());
            if reason.is_none_or(str::is_empty) {
                return Err(wrong("gives no reason"));
            }
            let mutants = table
                .get("mutants")
                .and_then(|mutants| mutants.get_ref().as_array());
            for mutant in mutants.ok_or_else(|| wrong("lists no mutants"))? {
                let name = mutant
                    .get_ref()
                    .as_str()
                    .ok_or_else(|| wrong("lists what is no text"))?;
                if !all.insert(name.to_string()) {
                    return Err(wrong(&format!("lists `{name}`, which is listed already")));
                }
            }
        }
        Ok(Self(all))
    }

    /// Whether this mutant is listed.
    pub(super) fn contains(&self, name: &str) -> bool {
        self.0.contains(name)
    }

    /// The names that no mutant has.
    pub(super) fn unknown(&self, mutants: &[Mutant]) -> Vec<String> {
        let known: BTreeSet<_> = mutants.iter().map(|mutant| mutant.name.as_str()).collect();
        let listed = self.0.iter();
        listed
            .filter(|name| !known.contains(name.as_str()))
            .cloned()
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_reasons_and_names_each_mutant_once() {
        let list = "[a]\nreason = \"why\"\nmutants = [\"r: x\"]\n\
            [b]\nreason = \"why\"\nmutants = [\"r: y\"]\n";
        let all = Equivalents::parse(list).expect("it is a list");
        assert!(all.contains("r: x") && !all.contains("r: z"));
        assert_eq!(all.unknown(&[]), ["r: x", "r: y"]);

        for (list, complaint) in [
            ("[a]\nmutants = []\n", "[a] gives no reason"),
            ("[a]\nreason = \"\"\nmutants = []\n", "[a] gives no reason"),
            ("[a]\nreason = \"why\"\n", "[a] lists no mutants"),
            (
                "[a]\nreason = \"why\"\nmutants = [1]\n",
                "[a] lists what is no text",
            ),
            (
                "[a]\nreason = \"why\"\nmutants = [\"x\", \"x\"]\n",
                "[a] lists `x`, which is listed already",
            ),
        ] {
            let error = Equivalents::parse(list).err();
            assert_eq!(error, Some(format!("{FILE}: {complaint}")));
        }
    }
}
