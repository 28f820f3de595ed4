//! Generates frames of many TCP flows at a rate.
//!
//! # What it does
//! Each of `FLOWS` flows gives a SYN, data with PSH and ACK, and after `FLOWSIZE` frames a FIN;
//! then it gets other ports. Sequence numbers are at random and do not go together. Who pulls gets
//! a frame of one of the flows, `RATE` times a second; after `LIMIT` frames each flow that is not
//! over yet gives its FIN.
//!
//! # Example
//! ```click
//! // 100,000 packets a second of 100 flows, each of ten packets.
//! FastTCPFlows(100000, 500000, 60, 0:0:0:0:0:0, 1.0.0.1, 1:1:1:1:1:1, 2.0.0.2, 100, 10)
//!     -> Unqueue -> Discard
//! ```

use super::shared::test_frames::{
    Pace, TCP_CHECKSUM, TRANSPORT, frame, length, make, random_ports, set_ports,
};
use crate::args::kinds::{INT, UINT};
use crate::args::{Args, Kind, mandatory, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::batch::Packets;
use trammel_packet::headers::ipv4::protocol;
use trammel_packet::headers::tcp::{Tcp, flag};

/// The class.
pub static ENTRY: Entry = Entry::new(
    "FastTCPFlows",
    "generates frames of many TCP flows at a rate",
    || Box::<FastTcpFlows>::default(),
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
    mandatory("FLOWSIZE", UINT, "frames of a flow, at least 3"),
    positional("ACTIVE", Kind::Bool, "true", "whether it gives any"),
])
.ops(
    "random(); array_access(40, entries); deparse(13); checksum(length - 34); \
     copy(length); work(390)",
);

/// Frames that a flow has at least: SYN, data, FIN.
const LEAST: u64 = 3;
/// The flags of a flow's first frame, of those between, and of its last.
const FLAGS: [u8; 3] = [flag::SYN, flag::PSH | flag::ACK, flag::FIN];

#[derive(Clone, Debug, Default)]
struct TcpFlow {
    ports: [[u8; 2]; 2],
    /// Sequence number and acknowledgement of each kind of frame.
    numbers: [[u32; 2]; 3],
    count: u64,
}

#[derive(Debug, Default)]
struct FastTcpFlows {
    pace: Pace,
    frame: Vec<u8>,
    flows: Vec<TcpFlow>,
    flow_size: u64,
    /// Flows before this one are over, once the limit is reached.
    ended: usize,
}

impl FastTcpFlows {
    /// The flow that gives the next frame, and the frame's kind.
    fn next(&mut self, ctx: &mut Ctx, is_over: bool) -> Option<(usize, usize)> {
        if is_over {
            let going = |flow: &TcpFlow| flow.count != self.flow_size;
            self.ended += self.flows[self.ended..].iter().position(going)?;
            self.flows[self.ended].count = self.flow_size;
            return Some((self.ended, 2));
        }
        let at = (ctx.draw_bits(31) >> 2) as usize % self.flows.len();
        let flow = &mut self.flows[at];
        if flow.count == self.flow_size {
            flow.ports = random_ports(ctx);
            flow.count = 0;
        }
        flow.count += 1;
        let kind = match flow.count {
            1 => 0,
            count => 1 + usize::from(count == self.flow_size),
        };
        Some((at, kind))
    }

    fn write_frame(&mut self, (at, kind): (usize, usize)) {
        let flow = &self.flows[at];
        if let Some(tcp) = Tcp::read_mut(&mut self.frame[TRANSPORT..]) {
            tcp.seq.set(flow.numbers[kind][0]);
            tcp.ack.set(flow.numbers[kind][1]);
            tcp.flags = FLAGS[kind];
        }
        set_ports(&mut self.frame, flow.ports, TCP_CHECKSUM, true);
    }
}

impl Element for FastTcpFlows {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.pace.configure(setup, args);
        if args.uint("FLOWSIZE") < LEAST {
            let text = format!("flow size < {LEAST}, defaulting to {LEAST}");
            setup.warnings.push(text);
        }
        self.flow_size = args.uint("FLOWSIZE").max(LEAST);
        self.frame = frame(args, length(setup, args.uint("LENGTH"))?, protocol::TCP);
        if let Some(tcp) = Tcp::read_mut(&mut self.frame[TRANSPORT..]) {
            tcp.offset_reserved = 5 << 4;
            tcp.window.set(65535);
        }
        self.flows = vec![TcpFlow::default(); args.uint("FLOWS").max(1) as usize];
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        self.pace.initialize(ctx);
        for flow in &mut self.flows {
            flow.ports = random_ports(ctx);
            flow.numbers = [(); 3].map(|()| [ctx.draw_bits(31), ctx.draw_bits(31)]);
        }
        Ok(())
    }

    fn pull(&mut self, ctx: &mut Ctx, _: usize, max: usize, into: &mut Packets) {
        let mut pace = std::mem::take(&mut self.pace);
        pace.pull(ctx, max, into, |ctx, pace| {
            let next = self.next(ctx, pace.is_over())?;
            self.write_frame(next);
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
            self.ended = 0;
        }
        Ok(())
    }

    fn quantities(&self) -> Vec<(&'static str, f64)> {
        let (length, entries) = (self.frame.len(), self.flows.len());
        vec![("length", length as f64), ("entries", entries as f64)]
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn each_flow_is_opened_used_and_closed() {
        let mut run = loaded(
            "s :: FastTCPFlows(0, 6, 60, 0:0:0:0:0:1, 1.0.0.1, 0:0:0:0:0:2, 2.0.0.2, 1, 4) \
             -> Unqueue \
             -> Strip(14) -> CheckIPHeader(VERBOSE true) -> CheckTCPHeader(VERBOSE true) \
             -> ToIPSummaryDump(-, HEADER false, FIELDS tcp_flags) -> Discard",
        );
        run.run(1.0);
        let memory = run.host.memory();
        assert_eq!(
            (memory.printed.as_str(), memory.said.as_str()),
            ("S\nPA\nPA\nF\nS\nPA\nF\n", "")
        );
        drop(memory);
        assert_eq!(
            (run.read("s.count"), run.ctx.pool().in_use()),
            ("7".into(), 0)
        );
    }
}
