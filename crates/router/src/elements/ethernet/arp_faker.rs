//! Repeats ARP replies for an IP address to a host.
//!
//! # What it does
//! A second after the start, and every ten seconds from then on, an answer of ARP to `DSTIP` at
//! `DSTETH` leaves, which says that `SRCIP` is at `SRCETH`. Nobody need have asked.
//!
//! # Example
//! ```click
//! // Hosts of a test learn the addresses of each other.
//! ARPFaker(10.0.0.1, 2:0:0:0:0:1, 10.0.0.2, 2:0:0:0:0:2) -> Queue -> ToDevice(eth0)
//! ```

use crate::args::{Args, Kind, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::timer::TimerId;
use crate::engine::{Ctx, Element};
use crate::neighbours::arp::{self, FRAME_LEN, Party};
use trammel_packet::headers::arp::OP_REPLY;
use trammel_packet::timestamp::Timestamp;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "ARPFaker",
    "repeats ARP replies for an address to a host",
    || Box::<ArpFaker>::default(),
)
.ports("0/1", "h/h")
.references(&["RFC 826"])
.params(&[
    mandatory("DSTIP", Kind::Ip, "the IP address of the host that is told"),
    mandatory("DSTETH", Kind::Ether, "its Ethernet address"),
    mandatory("SRCIP", Kind::Ip, "the address that is told of"),
    mandatory("SRCETH", Kind::Ether, "where it is said to be"),
])
.ops("deparse(42); work(150)");

/// When the first is sent.
const FIRST: Timestamp = Timestamp::from_secs(1);
/// Between two.
const INTERVAL: Timestamp = Timestamp::from_secs(10);

#[derive(Debug, Default)]
struct ArpFaker {
    frame: Vec<u8>,
    timer: Option<TimerId>,
}

impl Element for ArpFaker {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let party = |ip: &str, ether: &str| Party {
            ip: args.ip(ip).octets(),
            ether: args.ether(ether).0,
        };
        let (told, of) = (party("DSTIP", "DSTETH"), party("SRCIP", "SRCETH"));
        self.frame = arp::frame(told.ether, OP_REPLY, of, told).to_vec();
        debug_assert_eq!(self.frame.len(), FRAME_LEN);
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        let timer = ctx.new_timer(0);
        ctx.set_timer_after(timer, FIRST);
        self.timer = Some(timer);
        Ok(())
    }

    fn run_timer(&mut self, ctx: &mut Ctx, _: u32) {
        if let Some(packet) = ctx.pool().alloc_with(&self.frame) {
            arp::mark(&mut ctx.pool()[&packet]);
            ctx.emit(0, packet);
        }
        if let Some(timer) = self.timer {
            ctx.set_timer_after(timer, INTERVAL);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn tells_after_a_second_and_then_every_ten() {
        let mut run = loaded(
            "ARPFaker(1.0.0.1, 2:1:1:1:1:1, 1.0.0.2, 2:2:2:2:2:2) -> c :: Counter -> Discard;",
        );
        run.run(0.9);
        assert_eq!(run.read("c.count"), "0");
        run.run(20.5);
        assert_eq!(
            (run.read("c.count"), run.read("c.byte_count")),
            ("3".into(), "126".into())
        );
    }
}
