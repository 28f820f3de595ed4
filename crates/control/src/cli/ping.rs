//! Echo requests.

use super::command::{Args, Context};
use super::reply::Reply;
use crate::machine::Outcome;
use core::net::Ipv4Addr;
use trammel_packet::headers::icmp::{kind, unreachable};

pub(super) fn sping(context: &mut Context, args: &Args) -> Result<Reply, String> {
    let destination = args.address("ADDRESS");
    let number = context.machine.ping(destination)?;
    Ok(Reply::waiting(number).line(&format!("waiting for {destination}")))
}

/// The answer to `sping` when its request has ended.
pub(crate) fn reply(destination: Ipv4Addr, outcome: Outcome) -> Reply {
    match outcome {
        Outcome::Answered { after, ttl } => Reply::done()
            .line(&format!("{destination} answered after {after}"))
            .fact("round_trip_us", after.as_ns() as f64 / 1e3)
            .fact("ttl", ttl),
        Outcome::Error { from, kind, code } => Reply::refused(&format!(
            "{from} says about {destination}: {}",
            meaning(kind, code)
        )),
        Outcome::Unresolved => Reply::refused(&format!(
            "the next hop to {destination} does not answer ARP: check its address and cable"
        )),
        Outcome::Silence => Reply::refused(&format!(
            "{destination} did not answer in 6 s: check the routes there and back"
        )),
    }
}

/// What an ICMP error means.
fn meaning(of: u8, code: u8) -> String {
    let known = match (of, code) {
        (kind::TIME_EXCEEDED, 0) => "time to live exceeded",
        (kind::UNREACHABLE, unreachable::NET) => "network unreachable",
        (kind::UNREACHABLE, unreachable::HOST) => "host unreachable",
        (kind::UNREACHABLE, unreachable::PROTOCOL) => "protocol unreachable",
        (kind::UNREACHABLE, crate::ip::icmp::NET_UNKNOWN) => "network unknown",
        _ => return format!("ICMP type {of}, code {code}"),
    };
    known.to_owned()
}
