//! What the control software knows, as JSON within bounds.

use serde_json::{Value, json};
use std::net::Ipv4Addr;
use trammel_control::pwospf::Pwospf;
use trammel_control::{Control, Dataplane};
use trammel_core::Time;

/// Routers of the link-state database that are shown.
const MOST_ROUTERS: usize = 200;
/// Their adverts that are shown.
const MOST_ADVERTS: usize = 1000;
/// Neighbours that are shown.
const MOST_NEIGHBOURS: usize = 200;

/// Interfaces, counters and PW-OSPF.
pub(super) fn read(control: &mut Control, now: Time, dataplane: &mut impl Dataplane) -> Value {
    let interfaces = control.command(now, "show ip interface", dataplane).json();
    let interfaces: Value = serde_json::from_str(&interfaces).unwrap_or_default();
    let counters = control.counters().into_iter();
    let counters = counters.map(|(name, value)| (name.to_owned(), Value::from(value)));
    json!({
        "interfaces": interfaces["interfaces"],
        "counters": Value::Object(counters.collect()),
        "pwospf": control.pwospf().map(|pwospf| routing(pwospf, now)),
    })
}

fn routing(pwospf: &Pwospf, now: Time) -> Value {
    let config = pwospf.config();
    let neighbours = pwospf.neighbours().take(MOST_NEIGHBOURS);
    let neighbours = neighbours.map(|(interface, neighbour)| {
        json!({
            "port": interface,
            "router_id": neighbour.router_id.to_string(),
            "address": neighbour.address.to_string(),
            "left_ms": neighbour.expires.saturating_since(now).as_ms(),
        })
    });
    let neighbours: Vec<Value> = neighbours.collect();
    let (mut database, mut adverts, mut is_whole) = (Vec::new(), 0, true);
    for entry in pwospf.database(now) {
        adverts += entry.adverts.len();
        if database.len() >= MOST_ROUTERS || adverts > MOST_ADVERTS {
            is_whole = false;
            break;
        }
        let rows = entry.adverts.iter().map(|advert| {
            let neighbour = Some(advert.router_id).filter(|id| !id.is_unspecified());
            json!({
                "network": advert.network.to_string(),
                "mask": advert.mask.to_string(),
                "neighbour": neighbour.map(|id| id.to_string()),
            })
        });
        database.push(json!({
            "router_id": entry.router_id.to_string(),
            "sequence": entry.sequence,
            "age_ms": entry.age.as_ms(),
            "adverts": rows.collect::<Vec<_>>(),
        }));
    }
    json!({
        "router_id": config.router_id.to_string(),
        "area": Ipv4Addr::from_bits(config.area).to_string(),
        "hello_interval_ms": config.hello_interval.as_ms(),
        "lsu_interval_ms": config.lsu_interval.as_ms(),
        "neighbours": neighbours,
        "database": database,
        "is_whole": is_whole,
    })
}
