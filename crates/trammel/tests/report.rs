//! Renders a realistic, invented report into a run folder.
//!
//! With `TRAMMEL_REPORT_DIR=DIR` it is left there to be looked at.

#[path = "report/browser.rs"]
mod browser;
#[path = "report/live.rs"]
mod live;

use std::path::PathBuf;
use trammel::report::comparison::{BOUNDS, Comparison, Estimate, Row, Source, Verdict};
use trammel::report::figure::{Axis, Figure, Mark, Series};
use trammel::report::heat_map::{Colours, HeatMap};
use trammel::report::run_folder::{RunFolder, RunInfo, read_info};
use trammel::report::{
    Answer, Block, Choice, Highlight, Note, NoteKind, Provenance, Report, Section, TableView,
};
use trammel_core::label::Label;
use trammel_core::rng::Rng;
use trammel_stats::table::{CellType, Table};

const VARIANTS: [&str; 17] = [
    "newreno",
    "bic",
    "cubic",
    "highspeed",
    "htcp",
    "hybla",
    "illinois",
    "lp",
    "scalable",
    "vegas",
    "veno",
    "westwood",
    "yeah",
    "compound",
    "dctcp",
    "bbr",
    "bbr3",
];

/// A sawtooth of `n` points over 100 s.
fn sawtooth(rng: &mut Rng, n: usize, growth: f64, cut: f64, start: f64) -> Vec<(f64, f64)> {
    let mut window = start;
    (0..n)
        .map(|i| {
            window += growth * (0.5 + rng.unit());
            if window > 830.0 + 60.0 * rng.unit() || rng.unit() < 2.0 / n as f64 {
                window *= cut;
            }
            (i as f64 * 100.0 / n as f64, window.round())
        })
        .collect()
}

fn traces(rng: &mut Rng) -> Section {
    let time = || Axis::linear("time", "s");
    let scalable = sawtooth(rng, 20_000, 0.35, 0.875, 300.0);
    let reno = sawtooth(rng, 20_000, 0.06, 0.5, 120.0);
    let queue: Vec<_> = (0..50_000)
        .map(|i| {
            let t = f64::from(i) / 500.0;
            let wave = 420.0 + 400.0 * (t * 1.3).sin() + 60.0 * rng.unit();
            (t, wave.clamp(0.0, 833.0).floor())
        })
        .collect();
    let rate = |base: f64, rng: &mut Rng| {
        (0..200)
            .map(|i| (f64::from(i) / 2.0, base + 60.0 * rng.unit()))
            .collect::<Vec<_>>()
    };
    let delays = |base: f64, rng: &mut Rng| {
        let one = |rng: &mut Rng| base - 3.0 * (1.0 - rng.unit()).ln();
        (0..5_000).map(|_| one(rng)).collect::<Vec<_>>()
    };
    Section {
        heading: "Inside one run".into(),
        text:
            "The first repeat at a loss probability of 1.5 × 10⁻⁴. The four plots share their time \
               axis: point at one and read all; drag to zoom."
                .into(),
        blocks: vec![
            Block::Figure(
                Figure::new(
                    "cwnd",
                    "Congestion window",
                    time(),
                    Axis::linear("cwnd", "packets"),
                )
                .with(Series::new("scalable", Mark::Step, scalable).coloured(0))
                .with(Series::new("newreno", Mark::Step, reno).coloured(1))
                .captioned("Scalable cuts by an eighth, NewReno by half.")
                .grouped("run")
                .ruled(833.0, "1 bdp")
                .wide(),
            ),
            Block::Figure(
                Figure::new(
                    "goodput",
                    "Goodput",
                    time(),
                    Axis::linear("goodput", "Mbit/s"),
                )
                .with(Series::new("scalable", Mark::Line, rate(830.0, rng)).coloured(0))
                .with(Series::new("newreno", Mark::Line, rate(70.0, rng)).coloured(1))
                .grouped("run"),
            ),
            Block::Figure(
                Figure::new(
                    "queue",
                    "Queue at the bottleneck",
                    time(),
                    Axis::linear("queue", "packets"),
                )
                .with(Series::new("", Mark::Step, queue).coloured(6))
                .grouped("run"),
            ),
            Block::Choice(Choice {
                name: "Point".into(),
                options: vec![
                    ("p = 1.5e-4".into(), vec![Block::Figure(wave(rng))]),
                    ("p = 1.5e-3".into(), Vec::new()),
                ],
            }),
            Block::Figure(
                Figure::new(
                    "delay-cdf",
                    "Queueing delay",
                    Axis::log("delay", "ms"),
                    Axis::linear("share of packets", "%").with_range(0.0, 100.0),
                )
                .with(Series::cdf("droptail", delays(6.0, rng)).labelled(Label::Simulated))
                .with(Series::cdf("codel", delays(1.5, rng)).labelled(Label::Simulated))
                .with(
                    Series::cdf("codel", delays(1.6, rng))
                        .labelled(Label::LinuxVt)
                        .coloured(1),
                ),
            ),
            Block::Figure({
                let cloud = |at: (f64, f64), rng: &mut Rng| {
                    let blur = |v: f64, rng: &mut Rng| v * (0.75 + 0.5 * rng.unit());
                    (0..40)
                        .map(|_| (blur(at.0, rng), blur(at.1, rng)))
                        .collect()
                };
                let axes = (
                    Axis::linear("delay", "ms"),
                    Axis::linear("goodput", "Mbit/s"),
                );
                let mut figure = Figure::new("scatter", "Goodput against delay", axes.0, axes.1);
                for (name, at) in [
                    ("cubic", (42.0, 900.0)),
                    ("bbr", (19.0, 870.0)),
                    ("vegas", (13.0, 610.0)),
                    ("hybla", (55.0, 780.0)),
                ] {
                    figure = figure.with(Series::new(name, Mark::Points, cloud(at, rng)));
                }
                figure.captioned("One point a repeat; up and to the left is better.")
            }),
        ],
    }
}

/// A figure with a place for zero and with shapes.
fn wave(rng: &mut Rng) -> Figure {
    let losses = [0.0, 1e-5, 1e-4, 1e-3];
    let points = losses.map(|p| (p, 10.0 * rng.unit())).to_vec();
    let x = Axis::swept("loss probability", "", &losses);
    let mut figure = Figure::new("by-loss", "Goodput", x, Axis::linear("goodput", "Mbit/s"));
    figure.shapes = losses.map(|p| p.to_string()).to_vec();
    let marks = Series::new("cubic", Mark::Points, points.clone()).shaped(vec![0, 1, 2, 3]);
    figure
        .with(Series::new("reno", Mark::LinePoints, points))
        .with(marks)
}

fn sweep() -> Section {
    let losses = [1.5e-7, 1.5e-6, 1.5e-5, 1.5e-4, 1.5e-3, 1.5e-2];
    let model = |p: f64| 0.52 + 0.43 / (1.0 + (p / 2e-4).powf(0.8));
    let line = |shift: f64| losses.map(|p| (p, model(p) + shift)).to_vec();
    let band = losses.map(|p| (model(p) - 0.03, model(p) + 0.025)).to_vec();
    let published = losses[2..]
        .iter()
        .map(|p| (*p, model(*p) - 0.012))
        .collect();
    let figure = Figure::new(
        "share",
        "Share of Scalable TCP against the loss probability",
        Axis::log("loss probability", ""),
        Axis::linear("share of the bottleneck", "").with_range(0.4, 1.0),
    )
    .with(
        Series::new("scalable", Mark::LinePoints, line(0.0))
            .labelled(Label::Simulated)
            .coloured(0)
            .banded(band),
    )
    .with(
        Series::new("tekala-2007:corrected", Mark::LinePoints, line(0.02))
            .labelled(Label::Predicted)
            .coloured(7),
    )
    .with(
        Series::new("tekala-2007:as-printed", Mark::LinePoints, line(0.055))
            .labelled(Label::Predicted)
            .coloured(3),
    )
    .with(
        Series::new("scalable", Mark::LinePoints, line(-0.008))
            .labelled(Label::LinuxVt)
            .coloured(2),
    )
    .with(
        Series::new("Tekala and Szabo", Mark::Points, published)
            .labelled(Label::Published)
            .coloured(6),
    )
    .ruled(0.5, "fair share")
    .captioned("Band: 95 % confidence interval of the mean over ten repeats.")
    .wide();
    let source = |label, name: &str| Source::new(label, name);
    let rows = losses.iter().map(|p| {
        let simulated = model(*p);
        let printed = (*p > 1e-5).then(|| Estimate::from(simulated - 0.012));
        Row {
            keys: vec![format!("p = {p:e}"), "scalable".into(), "share".into()],
            unit: "1".into(),
            values: vec![
                Some((simulated + 0.055 + p * 12.0).into()),
                Some((simulated + 0.02).into()),
                Some(Estimate {
                    value: simulated,
                    interval: Some((simulated - 0.03, simulated + 0.025)),
                }),
                (*p < 1e-2).then(|| (simulated - 0.008).into()),
                printed,
            ],
            verdict: printed.map(|_| {
                if *p > 1e-2 {
                    let reason =
                        "the printed formula lacks the factor for delayed acknowledgements";
                    Verdict::Differs(reason.into())
                } else {
                    Verdict::Matches(String::new())
                }
            }),
        }
    });
    Section {
        heading: "Predicted, simulated, published".into(),
        text: "Each engine answered from the same scenario file. Errors are against the published \
               numbers."
            .into(),
        blocks: vec![
            Block::Figure(figure),
            Block::Comparison(Comparison {
                title: "Share of the bottleneck".into(),
                caption: "Below a loss probability of 10⁻⁵ nothing was published.".into(),
                keys: vec!["point".into(), "entity".into(), "metric".into()],
                sources: vec![
                    source(Label::Predicted, "tekala-2007:as-printed"),
                    source(Label::Predicted, "tekala-2007:corrected"),
                    source(Label::Simulated, ""),
                    source(Label::LinuxVt, "6.12"),
                    source(Label::Published, "Tekala 2007, table 3"),
                ],
                reference: Some(4),
                bounds: BOUNDS,
                rows: rows.collect(),
            }),
            Block::Note(Note {
                kind: NoteKind::Warning,
                text:
                    "`measure` did not run at p = 0.015: the kernel image is not built; `trammel \
                       kernel build` makes it."
                        .into(),
            }),
        ],
    }
}

fn friendliness(rng: &mut Rng) -> Section {
    let strength: Vec<f64> = VARIANTS.iter().map(|_| 0.4 + 2.0 * rng.unit()).collect();
    let values = (0..17).map(|i| {
        (0..17)
            .map(|j| (i != 16 || j != 3).then(|| strength[i] / (strength[i] + strength[j])))
            .collect()
    });
    let names = || VARIANTS.map(String::from).to_vec();
    let mut flows = Table::with(
        "flows",
        &[
            ("engine", CellType::Text),
            ("point", CellType::Text),
            ("seed", CellType::Int),
            ("variant", CellType::Text),
            ("goodput_bps", CellType::Float),
            ("srtt_us", CellType::Float),
            ("retransmitted_pkts", CellType::Int),
            ("completed", CellType::Bool),
        ],
    );
    for seed in 0..400_u64 {
        let variant = VARIANTS[seed as usize % 17];
        flows
            .push(vec![
                "simulate".into(),
                "p=1.5e-4".into(),
                seed.into(),
                variant.into(),
                (4e8 + 1e8 * rng.unit()).into(),
                (1e4 + 800.0 * rng.unit()).into(),
                (seed * 7 % 93).into(),
                (seed % 2 == 0).into(),
            ])
            .unwrap();
    }
    Section {
        heading: "Who wins against whom".into(),
        text: String::new(),
        blocks: vec![
            Block::HeatMap(HeatMap {
                id: "friendliness".into(),
                title: "Share of the row's variant".into(),
                caption:
                    "Two flows, one bottleneck of 100 Mbit/s, 20 ms, one bdp of buffer. Below \
                          0.5 the column wins."
                        .into(),
                row_title: "variant".into(),
                column_title: "competes with".into(),
                rows: names(),
                columns: names(),
                value_title: "share of the bottleneck".into(),
                values: values.collect(),
                intervals: Vec::new(),
                colours: Colours::Diverging(0.0, 0.5, 1.0),
                label: Some(Label::Simulated),
            }),
            Block::Table(TableView {
                title: "Flows".into(),
                table: flows,
                is_open: false,
            }),
        ],
    }
}

fn demo() -> Report {
    let rng = &mut Rng::new(7, "report");
    let highlight = |name: &str, value: &str, unit: &str, label, note: &str| Highlight {
        name: name.into(),
        value: value.into(),
        unit: unit.into(),
        label,
        note: note.into(),
    };
    Report {
        title: "Scalable TCP against NewReno".into(),
        question: "How much of a 1 Gbit/s, 10 ms bottleneck does one Scalable flow take from one \
                   NewReno flow, and does loss change it?"
            .into(),
        answer: Answer {
            number: "93 %".into(),
            sentence: "Scalable TCP takes 93 % of the bottleneck below a loss probability of 10⁻⁴ \
                       and falls to a fair half above 10⁻²."
                .into(),
            label: Some(Label::Simulated),
        },
        highlights: vec![
            highlight(
                "Bottleneck use",
                "98.7",
                "%",
                Some(Label::Simulated),
                "of 1 Gbit/s",
            ),
            highlight(
                "Jain's index",
                "0.57",
                "",
                Some(Label::Simulated),
                "two flows",
            ),
            highlight(
                "Median queueing delay",
                "6.2",
                "ms",
                Some(Label::LinuxVt),
                "of 10 ms",
            ),
            highlight(
                "Largest error",
                "+14",
                "%",
                Some(Label::Predicted),
                "model as printed",
            ),
        ],
        sections: vec![sweep(), traces(rng), friendliness(rng)],
        provenance: Provenance {
            facts: vec![
                (
                    "Command".into(),
                    "trammel run scalable.toml -o scalable".into(),
                ),
                ("Version".into(), "0.1.0".into()),
                ("Seeds".into(), "1 to 10".into()),
                ("Machine".into(), "2 × 2.4 GHz, Linux 6.12".into()),
            ],
            scenario: "title = \"Scalable <b>TCP</b> against NewReno\"\n\
                       subject = \"transport\"\n"
                .into(),
        },
    }
}

#[test]
fn a_report_is_one_small_repeatable_page_that_fetches_nothing() {
    let html = demo().to_html();
    assert_eq!(html, demo().to_html());
    assert!(html.len() < 1_000_000, "{} bytes", html.len());
    // The names of XML's vocabularies are no addresses; uPlot's notice names its home.
    let known = [
        "http://www.w3.org/2000/svg",
        "https://github.com/leeoniya/uPlot",
    ];
    let bare = known
        .iter()
        .fold(html.clone(), |text, name| text.replace(name, ""));
    assert!(!bare.contains("://"), "an address in the page");
    assert!(!html.contains("<b>TCP</b>"), "the scenario is escaped");
}

#[test]
fn ids_are_unique_and_provenance_is_last() {
    let html = demo().to_html();
    let body = &html[html.find("<main>").unwrap()..html.find("</main>").unwrap()];
    let ids = body
        .split(" id=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap());
    let mut ids: Vec<_> = ids.collect();
    assert_eq!(ids.last(), Some(&"provenance"));
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count);
}

#[test]
fn provenance_alone_may_differ_between_identical_runs() {
    let mut later = demo();
    later
        .provenance
        .facts
        .push(("Wall time".into(), "12 s".into()));
    let (first, second) = (demo().to_html(), later.to_html());
    let cut = |html: &str| {
        let from = html.find("<section id=\"provenance\">").unwrap();
        let to = from + html[from..].find("</section>").unwrap();
        format!("{}{}", &html[..from], &html[to..])
    };
    assert_ne!(first, second);
    assert_eq!(cut(&first), cut(&second));
}

#[test]
fn a_report_of_many_long_series_stays_below_three_megabytes() {
    let mut report = demo();
    let rng = &mut Rng::new(1, "long");
    let figures = (0..24).map(|i| {
        let axes = (Axis::linear("time", "s"), Axis::linear("cwnd", "packets"));
        let figure = Figure::new(&format!("many-{i}"), "Window", axes.0, axes.1);
        (0..10).fold(figure, |figure, j| {
            let points = sawtooth(rng, 5_000, 0.1, 0.7, 100.0);
            figure.with(Series::new(format!("flow {j}"), Mark::Step, points))
        })
    });
    report.sections[0].blocks.extend(figures.map(Block::Figure));
    let size = report.to_html().len();
    assert!(size < 3_000_000, "{size} bytes");
}

#[test]
fn a_run_folder_holds_the_report_and_its_figures() {
    let temporary = tempfile::tempdir().unwrap();
    let target = std::env::var_os("TRAMMEL_REPORT_DIR")
        .map_or_else(|| temporary.path().join("run"), PathBuf::from);
    let report = demo();
    let mut folder = RunFolder::create(&target).unwrap();
    for (id, svg) in report.figures() {
        assert!(
            svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"),
            "{id}"
        );
        folder.write_figure(&id, &svg).unwrap();
    }
    folder.write_report(&report.to_html()).unwrap();
    let info = RunInfo {
        seeds: (1..=10).collect(),
        ..RunInfo::default()
    };
    let path = folder.finish(&info).unwrap();
    let written = std::fs::read_to_string(path.join("report.html")).unwrap();
    assert_eq!(written, report.to_html());
    assert!(path.join("figures/friendliness.svg").exists());
    assert_eq!(read_info(&path), Some(info));
}
