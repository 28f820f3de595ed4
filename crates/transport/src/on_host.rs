//! Engine `measure` with the host's own TCP: the same job as a guest's, done by a process of this
//! host over an emulated path.

use super::job_of::{ScenarioJob, job_of};
use super::measure;
use super::run_tables::RunTables;
use crate::host::{self, Answered, Load};
use anyhow::anyhow;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use trammel_ground::Unsupported;
use trammel_kernel::boot::{self, Error, Limits};
use trammel_scenario::File;
use trammel_scenario::check::Fault;
use trammel_scenario::model::{Pcap, Scenario};
use trammel_scenario::topology::Topology;

/// What the host's kernel has of congestion controls.
const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";
/// Beside the flows' own time, a measurement may take so long.
const BESIDE: Duration = Duration::from_secs(60);
/// A share of all processors for other work beyond which numbers are worth little.
const MOST_LOAD: f64 = 0.1;

/// The host's TCP, ready to measure.
#[derive(Debug)]
pub(super) struct Host {
    /// This program.
    program: PathBuf,
    /// The kernel's version.
    version: String,
    /// What the host did in each measurement, and packets that the emulator missed.
    loads: Mutex<Vec<(Load, u64)>>,
}

/// What stands against measuring `scenario` on a host; nothing where it can be.
pub(super) fn refusals(scenario: &Scenario) -> Vec<Fault> {
    let job = match job_of(scenario, scenario.seed) {
        Ok(job) => job,
        Err(faults) => return faults,
    };
    let mut faults: Vec<Fault> = Vec::new();
    for (at, link) in job.links.iter().enumerate() {
        let places = [Some(link.queue), link.spoil];
        for (wire, end) in places.into_iter().flatten() {
            let Some((key, why)) = host::refusal(&job.job.wires[wire].ways[end]) else {
                continue;
            };
            let fault = Fault {
                place: format!("{}.{key}", place(scenario, at)),
                what: "this cannot be measured on a host".to_owned(),
                why: why.to_owned(),
                help: "leave it out, or measure with `kernel = \"linux\"`".to_owned(),
            };
            if !faults.contains(&fault) {
                faults.push(fault);
            }
        }
    }
    if scenario.pcap != Pcap::Off {
        faults.push(Fault {
            place: "pcap".to_owned(),
            what: "packets of a host cannot be captured".to_owned(),
            why: "its interfaces are gone when it answers".to_owned(),
            help: "leave it out, or measure with `kernel = \"linux\"`".to_owned(),
        });
    }
    if !job.job.parameters.is_empty() {
        faults.push(Fault {
            place: "measure.parameters".to_owned(),
            what: "parameters of the kernel's modules cannot be set on a host".to_owned(),
            why: "they would change the host's own connections".to_owned(),
            help: "leave them out, or measure with `kernel = \"linux\"`".to_owned(),
        });
    }
    faults
}

/// The table of a scenario that one of its links is of, of which each is there with its way back.
fn place(scenario: &Scenario, at: usize) -> String {
    match scenario.topology {
        Topology::Path(_) => "path".to_owned(),
        Topology::Graph(_) => format!("link.{}", at / 2),
    }
}

impl Host {
    /// The host, where it has the congestion controls of all flows.
    pub(super) fn find(file: &File) -> anyhow::Result<Host> {
        let available = std::fs::read_to_string(AVAILABLE).unwrap_or_default();
        for point in &file.points {
            let Ok(job) = job_of(&point.scenario, point.scenario.seed) else {
                continue;
            };
            let mut wanted = job.job.flows.iter().map(|flow| &flow.congestion);
            if let Some(missing) = wanted.find(|name| !has(&available, name)) {
                let what = format!(
                    "this host's kernel has no congestion control `{missing}` (it has {})",
                    available.split_whitespace().collect::<Vec<_>>().join(", ")
                );
                let mend = format!(
                    "measure with `kernel = \"linux\"`, which has all, or load it as root: \
                     `modprobe tcp_{missing}`"
                );
                return Err(Unsupported::error(&what, &mend));
            }
        }
        let version = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        Ok(Host {
            program: trammel_ground::program::own()?,
            version: version.trim().to_owned(),
            loads: Mutex::default(),
        })
    }

    /// What tells its numbers from another host's.
    pub(super) fn identity(&self) -> &str {
        &self.version
    }

    /// Runs `scenario` once; it ends early where `interrupted` says so.
    pub(super) fn measure(
        &self,
        scenario: &Scenario,
        seed: u64,
        curves: bool,
        interrupted: &(dyn Fn() -> bool + Sync),
    ) -> anyhow::Result<RunTables> {
        let job = measure::job(scenario, seed)?;
        let answered = self.ask(&job, scenario, interrupted)?;
        let mut loads = self.loads.lock().unwrap_or_else(PoisonError::into_inner);
        loads.push((answered.load, answered.missed));
        measure::tables(scenario, &job, &answered.answer, curves)
    }

    fn ask(
        &self,
        job: &ScenarioJob,
        scenario: &Scenario,
        interrupted: &(dyn Fn() -> bool + Sync),
    ) -> anyhow::Result<Answered> {
        let limits = Limits {
            memory_mib: 0,
            time: BESIDE + Duration::from_secs_f64(scenario.duration.as_secs_f64()),
            interrupted,
        };
        boot::on_host(&self.program, host::NAME, &job.job, &limits).map_err(|why| match why {
            Error::Failed(why) if why.contains("CAP_") => Unsupported::error(
                &format!("this host's TCP cannot be measured: {why}"),
                "allow user namespaces, or run as root; `kernel = \"linux\"` needs neither",
            ),
            Error::Failed(why) => anyhow!("this host's TCP could not be measured: {why}"),
            Error::Died { status, said } => {
                anyhow!("the measuring process died ({status}); its last output:\n{said}")
            }
            other => other.into(),
        })
    }

    /// Which host it is and what it did meanwhile, for a report.
    pub(super) fn facts(&self) -> Vec<(String, String)> {
        let mut facts = vec![(
            "kernel of this host".to_owned(),
            format!("Linux {}", self.version),
        )];
        let loads = self.loads.lock().unwrap_or_else(PoisonError::into_inner);
        if !loads.is_empty() {
            let most = |of: fn(&Load) -> f64| {
                loads.iter().map(|(load, _)| of(load)).fold(0.0, f64::max) * 100.0
            };
            facts.push((
                "load of this host".to_owned(),
                format!(
                    "{:.0} % of its processors by the measurement, {:.0} % by others, at most",
                    most(|load| load.own),
                    most(|load| load.others)
                ),
            ));
        }
        facts
    }

    /// Where the host was too busy.
    pub(super) fn warnings(&self) -> Vec<String> {
        let loads = self.loads.lock().unwrap_or_else(PoisonError::into_inner);
        let mut warnings = Vec::new();
        let worst = loads
            .iter()
            .map(|(load, _)| load.others)
            .fold(0.0, f64::max);
        if worst > MOST_LOAD {
            warnings.push(format!(
                "this host's processors were {:.0} % busy during the measurement: the numbers may \
                 show the load rather than the path; measure again when it is idle",
                worst * 100.0
            ));
        }
        let missed: u64 = loads.iter().map(|(_, missed)| missed).sum();
        if missed > 0 {
            warnings.push(format!(
                "the emulated path lost {missed} packets because this host was too slow: the \
                 numbers are not those of the path; use a lower rate, or `kernel = \"linux\"`"
            ));
        }
        warnings
    }
}

/// Whether a list of words has `name`.
fn has(available: &str, name: &str) -> bool {
    available.split_whitespace().any(|one| one == name)
}
