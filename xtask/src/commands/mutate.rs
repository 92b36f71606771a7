//! `cargo xtask mutate`: whether the cases of the differential suite notice a wrong row.
//!
//! A table makes it easy to be wrong many times: two swapped tensors of one kind compile. So every
//! plausible mistake is made in every row, all of them in one build, and each must be rejected by
//! the compiler or change what comes of one of the row's cases.

mod equivalent;
mod mistakes;
mod plan;
mod program;
mod scratch;

use std::collections::{BTreeMap, BTreeSet};

use indicatif::{ProgressBar, ProgressStyle};
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::index;

use crate::find::find;
use crate::outcome::{Failure, Outcome};
use crate::output::Output;
use crate::upstream::Upstream;
use crate::workspace::Workspace;

use equivalent::Equivalents;
use mistakes::Mutant;
use program::{Program, Verdict};
use scratch::Scratch;

pub(crate) const EXAMPLES: &str = "Examples:
  cargo xtask mutate                      every mistake in every row
  cargo xtask mutate numeric.Powi         every mistake in one row
  cargo xtask mutate --sample 500         some mistakes, for a quick look";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// A variant, an operation, a method or a generated function; all rows unless one is named.
    name: Option<String>,
    /// How many mutants to try, drawn at random; all of them unless said.
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// What to draw with.
    #[arg(long, value_name = "S", default_value_t = 0, requires = "sample")]
    seed: u64,
}

/// What became of a row's mutants.
#[derive(Default)]
struct Count {
    rejected: usize,
    killed: usize,
    equivalent: usize,
    survived: usize,
}

pub(crate) fn run(
    workspace: &Workspace,
    args: &Args,
    output: &mut Output,
) -> Result<Outcome, Failure> {
    let (_, table) = workspace.table()?;
    let upstream = Upstream::locked(workspace, output)?;
    let equivalents = Equivalents::read(workspace)?;
    let all: Vec<Mutant> = table
        .operations()
        .flat_map(|operation| mistakes::mutants(operation, &upstream))
        .collect();
    let unknown = equivalents.unknown(&all);
    if !unknown.is_empty() {
        let unknown = unknown.join("\n");
        return Err(format!("{} names no mutant:\n{unknown}", equivalent::FILE).into());
    }
    let mutants = match &args.name {
        None => all,
        Some(name) => {
            let rows: BTreeSet<_> = find(&table, name)?
                .iter()
                .map(|found| found.name())
                .collect();
            all.into_iter()
                .filter(|mutant| rows.contains(&mutant.row))
                .collect()
        }
    };
    let mutants = match args.sample {
        None => mutants,
        Some(size) => sample(mutants, size, args.seed),
    };
    if mutants.is_empty() {
        let reason = "there is nothing to get wrong in these rows: they call no method";
        return Err(reason.to_owned().into());
    }

    let scratch = Scratch::new(workspace)?;
    let (program, rejected) = scratch.build(&table, &mutants, output)?;
    let verdicts = run_all(&program, &mutants, &rejected, output)?;
    Ok(report(&mutants, &rejected, &verdicts, &equivalents, output))
}

/// `size` of the mutants, and the rows they are of without a mistake.
fn sample(mutants: Vec<Mutant>, size: usize, seed: u64) -> Vec<Mutant> {
    let wrong = mutants.iter().filter(|mutant| !mutant.is_control()).count();
    let mut rng = StdRng::seed_from_u64(seed);
    let drawn: BTreeSet<_> = index::sample(&mut rng, wrong, size.min(wrong))
        .into_iter()
        .collect();
    let mut position = 0;
    let mut sample = Vec::new();
    let mut control = None;
    for mutant in mutants {
        if mutant.is_control() {
            control = Some(mutant);
            continue;
        }
        if drawn.contains(&position) {
            sample.extend(control.take());
            sample.push(mutant);
        }
        position += 1;
    }
    sample
}

/// Run the cases of every mutant that compiles.
fn run_all(
    program: &std::path::Path,
    mutants: &[Mutant],
    rejected: &BTreeSet<usize>,
    output: &mut Output,
) -> Result<BTreeMap<usize, Verdict>, String> {
    let running: Vec<_> = (0..mutants.len())
        .filter(|index| !rejected.contains(index))
        .collect();
    let progress = ProgressBar::new(running.len() as u64).with_style(style());
    if progress.is_hidden() {
        output.note(format_args!(
            "running the cases of {} mutants …",
            running.len()
        ));
    }
    let mut program = Program::new(program);
    let mut verdicts = BTreeMap::new();
    for index in running {
        verdicts.insert(index, program.ask(index, &mutants[index].row)?);
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(verdicts)
}

/// Print what became of each row's mutants, and name whatever is not as it must be.
fn report(
    mutants: &[Mutant],
    rejected: &BTreeSet<usize>,
    verdicts: &BTreeMap<usize, Verdict>,
    equivalents: &Equivalents,
    output: &mut Output,
) -> Outcome {
    let mut rows: Vec<(&str, Count)> = Vec::new();
    let mut findings = Vec::new();
    for (index, mutant) in mutants.iter().enumerate() {
        if rows.last().is_none_or(|(row, _)| *row != mutant.row) {
            rows.push((&mutant.row, Count::default()));
        }
        let Some((_, count)) = rows.last_mut() else {
            continue;
        };
        let name = &mutant.name;
        let is_rejected = rejected.contains(&index);
        let verdict = match is_rejected {
            true => Verdict::Killed,
            false => verdicts.get(&index).copied().unwrap_or(Verdict::Survived),
        };
        let finding = match (verdict, equivalents.contains(name)) {
            (Verdict::Survived, false) if mutant.is_control() => continue,
            _ if mutant.is_control() => "the row itself does not pass its cases",
            (Verdict::Killed, false) => {
                match is_rejected {
                    true => count.rejected += 1,
                    false => count.killed += 1,
                }
                continue;
            }
            (Verdict::Survived, true) => {
                count.equivalent += 1;
                continue;
            }
            (Verdict::Killed, true) => "is killed and must not be listed",
            (Verdict::Survived, false) => {
                count.survived += 1;
                "survived"
            }
        };
        findings.push(format!("{name}: {finding}"));
    }
    print_table(&rows, output);
    if findings.is_empty() {
        return Outcome::Fine;
    }
    output.note("");
    findings.iter().for_each(|finding| output.error(finding));
    output.note(format_args!(
        "= help: give the row a case that tells the mistake from the row; if none can, list it in {} and say why",
        equivalent::FILE
    ));
    Outcome::Found
}

fn print_table(rows: &[(&str, Count)], output: &mut Output) {
    output.line(format_args!(
        "{:<40}  rejected  killed  equivalent  survived",
        "row"
    ));
    let mut line = |name: &str, count: &Count| {
        let Count {
            rejected,
            killed,
            equivalent,
            survived,
        } = count;
        output.line(format_args!(
            "{name:<40}  {rejected:>8}  {killed:>6}  {equivalent:>10}  {survived:>8}"
        ));
    };
    let mut total = Count::default();
    for (name, count) in rows {
        line(name, count);
        total.rejected += count.rejected;
        total.killed += count.killed;
        total.equivalent += count.equivalent;
        total.survived += count.survived;
    }
    line(&format!("{} rows", rows.len()), &total);
}

fn style() -> ProgressStyle {
    let template = "running {bar:40} {pos}/{len} mutants, {elapsed}";
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(size: usize, seed: u64) -> Vec<String> {
        let workspace = Workspace::here();
        let (_, table) = workspace.table().expect("the table is right");
        // Without the sources there are no other methods, and mistakes enough.
        let upstream = Upstream::default();
        let operations = table.operations();
        let mutants = operations.flat_map(|operation| mistakes::mutants(operation, &upstream));
        let sample = sample(mutants.collect(), size, seed);
        sample.into_iter().map(|mutant| mutant.name).collect()
    }

    #[test]
    fn a_sample_has_the_size_asked_and_the_rows_themselves() {
        let names = names(20, 1);
        let (controls, wrong): (Vec<_>, Vec<_>) = names
            .iter()
            .partition(|name| name.ends_with(mistakes::NO_MISTAKE));
        assert_eq!(wrong.len(), 20);
        let row = |name: &&String| name.split(": ").next().map(String::from);
        let rows = |names: &[&String]| names.iter().map(row).collect::<BTreeSet<_>>();
        assert_eq!(rows(&controls), rows(&wrong));
    }

    #[test]
    fn the_seed_decides_what_is_drawn() {
        assert_eq!(names(20, 1), names(20, 1));
        assert_ne!(names(20, 1), names(20, 2));
    }
}
