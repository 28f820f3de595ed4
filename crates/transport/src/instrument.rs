//! What engine `measure` takes to measure flows: the real kernel in virtual time, of each source
//! that the points of a file name; or the host's own.

use super::refusals::{is_of_host, refusals};
use super::run_options::{RunOptions, run_key};
use super::run_tables::RunTables;
use super::{guest, measure};
use crate::on_host as host;
use anyhow::{Context, bail};
use host::Host;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use trammel_core::label::Label;
use trammel_ground::Unsupported;
use trammel_ground::machine::date;
use trammel_kernel::boot::Machine;
use trammel_kernel::build::{self, Built, Source, Watch, Wish};
use trammel_scenario::check::told;
use trammel_scenario::model::{Engine, Pcap, Scenario};
use trammel_scenario::{File, hash};

/// The fact that is an instant.
const BUILT: &str = "kernel built";

/// What tells a kernel from another in a file: the source, its patches and the module.
type Chosen = (Option<String>, Vec<String>, Option<String>);

/// Whether the user has interrupted.
pub(crate) type Interrupted<'a> = &'a (dyn Fn() -> bool + Sync);

/// The kernels that measure, ready to boot.
#[derive(Debug)]
pub(super) struct Instrument {
    ready: BTreeMap<Chosen, Ready>,
    /// The host's own, where a point asks for it.
    host: Option<Host>,
    /// What captures lack, in the order of its words, whichever run ended first.
    missed: Mutex<BTreeSet<String>>,
}

/// A kernel that is ready to boot.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) machine: Machine,
    /// What tells it from others, its guest's program included.
    identity: String,
    /// Of whom it is.
    pub(crate) about: String,
    /// What it was made of.
    facts: Vec<(String, String)>,
}

/// The kernels that the file's points are measured with; nothing where they are not, or where one
/// is missing, which is noted.
pub(super) fn instrument(
    file: &File,
    options: &RunOptions,
    notes: &mut Vec<String>,
    lacks: &mut Option<String>,
    interrupted: Interrupted<'_>,
) -> anyhow::Result<Option<Instrument>> {
    if !options.engines.contains(&Engine::Measure) {
        return Ok(None);
    }
    // Faults of all points are told before the first is run.
    for point in &file.points {
        let scenario = &point.scenario;
        let faults = refusals(scenario, &[Engine::Measure]);
        if !faults.is_empty() {
            bail!("{}: {}", file.name, told(&faults));
        }
        let job = measure::job(scenario, scenario.seed)?;
        for note in measure::notes(scenario, &job) {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    match Instrument::of(file, interrupted) {
        Ok(instrument) => Ok(Some(instrument)),
        // Nothing begins any more, so nothing is missed.
        Err(_) if interrupted() => Ok(None),
        Err(error) if error.downcast_ref::<Unsupported>().is_some() => {
            let what = format!("{error:#}");
            notes.push(what.clone());
            *lacks = Some(what);
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// What measured numbers of `scenario` are called.
pub(super) fn label(scenario: &Scenario) -> Label {
    if is_of_host(scenario) {
        Label::Measured
    } else {
        Label::LinuxVt
    }
}

fn chosen(scenario: &Scenario) -> Chosen {
    let measure = scenario.measure.clone().unwrap_or_default();
    (measure.source, measure.patches, measure.module)
}

impl Instrument {
    fn of(file: &File, interrupted: Interrupted<'_>) -> anyhow::Result<Instrument> {
        let mut ready = BTreeMap::new();
        let mut of_host = file.points.iter().map(|point| &point.scenario);
        let host = if of_host.any(is_of_host) {
            Some(Host::find(file)?)
        } else {
            None
        };
        for point in file
            .points
            .iter()
            .filter(|point| !is_of_host(&point.scenario))
        {
            let chosen = chosen(&point.scenario);
            if let Entry::Vacant(place) = ready.entry(chosen) {
                let one = Ready::find(place.key(), interrupted)?;
                place.insert(one);
            }
        }
        Ok(Instrument {
            ready,
            host,
            missed: Mutex::default(),
        })
    }

    /// Where numbers that were measured on the host are worth little, and what captures lack.
    pub(super) fn warnings(&self) -> Vec<String> {
        let missed = self.missed.lock().unwrap_or_else(PoisonError::into_inner);
        let host = self.host.iter().flat_map(Host::warnings);
        host.chain(missed.iter().cloned()).collect()
    }

    fn ready(&self, scenario: &Scenario) -> &Ready {
        &self.ready[&chosen(scenario)]
    }

    /// The name of the run of `scenario` with `seed`, by all that decides its numbers.
    pub(super) fn key(&self, scenario: &Scenario, seed: u64) -> String {
        let run = run_key(scenario, seed);
        let identity = match self.host.as_ref().filter(|_| is_of_host(scenario)) {
            Some(host) => host.identity(),
            None => &self.ready(scenario).identity,
        };
        hash::digest(&(run, &scenario.measure, identity))
    }

    /// Runs `scenario` once with `seed`; what it asks to be captured goes into the folder given
    /// with the names of its files.
    pub(super) fn measure(
        &self,
        scenario: &Scenario,
        seed: u64,
        curves: bool,
        captures: Option<(&Path, &str)>,
        interrupted: &(dyn Fn() -> bool + Sync),
    ) -> anyhow::Result<RunTables> {
        if let Some(host) = self.host.as_ref().filter(|_| is_of_host(scenario)) {
            return host.measure(scenario, seed, curves, interrupted);
        }
        let machine = &self.ready(scenario).machine;
        let captures = captures.filter(|_| scenario.pcap != Pcap::Off);
        let (run, missed) =
            measure::measure(machine, scenario, seed, curves, captures, interrupted)?;
        let locked = self.missed.lock();
        locked
            .unwrap_or_else(PoisonError::into_inner)
            .extend(missed);
        Ok(run)
    }

    /// Which kernels they are and what of them was set, for a report.
    pub(super) fn facts(&self, file: &File) -> Vec<(String, String)> {
        let mut facts = Vec::new();
        for ready in self.ready.values() {
            facts.push(("kernel".to_owned(), ready.about.clone()));
            facts.extend(ready.facts.iter().cloned());
        }
        facts.extend(self.host.iter().flat_map(Host::facts));
        for measure in file
            .points
            .iter()
            .filter_map(|point| point.scenario.measure.as_ref())
        {
            for (what, set) in [
                ("variable", &measure.sysctls),
                ("parameter", &measure.parameters),
            ] {
                let all = set
                    .iter()
                    .map(|(name, value)| (format!("kernel's {what}"), format!("{name} = {value}")));
                facts.extend(all);
            }
        }
        facts.sort();
        facts.dedup();
        facts
    }
}

impl Ready {
    /// The kernel that `scenario` is measured with in virtual time.
    pub(crate) fn of(scenario: &Scenario, interrupted: Interrupted<'_>) -> anyhow::Result<Ready> {
        Ready::find(&chosen(scenario), interrupted)
    }

    fn find(chosen: &Chosen, interrupted: Interrupted<'_>) -> anyhow::Result<Ready> {
        let (source, patches, module) = chosen;
        let patches: Vec<PathBuf> = patches.iter().map(PathBuf::from).collect();
        let wish = wish(source.as_deref().map(Path::new), &patches)?;
        let built = built(&wish)?;
        let mut machine = guest::machine(&built)?;
        guest::try_boot(&machine, interrupted)?;
        let mut about = format!("{} ({})", called(&built.version, &wish), built.hash);
        if let Some(file) = module {
            let module =
                build::module(&wish, &built, Path::new(file), &Unwatched).map_err(lacks)?;
            machine
                .add_module(&module)
                .with_context(|| format!("`{}`", module.display()))?;
            about = format!("{about} with `{file}`");
        }
        let identity = machine.identity()?;
        let facts = built.facts().into_iter().map(|(what, value)| {
            let seconds = value.parse().ok().filter(|_| what == BUILT);
            (what.to_owned(), seconds.map_or(value, date))
        });
        Ok(Ready {
            machine,
            identity,
            about,
            facts: facts.collect(),
        })
    }
}

/// A module is compiled in a second or two.
struct Unwatched;
impl Watch for Unwatched {}

/// A kernel's version with the patches of the user's.
pub fn called(version: &str, wish: &Wish) -> String {
    let patches = wish.patches.iter().filter_map(|path| path.file_name());
    let patches = patches.map(|name| format!(" + {}", name.to_string_lossy()));
    format!("Linux {version}{}", patches.collect::<String>())
}

/// The kernel of a source tree, or the pinned one, with patches over it and as many compilers as
/// there are cores.
pub fn wish(tree: Option<&Path>, patches: &[PathBuf]) -> anyhow::Result<Wish> {
    let source = match tree {
        Some(tree) => Source::Tree(tree.to_owned()),
        None => Source::pinned().map_err(lacks)?,
    };
    let cache = build::usual_cache()
        .ok_or_else(|| Unsupported::error("no folder for kernels", "set XDG_CACHE_HOME or HOME"))?;
    Ok(Wish {
        source,
        patches: patches.to_vec(),
        jobs: std::thread::available_parallelism().map_or(1, usize::from),
        cache,
    })
}

/// The kernel of `wish`, which must have been built.
pub fn built(wish: &Wish) -> anyhow::Result<Built> {
    build::find(wish).map_err(lacks)?.ok_or_else(|| {
        let tree = match &wish.source {
            Source::Tree(tree) => format!(" --source {}", tree.display()),
            Source::Package(_) => String::new(),
        };
        let patches = wish.patches.iter();
        let patches = patches.map(|patch| format!(" --patch {}", patch.display()));
        let patches: String = patches.collect();
        let mend = format!("run `trammel kernel build{tree}{patches}` once; it takes some minutes");
        Unsupported::error("the kernel is not built yet", &mend)
    })
}

/// What a machine lacks ends a command with its own exit code.
pub fn lacks(error: build::Error) -> anyhow::Error {
    match error {
        build::Error::Unsupported { what, mend } => Unsupported::error(&what, &mend),
        other => other.into(),
    }
}
