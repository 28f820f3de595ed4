//! A live card of four ports as a bench of the peers' tests: frames by packet sockets at the far
//! ends of its interfaces, registers by its socket.
//!
//! What a frame did is known once the card has counted it, no queue that may send has frames, and
//! what left has come to the other end. Nothing is waited for by time.

use crate::bench::Bench;
use crate::rig::{PATIENCE_NS, Rig, Running, Wire};
use std::collections::BTreeMap;
use trammel_card::{Client, Options};
use trammel_io::clock;
use trammel_netfpga::registers::{Map, Registers};
use trammel_netfpga::stages::{Fcs, Queue};

/// Frames on their way to the card, at most: its interfaces have room for more.
const MOST_OUTSTANDING: u32 = 128;
/// Bytes of an FCS.
const FCS_BYTES: usize = 4;
/// Bits of a port's control register with which it sends nothing.
const PORT_IS_OFF: u32 = 0b1001;

/// The counters of one queue and of what comes by it.
struct Line {
    queue: Queue,
    wire: Option<Wire>,
    /// Addresses of counters; their sum is the frames that came.
    came: Vec<u32>,
    /// The address of the counter of those that went.
    sent: u32,
    /// The address of the number that wait to go.
    waiting: u32,
    /// Addresses, and bits that have to be so for frames to leave.
    sends: [(u32, u32, bool); 2],
    offered: u32,
    arrived: u32,
    frames: Vec<Vec<u8>>,
}

impl Line {
    fn new(queue: Queue, wire: Option<Wire>, map: &Map) -> Line {
        let at = |name: String| map.find(&name).expect("it is there").address;
        let (port, number) = (queue.port(), queue.number());
        let (group, came, sent, off) = if queue.is_cpu() {
            let came = ["PKTS_ENQUEUED", "PKTS_DROPPED_BAD", "OVERRUNS"];
            ("CPU_QUEUE", came, "PKTS_DEQUEUED", 1)
        } else {
            let came = ["PKTS_STORED", "PKTS_DROPPED_FULL", "PKTS_DROPPED_BAD"];
            ("MAC_GRP", came, "PKTS_SENT", PORT_IS_OFF)
        };
        let came = came.map(|name| at(format!("{group}_{port}_RX_QUEUE_NUM_{name}")));
        let of = |name: &str| at(format!("OQ_QUEUE_{number}_{name}"));
        Line {
            queue,
            wire,
            came: came.to_vec(),
            sent: at(format!("{group}_{port}_TX_QUEUE_NUM_{sent}")),
            waiting: of("NUM_PKTS_IN_Q"),
            sends: [
                (of("CTRL"), 1, true),
                (at(format!("{group}_{port}_CONTROL")), off, false),
            ],
            offered: 0,
            arrived: 0,
            frames: Vec::new(),
        }
    }

    fn counters(&self) -> impl Iterator<Item = u32> {
        self.came.iter().copied().chain([self.sent])
    }

    fn watched(&self) -> Vec<u32> {
        let states = self.sends.iter().map(|(at, _, _)| *at);
        let states = states.chain([self.waiting]);
        self.counters().chain(states).collect()
    }
}

/// The card, with what stands at its ends.
pub(crate) struct Lab {
    client: Client,
    lines: Vec<Line>,
    /// Registers that are looked at.
    watched: Vec<u32>,
    /// What tests made of counters by writing.
    written: BTreeMap<u32, u32>,
    /// Whether something may move.
    is_moving: bool,
    // Last, and in this order: the card ends before its interfaces go.
    pub(crate) card: Running,
    pub(crate) rig: Rig<4>,
}

impl Lab {
    /// A card that runs with options that `change` changes; nothing where the machine lacks
    /// something.
    pub(crate) fn new(change: impl FnOnce(&mut Options, &Rig<4>)) -> Option<Lab> {
        let rig = Rig::<4>::silent()?;
        // Before the card, which may send at once.
        let ends = rig.ends.each_ref().map(|end| Wire::open(end, "e"));
        let mut has_hosts = false;
        let card = rig.run(|options| {
            change(options, &rig);
            has_hosts = options.has_hosts;
        })?;
        let client = rig.client();
        let map = client.map();
        let mut ends = ends.into_iter();
        let line = |queue: Queue| {
            let host = format!("nf2c{}", queue.port());
            let wire = if queue.is_cpu() {
                has_hosts.then(|| Wire::open(&rig.home, &host))
            } else {
                ends.next()
            };
            Line::new(queue, wire, &map)
        };
        let lines: Vec<Line> = Queue::ALL.into_iter().map(line).collect();
        let counters = lines.iter().flat_map(Line::counters);
        Some(Lab {
            watched: lines.iter().flat_map(Line::watched).collect(),
            written: counters.map(|address| (address, 0)).collect(),
            client,
            lines,
            is_moving: false,
            card,
            rig,
        })
    }

    fn line(&mut self, queue: Queue) -> &mut Line {
        let line = self.lines.iter_mut().find(|line| line.queue == queue);
        line.expect("each queue has one")
    }

    /// What the card counts, as if no test had written it.
    fn look(&mut self) -> BTreeMap<u32, u32> {
        let read = self.client.read_many(self.watched.iter().copied());
        let all = self.watched.iter().zip(read.expect("the card runs"));
        all.map(|(address, value)| {
            let written = self.written.get(address).unwrap_or(&0);
            (*address, value.wrapping_add(*written))
        })
        .collect()
    }

    /// Why not all that was sent has come to its end, if so.
    fn stirs(&mut self, is_whole: bool) -> Option<String> {
        for line in &mut self.lines {
            if let Some(wire) = &mut line.wire {
                let before = line.frames.len();
                wire.gather(&mut line.frames);
                line.arrived += (line.frames.len() - before) as u32;
            }
        }
        let seen = self.look();
        for line in &self.lines {
            let (number, came) = (line.queue, line.came.iter().map(|at| seen[at]).sum::<u32>());
            let is_ours = line.wire.is_some();
            if is_ours && came != line.offered {
                return Some(format!("{number:?}: {came} came of {}", line.offered));
            }
            if !is_whole {
                continue;
            }
            let sends = line.sends.iter();
            let sends = sends.fold(true, |all, (at, bits, on)| {
                all && (seen[at] & bits != 0) == *on
            });
            let (waiting, sent) = (seen[&line.waiting], seen[&line.sent]);
            if sends && waiting > 0 {
                return Some(format!("{number:?}: {waiting} wait"));
            }
            if is_ours && sent != line.arrived {
                return Some(format!("{number:?}: {} arrived of {sent}", line.arrived));
            }
        }
        None
    }

    /// Waits until nothing moves any more; or, if not `is_whole`, until all that was sent came.
    fn settle(&mut self, is_whole: bool) {
        let patience = clock::monotonic_ns() + PATIENCE_NS;
        while let Some(why) = self.stirs(is_whole) {
            assert!(clock::monotonic_ns() < patience, "{why}");
            std::thread::yield_now();
        }
        self.is_moving &= !is_whole;
    }

    /// The next frame that left by `queue`, whether or not more is on its way.
    pub(crate) fn next_left_by(&mut self, queue: Queue) -> Option<Vec<u8>> {
        self.stirs(true);
        self.is_moving = true;
        let frames = &mut self.line(queue).frames;
        (!frames.is_empty()).then(|| frames.remove(0))
    }

    /// The card's registers, at rest.
    pub(crate) fn registers(&mut self) -> &mut Client {
        if self.is_moving {
            self.settle(true);
        }
        // Whoever has them may write.
        self.is_moving = true;
        &mut self.client
    }
}

impl Bench for Lab {
    fn send(&mut self, from: Queue, frame: &[u8], fcs: Fcs) {
        let end = match fcs {
            Fcs::Present => frame.len() - FCS_BYTES,
            _ => frame.len(),
        };
        self.is_moving = true;
        let line = self.line(from);
        let wire = line.wire.as_mut().expect("it is ours to send by");
        wire.send(&frame[..end]);
        line.offered += 1;
        if line.offered.is_multiple_of(MOST_OUTSTANDING) {
            self.settle(false);
        }
    }

    fn left_by(&mut self, queue: Queue) -> Vec<Vec<u8>> {
        if self.is_moving {
            self.settle(true);
        }
        std::mem::take(&mut self.line(queue).frames)
    }

    fn has_fcs(&self) -> bool {
        false
    }

    fn peek(&mut self, address: u32) -> u32 {
        if self.is_moving {
            self.settle(true);
        }
        let value = self.client.read(address);
        assert!(self.client.take_error().is_none());
        value
    }

    fn poke(&mut self, address: u32, value: u32) {
        if self.is_moving {
            self.settle(true);
        }
        self.is_moving = true;
        let counters: Vec<u32> = self.written.keys().copied().collect();
        // What the write itself makes of a counter is no frame.
        let both = self.client.together(|registers| {
            let before: Vec<u32> = counters.iter().map(|at| registers.read(*at)).collect();
            registers.write(address, value);
            let after = counters.iter().map(|at| registers.read(*at));
            before.into_iter().zip(after).collect::<Vec<_>>()
        });
        let both = both.expect("the card runs");
        for (written, (before, after)) in self.written.values_mut().zip(both) {
            *written = written.wrapping_add(before).wrapping_sub(after);
        }
    }
}
