//! What a configuration costs on this machine, timed on rings in memory.
//!
//! A run falls into slices of some thousand packets. Other work on the machine only makes slices
//! longer, so the least of them is the cost, and the others tell how busy the machine was.

use super::bench::{Bench, Refused};
use super::ring::SLICE;
use super::traffic::Traffic;
use std::hint::black_box;
use std::time::Instant;
use trammel_packet::cpu::cycles;

/// Runs of which each is looked at alone: the least slices of two should agree.
const RUNS: usize = 3;
/// Packets of a run.
const PACKETS: u64 = 1 << 18;
/// Slices at the start that warm caches, at least; tables fill until every flow has come.
const WARM: u64 = 8;

/// A measured cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Core cycles a packet: the least slice.
    pub cycles: f64,
    /// The relative difference between the least slices of the runs.
    pub spread: f64,
    /// The median slice over the least: 1 on a quiet machine.
    pub disturbance: f64,
    /// Packets a second at the clock under load.
    pub pps: f64,
    /// Core cycles a second under load.
    pub clock_hz: f64,
    /// Packets that came in, over all runs.
    pub packets: u64,
}

/// The time-stamp counter: what its ticks are, and what reading it costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// Core cycles a tick.
    pub cycles_a_tick: f64,
    /// Ticks a second.
    pub ticks_per_s: f64,
    /// Ticks from one reading of the counter to the next, where nothing is between them.
    pub ticks_a_reading: f64,
}

impl Clock {
    /// Measures it in a hundredth of a second.
    pub fn measure() -> Clock {
        // Short enough that some are undisturbed however many others wait for the processor.
        const STEPS: u64 = 50_000;
        const LEAST: u32 = 64;
        let (started, first) = (Instant::now(), cycles());
        let reading = (0..1000).map(|_| {
            let start = cycles();
            cycles().saturating_sub(start)
        });
        let reading = reading.min().unwrap_or(0);
        let (mut best, mut made) = (u64::MAX, 0);
        while started.elapsed().as_millis() < 10 || made < LEAST {
            made += 1;
            let start = cycles();
            let mut x = black_box(3_u64);
            for _ in 0..STEPS {
                // Three cycles and one each on every processor of the last ten years, one waiting
                // for the other.
                x = x.wrapping_mul(x) | 1;
            }
            black_box(x);
            best = best.min(cycles() - start);
        }
        Clock {
            cycles_a_tick: (4 * STEPS) as f64 / best as f64,
            ticks_per_s: (cycles() - first) as f64 / started.elapsed().as_secs_f64(),
            ticks_a_reading: reading as f64,
        }
    }
}

/// Times the configuration under `traffic`.
pub fn measure(bench: &Bench, traffic: &Traffic) -> Result<Measured, Refused> {
    let packets = PACKETS.max(8 * u64::from(traffic.flows));
    measure_for(bench, traffic, packets, RUNS)
}

/// The same in so many runs of so many packets each, besides those that warm it.
pub(crate) fn measure_for(
    bench: &Bench,
    traffic: &Traffic,
    each: u64,
    runs: usize,
) -> Result<Measured, Refused> {
    let (mut least, mut slices, mut packets) = (Vec::new(), Vec::new(), 0);
    let mut clock = Clock::measure();
    for _ in 0..runs.max(1) {
        let (ticks, given) = slices_of(bench, traffic, each)?;
        let now = Clock::measure();
        // The clock that was highest is the one that the least slice ran at.
        clock.cycles_a_tick = clock.cycles_a_tick.max(now.cycles_a_tick);
        least.push(ticks[0]);
        packets += given;
        slices.extend(ticks);
    }
    slices.sort_by(f64::total_cmp);
    least.sort_by(f64::total_cmp);
    let best = least[0];
    let cost = best * clock.cycles_a_tick;
    let clock_hz = clock.cycles_a_tick * clock.ticks_per_s;
    Ok(Measured {
        cycles: cost,
        spread: least[least.len() - 1] / best - 1.0,
        disturbance: slices[slices.len() / 2] / best,
        pps: clock_hz / cost,
        clock_hz,
        packets,
    })
}

/// Ticks a packet of the least slice of one run.
#[cfg(target_os = "linux")]
pub(crate) fn least_ticks(bench: &Bench, traffic: &Traffic, packets: u64) -> Result<f64, Refused> {
    Ok(slices_of(bench, traffic, packets)?.0[0])
}

/// Ticks a packet of each slice of a run after it is warm, the least first, at least one; and the
/// packets that came in.
fn slices_of(bench: &Bench, traffic: &Traffic, packets: u64) -> Result<(Vec<f64>, u64), Refused> {
    // While a table fills it is small, and what is looked up in it is near.
    let warm = (traffic.draws() as u64).max(WARM * SLICE);
    let (_, tally) = bench.run(traffic, warm + packets)?;
    let notes = tally.notes.iter().skip_while(|note| note.1 < warm);
    let notes: Vec<_> = notes.collect();
    let each = notes.windows(2).map(|pair| {
        let (ticks, given) = (pair[1].0 - pair[0].0, pair[1].1 - pair[0].1);
        ticks as f64 / given as f64
    });
    let mut each: Vec<f64> = each.collect();
    each.sort_by(f64::total_cmp);
    if each.is_empty() {
        return Err(Refused::Other(format!(
            "{} packets in a minute are too few to be timed",
            tally.given
        )));
    }
    Ok((each, tally.given))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use crate::traffic::field;

    #[test]
    fn what_is_timed_comes_after_every_flow_has_come() {
        const FLOWS: u32 = 10_000;
        const TIMED: u64 = 8;
        let text = "FromDevice(a) -> [0] s :: EtherSwitch; Idle -> [1] s; s[0] -> Queue -> \
                    ToDevice(a); s[1] -> Queue -> ToDevice(b);";
        let bench = Bench::new(text, "x.click", &[], &[samples::plain()]).expect("it is right");
        let traffic = Traffic {
            flows: FLOWS,
            field: Some(field("ether.src").expect("it is a field")),
            ..Traffic::default()
        };
        let draws = traffic.draws() as u64;
        assert!(draws >= u64::from(FLOWS), "{draws}");
        let (slices, given) = slices_of(&bench, &traffic, TIMED * SLICE).expect("it runs");
        assert_eq!(given, draws + TIMED * SLICE);
        assert!(slices.len() as u64 <= TIMED, "{}", slices.len());
        // The table that is looked up in does not grow any more.
        let learnt = |packets| {
            let (mut ctx, _) = bench.run(&traffic, packets).expect("the run succeeds");
            let table = ctx.find_handler("s.table", None).expect("it has one");
            let table = ctx.read_handler(&table, "").expect("it is read");
            table.lines().count()
        };
        assert_eq!(learnt(draws), learnt(2 * draws));
    }
}
