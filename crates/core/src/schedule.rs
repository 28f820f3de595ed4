//! What changes with time: steps that may repeat, and delivery traces in Mahimahi's format.
//!
//! [`Steps`] say which value holds when: a rate ([`RateSchedule`]), or the delay and the losses of
//! a path. A [`DeliverySchedule`] says when a packet may
//! leave: its text has a line for each opportunity to deliver 1500 bytes, the milliseconds since
//! the start as a whole number, and begins again where it ends.
//!
//! Source: Netravali et al., "Mahimahi: Accurate Record-and-Replay for HTTP", USENIX ATC 2015, §3;
//! `mm-link(1)`.

use crate::time::{Span, Time};
use crate::units::Rate;

/// Why a schedule is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// There is no step or no line.
    #[error("a schedule needs at least one entry")]
    Empty,
    /// Before the first step there would be no rate.
    #[error("the first step is at {0}, not at `0 s`")]
    LateStart(Time),
    /// Two steps are out of order or at the same time.
    #[error("step {number} is at {time}, not after the one before it")]
    Order {
        /// Which step, from 1.
        number: usize,
        /// Its time.
        time: Time,
    },
    /// A step lies outside the period that repeats.
    #[error("the last step is at {last}, not before the period of {period} ends")]
    Period {
        /// The time of the last step.
        last: Time,
        /// The period.
        period: Span,
    },
    /// A line of a trace is no whole number of milliseconds.
    #[error("line {line}: `{text}` is not a whole number of milliseconds")]
    Line {
        /// Which line, from 1.
        line: usize,
        /// What it says.
        text: String,
    },
    /// A line of a trace is earlier than the one before it.
    #[error("line {line}: {ms} ms is before the line above it")]
    Backwards {
        /// Which line, from 1.
        line: usize,
        /// What it says.
        ms: u64,
    },
    /// A trace that ends at 0 ms would repeat without end at once.
    #[error("the last line is 0 ms: a trace must last")]
    NoDuration,
}

/// A value for every instant: steps, repeated with a period where there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steps<T> {
    steps: Vec<(Time, T)>,
    period: Option<Span>,
}

/// A rate for every instant.
pub type RateSchedule = Steps<Rate>;

impl<T: Copy> Steps<T> {
    /// The values of `steps`, each from its time on. The first is at time zero, times ascend, and
    /// all lie before the end of `period`.
    pub fn new(steps: Vec<(Time, T)>, period: Option<Span>) -> Result<Steps<T>, ScheduleError> {
        let (first, last) = match (steps.first(), steps.last()) {
            (Some((first, _)), Some((last, _))) => (*first, *last),
            _ => return Err(ScheduleError::Empty),
        };
        if first > Time::ZERO {
            return Err(ScheduleError::LateStart(first));
        }
        if let Some(at) = (1..steps.len()).find(|&at| steps[at].0 <= steps[at - 1].0) {
            return Err(ScheduleError::Order {
                number: at + 1,
                time: steps[at].0,
            });
        }
        match period {
            Some(period) if last.since_start() >= period => {
                Err(ScheduleError::Period { last, period })
            }
            _ => Ok(Steps { steps, period }),
        }
    }

    /// The steps of one period.
    pub fn steps(&self) -> &[(Time, T)] {
        &self.steps
    }

    /// The span after which the steps repeat, if they do.
    pub fn period(&self) -> Option<Span> {
        self.period
    }

    /// The value that holds at `now`.
    pub fn at(&self, now: Time) -> T {
        let (_, step) = self.find(now);
        self.steps[step].1
    }

    /// The first step after `now` and its value; nothing where no step follows.
    pub fn next_change(&self, now: Time) -> Option<(Time, T)> {
        let (start, step) = self.find(now);
        if let Some((time, value)) = self.steps.get(step + 1) {
            return Some((start + time.since_start(), *value));
        }
        let next = start + self.period?;
        Some((next, self.steps[0].1))
    }

    /// The steps after the start and before `end`, each with its number from 1.
    pub fn changes(&self, end: Time) -> impl Iterator<Item = (u64, Time, T)> + '_ {
        let mut at = Time::ZERO;
        (1..).map_while(move |number| {
            let (next, value) = self.next_change(at).filter(|(next, _)| *next < end)?;
            at = next;
            Some((number, next, value))
        })
    }

    /// The start of the period in which `now` lies, and the step that holds.
    fn find(&self, now: Time) -> (Time, usize) {
        let within = match self.period {
            Some(period) => Time::from_ps(now.as_ps() % period.as_ps()),
            None => now,
        };
        let after = self.steps.partition_point(|(time, _)| *time <= within);
        (now - within.since_start(), after - 1)
    }
}

impl Steps<Rate> {
    /// When `bytes` bytes that begin to leave at `start` have left, to the picosecond rounded up;
    /// [`Time::MAX`] where the rate stays zero.
    pub fn finish(&self, start: Time, bytes: u64) -> Time {
        if self.steps.iter().all(|(_, rate)| rate.as_bps() == 0) {
            return Time::MAX;
        }
        // In bit·ps/s, so that nothing rounds on the way.
        let mut left = u128::from(bytes) * 8 * 1_000_000_000_000;
        let mut at = start;
        loop {
            let rate = u128::from(self.at(at).as_bps());
            let end = self.next_change(at).map_or(Time::MAX, |(time, _)| time);
            let passes = u128::from(end.saturating_since(at).as_ps()) * rate;
            if passes >= left && rate > 0 {
                return at + Span::from_ps(left.div_ceil(rate) as u64);
            }
            if end == Time::MAX {
                return Time::MAX;
            }
            left -= passes;
            at = end;
        }
    }
}

/// Opportunities to deliver 1500 bytes each, repeated without end.
///
/// Opportunities are numbered from 0, since several may share an instant: a link that has used
/// number n next uses the later of n + 1 and [`next_opportunity`](Self::next_opportunity).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliverySchedule {
    opportunities: Vec<Time>,
}

impl DeliverySchedule {
    /// Bytes that one opportunity delivers.
    pub const BYTES: u64 = 1500;

    /// Reads a Mahimahi trace.
    pub fn parse(text: &str) -> Result<DeliverySchedule, ScheduleError> {
        let mut opportunities: Vec<Time> = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let (line, text) = (number + 1, line.trim());
            let ms: u64 = text
                .parse()
                .ok()
                .filter(|ms| *ms <= Time::MAX.as_ms())
                .ok_or_else(|| ScheduleError::Line {
                    line,
                    text: text.to_owned(),
                })?;
            let time = Time::from_ms(ms);
            if opportunities.last().is_some_and(|last| time < *last) {
                return Err(ScheduleError::Backwards { line, ms });
            }
            opportunities.push(time);
        }
        match opportunities.last() {
            None => Err(ScheduleError::Empty),
            Some(&Time::ZERO) => Err(ScheduleError::NoDuration),
            Some(_) => Ok(DeliverySchedule { opportunities }),
        }
    }

    /// The span after which the trace repeats: the time of its last line.
    pub fn period(&self) -> Span {
        let last = self.opportunities.last().expect("a trace has lines");
        last.since_start()
    }

    /// The time of opportunity `number`.
    pub fn time_of(&self, number: u64) -> Time {
        let lines = self.opportunities.len() as u64;
        let round = u128::from(self.period().as_ps()) * u128::from(number / lines);
        Time::from_ps(u64::try_from(round).unwrap_or(u64::MAX))
            + self.opportunities[(number % lines) as usize].since_start()
    }

    /// Number and time of the first opportunity at or after `now`.
    pub fn next_opportunity(&self, now: Time) -> (u64, Time) {
        // The end of one round is the start of the next; the earlier numbers belong to the end.
        let round = now.as_ps().saturating_sub(1) / self.period().as_ps();
        let within = now - self.period() * round;
        let line = self.opportunities.partition_point(|time| *time < within);
        let number = round * self.opportunities.len() as u64 + line as u64;
        (number, self.time_of(number))
    }

    /// How many opportunities come after `from` and by `to`; the start of a run counts as after
    /// itself.
    pub fn between(&self, from: Time, to: Time) -> u64 {
        let by = |time: Time| self.next_opportunity(time + Span::from_ps(1)).0;
        let before = if from == Time::ZERO { 0 } else { by(from) };
        by(to).saturating_sub(before)
    }

    /// The mean rate over the whole trace.
    pub fn mean_rate(&self) -> Rate {
        rate_over(self.opportunities.len() as u64, self.period())
    }

    /// The mean rates over successive windows of one period, for plots. The last window is shorter
    /// where the period is no multiple of `window`.
    pub fn to_rates(&self, window: Span) -> RateSchedule {
        let period = self.period();
        let window = window.clamp(Span::from_ps(1), period);
        let mut steps = Vec::new();
        let (mut start, mut from) = (Time::ZERO, 0);
        let last = Time::ZERO + period;
        while start < last {
            let end = (start + window).min(last);
            // An opportunity at the end of a window concludes it, as the last line concludes the
            // trace.
            let to = self.opportunities.partition_point(|time| *time <= end);
            steps.push((start, rate_over((to - from) as u64, end - start)));
            (start, from) = (end, to);
        }
        RateSchedule {
            steps,
            period: Some(period),
        }
    }
}

/// The rate at which `opportunities` in `span` deliver, rounded to the nearest bit per second.
fn rate_over(opportunities: u64, span: Span) -> Rate {
    let bits = u128::from(opportunities * DeliverySchedule::BYTES * 8) * 1_000_000_000_000;
    let span = u128::from(span.as_ps());
    Rate::from_bps(((bits + span / 2) / span) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MBIT: u64 = 1_000_000;

    fn span(ms: u64) -> Span {
        Span::from_ms(ms)
    }

    fn ms(ms: u64) -> Time {
        Time::from_ms(ms)
    }
    fn mbps(mbps: u64) -> Rate {
        Rate::from_bps(mbps * MBIT)
    }

    #[test]
    fn steps_hold_from_their_time_on_and_repeat() {
        let steps = vec![(ms(0), mbps(1)), (ms(10), mbps(2)), (ms(30), mbps(3))];
        let once = RateSchedule::new(steps.clone(), None).unwrap();
        assert_eq!(once.at(ms(10) - Span::from_ps(1)), mbps(1));
        assert_eq!(once.at(ms(10)), mbps(2));
        assert_eq!(once.at(Time::MAX), mbps(3));
        assert_eq!(once.next_change(ms(10)), Some((ms(30), mbps(3))));
        assert_eq!(once.next_change(ms(30)), None);
        let again = RateSchedule::new(steps, Some(span(40))).unwrap();
        assert_eq!(again.at(ms(395)), mbps(3));
        assert_eq!(again.at(ms(400)), mbps(1));
        assert_eq!(again.next_change(ms(395)), Some((ms(400), mbps(1))));
        assert_eq!(again.next_change(ms(400)), Some((ms(410), mbps(2))));
    }

    #[test]
    fn changes_before_an_end_are_counted_over_periods() {
        let again = Steps::new(vec![(ms(0), 1), (ms(10), 2)], Some(span(40))).unwrap();
        let all: Vec<_> = again.changes(ms(90)).collect();
        assert_eq!(
            all,
            [
                (1, ms(10), 2),
                (2, ms(40), 1),
                (3, ms(50), 2),
                (4, ms(80), 1)
            ]
        );
        assert_eq!(again.changes(ms(10)).count(), 0);
    }

    #[test]
    fn impossible_steps_are_refused() {
        use ScheduleError as E;
        let new = RateSchedule::new;
        assert_eq!(new(vec![], None), Err(E::Empty));
        assert_eq!(new(vec![(ms(1), mbps(1))], None), Err(E::LateStart(ms(1))));
        assert_eq!(
            new(vec![(ms(0), mbps(1)), (ms(0), mbps(2))], None),
            Err(E::Order {
                number: 2,
                time: ms(0)
            })
        );
        let (last, period) = (ms(5), span(5));
        assert_eq!(
            new(vec![(ms(0), mbps(1)), (last, mbps(2))], Some(period)),
            Err(E::Period { last, period })
        );
    }

    #[test]
    fn a_packet_finishes_across_steps_and_outages() {
        // 1500 bytes are 12 ms at 1 Mbit/s: 6 ms at 1, an outage of 10 ms, then 3 ms at 2 Mbit/s.
        let steps = vec![(ms(0), mbps(1)), (ms(6), mbps(0)), (ms(16), mbps(2))];
        let schedule = RateSchedule::new(steps, None).unwrap();
        assert_eq!(schedule.finish(ms(0), 1500), ms(19));
        assert_eq!(schedule.finish(ms(10), 1500), ms(22));
        let dead = RateSchedule::new(vec![(ms(0), mbps(0))], Some(span(1))).unwrap();
        assert_eq!(dead.finish(ms(0), 1), Time::MAX);
        let ends = RateSchedule::new(vec![(ms(0), mbps(1)), (ms(6), mbps(0))], None).unwrap();
        assert_eq!(ends.finish(ms(0), 1500), Time::MAX);
    }

    #[test]
    fn a_trace_repeats_where_it_ends() {
        let trace = DeliverySchedule::parse("2\n2\n5\n").unwrap();
        let times: Vec<_> = (0..7).map(|n| trace.time_of(n).as_ms()).collect();
        assert_eq!(times, [2, 2, 5, 7, 7, 10, 12]);
        assert_eq!(trace.next_opportunity(ms(0)), (0, ms(2)));
        assert_eq!(trace.next_opportunity(ms(5)), (2, ms(5)));
        assert_eq!(trace.next_opportunity(ms(5) + Span::from_ps(1)), (3, ms(7)));
    }

    #[test]
    fn opportunities_between_instants_are_counted_once() {
        let trace = DeliverySchedule::parse("0\n2\n2\n5\n").unwrap();
        // 0, 2, 2, 5 and with it the next 0, 7, 7, 10, 10.
        assert_eq!(trace.between(ms(0), ms(1)), 1);
        assert_eq!(trace.between(ms(0), ms(2)), 3);
        assert_eq!(trace.between(ms(2), ms(5)), 2);
        let parts: u64 = (0..50).map(|at| trace.between(ms(at), ms(at + 1))).sum();
        assert_eq!(parts, trace.between(ms(0), ms(50)));
    }

    #[test]
    fn bad_traces_are_refused_with_their_line() {
        let error = |text| DeliverySchedule::parse(text).unwrap_err().to_string();
        assert_eq!(error(""), "a schedule needs at least one entry");
        assert_eq!(
            error("1\nx\n"),
            "line 2: `x` is not a whole number of milliseconds"
        );
        assert_eq!(error("3\n1\n"), "line 2: 1 ms is before the line above it");
        assert_eq!(error("0\n"), "the last line is 0 ms: a trace must last");
        assert!(error("99999999999999999\n").starts_with("line 1"));
    }

    #[test]
    fn windows_have_the_mean_rates_of_the_trace() {
        // One packet a millisecond is 12 Mbit/s; then a pause; the last window is half as long.
        let trace = DeliverySchedule::parse("1\n2\n3\n4\n10").unwrap();
        let rates = trace.to_rates(span(4));
        assert_eq!(
            rates.steps(),
            [(ms(0), mbps(12)), (ms(4), mbps(0)), (ms(8), mbps(6))]
        );
        assert_eq!(rates.period(), Some(span(10)));
        assert_eq!(trace.mean_rate(), mbps(6));
    }

    proptest! {
        #[test]
        fn the_next_opportunity_is_the_first_not_before_now(
            gaps in prop::collection::vec(0_u64..4, 1..20),
            now in 0_u64..100_000_000_000,
        ) {
            let mut text = String::new();
            let mut at = 0;
            for gap in gaps {
                at += gap;
                text += &at.to_string();
                text.push('\n');
            }
            prop_assume!(at > 0);
            let trace = DeliverySchedule::parse(&text).unwrap();
            for now in [Time::from_ps(now), ms(now / 1_000_000_000)] {
                let (number, time) = trace.next_opportunity(now);
                prop_assert_eq!(time, trace.time_of(number));
                prop_assert!(time >= now);
                prop_assert!(number == 0 || trace.time_of(number - 1) < now);
            }
        }
    }
}
