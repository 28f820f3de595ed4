//! What an engine refuses of a scenario. Files are asked when they are read, so that
//! `trammel check` knows all that `trammel run` would refuse; scenarios that were built from Rust,
//! when they are run.

use std::path::Path;
use trammel_scenario::Reading;
use trammel_scenario::check::Fault;
#[cfg(target_os = "linux")]
use trammel_scenario::model::Kernel;
use trammel_scenario::model::{Engine, Scenario};

/// Reads a file for `engines`, or where none are given, for its own; what they refuse of it is a
/// fault.
pub fn reading(engines: &[Engine]) -> Reading<'_> {
    Reading {
        engines,
        refusals,
        libraries,
        ..Reading::default()
    }
}

/// Loads the library at `path`; the name of its congestion control.
#[cfg(unix)]
fn libraries(path: &Path) -> Result<&'static str, String> {
    trammel_foreign::load(path).map_err(|error| error.to_string())
}

#[cfg(not(unix))]
fn libraries(_path: &Path) -> Result<&'static str, String> {
    Err("this system's libraries cannot be loaded".to_owned())
}

/// What stands against `engines` running `scenario`; nothing where they can.
pub fn refusals(scenario: &Scenario, engines: &[Engine]) -> Vec<Fault> {
    if engines.contains(&Engine::Measure) {
        of_measure(scenario)
    } else {
        Vec::new()
    }
}

/// Whether the host's own TCP is measured.
#[cfg(target_os = "linux")]
pub(super) fn is_of_host(scenario: &Scenario) -> bool {
    let wanted = scenario.measure.as_ref();
    wanted.is_some_and(|measure| measure.kernel == Kernel::Host)
}

#[cfg(target_os = "linux")]
fn of_measure(scenario: &Scenario) -> Vec<Fault> {
    if is_of_host(scenario) {
        crate::on_host::refusals(scenario)
    } else {
        super::measure::refusals(scenario)
    }
}

/// Where there is no Linux, nothing is measured, whatever the scenario is.
#[cfg(not(target_os = "linux"))]
fn of_measure(_: &Scenario) -> Vec<Fault> {
    Vec::new()
}
