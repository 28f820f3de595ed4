//! Runs a scenario in virtual time.

use crate::devices::Devices;
use trammel_control::network::{Network, Report};
use trammel_core::{Span, Time};
use trammel_scenario::routing::{DataPlane, Routing};

/// Virtual time between two questions whether to stop.
const STEP: Span = Span::from_secs(1);

/// What comes of `scenario`; nothing where `stop` says so before the end.
///
/// # Errors
///
/// What the control software refuses of its configuration.
pub fn simulate(scenario: &Routing, stop: &dyn Fn() -> bool) -> anyhow::Result<Option<Report>> {
    let (topology, settings, changes) = (&scenario.topology, &scenario.settings, &scenario.changes);
    let end = scenario.end();
    Ok(match scenario.data_plane {
        DataPlane::Devices => {
            let mut devices = Devices::new(topology, settings, changes)?;
            let is_done = step(end, stop, |at| devices.run_until(at));
            is_done.then(|| devices.into_report())
        }
        DataPlane::Tables => {
            let mut network = Network::new(topology.clone(), settings.clone(), changes);
            let is_done = step(end, stop, |at| network.run_until(at));
            is_done.then(|| network.into_report())
        }
    })
}

/// Runs in steps up to `end`; whether it got there.
fn step(end: Time, stop: &dyn Fn() -> bool, mut run_until: impl FnMut(Time)) -> bool {
    let mut at = Time::ZERO;
    while at < end {
        if stop() {
            return false;
        }
        at = (at + STEP).min(end);
        run_until(at);
    }
    true
}
