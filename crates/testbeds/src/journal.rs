//! The journal of a run: every trial as it ends, in a file, so that an interrupted run goes on
//! where it stopped.
//!
//! Tests are functions of what their trials say, so a run that is begun again asks for the same
//! trials in the same order. Those that the journal has are answered from it; the first that it
//! lacks is made. A trial that is another one than that which is asked for ends the likeness: from
//! there on all trials are made. The journal stands beside the run folder, hidden, and goes when
//! the run is whole.
//!
//! ```text
//! {"build":…,"inputs":…,"settings":…}                               the first line: whose journal it is
//! {"sum":…,"line":{"device":…,"traffic":…,"plan":…,"observed":…}}   one line for each trial
//! ```
//! The journal of another build, of other files ([`trammel_workbench::inputs`]) or settings is not
//! this run's. Each line has the checksum of all up to it: what was changed since it was written
//! ends the likeness too.

use super::beds::self_test::SelfTest;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use trammel_bench::testbed::{Faults, Observation, Outage, Plan, Traffic, Variation};
use trammel_bench::trial::TrialOutcome;
use trammel_core::time::{Span, Time};
use trammel_ground::identity;
use trammel_ground::own_file;
use trammel_ground::say;
use trammel_stats::histogram::{Contents, Histogram};

/// A histogram: lowest, highest, digits; counts; sum; least, greatest; clamped.
type Kept = ((u64, u64, u8), Vec<(u64, u32)>, String, (u64, u64), u64);

/// Whose a journal is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    /// The build of the program.
    build: String,
    /// The checksum of all that decides what trials come to: [`trammel_workbench::inputs`].
    inputs: String,
}

impl Identity {
    /// Of this program with these inputs.
    pub fn of(inputs: &str) -> Identity {
        Identity {
            build: identity::of_program().to_owned(),
            inputs: inputs.to_owned(),
        }
    }
}

/// The first line.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Head {
    identity: Identity,
    settings: String,
    /// What the tester measured of itself, by which searches begin.
    tester: Option<SelfTest>,
}

/// A trial, and the checksum of all lines up to it.
#[derive(Debug, Serialize, Deserialize)]
struct Sealed {
    sum: String,
    line: Line,
}

/// The checksum of a line behind one whose checksum is `before`.
fn seal(before: &str, line: &Line) -> String {
    let text = serde_json::to_string(line).expect("plain data has a JSON form");
    trammel_ground::sha256::of(format!("{before} {text}"))
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
    /// Frames that the tester sent too close together, by how much the latest was late, the most at
    /// once, how long it sent.
    tester: (u64, Option<u64>, Option<u64>, Option<u64>),
}

/// The journal of a run.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: File,
    /// Trials that were not asked for yet, each with where its line ends.
    known: VecDeque<(Sealed, u64)>,
    /// Where the last line ends that is of this run, and its checksum.
    end: u64,
    sum: String,
}

impl Journal {
    /// The journal of a run into the folder `out`. That of an interrupted run is read where its
    /// `identity` and `settings` are the same and begun anew elsewhere.
    pub(super) fn open(
        out: &Path,
        identity: &Identity,
        settings: &str,
        tester: Option<&SelfTest>,
    ) -> io::Result<Journal> {
        let path = path(out)?;
        let head = Head {
            identity: identity.clone(),
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
                sum: String::new(),
            });
        }
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        let mut file = own_file::create(&path)?;
        let end = write(&mut file, &head)?;
        Ok(Journal {
            path,
            file,
            known: VecDeque::new(),
            end,
            sum: String::new(),
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
        let Some((Sealed { sum, line: next }, end)) = self.known.pop_front() else {
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
        (self.end, self.sum) = (end, sum);
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
        let sealed = Sealed {
            sum: seal(&self.sum, &line),
            line,
        };
        self.end += write(&mut self.file, &sealed)?;
        self.sum = sealed.sum;
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

/// What the tester measured of itself before an interrupted run of this `identity` into the folder
/// `out`, if there was one.
pub fn tester(out: &Path, identity: &Identity) -> Option<SelfTest> {
    let path = path(out).ok().filter(|path| own_file::is_own(path))?;
    let mut first = String::new();
    BufReader::new(File::open(path).ok()?)
        .read_line(&mut first)
        .ok()?;
    let head: Head = serde_json::from_str(&first).ok()?;
    head.tester.filter(|_| head.identity == *identity)
}

/// Writes a line; its bytes.
fn write(file: &mut File, line: &impl Serialize) -> io::Result<u64> {
    let mut text = serde_json::to_string(line)?;
    text.push('\n');
    // One write, so that a line is there as a whole or is the last.
    file.write_all(text.as_bytes())?;
    Ok(text.len() as u64)
}

/// Where the first line ends of a journal that has this head, and its whole trials, each with where
/// its line ends. What is not taken is said.
fn read(path: &Path, head: &Head) -> Option<(u64, VecDeque<(Sealed, u64)>)> {
    if !own_file::is_own(path) {
        return None;
    }
    let mut reader = BufReader::new(File::open(path).ok()?);
    let mut text = String::new();
    let first = reader.read_line(&mut text).ok()? as u64;
    if let Some(other) = other(&text, head) {
        say(&format!(
            "the trials of the interrupted run are for {other}: all are repeated"
        ));
        return None;
    }
    let (mut end, mut sum, mut lines) = (first, String::new(), VecDeque::new());
    loop {
        text.clear();
        let bytes = reader.read_line(&mut text).ok()?;
        match serde_json::from_str::<Sealed>(&text) {
            Ok(sealed) if text.ends_with('\n') => {
                if sealed.sum != seal(&sum, &sealed.line) {
                    say(&format!(
                        "warning: `{}`: trial {} was changed; it and later trials are repeated",
                        path.display(),
                        lines.len() + 1
                    ));
                    return Some((first, lines));
                }
                end += bytes as u64;
                sum.clone_from(&sealed.sum);
                lines.push_back((sealed, end));
            }
            _ => return Some((first, lines)),
        }
    }
}

/// What a journal whose first line is `text` is of, where that is something else than `head`.
fn other(text: &str, head: &Head) -> Option<&'static str> {
    match serde_json::from_str::<Head>(text) {
        Ok(known) if known == *head && text.ends_with('\n') => None,
        Ok(known) if known.identity.build != head.identity.build => {
            Some("another build of trammel")
        }
        Ok(known) if known.settings != head.settings => Some("other settings"),
        Ok(known) if known.identity != head.identity => Some("other files, programs or options"),
        Ok(_) => Some("a tester that could do something else"),
        Err(_) => Some("another version of trammel"),
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
            tester_late,
            tester_burst,
            sending,
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
            tester: (
                outcome.bunched,
                tester_late.map(Span::as_ps),
                *tester_burst,
                sending.map(Span::as_ps),
            ),
        }
    }

    fn back(self) -> Observation {
        let [duplicated, reordered, corrupted, stray] = self.faults;
        let (bunched, late, burst, sending) = self.tester;
        Observation {
            outcome: TrialOutcome {
                offered: self.offered,
                forwarded: self.forwarded,
                effective: Span::from_ps(self.effective),
                bunched,
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
            tagged: self.tagged.into_iter().map(Span::from_ps).collect(),
            came_after: self.came_after,
            tester_late: late.map(Span::from_ps),
            tester_burst: burst,
            sending: sending.map(Span::from_ps),
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
        latency.record_time(Span::from_us(17));
        Observation {
            outcome: TrialOutcome {
                offered: 10,
                forwarded: 7,
                effective: Span::from_ms(3),
                bunched: 780,
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
            tagged: vec![Span::from_us(6)],
            came_after: Some(5),
            tester_late: Some(Span::from_us(40_000)),
            tester_burst: Some(800),
            sending: Some(Span::from_ms(3)),
        }
    }

    /// All of an observation; of histograms what they hold, for they keep it in more than one way.
    fn told(of: &Observation) -> String {
        let latency = of.outcome.latency.as_ref().map(Histogram::contents);
        let variation = of.variation.as_ref();
        let variation = variation.map(|of| (of.less.contents(), of.more.contents()));
        let TrialOutcome {
            offered,
            forwarded,
            effective,
            ..
        } = of.outcome;
        let tester = (
            of.outcome.bunched,
            of.tester_late,
            of.tester_burst,
            of.sending,
        );
        let counts = (
            offered,
            forwarded,
            effective,
            of.faults,
            of.came_after,
            tester,
        );
        let times = (of.last_lost, of.outage, &of.tagged);
        format!("{counts:?} {latency:?} {variation:?} {times:?}")
    }

    fn identity(inputs: &str) -> Identity {
        Identity::of(inputs)
    }

    fn plan(fps: f64) -> Plan {
        Plan::of(&[Load::new(fps, Span::from_secs(1)).unwrap()])
    }

    #[test]
    fn an_interrupted_run_is_answered_from_its_journal() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("run");
        let traffic = Traffic::of(Sizes::of(64).unwrap());
        let mut journal = Journal::open(&out, &identity("i"), "a", None).unwrap();
        assert_eq!(journal.kept(), 0);
        for fps in [1e3, 2e3, 3e3] {
            journal
                .add("d", &traffic, &plan(fps), &observation())
                .unwrap();
        }
        // A process that was killed while it wrote.
        write!(journal.file, "{{\"device\":\"d\",").unwrap();
        drop(journal);
        let mut journal = Journal::open(&out, &identity("i"), "a", None).unwrap();
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
        let mut journal = Journal::open(&out, &identity("i"), "a", None).unwrap();
        assert_eq!(journal.kept(), 2);
        for fps in [1e3, 9e3] {
            assert!(journal.answer("d", &traffic, &plan(fps)).unwrap().is_some());
        }
        drop(journal);
        // Other settings, another journal.
        let journal = Journal::open(&out, &identity("i"), "b", None).unwrap();
        assert_eq!(journal.kept(), 0);
        journal.close().unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn other_files_another_build_and_edited_trials_are_no_part_of_a_run() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("run");
        let traffic = Traffic::of(Sizes::of(64).unwrap());
        let file = super::path(&out).unwrap();
        let keep = || {
            let mut journal = Journal::open(&out, &identity("i"), "a", None).unwrap();
            for fps in [1e3, 2e3, 3e3] {
                let plan = plan(fps);
                journal.add("d", &traffic, &plan, &observation()).unwrap();
            }
        };
        let kept = |of: &Identity| Journal::open(&out, of, "a", None).unwrap().kept();
        keep();
        assert_eq!(kept(&identity("i")), 3);
        assert_eq!(kept(&identity("another file's contents")), 0);
        keep();
        let rebuilt = Identity {
            build: "another".to_owned(),
            ..identity("i")
        };
        assert_eq!(kept(&rebuilt), 0);
        // The second of three trials says that more was forwarded; a line that is left out or put
        // elsewhere.
        let edits: [fn(&mut Vec<String>); 3] = [
            |lines| lines[2] = lines[2].replace("\"forwarded\":7", "\"forwarded\":10"),
            |lines| drop(lines.remove(2)),
            |lines| lines.swap(2, 3),
        ];
        for edit in edits {
            fs::remove_file(&file).unwrap();
            keep();
            let text = fs::read_to_string(&file).unwrap();
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            edit(&mut lines);
            let edited = lines.join("\n") + "\n";
            assert_ne!(edited, text);
            fs::write(&file, edited).unwrap();
            assert_eq!(kept(&identity("i")), 1);
        }
    }

    #[test]
    fn a_link_in_the_journals_place_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("run");
        let precious = folder.path().join("precious");
        fs::write(&precious, "kept").unwrap();
        std::os::unix::fs::symlink(&precious, super::path(&out).unwrap()).unwrap();
        let opened = Journal::open(&out, &identity("i"), "a", None);
        assert!(opened.unwrap_err().to_string().contains("is a link"));
        assert_eq!(fs::read_to_string(&precious).unwrap(), "kept");
    }
}
