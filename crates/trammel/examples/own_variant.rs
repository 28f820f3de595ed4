//! A congestion control and a traffic source of one's own, without a fork: registered, then used by
//! name.
//!
//! With arguments the program is `trammel`, whose scenario files may name them:
//! `cargo run --example own_variant -- run crates/trammel/examples/own_variant.toml -o out`.
//! Without any it runs a scenario that is built in Rust.

use std::process::ExitCode;
use trammel::RunScenario;
use trammel::scenario::flow::Flow;
use trammel::scenario::model::Scenario;
use trammel::scenario::plugin::{Plugin, Random};
use trammel::scenario::workload::Stream;
use trammel_core::entry::About;
use trammel_core::{rng::Rng, time::Span, units::Rate};
use trammel_stats::dist::{self, Distribution};
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

/// Bytes of the frames of a film: one in twelve is ten times as large.
#[derive(Debug)]
struct Film;
impl Distribution for Film {
    fn sample(&self, rng: &mut Rng) -> f64 {
        if rng.below(12) == 0 { 1400.0 } else { 140.0 }
    }
    fn mean(&self) -> Option<f64> {
        Some(245.0)
    }
    fn variance(&self) -> Option<f64> {
        Some(121_275.0)
    }
    fn cdf(&self, x: f64) -> f64 {
        (f64::from(u8::from(x >= 140.0)) * 11.0 + f64::from(u8::from(x >= 1400.0))) / 12.0
    }
}

const fn about(name: &'static str, summary: &'static str) -> About {
    About {
        name,
        aliases: &[],
        summary,
        references: &[],
        params: &[],
    }
}
static STUBBORN: cc::Entry = cc::Entry {
    about: about("stubborn", "Reno that keeps six tenths"),
    build: |_| Box::new(Stubborn),
};
static FILM: dist::Entry = dist::Entry {
    about: about("film", "frames of a film"),
    build: |_| Ok(Box::new(Film)),
};

fn main() -> anyhow::Result<ExitCode> {
    cc::register(&STUBBORN)?;
    dist::register(&FILM)?;
    if std::env::args_os().len() > 1 {
        return Ok(trammel::cli::main());
    }
    let outcome = Scenario::dumbbell()
        .rate(Rate::from_bps(20_000_000))
        .rtt(Span::from_ms(40))
        .flow(Flow::new("stubborn"))
        .flow(Flow::new("reno"))
        .stream(Stream::new(
            "film",
            Plugin::new("film").into(),
            Random::Always(0.001),
        ))
        .duration(Span::from_secs(60))
        .repeat(5)
        .run()?;
    let shown = ["share", "goodput", "loss", "delay_p95"];
    let summary = outcome
        .summary
        .filter(|row| shown.contains(&row.text("metric")));
    let columns = ["entity", "metric", "unit", "mean", "ci_low", "ci_high"];
    let text = summary.select(&columns)?.to_string();
    std::io::Write::write_all(&mut std::io::stdout(), text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
