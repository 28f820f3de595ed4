//! `trammel decode` as its users run it, on logs that are written here: what it shows, its folder,
//! clocks, and D-ITG's formats.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use trammel_core::rng::Rng;
use trammel_traffic::log::{Session, Writer};
use trammel_traffic::record::{Instants, LoggedFlow, Protocol, Record};

const SECOND: i64 = 1_000_000_000;
/// 2027-01-15, 08:00.
const START: i64 = 1_800_000_000 * SECOND;

/// Runs `trammel decode` with `words` in `folder`.
fn decode(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
    command.current_dir(folder).arg("decode").args(words);
    command.output().expect("the program can be started")
}

/// What it prints where all is well.
fn printed(folder: &Path, words: &[&str]) -> String {
    let out = decode(folder, words);
    assert_eq!(out.status.code(), Some(0), "{words:?}: {}", said(&out));
    String::from_utf8(out.stdout).expect("the text is UTF-8")
}

fn said(out: &Output) -> String {
    String::from_utf8_lossy(&out.stderr).into_owned()
}

fn tables(folder: &Path, words: &[&str]) -> Value {
    let text = printed(folder, &[words, &["--json"]].concat());
    let all: Value = serde_json::from_str(&text).expect("the text is JSON");
    all["tables"].clone()
}

/// A log to be written.
struct Log<'a> {
    ends: (&'a str, &'a str),
    flows: u32,
    packets: u64,
    /// By how much the sender's clock is ahead of the true time at first, and what it gains; the
    /// receiver's.
    clocks_ns: [(i64, f64); 2],
    seed: u64,
}

const RIGHT: (i64, f64) = (0, 0.0);

const LOG: Log<'_> = Log {
    ends: ("192.0.2.1", "192.0.2.2"),
    flows: 2,
    packets: 500,
    clocks_ns: [RIGHT; 2],
    seed: 1,
};

impl Log<'_> {
    /// A receiver's log: packets every 10 ms over 1 ms of path and a queue of up to 2 ms, one in
    /// ten lost.
    fn write(&self, to: &Path) {
        let mut rng = Rng::new(self.seed, "a log to decode");
        let mut writer = Writer::new(std::fs::File::create(to).expect("the file can be written"));
        let session = Session {
            instants: Instants::SentReceived,
            date_ns: START,
            host: "receiver".into(),
            clock: "CLOCK_REALTIME".into(),
            program: "trammel".into(),
            seed: self.seed,
        };
        writer.session(&session).expect("there is room");
        let end = |host: &str, port: u32| Some(format!("{host}:{port}").parse().expect("an end"));
        for number in 0..self.flows {
            let flow = LoggedFlow {
                number,
                protocol: Protocol::Udp,
                from: end(self.ends.0, 40_000 + number % 10_000),
                to: end(self.ends.1, 9000),
                name: String::new(),
            };
            writer.flow(&flow).expect("there is room");
        }
        let by = |(ahead, drift): (i64, f64), true_ns: i64| {
            START + true_ns + ahead + (drift * true_ns as f64) as i64
        };
        let [sender, receiver] = self.clocks_ns;
        let mut records = Vec::new();
        for sequence in 0..self.packets {
            for flow in 0..self.flows {
                if rng.below(10) == 0 {
                    continue;
                }
                let since = sequence as i64 * SECOND / 100 + i64::from(flow) * 1000;
                let delay = 1_000_000 + rng.below(2_000_000) as i64;
                records.push(Record {
                    flow,
                    sequence,
                    bytes: 16 + rng.below(1400) as u32,
                    start_ns: by(sender, since),
                    end_ns: by(receiver, since + delay),
                });
            }
        }
        records.sort_by_key(|record| record.end_ns);
        for record in &records {
            writer.record(record).expect("there is room");
        }
    }
}

#[test]
fn a_log_in_words_and_interval_by_interval() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    LOG.write(&here.join("r.log"));
    let words = ["r.log", "--series", "--interval", "2s"];
    insta::assert_snapshot!("decode_series", printed(here, &words));
    // Half of it by time: the second half is the rest.
    let pkts = |words: &[&str]| tables(here, words)["totals"][0]["pkts"].as_u64();
    let (first, second) = (
        pkts(&["r.log", "--to", "2500ms"]),
        pkts(&["r.log", "--from", "2.5s"]),
    );
    assert_eq!(pkts(&["r.log"]), Some(first.unwrap() + second.unwrap()));
    assert!((440..=460).contains(&first.unwrap()), "{first:?}");
    assert_eq!(pkts(&["r.log", "--flow", "7"]), None);
}

#[test]
fn a_folder_has_the_tables_and_a_page_and_a_second_run_takes_its_place() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    LOG.write(&here.join("r.log"));
    let all = tables(here, &["r.log"]);
    let mut csv = Vec::new();
    for _ in 0..2 {
        let out = decode(here, &["r.log", "-o", "out"]);
        assert_eq!(out.status.code(), Some(0), "{}", said(&out));
        assert!(said(&out).contains("out/report.html"), "{}", said(&out));
        for (name, rows) in all.as_object().expect("tables by name") {
            let text = std::fs::read_to_string(here.join(format!("out/{name}.csv")));
            let text = text.expect("a table");
            assert_eq!(
                Some(text.lines().count() - 1),
                rows.as_array().map(Vec::len)
            );
            csv.push((name.clone(), text));
        }
        let page = std::fs::read_to_string(here.join("out/report.html")).expect("the file exists");
        assert!(page.contains("What became of every packet?"));
        for figure in ["rate", "delay", "jitter", "loss", "distribution"] {
            assert!(page.contains(&format!("fig-{figure}-received")), "{figure}");
            assert!(
                here.join(format!("out/figures/{figure}-received.svg"))
                    .is_file()
            );
        }
    }
    let (first, second) = csv.split_at(csv.len() / 2);
    assert_eq!(first, second, "the same log gives the same tables");
    std::fs::create_dir(here.join("mine")).expect("the folder can be made");
    std::fs::write(here.join("mine/notes.txt"), "mine").expect("the file can be written");
    let out = decode(here, &["r.log", "-o", "mine"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(said(&out).contains("not a run folder"), "{}", said(&out));
    // What cannot be decoded leaves no folder, not even a hidden one.
    let out = decode(here, &["missing.log", "-o", "new"]);
    assert_eq!(out.status.code(), Some(2));
    let left = std::fs::read_dir(here).expect("the folder exists").count();
    assert_eq!(left, 3, "the log and two folders");
}

#[test]
fn clocks_that_differ_are_brought_together_and_it_is_said() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    let (ahead, drift) = (-7 * SECOND, 2e-5);
    Log {
        packets: 3000,
        clocks_ns: [RIGHT, (ahead, drift)],
        ..LOG
    }
    .write(&here.join("there.log"));
    Log {
        ends: (LOG.ends.1, LOG.ends.0),
        packets: 3000,
        clocks_ns: [(ahead, drift), RIGHT],
        seed: 2,
        ..LOG
    }
    .write(&here.join("back.log"));
    let number = |row: &Value, key: &str| row[key].as_f64().expect("the value is a number");

    let both = tables(here, &["there.log", "back.log"]);
    for (clock, sign) in [(&both["clocks"][0], 1.0), (&both["clocks"][1], -1.0)] {
        assert_eq!(
            (&clock["method"], &clock["subtracted"]),
            (&"both ways".into(), &true.into())
        );
        let error = number(clock, "offset_us") - sign * (ahead as f64 / 1e3 + drift * 15e6);
        let bound = number(clock, "offset_bound_us");
        assert!(error.abs() < bound && bound < 1_100.0, "{clock}");
        let error = (number(clock, "drift_ppm") - sign * 20.0).abs();
        assert!(
            error < 3.0 * number(clock, "drift_uncertainty_ppm"),
            "{clock}"
        );
    }
    for total in both["totals"].as_array().expect("totals") {
        assert_eq!(total["negative_delays_pkts"], 0);
        // 1 ms of path either way and a queue of 1 ms in the mean.
        assert!(
            (number(total, "delay_mean_us") - 2000.0).abs() < 60.0,
            "{total}"
        );
    }

    let out = decode(here, &["there.log", "--json"]);
    assert!(
        said(&out).contains("delays are relative to the minimum"),
        "{}",
        said(&out)
    );
    let one = tables(here, &["there.log"]);
    assert_eq!(one["clocks"][0]["method"], "one way");
    assert_eq!(one["clocks"][0]["offset_us"], Value::Null);
    let total = &one["totals"][0];
    assert_eq!(total["negative_delays_pkts"], 0);
    assert!(number(total, "delay_min_us") < 1.0, "{total}");
    assert!(
        (number(total, "delay_mean_us") - 1000.0).abs() < 60.0,
        "{total}"
    );

    let out = decode(here, &["there.log", "--clock", "never"]);
    assert!(
        said(&out).contains("one-way delays are below 0"),
        "{}",
        said(&out)
    );
    let kept = tables(here, &["there.log", "--clock", "never"]);
    let total = &kept["totals"][0];
    assert_eq!(total["negative_delays_pkts"], total["pkts"]);
    assert_eq!(kept["clocks"][0]["subtracted"], false);

    // No packet came before it was sent: the clocks may be right, and nothing is subtracted unless
    // it is asked for.
    LOG.write(&here.join("right.log"));
    let right = tables(here, &["right.log"]);
    assert_eq!(right["clocks"][0]["subtracted"], false);
    assert!(number(&right["totals"][0], "delay_min_us") >= 1000.0);
    let always = tables(here, &["right.log", "--clock", "always"]);
    assert!(number(&always["totals"][0], "delay_min_us") < 50.0);
}

/// What `ITGDec` prints, without the two lines of its version; none if it is not installed.
fn itgdec(folder: &Path, words: &[&str]) -> Option<String> {
    let mut command = Command::new("ITGDec");
    command
        .current_dir(folder)
        .args(words)
        .stderr(Stdio::null());
    let Ok(out) = command.output() else {
        eprintln!("skipped: `ITGDec` is not installed; `apt-get install d-itg`");
        return None;
    };
    let text = String::from_utf8(out.stdout).expect("the text is UTF-8");
    Some(
        text.splitn(3, '\n')
            .nth(2)
            .expect("two lines of version")
            .to_owned(),
    )
}

#[test]
fn logs_go_to_ditg_and_back_and_summaries_are_itgdecs_to_the_last_digit() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    for seed in 1..=3 {
        Log { seed, ..LOG }.write(&here.join("r.log"));
        let words = ["r.log", "--to-itg", "d.log", "--to-itg-text", "d.txt"];
        assert_eq!(printed(here, &words), "");
        let ours = printed(here, &["r.log", "--itg"]);
        // Their logs are known by what is in them, and tell the same.
        assert_eq!(printed(here, &["d.log", "--itg"]), ours);
        assert_eq!(printed(here, &["d.txt", "--itg"]), ours);
        let (of_ours, of_theirs) = (tables(here, &["r.log"]), tables(here, &["d.log"]));
        for key in [
            "pkts",
            "payload_bytes",
            "lost_pkts",
            "loss_bursts",
            "reordered_pkts",
        ] {
            assert_eq!(
                of_ours["totals"][0][key], of_theirs["totals"][0][key],
                "{key}"
            );
        }
        assert_eq!(
            of_theirs["flows"][0]["flow"], 1,
            "D-ITG counts flows from 1"
        );
        assert_eq!(
            of_theirs["flows"][0]["protocol"],
            Value::Null,
            "it does not tell it"
        );
        assert_eq!(tables(here, &["d.txt"])["flows"], of_theirs["flows"]);
        let Some(theirs) = itgdec(here, &["d.log"]) else {
            return;
        };
        assert_eq!(ours, theirs);
        itgdec(here, &["d.log", "-l", "theirs.txt"]);
        let read = |name: &str| std::fs::read_to_string(here.join(name)).expect("the file exists");
        assert!(
            read("theirs.txt") == read("d.txt"),
            "the text log is as theirs"
        );
        // One flow of it, in both.
        let one = ["r.log", "--flow", "1", "--to-itg", "one.log"];
        assert_eq!(printed(here, &one), "");
        assert_eq!(
            printed(here, &["r.log", "--flow", "1", "--itg"]),
            itgdec(here, &["one.log"]).expect("it is installed")
        );
    }
}

#[test]
fn what_is_odd_is_told_in_one_line() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    LOG.write(&here.join("r.log"));
    let whole = std::fs::read(here.join("r.log")).expect("the file exists");
    let put = |name: &str, bytes: &[u8]| {
        std::fs::write(here.join(name), bytes).expect("the file can be written");
    };
    put("empty.log", b"");
    put("foreign.log", &[7; 4000]);
    put("cut.log", &whole[..whole.len() - 7]);
    assert_eq!(printed(here, &["r.log", "--to-itg", "d.log"]), "");
    let mut theirs = std::fs::read(here.join("d.log")).expect("the file exists");
    theirs.truncate(10 * 144 + 5);
    theirs[3 * 144 + 36] = b'?';
    put("damaged.log", &theirs);
    for (words, code, told) in [
        (&["empty.log"][..], 0, "`empty.log` is empty"),
        (&["foreign.log"], 2, "neither a Trammel log nor a D-ITG log"),
        (&["."], 2, "directory"),
        (&["cut.log"], 0, "cut within its block"),
        (&["damaged.log"], 0, "2 records like it are left out"),
        (&["r.log", "--to-itg", "./r.log"], 2, "the log that is read"),
        (
            &["r.log", "--to-itg", "no/such/folder"],
            2,
            "cannot be written",
        ),
        (&["r.log", "--from=-1s"], 2, "from 0 to 10,000,000 s"),
    ] {
        let out = decode(here, words);
        assert_eq!(out.status.code(), Some(code), "{words:?}: {}", said(&out));
        let first = said(&out).lines().any(|line| line.contains(told));
        assert!(first, "{words:?}: {}", said(&out));
    }
    assert_eq!(
        std::fs::read(here.join("r.log")).expect("the file exists"),
        whole
    );
}

#[test]
fn a_thousand_flows_and_two_sessions_are_still_a_page() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    let many = Log {
        flows: 1000,
        packets: 20,
        ..LOG
    };
    many.write(&here.join("many.log"));
    LOG.write(&here.join("other.log"));
    let out = decode(here, &["many.log", "other.log", "-o", "out"]);
    assert_eq!(out.status.code(), Some(0), "{}", said(&out));
    let page = std::fs::read_to_string(here.join("out/report.html")).expect("the file exists");
    assert!(page.contains("The 20 of 1002 flows with most bytes"));
    assert!(page.len() < 3_000_000, "{} bytes", page.len());
    let flows = std::fs::read_to_string(here.join("out/flows.csv")).expect("the file exists");
    assert_eq!(flows.lines().count(), 1003);
}

/// Instants at the ends of their range, and copies, in every form of the account.
#[test]
fn instants_at_the_ends_of_their_range_are_shown_in_every_form() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    let file = std::fs::File::create(here.join("r.log")).expect("the file can be written");
    let mut writer = Writer::new(file);
    let session = Session {
        instants: Instants::SentReceived,
        date_ns: START,
        host: String::new(),
        clock: String::new(),
        program: String::new(),
        seed: 0,
    };
    writer.session(&session).expect("there is room");
    let instants = [i64::MIN, i64::MIN + 1, -1, 0, START, i64::MAX - 1, i64::MAX];
    for (flow, start_ns) in (0..).zip(instants) {
        for (sequence, end_ns) in (0..).zip(instants) {
            let record = Record {
                flow,
                sequence: sequence / 2,
                bytes: 100,
                start_ns,
                end_ns,
            };
            writer.record(&record).expect("there is room");
        }
    }
    writer.flush().expect("there is room");
    let flows = tables(here, &["r.log"])["flows"].clone();
    assert_eq!(flows.as_array().map(Vec::len), Some(7), "{flows:#}");
    for words in [
        &["r.log"][..],
        &["r.log", "--series"],
        &["r.log", "-o", "out"],
    ] {
        let _ = printed(here, words);
    }
}
