//! A mapping that a person makes, by the handler `add_mapping`.

use super::{Class, Rewriter, milliseconds};
use crate::args::addresses::parse_ip;
use crate::args::names::{Names, TCP, UDP, parse_port};
use crate::args::numbers::parse_uint;
use crate::args::text::split_words;
use crate::elements::transport::shared::rewriter::flow::{FlowId, address_delta, both, port_delta};
use crate::elements::transport::shared::rewriter::table::New;
use crate::engine::Ctx;

/// What is to be written.
const FORM: &str =
    "expected `[tcp | udp] SADDR SPORT DADDR DPORT SADDR SPORT DADDR DPORT FOUTPUT ROUTPUT`";

impl Rewriter {
    /// Makes the mapping that `value` says: what comes in, what it becomes, and where packets and
    /// answers leave. It lives as long as one that a packet at input 0 made.
    pub(super) fn add_by_hand(&mut self, ctx: &mut Ctx, value: &str) -> Result<(), String> {
        let words = split_words(value);
        let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut protocol = if self.class == Class::Udp { UDP } else { TCP };
        match words.first().copied() {
            Some("tcp") if self.class != Class::Udp => {
                words.remove(0);
            }
            Some("udp") if self.class != Class::Tcp => {
                protocol = UDP;
                words.remove(0);
            }
            _ => {}
        }
        let (flow, rewritten) = {
            let names = ctx.names();
            (
                end_to_end(words.get(..4).unwrap_or_default(), protocol, &names).ok_or(FORM)?,
                end_to_end(words.get(4..8).unwrap_or_default(), protocol, &names).ok_or(FORM)?,
            )
        };
        let [first, second] = words.get(8..).unwrap_or_default() else {
            return Err(FORM.to_owned());
        };
        let output = |text: &str| {
            let number = parse_uint(text, u32::MAX.into()).ok();
            number.filter(|number| (*number as usize) < ctx.outputs())
        };
        let (Some(forth), Some(back)) = (output(first), output(second)) else {
            return Err(format!("no such output, there are {}", ctx.outputs()));
        };
        let ip = address_delta(flow, rewritten);
        let new = New {
            map: self.map(protocol),
            owner: self.first_owner,
            law: self.law_numbers[usize::from(self.is_second(protocol))],
            flow,
            rewritten,
            outputs: [forth as u32, back as u32],
            protocol,
            deltas: [ip, both(ip, port_delta(flow, rewritten))],
        };
        let now = milliseconds(ctx.now());
        let added = self.with_table(ctx, |_, _, table| {
            let is_taken = table.find(new.map, flow).is_some()
                || table.find(new.map, rewritten.reverse()).is_some();
            !is_taken && table.add(new, now).is_some()
        });
        match added {
            Some(true) => Ok(()),
            _ => Err("a mapping has one of these flows already, or the table is full".to_owned()),
        }
    }
}

/// `SADDR SPORT DADDR DPORT`.
fn end_to_end(words: &[&str], protocol: u8, names: &dyn Names) -> Option<FlowId> {
    let [src, sport, dst, dport] = words else {
        return None;
    };
    Some(FlowId {
        src: parse_ip(src, names).ok()?.to_bits(),
        dst: parse_ip(dst, names).ok()?.to_bits(),
        sport: parse_port(sport, protocol, names).ok()?,
        dport: parse_port(dport, protocol, names).ok()?,
    })
}
