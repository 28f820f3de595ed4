//! The tc script of a path, run by the real `tc` on a real kernel: a router in a guest, between a
//! sender and a receiver, delays, limits and drops as the scenario says.
//!
//! ```text
//! sender [send] ── [back] router [out] ── [recv] receiver       one guest, three namespaces
//! ```
//! The guest's time is virtual, so what `ping` and `iperf3` measure there does not depend on this
//! machine.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use trammel_kernel::build::{self, Source, Wish};

/// Programs of this machine that the guest has too.
const PROGRAMS: [&str; 8] = [
    "sh", "ip", "tc", "ping", "iperf3", "sleep", "mkdir", "mount",
];

/// Two ends and a router between them, whose interfaces have the qdiscs of `/path.sh`; then what
/// `$1` asks for.
const LAB: &str = r#"
export PATH=/bin
mount -t tmpfs tmpfs /run && mkdir /run/netns
for n in s r d; do ip netns add $n; ip -n $n link set dev lo up; done
ip link add name send netns s type veth peer name back netns r
ip link add name out netns r type veth peer name recv netns d
for x in s:send r:back r:out d:recv; do
    ip -n ${x%:*} link set dev ${x#*:} gso_max_segs 1 up
done
ip -n s addr add 10.0.1.1/24 dev send; ip -n r addr add 10.0.1.2/24 dev back
ip -n r addr add 10.0.2.2/24 dev out; ip -n d addr add 10.0.2.1/24 dev recv
ip -n s route add default via 10.0.1.2; ip -n d route add default via 10.0.2.2
ip netns exec r sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec r sh /path.sh out back || exit 3
from() { ip netns exec s "$@"; }
to() { ip netns exec d "$@"; }
from ping -q -c 5 10.0.2.1 > /tmp/arp
"#;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn trammel(words: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
    let output = command.args(words).current_dir(root()).output();
    let output = output.expect("the program can be started");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {said}");
    String::from_utf8(output.stdout).expect("it is UTF-8")
}

/// The kernel that guests run.
fn kernel() -> Result<PathBuf, String> {
    let source = Source::pinned().map_err(|why| why.to_string())?;
    let wish = Wish {
        source,
        patches: Vec::new(),
        jobs: 1,
        cache: build::usual_cache().ok_or("no folder for kernels")?,
    };
    let built = build::find(&wish).map_err(|why| why.to_string())?;
    let built = built.ok_or("the kernel is not built; `trammel kernel build` makes it")?;
    Ok(built.kernel)
}

/// The program that runs others in a guest, as an example of its crate.
fn runner() -> PathBuf {
    let own = std::env::current_exe().expect("a path");
    let target = own.parent().and_then(Path::parent).expect("a folder");
    let path = target.join("examples/guest_run");
    if !path.exists() {
        let words = [
            "build",
            "--locked",
            "-p",
            "trammel-kernel",
            "--example",
            "guest_run",
        ];
        let built = Command::new(env!("CARGO")).args(words).status();
        assert!(built.expect("cargo runs").success());
    }
    path
}

/// Where the program `name` is on this machine.
fn place(name: &str) -> Result<PathBuf, String> {
    let folders = ["/bin", "/sbin", "/usr/bin", "/usr/sbin"];
    let mut paths = folders.iter().map(|folder| Path::new(folder).join(name));
    paths
        .find(|path| path.exists())
        .ok_or_else(|| format!("`{name}` is missing: apt-get install iproute2 iputils-ping iperf3"))
}

/// Copies the programs and their libraries into the folder of a guest's files.
fn fill(folder: &Path) -> Result<(), String> {
    let copy = |from: &Path, to: &Path| -> Result<(), String> {
        let parent = to.parent().expect("a file is in a folder");
        let done = fs::create_dir_all(parent).and_then(|()| fs::copy(from, to));
        done.map(|_| ())
            .map_err(|why| format!("{}: {why}", from.display()))
    };
    for name in PROGRAMS {
        let path = place(name)?;
        copy(&path, &folder.join("bin").join(name))?;
        let needs = Command::new("ldd").arg(&path).output();
        let needs = needs.map_err(|why| format!("`ldd`: {why}"))?;
        let needs = String::from_utf8_lossy(&needs.stdout).into_owned();
        let files = needs
            .split_whitespace()
            .filter(|word| word.starts_with('/'));
        for file in files {
            let to = folder.join(file.trim_start_matches('/'));
            copy(Path::new(file), &to)?;
        }
    }
    Ok(())
}

/// What `script` says in a lab with the path of `scenario`; nothing, with the reason printed, where
/// this machine cannot run it.
fn measured(scenario: &Path, script: &str) -> Option<String> {
    let lab = tempfile::tempdir().expect("a folder can be made");
    let kernel = match kernel().and_then(|kernel| fill(lab.path()).map(|()| kernel)) {
        Ok(kernel) => kernel,
        Err(why) => {
            println!("skipped: {why}");
            return None;
        }
    };
    let path = lab.path().join("path.sh");
    let of = scenario.to_str().expect("it is UTF-8");
    let path = path.to_str().expect("it is UTF-8");
    trammel(&["export", of, "--as", "tc", "-o", path]);
    let script = format!("{LAB}{script}");
    let done = Command::new(runner())
        .args([&kernel, lab.path()])
        .args(["/bin/sh", "-c", &script])
        .output();
    let done = done.expect("the runner can be started");
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    let why = String::from_utf8_lossy(&done.stderr).into_owned();
    // 125: there was no guest. What a lab does on its own ends with less.
    if done.status.code() == Some(125) {
        println!("skipped: {why}");
        return None;
    }
    assert!(done.status.success(), "{said}{why}");
    Some(said)
}

/// The numbers of the `at`-th line that begins with `head`, split at what is no number.
fn numbers(said: &str, head: &str, at: usize) -> Vec<f64> {
    let mut lines = said.lines().map(str::trim_start);
    let line = lines.by_ref().filter(|line| line.starts_with(head)).nth(at);
    let line = line.unwrap_or_else(|| panic!("no line {at} of `{head}`: {said}"));
    let rest = &line[head.len()..];
    let parts = rest.split(|c: char| !c.is_ascii_digit() && c != '.');
    parts.filter_map(|part| part.parse().ok()).collect()
}

/// Payload a second that came, by the `at`-th test of iperf3, Mbit/s.
fn rate(said: &str, at: usize) -> f64 {
    let mut lines = said.lines().filter(|line| line.ends_with("receiver"));
    let line = lines
        .nth(at)
        .unwrap_or_else(|| panic!("no rate {at}: {said}"));
    let words: Vec<&str> = line.split_whitespace().collect();
    let unit = words.iter().position(|word| *word == "Mbits/sec");
    let unit = unit.unwrap_or_else(|| panic!("no rate: {line}"));
    words[unit - 1].parse().expect("a number")
}

fn is_near(value: f64, wanted: f64, part: f64) -> bool {
    (value - wanted).abs() <= part * wanted
}

/// Delay, rate and queue: empty, flooded, and with a flow of the kernel beside the simulated one.
#[test]
fn a_path_in_tc_delays_limits_and_queues_as_its_scenario_says() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("path.toml");
    let text = "duration = '8 s'\n[path]\nrate = '50 Mbit/s'\nrtt = '30 ms'\nqueue = { limit = \
                '125 packets' }\n[[flow]]\nvariant = 'cubic'\nstart = '0 s'\n";
    fs::write(&file, text).expect("the file can be written");
    let script = "from ping -q -i 0.2 -c 10 10.0.2.1
        to iperf3 -s -1 > /tmp/server & sleep 0.5
        from iperf3 -f m -u -b 80M -l 1400 -t 2 -c 10.0.2.1 > /tmp/flood & sleep 1
        ip netns exec r tc -s qdisc show dev out
        from ping -q -i 0.05 -c 10 10.0.2.1
        wait; while read -r line; do echo \"$line\"; done < /tmp/flood
        to iperf3 -s -1 > /tmp/server & sleep 0.5
        from iperf3 -f m -C cubic -t 8 -c 10.0.2.1";
    let Some(said) = measured(&file, script) else {
        return;
    };
    // The last of these lines is within the table of the queue.
    for qdisc in [
        "netem 1: root",
        "tbf 2: parent 1:1 rate 50Mbit",
        "pfifo 3: parent 2:1 limit 125p",
    ] {
        assert!(said.contains(qdisc), "no `{qdisc}`: {said}");
    }
    let empty = numbers(&said, "rtt min/avg/max/mdev =", 0);
    assert!(is_near(empty[1], 30.0, 0.005), "{empty:?}");
    // A full queue of frames of 1442 bytes, of which the ping's own takes a place.
    let full = 30.0 + 125.0 * 1442.0 * 8.0 / 50e3;
    let loaded = numbers(&said, "rtt min/avg/max/mdev =", 1);
    assert!(is_near(loaded[1], full, 0.03), "{loaded:?} for {full}");
    let came = rate(&said, 0);
    assert!(is_near(came, 50.0 * 1400.0 / 1442.0, 0.03), "{came}");
    // The kernel's own flow beside ours.
    let of = file.to_str().expect("it is UTF-8");
    let run = trammel(&["run", of, "--engine", "simulate", "--json"]);
    let run: serde_json::Value = serde_json::from_str(&run).expect("it is JSON");
    let simulated = run["tables"]["flows"][0]["goodput_mbps"].as_f64();
    let (simulated, kernel) = (simulated.expect("a number"), rate(&said, 1));
    assert!(is_near(kernel, simulated, 0.03), "{kernel} for {simulated}");
}

/// Losses, jitter and a queue by its law.
#[test]
fn a_path_in_tc_loses_and_scatters_as_its_scenario_says() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("path.toml");
    let text = "duration = '5 s'\n[path]\nrate = '20 Mbit/s'\nrtt = '40 ms'\njitter = '10 ms'\n\
                loss = { model = 'bernoulli', probability = 0.05 }\nqueue = { discipline = \
                'fq_codel' }\n[[flow]]\nvariant = 'cubic'\n";
    fs::write(&file, text).expect("the file can be written");
    let script = "from ping -q -i 0.02 -c 2000 10.0.2.1
        ip netns exec r tc -s qdisc show dev out";
    let Some(said) = measured(&file, script) else {
        return;
    };
    assert!(said.contains("fq_codel 3: parent 2:1"), "{said}");
    let counts = numbers(&said, "2000 packets transmitted,", 0);
    let lost = 1.0 - counts[0] / 2000.0;
    // Four standard deviations of so many pings.
    let most = 4.0 * (0.05 * 0.95 / 2000.0_f64).sqrt();
    assert!((lost - 0.05).abs() < most, "{lost}: {said}");
    let rtt = numbers(&said, "rtt min/avg/max/mdev =", 0);
    assert!((40.0..41.0).contains(&rtt[0]), "least {rtt:?}");
    assert!(is_near(rtt[1], 45.0, 0.02), "mean {rtt:?}");
    assert!((49.0..=50.5).contains(&rtt[2]), "most {rtt:?}");
}

/// Twice, with one interface already bare, with nothing left, and with a `tc` that fails midway.
#[test]
fn a_script_gives_the_same_path_again_and_takes_all_of_it_away() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("path.toml");
    let text = "duration = '5 s'\n[path]\nrate = '20 Mbit/s'\nrtt = '40 ms'\nqueue = { discipline \
                = 'codel' }\n[[flow]]\nvariant = 'cubic'\n";
    fs::write(&file, text).expect("the file can be written");
    let script = "r() { ip netns exec r \"$@\"; }
        show() { for dev in out back; do
            r tc qdisc show dev $dev | while read -r line; do echo \"$1: $line\"; done
        done; }
        show once; r sh /path.sh out back || exit 4; show twice
        r tc qdisc del dev out root
        r sh /path.sh off out back || exit 5; show off
        r sh /path.sh off out back || exit 6
        r sh /path.sh out none && exit 7; show half
        r sh -c 'tc() { case \"$*\" in *codel*) return 2 ;; esac; /bin/tc \"$@\"; }
            . /path.sh' sh out back && exit 8; show half
        r sh /path.sh off none back && exit 9; show half
        echo end";
    let Some(said) = measured(&file, script) else {
        return;
    };
    // Some versions of `tc` say with which number netem draws.
    let of = |what: &str| -> Vec<String> {
        let lines = said.lines().filter_map(|line| line.strip_prefix(what));
        let lines = lines.map(|line| line.split(" seed ").next().unwrap_or(line));
        lines.map(|line| line.trim_end().to_owned()).collect()
    };
    let once = of("once: ");
    for qdisc in ["netem 1: root", "tbf 2: parent 1:1", "codel 3: parent 2:1"] {
        let is_there = once.iter().any(|line| line.contains(qdisc));
        assert!(is_there, "no `{qdisc}`: {said}");
    }
    assert_eq!(once, of("twice: "), "{said}");
    let rest = [of("off: "), of("half: ")].concat();
    assert!(!rest.is_empty(), "{said}");
    assert!(!rest.iter().any(|line| line.contains("netem")), "{said}");
}
