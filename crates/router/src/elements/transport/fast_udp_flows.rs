//! Generates frames of many UDP flows at a rate.
//!
//! # What it does
//! `FLOWS` frames with the headers of Ethernet, IPv4 and UDP are made once, with ports at random.
//! Who pulls gets one of them, `RATE` times a second and `LIMIT` times in all. A flow that gave
//! `FLOWSIZE` frames gets other ports.
//!
//! # Example
//! ```click
//! FastUDPFlows(100000, 500000, 60, 0:0:0:0:0:0, 1.0.0.1, 1:1:1:1:1:1, 2.0.0.2, 100, 10)
//!     -> Unqueue -> Discard
//! ```

use super::shared::test_frames::{
    Pace, UDP_CHECKSUM, length, make, random_ports, resize_udp, set_ports, udp_frame,
};
use crate::args::kinds::{INT, UINT};
use crate::args::numbers::parse_uint;
use crate::args::{Args, Kind, mandatory, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "FastUDPFlows",
    "generates frames of many UDP flows at a rate",
    || Box::<FastUdpFlows>::default(),
)
.ports("0/1", "l/l")
.params(&[
    mandatory("RATE", UINT, "frames a second; 0: as many as are asked for"),
    mandatory("LIMIT", INT, "frames in all; negative: without end"),
    mandatory("LENGTH", UINT, "bytes of a frame, at least 60"),
    mandatory("SRCETH", Kind::Ether, "its Ethernet source"),
    mandatory("SRCIP", Kind::Ip, "its IP source"),
    mandatory("DSTETH", Kind::Ether, "its Ethernet destination"),
    mandatory("DSTIP", Kind::Ip, "its IP destination"),
    mandatory("FLOWS", Kind::UInt { max: 1 << 20 }, "how many flows"),
    mandatory(
        "FLOWSIZE",
        UINT,
        "frames after which a flow gets other ports",
    ),
    positional(
        "CHECKSUM",
        Kind::Bool,
        "true",
        "whether they have UDP's checksum",
    ),
    positional("ACTIVE", Kind::Bool, "true", "whether it gives any"),
])
.ops(
    "random(); array_access(16, entries); deparse(6); checksum(length - 34); \
     copy(length); work(350)",
);

/// A flow: its ports, and how many frames it gave.
#[derive(Clone, Debug, Default)]
struct UdpFlow {
    ports: [[u8; 2]; 2],
    count: u64,
}

#[derive(Debug, Default)]
struct FastUdpFlows {
    pace: Pace,
    frame: Vec<u8>,
    flows: Vec<UdpFlow>,
    flow_size: u64,
    with_checksum: bool,
}

impl Element for FastUdpFlows {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.pace.configure(setup, args);
        self.frame = udp_frame(args, length(setup, args.uint("LENGTH"))?);
        self.flows = vec![UdpFlow::default(); args.uint("FLOWS").max(1) as usize];
        self.flow_size = args.uint("FLOWSIZE").max(1);
        self.with_checksum = args.bool("CHECKSUM");
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        self.pace.initialize(ctx);
        for flow in &mut self.flows {
            flow.ports = random_ports(ctx);
        }
        Ok(())
    }

    fn pull(&mut self, ctx: &mut Ctx, _: usize, max: usize, into: &mut Packets) {
        let mut pace = std::mem::take(&mut self.pace);
        pace.pull(ctx, max, into, |ctx, pace| {
            if pace.is_over() {
                return None;
            }
            let at = (ctx.draw_bits(31) >> 2) as usize % self.flows.len();
            let flow = &mut self.flows[at];
            if flow.count == self.flow_size {
                *flow = UdpFlow {
                    ports: random_ports(ctx),
                    count: 0,
                };
            }
            flow.count += 1;
            set_ports(
                &mut self.frame,
                flow.ports,
                UDP_CHECKSUM,
                self.with_checksum,
            );
            make(ctx, &self.frame)
        });
        self.pace = pace;
    }

    fn handlers(&self) -> Vec<Handler> {
        let mut all = Pace::handlers();
        all.push(Handler::new("length", "rw"));
        all
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "length" => self.frame.len().to_string(),
            _ => self.pace.read(name),
        })
    }

    fn write(&mut self, _: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        if name != "length" {
            return self.pace.write(name, value).map(|_| ());
        }
        let length = parse_uint(value.trim(), u64::from(u32::MAX));
        let length = length.map_err(|_| "length parameter must be integer")?;
        resize_udp(&mut self.frame, length)
    }

    fn quantities(&self) -> Vec<(&'static str, f64)> {
        let (length, entries) = (self.frame.len(), self.flows.len());
        vec![("length", length as f64), ("entries", entries as f64)]
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;
    use std::collections::BTreeMap;

    const ENDS: &str = "0:0:0:0:0:1, 1.0.0.1, 0:0:0:0:0:2, 2.0.0.2";

    #[test]
    fn a_flow_has_its_frames_and_then_other_ports() {
        let mut run = loaded(&format!(
            "s :: FastUDPFlows(0, 100, 80, {ENDS}, 1, 10) -> Unqueue -> Strip(14) -> CheckIPHeader \
             -> CheckUDPHeader(VERBOSE true) -> ToIPSummaryDump(-, HEADER false, \
             FIELDS sport dport ip_len) -> Discard"
        ));
        run.run(1.0);
        let printed = run.host.memory().printed.clone();
        let mut flows = BTreeMap::<&str, usize>::new();
        for line in printed.lines() {
            *flows.entry(line).or_default() += 1;
        }
        assert!(
            flows.len() >= 8 && flows.values().all(|count| count % 10 == 0),
            "{flows:?}"
        );
        assert!(printed.lines().all(|line| line.ends_with(" 66")));
        assert_eq!(run.host.memory().said, "");
    }

    #[test]
    fn the_length_may_change() {
        let mut run = loaded(&format!(
            "s :: FastUDPFlows(0, 20, 80, {ENDS}, 5, 10) -> Unqueue -> Strip(14) -> CheckIPHeader \
             -> CheckUDPHeader(VERBOSE true) -> c :: Counter -> Discard"
        ));
        run.write("s.length", "114").expect("it is one");
        assert!(run.write("s.length", "100000").is_err());
        run.run(1.0);
        assert_eq!(
            (run.read("s.length"), run.read("c.byte_count")),
            ("114".into(), "2000".into())
        );
        run.write("s.reset", "").expect("it is reset");
        run.run(1.0);
        assert_eq!(run.read("c.count"), "40");
    }
}
