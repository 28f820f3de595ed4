//! The course of a line over time: its schedule as steps of one direction, for every engine.

use crate::path::{Between, Change, Direction, Jitter, Line, LinkState};
use trammel_core::schedule::{RateSchedule, ScheduleError, Steps};
use trammel_core::time::{Span, Time};
use trammel_core::units::Rate;
use trammel_netsim::link::Conditions;

/// From one step to the next where values lie on a straight line between two changes.
const LINEAR_STEP: Span = Span::from_ms(10);
/// Rates change each so many of them: a kernel's token bucket is full after each change.
const RATE_STEPS: u32 = 10;

/// How one direction of a line is over time; what is absent does not change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Course {
    /// Its rate; zero while it is down.
    pub rate: Option<RateSchedule>,
    /// Its delay, losses and jitter.
    pub conditions: Option<Steps<Conditions>>,
    /// When it is down and drops its queue.
    pub cut: Option<Steps<bool>>,
}

/// Everything that changes, at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Now {
    rate: Rate,
    conditions: Conditions,
    state: LinkState,
}

impl Line {
    /// The course of direction `way` of a line whose one-way delay is `delay` at the start, until
    /// `end`. Delays of the schedule are those of the whole path, of which `elsewhere` is not the
    /// line's.
    pub fn course(
        &self,
        way: Direction,
        delay: Span,
        elsewhere: Span,
        end: Time,
    ) -> Result<Course, ScheduleError> {
        let of_way = || self.schedule.iter().filter(|change| change.is_of(way));
        if of_way().next().is_none() {
            return Ok(Course::default());
        }
        let start = Now {
            rate: if way == Direction::Ack {
                self.ack_rate
            } else {
                self.rate
            },
            conditions: Conditions {
                delay,
                loss: of_way()
                    .any(|change| change.loss.is_some())
                    .then(|| self.first_loss(way)),
                jitter: of_way()
                    .any(|change| change.jitter.is_some())
                    .then(|| self.first_jitter(way)),
            },
            state: LinkState::Up,
        };
        let mut all = vec![(Time::ZERO, start)];
        for change in of_way() {
            let (_, before) = all[all.len() - 1];
            let now = before.with(change, elsewhere);
            match all.last_mut() {
                Some((at, last)) if *at == change.at => *last = now,
                _ => all.push((change.at, now)),
            }
        }
        if self.between == Between::Linear {
            all = straight(&all, end);
        }
        let rate = self.changes_rate(way).then(|| {
            let rate = |(at, now): (Time, Now)| match now.state {
                LinkState::Up => (at, now.rate),
                LinkState::Held | LinkState::Cut => (at, Rate::from_bps(0)),
            };
            Steps::new(
                distinct(all.iter().copied().map(rate)),
                self.schedule_period,
            )
        });
        let behind = |change: &&Change| {
            change.delay.is_some() || change.loss.is_some() || change.jitter.is_some()
        };
        let conditions = of_way().any(|change| behind(&change)).then(|| {
            let conditions = |(at, now): (Time, Now)| (at, now.conditions);
            Steps::new(
                distinct(all.iter().copied().map(conditions)),
                self.schedule_period,
            )
        });
        let is_cut = of_way().any(|change| change.state == Some(LinkState::Cut));
        let cut = is_cut.then(|| {
            let cut = |(at, now): (Time, Now)| (at, now.state == LinkState::Cut);
            Steps::new(distinct(all.iter().copied().map(cut)), self.schedule_period)
        });
        Ok(Course {
            rate: rate.transpose()?,
            conditions: conditions.transpose()?,
            cut: cut.transpose()?,
        })
    }

    /// The probability of loss before the first change.
    fn first_loss(&self, way: Direction) -> f64 {
        let loss = self.loss.as_ref();
        let loss = loss.filter(|loss| loss.direction == way || loss.direction == Direction::Both);
        let mean = loss.and_then(|loss| loss.model.loss_model().ok()?.mean_loss());
        mean.unwrap_or(0.0)
    }

    fn first_jitter(&self, way: Direction) -> Span {
        match self.jitter {
            Some(Jitter::Uniform(most)) if way == Direction::Data => most,
            _ => Span::ZERO,
        }
    }
}

impl Now {
    fn with(mut self, change: &Change, elsewhere: Span) -> Now {
        if let Some(rate) = change.rate {
            (self.rate, self.state) = (rate, LinkState::Up);
        }
        if let Some(delay) = change.delay {
            self.conditions.delay = delay.saturating_sub(elsewhere);
        }
        self.conditions.loss = change.loss.or(self.conditions.loss);
        self.conditions.jitter = change.jitter.or(self.conditions.jitter);
        self.state = change.state.unwrap_or(self.state);
        self
    }

    /// The value at `part` of the way to `next`.
    fn towards(&self, next: &Now, part: f64) -> Now {
        let mix = |from: f64, to: f64| from + (to - from) * part;
        let span =
            |from: Span, to: Span| Span::from_secs_f64(mix(from.as_secs_f64(), to.as_secs_f64()));
        let (from, to) = (&self.conditions, &next.conditions);
        Now {
            rate: Rate::from_bps(mix(self.rate.as_bps() as f64, next.rate.as_bps() as f64) as u64),
            conditions: Conditions {
                delay: span(from.delay, to.delay),
                loss: from.loss.zip(to.loss).map(|(from, to)| mix(from, to)),
                jitter: from.jitter.zip(to.jitter).map(|(from, to)| span(from, to)),
            },
            state: self.state,
        }
    }
}

/// Steps between the changes, until `end`.
fn straight(all: &[(Time, Now)], end: Time) -> Vec<(Time, Now)> {
    let mut steps = Vec::new();
    for (n, (at, now)) in all.iter().enumerate() {
        steps.push((*at, *now));
        let Some((next_at, next)) = all.get(n + 1).filter(|_| *at < end) else {
            continue;
        };
        let whole = (*next_at - *at).as_secs_f64();
        let (mut step, mut number, mut rate) = (*at + LINEAR_STEP, 1, now.rate);
        while step < (*next_at).min(end) {
            let part = (step - *at).as_secs_f64() / whole;
            let mixed = now.towards(next, part);
            if number % RATE_STEPS == 0 {
                rate = mixed.rate;
            }
            steps.push((step, Now { rate, ..mixed }));
            (step, number) = (step + LINEAR_STEP, number + 1);
        }
    }
    steps
}

/// Those steps whose value is another than the one before.
fn distinct<T: Copy + PartialEq>(steps: impl Iterator<Item = (Time, T)>) -> Vec<(Time, T)> {
    let mut all: Vec<(Time, T)> = Vec::new();
    for (at, value) in steps {
        if all.last().is_none_or(|(_, last)| *last != value) {
            all.push((at, value));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line() -> Line {
        Line::new(Rate::from_bps(8_000_000))
    }

    fn ms(ms: u64) -> Span {
        Span::from_ms(ms)
    }

    fn at(ms: u64) -> Time {
        Time::from_ms(ms)
    }

    fn course(line: &Line, way: Direction) -> Course {
        line.course(way, ms(20), ms(1), at(1000)).unwrap()
    }

    #[test]
    fn each_direction_has_its_own_course() {
        let mut line = line();
        line.schedule = vec![
            Change {
                delay: Some(ms(31)),
                ..Change::new(at(10), Direction::Data)
            },
            Change {
                state: Some(LinkState::Cut),
                ..Change::new(at(20), Direction::Ack)
            },
            Change {
                state: Some(LinkState::Up),
                ..Change::new(at(30), Direction::Both)
            },
        ];
        let data = course(&line, Direction::Data);
        let delays = data.conditions.unwrap();
        assert_eq!(delays.at(at(9)).delay, ms(20));
        assert_eq!(delays.at(at(10)).delay, ms(30));
        assert_eq!(data.cut, None);
        let ack = course(&line, Direction::Ack);
        assert_eq!(ack.conditions, None);
        let rate = ack.rate.unwrap();
        let rates = [19, 20, 29, 30].map(|ms| rate.at(at(ms)).as_bps());
        assert_eq!(rates, [8_000_000, 0, 0, 8_000_000]);
        assert!(ack.cut.unwrap().at(at(25)));
        assert_eq!(course(&self::line(), Direction::Data), Course::default());
    }

    #[test]
    fn a_straight_line_has_a_step_each_10_ms() {
        let mut line = line();
        line.between = Between::Linear;
        line.schedule = vec![Change {
            delay: Some(ms(41)),
            ..Change::new(at(40), Direction::Both)
        }];
        let steps = course(&line, Direction::Data).conditions.unwrap();
        let delays: Vec<_> = steps
            .steps()
            .iter()
            .map(|(_, one)| one.delay.as_ms())
            .collect();
        assert_eq!(delays, [20, 25, 30, 35, 40]);
    }

    #[test]
    fn a_period_begins_as_the_run_does() {
        let mut line = line();
        line.schedule = vec![Change {
            delay: Some(ms(31)),
            ..Change::new(at(10), Direction::Data)
        }];
        line.schedule_period = Some(ms(40));
        let steps = course(&line, Direction::Data).conditions.unwrap();
        assert_eq!(steps.at(at(45)).delay, ms(20));
        assert_eq!(steps.at(at(55)).delay, ms(30));
    }
}
