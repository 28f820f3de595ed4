//! What a function costs: numbers of the file, a profile beside it, or the estimator's answer.

use super::estimator::{Estimated, Estimator, Question};
use crate::faults::Context;
use crate::reader::Reader;
use crate::tree::Extent;
use std::path::PathBuf;
use trammel_cost::capacity_profile::{CapacityProfile, Outside};
use trammel_cost::place::model::{Interval, Table, Work};

/// A function of a placement file.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Where its costs come from.
    source: Source,
    /// Where the file names that source.
    span: Extent,
    flows: u64,
    routes: u64,
    outside: Outside,
    /// What the file says besides the cycles.
    table: Table,
    memory_bytes: f64,
}

#[derive(Clone, Debug)]
enum Source {
    /// Numbers.
    Cycles(Interval),
    /// Rates; the file is kept for messages.
    Profile(Box<CapacityProfile>),
    /// A function of a paper.
    Paper(String),
    /// A Click file.
    Click(PathBuf),
}

/// On what a function runs, and with which frames.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting<'a> {
    pub(super) frame_bytes: u32,
    pub(super) machine: Option<&'a str>,
    pub(super) clock_hz: f64,
}

/// Reads one `[[function]]`; nothing after a fault.
pub(super) fn read(r: &Reader<'_>) -> Option<Function> {
    let name = r.text("name");
    let given: Vec<&str> = ["cycles", "profile", "paper", "click"]
        .into_iter()
        .filter(|key| r.entry(key).is_some())
        .collect();
    let cycles = r.interval("cycles");
    let (profile, paper, click) = (r.text("profile"), r.text("paper"), r.text("click"));
    let (flows, routes, clamp) = (r.whole("flows"), r.whole("routes"), r.flag("clamp"));
    let (accesses, hot, memory) = (r.number("accesses"), r.number("hot"), r.number("memory"));
    let [key] = given.as_slice() else {
        let of = name.as_deref().unwrap_or_default();
        let (what, span) = match given.get(1) {
            None => (format!("function `{of}` has no costs"), r.span.clone()),
            Some(second) => (
                format!("function `{of}` has two costs"),
                r.entry(second)?.span.clone(),
            ),
        };
        let help = "give one of `cycles`, `profile`, `paper` and `click`";
        let why = match given.as_slice() {
            [first, second, ..] => format!("`{first}` and `{second}`"),
            _ => "the cost of a packet is missing".to_owned(),
        };
        r.cx.fault(&span, what, why, help);
        return None;
    };
    let span = r.entry(key)?.node.span.clone();
    let source = match *key {
        "cycles" => {
            let [low, centre, high] = cycles?;
            if high <= 0.0 {
                r.cx.fault(
                    &span,
                    "`function.cycles` cannot be 0",
                    "every packet takes time",
                    "give more than zero",
                );
                return None;
            }
            Source::Cycles(Interval { low, centre, high })
        }
        "profile" => Source::Profile(Box::new(profile_at(r.cx, &profile?, &span)?)),
        "paper" => Source::Paper(paper?),
        _ => Source::Click(r.cx.dir.join(click?)),
    };
    Some(Function {
        name: name?,
        source,
        span,
        flows: flows? as u64,
        routes: routes? as u64,
        outside: if clamp? {
            Outside::Clamp
        } else {
            Outside::Refuse
        },
        table: Table {
            accesses: accesses?,
            hot_bytes: hot?,
        },
        memory_bytes: memory?,
    })
}

/// The profile in `file`; its faults are told on the line that names it.
fn profile_at(cx: &Context<'_>, file: &str, span: &Extent) -> Option<CapacityProfile> {
    let path = cx.dir.join(file);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => {
            let what = format!("profile `{file}` cannot be read");
            let help = format!("files are looked for beside this one: `{}`", path.display());
            cx.fault(span, what, error.to_string(), help);
            return None;
        }
    };
    match CapacityProfile::parse(&text) {
        Ok(profile) => Some(profile),
        Err(faults) => {
            for fault in faults {
                let line = 1 + text[..fault.span.start.min(text.len())]
                    .matches('\n')
                    .count();
                let what = format!("{}:{line}: {}", path.display(), fault.what);
                cx.fault(span, what, fault.why, fault.help);
            }
            None
        }
    }
}

impl Function {
    /// What a packet costs in `setting`; a fault where that is not known.
    pub(super) fn work(
        &self,
        cx: &Context<'_>,
        setting: Setting<'_>,
        estimator: &dyn Estimator,
    ) -> Option<Work> {
        let own = |cycles| Work {
            cycles,
            tables: Vec::from_iter((self.table.accesses > 0.0).then_some(self.table)),
            memory_bytes: self.memory_bytes,
        };
        let function = match &self.source {
            Source::Cycles(cycles) => return Some(own(*cycles)),
            Source::Profile(profile) => {
                let frame = u64::from(setting.frame_bytes);
                let cycles = profile.cycles(frame, self.flows, self.routes, self.outside);
                return match cycles {
                    Ok(cycles) => Some(own(cycles)),
                    Err(error) => {
                        let what = format!("function `{}` has no rate here", self.name);
                        let help = "measure it there, or set `clamp = true`";
                        let why = format!(
                            "{} = {} is outside its profile, {} to {}",
                            error.axis, error.asked, error.low, error.high
                        );
                        cx.fault(&self.span, what, why, help);
                        None
                    }
                };
            }
            Source::Paper(name) => Estimated::Paper(name),
            Source::Click(path) => Estimated::Click(path),
        };
        let question = Question {
            function,
            frame_bytes: setting.frame_bytes,
            flows: self.flows,
            routes: self.routes,
            machine: setting.machine,
            clock_hz: setting.clock_hz,
        };
        match estimator.work(&question) {
            Ok(work) => Some(work.plus(&Work {
                memory_bytes: self.memory_bytes,
                ..Work::default()
            })),
            Err(none) => {
                let what = format!("function `{}` cannot be estimated", self.name);
                cx.fault(&self.span, what, none.why, none.help);
                None
            }
        }
    }
}
