//! What a sweep makes of a file: points, their names, their columns, their order.

use std::path::Path;
use trammel::scenario::File;

const PATH: &str = "[path]\nrate = '10 Mbit/s'\nrtt = '10 ms'\n";

fn read(text: &str) -> File {
    File::parse("t", text, Path::new(".")).unwrap_or_else(|error| panic!("{error}"))
}

fn ids(file: &File) -> Vec<&str> {
    file.points.iter().map(|point| point.id.as_str()).collect()
}

#[test]
fn all_combinations_come_with_the_last_key_fastest() {
    let file = read(&format!(
        "{PATH}[[flow]]\nvariant = 'reno'\n[sweep]\n\
         'path.rate' = ['1 Mbit/s', '2 Mbit/s']\n'path.queue.limit' = [5, 10]\n"
    ));
    let ids = ids(&file);
    assert_eq!(
        ids,
        [
            "rate_bps=1Mbits,limit=5",
            "rate_bps=1Mbits,limit=10",
            "rate_bps=2Mbits,limit=5",
            "rate_bps=2Mbits,limit=10",
        ]
    );
    assert_eq!(file.columns(), ["rate_bps", "limit"]);
    assert_eq!(file.points[2].swept[0].number, Some(2e6));
    assert_eq!(file.points[1].scenario.queue_packets(), [10]);
}

#[test]
fn zipped_lists_vary_together() {
    let file = read(&format!(
        "{PATH}[[flow]]\nvariant = 'reno'\n[[sweep.zip]]\n\
         'path.rate' = ['1 Mbit/s', '2 Mbit/s']\n'path.rtt' = ['20 ms', '10 ms']\n"
    ));
    assert_eq!(
        ids(&file),
        ["rate_bps=1Mbits,rtt_s=20ms", "rate_bps=2Mbits,rtt_s=10ms"]
    );
}

#[test]
fn a_matrix_has_every_unordered_pair() {
    let pairs = |more: &str| {
        let file = read(&format!(
            "{PATH}[matrix]\nvariants = ['reno', 'newreno']\n{more}"
        ));
        let pair = |p: &trammel::scenario::sweep::Point| {
            p.scenario
                .flows
                .iter()
                .map(|flow| flow.name.clone())
                .collect::<Vec<_>>()
                .join(" ")
        };
        file.points.iter().map(pair).collect::<Vec<_>>()
    };
    assert_eq!(
        pairs(""),
        ["reno reno-2", "reno newreno", "newreno newreno-2"]
    );
    assert_eq!(pairs("pairs = 'distinct'"), ["reno newreno"]);
    assert_eq!(pairs("pairs = 'ordered'").len(), 4);
}

#[test]
fn a_matrix_may_give_other_keys_of_a_flow() {
    let file = read(&format!(
        "{PATH}[matrix]\npairs = 'distinct'\n\
         variants = ['reno', {{ variant = 'reno', stack = 'linux-2.6' }}]\n"
    ));
    let stacks: Vec<_> = file.points[0]
        .scenario
        .flows
        .iter()
        .map(|f| f.stack.name())
        .collect();
    assert_eq!(stacks, ["linux-6", "linux-2.6"]);
}

#[test]
fn a_key_that_only_the_sweep_gives_need_not_be_in_the_table() {
    let file =
        read("path.rtt = '1 ms'\nflow = [{ variant = 'reno' }]\nsweep.path.rate = ['1 Mbit/s']");
    assert_eq!(ids(&file), ["rate_bps=1Mbits"]);
}

#[test]
fn the_file_and_the_builder_agree_on_defaults() {
    use trammel::scenario::flow::Flow;
    use trammel::scenario::model::Scenario;
    let file = read("[path]\nrate = '10 Mbit/s'\nrtt = '50 ms'\n[[flow]]\nvariant = 'reno'\n");
    let mut built = Scenario::dumbbell().flow(Flow::new("reno"));
    let mut from_file = file.points[0].scenario.clone();
    // A file's plug-ins have their defaults filled in.
    for scenario in [&mut built, &mut from_file] {
        for flow in &mut scenario.flows {
            flow.variant.given.clear();
        }
        let trammel::scenario::topology::Topology::Path(path) = &mut scenario.topology else {
            panic!("a path")
        };
        path.line.queue.discipline.given.clear();
    }
    assert_eq!(from_file, built);
}

#[test]
fn the_seed_changes_the_hash_and_a_title_does_not() {
    let text = format!("{PATH}[[flow]]\nvariant = 'reno'\n");
    let mut reseeded = read(&text);
    reseeded.reseed(7);
    assert_ne!(reseeded.points[0].hash, read(&text).points[0].hash);
    let titled = read(&format!("title = 'x'\n{text}"));
    assert_eq!(titled.points[0].hash, read(&text).points[0].hash);
}

#[test]
fn copies_of_a_flow_are_numbered() {
    let file = read(&format!("{PATH}[[flow]]\nvariant = 'reno'\ncount = 3\n"));
    let names: Vec<_> = file.points[0]
        .scenario
        .flows
        .iter()
        .map(|f| f.name.as_str())
        .collect();
    assert_eq!(names, ["reno", "reno-2", "reno-3"]);
}

#[test]
fn bare_numbers_and_percentages_share_a_column() {
    let file = read(&format!(
        "{PATH}[[workload]]\nname = 'web'\nkind = 'poisson'\nvariant = 'reno'\nsize = '1 MB'\n\
         [sweep]\n'workload.web.load' = [0.5, '20 %']\n"
    ));
    let numbers: Vec<_> = file
        .points
        .iter()
        .map(|point| point.swept[0].number)
        .collect();
    assert_eq!(numbers, [Some(0.5), Some(0.2)]);
}
