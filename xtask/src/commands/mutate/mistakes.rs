//! The mistakes that a row can have, made one at a time.
//!
//! Whether one compiles is left to the compiler: it rejects what the table's author would see
//! rejected too.

use std::collections::BTreeSet;

use burn_op_spec::{Arity, Convert, Handling, Kind, Operation};

use super::plan::{Arg, Plan, method};
use crate::upstream::Upstream;

/// A row with one mistake.
pub(super) struct Mutant {
    /// The operation and the mistake: `numeric.Sub.float: lhs and rhs swapped`.
    pub(super) name: String,
    /// The operation.
    pub(super) row: String,
    /// The function, with the mistake in it.
    pub(super) plan: Plan,
}

/// The mistake of a mutant that has none.
pub(super) const NO_MISTAKE: &str = "no mistake";

impl Mutant {
    /// Whether it is the row itself, which must survive.
    pub(super) fn is_control(&self) -> bool {
        self.name.ends_with(NO_MISTAKE)
    }
}

const KINDS: [Kind; 3] = [Kind::Float, Kind::Int, Kind::Bool];

/// What stands in the place of an option that was forgotten: some of these are of its type.
const DROPPED: &[&str] = &[
    "Default::default()",
    "None",
    "1",
    "[1]",
    "[1, 1]",
    "[1, 1, 1]",
    "&[]",
];
const DROPPED_SCALAR: &[&str] = &["convert(&::burn_ir::ScalarIr::Int(1))"];

/// The mutants of an operation, the unchanged plan first.
pub(super) fn mutants(operation: Operation<'_>, upstream: &Upstream) -> Vec<Mutant> {
    let Some(plan) = Plan::of(operation) else {
        return Vec::new();
    };
    let mut mistakes = Mistakes {
        operation,
        mutants: Vec::new(),
        names: BTreeSet::new(),
    };
    mistakes.add(NO_MISTAKE.into(), plan.clone());
    mistakes.swaps(&plan);
    mistakes.fields(&plan);
    mistakes.kinds(&plan);
    mistakes.dropped(&plan);
    mistakes.methods(&plan, upstream);
    mistakes.mutants
}

struct Mistakes<'t> {
    operation: Operation<'t>,
    mutants: Vec<Mutant>,
    names: BTreeSet<String>,
}

impl Mistakes<'_> {
    fn add(&mut self, mistake: String, plan: Plan) {
        let row = self.operation.name();
        let name = format!("{row}: {mistake}");
        if self.names.insert(name.clone()) {
            self.mutants.push(Mutant { name, row, plan });
        }
    }

    /// Two arguments, or two outputs, in each other's place.
    fn swaps(&mut self, plan: &Plan) {
        for (one, other) in pairs(plan.args.len()) {
            if !matches!(plan.args[one], Arg::Given(_))
                && !matches!(plan.args[other], Arg::Given(_))
            {
                let mut mutant = plan.clone();
                mutant.args.swap(one, other);
                self.add(
                    format!("{} and {} swapped", plan.args[one], plan.args[other]),
                    mutant,
                );
            }
        }
        for (one, other) in pairs(plan.outputs.len()) {
            let mut mutant = plan.clone();
            let [first, second] = [one, other].map(|index| plan.outputs[index].field.clone());
            self.add(format!("{first} and {second} swapped"), {
                mutant.outputs[one].field = second;
                mutant.outputs[other].field = first;
                mutant
            });
        }
    }

    /// Another field of the IR struct, or another tensor's shape or dtype.
    fn fields(&mut self, plan: &Plan) {
        let body = self.operation.row.body.as_ref();
        let unused = body.map_or(&[][..], |body| &body.signature.unused);
        let mut tensors: Vec<String> = Vec::new();
        let mut plain: Vec<String> = unused.iter().map(|field| field.value.clone()).collect();
        for arg in &plan.args {
            match arg {
                Arg::Tensor { field, .. } => tensors.push(field.clone()),
                Arg::Plain { field, .. } => plain.push(field.clone()),
                _ => {}
            }
        }
        let outputs: Vec<String> = plan
            .outputs
            .iter()
            .map(|output| output.field.clone())
            .collect();
        for (index, arg) in plan.args.iter().enumerate() {
            let others = match arg {
                Arg::Tensor { .. } => tensors.clone(),
                Arg::Plain { .. } => plain.clone(),
                Arg::Declared { .. } => [tensors.clone(), outputs.clone()].concat(),
                Arg::Given(_) | Arg::Literal(_) => continue,
            };
            for other in others {
                let mut mutant = plan.clone();
                match &mut mutant.args[index] {
                    Arg::Tensor { field, .. } | Arg::Plain { field, .. } => *field = other,
                    Arg::Declared { tensor, .. } => *tensor = other,
                    Arg::Given(_) | Arg::Literal(_) => continue,
                }
                if mutant.args[index] != *arg {
                    self.add(format!("{} instead of {arg}", mutant.args[index]), mutant);
                }
            }
        }
    }

    /// Another kind of tensor: of one, or of all and the method with them.
    fn kinds(&mut self, plan: &Plan) {
        for (index, arg) in plan.args.iter().enumerate() {
            for kind in KINDS {
                let mut mutant = plan.clone();
                if let Arg::Tensor { kind: present, .. } = &mut mutant.args[index]
                    && *present != kind
                {
                    *present = kind;
                    self.add(format!("{arg} as {kind}"), mutant);
                }
            }
        }
        for (index, output) in plan.outputs.iter().enumerate() {
            for kind in KINDS.into_iter().filter(|kind| *kind != output.kind) {
                let mut mutant = plan.clone();
                mutant.outputs[index].kind = kind;
                self.add(format!("{} as {kind}", output.field), mutant);
            }
        }
        self.arm(plan);
    }

    /// The row in the arm of another kind.
    fn arm(&mut self, plan: &Plan) {
        let Operation { group, arm, row } = self.operation;
        let is_call = row
            .body
            .as_ref()
            .is_some_and(|body| body.handling == Handling::Call);
        let Some(own) = arm.kind.filter(|_| is_call) else {
            return;
        };
        for kind in KINDS.into_iter().filter(|kind| *kind != own) {
            let mut other = arm.clone();
            other.kind = Some(kind);
            let operation = Operation {
                group,
                arm: &other,
                row,
            };
            if let Some(mutant) = Plan::of(operation)
                && mutant.callee != plan.callee
            {
                self.add(format!("the row as {kind}"), mutant);
            }
        }
    }

    /// An option that is forgotten, an output that is not written.
    fn dropped(&mut self, plan: &Plan) {
        for (index, arg) in plan.args.iter().enumerate() {
            let dropped: &[&str] = match arg {
                Arg::Plain {
                    convert: Convert::Into,
                    ..
                } => &[DROPPED, DROPPED_SCALAR].concat(),
                Arg::Plain { .. } => DROPPED,
                Arg::Tensor {
                    arity: Arity::Optional,
                    ..
                } => &["None"],
                _ => &[],
            };
            for literal in dropped {
                let mut mutant = plan.clone();
                mutant.args[index] = Arg::Literal(literal);
                self.add(format!("{literal} instead of {arg}"), mutant);
            }
        }
        for (index, output) in plan.outputs.iter().enumerate() {
            let mut mutant = plan.clone();
            mutant.outputs[index].is_written = false;
            self.add(format!("{} not written", output.field), mutant);
        }
    }

    /// Another method of the same signature.
    fn methods(&mut self, plan: &Plan, upstream: &Upstream) {
        let Some(own) = self.operation.method() else {
            return;
        };
        let Some(signature) = upstream
            .methods
            .get(&own)
            .filter(|_| plan.callee == method(&own))
        else {
            return;
        };
        let types = |method: &crate::upstream::Method| {
            let params = method.params.iter().map(|(_, ty)| ty.clone());
            (params.collect::<Vec<_>>(), method.output.clone())
        };
        for (name, other) in &upstream.methods {
            if *name != own && types(other) == types(signature) {
                let mut mutant = plan.clone();
                mutant.callee = method(name);
                self.add(format!("{name} instead of {own}"), mutant);
            }
        }
    }
}

fn pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |one| (one + 1..count).map(move |other| (one, other)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Workspace;

    /// The mistakes of an operation of the table.
    fn mistakes(name: &str) -> Vec<String> {
        let workspace = Workspace::here();
        let (_, table) = workspace.table().expect("the table is right");
        let upstream = Upstream::locked(&workspace, &mut crate::output::Output::new())
            .expect("cargo has the sources");
        let mut operations = table.operations();
        let operation = operations.find(|operation| operation.name() == name);
        let mutants = mutants(operation.expect("the table has it"), &upstream);
        let prefix = format!("{name}: ");
        let names = mutants
            .iter()
            .map(|mutant| mutant.name.strip_prefix(&prefix));
        names
            .map(|name| name.expect("it begins with the row").into())
            .collect()
    }

    #[test]
    fn every_kind_of_mistake_is_made() {
        let found = mistakes("numeric.TopKWithIndices.float");
        for mistake in [
            NO_MISTAKE,
            "dim and k swapped",
            "out and out_indices swapped",
            "k instead of dim",
            "out.dtype instead of out_indices.dtype",
            "tensor as int",
            "out_indices as float",
            "the row as int",
            "1 instead of k",
            "out not written",
        ] {
            assert!(
                found.iter().any(|name| name == mistake),
                "{mistake}: {found:?}"
            );
        }
    }

    #[test]
    fn methods_are_those_of_the_same_signature() {
        let found = mistakes("float.Hypot");
        let is_method = |name: &&String| name.ends_with(" instead of float_hypot");
        let methods: Vec<_> = found.iter().filter(is_method).collect();
        assert!(
            methods.iter().any(|name| name.starts_with("float_atan2 ")),
            "{methods:?}"
        );
        assert!(
            !methods.iter().any(|name| name.starts_with("int_add ")),
            "{methods:?}"
        );
        assert!(
            !methods.iter().any(|name| name.starts_with("float_exp ")),
            "{methods:?}"
        );
    }

    #[test]
    fn an_option_can_be_forgotten_and_a_row_without_outputs_cannot_be_wrong() {
        assert!(mistakes("module.Linear").contains(&"None instead of bias".into()));
        assert_eq!(mistakes("stream.Drop"), [""; 0]);
        assert_eq!(mistakes("numeric.IntRandom.float"), [""; 0]);
    }

    #[test]
    fn fields_of_fields_are_mistaken_for_each_other() {
        let found = mistakes("float.Quantize");
        for mistake in [
            "tensor and qparams.scales swapped",
            "qparams.scales instead of tensor",
            "None instead of qparams.global",
        ] {
            assert!(
                found.iter().any(|name| name == mistake),
                "{mistake}: {found:?}"
            );
        }
    }
}
