//! The row of a link: what it carried, how much of what it could, what waited before it and for how
//! long.
//!
//! One definition each, for every kind of link:
//!
//! | column | is |
//! | --- | --- |
//! | `utilisation` | the part of the window in which the link was busy: what it sent over what it could have sent |
//! | `queue_mean_pkts` | packets that wait, the one being sent not among them |
//! | `queue_delay_mean_us` | how long a packet waits until it begins to be sent |
//!
//! So mean occupancy is the mean delay times the rate of packets (Little 1961). A link at a rate
//! could have sent its rate for as long as the window, a token bucket in addition the tokens that
//! it held at the window's start, a trace one packet at each opportunity. A wireless link is busy
//! while it has a frame in hand, contention and repetitions included: a saturated cell is used to
//! 100 %, whatever part of that its payload is.

use super::network_of::BuiltLink;
use super::observe::{BandSeen, LinkSeen};
use super::run_times::RunTimes;
use trammel_core::time::{Span, Time};
use trammel_netsim::link::LinkCounters;
use trammel_queues::aqm::Band;
use trammel_stats::stats::percentile;
use trammel_stats::table::{Cell, Table};

pub(super) fn link_row(table: &mut Table, link: &BuiltLink, seen: &LinkSeen, times: &RunTimes) {
    let has_warm = times.warmup > Time::ZERO;
    let (now, warm) = (seen.now, seen.warm);
    let window = |from: Time, before: LinkCounters| Window {
        link,
        from,
        to: times.end,
        before,
        now,
    };
    let (whole, since) = (
        window(Time::ZERO, LinkCounters::default()),
        window(times.warmup, warm),
    );
    let [until_warm, until_end] = seen.waited;
    let looks = |looks: &[u32]| looks.iter().map(|one| f64::from(*one)).collect::<Vec<_>>();
    let mean =
        |looks: &[f64]| (!looks.is_empty()).then(|| looks.iter().sum::<f64>() / looks.len() as f64);
    let queue = looks(&seen.queue);
    let late_queue = looks(&seen.queue[seen.queue.len() - seen.late_looks..]);
    let late = |value: Option<f64>| value.filter(|_| has_warm);
    let row = vec![
        Cell::from(link.name.as_str()),
        whole.throughput_mbps().into(),
        whole.utilisation().into(),
        now.arrived_pkts.into(),
        now.sent_pkts.into(),
        mean(&queue).into(),
        percentile(&queue, 95.0).into(),
        now.peak_pkts.into(),
        whole.delay_us(until_end).into(),
        now.overflow_pkts.into(),
        now.early_pkts.into(),
        now.lost_pkts.into(),
        now.marked_pkts.into(),
        whole.loss().into(),
        recovery_s(link, seen, times).into(),
        late(since.throughput_mbps()).into(),
        late(since.utilisation()).into(),
        late(mean(&late_queue)).into(),
        late(since.delay_us(until_end - until_warm)).into(),
        has_warm
            .then_some(now.overflow_pkts - warm.overflow_pkts)
            .into(),
        late(since.loss()).into(),
    ];
    table.push(row).expect("the row has the columns of `LINKS`");
    let bands = seen.bands.iter().filter(|_| seen.bands.len() > 1);
    for band in bands {
        let row = band_row(&link.name, band, times);
        table.push(row).expect("the row has the columns of `LINKS`");
    }
}

/// The row of a band of a link's queue, such as `bottleneck:l4s`: what is known of it. Its delay is
/// how long its oldest packet has waited, on average over time, as DualPI2 sees it itself; where
/// that is not known, how long packets waited.
fn band_row(link: &str, of: &BandSeen, times: &RunTimes) -> Vec<Cell> {
    let (warm, now) = (&of.warm, &of.now);
    let counted = |count: u64| (!of.is_of_kernel).then_some(count);
    let has_warm = times.warmup > Time::ZERO;
    let zero = Band::default();
    let throughput = |from: Time, before: &Band| {
        let span = (times.end - from).as_secs_f64();
        let bits = (now.sent_bytes - before.sent_bytes) as f64 * 8.0;
        (span > 0.0 && !of.is_of_kernel).then(|| bits / span / 1e6)
    };
    let sent = |before: &Band| (now.sent_pkts - before.sent_pkts) as f64;
    let delay_us = |before: &Band, (ages, looks): (f64, u64)| {
        if looks > 0 {
            return Some(ages / looks as f64);
        }
        let waited = (now.wait_ns - before.wait_ns) as f64 / 1e3;
        (sent(before) > 0.0).then(|| waited / sent(before))
    };
    // Little's law.
    let mean_pkts = |from: Time, before: &Band| {
        let span = (times.end - from).as_secs_f64();
        (span > 0.0 && !of.is_of_kernel).then(|| (now.wait_ns - before.wait_ns) as f64 / 1e9 / span)
    };
    let dropped = |band: &Band| band.overflow_pkts + band.early_pkts;
    let loss = |before: &Band| {
        let dropped = (dropped(now) - dropped(before)) as f64;
        let known = sent(before) + dropped;
        (known > 0.0 && !of.is_of_kernel).then(|| dropped / known)
    };
    let late = |value: Option<f64>| value.filter(|_| has_warm);
    let start = Time::ZERO;
    vec![
        Cell::from(format!("{link}:{}", now.name)),
        throughput(start, &zero).into(),
        Cell::Empty,
        Cell::Empty,
        now.sent_pkts.into(),
        mean_pkts(start, &zero).into(),
        Cell::Empty,
        Cell::Empty,
        delay_us(&zero, of.ages_us).into(),
        counted(now.overflow_pkts).into(),
        counted(now.early_pkts).into(),
        Cell::Empty,
        counted(now.marked_pkts).into(),
        loss(&zero).into(),
        Cell::Empty,
        late(throughput(times.warmup, warm)).into(),
        Cell::Empty,
        late(mean_pkts(times.warmup, warm)).into(),
        late(delay_us(warm, of.late_ages_us)).into(),
        (has_warm && !of.is_of_kernel)
            .then_some(now.overflow_pkts - warm.overflow_pkts)
            .into(),
        late(loss(warm)).into(),
    ]
}

/// How long after a rise of its rate the link first carries nine tenths of the new rate, over a
/// quarter of a second or ten looks, whichever is longer: the mean over the rises after the
/// warm-up. Where it does not before the rate changes again, the time until then counts.
fn recovery_s(link: &BuiltLink, seen: &LinkSeen, times: &RunTimes) -> Option<f64> {
    const PART: f64 = 0.9;
    const WINDOW: Span = Span::from_ms(250);
    const LOOKS: usize = 10;
    let schedule = link.schedule.as_ref().filter(|_| !seen.sent.is_empty())?;
    let (mut at, mut took) = (Time::ZERO, Vec::new());
    while let Some((rise, rate)) = schedule
        .next_change(at)
        .filter(|(time, _)| *time < times.end)
    {
        let is_rise = rate > schedule.at(at) && rise >= times.warmup;
        at = rise;
        if !is_rise {
            continue;
        }
        let until = schedule
            .next_change(rise)
            .map_or(times.end, |(time, _)| time);
        let until = until.min(times.end);
        let after = |looks: &&(Time, u64)| looks.0 >= rise && looks.0 <= until;
        let looks: Vec<(Time, u64)> = seen.sent.iter().filter(after).copied().collect();
        let used = (0..looks.len()).find(|first| {
            let (from, before) = looks[*first];
            let mut later = looks[first + 1..].iter().enumerate();
            let whole = later.find(|(n, (to, _))| n + 1 >= LOOKS && *to - from >= WINDOW);
            whole.is_some_and(|(_, (to, sent))| {
                let carried = (sent - before) as f64 * 8.0;
                carried >= PART * rate.as_bps() as f64 * (*to - from).as_secs_f64()
            })
        });
        let recovered = used.map_or(until, |first| looks[first].0);
        took.push((recovered - rise).as_secs_f64());
    }
    (!took.is_empty()).then(|| took.iter().sum::<f64>() / took.len() as f64)
}

/// A link between two instants.
struct Window<'a> {
    link: &'a BuiltLink,
    from: Time,
    to: Time,
    /// What was counted until its start, and until its end.
    before: LinkCounters,
    now: LinkCounters,
}

impl Window<'_> {
    fn sent_bits(&self) -> f64 {
        (self.now.sent_bytes - self.before.sent_bytes) as f64 * 8.0
    }

    fn sent_pkts(&self) -> f64 {
        (self.now.sent_pkts - self.before.sent_pkts) as f64
    }

    /// The part of the packets that came and were dropped by the queue or lost behind it.
    fn loss(&self) -> Option<f64> {
        let came = (self.now.arrived_pkts - self.before.arrived_pkts) as f64;
        let lost = (self.now.dropped_pkts() - self.before.dropped_pkts()) as f64;
        // What waits at the window's start may be dropped in it.
        (came > 0.0).then(|| (lost / came).min(1.0))
    }

    fn busy_ns(&self) -> f64 {
        (self.now.busy_ns - self.before.busy_ns) as f64
    }

    /// Bits that it can have sent at a rate, with the tokens that a bucket held; nothing where no
    /// rate says so.
    fn most_bits(&self) -> Option<f64> {
        let has_rate = !self.link.is_medium && self.link.deliveries.is_none();
        has_rate.then(|| self.link.capacity_bits(self.from, self.to) + self.tokens_bits())
    }

    /// Megabits a second sent: of a packet that the window's edge cuts, no more than the rate
    /// allows.
    fn throughput_mbps(&self) -> Option<f64> {
        let seconds = (self.to - self.from).as_secs_f64();
        let sent = self.sent_bits();
        let sent = self.most_bits().map_or(sent, |most| sent.min(most));
        (seconds > 0.0).then(|| sent / 1e6 / seconds)
    }

    /// The part of the window in which the link was busy. A packet that the window's edge cuts
    /// counts whole, so that the quotient may pass one by a packet: never by more.
    fn utilisation(&self) -> Option<f64> {
        let (done, most) = if self.link.is_medium {
            (self.busy_ns(), (self.to - self.from).as_ps() as f64 / 1e3)
        } else if let Some(deliveries) = &self.link.deliveries {
            let most = deliveries.between(self.from, self.to);
            (self.sent_pkts(), most as f64)
        } else {
            (self.sent_bits(), self.most_bits()?)
        };
        (most > 0.0).then(|| (done / most).min(1.0))
    }

    /// The most that the bucket can have held at the start of the window: it was full at first, and
    /// has taken in its rate.
    fn tokens_bits(&self) -> f64 {
        let depth = self.link.burst_bytes.unwrap_or_default() as f64 * 8.0;
        let earned = self.link.capacity_bits(Time::ZERO, self.from);
        let spent = self.before.sent_bytes as f64 * 8.0;
        (depth + earned - spent).clamp(0.0, depth)
    }

    /// How long each of `packets` packets waited in the mean until it began to be sent. Counters
    /// hold the time in the queue and on the wire; the latter is known from the rate, and nothing
    /// in a token bucket and at delivery opportunities.
    fn delay_us(&self, packets: u64) -> Option<f64> {
        let in_service_us = if self.link.is_medium {
            self.busy_ns() / 1e3
        } else if self.link.burst_bytes.is_some() || self.link.deliveries.is_some() {
            0.0
        } else {
            let seconds = (self.to - self.from).as_secs_f64();
            self.sent_bits() * 1e6 * seconds / self.link.capacity_bits(self.from, self.to)
        };
        let in_service_us = in_service_us / self.sent_pkts().max(1.0);
        let wait_us = (self.now.wait_ns - self.before.wait_ns) as f64 / 1e3;
        (packets > 0).then(|| (wait_us / packets as f64 - in_service_us).max(0.0))
    }
}
