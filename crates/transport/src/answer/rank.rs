//! Which of several swept names is best, within one path: points that differ in more than their
//! names are never compared.

use super::axis::{follows, names, value, varying};
use super::finding::{Finding, Metric, Used};
use super::numbers::{Number, Numbers};
use super::words::{Kind, capital, conditions, list, percent};
use std::collections::BTreeMap;
use trammel_scenario::File;
use trammel_scenario::sweep::Point;

/// Paths that a sentence names one by one.
const MOST_PATHS: usize = 4;
/// Names that a sentence names one by one.
const MOST_NAMES: usize = 3;
/// Of a delay the best one is sought among those that use the link at least this much of what the
/// best of them does.
const USES: f64 = 0.9;

/// One of the names at one path.
#[derive(Clone, Debug)]
struct Candidate {
    name: String,
    number: Number,
    used: Used,
}

/// The names at one path, the best one first.
#[derive(Debug)]
struct Ranking {
    /// What tells the path from others; empty where there is one.
    path: String,
    all: Vec<Candidate>,
    /// How many of the first are not clearly worse than the first.
    tied: usize,
    /// How many were left out since they idle the link.
    idle: usize,
    /// The names of those that have no such number: nothing came to an end, say.
    without: Vec<String>,
}

impl Ranking {
    fn winners(&self) -> String {
        if self.tied > MOST_NAMES {
            let (tied, all) = (self.tied, self.all.len());
            return format!("{tied} of {all} without a clear difference,");
        }
        let names: Vec<String> = self.all[..self.tied]
            .iter()
            .map(|one| format!("`{}`", one.name))
            .collect();
        list(&names)
    }

    fn compares(&self) -> bool {
        self.all.len() + self.idle > 1 && !self.all.is_empty()
    }

    fn is_clear(&self) -> bool {
        self.tied < self.all.len() || (self.all.len() == 1 && self.idle > 0)
    }
}

/// The least and the greatest number of `which`.
fn range(kind: Kind, which: &[Candidate]) -> String {
    let means = which.iter().map(|one| one.number.mean);
    let (low, high) = means.fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(v), h.max(v)));
    kind.range(low, high)
}

/// The best name by the first of `metrics` that tells names apart at some path; where none does,
/// that the first tells none apart.
pub(super) fn find(file: &File, numbers: &Numbers, metrics: &[Metric]) -> Option<Finding> {
    let names = names(file);
    if names.is_empty() {
        return None;
    }
    let mut others: Vec<usize> = varying(file);
    others.retain(|at| !names.contains(at));
    // What varies together with another parameter tells no path from it.
    let all = others.clone();
    others.retain(|at| {
        let before = all.iter().take_while(|other| *other != at);
        !before.into_iter().any(|other| follows(file, *at, *other))
    });
    let mut first = None;
    for metric in metrics {
        let all = rankings(file, numbers, *metric, &names, &others);
        let without = without(*metric, &all);
        // Of one name nothing is said by comparing.
        let rankings: Vec<Ranking> = all.into_iter().filter(Ranking::compares).collect();
        if rankings.is_empty() {
            continue;
        }
        let is_clear = rankings.iter().any(Ranking::is_clear);
        if is_clear || first.is_none() {
            let mut found = say(*metric, &rankings);
            found.sentence += &without;
            first = Some(found);
        }
        if is_clear {
            return first;
        }
    }
    first
}

fn rankings(
    file: &File,
    numbers: &Numbers,
    metric: Metric,
    names: &[usize],
    others: &[usize],
) -> Vec<Ranking> {
    let mut paths: Vec<(String, Vec<&Point>)> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for point in file.points.iter().filter(|point| numbers.has(&point.id)) {
        let path = conditions(point, others);
        let place = *places.entry(path.clone()).or_insert(paths.len());
        match paths.get_mut(place) {
            Some((_, points)) => points.push(point),
            None => paths.push((path, vec![point])),
        }
    }
    let ranked = paths.into_iter().map(|(path, points)| {
        let used_most = points.iter().filter_map(|point| use_of(numbers, point));
        let used_most = used_most.fold(0.0, f64::max);
        let idles = |point: &Point| {
            metric.name == Metric::DELAY.name
                && use_of(numbers, point).is_some_and(|used| used < USES * used_most)
        };
        let idle = points.iter().filter(|point| idles(point)).count();
        let (mut all, mut without): (Vec<Candidate>, Vec<String>) = (Vec::new(), Vec::new());
        for point in points.into_iter().filter(|point| !idles(point)) {
            let name = name_of(file, point, names);
            match metric.at(numbers, point) {
                Some((number, used)) => all.push(Candidate { name, number, used }),
                None => without.push(name),
            }
        }
        all.sort_by(|a, b| {
            let order = a.number.mean.total_cmp(&b.number.mean);
            if metric.more_is_better {
                order.reverse()
            } else {
                order
            }
        });
        let is_worse = |one: &Candidate| all[0].number.differs_from(one.number);
        let tied = all.iter().position(is_worse).unwrap_or(all.len());
        Ranking {
            path,
            all,
            tied,
            idle,
            without,
        }
    });
    ranked.collect()
}

/// The names of a point: `vegas`, or `codel, reno` where two kinds of name are swept.
fn name_of(file: &File, point: &Point, names: &[usize]) -> String {
    let mut all: Vec<String> = names.iter().map(|at| short(file, point, *at)).collect();
    all.dedup();
    all.join(", ")
}

/// The value of the name `at`, without the parameters behind it where the name alone tells it from
/// the others.
fn short(file: &File, point: &Point, at: usize) -> String {
    let first = |whole: &str| {
        let mut words = whole.split([',', ' ']);
        words.next().unwrap_or_default().to_owned()
    };
    let whole = value(point, at);
    // Of a switch, which one it is says more than its position.
    if matches!(whole.as_str(), "true" | "false") {
        return format!("{} = {whole}", last_of_key(point, at));
    }
    let head = first(&whole);
    let is_other = |point: &Point| {
        let other = value(point, at);
        other != whole && first(&other) == head
    };
    if file.points.iter().any(is_other) {
        whole
    } else {
        head
    }
}

/// The word of a swept key that stands in its table: `pacing` of `flow.*.pacing`.
fn last_of_key(point: &Point, at: usize) -> &str {
    let key = &point.swept[at].key;
    key.rsplit('.').next().unwrap_or(key)
}

fn use_of(numbers: &Numbers, point: &Point) -> Option<f64> {
    Some(numbers.of_bottleneck(&point.id, "utilisation")?.mean)
}

fn say(metric: Metric, rankings: &[Ranking]) -> Finding {
    let used: Vec<Used> = rankings
        .iter()
        .flat_map(|one| one.all.iter().map(|candidate| candidate.used.clone()))
        .collect();
    let Metric { words, kind, .. } = metric;
    let finding = match rankings {
        all if all.iter().all(|one| !one.is_clear()) => none_differs(metric, all),
        [only] => {
            let (best, worst) = (&only.all[0], only.all.last().expect("there is one"));
            let others = if only.tied > 1 {
                format!(
                    "{} (no clear difference), {}",
                    only.winners(),
                    range(kind, &only.all[..only.tied])
                )
            } else {
                format!("{}, {}", only.winners(), kind.with_interval(best.number))
            };
            let least = if only.tied < only.all.len() {
                format!(
                    " {}: `{}`, {}.",
                    capital(metric.worst()),
                    worst.name,
                    kind.with_interval(worst.number)
                )
            } else {
                String::new()
            };
            let head = capital(metric.best());
            Finding::new(number(only), format!("{head} {words}: {others}.{least}"))
        }
        all if all.len() <= MOST_PATHS => {
            let same = all.iter().all(|one| one.winners() == all[0].winners());
            let parts: Vec<String> = all.iter().map(|one| part(metric, one, !same)).collect();
            let head = format!("{} {words}", capital(metric.best()));
            let sentence = if same {
                format!("{head}: {}, {}.", all[0].winners(), parts.join("; "))
            } else {
                format!("{head}: {}.", parts.join("; "))
            };
            let shown = if same { number(&all[0]) } else { String::new() };
            Finding::new(shown, sentence)
        }
        all => count(metric, all),
    };
    let idle = rankings.iter().map(|one| one.idle).sum::<usize>();
    let idle = match idle {
        0 => String::new(),
        1 => format!(
            " One that uses less than {} of the best link use is left out.",
            percent(USES)
        ),
        n => format!(
            " {n} that use less than {} of the best link use are left out.",
            percent(USES)
        ),
    };
    Finding {
        sentence: finding.sentence + &idle,
        ..finding
    }
    .resting_on(used)
}

/// Which names have no such number, and at how many of the paths: ranks do not cover those.
fn without(metric: Metric, all: &[Ranking]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for name in all.iter().flat_map(|one| &one.without) {
        match counts.iter_mut().find(|(known, _)| known == name) {
            Some((_, n)) => *n += 1,
            None => counts.push((name, 1)),
        }
    }
    counts.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let of = |n: usize| match (n, all.len()) {
        (_, 1) => String::new(),
        (n, paths) => format!(" at {n} of {paths} paths"),
    };
    let more = counts.len().saturating_sub(MOST_NAMES);
    let shown = counts.iter().take(MOST_NAMES);
    let mut said: Vec<String> = shown
        .map(|(name, n)| format!("`{name}`{}", of(*n)))
        .collect();
    if more > 0 {
        said.push(format!("{more} more"));
    }
    // Of the time of pages everybody asks why there is none.
    let why = match metric.name {
        "time_p50" => ": no page was loaded",
        _ => "",
    };
    match said.len() {
        0 => String::new(),
        _ => format!(" Without one: {}{why}.", list(&said)),
    }
}

/// What is shown large: the only best name.
fn number(ranking: &Ranking) -> String {
    if ranking.tied == 1 {
        ranking.all[0].name.clone()
    } else {
        String::new()
    }
}

/// The best at one path: `` `codel` 5.1 ms at 10 Mbit/s ``.
fn part(metric: Metric, ranking: &Ranking, with_name: bool) -> String {
    let value = range(metric.kind, &ranking.all[..ranking.tied]);
    if !ranking.is_clear() {
        return format!("no clear difference {} ({value})", ranking.path);
    }
    let name = if with_name {
        format!("{} ", ranking.winners())
    } else {
        String::new()
    };
    format!("{name}{value} {}", ranking.path)
}

fn none_differs(metric: Metric, all: &[Ranking]) -> Finding {
    let everything: Vec<Candidate> = all.iter().flat_map(|one| one.all.clone()).collect();
    let where_to = if all.len() > 1 {
        " at any of the paths"
    } else {
        ""
    };
    let means = range(metric.kind, &everything);
    Finding::new(
        "",
        format!(
            "No clear difference in {} between the {} compared{where_to}: {means}.",
            metric.words,
            all[0].all.len()
        ),
    )
}

/// Of many paths: who is best at how many.
fn count(metric: Metric, all: &[Ranking]) -> Finding {
    let mut wins: Vec<(&str, usize)> = Vec::new();
    for ranking in all.iter().filter(|one| one.is_clear()) {
        for winner in &ranking.all[..ranking.tied] {
            match wins.iter_mut().find(|(name, _)| *name == winner.name) {
                Some((_, n)) => *n += 1,
                None => wins.push((&winner.name, 1)),
            }
        }
    }
    wins.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let shown = wins.iter().take(MOST_NAMES);
    let mut said: Vec<String> = shown.map(|(name, n)| format!("`{name}` at {n}")).collect();
    match wins.len().saturating_sub(MOST_NAMES) {
        0 => {}
        1 => said.push(format!("1 other at {}", wins[MOST_NAMES].1)),
        n => said.push(format!("{n} others at {} or fewer", wins[MOST_NAMES].1)),
    }
    let number = wins.first().map_or("", |(name, _)| *name);
    let unclear = all.iter().filter(|one| !one.is_clear()).count();
    let rest = if unclear > 0 {
        format!("; no clear difference at {unclear}")
    } else {
        String::new()
    };
    Finding::new(
        number,
        format!(
            "{} {} or no clear difference to it, of {} paths: {}{rest}.",
            capital(metric.best()),
            metric.words,
            all.len(),
            list(&said)
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is best of two queues at three rates, where the numbers of the points are `values`.
    fn found(values: [Option<f64>; 6]) -> Option<String> {
        let text = "duration = '1 s'\n[path]\nrate = '20 Mbit/s'\nrtt = '40 ms'\n\
             [[flow]]\nname = 'a'\nvariant = 'cubic'\n[sweep]\n\
             'path.rate' = ['5 Mbit/s', '20 Mbit/s', '80 Mbit/s']\n\
             'path.queue.discipline' = ['droptail', 'fq_codel']";
        let file = File::parse("test.toml", text, std::path::Path::new(".")).unwrap();
        let points = file.points.iter().zip(values);
        let rows = points.filter_map(|(point, v)| Some((point.id.as_str(), "a", "completion", v?)));
        let runs = file.points.iter();
        let runs = runs.map(|point| (point.id.as_str(), "a", "sent", 1.0));
        let numbers = Numbers::simulated(&file, rows.chain(runs));
        Some(find(&file, &numbers, &[Metric::COMPLETION])?.sentence)
    }

    #[test]
    fn names_without_a_number_are_said() {
        let values = [None, Some(3.0), None, None, Some(2.0), Some(1.0)];
        let sentence = found(values).unwrap();
        let end = " Without one: `droptail` at 2 of 3 paths and `fq_codel` at 1 of 3 paths.";
        assert!(sentence.ends_with(end), "{sentence}");
        let all = [4.0, 3.0, 4.0, 3.0, 4.0, 3.0].map(Some);
        assert!(!found(all).unwrap().contains("Without"));
        assert_eq!(found([None; 6]), None);
    }
}
