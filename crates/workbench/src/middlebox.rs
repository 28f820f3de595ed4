//! The simulated router as a device between the links of a network: TCP through a router whose core
//! is the limit.
//!
//! A packet of the network becomes a frame: the bytes that the route's template begins with, as
//! long as the network's links count it but for what no memory has of it, lengths and checksums
//! right, with the packet's token in its last four bytes. What the router does to the head of a
//! frame, it does; a frame that comes out by the port of its direction lets its packet go on. The
//! core's time is exact to the nanosecond here: it runs what begins up to a nanosecond late.

use super::frames;
use std::collections::BTreeMap;
use trammel_core::time::Time;
use trammel_netsim::middlebox::{Arrival, Middlebox};
use trammel_router::simulate::{Report, Simulation};

/// Bytes of the token at the end of a frame.
const TOKEN_BYTES: usize = 4;
/// Bytes of a frame that links count and memory has not: checksum, preamble and gap.
pub const LINK_BYTES: u32 = 24;
/// The shortest frame, without its checksum.
pub const LEAST_FRAME: usize = 60;

/// One direction through the router.
#[derive(Clone, Debug)]
pub struct Way {
    /// The port that frames come to.
    pub from: String,
    /// The port that they leave by.
    pub to: String,
    /// What frames begin with: Ethernet and IP headers, as the configuration needs them.
    pub head: Vec<u8>,
}

/// A router between links.
#[derive(Debug)]
pub struct RouterBetween {
    simulation: Simulation,
    ways: Vec<Way>,
    /// Tokens by when they leave; the number keeps those of one time in order.
    leaving: BTreeMap<(Time, u64), u32>,
    count: u64,
}

impl RouterBetween {
    /// The router of `simulation`; way `n` is that of packets to link `n` behind it. None where a
    /// port of a way is not there.
    pub fn new(simulation: Simulation, ways: Vec<Way>) -> Option<RouterBetween> {
        for way in &ways {
            simulation.port(&way.from)?.open();
            simulation.port(&way.to)?.open();
        }
        Some(RouterBetween {
            simulation,
            ways,
            leaving: BTreeMap::new(),
            count: 0,
        })
    }

    /// What the router has done by now.
    pub fn report(&self) -> Report {
        self.simulation.report()
    }

    /// Takes over what the router has given to its links.
    fn collect(&mut self) {
        for way in &self.ways {
            let Some(port) = self.simulation.port(&way.to) else {
                continue;
            };
            for departure in port.departures() {
                let Some(token) = departure.frame.last_chunk::<TOKEN_BYTES>() else {
                    continue;
                };
                self.count += 1;
                let token = u32::from_le_bytes(*token);
                self.leaving.insert((departure.at, self.count), token);
            }
        }
    }
}

impl Middlebox for RouterBetween {
    fn accept(&mut self, now: Time, packet: Arrival) {
        let Some(way) = self.ways.get(packet.side) else {
            return;
        };
        let mut frame = way.head.clone();
        let bytes = packet.wire_bytes.saturating_sub(LINK_BYTES) as usize;
        let bytes = bytes.max(LEAST_FRAME);
        frame.resize(bytes.max(way.head.len() + TOKEN_BYTES) - TOKEN_BYTES, 0);
        frame.extend_from_slice(&packet.token.to_le_bytes());
        frames::mend(&mut frame);
        if let Some(port) = self.simulation.port(&way.from) {
            port.give(now, frame);
        }
    }

    fn next(&mut self) -> Time {
        let leaves = self.leaving.keys().next().map(|(at, _)| *at);
        let works = self.simulation.next_at();
        [leaves, works]
            .into_iter()
            .flatten()
            .min()
            .unwrap_or(Time::MAX)
    }

    fn advance(&mut self, now: Time, left: &mut Vec<u32>) {
        self.simulation.run_until(now);
        self.collect();
        while let Some(first) = self
            .leaving
            .first_entry()
            .filter(|first| first.key().0 <= now)
        {
            left.push(first.remove());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_core::Span;
    use trammel_core::entry::Params;
    use trammel_core::units::Rate;
    use trammel_netsim::flow::FlowSpec;
    use trammel_netsim::ids::LinkId;
    use trammel_netsim::link::LinkSpec;
    use trammel_netsim::network::Network;
    use trammel_netsim::trace::Pace;
    use trammel_router::BuiltIn;
    use trammel_router::engine::core_clock::Cost;
    use trammel_router::lang;
    use trammel_router::simulate::Machine;
    use trammel_router::simulate::costs::Costs;
    use trammel_router::simulate::port::{Notice, Settings};
    use trammel_tcp::cc;
    use trammel_tcp::stack::Stack;

    /// Both directions through one core.
    const CONFIG: &str = "FromDevice(a) -> c :: Counter -> Queue(100) -> ToDevice(b); \
         FromDevice(b) -> d :: Counter -> Queue(100) -> ToDevice(a)";

    /// A router where each packet costs so many microseconds, whose ports interrupt.
    fn router(packet_us: f64) -> RouterBetween {
        let language = lang::Options {
            classes: Some(&BuiltIn),
            ..lang::Options::default()
        };
        let port = |name| Settings {
            notice: Notice::Interrupt(Span::from_us(10)),
            ..Settings::ideal(name, Rate::from_bps(1_000_000_000))
        };
        let cost = Cost {
            packet: packet_us * 1000.0,
            ..Cost::NONE
        };
        let machine = Machine {
            hz: 1e9,
            costs: Costs {
                classes: [("Counter".to_owned(), cost)].into(),
                // A machine that polls every nanosecond is slow to simulate.
                others: Cost {
                    empty: 200.0,
                    ..Cost::NONE
                },
                ..Costs::default()
            },
            look_cycles: 0.0,
            ports: vec![port("a"), port("b")],
            files: None,
        };
        let loaded = Simulation::load(CONFIG, "config", &language, machine, 1);
        let simulation = loaded.unwrap_or_else(|refusal| panic!("{refusal}"));
        let way = |from: &str, to: &str| Way {
            from: from.to_owned(),
            to: to.to_owned(),
            head: vec![0; 34],
        };
        RouterBetween::new(simulation, vec![way("a", "b"), way("b", "a")]).expect("they exist")
    }

    /// A flow through the router, for so long: its goodput in bit/s, and packets that went either
    /// way.
    fn goodput(packet_us: f64, time: Time) -> (f64, u64, u64) {
        let mut net = Network::new();
        let wire = |net: &mut Network, name| net.add_link(LinkSpec::wire(name, Span::from_ms(2)));
        let (in_a, out_b) = (wire(&mut net, "to a"), wire(&mut net, "from b"));
        let (in_b, out_a) = (wire(&mut net, "to b"), wire(&mut net, "from a"));
        net.add_middlebox(Box::new(router(packet_us)), &[out_b, out_a]);
        let reno = cc::find("reno").expect("the variant is built in");
        let flow = net.add_flow(FlowSpec {
            name: "tcp".into(),
            client: Stack::linux_6(),
            server: Stack::linux_6(),
            cc: Box::new(|| (reno.build)(&Params::defaults(&reno.about))),
            start: Time::ZERO,
            stop: Time::MAX,
            bytes: None,
            forward: vec![in_a, out_b],
            backward: vec![in_b, out_a],
            reader: None,
            overhead_bytes: 14 + LINK_BYTES,
            pace: Pace::Off,
            seed: 1,
        });
        net.run_until(time);
        let through = |link: LinkId| net.link(link).counters().arrived_pkts;
        let (data, acks) = (through(out_b), through(out_a));
        let bits = net.flow(flow).bytes_delivered as f64 * 8.0;
        (bits / time.as_secs_f64(), data, acks)
    }

    #[test]
    fn tcp_gets_what_the_core_has_cycles_for() {
        let time = Time::from_secs(5);
        for packet_us in [50.0, 200.0] {
            let (bps, data, acks) = goodput(packet_us, time);
            let busy = (data + acks) as f64 * packet_us * 1e-6 / time.as_secs_f64();
            assert!((0.9..=1.0).contains(&busy), "{packet_us} us: busy {busy}");
            // Every packet of data brings 1448 bytes, but what was sent twice.
            let most = data as f64 * 1448.0 * 8.0 / time.as_secs_f64();
            assert!(bps <= most && bps > 0.9 * most, "{bps} {most}");
        }
    }

    #[test]
    fn one_network_gives_one_run() {
        let run = || goodput(100.0, Time::from_secs(1));
        assert_eq!(run(), run());
    }
}
