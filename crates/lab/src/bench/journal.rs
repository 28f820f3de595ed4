//! The journal of a run: every trial as it ends, in a file, so that an interrupted run goes on where it stopped.
//!
//! Tests are functions of what their trials say, so a run that is begun again asks for the same trials in the same order.
//! Those that the journal has are answered from it; the first that it lacks is made. A trial that another version or other
//! settings ask for ends the likeness: from there on all trials are made. The journal stands beside the run folder, hidden,
//! and goes when the run is whole.
//!
//! ```text
//! {"version":…,"command":…}                                  the first line: whose journal it is
//! {"device":…,"traffic":…,"plan":…,"observed":{…}}           one line for each trial
//! ```

use super::beds::self_test::SelfTest;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use trammel_bench::testbed::{Faults, Observation, Outage, Plan, Traffic, Variation};
use trammel_bench::trial::Outcome;
use trammel_core::histogram::{Contents, Histogram};
use trammel_core::time::Time;

/// A histogram: lowest, highest, digits; counts; sum; least, greatest; clamped.
type Kept = ((u64, u64, u8), Vec<(u64, u32)>, String, (u64, u64), u64);

/// The first line.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Head {
    version: String,
    settings: String,
    /// What the tester measured of itself, by which searches begin.
    tester: Option<SelfTest>,
}

/// A trial.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    device: String,
    traffic: String,
    plan: String,
    observed: Observed,
}

/// An observation, times in picoseconds.
#[derive(Debug, Serialize, Deserialize)]
struct Observed {
    offered: u64,
    forwarded: u64,
    effective: u64,
    latency: Option<Kept>,
    /// Duplicated, reordered, corrupted, stray.
    faults: [u64; 4],
    last_lost: Option<u64>,
    /// From, to, frames.
    outage: Option<[u64; 3]>,
    /// Less and more.
    variation: Option<(Kept, Kept)>,
    tagged: Vec<u64>,
    came_after: Option<u64>,
}

/// The journal of a run.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: File,
    /// Trials that were not asked for yet, each with where its line ends.
    known: VecDeque<(Line, u64)>,
    /// Where the last line ends that is of this run.
    end: u64,
}

impl Journal {
    /// The journal of a run into the folder `out`. That of an interrupted run is read where its `settings` are the same and
    /// begun anew elsewhere.
    pub(super) fn open(
        out: &Path,
        settings: &str,
        tester: Option<&SelfTest>,
    ) -> io::Result<Journal> {
        let path = path(out)?;
        let head = Head {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            settings: settings.to_owned(),
            tester: tester.cloned(),
        };
        if let Some((end, known)) = read(&path, &head) {
            let file = File::options().append(true).open(&path)?;
            // What a killed process left half written is cut off.
            file.set_len(known.back().map_or(end, |(_, end)| *end))?;
            return Ok(Journal {
                path,
                file,
                known,
                end,
            });
        }
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        File::create(&path)?;
        let mut file = File::options().append(true).open(&path)?;
        let end = write(&mut file, &head)?;
        Ok(Journal {
            path,
            file,
            known: VecDeque::new(),
            end,
        })
    }

    /// Trials that it has and that were not asked for yet.
    pub(super) fn kept(&self) -> usize {
        self.known.len()
    }

    /// What came of the trial, where it was made before.
    pub(super) fn answer(
        &mut self,
        device: &str,
        traffic: &Traffic,
        plan: &Plan,
    ) -> io::Result<Option<Observation>> {
        let Some((next, end)) = self.known.pop_front() else {
            return Ok(None);
        };
        let is_same = next.device == device
            && next.traffic == format!("{traffic:?}")
            && next.plan == format!("{plan:?}");
        if !is_same {
            self.known.clear();
            self.file.set_len(self.end)?;
            return Ok(None);
        }
        self.end = end;
        Ok(Some(next.observed.back()))
    }

    /// Writes down a trial that was made.
    pub(super) fn add(
        &mut self,
        device: &str,
        traffic: &Traffic,
        plan: &Plan,
        observed: &Observation,
    ) -> io::Result<()> {
        let line = Line {
            device: device.to_owned(),
            traffic: format!("{traffic:?}"),
            plan: format!("{plan:?}"),
            observed: Observed::of(observed),
        };
        self.end += write(&mut self.file, &line)?;
        Ok(())
    }

    /// Removes it: the run is whole.
    pub(super) fn close(self) -> io::Result<()> {
        fs::remove_file(&self.path)
    }
}

/// Where the journal of a run into the folder `out` is.
fn path(out: &Path) -> io::Result<PathBuf> {
    let out = std::path::absolute(out)?;
    let name = out.file_name().unwrap_or(out.as_os_str());
    Ok(out.with_file_name(format!(".{}.trials.jsonl", name.to_string_lossy())))
}

/// What the tester measured of itself before an interrupted run into the folder `out`, if there was one.
pub fn tester(out: &Path) -> Option<SelfTest> {
    let mut first = String::new();
    let file = File::open(path(out).ok()?).ok()?;
    BufReader::new(file).read_line(&mut first).ok()?;
    let head: Head = serde_json::from_str(&first).ok()?;
    head.tester
}

/// Writes a line; its bytes.
fn write(file: &mut File, line: &impl Serialize) -> io::Result<u64> {
    let mut text = serde_json::to_string(line)?;
    text.push('\n');
    // One write, so that a line is there as a whole or is the last.
    file.write_all(text.as_bytes())?;
    Ok(text.len() as u64)
}

/// Where the first line ends of a journal that has this head, and its whole trials, each with where its line ends.
fn read(path: &Path, head: &Head) -> Option<(u64, VecDeque<(Line, u64)>)> {
    let mut reader = BufReader::new(File::open(path).ok()?);
    let mut text = String::new();
    let first = reader.read_line(&mut text).ok()? as u64;
    let known: Head = serde_json::from_str(&text).ok()?;
    if known != *head || !text.ends_with('\n') {
        return None;
    }
    let (mut end, mut lines) = (first, VecDeque::new());
    loop {
        text.clear();
        let bytes = reader.read_line(&mut text).ok()?;
        match serde_json::from_str(&text) {
            Ok(line) if text.ends_with('\n') => {
                end += bytes as u64;
                lines.push_back((line, end));
            }
            _ => return Some((first, lines)),
        }
    }
}

impl Observed {
    fn of(observed: &Observation) -> Observed {
        let Observation {
            outcome,
            faults,
            last_lost,
            outage,
            variation,
            tagged,
            came_after,
        } = observed;
        Observed {
            offered: outcome.offered,
            forwarded: outcome.forwarded,
            effective: outcome.effective.as_ps(),
            latency: outcome.latency.as_ref().map(kept),
            faults: [
                faults.duplicated,
                faults.reordered,
                faults.corrupted,
                faults.stray,
            ],
            last_lost: last_lost.map(Time::as_ps),
            outage: outage.map(|o| [o.from.as_ps(), o.to.as_ps(), o.lost]),
            variation: variation.as_ref().map(|v| (kept(&v.less), kept(&v.more))),
            tagged: tagged.iter().map(|time| time.as_ps()).collect(),
            came_after: *came_after,
        }
    }

    fn back(self) -> Observation {
        let [duplicated, reordered, corrupted, stray] = self.faults;
        Observation {
            outcome: Outcome {
                offered: self.offered,
                forwarded: self.forwarded,
                effective: Time::from_ps(self.effective),
                latency: self.latency.map(histogram),
            },
            faults: Faults {
                duplicated,
                reordered,
                corrupted,
                stray,
            },
            last_lost: self.last_lost.map(Time::from_ps),
            outage: self.outage.map(|[from, to, lost]| Outage {
                from: Time::from_ps(from),
                to: Time::from_ps(to),
                lost,
            }),
            variation: self.variation.map(|(less, more)| Variation {
                less: histogram(less),
                more: histogram(more),
            }),
            tagged: self.tagged.into_iter().map(Time::from_ps).collect(),
            came_after: self.came_after,
        }
    }
}

fn kept(histogram: &Histogram) -> Kept {
    let Contents {
        shape,
        counts,
        sum,
        ends,
        clamped,
    } = histogram.contents();
    // JSON's numbers end at 64 bits with many readers.
    (shape, counts, sum.to_string(), ends, clamped)
}

fn histogram((shape, counts, sum, ends, clamped): Kept) -> Histogram {
    let sum = sum.parse().unwrap_or_default();
    Histogram::of_contents(&Contents {
        shape,
        counts,
        sum,
        ends,
        clamped,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_bench::frames::Sizes;
    use trammel_bench::trial::Load;

    fn observation() -> Observation {
        let mut latency = Histogram::of_times();
        latency.record_time(Time::from_us(17));
        Observation {
            outcome: Outcome {
                offered: 10,
                forwarded: 7,
                effective: Time::from_ms(3),
                latency: Some(latency.clone()),
            },
            faults: Faults {
                duplicated: 1,
                reordered: 2,
                corrupted: 3,
                stray: 4,
            },
            last_lost: Some(Time::from_us(5)),
            outage: Some(Outage {
                from: Time::from_us(1),
                to: Time::from_us(2),
                lost: 3,
            }),
            variation: Some(Variation {
                less: latency.clone(),
                more: latency,
            }),
            tagged: vec![Time::from_us(6)],
            came_after: Some(5),
        }
    }

    /// All of an observation; of histograms what they hold, for they keep it in more than one way.
    fn told(of: &Observation) -> String {
        let latency = of.outcome.latency.as_ref().map(Histogram::contents);
        let variation = of.variation.as_ref();
        let variation = variation.map(|of| (of.less.contents(), of.more.contents()));
        let Outcome {
            offered,
            forwarded,
            effective,
            ..
        } = of.outcome;
        let counts = (offered, forwarded, effective, of.faults, of.came_after);
        let times = (of.last_lost, of.outage, &of.tagged);
        format!("{counts:?} {latency:?} {variation:?} {times:?}")
    }

    fn plan(fps: f64) -> Plan {
        Plan::of(&[Load::new(fps, Time::from_secs(1)).unwrap()])
    }

    #[test]
    fn an_interrupted_run_is_answered_from_its_journal() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("run");
        let traffic = Traffic::of(Sizes::of(64).unwrap());
        let mut journal = Journal::open(&out, "a", None).unwrap();
        assert_eq!(journal.kept(), 0);
        for fps in [1e3, 2e3, 3e3] {
            journal
                .add("d", &traffic, &plan(fps), &observation())
                .unwrap();
        }
        // A process that was killed while it wrote.
        write!(journal.file, "{{\"device\":\"d\",").unwrap();
        drop(journal);
        let mut journal = Journal::open(&out, "a", None).unwrap();
        assert_eq!(journal.kept(), 3);
        let mut answer = |fps| journal.answer("d", &traffic, &plan(fps)).unwrap();
        let back = answer(1e3).unwrap();
        assert_eq!(told(&back), told(&observation()));
        // What it lacks is made, and so is all that follows.
        assert!(answer(9e3).is_none());
        assert!(answer(3e3).is_none());
        journal
            .add("d", &traffic, &plan(9e3), &observation())
            .unwrap();
        drop(journal);
        let mut journal = Journal::open(&out, "a", None).unwrap();
        assert_eq!(journal.kept(), 2);
        for fps in [1e3, 9e3] {
            assert!(journal.answer("d", &traffic, &plan(fps)).unwrap().is_some());
        }
        drop(journal);
        // Other settings, another journal.
        let journal = Journal::open(&out, "b", None).unwrap();
        assert_eq!(journal.kept(), 0);
        journal.close().unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
