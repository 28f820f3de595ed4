//! What engine `measure` takes to measure flows: the real kernel in virtual time.

use super::points::{RunOptions, run_key};
use super::simulate::RunTables;
use super::{Lacks, measure};
use crate::scenario::model::{Engine, Kernel, Scenario};
use crate::scenario::{File, hash};
use anyhow::bail;
use std::path::Path;
use trammel_kernel::boot::Machine;
use trammel_kernel::build::{self, Built, Source, Wish};

/// The program of guests.
const GUEST: &str = "trammel-guest";

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
    /// The pinned kernel, where it was built.
    fn find() -> anyhow::Result<Instrument> {
        let machine = machine(&built(&wish(None)?)?)?;
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

/// The kernel of a source tree, or the pinned one, with as many compilers as there are cores.
pub(crate) fn wish(tree: Option<&Path>) -> anyhow::Result<Wish> {
    let source = match tree {
        Some(tree) => Source::Tree(tree.to_owned()),
        None => Source::pinned().map_err(lacks)?,
    };
    let cache = build::usual_cache().ok_or_else(|| {
        Lacks::error(
            "there is no folder to keep kernels in",
            "set XDG_CACHE_HOME or HOME",
        )
    })?;
    Ok(Wish {
        source,
        jobs: std::thread::available_parallelism().map_or(1, usize::from),
        cache,
    })
}

/// The kernel of `wish`, which must have been built.
pub(crate) fn built(wish: &Wish) -> anyhow::Result<Built> {
    build::find(wish).map_err(lacks)?.ok_or_else(|| {
        let tree = match &wish.source {
            Source::Tree(tree) => format!(" --source {}", tree.display()),
            Source::Package(_) => String::new(),
        };
        let mend = format!("run `trammel kernel build{tree}`, once: some minutes");
        Lacks::error("the kernel that measures is not built yet", &mend)
    })
}

/// A kernel with the program of its guests, which is beside this one.
pub(crate) fn machine(built: &Built) -> anyhow::Result<Machine> {
    let program = std::env::current_exe()?.with_file_name(GUEST);
    if !program.exists() {
        let what = format!(
            "`{}` is missing, the program that runs in guests",
            program.display()
        );
        return Err(Lacks::error(
            &what,
            "install it beside `trammel`: both come with the package",
        ));
    }
    Ok(Machine::new(&built.kernel, &program)?)
}

/// What a machine lacks ends a command with its own exit code.
pub(crate) fn lacks(error: build::Error) -> anyhow::Error {
    match error {
        build::Error::Lacks { what, mend } => Lacks::error(&what, &mend),
        other => other.into(),
    }
}
