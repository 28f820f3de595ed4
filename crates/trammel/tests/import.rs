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

/// A link of 12 Mbit/s in one second and 3 Mbit/s in the next, and one of 6 Mbit/s.
#[test]
fn flows_run_over_an_imported_link_by_the_scenario_in_its_folder() {
    let lab = tempfile::tempdir().unwrap();
    let folder = lab.path();
    let changing = (1..=2000).filter(|ms| *ms <= 1000 || ms % 4 == 0);
    let lines = |all: &mut dyn Iterator<Item = u32>| -> String {
        all.map(|ms| format!("{ms}\n")).collect()
    };
    fs::write(folder.join("a.down"), lines(&mut changing.clone())).unwrap();
    fs::write(folder.join("b.down"), lines(&mut (1..=1000).step_by(2))).unwrap();
    let imported = trammel(folder, &["import", "a.down", "-o", "one"]);
    done(&imported);
    assert!(
        said(&imported).contains("scenario.toml"),
        "{}",
        said(&imported)
    );
    let run = [
        "run",
        "one/scenario.toml",
        "--engine",
        "simulate",
        "-o",
        "out",
    ];
    done(&trammel(folder, &run));
    let utilised = |out: &str, point: &str| -> f64 {
        let file = fs::File::open(folder.join(out).join("links.csv")).unwrap();
        let links = trammel_stats::table::Table::read_csv_inferring("links", file).unwrap();
        let mut rows = links.rows();
        let row = rows.find(|row| row.text("point").contains(point)).unwrap();
        row.float("utilisation").unwrap()
    };
    let of_cubic = utilised("out", "cubic");
    assert!((0.8..=1.0).contains(&of_cubic), "{of_cubic}");
    // Several links are a sweep.
    done(&trammel(
        folder,
        &["import", "a.down", "b.down", "-o", "two"],
    ));
    let run = [
        "run",
        "two/scenario.toml",
        "--engine",
        "simulate",
        "-o",
        "both",
    ];
    done(&trammel(folder, &run));
    for point in ["a", "b"] {
        let trace = format!("{point}.trace");
        assert!(utilised("both", &trace) > 0.5, "{trace}");
    }
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
    // The file says that it is of a simulator.
    let flows = fs::read_to_string(folder.join("seen/flows.csv")).unwrap();
    let engines = flows.lines().skip(1).map(|row| row.split(',').next());
    assert_eq!(engines.collect::<Vec<_>>(), [Some("simulate"); 2]);
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

#[test]
fn what_was_exported_gives_the_table_s_numbers_when_it_is_read_again() {
    let lab = tempfile::tempdir().unwrap();
    let folder = lab.path();
    let scenario = "duration = '20 s'\ntrace = '100 ms'\n[path]\nrate = '100 Mbit/s'\n\
                    rtt = '20 ms'\n\
                    [[flow]]\nvariant = 'cubic'\nstart = '0 s'\n\
                    [[flow]]\nvariant = 'reno'\nstart = '2 s'\n";
    fs::write(folder.join("s.toml"), scenario).unwrap();
    let args = ["run", "s.toml", "--engine", "simulate", "-o", "known"];
    done(&trammel(folder, &args));
    let numbers = |args: &[&str]| -> Vec<f64> {
        let output = done(&trammel(folder, args));
        let tables: serde_json::Value = serde_json::from_str(&output).unwrap();
        let rows = ["flows", "groups"].map(|name| tables["tables"][name].as_array().unwrap());
        let rows = rows.into_iter().flatten();
        let goodputs = rows.map(|row| row["goodput_mbps"].as_f64().unwrap());
        let jain = tables["tables"]["groups"][0]["jain"].as_f64().unwrap();
        goodputs.chain([jain]).collect()
    };
    let csv = |name: &str, column: &str| -> Vec<f64> {
        let text = fs::read_to_string(folder.join("known").join(name)).unwrap();
        let mut lines = text.lines();
        let mut head = lines.next().unwrap().split(',');
        let at = head.position(|known| known == column);
        lines
            .map(|line| line.split(',').nth(at.unwrap()).unwrap().parse().unwrap())
            .collect()
    };
    let goodputs = ["flows.csv", "groups.csv"].map(|name| csv(name, "goodput_mbps"));
    let known = [goodputs.concat(), csv("groups.csv", "jain")].concat();
    assert_eq!(known.len(), 4);
    for (form, file) in [("iperf3", "a.json"), ("flent", "a.flent.gz")] {
        done(&trammel(
            folder,
            &["export", "known", "--as", form, "-o", file],
        ));
        let again = numbers(&["import", file, "--json"]);
        assert_eq!(again.len(), 4, "{form}: {again:?}");
        for (at, (again, known)) in again.iter().zip(&known).enumerate() {
            // Flent has no sum over all the time but that of its intervals.
            let within = if at == 2 { 0.02 } else { 1e-4 };
            let error = again / known - 1.0;
            assert!(error.abs() < within, "{form}, {at}: {again}, it is {known}");
        }
    }
}

#[test]
fn what_was_simulated_stays_simulated_through_another_program_s_format() {
    let lab = tempfile::tempdir().unwrap();
    let folder = lab.path();
    let scenario = "duration = '4 s'\ntrace = '100 ms'\n[path]\nrate = '10 Mbit/s'\n\
                    rtt = '20 ms'\n\
                    [[flow]]\nname = 'old'\nvariant = 'cubic'\nstart = '0 s'\n\
                    [[flow]]\nname = 'new'\nvariant = 'reno'\nstart = '1 s'\n";
    fs::write(folder.join("s.toml"), scenario).unwrap();
    let args = ["run", "s.toml", "--engine", "simulate", "-o", "known"];
    done(&trammel(folder, &args));
    for (form, file) in [("iperf3", "a.json"), ("flent", "a.flent.gz")] {
        done(&trammel(
            folder,
            &["export", "known", "--as", form, "-o", file],
        ));
        let output = done(&trammel(folder, &["import", file, "--json"]));
        let tables: serde_json::Value = serde_json::from_str(&output).unwrap();
        let rows = tables["tables"]["flows"].as_array().unwrap();
        let told = ["engine", "flow", "variant"]
            .map(|column| [0, 1].map(|at| rows[at][column].as_str().unwrap()));
        assert_eq!(
            told,
            [["simulate"; 2], ["old", "new"], ["cubic", "reno"]],
            "{form}"
        );
        done(&trammel(folder, &["import", file, "-o", form]));
        let page = fs::read_to_string(folder.join(form).join("report.html")).unwrap();
        assert!(page.contains("label-simulated\""), "{form}");
        assert!(!page.contains("label-measured\""), "{form}");
        assert!(page.contains("Numbers are simulated: trammel "), "{form}");
        let traces = ["old", "new"].map(|flow| format!("{form}/traces/base.{flow}.csv"));
        assert!(traces.iter().all(|file| folder.join(file).exists()));
    }
    // One label for the two would be wrong for one of them.
    let measured = fs::read_to_string(file("two.json")).unwrap();
    let exported = fs::read_to_string(folder.join("a.json")).unwrap();
    fs::write(folder.join("both.json"), measured + &exported).unwrap();
    let refused = trammel(folder, &["import", "both.json"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        said(&refused).contains("some are measured, some simulated"),
        "{}",
        said(&refused)
    );
}

#[test]
fn the_log_of_a_simulated_flow_is_simulated() {
    let lab = tempfile::tempdir().unwrap();
    let scenario = "duration = '2 s'\nqlog = true\n[path]\nrate = '10 Mbit/s'\n\
                    rtt = '20 ms'\n[[flow]]\nvariant = 'cubic'\nstart = '0 s'\n";
    fs::write(lab.path().join("s.toml"), scenario).unwrap();
    let args = ["run", "s.toml", "--engine", "simulate", "-o", "known"];
    done(&trammel(lab.path(), &args));
    let log = "known/qlog/base.cubic.sqlog";
    let output = done(&trammel(lab.path(), &["import", log, "--json"]));
    let tables: serde_json::Value = serde_json::from_str(&output).unwrap();
    let row = &tables["tables"]["flows"][0];
    assert_eq!(
        (&row["flow"], &row["engine"]),
        (&"cubic".into(), &"simulate".into())
    );
}

#[test]
fn a_capture_and_another_program_s_file_stand_together_in_any_order() {
    let lab = tempfile::tempdir().unwrap();
    let names = ["kernel.sender.pcap.gz", "two.json", "upload.flent.gz"];
    let files = names.map(|name| file(name).display().to_string());
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
        let args: Vec<&str> = order.iter().map(|at| files[*at].as_str()).collect();
        done(&trammel(lab.path(), &[&["import"], &args[..]].concat()));
    }
}

#[test]
fn every_flow_has_its_own_file_of_samples() {
    let lab = tempfile::tempdir().unwrap();
    let folder = lab.path();
    let two = file("two.json").display().to_string();
    done(&trammel(
        folder,
        &["import", &two, "--name", "a/b,a_b", "-o", "out"],
    ));
    for name in ["base.a_b.csv", "base.a_b-2.csv"] {
        assert!(folder.join("out/traces").join(name).exists(), "{name}");
    }
    let refused = trammel(folder, &["import", &two, "--name", "a,a"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        said(&refused).contains("makes two flows `a`"),
        "{}",
        said(&refused)
    );
}

#[test]
fn results_of_testers_stand_beside_flows_each_under_its_label() {
    let lab = tempfile::tempdir().unwrap();
    let folder = lab.path();
    let trex = "{\"results\": {\"title\": \"router\", \"rate_tx_bps\": 4e9, \"tx_pps\": 5e6, \
                \"drop_rate_percentage\": 0}, \"config\": {\"tunables\": {\"size\": 64}}}";
    fs::write(folder.join("trex.json"), trex).unwrap();
    let monitor = "<FlowMonitor><FlowStats><Flow flowId=\"1\" timeFirstTxPacket=\"+0s\" \
                   timeLastTxPacket=\"+1s\" timeLastRxPacket=\"+1s\" delaySum=\"+1s\" \
                   jitterSum=\"+0s\" txBytes=\"1000\" rxBytes=\"1000\" txPackets=\"1\" \
                   rxPackets=\"1\" lostPackets=\"0\"/></FlowStats></FlowMonitor>";
    fs::write(folder.join("fm.xml"), monitor).unwrap();
    let files = ["import", "trex.json", "fm.xml"];
    let shown = done(&trammel(folder, &files));
    for word in ["fm: flow 1", "throughput", "router"] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
    let imported = trammel(folder, &[&files[..], &["-o", "out"]].concat());
    done(&imported);
    let said = said(&imported);
    assert!(said.contains("1 flow and 3 results."), "{said}");
    let page = fs::read_to_string(folder.join("out/report.html")).unwrap();
    for part in [
        "label-simulated\"",
        "label-measured\"",
        "fm: simulated, ns-3",
        "router",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // Whose simulator it was, the page says; it was not Trammel's.
    assert!(!page.contains("Trammel's simulator"));
    let summary = fs::read_to_string(folder.join("out/summary.csv")).unwrap();
    for row in ["simulate,fm,", "measured,64,"] {
        assert!(
            summary.lines().any(|line| line.starts_with(row)),
            "{summary}"
        );
    }
}

#[test]
fn plots_that_leave_flows_out_say_so() {
    let lab = tempfile::tempdir().unwrap();
    let intervals: Vec<String> = (1..=2)
        .map(|end| {
            let stream = |socket: u32| {
                format!("{{\"socket\":{socket},\"end\":{end},\"bits_per_second\":8e6}}")
            };
            let streams: Vec<String> = (5..35).map(stream).collect();
            format!("{{\"streams\":[{}]}}", streams.join(","))
        })
        .collect();
    let ends: Vec<String> = (5..35)
        .map(|socket| {
            let side = format!("{{\"socket\":{socket},\"seconds\":2,\"bytes\":2000000}}");
            format!("{{\"sender\":{side},\"receiver\":{side}}}")
        })
        .collect();
    let text = format!(
        "{{\"start\":{{\"version\":\"iperf 3.12\"}},\"intervals\":[{}],\
         \"end\":{{\"streams\":[{}]}}}}",
        intervals.join(","),
        ends.join(",")
    );
    fs::write(lab.path().join("r.json"), text).unwrap();
    done(&trammel(lab.path(), &["import", "r.json", "-o", "out"]));
    let page = fs::read_to_string(lab.path().join("out/report.html")).unwrap();
    assert!(page.contains("The first 8 of 30 are shown"));
}

#[test]
fn a_name_in_a_file_cannot_break_a_sentence_into_lines() {
    let lab = tempfile::tempdir().unwrap();
    let text = r#"{"start":{"version":"iperf 3.12","connected":[{"socket":5,
        "local_host":"a","local_port":1,"remote_host":"x\u001b[31m\ny","remote_port":2}]},
        "intervals":[],"end":{"streams":[{"sender":{"socket":5,"seconds":1,"bytes":1000000},
        "receiver":{"socket":5,"seconds":1,"bytes":1000000}}]}}"#;
    fs::write(lab.path().join("r.json"), text).unwrap();
    let output = trammel(lab.path(), &["import", "r.json", "-o", "out"]);
    done(&output);
    let said = said(&output);
    assert!(
        said.contains("x\u{fffd}[31m\u{fffd}y:2 gets 8 Mbit/s"),
        "{said}"
    );
}
