//! A scenario that is run piece by piece: its first run a step at a time, for a reader who watches,
//! the others one by one, and then what comes of all of them.

use crate::controls;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::Arc;
use trammel_core::time::{Span, Time};
use trammel_scenario::model::{Engine, Scenario};
use trammel_scenario::{File, named};
use trammel_transport::embedded::{self, Embedded};
use trammel_transport::points::{RunOptions, Unwatched, simulated_runs};
use trammel_transport::predict::predict;
use trammel_transport::run_tables::RunTables;
use trammel_transport::stepped::Stepped;

/// What the scenario is called in messages and in the report.
pub(crate) const NAME: &str = "scenario.toml";
/// The engines that need no operating system.
const ENGINES: [Engine; 2] = [Engine::Predict, Engine::Simulate];
/// Numbers of a flow, and of a link, in a sample of [`Session::step`].
pub const OF_FLOW: usize = 10;
/// See [`OF_FLOW`].
pub const OF_LINK: usize = 4;

/// Flows, and links, that a sample has at most, the first ones: a picture has no more lines.
const MOST_FLOWS: usize = 32;
const MOST_LINKS: usize = 8;

/// Why a run is missing that a reader did not wait for.
const STOPPED: &str = "stopped";

/// A run that is still to be made.
#[derive(Debug)]
struct Waiting {
    key: String,
    scenario: Scenario,
    seed: u64,
    curves: bool,
}

/// A scenario on its way.
#[derive(Debug)]
pub struct Session {
    file: File,
    /// The run that goes on, and the name by which its tables are known.
    running: Option<(String, Stepped)>,
    waiting: VecDeque<Waiting>,
    /// Packets of full size that the lines of all its runs have room for.
    packets: f64,
    known: BTreeMap<String, RunTables>,
    failed: BTreeMap<String, String>,
}

impl Session {
    /// Reads the transport scenario `text` and begins its first run; files that it names cannot be
    /// read. The error shows all faults with their places.
    pub fn open(text: &str) -> Result<Session, String> {
        let file = embedded::read(NAME, text, Path::new("."), &ENGINES, None)
            .map_err(|why| embedded::refusal(NAME, &why, "module"))?;
        let runs = simulated_runs(&file).into_iter();
        let waiting: VecDeque<Waiting> = runs
            .map(|run| Waiting {
                key: run.key,
                scenario: run.scenario.into_owned(),
                seed: run.seed,
                curves: run.curves,
            })
            .collect();
        let packets = waiting.iter().map(|run| room(&run.scenario)).sum();
        let mut session = Session {
            file,
            running: None,
            waiting,
            packets,
            known: BTreeMap::new(),
            failed: BTreeMap::new(),
        };
        session.begin_next();
        Ok(session)
    }

    /// Begins the next run, where there is one.
    fn begin_next(&mut self) {
        let Some(run) = self.waiting.pop_front() else {
            return;
        };
        match Stepped::new(&run.scenario, run.seed, run.curves) {
            Ok(stepped) => self.running = Some((run.key, stepped)),
            Err(why) => drop(self.failed.insert(run.key, format!("{why:#}"))),
        }
    }

    /// What a page needs to draw the first run and to set its controls, as a JSON object:
    /// `title`, `question`, `points`, `runs` (how many are to be simulated), `packets` (of 1,500
    /// bytes, that the links carry in all runs at most), `swept` (keys), `seed`, `duration_s`,
    /// `flows` and `links` (names, in the order of [`Session::step`]), `more_flows` and
    /// `more_links` (how many its samples leave out), `predictions` (`model`, `flow`,
    /// `goodput_mbps`, `cwnd_pkts`, `queue_delay_us`) and `controls`.
    pub fn describe(&self) -> Value {
        let scenario = &self.file.points[0].scenario;
        let (predictions, _) = predict(scenario);
        let predictions = predictions.iter().flat_map(|one| {
            let answers = one.flows.iter().zip(&one.answer.flows);
            answers.map(|((flow, _), answer)| {
                json!({
                    "model": one.model, "flow": flow,
                    "goodput_mbps": answer.goodput_bps.map(|bps| bps / 1e6),
                    "cwnd_pkts": answer.cwnd_pkts,
                    "queue_delay_us": one.answer.queue_delay_s.map(|s| s * 1e6),
                })
            })
        });
        let predictions: Vec<_> = predictions.collect();
        let watched = self.running.as_ref().map(|(_, run)| run);
        let mut flows: Vec<&str> = watched.map_or_else(Vec::new, |run| run.flow_names().collect());
        let mut links: Vec<&str> = watched.map_or_else(Vec::new, |run| run.link_names().collect());
        let more_flows = flows.len().saturating_sub(MOST_FLOWS);
        let more_links = links.len().saturating_sub(MOST_LINKS);
        flows.truncate(MOST_FLOWS);
        links.truncate(MOST_LINKS);
        let swept = self.file.points[0].swept.iter();
        let swept: Vec<&str> = swept.map(|value| value.key.as_str()).collect();
        json!({
            "title": scenario.title,
            "question": scenario.question,
            "points": self.file.points.len(),
            "runs": self.waiting.len() + usize::from(watched.is_some()),
            "packets": self.packets,
            "swept": swept,
            "seed": watched.map(Stepped::seed),
            "duration_s": scenario.end().as_secs_f64(),
            "flows": flows,
            "links": links,
            "more_flows": more_flows,
            "more_links": more_links,
            "predictions": predictions,
            "controls": controls::of(&self.file.text, scenario),
        })
    }

    /// Runs the first run until `until` seconds, or to its end; gives its samples since the last
    /// call, one after the other. A sample is the time in seconds, then of each flow
    /// [`OF_FLOW`] numbers — congestion window and slow-start threshold (packets), smoothed round
    /// trip (ms), packets in flight, payload bytes sent, acknowledged, delivered in order and
    /// arrived, segments retransmitted, congestion state (0 open, 1 disorder, 2 CWR, 3 recovery,
    /// 4 loss) —, then of each link [`OF_LINK`]: packets and bytes in the queue, packets dropped
    /// and marked. What is not known is NaN. The last call for a run gives an empty list.
    pub fn step(&mut self, until: f64) -> Vec<f64> {
        let Some((_, run)) = &mut self.running else {
            return Vec::new();
        };
        let until = Time::ZERO + Span::from_secs_f64(until.clamp(0.0, 1e6));
        let mut samples = Vec::new();
        while run.now() < until && !run.is_over() {
            run.step();
            sample(run, &mut samples);
        }
        samples
    }

    /// Goes on with what is left for a two-thousandth of a run, so that whoever asks can stop
    /// between; gives how many runs are not made yet.
    pub(crate) fn go_on(&mut self) -> usize {
        if self.running.is_none() {
            self.begin_next();
        }
        if let Some((_, run)) = &mut self.running {
            run.step();
        }
        if let Some((key, run)) = self.running.take_if(|(_, run)| run.is_over()) {
            self.known.insert(key, run.finish());
        }
        self.waiting.len() + usize::from(self.running.is_some())
    }

    /// Leaves out the runs that are not made yet; gives whether any is made.
    pub(crate) fn stop(&mut self) -> bool {
        let watched = self.running.take().map(|(key, _)| key);
        let waiting = self.waiting.drain(..).map(|run| run.key);
        let left_out = watched.into_iter().chain(waiting);
        self.failed
            .extend(left_out.map(|key| (key, STOPPED.to_owned())));
        !self.known.is_empty()
    }

    /// What came of it, all runs that are missing made: tables, answer, page.
    pub fn finish(mut self) -> Result<Embedded, String> {
        while self.go_on() > 0 {}
        let options = RunOptions {
            engines: ENGINES.to_vec(),
            known: Arc::new(self.known),
            failed: self.failed,
            ..RunOptions::default()
        };
        Embedded::run(self.file, options, &Unwatched).map_err(|why| format!("{NAME}: {why:#}"))
    }
}

/// Packets of 1,500 bytes that the lines of a scenario can carry in its time.
fn room(scenario: &Scenario) -> f64 {
    let lines = named::lines(scenario);
    let bits_per_s: f64 = lines
        .iter()
        .map(|(_, line)| line.rate.as_bps() as f64)
        .sum();
    bits_per_s * scenario.end().as_secs_f64() / (1500.0 * 8.0)
}

fn sample(run: &mut Stepped, into: &mut Vec<f64>) {
    const UNKNOWN: u32 = trammel_tcp::cc::INFINITE_SSTHRESH;
    into.push(run.now().as_secs_f64());
    for flow in run.flows().into_iter().take(MOST_FLOWS) {
        let Some(flow) = flow else {
            into.extend([f64::NAN; OF_FLOW]);
            continue;
        };
        let sender = flow.sender;
        let known = |value: u32, unknown: u32| {
            if value == unknown {
                f64::NAN
            } else {
                f64::from(value)
            }
        };
        into.extend([
            f64::from(sender.cwnd),
            known(sender.ssthresh, UNKNOWN),
            known(sender.srtt_us, 0) / 1e3,
            f64::from(sender.in_flight),
            flow.sent_bytes as f64,
            sender.bytes_acked as f64,
            flow.delivered_bytes as f64,
            flow.arrived_bytes as f64,
            sender.retransmissions as f64,
            f64::from(sender.state),
        ]);
    }
    for link in run.links().into_iter().take(MOST_LINKS) {
        into.extend([
            f64::from(link.queue_pkts),
            link.queue_bytes as f64,
            link.dropped_pkts as f64,
            link.marked_pkts as f64,
        ]);
    }
}
