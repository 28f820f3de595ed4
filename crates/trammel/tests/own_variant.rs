//! A congestion control of another crate, named in a scenario file: read, checked, listed, run.

use std::path::Path;
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
