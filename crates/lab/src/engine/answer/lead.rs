//! The answer in one sentence with its number, and the key figures below it.
//!
//! The sentence follows the shape of the file: who takes most in a matrix, how a share moves along a sweep, who
//! is best among swept names, how two flows divide the link, what one flow gets.

use super::axis::{Matrix, Shape, Sweep, name, value, values};
use super::matrix::{share, variants};
use super::numbers::{Number, Numbers, micros, percent, rate, three};
use super::without_flows;
use crate::engine::points::Outcome;
use crate::report::label::Label;
use crate::report::{Answer, Highlight};
use crate::scenario::File;
use crate::scenario::sweep::Point;

/// Less than this part of its fair share is starving.
const STARVED: f64 = 0.1;

pub(super) fn answer(file: &File, outcome: &Outcome, numbers: &Numbers, shape: &Shape) -> Answer {
    let answer = match shape {
        Shape::Matrix(matrix) => of_matrix(file, numbers, matrix),
        Shape::Sweep(sweep) => of_sweep(file, numbers, sweep),
        Shape::Single => of_point(numbers, &file.points[0]),
    };
    let answer = answer.or_else(|| predicted(file, numbers));
    let mut answer = answer.unwrap_or_else(|| Answer {
        sentence: "No engine has given a number.".to_owned(),
        ..Answer::default()
    });
    if answer.label == Some(Label::Simulated) {
        answer.label = Some(numbers.label);
    }
    let (all, made) = outcome.runs;
    if made < all {
        // Whoever reads the sentence alone must not take a part for the whole.
        let why = if outcome.is_interrupted {
            "was interrupted"
        } else {
            "has failures"
        };
        answer.sentence = format!(
            "After {made} of {all} runs, for the job {why}: {}",
            answer.sentence
        );
    }
    answer
}

pub(super) fn simulated(number: String, sentence: String) -> Answer {
    Answer {
        number,
        sentence,
        label: Some(Label::Simulated),
    }
}

/// `62 % (58 % to 66 %)`.
pub(super) fn with_interval(number: Number, say: impl Fn(f64) -> String) -> String {
    match number.interval {
        Some((low, high)) if number.n > 1 => {
            format!(
                "{} (95 % interval {} to {})",
                say(number.mean),
                say(low),
                say(high)
            )
        }
        _ => say(number.mean),
    }
}

fn of_matrix(file: &File, numbers: &Numbers, matrix: &Matrix) -> Option<Answer> {
    let names = variants(file, matrix);
    let mean_share = |row: &String| {
        let others = names.iter().filter(|column| *column != row);
        let shares: Vec<f64> = others
            .flat_map(|column| {
                file.points
                    .iter()
                    .filter_map(|point| share(numbers, matrix, point, row, column))
            })
            .map(|number| number.mean)
            .collect();
        (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
    };
    let means: Vec<(&String, f64)> = names
        .iter()
        .filter_map(|row| Some((row, mean_share(row)?)))
        .collect();
    let most = means.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let least = means.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let of_asked = if means.len() < names.len() {
        format!(" that have run, of {} asked for,", names.len())
    } else {
        String::new()
    };
    let fair = means
        .iter()
        .filter(|(_, mean)| (mean - 0.5).abs() <= 0.1)
        .count();
    Some(simulated(
        percent(most.1),
        format!(
            "`{}` takes most: {} of the goodput on the mean of its rivals; `{}` takes least, {}. {fair} of {} \
             variants{of_asked} stay within 40 and 60 %.",
            most.0,
            percent(most.1),
            least.0,
            percent(least.1),
            means.len()
        ),
    ))
}

fn of_sweep(file: &File, numbers: &Numbers, sweep: &Sweep) -> Option<Answer> {
    let flows = &file.points[0].scenario.flows;
    let Some(at) = sweep.axis.filter(|_| sweep.others.is_empty()) else {
        return best(file, numbers);
    };
    // Points without a run say nothing; the axis ends where the runs do.
    let has_run = |point: &&Point| numbers.has(&point.id);
    let mut points: Vec<&Point> = file.points.iter().filter(has_run).collect();
    points.sort_by(|a, b| {
        let number = |point: &Point| point.swept[at].number.unwrap_or_default();
        number(a).total_cmp(&number(b))
    });
    // After an interrupt there may be one point, which is no sweep.
    if let [only] = points[..]
        && file.points.len() > 1
    {
        return of_point(numbers, only);
    }
    // A sweep of what a workload does asks about the workload, unless flows compete.
    let asks_workload = file.points[0].swept[at].key.starts_with("workload.");
    if flows.is_empty() || (flows.len() == 1 && asks_workload) {
        let answer = without_flows::of_sweep(numbers, &points, at);
        if answer.is_some() || flows.is_empty() {
            return answer.or_else(|| best(file, numbers));
        }
    }
    let (axis, _) = name(&file.points[0], at);
    let place = |point: &Point| placed(point, at);
    if flows.len() == 2 && flows[0].name != flows[1].name {
        if let Some(answer) = starving(numbers, &points, &axis, &place) {
            return Some(answer);
        }
        let share =
            |point: &Point| numbers.steady(&point.id, &point.scenario.flows[0].name, "share");
        let (first, last) = (points.first()?, points.last()?);
        let (from, to) = (share(first)?, share(last)?);
        return Some(simulated(
            format!("{} → {}", percent(from.mean), percent(to.mean)),
            format!(
                "The share of `{}` goes from {} at a {axis} of {} to {} at {}.",
                flows[0].name,
                with_interval(from, percent),
                place(first),
                with_interval(to, percent),
                place(last)
            ),
        ));
    }
    let (first, last) = (points.first()?, points.last()?);
    let goodput = |point: &Point| numbers.of_all(&point.id, "goodput");
    let (from, to) = (goodput(first)?, goodput(last)?);
    let say = |mbps: f64| {
        let (number, unit) = rate(mbps);
        format!("{number} {unit}")
    };
    let who = if flows.len() == 1 {
        "The flow gets"
    } else {
        "The flows together get"
    };
    Some(simulated(
        format!("{} → {}", say(from.mean), say(to.mean)),
        format!(
            "{who} {} at a {axis} of {} and {} at {}.",
            with_interval(from, say),
            place(first),
            with_interval(to, say),
            place(last)
        ),
    ))
}

/// The value of a point on the axis `at`, with its unit.
pub(super) fn placed(point: &Point, at: usize) -> String {
    let (_, unit) = name(point, at);
    let text = value(point, at);
    // What the user wrote mostly has its own unit.
    let is_bare = text.parse::<f64>().is_ok();
    if is_bare {
        format!("{text} {unit}").trim().to_owned()
    } else {
        text
    }
}

/// Where along the axis one of two flows has less than a tenth of the goodput.
fn starving(
    numbers: &Numbers,
    points: &[&Point],
    axis: &str,
    place: &dyn Fn(&Point) -> String,
) -> Option<Answer> {
    let flows = &points.first()?.scenario.flows;
    for flow in [1, 0] {
        let share = |point: &Point| {
            let name = &point.scenario.flows.get(flow)?.name;
            Some(numbers.steady(&point.id, name, "share")?.mean)
        };
        let shares: Option<Vec<f64>> = points.iter().map(|point| share(point)).collect();
        let shares = shares?;
        let low: Vec<bool> = shares.iter().map(|share| *share < STARVED).collect();
        let changes = low.windows(2).filter(|pair| pair[0] != pair[1]).count();
        if changes != 1 {
            continue;
        }
        // Starved from one end of the axis up to somewhere in it.
        let (at, words) = match low.iter().position(|is_low| *is_low)? {
            0 => (low.iter().rposition(|is_low| *is_low)?, "at and below"),
            first => (first, "from"),
        };
        let (least, most) = shares
            .iter()
            .fold((1.0, 0.0), |(l, m): (f64, f64), s| (l.min(*s), m.max(*s)));
        let onwards = if words == "from" { " on" } else { "" };
        return Some(simulated(
            place(points[at]),
            format!(
                "`{}` gets less than a tenth of the goodput {words} a {axis} of {}{onwards}; along the sweep its share \
                 lies between {} and {}.",
                flows[flow].name,
                place(points[at]),
                percent(least),
                percent(most)
            ),
        ));
    }
    None
}

/// The best and the worst point by the metric that tells them apart: the use of the bottleneck, else the
/// delay of its queue, else fairness.
fn best(file: &File, numbers: &Numbers) -> Option<Answer> {
    /// Points that differ by less than this factor are alike.
    const APART: f64 = 1.1;
    let delay = |point: &Point| {
        let link = numbers.bottlenecks.first()?;
        numbers.steady(&point.id, link, "queue_delay_mean")
    };
    let jain = |point: &Point| numbers.of_all(&point.id, "jain");
    let used = |point: &Point| use_of(numbers, point);
    let extremes = |find: &dyn Fn(&Point) -> Option<Number>| {
        let found = file
            .points
            .iter()
            .filter_map(|point| Some((point, find(point)?)));
        let found: Vec<(&Point, Number)> = found.collect();
        let least = found
            .iter()
            .min_by(|a, b| a.1.mean.total_cmp(&b.1.mean))
            .copied()?;
        let most = found
            .iter()
            .max_by(|a, b| a.1.mean.total_cmp(&b.1.mean))
            .copied()?;
        Some((least, most))
    };
    let differ =
        |(least, most): &((&Point, Number), (&Point, Number))| most.1.mean > APART * least.1.mean;
    let all: Vec<usize> = (0..file.points[0].swept.len()).collect();
    let with = |point: &Point| values(point, &all);
    let of_time = |us: f64| {
        let (number, unit) = micros(us);
        format!("{number} {unit}")
    };
    if let Some((least, most)) = extremes(&used).filter(differ) {
        return Some(simulated(
            percent(most.1.mean),
            format!(
                "The bottleneck is used best with {}: {}; it is used least with {}: {}.",
                with(most.0),
                with_interval(most.1, percent),
                with(least.0),
                with_interval(least.1, percent)
            ),
        ));
    }
    if let Some((least, most)) = extremes(&delay).filter(differ) {
        return Some(simulated(
            of_time(least.1.mean),
            format!(
                "The queue delays least with {}: {}; it delays most with {}: {}. The bottleneck is used \
                 alike.",
                with(least.0),
                with_interval(least.1, of_time),
                with(most.0),
                with_interval(most.1, of_time)
            ),
        ));
    }
    let (least, most) = extremes(&jain)?;
    Some(simulated(
        three(most.1.mean),
        format!(
            "The link is shared most fairly with {}: Jain's index is {}; least fairly with {}: {}.",
            with(most.0),
            with_interval(most.1, three),
            with(least.0),
            with_interval(least.1, three)
        ),
    ))
}

pub(super) fn use_of(numbers: &Numbers, point: &Point) -> Option<Number> {
    numbers.steady(&point.id, numbers.bottlenecks.first()?, "utilisation")
}

fn of_point(numbers: &Numbers, point: &Point) -> Option<Answer> {
    let flows = &point.scenario.flows;
    let goodput = |n: usize| numbers.steady(&point.id, &flows[n].name, "goodput");
    let say = |mbps: f64| {
        let (number, unit) = rate(mbps);
        format!("{number} {unit}")
    };
    let jain = numbers.of_all(&point.id, "jain");
    let fairness = jain.map_or(String::new(), |jain| {
        format!(" Jain's index is {}.", three(jain.mean))
    });
    match flows.len() {
        0 => without_flows::of_point(numbers, point),
        1 => {
            let number = goodput(0)?;
            let completion = numbers.get(&point.id, &flows[0].name, "completion");
            let done =
                completion.map_or(String::new(), |s| format!(", done in {} s", three(s.mean)));
            let of_link = use_of(numbers, point).map_or(String::new(), |used| {
                format!("; the bottleneck is used to {}", percent(used.mean))
            });
            let sentence = format!(
                "`{}` gets {} of goodput{done}{of_link}.",
                flows[0].name,
                with_interval(number, say)
            );
            Some(simulated(say(number.mean), sentence))
        }
        2 => {
            let shares: Vec<Number> = flows
                .iter()
                .filter_map(|flow| numbers.steady(&point.id, &flow.name, "share"))
                .collect();
            let [a, b] = shares[..] else { return None };
            let (winner, loser, number) = if a.mean >= b.mean {
                (0, 1, a)
            } else {
                (1, 0, b)
            };
            Some(simulated(
                percent(number.mean),
                format!(
                    "`{}` takes {} of the goodput and leaves `{}` {}.{fairness}",
                    flows[winner].name,
                    with_interval(number, percent),
                    flows[loser].name,
                    percent(1.0 - number.mean)
                ),
            ))
        }
        n => {
            let total = numbers.of_all(&point.id, "goodput")?;
            let number = jain.map_or_else(|| say(total.mean), |jain| three(jain.mean));
            Some(simulated(
                number,
                format!(
                    "The {n} flows get {} together.{fairness}",
                    with_interval(total, say)
                ),
            ))
        }
    }
}

/// What the first model says, where nothing was simulated.
fn predicted(file: &File, numbers: &Numbers) -> Option<Answer> {
    let (point, model) = (&file.points[0], numbers.models.first()?);
    let flow = &point.scenario.flows.first()?.name;
    let goodput = numbers.of_model(&point.id, model, flow, "goodput")?;
    let (number, unit) = rate(goodput.mean);
    let at = if file.points.len() > 1 {
        format!(" at `{}`", point.id)
    } else {
        String::new()
    };
    Some(Answer {
        number: format!("{number} {unit}"),
        sentence: format!("`{flow}` gets {number} {unit}{at}, says `{model}`."),
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
            crate::engine::summary::ALL_FLOWS,
            "latency_loaded_p95",
        ))
    };
    add("latency under load, p95", note, range(&find), &of_time);
    let find = |point: &Point| mean(numbers.steady(&point.id, &link, "queue_delay_mean"));
    add("queueing delay, mean", note, range(&find), &of_time);
    let find = |point: &Point| {
        let of = |metric| mean(numbers.get(&point.id, &link, metric));
        let lost = of("drops_overflow")? + of("drops_early")? + of("drops_random")?;
        Some(lost / of("arrived")?.max(1.0))
    };
    add("packets lost", note, range(&find), &in_percent);
    all
}
