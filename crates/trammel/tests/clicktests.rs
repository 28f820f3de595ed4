//! Conformance of the router: every `clicktests/<group>/<Name>-NN.clicktest`, run as users run
//! `click`.
//!
//! The format is that of the suite of the original (`clicktest_runner/parse.rs` lists its
//! sections). Every expectation here was checked against the original too; a test of what only we
//! have says so in `%require`.
//!
//! | variable | effect |
//! |---|---|
//! | `CLICKTEST=ip/ CheckIP…` | only tests whose path below the corpus holds one of the words |
//! | `TRAMMEL_CLICKTESTS=DIR` | another corpus, such as the original's (its own variables pass through) |
//! | `TRAMMEL_CLICKTEST_BIN=DIR` | commands `click`, `click-flatten` … from there, such as the original's |
//!
//! To see a skip's reason or how long each takes: `cargo test --test clicktests -- --nocapture`.
#![cfg(unix)]
#![allow(clippy::print_stdout)]

mod clicktest_runner;

use clicktest_runner::parse::{Clicktest, parse};
use clicktest_runner::run::{Ended, Runner};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The names by which tests call the command.
const NAMES: &[&str] = &[
    "click",
    "click-align",
    "click-buildtool",
    "click-check",
    "click-combine",
    "click-flatten",
    "click-pretty",
    "click-uncombine",
    "click-undead",
    "click-xform",
];

/// How long one test may run; on a loaded machine each takes under two seconds.
const LIMIT: Duration = Duration::from_secs(45);

/// What the suite of the original has for another program than itself.
const LEAST_TESTS: usize = 142;

/// The classes that the suite of the original makes, by what they are for; and those that it leaves
/// out.
const CLASSES: &[&str] = &[
    "Script Idle IPFilter Paint FromIPSummaryDump ToIPSummaryDump DriverManager PaintSwitch \
     IPRewriter",
    "UDPRewriter IPAddrRewriter CheckIPHeader CheckICMPHeader TimeSortedSched Message \
     CheckTCPHeader",
    "IPAddrPairRewriter InfiniteSource Discard Print Classifier Queue RatedSource McastSocket \
     IPPrint",
    "EtherEncap Truncate TCPRewriter FTPPortMapper IPRewriterPatterns Counter IPClassifier Switch",
    "ControlSocket IPFragmenter ICMPError RoundRobinSwitch MarkIPHeader Null PullNull PushNull \
     RatedUnqueue",
    "Bypass BandwidthRatedUnqueue AlignmentInfo Error StrideSched Resize RatedSplitter Hub \
     FrontDropQueue",
    "InputSwitch BandwidthRatedSplitter SetIPDSCP MarkIPCE ICMPIPEncap TimeFilter AggregateCounter",
    "AdjustTimestamp RandomSeed RoundRobinIPMapper ARPQuerier ARPPrint IPEncap ARPResponder \
     AddressInfo",
    "DelayUnqueue SetTimestamp RadixIPLookup LinearIPLookup DelayShaper ARPTable AggregateIPFlows \
     Unqueue",
    "MixedQueue Tee PrioSched SimpleQueue Pad ScheduleInfo ICMPPingRewriter ICMPPingResponder \
     Strip",
    "ICMPRewriter CheckUDPHeader VLANEncap VLANDecap SetVLANAnno PullSwitch NotifierQueue \
     SimplePullSwitch",
    "RoundRobinSched NotifierDebug QuickNoteQueue UDPIPEncap PortInfo StripToNetworkHeader \
     IPReassembler",
    "FromDump StoreIPAddress SetIPAddress Shaper TimedSink SetTimestampDelta LinkUnqueue Clipboard",
    "TimedSource DirectIPLookup RangeIPLookup EtherVLANEncap StripEtherVLANHeader Align DecIPTTL \
     IPGWOptions",
    "DropBroadcasts FixIPSrc IPInputCombo IPOutputCombo StaticIPLookup PaintTee HostEtherFilter \
     GetIPAddress",
    "Unstrip AverageCounter StripIPHeader UnstripIPHeader MarkMACHeader CheckPaint StaticSwitch \
     RandomSample",
    // What it leaves out.
    "CheckIP6Header LookupIP6Route GetIP6Address DecIP6HLIM ICMP6Error IP6NDSolicitor \
     IP6NDAdvertiser",
    "IP6Encap UDPIP6Encap IP6Mirror RED AdaptiveRED CoDel PI FQCoDel EtherSwitch ListenEtherSwitch \
     ToDump",
    "MPLSPush MPLSPop MPLSSwap MPLSLookup MPLSDecTTL GREEncap CheckGREHeader StripGREHeader",
    "SubscriberGateway IPFIXExport LossModel",
];

/// How many of [`CLASSES`] the suite of the original makes.
const OF_ORIGINAL: usize = 130;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clicktests")
}

/// Links by every name to the command under test, and a runner that finds them.
fn runner(limit: Duration) -> (tempfile::TempDir, Runner) {
    let links = tempfile::tempdir().expect("a temporary folder can be made");
    for name in NAMES {
        let link = links.path().join(name);
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_trammel"), link)
            .expect("the link can be made");
    }
    let mut first = links.path().display().to_string();
    if let Ok(other) = std::env::var("TRAMMEL_CLICKTEST_BIN") {
        first = other;
    }
    let mut path = format!("{first}:{}", std::env::var("PATH").unwrap_or_default());
    if let Ok(suite) = std::env::var("TRAMMEL_CLICKTESTS") {
        path += &format!(":{suite}");
    }
    (links, Runner { path, limit })
}

/// The test files below `folder`, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder exists") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path
            .extension()
            .is_some_and(|extension| extension == "clicktest")
        {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn every_clicktest_passes() {
    let suite = std::env::var_os("TRAMMEL_CLICKTESTS").map(PathBuf::from);
    let is_ours = suite.is_none();
    let root = suite.unwrap_or_else(corpus);
    let words = std::env::var("CLICKTEST").unwrap_or_default();
    let words: Vec<&str> = words.split_whitespace().collect();
    let mut tests: Vec<(String, Result<Clicktest, String>)> = Vec::new();
    for path in files(&root) {
        let name = path
            .strip_prefix(&root)
            .expect("it is below")
            .display()
            .to_string();
        if !words.is_empty() && !words.iter().any(|word| name.contains(word)) {
            continue;
        }
        match parse(&path) {
            Ok(of_file) if of_file.len() == 1 => {
                tests.extend(of_file.into_iter().map(|t| (name.clone(), Ok(t))));
            }
            Ok(of_file) => {
                for (n, test) in (1..).zip(of_file) {
                    tests.push((format!("{name}#{n}"), Ok(test)));
                }
            }
            Err(why) => tests.push((name, Err(why))),
        }
    }
    let (_links, runner) = runner(LIMIT);
    let next = AtomicUsize::new(0);
    let ended = Mutex::new(Vec::new());
    let began = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((name, test)) = tests.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let one_began = Instant::now();
                    let how = match test {
                        Ok(test) => runner.run(test),
                        Err(why) => Ended::Failed(why.clone()),
                    };
                    let mut ended = ended
                        .lock()
                        .expect("no thread panics while it holds the lock");
                    ended.push((name, how, one_began.elapsed()));
                }
            });
        }
    });
    let mut ended = ended.into_inner().expect("no test panics");
    ended.sort_by_key(|(name, ..)| *name);
    let (mut passed, mut skipped, mut failed) = (0, 0, 0);
    for (name, how, took) in &ended {
        match how {
            Ended::Passed => {
                passed += 1;
                println!("passed {name} ({:.1} s)", took.as_secs_f64());
            }
            Ended::Skipped(why) => {
                skipped += 1;
                let why = why.as_deref().unwrap_or("(it does not say why)");
                println!("skipped {name}: it requires {}", why.trim_end());
            }
            Ended::Failed(why) => {
                failed += 1;
                println!("FAILED {name}: {}", why.trim_end());
            }
        }
    }
    let took = began.elapsed().as_secs_f64();
    println!("{passed} passed, {skipped} skipped, {failed} failed, in {took:.0} s");
    assert_eq!(failed, 0, "tests failed; they are named above");
    assert!(passed > 0, "no test is named so");
    if is_ours && words.is_empty() {
        assert!(ended.len() >= LEAST_TESTS, "only {} tests", ended.len());
    }
}

#[test]
fn every_class_is_made_by_a_test() {
    let mut words = std::collections::BTreeSet::new();
    for path in files(&corpus()) {
        for test in parse(&path).expect("a test") {
            let configurations = test.files.iter().map(|(_, text)| text);
            for text in configurations.chain([&test.script]) {
                let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '@';
                words.extend(text.split(|c| !is_word(c)).map(str::to_owned));
            }
        }
    }
    let classes: Vec<&str> = CLASSES.iter().flat_map(|line| line.split(' ')).collect();
    let missing: Vec<_> = classes
        .iter()
        .filter(|class| !words.contains(**class))
        .collect();
    assert!(missing.is_empty(), "no test makes {missing:?}");
    let first_of_ours = classes.iter().position(|class| *class == "CheckIP6Header");
    assert_eq!(
        first_of_ours,
        Some(OF_ORIGINAL),
        "classes of the original's suite"
    );
}
