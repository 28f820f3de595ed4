//! What engine `measure` takes to measure flows: the real kernel in virtual time.

use super::points::{RunOptions, run_key};
use super::simulate::RunTables;
use super::{Lacks, measure};
use crate::scenario::model::{Engine, Kernel, Scenario};
use crate::scenario::{File, hash};
use anyhow::bail;
use trammel_kernel::boot::Machine;

/// The kernel that measures, ready to boot.
#[derive(Debug)]
pub(super) struct Instrument {
    machine: Machine,
    /// What tells this kernel from others, its guest's program included.
    identity: String,
}

/// The kernel that the file's points are measured with; nothing where they are not, or where it is missing, which is noted.
pub(super) fn instrument(
    file: &File,
    options: &RunOptions,
    notes: &mut Vec<String>,
    lacks: &mut Option<String>,
) -> anyhow::Result<Option<Instrument>> {
    if !options.engines.contains(&Engine::Measure) {
        return Ok(None);
    }
    if file
        .points
        .iter()
        .any(|point| point.scenario.measure == Some(Kernel::Host))
    {
        let what = "`kernel = \"host\"` arrives in a later version; `kernel = \"linux\"` measures";
        notes.push(what.to_owned());
        *lacks = Some(what.to_owned());
        return Ok(None);
    }
    // Faults of all points are told before the first is run.
    for point in &file.points {
        let faults = measure::refusals(&point.scenario);
        if !faults.is_empty() {
            bail!("{}: {}", file.name, measure::told(&faults));
        }
        for note in measure::notes(&point.scenario) {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    match Instrument::find() {
        Ok(instrument) => Ok(Some(instrument)),
        Err(error) if error.downcast_ref::<Lacks>().is_some() => {
            let what = format!("{error:#}");
            notes.push(what.clone());
            *lacks = Some(what);
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

impl Instrument {
    /// The kernel of the cache.
    fn find() -> anyhow::Result<Instrument> {
        let kernel = std::env::var_os("TRAMMEL_KERNEL").ok_or_else(|| {
            Lacks::error(
                "no kernel has been built to measure with",
                "`trammel kernel build` makes one",
            )
        })?;
        let program = std::env::current_exe()?.with_file_name("trammel-guest");
        let machine = Machine::new(std::path::Path::new(&kernel), &program)?;
        let identity = machine.identity()?;
        Ok(Instrument { machine, identity })
    }

    /// The name of the run of `scenario` with `seed`, by all that decides its numbers.
    pub(super) fn key(&self, scenario: &Scenario, seed: u64) -> String {
        hash::digest(&(run_key(scenario, seed), &self.identity))
    }

    /// Runs `scenario` once with `seed`.
    pub(super) fn measure(
        &self,
        scenario: &Scenario,
        seed: u64,
        curves: bool,
        interrupted: &(dyn Fn() -> bool + Sync),
    ) -> anyhow::Result<RunTables> {
        measure::measure(&self.machine, scenario, seed, curves, interrupted)
    }
}
