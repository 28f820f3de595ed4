//! Of which points and repeats a report shows curves over time, and which of them share plots.

use super::axis::{named_alike, names, values, varying};
use trammel_scenario::File;

/// Points that differ in names only, in one plot at most: there are as many colours.
const MOST_OVERLAID: usize = 8;
/// Alternatives at most, points times repeats. Where there are more points, the first, the last and
/// some evenly between them are taken: a page has so many points of curves in all, and with more
/// alternatives each would be coarse.
const MOST_ALTERNATIVES: usize = 20;
/// Repeats of a point at most.
const MOST_REPEATS: u32 = 5;
/// Runs whose curves are kept at most, where several share a plot.
const MOST_RUNS: usize = 60;

/// One alternative: what its points have in common, and the points.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Setting {
    /// `queue limit = 0.5 BDP`; empty where there is one setting only.
    pub(super) name: String,
    /// The points, by their places in the file.
    pub(super) points: Vec<usize>,
    /// What is not common to them, whose values name the curves.
    pub(super) names: Vec<usize>,
}

/// The points of which a report shows curves.
pub(crate) fn shown_points(file: &File) -> Vec<usize> {
    let settings = settings(file).into_iter();
    settings.flat_map(|setting| setting.points).collect()
}

/// How many repeats of each of these points have curves: as many as leave few alternatives.
pub(crate) fn shown_repeats(file: &File) -> u32 {
    let settings = settings(file);
    let runs: usize = settings.iter().map(|setting| setting.points.len()).sum();
    let fit = (MOST_ALTERNATIVES / settings.len().max(1)).min(MOST_RUNS / runs.max(1));
    let repeats = file.points.iter().map(|point| point.scenario.repeat);
    let asked = repeats.max().unwrap_or(1);
    asked.min(MOST_REPEATS).min(fit as u32).max(1)
}

/// The alternatives of a report: with one flow a point, points that differ only in names are in one
/// of them.
pub(super) fn settings(file: &File) -> Vec<Setting> {
    let names = names(file);
    let mut others = varying(file);
    others.retain(|at| !names.contains(at));
    let groups = named_alike(file, |point| values(point, &others));
    let is_few = groups
        .iter()
        .all(|(_, points)| (2..=MOST_OVERLAID).contains(&points.len()));
    let largest = groups.iter().map(|(_, points)| points.len()).max();
    let most = MOST_ALTERNATIVES.min(MOST_RUNS / largest.unwrap_or(1));
    let groups = spread(groups, most.max(1));
    let has_one_flow = |at: &usize| {
        let scenario = &file.points[*at].scenario;
        scenario.flows.len() == 1 && scenario.workloads.is_empty()
    };
    let mut shown = groups.iter().flat_map(|(_, points)| points);
    if is_few && shown.all(has_one_flow) {
        let setting = |(name, points)| Setting {
            name,
            points,
            names: names.clone(),
        };
        return groups.into_iter().map(setting).collect();
    }
    let points = spread((0..file.points.len()).collect(), MOST_ALTERNATIVES);
    let varying = varying(file);
    let setting = |at: usize| Setting {
        name: values(&file.points[at], &varying),
        points: vec![at],
        names: Vec::new(),
    };
    points.into_iter().map(setting).collect()
}

/// All where they are `most` at most, else so many: the first, the last and some evenly between
/// them.
fn spread<T>(all: Vec<T>, most: usize) -> Vec<T> {
    let n = all.len();
    if n <= most {
        return all;
    }
    let gaps = most.saturating_sub(1).max(1);
    let kept: Vec<usize> = (0..most).map(|one| one * (n - 1) / gaps).collect();
    let all = all.into_iter().enumerate();
    all.filter_map(|(at, one)| kept.contains(&at).then_some(one))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(rest: &str) -> File {
        let text = format!(
            "duration = '1 s'\n[path]\nrate = '10 Mbit/s'\nrtt = '20 ms'\n\
             queue = {{ limit = '1 bdp' }}\n{rest}"
        );
        File::parse("test.toml", &text, std::path::Path::new(".")).unwrap()
    }

    #[test]
    fn variants_of_one_flow_share_plots() {
        let file = file(
            "[[flow]]\nvariant = 'cubic'\n[sweep]\n'flow.0.variant' = ['reno', 'cubic', 'vegas']\n\
             'path.queue.limit' = ['0.5 bdp', '1 bdp', '2 bdp', '4 bdp']",
        );
        let settings = settings(&file);
        let names: Vec<&str> = settings.iter().map(|one| one.name.as_str()).collect();
        let wanted = ["0.5", "1", "2", "4"].map(|limit| format!("queue limit = {limit} BDP"));
        assert_eq!(names, wanted);
        assert!(settings.iter().all(|one| one.points.len() == 3));
        assert_eq!(shown_points(&file).len(), 12);
        assert_eq!(shown_repeats(&file), 1);
    }

    #[test]
    fn of_many_points_some_evenly_between_the_ends_are_shown() {
        let rates: Vec<String> = (1..=200).map(|rate| format!("'{rate} Mbit/s'")).collect();
        let rates = rates.join(", ");
        let file = file(&format!(
            "[[flow]]\nvariant = 'reno'\n[[flow]]\nvariant = 'cubic'\n[sweep]\n\
             'path.rate' = [{rates}]"
        ));
        let points = shown_points(&file);
        assert_eq!(points.len(), MOST_ALTERNATIVES);
        assert_eq!((points[0], points[1], points[19]), (0, 10, 199));
    }

    #[test]
    fn repeats_are_shown_where_there_are_few_points() {
        let of = |points: &str| {
            let file = file(&format!(
                "[[flow]]\nvariant = 'cubic'\n[[flow]]\nvariant = 'reno'\n[sweep]\n\
                 'path.queue.limit' = [{points}]"
            ));
            let text = format!("repeat = 9\n{}", file.text);
            let file = File::parse("test.toml", &text, std::path::Path::new(".")).unwrap();
            shown_repeats(&file)
        };
        assert_eq!(of("'1 bdp'"), MOST_REPEATS);
        let six = (1..=6).map(|limit| format!("'{limit} bdp'"));
        assert_eq!(of(&six.collect::<Vec<_>>().join(", ")), 3);
        let many = (1..=40).map(|limit| format!("'{limit} bdp'"));
        assert_eq!(of(&many.collect::<Vec<_>>().join(", ")), 1);
    }

    #[test]
    fn several_flows_have_a_plot_each_point() {
        let file = file(
            "[[flow]]\nvariant = 'cubic'\n[[flow]]\nvariant = 'reno'\n[sweep]\n\
             'path.queue.limit' = ['0.5 bdp', '1 bdp']",
        );
        let points: Vec<_> = settings(&file).into_iter().map(|one| one.points).collect();
        assert_eq!(points, [[0], [1]]);
    }
}
