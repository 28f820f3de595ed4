//! The numbers of D-ITG's summary and its layout, as `ITGDec LOG` prints them.
//!
//! By D-ITG's definitions, found by decoding logs with known numbers:
//! - *total time* is the largest time of receiving less the smallest (so a run over midnight is a
//!   day long), in seconds of the day as doubles, whose rounding shows in the rates;
//! - *delay* is receiving less sending; its *standard deviation* is √(mean of squares − square of
//!   mean), over all packets;
//! - *jitter* is the mean of |difference of delays| of packets that follow each other in the log;
//!   that of the total is over the whole log, so the delays of different flows are compared with
//!   each other;
//! - *dropped* grows by the gap when a number is larger than the largest so far by more than one,
//!   falls by one with each that is not larger, and is never negative; a *burst* is counted with
//!   each gap and taken back with each late packet, so the *average loss-burst size* may be `inf`;
//!   in the total it is `0` without decimals where nothing was lost.
//!
//! The last is exact for logs in which numbers grow. Where packets came late or twice the
//! original's count of bursts follows a rule that experiments did not show whole: of all 780
//! sequences of up to four numbers from 0 to 4, ours gives the same two lines of loss for 715.
//!
//! Flows are told apart by number, addresses and ports, and come in the order in which the log
//! begins them.

use super::line::Line;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::SocketAddr;

/// The numbers of a flow or of the whole log. Times in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Numbers {
    /// From the first packet received to the last.
    pub time_s: f64,
    /// Packets received.
    pub packets: u64,
    /// The smallest delay.
    pub least_delay_s: f64,
    /// The largest.
    pub most_delay_s: f64,
    /// The mean.
    pub mean_delay_s: f64,
    /// The mean difference of delays.
    pub jitter_s: f64,
    /// The standard deviation of delays, of the population.
    pub delay_sd_s: f64,
    /// Bytes of payload.
    pub bytes: u64,
    /// Packets lost.
    pub dropped: u64,
    /// How often some were lost, less the packets that came late; may be negative.
    pub losses: i64,
}

/// A flow of a log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowSummary {
    /// Its number.
    pub number: u32,
    /// Where from.
    pub from: SocketAddr,
    /// Where to.
    pub to: SocketAddr,
    /// Its numbers.
    pub numbers: Numbers,
}

/// What is known of a log.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Its flows, in the order in which they begin.
    pub flows: Vec<FlowSummary>,
    /// All of them together.
    pub total: Numbers,
    /// Records that could not be read.
    pub error_lines: u64,
}

/// Sums from which [`Numbers`] are made.
#[derive(Clone, Copy, Debug)]
struct Sums {
    first_s: f64,
    last_s: f64,
    packets: u64,
    least: f64,
    most: f64,
    delays: f64,
    squares: f64,
    differences: f64,
    last_delay: f64,
    bytes: u64,
}

impl Sums {
    // Where an empty log starts from in the original: its summary shows these.
    const EMPTY: Sums = Sums {
        first_s: 90_000.0,
        last_s: 0.0,
        packets: 0,
        least: 90_000.0,
        most: -86_400.0,
        delays: 0.0,
        squares: 0.0,
        differences: 0.0,
        last_delay: 0.0,
        bytes: 0,
    };

    fn add(&mut self, line: &Line) {
        let (sent, received) = (of_day(line.sent_us), of_day(line.received_us));
        let delay = received - sent;
        if self.packets > 0 {
            self.differences += (delay - self.last_delay).abs();
        }
        self.last_delay = delay;
        self.packets += 1;
        self.bytes += u64::from(line.bytes);
        self.first_s = self.first_s.min(received);
        self.last_s = self.last_s.max(received);
        self.least = self.least.min(delay);
        self.most = self.most.max(delay);
        self.delays += delay;
        self.squares += delay * delay;
    }

    fn numbers(&self, dropped: u64, losses: i64) -> Numbers {
        let packets = self.packets as f64;
        let mean = self.delays / packets;
        Numbers {
            time_s: self.last_s - self.first_s,
            packets: self.packets,
            least_delay_s: self.least,
            most_delay_s: self.most,
            mean_delay_s: mean,
            jitter_s: if self.packets > 1 {
                self.differences / (packets - 1.0)
            } else {
                0.0
            },
            // Rounding may make it a little less than nothing; without packets it is not a number.
            delay_sd_s: (self.squares / packets - mean * mean).max(0.0).sqrt(),
            bytes: self.bytes,
            dropped,
            losses,
        }
    }
}

/// In the way and with the rounding of the original.
fn of_day(us: u64) -> f64 {
    let minutes = us / 60_000_000;
    (minutes / 60) as f64 * 3600.0 + (minutes % 60) as f64 * 60.0 + (us % 60_000_000) as f64 / 1e6
}

/// What was lost, as D-ITG counts: what the first packet's number leaves open counts once there is
/// a second.
#[derive(Clone, Copy, Debug, Default)]
struct Loss {
    largest: u32,
    dropped: u64,
    losses: i64,
    packets: u64,
}

impl Loss {
    fn add(&mut self, sequence: u32) {
        self.packets += 1;
        if self.packets == 1 {
            self.largest = sequence.max(1);
            return;
        }
        let before_first = if self.packets == 2 {
            u64::from(self.largest - 1)
        } else {
            0
        };
        self.dropped += before_first;
        if sequence > self.largest {
            let gap = u64::from(sequence - self.largest - 1);
            self.dropped += gap;
            self.losses += i64::from(gap > 0);
            self.largest = sequence;
        } else if sequence < self.largest || self.dropped > 0 {
            self.dropped = self.dropped.saturating_sub(1);
            self.losses -= 1;
        }
        if before_first > 0 {
            self.losses = i64::from(self.dropped > 0);
        }
    }
}

/// A flow that is being counted: what tells it from others, its sums and its losses.
type Counted = ((u32, SocketAddr, SocketAddr), Sums, Loss);

/// Counts a log line by line, in its order. Memory is by the flow.
#[derive(Clone, Debug)]
pub struct Counter {
    places: BTreeMap<(u32, SocketAddr, SocketAddr), usize>,
    flows: Vec<Counted>,
    total: Sums,
}

impl Default for Counter {
    fn default() -> Counter {
        Counter {
            places: BTreeMap::new(),
            flows: Vec::new(),
            total: Sums::EMPTY,
        }
    }
}

impl Counter {
    /// Takes in a line.
    pub fn line(&mut self, line: &Line) {
        let Counter {
            places,
            flows,
            total,
        } = self;
        let key = (line.flow, line.from, line.to);
        let place = *places.entry(key).or_insert_with(|| {
            flows.push((key, Sums::EMPTY, Loss::default()));
            flows.len() - 1
        });
        let (_, sums, loss) = &mut flows[place];
        sums.add(line);
        loss.add(line.sequence);
        total.add(line);
    }

    /// The summary, with so many records that could not be read.
    #[must_use]
    pub fn finish(self, error_lines: u64) -> Summary {
        let flows = &self.flows;
        let dropped = flows.iter().map(|(_, _, loss)| loss.dropped).sum();
        let losses = flows.iter().map(|(_, _, loss)| loss.losses).sum();
        Summary {
            total: self.total.numbers(dropped, losses),
            flows: self
                .flows
                .into_iter()
                .map(|((number, from, to), sums, loss)| FlowSummary {
                    number,
                    from,
                    to,
                    numbers: sums.numbers(loss.dropped, loss.losses),
                })
                .collect(),
            error_lines,
        }
    }
}

impl Summary {
    /// Counts a log; lines in its order.
    pub fn of<'a>(lines: impl IntoIterator<Item = &'a Line>, error_lines: u64) -> Summary {
        let mut counter = Counter::default();
        lines.into_iter().for_each(|line| counter.line(line));
        counter.finish(error_lines)
    }

    /// The summary in the layout of `ITGDec`, without the two lines of its version.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        let rule = "-".repeat(58);
        let bar = "_".repeat(58);
        // Writing to a string does not fail.
        if self.flows.is_empty() {
            let _ = writeln!(out, "Empty log file");
        }
        for flow in &self.flows {
            let _ = writeln!(out, "{rule}\nFlow number: {}", flow.number);
            let _ = writeln!(out, "From {}:{}", flow.from.ip(), flow.from.port());
            let _ = writeln!(out, "To    {}:{}\n{rule}", flow.to.ip(), flow.to.port());
            flow.numbers.write(false, &mut out);
            let _ = writeln!(out, "{rule}");
        }
        let _ = writeln!(
            out,
            "\n{bar}\n****************  TOTAL RESULTS   ******************\n{bar}"
        );
        let _ = writeln!(out, "Number of flows          = {:13}", self.flows.len());
        self.total.write(true, &mut out);
        let _ = writeln!(
            out,
            "Error lines              = {:13}\n{rule}",
            self.error_lines
        );
        out
    }
}

impl Numbers {
    /// The mean size of a burst of losses: 0 without any, infinite where late packets took all
    /// bursts back.
    #[must_use]
    pub(crate) fn mean_burst(&self) -> f64 {
        match (self.dropped, self.losses) {
            (1.., 0) => f64::INFINITY,
            // With fewer bursts than none the original prints 0.
            (0, _) | (_, ..0) => 0.0,
            (dropped, losses) => dropped as f64 / losses as f64,
        }
    }

    fn write(&self, is_total: bool, out: &mut String) {
        // A rate over no time is written as 0.
        let over_time = |count: f64| {
            if self.time_s > 0.0 {
                count / self.time_s
            } else {
                0.0
            }
        };
        let all = self.packets + self.dropped;
        let lost = if all == 0 {
            0.0
        } else {
            self.dropped as f64 * 100.0 / all as f64
        };
        let burst = match self.mean_burst() {
            burst if is_total && burst == 0.0 && self.dropped == 0 => format!("{:13}", 0),
            burst => format!("{burst:13.6}"),
        };
        // What C prints for the mean of nothing.
        let mean = if self.packets == 0 {
            format!("{:>13}", "-nan")
        } else {
            format!("{:13.6}", self.mean_delay_s)
        };
        let _ = writeln!(
            out,
            "Total time               = {:13.6} s\n\
             Total packets            = {:13}\n\
             Minimum delay            = {:13.6} s\n\
             Maximum delay            = {:13.6} s\n\
             Average delay            = {mean} s\n\
             Average jitter           = {:13.6} s\n\
             Delay standard deviation = {:13.6} s\n\
             Bytes received           = {:13}\n\
             Average bitrate          = {:13.6} Kbit/s\n\
             Average packet rate      = {:13.6} pkt/s\n\
             Packets dropped          = {:13} ({lost:.2} %)\n\
             Average loss-burst size  = {burst} pkt",
            self.time_s,
            self.packets,
            self.least_delay_s,
            self.most_delay_s,
            self.jitter_s,
            self.delay_sd_s,
            self.bytes,
            over_time(self.bytes as f64 * 8.0 / 1000.0),
            over_time(self.packets as f64),
            self.dropped,
        );
    }
}
