//! A running graph that takes one packet at a time and gives what leaves it.

use trammel_packet::batch::Batch;
use trammel_packet::timestamp::Timestamp;
use trammel_router::MemoryHost;
use trammel_router::engine::Ctx;
use trammel_router::engine::Options;
use trammel_router::lang;
use trammel_router::{BuiltIn, load};
use trammel_router::{MemoryDevice, Sent};

/// Connections between `in` and `out0`, `out1` … in a router of its own.
pub(crate) struct Graph {
    ctx: Ctx,
    sent: Vec<Sent>,
    /// Frames of each output that were given.
    seen: Vec<usize>,
}

impl Graph {
    pub(crate) fn new(connections: &str, outputs: usize) -> Graph {
        let host = MemoryHost::new();
        let mut text = "in :: PushNull; Idle -> in;\n".to_owned();
        let mut sent = Vec::new();
        for output in 0..outputs {
            let name = format!("out{output}");
            text += &format!("{name} :: SimpleQueue(2000) -> ToDevice({name});\n");
            let device = MemoryDevice::new(&name, std::iter::empty());
            sent.push(device.sent());
            host.memory().devices.insert(name, Box::new(device));
        }
        text += connections;
        let options = lang::Options {
            classes: Some(&BuiltIn),
            ..lang::Options::default()
        };
        let run = Options::simulated();
        let loaded = load(&text, "config", &options, Box::new(host), run);
        let (ctx, _) = loaded.unwrap_or_else(|refused| panic!("{}", refused.said.click()));
        let seen = vec![0; outputs];
        Graph { ctx, sent, seen }
    }

    /// Sends a packet; what leaves, with its output.
    pub(crate) fn send(&mut self, data: &[u8]) -> Vec<(usize, Vec<u8>)> {
        self.send_all(&[data.to_vec()])
    }

    /// Sends packets in a batch.
    pub(crate) fn send_all(&mut self, all: &[Vec<u8>]) -> Vec<(usize, Vec<u8>)> {
        for some in all.chunks(32) {
            let mut batch = Batch::default();
            for data in some {
                batch.push(self.ctx.pool().alloc_with(data).expect("there is room"));
            }
            let into = self.ctx.find("in", None).expect("it is declared");
            self.ctx.offer(into, 0, batch);
        }
        let until = self.ctx.now() + Timestamp::from_secs_f64(0.001);
        self.ctx.run_until(Some(until));
        let mut left = Vec::new();
        for (output, sent) in self.sent.iter().enumerate() {
            let frames = sent.frames();
            let new = frames[self.seen[output]..].iter();
            left.extend(new.map(|frame| (output, frame.clone())));
            self.seen[output] = frames.len();
        }
        left
    }

    /// The one packet that leaves by output 0; nothing where none does.
    pub(crate) fn pass(&mut self, data: &[u8]) -> Option<Vec<u8>> {
        let left = self.send(data);
        let first = left.into_iter().find(|(output, _)| *output == 0);
        first.map(|(_, data)| data)
    }

    /// Packets that it holds.
    pub(crate) fn held(&mut self) -> usize {
        self.ctx.pool().in_use()
    }
}
