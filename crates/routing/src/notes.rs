//! What a reader must know of a scenario.

use crate::predict::predict;
use trammel_core::Span;
use trammel_scenario::routing::{DataPlane, Routing};

/// The notes on `scenario`; how packets are forwarded is of interest where it is simulated.
pub(crate) fn of(scenario: &Routing, is_simulated: bool) -> Vec<String> {
    let mut notes = strangers(scenario);
    notes.extend(close_events(scenario));
    if !is_simulated {
        return notes;
    }
    notes.push(match scenario.data_plane {
        DataPlane::Devices => "packets are forwarded by devices: control software over functional \
                               reference routers, with real frames between them"
            .to_owned(),
        DataPlane::Tables => "packets follow the routers' tables, hop by hop and in no time; \
                              PW-OSPF runs on each router"
            .to_owned(),
    });
    notes
}

/// Routers on one link that never become neighbours.
fn strangers(scenario: &Routing) -> Vec<String> {
    let topology = &scenario.topology;
    let config = |router: &usize| scenario.settings.config_of(*router);
    let mut notes = Vec::new();
    for (subnet, name) in topology.subnets.iter().zip(&scenario.links) {
        let Some((first, others)) = subnet.routers.split_first() else {
            continue;
        };
        for other in others {
            let (one, two) = (config(first), config(other));
            let what = if one.area != two.area {
                "areas"
            } else if one.hello_interval != two.hello_interval {
                "HELLO intervals"
            } else {
                continue;
            };
            notes.push(format!(
                "`{name}`: the {what} of `{}` and `{}` differ, so they never become neighbours",
                topology.routers[*first], topology.routers[*other]
            ));
        }
    }
    notes
}

/// Says so where a change comes before the bound of the one before it is over.
fn close_events(scenario: &Routing) -> Option<String> {
    let all = predict(scenario);
    let ends = all.iter().skip(1).map(|one| one.at);
    let pairs = all.iter().zip(ends.chain([scenario.end()]));
    let close = pairs
        .into_iter()
        .find(|(one, next)| one.at + one.bound > *next)?;
    let (one, next) = close;
    let left: Span = next - one.at;
    Some(format!(
        "`{}` at {}: {left} are left until the next event or the end, and the bound is {}; bounds \
         hold for one change at a time",
        one.cause, one.at, one.bound
    ))
}
