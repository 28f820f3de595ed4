//! What the router's own work costs here: `call`, `driver`, `poll` and `pace`.

use super::elements::LEAST_SPREAD;
use super::reference::{Reference, SMALL_MEAN, Timed, bench, in_small_batches, traffic, wrong};
use super::{Calibration, Error};
use crate::arrivals::Pattern;
use crate::paced::{Bed, UnderLoad};
use trammel_bench::trial::{Failure, Load};
use trammel_core::time::Span;
use trammel_cost::machine::Factor;

/// Windows in which nothing comes, their length, and frames of the ring that is asked.
const IDLE_WINDOWS: usize = 50;
const IDLE: Span = Span::from_us(500);
const IDLE_RING: usize = 64;
/// Frames of a window by which pacing is timed, and of its ring.
const PACE_FRAMES: f64 = 32_768.0;
const PACE_RING: usize = 1024;

/// Frames and packets of a batch of the graphs, and elements of the one that is not bare.
const SMALL: usize = 64;
const LARGE: usize = 1518;
const MANY: usize = 32;
const NULLS: usize = 8;

/// The graphs that tell of packets, as the reference numbers them.
pub(super) struct Plan {
    graphs: [usize; 5],
}

impl Plan {
    /// Has the graphs timed.
    pub(super) fn new(reference: &mut Reference) -> Result<Plan, Error> {
        let bare = reference.bench("FromDevice(in) -> Discard;")?;
        let nulls = ["Null"; NULLS].join(" -> ");
        let nulls = reference.bench(&format!("FromDevice(in) -> {nulls} -> Discard;"))?;
        let usual = traffic(SMALL, MANY);
        let few = in_small_batches(&usual);
        // All estimates stand on these.
        let graphs = [
            (&bare, &usual),
            (&bare, &traffic(LARGE, MANY)),
            (&bare, &few),
            (&nulls, &usual),
            (&nulls, &few),
        ]
        .map(|(bench, traffic)| reference.add_often(bench, traffic));
        Ok(Plan { graphs })
    }
}

/// Adds what they cost.
pub(super) fn learn(
    calibration: &mut Calibration,
    reference: &Reference,
    plan: &Plan,
) -> Result<(), Error> {
    of_packets(calibration, reference, plan)?;
    idle(calibration, reference)?;
    pace(calibration, reference)
}

/// `call` and `driver`.
fn of_packets(
    calibration: &mut Calibration,
    reference: &Reference,
    plan: &Plan,
) -> Result<(), Error> {
    let timed: Option<Vec<Timed>> = plan.graphs.iter().map(|at| reference.timed(*at)).collect();
    let timed =
        timed.ok_or_else(|| Error::Unsupported("there was no time for any graph".to_owned()))?;
    // The first of them is the reference itself, which was run most often.
    let cost = |at: usize| {
        if at == 0 {
            reference.least()
        } else {
            timed[at].cycles
        }
    };
    // Two batches tell what is a packet's and what is a batch's.
    let split = |at_many: f64, at_few: f64| {
        let batch = (at_few - at_many) / (1.0 / SMALL_MEAN - 1.0 / (MANY as f64));
        let batch = batch.max(0.0);
        ((at_many - batch / (MANY as f64)).max(0.0), batch)
    };
    let null = |with: usize, without: usize| (cost(with) - cost(without)) / NULLS as f64;
    let (packet, batch) = split(null(3, 0), null(4, 2));
    let spread = |at: &[usize]| {
        let all: f64 = at.iter().map(|at| timed[*at].spread).sum();
        let cycles: f64 = at.iter().map(|at| timed[*at].cycles).sum();
        (all / cycles).max(LEAST_SPREAD)
    };
    calibration.add(
        "call",
        &[("packet", packet), ("call", batch)],
        spread(&[3, 4]),
    );
    // Half a driver is what receives; the sink is a call, and what it does is the class's.
    let machine = calibration.machine();
    let work = machine
        .constants
        .get("work")
        .and_then(|c| c.get("instruction"));
    let sink = 4.0 * work.copied().unwrap_or(0.0) + packet;
    let lines = |frame: f64| (frame / 64.0).ceil();
    let line = (cost(1) - cost(0)) / (lines(LARGE as f64) - lines(SMALL as f64));
    let line = line.max(0.0);
    let (own, own_batch) = split(cost(0), cost(2));
    // FromDevice is called for none, so both of its calls are the driver's.
    let own = own - line * lines(SMALL as f64) - sink - packet;
    let call = (own_batch - 2.0 * batch).max(0.0);
    calibration.add(
        "driver",
        &[
            ("packet", 2.0 * own.max(0.0)),
            ("call", 2.0 * call),
            ("line", 2.0 * line),
        ],
        spread(&[0, 1, 2]),
    );
    Ok(())
}

/// What a poll in vain costs, on a ring that paces its frames: `poll`.
fn idle(calibration: &mut Calibration, reference: &Reference) -> Result<(), Error> {
    let bare = &reference.bench;
    let bed = Bed::new(bare, &reference.traffic, Pattern::Constant, IDLE_RING).map_err(wrong);
    let mut bed = bed?;
    let each: Result<Vec<f64>, Error> = (0..IDLE_WINDOWS)
        .map(|_| bed.idle(IDLE).map_err(|failure| lacks(&failure)))
        .collect();
    let mut each = each?;
    each.sort_by(f64::total_cmp);
    let (least, middle) = (each[0], each[each.len() / 2]);
    calibration.add("poll", &[("empty", least)], middle / least - 1.0);
    Ok(())
}

/// What pacing and stamping cost: `pace`. The same graph is run as fast as it can on rings that do
/// either and on rings that do not, with many packets in a batch and with one.
fn pace(calibration: &mut Calibration, reference: &Reference) -> Result<(), Error> {
    let through = bench("FromDevice(in) -> ToDevice(out);")?;
    let cycles_a_second = reference.clock.cycles_a_tick * reference.clock.ticks_per_s;
    let more = |burst: usize| -> Result<Timed, Error> {
        let traffic = traffic(64, burst);
        let bed = Bed::new(&through, &traffic, Pattern::Constant, PACE_RING).map_err(wrong);
        let mut bed = bed?;
        // Twice what it does without: more than it can do with.
        let pps = 2.0 * cycles_a_second / reference.cycles(&through, &traffic)?;
        let load = Load::new(pps, Span::from_secs_f64(PACE_FRAMES / pps));
        let load = load.ok_or_else(|| Error::Unsupported("a graph takes no time".to_owned()))?;
        // In turn, so that what slows the one slows the other.
        let (mut plain, mut all) = (f64::INFINITY, Vec::new());
        for _ in 0..IDLE_WINDOWS {
            let window = bed.offer(&[load]).map_err(|failure| lacks(&failure))?;
            all.push(cycles_a_second / window.taken_per_s);
            plain = plain.min(reference.cycles(&through, &traffic)?);
        }
        all.sort_by(f64::total_cmp);
        Ok(Timed {
            cycles: (all[0] - plain).max(0.0),
            spread: (all[all.len() / 2] - all[0]) / all[0],
        })
    };
    let (many, one) = (more(32)?, more(1)?);
    let call = ((one.cycles - many.cycles) / (1.0 - 1.0 / Factor::BATCH)).max(0.0);
    let packet = (many.cycles - call / Factor::BATCH).max(0.0);
    let spread = many.spread.max(one.spread).max(LEAST_SPREAD);
    calibration.add("pace", &[("packet", packet), ("call", call)], spread);
    Ok(())
}

fn lacks(failure: &Failure) -> Error {
    Error::Unsupported(failure.to_string())
}
