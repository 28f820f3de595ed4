//! Gives packets random destination addresses of a prefix.
//!
//! # What it does
//! With `LIMIT`, so many addresses are drawn at first and packets get one of them.
//!
//! # Example
//! ```click
//! // Each packet goes to an address of the network that is drawn.
//! RatedSource(RATE 10) -> UDPIPEncap(10.0.0.1, 1000, 10.0.0.2, 1000)
//!     -> SetRandIPAddress(10.1.0.0/16) -> StoreIPAddress(dst) -> Discard
//! ```

use crate::args::addresses::IpPrefix;
use crate::args::kinds::INT;
use crate::args::{Args, Kind, mandatory, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use std::net::Ipv4Addr;
use trammel_packet::anno::DST_IP;
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("SetRandIPAddress", "gives packets random addresses", || {
    Box::<SetRandIPAddress>::default()
})
.params(&[
    mandatory("PREFIX", Kind::PrefixOrIp, "the addresses"),
    positional(
        "LIMIT",
        INT,
        "-1",
        "how many different ones; -1 is no limit",
    ),
])
.ops("random(); work(5)");

#[derive(Debug)]
struct SetRandIPAddress {
    prefix: IpPrefix,
    limit: usize,
    drawn: Vec<Ipv4Addr>,
}

impl Default for SetRandIPAddress {
    fn default() -> SetRandIPAddress {
        SetRandIPAddress {
            prefix: IpPrefix::new(Ipv4Addr::UNSPECIFIED, 0),
            limit: 0,
            drawn: Vec::new(),
        }
    }
}

impl SetRandIPAddress {
    fn draw(&self, ctx: &mut Ctx) -> Ipv4Addr {
        let mask = u32::from(self.prefix.mask);
        let random = ctx.rng().below(1 << 32) as u32;
        Ipv4Addr::from(random & !mask | u32::from(self.prefix.address) & mask)
    }
}

/// The most addresses that are drawn at first.
const MOST: i64 = 1 << 24;

impl Element for SetRandIPAddress {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.prefix = args.prefix("PREFIX");
        self.limit = usize::try_from(args.int("LIMIT").min(MOST)).unwrap_or(0);
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        self.drawn = (0..self.limit).map(|_| self.draw(ctx)).collect();
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        for packet in batch.iter() {
            let address = if self.drawn.is_empty() {
                self.draw(ctx)
            } else {
                let at = ctx.draw(self.drawn.len() as u64) as usize;
                self.drawn[at]
            };
            ctx.pool()[packet].set_anno_bytes(DST_IP, address.octets());
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn addresses_are_of_the_prefix() {
        let mut run = loaded(
            "InfiniteSource(LIMIT 50, STOP true) -> SetRandIPAddress(10.9.0.0/16, 2) \
             -> Print(CONTENTS NONE, PRINTANNO true) -> Discard",
        );
        run.run(1.0);
        let said = run.host.memory().said.clone();
        let mut lines: Vec<&str> = said.lines().collect();
        assert!(lines.iter().all(|line| line.contains("| 0a09")), "{said}");
        lines.sort_unstable();
        lines.dedup();
        assert_eq!(lines.len(), 2);
    }
}
