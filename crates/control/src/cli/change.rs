//! Changes to routes, interfaces and ARP entries.

#![expect(
    clippy::unnecessary_wraps,
    reason = "handlers have one form in the table"
)]

use super::command::{Args, Context};
use super::reply::Reply;
use crate::address::{is_host, is_station, show_mac};
use crate::arp::cache::{Cache, Entered};
use crate::dataplane::Route;
use crate::interface::address_fault;
use crate::routes;
use trammel_core::Span;

pub(super) fn route_add(context: &mut Context, args: &Args) -> Result<Reply, String> {
    let machine = &mut *context.machine;
    let route = Route {
        network: args.address("NETWORK"),
        mask: args.address("MASK"),
        next_hop: args.address("GATEWAY"),
        port: args.port("INTERFACE"),
    };
    let interfaces: Vec<_> = machine
        .ports()
        .iter()
        .map(|port| port.interface.clone())
        .collect();
    if let Some(fault) = routes::fault(&route, &interfaces) {
        return Err(fault);
    }
    machine.change_routes(|routes| routes.add(route))?;
    let name = &interfaces[route.port].name;
    Ok(Reply::done().line(&format!(
        "{} mask {} goes to {} by {name}",
        route.network, route.mask, route.next_hop
    )))
}

pub(super) fn route_del(context: &mut Context, args: &Args) -> Result<Reply, String> {
    let (network, mask) = (args.address("NETWORK"), args.address("MASK"));
    if context
        .machine
        .change_routes(|routes| routes.delete(network, mask))
    {
        return Ok(Reply::done().line(&format!("{network} mask {mask} has no static route now")));
    }
    Err(format!(
        "{network} mask {mask} has no static route: `show ip route` lists all"
    ))
}

pub(super) fn interface_up(context: &mut Context, args: &Args) -> Result<Reply, String> {
    enable(context, args.port("INTERFACE"), true)
}

pub(super) fn interface_down(context: &mut Context, args: &Args) -> Result<Reply, String> {
    enable(context, args.port("INTERFACE"), false)
}

fn enable(context: &mut Context, port: usize, up: bool) -> Result<Reply, String> {
    let state = &context.machine.ports()[port];
    let name = state.interface.name.clone();
    if state.missing {
        return Err(format!(
            "`{name}` has no port in the data plane: it stays down"
        ));
    }
    context.machine.enable(port, up);
    Ok(Reply::done().line(&format!("{name} is {}", if up { "up" } else { "down" })))
}

pub(super) fn readdress(context: &mut Context, args: &Args) -> Result<Reply, String> {
    let (port, address) = (args.port("INTERFACE"), args.address("ADDRESS"));
    let mask = args.address("MASK");
    if let Some(fault) = address_fault(address, mask) {
        return Err(fault);
    }
    for (other, of) in context.machine.ports().iter().enumerate() {
        if other != port && of.interface.address == address {
            let name = &of.interface.name;
            return Err(format!(
                "`{name}` has address {address} already: give another"
            ));
        }
    }
    let is_gateway = |route: &Route| route.next_hop == address;
    if let Some(route) = context
        .machine
        .routes()
        .configured()
        .find(|route| is_gateway(route))
    {
        return Err(format!(
            "{address} is the gateway of {} mask {}: delete that route first",
            route.network, route.mask
        ));
    }
    context.machine.readdress(port, address, mask);
    let name = &context.machine.ports()[port].interface.name;
    Ok(Reply::done().line(&format!("{name} has address {address} mask {mask}")))
}

pub(super) fn arp_add(context: &mut Context, args: &Args) -> Result<Reply, String> {
    let (address, mac) = (args.address("ADDRESS"), args.mac("MAC"));
    let machine = &mut *context.machine;
    if !is_host(address) || machine.owns(address) {
        return Err(format!(
            "{address} is no other host's address: give a neighbour's"
        ));
    }
    if !is_station(mac) {
        let mac = show_mac(mac);
        return Err(format!(
            "{mac} is no station's MAC address: give one whose first byte is even"
        ));
    }
    let routed = || machine.routes().lookup(address).map(|route| route.port);
    let Some(port) = machine.port_of(address).or_else(routed) else {
        return Err(format!(
            "no interface leads to {address}: add a route first"
        ));
    };
    if machine.change_cache(|cache| cache.add(address, mac, port)) == Entered::Refused {
        return Err("the ARP cache is full of static entries: delete one".to_owned());
    }
    machine.release((port, address));
    Ok(Reply::done().line(&format!("{address} is at {}", show_mac(mac))))
}

pub(super) fn arp_del(context: &mut Context, args: &Args) -> Result<Reply, String> {
    let address = args.address("ADDRESS");
    match context.machine.change_cache(|cache| cache.remove(address)) {
        Some(_) => Ok(Reply::done().line(&format!("{address} has no ARP entry now"))),
        None => Err(format!(
            "{address} has no ARP entry: `show ip arp` lists all"
        )),
    }
}

pub(super) fn arp_ttl(context: &mut Context, args: &Args) -> Result<Reply, String> {
    let seconds = args.number("SECONDS");
    let lifetime = Span::from_secs(seconds.into());
    context
        .machine
        .change_cache(|cache| cache.set_lifetime(lifetime));
    Ok(Reply::done().line(&format!("dynamic ARP entries last {seconds} s")))
}

pub(super) fn nuke_arp(context: &mut Context, _: &Args) -> Result<Reply, String> {
    let count = context.machine.change_cache(Cache::clear);
    Ok(Reply::done().fact("deleted", count))
}

pub(super) fn nuke_hw(context: &mut Context, _: &Args) -> Result<Reply, String> {
    context.machine.clear_hardware(context.dataplane);
    Ok(Reply::done().line("the data plane has no ARP entries until the next change"))
}

pub(super) fn own_add(context: &mut Context, args: &Args) -> Result<Reply, String> {
    let address = args.address("ADDRESS");
    context.machine.add_own(address)?;
    Ok(Reply::done().line(&format!("packets to {address} are for the software")))
}

pub(super) fn own_del(context: &mut Context, args: &Args) -> Result<Reply, String> {
    let address = args.address("ADDRESS");
    if context.machine.remove_own(address) {
        return Ok(Reply::done().line(&format!("packets to {address} are forwarded again")));
    }
    Err(format!(
        "{address} was not added: `show hw iface` lists the addresses of the data plane"
    ))
}

/// SCONE translates addresses in its slow path. Here no packet that the tables can forward comes to
/// the software, so a translation there would see few of those that it is for.
pub(super) fn nat(_: &mut Context, _: &Args) -> Result<Reply, String> {
    Err(
        "there is no NAT here: the data plane forwards packets without the software, and its \
         tables rewrite no addresses; put `IPRewriter` of a configuration for `trammel router` \
         before a port"
            .to_owned(),
    )
}
