//! Other programs as testers of `trammel bench`, and what is made of results: expectations,
//! profiles, comparisons.
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A device of 600,000 frames a second on a line of 1 Gbit/s, in a few lines of a shell's language.
const MOCK: &str = r#"#!/bin/sh
echo '{"measurer":1,"device":"a mock","line_rate_bps":1e9}'
while read -r line; do
    trial=$(echo "$line" | sed 's/.*"trial":\([0-9]*\).*/\1/')
    echo "$line" | sed 's/.*"load_fps":\([^,]*\),"duration_s":\([^,]*\),.*/\1 \2/' | awk -v trial="$trial" '{
        sent = int($1 * $2); most = int(600000 * $2); came = sent < most ? sent : most
        printf "{\"trial\":%d,\"sent\":%d,\"received\":%d,\"effective_duration_s\":%s}\n", trial, sent, came, $2
    }'
done
"#;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn trammel(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
    command.args(words).current_dir(root());
    let mock = root().join("crates/trammel/tests/trex_mock");
    command.env("PYTHONPATH", mock).env("TREX_MOCK", "600000");
    command.output().expect("the program can be started")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The rows of a table of `--json`.
fn rows(output: &Output, table: &str) -> Vec<serde_json::Value> {
    let text = String::from_utf8_lossy(&output.stdout);
    let all: serde_json::Value = serde_json::from_str(&text).unwrap_or_else(|error| {
        panic!("{error}: {text}\n{}", stderr(output));
    });
    all["tables"][table].as_array().cloned().unwrap_or_default()
}

/// A folder with the mock in it, and the words that start it.
fn mock() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mock.sh");
    std::fs::write(&path, MOCK).unwrap();
    let command = format!("sh {}", path.display());
    (folder, command)
}

#[test]
fn trex_is_asked_as_its_client_is_asked() {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("skipped: python3 is not installed");
        return;
    }
    let measurer = "python3 share/trex_measurer.py --server trex.test --device 'a router'";
    let words = ["bench", "--measurer", measurer, "--quick", "--json"];
    let more = [
        "--tests",
        "throughput,ndr-pdr,latency",
        "--frame-sizes",
        "64,imix",
        "--both-ways",
    ];
    let output = trammel(&[&words[..], &more].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let throughput = rows(&output, "throughput");
    assert_eq!(throughput.len(), 2);
    for row in &throughput {
        assert_eq!(
            (row["device"].as_str(), row["label"].as_str()),
            (Some("a router"), Some("measured"))
        );
        let (lower, upper) = (
            row["throughput_fps"].as_f64().unwrap(),
            row["upper_fps"].as_f64().unwrap(),
        );
        assert!(
            lower <= 6e5 && 6e5 <= upper && upper - lower <= 0.005 * upper,
            "{row}"
        );
    }
    let goals = rows(&output, "ndr-pdr");
    let pdr = goals.iter().find(|row| row["goal"] == "PDR 0.5 %").unwrap();
    assert!(
        (pdr["lower_fps"].as_f64().unwrap() / (6e5 / 0.995) - 1.0).abs() < 0.006,
        "{pdr}"
    );
    let latency = rows(&output, "latency");
    assert!(
        (latency[0]["latency_mean_us"].as_f64().unwrap() - 20.0).abs() < 0.1,
        "{latency:?}"
    );

    let away = trammel(&["bench", "--measurer", "python3 share/trex_measurer.py"]);
    assert_eq!(away.status.code(), Some(3));
    assert!(
        stderr(&away).contains("no server answers at 127.0.0.1"),
        "{}",
        stderr(&away)
    );
}

#[test]
fn expectations_decide_on_the_exit_code() {
    let (_folder, mock) = mock();
    let bench = |expectation: &str| {
        trammel(&[
            "bench",
            "--measurer",
            &mock,
            "--quick",
            "--frame-sizes",
            "64,512",
            "--json",
            "--expect",
            expectation,
        ])
    };
    let kept = bench("throughput@64.throughput_fps >= 590000");
    assert_eq!(kept.status.code(), Some(0), "{}", stderr(&kept));
    assert_eq!(rows(&kept, "verdicts")[0]["is_kept"], true);
    // At 512 bytes the line carries 235 thousand.
    let missed = bench("throughput.throughput_fps >= 590000");
    assert_eq!(missed.status.code(), Some(1), "{}", stderr(&missed));
    let verdicts: Vec<_> = rows(&missed, "verdicts")
        .iter()
        .map(|row| row["is_kept"].clone())
        .collect();
    assert_eq!(verdicts, [true, false]);
    for (expectation, what) in [
        ("latency.latency_mean_us < 5", "is not among the tests"),
        ("throughput.fps > 1", "has no number `fps`"),
    ] {
        let refused = bench(expectation);
        assert_eq!(refused.status.code(), Some(2));
        assert!(stderr(&refused).contains(what), "{}", stderr(&refused));
    }
}

#[test]
fn a_profile_is_what_place_reads() {
    let (folder, mock) = mock();
    let path = folder.path().join("mock.toml");
    let file = path.to_str().unwrap();
    let words = [
        "bench",
        "--measurer",
        &mock,
        "--quick",
        "--profile",
        file,
        "--clock",
        "2 GHz",
        "--streams",
        "1,10",
    ];
    let whole = trammel(&[&words[..], &["--frame-sizes", "64,65"]].concat());
    assert_eq!(whole.status.code(), Some(0), "{}", stderr(&whole));
    let text = std::fs::read_to_string(&path).unwrap();
    let profile = trammel_cost::capacity_profile::CapacityProfile::parse(&text).unwrap();
    assert_eq!(profile.points().len(), 4);
    assert!(
        profile
            .points()
            .iter()
            .all(|point| (point.mpps / 0.6 - 1.0).abs() < 0.006)
    );
    // At 1518 bytes the line is the limit, which says nothing of the device.
    let limited = trammel(&[&words[..], &["--frame-sizes", "1518"]].concat());
    assert_eq!(limited.status.code(), Some(3));
    assert!(
        stderr(&limited).contains("not the device's capacity"),
        "{}",
        stderr(&limited)
    );
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    let no_clock = trammel(&["bench", "--measurer", &mock, "--profile", file]);
    assert_eq!(no_clock.status.code(), Some(2));
    assert!(
        stderr(&no_clock).contains("--clock"),
        "{}",
        stderr(&no_clock)
    );
}

#[test]
fn two_runs_stand_side_by_side() {
    let (folder, mock) = mock();
    let (monday, tuesday) = (folder.path().join("monday"), folder.path().join("tuesday"));
    for out in [&monday, &tuesday] {
        let out = out.to_str().unwrap();
        let run = trammel(&[
            "bench",
            "--measurer",
            &mock,
            "--quick",
            "--frame-sizes",
            "64",
            "-o",
            out,
        ]);
        assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    }
    let [monday, tuesday] = [&monday, &tuesday].map(|path| path.to_str().unwrap());
    let both = trammel(&["compare", monday, tuesday, "--json"]);
    assert_eq!(both.status.code(), Some(0), "{}", stderr(&both));
    let rows = rows(&both, "comparison");
    let row = rows
        .iter()
        .find(|row| row["metric"] == "throughput" && row["unit"] == "frames/s")
        .unwrap();
    for side in ["monday: a mock", "tuesday: a mock"] {
        assert!(
            (row[side].as_f64().unwrap() / 6e5 - 1.0).abs() < 0.006,
            "{row}"
        );
    }
}
