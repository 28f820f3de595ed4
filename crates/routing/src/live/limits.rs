//! What can be measured live.

use trammel_core::Span;
use trammel_scenario::routing::Routing;

/// Routers, at most: each has a thread, a namespace and rings of packet sockets.
const MOST_ROUTERS: usize = 16;
/// The longest run, which takes as long by the clock.
const LONGEST: Span = Span::from_secs(15 * 60);

/// Why `scenario` is not measured, if so.
pub(super) fn refusal(scenario: &Routing) -> Option<String> {
    let routers = scenario.topology.routers.len();
    if routers > MOST_ROUTERS {
        return Some(format!(
            "{routers} routers are not measured: at most {MOST_ROUTERS} run live; make fewer, or \
             use `--engine predict,simulate`"
        ));
    }
    if scenario.duration > LONGEST {
        return Some(format!(
            "a run of {} is not measured: it takes as long by the clock, at most {LONGEST}; \
             shorten `duration`, or use `--engine predict,simulate`",
            scenario.duration
        ));
    }
    Routing::misfit(&scenario.topology).map(|why| {
        format!("nothing is measured: {why}; `--engine predict,simulate` has no such limit")
    })
}
