//! The report of a paper: each published table with ours beside it, reasons, hypotheses, figures.

use super::expected::Expected;
use super::experiment::Done;
use super::join::{Count, Joined};
use super::spec::Experiment;
use super::verdict::{Cause, Verdict, VerdictOutcome};
use super::{Paper, curves, devices, findings, plots, streams};
use trammel_core::label::Label;
use trammel_report::comparison::{BOUNDS, Comparison, Estimate, Row, Source, Verdict as Shown};
use trammel_report::dots::{DotPlot, DotSeries};
use trammel_report::{
    Answer, Block, Highlight, Note, NoteKind, Provenance, Report, Section, TableView,
};
use trammel_stats::table::CellType::{Int, Text};
use trammel_stats::table::Table;

/// What the page says beside the numbers.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// Whether every point and repeat was run.
    pub is_full: bool,
    /// Experiments left out, and why.
    pub notes: &'a [String],
}

/// The report of `paper`.
pub fn page(
    paper: &Paper,
    done: &[Done],
    joined: &[Joined<'_>],
    facts: &Facts<'_>,
    provenance: Provenance,
) -> Report {
    let spec = &paper.spec;
    let count = Count::of(joined.iter());
    let tables = tables(joined);
    let mut sections = vec![overview(paper, joined, &tables, facts)];
    let (findings, _) = findings::texts(paper, done);
    if !findings.is_empty() {
        let kind = NoteKind::Info;
        let notes = findings.into_iter();
        sections.push(Section {
            heading: "Findings".to_owned(),
            text: "Each number is of this run.".to_owned(),
            blocks: notes.map(|text| Block::Note(Note { kind, text })).collect(),
        });
    }
    for name in &tables {
        sections.push(table_section(paper, joined, name));
    }
    sections.extend(streams::sections(paper, done));
    sections.extend(devices::sections(paper, done));
    let figures = spec
        .figures
        .iter()
        .filter_map(|wanted| curves::figure(paper, done, wanted));
    let figures: Vec<_> = figures.map(Block::Figure).collect();
    if !figures.is_empty() {
        let heading = "Over time".to_owned();
        sections.push(Section {
            heading,
            text: String::new(),
            blocks: figures,
        });
    }
    if !spec.plots.is_empty() {
        let drawn = spec.plots.iter().map(|plot| plots::draw(paper, done, plot));
        sections.push(Section {
            heading: "The paper's figures, redrawn".to_owned(),
            text: String::new(),
            blocks: drawn.map(plotted).collect(),
        });
    }
    sections.push(experiments(paper, done));
    let question = match spec.question.as_str() {
        "" => format!("Are the numbers of {} reproduced?", spec.authors),
        question => question.to_owned(),
    };
    let line = count.line().replace("printed", noun(paper, joined));
    let sentence = match count.changed {
        0 => format!("O{}.", &line[1..]),
        n => format!(
            "{n} numbers differ from their recorded verdict. O{}.",
            &line[1..]
        ),
    };
    let number = match count.changed {
        0 => format!("{} match", count.matching),
        n => n.to_string(),
    };
    Report {
        title: format!("{}: computed again", spec.title),
        question,
        answer: Answer {
            number,
            sentence,
            label: None,
        },
        highlights: [highlights(count), streams::highlights(paper, done)].concat(),
        sections,
        provenance,
    }
}

/// A figure, or what is lacking where all of its curves are left out.
fn plotted(drawn: plots::Drawn) -> Block {
    let figure = drawn.figure;
    if figure.series.is_empty() {
        let text = format!("{}. {}", figure.title, figure.caption);
        let kind = NoteKind::Warning;
        return Block::Note(Note { kind, text });
    }
    Block::Figure(figure)
}

fn highlights(count: Count) -> Vec<Highlight> {
    let one = |name: &str, value: usize, note: &str| Highlight {
        name: name.to_owned(),
        value: value.to_string(),
        unit: String::new(),
        label: None,
        note: note.to_owned(),
    };
    let rows = [
        (
            "match",
            count.matching,
            "within the tolerance, nothing fitted",
        ),
        ("fitted", count.fitted, "match by a constant chosen for it"),
        (
            "differ, known cause",
            count.known,
            "the mechanism was shown",
        ),
        (
            "differ, inferred cause",
            count.inferred,
            "by what the paper does not state",
        ),
        (
            "differ, unexplained",
            count.unexplained,
            "no cause was found",
        ),
        ("changed", count.changed, "came out otherwise than recorded"),
        ("not run", count.not_run, "no experiment gave a number"),
        (
            "inapplicable",
            count.inapplicable,
            "what they are of is not in Trammel",
        ),
    ];
    let shown = rows
        .into_iter()
        .filter(|(name, value, _)| *value > 0 || *name == "match");
    shown
        .map(|(name, value, note)| one(name, value, note))
        .collect()
}

/// What the numbers are that ours are compared with: runs of our own are no printed ones.
pub(crate) fn noun(paper: &Paper, joined: &[Joined<'_>]) -> &'static str {
    let compared = joined.iter().filter(|one| one.ours.is_some());
    let (mut own, mut printed) = (0, 0);
    for one in compared {
        match paper.source_of(&one.expected.table) {
            Some(_) => own += 1,
            None => printed += 1,
        }
    }
    if own > 0 && printed == 0 {
        "reference"
    } else {
        "printed"
    }
}

/// Who a table's numbers are of: the label, and the source where it is not the paper.
fn origin<'a>(paper: &'a Paper, name: &str) -> (Label, &'a str) {
    let table = paper.spec.tables.iter().find(|table| table.name == name);
    match paper.source_of(name) {
        Some(source) if table.is_some_and(|table| table.is_of_kernel) => (Label::LinuxVt, source),
        Some(source) => (Label::Simulated, source),
        None => (Label::Published, ""),
    }
}

/// The tables in the order of `expected.csv`.
fn tables<'a>(joined: &[Joined<'a>]) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for one in joined {
        if !names.contains(&one.expected.table.as_str()) {
            names.push(&one.expected.table);
        }
    }
    names
}

fn of_table<'a>(joined: &'a [Joined<'a>], name: &'a str) -> impl Iterator<Item = &'a Joined<'a>> {
    joined.iter().filter(move |one| one.expected.table == name)
}

fn heading(paper: &Paper, name: &str) -> String {
    let table = paper.spec.tables.iter().find(|table| table.name == name);
    table.map_or_else(|| format!("Table {name}"), |table| table.title.clone())
}

fn overview(paper: &Paper, joined: &[Joined<'_>], tables: &[&str], facts: &Facts<'_>) -> Section {
    let columns = [
        ("table", Text),
        ("numbers", Int),
        ("match", Int),
        ("fitted", Int),
        ("differ, known", Int),
        ("differ, inferred", Int),
        ("differ, unexplained", Int),
        ("changed", Int),
        ("not run", Int),
        ("inapplicable", Int),
    ];
    let mut table = Table::with("overview", &columns);
    for name in tables {
        let count = Count::of(of_table(joined, name));
        let row = vec![
            heading(paper, name).into(),
            count.all().into(),
            count.matching.into(),
            count.fitted.into(),
            count.known.into(),
            count.inferred.into(),
            count.unexplained.into(),
            count.changed.into(),
            count.not_run.into(),
            count.inapplicable.into(),
        ];
        table.push(row).expect("the row has a cell for each column");
    }
    let mut blocks: Vec<Block> = Vec::new();
    let note = |kind, text: String| Block::Note(Note { kind, text });
    if !facts.is_full {
        let text = "This is the two-minute selection: fewer repeats and, where the list of \
                    experiments says so, shorter runs than the paper's. `--full` runs everything.";
        blocks.push(note(NoteKind::Info, text.to_owned()));
    }
    blocks.extend(
        facts
            .notes
            .iter()
            .map(|text| note(NoteKind::Warning, text.clone())),
    );
    let title = "What came of each table".to_owned();
    blocks.push(Block::Table(TableView {
        title,
        table,
        is_open: true,
    }));
    let spec = &paper.spec;
    let by = [spec.authors.as_str(), spec.venue.as_str()].join(", ");
    Section {
        heading: "What the paper claims".to_owned(),
        text: format!("{}\n\n{}", by.trim_matches([',', ' ']), spec.claim),
        blocks,
    }
}

/// A column of ours: experiments of one label and name. Those that answer different cells of a
/// table (one for each rate, say) stand in one column.
struct Ours<'a> {
    first: &'a Experiment,
    experiments: Vec<usize>,
}

impl Ours<'_> {
    fn is_like(&self, other: &Experiment) -> bool {
        self.first.label == other.label && named(self.first) == named(other)
    }

    /// What it says of `cell`.
    fn of(&self, joined: &[Joined<'_>], cell: &Expected) -> Option<Estimate> {
        let mut here = joined.iter().filter(|one| {
            std::ptr::eq(one.expected, cell)
                && one
                    .experiment
                    .is_some_and(|at| self.experiments.contains(&at))
        });
        here.find_map(|one| one.ours).map(|ours| Estimate {
            value: ours.mean,
            interval: ours.interval,
        })
    }
}

/// Our columns of a table, those that are judged first.
fn columns<'a>(paper: &'a Paper, joined: &[Joined<'_>], name: &str) -> Vec<Ours<'a>> {
    let answers = |at: usize| of_table(joined, name).filter(move |one| one.experiment == Some(at));
    let mut places: Vec<(bool, usize)> = of_table(joined, name)
        .filter_map(|one| Some((one.outcome.is_none(), one.experiment?)))
        .collect();
    places.sort_unstable();
    let mut columns: Vec<Ours<'a>> = Vec::new();
    for (_, at) in places {
        if columns
            .iter()
            .any(|column| column.experiments.contains(&at))
        {
            continue;
        }
        let experiment = &paper.spec.experiments[at];
        let is_free = |column: &Ours<'_>| {
            let mut others = column.experiments.iter().flat_map(|other| answers(*other));
            others.all(|other| answers(at).all(|one| !std::ptr::eq(one.expected, other.expected)))
        };
        let mut like = columns.iter_mut();
        match like.find(|column| column.is_like(experiment) && is_free(column)) {
            Some(column) => column.experiments.push(at),
            None => columns.push(Ours {
                first: experiment,
                experiments: vec![at],
            }),
        }
    }
    columns
}

fn named(experiment: &Experiment) -> &str {
    match experiment.hypothesis.as_str() {
        "" => "as described",
        name => name,
    }
}

fn table_section(paper: &Paper, joined: &[Joined<'_>], name: &str) -> Section {
    let text = paper.spec.tables.iter().find(|table| table.name == name);
    let ours = columns(paper, joined, name);
    let cells: Vec<&Expected> = {
        let mut cells: Vec<&Expected> = Vec::new();
        for one in of_table(joined, name) {
            if cells
                .last()
                .is_none_or(|last| !std::ptr::eq(*last, one.expected))
            {
                cells.push(one.expected);
            }
        }
        cells
    };
    let reasons = reasons(&cells);
    let mut blocks = dot_plots(paper, joined, name, &cells, &ours);
    let rows = cells.iter().map(|expected| {
        let here = |one: &&Joined<'_>| std::ptr::eq(one.expected, *expected);
        let mut values: Vec<Option<Estimate>> = ours
            .iter()
            .map(|column| column.of(joined, expected))
            .collect();
        values.push(Some(Estimate::from(expected.value)));
        let outcome = joined.iter().filter(here).find_map(|one| one.outcome);
        Row {
            keys: vec![expected.row.clone(), expected.column.clone()],
            unit: expected.unit.clone(),
            values,
            verdict: outcome.map(|outcome| shown(expected, outcome, &reasons)),
        }
    });
    let mut all: Vec<Source> = ours
        .iter()
        .map(|column| Source::new(column.first.label, named(column.first)))
        .collect();
    let (label, source) = origin(paper, name);
    all.push(Source::new(label, source));
    let comparison = Comparison {
        title: match source {
            "" => "Ours beside the printed numbers".to_owned(),
            source => format!("Ours beside {source}"),
        },
        caption: String::new(),
        keys: vec!["row".to_owned(), "column".to_owned()],
        reference: Some(all.len() - 1),
        sources: all,
        bounds: BOUNDS,
        rows: rows.collect(),
    };
    blocks.push(Block::Comparison(comparison));
    for (n, (verdict, reason)) in reasons.iter().enumerate() {
        let word = verdict.word();
        let text = format!("({}) {word}: {reason}", letter(n));
        blocks.push(Block::Note(Note {
            kind: NoteKind::Footnote,
            text,
        }));
    }
    Section {
        heading: heading(paper, name),
        text: text.map(|table| table.text.clone()).unwrap_or_default(),
        blocks,
    }
}

/// Each verdict with a reason, once, in order.
fn reasons<'a>(cells: &[&'a Expected]) -> Vec<(Verdict, &'a str)> {
    let mut all: Vec<(Verdict, &str)> = Vec::new();
    for expected in cells.iter().filter(|expected| !expected.reason.is_empty()) {
        let one = (expected.verdict, expected.reason.as_str());
        if !all.contains(&one) {
            all.push(one);
        }
    }
    all
}

/// `a`, `b`, … `z`, `27`, ….
fn letter(n: usize) -> String {
    match u8::try_from(n) {
        Ok(n) if n < 26 => char::from(b'a' + n).to_string(),
        _ => (n + 1).to_string(),
    }
}

fn shown(expected: &Expected, outcome: VerdictOutcome, reasons: &[(Verdict, &str)]) -> Shown {
    let one = (expected.verdict, expected.reason.as_str());
    let at = reasons.iter().position(|reason| *reason == one);
    let footnote = at.map_or(String::new(), |at| format!("({})", letter(at)));
    let cause = match expected.cause {
        Cause::Unaided | Cause::Lacking => "",
        Cause::Fitted => "by a fitted constant",
        Cause::Known => "known cause",
        Cause::Inferred => "inferred cause",
        Cause::Unexplained => "unexplained",
    };
    let because = format!("{cause} {footnote}").trim().to_owned();
    match (outcome, expected.verdict) {
        (VerdictOutcome::AsRecorded, Verdict::Matches) => Shown::Matches(because),
        (VerdictOutcome::AsRecorded, Verdict::Differs) => Shown::Differs(because),
        (outcome, _) => Shown::Other(format!("{} {footnote}", outcome.words()).trim().to_owned()),
    }
}

/// A part of an expected number.
type Pick = fn(&Expected) -> &str;

/// A dot plot for each column of the table, or for each row where these are fewer.
fn dot_plots(
    paper: &Paper,
    joined: &[Joined<'_>],
    name: &str,
    cells: &[&Expected],
    ours: &[Ours<'_>],
) -> Vec<Block> {
    let distinct = |pick: Pick| {
        let mut all: Vec<&str> = Vec::new();
        for cell in cells {
            if !all.contains(&pick(cell)) {
                all.push(pick(cell));
            }
        }
        all
    };
    let row: Pick = |cell| &cell.row;
    let column: Pick = |cell| &cell.column;
    let (panel, line) = if distinct(row).len() >= distinct(column).len() {
        (column, row)
    } else {
        (row, column)
    };
    let mut blocks = Vec::new();
    for (n, of_panel) in distinct(panel).into_iter().enumerate() {
        let here: Vec<&&Expected> = cells
            .iter()
            .filter(|cell| panel(cell) == of_panel)
            .collect();
        // A plot of one or two numbers says less than their row in the table.
        if here.len() < 3 {
            continue;
        }
        let unit = here[0].unit.as_str();
        let mut series: Vec<DotSeries> = ours
            .iter()
            .map(|column| {
                let value = |cell: &&&Expected| Some(column.of(joined, cell)?.value);
                DotSeries {
                    name: named(column.first).to_owned(),
                    label: column.first.label,
                    values: here.iter().map(value).collect(),
                }
            })
            .filter(|series| series.values.iter().any(Option::is_some))
            .collect();
        let (label, source) = origin(paper, name);
        let values = here.iter().map(|cell| Some(cell.value)).collect();
        series.push(DotSeries {
            name: source.to_owned(),
            label,
            values,
        });
        let plain: String = format!("{name}-{n}")
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        blocks.push(Block::Dots(DotPlot {
            id: format!("table-{plain}"),
            title: of_panel.to_owned(),
            unit: if unit == "ratio" {
                String::new()
            } else {
                unit.to_owned()
            },
            rows: here.iter().map(|cell| line(cell).to_owned()).collect(),
            series,
        }));
    }
    blocks
}

/// What was run: each experiment with its hypothesis, length and repeats.
fn experiments(paper: &Paper, done: &[Done]) -> Section {
    let columns = [
        ("experiment", Text),
        ("label", Text),
        ("hypothesis", Text),
        ("scenario", Text),
        ("points", Int),
        ("repeats", Int),
        ("duration", Text),
        ("judged", Text),
        ("set", Text),
    ];
    let mut table = Table::with("experiments", &columns);
    for one in done {
        let experiment = &paper.spec.experiments[one.at];
        let points = one.ran.as_ref().map_or(&[][..], |ran| &ran.file.points);
        let first = points.first().map(|point| &point.scenario);
        let (of, count) = match (&experiment.estimate, &experiment.streams) {
            (Some(wanted), _) => (
                format!("{} on {}", wanted.functions, wanted.machine),
                wanted.frames.len(),
            ),
            (None, Some(wanted)) => {
                let rates = wanted.imposed.sweep().1.len();
                (
                    "streams at equal gaps".to_owned(),
                    wanted.kinds.len() * rates,
                )
            }
            (None, None) => match (&experiment.tested, &experiment.transfers) {
                (Some(wanted), _) => (wanted.device.to_string(), wanted.frames.len()),
                (None, Some(wanted)) => (
                    "files over kernel TCP".to_owned(),
                    wanted.protocols.len() * wanted.through.len(),
                ),
                (None, None) => (experiment.scenario.clone(), points.len()),
            },
        };
        let is_predicted = experiment.label == Label::Predicted;
        let row = vec![
            experiment.id.as_str().into(),
            experiment.label.words().into(),
            named(experiment).into(),
            of.into(),
            count.into(),
            first
                .filter(|_| !is_predicted)
                .map(|scenario| scenario.repeat)
                .into(),
            first
                .filter(|_| !is_predicted)
                .map(|scenario| format!("{} s", scenario.duration.as_secs_f64()))
                .into(),
            if experiment.answers.iter().any(|answer| answer.is_judged) {
                "yes"
            } else {
                "shown beside"
            }
            .into(),
            experiment
                .set
                .iter()
                .map(|(key, _)| key.as_str())
                .collect::<Vec<_>>()
                .join(", ")
                .into(),
        ];
        table.push(row).expect("the row has a cell for each column");
    }
    let title = "Experiments".to_owned();
    Section {
        heading: "What was run".to_owned(),
        text:
            "Where the paper leaves something open, an experiment names its assumption. Verdicts \
               are about the judged experiments; the others show the effect of an assumption. A \
               *fitted* experiment has a constant that was chosen so that the result matches."
                .replace('*', ""),
        blocks: vec![Block::Table(TableView {
            title,
            table,
            is_open: true,
        })],
    }
}
