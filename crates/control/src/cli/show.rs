//! What the software knows: routes, interfaces, ARP entries, counters.

#![expect(
    clippy::unnecessary_wraps,
    reason = "handlers have one form in the table"
)]

use super::command::{Args, Context};
use super::reply::Reply;
use crate::address::show_mac;
use crate::dataplane::Route;
use crate::machine::Machine;
use crate::routes::Origin;
use serde_json::Value;

pub(super) fn ip(context: &mut Context, args: &Args) -> Result<Reply, String> {
    let all = route(context, args)?.and(interface(context, args)?);
    Ok(all.and(arp(context, args)?))
}

pub(super) fn route(context: &mut Context, _: &Args) -> Result<Reply, String> {
    let machine = &context.machine;
    let routes = machine.routes();
    let mut rows: Vec<_> = (routes.in_force().iter())
        .map(|(route, origin)| route_row(machine, route, *origin, true))
        .collect();
    let is_in_force = |route: &Route| routes.in_force().contains(&(*route, Origin::Static));
    let idle = routes.configured().filter(|route| !is_in_force(route));
    rows.extend(idle.map(|route| route_row(machine, route, Origin::Static, false)));
    let columns = &[
        "network",
        "mask",
        "gateway",
        "interface",
        "origin",
        "in_force",
    ];
    Ok(Reply::done().table("routes", columns, rows))
}

fn route_row(machine: &Machine, route: &Route, origin: Origin, in_force: bool) -> Vec<Value> {
    let origin = match origin {
        Origin::Connected => "connected",
        Origin::Static => "static",
        Origin::Learned => "pwospf",
    };
    vec![
        route.network.to_string().into(),
        route.mask.to_string().into(),
        route.next_hop.to_string().into(),
        name(machine, route.port),
        origin.into(),
        in_force.into(),
    ]
}

/// The name of the interface on `port`.
pub(super) fn name(machine: &Machine, port: usize) -> Value {
    let port = machine.ports().get(port);
    port.map_or(Value::Null, |port| port.interface.name.as_str().into())
}

pub(super) fn interface(context: &mut Context, _: &Args) -> Result<Reply, String> {
    let row = |(number, port): (usize, &crate::machine::Port)| {
        let state = match (port.missing, port.enabled) {
            (true, _) => "no port",
            (false, true) => "up",
            (false, false) => "down",
        };
        vec![
            port.interface.name.as_str().into(),
            number.into(),
            port.interface.address.to_string().into(),
            port.interface.mask.to_string().into(),
            show_mac(port.interface.mac).into(),
            state.into(),
        ]
    };
    let rows = context
        .machine
        .ports()
        .iter()
        .enumerate()
        .map(row)
        .collect();
    let columns = &["interface", "port", "address", "mask", "mac", "state"];
    Ok(Reply::done().table("interfaces", columns, rows))
}

pub(super) fn arp(context: &mut Context, _: &Args) -> Result<Reply, String> {
    let machine = &context.machine;
    let lifetime = machine.cache().lifetime();
    let rows = machine.cache().iter().map(|(address, entry)| {
        let left = entry.confirmed.map(|at| {
            let left = (at + lifetime).saturating_since(machine.now());
            left.as_ms().div_ceil(1000)
        });
        vec![
            address.to_string().into(),
            show_mac(entry.mac).into(),
            name(machine, entry.port),
            if left.is_some() { "dynamic" } else { "static" }.into(),
            left.into(),
        ]
    });
    let columns = &["address", "mac", "interface", "kind", "left_s"];
    Ok(Reply::done().table("arp", columns, rows.collect()))
}

pub(super) fn counters(context: &mut Context, _: &Args) -> Result<Reply, String> {
    let rows = context.machine.counters().all().into_iter();
    let rows = rows
        .map(|(name, value)| vec![name.into(), value.into()])
        .collect();
    Ok(Reply::done().table("counters", &["counter", "value"], rows))
}
