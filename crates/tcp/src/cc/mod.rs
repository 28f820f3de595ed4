//! Congestion controls: the trait, the sender's state that they see, and one file a variant.
//!
//! The hooks have the kernel's names (`struct tcp_congestion_ops`), windows are whole segments and times
//! whole microseconds, so that a reader can lay a variant beside its paper and beside Linux. A variant of
//! another crate is made known with [`register`] and then works wherever a built-in one does.

use std::fmt::Debug;
use std::sync::RwLock;
use trammel_core::entry::{About, Params};
use trammel_core::rng::Rng;

include!(concat!(env!("OUT_DIR"), "/cc.rs"));

/// `snd_ssthresh` before the first loss: no threshold.
pub const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

/// The sender's congestion state (`enum tcp_ca_state` in Linux).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum CaState {
    /// Nothing suspicious.
    #[default]
    Open,
    /// Duplicate ACKs or SACKs were seen; reordering or loss is not decided yet.
    Disorder,
    /// The window is being reduced for a mark of congestion other than loss (ECN).
    Cwr,
    /// Fast recovery.
    Recovery,
    /// A retransmission timeout.
    Loss,
}

/// Events that a controller may care about (`enum tcp_ca_event`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaEvent {
    /// First transmission when nothing was in flight.
    TxStart,
    /// The window restarts after an idle time.
    CwndRestart,
    /// The end of a window reduction: the window is `ssthresh` now.
    CompleteCwr,
    /// A retransmission timeout.
    Loss,
    /// An IP packet came without Congestion Experienced (receiver side).
    EcnNoCe,
    /// An IP packet came with Congestion Experienced (receiver side).
    EcnIsCe,
}

/// What an ACK was like, for [`CongestionControl::in_ack_event`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckFlags {
    /// It was processed with nothing to suspect (the kernel's fast path).
    pub fast_path: bool,
    /// It advanced the receive window.
    pub window_update: bool,
    /// It carried ECN-Echo.
    pub ece: bool,
}

/// What was acknowledged, for [`CongestionControl::pkts_acked`] (`struct ack_sample`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckSample {
    /// Segments newly acknowledged, cumulatively or selectively.
    pub pkts_acked: u32,
    /// Round trip of the newest of them in microseconds; negative where Karn's rule forbids a sample.
    pub rtt_us: i32,
    /// Segments delivered since the newest of them was sent, which is what flew along with it.
    pub in_flight: u32,
}

/// A delivery-rate sample (draft-ietf-ccwg-bbr §4.1; `struct rate_sample`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateSample {
    /// When the sampled segment's predecessor was delivered, µs.
    pub prior_mstamp_us: u64,
    /// `delivered` when the sampled segment was sent.
    pub prior_delivered: u64,
    /// Segments delivered over the interval; negative where there is no sample.
    pub delivered: i64,
    /// Segments whose delivery this ACK reported with ECN-Echo.
    pub delivered_ce: i64,
    /// Length of the interval in µs; negative where there is no sample.
    pub interval_us: i64,
    /// The interval as the sender saw it, µs.
    pub snd_interval_us: i64,
    /// The interval as the receiver saw it, µs.
    pub rcv_interval_us: i64,
    /// Round trip of the last segment that was newly acknowledged or SACKed, µs; negative without one.
    pub rtt_us: i64,
    /// Segments newly marked lost by this ACK.
    pub losses: u32,
    /// Segments newly acknowledged or SACKed by this ACK.
    pub acked_sacked: u32,
    /// Segments in flight before this ACK.
    pub prior_in_flight: u32,
    /// The sequence number that ended the sampled segment.
    pub last_end_seq: u32,
    /// The sample was limited by the application, not the network.
    pub is_app_limited: bool,
    /// The sampled segment had been retransmitted.
    pub is_retrans: bool,
    /// The ACK was of a single small segment, and the receiver may have held it back.
    pub is_ack_delayed: bool,
}

/// The sender's state that a congestion control reads and writes, by the kernel's names.
#[derive(Clone, Debug)]
pub struct Tp {
    /// Congestion window, segments; at least 1.
    pub snd_cwnd: u32,
    /// ACKed segments counted towards the next increase.
    pub snd_cwnd_cnt: u32,
    /// Upper bound of the congestion window, segments.
    pub snd_cwnd_clamp: u32,
    /// Slow-start threshold, segments.
    pub snd_ssthresh: u32,
    /// Congestion window before the last reduction began, segments.
    pub prior_cwnd: u32,
    /// Segments sent and not yet cumulatively acknowledged.
    pub packets_out: u32,
    /// Of these, segments SACKed.
    pub sacked_out: u32,
    /// Of these, segments held for lost.
    pub lost_out: u32,
    /// Retransmissions in flight.
    pub retrans_out: u32,
    /// The window, not the application or the receiver, limited the last transmissions.
    pub cwnd_limited: bool,
    /// Most segments outstanding in the last window that was not limited by `snd_cwnd`.
    pub max_packets_out: u32,
    /// State of recovery.
    pub ca_state: CaState,
    /// First unacknowledged sequence number.
    pub snd_una: u32,
    /// Next sequence number to send.
    pub snd_nxt: u32,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// Smoothed round-trip time, µs × 8; 0 before the first sample.
    pub srtt_us: u32,
    /// Medium deviation of the round-trip time, µs × 4.
    pub mdev_us: u32,
    /// Smallest round-trip time of the last five minutes, µs; `u32::MAX` before the first sample.
    pub min_rtt_us: u32,
    /// Segments delivered so far, retransmissions' originals counted once.
    pub delivered: u64,
    /// Of these, segments reported with ECN-Echo.
    pub delivered_ce: u64,
    /// When `delivered` last grew, µs.
    pub delivered_mstamp_us: u64,
    /// When the window's first segment in the current rate sample was sent, µs.
    pub first_tx_mstamp_us: u64,
    /// Segments ever marked lost.
    pub lost: u64,
    /// `delivered` at which the present application-limited phase ends; 0 outside one.
    pub app_limited: u64,
    /// Payload bytes acknowledged so far.
    pub bytes_acked: u64,
    /// When data was last sent, µs; in `TxStart` still the time before the present transmission.
    pub lsndtime_us: u64,
    /// The time of the event being processed, µs.
    pub now_us: u64,
    /// The kernel's clock ticks per second, the grain of `jiffies`.
    pub hz: u32,
    /// An ACK counts as one however many segments it covers, and the window grows by the rules of Linux
    /// 2.6: see [`in_slow_start`](Tp::in_slow_start), [`slow_start`](Tp::slow_start) and
    /// [`cong_avoid_ai`](Tp::cong_avoid_ai).
    pub counts_acks: bool,
    /// Pacing rate in bytes/s; `u64::MAX` without a limit.
    pub pacing_rate: u64,
    /// The controller wants its segments paced.
    pub pacing: bool,
    /// The peer's timestamp value in the ACK being processed, in its clock's ticks; 0 without one.
    pub rcv_tsval: u32,
    /// The timestamp that it echoes, in ms of `now_us`, our own offset taken off; 0 without one.
    pub rcv_tsecr: u32,
    /// ECN was negotiated.
    pub ecn_ok: bool,
    /// Receiver side: the congestion state to echo on every ACK (DCTCP, RFC 8257 §3.2).
    pub ecn_demand_cwr: bool,
    /// Receiver side: ask for an immediate ACK of what was received before the present segment.
    pub send_ack_now: bool,
    /// The connection's own random stream.
    pub rng: Rng,
}

impl Tp {
    /// A sender in its first window, for tests and for connections to start from.
    pub fn new(initial_cwnd: u32, mss: u32, rng: Rng) -> Tp {
        Tp {
            snd_cwnd: initial_cwnd,
            snd_cwnd_cnt: 0,
            snd_cwnd_clamp: u32::MAX,
            snd_ssthresh: INFINITE_SSTHRESH,
            prior_cwnd: 0,
            packets_out: 0,
            sacked_out: 0,
            lost_out: 0,
            retrans_out: 0,
            cwnd_limited: false,
            max_packets_out: 0,
            ca_state: CaState::Open,
            snd_una: 0,
            snd_nxt: 0,
            mss,
            srtt_us: 0,
            mdev_us: 0,
            min_rtt_us: u32::MAX,
            delivered: 0,
            delivered_ce: 0,
            delivered_mstamp_us: 0,
            first_tx_mstamp_us: 0,
            lost: 0,
            app_limited: 0,
            bytes_acked: 0,
            lsndtime_us: 0,
            now_us: 0,
            hz: 1000,
            counts_acks: false,
            pacing_rate: u64::MAX,
            pacing: false,
            rcv_tsval: 0,
            rcv_tsecr: 0,
            ecn_ok: false,
            ecn_demand_cwr: false,
            send_ack_now: false,
            rng,
        }
    }

    /// Segments believed to be in the network (RFC 6675 §4, "pipe").
    #[inline]
    pub fn packets_in_flight(&self) -> u32 {
        (self.packets_out + self.retrans_out).saturating_sub(self.sacked_out + self.lost_out)
    }

    /// Whether the window grows by slow start; Linux 2.6 goes one segment beyond `ssthresh`.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.snd_cwnd < self.snd_ssthresh
            || (self.counts_acks && self.snd_cwnd == self.snd_ssthresh)
    }

    /// Whether the flow uses its window, so that it may grow (RFC 7661 §3; in slow start a flow that
    /// used half of it may still double).
    #[inline]
    pub fn is_cwnd_limited(&self) -> bool {
        self.cwnd_limited || (self.in_slow_start() && self.snd_cwnd < 2 * self.max_packets_out)
    }

    /// Clock ticks since the start of the run.
    #[inline]
    pub fn jiffies(&self) -> u64 {
        self.now_us * u64::from(self.hz) / 1_000_000
    }

    /// Clock ticks in `us` microseconds, rounded up as the kernel rounds durations.
    #[inline]
    pub fn us_to_jiffies(&self, us: u64) -> u64 {
        (us * u64::from(self.hz)).div_ceil(1_000_000)
    }

    /// Milliseconds of `jiffies` clock ticks.
    #[inline]
    pub fn jiffies_to_ms(&self, jiffies: u64) -> u64 {
        jiffies * 1000 / u64::from(self.hz)
    }

    /// Slow start over `acked` segments: one segment for each, up to `ssthresh`. Returns the segments
    /// that are left for congestion avoidance. In Linux 2.6 an ACK serves one or the other.
    #[inline]
    pub fn slow_start(&mut self, acked: u32) -> u32 {
        if self.counts_acks {
            self.snd_cwnd = (self.snd_cwnd + acked).min(self.snd_cwnd_clamp);
            return 0;
        }
        let cwnd = (self.snd_cwnd + acked).min(self.snd_ssthresh);
        let left = acked - (cwnd - self.snd_cwnd);
        self.snd_cwnd = cwnd.min(self.snd_cwnd_clamp);
        left
    }

    /// Additive increase: one segment for every `w` of the `acked` segments, the remainder kept. In Linux
    /// 2.6 the ACK that grants the segment is not counted itself: one for every `w` + 1 ACKs.
    #[inline]
    pub fn cong_avoid_ai(&mut self, w: u32, acked: u32) {
        if self.counts_acks {
            if self.snd_cwnd_cnt >= w {
                self.snd_cwnd = (self.snd_cwnd + 1).min(self.snd_cwnd_clamp);
                self.snd_cwnd_cnt = 0;
            } else {
                self.snd_cwnd_cnt += acked;
            }
            return;
        }
        // Credit gathered under a larger `w` buys one segment at once.
        if self.snd_cwnd_cnt >= w {
            self.snd_cwnd_cnt = 0;
            self.snd_cwnd += 1;
        }
        self.snd_cwnd_cnt += acked;
        if self.snd_cwnd_cnt >= w {
            let delta = self.snd_cwnd_cnt / w;
            self.snd_cwnd_cnt -= delta * w;
            self.snd_cwnd += delta;
        }
        self.snd_cwnd = self.snd_cwnd.min(self.snd_cwnd_clamp);
    }

    /// Reno's growth, which most variants fall back on: slow start, then one segment a window.
    #[inline]
    pub fn reno_cong_avoid(&mut self, acked: u32) {
        if !self.is_cwnd_limited() {
            return;
        }
        let mut acked = acked;
        if self.in_slow_start() {
            acked = self.slow_start(acked);
            if acked == 0 {
                return;
            }
        }
        self.cong_avoid_ai(self.snd_cwnd, acked);
    }

    /// Half the window, at least two segments (RFC 5681 §3.1).
    #[inline]
    pub fn reno_ssthresh(&self) -> u32 {
        (self.snd_cwnd / 2).max(2)
    }

    /// The window before a reduction that proved to be spurious.
    #[inline]
    pub fn reno_undo_cwnd(&self) -> u32 {
        self.snd_cwnd.max(self.prior_cwnd)
    }
}

/// A congestion control. `ssthresh` and `cong_avoid` (or `cong_control`) make one; the rest is optional.
///
/// Calls come in the kernel's order for each ACK: `in_ack_event`, `pkts_acked`, then `cong_avoid` (when the
/// window may grow) or, for a variant that `has_cong_control`, `cong_control` for every ACK.
pub trait CongestionControl: Debug + Send {
    /// The connection is established.
    fn init(&mut self, _tp: &mut Tp) {}

    /// The slow-start threshold after a loss, segments. Called once a reduction; at least 2 by custom.
    fn ssthresh(&mut self, tp: &mut Tp) -> u32;

    /// Grows the window for `acked` segments that `ack` acknowledged.
    fn cong_avoid(&mut self, tp: &mut Tp, ack: u32, acked: u32);

    /// The state is about to become `new`; `tp.ca_state` is still the old one.
    fn set_state(&mut self, _tp: &mut Tp, _new: CaState) {}

    /// An event happened.
    fn cwnd_event(&mut self, _tp: &mut Tp, _event: CaEvent) {}

    /// An ACK came, before anything is made of it.
    fn in_ack_event(&mut self, _tp: &mut Tp, _flags: AckFlags) {}

    /// Segments were acknowledged.
    fn pkts_acked(&mut self, _tp: &mut Tp, _sample: &AckSample) {}

    /// The window after an undone reduction, segments.
    fn undo_cwnd(&mut self, tp: &mut Tp) -> u32 {
        tp.reno_undo_cwnd()
    }

    /// Whether `cong_control` takes the place of `cong_avoid` and of the stack's own window reduction.
    fn has_cong_control(&self) -> bool {
        false
    }

    /// Sets window and pacing rate for this ACK.
    fn cong_control(&mut self, _tp: &mut Tp, _rs: &RateSample) {}

    /// Whether the sender marks its segments ECN-capable and reacts to marks by this variant's own law.
    fn needs_ecn(&self) -> bool {
        false
    }

    /// How low rate halving may bring the window, segments; asked by stacks that halve the rate.
    fn min_cwnd(&self, tp: &Tp) -> u32 {
        tp.snd_ssthresh / 2
    }

    /// Multiple of `snd_cwnd` that the send buffer should hold.
    fn sndbuf_expand(&self) -> u32 {
        2
    }

    /// Smallest super-segment under TSO autosizing, segments.
    fn min_tso_segs(&self, _tp: &Tp) -> u32 {
        2
    }

    /// Internal variables for traces: name and value.
    fn observe(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}

/// One row of [`ALL`].
#[derive(Debug)]
pub struct Entry {
    /// Name, summary, references, parameters.
    pub about: About,
    /// Makes the controller.
    pub build: fn(&Params) -> Box<dyn CongestionControl>,
}

/// Variants of other crates, in the order of their registration.
static REGISTERED: RwLock<Vec<&'static Entry>> = RwLock::new(Vec::new());

/// Makes a variant of another crate known by its name; the first of a name wins.
pub fn register(entry: &'static Entry) {
    REGISTERED
        .write()
        .expect("no panic while registering")
        .push(entry);
}

/// Every variant: the built-in ones, then the registered ones.
pub fn all() -> Vec<&'static Entry> {
    let registered = REGISTERED.read().expect("no panic while registering");
    ALL.iter().chain(registered.iter()).copied().collect()
}

/// The variant called `name`, by its name or an alias.
pub fn find(name: &str) -> Option<&'static Entry> {
    all().into_iter().find(|entry| entry.about.answers_to(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc_harness::Sender;
    use proptest::prelude::*;
    use trammel_core::entry::{Kind, Value};

    /// Linux's Vegas grows whether or not the flow uses its window.
    const IGNORES_CWND_LIMIT: &[&str] = &["vegas"];
    /// The window after a loss is the bandwidth-delay product measured over many rounds.
    const SETS_WINDOW_BY_MEASUREMENT: &[&str] = &["westwood"];

    /// What may happen to a sender.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        Rounds(usize),
        Loss,
        Timeout,
        Idle(u64),
        Rtt(u64),
        AppLimit(u32),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => (1..6_usize).prop_map(Step::Rounds),
            3 => Just(Step::Loss),
            1 => Just(Step::Timeout),
            1 => (0..20_000_000_u64).prop_map(Step::Idle),
            1 => (100..400_000_u64).prop_map(Step::Rtt),
            1 => (1..300_u32).prop_map(Step::AppLimit),
        ]
    }

    fn run(sender: &mut Sender, steps: &[Step]) -> Vec<(u32, u32)> {
        // A clamp keeps the windows, and so the test, small.
        sender.tp.snd_cwnd_clamp = 300;
        steps
            .iter()
            .map(|step| {
                match *step {
                    Step::Rounds(n) => drop(sender.rounds(n)),
                    Step::Loss => sender.lose(),
                    Step::Timeout => sender.timeout(),
                    Step::Idle(us) => sender.idle(us),
                    Step::Rtt(us) => sender.rtt_us = us,
                    Step::AppLimit(n) => sender.app_limit = n,
                }
                (sender.tp.snd_cwnd, sender.tp.snd_ssthresh)
            })
            .collect()
    }

    /// Every entry with its defaults, and with each word of each of its choices.
    fn every_form() -> Vec<(&'static str, Vec<(&'static str, &'static str)>)> {
        let mut forms = Vec::new();
        for about in ALL.iter().map(|entry| entry.about) {
            forms.push((about.name, vec![]));
            for param in about.params {
                if let Kind::Choice(words) = param.kind {
                    forms.extend(words.iter().map(|w| (about.name, vec![(param.name, *w)])));
                }
            }
        }
        forms
    }

    #[test]
    fn names_and_aliases_are_unique() {
        let mut names: Vec<_> = ALL
            .iter()
            .flat_map(|entry| std::iter::once(&entry.about.name).chain(entry.about.aliases))
            .collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn every_entry_describes_itself_and_builds_from_its_defaults() {
        for entry in ALL {
            let about = entry.about;
            assert!(
                !about.summary.is_empty() && !about.summary.ends_with('.'),
                "{}",
                about.name
            );
            assert!(!about.references.is_empty(), "{}", about.name);
            assert!(
                about.params.iter().all(|param| !param.help.is_empty()),
                "{}",
                about.name
            );
            let params = Params::resolve(&about, &[]).expect(about.name);
            let _ = (entry.build)(&params);
        }
    }

    #[test]
    fn whole_numbers_at_the_ends_of_their_ranges_build_and_run() {
        for entry in ALL {
            for param in entry.about.params {
                let Kind::Int(low, high) = param.kind else {
                    continue;
                };
                for end in [low, high] {
                    let given = [(param.name.to_owned(), Value::Int(end))];
                    let params = Params::resolve(&entry.about, &given).expect(param.name);
                    let mut sender = Sender::with((entry.build)(&params), 20_000);
                    let steps = [Step::Rounds(3), Step::Loss, Step::Rounds(5), Step::Loss];
                    for (cwnd, ssthresh) in run(&mut sender, &steps) {
                        assert!(
                            cwnd >= 1 && ssthresh >= 2,
                            "{}: {}",
                            entry.about.name,
                            param.name
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn a_loss_never_widens_the_window() {
        for (name, given) in every_form() {
            for (rtt_us, rounds) in [(100_000, 4), (100_000, 1), (20_000, 6), (500_000, 3)] {
                let mut sender = Sender::new(name, &given, rtt_us);
                // A bottleneck of 240 Mbit/s.
                sender.service_us = 50;
                if sender.cc.has_cong_control() || SETS_WINDOW_BY_MEASUREMENT.contains(&name) {
                    continue;
                }
                sender.rounds(rounds);
                for _ in 0..3 {
                    let before = sender.tp.snd_cwnd;
                    sender.lose();
                    assert!(
                        sender.tp.snd_cwnd <= before.max(2),
                        "{name} {given:?} {rtt_us}"
                    );
                    sender.rounds(5);
                }
            }
        }
    }

    #[test]
    fn does_not_grow_while_the_window_is_not_used() {
        for (name, given) in every_form() {
            let mut sender = Sender::new(name, &given, 50_000);
            if sender.cc.has_cong_control() || IGNORES_CWND_LIMIT.contains(&name) {
                continue;
            }
            sender.rounds(4);
            for avoids_congestion in [false, true] {
                if avoids_congestion {
                    sender.lose();
                }
                sender.app_limit = (sender.tp.snd_cwnd / 4).max(1);
                // The ACKs of the last full window still count.
                sender.rounds(2);
                let before = sender.tp.snd_cwnd;
                sender.rounds(20);
                assert!(sender.tp.snd_cwnd <= before, "{name} {given:?}");
                sender.app_limit = u32::MAX;
            }
        }
    }

    #[test]
    fn observes_the_same_names_always() {
        for (name, given) in every_form() {
            let mut sender = Sender::new(name, &given, 50_000);
            let names = |sender: &Sender| -> Vec<_> {
                sender
                    .cc
                    .observe()
                    .into_iter()
                    .map(|(name, _)| name)
                    .collect()
            };
            let at_first = names(&sender);
            sender.rounds(4);
            assert_eq!(names(&sender), at_first, "{name}");
            sender.lose();
            sender.timeout();
            sender.rounds(2);
            assert_eq!(names(&sender), at_first, "{name}");
            assert!(
                sender.cc.observe().iter().all(|(_, value)| !value.is_nan()),
                "{name}"
            );
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn windows_stay_in_bounds_and_runs_repeat(
            steps in prop::collection::vec(step(), 1..12),
            rtt_us in 100..300_000_u64,
        ) {
            for (name, given) in every_form() {
                let windows = run(&mut Sender::new(name, &given, rtt_us), &steps);
                for (cwnd, ssthresh) in &windows {
                    prop_assert!(*cwnd >= 1 && *ssthresh >= 2, "{} {:?}", name, windows);
                }
                let again = run(&mut Sender::new(name, &given, rtt_us), &steps);
                prop_assert_eq!(windows, again, "{}", name);
            }
        }
    }

    #[test]
    fn where_acks_are_counted_growth_is_that_of_linux_2_6() {
        let mut tp = Tp::new(10, 1448, Rng::new(1, "acks"));
        tp.snd_ssthresh = 10;
        assert!(!tp.in_slow_start());
        tp.counts_acks = true;
        // Slow start goes one segment beyond the threshold, and its ACK does not count twice.
        assert!(tp.in_slow_start());
        assert_eq!((tp.slow_start(1), tp.snd_cwnd), (0, 11));
        assert!(!tp.in_slow_start());
        // Eleven ACKs are counted, the twelfth grants the segment.
        for _ in 0..11 {
            tp.cong_avoid_ai(11, 1);
        }
        assert_eq!(tp.snd_cwnd, 11);
        tp.cong_avoid_ai(11, 1);
        assert_eq!((tp.snd_cwnd, tp.snd_cwnd_cnt), (12, 0));
    }
}
