//! CoDel: drops from the head when even the smallest delay of an interval exceeds a target.
//!
//! # What it does
//! Each packet's delay is known when it leaves. Once the delay has stayed at or above `target` for
//! `interval`, CoDel enters its dropping state and signals; while the state lasts, the n-th signal
//! is followed by the next one after
//!
//! ```text
//! interval / √n
//! ```
//!
//! so that the rate of signals grows until the sources give way. As Linux does, 1/√n is not
//! computed but improved by one Newton step x ← x·(3 − n·x²)/2 for each signal, so that the third
//! follows the second after 1/2 of the interval and not 0.71. A delay below the target, or a queue
//! of at most one full packet, ends the state. If it begins again soon (16 intervals), the law
//! resumes near the rate that was needed last. A signal is a mark on an ECN-capable packet where
//! `ecn` is on, else a drop.
//!
//! # Example
//! ```toml
//! duration = "20 s"
//! [path]
//! rate = "20 Mbit/s"
//! rtt = "40 ms"
//! queue = { discipline = "codel", target = "5 ms", limit = "1000 packets" }
//! [[flow]]
//! variant = "cubic"
//! [[flow]]
//! variant = "reno"
//! ```
//!
//! # Parameters
//! `target`, `interval`, `ecn`, and `ce_threshold`: a delay above which ECN-capable packets are
//! marked in any case (0: off), for DCTCP.
//!
//! # References
//! Nichols and Jacobson, "Controlling Queue Delay", ACM Queue 10(5), 2012; RFC 8289 §5;
//! `tc-codel(8)`; Linux 6.12 `codel_Newton_step` for the step, which traces of its queue show.

use super::{Discipline, Drop, Entry, Item, ecn};
use crate::fifo::Fifo;
use trammel_core::entry::{About, Kind, Param, Params};
use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};

/// CoDel in the table of disciplines.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "codel",
        aliases: &[],
        summary: "controlled delay: drops at the head when delay stays above a target",
        references: &["RFC 8289", "Nichols and Jacobson, ACM Queue 10(5), 2012"],
        params: &[TARGET, INTERVAL, ecn("false"), CE_THRESHOLD],
    },
    marks: true,
    limit_pkts: Some(1000),
    build: |params, facts| {
        Ok(Box::new(Codel {
            queue: Fifo::new(facts),
            settings: Settings::new(params, facts.mtu),
            law: Law::default(),
        }))
    },
};

/// The delay that CoDel holds.
pub(super) const TARGET: Param = Param {
    name: "target",
    kind: Kind::Time,
    default: "5 ms",
    unit: "s",
    help: "delay that a standing queue may have",
};

/// How long it may be exceeded.
pub(super) const INTERVAL: Param = Param {
    name: "interval",
    kind: Kind::Time,
    default: "100 ms",
    unit: "s",
    help: "how long the delay may exceed the target; the worst usual round trip",
};

/// The delay above which everything is marked.
pub(super) const CE_THRESHOLD: Param = Param {
    name: "ce_threshold",
    kind: Kind::Time,
    default: "0 s",
    unit: "s",
    help: "mark every ECN-capable packet with a longer delay; 0 s for none",
};

/// The parameters of the law, which FQ-CoDel shares among its queues.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The delay that a standing queue may have.
    pub target: Span,
    /// How long it may be exceeded.
    pub interval: Span,
    /// A backlog of so many bytes is no standing queue.
    pub mtu: u32,
    /// Whether ECN-capable packets are marked, not dropped.
    pub is_ecn: bool,
    /// ECN-capable packets with a longer delay are marked in any case; zero where it is off.
    pub ce_threshold: Span,
}

impl Settings {
    /// Reads the parameters, which have the same names in every discipline that uses the law.
    pub(crate) fn new(params: &Params, mtu: u32) -> Settings {
        Settings {
            target: params.time("target"),
            interval: params.time("interval"),
            mtu,
            is_ecn: params.bool("ecn"),
            ce_threshold: params.time("ce_threshold"),
        }
    }
}

/// 1/√n by a Newton step a signal, in units of 2⁻¹⁶.
#[derive(Clone, Copy, Debug)]
struct InverseRoot(u16);

impl Default for InverseRoot {
    fn default() -> InverseRoot {
        InverseRoot(u16::MAX)
    }
}

impl InverseRoot {
    /// One step towards 1/√`count`. Counts grow by one or fall, so `count`·x² stays under three.
    fn step(&mut self, count: u32) {
        let x = u64::from(self.0);
        let excess = (3 << 32) - (u64::from(count) * x * x).min(3 << 32);
        // At most 1 · 3/2: `count` of 0 does not occur.
        self.0 = ((x * (excess >> 16)) >> 17).clamp(1, u64::from(u16::MAX)) as u16;
    }

    /// The part of `interval`.
    fn of(self, interval: Span) -> Span {
        let ps = (u128::from(interval.as_ps()) * u128::from(self.0)) >> 16;
        Span::from_ps(ps as u64)
    }
}

/// What the law asks of the queue that it governs.
pub trait Store {
    /// Takes the oldest packet.
    fn pop(&mut self) -> Option<Item>;
    /// Bytes waiting.
    fn bytes(&self) -> u64;
}

impl Store for Fifo {
    fn pop(&mut self) -> Option<Item> {
        Fifo::pop(self)
    }
    fn bytes(&self) -> u64 {
        Fifo::bytes(self)
    }
}

/// The state of the law for one queue.
#[derive(Clone, Debug, Default)]
pub struct Law {
    /// Signals in this dropping state.
    pub(crate) count: u32,
    /// `count` when this dropping state began.
    count_at_start: u32,
    is_dropping: bool,
    /// 1/√`count`, as far as the steps have come.
    inverse_root: InverseRoot,
    /// When the delay will have been above the target for an interval; nothing while it is below.
    ripe_at: Option<Time>,
    next_signal: Time,
}

impl Law {
    /// Takes the next packet to send out of `store`, dropping on the way.
    pub fn dequeue(
        &mut self,
        now: Time,
        settings: &Settings,
        store: &mut impl Store,
        dropped: &mut dyn FnMut(Item, Drop),
    ) -> Option<Item> {
        let (mut item, mut is_ripe) = self.take(now, settings, store)?;
        if self.is_dropping {
            self.is_dropping = is_ripe;
            while self.is_dropping && now >= self.next_signal {
                self.count = self.count.saturating_add(1);
                self.inverse_root.step(self.count);
                if settings.is_ecn && item.mark() {
                    self.next_signal = self.signal_after(self.next_signal, settings);
                    break;
                }
                dropped(item, Drop::Early);
                // An empty queue ends the state too: taking from it says so.
                (item, is_ripe) = self.take(now, settings, store)?;
                self.is_dropping = is_ripe;
                if is_ripe {
                    self.next_signal = self.signal_after(self.next_signal, settings);
                }
            }
        } else if is_ripe {
            self.start(now, settings);
            if !(settings.is_ecn && item.mark()) {
                dropped(item, Drop::Early);
                (item, _) = self.take(now, settings, store)?;
            }
        }
        let is_late = now.saturating_since(item.enqueued) > settings.ce_threshold;
        if settings.ce_threshold > Span::ZERO && is_late {
            item.mark();
        }
        Some(item)
    }

    /// Enters the dropping state, at the rate that was needed last if that was not long ago.
    fn start(&mut self, now: Time, settings: &Settings) {
        let gained = self.count.saturating_sub(self.count_at_start);
        let is_recent = now.saturating_since(self.next_signal) / 16 < settings.interval;
        if gained > 1 && is_recent {
            self.count = gained;
            self.inverse_root.step(gained);
        } else {
            self.count = 1;
            self.inverse_root = InverseRoot::default();
        }
        self.count_at_start = self.count;
        self.is_dropping = true;
        self.next_signal = self.signal_after(now, settings);
    }

    fn signal_after(&self, time: Time, settings: &Settings) -> Time {
        time.saturating_add(self.inverse_root.of(settings.interval))
    }

    /// Takes a packet and says whether the delay has been above the target for an interval.
    fn take(
        &mut self,
        now: Time,
        settings: &Settings,
        store: &mut impl Store,
    ) -> Option<(Item, bool)> {
        let Some(item) = store.pop() else {
            self.ripe_at = None;
            self.is_dropping = false;
            return None;
        };
        let delay = now.saturating_since(item.enqueued);
        let is_low = delay < settings.target || store.bytes() <= u64::from(settings.mtu);
        let is_ripe = match self.ripe_at {
            _ if is_low => {
                self.ripe_at = None;
                false
            }
            None => {
                self.ripe_at = Some(now.saturating_add(settings.interval));
                false
            }
            Some(ripe_at) => now >= ripe_at,
        };
        Some((item, is_ripe))
    }
}

#[derive(Debug)]
struct Codel {
    queue: Fifo,
    settings: Settings,
    law: Law,
}

impl Discipline for Codel {
    fn enqueue(
        &mut self,
        now: Time,
        item: Item,
        _rng: &mut Rng,
        dropped: &mut dyn FnMut(Item, Drop),
    ) {
        self.queue.push(now, item, dropped);
    }

    fn dequeue(
        &mut self,
        now: Time,
        _rng: &mut Rng,
        dropped: &mut dyn FnMut(Item, Drop),
    ) -> Option<Item> {
        self.law
            .dequeue(now, &self.settings, &mut self.queue, dropped)
    }

    fn packets(&self) -> u32 {
        self.queue.packets()
    }

    fn bytes(&self) -> u64 {
        self.queue.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aqm::tests::{FACTS, item, params};
    use trammel_core::ecn::Ecn;
    use trammel_core::entry::Value;

    /// A queue that is served a packet each millisecond while 50 packets stand in it, so that delay
    /// is 50 ms; gives the times in milliseconds of the signals, and how the packets left.
    fn signals(given: &[(&str, Value)], ecn_capable: bool, served: u64) -> (Vec<u64>, u32) {
        let mut queue = (ENTRY.build)(&params(&ENTRY, given), &FACTS).unwrap();
        let mut rng = Rng::new(1, "codel");
        let (mut signals, mut marks) = (Vec::new(), 0);
        let packet = Item {
            ecn: if ecn_capable { Ecn::Ect0 } else { Ecn::NotEct },
            ..item(0)
        };
        for ms in 0..served {
            let now = Time::from_ms(ms);
            while queue.packets() < 50 {
                queue.enqueue(now, packet, &mut rng, &mut |_, _| panic!("no overflow"));
            }
            let sent = queue.dequeue(now, &mut rng, &mut |_, why| {
                assert_eq!(why, Drop::Early);
                signals.push(ms);
            });
            if sent.expect("the queue is never empty").marked {
                signals.push(ms);
                marks += 1;
            }
        }
        (signals, marks)
    }

    /// When the control law signals: first at `start`, then after interval · x, where x follows
    /// 1/√n by Newton steps.
    fn law_times(start: u64, end: u64) -> Vec<u64> {
        let (mut times, mut at, mut count, mut x) = (vec![start], start as f64, 1.0, 1.0);
        loop {
            at += 100.0 * x;
            count += 1.0;
            x *= (3.0 - count * x * x) / 2.0;
            // A packet leaves on the whole millisecond only.
            if at.ceil() as u64 >= end {
                return times;
            }
            times.push(at.ceil() as u64);
        }
    }

    /// The steps keep 16 bits, so that a signal may fall on the departure before or after.
    fn assert_near(times: &[u64], law: &[u64]) {
        assert_eq!(times.len(), law.len());
        for (time, law) in times.iter().zip(law) {
            assert!(time.abs_diff(*law) <= 1, "{time} ms and not {law} ms");
        }
    }

    #[test]
    fn newton_steps_start_at_a_half_and_come_to_the_inverse_root() {
        let mut inverse_root = InverseRoot::default();
        inverse_root.step(2);
        let half = inverse_root.of(Span::from_ms(100));
        assert!(half.as_us().abs_diff(50_000) < 10, "{half}");
        for count in 3..=100 {
            inverse_root.step(count);
        }
        let tenth = inverse_root.of(Span::from_ms(100));
        assert!(tenth.as_us().abs_diff(10_000) < 20, "{tenth}");
    }

    #[test]
    fn signals_follow_the_control_law() {
        // The delay is 5 ms first at 5 ms, and has been above for 100 ms at 105 ms.
        let (times, marks) = signals(&[], true, 2000);
        assert_near(&times, &law_times(105, 2000));
        assert_eq!(marks, 0);
    }

    #[test]
    fn marks_take_the_place_of_drops() {
        let ecn = [("ecn", Value::Bool(true))];
        let (times, marks) = signals(&ecn, true, 2000);
        assert_near(&times, &law_times(105, 2000));
        assert_eq!(marks as usize, times.len());
        assert_eq!(signals(&ecn, false, 2000), (times, 0));
    }

    #[test]
    fn delay_below_the_target_is_left_alone() {
        let target = [("target", Value::Time(Span::from_ms(51)))];
        assert_eq!(signals(&target, true, 1000), (vec![], 0));
    }

    #[test]
    fn the_ce_threshold_marks_every_late_packet() {
        let given = [
            ("target", Value::Time(Span::from_secs(1))),
            ("ce_threshold", Value::Time(Span::from_ms(20))),
        ];
        let (times, marks) = signals(&given, true, 1000);
        // The first 50 packets came at once and wait 0, 1, … ms; later ones wait 50 ms.
        assert_eq!(marks, 1000 - 21);
        assert_eq!(times[0], 21);
        assert_eq!(signals(&given, false, 1000), (vec![], 0));
    }

    #[test]
    fn a_dropping_state_soon_after_another_resumes_its_rate() {
        let settings = Settings::new(&params(&ENTRY, &[]), 1500);
        let mut law = Law {
            count: 10,
            count_at_start: 1,
            next_signal: Time::from_secs(1),
            // 1/√10
            inverse_root: InverseRoot(20_724),
            ..Law::default()
        };
        let mut later = law.clone();
        law.start(Time::from_secs(2), &settings);
        assert_eq!((law.count, law.is_dropping), (9, true));
        let after = law.next_signal - Time::from_secs(2);
        // One step from 1/√10 comes to 0.3320, the root is 0.3333.
        assert_eq!(after.as_us(), 33_203);
        later.start(Time::from_ms(2600), &settings);
        assert_eq!(later.count, 1);
    }

    #[test]
    fn a_queue_of_one_full_packet_is_no_standing_queue() {
        let mut queue = (ENTRY.build)(&params(&ENTRY, &[]), &FACTS).unwrap();
        let mut rng = Rng::new(1, "codel");
        let mut lost = 0;
        // One packet a second: each waits long, but none behind another.
        for s in 0..100 {
            queue.enqueue(Time::from_secs(s), item(0), &mut rng, &mut |_, _| {});
            if s > 0 {
                queue.dequeue(Time::from_secs(s), &mut rng, &mut |_, _| lost += 1);
            }
        }
        assert_eq!(lost, 0);
    }
}
