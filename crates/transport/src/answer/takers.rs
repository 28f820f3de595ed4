//! Who takes the most of the goodput over the points of a sweep: at how many of them, how much, and
//! how fairly flows share.

use super::finding::{Finding, Metric, Used};
use super::numbers::{Number, Numbers};
use super::words::{Kind, list};
use trammel_scenario::sweep::Point;

/// Takers that a sentence names.
const MOST_NAMES: usize = 3;

/// A flow, its shares where it takes the most.
type Taker<'a> = (&'a str, Vec<Number>);

/// Of each of `points` the flow with the greatest share, where it is clearly that; nothing where
/// there are no flows to compare.
pub(super) fn find(numbers: &Numbers, points: &[&Point]) -> Option<Finding> {
    let mut takers: Vec<Taker<'_>> = Vec::new();
    let (mut used, mut jain): (Vec<Used>, Vec<Number>) = (Vec::new(), Vec::new());
    let (mut all, mut unclear) = (0, 0);
    for point in points.iter().filter(|point| point.scenario.flows.len() > 1) {
        let flows = point.scenario.flows.iter().map(|flow| flow.name.as_str());
        let share = |name| Some((name, numbers.steady(&point.id, name, "share")?));
        let mut shares: Vec<(&str, Number)> = flows.filter_map(share).collect();
        shares.sort_by(|a, b| b.1.mean.total_cmp(&a.1.mean));
        let [(name, most), (_, second), ..] = shares[..] else {
            continue;
        };
        all += 1;
        used.push(Used::new(point, name, "share"));
        jain.extend(
            Metric::FAIRNESS
                .at(numbers, point)
                .map(|(number, _)| number),
        );
        if !most.differs_from(second) {
            unclear += 1;
            continue;
        }
        match takers.iter_mut().find(|(known, _)| *known == name) {
            Some((_, shares)) => shares.push(most),
            None => takers.push((name, vec![most])),
        }
    }
    if all == 0 {
        return None;
    }
    takers.sort_by_key(|(_, shares)| std::cmp::Reverse(shares.len()));
    let (number, sentence) = say(&takers, (all, unclear, points.len()));
    let fairness = Kind::Plain.span(&jain);
    let fairness = fairness.map_or(String::new(), |jain| format!(" Jain's index is {jain}."));
    Some(Finding::new(number, sentence + &fairness).resting_on(used))
}

/// What is shown large, and the sentence, of `all` points with shares.
fn say(takers: &[Taker<'_>], (all, unclear, asked): (usize, usize, usize)) -> (String, String) {
    let missing = match asked - all {
        0 => String::new(),
        n => format!(" {n} more points have no shares."),
    };
    let shown = takers.iter().take(MOST_NAMES);
    let mut said: Vec<String> = shown
        .map(|(name, shares)| {
            let range = Kind::Percent.span(shares).unwrap_or_default();
            format!("`{name}` at {} ({range})", shares.len())
        })
        .collect();
    let others = takers.iter().skip(MOST_NAMES);
    let others: usize = others.map(|(_, shares)| shares.len()).sum();
    if others > 0 {
        said.push(format!("others at {others}"));
    }
    let Some((first, of_first)) = takers.first() else {
        let sentence = format!("No flow clearly takes the most at any of {all} points.{missing}");
        return (String::new(), sentence);
    };
    let unclear = match unclear {
        0 => String::new(),
        n => format!("; no clear difference between the first two at {n}"),
    };
    // One who is ahead as often as another has not won.
    let is_first_alone = takers
        .get(1)
        .is_none_or(|(_, of_second)| of_second.len() < of_first.len());
    let number = if is_first_alone { *first } else { "" };
    let sentence = format!(
        "Takes the most of the goodput, of {all} points: {}{unclear}.{missing}",
        list(&said)
    );
    (number.to_owned(), sentence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_scenario::File;

    #[test]
    fn who_takes_the_most_is_counted_over_the_points() {
        let text = "duration = '1 s'\nanswer = 'share'\n[path]\nrate = '20 Mbit/s'\n\
             rtt = '40 ms'\n[[flow]]\nname = 'A'\nvariant = 'cubic'\n\
             [[flow]]\nname = 'B'\nvariant = 'bbr'\n[[flow]]\nname = 'C'\nvariant = 'reno'\n\
             [sweep]\n'path.rtt' = ['5 ms', '80 ms']\n'path.queue.limit' = ['1 bdp', '8 bdp']";
        let file = File::parse("test.toml", text, std::path::Path::new(".")).unwrap();
        let shares = [
            [0.2, 0.7, 0.1],
            [0.5, 0.3, 0.2],
            [0.1, 0.8, 0.1],
            [0.41, 0.4, 0.19],
        ];
        let mut rows = Vec::new();
        for (point, (of_flows, jain)) in file
            .points
            .iter()
            .zip(shares.iter().zip([0.5, 0.9, 0.45, 0.8]))
        {
            let id = point.id.as_str();
            rows.push((id, crate::run_tables::ALL_FLOWS, "jain", jain));
            for (name, share) in ["A", "B", "C"].into_iter().zip(of_flows) {
                rows.push((id, name, "share", *share));
            }
        }
        let numbers = Numbers::simulated(&file, rows);
        let shape = super::super::axis::Shape::of(&file);
        let found = super::super::share::find(&file, &numbers, &shape).unwrap();
        assert_eq!(found.number, "B");
        assert_eq!(
            found.sentence,
            "Takes the most of the goodput, of 4 points: `B` at 2 (70–80 %) and `A` at 1 (50 %); \
             no clear difference between the first two at 1. Jain's index is 0.45–0.9."
        );
    }
}
