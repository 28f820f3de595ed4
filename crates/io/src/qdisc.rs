//! The kernel's queueing disciplines: made, changed and read by netlink.
//!
//! Only options whose meaning is a number of the user's are here; what `tc` derives for its own
//! convenience is not. Source: `linux/pkt_sched.h` and the manual pages `tc-tbf(8)`, `tc-netem(8)`,
//! `tc-codel(8)`, `tc-fq_codel(8)`, `tc-pie(8)`, `tc-red(8)`, `tc-fq_pie(8)`, `tc-cake(8)`,
//! `tc-dualpi2(8)`, `tc-police(8)`.

use crate::error::{Error, Result};
use crate::machine;
use crate::netlink::{Message, attributes, number_at};
use crate::netns::Namespace;
use serde::{Deserialize, Serialize};
use std::io;

const TCA_KIND: u16 = 1;
const TCA_OPTIONS: u16 = 2;
const TCA_STATS2: u16 = 7;
const TCA_STATS_BASIC: u16 = 1;
const TCA_STATS_QUEUE: u16 = 3;
const TCA_STATS_APP: u16 = 4;
/// Disciplines as young as `ets` want it said that there are attributes within.
const NESTED: u16 = libc::NLA_F_NESTED as u16;
/// `TC_H_CLSACT`, its handle, and where its filters of what leaves are.
const CLSACT: u32 = 0xffff_fff1;
const CLSACT_HANDLE: u32 = 0xffff_0000;
const EGRESS: u32 = 0xffff_fff3;
/// `TC_H_ROOT`.
const ROOT: u32 = u32::MAX;
/// Bytes a second at which a packet takes no time: netem sends at a rate in order, and without one
/// as delays come.
const AT_ONCE: u64 = 1 << 60;
/// The first Linux that has DualPI2. Earlier ones have it by the L4S team's patches, whose numbers
/// of attributes are others.
const WITH_DUALPI2: (u32, u32) = (6, 17);
/// Packets that an arrival must find in the L4S queue of those patches for the threshold to count
/// (`dualpi2_enqueue_skb`); they have no option for it.
const LEAST_STEP_OF_PATCHES: u32 = 2;
/// Words of their `tc_dualpi2_xstats`, which tells no memory.
const WORDS_OF_PATCHES: usize = 9;
/// `TC_LINKLAYER_ETHERNET`.
const ETHERNET: u8 = 1;
/// Bytes that the kernel counts of a frame beside its IP packet.
const ETHERNET_HEADER: u32 = 14;

/// A discipline with its options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Kind {
    /// A queue of so many packets.
    Pfifo {
        /// Packets.
        limit: u32,
    },
    /// A queue of so many bytes, Ethernet headers included.
    Bfifo {
        /// Bytes.
        limit: u32,
    },
    /// A token bucket, whose queue is its child.
    Tbf(Tbf),
    /// Delays, loses and spreads packets.
    Netem(Netem),
    /// CoDel (RFC 8289).
    Codel(Codel),
    /// A CoDel for each of many queues (RFC 8290).
    FqCodel {
        /// As of one queue.
        codel: Codel,
        /// How many queues.
        flows: u32,
        /// Bytes of a turn.
        quantum: u32,
        /// Bytes of all queues.
        memory_limit: u32,
    },
    /// PIE (RFC 8033).
    Pie {
        /// Packets.
        limit: u32,
        /// The delay aimed at, in microseconds.
        target_us: u32,
        /// How often the probability is computed, in microseconds.
        update_us: u32,
        /// The weight of the delay's deviation.
        alpha: u32,
        /// The weight of its change.
        beta: u32,
        /// Marks ECN-capable packets.
        ecn: bool,
    },
    /// PIE for each of many queues.
    FqPie {
        /// Packets of all queues.
        limit: u32,
        /// How many queues.
        flows: u32,
        /// The delay aimed at, in microseconds.
        target_us: u32,
        /// How often the probability is computed, in microseconds.
        update_us: u32,
        /// The weight of the delay's deviation.
        alpha: u32,
        /// The weight of its change.
        beta: u32,
        /// Bytes of a turn.
        quantum: u32,
        /// Marks ECN-capable packets up to so many parts of a hundred.
        ecn_percent: Option<u32>,
        /// Drops small packets less often.
        by_bytes: bool,
    },
    /// CAKE.
    Cake(Cake),
    /// DualPI2 (RFC 9332).
    DualPi2(DualPi2),
    /// RED with its options as the kernel has them.
    Red(Red),
    /// A queue for each flow, and pacing.
    Fq {
        /// Packets of all flows.
        limit: u32,
        /// Packets of a flow.
        flow_limit: u32,
        /// Bytes that a flow sends in its turn; 0 for two of the device's largest packets.
        quantum: u32,
        /// Bytes that a new flow sends at once; 0 for ten.
        initial_quantum: u32,
    },
}

/// A token bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tbf {
    /// Bytes a second.
    pub rate: u64,
    /// Its depth in bytes.
    pub burst: u32,
    /// Bytes counted beside each IP packet: 14 at least.
    pub overhead: u32,
    /// Bytes of the queue that it begins with.
    pub limit: u32,
}

/// A path.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Netem {
    /// The delay, in nanoseconds.
    pub delay_ns: u64,
    /// What is added or taken off, uniformly, in nanoseconds.
    pub jitter_ns: u64,
    /// Deviations of the delay that come as often as each other, in steps of `jitter_ns` / 8192;
    /// none for a uniform one. The kernel takes 16384 at most.
    pub table: Vec<i16>,
    /// Whether no packet overtakes another, whatever their delays.
    pub keeps_order: bool,
    /// Packets leave in bursts: nanoseconds from one to the next, and packets of each at most.
    /// Where options are changed, `None` leaves them as they are.
    pub slot: Option<(u64, u32)>,
    /// Packets that are on their way at most.
    pub limit: u32,
    /// What is lost.
    pub loss: Loss,
    /// The seed of random numbers.
    pub seed: u64,
}

/// What is lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Loss {
    /// Nothing.
    #[default]
    None,
    /// Each packet with this probability.
    Independent(f64),
    /// Gilbert's and Elliott's chain: from good to bad, from bad to good, lost in bad, lost in
    /// good.
    GilbertElliott([f64; 4]),
}

/// CoDel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Codel {
    /// Packets.
    pub limit: u32,
    /// The delay that is accepted, in microseconds.
    pub target_us: u32,
    /// How long it has to last, in microseconds.
    pub interval_us: u32,
    /// Marks ECN-capable packets.
    pub ecn: bool,
    /// Marks packets that waited longer, in microseconds.
    pub ce_threshold_us: Option<u32>,
}

/// CAKE, with its modes by their numbers in `linux/pkt_sched.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cake {
    /// Bytes a second; 0 is unlimited.
    pub rate: u64,
    /// `CAKE_DIFFSERV_…`.
    pub diffserv: u32,
    /// `CAKE_FLOW_…`.
    pub flow_mode: u32,
    /// CoDel's interval, in microseconds.
    pub rtt_us: u32,
    /// CoDel's target, in microseconds.
    pub target_us: u32,
    /// Bytes beside the IP packet, least size and `CAKE_ATM_…`; nothing counts the frame as it is.
    pub framing: Option<(i32, u32, u32)>,
    /// `CAKE_ACK_…`.
    pub ack_filter: u32,
    /// Drops count as sent.
    pub ingress: bool,
    /// Bytes of memory; 0 is its own choice.
    pub memory: u32,
}

/// DualPI2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DualPi2 {
    /// Packets.
    pub limit: u32,
    /// The delay of the classic queue, in microseconds.
    pub target_us: u32,
    /// How often the probability is computed, in microseconds.
    pub update_us: u32,
    /// The weight of the delay's deviation, in parts of 256.
    pub alpha: u32,
    /// The weight of its change, in parts of 256.
    pub beta: u32,
    /// The threshold of the L4S queue, in microseconds.
    pub step_us: u32,
    /// Or in packets, where there are any.
    pub step_packets: u32,
    /// Packets that an arrival must find in the L4S queue for the threshold to count.
    pub least_step: u32,
    /// The coupling factor.
    pub coupling: u8,
    /// Drops at overload.
    pub drop_overload: bool,
    /// Drops what comes, not what leaves.
    pub drop_early: bool,
    /// Parts of a hundred of the classic queue.
    pub protection: u8,
    /// ECT(0) goes to the L4S queue too.
    pub any_ect: bool,
}

/// A policer before a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Police {
    /// Bytes a second.
    pub rate: u64,
    /// Bytes that may exceed it at once.
    pub burst: u32,
    /// Bytes counted beside each IP packet: 14 at least.
    pub overhead: u32,
}

/// RED (`struct tc_red_qopt`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Red {
    /// Bytes.
    pub limit: u32,
    /// Bytes.
    pub min: u32,
    /// Bytes.
    pub max: u32,
    /// The average's weight is 2 to this power, negative.
    pub weight_log: u8,
    /// The logarithm of the cells that an idle time is counted in, and by how much the average is
    /// shifted after so many of them.
    pub idle: (u8, Vec<u8>),
    /// The probability at the upper threshold.
    pub probability: f64,
    /// Marks ECN-capable packets.
    pub ecn: bool,
    /// Drops where it may not mark.
    pub hard_drop: bool,
    /// Adapts the probability.
    pub adaptive: bool,
}

/// What the kernel counts of a discipline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Bytes that went, Ethernet headers included.
    pub sent_bytes: u64,
    /// Packets that went.
    pub sent: u64,
    /// Packets that were dropped.
    pub drops: u64,
    /// Packets that wait.
    pub waiting: u32,
    /// Bytes that wait.
    pub waiting_bytes: u32,
    /// Packets that were marked, where the discipline tells.
    pub marks: u64,
    /// Of DualPI2: packets that came to its L4S queue and to the classic one, and how long the
    /// oldest of each has waited, us.
    pub sides: Option<[(u32, u32); 2]>,
}

/// A share as the kernel has it: 2³² − 1 is always.
fn share(probability: f64) -> u32 {
    (probability.clamp(0.0, 1.0) * f64::from(u32::MAX)).round() as u32
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

impl Kind {
    fn name(&self) -> &'static str {
        match self {
            Kind::Pfifo { .. } => "pfifo",
            Kind::Bfifo { .. } => "bfifo",
            Kind::Tbf(_) => "tbf",
            Kind::Netem(_) => "netem",
            Kind::Codel(_) => "codel",
            Kind::FqCodel { .. } => "fq_codel",
            Kind::Pie { .. } => "pie",
            Kind::FqPie { .. } => "fq_pie",
            Kind::Cake(_) => "cake",
            Kind::DualPi2(_) => "dualpi2",
            Kind::Red(_) => "red",
            Kind::Fq { .. } => "fq",
        }
    }

    fn options(&self, message: Message) -> Message {
        match self {
            Kind::Pfifo { limit } | Kind::Bfifo { limit } => {
                message.attribute(TCA_OPTIONS, &limit.to_ne_bytes())
            }
            Kind::Tbf(tbf) => message.nested(TCA_OPTIONS, |inner| tbf.options(inner)),
            Kind::Netem(netem) => message.nested(TCA_OPTIONS, |inner| netem.options(inner)),
            Kind::Codel(codel) => message.nested(TCA_OPTIONS, |inner| {
                let inner = inner
                    .number(1, codel.target_us)
                    .number(2, codel.limit)
                    .number(3, codel.interval_us)
                    .number(4, codel.ecn.into());
                match codel.ce_threshold_us {
                    Some(us) => inner.number(5, us),
                    None => inner,
                }
            }),
            Kind::FqCodel {
                codel,
                flows,
                quantum,
                memory_limit,
            } => message.nested(TCA_OPTIONS, |inner| {
                let inner = inner
                    .number(1, codel.target_us)
                    .number(2, codel.limit)
                    .number(3, codel.interval_us)
                    .number(4, codel.ecn.into())
                    .number(5, *flows)
                    .number(6, *quantum)
                    .number(9, *memory_limit);
                match codel.ce_threshold_us {
                    Some(us) => inner.number(7, us),
                    None => inner,
                }
            }),
            Kind::Pie {
                limit,
                target_us,
                update_us,
                alpha,
                beta,
                ecn,
            } => message.nested(TCA_OPTIONS, |inner| {
                inner
                    .number(1, *target_us)
                    .number(2, *limit)
                    .number(3, *update_us)
                    .number(4, *alpha)
                    .number(5, *beta)
                    .number(6, u32::from(*ecn))
            }),
            Kind::FqPie {
                limit,
                flows,
                target_us,
                update_us,
                alpha,
                beta,
                quantum,
                ecn_percent,
                by_bytes,
            } => message.nested(TCA_OPTIONS | NESTED, |inner| {
                let inner = inner
                    .number(1, *limit)
                    .number(2, *flows)
                    .number(3, *target_us)
                    .number(4, *update_us)
                    .number(5, *alpha)
                    .number(6, *beta)
                    .number(7, *quantum)
                    .number(10, u32::from(ecn_percent.is_some()))
                    .number(11, u32::from(*by_bytes));
                match ecn_percent {
                    Some(percent) => inner.number(9, *percent),
                    None => inner,
                }
            }),
            Kind::Cake(cake) => message.nested(TCA_OPTIONS | NESTED, |inner| cake.options(inner)),
            Kind::DualPi2(dual) => {
                let is_patched = dualpi2_is_a_patch();
                message.nested(TCA_OPTIONS | NESTED, |inner| {
                    if is_patched {
                        dual.options_of_patches(inner)
                    } else {
                        dual.options(inner)
                    }
                })
            }
            Kind::Red(red) => message.nested(TCA_OPTIONS, |inner| red.options(inner)),
            Kind::Fq {
                limit,
                flow_limit,
                quantum,
                initial_quantum,
            } => message.nested(TCA_OPTIONS, |inner| {
                let mut inner = inner.number(1, *limit).number(2, *flow_limit);
                for (kind, bytes) in [(3, *quantum), (4, *initial_quantum)] {
                    if bytes > 0 {
                        inner = inner.number(kind, bytes);
                    }
                }
                inner
            }),
        }
    }
}

impl Tbf {
    /// `TCA_TBF_PARMS`, `…_RATE64`, `…_BURST`.
    fn options(self, message: Message) -> Message {
        let mut rate = vec![0, ETHERNET];
        let beside = self.overhead.saturating_sub(ETHERNET_HEADER) as u16;
        rate.extend(beside.to_ne_bytes());
        rate.extend([0; 4]);
        rate.extend(u32::try_from(self.rate).unwrap_or(u32::MAX).to_ne_bytes());
        let mut parameters = rate;
        parameters.extend([0; 12]);
        parameters.extend(words(&[self.limit, 0, 0]));
        message
            .attribute(1, &parameters)
            .attribute(4, &self.rate.to_ne_bytes())
            .number(6, self.burst)
    }
}

impl Netem {
    /// `struct tc_netem_qopt`, then `TCA_NETEM_LATENCY64`, `…_JITTER64`, `…_PRNG_SEED`,
    /// `…_DELAY_DIST`, `…_RATE` with `…_RATE64`, `…_SLOT`, `…_LOSS`.
    fn options(&self, message: Message) -> Message {
        let loss = match self.loss {
            Loss::Independent(probability) => share(probability),
            Loss::None | Loss::GilbertElliott(_) => 0,
        };
        let message = message
            .fixed(&words(&[0, self.limit, loss, 0, 0, 0]))
            .attribute(10, &self.delay_ns.cast_signed().to_ne_bytes())
            .attribute(11, &self.jitter_ns.cast_signed().to_ne_bytes())
            .attribute(14, &self.seed.to_ne_bytes());
        let message = if self.table.is_empty() {
            message
        } else {
            let table: Vec<u8> = self
                .table
                .iter()
                .flat_map(|one| one.to_ne_bytes())
                .collect();
            message.attribute(2, &table)
        };
        let message = match self.slot {
            None => message,
            Some((every_ns, packets)) => {
                // `struct tc_netem_slot`: least and most time, packets, bytes, a distribution.
                let every = every_ns.cast_signed().to_ne_bytes();
                let mut slot = [every, every].concat();
                slot.extend(words(&[packets, 0]));
                slot.extend([0; 16]);
                message.attribute(12, &slot)
            }
        };
        let message = if self.keeps_order {
            message
                .attribute(6, &words(&[u32::MAX, 0, 0, 0]))
                .attribute(8, &AT_ONCE.to_ne_bytes())
        } else {
            message
        };
        match self.loss {
            Loss::None | Loss::Independent(_) => message,
            // The kernel's third number is what passes in the bad state.
            Loss::GilbertElliott([to_bad, to_good, lost_in_bad, lost_in_good]) => {
                message.nested(5, |inner| {
                    let model = [to_bad, to_good, 1.0 - lost_in_bad, lost_in_good].map(share);
                    inner.attribute(2, &words(&model))
                })
            }
        }
    }
}

impl Cake {
    /// `TCA_CAKE_…`.
    fn options(&self, message: Message) -> Message {
        let message = message
            .attribute(2, &self.rate.to_ne_bytes())
            .number(3, self.diffserv)
            .number(5, self.flow_mode)
            .number(7, self.rtt_us)
            .number(8, self.target_us)
            .number(13, 0)
            .number(15, self.ingress.into())
            .number(16, self.ack_filter);
        let message = match self.framing {
            // `TCA_CAKE_RAW`: whatever it says.
            None => message.number(12, 0),
            Some((overhead, least, cells)) => message
                .attribute(6, &overhead.to_ne_bytes())
                .number(14, least)
                .number(4, cells),
        };
        match self.memory {
            0 => message,
            bytes => message.number(10, bytes),
        }
    }
}

impl DualPi2 {
    /// `TCA_DUALPI2_…`.
    fn options(&self, message: Message) -> Message {
        let message = message
            .number(1, self.limit)
            .number(3, self.target_us)
            .number(4, self.update_us)
            .number(5, self.alpha)
            .number(6, self.beta)
            .number(9, self.least_step)
            .attribute(10, &[self.coupling])
            .attribute(11, &[u8::from(self.drop_overload)])
            .attribute(12, &[u8::from(self.drop_early)])
            .attribute(13, &[self.protection])
            .attribute(14, &[if self.any_ect { 3 } else { 1 }]);
        match self.step_packets {
            0 => message.number(8, self.step_us),
            packets => message.number(7, packets),
        }
    }

    /// `TCA_DUALPI2_…` of the L4S team's patches.
    fn options_of_patches(&self, message: Message) -> Message {
        message
            .number(1, self.limit)
            .number(2, self.target_us)
            .number(3, self.update_us)
            .number(4, self.alpha)
            .number(5, self.beta)
            .number(6, self.step_us)
            .attribute(7, &[0])
            .attribute(8, &[self.coupling])
            .attribute(9, &[u8::from(self.drop_overload)])
            .attribute(10, &[u8::from(self.drop_early)])
            .attribute(11, &[self.protection])
            .attribute(12, &[if self.any_ect { 3 } else { 1 }])
    }

    /// Whether those patches have what is asked for. They scale a threshold of packets as if it
    /// were a time.
    fn is_of_patches(&self) -> bool {
        self.step_packets == 0 && self.least_step == LEAST_STEP_OF_PATCHES
    }
}

/// Whether this kernel's DualPI2 is that of the L4S team's patches.
fn dualpi2_is_a_patch() -> bool {
    machine::linux_version().is_some_and(|version| version < WITH_DUALPI2)
}

impl Police {
    /// `TCA_POLICE_TBF`, `…_RATE`, `…_RATE64` of an action that drops what exceeds.
    fn options(self, message: Message) -> Message {
        /// `TC_ACT_SHOT`.
        const SHOT: u32 = 2;
        /// Nanoseconds of the scheduler's tick.
        const TICK_NS: f64 = 64.0;
        let burst = f64::from(self.burst) * 1e9 / self.rate.max(1) as f64 / TICK_NS;
        // `struct tc_police`: index, action, limit, burst, mtu, rate, peak rate and three more. The
        // logarithm of cells, one, is for a table of old kernels, which must be there.
        let mut police = words(&[0, SHOT, 0, burst.min(f64::from(u32::MAX)) as u32, u32::MAX]);
        police.extend([1, ETHERNET]);
        let beside = self.overhead.saturating_sub(ETHERNET_HEADER) as u16;
        police.extend(beside.to_ne_bytes());
        police.extend([0; 4]);
        police.extend(u32::try_from(self.rate).unwrap_or(u32::MAX).to_ne_bytes());
        police.extend([0; 12]);
        police.extend(words(&[0, 0, 0]));
        message
            .attribute(1, &police)
            .attribute(2, &[0; 1024])
            .attribute(8, &self.rate.to_ne_bytes())
    }
}

impl Red {
    /// `TCA_RED_PARMS`, `…_STAB`, `…_MAX_P`.
    fn options(&self, message: Message) -> Message {
        let flags =
            u8::from(self.ecn) | u8::from(self.hard_drop) << 1 | u8::from(self.adaptive) << 2;
        let mut parameters = words(&[self.limit, self.min, self.max]);
        // The logarithm of the probability over the distance of the thresholds is for kernels that
        // do not know `TCA_RED_MAX_P`.
        let slope = (self.probability / f64::from((self.max - self.min).max(1))).max(1e-9);
        let slope_log = (-slope.log2()).round().clamp(0.0, 31.0) as u8;
        parameters.extend([self.weight_log, slope_log, self.idle.0, flags]);
        let mut shifts = self.idle.1.clone();
        shifts.resize(256, 0);
        message
            .attribute(1, &parameters)
            .attribute(2, &shifts)
            .number(3, share(self.probability))
    }
}

/// `struct tcmsg`.
fn header(interface: u32, handle: u32, parent: u32) -> Vec<u8> {
    words(&[0, interface, handle, parent, 0])
}

/// `ets` with one band, which is strict: `TCA_ETS_NBANDS`, `TCA_ETS_NSTRICT`.
fn one_band(message: Message) -> Message {
    message.nested(TCA_OPTIONS | NESTED, |inner| {
        inner.attribute(1, &[1]).attribute(2, &[1])
    })
}

/// The handle `major:`.
fn handle(major: u16) -> u32 {
    u32::from(major) << 16
}

impl Namespace {
    /// Puts a discipline at an interface's way out, as its root with handle `1:`, in place of what
    /// was there.
    pub fn set_qdisc(&self, interface: &str, kind: &Kind) -> Result<()> {
        self.put_qdisc(interface, kind, ROOT, handle(1))
    }

    /// Puts a discipline into the one that is the root, with handle `2:`.
    ///
    /// RED has a band of `ets` around it: a token bucket only peeks into what it holds, so RED
    /// would never learn that it is empty, and its average would not decay while nothing waits;
    /// `ets` takes out what it is asked to show.
    pub fn set_inner_qdisc(&self, interface: &str, kind: &Kind) -> Result<()> {
        let mut parent = handle(1) | 1;
        if matches!(kind, Kind::Red(_)) {
            self.put(interface, "ets", (parent, handle(3)), one_band)?;
            parent = handle(3) | 1;
        }
        self.put_qdisc(interface, kind, parent, handle(2))
    }

    fn put_qdisc(&self, interface: &str, kind: &Kind, parent: u32, own: u32) -> Result<()> {
        if let Kind::DualPi2(dual) = kind
            && dualpi2_is_a_patch()
            && !dual.is_of_patches()
        {
            return Err(Error::Unsupported {
                what: format!(
                    "`dualpi2` but that of the L4S team's patches, which has `min_qlen_step = \
                     {LEAST_STEP_OF_PATCHES}` and `step_packets = 0`"
                ),
                mend: "give these, or take Linux 6.17 or later".to_owned(),
            });
        }
        self.put(interface, kind.name(), (parent, own), |message| {
            kind.options(message)
        })
    }

    fn put(
        &self,
        interface: &str,
        name: &str,
        (parent, own): (u32, u32),
        options: impl FnOnce(Message) -> Message,
    ) -> Result<()> {
        let what = format!("queue by `{name}` at");
        let index = self.link(interface)?.index;
        let flags = libc::NLM_F_CREATE | libc::NLM_F_REPLACE;
        let message = Message::new(libc::RTM_NEWQDISC, flags)
            .fixed(&header(index, own, parent))
            .text(TCA_KIND, name);
        self.netlink().request(options(message)).map_err(Error::of(
            &what,
            interface,
            "CAP_NET_ADMIN",
        ))
    }

    /// Empties the discipline that was put into the root: what waits is dropped.
    pub fn empty_inner_qdisc(&self, interface: &str, kind: &Kind) -> Result<()> {
        let index = self.link(interface)?.index;
        let message = Message::new(libc::RTM_DELQDISC, 0).fixed(&header(index, 0, handle(1) | 1));
        self.netlink().request(message).map_err(Error::of(
            "empty the queue at",
            interface,
            "CAP_NET_ADMIN",
        ))?;
        self.set_inner_qdisc(interface, kind)
    }

    /// Polices what leaves an interface, before its queue.
    pub fn police(&self, interface: &str, police: Police) -> Result<()> {
        /// `TCA_MATCHALL_ACT`, `TCA_ACT_KIND`, `TCA_ACT_OPTIONS`.
        const ACTIONS: u16 = 2;
        const ACTION_KIND: u16 = 1;
        const ACTION_OPTIONS: u16 = 2;
        self.put(interface, "clsact", (CLSACT, CLSACT_HANDLE), |message| {
            message
        })?;
        let index = self.link(interface)?.index;
        // Every protocol, in the order of Ethernet, at the first priority.
        let info = 1 << 16 | u32::from(u16::to_be(libc::ETH_P_ALL as u16));
        let flags = libc::NLM_F_CREATE | libc::NLM_F_EXCL;
        let message = Message::new(libc::RTM_NEWTFILTER, flags)
            .fixed(&words(&[0, index, 1, EGRESS, info]))
            .text(TCA_KIND, "matchall")
            .nested(TCA_OPTIONS, |options| {
                options.nested(ACTIONS, |actions| {
                    actions.nested(1, |action| {
                        action
                            .text(ACTION_KIND, "police")
                            .nested(ACTION_OPTIONS | NESTED, |inner| police.options(inner))
                    })
                })
            });
        self.netlink()
            .request(message)
            .map_err(Error::of("police", interface, "CAP_NET_ADMIN"))
    }

    /// Packets that the policer of interface number `interface` dropped.
    pub fn policed(&self, interface: u32) -> io::Result<u64> {
        let counters = self.counters_of(interface, CLSACT_HANDLE, CLSACT)?;
        Ok(counters.drops)
    }

    /// Changes the options of the root discipline, and keeps what waits in it.
    pub fn change_qdisc(&self, interface: &str, kind: &Kind) -> Result<()> {
        let index = self.link(interface)?.index;
        self.change_qdisc_of(index, kind).map_err(Error::of(
            "change the queue at",
            interface,
            "CAP_NET_ADMIN",
        ))
    }

    /// As [`Namespace::change_qdisc`], by the interface's number.
    pub fn change_qdisc_of(&self, interface: u32, kind: &Kind) -> io::Result<()> {
        let message = Message::new(libc::RTM_NEWQDISC, 0)
            .fixed(&header(interface, handle(1), ROOT))
            .text(TCA_KIND, kind.name());
        self.netlink().request(kind.options(message))
    }

    /// What the kernel counts of the root discipline of interface number `interface`, or of the one
    /// in it.
    pub fn qdisc_counters(&self, interface: u32, is_inner: bool) -> io::Result<Counters> {
        // Without a parent, the handle alone tells.
        let (own, parent) = if is_inner {
            (handle(2), 0)
        } else {
            (handle(1), ROOT)
        };
        self.counters_of(interface, own, parent)
    }

    fn counters_of(&self, interface: u32, own: u32, parent: u32) -> io::Result<Counters> {
        let message = Message::new(libc::RTM_GETQDISC, libc::NLM_F_ECHO)
            .fixed(&header(interface, own, parent));
        let mut counters = None;
        self.netlink().ask(message, |received| {
            if received.kind == libc::RTM_NEWQDISC {
                counters = counters.or_else(|| read(received.payload));
            }
        })?;
        counters.ok_or_else(|| io::Error::from_raw_os_error(libc::ENOENT))
    }
}

/// The counters in a message about a discipline.
fn read(payload: &[u8]) -> Option<Counters> {
    let mut counters = Counters::default();
    let (mut kind, mut own) = (String::new(), Vec::new());
    for (attribute, value) in attributes(payload.get(20..)?) {
        match attribute {
            TCA_KIND => {
                let name = value.strip_suffix(&[0]).unwrap_or(value);
                kind = String::from_utf8_lossy(name).into_owned();
            }
            TCA_STATS2 => {
                for (of, value) in attributes(value) {
                    let word = |n: usize| number_at(value, 4 * n).unwrap_or(0);
                    match of {
                        TCA_STATS_BASIC => {
                            let bytes = value.first_chunk().map_or(0, |b| u64::from_ne_bytes(*b));
                            counters.sent_bytes = bytes;
                            counters.sent = word(2).into();
                        }
                        TCA_STATS_QUEUE => {
                            counters.waiting = word(0);
                            counters.waiting_bytes = word(1);
                            counters.drops = word(2).into();
                        }
                        TCA_STATS_APP => own = value.to_vec(),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    let is_patched = kind == "dualpi2" && own.len() == 4 * WORDS_OF_PATCHES;
    // Where each keeps its marks: `tc_codel_xstats`, `tc_fq_codel_xstats` behind its type,
    // `tc_pie_xstats`, `tc_red_xstats`, `tc_fq_pie_xstats`, `tc_dualpi2_xstats`.
    let place = match kind.as_str() {
        "codel" => Some(7),
        "fq_codel" | "red" => Some(3),
        "pie" => Some(9),
        "fq_pie" => Some(4),
        // The patches have the credit before the packets, the kernel behind the marks.
        "dualpi2" => Some(if is_patched { 7 } else { 6 }),
        _ => None,
    };
    let mark = |place: usize| number_at(&own, 4 * place);
    counters.marks = place.and_then(mark).unwrap_or(0).into();
    if kind == "cake" {
        counters.marks = cake_marks(&own);
    }
    let word = |place: usize| number_at(&own, 4 * place).unwrap_or(0);
    let packets = if is_patched { [5, 4] } else { [4, 3] };
    counters.sides =
        (kind == "dualpi2").then(|| [(word(packets[0]), word(2)), (word(packets[1]), word(1))]);
    Some(counters)
}

/// What CAKE marked in all tins: `TCA_CAKE_STATS_TIN_STATS`, in each tin
/// `TCA_CAKE_TIN_STATS_ECN_MARKED_PACKETS`.
fn cake_marks(own: &[u8]) -> u64 {
    let within = |bytes, wanted: u16| {
        let found = attributes(bytes).find(|(kind, _)| *kind == wanted);
        found.map(|(_, value)| value)
    };
    let tins = attributes(within(own, 10).unwrap_or_default());
    tins.filter_map(|(_, tin)| number_at(within(tin, 8)?, 0))
        .map(u64::from)
        .sum()
}

#[cfg(test)]
#[allow(clippy::print_stdout)] // What is skipped is told.
mod tests {
    use super::*;
    use crate::netns::veth;

    fn pair() -> Option<(Namespace, Namespace)> {
        let (a, b) = match (Namespace::new(), Namespace::new()) {
            (Ok(a), Ok(b)) => (a, b),
            (Err(why), _) | (_, Err(why)) => {
                println!("skipped: {why}");
                return None;
            }
        };
        veth(&a, "left", &b, "right").expect("the pair of devices can be made");
        Some((a, b))
    }

    #[test]
    fn disciplines_are_made_changed_and_read() {
        let Some((a, b)) = pair() else { return };
        a.add_address("left", "10.0.0.1/24")
            .expect("the address is free");
        b.add_address("right", "10.0.0.2/24")
            .expect("the address is free");
        let bucket = |rate| {
            Kind::Tbf(Tbf {
                rate,
                burst: 3000,
                overhead: 14,
                limit: 100_000,
            })
        };
        match a.set_qdisc("left", &bucket(125_000)) {
            Err(why @ Error::Unsupported { .. }) => return println!("skipped: {why}"),
            other => other.expect("a token bucket"),
        }
        a.set_inner_qdisc("left", &Kind::Pfifo { limit: 7 })
            .expect("a queue");
        let index = a.link("left").expect("it is there").index;
        let socket = a
            .run(|| std::net::UdpSocket::bind("10.0.0.1:0"))
            .expect("a socket");
        // Two fit into the bucket, seven wait, the others are dropped; a bucket looks at the first
        // that waits, which then is none of the seven.
        for _ in 0..20 {
            let _ = socket.send_to(&[0; 1000], "10.0.0.2:9");
        }
        let counters = a.qdisc_counters(index, false).expect("it tells");
        assert!((9..=11).contains(&counters.drops), "{counters:?}");
        assert!((6..=8).contains(&counters.waiting), "{counters:?}");
        let inner = a.qdisc_counters(index, true).expect("it tells");
        assert_eq!(inner.waiting, counters.waiting);
        a.change_qdisc("left", &bucket(1_250_000_000))
            .expect("faster");
    }

    #[test]
    fn marks_of_all_tins_are_added() {
        let tin = |marks| move |message: Message| message.number(2, 9).number(8, marks);
        let stats = Message::new(0, 0)
            .number(3, 4096)
            .nested(10, |tins| tins.nested(1, tin(5)).nested(2, tin(7)));
        let all: Vec<u8> = stats.finish(1);
        // Behind the header of a message.
        assert_eq!(cake_marks(&all[16..]), 12);
        assert_eq!(cake_marks(&[]), 0);
    }

    #[test]
    fn both_forms_of_dualpi2_are_read() {
        // Of 5 packets of the classic queue and 7 of the other one 3 are marked; the oldest have
        // waited 20 and 10 us.
        let counters = |words: &[u32]| {
            let own: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
            let message = Message::new(0, 0)
                .fixed(&[0; 20])
                .text(TCA_KIND, "dualpi2")
                .nested(TCA_STATS2, |stats| stats.attribute(TCA_STATS_APP, &own));
            read(&message.finish(1)[16..]).expect("it is a message about a discipline")
        };
        let kernel = counters(&[9, 20, 10, 5, 7, 99, 3, 1, 0, 0, 0, 0]);
        let patches = counters(&[9, 20, 10, 0, 5, 7, 99, 3, 1]);
        for of in [kernel, patches] {
            assert_eq!((of.marks, of.sides), (3, Some([(7, 10), (5, 20)])));
        }
    }

    #[test]
    fn shares_fill_32_bits() {
        assert_eq!(
            [0.0, 0.5, 1.0, 2.0].map(share),
            [0, 0x8000_0000, u32::MAX, u32::MAX]
        );
    }
}
