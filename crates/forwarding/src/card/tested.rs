//! A card under trials: its model in virtual time, or the live one on this machine.

use super::{Asked, Found, LOSS_RATIO, Lack, traffic};
use crate::row::Row;
use std::sync::Arc;
use trammel_bench::procedures::{Bench as Procedures, Search};
use trammel_bench::search::Verdict;
use trammel_bench::testbed::{Plan, Testbed, Traffic};
use trammel_bench::trial::Load;
use trammel_bench::validity::Tried;
use trammel_core::time::Span;
use trammel_io::error::Error;
use trammel_netfpga::params::Params;
use trammel_scenario::forwarding::{Bench, CardUnderTest, Test, Tested};
use trammel_testbeds::beds::built_device;
use trammel_testbeds::beds::model;
use trammel_testbeds::beds::ports::{LONGEST_DELAY, Setting, Waits};
use trammel_testbeds::beds::self_test::{self, SelfTest};
use trammel_testbeds::devices::dut::Dut;
use trammel_testbeds::devices::namespaces::Wish;
use trammel_testbeds::own_program;
use trammel_traffic::tester::Threads;
use trammel_traffic::tester::port::Way;
use trammel_traffic::tester::timing::TimedBy;

/// In so long the least excess, that over the MAC's gap, fills an output queue of the board: trials
/// that search the throughput of the model.
const FILLING: Span = Span::from_secs(10);
/// Frames of such a trial, at most, where they have contents.
const MOST_FRAMES: f64 = 2e6;
/// The length of a measured trial.
const SHORTEST: Span = Span::from_ms(200);
const LONGEST: Span = Span::from_secs(2);
/// How narrow a measured search ends; trials differ by more.
const WIDTH: f64 = 0.05;

/// What limits, by how a search ended.
fn bound_by(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::PassedAtMost => "link",
        Verdict::Tester => "tester",
        _ => "device",
    }
}

/// The model, of which every number is the same each time.
pub(crate) fn simulate(
    card: &CardUnderTest,
    tested: &Tested,
    asked: &Asked<'_>,
) -> Result<Found, String> {
    let traffic = traffic(tested, asked)?;
    let bench = asked.bench;
    // By the routes for RFC 2544's networks all frames are forwarded, and then those without
    // contents come to the same in less time.
    let text = match &card.tables {
        Some(file) => format!("{}:tables={}", card.model, file.display()),
        None => card.model.clone(),
    };
    let mut bed = model::find(&text, asked.interrupted).map_err(|why| format!("{why:#}"))?;
    let length = match card.tables {
        Some(_) => Span::from_secs_f64(MOST_FRAMES / bed.line_fps(&traffic)),
        None => FILLING,
    };
    let search = Search {
        width: bench.resolution,
        ..Search::binary(length.clamp(FILLING / 10, FILLING))
    };
    seek(bed.as_mut(), &traffic, bench, search, |pps| {
        Span::from_secs_f64(bench.frames as f64 / pps)
    })
}

/// The live card on this machine, and what is to be known of the tester.
pub(crate) fn measure(
    card: &CardUnderTest,
    tested: &Tested,
    asked: &Asked<'_>,
) -> Result<(Found, Vec<String>), Lack> {
    let traffic = traffic(tested, asked).map_err(Lack::Failed)?;
    let (bench, interrupted) = (asked.bench, asked.interrupted);
    let way = Way::AfPacket;
    let text = match &card.tables {
        Some(file) => format!("netfpga:design={},tables={}", card.design, file.display()),
        None => format!("netfpga:design={}", card.design),
    };
    let dut: Dut = text.parse().map_err(Lack::Failed)?;
    let traffics = [traffic.clone()];
    let threads = Threads::default();
    let tester = SelfTest::measure(
        way,
        &traffics,
        self_test::QUICK,
        threads,
        &|| (),
        interrupted,
    )?;
    let tester = tester.ok_or_else(|| Lack::Failed("interrupted".to_owned()))?;
    let said = tester.sentences();
    let wish = Wish {
        dut,
        traffics: traffics.to_vec(),
        way,
        is_bridged: false,
        own: own_program(),
    };
    let setting = |ports| Setting {
        ports,
        line_bps: line_bps(&super::params(card)),
        waits: Waits::QUICK,
        longest_delay: LONGEST_DELAY,
        threads,
        timed_by: TimedBy::Tester,
        tester: Some(tester),
        interrupted: Arc::clone(interrupted),
    };
    let mut bed = built_device::bed(&wish, setting)?;
    let search = Search {
        width: bench.resolution.max(WIDTH),
        loss_ratio: LOSS_RATIO,
        least: 0.01,
        ..Search::binary(SHORTEST)
    };
    let length = |pps: f64| {
        let length = Span::from_secs_f64(bench.frames as f64 / pps);
        length.clamp(SHORTEST, LONGEST)
    };
    let found = seek(&mut bed, &traffic, bench, search, length).map_err(Lack::Failed)?;
    Ok((found, said))
}

impl From<Error> for Lack {
    fn from(error: Error) -> Lack {
        let text = match error.mend() {
            Some(mend) => format!("{error}; try: {mend}"),
            None => error.to_string(),
        };
        match error {
            Error::Invalid(_) => Lack::Failed(text),
            _ => Lack::Machine(text),
        }
    }
}

/// Bits a second of a port.
fn line_bps(params: &Params) -> f64 {
    8e12 / params.byte_ps() as f64
}

/// The throughput of `bed`, and what it does at shares of it in trials of `length`.
fn seek(
    bed: &mut dyn Testbed,
    traffic: &Traffic,
    bench: &Bench,
    search: Search,
    length: impl Fn(f64) -> Span,
) -> Result<Found, String> {
    let line = bed.line_fps(traffic);
    let mut procedures = Procedures::new(bed, vec![traffic.clone()], search);
    let found = procedures
        .throughput(traffic)
        .map_err(|why| why.to_string())?;
    let pps = found
        .lower
        .ok_or("it loses frames at every load that was tried")?;
    let row = |tried: &Tried| Row {
        passed: tried.passes(search.loss_ratio) == Some(true),
        ..Row::of(
            Test::Throughput,
            None,
            tried.load.frames_per_second(),
            &tried.outcome,
        )
    };
    let mut trials: Vec<Row> = found.trials.iter().map(row).collect();
    for (test, shares) in [
        (Test::Latency, &bench.latency_at),
        (Test::FrameLoss, &bench.loss_at),
    ] {
        for share in shares.iter().filter(|_| bench.tests.contains(&test)) {
            let intended = (share * pps).min(line);
            let load = Load::new(intended, length(intended));
            let load = load.ok_or_else(|| format!("{intended} frames/s cannot be offered"))?;
            let seen = procedures.offer(traffic, &Plan::of(&[load]));
            let seen = seen.map_err(|why| why.to_string())?;
            trials.push(Row::of(test, Some(*share), intended, &seen.outcome));
        }
    }
    Ok(Found {
        pps,
        bound_by: bound_by(found.verdict),
        trials,
    })
}
