//! A path that changes as pieces that do not: what models of steady states can say of it.
//!
//! Each piece between two changes is a scenario of its own, and the answer is the mean over the
//! pieces by their time. Nothing is said of the time between two steady states, so pieces must be
//! long against the round trip.

use super::network_of::{base_delay, elsewhere};
use std::collections::BTreeSet;
use trammel_core::entry::Value;
use trammel_core::time::{Span, Time};
use trammel_scenario::model::Scenario;
use trammel_scenario::path::{Between, Direction, Limit, Loss, Path};
use trammel_scenario::plugin::Plugin;
use trammel_scenario::topology::Topology;
use trammel_tcp::models::{Answer, FlowAnswer};

/// A piece is steady where it lasts so many round trips.
const ROUND_TRIPS: f64 = 20.0;
/// Pieces of a run at most.
const MOST_PIECES: usize = 1000;

/// A part of the run, as a part of 1, and what holds in it; nothing where the path is down.
pub(super) type Piece = (f64, Option<Scenario>);

/// The pieces of `scenario`, or why it has none that are steady.
pub(super) fn pieces(scenario: &Scenario) -> Result<Vec<Piece>, String> {
    let Topology::Path(path) = &scenario.topology else {
        return Ok(vec![(1.0, Some(scenario.clone()))]);
    };
    if path.line.schedule.is_empty() {
        return Ok(vec![(1.0, Some(scenario.clone()))]);
    }
    if path.line.between == Between::Linear {
        return Err("the models describe steady states, and this path never stays as it is".into());
    }
    let elsewhere = elsewhere(path);
    let first = base_delay(scenario, path).0.saturating_add(elsewhere);
    let end = scenario.end();
    let course = |way: Direction| {
        let course = path.line.course(way, first, Span::ZERO, end);
        course.map_err(|why| why.to_string())
    };
    let (data, ack) = (course(Direction::Data)?, course(Direction::Ack)?);
    let mut instants = BTreeSet::from([Time::ZERO]);
    for course in [&data, &ack] {
        if let Some(rates) = &course.rate {
            instants.extend(rates.changes(end).map(|(_, at, _)| at));
        }
        if let Some(conditions) = &course.conditions {
            instants.extend(conditions.changes(end).map(|(_, at, _)| at));
        }
    }
    if instants.len() > MOST_PIECES {
        return Err(format!(
            "the models describe steady states, and this path changes {} times",
            instants.len() - 1
        ));
    }
    let instants: Vec<Time> = instants.into_iter().collect();
    let mut pieces = Vec::with_capacity(instants.len());
    for (n, at) in instants.iter().enumerate() {
        let long = instants
            .get(n + 1)
            .copied()
            .unwrap_or(end)
            .saturating_since(*at);
        let part = long.as_secs_f64() / scenario.duration.as_secs_f64();
        let rate = data.rate.as_ref().map_or(path.line.rate, |all| all.at(*at));
        let ack_rate = ack
            .rate
            .as_ref()
            .map_or(path.line.ack_rate, |all| all.at(*at));
        if rate.as_bps() == 0 || ack_rate.as_bps() == 0 {
            pieces.push((part, None));
            continue;
        }
        let [there, back] = [&data, &ack].map(|course| {
            let now = course.conditions.as_ref().map(|all| all.at(*at));
            (
                now.map_or(first, |now| now.delay),
                now.and_then(|now| now.loss),
            )
        });
        let rtt = |rtt: Span| (rtt + there.0 + back.0).saturating_sub(first * 2);
        let steady = Path {
            rtt: rtt(path.rtt),
            ..path.clone()
        };
        if long.as_secs_f64() < ROUND_TRIPS * steady.rtt.as_secs_f64() {
            return Err(format!(
                "the models describe steady states, and this path changes after {long} at {at}, \
                 less than {ROUND_TRIPS} round trips of {}",
                steady.rtt
            ));
        }
        let mut piece = scenario.clone();
        for flow in &mut piece.flows {
            flow.rtt = flow.rtt.map(rtt);
        }
        piece.topology = Topology::Path(of_piece(steady, path, rate, there.1));
        piece.duration = long;
        pieces.push((part, Some(piece)));
    }
    Ok(pieces)
}

fn of_piece(
    mut steady: Path,
    path: &Path,
    rate: trammel_core::units::Rate,
    loss: Option<f64>,
) -> Path {
    let line = &mut steady.line;
    // The queue's limit is as at the start.
    if !matches!(line.queue.limit, Limit::Bytes(_)) {
        line.queue.limit = Limit::Packets(path.line.queue_packets(path.rtt));
    }
    (line.rate, line.schedule, line.schedule_period) = (rate, Vec::new(), None);
    if let Some(probability) = loss {
        line.loss = (probability > 0.0).then(|| Loss {
            model: Plugin::new("netem").with("probability", Value::Float(probability)),
            direction: Direction::Data,
        });
    }
    steady
}

/// The mean of the answers of pieces by their parts; a piece without one is an outage.
pub(super) fn mean(answers: Vec<(f64, Option<Answer>)>) -> Answer {
    let steady: Vec<(f64, Answer)> = answers
        .into_iter()
        .filter_map(|(part, answer)| Some((part, answer?)))
        .collect();
    let Some((_, first)) = steady.first() else {
        return Answer::default();
    };
    let up: f64 = steady.iter().map(|(part, _)| part).sum();
    let over = |of: &dyn Fn(&Answer) -> Option<f64>| {
        let parts: Option<Vec<f64>> = steady
            .iter()
            .map(|(part, answer)| Some(part * of(answer)?))
            .collect();
        parts.map(|parts| parts.iter().sum::<f64>())
    };
    let mut flows: Vec<FlowAnswer> = (0..first.flows.len())
        .map(|flow| FlowAnswer {
            // Over the whole run, outages included; the others over the time that it is up.
            goodput_bps: over(&|answer| answer.flows[flow].goodput_bps),
            share: over(&|answer| answer.flows[flow].share).map(|sum| sum / up),
            cwnd_pkts: over(&|answer| answer.flows[flow].cwnd_pkts).map(|sum| sum / up),
        })
        .collect();
    let all: Option<f64> = flows.iter().map(|flow| flow.goodput_bps).sum();
    for flow in &mut flows {
        if let (Some(bps), Some(all)) = (flow.goodput_bps, all.filter(|all| *all > 0.0)) {
            flow.share = Some(bps / all);
        }
    }
    let mut notes = first.notes.clone();
    notes.push(format!(
        "mean over {} steady pieces of the path; the times between are not modelled",
        steady.len()
    ));
    Answer {
        flows,
        queue_delay_s: over(&|answer| answer.queue_delay_s).map(|sum| sum / up),
        details: Vec::new(),
        notes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predict::predict;
    use trammel_scenario::File;

    fn scenario(schedule: &str) -> Scenario {
        let text = format!(
            "duration = '40 s'\n[path]\nrate = '10 Mbit/s'\nrtt = '40 ms'\nqueue = {{ limit = '40 \
             pkts' }}\nschedule = [{schedule}]\n[[flow]]\nvariant = 'reno'\n"
        );
        let mut file = File::parse("t", &text, std::path::Path::new(".")).unwrap();
        file.points.remove(0).scenario
    }

    #[test]
    fn a_rate_that_halves_predicts_the_mean() {
        let half = "{ at = '20 s', rate = '5 Mbit/s' }";
        let goodput = |schedule: &str| {
            let (predictions, _) = predict(&scenario(schedule));
            let all = predictions
                .iter()
                .map(|one| (one.model.clone(), one.answer.flows[0].goodput_bps));
            all.collect::<Vec<_>>()
        };
        let (whole, mixed) = (goodput(""), goodput(half));
        let slow = goodput("{ at = '0 s', rate = '5 Mbit/s' }");
        assert!(!mixed.is_empty());
        for (model, bps) in &mixed {
            let of = |all: &[(String, Option<f64>)]| {
                all.iter()
                    .find(|(name, _)| name == model)
                    .and_then(|(_, bps)| *bps)
            };
            if let (Some(bps), Some(whole), Some(slow)) = (bps, of(&whole), of(&slow)) {
                let mean = f64::midpoint(whole, slow);
                assert!((bps / mean - 1.0).abs() < 0.02, "{model}: {bps} {mean}");
            }
        }
    }

    #[test]
    fn what_changes_too_fast_is_said() {
        let pieces = pieces(&scenario(
            "{ at = '20 s', delay = '30 ms' }, { at = '20.5 s', delay = '20 ms' }",
        ));
        let why = pieces.unwrap_err();
        assert!(
            why.contains("at 20 s") && why.contains("20 round trips"),
            "{why}"
        );
    }

    #[test]
    fn an_outage_is_time_without_goodput() {
        let all = pieces(&scenario(
            "{ at = '10 s', down = true }, { at = '20 s', down = false, direction = 'data' }",
        ));
        let all = all.unwrap();
        let parts: Vec<_> = all
            .iter()
            .map(|(part, piece)| (*part, piece.is_some()))
            .collect();
        assert_eq!(parts, [(0.25, true), (0.25, false), (0.5, true)]);
    }
}
