//! Engine `measure` where there is no Linux: nothing measures flows, which is noted.

use super::run_options::RunOptions;
use super::run_tables::RunTables;
use std::path::Path;
use trammel_core::label::Label;
use trammel_scenario::File;
use trammel_scenario::model::{Engine, Scenario};

/// There is none.
#[derive(Debug)]
pub(super) enum Instrument {}

pub(super) fn instrument(
    _file: &File,
    options: &RunOptions,
    notes: &mut Vec<String>,
    lacks: &mut Option<String>,
    _interrupted: &(dyn Fn() -> bool + Sync),
) -> anyhow::Result<Option<Instrument>> {
    if options.engines.contains(&Engine::Measure) {
        let what = "engine `measure` needs Linux; the other engines still run".to_owned();
        notes.push(what.clone());
        *lacks = Some(what);
    }
    Ok(None)
}

/// What measured numbers would be called.
pub(super) fn label(_: &Scenario) -> Label {
    Label::LinuxVt
}

impl Instrument {
    pub(super) fn warnings(&self) -> Vec<String> {
        match *self {}
    }

    pub(super) fn facts(&self, _: &File) -> Vec<(String, String)> {
        match *self {}
    }

    pub(super) fn key(&self, _: &Scenario, _: u64) -> String {
        match *self {}
    }

    pub(super) fn measure(
        &self,
        _: &Scenario,
        _: u64,
        _: bool,
        _: Option<(&Path, &str)>,
        _: &(dyn Fn() -> bool + Sync),
    ) -> anyhow::Result<RunTables> {
        match *self {}
    }
}
