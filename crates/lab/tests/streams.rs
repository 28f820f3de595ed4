//! Traffic scenarios by all three engines: theory against virtual time, virtual time against real packets.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use trammel::scenario::model::Engine;
use trammel::scenario::traffic::TrafficFile;
use trammel::traffic::run::compared::{self, Compared};
use trammel::traffic::run::{Job, carry_out, tables};

fn job(text: &str, engines: &[Engine]) -> Job {
    let text = format!("subject = 'traffic'\n{text}");
    let file = TrafficFile::parse("t.toml", &text, Path::new("."), None);
    Job {
        file: file.unwrap_or_else(|why| panic!("{why}")),
        engines: engines.to_vec(),
        out: None,
        threads: Some(1),
        json: false,
        interrupted: Arc::new(AtomicBool::new(false)),
    }
}

/// What is compared of the streams of `text` by theory and in virtual time.
fn modelled(text: &str) -> Vec<Compared> {
    let job = job(text, &[Engine::Predict, Engine::Simulate]);
    let outcome = carry_out(&job).expect("it runs");
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
    compared::all(&outcome)
}

fn of<'a>(rows: &'a [Compared], stream: usize, metric: &str) -> &'a Compared {
    let mut rows = rows.iter();
    let found = rows.find(|one| one.stream == stream && one.metric == metric);
    found.unwrap_or_else(|| panic!("there is no {metric}"))
}

const PATH: &str = "[path]\nrate = '8 Mbit/s'\ndelay = '20 ms'\n";

#[test]
fn a_periodic_stream_alone_takes_the_delay_and_its_own_time() {
    // 458 bytes are 500 on the wire: 500 us.
    let rows = modelled(&format!(
        "duration = '2 s'\n{PATH}[[stream]]\nrate = 1000\nsize = 458"
    ));
    for metric in ["delay_min_us", "delay_mean_us"] {
        let one = of(&rows, 0, metric);
        assert_eq!(
            (one.predicted, one.simulated),
            (Some(20_500.0), Some(20_500.0))
        );
    }
    for metric in ["jitter_mean_us", "jitter_rfc3550_us", "lost"] {
        let one = of(&rows, 0, metric);
        assert_eq!(
            (one.predicted, one.simulated),
            (Some(0.0), Some(0.0)),
            "{metric}"
        );
    }
}

#[test]
fn poisson_streams_wait_and_are_dropped_as_theory_says() {
    for (rate, queue) in [(500, 1000), (800, 1000), (900, 4), (1500, 20)] {
        // 958 bytes are 1000 on the wire: 1 ms.
        let rows = modelled(&format!(
            "duration = '300 s'\n{PATH}queue.limit = {queue}\n[[stream]]\nrate = {rate}\ngap = 'exponential'\nsize = 958"
        ));
        let delay = of(&rows, 0, "delay_mean_us");
        let (predicted, simulated) = (delay.predicted.unwrap(), delay.simulated.unwrap());
        // The mean wait of 300 s at a load of 0.8 has a deviation of about 1 %, and of the delay it is a tenth.
        let error = (predicted - simulated).abs() / simulated;
        assert!(error < 0.005, "{rate}, {queue}: {predicted}, {simulated}");
        let lost = of(&rows, 0, "lost");
        let (predicted, simulated) = (lost.predicted.unwrap(), lost.simulated.unwrap());
        // Drops come in bursts: a count of them is known to some five deviations of as many independent ones.
        let packets = 300.0 * f64::from(rate);
        let bound = 5.0 * 2.0 * (predicted * (1.0 - predicted) / packets).sqrt() + 1e-9;
        assert!(
            (predicted - simulated).abs() < bound,
            "{rate}, {queue}: {predicted} lost, {simulated}, bound {bound}"
        );
    }
}

#[test]
fn sizes_of_a_law_wait_as_pollaczek_and_khinchine_say() {
    let rows = modelled(&format!(
        "duration = '300 s'\n{PATH}[[stream]]\nrate = 1000\ngap = 'exponential'\nsize = 'uniform:min=100,max=900'"
    ));
    let delay = of(&rows, 0, "delay_mean_us");
    let (predicted, simulated) = (delay.predicted.unwrap(), delay.simulated.unwrap());
    assert!(
        (predicted / simulated - 1.0).abs() < 0.01,
        "{predicted}, {simulated}"
    );
    assert_eq!(of(&rows, 0, "lost").predicted, None);
}

#[test]
fn every_packet_is_accounted_and_a_run_repeats() {
    let text = "duration = '3 s'\n[path]\nrate = '2 Mbit/s'\ndelay = '5 ms'\nqueue.limit = 10\nloss.probability = 0.05\n\
        reorder = { probability = 0.02, delay = '4 ms' }\n\
        [[stream]]\nrate = 300\ngap = 'exponential'\nsize = 'uniform:min=50,max=1400'\n\
        [[stream]]\napp = 'voip'\ncount = 3\n[[stream]]\nrate = 50\nsize = 4000\nround_trip = true";
    let made = || {
        let job = job(text, &[Engine::Simulate]);
        let outcome = carry_out(&job).expect("it runs");
        let run = outcome.ran[0].simulated.as_ref().expect("it was simulated");
        for stream in &run.account.streams {
            let stream = stream.as_ref().expect("each is simulated");
            let summary = &stream.summary;
            assert!(stream.sent.packets > 0);
            assert_eq!(summary.pkts + summary.loss.lost_pkts, stream.sent.packets);
        }
        let first = run.account.streams[0].as_ref().expect("it is there");
        assert!(first.summary.loss.lost_pkts > 0 && first.summary.reordering.reordered_pkts > 0);
        format!("{:?}", tables::all(&outcome))
    };
    assert_eq!(made(), made());
}

#[test]
fn a_round_trip_is_there_and_back() {
    // 458 bytes are 500 on the wire: 500 us there, 1 ms back.
    let rows = modelled(&format!(
        "duration = '1 s'\n{PATH}ack_rate = '4 Mbit/s'\n[[stream]]\nrate = 100\nsize = 458\nround_trip = true"
    ));
    assert_eq!(of(&rows, 0, "delay_mean_us").simulated, Some(41_500.0));
    assert_eq!(of(&rows, 0, "lost").simulated, Some(0.0));
}

#[test]
fn streams_share_a_bottleneck() {
    let rows = modelled(&format!(
        "duration = '5 s'\n{PATH}queue.limit = 50\n[[stream]]\nrate = 1000\ngap = 'exponential'\nsize = 958\n[[stream]]\nrate = 1000\ngap = 'exponential'\nsize = 958"
    ));
    // Twice what the path carries: half of each is lost.
    for stream in 0..2 {
        let lost = of(&rows, stream, "lost").simulated.unwrap();
        assert!((lost - 0.5).abs() < 0.03, "{lost}");
    }
    let total: f64 = (0..2)
        .map(|stream| of(&rows, stream, "payload_bps").simulated.unwrap())
        .sum();
    assert!(
        (total / (8e6 * 958.0 / 1000.0) - 1.0).abs() < 0.02,
        "{total}"
    );
}

/// 1,000 packets a second of 500 bytes over 8 Mbit/s, 20 ms and 1 % of loss: what is simulated is what real packets do.
#[cfg(target_os = "linux")]
#[test]
#[allow(clippy::print_stdout)]
fn real_packets_do_what_simulated_ones_do() {
    use std::os::unix::fs::MetadataExt;
    let text = format!(
        "duration = '5 s'\nseed = 3\n{PATH}loss.probability = 0.01\n[[stream]]\nname = 'probe'\nrate = 1000\nsize = 500"
    );
    let job = job(&text, &[Engine::Simulate, Engine::Measure]);
    let outcome = carry_out(&job).expect("it runs");
    if let Some(lack) = outcome.lacks.first() {
        // A user without rights cannot make namespaces: said, not hidden. As root nothing is skipped.
        let user = std::fs::metadata("/proc/self").expect("Linux has it").uid();
        assert_ne!(user, 0, "{lack}");
        println!("skipped: {lack}");
        return;
    }
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
    let rows = compared::all(&outcome);
    let both = |metric| {
        let one = of(&rows, 0, metric);
        (one.simulated.unwrap(), one.measured.unwrap())
    };
    // Half of the packets pass a host that is busy with other tests within so many microseconds.
    const HOST_US: f64 = 500.0;
    for metric in ["delay_min_us", "delay_p50_us"] {
        let (simulated, measured) = both(metric);
        let over = measured - simulated;
        assert!(
            (-1.0..HOST_US).contains(&over),
            "{metric}: {simulated}, {measured}"
        );
    }
    // Stalls of such a host are milliseconds, and all packets of one are late: the mean may be off by more.
    let (simulated, measured) = both("delay_mean_us");
    assert!(
        (-1.0..3000.0).contains(&(measured - simulated)),
        "{simulated}, {measured}"
    );
    let (simulated, measured) = both("jitter_mean_us");
    assert!(simulated == 0.0 && measured < 500.0, "{measured}");
    // Each is a binomial of 5,000 with a deviation of 0.14 %; so is their difference by √2. Four of those.
    let (simulated, measured) = both("lost");
    assert!(
        (simulated - measured).abs() < 0.008,
        "{simulated}, {measured}"
    );
    assert!(measured > 0.003, "{measured}");
    let (simulated, measured) = both("packet_rate_pps");
    assert!(
        (simulated / measured - 1.0).abs() < 0.02,
        "{simulated}, {measured}"
    );
}

fn trammel(arguments: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
    command.current_dir(folder).args(arguments);
    command.output().expect("it starts")
}

#[test]
fn the_commands_take_traffic_scenarios() {
    let folder = tempfile::tempdir().expect("there is room");
    let here = folder.path();
    let text = "subject = 'traffic'\nduration = '1 s'\n[path]\nrate = '8 Mbit/s'\ndelay = '20 ms'\n[[stream]]\nname = 's'\nrate = 100\n\
        [sweep]\n'stream.s.rate' = [100, 1000]\n";
    std::fs::write(here.join("t.toml"), text).expect("there is room");
    let checked = trammel(&["check", "t.toml"], here);
    let said = String::from_utf8_lossy(&checked.stderr).into_owned();
    assert!(
        checked.status.success() && said.contains("no fault, 2 points"),
        "{said}"
    );
    for command in ["run", "sweep"] {
        let ran = trammel(&[command, "t.toml", "-o", "out", "--json"], here);
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{said}");
        let all: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("it is JSON");
        let rows = all["tables"]["streams"].as_array().expect("a table");
        let sent: Vec<_> = rows.iter().map(|row| row["sent_pkts"].as_i64()).collect();
        assert_eq!(sent, [Some(100), Some(1000)]);
        let page = std::fs::read_to_string(here.join("out/report.html")).expect("it was written");
        assert!(page.contains("Over the path") && page.contains("offered"));
        for table in ["offered", "paths", "streams", "comparison"] {
            assert!(here.join(format!("out/{table}.csv")).is_file(), "{table}");
        }
    }
    let wrong = text.replace("rate = 100\n", "rate = 100\nsiez = 3\n");
    std::fs::write(here.join("w.toml"), wrong).expect("there is room");
    let refused = trammel(&["run", "w.toml"], here);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        said.contains("did you mean `size`?") && said.contains("w.toml:"),
        "{said}"
    );
    let page = trammel(&["doc", "traffic"], here);
    let page = String::from_utf8_lossy(&page.stdout);
    assert!(page.contains("# Traffic scenarios") && page.contains("| `round_trip` |"));
}
