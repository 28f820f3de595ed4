//! Queue disciplines as pure state machines: the simulator's links and the router's elements call
//! them. One file each.
//!
//! A discipline orders, marks and drops [`Item`]s, which are handles with what a decision needs;
//! the packets themselves stay with the caller. Time only comes in as an argument.

use std::fmt::Debug;
use trammel_core::ecn::Ecn;
use trammel_core::entry::{About, Kind, Param, Params};
use trammel_core::rng::Rng;
use trammel_core::time::Time;

include!(concat!(env!("OUT_DIR"), "/aqm.rs"));
trammel_core::family!("queue discipline");

/// A packet as a discipline sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Item {
    /// The caller's handle for the packet.
    pub id: u32,
    /// Bytes that the queue's limit counts.
    pub bytes: u32,
    /// A hash of the packet's flow.
    pub flow: u32,
    /// What a pure ACK acknowledges, for ACK filters.
    pub ack: u32,
    /// A hash of the host that it comes from.
    pub source: u16,
    /// A hash of the host that it goes to.
    pub destination: u16,
    /// Its ECN field as it came.
    pub ecn: Ecn,
    /// Its differentiated services codepoint.
    pub dscp: u8,
    /// What an ACK filter may do with it.
    pub role: Role,
    /// Set by the discipline: the packet leaves with Congestion Experienced.
    pub marked: bool,
    /// Time of arrival; set by the discipline.
    pub enqueued: Time,
}

/// What a packet is to an ACK filter: whether it is an ACK with nothing else in it, and the flags
/// ECE and CWR of its TCP header, which say something by themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Role(u8);

impl Role {
    /// Anything else, which no filter drops.
    pub const OTHER: Role = Role(0);
    /// An ACK without data, other flags or SACK blocks.
    pub const ACK: Role = Role(1);
    /// An ACK without data or other flags, with SACK blocks.
    pub const SELECTIVE_ACK: Role = Role(2);
    const KIND: u8 = 3;

    /// The same with these flags.
    #[inline]
    #[must_use]
    pub const fn with_echo(self, ece: bool, cwr: bool) -> Role {
        Role(self.0 & Role::KIND | (ece as u8) << 2 | (cwr as u8) << 3)
    }

    /// The same without flags.
    #[inline]
    #[must_use]
    pub(crate) const fn kind(self) -> Role {
        Role(self.0 & Role::KIND)
    }

    /// The flags.
    #[inline]
    pub(crate) const fn echo(self) -> u8 {
        self.0 >> 2
    }
}

impl Item {
    /// Marks the packet if it is ECN-capable; returns whether it did.
    #[inline]
    pub fn mark(&mut self) -> bool {
        self.marked |= self.is_ecn_capable();
        self.is_ecn_capable()
    }

    /// Whether congestion may be signalled by a mark.
    #[inline]
    pub(crate) fn is_ecn_capable(&self) -> bool {
        self.ecn.is_capable()
    }
}

/// Why a discipline dropped a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Drop {
    /// The queue's limit was reached.
    Overflow,
    /// The discipline dropped it before the limit was reached.
    Early,
}

/// Facts of the link, for the constructor of a discipline.
#[derive(Clone, Copy, Debug)]
pub struct LinkFacts {
    /// The rate of the link in bit/s; 0 if it has none.
    pub rate_bps: u64,
    /// The largest packet, in bytes.
    pub mtu: u32,
    /// The limit of the queue in packets.
    pub limit_packets: u32,
    /// The limit of the queue in bytes; `u64::MAX` if it is in packets only.
    pub limit_bytes: u64,
    /// Bytes of each packet that belong to the link and not to the IP packet.
    pub overhead: u32,
}

/// A queue and its drop or mark policy.
pub trait Discipline: Debug + Send {
    /// Enqueues `item`, or drops it or others; reports every drop.
    fn enqueue(
        &mut self,
        now: Time,
        item: Item,
        rng: &mut Rng,
        dropped: &mut dyn FnMut(Item, Drop),
    );
    /// Returns the next packet to send; may drop packets before it.
    fn dequeue(
        &mut self,
        now: Time,
        rng: &mut Rng,
        dropped: &mut dyn FnMut(Item, Drop),
    ) -> Option<Item>;
    /// Packets waiting.
    fn packets(&self) -> u32;
    /// Bytes waiting.
    fn bytes(&self) -> u64;
    /// Notifies the discipline of a change of the link's rate.
    fn set_rate(&mut self, _rate_bps: u64) {}
    /// Notifies the discipline that the link has nothing of it since then; nothing means that a
    /// packet it gave still waits for the link. Only a link that lets bursts go tells so.
    fn line_is_idle(&mut self, _since: Option<Time>) {}
    /// When the next packet may leave at the earliest, of a discipline that has a rate of its own:
    /// until then [`dequeue`](Discipline::dequeue) gives nothing, though packets wait.
    fn ready_at(&self) -> Time {
        Time::ZERO
    }
    /// Whether it looks at a packet's DSCP and hosts.
    fn classifies(&self) -> bool {
        false
    }
    /// What was counted of each of its bands, of a discipline that has several.
    fn bands(&self) -> &[Band] {
        &[]
    }
}

/// What was counted of one band of a discipline, such as a queue of DualPI2 or a tin of CAKE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Band {
    /// Its name.
    pub name: &'static str,
    /// Packets that left.
    pub sent_pkts: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Packets that left marked by the discipline.
    pub marked_pkts: u64,
    /// Packets dropped at a limit.
    pub overflow_pkts: u64,
    /// Packets dropped before.
    pub early_pkts: u64,
    /// Sum of the times that the packets that left had waited, ns.
    pub wait_ns: u64,
    /// Its oldest packet.
    pub head: Head,
}

/// The oldest packet of a band.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Head {
    /// Not known.
    #[default]
    Unknown,
    /// There is none.
    None,
    /// It came then.
    Came(Time),
}

impl Band {
    /// A band of which nothing was counted yet.
    pub(crate) const fn new(name: &'static str) -> Band {
        Band {
            name,
            sent_pkts: 0,
            sent_bytes: 0,
            marked_pkts: 0,
            overflow_pkts: 0,
            early_pkts: 0,
            wait_ns: 0,
            head: Head::Unknown,
        }
    }

    /// A packet is dropped.
    #[inline]
    pub(crate) fn dropped(&mut self, why: Drop) {
        match why {
            Drop::Overflow => self.overflow_pkts += 1,
            Drop::Early => self.early_pkts += 1,
        }
    }

    /// `item` leaves at `now`.
    #[inline]
    pub(crate) fn sent(&mut self, now: Time, item: &Item) {
        self.sent_pkts += 1;
        self.sent_bytes += u64::from(item.bytes);
        self.marked_pkts += u64::from(item.marked);
        self.wait_ns += now.saturating_since(item.enqueued).as_ns();
    }
}

/// The parameter `ecn`, of one meaning in every discipline whose signal is a drop or a mark.
const fn ecn(default: &'static str) -> Param {
    Param {
        name: "ecn",
        kind: Kind::Bool,
        default,
        unit: "",
        help: "mark ECN-capable packets instead of dropping them",
    }
}

/// Makes a discipline from its parameters for a link.
pub type Build = fn(&Params, &LinkFacts) -> Result<Box<dyn Discipline>, String>;

/// One row of [`ALL`].
#[derive(Debug)]
pub struct Entry {
    /// Name, summary, references, parameters.
    pub about: About,
    /// Whether the discipline marks ECN-capable packets instead of dropping them.
    pub marks: bool,
    /// Default limit in packets, as in Linux; none if the path must give it.
    pub limit_pkts: Option<u32>,
    /// Makes the discipline, or returns which combination of parameters is impossible.
    pub build: Build,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{Just, ProptestConfig, any};
    use proptest::{prop_assert_eq, prop_oneof, proptest};
    use std::collections::{BTreeMap, VecDeque};
    use trammel_core::entry::Value;
    use trammel_core::time::Span;

    /// A link of 10 Mbit/s with room for 1000 packets.
    pub(super) const FACTS: LinkFacts = LinkFacts {
        rate_bps: 10_000_000,
        mtu: 1500,
        limit_packets: 1000,
        limit_bytes: u64::MAX,
        overhead: 0,
    };

    /// A full-sized ECN-capable packet.
    pub(super) fn item(id: u32) -> Item {
        Item {
            id,
            bytes: 1500,
            flow: 1,
            ecn: Ecn::Ect0,
            ..Item::default()
        }
    }

    /// The parameters of `entry` with those `given`.
    pub(super) fn params(entry: &Entry, given: &[(&str, Value)]) -> Params {
        let given: Vec<_> = given
            .iter()
            .map(|(key, value)| ((*key).to_owned(), value.clone()))
            .collect();
        Params::resolve(&entry.about, &given).expect("within the ranges")
    }

    /// Whether `entry` can be told not to mark.
    fn has_ecn(entry: &Entry) -> bool {
        entry.about.params.iter().any(|param| param.name == "ecn")
    }

    /// Builds `entry` with its defaults but for `ecn`, where it has that parameter.
    fn build(entry: &Entry, ecn: bool, facts: &LinkFacts) -> Box<dyn Discipline> {
        let given = [("ecn", Value::Bool(ecn))];
        let params = params(entry, if has_ecn(entry) { &given } else { &[] });
        (entry.build)(&params, facts).expect("defaults are possible")
    }

    /// What became of a packet: its number, and the reason where it was dropped.
    type Fate = (u32, Option<Drop>, bool);

    /// Offers `load` times the link's rate in random packets of eight flows for `ms` milliseconds,
    /// then drains, and checks on the way what must always hold.
    fn run(
        entry: &Entry,
        ecn: bool,
        facts: &LinkFacts,
        load: f64,
        ms: u64,
        seed: u64,
    ) -> Vec<Fate> {
        let name = entry.about.name;
        let mut queue = build(entry, ecn, facts);
        let mut law = Rng::new(seed, "queue");
        let mut source = Rng::new(seed, "source");
        let mut fates: Vec<Fate> = Vec::new();
        let mut inside: BTreeMap<u32, VecDeque<Item>> = BTreeMap::new();
        let (mut waiting, mut waiting_bytes) = (0_u32, 0_u64);
        let mean_gap = 800.0 * 8.0 / (facts.rate_bps as f64 * load);
        let (mut arrival, mut departure) = (Time::ZERO, Time::ZERO);
        let mut next_id = 0;
        let end = Time::from_ms(ms);
        loop {
            let is_arrival = arrival < end && arrival <= departure;
            let now = if is_arrival { arrival } else { departure };
            let mut gone = Vec::new();
            let mut sent = None;
            if is_arrival {
                let packet = Item {
                    bytes: 100 + source.below(1401) as u32,
                    flow: source.below(8) as u32 * 0x1234_5677,
                    ecn: if source.chance(0.5) {
                        Ecn::Ect0
                    } else {
                        Ecn::NotEct
                    },
                    ..item(next_id)
                };
                next_id += 1;
                inside.entry(packet.flow).or_default().push_back(packet);
                (waiting, waiting_bytes) = (waiting + 1, waiting_bytes + u64::from(packet.bytes));
                queue.enqueue(now, packet, &mut law, &mut |item, why| {
                    gone.push((item, why));
                });
                arrival += Span::from_secs_f64(mean_gap * 2.0 * source.unit());
            } else {
                sent = queue.dequeue(now, &mut law, &mut |item, why| gone.push((item, why)));
                if sent.is_none() {
                    assert_eq!((queue.packets(), queue.bytes()), (0, 0), "{name} idles");
                    if arrival >= end {
                        assert_eq!(fates.len() + gone.len(), next_id as usize, "{name}");
                        return fates;
                    }
                    departure = arrival;
                }
                if let Some(item) = sent {
                    departure +=
                        Span::from_secs_f64(f64::from(item.bytes) * 8.0 / facts.rate_bps as f64);
                }
            }
            for (item, why) in gone
                .iter()
                .map(|(item, why)| (item, Some(*why)))
                .chain(sent.iter().map(|item| (item, None)))
            {
                let flow = inside.get_mut(&item.flow).expect("the flow is known");
                let at = flow.iter().position(|known| known.id == item.id);
                let at = at.expect("no packet leaves twice");
                let known = flow.remove(at).expect("found");
                assert!(why.is_some() || at == 0, "{name} reorders within a flow");
                assert_eq!((known.bytes, known.ecn), (item.bytes, item.ecn));
                assert!(
                    !item.marked || (item.is_ecn_capable() && entry.marks),
                    "{name} marks wrongly"
                );
                assert!(
                    !item.marked || ecn || !has_ecn(entry),
                    "{name} marks without being told to"
                );
                (waiting, waiting_bytes) = (waiting - 1, waiting_bytes - u64::from(item.bytes));
                fates.push((item.id, why, item.marked));
            }
            assert_eq!(
                (queue.packets(), queue.bytes()),
                (waiting, waiting_bytes),
                "{name}"
            );
            assert!(
                waiting <= facts.limit_packets && waiting_bytes <= facts.limit_bytes,
                "{name}"
            );
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        /// Conservation, limits, order within a flow, honest marks, draining, and determinism.
        #[test]
        fn every_discipline_keeps_its_promises(
            seed in any::<u64>(),
            load in 0.5_f64..4.0,
            limit_packets in 0_u32..300,
            limit_bytes in prop_oneof![Just(u64::MAX), 0_u64..200_000],
            ecn in any::<bool>(),
        ) {
            let facts = LinkFacts { limit_packets, limit_bytes, ..FACTS };
            for entry in ALL {
                let fates = run(entry, ecn, &facts, load, 400, seed);
                prop_assert_eq!(fates, run(entry, ecn, &facts, load, 400, seed));
            }
        }
    }

    #[test]
    fn every_law_signals_under_overload_by_marks_only_where_it_may() {
        for entry in ALL.iter().filter(|entry| entry.marks) {
            for ecn in [!has_ecn(entry), true] {
                let fates = run(entry, ecn, &FACTS, 1.5, 4000, 9);
                let marked = fates.iter().filter(|(_, _, marked)| *marked).count();
                let early = |(_, why, _): &&Fate| *why == Some(Drop::Early);
                let early = fates.iter().filter(early).count();
                let name = entry.about.name;
                assert_eq!(marked > 0, ecn, "{name}: {marked} marks");
                // Step marking leaves what it cannot mark to the limit.
                assert!(early > 0 || name == "threshold", "{name} never drops early");
            }
        }
    }

    #[test]
    fn every_queue_is_first_in_first_out_when_it_is_short() {
        for entry in ALL {
            let mut queue = build(entry, true, &FACTS);
            let mut rng = Rng::new(1, "queue");
            for id in 0..4 {
                queue.enqueue(Time::from_us(id), item(id as u32), &mut rng, &mut |_, _| {
                    panic!("{} drops from a short queue", entry.about.name)
                });
            }
            for id in 0..4 {
                let sent = queue.dequeue(Time::from_us(10), &mut rng, &mut |_, _| {});
                let sent = sent.expect("four wait");
                assert_eq!((sent.id, sent.marked), (id, false), "{}", entry.about.name);
                assert_eq!(sent.enqueued, Time::from_us(u64::from(id)));
            }
        }
    }
}
