//! The report of a traffic run: one answer, the engines side by side, what was offered, delay over
//! a sweep.

use super::compared::{self, Compared};
use super::outcome::StreamsOutcome;
use trammel_core::label::Label;
use trammel_report::comparison::Comparison;
use trammel_report::provenance::{provenance, subject};
use trammel_report::run_folder::RunInfo;
use trammel_report::units;
use trammel_report::{Answer, Block, Note, NoteKind, Report, Section, TableView};
use trammel_stats::stats::relative_error;
use trammel_stats::table::{Table, format_float};

/// Digits of numbers in sentences.
const DIGITS: usize = 3;

/// The whole report.
pub(super) fn report(outcome: &StreamsOutcome<'_>, info: &RunInfo) -> Report {
    let tables = &outcome.tables;
    let first = outcome.file.first();
    let title = match first.title.as_str() {
        "" => outcome.file.name.clone(),
        title => title.to_owned(),
    };
    let question = first
        .question
        .clone()
        .unwrap_or_else(|| "What becomes of these streams over this path?".to_owned());
    let mut blocks = Vec::new();
    let notes = outcome
        .status
        .notes
        .iter()
        .map(|note| (NoteKind::Info, note));
    let failures = outcome.status.lacks.iter().chain(&outcome.status.failures);
    let failures = failures.map(|text| (NoteKind::Warning, text));
    for (kind, text) in notes.chain(failures) {
        blocks.push(Block::Note(Note {
            kind,
            text: text.clone(),
        }));
    }
    let all = compared::all(outcome);
    blocks.extend(super::charts::blocks(outcome, &all));
    blocks.extend(side_by_side(tables).map(Block::Comparison));
    let text = "`predict` is queueing theory, where it has a model; `simulate` the streams in \
                virtual time; `measure` real packets between network namespaces, through a path in \
                user space. The same decoder accounts for simulated and real packets.";
    let compared = Section {
        heading: "Over the path".to_owned(),
        text: text.to_owned(),
        blocks,
    };
    let views = tables.iter().filter(|table| !table.is_empty());
    let views = views.map(|table| {
        Block::Table(TableView {
            title: table.name().to_owned(),
            table: table.clone(),
            is_open: table.name() == "offered",
        })
    });
    let views = Section {
        heading: "Tables".to_owned(),
        text: "`offered` has each stream's predicted moments, their form, and the moments of a \
               sample of the stream."
            .to_owned(),
        blocks: views.collect(),
    };
    Report {
        title,
        question,
        answer: answer(outcome, &all),
        highlights: Vec::new(),
        sections: vec![compared, views],
        provenance: provenance(info, subject(info)),
    }
}

/// The table `comparison` as one, its columns of errors and of references left to the page's own.
fn side_by_side(tables: &[Table]) -> Option<Comparison> {
    let table = tables.iter().find(|table| table.name() == "comparison")?;
    if table.is_empty() {
        return None;
    }
    let names = table.columns().iter().map(|column| column.name.as_str());
    let names: Vec<&str> = names
        .filter(|name| *name != "reference" && !name.ends_with("_error"))
        .collect();
    let shown = table.select(&names).ok()?;
    let mut comparison = Comparison::from_table("Side by side", &shown);
    if let Some(at) = comparison.keys.iter().position(|key| key == "metric") {
        for row in &mut comparison.rows {
            row.keys[at] = units::spoken(&row.keys[at]);
        }
    }
    let place = |wanted: Label| {
        let mut sources = comparison.sources.iter();
        sources.position(|source| source.label == wanted)
    };
    if comparison.reference.is_none() && comparison.sources.len() > 1 {
        comparison.reference = place(Label::Simulated);
    }
    if let Some(at) = comparison.reference {
        let label = comparison.sources[at].label;
        comparison.caption = format!("Errors are relative to what is {}.", label.words());
    }
    Some(comparison)
}

/// What became of the first stream: of a few points, its wait and its loss at each; else of the
/// first point.
fn answer(outcome: &StreamsOutcome<'_>, compared: &[Compared]) -> Answer {
    along(outcome, compared).unwrap_or_else(|| at_first(outcome, compared))
}

/// The wait of the first stream at each of a few points, and what it loses there.
fn along(outcome: &StreamsOutcome<'_>, compared: &[Compared]) -> Option<Answer> {
    const MOST: usize = 5;
    let points = &outcome.file.points;
    if !(2..=MOST).contains(&points.len()) {
        return None;
    }
    let of = |point: usize, metric: &str, pick: fn(&Compared) -> Option<f64>| {
        let mut all = compared.iter();
        pick(all.find(|one| (one.point, one.stream, one.metric) == (point, 0, metric))?)
    };
    let (pick, label): (fn(&Compared) -> Option<f64>, Label) =
        if compared.iter().any(|one| one.measured.is_some()) {
            (|one| one.measured, Label::Measured)
        } else {
            (|one| one.simulated, Label::Simulated)
        };
    let wait = |point: usize, pick: fn(&Compared) -> Option<f64>| {
        let wait = of(point, "delay_mean_us", pick)? - of(point, "delay_min_us", pick)?;
        (wait >= 0.0).then_some(wait)
    };
    let mut said = Vec::new();
    for (at, point) in points.iter().enumerate() {
        let own = wait(at, pick)?;
        let theory = wait(at, |one| one.predicted);
        let theory = theory.map_or(String::new(), |us| format!(" (predicted: {})", time(us)));
        let lost = of(at, "lost", pick).filter(|lost| *lost > 0.0);
        let lost = lost.map_or(String::new(), |lost| {
            format!(" and loses {} %", format_float(100.0 * lost, DIGITS))
        });
        said.push(format!("{}{theory}{lost} with {}", time(own), point.id));
    }
    let name = &outcome.file.first().streams[0].name;
    Some(Answer {
        number: format!(
            "{} → {}",
            time(wait(0, pick)?),
            time(wait(said.len() - 1, pick)?)
        ),
        sentence: format!("On average `{name}` waits {}.", said.join(", ")),
        label: Some(label),
    })
}

/// What became of the first stream at the first point: what was measured, else simulated, else
/// predicted; waiting apart from the way, and beside it what another engine says.
fn at_first(outcome: &StreamsOutcome<'_>, compared: &[Compared]) -> Answer {
    let of = |metric: &str| {
        let mut all = compared.iter();
        all.find(|one| (one.point, one.stream, one.metric) == (0, 0, metric))
    };
    let labels = [Label::Measured, Label::Simulated, Label::Predicted];
    let by = |one: &Compared, label: Label| match label {
        Label::Measured => one.measured,
        Label::Simulated => one.simulated,
        _ => one.predicted,
    };
    let value = |metric: &str, label: Label| by(of(metric)?, label);
    let is_known = |label: &Label| value("delay_mean_us", *label).is_some();
    let mut known = labels.into_iter().filter(is_known);
    let Some(label) = known.next() else {
        return Answer::default();
    };
    let delay = value("delay_mean_us", label).expect("it was just found");
    let wait = |label: Label| {
        let wait = value("delay_mean_us", label)? - value("delay_min_us", label)?;
        (wait >= 0.0).then_some(wait)
    };
    let beside = known.find_map(|other| Some((other, wait(other)?)));
    let name = &outcome.file.first().streams[0].name;
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
    Answer {
        number: wait(label).map_or_else(|| time(delay), time),
        sentence: format!("`{name}`: average delay {}{waiting}.{lost}", time(delay)),
        label: Some(label),
    }
}

/// Microseconds as `1.94 ms` or `19.4 µs`, by their size.
fn time(us: f64) -> String {
    let (factor, unit) = units::shown("us", "", us.abs());
    format!("{} {unit}", format_float(us * factor, DIGITS))
}
