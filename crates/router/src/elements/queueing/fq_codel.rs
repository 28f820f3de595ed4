//! A queue for each flow, sparse flows first, each governed by CoDel.
//!
//! # What it does
//! Packets pushed to it are hashed by addresses, protocol and ports into `FLOWS` queues, which are
//! pulled from by deficit round robin. CoDel drops packets that wait too long, or marks them where
//! they understand ECN (IPv4). What is not IP shares one queue. At `LIMIT` the longest queue gives
//! way. The discipline is that of simulated links, `trammel_queues::aqm::fq_codel`.
//!
//! # Handlers
//! - `marks`: packets that were marked in place of a drop
//!
//! # Example
//! ```click
//! // A queue for each flow, each with CoDel.
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> FQCoDel(TARGET 5ms) -> Unqueue -> Discard
//! ```
//!
//! # References
//! RFC 8290.

use crate::args::kinds::UINT;
use crate::args::{Args, Kind, keyword, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::notify::{self, NotifierId, Provided};
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::headers::ip_packet::{header, set_tos, transport_len};
use crate::headers::ip6_packet;
use crate::reason::Reason;
use trammel_core::ecn::Ecn;
use trammel_core::entry::{Params, Value};
use trammel_core::time::{Span, Time};
use trammel_packet::batch::{Batch, Packets};
use trammel_packet::headers::ipv4::ecn;
use trammel_packet::packet::Packet;
use trammel_packet::pool::Handle;
use trammel_packet::timestamp::Timestamp;
use trammel_queues::aqm::{self, Discipline, Drop, Item, LinkFacts};

/// The class.
pub static ENTRY: Entry = Entry::new("FQCoDel", "a CoDel queue for each flow", || {
    Box::<FqCodel>::default()
})
.ports("1/1-2", "h/lh")
.references(&["RFC 8290"])
.params(&[
    positional("LIMIT", UINT, "10240", "the most packets that wait"),
    keyword(
        "TARGET",
        Kind::Seconds,
        "0.005",
        "the wait that a standing queue may have",
    ),
    keyword(
        "INTERVAL",
        Kind::Seconds,
        "0.1",
        "how long it may be exceeded",
    ),
    keyword(
        "FLOWS",
        Kind::Int {
            min: 1,
            max: 65_536,
        },
        "1024",
        "queues",
    ),
    keyword(
        "QUANTUM",
        Kind::Int {
            min: 1,
            max: 1 << 30,
        },
        "1514",
        "bytes that a queue sends in its turn",
    ),
    keyword(
        "ECN",
        Kind::Bool,
        "true",
        "whether packets that understand marks are marked",
    ),
])
.ops("0.5 * parse(20); 0.5 * parse(4); array_access(64, 1024); work(230)");

#[derive(Debug, Default)]
struct FqCodel {
    discipline: Option<Box<dyn Discipline>>,
    limit: u64,
    /// Packets by the numbers that the discipline knows them by.
    slots: Vec<Option<Handle>>,
    free: Vec<u32>,
    start: Timestamp,
    empty: Option<NotifierId>,
    highwater: u32,
    drops: u64,
    marks: u64,
}

/// Mixes `words`, each by a multiplication and a rotation.
fn mix(words: &[&[u8]]) -> u32 {
    let bytes = words.iter().flat_map(|word| word.iter());
    let hash = bytes.fold(0x9E37_79B9_7F4A_7C15_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3)
    });
    (hash ^ (hash >> 32)) as u32
}

/// A hash of a packet's flow, and its ECN field.
fn look(packet: &Packet) -> (u32, Ecn) {
    let network = packet.network_header();
    if let Some(ip) = header(packet) {
        let len = ip.header_len();
        let ports = match network.get(len..len + 4) {
            Some(ports) if !ip.is_fragment() && transport_len(packet) >= 4 => ports,
            _ => &[],
        };
        let addresses = network.get(12..20).unwrap_or(&[]);
        return (mix(&[addresses, &[ip.protocol], ports]), Ecn::of(ip.ecn()));
    }
    if ip6_packet::header(packet).is_some() {
        let addresses = network.get(8..40).unwrap_or(&[]);
        let next = network.get(6..7).unwrap_or(&[]);
        let ports = network.get(40..44).unwrap_or(&[]);
        return (mix(&[addresses, next, ports]), Ecn::NotEct);
    }
    (0, Ecn::NotEct)
}

fn span(of: Timestamp) -> Span {
    Span::from_ps((of.0.max(0) as u64).saturating_mul(1000))
}

impl FqCodel {
    fn take(&mut self, id: u32) -> Option<Handle> {
        let handle = self.slots.get_mut(id as usize)?.take();
        self.free.extend(handle.is_some().then_some(id));
        handle
    }

    fn keep(&mut self, handle: Handle) -> u32 {
        if let Some(id) = self.free.pop() {
            self.slots[id as usize] = Some(handle);
            return id;
        }
        self.slots.push(Some(handle));
        self.slots.len() as u32 - 1
    }

    fn length(&self) -> u32 {
        self.discipline.as_ref().map_or(0, |queue| queue.packets())
    }

    /// Drops what the discipline dropped.
    fn dropped(&mut self, ctx: &mut Ctx, item: Item, why: Drop) {
        if let Some(handle) = self.take(item.id) {
            self.drops += 1;
            let reason = match why {
                Drop::Overflow => Reason::Overflow,
                Drop::Early => Reason::Early,
            };
            ctx.reject(1, handle, reason);
        }
    }

    fn clear(&mut self, ctx: &mut Ctx) {
        let Some(mut discipline) = self.discipline.take() else {
            return;
        };
        let now = Time::ZERO + span(ctx.now() - self.start);
        let mut dropped = Vec::new();
        while let Some(item) = discipline.dequeue(now, ctx.rng(), &mut |item, _| dropped.push(item))
        {
            dropped.push(item);
        }
        for item in dropped {
            if let Some(handle) = self.take(item.id) {
                ctx.drop(handle, Reason::Discarded);
            }
        }
        self.discipline = Some(discipline);
    }
}

impl Element for FqCodel {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.limit = args.uint("LIMIT");
        let entry = &aqm::fq_codel::ENTRY;
        let given = [
            ("target", Value::Time(span(args.seconds("TARGET")))),
            ("interval", Value::Time(span(args.seconds("INTERVAL")))),
            ("flows", Value::Int(args.int("FLOWS"))),
            ("quantum", Value::Bytes(args.int("QUANTUM").unsigned_abs())),
            ("ecn", Value::Bool(args.bool("ECN"))),
        ];
        let given = given.map(|(name, value)| (name.to_owned(), value));
        let params = Params::resolve(&entry.about, &given).map_err(|faults| {
            let texts: Vec<String> = faults.iter().map(ToString::to_string).collect();
            Diagnostics::of(texts.join("; "))
        })?;
        let facts = LinkFacts {
            rate_bps: 0,
            mtu: 1514,
            limit_packets: self.limit as u32,
            limit_bytes: u64::MAX,
            overhead: 14,
        };
        self.discipline = Some((entry.build)(&params, &facts).map_err(Diagnostics::of)?);
        Ok(())
    }

    fn prepare(&mut self, ctx: &mut Ctx) {
        self.empty = Some(ctx.new_notifier("empty"));
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        self.start = ctx.now();
        Ok(())
    }

    fn notifier(&self, kind: notify::Kind, _: usize) -> Provided {
        match self.empty {
            Some(empty) if kind == notify::Kind::Empty => Provided::Stop(empty),
            _ => Provided::None,
        }
    }

    fn push(&mut self, ctx: &mut Ctx, _: usize, mut batch: Batch) {
        let now = Time::ZERO + span(ctx.now() - self.start);
        for handle in batch.drain() {
            let packet = &ctx.pool()[&handle];
            let bytes = u32::try_from(packet.len()).unwrap_or(u32::MAX);
            let (flow, ecn) = look(packet);
            let item = Item {
                id: self.keep(handle),
                bytes,
                flow,
                ecn,
                enqueued: now,
                ..Item::default()
            };
            // The discipline is put aside while it reports drops, which change what it does not
            // know.
            if let Some(mut discipline) = self.discipline.take() {
                let mut rng = ctx.rng().clone();
                discipline.enqueue(now, item, &mut rng, &mut |item, why| {
                    self.dropped(ctx, item, why);
                });
                *ctx.rng() = rng;
                self.discipline = Some(discipline);
            }
        }
        ctx.recycle(batch);
        self.highwater = self.highwater.max(self.length());
        if self.length() > 0
            && let Some(empty) = self.empty
        {
            ctx.wake(empty);
        }
    }

    fn pull(&mut self, ctx: &mut Ctx, _: usize, max: usize, into: &mut Packets) {
        let now = Time::ZERO + span(ctx.now() - self.start);
        if let Some(mut discipline) = self.discipline.take() {
            let mut rng = ctx.rng().clone();
            for _ in 0..max {
                let item = discipline.dequeue(now, &mut rng, &mut |item, why| {
                    self.dropped(ctx, item, why);
                });
                let Some(item) = item else {
                    break;
                };
                if let Some(handle) = self.take(item.id) {
                    if item.marked {
                        self.marks += 1;
                        set_tos(&mut ctx.pool()[&handle], |old| old | ecn::CE);
                    }
                    into.push(handle);
                }
            }
            *ctx.rng() = rng;
            self.discipline = Some(discipline);
        }
        if self.length() == 0
            && let Some(empty) = self.empty
        {
            ctx.sleep(empty);
        }
    }

    fn stored(&self) -> Option<usize> {
        Some(self.length() as usize)
    }

    fn handlers(&self) -> Vec<Handler> {
        ["length", "highwater_length", "capacity", "drops", "marks"]
            .map(|name| Handler::new(name, "r"))
            .into_iter()
            .chain(["reset_counts", "reset"].map(|name| Handler::new(name, "wb")))
            .collect()
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "length" => self.length().to_string(),
            "highwater_length" => self.highwater.to_string(),
            "capacity" => self.limit.to_string(),
            "drops" => self.drops.to_string(),
            _ => self.marks.to_string(),
        })
    }

    fn write(&mut self, ctx: &mut Ctx, name: &str, _: &str) -> Result<(), String> {
        if name == "reset" {
            self.clear(ctx);
        } else {
            (self.drops, self.marks, self.highwater) = (0, 0, self.length());
        }
        Ok(())
    }

    fn cleanup(&mut self, ctx: &mut Ctx) {
        for handle in self.slots.drain(..).flatten() {
            ctx.pool().free(handle);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    fn number(text: &str) -> i64 {
        text.parse().expect("a number")
    }

    #[test]
    fn flows_share_alike_and_a_sparse_one_loses_nothing() {
        // Three flows by their ports; the queue sends 1000 packets/s of the 3100 that come.
        let mut run = loaded(
            "RatedSource(RATE 2000, LENGTH 100) -> UDPIPEncap(1.0.0.1, 1, 2.0.0.2, 2) \
             -> q :: FQCoDel(500);
             RatedSource(RATE 1000, LENGTH 100) -> UDPIPEncap(1.0.0.1, 3, 2.0.0.2, 2) -> q;
             RatedSource(RATE 100, LENGTH 100) -> UDPIPEncap(1.0.0.1, 4, 2.0.0.2, 2) -> q;
             q -> RatedUnqueue(1000) -> c :: IPClassifier(src port 1, src port 3, src port 4);
             c [0] -> a :: Counter -> Discard; c [1] -> b :: Counter -> Discard;
             c [2] -> d :: Counter -> Discard;",
        );
        run.run(5.0);
        let [a, b, d] = ["a.count", "b.count", "d.count"].map(|name| number(&run.read(name)));
        assert!((a - b).abs() < 100 && a > 2000, "{a} {b}");
        assert!((498..=502).contains(&d), "{d}");
        assert!(number(&run.read("q.highwater_length")) <= 500);
        assert!(number(&run.read("q.drops")) > 5000);
        let held = number(&run.read("q.length"));
        assert_eq!(run.ctx.pool().in_use() as i64, held);
        run.write("q.reset", "").expect("a button");
        assert_eq!(
            (run.read("q.length"), run.ctx.pool().in_use()),
            ("0".into(), 0)
        );
    }

    #[test]
    fn packets_that_understand_marks_are_marked() {
        let mut run = loaded(
            "RatedSource(RATE 1500, LENGTH 1000) -> UDPIPEncap(1.0.0.1, 1, 2.0.0.2, 2) \
             -> SetIPECN(ect1)
             -> q :: FQCoDel -> RatedUnqueue(1000) -> c :: IPClassifier(ip ce, -) -> n :: Counter \
             -> Discard;
             c [1] -> Discard;",
        );
        run.run(5.0);
        assert!(number(&run.read("q.marks")) > 10);
        assert_eq!(
            (run.read("q.marks"), run.read("q.drops")),
            (run.read("n.count"), "0".into())
        );
    }

    #[test]
    fn the_reader_sleeps_while_it_is_empty() {
        let mut run = loaded(
            "i :: InfiniteSource(LIMIT 3) -> q :: FQCoDel -> u :: Unqueue -> c :: Counter \
             -> Discard;",
        );
        run.run(0.1);
        assert_eq!(
            (run.read("c.count"), run.read("u.scheduled")),
            ("3".into(), "false".into())
        );
        run.write("i.reset", "").expect("a button");
        run.run(0.1);
        assert_eq!(
            (run.read("c.count"), run.ctx.pool().in_use()),
            ("6".into(), 0)
        );
    }
}
