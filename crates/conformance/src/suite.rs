//! The suites: their cases, and all of them judged at once.

use crate::case::Case;
use crate::reader::Fault;
use crate::subject::Subject;
use crate::verdict::{Judged, judge};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use trammel_transport::points::Watch;

/// The files of all cases: `bbr/01-startup-plateau`, and the text.
static FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/cases.rs"));

/// A suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suite {
    /// Its name: `bbr`.
    pub name: &'static str,
    /// What it judges by.
    pub source: &'static str,
    /// The variant that is judged where none is named: the first of these that there is.
    pub variants: &'static [&'static str],
}

/// All suites.
pub const SUITES: [Suite; 4] = [
    Suite {
        name: "bbr",
        source: "draft-ietf-ccwg-bbr, BBR Example Test Cases (commit 4ce5e87, 2026-08-03)",
        variants: &["bbr3", "bbr"],
    },
    Suite {
        name: "cubic",
        source: "RFC 9438",
        variants: &["cubic"],
    },
    Suite {
        name: "prague",
        source: "RFC 9331 §4, the Prague L4S requirements",
        variants: &["prague", "dctcp"],
    },
    Suite {
        name: "tcp",
        source: "RFC 5681, RFC 6298, RFC 6675",
        variants: &["reno"],
    },
];

impl Suite {
    /// The suite called `name`.
    pub fn find(name: &str) -> Option<Suite> {
        SUITES.into_iter().find(|suite| suite.name == name)
    }

    /// The variant that is judged where none is named.
    pub fn usual(&self) -> &'static str {
        let mut known = self.variants.iter();
        let first = known.find(|name| trammel_tcp::cc::find(name).is_some());
        first.copied().unwrap_or("reno")
    }

    /// Its cases, by name.
    pub fn cases(&self) -> Result<Vec<Case>, Fault> {
        let own = FILES.iter().filter_map(|(file, text)| {
            let (suite, name) = file.split_once('/')?;
            (suite == self.name).then(|| Case::read(suite, name, text))
        });
        own.collect()
    }
}

/// Judges `subject` in all of `cases`, over `threads` threads. In the order of the cases; those
/// that an interrupt left out are missing.
pub fn judge_all<'a>(
    cases: &'a [Case],
    subject: &Subject,
    is_on_path: bool,
    threads: usize,
    watch: &dyn Watch,
) -> anyhow::Result<Vec<Judged<'a>>> {
    let next = AtomicUsize::new(0);
    let made = Mutex::new(Vec::new());
    let work = || {
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            if watch.is_interrupted() {
                break;
            }
            let judged = judge(case, subject, is_on_path, watch);
            let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
            made.push((case.name.as_str(), judged));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.clamp(1, cases.len().max(1)) {
            scope.spawn(work);
        }
        work();
    });
    let mut made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
    made.sort_by_key(|(name, _)| *name);
    made.into_iter().map(|(_, judged)| judged).collect()
}
