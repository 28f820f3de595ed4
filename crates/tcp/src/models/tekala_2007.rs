//! Scalable TCP beside NewReno on one bottleneck, as printed in 2007 and corrected.
//!
//! # What it does
//! One Scalable flow (a = 0.01 packet per ACK, a loss leaves b = 7/8) and one NewReno flow of equal
//! round trip.
//!
//! `as-printed` gives the digits of Table 1 (eleven cells are cut, one is rounded). The text says
//! that its shares come from the rates (8) and (11); they come from (17) to (19) with the peaks (6)
//! and (9) instead: U_R = 7/8 W_R / (7/8 W_R + 15/16 W_S), W_S = a / (q (1-b)), W_R = √(8/(3q)).
//! The 7/8 should be 3/4, since NewReno's saw-tooth runs from W/2 to W. Without random loss the
//! paper's (20) and (21) are the same formula at q = 1.5e-7; link, round trip and the recursion
//! (16) are not in them, and the same is done here.
//!
//! `equations` takes (8) and (11) at their word: 0.075/q and √(3/(2q)) packets in a round trip.
//!
//! `corrected` uses the constants of independent losses, a / (q ln 1/b) and 1.3098 / √q. Where the
//! link cannot carry their sum, or without random loss, both flows lose at each overflow of C =
//! BDP + buffer packets: n rounds solve b W_S e^(a n) + W_R/2 + n = C, then W_S ← b W_S e^(a n),
//! W_R ← W_R/2 + n. The answer is the mean of the complete cycles of the run, from equal halves.
//! `corrected-fixed-point` is their limit: n = ln(1/b)/a = 13.35 rounds, W_R = 2n = 26.7 packets on
//! any link.
//!
//! # References
//! Tekala, Szabó 2007, eqs 5 to 21 and Table 1; Ott, Kemperman, Mathis 1996 for 1.3098.

use super::scalable_kelly::{ADD, CUT, iid_constant, other_growth};
use super::{Answer, Entry, FlowAnswer, Question, square_root};
use trammel_core::entry::About;

/// The model of Tekala and Szabó in the table of models.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "tekala-2007",
        aliases: &["tekala-szabo-2007"],
        summary: "one Scalable flow beside one NewReno flow: their shares",
        references: &[
            "Tekala, Szabó 2007, Modeling Scalable TCP friendliness to NewReno TCP",
            "Kelly 2003, Scalable TCP: Improving Performance in Highspeed Wide Area Networks",
            "Ott, Kemperman, Mathis 1996, The Stationary Behavior of Ideal TCP Congestion \
             Avoidance",
        ],
        params: &[],
    },
    dialects: &[
        (
            "as-printed",
            "the formula that gives the printed Table 1, (20) and (21), with its 7/8",
        ),
        ("equations", "the rates (8) and (11)"),
        (
            "corrected",
            "independent losses; under overflow the repaired recursion over the run",
        ),
        (
            "corrected-fixed-point",
            "as corrected, with the recursion's limit in place of the run",
        ),
    ],
    validity: "one scalable and one reno flow of equal round-trip time on a tail-drop link",
    predict: |question, dialect| {
        let pair = Pair::of(question)?;
        let mut answer = match dialect {
            "as-printed" => Ok(as_printed(&pair)),
            "equations" => equations(&pair),
            "corrected" => corrected(&pair, |pipe| pipe.mean_of_run(pair.question.duration_s)),
            _ => corrected(&pair, |pipe| Ok(pipe.fixed_point())),
        }?;
        let growth = other_growth(&question.flows[pair.scalable]);
        answer.notes.extend(growth);
        if question.ack_ratio != 1.0 && !dialect.starts_with("corrected") {
            answer
                .notes
                .push("the paper assumes an ACK for every packet".to_owned());
        }
        Ok(answer)
    },
};

/// What a loss leaves of Scalable's window.
const KEEP: f64 = 1.0 - CUT;
/// The loss at which the paper computes (20) and (21), its stand-in for losses by overflow.
const PRINTED_OVERFLOW_LOSS: f64 = 1.5e-7;

/// The two flows of the model, and where they stand in the question.
struct Pair<'a> {
    question: &'a Question,
    scalable: usize,
    reno: usize,
    rtt_s: f64,
}

impl Pair<'_> {
    fn of(question: &Question) -> Result<Pair<'_>, String> {
        question.require_variants(&["scalable", "reno"])?;
        let rtt_s = question.require_equal_rtt()?;
        let place = |name| question.flows.iter().position(|f| f.variant_name() == name);
        match (question.flows.len(), place("scalable"), place("reno")) {
            (2, Some(scalable), Some(reno)) => Ok(Pair {
                question,
                scalable,
                reno,
                rtt_s,
            }),
            _ => Err("it describes exactly one scalable and one reno flow".to_owned()),
        }
    }

    /// The answer for the packets in a round trip, or in a run, of each flow; rates and windows as
    /// given.
    fn answer(
        &self,
        packets: [f64; 2],
        pps: Option<[f64; 2]>,
        windows: Option<[f64; 2]>,
    ) -> Answer {
        let mut flows = vec![FlowAnswer::default(); 2];
        for (which, flow) in [self.scalable, self.reno].into_iter().enumerate() {
            flows[flow] = FlowAnswer {
                goodput_bps: pps.map(|pps| self.question.goodput_bps(pps[which])),
                share: Some(packets[which] / (packets[0] + packets[1])),
                cwnd_pkts: windows.map(|windows| windows[which]),
            };
        }
        Answer {
            flows,
            ..Answer::default()
        }
    }

    /// The answer for mean windows under random loss; without rates where the link cannot carry
    /// them.
    fn windows_answer(&self, windows: [f64; 2]) -> Answer {
        let pps = windows.map(|window| window / self.rtt_s);
        match self.excess(windows) {
            None => self.answer(windows, Some(pps), Some(windows)),
            Some(excess) => Answer {
                notes: vec![format!(
                    "out of the loss formula's domain: {excess}; shares only"
                )],
                ..self.answer(windows, None, None)
            },
        }
    }

    /// What the windows would need of the link, where it is more than the link has.
    fn excess(&self, windows: [f64; 2]) -> Option<String> {
        let pps = (windows[0] + windows[1]) / self.rtt_s;
        (pps > self.question.capacity_pps()).then(|| {
            let demand = pps * self.question.wire_bytes * 8.0 / 1e6;
            let link = self.question.rate_bps / 1e6;
            format!("the random loss alone would allow {demand:.1} Mbit/s of {link:.1} Mbit/s")
        })
    }

    fn refuse_window_limit(&self, windows: [f64; 2]) -> Result<(), String> {
        for (flow, window) in [self.scalable, self.reno].into_iter().zip(windows) {
            if window > self.question.flows[flow].max_window_pkts {
                return Err("the window limit binds, not the losses".to_owned());
            }
        }
        Ok(())
    }
}

/// Shares by (17) to (19) with the peaks (6) and (9): Table 1, and at q = 1.5e-7 (20) and (21).
fn as_printed(pair: &Pair) -> Answer {
    if pair.question.loss > 0.0 {
        return pair.windows_answer(printed_windows(pair.question.loss));
    }
    Answer {
        notes: vec![
            "losses by overflow: the paper's (20) and (21), which are its formula at q = 1.5e-7 \
             whatever the link"
                .to_owned(),
        ],
        ..pair.answer(printed_windows(PRINTED_OVERFLOW_LOSS), None, None)
    }
}

/// Mean windows of Scalable and NewReno as the printed (17) and (18) have them.
fn printed_windows(loss: f64) -> [f64; 2] {
    let peaks = [ADD / (loss * CUT), (8.0 / (3.0 * loss)).sqrt()];
    [f64::midpoint(KEEP, 1.0) * peaks[0], 7.0 / 8.0 * peaks[1]]
}

/// Shares by the rates (8) and (11).
fn equations(pair: &Pair) -> Result<Answer, String> {
    let loss = pair.question.require_loss()?;
    let scalable = ADD * (1.0 + KEEP) / (2.0 * loss * CUT);
    Ok(pair.windows_answer([
        scalable,
        square_root::mean_window(loss, 1.0, square_root::PERIODIC),
    ]))
}

/// Independent losses where the link carries them, else synchronous losses by overflow.
fn corrected(
    pair: &Pair,
    overflow: impl Fn(&Pipe) -> Result<Cycle, String>,
) -> Result<Answer, String> {
    let question = pair.question;
    let mut notes = Vec::new();
    if question.loss > 0.0 {
        let per_packet = question.ack_ratio * question.loss;
        let reno = square_root::mean_window(question.loss, question.ack_ratio, square_root::RANDOM);
        let windows = [iid_constant() / per_packet, reno];
        let Some(excess) = pair.excess(windows) else {
            pair.refuse_window_limit(windows)?;
            return Ok(pair.windows_answer(windows));
        };
        notes.push(format!(
            "{excess}; losses by overflow instead, random ones neglected"
        ));
    }
    let pipe = Pipe::of(pair)?;
    let mean = overflow(&pipe)?;
    let windows = mean.packets.map(|packets| packets / mean.rounds);
    pair.refuse_window_limit(windows)?;
    let fixed_point = pipe.fixed_point();
    Ok(Answer {
        queue_delay_s: Some(mean.queued / mean.rounds / pipe.pps),
        details: vec![
            ("cycle_rounds", mean.rounds / mean.count),
            ("cycles_count", mean.count),
            ("fixed_point_reno_share_ratio", fixed_point.reno_share()),
        ],
        notes,
        ..pair.answer(
            mean.packets,
            Some(mean.packets.map(|packets| packets / mean.seconds)),
            Some(windows),
        )
    })
}

/// The link as the two windows fill it.
#[derive(Clone, Copy, Debug)]
struct Pipe {
    /// Packets in flight when the queue overflows.
    limit: f64,
    /// Packets in flight without a queue.
    bdp: f64,
    /// Packets per second.
    pps: f64,
    rtt_s: f64,
    /// Packets per ACK.
    ack_ratio: f64,
}

/// One or more complete cycles from loss to loss, added up.
#[derive(Clone, Copy, Debug, Default)]
struct Cycle {
    count: f64,
    rounds: f64,
    seconds: f64,
    /// Packets of Scalable and NewReno.
    packets: [f64; 2],
    /// Queued packets, summed over the rounds.
    queued: f64,
}

impl Cycle {
    /// Adds `cycle` `times` times.
    fn add(&mut self, cycle: &Cycle, times: f64) {
        self.count += cycle.count * times;
        self.rounds += cycle.rounds * times;
        self.seconds += cycle.seconds * times;
        self.queued += cycle.queued * times;
        for (sum, packets) in self.packets.iter_mut().zip(cycle.packets) {
            *sum += packets * times;
        }
    }

    fn reno_share(&self) -> f64 {
        self.packets[1] / (self.packets[0] + self.packets[1])
    }
}

impl Pipe {
    fn of(pair: &Pair) -> Result<Pipe, String> {
        let question = pair.question;
        let bdp = question.bdp_pkts(pair.rtt_s);
        let limit = bdp + question.buffer_pkts;
        // Below twice NewReno's 26.7 packets Scalable is no longer the larger flow, nor the
        // theory's.
        let least = 4.0 * (1.0 / KEEP).ln() / ADD;
        if !(limit.is_finite() && limit >= least) {
            return Err(format!(
                "path and queue hold {limit:.1} packets; it needs at least {least:.1}, and a limit"
            ));
        }
        Ok(Pipe {
            limit,
            bdp,
            pps: question.capacity_pps(),
            rtt_s: pair.rtt_s,
            ack_ratio: question.ack_ratio,
        })
    }

    /// The cycle that starts with a loss at `windows`, and the windows at its end.
    fn cycle(&self, windows: [f64; 2]) -> (Cycle, [f64; 2]) {
        let start = [KEEP * windows[0], windows[1] / 2.0];
        // Growth in packets of NewReno, of which a round gives one for each ACK ratio.
        let at = |growth: f64| [start[0] * (ADD * growth).exp(), start[1] + growth];
        let packets = |growth: f64| {
            let scalable = start[0] * (ADD * growth).exp_m1() / ADD;
            let reno = start[1] * growth + growth * growth / 2.0;
            [scalable * self.ack_ratio, reno * self.ack_ratio]
        };
        let reach = |target: f64| {
            if start[0] + start[1] >= target {
                return 0.0;
            }
            let (mut low, mut high) = (0.0, ((target / start[0]).ln() / ADD).min(target));
            for _ in 0..60 {
                let middle = f64::midpoint(low, high);
                let [scalable, reno] = at(middle);
                if scalable + reno < target {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            low
        };
        let (full, end) = (reach(self.bdp), reach(self.limit));
        let sum = |[scalable, reno]: [f64; 2]| scalable + reno;
        let (rounds_empty, rounds) = (full * self.ack_ratio, end * self.ack_ratio);
        // A round takes the base round trip while the queue is empty, then what the link takes for
        // it.
        let backlogged = sum(packets(end)) - sum(packets(full));
        let cycle = Cycle {
            count: 1.0,
            rounds,
            seconds: rounds_empty * self.rtt_s + backlogged / self.pps,
            packets: packets(end),
            queued: backlogged - self.bdp * (rounds - rounds_empty),
        };
        (cycle, at(end))
    }

    /// The complete cycles of `duration_s` seconds, from equal halves at a loss.
    fn mean_of_run(&self, duration_s: f64) -> Result<Cycle, String> {
        let mut windows = [self.limit / 2.0; 2];
        let mut sum = Cycle::default();
        loop {
            let (cycle, next) = self.cycle(windows);
            let left = duration_s - sum.seconds;
            if cycle.seconds > left {
                break;
            }
            // Once the windows stand still the rest of the run is this cycle again and again.
            if (next[1] / windows[1] - 1.0).abs() < 1e-9 {
                sum.add(&cycle, (left / cycle.seconds).floor());
                break;
            }
            sum.add(&cycle, 1.0);
            windows = next;
        }
        if sum.count > 0.0 {
            Ok(sum)
        } else {
            Err(format!(
                "{duration_s} s are shorter than one cycle from loss to loss"
            ))
        }
    }

    /// The cycle that repeats itself.
    fn fixed_point(&self) -> Cycle {
        let reno = 2.0 * (1.0 / KEEP).ln() / ADD;
        self.cycle([self.limit - reno, reno]).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOSSES: [f64; 6] = [1.5e-2, 1.5e-3, 1.5e-4, 1.5e-5, 1.5e-6, 1.5e-7];

    /// The paper's link: 1 Gbit/s, 1500 B packets, a queue of one bandwidth-delay product, 100 s.
    fn paper(loss: f64, rtt_s: f64) -> Question {
        let mut question = Question {
            rate_bps: 1e9,
            wire_bytes: 1500.0,
            mss_bytes: 1460.0,
            buffer_pkts: 1e9 * rtt_s / 12_000.0,
            loss,
            ..Question::example(&["scalable", "reno"])
        };
        for flow in &mut question.flows {
            flow.rtt_s = rtt_s;
            flow.max_window_pkts = 83_000.0;
        }
        question
    }

    fn shares(question: &Question, dialect: &str) -> [f64; 2] {
        let answer = ENTRY.answer(question, dialect).unwrap();
        [
            answer.flows[0].share.unwrap(),
            answer.flows[1].share.unwrap(),
        ]
    }

    fn cut(value: f64, digits: i32) -> f64 {
        let unit = 10f64.powi(digits);
        // A value a rounding error below a printed digit is that digit.
        (value * unit + 1e-9).floor() / unit
    }

    #[test]
    fn as_printed_gives_the_digits_of_table_1() {
        let reno = [
            (0.7, 1),
            (0.42, 2),
            (0.19, 2),
            (0.06, 2),
            (0.02, 2),
            (0.007, 3),
        ];
        let scalable = [
            (0.3, 1),
            (0.57, 2),
            (0.81, 2),
            (0.93, 2),
            (0.97, 2),
            (0.99, 2),
        ];
        for (column, loss) in LOSSES.into_iter().enumerate() {
            let [s, r] = shares(&paper(loss, 0.01), "as-printed");
            let (printed, digits) = scalable[column];
            assert_eq!(cut(s, digits), printed, "scalable at {loss}");
            let (printed, digits) = reno[column];
            // The table cuts everywhere but here: 0.1892 is printed as 0.19.
            let ours = if loss == 1.5e-4 {
                (r * 100.0).round() / 100.0
            } else {
                cut(r, digits)
            };
            assert_eq!(ours, printed, "reno at {loss}");
        }
    }

    #[test]
    fn as_printed_without_loss_gives_20_and_21_on_any_link() {
        for rtt_s in [0.01, 0.2] {
            let [scalable, reno] = shares(&paper(0.0, rtt_s), "as-printed");
            assert_eq!([cut(scalable, 3), cut(reno, 3)], [0.992, 0.007]);
        }
    }

    #[test]
    fn dialects_have_the_shares_of_the_algebra() {
        let printed = [0.7000, 0.4246, 0.1892, 0.0687, 0.0228, 0.0073];
        let equations = [0.6667, 0.3874, 0.1667, 0.0595, 0.0196, 0.0063];
        for (column, loss) in LOSSES.into_iter().enumerate() {
            let question = paper(loss, 0.01);
            for (dialect, expected) in [("as-printed", printed), ("equations", equations)] {
                let reno = shares(&question, dialect)[1];
                assert!(
                    (reno - expected[column]).abs() < 5e-5,
                    "{dialect} {loss}: {reno}"
                );
            }
        }
        // The link carries only these.
        for (loss, expected) in LOSSES.into_iter().zip([0.6817, 0.4038, 0.1764]) {
            let reno = shares(&paper(loss, 0.01), "corrected")[1];
            assert!((reno - expected).abs() < 5e-5, "corrected {loss}: {reno}");
        }
    }

    #[test]
    fn overflow_has_the_fixed_points_and_transients_of_the_algebra() {
        let expected = [
            (0.010, 0.0129, 0.0168, 396.0),
            (0.030, 0.0043, 0.0160, 128.0),
            (0.060, 0.0021, 0.0254, 62.0),
            (0.100, 0.0013, 0.0404, 35.0),
            (0.200, 0.0006, 0.0798, 15.0),
        ];
        for (rtt_s, fixed_point, transient, cycles) in expected {
            let question = paper(0.0, rtt_s);
            let reno = shares(&question, "corrected-fixed-point")[1];
            assert!((reno - fixed_point).abs() < 5e-5, "{rtt_s}: {reno}");
            let answer = ENTRY.answer(&question, "corrected").unwrap();
            let reno = answer.flows[1].share.unwrap();
            assert!((reno - transient).abs() < 5e-5, "{rtt_s}: {reno}");
            assert!(
                answer.details.contains(&("cycles_count", cycles)),
                "{:?}",
                answer.details
            );
        }
    }

    #[test]
    fn the_fixed_point_gives_reno_26_7_packets_at_its_peak_on_any_link() {
        for rtt_s in [0.01, 0.2] {
            let answer = ENTRY
                .answer(&paper(0.0, rtt_s), "corrected-fixed-point")
                .unwrap();
            // The mean of a saw-tooth from half the peak is three quarters of it.
            assert!((answer.flows[1].cwnd_pkts.unwrap() - 0.75 * 26.706).abs() < 0.01);
            assert!(
                (answer.details[0].1 - 13.353).abs() < 1e-3,
                "{:?}",
                answer.details
            );
        }
    }

    #[test]
    fn too_little_loss_for_the_link_is_said() {
        let question = paper(1.5e-6, 0.01);
        let printed = ENTRY.answer(&question, "as-printed").unwrap();
        assert_eq!(printed.flows[0].goodput_bps, None);
        assert!(printed.notes[0].starts_with("out of the loss formula's domain"));
        let corrected = ENTRY.answer(&question, "corrected").unwrap();
        assert!(
            corrected.notes[0].contains("overflow"),
            "{:?}",
            corrected.notes
        );
        let total: f64 = corrected.flows.iter().map(|f| f.goodput_bps.unwrap()).sum();
        assert!((total / question.goodput_bps(question.capacity_pps()) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_short_queue_leaves_the_link_partly_idle() {
        let question = Question {
            buffer_pkts: 50.0,
            ..paper(0.0, 0.1)
        };
        let answer = ENTRY.answer(&question, "corrected").unwrap();
        let total: f64 = answer.flows.iter().map(|f| f.goodput_bps.unwrap()).sum();
        let used = total / question.goodput_bps(question.capacity_pps());
        assert!((0.85..0.99).contains(&used), "{used}");
    }

    #[test]
    fn order_of_the_flows_does_not_matter_and_other_flows_are_refused() {
        let mut question = paper(1.5e-3, 0.01);
        let [scalable, reno] = shares(&question, "corrected");
        question.flows.swap(0, 1);
        assert_eq!(shares(&question, "corrected"), [reno, scalable]);
        question.flows[0].rtt_s = 0.02;
        assert!(
            ENTRY
                .answer(&question, "")
                .unwrap_err()
                .contains("equal round-trip")
        );
        let two = Question::example(&["reno", "reno"]);
        assert!(ENTRY.answer(&two, "").unwrap_err().contains("exactly one"));
    }
}
