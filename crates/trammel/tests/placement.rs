//! `trammel place` as a user meets it: answers, refusals, exit codes.

use std::path::Path;
use std::process::{Command, Output};
use trammel::scenario::ReadError;
use trammel::scenario::Reading;
use trammel::scenario::placement::{Estimated, Estimator, NoAnswer, PlacementFile, Question};
use trammel_core::rng::Rng;
use trammel_cost::place::model::{Interval, Work};
use trammel_cost::place::solve::place;

const SMALL: &str = "\
subject = 'placement'
[[server]]
name = 'edge'
count = 2
clock = '3 GHz'
cores = 4
llc = '20 MB'
dram_accesses_per_s = 300e6
memory = '8 GiB'
[[server.port]]
rate = '10 Gbit/s'
[[function]]
name = 'nat'
cycles = [200, 250, 300]
accesses = 1
hot = '4 MB'
memory = '64 MB'
[[chain]]
name = 'web'
functions = ['nat']
demand = '5 Mpps'
";

fn trammel(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
    command
        .args(args)
        .output()
        .expect("the program can be started")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn example() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/placement.toml");
    path.display().to_string()
}

fn on_file(text: &str, args: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.toml");
    std::fs::write(&path, text).unwrap();
    let path = path.display().to_string();
    trammel(&[&["place", &path], args].concat())
}

/// The faults of `text`, each its headline, reason and advice.
fn faults(text: &str) -> Vec<String> {
    match PlacementFile::parse(
        "p.toml",
        text,
        Path::new("/nonexistent"),
        &Reading::default(),
    ) {
        Ok(file) => match place(&file.problem) {
            Err(trammel_cost::place::outcome::Refusal::Faults(faults)) => {
                vec![file.refuse(faults).to_string()]
            }
            Err(refusal) => vec![refusal.to_string()],
            Ok(_) => Vec::new(),
        },
        Err(ReadError::Faults(problems)) => {
            let list = problems.list.iter();
            list.map(|p| format!("{} | {} | {}", p.what, p.why, p.help))
                .collect()
        }
        Err(other) => vec![other.to_string()],
    }
}

#[test]
fn the_example_is_placed_and_says_what_is_not_validated() {
    let output = trammel(&["place", &example()]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("bound reached"), "{text}");
    assert!(stderr(&output).contains("contention not validated"));
    assert_eq!(trammel(&["check", &example()]).status.code(), Some(0));
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_one_other_losses() {
    let json = |seed: &str| stdout(&trammel(&["place", &example(), "--json", "--seed", seed]));
    assert_eq!(json("7"), json("7"));
    assert_ne!(json("7"), json("8"));
}

#[test]
fn json_adds_up() {
    let text = stdout(&trammel(&["place", &example(), "--json"]));
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let tables = &json["tables"];
    let rows = |name: &str| tables[name].as_array().unwrap().clone();
    let sum = |name: &str, column: &str| -> f64 {
        rows(name)
            .iter()
            .map(|row| row[column].as_f64().unwrap())
            .sum()
    };
    assert_eq!(tables["summary"][0]["gap"], 0);
    assert_eq!(sum("servers", "cores"), sum("replicas", "cores"));
    assert_eq!(sum("replicas", "cores"), rows("cores").len() as f64);
    // 40 + 5 + 2 + 2 million packets a second are asked.
    assert!((sum("replicas", "mpps") - 49.0).abs() < 1e-6);
    assert!((sum("cores", "mpps") - 49.0).abs() < 0.05);
    let subscribers = rows("replicas")
        .iter()
        .filter(|row| row["chain"] == "subscribers")
        .count();
    assert!(subscribers >= 2, "the example shows a split");
}

#[test]
fn kubernetes_gets_whole_processors_with_requests_equal_to_limits() {
    let text = stdout(&trammel(&["place", &example(), "--format", "kubernetes"]));
    let json = stdout(&trammel(&["place", &example(), "--json"]));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let replicas = json["tables"]["replicas"].as_array().unwrap();
    let documents: Vec<&str> = text.split("---\n").skip(1).collect();
    assert_eq!(documents.len(), replicas.len());
    for (document, replica) in documents.iter().zip(replicas) {
        let (_, resources) = document.split_once("requests:\n").unwrap();
        let (requests, rest) = resources.split_once("            limits:\n").unwrap();
        assert!(rest.starts_with(requests), "{document}");
        assert!(requests.contains(&format!("cpu: \"{}\"\n", replica["cores"])));
        let host = format!("kubernetes.io/hostname: {}\n", replica["server"]);
        assert!(document.contains(&host), "{document}");
        let mib = replica["memory_bytes"].as_f64().unwrap() / f64::from(1 << 20);
        assert_eq!(mib % 2.0, 0.0, "whole pages of 2 MiB");
        assert!(
            requests.contains(&format!("hugepages-2Mi: \"{mib}Mi\"\n")),
            "{requests}"
        );
    }
}

/// Every fault that stands alone, and what it is told.
#[test]
fn each_fault_is_named() {
    let cases: &[(&str, &str, &str)] = &[
        (
            "'5 Mpps'",
            "'-5 Mpps'",
            "`chain.demand` cannot be `-5 Mpps` | must be more than zero",
        ),
        ("'5 Mpps'", "'0 pps'", "must be more than zero"),
        (
            "'5 Mpps'",
            "'5 Gbit/s'",
            "`chain.demand` must be a packet rate",
        ),
        ("['nat']", "[]", "chain `web` has no functions"),
        (
            "['nat']",
            "['nat', 'natt']",
            "no function is called `natt` | unknown function | did you mean `nat`?",
        ),
        (
            "'3 GHz'",
            "'0 GHz'",
            "`server.clock` cannot be `0 GHz` | must be at least 1 Hz",
        ),
        ("'3 GHz'", "3", "this has no unit"),
        ("cores = 4", "cores = 0", "`server.cores` cannot be `0`"),
        ("count = 2", "count = 0", "`server.count` cannot be `0`"),
        ("count = 2", "cuont = 2", "did you mean `count`?"),
        (
            "[[server.port]]\nrate = '10 Gbit/s'\n",
            "",
            "`server` needs `port`",
        ),
        ("rate = '10", "node = 1\nrate = '10", "there is no node 1"),
        (
            "cycles = [200, 250, 300]",
            "",
            "function `nat` has no costs",
        ),
        (
            "cycles = [200, 250, 300]",
            "cycles = 0",
            "`function.cycles` cannot be 0",
        ),
        (
            "[200, 250, 300]",
            "[300, 250, 200]",
            "`function.cycles` must rise",
        ),
        (
            "[200, 250, 300]",
            "[200, 250]",
            "must be a number from 0 to",
        ),
        (
            "[200, 250, 300]",
            "[200, 250, 300]\npaper = 'bng'",
            "function `nat` has two costs",
        ),
        (
            "cycles = [200, 250, 300]",
            "paper = 'bng'",
            "function `nat` cannot be estimated",
        ),
        (
            "cycles = [200, 250, 300]",
            "profile = 'no.toml'",
            "profile `no.toml` cannot be read",
        ),
        (
            "'5 Mpps'",
            "'5 Mpps'\napart = ['wep']",
            "no chain is called `wep` | unknown chain | did you mean `web`?",
        ),
        (
            "'5 Mpps'",
            "'5 Mpps'\nframe = '20 B'",
            "`chain.frame` cannot be `20 B`",
        ),
        (
            "'5 Mpps'",
            "'5 Mpps'\narrivals = 'bursts'\nburst = 256",
            "a ring of 512 loses bursts of 256 at any load",
        ),
        (
            "'5 Mpps'",
            "'5 Mpps'\nburst = 2",
            "`burst` is for packets that come in bursts",
        ),
        ("'5 Mpps'", "'500 Mpps'", "no server can take chain `web`"),
        (
            "memory = '64 MB'",
            "memory = '64 GB'",
            "no server can take chain `web`",
        ),
        ("subject = 'placement'\n", "", "needs `subject`"),
    ];
    for (from, to, told) in cases {
        assert!(SMALL.contains(from), "{from}");
        let found = faults(&SMALL.replace(from, to));
        assert!(
            found.iter().any(|fault| fault.contains(told)),
            "{to}: {found:#?} not {told}"
        );
        assert_eq!(found.len(), 1, "{to}: {found:#?}");
    }
    assert_eq!(faults(SMALL), Vec::<String>::new());
}

#[test]
fn independent_faults_are_told_at_once_with_their_lines() {
    let text = SMALL
        .replace("'5 Mpps'", "'-5 Mpps'")
        .replace("'3 GHz'", "'0 GHz'")
        .replace("['nat']", "['nta']")
        + "[[chain]]\nname = 'web'\nfunctions = ['nat']\ndemand = '1 Mpps'\n";
    let output = on_file(&text, &[]);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    for line in [
        "clock = '0 GHz'",
        "demand = '-5 Mpps'",
        "functions = ['nta']",
        "3 faults",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    let twice =
        SMALL.to_owned() + "[[chain]]\nname = 'web'\nfunctions = ['nat']\ndemand = '1 Mpps'\n";
    assert!(faults(&twice)[0].contains("two chains are called `web`"));
    let twice = SMALL.to_owned() + "[[function]]\nname = 'nat'\ncycles = 5\n";
    assert!(faults(&twice)[0].contains("two functions are called `nat`"));
}

#[test]
fn too_few_servers_are_proved_and_a_chain_too_large_is_named_with_what_it_lacks() {
    // Ten chains of 5 million frames of 84 bytes on the wire are 33.6 Gbit/s; a server has 10.
    let many: String = (0..9)
        .map(|n| format!("[[chain]]\nname = 'c{n}'\nfunctions = ['nat']\ndemand = '5 Mpps'\n"))
        .collect();
    let output = on_file(&(SMALL.to_owned() + &many), &[]);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(
        said.contains("2 servers are not enough: at least 4 are needed (link in all)"),
        "{said}"
    );

    // 14 million packets of 1000 cycles on cores of 3 GHz, 95 % full, are 4.9 cores.
    let large = SMALL
        .replace("[200, 250, 300]", "1000")
        .replace("'5 Mpps'", "'14 Mpps'");
    let said = stderr(&on_file(&large, &[]));
    assert!(
        said.contains("needs 5 of cores, a node of `edge` has 4"),
        "{said}"
    );
    assert!(said.contains("`split = true`"), "{said}");
    let split = large.replace("'14 Mpps'", "'14 Mpps'\nsplit = true");
    assert_eq!(on_file(&split, &[]).status.code(), Some(0));
}

/// A core that is planned fuller than its bursts allow loses packets, and the exit code says so.
#[test]
fn a_placement_whose_cores_lose_packets_fails() {
    let text = SMALL.replace(
        "'5 Mpps'",
        "'9.9 Mpps'\narrivals = 'bursts'\nburst = 128\nutilisation = 0.99",
    );
    let output = on_file(&text, &[]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("its simulated cores lose"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_capacity_profile_gives_the_cycles() {
    let folder = tempfile::tempdir().unwrap();
    let profile = "schema = 'trammel/capacity-1'\nfunction = 'nat'\norigin = 'measured'\n\
                   source = 'a test'\n\
                   clock_hz = 3e9\nspread = 0.5\n[[point]]\nframe_bytes = 64\nflows = 1\n\
                   routes = 1\nmpps = 10\n\
                   [[point]]\nframe_bytes = 256\nflows = 1\nroutes = 1\nmpps = 7.5\n";
    std::fs::write(folder.path().join("nat.toml"), profile).unwrap();
    let text = SMALL.replace("cycles = [200, 250, 300]", "profile = 'nat.toml'");
    let read =
        |text: &str| PlacementFile::parse("p.toml", text, folder.path(), &Reading::default());
    let file = read(&text).unwrap();
    let cycles = file.problem.chains[0].work[0].cycles;
    assert!(
        (cycles.centre - 300.0).abs() < 1e-9 && (cycles.high - 600.0).abs() < 1e-9,
        "{cycles:?}"
    );
    let outside = text.replace("'5 Mpps'", "'5 Mpps'\nframe = '1518 B'");
    let error = read(&outside).unwrap_err().to_string();
    assert!(
        error.contains("frame_bytes = 1518 is outside its profile, 64 to 256"),
        "{error}"
    );
    assert!(error.contains("set `clamp = true`"), "{error}");
    let clamped = outside.replace("profile =", "clamp = true\nprofile =");
    let cycles = read(&clamped).unwrap().problem.chains[0].work[0].cycles;
    assert!((cycles.centre - 400.0).abs() < 1e-9, "{cycles:?}");
    std::fs::write(
        folder.path().join("nat.toml"),
        profile.replace("mpps = 7.5", "mpps = 0"),
    )
    .unwrap();
    let error = read(&text).unwrap_err().to_string();
    assert!(error.contains("nat.toml:16: `mpps` cannot be 0"), "{error}");
}

/// What an estimator is asked, and that its answer is used.
#[test]
fn functions_without_numbers_are_asked_of_the_estimator() {
    #[derive(Debug)]
    struct Table;
    impl Estimator for Table {
        fn work(&self, question: &Question<'_>) -> Result<Work, NoAnswer> {
            assert_eq!(
                (question.machine, question.frame_bytes, question.routes),
                (Some("host"), 64, 8)
            );
            match question.function {
                Estimated::Paper("bng") => Ok(Work {
                    cycles: Interval::exact(question.clock_hz / 10e6),
                    ..Work::default()
                }),
                _ => Err(NoAnswer {
                    why: "unknown function".to_owned(),
                    help: "did you mean `bng`?".to_owned(),
                }),
            }
        }
    }
    let text = SMALL
        .replace("name = 'edge'", "name = 'edge'\nmachine = 'host'")
        .replace("cycles = [200, 250, 300]", "paper = 'bng'\nroutes = 8");
    let read = |text: &str| {
        PlacementFile::parse(
            "p.toml",
            text,
            Path::new("."),
            &Reading {
                estimator: &Table,
                ..Reading::default()
            },
        )
    };
    let work = &read(&text).unwrap().problem.chains[0].work[0];
    assert_eq!(work.cycles, Interval::exact(300.0));
    // 64 MB are 31 pages of 2 MiB, rounded up.
    assert_eq!(work.memory_bytes, f64::from(31 * (2 << 20)));
    let error = read(&text.replace("'bng'", "'bgn'"))
        .unwrap_err()
        .to_string();
    assert!(error.contains("did you mean `bng`?"), "{error}");
}

#[test]
fn run_places_a_placement_file_and_refuses_engines_for_it() {
    let run = trammel(&["run", &example()]);
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    assert_eq!(run.stdout, trammel(&["place", &example()]).stdout);
    let output = trammel(&["run", &example(), "--engine", "measure"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("leave out `--engine`"),
        "{}",
        stderr(&output)
    );
}

/// Values at the edges of what a reader may have thought of.
const EDGES: &[&str] = &[
    "0",
    "-1",
    "1e-300",
    "1e300",
    "nan",
    "inf",
    "9223372036854775807",
    "\"\"",
    "\"1e99 Mpps\"",
    "\"0 B\"",
    "[]",
    "{}",
    "[[]]",
    "true",
    "\"é\"",
    "[1, 2, 3]",
    "\"1000000 GB\"",
    "1",
    "2",
];

/// Values and lines of the example changed at random: read or refused, placed or refused, no panic.
#[test]
fn almost_placements_are_refused_or_placed() {
    let example = std::fs::read_to_string(example()).unwrap();
    let rng = &mut Rng::new(1, "mutations");
    let mut pick = |n: usize| rng.below(n as u64) as usize;
    let (mut read, mut placed) = (0, 0);
    for _ in 0..1500 {
        let mut lines: Vec<String> = example.lines().map(str::to_owned).collect();
        for _ in 0..=pick(2) {
            let at = pick(lines.len());
            match lines[at].split_once('=').map(|(key, _)| key.to_owned()) {
                Some(key) if pick(3) > 0 => {
                    lines[at] = format!("{key}= {}", EDGES[pick(EDGES.len())]);
                }
                _ if pick(2) == 0 => drop(lines.remove(at)),
                _ => lines.insert(at, lines[pick(lines.len())].clone()),
            }
        }
        let text = lines.join("\n");
        match PlacementFile::parse(
            "p.toml",
            &text,
            Path::new("/nonexistent"),
            &Reading::default(),
        ) {
            Ok(file) => {
                read += 1;
                match place(&file.problem) {
                    Ok(_) => placed += 1,
                    Err(trammel_cost::place::outcome::Refusal::Unsound(why)) => {
                        panic!("{why:?}\n{text}")
                    }
                    Err(_) => {}
                }
            }
            Err(ReadError::Faults(problems)) => assert!(!problems.render(false).is_empty()),
            Err(other) => panic!("{other}"),
        }
    }
    assert!(read >= 100 && placed >= 50, "{read} read, {placed} placed");
}
