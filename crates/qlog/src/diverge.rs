//! Two logs side by side: the controller's state and its numbers over time, and where they part.
//!
//! A log's numbers are step functions: each holds until it is told anew. Both begin at their own
//! first event. What differs for a shorter time than the tolerance does not count.

use crate::event::{Body, Event, FIELDS, Metrics};
use crate::read::{ReadError, read};
use crate::{Header, same_state};
use std::io::Read;

/// The numbers that are compared, by their names in a log, each with its unit.
const QUANTITIES: [(&str, &str); 5] = [
    ("congestion_window", "bytes"),
    ("ssthresh", "bytes"),
    ("bytes_in_flight", "bytes"),
    ("pacing_rate", "bit/s"),
    ("smoothed_rtt", "ms"),
];

/// Of these, those whose first difference tells where two logs part; the others follow from them
/// and vary with every packet.
const TELLING: usize = 2;

/// What is told until the next time.
type Steps<T> = Vec<(f64, T)>;

/// What a log tells over time, in milliseconds from its first event.
#[derive(Clone, Debug, Default)]
pub struct Track {
    /// What the file says of itself.
    pub header: Header,
    numbers: [Steps<f64>; QUANTITIES.len()],
    states: Steps<String>,
    first_ms: Option<f64>,
    last_ms: f64,
}

impl Track {
    /// Reads a log.
    ///
    /// # Errors
    /// As [`read`].
    pub fn read(input: impl Read) -> Result<Track, ReadError> {
        let mut track = Track::default();
        // Times are in the file's unit until its header is known; these are all of one file.
        let mut raw: Vec<Event> = Vec::new();
        track.header = read(input, &mut |event| {
            if matches!(event.body, Body::Metrics(_) | Body::State { .. }) {
                raw.push(event);
            } else {
                track.first_ms.get_or_insert(event.time_ms);
                track.last_ms = event.time_ms;
            }
        })?;
        let first = raw.first().map(|event| event.time_ms);
        let first = [track.first_ms, first].into_iter().flatten();
        let origin = first.fold(f64::INFINITY, f64::min);
        if origin.is_infinite() {
            return Ok(track);
        }
        track.last_ms -= origin;
        for event in raw {
            track.take(event.time_ms - origin, event.body);
        }
        Ok(track)
    }

    fn take(&mut self, at: f64, body: Body) {
        self.last_ms = self.last_ms.max(at);
        match body {
            Body::Metrics(mut metrics) => {
                for (steps, (name, _)) in self.numbers.iter_mut().zip(QUANTITIES) {
                    let told = field(&mut metrics, name);
                    if let Some(value) = told.filter(|value| value.is_finite()) {
                        put(steps, at, value);
                    }
                }
            }
            Body::State { old, new } => {
                if let (Some(old), true) = (old, self.states.is_empty()) {
                    put(&mut self.states, 0.0, same_state(&old));
                }
                put(&mut self.states, at, same_state(&new));
            }
            _ => {}
        }
    }
}

fn field(metrics: &mut Metrics, wanted: &str) -> Option<f64> {
    let (_, of) = FIELDS.iter().find(|(name, _)| *name == wanted)?;
    *of(metrics)
}

/// Adds a value where it is another than the one before.
fn put<T: PartialEq>(steps: &mut Steps<T>, at: f64, value: T) {
    match steps.last_mut() {
        Some((_, last)) if *last == value => {}
        Some((time, last)) if *time >= at => *last = value,
        _ => steps.push((at, value)),
    }
}

/// What counts as a difference.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Of numbers: a part of the larger.
    pub relative: f64,
    /// How long it must last, milliseconds.
    pub hold_ms: f64,
}

/// Where two logs first differ in one thing.
#[derive(Clone, Debug, PartialEq)]
pub struct Apart {
    /// Since when, milliseconds from the first event.
    pub at_ms: f64,
    /// What the first log has then.
    pub a: String,
    /// What the second has.
    pub b: String,
}

/// One thing of both logs.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// Its name in a log.
    pub name: &'static str,
    /// The unit of its numbers; none of the state.
    pub unit: &'static str,
    /// Whether it tells where the logs part.
    pub is_telling: bool,
    /// Where they first differ; nothing where they never do.
    pub apart: Option<Apart>,
    /// The part of the common time in which they differ.
    pub share_apart: f64,
    /// The means over the common time, of numbers.
    pub means: Option<(f64, f64)>,
}

/// Compares what both logs tell, from when both tell it to the end of the shorter one. The state
/// comes first.
pub fn diverge(a: &Track, b: &Track, limits: Limits) -> Vec<Compared> {
    let end = a.last_ms.min(b.last_ms);
    let mut all = Vec::new();
    let walked = walk(&a.states, &b.states, end, limits.hold_ms, |a, b| a != b);
    if let Some(walked) = walked {
        all.push(Compared {
            name: "congestion_state",
            unit: "",
            is_telling: true,
            apart: walked.apart.map(|(at_ms, a, b)| Apart { at_ms, a, b }),
            share_apart: walked.share,
            means: None,
        });
    }
    for (at, (name, unit)) in QUANTITIES.into_iter().enumerate() {
        let differ = |a: &f64, b: &f64| (a - b).abs() > limits.relative * a.abs().max(b.abs());
        let (of_a, of_b) = (&a.numbers[at], &b.numbers[at]);
        let Some(walked) = walk(of_a, of_b, end, limits.hold_ms, differ) else {
            continue;
        };
        let apart = walked.apart.map(|(at_ms, a, b)| Apart {
            at_ms,
            a: shown(a),
            b: shown(b),
        });
        all.push(Compared {
            name,
            unit,
            is_telling: at < TELLING,
            apart,
            share_apart: walked.share,
            means: Some((mean(of_a, walked.from, end), mean(of_b, walked.from, end))),
        });
    }
    all
}

/// A number of a log as text: whole from a thousand on, else with two decimals.
pub fn shown(value: f64) -> String {
    if value.abs() >= 1000.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.2}")
    }
}

/// Where two logs part: the first difference of what tells it.
pub fn parting(all: &[Compared]) -> Option<(&Compared, &Apart)> {
    let telling = all.iter().filter(|one| one.is_telling);
    let parted = telling.filter_map(|one| Some((one, one.apart.as_ref()?)));
    parted.min_by(|(_, one), (_, other)| one.at_ms.total_cmp(&other.at_ms))
}

struct Walked<T> {
    from: f64,
    apart: Option<(f64, T, T)>,
    share: f64,
}

/// Goes along two step functions; nothing where they have no common time.
fn walk<T: Clone>(
    a: &[(f64, T)],
    b: &[(f64, T)],
    end: f64,
    hold: f64,
    differ: impl Fn(&T, &T) -> bool,
) -> Option<Walked<T>> {
    let from = a.first()?.0.max(b.first()?.0);
    if from > end {
        return None;
    }
    let (mut i, mut j, mut now) = (0, 0, from);
    let (mut apart, mut total) = (None, 0.0);
    // The difference that goes on: since when, and what it was then.
    let mut open: Option<(f64, T, T)> = None;
    loop {
        while a.get(i + 1).is_some_and(|next| next.0 <= now) {
            i += 1;
        }
        while b.get(j + 1).is_some_and(|next| next.0 <= now) {
            j += 1;
        }
        let of_next = |all: &[(f64, T)], at: usize| all.get(at + 1).map_or(end, |next| next.0);
        let next = of_next(a, i).min(of_next(b, j)).min(end);
        if differ(&a[i].1, &b[j].1) {
            total += next - now;
            let (since, ..) = open.get_or_insert((now, a[i].1.clone(), b[j].1.clone()));
            if apart.is_none() && next - *since >= hold {
                apart.clone_from(&open);
            }
        } else {
            open = None;
        }
        if next >= end {
            break;
        }
        now = next;
    }
    let length = end - from;
    Some(Walked {
        from,
        apart,
        share: if length > 0.0 { total / length } else { 0.0 },
    })
}

/// The mean of a step function, over time.
fn mean(steps: &[(f64, f64)], from: f64, end: f64) -> f64 {
    if end <= from {
        let last = steps.iter().take_while(|step| step.0 <= from).last();
        return last.map_or(f64::NAN, |step| step.1);
    }
    let ends = steps
        .iter()
        .skip(1)
        .map(|step| step.0)
        .chain([f64::INFINITY]);
    let area = steps.iter().zip(ends).map(|((at, value), until)| {
        let length = until.min(end) - at.max(from);
        value * length.max(0.0)
    });
    area.sum::<f64>() / (end - from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Packet, Writer};

    const LIMITS: Limits = Limits {
        relative: 0.1,
        hold_ms: 5.0,
    };

    fn log(events: &[(f64, Body)]) -> Track {
        let mut bytes = Vec::new();
        let mut writer = Writer::begin(&mut bytes, &Header::client("t")).unwrap();
        for (time_ms, body) in events {
            let (time_ms, body) = (*time_ms, body.clone());
            writer.event(&Event { time_ms, body }).unwrap();
        }
        writer.finish().unwrap();
        Track::read(&bytes[..]).unwrap()
    }

    fn cwnd(bytes: f64) -> Body {
        Body::Metrics(Metrics {
            congestion_window: Some(bytes),
            ..Metrics::default()
        })
    }

    fn state(new: &str) -> Body {
        Body::State {
            old: None,
            new: new.to_owned(),
        }
    }

    #[test]
    fn a_log_does_not_part_from_itself() {
        let one = log(&[
            (0.0, cwnd(1e4)),
            (1.0, state("slow_start")),
            (40.0, cwnd(2e4)),
        ]);
        let all = diverge(&one, &one, LIMITS);
        assert_eq!(all.len(), 2);
        assert!(parting(&all).is_none() && all.iter().all(|one| one.share_apart == 0.0));
    }

    #[test]
    fn the_first_lasting_difference_is_found_and_a_short_one_passed_over() {
        // The second log begins at another time of its own.
        let a = log(&[
            (0.0, cwnd(1e4)),
            (10.0, cwnd(2e4)),
            (100.0, cwnd(2e4)),
            (100.0, state("x")),
        ]);
        let b = log(&[
            (500.0, cwnd(1e4)),
            (512.0, cwnd(2e4)),
            (550.0, cwnd(1e4)),
            (600.0, state("x")),
        ]);
        let all = diverge(&a, &b, LIMITS);
        let (what, apart) = parting(&all).unwrap();
        assert_eq!(what.name, "congestion_window");
        assert_eq!(
            (apart.at_ms, apart.a.as_str(), apart.b.as_str()),
            (50.0, "20000", "10000")
        );
        assert!((what.share_apart - 0.52).abs() < 1e-9, "{what:?}");
        let (of_a, of_b) = what.means.unwrap();
        assert!(
            (of_a - 19e3).abs() < 1e-6 && (of_b - 13.8e3).abs() < 1e-6,
            "{of_a} {of_b}"
        );
    }

    #[test]
    fn states_are_alike_by_any_stacks_names() {
        let a = log(&[
            (0.0, state("startup")),
            (90.0, state("recovery")),
            (200.0, cwnd(1.0)),
        ]);
        let b = log(&[
            (0.0, state("BBR_Startup")),
            (60.0, state("recovery")),
            (200.0, cwnd(1.0)),
        ]);
        let all = diverge(&a, &b, LIMITS);
        let (what, apart) = parting(&all).unwrap();
        assert_eq!((what.name, apart.at_ms), ("congestion_state", 60.0));
        assert_eq!(
            (apart.a.as_str(), apart.b.as_str()),
            ("startup", "recovery")
        );
    }

    #[test]
    fn logs_that_tell_nothing_in_common_compare_nothing() {
        let empty = log(&[(0.0, Body::Sent(Packet::default()))]);
        let full = log(&[(0.0, cwnd(1e4))]);
        assert!(diverge(&empty, &full, LIMITS).is_empty());
        assert!(diverge(&log(&[]), &full, LIMITS).is_empty());
    }
}
