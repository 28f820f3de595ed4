//! What is counted of one flow, and of flows together.

use super::delay::{DelayReport, PdvReport, delay, pdv};
use super::jitter::{IpdvReport, Jitter, JitterReport, ipdv};
use super::loss::{Loss, LossReport};
use super::reorder::{Reorder, ReorderReport};
use super::series::{Axis, Series};
use super::spread::Spread;
use super::window::{Arrival, Lost, Window};
use crate::record::Record;
use trammel_stats::interval::Support;
use trammel_stats::stats::mean_of_groups;

/// A flow's numbers, or those of several together.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Records: all packets that came, duplicates and those too late included.
    pub pkts: u64,
    /// Bytes of their payload.
    pub bytes: u64,
    /// The least second instant of a first copy, in nanoseconds since 1970; `None` of no packets.
    pub first_ns: Option<i64>,
    /// The greatest.
    pub last_ns: Option<i64>,
    /// From the first to the last.
    pub duration_s: f64,
    /// The packet rate times the mean payload of first copies, in bits.
    pub bit_rate_bps: Option<f64>,
    /// First copies but one, by the duration; `None` where that is 0.
    pub packet_rate_pps: Option<f64>,
    /// Further copies of packets that had come.
    pub duplicate_pkts: u64,
    /// Packets whose numbers had left the window: lost, or a copy. They count in `pkts` and `bytes`
    /// only.
    pub too_late_pkts: u64,
    /// `None` of no packets.
    pub delay: Option<DelayReport>,
    /// The distribution of delay: nanoseconds, and the share of packets that does not exceed them,
    /// at most [`MOST_CDF_POINTS`](super::MOST_CDF_POINTS); empty of no packets.
    pub delay_cdf: Vec<(i64, f64)>,
    /// Variation about the least delay; `None` of no packets.
    pub pdv: Option<PdvReport>,
    /// Variation in the order of arrival.
    pub jitter: JitterReport,
    /// Variation in the order of sending; `None` of no pairs.
    pub ipdv: Option<IpdvReport>,
    /// What did not come.
    pub loss: LossReport,
    /// What came in another order.
    pub reordering: ReorderReport,
}

/// What is counted packet by packet.
#[derive(Debug)]
pub(super) struct Counts {
    pkts: u64,
    bytes: u64,
    /// Bytes of first copies.
    first_bytes: u64,
    first_ns: i64,
    last_ns: i64,
    duplicates: u64,
    too_late: u64,
    negative: u64,
    delays: Spread,
    ipdv: Spread,
    jitter: Jitter,
    loss: Loss,
    reorder: Reorder,
}

impl Counts {
    pub(super) fn new() -> Counts {
        Counts {
            pkts: 0,
            bytes: 0,
            first_bytes: 0,
            first_ns: i64::MAX,
            last_ns: i64::MIN,
            duplicates: 0,
            too_late: 0,
            negative: 0,
            delays: Spread::new(3),
            ipdv: Spread::around_zero(2),
            jitter: Jitter::default(),
            loss: Loss::new(),
            reorder: Reorder::new(),
        }
    }

    fn arrive(&mut self, record: &Record, delay_ns: i64, arrival: Arrival) {
        self.pkts += 1;
        self.bytes += u64::from(record.bytes);
        match arrival {
            Arrival::Duplicate => self.duplicates += 1,
            Arrival::TooLate => self.too_late += 1,
            Arrival::First {
                before_ns,
                after_ns,
                ..
            } => {
                self.first_bytes += u64::from(record.bytes);
                self.first_ns = self.first_ns.min(record.end_ns);
                self.last_ns = self.last_ns.max(record.end_ns);
                self.negative += u64::from(delay_ns < 0);
                self.delays.push(delay_ns);
                for (earlier, later) in [(before_ns, Some(delay_ns)), (Some(delay_ns), after_ns)] {
                    if let (Some(earlier), Some(later)) = (earlier, later) {
                        self.ipdv.push(later.saturating_sub(earlier));
                    }
                }
            }
        }
    }

    /// Takes in what only whole flows tell: pairs in the order of arrival, losses and reordering.
    pub(super) fn merge_finished(&mut self, flow: &Counts) {
        self.jitter.merge(&flow.jitter);
        self.loss.merge(&flow.loss);
        self.reorder.merge(&flow.reorder);
    }

    pub(super) fn report(&self, series: &Series, level: f64) -> Summary {
        let received = self.delays.count();
        let came = received > 0;
        let duration_s = if came {
            self.last_ns.abs_diff(self.first_ns) as f64 / 1e9
        } else {
            0.0
        };
        // What comes in the time between the first packet and the last is all but one of them.
        let packet_rate = (duration_s > 0.0).then(|| (received - 1) as f64 / duration_s);
        let mean_bits = 8.0 * self.first_bytes as f64 / received as f64;
        let interval = mean_of_groups(series.delays(), level);
        // Clocks that agree measure no delay below zero.
        let interval = interval.map(|found| match self.negative {
            0 => found.within(Support::Positive).0,
            _ => found,
        });
        Summary {
            pkts: self.pkts,
            bytes: self.bytes,
            first_ns: came.then_some(self.first_ns),
            last_ns: came.then_some(self.last_ns),
            duration_s,
            bit_rate_bps: packet_rate.map(|rate| rate * mean_bits),
            packet_rate_pps: packet_rate,
            duplicate_pkts: self.duplicates,
            too_late_pkts: self.too_late,
            delay: delay(&self.delays, self.negative, interval),
            delay_cdf: self.delays.cdf(),
            pdv: pdv(&self.delays),
            jitter: self.jitter.report(),
            ipdv: ipdv(&self.ipdv),
            loss: self.loss.report(received),
            reordering: self.reorder.report(received),
        }
    }
}

/// Where intervals are counted.
pub(super) struct Intervals<'a> {
    pub(super) axis: Axis,
    /// How many more intervals there may be.
    pub(super) left: &'a mut usize,
    /// How many records and losses found no room.
    pub(super) beyond: &'a mut u64,
}

/// A flow while it is decoded.
#[derive(Debug)]
pub(super) struct FlowCounts {
    pub(super) counts: Counts,
    pub(super) series: Series,
    window: Window,
}

impl FlowCounts {
    pub(super) fn new(window: usize, from_zero: bool) -> FlowCounts {
        FlowCounts {
            counts: Counts::new(),
            series: Series::default(),
            window: Window::new(window, from_zero),
        }
    }

    /// Takes in a packet here and in the `total` of its kind.
    pub(super) fn arrive(
        &mut self,
        record: &Record,
        delay_ns: i64,
        intervals: &mut Intervals<'_>,
        total: &mut Counts,
    ) {
        let FlowCounts {
            counts,
            series,
            window,
        } = self;
        counts.reorder.arrive(record.sequence);
        let loss = &mut counts.loss;
        let mut lost = |lost| lose(loss, series, intervals, lost);
        let arrival = window.arrive(record.sequence, delay_ns, record.end_ns, &mut lost);
        let (mut delay, mut jitter) = (None, None);
        if let Arrival::First { behind, .. } = arrival {
            delay = Some(delay_ns);
            jitter = counts.jitter.push(delay_ns);
            if let Some(behind) = behind {
                counts.reorder.behind(behind);
            }
        }
        counts.arrive(record, delay_ns, arrival);
        total.arrive(record, delay_ns, arrival);
        let place = (intervals.axis, &mut *intervals.left);
        let has_room = series.arrive(place, record.end_ns, record.bytes, delay, jitter);
        *intervals.beyond += u64::from(!has_room);
    }

    /// Settles what is open; of `sent` packets, what did not come is lost.
    pub(super) fn finish(&mut self, sent: Option<u64>, intervals: &mut Intervals<'_>) {
        let (loss, series) = (&mut self.counts.loss, &mut self.series);
        let mut lost = |lost| lose(loss, series, intervals, lost);
        self.window.finish(sent, &mut lost);
        self.counts.loss.close();
    }
}

fn lose(loss: &mut Loss, series: &mut Series, intervals: &mut Intervals<'_>, lost: Lost) {
    loss.push(lost);
    let place = (intervals.axis, &mut *intervals.left);
    let has_room = series.lose(place, lost.opened_ns, lost.count);
    *intervals.beyond += u64::from(!has_room);
}
