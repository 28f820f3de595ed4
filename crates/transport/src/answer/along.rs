//! How one metric moves along a swept number, or what it is where nothing is swept.

use super::axis::{Shape, Sweep, varying};
use super::finding::{Finding, Metric, Used};
use super::numbers::{Number, Numbers};
use super::words::{capital, condition, conditions};
use trammel_scenario::File;
use trammel_scenario::sweep::Point;

/// Groups of points that a sentence names.
const MOST_GROUPS: usize = 2;

/// What `metric` is, by the shape of the file. Swept names are not compared here.
pub(super) fn find(
    file: &File,
    numbers: &Numbers,
    shape: &Shape,
    metric: Metric,
) -> Option<Finding> {
    let points: Vec<&Point> = file
        .points
        .iter()
        .filter(|point| numbers.has(&point.id))
        .collect();
    match shape {
        Shape::Sweep(Sweep { axis: Some(at), .. }) if points.len() > 1 => {
            along(file, numbers, &points, *at, metric)
        }
        // After an interrupt there may be one point, which is no sweep.
        _ => match points[..] {
            [only] => at_point(numbers, only, metric),
            _ => None,
        },
    }
}

fn at_point(numbers: &Numbers, point: &Point, metric: Metric) -> Option<Finding> {
    let (number, used) = metric.at(numbers, point)?;
    let said = metric.kind.mean(number);
    let flows = &point.scenario.flows;
    let of_flow = matches!(&flows[..], [_]) && metric.name == Metric::GOODPUT.name;
    let sentence = if of_flow {
        let name = &flows[0].name;
        let completion = numbers.get(&point.id, name, "completion");
        let done = completion.map_or(String::new(), |s| {
            format!(", done in {}", super::words::Kind::Seconds.mean(s))
        });
        let used = numbers.of_bottleneck(&point.id, "utilisation");
        let of_link = used.map_or(String::new(), |used| {
            format!(
                "; the bottleneck is {} used",
                super::words::Kind::Percent.mean(used)
            )
        });
        let goodput = metric.kind.with_interval(number);
        format!("`{name}` gets {goodput} of goodput{done}{of_link}.")
    } else {
        let said = metric.kind.with_interval(number);
        format!("{}: {said}.", capital(&subject(metric, point)))
    };
    Some(Finding::new(said, sentence).resting_on([used]))
}

/// `mean queueing delay at the bottleneck`, `goodput of the 4 flows together`.
fn subject(metric: Metric, point: &Point) -> String {
    let flows = point.scenario.flows.len();
    match metric.name {
        "goodput" if flows > 1 => format!("goodput of the {flows} flows together"),
        "queue_delay_mean" => "average queueing delay".to_owned(),
        _ => metric.words.to_owned(),
    }
}

fn along<'a>(
    file: &File,
    numbers: &Numbers,
    points: &[&'a Point],
    at: usize,
    metric: Metric,
) -> Option<Finding> {
    let others: Vec<usize> = varying(file)
        .into_iter()
        .filter(|other| *other != at && !super::axis::follows(file, *other, at))
        .collect();
    let mut groups: Vec<(String, Vec<&'a Point>)> = Vec::new();
    for point in points {
        let group = conditions(point, &others);
        match groups.iter_mut().find(|(known, _)| *known == group) {
            Some((_, points)) => points.push(point),
            None => groups.push((group, vec![point])),
        }
    }
    let mut found: Vec<Group<'_>> = Vec::new();
    for (name, mut points) in groups {
        points.sort_by(|a, b| {
            let number = |point: &Point| point.swept[at].number.unwrap_or_default();
            number(a).total_cmp(&number(b))
        });
        let one = |point: &'a Point| {
            let (number, used) = metric.at(numbers, point)?;
            Some((point, number, used))
        };
        let all: Vec<_> = points.into_iter().filter_map(one).collect();
        if !all.is_empty() {
            found.push(Group { name, all });
        }
    }
    let (shown, said) = of_groups(metric, &found, at)?;
    let with_one: usize = found.iter().map(|group| group.all.len()).sum();
    let missing = match points.len() - with_one {
        0 => String::new(),
        1 => format!(" 1 of {} points has none.", points.len()),
        n => format!(" {n} of {} points have none.", points.len()),
    };
    let used: Vec<Used> = match &found[..] {
        [Group { all, .. }] => vec![all[0].2.clone(), all[all.len() - 1].2.clone()],
        groups => {
            let all = groups.iter().flat_map(|group| &group.all);
            all.map(|(.., used)| used.clone()).collect()
        }
    };
    let what = capital(&subject(metric, points[0]));
    Some(Finding::new(shown, format!("{what}: {said}{missing}")).resting_on(used))
}

/// The points of one condition along the axis, those with a number.
struct Group<'a> {
    /// What the points have in common; empty where there is one group.
    name: String,
    /// By their place on the axis; at least one.
    all: Vec<(&'a Point, Number, Used)>,
}

/// What is shown large of all groups, and the sentence: both ends of the first ones, and between
/// what the others lie.
fn of_groups(metric: Metric, groups: &[Group<'_>], at: usize) -> Option<(String, String)> {
    let (named, others) = groups.split_at(groups.len().min(MOST_GROUPS));
    let mut parts = Vec::new();
    let mut said: Vec<Number> = Vec::new();
    for Group { name, all } in named {
        let ((first, from, _), (last, to, _)) = (all.first()?, all.last()?);
        let (part, arrow) = ends(metric, (first, *from), (last, *to), at);
        if groups.len() == 1 {
            return Some((arrow, format!("{part}.")));
        }
        parts.push(format!("{name}: {part}"));
        said.extend([*from, *to]);
    }
    let numbers = |groups: &[Group<'_>]| -> Vec<Number> {
        let all = groups.iter().flat_map(|group| &group.all);
        all.map(|(_, number, _)| *number).collect()
    };
    if !others.is_empty() {
        let rest = numbers(others);
        let cases = match others {
            [only] => only.name.clone(),
            _ => format!("in {} more cases", others.len()),
        };
        parts.push(format!("{cases}: {}", metric.kind.span(&rest)?));
        said.extend(rest);
    }
    let all = numbers(groups);
    let shown = metric.kind.span(&all)?;
    // A number between both ends of the axis may lie beyond them.
    let beyond = if metric.kind.span(&said)? == shown {
        String::new()
    } else {
        format!(" Over all {} points: {shown}.", all.len())
    };
    let sentence = format!("{}.{beyond}", parts.join("; "));
    Some((shown, sentence))
}

/// Both ends of an axis, and what is shown large of them.
fn ends(
    metric: Metric,
    (first, from): (&Point, Number),
    (last, to): (&Point, Number),
    at: usize,
) -> (String, String) {
    let said = |number: Number, point: &Point| {
        let number = metric.kind.with_interval(number);
        format!("{number} {}", condition(point, at))
    };
    let both = format!("{}, {}", said(from, first), said(to, last));
    if from.differs_from(to) {
        let arrow = format!("{} → {}", metric.kind.mean(from), metric.kind.mean(to));
        return (both, arrow);
    }
    let span = metric.kind.span(&[from, to]).unwrap_or_default();
    (format!("{both} (no clear difference)"), span)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(sweep: &str) -> File {
        let text = format!(
            "duration = '1 s'\n[path]\nrate = '20 Mbit/s'\nrtt = '40 ms'\n\
             [[flow]]\nname = 'a'\nvariant = 'cubic'\n[sweep]\n{sweep}"
        );
        File::parse("test.toml", &text, std::path::Path::new(".")).unwrap()
    }

    /// What is found where the goodput at the points is `values`, in their order.
    fn found(file: &File, values: &[Option<f64>]) -> Finding {
        let points = file.points.iter().zip(values);
        let rows = points.filter_map(|(point, v)| Some((point.id.as_str(), "a", "goodput", (*v)?)));
        // Every point has run, even where its flow got nothing that counts.
        let runs = file.points.iter();
        let runs = runs.map(|point| (point.id.as_str(), "a", "sent", 1.0));
        let numbers = Numbers::simulated(file, rows.chain(runs));
        find(file, &numbers, &Shape::of(file), Metric::GOODPUT).unwrap()
    }

    const BOTH: &str = "'path.rtt' = ['10 ms', '40 ms', '160 ms']\n\
                        'path.queue.limit' = ['0.25 bdp', '1 bdp', '4 bdp']";

    #[test]
    fn a_sentence_that_leaves_groups_out_says_between_what_they_lie() {
        let file = file(BOTH);
        let values = [18.6, 18.65, 18.7, 18.3, 18.4, 18.5, 17.0, 17.1, 17.2].map(Some);
        let Finding {
            number,
            sentence,
            used,
        } = found(&file, &values);
        assert_eq!(number, "17–18.7 Mbit/s");
        assert!(sentence.contains("with a queue of 1 BDP: "), "{sentence}");
        let end = "; with a queue of 4 BDP: 17.2–18.7 Mbit/s.";
        assert!(sentence.ends_with(end), "{sentence}");
        assert_eq!(used.len(), 9);
    }

    #[test]
    fn a_number_between_the_ends_is_not_beyond_what_is_said() {
        let file = file(
            "'path.rtt' = ['10 ms', '40 ms', '160 ms']\n'path.rate' = ['5 Mbit/s', '50 Mbit/s']",
        );
        let values = [4.0, 41.0, 4.2, 47.0, 4.4, 43.0].map(Some);
        let Finding {
            number, sentence, ..
        } = found(&file, &values);
        assert_eq!(number, "4–47 Mbit/s");
        let end = " Over all 6 points: 4–47 Mbit/s.";
        assert!(sentence.ends_with(end), "{sentence}");
    }

    #[test]
    fn points_without_a_number_are_counted() {
        let file = file(BOTH);
        let mut values = [18.6, 18.65, 18.7, 18.3, 18.4, 18.5, 17.0, 17.1, 17.2].map(Some);
        values[2] = None;
        let sentence = found(&file, &values).sentence;
        assert!(sentence.ends_with(" 1 of 9 points has none."), "{sentence}");
        assert!(sentence.contains("17.2–18.5 Mbit/s"), "{sentence}");
    }
}
