//! A NetFPGA card as a function: one description, three engines.
//!
//! ```text
//! predict   the formula of a lone frame, and what line, MAC and memory carry     the board
//! simulate  the model in virtual time, frames with contents through its tables   the board
//! measure   the live card of `trammel netfpga run`, between namespaces           this machine
//! ```
//! Predicted and simulated is the board. What is measured is the same design, with the same tables,
//! as a program of this machine: its rates are this machine's.

#[cfg(target_os = "linux")]
mod tested;
#[cfg(not(target_os = "linux"))]
#[path = "tested_elsewhere.rs"]
mod tested;

pub(super) use tested::measure;

use super::row::Row;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(target_os = "linux")]
use trammel_bench::frames::Sizes;
#[cfg(target_os = "linux")]
use trammel_bench::testbed::{Directions, Traffic};
use trammel_core::time::Span;
use trammel_netfpga::params::{Params, preset};
use trammel_netfpga::single_frame;
use trammel_scenario::forwarding::{Bench, CardUnderTest, Tested};
use trammel_scenario::model::Engine;
use trammel_workbench::arrivals::Pattern;

/// The formula of a lone frame, for tables.
pub(super) const FORMULA: &str = "8 (S + 8) ns + 2 w cycles + 70 cycles, w = ceil((S - 4) / 8) + 1";
/// Frames that the machine's other work may cost where the live card is measured, as a share.
const LOSS_RATIO: f64 = 0.001;
/// Cycles that the memory takes for a short frame besides writing and reading its words.
const TURNAROUND: u64 = 4;
/// Of so many words of a long one, written and read in bursts, two cycles are changes of direction.
const BURSTS: (u64, u64) = (37, 2);

/// What was predicted of the board.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Predicted {
    /// The most that it forwards without loss, frames a second.
    pub(super) pps: f64,
    /// What limits it: `link`, `mac` or `memory`.
    pub(super) bound_by: &'static str,
    /// What a lone frame takes, from the last bit in to the first bit out; none where frames of two
    /// ports meet in the memory.
    pub(super) latency: Option<Span>,
}

/// What an engine found by trials.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// The most that was forwarded without loss, frames a second.
    pub(super) pps: f64,
    /// What limits it: `link`, `device` or `tester`.
    pub(super) bound_by: &'static str,
    /// Every trial.
    pub(super) trials: Vec<Row>,
}

/// Why nothing was measured.
#[derive(Debug)]
pub(super) enum Lack {
    /// The machine lacks something.
    Machine(String),
    /// It failed.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "nothing is tried there")
    )]
    Failed(String),
}

/// What all engines say of a card at one frame size.
#[derive(Clone, Debug, Default)]
pub(super) struct CardCell {
    pub(super) predicted: Option<Predicted>,
    pub(super) simulated: Option<Found>,
    pub(super) measured: Option<Found>,
}

/// The timing of its board.
pub(super) fn params(card: &CardUnderTest) -> Params {
    preset(&card.model).expect("a scenario names a model that there is")
}

/// Frames a second of `frame` bytes that its ports carry, all ways together.
pub(super) fn line_fps(card: &CardUnderTest, tested: &Tested, frame: u32) -> f64 {
    tested.receiving as f64 * params(card).line_fps(u64::from(frame))
}

/// What the board does, in closed form.
pub(super) fn predict(card: &CardUnderTest, tested: &Tested, frame: u32) -> Predicted {
    let (params, bytes) = (params(card), u64::from(frame));
    let ways = tested.receiving as f64;
    let line = params.line_fps(bytes);
    let on_mac = params.line_ps(bytes) + params.mac_extra_gap_bytes * params.byte_ps();
    let words = 2 * params.words(bytes);
    let turns = TURNAROUND.max(words.div_ceil(BURSTS.0) * BURSTS.1);
    let memory = 1e12 / ((words + turns) * params.clock_ps) as f64;
    let mut limits = vec![(ways * line, "link"), (ways * 1e12 / on_mac as f64, "mac")];
    if params.ideal_memory == 0 {
        limits.push((memory, "memory"));
    }
    let least = limits.into_iter().min_by(|a, b| a.0.total_cmp(&b.0));
    let (pps, bound_by) = least.expect("a link is a limit");
    let received = Span::from_ps(params.byte_ps() * (bytes + 8));
    Predicted {
        pps,
        bound_by,
        latency: (tested.receiving == 1)
            .then(|| single_frame::formula(&params, bytes).saturating_sub(received)),
    }
}

/// What a card is asked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    /// Bytes of its frames.
    pub(super) frame: u32,
    /// How they come.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "no trials"))]
    pub(super) pattern: Pattern,
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "no trials"))]
    pub(super) bench: &'a Bench,
    /// Set when the user interrupts.
    pub(super) interrupted: &'a Arc<AtomicBool>,
}

/// What is predicted and simulated where `tested` is a card, and why not if not; nothing of a
/// program.
pub(super) fn model(
    tested: &Tested,
    engines: &[Engine],
    asked: &Asked<'_>,
) -> (CardCell, Option<String>) {
    let mut cell = CardCell::default();
    let is_interrupted = || asked.interrupted.load(Ordering::SeqCst);
    let Some(card) = tested.card().filter(|_| !is_interrupted()) else {
        return (cell, None);
    };
    let predicts = engines.contains(&Engine::Predict);
    cell.predicted = predicts.then(|| predict(card, tested, asked.frame));
    if !engines.contains(&Engine::Simulate) {
        return (cell, None);
    }
    match tested::simulate(card, tested, asked) {
        Ok(found) => cell.simulated = Some(found),
        Err(_) if is_interrupted() => {}
        Err(why) => return (cell, Some(why)),
    }
    (cell, None)
}

/// What the engines of the cards `names` stand for, where they were measured.
pub(super) fn note(names: &str) -> String {
    format!(
        "{names}: predicted and simulated is the board; measured is the live card, the same design \
         as a program of this machine, by packet sockets between namespaces, with at most {} % of \
         frames lost; its rates are this machine's, so errors are between prediction and \
         simulation",
        100.0 * LOSS_RATIO
    )
}

/// What is offered, as the testbeds have it.
#[cfg(target_os = "linux")]
fn traffic(tested: &Tested, asked: &Asked<'_>) -> Result<Traffic, String> {
    let sizes = Sizes::of(asked.frame).map_err(|why| why.to_string())?;
    Ok(Traffic {
        directions: if tested.receiving > 1 {
            Directions::Both
        } else {
            Directions::OneWay
        },
        streams: tested.traffic.flows,
        seed: tested.traffic.seed,
        burst: match asked.pattern {
            Pattern::Bursts(frames) => frames,
            Pattern::Constant => 1,
            Pattern::Poisson => {
                return Err(
                    "a card is offered frames at equal distances or in bursts: give the `gap` \
                     another `distribution`"
                        .to_owned(),
                );
            }
        },
        ..Traffic::of(sizes)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_scenario::forwarding::Implementation;
    use trammel_workbench::traffic;

    fn reference(model: &str, receiving: usize) -> (CardUnderTest, Tested) {
        let card = CardUnderTest {
            design: "reference-router".to_owned(),
            model: model.to_owned(),
            tables: None,
        };
        let tested = Tested {
            name: card.design.clone(),
            implementation: Implementation::Card(card.clone()),
            traffic: traffic::Traffic {
                flows: 1,
                ..traffic::Traffic::default()
            },
            receiving,
            leaves_by: Vec::new(),
        };
        (card, tested)
    }

    #[test]
    fn a_prediction_is_the_formula_and_the_gap_of_the_mac() {
        // RTL simulation, from the last bit in.
        for (frame, ns) in [(64, 704), (512, 1600), (1280, 3136)] {
            let (card, tested) = reference("reference-1g", 1);
            let found = predict(&card, &tested, frame);
            assert_eq!(found.latency, Some(Span::from_ns(ns)), "{frame}");
            let line = f64::from(frame) + 20.0;
            let share = found.pps / line_fps(&card, &tested, frame);
            assert!(
                (share - line / (line + 1.0)).abs() < 1e-9,
                "{frame}: {share}"
            );
            assert_eq!(found.bound_by, "mac");
        }
        let (card, tested) = reference("ideal-memory-1g", 2);
        let found = predict(&card, &tested, 64);
        assert_eq!(found.bound_by, "link");
        assert!((found.pps - 2.0 * 1e9 / 672.0).abs() < 1.0);
    }

    #[test]
    fn the_simulation_confirms_what_is_predicted() {
        let bench = trammel_scenario::forwarding::Bench {
            tests: trammel_scenario::forwarding::Test::ALL.to_vec(),
            latency_at: vec![0.5],
            loss_at: vec![1.1],
            frames: 20_000,
            resolution: 0.005,
        };
        for frame in [64, 512] {
            let (card, tested) = reference("reference-1g", 1);
            let said = predict(&card, &tested, frame);
            let asked = Asked {
                frame,
                pattern: Pattern::Constant,
                bench: &bench,
                interrupted: &Arc::default(),
            };
            let found = super::tested::simulate(&card, &tested, &asked).unwrap();
            let error = found.pps / said.pps - 1.0;
            assert!(error.abs() < 0.01, "{frame}: {error}");
            let half = found.trials.iter().find(|row| row.share == Some(0.5));
            let p50 = half.and_then(|row| row.p50).unwrap();
            let latency = said.latency.unwrap();
            let apart = p50.as_ns().abs_diff(latency.as_ns());
            assert!(apart <= 64, "{frame}: {p50} and {latency}");
        }
    }
}
