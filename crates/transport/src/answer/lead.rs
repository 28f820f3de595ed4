//! The answer in one sentence with its number, and the key figures below it.
//!
//! The sentence answers what the file asks for (`answer = "…"`), else what its shape suggests. What
//! was measured comes first, and what the simulator says to it beside. Where no rule fits, there is
//! no sentence rather than one that answers something else.

use super::axis::{Shape, names};
use super::finding::{Finding, Metric};
use super::goal::goals;
use super::numbers::{Number, Numbers};
use super::words::{Kind, micros, percent, three};
use super::{agreement, along, experience, prediction, rank, share, without_flows};
use crate::points::TransportOutcome;
use trammel_core::label::Label;
use trammel_report::run::Status;
use trammel_report::{Answer, Highlight};
use trammel_scenario::File;
use trammel_scenario::model::Goal;
use trammel_scenario::sweep::Point;

pub(super) fn answer(
    file: &File,
    outcome: &TransportOutcome,
    numbers: &Numbers,
    shape: &Shape,
) -> Answer {
    let found = goals(file, shape)
        .into_iter()
        .find_map(|goal| Some((goal, find(goal, file, numbers, shape)?)));
    let answer = match found {
        Some((goal, finding)) => {
            let is_real = numbers.label != Label::Simulated;
            let beside = if is_real && !matches!(goal, Goal::Agreement | Goal::Prediction) {
                let simulated = find(goal, file, &numbers.by(Label::Simulated), shape);
                finding.beside(numbers, simulated.as_ref())
            } else {
                String::new()
            };
            Answer {
                number: finding.number,
                sentence: finding.sentence + &beside,
                label: Some(numbers.label),
            }
        }
        // Where nothing was run, a model may have an answer.
        None if numbers.labels.is_empty() => predicted(file, numbers).unwrap_or_default(),
        None => Answer::default(),
    };
    preliminary(answer, outcome)
}

/// Says that a part was not run.
fn preliminary(answer: Answer, outcome: &TransportOutcome) -> Answer {
    let (all, made) = outcome.runs;
    if made >= all {
        return answer;
    }
    let status = Status {
        runs: outcome.runs,
        is_interrupted: outcome.is_interrupted,
        is_going_on: outcome.is_going_on,
        ..Status::default()
    };
    let failed = || format!("{} of {all} runs failed.", all - made);
    answer.preliminary(status.missing().unwrap_or_else(failed))
}

/// What answers `goal`, as the engine of `numbers` has it.
fn find(goal: Goal, file: &File, numbers: &Numbers, shape: &Shape) -> Option<Finding> {
    let one = |metric: Metric| along::find(file, numbers, shape, metric);
    let best = |metrics: &[Metric]| rank::find(file, numbers, metrics);
    let by_name = |metric: Metric| {
        if names(file).is_empty() {
            one(metric)
        } else {
            best(&[metric])
        }
    };
    match goal {
        Goal::Share => share::find(file, numbers, shape),
        Goal::Rank => best(&[Metric::GOODPUT, Metric::DELAY, Metric::FAIRNESS]),
        Goal::Goodput => by_name(Metric::GOODPUT)
            .or_else(|| without_flows::used(numbers, file))
            .or_else(|| by_name(Metric::CARRIED)),
        Goal::Delay => by_name(Metric::DELAY),
        Goal::Recovery => by_name(Metric::RECOVERY),
        Goal::Loss if file.points[0].scenario.streams.is_empty() => by_name(Metric::LINK_LOSS),
        Goal::Loss => {
            let alone = without_flows::of_stream(file, numbers);
            alone.or_else(|| by_name(Metric::LOSS))
        }
        Goal::Utilisation => by_name(Metric::UTILISATION),
        Goal::Fairness => by_name(Metric::FAIRNESS),
        Goal::Convergence => by_name(Metric::CONVERGENCE),
        Goal::Completion => {
            without_flows::of_workload(file, numbers, shape).or_else(|| by_name(Metric::COMPLETION))
        }
        Goal::Experience => experience::find(file, numbers, shape),
        Goal::Agreement => agreement::find(file, numbers),
        Goal::Prediction => prediction::find(file, numbers),
    }
}

/// What the first model says, where nothing was run.
fn predicted(file: &File, numbers: &Numbers) -> Option<Answer> {
    let (point, model) = (&file.points[0], numbers.models.first()?);
    let flows = &point.scenario.flows;
    let at = if file.points.len() > 1 {
        format!(" at `{}`", point.id)
    } else {
        String::new()
    };
    let share = |flow: &str| numbers.of_model(&point.id, model, flow, "share");
    let sentence = match &flows[..] {
        [a, b] => {
            let (of_a, of_b) = (share(&a.name)?, share(&b.name)?);
            format!(
                "`{model}` predicts {} of the goodput for `{}`, {} for `{}`{at}.",
                percent(of_a.mean),
                a.name,
                percent(of_b.mean),
                b.name
            )
        }
        [a, ..] => {
            let goodput = numbers.of_model(&point.id, model, &a.name, "goodput")?;
            let goodput = Kind::Rate.mean(goodput);
            format!("`{model}` predicts {goodput} for `{}`{at}.", a.name)
        }
        [] => return None,
    };
    Some(Answer {
        number: String::new(),
        sentence,
        label: Some(Label::Predicted),
    })
}

/// Key figures: one number, or the range over the points.
pub(super) fn highlights(file: &File, numbers: &Numbers) -> Vec<Highlight> {
    let range = |find: &dyn Fn(&Point) -> Option<f64>| -> Option<(f64, f64)> {
        let found: Vec<f64> = file.points.iter().filter_map(find).collect();
        let low = found.iter().copied().reduce(f64::min)?;
        Some((low, found.iter().copied().reduce(f64::max)?))
    };
    let mut all = Vec::new();
    let mut add = |name: &str,
                   note: &str,
                   range: Option<(f64, f64)>,
                   say: &dyn Fn(f64) -> (String, String)| {
        let Some((low, high)) = range else { return };
        let ((low, low_unit), (high, unit)) = (say(low), say(high));
        let value = match (low == high && low_unit == unit, low_unit == unit) {
            (true, _) => high,
            (false, true) => format!("{low}–{high}"),
            (false, false) => format!("{low} {low_unit}–{high}"),
        };
        all.push(Highlight {
            name: name.to_owned(),
            value,
            unit,
            label: Some(numbers.label),
            note: note.to_owned(),
        });
    };
    let in_percent = |fraction: f64| {
        let text = percent(fraction);
        (text.trim_end_matches(" %").to_owned(), "%".to_owned())
    };
    let plain = |value: f64| (three(value), String::new());
    let of_time = |us: f64| {
        let (number, unit) = micros(us);
        (number, unit.to_owned())
    };
    let link = numbers.bottlenecks.first().cloned().unwrap_or_default();
    let mean = |number: Option<Number>| number.map(|number| number.mean);
    let note = if file.points.len() > 1 {
        "over the points"
    } else {
        ""
    };
    add(
        "use of the bottleneck",
        note,
        range(&|point| mean(numbers.steady(&point.id, &link, "utilisation"))),
        &in_percent,
    );
    if file.points[0].scenario.flows.len() > 1 {
        let find = |point: &Point| mean(numbers.of_all(&point.id, "jain"));
        add("Jain's index", note, range(&find), &plain);
    }
    let find = |point: &Point| {
        mean(numbers.get(
            &point.id,
            crate::run_tables::ALL_FLOWS,
            "latency_loaded_p95",
        ))
    };
    add("latency under load, p95", note, range(&find), &of_time);
    let find = |point: &Point| mean(numbers.steady(&point.id, &link, "queue_delay_mean"));
    add("queueing delay, mean", note, range(&find), &of_time);
    let find = |point: &Point| mean(numbers.steady(&point.id, &link, "loss"));
    add("packets lost", note, range(&find), &in_percent);
    all
}
