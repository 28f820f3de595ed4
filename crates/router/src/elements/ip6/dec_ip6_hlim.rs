//! Decrements the hop limit; expired packets leave by output 1 or are dropped.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> Strip(14) -> CheckIP6Header -> d :: DecIP6HLIM -> Discard;
//! d[1] -> ICMP6Error(fe80::1, 3, 0) -> Discard
//! ```
//!
//! # References
//! RFC 8200.

use crate::elements::Entry;
use crate::engine::{Ctx, Element, Handler};
use crate::reason::Reason;
use trammel_packet::batch::Packets;
use trammel_packet::headers::ipv6::Ipv6;

/// The class.
pub static ENTRY: Entry = Entry::new("DecIP6HLIM", "decrements the hop limit", || {
    Box::<DecIp6Hlim>::default()
})
.ports("1/1-2", "a/ah")
.references(&["RFC 8200"])
.ops("parse(1); decrease(1); deparse(1); work(30)");

#[derive(Debug, Default)]
struct DecIp6Hlim {
    drops: u64,
}

impl Element for DecIp6Hlim {
    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|h| {
            let packet = &mut ctx.pool()[&h];
            match Ipv6::read_mut(packet.network_header_mut()) {
                Some(header) if header.hop_limit > 1 => {
                    header.hop_limit -= 1;
                    return Some(h);
                }
                Some(_) => ctx.reject(1, h, Reason::TtlExpired),
                None => ctx.reject(1, h, Reason::TooShort),
            }
            self.drops += 1;
            None
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
    use crate::headers::ip6_packet;
    use crate::probe::Probe;

    #[test]
    fn what_is_over_leaves_apart() {
        let mut x = Probe::new("DecIP6HLIM", 2);
        for (hops, port, left) in [(2, 0, 1), (1, 1, 1), (0, 1, 0), (255, 0, 254)] {
            let mut data = vec![0x60; 40];
            data[7] = hops;
            let out = x.send_with(&data, |packet| ip6_packet::mark(packet, 0));
            assert_eq!((out[0].0, out[0].1[7]), (port, left));
        }
        assert_eq!(x.send(&[0; 40])[0].0, 1);
        assert_eq!(x.run.read("x.drops"), "3");
    }
}
