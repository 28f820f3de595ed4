//! Generates frames of one UDP flow at a rate.
//!
//! # What it does
//! A frame with the headers of Ethernet, IPv4 and UDP is made once and given to whoever pulls,
//! `RATE` times a second and `LIMIT` times in all. With `INTERVAL`, both ports grow by one after so
//! many frames.
//!
//! # Example
//! ```click
//! FastUDPSource(100000, 500000, 60, 0:0:0:0:0:0, 1.0.0.1, 1234, 1:1:1:1:1:1, 2.0.0.2, 1234)
//!     -> Unqueue -> Discard
//! ```

use super::shared::test_frames::{Pace, UDP_CHECKSUM, length, make, set_ports, udp_frame};
use crate::args::kinds::{INT, UINT};
use crate::args::names::UDP;
use crate::args::{Args, Kind, mandatory, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "FastUDPSource",
    "generates frames of one UDP flow at a rate",
    || Box::<FastUdpSource>::default(),
)
.ports("0/1", "l/l")
.params(&[
    mandatory("RATE", UINT, "frames a second; 0: as many as are asked for"),
    mandatory("LIMIT", INT, "frames in all; negative: without end"),
    mandatory("LENGTH", UINT, "bytes of a frame, at least 60"),
    mandatory("SRCETH", Kind::Ether, "its Ethernet source"),
    mandatory("SRCIP", Kind::Ip, "its IP source"),
    mandatory("SPORT", Kind::IpPort(UDP), "its source port"),
    mandatory("DSTETH", Kind::Ether, "its Ethernet destination"),
    mandatory("DSTIP", Kind::Ip, "its IP destination"),
    mandatory("DPORT", Kind::IpPort(UDP), "its destination port"),
    positional(
        "CHECKSUM",
        Kind::Bool,
        "true",
        "whether it has UDP's checksum",
    ),
    positional("INTERVAL", UINT, "0", "frames after which the ports grow"),
    positional("ACTIVE", Kind::Bool, "true", "whether it gives any"),
])
.ops("copy(length); work(165)");

#[derive(Debug, Default)]
struct FastUdpSource {
    pace: Pace,
    frame: Vec<u8>,
    ports: [u16; 2],
    with_checksum: bool,
    interval: u64,
    /// How often the ports grew.
    grown: u16,
    /// Frames since they did.
    since: u64,
}

impl FastUdpSource {
    fn set_ports(&mut self) {
        let ports = self
            .ports
            .map(|port| port.wrapping_add(self.grown).to_be_bytes());
        set_ports(&mut self.frame, ports, UDP_CHECKSUM, self.with_checksum);
    }
}

impl Element for FastUdpSource {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.pace.configure(setup, args);
        self.frame = udp_frame(args, length(setup, args.uint("LENGTH"))?);
        self.ports = ["SPORT", "DPORT"].map(|name| args.uint(name) as u16);
        self.with_checksum = args.bool("CHECKSUM");
        self.interval = args.uint("INTERVAL");
        self.set_ports();
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        self.pace.initialize(ctx);
        Ok(())
    }

    fn pull(&mut self, ctx: &mut Ctx, _: usize, max: usize, into: &mut Packets) {
        let mut pace = std::mem::take(&mut self.pace);
        pace.pull(ctx, max, into, |ctx, pace| {
            if pace.is_over() {
                return None;
            }
            if self.interval > 0 && self.since == self.interval {
                self.grown = self.grown.wrapping_add(1);
                self.since = 0;
                self.set_ports();
            }
            self.since += 1;
            make(ctx, &self.frame)
        });
        self.pace = pace;
    }

    fn handlers(&self) -> Vec<Handler> {
        Pace::handlers()
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(self.pace.read(name))
    }

    fn write(&mut self, _: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        if self.pace.write(name, value)? {
            // The frame keeps its ports until they grow again, from the first.
            (self.grown, self.since) = (0, 0);
        }
        Ok(())
    }

    fn quantities(&self) -> Vec<(&'static str, f64)> {
        vec![("length", self.frame.len() as f64)]
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{errors, loaded};

    const ENDS: &str = "0:0:0:0:0:1, 1.0.0.1, 1000, 0:0:0:0:0:2, 2.0.0.2, 2000";

    #[test]
    fn frames_are_whole_and_come_at_the_rate() {
        let mut run = loaded(&format!(
            "s :: FastUDPSource(100, -1, 100, {ENDS}) -> Unqueue -> Strip(14) \
             -> CheckIPHeader(VERBOSE true) -> CheckUDPHeader(VERBOSE true) -> c :: Counter \
             -> Discard"
        ));
        run.run(2.0);
        let count: u64 = run.read("c.count").parse().expect("a number");
        assert!((199..=201).contains(&count), "{count}");
        assert_eq!(
            (run.read("s.rate"), run.host.memory().said.as_str()),
            ("0".into(), "")
        );
    }

    #[test]
    fn the_limit_ends_it_and_ports_grow() {
        let mut run = loaded(&format!(
            "s :: FastUDPSource(0, 5, 60, {ENDS}, true, 2) -> Unqueue \
             -> ToIPSummaryDump(-, HEADER false, FIELDS sport dport) -> Discard"
        ));
        run.run(1.0);
        assert_eq!(
            (run.read("s.count"), run.host.memory().printed.as_str()),
            (
                "5".into(),
                "1000 2000\n1000 2000\n1001 2001\n1001 2001\n1002 2002\n"
            )
        );
        assert_eq!(run.ctx.pool().in_use(), 0);
    }

    #[test]
    fn a_length_is_brought_into_bounds_or_refused() {
        let mut run = loaded(&format!(
            "s :: FastUDPSource(0, 1, 1, {ENDS}) -> Unqueue -> c :: Counter -> Discard"
        ));
        run.run(1.0);
        assert_eq!(run.read("c.byte_count"), "60");
        let text = errors(&format!(
            "FastUDPSource(0, 1, 9000, {ENDS}) -> Unqueue -> Discard"
        ));
        assert!(text.contains("packet length > "), "{text}");
    }
}
