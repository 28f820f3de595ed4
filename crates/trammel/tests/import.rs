//! `trammel import` as a user meets it: folders, names, comparison with simulated runs, refusals.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn file(name: &str) -> PathBuf {
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("../formats/tests/files");
    files.join(name)
}

fn trammel(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
    command.args(args).current_dir(folder).env("NO_COLOR", "1");
    command.output().expect("the program can be started")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn done(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", said(output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_capture_stands_beside_a_simulated_run() {
    let lab = tempfile::tempdir().unwrap();
    let folder = lab.path();
    let capture = file("kernel.sender.pcap.gz");
    let capture = capture.to_str().unwrap();
    let imported = trammel(
        folder,
        &["import", capture, "--name", "cubic", "-o", "real"],
    );
    done(&imported);
    assert!(
        said(&imported).contains("cubic gets 7.611 Mbit/s"),
        "{}",
        said(&imported)
    );
    for file in [
        "run.json",
        "report.html",
        "flows.csv",
        "summary.csv",
        "traces/base.cubic.csv",
    ] {
        assert!(folder.join("real").join(file).exists(), "{file}");
    }
    let page = fs::read_to_string(folder.join("real/report.html")).unwrap();
    assert!(page.contains("Windows are inferred"));
    // The same path: a bucket of 50 KB behind which is nothing.
    let scenario = "duration = '3.3 s'\n[path]\nrate = '8 Mbit/s'\nrtt = '0.2 ms'\n\
                    queue = { discipline = 'droptail', limit = '50 KB' }\n\
                    [[flow]]\nvariant = 'cubic'\nstart = '0 s'\n";
    fs::write(folder.join("s.toml"), scenario).unwrap();
    done(&trammel(
        folder,
        &["run", "s.toml", "--engine", "simulate", "-o", "simulated"],
    ));
    let compared = trammel(folder, &["compare", "real", "simulated", "--json"]);
    let tables: serde_json::Value = serde_json::from_str(&done(&compared)).unwrap();
    let rows = tables["tables"]["comparison"].as_array().unwrap();
    let row = |metric: &str| {
        rows.iter()
            .find(|row| row["entity"] == "cubic" && row["metric"] == metric)
            .unwrap_or_else(|| panic!("no {metric}"))
    };
    for metric in ["goodput", "cwnd_mean", "rtt_mean"] {
        let row = row(metric);
        assert_eq!(row["engine"], "measure, simulate");
        let (real, simulated) = (&row["real"], &row["simulated"]);
        let error = simulated.as_f64().unwrap() / real.as_f64().unwrap() - 1.0;
        assert!(error.abs() < 0.3, "{metric}: {real} and {simulated}");
    }
}

#[test]
fn a_folder_is_replaced_by_the_same_command_only() {
    let lab = tempfile::tempdir().unwrap();
    let folder = lab.path();
    let [one, other] = ["two.json", "udp.json"].map(|name| file(name).display().to_string());
    done(&trammel(folder, &["import", &one, "-o", "out"]));
    done(&trammel(folder, &["import", &one, "-o", "out"]));
    let refused = trammel(folder, &["import", &other, "-o", "out"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(said(&refused).contains("--force"), "{}", said(&refused));
    fs::create_dir(folder.join("own")).unwrap();
    fs::write(folder.join("own/thesis.tex"), "mine").unwrap();
    let refused = trammel(folder, &["import", &one, "-o", "own", "--force"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(folder.join("own/thesis.tex").exists());
}

#[test]
fn several_files_are_points_and_json_has_their_tables() {
    let lab = tempfile::tempdir().unwrap();
    let names = ["two.json", "upload.flent.gz"].map(|name| file(name).display().to_string());
    let output = trammel(lab.path(), &["import", &names[0], &names[1], "--json"]);
    let tables: serde_json::Value = serde_json::from_str(&done(&output)).unwrap();
    let flows = tables["tables"]["flows"].as_array().unwrap();
    let points: Vec<&str> = flows
        .iter()
        .filter_map(|row| row["point"].as_str())
        .collect();
    assert_eq!(points, ["two", "two", "upload"]);
    assert!(flows.iter().all(|row| row["engine"] == "measure"));
}

#[test]
fn faults_say_where_what_and_what_to_do() {
    let lab = tempfile::tempdir().unwrap();
    let folder = lab.path();
    fs::write(folder.join("empty"), "").unwrap();
    fs::write(folder.join("text"), "a plain text").unwrap();
    let capture = file("kernel.sender.pcap.gz").display().to_string();
    let cases: [(&[&str], &str); 6] = [
        (&["absent"], "`absent`"),
        (&["empty"], "`empty`: it is empty; give a file with results"),
        (&["text"], "it begins with `a plain text`"),
        (&["."], "`.` is a folder"),
        (&["text", "--as", "flent"], "line 1: it is no JSON"),
        (&[&capture, "--name", "a,b"], "`--name` gives 2 names"),
    ];
    for (args, wanted) in cases {
        let output = trammel(folder, &[&["import"], args].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(
            said(&output).contains(wanted),
            "{args:?}: {}",
            said(&output)
        );
    }
}

#[test]
fn a_tester_s_result_stands_beside_another() {
    let lab = tempfile::tempdir().unwrap();
    let folder = lab.path();
    let test = |title: &str, pps: f64| {
        format!(
            "{{\"results\": {{\"title\": \"{title}\", \"rate_tx_bps\": 4e9, \"tx_pps\": {pps}, \
             \"drop_rate_percentage\": 0}}, \"config\": {{\"tunables\": {{\"size\": 64}}}}}}"
        )
    };
    for (name, pps) in [("old", 5e6), ("new", 6e6)] {
        let file = format!("{name}.json");
        fs::write(folder.join(&file), test("router", pps)).unwrap();
        done(&trammel(folder, &["import", &file, "-o", name]));
    }
    let shown = done(&trammel(folder, &["import", "old.json"]));
    assert!(
        shown.contains("throughput") && shown.contains("router"),
        "{shown}"
    );
    let compared = trammel(folder, &["compare", "old", "new", "--json"]);
    let tables: serde_json::Value = serde_json::from_str(&done(&compared)).unwrap();
    let rows = tables["tables"]["comparison"].as_array().unwrap();
    let row = rows
        .iter()
        .find(|row| row["metric"] == "throughput")
        .unwrap();
    assert_eq!(
        (&row["point"], &row["unit"]),
        (&"64".into(), &"frames/s".into())
    );
    assert_eq!(row["old: router"], 5e6);
    assert_eq!(row["new: router"], 6e6);
}

#[test]
fn a_capture_of_a_simulated_link_tells_what_the_simulator_knows() {
    let lab = tempfile::tempdir().unwrap();
    let folder = lab.path();
    let scenario = "duration = '10 s'\npcap = true\n[path]\nrate = '20 Mbit/s'\nrtt = '40 ms'\n\
                    queue = { discipline = 'droptail', limit = '100 packets' }\n\
                    [[flow]]\nvariant = 'cubic'\nstart = '0 s'\n\
                    [[flow]]\nvariant = 'reno'\nstart = '1 s'\n";
    fs::write(folder.join("s.toml"), scenario).unwrap();
    done(&trammel(
        folder,
        &["run", "s.toml", "--engine", "simulate", "-o", "known"],
    ));
    let capture = "known/pcap/base.bottleneck.pcapng";
    done(&trammel(
        folder,
        &["import", capture, "--name", "cubic,reno", "-o", "seen"],
    ));
    let compared = trammel(folder, &["compare", "known", "seen", "--json"]);
    let tables: serde_json::Value = serde_json::from_str(&done(&compared)).unwrap();
    let rows = tables["tables"]["comparison"].as_array().unwrap();
    for flow in ["cubic", "reno"] {
        for metric in [
            "goodput",
            "cwnd_mean",
            "cwnd_max",
            "rtt_min",
            "rtt_mean",
            "rtt_p95",
        ] {
            let row = rows
                .iter()
                .find(|row| row["entity"] == flow && row["metric"] == metric)
                .unwrap_or_else(|| panic!("no {metric} of {flow}"));
            let (known, seen) = (
                row["known"].as_f64().unwrap(),
                row["seen"].as_f64().unwrap(),
            );
            let error = seen / known - 1.0;
            assert!(
                error.abs() < 0.03,
                "{metric} of {flow}: {seen}, it is {known}"
            );
        }
    }
}
