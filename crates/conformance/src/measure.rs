//! Measures a run: the closed vocabulary of a case's checks, each implemented once.

use crate::case::{Event, EventKind, Instant, Measure, Statistic, What};
use crate::series::{PROBE_BW, Series, is_probe_bw};
use std::collections::BTreeMap;

/// All that is known of a run.
#[derive(Clone, Debug, Default)]
pub struct Observation {
    /// The subject's row of table `flows`.
    pub flow: BTreeMap<String, f64>,
    /// The first link's row of table `links`.
    pub link: BTreeMap<String, f64>,
    /// The subject's trace.
    pub series: Series,
    /// What the script came to: nothing where it passed, else what it expected and got.
    pub script: Option<Option<String>>,
}

/// A measured value.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// The number that is compared with the bounds.
    pub value: f64,
    /// What a person is shown, where a number would not tell it.
    pub shown: Option<String>,
}

/// Why there is no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// The run does not tell this of its sender.
    Unknown(String),
    /// What it is measured from never came.
    Never(String),
    /// It is bound to the case's own path, and the run was on another.
    OtherPath,
}

impl Missing {
    /// The reason in words.
    pub fn words(&self) -> String {
        match self {
            Missing::Unknown(what) => format!("no {what} is known"),
            Missing::Never(what) => format!("never {what}"),
            Missing::OtherPath => {
                "it is bound to the case's own path; if the log is of that, name \
                                   the case with `--case`"
                    .to_owned()
            }
        }
    }
}

/// The samples that count.
struct Window<'a> {
    series: &'a Series,
    from: f64,
    /// Indices of the first sample and of the one behind the last.
    range: (usize, usize),
    during: Option<&'a str>,
}

/// Measures `measure` of `run`, or of `reference` where it says so.
pub fn observe(
    measure: &Measure,
    run: &Observation,
    reference: Option<&Observation>,
) -> Result<Observed, Missing> {
    let run = match (measure.of_reference, reference) {
        (false, _) => run,
        (true, Some(reference)) => reference,
        (true, None) => return Err(Missing::Unknown("reference run".to_owned())),
    };
    let plain = |value| Observed { value, shown: None };
    let of_table = |row: &BTreeMap<String, f64>, column: &str| {
        let value = row.get(column).copied();
        value
            .map(plain)
            .ok_or_else(|| Missing::Unknown(format!("`{column}`")))
    };
    match &measure.what {
        What::Flow(column) => of_table(&run.flow, column),
        What::Link(column) => of_table(&run.link, column),
        What::Script => match &run.script {
            None => Err(Missing::Unknown("result of a script".to_owned())),
            Some(None) => Ok(Observed {
                value: 1.0,
                shown: Some("passed".to_owned()),
            }),
            Some(Some(why)) => Ok(Observed {
                value: 0.0,
                shown: Some(why.clone()),
            }),
        },
        of_trace => trace(of_trace, &window(measure, &run.series)?),
    }
}

fn window<'a>(measure: &'a Measure, series: &'a Series) -> Result<Window<'a>, Missing> {
    let begin = series.times.first().copied().unwrap_or(0.0);
    let from = match &measure.from {
        None => 0.0_f64.min(begin),
        Some(instant) => at(instant, series)?,
    };
    let first = series.times.partition_point(|time| *time < from);
    let last = match &measure.until {
        None => series.times.len(),
        Some(instant) => {
            let until = at(instant, series)?;
            series.times.partition_point(|time| *time < until)
        }
    };
    Ok(Window {
        series,
        from,
        range: (first, last.max(first)),
        during: measure.during.as_deref(),
    })
}

fn at(instant: &Instant, series: &Series) -> Result<f64, Missing> {
    match instant {
        Instant::At(seconds) => Ok(*seconds),
        Instant::After(event, plus) => Ok(when(event, series, (0, series.times.len()))? + plus),
    }
}

fn trace(what: &What, window: &Window<'_>) -> Result<Observed, Missing> {
    let series = window.series;
    let plain = |value| Ok(Observed { value, shown: None });
    match what {
        What::Value {
            variable,
            statistic,
        } => plain(value(variable, *statistic, window)?),
        What::Time(event) => plain(when(event, series, window.range)? - window.from),
        What::Count(event) => plain(instants(event, series, window.range)?.len() as f64),
        What::Lasts(phase, nth) => {
            let place = |kind| Event { kind, nth: *nth };
            let enters = when(
                &place(EventKind::Enters(phase.clone())),
                series,
                window.range,
            )?;
            let from = series.times.partition_point(|time| *time < enters);
            let leaves = Event {
                kind: EventKind::Leaves(phase.clone()),
                nth: 1,
            };
            let leaves = when(&leaves, series, (from, window.range.1))?;
            plain(leaves - enters)
        }
        What::Visits(wanted) => {
            if series.phases.iter().all(|phase| phase.is_empty()) {
                return Err(Missing::Unknown("phase".to_owned()));
            }
            let course = series.course(window.range.0, window.range.1);
            let is_like = |is: &&str, wanted: &String| {
                *is == wanted || (wanted == PROBE_BW && is_probe_bw(is))
            };
            let found = course.windows(wanted.len().max(1)).any(|some| {
                some.iter()
                    .zip(wanted)
                    .all(|(is, wanted)| is_like(is, wanted))
            });
            Ok(Observed {
                value: f64::from(u8::from(found)),
                shown: Some(shown_course(&course)),
            })
        }
        What::Flow(_) | What::Link(_) | What::Script => unreachable!("no measure of a trace"),
    }
}

/// The first phases that a sender went through, for a person.
fn shown_course(course: &[&str]) -> String {
    const MOST: usize = 7;
    let mut shown = course[..course.len().min(MOST)].join(" → ");
    if course.len() > MOST {
        shown += " → …";
    }
    if shown.is_empty() {
        "no phase".clone_into(&mut shown);
    }
    shown
}

fn value(variable: &str, statistic: Statistic, window: &Window<'_>) -> Result<f64, Missing> {
    let series = window.series;
    let unknown = || Missing::Unknown(format!("`{variable}`"));
    let column = series.columns.get(variable).ok_or_else(unknown)?;
    if let Some(during) = window.during
        && !series.knows(during)
    {
        return Err(Missing::Unknown(format!("phase `{during}`")));
    }
    let samples = (window.range.0..window.range.1)
        .filter(|at| window.during.is_none_or(|phase| series.is_in(*at, phase)))
        .filter(|at| !column[*at].is_nan())
        .map(|at| (series.times[at], column[at]));
    let samples: Vec<(f64, f64)> = samples.collect();
    if samples.is_empty() {
        return Err(match window.during {
            Some(phase) => Missing::Never(format!("in `{phase}`")),
            None => Missing::Never(format!("a sample of `{variable}` in the window")),
        });
    }
    let values = samples.iter().map(|(_, value)| *value);
    let (first, last) = (samples[0].1, samples[samples.len() - 1].1);
    Ok(match statistic {
        Statistic::First => first,
        Statistic::Last => last,
        Statistic::Mean => values.sum::<f64>() / samples.len() as f64,
        Statistic::Min => values.fold(f64::INFINITY, f64::min),
        Statistic::Max => values.fold(f64::NEG_INFINITY, f64::max),
        Statistic::Rise => last - first,
        Statistic::Growth(span) => growth(&samples, span),
    })
}

/// The largest factor by which values grow within `span` seconds.
fn growth(samples: &[(f64, f64)], span: f64) -> f64 {
    let mut from = 0;
    let mut largest = 1.0_f64;
    for (time, value) in samples {
        while samples[from].0 < time - span {
            from += 1;
        }
        if samples[from].1 > 0.0 {
            largest = largest.max(value / samples[from].1);
        }
    }
    largest
}

/// When `event` comes within the samples of `range`.
fn when(event: &Event, series: &Series, range: (usize, usize)) -> Result<f64, Missing> {
    let all = instants(event, series, range)?;
    let found = all.get(event.nth - 1).copied();
    found.ok_or_else(|| {
        let what = match &event.kind {
            EventKind::Enters(phase) => format!("entered `{phase}`"),
            EventKind::Leaves(phase) => format!("left `{phase}`"),
            EventKind::Reaches(variable, bound) => format!("`{variable}` above {bound}"),
            EventKind::Falls(variable, bound) => format!("`{variable}` below {bound}"),
        };
        Missing::Never(match event.nth {
            1 => what,
            nth => format!("{what} for the {nth}th time"),
        })
    })
}

/// All instants at which `event` comes within `range`.
fn instants(event: &Event, series: &Series, range: (usize, usize)) -> Result<Vec<f64>, Missing> {
    let holds: Box<dyn Fn(usize) -> bool> = match &event.kind {
        EventKind::Enters(phase) | EventKind::Leaves(phase) => {
            if !series.knows(phase) {
                return Err(Missing::Unknown(format!("phase `{phase}`")));
            }
            let enters = matches!(event.kind, EventKind::Enters(_));
            let phase = phase.clone();
            Box::new(move |at| series.is_in(at, &phase) == enters)
        }
        EventKind::Reaches(variable, bound) | EventKind::Falls(variable, bound) => {
            let column = series.columns.get(variable);
            let column = column.ok_or_else(|| Missing::Unknown(format!("`{variable}`")))?;
            let rises = matches!(event.kind, EventKind::Reaches(..));
            let bound = *bound;
            Box::new(move |at| {
                let value = column[at];
                if rises {
                    value >= bound
                } else {
                    value <= bound
                }
            })
        }
    };
    // A phase that the run begins with was entered at its first sample, and none was left there.
    let mut before = matches!(event.kind, EventKind::Leaves(_));
    if range.0 > 0 && range.0 <= series.times.len() {
        before = holds(range.0 - 1);
    }
    let mut found = Vec::new();
    for at in range.0..range.1.min(series.times.len()) {
        let now = holds(at);
        if now && !before {
            found.push(series.times[at]);
        }
        before = now;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Startup for 1 s, drain for 0.5 s, then cruise; a recovery at 2 s; the window is 10 × time.
    fn run() -> Observation {
        let mut series = Series::default();
        for tenth in 0..40 {
            let time = f64::from(tenth) / 10.0;
            let phase = match tenth {
                0..10 => "startup",
                10..15 => "drain",
                _ => "cruise",
            };
            let state = if (20..22).contains(&tenth) {
                "recovery"
            } else {
                "open"
            };
            series.push(time, &[("cwnd_pkts", 10.0 * time)], phase, state);
        }
        series.close();
        Observation {
            series,
            ..Observation::default()
        }
    }

    fn measured(what: What, from: Option<Instant>, during: Option<&str>) -> Result<f64, Missing> {
        let measure = Measure {
            what,
            from,
            until: None,
            during: during.map(str::to_owned),
            of_reference: false,
        };
        observe(&measure, &run(), None).map(|one| one.value)
    }

    fn enters(phase: &str) -> Event {
        Event {
            kind: EventKind::Enters(phase.to_owned()),
            nth: 1,
        }
    }

    fn cwnd(statistic: Statistic) -> What {
        What::Value {
            variable: "cwnd_pkts".to_owned(),
            statistic,
        }
    }

    #[test]
    fn times_and_stays_are_of_the_trace() {
        assert_eq!(measured(What::Time(enters("drain")), None, None), Ok(1.0));
        assert_eq!(
            measured(What::Lasts("drain".to_owned(), 1), None, None),
            Ok(0.5)
        );
        assert_eq!(
            measured(What::Count(enters("recovery")), None, None),
            Ok(1.0)
        );
        let never = measured(What::Time(enters("probe-rtt")), None, None);
        assert_eq!(never, Err(Missing::Never("entered `probe-rtt`".to_owned())));
    }

    #[test]
    fn probe_bw_is_all_of_its_phases() {
        assert_eq!(
            measured(What::Time(enters("probe-bw")), None, None),
            Ok(1.5)
        );
        let wanted = ["startup", "drain", "probe-bw"].map(str::to_owned).to_vec();
        assert_eq!(measured(What::Visits(wanted), None, None), Ok(1.0));
        let wanted = ["startup", "probe-bw"].map(str::to_owned).to_vec();
        assert_eq!(measured(What::Visits(wanted), None, None), Ok(0.0));
    }

    #[test]
    fn values_are_of_a_window_and_a_phase() {
        assert_eq!(
            measured(cwnd(Statistic::Max), None, Some("drain")),
            Ok(14.0)
        );
        let from = Some(Instant::After(enters("recovery"), 0.5));
        assert_eq!(measured(cwnd(Statistic::First), from, None), Ok(25.0));
        assert_eq!(
            measured(cwnd(Statistic::Growth(1.0)), Some(Instant::At(1.0)), None),
            Ok(2.0)
        );
        let unknown = What::Value {
            variable: "bw_bps".to_owned(),
            statistic: Statistic::Max,
        };
        assert_eq!(
            measured(unknown, None, None),
            Err(Missing::Unknown("`bw_bps`".to_owned()))
        );
    }
}
