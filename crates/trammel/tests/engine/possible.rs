//! What was found to be impossible, each with the value that is right.

use super::{Watch, folder, outcome, parse, stderr, trammel};
use std::sync::atomic::{AtomicUsize, Ordering};
use trammel::transport::points::TransportOutcome;
use trammel_stats::table::Row;

fn flow<'a>(outcome: &'a TransportOutcome, name: &str) -> Row<'a> {
    let mut rows = outcome.flows.rows();
    rows.find(|row| row.text("flow") == name)
        .expect("the flow has a row")
}

fn number(row: Row<'_>, column: &str) -> f64 {
    row.float(column).unwrap_or_else(|| panic!("no {column}"))
}

/// Two flows, one after the other: each gets the whole link while it sends, and together they get
/// no more than it carries.
#[test]
fn flows_one_after_the_other_do_not_add_up_to_more_than_the_link() {
    let outcome = outcome(
        "duration = '10 s'\nengines = ['simulate']\n[path]\nrate = '10 Mbit/s'\nrtt = '20 ms'\n\
         [[flow]]\nname = 'first'\nvariant = 'cubic'\nstart = '0 s'\nstop = '5 s'\n\
         [[flow]]\nname = 'second'\nvariant = 'cubic'\nstart = '5 s'\n",
    );
    for name in ["first", "second"] {
        let goodput = number(flow(&outcome, name), "goodput_mbps");
        assert!((9.0..9.7).contains(&goodput), "{name} gets {goodput}");
        let active = number(flow(&outcome, name), "active_s");
        assert!(
            (4.9..5.2).contains(&active),
            "{name} is active for {active}"
        );
    }
    let all = outcome.groups.rows().next().unwrap();
    let together = number(all, "goodput_mbps");
    assert!((9.0..9.7).contains(&together), "together {together}");
    assert!(number(all, "jain") > 0.99);
}

#[test]
fn many_flows_that_start_late_do_not_add_up_to_more_than_the_link() {
    let outcome = outcome(
        "duration = '1 s'\nwarmup = '200 ms'\n[path]\nrate = '1 Gbit/s'\nrtt = '100 us'\n\
         queue = { discipline = 'threshold', threshold = 65, limit = '1000 packets' }\n\
         [[flow]]\nvariant = 'dctcp'\ncount = 2\n[sweep]\n'flow.0.count' = [2, 10]\n",
    );
    for row in outcome.groups.rows() {
        for column in ["goodput_mbps", "late_goodput_mbps"] {
            let together = number(row, column);
            assert!(together < 1000.0, "{column} is {together}");
        }
    }
}

/// Both share and index of a pair are of the same bytes: shares a and 1 − a have the index 1 / (2
/// (a² + (1 − a)²)).
#[test]
fn share_and_index_are_of_one_window() {
    let outcome = outcome(
        "duration = '30 s'\nengines = ['simulate']\n[path]\nrate = '10 Mbit/s'\nrtt = '40 ms'\n\
         [[flow]]\nname = 'a'\nvariant = 'reno'\nstart = '0 s'\n\
         [[flow]]\nname = 'b'\nvariant = 'reno'\nstart = '10 s'\n",
    );
    let share = number(flow(&outcome, "a"), "share");
    let jain = number(outcome.groups.rows().next().unwrap(), "jain");
    let of_share = 0.5 / (share * share + (1.0 - share) * (1.0 - share));
    assert!(share > 0.55, "`a` had the link alone at first: {share}");
    assert!((jain - of_share).abs() < 1e-6, "{jain} {of_share}");
}

/// The first flow begins 20 ms before the end and has no round trip: the percentile of all is that
/// of the other.
#[test]
fn a_flow_without_round_trips_moves_no_percentile() {
    let outcome = outcome(
        "duration = '10 s'\nengines = ['simulate']\n[path]\nrate = '10 Mbit/s'\nrtt = '50 ms'\n\
         [[flow]]\nname = 'late'\nvariant = 'cubic'\nstart = '9.98 s'\n\
         [[flow]]\nname = 'bulk'\nvariant = 'cubic'\nstart = '0 s'\n",
    );
    let all = outcome.groups.rows().next().unwrap();
    let (of_all, of_bulk) = (
        number(all, "latency_loaded_p95_us"),
        number(flow(&outcome, "bulk"), "rtt_p95_us"),
    );
    assert!((of_all / of_bulk - 1.0).abs() < 1e-9, "{of_all} {of_bulk}");
}

#[test]
fn a_trace_is_used_to_a_hundred_percent_at_most() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("const.trace"), "1\n").unwrap();
    let text = "duration = '10 s'\nwarmup = '3 s'\n[path]\ntrace = 'const.trace'\nrtt = '40 ms'\n\
                queue = { limit = '100 packets' }\n[[flow]]\nvariant = 'cubic'\n";
    let file = trammel::scenario::File::parse("t.toml", text, dir.path());
    let file = file.unwrap_or_else(|error| panic!("{error}"));
    let outcome = super::run_points(&file, &super::options(), &super::Unwatched).unwrap();
    let link = outcome.links.rows().next().unwrap();
    let used = number(link, "late_utilisation");
    assert!((0.99..=1.0).contains(&used), "{used}");
    // Little's law, of what waits: an opportunity a millisecond.
    let (mean, delay_us) = (
        number(link, "late_queue_mean_pkts"),
        number(link, "late_queue_delay_mean_us"),
    );
    assert!(
        (delay_us / 1000.0 / mean - 1.0).abs() < 0.05,
        "{mean} {delay_us}"
    );
}

/// Mean occupancy is the rate of packets times the mean delay, whatever serves the queue: neither
/// counts the packet being sent.
#[test]
fn occupancy_and_delay_are_of_the_same_packets() {
    for (queue, more) in [
        ("discipline = 'droptail'", ""),
        ("discipline = 'codel'", ""),
        ("discipline = 'droptail'", "burst = '3100 B'\n"),
        ("discipline = 'red'", ""),
    ] {
        let outcome = outcome(&format!(
            "duration = '20 s'\nwarmup = '5 s'\nengines = ['simulate']\n[path]\n\
             rate = '10 Mbit/s'\nrtt = '40 ms'\n\
             {more}queue = {{ {queue} }}\n[[flow]]\nvariant = 'reno'\nstart = '0 s'\n",
        ));
        let link = outcome.links.rows().next().unwrap();
        let (mean, delay_us, used) = (
            number(link, "late_queue_mean_pkts"),
            number(link, "late_queue_delay_mean_us"),
            number(link, "late_utilisation"),
        );
        let packets_a_second = used * 10e6 / (1514.0 * 8.0);
        let of_delay = packets_a_second * delay_us / 1e6;
        assert!(
            (mean - of_delay).abs() < 0.04 * of_delay + 0.05,
            "{queue} {more}: {mean} packets, {of_delay} by their delay"
        );
    }
}

#[test]
fn a_saturated_wireless_cell_is_used_to_a_hundred_percent() {
    let outcome = outcome(
        "duration = '10 s'\nwarmup = '3 s'\nengines = ['simulate']\n[path]\nrtt = '20 ms'\n\
         wifi = { received_power = '-60 dBm' }\n[[flow]]\nvariant = 'cubic'\nstart = '0 s'\n",
    );
    let link = outcome.links.rows().next().unwrap();
    let used = number(link, "late_utilisation");
    assert!((0.97..=1.0).contains(&used), "{used}");
}

/// Two flows and models only: the sentence looked for a run that there was none of.
#[test]
fn a_sweep_that_is_only_predicted_has_a_report() {
    let (_dir, scenario, out) = folder(
        "[path]\nrate = '5 Mbit/s'\nrtt = '20 ms'\n[[flow]]\nvariant = 'cubic'\n\
         [[flow]]\nvariant = 'reno'\n[sweep]\n'path.rtt' = ['10 ms', '20 ms']\n",
    );
    let output = trammel(&["run", &scenario, "--engine", "predict", "-o", &out]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(std::path::Path::new(&out).join("report.html").is_file());
}

/// The trace of a flow that stops at 4 s ends when what it sent has come.
#[test]
fn the_trace_of_a_flow_ends_with_it() {
    let file = parse(
        "duration = '10 s'\ntrace = '100 ms'\n[path]\nrate = '20 Mbit/s'\nrtt = '40 ms'\n\
         [[flow]]\nname = 'a'\nvariant = 'cubic'\nstart = '0 s'\n\
         [[flow]]\nname = 'b'\nvariant = 'cubic'\nstart = '2 s'\nstop = '4 s'\n",
    );
    for tracing in [true, false] {
        let mut file = file.clone();
        if !tracing {
            file.points[0].scenario.trace = trammel::scenario::model::Tracing::Off;
        }
        let options = super::RunOptions {
            curves: true,
            ..super::options()
        };
        let outcome = super::run_points(&file, &options, &super::Unwatched).unwrap();
        let last = |name: &str| {
            let mut traces = outcome.traces.iter();
            let trace = traces.find(|one| one.trace.entity == name).unwrap();
            match &trace.trace.samples {
                trammel::transport::trace_of::Samples::Flow(samples) => {
                    samples.last().unwrap().time.as_secs_f64()
                }
                other => panic!("{other:?}"),
            }
        };
        assert!(last("a") > 9.8, "{}", last("a"));
        assert!((3.8..4.4).contains(&last("b")), "{}", last("b"));
    }
}

/// Says to stop from the second time on that it is asked: the first is before the run begins.
#[derive(Default)]
struct Soon(AtomicUsize);

impl Watch for Soon {
    fn is_interrupted(&self) -> bool {
        self.0.fetch_add(1, Ordering::SeqCst) > 0
    }
}

/// Six hundred million packets: a run that did not listen would take many minutes.
#[test]
fn an_interrupt_is_heard_within_a_run() {
    let file = parse(
        "duration = '1000 s'\n[path]\nrate = '10 Gbit/s'\nrtt = '1 ms'\n[[flow]]\n\
         variant = 'cubic'\nstart = '0 s'\n",
    );
    let options = super::RunOptions {
        engines: vec![trammel::scenario::model::Engine::Simulate],
        ..super::options()
    };
    let outcome = super::run_points(&file, &options, &Soon::default()).unwrap();
    assert!(outcome.is_interrupted);
    assert_eq!((outcome.failures.len(), outcome.runs), (0, (1, 0)));
}

/// A window of 64 kB over 100 ms lets 5 of 100 Mbit/s through, and the reader hears of it.
#[test]
fn a_flow_that_its_receive_buffer_limits_is_named() {
    let notes = |more: &str| {
        let outcome = outcome(&format!(
            "duration = '10 s'\nengines = ['simulate']\n[path]\nrate = '100 Mbit/s'\n\
             rtt = '100 ms'\n\
             [[flow]]\nname = 'far'\nvariant = 'bbr'\nstart = '0 s'\n{more}",
        ));
        outcome.notes.join("\n")
    };
    let said = notes("receive_buffer = '64 KB'\n");
    assert!(
        said.contains("receive_buffer = ") && said.contains("limits `far`"),
        "{said}"
    );
    let said = notes("cwnd_clamp = 20\n");
    assert!(said.contains("cwnd_clamp = 20"), "{said}");
    assert_eq!(notes(""), "");
}

/// Full drop-tail queues in a row: what the long flow gets differs tenfold between starts, and the
/// reader hears of it.
#[test]
fn repeats_that_microseconds_tell_apart_are_named() {
    let notes = |path: &str, repeats: u32| {
        let crossing: String = (1..=3)
            .map(|n| {
                format!(
                    "[[flow]]\nname = 'c{n}'\nvariant = 'cubic'\nfrom = 'source-{n}'\n\
                     to = 'sink-{n}'\n"
                )
            })
            .collect();
        let outcome = outcome(&format!(
            "duration = '12 s'\nwarmup = '4 s'\nengines = ['simulate']\nrepeat = {repeats}\n\
             seed = 50\n\
             [path]\nrate = '20 Mbit/s'\nrtt = '60 ms'\nburst = '3100 B'\n{path}\
             [topology]\npreset = 'parking-lot'\nhops = 3\n\
             [[flow]]\nname = 'long'\nvariant = 'cubic'\nfrom = 'long-source'\nto = 'long-sink'\n\
             {crossing}",
        ));
        outcome.notes.join("\n")
    };
    let said = notes("", 4);
    assert!(
        said.contains("the 4 repeats of `long` (simulate) lie between")
            && said.contains("phase effects"),
        "{said}"
    );
    for (path, repeats) in [("processing = '10 us'\n", 4), ("", 2)] {
        assert_eq!(notes(path, repeats), "", "{path}{repeats}");
    }
}

/// Without `-o` the terminal has the sentence, and a table that people can read.
#[test]
fn a_run_without_a_folder_says_its_answer() {
    let (_dir, scenario, _) = folder(
        "duration = '5 s'\n[path]\nrate = '10 Mbit/s'\nrtt = '20 ms'\n[[flow]]\nvariant = 'cubic'\n\
         [[flow]]\nvariant = 'reno'\n",
    );
    let output = trammel(&["run", &scenario, "--engine", "simulate"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("of the goodput"),
        "{}",
        stderr(&output)
    );
    let table = String::from_utf8(output.stdout).unwrap();
    let digits = |word: &str| word.chars().filter(char::is_ascii_digit).count();
    let longest = table.split_whitespace().map(digits).max();
    assert!(longest <= Some(6), "{table}");
}

/// What would never end or fill memory is refused with exit code 2, before anything runs.
#[test]
fn what_would_never_end_is_refused() {
    for text in [
        "duration = '1 ms'\n[path]\nrate = '1 Mbit/s'\nrtt = '10 ms'\n[[flow]]\nvariant = 'reno'\n\
         [[stream]]\ngap = { distribution = 'exponential', mean = 1e-300 }\n",
        "duration = '10 s'\ntrace = '1 ns'\n[path]\nrate = '1 Mbit/s'\nrtt = '20 ms'\n[[flow]]\n\
         variant = 'cubic'\n",
        "duration = '500 ms'\n[path]\nrate = '1 Gbit/s'\nrtt = '10 ms'\n[[flow]]\n\
         variant = 'reno'\n\
         [[workload]]\nkind = 'poisson'\nrate = '100 Gbit/s'\nsize = '100 B'\n",
    ] {
        let (_dir, scenario, _) = folder(text);
        for command in ["check", "run"] {
            let output = trammel(&[command, &scenario]);
            assert_eq!(output.status.code(), Some(2), "{text}{}", stderr(&output));
            assert!(
                stderr(&output).contains("a run has at most"),
                "{}",
                stderr(&output)
            );
        }
    }
}
