//! Ten gigabits a second over a round trip of 100 ms fit into 64 MB: path, queue and both windows.
//!
//! The example program `dumbbell` runs as a process of its own and reports the largest resident set
//! that the kernel saw of it. Of 166,666 packets between the ends, each costs one record in the
//! pipe and one on its sender's scoreboard, and both rings may be twice as long as they are full.

use std::path::PathBuf;
use std::process::Command;

const LIMIT_KB: u64 = 64 * 1024;

/// Builds the example program as this test was built, so that it is neither missing nor stale.
fn dumbbell() -> PathBuf {
    let profile = if cfg!(debug_assertions) {
        "test"
    } else {
        "release"
    };
    let built = Command::new(env!("CARGO"))
        .args([
            "build",
            "--quiet",
            "--profile",
            profile,
            "--example",
            "dumbbell",
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .expect("cargo runs the tests, so it is there");
    assert!(built.success(), "the example does not build");
    let mut folder = std::env::current_exe().expect("a test knows where it is");
    folder.pop();
    if folder.ends_with("deps") {
        folder.pop();
    }
    folder.join("examples").join("dumbbell")
}

/// Runs two flows of each kind for `duration` and holds their peak against the limit.
fn assert_fits(flows: &[&str], duration: &str) {
    if !cfg!(target_os = "linux") {
        eprintln!("skipped: only Linux tells a process its largest resident set");
        return;
    }
    let program = dumbbell();
    for flows in flows {
        let output = Command::new(&program)
            .args(["rate=10Gbit/s", "rtt=100ms", "buffer=1bdp", "window=600MB"])
            .args([format!("flows={flows}"), format!("duration={duration}")])
            .output()
            .expect("the example was just built");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let run = text
            .lines()
            .find(|line| line.starts_with("run "))
            .expect("a line for the run");
        let number = |key: &str| -> f64 {
            let prefix = format!("{key}=");
            let value = run
                .split_whitespace()
                .find_map(|word| word.strip_prefix(prefix.as_str()));
            value
                .and_then(|value| value.parse().ok())
                .unwrap_or_else(|| panic!("no {key} in `{run}`"))
        };
        eprintln!("{flows}, {duration}: {run}");
        // That the test tests: the path and its buffer of 83,333 packets were full.
        assert!(number("peak_queue") >= 80_000.0, "{flows}: {run}");
        assert!(number("peak_rss_kb") <= LIMIT_KB as f64, "{flows}: {run}");
    }
}

#[test]
fn two_flows_that_fill_ten_gigabits_fit_into_64_mb() {
    assert_fits(&["reno,reno", "scalable,reno"], "4s");
}

#[test]
#[ignore = "80 million packets a run: `cargo test --release -p trammel-netsim --test memory -- \
            --ignored`"]
fn two_flows_that_fill_ten_gigabits_for_100_s_fit_into_64_mb() {
    assert_fits(&["reno,reno", "cubic,cubic", "scalable,reno"], "100s");
}
