//! Routes IPv6 packets by the longest prefix of their destination annotation.
//!
//! # Example
//! ```click
//! rt :: LookupIP6Route(2001:db8::/32 0, ::/0 fe80::1 1);
//! FromDevice(eth0) -> Strip(14) -> CheckIP6Header -> GetIP6Address(24) -> rt;
//! rt[0] -> Discard; rt[1] -> Discard
//! ```
//!
//! # References
//! RFC 8200.

use crate::args::addresses::{parse_ip6, parse_ip6_prefix, unparse_ip6};
use crate::args::names::Names;
use crate::args::numbers::parse_uint;
use crate::args::text::split_words;
use crate::args::{Args, Kind, Need, param};
use crate::diagnostic::{About, Diagnostics};
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::study::Study;
use crate::engine::{Ctx, Element, Handler, NOWHERE};
use crate::headers::ip6_packet;
use crate::lookup::ip_lookup;
use crate::lookup::poptrie::Poptrie;
use crate::lookup::{self, BATCH, Prefix, Route, Routes, Table};
use crate::reason::Reason;
use std::net::Ipv6Addr;
use trammel_packet::batch::{Batch, CAPACITY, Packets};
use trammel_packet::pool::Pool;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "LookupIP6Route",
    "routes IPv6 packets by the longest prefix",
    || Box::<LookupIp6Route>::default(),
)
.ports("1/-", "h/h")
.references(&["RFC 8200"])
.params(&[param(
    "ROUTES",
    Need::Rest,
    Kind::Raw,
    "",
    "`DST/MASK [GW] OUTPUT`",
)])
.ops(ip_lookup::OPS);

#[derive(Debug)]
struct LookupIp6Route {
    routes: Routes<u128, Poptrie<u128>>,
    outputs: usize,
}

/// Bits that the trie's first table takes at once.
const WIDTH: u8 = 16;

impl Default for LookupIp6Route {
    fn default() -> LookupIp6Route {
        LookupIp6Route {
            routes: Routes::new(Poptrie::new(WIDTH)),
            outputs: 0,
        }
    }
}

/// A route, `DST/MASK [GW] OUTPUT`.
fn parse(text: &str, names: &dyn Names) -> Option<Route<u128>> {
    let words = split_words(text);
    let (prefix, gateway, port) = match &words[..] {
        [prefix, port] => (prefix, 0, port),
        [prefix, gateway, port] => (prefix, parse_ip6(gateway, names).ok()?.to_bits(), port),
        _ => return None,
    };
    let prefix = parse_ip6_prefix(prefix, true, names).ok()?;
    Some(Route {
        prefix: Prefix::new(prefix.address.to_bits(), prefix.len),
        gateway,
        port: parse_uint(port, u64::from(u16::MAX)).ok()? as u32,
    })
}

impl Element for LookupIp6Route {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.outputs = setup.outputs.len();
        let mut said = Diagnostics::new();
        let mut most = None;
        for (at, text) in args.rest().iter().enumerate() {
            match parse(text, &setup.names()) {
                Some(route) => {
                    most = most.max(Some(route.port as usize));
                    self.routes.set(route);
                }
                None => {
                    let text = format!("argument {} should be DADDR/MASK [GW] OUTPUT", at + 1);
                    said.error_about(About::Rest(at), text, None);
                }
            }
        }
        match most {
            None if !said.has_errors() => setup.warnings.push("no routes".to_owned()),
            Some(most) if most >= self.outputs => {
                said.error(None, format!("need {} or more output ports", most + 1));
            }
            _ => {}
        }
        if said.has_errors() { Err(said) } else { Ok(()) }
    }

    fn push(&mut self, ctx: &mut Ctx, _: usize, batch: Batch) {
        let (mut addresses, mut hops) = ([0; BATCH], [None; BATCH]);
        let count = batch.len();
        let pool = ctx.pool();
        for (packet, address) in batch.iter().zip(&mut addresses) {
            *address = u128::from_be_bytes(ip6_packet::destination(&pool[packet]));
        }
        // One address asks once; several ask together, level by level, so that no look-up waits for
        // another's memory.
        if count > 0
            && addresses[1..count]
                .iter()
                .all(|other| *other == addresses[0])
        {
            hops[..count].fill(self.routes.table().lookup(addresses[0]));
        } else {
            let table = self.routes.table();
            table.lookup_batch(&addresses[..count], &mut hops[..count]);
        }
        if let Some(hop) = hops[0]
            && hops[..count].iter().all(|other| *other == hops[0])
        {
            let (gateway, port) = self.routes.hop(hop);
            if gateway != 0 {
                let pool = ctx.pool();
                for packet in batch.iter() {
                    ip6_packet::set_destination(&mut pool[packet], gateway.to_be_bytes());
                }
            }
            return ctx.emit_all(port as usize, batch);
        }
        let mut outputs = [NOWHERE; CAPACITY];
        for ((packet, hop), output) in batch.iter().zip(hops).zip(&mut outputs) {
            let Some((gateway, port)) = hop.map(|hop| self.routes.hop(hop)) else {
                continue;
            };
            if gateway != 0 {
                ip6_packet::set_destination(&mut ctx.pool()[packet], gateway.to_be_bytes());
            }
            *output = port;
        }
        ctx.part(batch, &outputs, Reason::NoRoute);
    }

    fn handlers(&self) -> Vec<Handler> {
        [("add", "w"), ("remove", "w"), ("ctrl", "w"), ("table", "r")]
            .map(|(name, letters)| Handler::new(name, letters))
            .to_vec()
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        let mut text = String::new();
        for route in self.routes.iter() {
            if text.is_empty() {
                text += "# Active routes\n";
            }
            let address = |bits: u128| unparse_ip6(Ipv6Addr::from_bits(bits));
            let (prefix, gateway) = (route.prefix, address(route.gateway));
            text += &format!(
                "{}/{}\t{gateway}\t{}\n",
                address(prefix.first()),
                prefix.len(),
                route.port
            );
        }
        Ok(text)
    }

    fn write(&mut self, ctx: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        let (name, value) = match (name, value.trim().split_once(' ')) {
            ("ctrl", Some((command, rest))) => (command, rest),
            (name, _) => (name, value),
        };
        match name {
            "add" => {
                let route = parse(value, &ctx.names()).ok_or("expected PREFIX [GATEWAY] PORT")?;
                if route.port as usize >= self.outputs {
                    return Err("output port out of range".to_owned());
                }
                self.routes.set(route);
            }
            "remove" => {
                let prefix = parse_ip6_prefix(value.trim(), true, &ctx.names());
                let prefix = prefix.map_err(|why| why.to_string())?;
                self.routes
                    .remove(Prefix::new(prefix.address.to_bits(), prefix.len));
            }
            _ => return Err("bad command, should be `add' or `remove'".to_owned()),
        }
        Ok(())
    }

    fn study(&self, pool: &Pool, batch: &Packets, study: &mut Study) {
        let each = batch.iter();
        let addresses = each.map(|h| u128::from_be_bytes(ip6_packet::destination(&pool[h])));
        lookup::study::study(&self.routes, &addresses.collect::<Vec<u128>>(), study);
    }

    fn quantities(&self) -> Vec<(&'static str, f64)> {
        self.routes.table().quantities()
    }
}

#[cfg(test)]
mod tests {
    use crate::headers::ip6_packet;
    use crate::load::testing::errors;
    use crate::probe::Probe;
    use std::net::Ipv6Addr;

    #[test]
    fn the_longest_prefix_leads_and_its_gateway_is_noted() {
        let mut x = Probe::new(
            "LookupIP6Route(2001:db8::/32 0, 2001:db8:1::/48 fe80::9 1)",
            2,
        );
        let sent = |x: &mut Probe, to: &str| {
            let to: Ipv6Addr = to.parse().expect("an address");
            let mut seen = None;
            x.send_and_look(
                b"x",
                |packet| ip6_packet::set_destination(packet, to.octets()),
                |port, packet| {
                    let noted = Ipv6Addr::from(ip6_packet::destination(packet));
                    seen = Some((port, noted.to_string()));
                },
            );
            seen
        };
        assert_eq!(
            sent(&mut x, "2001:db8:2::1"),
            Some((0, "2001:db8:2::1".into()))
        );
        assert_eq!(sent(&mut x, "2001:db8:1::1"), Some((1, "fe80::9".into())));
        assert_eq!(sent(&mut x, "2001:db9::1"), None);
        x.run.write("x.ctrl", "add ::/0 1").expect("right");
        assert_eq!(sent(&mut x, "2001:db9::1"), Some((1, "2001:db9::1".into())));
        x.run.write("x.remove", "2001:db8:1::/48").expect("right");
        assert_eq!(sent(&mut x, "2001:db8:1::1").map(|seen| seen.0), Some(0));
        assert!(x.run.read("x.table").contains("2001:db8::/32\t::\t0\n"));
        assert_eq!(x.held(), 0);
    }

    #[test]
    fn wrong_routes_are_told() {
        let said = errors("Idle -> x :: LookupIP6Route(::/0 3, y 0) -> Idle;");
        assert!(
            said.contains("argument 2 should be DADDR/MASK [GW] OUTPUT"),
            "{said}"
        );
        assert!(said.contains("need 4 or more output ports"), "{said}");
    }
}
