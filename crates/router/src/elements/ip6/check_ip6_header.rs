//! Checks IPv6 headers, and marks their headers.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> Strip(14) -> CheckIP6Header -> Discard
//! ```
//!
//! # References
//! RFC 8200.

use crate::args::addresses::parse_ip6;
use crate::args::kinds::UINT;
use crate::args::text::split_words;
use crate::args::{Args, Kind, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::headers::ip6_packet;
use crate::reason::Reason;
use trammel_packet::batch::Packets;
use trammel_packet::headers::ipv6::Ipv6;

/// The class.
pub static ENTRY: Entry = Entry::new("CheckIP6Header", "checks IPv6 headers", || {
    Box::<CheckIp6Header>::default()
})
.ports("1/1-2", "a/ah")
.references(&["RFC 8200"])
.params(&[
    positional(
        "BADADDRS",
        Kind::Text,
        "",
        "sources that are refused, with spaces between them",
    ),
    positional("OFFSET", UINT, "0", "where the header begins"),
])
.ops("parse(40); work(95)");

#[derive(Debug, Default)]
struct CheckIp6Header {
    bad: Vec<[u8; 16]>,
    offset: usize,
    drops: u64,
}

impl CheckIp6Header {
    /// Where the packet ends in `data`.
    fn check(&self, data: &[u8]) -> Result<usize, Reason> {
        let data = data.get(self.offset..).unwrap_or_default();
        let header = Ipv6::read(data).ok_or(Reason::TooShort)?;
        if header.version() != 6 {
            return Err(Reason::BadVersion);
        }
        let len = Ipv6::LEN + usize::from(header.payload_length.get());
        if len > data.len() {
            return Err(Reason::BadLength);
        }
        if self.bad.contains(&header.src) {
            return Err(Reason::BadSource);
        }
        Ok(self.offset + len)
    }
}

impl Element for CheckIp6Header {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.offset = args.uint("OFFSET") as usize;
        self.bad = vec![[0xFF; 16]];
        for word in split_words(args.text("BADADDRS")) {
            let address = parse_ip6(&word, &setup.names()).map_err(|_| {
                let mut said = Diagnostics::new();
                said.error(None, "expects IP6ADDRESS -a ");
                said
            })?;
            self.bad.push(address.octets());
        }
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|h| {
            let packet = &mut ctx.pool()[&h];
            match self.check(packet.data()) {
                Ok(end) => {
                    packet.take(packet.len() - end);
                    ip6_packet::mark(packet, self.offset);
                    Some(h)
                }
                Err(reason) => {
                    if self.drops == 0 {
                        ctx.host().say("IP6 header check failed\n");
                    }
                    self.drops += 1;
                    ctx.reject(1, h, reason);
                    None
                }
            }
        });
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("drops", "r")]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        Ok(self.drops.to_string())
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::Probe;

    /// A packet from `::1` to `::2` with this payload.
    fn packet(payload: &[u8]) -> Vec<u8> {
        let mut data = vec![0; 40];
        (data[0], data[5], data[6], data[7]) = (0x60, payload.len() as u8, 59, 64);
        (data[23], data[39]) = (1, 2);
        data.extend(payload);
        data
    }

    #[test]
    fn sound_packets_pass_without_what_follows_them() {
        let mut x = Probe::new("CheckIP6Header(\"::5 ::6\")", 2);
        let good = packet(b"abc");
        assert_eq!(
            x.send(&[&good[..], b"padding"].concat()),
            [(0, good.clone())]
        );
        for len in 0..good.len() {
            assert_eq!(x.send(&good[..len])[0].0, 1);
        }
        let (mut version, mut source) = (good.clone(), good.clone());
        version[0] = 0x40;
        source[23] = 6;
        assert_eq!((x.send(&version)[0].0, x.send(&source)[0].0), (1, 1));
        assert_eq!(x.run.read("x.drops"), "45");
        assert_eq!(x.said(), "IP6 header check failed\n");
    }
}
