//! Whether the simulator does what the real kernel does: shares of flows, or goodput where there is
//! one flow.

use super::finding::{Finding, Used};
use super::numbers::{Number, Numbers};
use super::words::{Kind, list};
use trammel_core::label::Label;
use trammel_scenario::File;
use trammel_scenario::sweep::Point;

/// One flow at one point, by both.
struct Pair<'a> {
    point: &'a Point,
    flow: String,
    real: Number,
    simulated: Number,
}

pub(super) fn find(file: &File, numbers: &Numbers) -> Option<Finding> {
    if numbers.label == Label::Simulated || !numbers.labels.contains(&Label::Simulated) {
        return None;
    }
    let simulated = numbers.by(Label::Simulated);
    let several = file.points[0].scenario.flows.len() > 1;
    let (metric, kind) = if several {
        ("share", Kind::Percent)
    } else {
        ("goodput", Kind::Rate)
    };
    let pairs: Vec<Pair<'_>> = file
        .points
        .iter()
        .flat_map(|point| point.scenario.flows.iter().map(move |flow| (point, flow)))
        .filter_map(|(point, flow)| {
            Some(Pair {
                point,
                flow: flow.name.clone(),
                real: numbers.steady(&point.id, &flow.name, metric)?,
                simulated: simulated.steady(&point.id, &flow.name, metric)?,
            })
        })
        .collect();
    let off = |pair: &Pair<'_>| (pair.simulated.mean - pair.real.mean).abs();
    let worst = pairs.iter().max_by(|a, b| off(a).total_cmp(&off(b)))?;
    let used = Used::new(worst.point, &worst.flow, metric);
    let said_off = if several {
        format!("{:.1} percentage points", off(worst) * 100.0)
    } else {
        format!(
            "{:.1} %",
            off(worst) / worst.real.mean.abs().max(1e-9) * 100.0
        )
    };
    let who = match numbers.label {
        Label::LinuxVt => "Linux (its code, in virtual time)",
        _ => "this host's Linux",
    };
    let sentence = if file.points.len() == 1 {
        let say = |of: fn(&Pair<'_>) -> Number| {
            let parts: Vec<String> = pairs
                .iter()
                .map(|pair| format!("`{}` {}", pair.flow, kind.mean(of(pair))))
                .collect();
            list(&parts)
        };
        format!(
            "{who} gives {}; the simulator gives {}. The largest difference is {said_off}.",
            say(|pair| pair.real),
            say(|pair| pair.simulated)
        )
    } else {
        format!(
            "Over {} points the simulator is at most {said_off} from {who}: `{}` at `{}`, {} \
             against {}.",
            file.points.len(),
            worst.flow,
            worst.point.id,
            kind.mean(worst.simulated),
            kind.mean(worst.real)
        )
    };
    Some(Finding::new(said_off, sentence).resting_on([used]))
}
