//! The folder of a command without a scenario: tables, files, and a page with all of them.

use crate::provenance::provenance;
use crate::run_folder::{RunFolder, RunInfo};
use crate::{Answer, Block, Note, NoteKind, Report, Section, TableView};
use std::path::PathBuf;
use trammel_ground::machine;
use trammel_stats::table::Table;

/// What a command without a scenario has found, for its folder.
#[derive(Debug)]
pub struct Found {
    /// What it is about.
    pub title: String,
    /// The question that it answers.
    pub question: &'static str,
    /// The answer.
    pub answer: Answer,
    /// What a reader must know.
    pub notes: Vec<String>,
    /// The charts.
    pub charts: Vec<Block>,
    /// The tables, each with its heading.
    pub tables: Vec<(&'static str, Table)>,
    /// Other files: name and contents.
    pub files: Vec<(&'static str, String)>,
    /// The file that was read, and its text.
    pub source: (String, String),
}

/// Writes the folder: tables, files, and a page with all of them. Returns the page's path.
pub fn write(mut folder: RunFolder, found: &Found) -> anyhow::Result<PathBuf> {
    for (_, table) in &found.tables {
        folder.write_table(table)?;
    }
    found.write_files(&mut folder)?;
    let (scenario, scenario_text) = found.source.clone();
    let info = RunInfo {
        command: std::env::args().collect(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        scenario,
        scenario_text,
        machine: machine::facts(),
        started: machine::now(),
        ..RunInfo::default()
    };
    folder.write_page(&found.report(&info))?;
    Ok(folder.finish(&info)?.join("report.html"))
}

impl Found {
    /// Writes the files that are no tables.
    pub fn write_files(&self, folder: &mut RunFolder) -> anyhow::Result<()> {
        for (name, text) in &self.files {
            folder.write(name, text.as_bytes())?;
        }
        Ok(())
    }

    /// The page.
    pub fn report(&self, info: &RunInfo) -> Report {
        let note = |text: &String| {
            // On the terminal the text says itself what it is.
            let (kind, text) = match text.strip_prefix("note: ") {
                Some(rest) => (NoteKind::Info, rest.to_owned()),
                None => (NoteKind::Warning, text.clone()),
            };
            Block::Note(Note { kind, text })
        };
        let table = |(title, table): &(&str, Table)| {
            Block::Table(TableView {
                title: (*title).to_owned(),
                table: table.clone(),
                is_open: true,
            })
        };
        let notes = self.notes.iter().map(note);
        let tables = self.tables.iter().map(table);
        let subject = vec![("file".to_owned(), info.scenario.clone())];
        Report {
            title: self.title.clone(),
            question: self.question.to_owned(),
            answer: self.answer.clone(),
            sections: vec![Section {
                heading: "Results".to_owned(),
                blocks: notes
                    .chain(self.charts.iter().cloned())
                    .chain(tables)
                    .collect(),
                ..Section::default()
            }],
            provenance: provenance(info, subject),
            ..Report::default()
        }
    }
}
