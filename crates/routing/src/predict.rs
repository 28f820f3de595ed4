//! Bounds of convergence, computed from the timers, the delays and the size of the network.
//!
//! The terms are those of [docs/pwospf.md](../../../docs/pwospf.md): silence until a failure is
//! noticed, the least time between updates, the way of an update across all routers, and the least
//! time between computations of paths.

use trammel_control::network::Change;
use trammel_core::{Span, Time};
use trammel_scenario::routing::Routing;

/// What is predicted of the start or of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Predicted {
    /// When it is.
    pub at: Time,
    /// What changes; none for the start.
    pub change: Option<Change>,
    /// What happens: "start", or the change in words.
    pub cause: String,
    /// The least time until a router notices.
    pub least: Span,
    /// The longest time until the tables are settled, and the longest black hole or loop.
    pub bound: Span,
}

/// The bounds after the start and after each change of `scenario`.
pub fn predict(scenario: &Routing) -> Vec<Predicted> {
    let (topology, settings) = (&scenario.topology, &scenario.settings);
    let of = |at: Time, change: Option<Change>| Predicted {
        at,
        change,
        cause: change.map_or("start".to_owned(), |change| change.words(topology)),
        least: settings.least_after(change),
        bound: settings.bound_after(topology, change),
    };
    let changes = scenario.changes.iter();
    let changes = changes.map(|(at, change)| of(*at, Some(*change)));
    std::iter::once(of(Time::ZERO, None))
        .chain(changes)
        .collect()
}
