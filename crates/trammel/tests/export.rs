//! `trammel export`: what it writes is read by the programs that it is for, where they are here.

#![allow(clippy::print_stdout)]

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn trammel(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
    let output = command.args(words).current_dir(root()).output();
    output.expect("the program can be started")
}

fn text(words: &[&str]) -> String {
    let output = trammel(words);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {said}");
    String::from_utf8(output.stdout).expect("it is UTF-8")
}

/// A run folder of two flows with samples.
fn folder(within: &Path) -> PathBuf {
    let file = within.join("two.toml");
    let scenario = "duration = '5 s'\ntrace = '100 ms'\n[path]\nrate = '10 Mbit/s'\nrtt = '20 ms'\n\
                    [[flow]]\nname = 'a'\nvariant = 'cubic'\n[[flow]]\nname = 'b'\nvariant = \
                    'reno'\nstart = '1 s'\n";
    std::fs::write(&file, scenario).expect("the file can be written");
    let out = within.join("out");
    let [file, path] = [&file, &out].map(|path| path.to_str().expect("it is UTF-8"));
    text(&["run", file, "--engine", "simulate", "-o", path]);
    out
}

/// The goodputs of the flows of a run folder, Mbit/s.
fn goodputs(folder: &Path) -> Vec<f64> {
    let text = std::fs::read_to_string(folder.join("flows.csv")).expect("it is there");
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().expect("a head");
    let at = head.iter().position(|name| *name == "goodput_mbps");
    let at = at.expect("the column is there");
    lines
        .map(|row| row[at].parse().expect("a number"))
        .collect()
}

#[test]
fn flent_reads_a_run_and_finds_the_same_rates() {
    let within = tempfile::tempdir().expect("a folder can be made");
    let folder = folder(within.path());
    let file = within.path().join("run.flent.gz");
    let [of, to] = [&folder, &file].map(|path| path.to_str().expect("it is UTF-8"));
    text(&["export", of, "--as", "flent", "-o", to]);
    // Once more over its own file.
    text(&["export", of, "--as", "flent", "-o", to]);
    let Ok(flent) = Command::new("flent")
        .args(["-i", to, "-f", "summary"])
        .output()
    else {
        println!("skipped: flent is missing: apt-get install flent");
        return;
    };
    let said = String::from_utf8_lossy(&flent.stdout).into_owned();
    assert!(flent.status.success(), "{said}");
    for (at, goodput) in goodputs(&folder).iter().enumerate() {
        let series = format!("TCP upload::{} ", at + 1);
        let mut lines = said.lines().map(str::trim_start);
        let line = lines.find(|line| line.starts_with(&series));
        let line = line.unwrap_or_else(|| panic!("no `{series}`: {said}"));
        let mean = line.split(':').next_back().and_then(|rest| {
            let mut words = rest.split_whitespace();
            words.next()?.parse::<f64>().ok()
        });
        let mean = mean.unwrap_or_else(|| panic!("no mean: {line}"));
        assert!(
            (mean - goodput).abs() < 0.006,
            "{mean} for {goodput}: {said}"
        );
    }
    assert!(said.contains("simulated"), "{said}");
}

#[test]
fn a_result_in_iperf3s_shape_has_the_runs_rates() {
    let within = tempfile::tempdir().expect("a folder can be made");
    let folder = folder(within.path());
    let of = folder.to_str().expect("it is UTF-8");
    let file: Value = serde_json::from_str(&text(&["export", of, "--as", "iperf3"])).expect("JSON");
    let streams = file["end"]["streams"]
        .as_array()
        .expect("there are streams");
    for (stream, goodput) in streams.iter().zip(goodputs(&folder)) {
        let bps = stream["receiver"]["bits_per_second"]
            .as_f64()
            .expect("a rate");
        assert!((bps / 1e6 - goodput).abs() < 1e-3, "{bps} for {goodput}");
    }
    let intervals = file["intervals"].as_array().expect("there are intervals");
    let bytes = |one: &Value| one["sum"]["bytes"].as_f64().expect("bytes");
    let sum: f64 = intervals.iter().map(bytes).sum();
    let received = bytes(&serde_json::json!({ "sum": file["end"]["sum_received"] }));
    // Each interval is rounded to a byte.
    let most = intervals.len() as f64 * streams.len() as f64;
    assert!((sum - received).abs() <= most, "{sum} of {received}");
    assert_eq!(file["trammel"]["label"], "simulated");
}

/// A file's name and a trace's with a command in them, exported and run as a script.
#[test]
fn a_name_is_no_command_of_a_script() {
    let within = tempfile::tempdir().expect("a folder can be made");
    let trace = within.path().join("t\n>PWNED #");
    std::fs::write(trace, "1\n2\n").expect("the file can be written");
    let file = within.path().join("u\n>PWNED #.toml");
    let scenario = "duration = '5 s'\n[path]\nrtt = '30 ms'\ntrace = \"t\\n>PWNED #\"\n\
                    [[flow]]\nvariant = 'reno'\n";
    std::fs::write(&file, scenario).expect("the file can be written");
    let of = file.to_str().expect("it is UTF-8");
    for format in ["tc", "mahimahi", "containerlab"] {
        let script = text(&["export", of, "--as", format]);
        let begins = |line: &str| line.trim_start().starts_with(">PWNED");
        assert!(!script.lines().any(begins), "{format}: {script}");
        let path = within.path().join("script");
        std::fs::write(&path, &script).expect("the file can be written");
        // Neither `tc` nor `mm-delay` is found: only what the shell itself does.
        let shell = Command::new("/bin/sh")
            .arg(&path)
            .args(["e0", "e1"])
            .env("PATH", "/nonexistent")
            .current_dir(within.path())
            .output();
        shell.expect("there is a shell");
        assert!(!within.path().join("PWNED").exists(), "{format}");
    }
}

#[test]
fn what_cannot_be_exported_is_told() {
    for (words, why) in [
        (
            ["export", "examples/parking-lot.toml", "--as", "tc"],
            "[path]",
        ),
        (["export", "examples/wifi.toml", "--as", "tc"], "wireless"),
        (
            ["export", "examples/router", "--as", "flent"],
            "no run folder",
        ),
        (
            ["export", "examples/first.toml", "--as", "iperf3"],
            "no folder",
        ),
        (
            ["export", "examples/forwarding.toml", "--as", "tc"],
            "subject = \"transport\"",
        ),
    ] {
        let output = trammel(&words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert!(said.contains(why), "{words:?}: {said}");
    }
}

/// What is asked for and is not there, or has no meaning for the format.
#[test]
fn a_run_that_is_not_there_is_told_with_those_that_are() {
    let within = tempfile::tempdir().expect("a folder can be made");
    let out = folder(within.path());
    let of = out.to_str().expect("it is UTF-8");
    let refused = |words: &[&str], why: &str| {
        let output = trammel(words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert!(said.contains(why), "{words:?}: {said}");
    };
    let why = "has no run of repeat 99; there are points `base`, repeat 0, engines `simulate`";
    refused(&["export", of, "--as", "flent", "--repeat", "99"], why);
    let first = "examples/first.toml";
    for (option, value) in [("--repeat", "99"), ("--engine", "simulate")] {
        let words = ["export", first, "--as", "tc", option, value];
        refused(&words, &format!("`{option}` is of a run"));
    }
    refused(
        &["export", of, "--as", "iperf3", "-o", "/dev/full"],
        "`/dev/full` cannot be written: No space left",
    );
    let flows = out.join("flows.csv");
    let text = std::fs::read_to_string(&flows).expect("it is there");
    let head = text.split_inclusive('\n').next().expect("a head");
    for rows in [head, ""] {
        std::fs::write(&flows, rows).expect("it can be written");
        let why = "its table `flows` has no row";
        refused(&["export", of, "--as", "iperf3"], why);
        refused(&["export", of, "--as", "iperf3", "--repeat", "9"], why);
    }
}

/// `-o` of `export` and `new` takes a file; `list` has none.
#[test]
fn a_full_standard_output_is_told_with_the_commands_own_way_out() {
    for (words, way) in [
        (
            &["export", "examples/first.toml", "--as", "tc"][..],
            ", or give `-o FILE`\n",
        ),
        (&["new", "-o", "-"], ", or give `-o FILE`\n"),
        (&["list", "formats"], "; send it elsewhere\n"),
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
        let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
        command.args(words).current_dir(root());
        let output = command.stdout(full.expect("it is there")).output();
        let output = output.expect("the program can be started");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert!(said.ends_with(way), "{words:?}: {said}");
    }
}

/// The real `tc` takes each command: where the kernel has no module of a qdisc it says so after it
/// has understood the words.
#[test]
fn tc_understands_every_command() {
    let within = tempfile::tempdir().expect("a folder can be made");
    let file = within.path().join("p.toml");
    let mut lacking = Vec::new();
    for queue in [
        "queue = { limit = 50 }",
        "queue = { limit = '60 KB' }",
        "queue = { discipline = 'codel', ecn = true }",
        "queue = { discipline = 'fq_codel', target = '7 ms', flows = 64 }",
        "queue = { discipline = 'pie' }",
        "queue = { discipline = 'fq_pie' }",
        "queue = { discipline = 'fq' }",
        "queue = { discipline = 'red', limit = 100 }",
        "loss = { probability = 0.01 }\njitter = '2 ms'",
        "grants = { every = '10 ms', packets = 8 }",
        "loss = { model = 'gilbert-elliott', p = 0.01, r = 0.3 }",
    ] {
        let scenario = format!(
            "duration = '5 s'\n[path]\nrate = '20 Mbit/s'\nrtt = '30 ms'\n{queue}\n[[flow]]\n\
             variant = 'reno'\n"
        );
        std::fs::write(&file, scenario).expect("the file can be written");
        let script = text(&["export", file.to_str().expect("UTF-8"), "--as", "tc"]);
        let commands = script.lines().filter(|line| line.starts_with("tc qdisc"));
        for command in commands {
            // By itself, since its parent may be one that this kernel lacks.
            let alone = command
                .replace("\"$out\"", "lo")
                .replace("\"$back\"", "lo")
                .replace("parent 1:1", "root")
                .replace("parent 2:1", "root")
                .replace("qdisc add", "qdisc replace");
            let ran = Command::new("unshare")
                .args(["-n", "sh", "-c", &alone])
                .output();
            let Ok(ran) = ran else {
                println!("skipped: unshare is missing");
                return;
            };
            let said = String::from_utf8_lossy(&ran.stderr).into_owned();
            let is_denied = ["not permitted", "not found", "unshare failed"];
            if is_denied.iter().any(|why| said.contains(why)) {
                println!("skipped: qdiscs in a namespace need root and tc: {said}");
                return;
            }
            if said.contains("qdisc kind is unknown") {
                lacking.extend(
                    alone
                        .split(' ')
                        .skip_while(|word| *word != "handle")
                        .nth(2)
                        .map(str::to_owned),
                );
                continue;
            }
            assert!(ran.status.success(), "{queue}: {alone}: {said}");
        }
    }
    lacking.sort();
    lacking.dedup();
    if !lacking.is_empty() {
        println!(
            "skipped: this kernel lacks {}; their words were taken",
            lacking.join(", ")
        );
    }
}

/// Where `mm-delay`, `mm-loss` and `mm-link` are not, or may not be used, the test says so.
#[cfg(target_os = "linux")]
#[test]
fn mahimahis_shells_delay_lose_and_limit_as_the_scenario_says() {
    let within = tempfile::tempdir().expect("a folder can be made");
    let file = within.path().join("path.toml");
    let scenario = "duration = '8 s'\n[path]\nrate = '20 Mbit/s'\nrtt = '30 ms'\nloss = { model = \
                    'bernoulli', probability = 0.05 }\nqueue = { limit = '40 packets' \
                    }\n[[flow]]\nvariant = 'cubic'\n";
    std::fs::write(&file, scenario).expect("the file can be written");
    let script = within.path().join("path.sh");
    let [of, to] = [&file, &script].map(|path| path.to_str().expect("it is UTF-8"));
    text(&["export", of, "--as", "mahimahi", "-o", to]);
    // A user that is not root, in a network of its own; the shells make theirs within it.
    // The server has its own end, lest it wait for a client that never came.
    let lab = "ip link set lo up; echo 1 > /proc/sys/net/ipv4/ip_forward; timeout 60 iperf3 -s -1 \
               > /dev/null 2>&1 & exec setpriv --reuid=65534 --regid=65534 --clear-groups sh \
               \"$1\" sh -c 'ping -q -i 0.01 -c 1000 $MAHIMAHI_BASE; iperf3 -f m -u -b 40M -l 1400 \
               -t 3 -c $MAHIMAHI_BASE'";
    for path in [within.path(), &script] {
        let readable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(path, readable).expect("they can be set");
    }
    let programs = [
        "mm-delay", "mm-loss", "mm-link", "setpriv", "iperf3", "ping",
    ];
    let found = |name: &&str| trammel_io::program::find(name).is_some();
    if let Some(missing) = programs.iter().find(|name| !found(name)) {
        println!("skipped: `{missing}` is missing");
        return;
    }
    let done = Command::new("unshare")
        .args(["-n", "sh", "-c", lab, "lab", to])
        .output();
    let done = done.expect("`unshare` can be started");
    let why = String::from_utf8_lossy(&done.stderr).into_owned();
    if !done.status.success()
        && ["setuid", "ip_forward", "permitted"]
            .iter()
            .any(|it| why.contains(it))
    {
        println!("skipped: {why}");
        return;
    }
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    let numbers = |head: &str| -> Vec<f64> {
        let line = said.lines().find_map(|line| line.strip_prefix(head));
        let line = line.unwrap_or_else(|| panic!("no `{head}`: {said}{why}"));
        let parts = line.split(|c: char| !c.is_ascii_digit() && c != '.');
        parts.filter_map(|part| part.parse().ok()).collect()
    };
    // Shells take some milliseconds on a busy machine: the least round trip is the path's own.
    let rtt = numbers("rtt min/avg/max/mdev =");
    assert!((30.0..34.0).contains(&rtt[0]), "{rtt:?}");
    let lost = 1.0 - numbers("1000 packets transmitted,")[0] / 1000.0;
    assert!((0.02..0.08).contains(&lost), "{lost}");
    // Payload of 1400 bytes in packets of 1428, of which a twentieth is lost before the link.
    let line = said.lines().rfind(|line| line.ends_with("receiver"));
    let words: Vec<&str> = line.expect("iperf3 ends").split_whitespace().collect();
    let unit = words.iter().position(|word| *word == "Mbits/sec");
    let came: f64 = words[unit.expect("a rate") - 1].parse().expect("a number");
    let part = came / (20.0 * 1400.0 / 1428.0);
    // The shells run by the wall clock, which a busy machine takes from them.
    assert!((0.88..1.02).contains(&part), "{came}: {part}");
}
