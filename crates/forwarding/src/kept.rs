//! One cell that was simulated or measured, as a file keeps it for a resume: numbers to the last
//! bit.

use crate::live::Live;
use crate::row::{Row, Windows};
use crate::search::Sought;
use trammel_core::time::Span;
use trammel_report::kept::{Keep, Samples};
use trammel_scenario::forwarding::Test;
use trammel_stats::table::Table;
use trammel_workbench::measure::Measured;
use trammel_workbench::recovery::Recovery;

/// What an engine found of one function at one frame size.
#[derive(Clone, Debug, Default)]
pub struct KeptCell {
    /// By simulation.
    pub(crate) simulated: Option<Sought>,
    /// By measurement.
    pub(crate) measured: Option<Measured>,
    /// By measurement under loads.
    pub(crate) live: Option<Live>,
}

/// What limits a device, by number.
const BOUNDS: [&str; 2] = ["cpu", "link"];

impl Keep for KeptCell {
    fn tables(&self) -> Vec<&Table> {
        Vec::new()
    }

    fn samples(&self) -> Vec<Samples> {
        let mut all = Vec::new();
        let mut add = |name: &str, rows: Vec<Vec<u64>>| all.push((name.to_owned(), rows));
        if let Some(sought) = &self.simulated {
            let bound = BOUNDS.iter().position(|one| *one == sought.bound_by);
            let bound = bound.expect("a device is bound by its processor or by a link");
            let row = vec![sought.pps.to_bits(), bound as u64, sought.cycles.to_bits()];
            add("simulated", vec![row]);
            add("trials", sought.trials.iter().map(numbers).collect());
        }
        if let Some(one) = &self.measured {
            let floats = [
                one.cycles,
                one.spread,
                one.disturbance,
                one.pps,
                one.clock_hz,
            ];
            let row = floats.map(f64::to_bits).into_iter().chain([one.packets]);
            add("measured", vec![row.collect()]);
        }
        if let Some(live) = &self.live {
            add("live", live.trials.iter().map(numbers).collect());
        }
        all
    }

    fn of_parts(_: &dyn Fn(&Table) -> Option<Table>, samples: &[Samples]) -> Option<KeptCell> {
        let part = |name: &str| {
            let found = samples.iter().find(|(one, _)| one == name);
            found.map(|(_, rows)| rows.as_slice())
        };
        let rows = |name: &str| -> Option<Vec<Row>> {
            part(name)?.iter().map(|row| row_of(row)).collect()
        };
        let mut cell = KeptCell::default();
        if let Some([row]) = part("simulated") {
            let &[pps, bound, cycles] = row.as_slice() else {
                return None;
            };
            cell.simulated = Some(Sought {
                pps: f64::from_bits(pps),
                bound_by: BOUNDS.get(bound as usize)?,
                cycles: f64::from_bits(cycles),
                trials: rows("trials")?,
            });
        }
        if let Some([row]) = part("measured") {
            let &[cycles, spread, disturbance, pps, clock_hz, packets] = row.as_slice() else {
                return None;
            };
            cell.measured = Some(Measured {
                cycles: f64::from_bits(cycles),
                spread: f64::from_bits(spread),
                disturbance: f64::from_bits(disturbance),
                pps: f64::from_bits(pps),
                clock_hz: f64::from_bits(clock_hz),
                packets,
            });
        }
        cell.live = match part("live") {
            Some(_) => Some(Live {
                trials: rows("live")?,
            }),
            None => None,
        };
        (cell.simulated.is_some() || cell.measured.is_some()).then_some(cell)
    }
}

/// A number that may be missing, in two.
fn maybe(value: Option<u64>) -> [u64; 2] {
    [u64::from(value.is_some()), value.unwrap_or_default()]
}

fn numbers(row: &Row) -> Vec<u64> {
    let test = Test::ALL.iter().position(|one| *one == row.test);
    let mut all = vec![
        test.expect("every test is listed") as u64,
        row.intended.to_bits(),
        row.effective.as_ps(),
        row.offered,
        row.forwarded,
        row.loss.to_bits(),
        u64::from(row.passed),
    ];
    let recovery = row.recovery.as_ref();
    let windows = row.windows;
    for one in [
        row.share.map(f64::to_bits),
        row.p50.map(Span::as_ps),
        row.p99.map(Span::as_ps),
        recovery.map(|one| one.last_loss.as_ps()),
        recovery.and_then(|one| one.delay).map(Span::as_ps),
        windows.map(|one| one.kept as u64),
        windows.and_then(|one| one.spread).map(f64::to_bits),
    ] {
        all.extend(maybe(one));
    }
    all
}

fn row_of(all: &[u64]) -> Option<Row> {
    let (&[test, intended, effective, offered, forwarded, loss, passed], rest) =
        all.split_first_chunk::<7>()?;
    let pairs: Vec<Option<u64>> = rest
        .chunks_exact(2)
        .map(|pair| (pair[0] == 1).then_some(pair[1]))
        .collect();
    let &[share, p50, p99, last_loss, delay, kept, spread] = pairs.as_slice() else {
        return None;
    };
    Some(Row {
        test: *Test::ALL.get(test as usize)?,
        share: share.map(f64::from_bits),
        intended: f64::from_bits(intended),
        effective: Span::from_ps(effective),
        offered,
        forwarded,
        loss: f64::from_bits(loss),
        p50: p50.map(Span::from_ps),
        p99: p99.map(Span::from_ps),
        passed: passed == 1,
        recovery: last_loss.map(|last_loss| Recovery {
            last_loss: Span::from_ps(last_loss),
            delay: delay.map(Span::from_ps),
        }),
        windows: kept.map(|kept| Windows {
            kept: kept as usize,
            spread: spread.map(f64::from_bits),
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_core::Span;

    #[test]
    fn a_cell_survives_its_numbers() {
        let row = |test, delay| Row {
            test,
            share: Some(0.5),
            intended: 1.0 / 3.0,
            effective: Span::from_us(7),
            offered: 9,
            forwarded: 8,
            loss: 1.0 / 9.0,
            p50: None,
            p99: Some(Span::from_ns(12)),
            passed: false,
            recovery: Some(Recovery {
                last_loss: Span::ZERO,
                delay,
            }),
            windows: Some(Windows {
                kept: 3,
                spread: None,
            }),
        };
        let all = Test::ALL
            .iter()
            .map(|test| row(*test, Some(Span::from_ms(1))));
        let cell = KeptCell {
            simulated: Some(Sought {
                pps: 2.0 / 3.0,
                bound_by: "link",
                cycles: 412.7,
                trials: all.chain([row(Test::Throughput, None)]).collect(),
            }),
            measured: Some(Measured {
                cycles: 1.0 / 7.0,
                spread: 0.1,
                disturbance: 1.0,
                pps: 5e6,
                clock_hz: 3e9,
                packets: u64::MAX,
            }),
            live: Some(Live { trials: Vec::new() }),
        };
        let back = KeptCell::of_parts(&|_| None, &cell.samples()).expect("it is whole");
        assert_eq!(format!("{back:?}"), format!("{cell:?}"));
        assert!(KeptCell::of_parts(&|_| None, &[]).is_none());
    }
}
