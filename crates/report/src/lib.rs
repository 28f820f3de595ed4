//! Reports: one self-contained HTML page that answers one question.
//!
//! A [`Report`] is plain data; [`Report::to_html`] renders it. The page needs no network: style,
//! script and data are in it. Every figure stands in it twice, as data for the interactive plot and
//! as an SVG that is shown in print and where scripts are off; [`Report::figures`] gives the same
//! SVGs as files.
//!
//! ```text
//! Report ── title, question, answer (one sentence and its number), highlights
//!   └─ Section ── heading, text
//!        └─ Block ── Figure │ Dots │ HeatMap │ Graph │ Comparison │ Table │ Note │ Choice ── Block
//!   └─ Provenance ── who, what, when: the only part that may differ between two identical runs
//! ```
//!
//! The same report gives the same bytes. All text is escaped. Numbers come with a [`Label`] that
//! says which engine or source they are of, and each label has one colour everywhere.
#![forbid(unsafe_code)]

mod axis;
mod canvas;
pub mod compare;
pub mod comparison;
pub mod decimate;
mod describe;
pub mod dots;
pub mod figure;
pub mod found;
pub mod graph;
pub mod heat_map;
mod html;
pub mod kept;
pub mod label;
pub mod live;
mod markup;
pub mod parquet;
pub mod provenance;
pub mod run;
pub mod run_folder;
pub mod store;
mod svg;
mod table_view;
pub mod terminal;
pub mod ticks;
pub mod units;
pub mod words;

use std::collections::BTreeSet;

use comparison::Comparison;
use dots::DotPlot;
use figure::Figure;
use graph::Graph;
use heat_map::HeatMap;
use trammel_core::label::Label;
use trammel_stats::table::Table;

/// A whole report.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The title, also of the browser's tab.
    pub title: String,
    /// The question that the run was made to answer.
    pub question: String,
    /// The answer.
    pub answer: Answer,
    /// A few key figures, shown as a strip below the answer.
    pub highlights: Vec<Highlight>,
    /// The body.
    pub sections: Vec<Section>,
    /// Where the numbers come from.
    pub provenance: Provenance,
}

/// The answer in one sentence, with its number.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The number with its unit, shown large: `93 %`. May be empty.
    pub number: String,
    /// The sentence.
    pub sentence: String,
    /// Where the number is from.
    pub label: Option<Label>,
}

impl Answer {
    /// The answer of a part of the runs, behind a sentence on what is missing: whoever reads it
    /// alone must not take a part for the whole.
    #[must_use]
    pub fn preliminary(mut self, missing: String) -> Answer {
        self.sentence = if self.sentence.is_empty() {
            missing
        } else {
            format!("{missing} Preliminary: {}", self.sentence)
        };
        self
    }
}

/// One key figure.
#[derive(Clone, Debug, Default)]
pub struct Highlight {
    /// What it is: `bottleneck use`.
    pub name: String,
    /// The value: `98.7`.
    pub value: String,
    /// The unit: `%`.
    pub unit: String,
    /// Where it is from.
    pub label: Option<Label>,
    /// A few words of context: `of 1 Gbit/s, over ten repeats`.
    pub note: String,
}

/// A part of the body under one heading.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// The heading; also the entry in the contents.
    pub heading: String,
    /// A paragraph under it; an empty line begins another.
    pub text: String,
    /// What stands below, in order. Neighbouring figures that are not wide share a row.
    pub blocks: Vec<Block>,
}

/// A piece of a section.
#[derive(Clone, Debug)]
pub enum Block {
    /// A plot.
    Figure(Figure),
    /// Named rows with marks.
    Dots(DotPlot),
    /// A matrix of numbers as colours.
    HeatMap(HeatMap),
    /// A network as a drawing.
    Graph(Graph),
    /// Engines and published numbers side by side.
    Comparison(Comparison),
    /// A table as it is.
    Table(TableView),
    /// A remark that a reader must not miss.
    Note(Note),
    /// Alternatives of which one is looked at.
    Choice(Choice),
}

/// Alternatives of which one is looked at: the points of a sweep. On paper and without scripts all
/// are shown.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// What is chosen: `point`.
    pub name: String,
    /// The alternatives by name, the first one shown at first.
    pub options: Vec<(String, Vec<Block>)>,
}

/// A table shown in a report.
#[derive(Clone, Debug)]
pub struct TableView {
    /// The heading.
    pub title: String,
    /// The rows; the page shows at most [`TableView::MAX_ROWS`] of them.
    pub table: Table,
    /// Whether it is unfolded at first.
    pub is_open: bool,
}

impl TableView {
    /// Rows shown in a page; the others are in the run folder, and the page says so.
    pub const MAX_ROWS: usize = 300;
}

/// A remark.
#[derive(Clone, Debug)]
pub struct Note {
    /// How weighty it is.
    pub kind: NoteKind,
    /// The text.
    pub text: String,
}

/// How weighty a remark is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteKind {
    /// Good to know.
    Info,
    /// The numbers need care: an engine did not run, a model is outside its range.
    Warning,
    /// Said of a mark in the block before: a reason that several rows share.
    Footnote,
}

/// Where the numbers come from.
#[derive(Clone, Debug, Default)]
pub struct Provenance {
    /// Facts by name, in order: command, version, machine, seeds, wall time.
    pub facts: Vec<(String, String)>,
    /// The scenario's text.
    pub scenario: String,
}

impl Report {
    /// The page.
    pub fn to_html(&self) -> String {
        self.to_html_beside(&BTreeSet::new())
    }

    /// The page in a folder that holds `files`: it links to its tables among them.
    pub(crate) fn to_html_beside(&self, files: &BTreeSet<String>) -> String {
        html::render(self, files, false)
    }

    /// The page while its run goes on, which asks who serves it for more.
    pub(crate) fn to_live_html(&self) -> String {
        html::render(self, &BTreeSet::new(), true)
    }

    /// Every block, those of alternatives among them.
    pub fn blocks(&self) -> Vec<&Block> {
        fn all<'a>(blocks: &'a [Block], into: &mut Vec<&'a Block>) {
            for block in blocks {
                into.push(block);
                if let Block::Choice(choice) = block {
                    choice.options.iter().for_each(|(_, of)| all(of, into));
                }
            }
        }
        let mut found = Vec::new();
        for section in &self.sections {
            all(&section.blocks, &mut found);
        }
        found
    }

    /// Every figure, heat map and graph as `(id, SVG text)`, for `figures/<id>.svg`.
    pub fn figures(&self) -> Vec<(String, String)> {
        let blocks = self.blocks().into_iter();
        blocks
            .filter_map(|block| match block {
                Block::Figure(figure) => Some((figure.id.clone(), figure.to_svg())),
                Block::Dots(plot) => Some((plot.id.clone(), plot.to_svg())),
                Block::HeatMap(map) => Some((map.id.clone(), map.to_svg())),
                Block::Graph(graph) => Some((graph.id.clone(), graph.to_svg())),
                _ => None,
            })
            .collect()
    }
}
