//! The answer of a traffic run in a sentence: what the first stream waits and loses; of several
//! that are alike, what they do on average.

use super::alike::ByAlike;
use super::compared::Compared;
use super::outcome::StreamsOutcome;
use trammel_core::label::Label;
use trammel_report::Answer;
use trammel_report::units;
use trammel_report::words::capital;
use trammel_stats::stats::relative_error;
use trammel_stats::table::format_float;

/// Digits of numbers in sentences.
const DIGITS: usize = 3;

/// The first stream of a run, or those that are as it is (`count`).
struct First<'a> {
    outcome: &'a StreamsOutcome<'a>,
    compared: &'a [Compared],
    alike: ByAlike<'a>,
}

impl First<'_> {
    /// `` `call` ``, or `` each `call` `` where there are several at some point.
    fn name(&self) -> String {
        let most = self.alike.most(0).expect("a run has a stream");
        let each = if most.count() > 1 { "each " } else { "" };
        format!("{each}`{}`", most.name)
    }

    /// Their mean of a metric, as the engine of `label` has it; the least of what none is below.
    fn value(&self, point: usize, metric: &str, label: Label) -> Option<f64> {
        if metric == "delay_min_us" {
            let values = self.alike.values((point, 0), metric, label)?;
            return values.into_iter().reduce(f64::min);
        }
        self.alike.mean((point, 0), metric, label)
    }

    /// Their mean delay beyond the least of any, µs.
    fn wait(&self, point: usize, label: Label) -> Option<f64> {
        let least = self.value(point, "delay_min_us", label)?;
        let wait = self.value(point, "delay_mean_us", label)? - least;
        (wait >= 0.0).then_some(wait)
    }
}

/// What became of the first stream: of a few points, its wait and its loss at each; of many, from
/// where to where both lie.
pub(super) fn answer(outcome: &StreamsOutcome<'_>, compared: &[Compared]) -> Answer {
    let first = First {
        outcome,
        compared,
        alike: ByAlike::new(&outcome.file.points, compared),
    };
    along(&first)
        .or_else(|| over_all(&first))
        .unwrap_or_else(|| at_first(&first))
}

/// The wait of the first stream at each of a few points, and what it loses there.
fn along(first: &First<'_>) -> Option<Answer> {
    const MOST: usize = 5;
    let points = &first.outcome.file.points;
    if !(2..=MOST).contains(&points.len()) {
        return None;
    }
    let label = if first.compared.iter().any(|one| one.measured.is_some()) {
        Label::Measured
    } else {
        Label::Simulated
    };
    let mut said = Vec::new();
    for (at, point) in points.iter().enumerate() {
        let own = first.wait(at, label)?;
        let theory = first.wait(at, Label::Predicted);
        let theory = theory.map_or(String::new(), |us| format!(" (predicted: {})", time(us)));
        let lost = first.value(at, "lost", label).filter(|lost| *lost > 0.0);
        let lost = lost.map_or(String::new(), |lost| {
            format!(" and loses {} %", format_float(100.0 * lost, DIGITS))
        });
        said.push(format!("{}{theory}{lost} with {}", time(own), point.id));
    }
    Some(Answer {
        number: format!(
            "{} → {}",
            time(first.wait(0, label)?),
            time(first.wait(said.len() - 1, label)?)
        ),
        sentence: format!("On average {} waits {}.", first.name(), said.join(", ")),
        label: Some(label),
    })
}

/// Of more points: from where to where the wait of the first stream lies, and its loss.
fn over_all(first: &First<'_>) -> Option<Answer> {
    let points = &first.outcome.file.points;
    let label = best_label(first.compared)?;
    let value = |point: usize, metric: &str| first.value(point, metric, label);
    let wait = |point: usize| first.wait(point, label);
    let range = |find: &dyn Fn(usize) -> Option<f64>| {
        let found = (0..points.len()).filter_map(|at| Some((at, find(at)?)));
        let mut found: Vec<(usize, f64)> = found.collect();
        found.sort_by(|a, b| a.1.total_cmp(&b.1));
        Some((*found.first()?, *found.last()?, found.len()))
    };
    let delay = |point: usize| value(point, "delay_mean_us");
    let of_wait = range(&wait);
    let of_delay = range(&delay)?;
    // A wait says more, where every point that has a delay has one.
    let (verb, ((least_at, least), (most_at, most), with_one)) = match of_wait {
        Some(of_wait) if of_wait.2 == of_delay.2 => ("waits", of_wait),
        _ => ("is on its way", of_delay),
    };
    if with_one < 2 {
        return None;
    }
    let lost = range(&|point| value(point, "lost")).filter(|(_, (_, most), _)| *most > 0.0);
    let lost = lost.map_or(String::new(), |((_, least), (at, most), _)| {
        let percent = |part: f64| format!("{} %", format_float(100.0 * part, DIGITS));
        let (least, most, id) = (percent(least), percent(most), &points[at].id);
        if least == most {
            format!(" It loses {most} of its packets.")
        } else {
            format!(" It loses {least} to {most} of its packets, the most with {id}.")
        }
    });
    let of = match points.len() {
        all if all == with_one => format!("{all} points"),
        all => format!("{with_one} of {all} points"),
    };
    let name = first.name();
    let (from, to) = (&points[least_at].id, &points[most_at].id);
    let (least, most) = (time(least), time(most));
    Some(Answer {
        number: format!("{least} to {most}"),
        sentence: format!(
            "On average {name} {verb} {least} with {from} to {most} with {to}, over {of}.{lost}"
        ),
        label: Some(label),
    })
}

/// Whose numbers are said: what is nearest to real packets.
fn best_label(compared: &[Compared]) -> Option<Label> {
    let labels = [Label::Measured, Label::Simulated, Label::Predicted];
    let has_delay = |label: &Label| {
        let delays = compared.iter().filter(|one| one.metric == "delay_mean_us");
        let mut of_first = delays.filter(|one| one.stream == 0);
        of_first.any(|one| one.by(*label).is_some())
    };
    labels.into_iter().find(has_delay)
}

/// What became of the first stream at the first point: what was measured, else simulated, else
/// predicted; waiting apart from the way, and beside it what another engine says.
fn at_first(first: &First<'_>) -> Answer {
    let points = &first.outcome.file.points;
    let labels = [Label::Measured, Label::Simulated, Label::Predicted];
    let value = |metric: &str, label: Label| first.value(0, metric, label);
    let is_known = |label: &Label| value("delay_mean_us", *label).is_some();
    let mut known = labels.into_iter().filter(is_known);
    let Some(label) = known.next() else {
        return Answer::default();
    };
    let delay = value("delay_mean_us", label).expect("it was just found");
    let wait = |label: Label| first.wait(0, label);
    let beside = known.find_map(|other| Some((other, wait(other)?)));
    let name = first.name();
    let waiting = wait(label).map_or(String::new(), |own| {
        let beside = beside.map_or(String::new(), |(other, theirs)| {
            let off = relative_error(theirs, own).filter(|_| own > 0.0);
            // Nobody reads that something is 0 % off.
            let off = off.filter(|off| off.abs() >= 0.005);
            let off = off.map_or(String::new(), |off| format!(", {:+.0} % off", off * 100.0));
            format!(" ({}: {}{off})", other.words(), time(theirs))
        });
        format!(", of which {} is waiting{beside}", time(own))
    });
    let lost = value("lost", label).filter(|lost| *lost > 0.0);
    let lost = lost.map_or(String::new(), |lost| {
        format!(
            " {} % of its packets are lost.",
            format_float(100.0 * lost, DIGITS)
        )
    });
    // Of several points it is one, which must be said.
    let place = match points.len() {
        1 => String::new(),
        _ => format!(" with {}", points[0].id),
    };
    Answer {
        number: wait(label).map_or_else(|| time(delay), time),
        sentence: format!(
            "{}{place}: average delay {}{waiting}.{lost}",
            capital(&name),
            time(delay)
        ),
        label: Some(label),
    }
}

/// Microseconds as `1.94 ms` or `19.4 µs`, by their size.
fn time(us: f64) -> String {
    let (factor, unit) = units::shown("us", "", us.abs());
    format!("{} {unit}", format_float(us * factor, DIGITS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_report::run::Status;
    use trammel_scenario::traffic::TrafficFile;

    #[test]
    fn of_many_points_the_range_is_said_with_its_places() {
        let text = "subject = 'traffic'\nduration = '1 s'\n[path]\nrate = '10 Mbit/s'\n\
             delay = '5 ms'\n[[stream]]\nname = 's'\nrate = 400\nsize = 1000\n[sweep]\n\
             'stream.0.rate' = [100, 400, 900, 1000, 1200, 1500]";
        let (dir, reading) = (
            std::path::Path::new("."),
            trammel_scenario::Reading::default(),
        );
        let file = TrafficFile::parse("t.toml", text, dir, &reading).unwrap();
        let waits = [226.0, 800.0, 9_000.0, 20_000.0, 78_900.0, 70_000.0];
        let mut compared = Vec::new();
        for (point, wait) in waits.into_iter().enumerate() {
            let lost = if point < 4 {
                0.0
            } else {
                0.04 * (point - 3) as f64
            };
            let values = [
                ("delay_mean_us", 5800.0 + wait),
                ("delay_min_us", 5800.0),
                ("lost", lost),
            ];
            compared.extend(values.map(|(metric, value)| Compared {
                point,
                stream: 0,
                metric,
                unit: "us",
                predicted: None,
                simulated: Some(value),
                measured: None,
            }));
        }
        let outcome = StreamsOutcome {
            file: &file,
            ran: Vec::new(),
            status: Status::default(),
            tables: Vec::new(),
        };
        let of_all = answer(&outcome, &compared);
        assert_eq!(of_all.number, "226 µs to 78.9 ms");
        let [first, fifth, last] = [0, 4, 5].map(|at| file.points[at].id.as_str());
        let wanted = format!(
            "On average `s` waits 226 µs with {first} to 78.9 ms with {fifth}, over 6 points. \
             It loses 0 % to 8 % of its packets, the most with {last}."
        );
        assert_eq!(of_all.sentence, wanted);
        // Where one point has run only, it is named.
        let of_first = answer(&outcome, &compared[..3]);
        let wanted =
            format!("`s` with {first}: average delay 6.03 ms, of which 226 µs is waiting.");
        assert_eq!(of_first.sentence, wanted);
    }

    #[test]
    fn of_streams_that_are_alike_the_mean_is_said() {
        let text = "subject = 'traffic'\nduration = '1 s'\n[path]\nrate = '2 Mbit/s'\n\
             delay = '10 ms'\n[[stream]]\nname = 'call'\nrate = 50\nsize = 160\ncount = 3\n\
             [[stream]]\nname = 'other'\nrate = 1\n";
        let (dir, reading) = (
            std::path::Path::new("."),
            trammel_scenario::Reading::default(),
        );
        let file = TrafficFile::parse("t.toml", text, dir, &reading).unwrap();
        // They send at the same time, always: each is served in its turn.
        let compared: Vec<Compared> = (0..4)
            .flat_map(|stream| {
                let delay = 10_000.0 + 1_000.0 * stream as f64;
                let values = [("delay_mean_us", delay), ("delay_min_us", delay)];
                values.map(|(metric, value)| Compared {
                    point: 0,
                    stream,
                    metric,
                    unit: "us",
                    predicted: None,
                    simulated: Some(value),
                    measured: None,
                })
            })
            .collect();
        let outcome = StreamsOutcome {
            file: &file,
            ran: Vec::new(),
            status: Status::default(),
            tables: Vec::new(),
        };
        let wanted = "Each `call`: average delay 11 ms, of which 1 ms is waiting.";
        assert_eq!(answer(&outcome, &compared).sentence, wanted);
    }
}
