//! Congestion control: head of line blocking and back pressure of a switch, by two ports that share
//! a third.
//!
//! # What it does
//! ```text
//! port 0 ── half of the line ──> port 2, uncongested
//!        └─ half of the line ─┐
//! port 1 ── all of the line ──┴> port 3, congested: half too much
//! ```
//! A frame that is lost at the uncongested port had to wait for the congested one: *head of line
//! blocking*. Where nothing is lost at the congested port, frames were kept back: *back pressure*.
//! A switch with neither loses a third there.
//!
//! # References
//! RFC 2889 §5.5; RFC 2285 §3.7.

use super::super::{Bench, Entry, Error, Form, load};
use crate::ports::PortFlow;
use crate::testbed::{Directions, Observation, Traffic};
use crate::trial::TrialOutcome;
use trammel_core::entry::{About, Param, Params};
use trammel_stats::table::{CellType, Table};

/// Congestion control in the table of tests.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "congestion-control",
        aliases: &[],
        summary: "head-of-line blocking and back-pressure at a congested port of a switch",
        references: &["RFC 2889 §5.5", "RFC 2285 §3.7"],
        params: &[
            //= rfc2889 §5.5.2
            //# The recommended Trial Duration is 30 seconds.
            Param::time("duration", "30 s", "how long the trial is"),
        ],
    },
    quick: &[("duration", "1 s")],
    columns: &[
        ("line_fps", CellType::Float),
        ("uncongested_offered_fps", CellType::Float),
        ("uncongested_forwarded_fps", CellType::Float),
        ("uncongested_loss_percent", CellType::Float),
        ("congested_offered_fps", CellType::Float),
        ("congested_forwarded_fps", CellType::Float),
        ("congested_loss_percent", CellType::Float),
        ("head_of_line_blocking", CellType::Bool),
        ("back_pressure", CellType::Bool),
    ],
    form: Form::Table,
    run,
};

fn run(bench: &mut Bench<'_>, params: &Params) -> Result<Table, Error> {
    let duration = params.time("duration");
    bench.each(&ENTRY, |bench, traffic, table| {
        let one_way = Traffic {
            directions: Directions::OneWay,
            ..traffic.clone()
        };
        let line = bench.line_fps(&one_way);
        let (half, whole) = (load(line / 2.0, duration)?, load(line, duration)?);
        //= rfc2889 §5.5.3
        //# The first source MUST transmit test frames at the MOL with the destination address of
        //# the two receive ports in an alternating order.
        let flows = [
            PortFlow::new(0, 2, traffic, half),
            PortFlow::new(0, 3, traffic, half),
            PortFlow::new(1, 3, traffic, whole),
        ];
        let all = bench.offer_together(&flows)?;
        let (uncongested, congested) = (Sum::of(&all[..1]), Sum::of(&all[1..]));
        let own = vec![
            line.into(),
            uncongested.offered_fps.into(),
            uncongested.forwarded_fps.into(),
            uncongested.loss_percent.into(),
            congested.offered_fps.into(),
            congested.forwarded_fps.into(),
            congested.loss_percent.into(),
            //= rfc2889 §5.5.5.1
            //# If there is frame loss at the uncongested port, "Head of Line" blocking is present.
            (uncongested.loss_percent > 0.0).into(),
            //= rfc2889 §5.5.5.2
            //# If there is no frame loss on the congested port, then backpressure is present.
            (congested.loss_percent == 0.0).into(),
        ];
        bench.push(table, traffic, own);
        Ok(())
    })
}

/// What went to a port.
struct Sum {
    offered_fps: f64,
    forwarded_fps: f64,
    loss_percent: f64,
}

impl Sum {
    fn of(flows: &[Observation]) -> Sum {
        let all = || flows.iter().map(|flow| &flow.outcome);
        let lost: u64 = all().map(TrialOutcome::lost).sum();
        let offered: u64 = all().map(|outcome| outcome.offered).sum();
        Sum {
            offered_fps: all().map(TrialOutcome::offered_rate).sum(),
            forwarded_fps: all().map(TrialOutcome::forwarding_rate).sum(),
            loss_percent: 100.0 * lost as f64 / offered.max(1) as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fakes::{LINE_FPS, Switch, Wire, made, refused, search, traffic};
    use trammel_stats::table::Cell;

    #[test]
    fn switches_that_block_and_that_keep_senders_back_are_told_apart() {
        // Head of line blocking, back pressure; loss at the uncongested port and at the congested
        // one.
        let cases = [
            (false, false, 0.0, 100.0 / 3.0),
            (true, false, 100.0 / 3.0, 100.0 / 3.0),
            (false, true, 0.0, 0.0),
        ];
        for (blocks, keeps_back, uncongested, congested) in cases {
            let mut switch = Switch {
                blocks,
                keeps_back,
                ..Switch::default()
            };
            let table = made(&ENTRY, &[], &mut switch, &[traffic(64)], search());
            let row = table.rows().next().unwrap();
            let near = |name: &str, truth: f64| {
                let found = row.float(name).unwrap();
                assert!((found - truth).abs() < 0.01, "{name} {found} {truth}");
            };
            near("uncongested_loss_percent", uncongested);
            near("congested_loss_percent", congested);
            near("congested_forwarded_fps", LINE_FPS);
            assert_eq!(row.get("head_of_line_blocking"), Some(&Cell::Bool(blocks)));
            assert_eq!(row.get("back_pressure"), Some(&Cell::Bool(keeps_back)));
        }
    }

    #[test]
    fn two_ports_do_not_do() {
        let said = refused(&ENTRY, &[], &mut Wire);
        assert_eq!(
            said,
            "this testbed offers one flow at a time, from its first port to its second"
        );
    }
}
