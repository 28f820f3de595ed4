//! A congestion control of another crate, named in a scenario file: read, checked, listed, run.

use std::path::Path;
use std::process::{Command, Output};
use trammel::scenario::model::Engine;
use trammel::scenario::{File, schema};
use trammel::transport::points::{RunOptions, Unwatched, run_points};
use trammel_core::entry::About;
use trammel_tcp::cc::{self, CongestionControl, Tp};

/// Reno that keeps six tenths of its window after a loss.
#[derive(Debug)]
struct Stubborn;

impl CongestionControl for Stubborn {
    fn ssthresh(&mut self, tp: &mut Tp) -> u32 {
        (tp.snd_cwnd * 6 / 10).max(2)
    }
    fn cong_avoid(&mut self, tp: &mut Tp, _ack: u32, acked: u32) {
        tp.reno_cong_avoid(acked);
    }
}

static STUBBORN: cc::Entry = cc::Entry {
    about: About {
        name: "stubborn",
        aliases: &[],
        summary: "Reno that keeps six tenths",
        references: &[],
        params: &[],
    },
    build: |_| Box::new(Stubborn),
};

#[test]
fn a_registered_variant_is_named_by_a_scenario_file_and_runs() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/own_variant.toml");
    let text = std::fs::read_to_string(example).unwrap();
    let text = text.replace("repeat = 3", "repeat = 1");
    let read = || File::parse("own_variant.toml", &text, Path::new("."));
    assert!(read().is_err(), "nobody has registered it yet");
    cc::register(&STUBBORN).unwrap();
    let file = read().unwrap();
    assert!(schema::schema().to_string().contains("\"stubborn\""));
    let options = RunOptions {
        engines: vec![Engine::Simulate],
        ..RunOptions::default()
    };
    let outcome = run_points(&file, &options, &Unwatched).unwrap();
    let rows: Vec<_> = outcome.flows.rows().collect();
    assert_eq!(rows[0].text("variant"), "stubborn");
    let goodput = rows[0].float("goodput_mbps").unwrap();
    assert!(goodput > 1.0, "{goodput}");
}

/// The folder of `examples/library` with its library built, as its files say.
fn library() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/library");
    for name in ["aimd.c", "library.toml"] {
        std::fs::copy(example.join(name), folder.path().join(name)).unwrap();
    }
    let header = trammel(&folder, &["header"]);
    std::fs::write(folder.path().join("trammel.h"), header.stdout).unwrap();
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O2", "-Wall", "-Werror"]);
    compiler.args(["-o", "libaimd.so", "aimd.c"]);
    let run = compiler.current_dir(folder.path()).output().unwrap();
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    folder
}

fn trammel(folder: &tempfile::TempDir, args: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_trammel"));
    let program = program.args(args).current_dir(folder.path());
    program.output().unwrap()
}

#[test]
fn a_library_in_c_is_named_by_a_scenario_file_and_runs() {
    let folder = library();
    let run = trammel(&folder, &["run", "library.toml", "-o", "out"]);
    let said = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(0), "{said}");
    let flows = std::fs::read_to_string(folder.path().join("out/flows.csv")).unwrap();
    assert!(flows.contains("aimd"), "{flows}");
    // What the parameters are matters, and so does the file.
    let text = std::fs::read_to_string(folder.path().join("library.toml")).unwrap();
    let read = |text: &str| {
        let reading = trammel::transport::refusals::reading(&[]);
        File::parse_with("library.toml", text, folder.path(), &reading)
    };
    let file = read(&text).unwrap();
    let gentle = read(&text.replace("beta = 0.7", "beta = 0.5")).unwrap();
    assert_ne!(file.points[0].hash, gentle.points[0].hash);
    let error = read(&text.replace("beta = 0.7", "beta = 7")).unwrap_err();
    assert!(error.to_string().contains("beta"), "{error}");
}

#[test]
fn a_library_that_cannot_be_used_is_a_fault_of_its_line() {
    let folder = library();
    let text = std::fs::read_to_string(folder.path().join("library.toml")).unwrap();
    let cases = [
        ("\"libaimd.so\"", "\"absent.so\"", "No such file"),
        (
            "\"libaimd.so\"",
            "\"aimd.c\"",
            "no library that can be loaded",
        ),
        ("library =", "libary =", "did you mean `library`?"),
    ];
    for (from, to, said) in cases {
        std::fs::write(folder.path().join("x.toml"), text.replace(from, to)).unwrap();
        let run = trammel(&folder, &["check", "x.toml"]);
        let stderr = String::from_utf8_lossy(&run.stderr);
        assert_eq!(run.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(said), "{stderr}");
        assert!(stderr.contains("x.toml:11"), "{stderr}");
    }
}

#[test]
#[ignore = "long: compiles quinn-proto; `cargo test -p trammel --test own_variant -- --ignored`"]
fn the_controllers_of_quinn_run_beside_ours() {
    let adapter = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/foreign/adapters/quinn");
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("target");
    let cargo = |args: &[&str]| {
        let output = Command::new(env!("CARGO"))
            .args(args)
            .arg("--locked")
            .arg("--target-dir")
            .arg(&target)
            .current_dir(&adapter)
            .env_remove("CARGO_BUILD_BUILD_DIR")
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    };
    cargo(&["test", "--release", "--lib"]);
    cargo(&["build", "--release", "--examples"]);
    let text = std::fs::read_to_string(adapter.join("quinn.toml")).unwrap();
    for (library, name) in [
        ("quinn_cubic", "quinn-cubic"),
        ("quinn_new_reno", "quinn-new-reno"),
        ("quinn_bbr", "quinn-bbr"),
    ] {
        let text = text
            .replace("quinn_cubic", library)
            .replace("repeat   = 5", "repeat = 1");
        std::fs::write(folder.path().join("quinn.toml"), text).unwrap();
        let run = |out: &str| {
            let output = Command::new(env!("CARGO_BIN_EXE_trammel"))
                .args(["run", "quinn.toml", "-o", out])
                .current_dir(folder.path())
                .output()
                .unwrap();
            assert!(
                output.status.success(),
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
            std::fs::read_to_string(folder.path().join(out).join("flows.csv")).unwrap()
        };
        let flows = run("one");
        assert!(flows.contains(name), "{flows}");
        // Theirs and ours fill the link together, and a run is the same again but for what draws
        // from the system's randomness.
        let header: Vec<&str> = flows.lines().next().unwrap().split(',').collect();
        let at = header
            .iter()
            .rev()
            .position(|name| *name == "late_goodput_mbps")
            .unwrap();
        let goodput = |line: &str| -> f64 {
            line.rsplit(',')
                .nth(at)
                .and_then(|cell| cell.parse().ok())
                .unwrap()
        };
        let all: Vec<f64> = flows.lines().skip(1).map(goodput).collect();
        for both in all.chunks(2) {
            assert!(
                (45.0..48.0).contains(&both.iter().sum::<f64>()),
                "{name}: {both:?}"
            );
        }
        assert!(name == "quinn-bbr" || flows == run("two"), "{name}");
    }
}
