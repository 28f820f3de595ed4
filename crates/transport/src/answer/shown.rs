//! Of which points a report shows curves over time, and which of them share plots.

use super::axis::{named_alike, names, values, varying};
use trammel_scenario::File;

/// Points that differ in names only, in one plot at most: there are as many colours.
const MOST_OVERLAID: usize = 8;
/// Alternatives at most, where there are more the first, the one in the middle and the last are
/// taken.
const MOST_ALTERNATIVES: usize = 3;
/// Points that are shown one by one at most.
const MOST_POINTS: usize = 12;

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
    let groups = spread(groups);
    let has_one_flow = |at: &usize| {
        let scenario = &file.points[*at].scenario;
        scenario.flows.len() == 1 && scenario.workloads.is_empty()
    };
    let mut shown = groups.iter().flat_map(|(_, points)| points);
    if is_few && shown.clone().all(has_one_flow) {
        let setting = |(name, points)| Setting {
            name,
            points,
            names: names.clone(),
        };
        return groups.into_iter().map(setting).collect();
    }
    let points: Vec<usize> = if is_few && shown.clone().count() <= MOST_POINTS {
        shown.by_ref().copied().collect()
    } else {
        spread((0..file.points.len()).collect())
    };
    let varying = varying(file);
    let setting = |at: usize| Setting {
        name: values(&file.points[at], &varying),
        points: vec![at],
        names: Vec::new(),
    };
    points.into_iter().map(setting).collect()
}

/// All of a few, else the first, the one in the middle and the last.
fn spread<T>(all: Vec<T>) -> Vec<T> {
    let n = all.len();
    if n <= MOST_ALTERNATIVES {
        return all;
    }
    let kept = [0, n / 2, n - 1];
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
        let wanted = ["0.5 BDP", "2 BDP", "4 BDP"].map(|limit| format!("queue limit = {limit}"));
        assert_eq!(names, wanted);
        assert!(settings.iter().all(|one| one.points.len() == 3));
        assert_eq!(shown_points(&file).len(), 9);
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
