//! NDR and PDR: the rates with at most given loss ratios, in one search.
//!
//! # What it does
//! One MLRsearch whose goals differ in their loss ratio. Of each goal, the Relevant Lower Bound and
//! the Relevant Upper Bound are told, and the Conditional Throughput at the lower one: the rate
//! that came through in the worst trial that the goal lets count. The goal of no loss is called
//! NDR, the others PDR with their ratio.
//!
//! # References
//! RFC 9971 §4.6 (goals), §4.8 (results), appendices A and B; ETSI GS NFV-TST 009 §12.

use super::super::{Bench, Entry, Error, Form, verdict};
use crate::search::mlr::goal::Goal;
use crate::search::throughput;
use trammel_core::entry::{About, Kind, Param, Params};
use trammel_stats::table::CellType;

/// NDR and PDR in the table of tests.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "ndr-pdr",
        aliases: &["mlrsearch"],
        summary: "the rates with at most given loss ratios, in one search",
        references: &["RFC 9971", "ETSI GS NFV-TST 009 §12"],
        params: &[
            Param {
                name: "loss_ratios",
                kind: Kind::Floats,
                default: "0, 0.005",
                unit: "",
                help: "the goals: accepted loss ratio of each",
            },
            Param::float(
                "exceed_ratio",
                0.0,
                0.99,
                "0",
                "",
                "the share of the time of a load's trials in which more may be lost",
            ),
            Param::time(
                "final_duration",
                "60 s",
                "duration of a trial at a lower bound",
            ),
            Param::time(
                "duration_sum",
                "60 s",
                "how long a load's trials together are at most needed",
            ),
            Param::time("initial_duration", "1 s", "duration of the first trials"),
            Param::float(
                "width",
                1e-6,
                0.5,
                "0.005",
                "",
                "largest distance of the bounds, as a share of the upper",
            ),
        ],
    },
    quick: &[
        ("final_duration", "1 s"),
        ("duration_sum", "1 s"),
        ("initial_duration", "0.2 s"),
    ],
    columns: &[
        ("goal", CellType::Text),
        ("loss_ratio", CellType::Float),
        ("exceed_ratio", CellType::Float),
        ("final_duration_s", CellType::Float),
        ("lower_fps", CellType::Float),
        ("upper_fps", CellType::Float),
        ("conditional_throughput_fps", CellType::Float),
        ("line_fps", CellType::Float),
        ("of_line_percent", CellType::Float),
        ("verdict", CellType::Text),
        ("trials", CellType::Int),
        ("trial_time_s", CellType::Float),
    ],
    form: Form::Table,
    run,
};

/// What a goal is called.
fn name(loss_ratio: f64) -> String {
    if loss_ratio == 0.0 {
        return "NDR".to_owned();
    }
    // In percent to six digits, so that 0.07 is 7 and not what a float makes of it.
    let percent = (loss_ratio * 1e8).round() / 1e6;
    format!("PDR {percent} %")
}

fn run(bench: &mut Bench<'_>, params: &Params) -> Result<trammel_stats::table::Table, Error> {
    let ratios = params.floats("loss_ratios");
    let goal = |loss_ratio: &f64| Goal {
        loss_ratio: *loss_ratio,
        exceed_ratio: params.float("exceed_ratio"),
        final_duration: params.time("final_duration"),
        duration_sum: params.time("duration_sum"),
        initial_duration: Some(params.time("initial_duration")),
        width: params.float("width"),
    };
    let goals: Vec<Goal> = ratios.iter().map(goal).collect();
    bench.each(&ENTRY, |bench, traffic, table| {
        let output = bench.search_goals(traffic, goals.clone())?;
        let line = bench.line_fps(traffic);
        let time = output
            .trials
            .iter()
            .map(|t| t.load.duration().as_secs_f64());
        let time: f64 = time.sum();
        for result in &output.results {
            let ended = bench.judged(traffic, result.lower, throughput::verdict(result));
            let own = vec![
                name(result.goal.loss_ratio).into(),
                result.goal.loss_ratio.into(),
                result.goal.exceed_ratio.into(),
                result.goal.final_duration.as_secs_f64().into(),
                result.lower.into(),
                result.upper.into(),
                result.conditional_throughput.into(),
                line.into(),
                result.lower.map(|fps| 100.0 * fps / line).into(),
                verdict(ended).into(),
                output.trials.len().into(),
                time.into(),
            ];
            bench.push(table, traffic, own);
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fakes::{Device, Wire, made, refused, search, traffic};

    const GIVEN: [(&str, &str); 3] = [
        ("final_duration", "10 s"),
        ("duration_sum", "10 s"),
        ("width", "0.002"),
    ];

    #[test]
    fn a_device_of_a_capacity_bears_more_where_it_may_lose_some() {
        let mut device = Device {
            // Without any, of two frames that come a little too fast one is lost.
            buffer: 2,
            ..Device::of_capacity(4000.0)
        };
        let table = made(&ENTRY, &GIVEN, &mut device, &[traffic(64)], search());
        let rows: Vec<_> = table.rows().collect();
        assert_eq!(rows.len(), 2);
        for (row, name, truth) in [
            (&rows[0], "NDR", 4000.0),
            (&rows[1], "PDR 0.5 %", 4000.0 / 0.995),
        ] {
            assert_eq!(row.text("goal"), name);
            let (lower, upper) = (
                row.float("lower_fps").unwrap(),
                row.float("upper_fps").unwrap(),
            );
            assert!(
                lower <= truth + 1.0 && truth <= upper + 1.0,
                "{lower} {upper}"
            );
            assert!(upper - lower <= 0.002 * upper, "{lower} {upper}");
            // At the bound, what is forwarded is the load, or all that the device forwards.
            let conditional = row.float("conditional_throughput_fps").unwrap();
            assert!(
                (conditional - lower.min(4000.0)).abs() <= 8.0,
                "{conditional} {lower}"
            );
        }
    }

    #[test]
    fn a_wire_has_no_upper_bounds() {
        let table = made(&ENTRY, &GIVEN, &mut Wire, &[traffic(64)], search());
        for row in table.rows() {
            assert_eq!(row.float("upper_fps"), None);
            assert_eq!(row.float("of_line_percent"), Some(100.0));
        }
    }

    #[test]
    fn goals_that_cannot_be_are_refused() {
        for (name, value, what) in [
            ("loss_ratios", "1.5", "loss_ratio"),
            ("initial_duration", "90 s", "initial_duration"),
        ] {
            let said = refused(&ENTRY, &[(name, value)], &mut Device::of_capacity(4e3));
            assert!(said.contains(what), "{said}");
        }
    }

    #[test]
    fn goals_are_called_by_their_ratios() {
        let names = [0.0, 0.005, 0.07, 1e-6].map(name);
        assert_eq!(names, ["NDR", "PDR 0.5 %", "PDR 7 %", "PDR 0.0001 %"]);
    }
}
