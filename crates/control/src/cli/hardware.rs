//! What the data plane holds and counts, as read back.

#![expect(
    clippy::unnecessary_wraps,
    reason = "handlers have one form in the table"
)]

use super::command::{Args, Context};
use super::reply::Reply;
use super::show::name;
use crate::address::show_mac;

pub(super) fn show(context: &mut Context, args: &Args) -> Result<Reply, String> {
    let all = rtable(context, args)?.and(arp(context, args)?);
    Ok(all.and(iface(context, args)?))
}

pub(super) fn rtable(context: &mut Context, _: &Args) -> Result<Reply, String> {
    let routes = context.dataplane.routes().into_iter().enumerate();
    let rows = routes.map(|(place, route)| {
        vec![
            place.into(),
            route.network.to_string().into(),
            route.mask.to_string().into(),
            route.next_hop.to_string().into(),
            name(context.machine, route.port),
        ]
    });
    let columns = &["place", "network", "mask", "gateway", "interface"];
    Ok(Reply::done().table("hw_routes", columns, rows.collect()))
}

pub(super) fn arp(context: &mut Context, _: &Args) -> Result<Reply, String> {
    let neighbours = context.dataplane.neighbours().into_iter().enumerate();
    let rows = neighbours.map(|(place, neighbour)| {
        let address = neighbour.address.to_string();
        vec![place.into(), address.into(), show_mac(neighbour.mac).into()]
    });
    let columns = &["place", "address", "mac"];
    Ok(Reply::done().table("hw_arp", columns, rows.collect()))
}

pub(super) fn iface(context: &mut Context, _: &Args) -> Result<Reply, String> {
    let ports = 0..context.dataplane.ports();
    let macs = ports.map(|port| {
        let mac = show_mac(context.dataplane.mac(port));
        vec![port.into(), name(context.machine, port), mac.into()]
    });
    let macs = macs.collect();
    let own = context.dataplane.own_addresses().into_iter().enumerate();
    let own = own.map(|(place, address)| vec![place.into(), address.to_string().into()]);
    Ok(Reply::done()
        .table("hw_ports", &["port", "interface", "mac"], macs)
        .table("hw_own_addresses", &["place", "address"], own.collect()))
}

pub(super) fn info(context: &mut Context, _: &Args) -> Result<Reply, String> {
    let dataplane = &context.dataplane;
    let mut reply = Reply::done()
        .fact("hw_port_count", dataplane.ports())
        .fact("hw_route_count", dataplane.routes().len())
        .fact("hw_arp_count", dataplane.neighbours().len())
        .fact("hw_own_address_count", dataplane.own_addresses().len());
    for full in context.machine.handed().full() {
        reply = reply.line(&format!(
            "{full}: packets of the others pass through the software"
        ));
    }
    let counters = dataplane.counters().into_iter();
    let rows = counters.map(|(name, value)| vec![name.into(), value.into()]);
    Ok(reply.table("hw_counters", &["counter", "value"], rows.collect()))
}

pub(super) fn arp_miss(context: &mut Context, _: &Args) -> Result<Reply, String> {
    counter(context, "arp_num_misses")
}

pub(super) fn forwarded(context: &mut Context, _: &Args) -> Result<Reply, String> {
    counter(context, "num_pkts_forwarded")
}

/// SCONE could run over a virtual network in place of a card; this software always has ports.
pub(super) fn vns(context: &mut Context, _: &Args) -> Result<Reply, String> {
    let ports = context.dataplane.ports();
    Ok(Reply::done()
        .line("there is no virtual network system: `show hw iface` lists the data plane's ports")
        .fact("hw_port_count", ports))
}

fn counter(context: &Context, wanted: &'static str) -> Result<Reply, String> {
    let counters = context.dataplane.counters();
    let found = counters.iter().find(|(name, _)| *name == wanted);
    found
        .map(|(_, value)| Reply::done().fact(wanted, *value))
        .ok_or_else(|| format!("this data plane has no `{wanted}`: `hw info` lists its counters"))
}
