//! How flows divide what they share: who takes most in a matrix, how a share moves along a sweep,
//! what a flow over several bottlenecks loses.

use super::axis::{Matrix, Shape, Sweep};
use super::finding::{Finding, Used};
use super::goal::hops;
use super::matrix::{share, variants};
use super::numbers::{Number, Numbers};
use super::words::{Kind, condition, conditions, list, percent, placed, three};
use trammel_core::time::Time;
use trammel_scenario::File;
use trammel_scenario::model::Goal;
use trammel_scenario::sweep::Point;

/// Less than this part of the goodput is starving.
const STARVED: f64 = 0.1;
/// Groups of points that a sentence names.
const MOST_GROUPS: usize = 4;

pub(super) fn find(file: &File, numbers: &Numbers, shape: &Shape) -> Option<Finding> {
    let hops = hops(&file.points[0].scenario);
    if hops.iter().any(|one| *one != hops[0]) {
        return of_crossing(file, numbers, &hops);
    }
    match shape {
        Shape::Matrix(matrix) => of_matrix(file, numbers, matrix),
        Shape::Sweep(sweep) => of_sweep(file, numbers, sweep),
        Shape::Single => of_point(numbers, &file.points[0]),
    }
}

/// The share of flow number `flow` at `point`.
fn share_of(numbers: &Numbers, point: &Point, flow: usize) -> Option<(Number, Used)> {
    let name = &point.scenario.flows.get(flow)?.name;
    let number = numbers.steady(&point.id, name, "share")?;
    Some((number, Used::new(point, name, "share")))
}

fn of_matrix(file: &File, numbers: &Numbers, matrix: &Matrix) -> Option<Finding> {
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
        format!(" that ran (of {})", names.len())
    } else {
        String::new()
    };
    let fair = means
        .iter()
        .filter(|(_, mean)| (mean - 0.5).abs() <= 0.1)
        .count();
    let used = file.points.iter().filter(|point| numbers.has(&point.id));
    let used = used.filter_map(|point| share_of(numbers, point, 0));
    Some(
        Finding::new(
            percent(most.1),
            format!(
                "`{}` takes the most: {} of the goodput on average against the others. `{}` takes \
                 the least: {}. {fair} of the {} variants{of_asked} average between 40 and 60 %.",
                most.0,
                percent(most.1),
                least.0,
                percent(least.1),
                means.len()
            ),
        )
        .resting_on(used.map(|(_, used)| used)),
    )
}

fn of_sweep(file: &File, numbers: &Numbers, sweep: &Sweep) -> Option<Finding> {
    let flows = &file.points[0].scenario.flows;
    let has_run = |point: &&Point| numbers.has(&point.id);
    let points: Vec<&Point> = file.points.iter().filter(has_run).collect();
    // After an interrupt there may be one point, which is no sweep.
    if let [only] = points[..] {
        return of_point(numbers, only);
    }
    let is_named_alike = |point: &Point| {
        let names = point.scenario.flows.iter().map(|flow| &flow.name);
        names.eq(flows.iter().map(|flow| &flow.name))
    };
    let at = sweep.axis.filter(|_| sweep.others.is_empty());
    let is_pair = flows.len() == 2 && points.iter().all(|point| is_named_alike(point));
    let (Some(at), true) = (at, is_pair) else {
        let ranked = super::rank::find(file, numbers, &[super::finding::Metric::FAIRNESS]);
        // Where a file does not ask for shares, another goal may say more.
        let is_asked = file.points[0].scenario.answer == Some(Goal::Share);
        return ranked.or_else(|| super::takers::find(numbers, &points).filter(|_| is_asked));
    };
    along(numbers, points, at)
}

/// How the share of the first of two flows moves along the axis `at`.
fn along(numbers: &Numbers, mut points: Vec<&Point>, at: usize) -> Option<Finding> {
    points.sort_by(|a, b| {
        let number = |point: &Point| point.swept[at].number.unwrap_or_default();
        number(a).total_cmp(&number(b))
    });
    if let Some(finding) = starving(numbers, &points, at) {
        return Some(finding);
    }
    let (first, last) = (*points.first()?, *points.last()?);
    let (from, first_used) = share_of(numbers, first, 0)?;
    let (to, last_used) = share_of(numbers, last, 0)?;
    let flow = &first.scenario.flows[0].name;
    let said = |number: Number, point: &Point| {
        let (number, place) = (Kind::Percent.with_interval(number), condition(point, at));
        format!("{number} {place}")
    };
    let both = format!("{} and {}", said(from, first), said(to, last));
    let finding = if from.differs_from(to) {
        Finding::new(
            format!("{} → {}", percent(from.mean), percent(to.mean)),
            format!("`{flow}` takes {both}."),
        )
    } else {
        let (low, high) = (from.mean.min(to.mean), from.mean.max(to.mean));
        let middle = Kind::Percent.range(low, high);
        Finding::new(
            middle,
            format!("`{flow}` takes {both}: no clear difference."),
        )
    };
    Some(finding.resting_on([first_used, last_used]))
}

/// Where along the axis one of two flows has less than a tenth of the goodput.
fn starving(numbers: &Numbers, points: &[&Point], at: usize) -> Option<Finding> {
    for flow in [1, 0] {
        let shares: Option<Vec<(Number, Used)>> = points
            .iter()
            .map(|point| share_of(numbers, point, flow))
            .collect();
        let (shares, used): (Vec<Number>, Vec<Used>) = shares?.into_iter().unzip();
        let low: Vec<bool> = shares.iter().map(|share| share.mean < STARVED).collect();
        let changes = low.windows(2).filter(|pair| pair[0] != pair[1]).count();
        if changes != 1 {
            continue;
        }
        // Starved from one end of the axis up to somewhere in it.
        let (place, words) = match low.iter().position(|is_low| *is_low)? {
            0 => (low.iter().rposition(|is_low| *is_low)?, "and below"),
            first => (first, "and above"),
        };
        let means = shares.iter().map(|share| share.mean);
        let (least, most) = means.fold((1.0, 0.0), |(l, m): (f64, f64), s| (l.min(s), m.max(s)));
        let starved = points[place];
        let sentence = format!(
            "`{}` gets less than a tenth of the goodput {} {words}. Along the sweep its share lies \
             between {} and {}.",
            starved.scenario.flows[flow].name,
            condition(starved, at),
            percent(least),
            percent(most)
        );
        return Some(Finding::new(placed(starved, at), sentence).resting_on(used));
    }
    None
}

fn of_point(numbers: &Numbers, point: &Point) -> Option<Finding> {
    let flows = &point.scenario.flows;
    if flows.len() < 2 {
        return None;
    }
    let shares: Option<Vec<(Number, Used)>> = (0..flows.len())
        .map(|flow| share_of(numbers, point, flow))
        .collect();
    let (shares, used): (Vec<Number>, Vec<Used>) = shares?.into_iter().unzip();
    let order = |a: &&usize, b: &&usize| shares[**a].mean.total_cmp(&shares[**b].mean);
    let all: Vec<usize> = (0..flows.len()).collect();
    let (winner, loser) = (*all.iter().max_by(order)?, *all.iter().min_by(order)?);
    let jain = numbers.of_all(&point.id, "jain");
    let fairness = jain.map_or(String::new(), |jain| {
        format!(" Jain's index is {}.", Kind::Plain.mean(jain))
    });
    let window = window(numbers, point);
    let (most, least) = (shares[winner], shares[loser]);
    let names = (&flows[winner].name, &flows[loser].name);
    let finding = if flows.len() > 2 && !most.differs_from(least) {
        let range = Kind::Percent.range(least.mean, most.mean);
        Finding::new(
            range.clone(),
            format!(
                "No clear difference: of {} flows each takes {range} of the \
                 goodput.{fairness}{window}",
                flows.len()
            ),
        )
    } else if flows.len() > 2 {
        let number = jain.map_or_else(|| percent(most.mean), |jain| Kind::Plain.mean(jain));
        Finding::new(
            number,
            format!(
                "Of the goodput of {} flows `{}` takes the most, {}, and `{}` the least, \
                 {}.{fairness}{window}",
                flows.len(),
                names.0,
                percent(most.mean),
                names.1,
                percent(least.mean)
            ),
        )
    } else if most.differs_from(least) {
        Finding::new(
            Kind::Percent.mean(most),
            format!(
                "`{}` takes {} of the goodput, `{}` {}.{fairness}{window}",
                names.0,
                Kind::Percent.with_interval(most),
                names.1,
                percent(1.0 - most.mean)
            ),
        )
    } else {
        Finding::new(
            Kind::Percent.range(least.mean, most.mean),
            format!(
                "No clear difference: `{}` takes {} of the goodput, `{}` {}.{fairness}{window}",
                names.0,
                Kind::Percent.with_interval(most),
                names.1,
                percent(1.0 - most.mean)
            ),
        )
    };
    Some(finding.resting_on(used))
}

/// Which flows were not there for all of the time that shares are of.
fn window(numbers: &Numbers, point: &Point) -> String {
    /// A flow that misses less than this part of the window is there all the time.
    const ALL: f64 = 0.95;
    let scenario = &point.scenario;
    let end = scenario.duration.as_secs_f64();
    // Where all was done before the warm-up ended, shares are of the whole run.
    let is_late = |name: &str| numbers.get(&point.id, name, "late_share").is_some();
    let is_late = scenario.flows.iter().any(|flow| is_late(&flow.name));
    let from = if is_late {
        scenario.warmup.as_secs_f64()
    } else {
        0.0
    };
    let parts = scenario.flows.iter().filter_map(|flow| {
        let active = numbers.get(&point.id, &flow.name, "active")?.mean;
        // Of what a flow was active before the warm-up nothing counts.
        let start = flow.start.map_or(0.0, Time::as_secs_f64);
        let active = (active - (from - start).max(0.0)).max(0.0);
        let is_short = active < ALL * (end - from);
        is_short.then(|| format!("`{}` was active for {}", flow.name, three(active)))
    });
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() || parts.len() > MOST_GROUPS {
        return String::new();
    }
    format!(" Of {} s, {} s.", three(end - from), list(&parts))
}

/// What a flow over several bottlenecks gets beside those that cross fewer.
fn of_crossing(file: &File, numbers: &Numbers, hops: &[usize]) -> Option<Finding> {
    let most = *hops.iter().max()?;
    let long: Vec<usize> = (0..hops.len()).filter(|n| hops[*n] == most).collect();
    let [long] = long[..] else { return None };
    let all: Vec<usize> = (0..file.points[0].swept.len()).collect();
    let mut used = Vec::new();
    let mut parts = Vec::new();
    let mut name_of = String::new();
    for point in file.points.iter().filter(|point| numbers.has(&point.id)) {
        let flows = &point.scenario.flows;
        let goodput = |n: usize| numbers.steady(&point.id, &flows[n].name, "goodput");
        let own = goodput(long)?;
        let others = (0..flows.len()).filter(|n| *n != long);
        let others: Vec<f64> = others.filter_map(goodput).map(|one| one.mean).collect();
        let mean = others.iter().sum::<f64>() / others.len().max(1) as f64;
        if mean <= 0.0 {
            return None;
        }
        name_of.clone_from(&flows[long].name);
        used.push(Used::new(point, &flows[long].name, "goodput"));
        parts.push((own, mean, conditions(point, &all)));
    }
    let ratios = parts.iter().map(|(own, mean, _)| own.mean / mean);
    let (low, high) = ratios.fold((f64::MAX, 0.0), |(l, h): (f64, f64), r| {
        (l.min(r), h.max(r))
    });
    if parts.is_empty() {
        return None;
    }
    let more = match parts.len().saturating_sub(MOST_GROUPS) {
        0 => String::new(),
        n => format!("; and so at {n} more points"),
    };
    let said: Vec<String> = parts
        .iter()
        .take(MOST_GROUPS)
        .map(|(own, mean, place)| {
            let own = Kind::Rate.mean(*own);
            let others = Kind::Rate.range(*mean, *mean);
            format!("{own} against {others} {place}").trim().to_owned()
        })
        .collect();
    let sentence = format!(
        "`{name_of}`, over {most} bottlenecks, gets {} of what the flows over fewer get on \
         average: {}{more}.",
        Kind::Percent.range(low, high),
        said.join("; ")
    );
    Some(Finding::new(Kind::Percent.range(low, high), sentence).resting_on(used))
}
