//! Service configuration test: whether each service gets its rates and not more.
//!
//! # What it does
//! Each kind of traffic is a service, and is tried alone. Its committed rate is offered in steps,
//! at each of which rate, loss, delay and variation must be accepted; then committed and excess
//! rate together; then more than both, which a policer must hold down. Beyond the committed rate
//! only the rate that comes is judged: there is no promise but the least and the most.
//!
//! # References
//! ITU-T Y.1564, from secondary sources: see [`crate::service`].

use super::super::{Bench, Entry, Error, Form, shares};
use crate::service::{CIR, COLUMNS, EIR, FDV, FLR, FTD, Measured, Service, load_of};
use crate::testbed::Plan;
use trammel_core::entry::{About, Kind, Param, Params};
use trammel_stats::table::{Cell, CellType, Table};

/// The service configuration test in the table of tests.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "service-configuration",
        aliases: &["y1564-configuration"],
        summary: "whether each service gets its rates within its criteria, and not more",
        references: &["ITU-T Y.1564 (from secondary sources)"],
        params: &[
            CIR,
            EIR,
            FLR,
            FTD,
            FDV,
            Param {
                name: "steps",
                kind: Kind::Floats,
                default: "0.25, 0.5, 0.75, 1",
                unit: "",
                help: "the steps to the committed rate, as shares of it",
            },
            Param::time("duration", "10 s", "how long a step is"),
            Param {
                name: "policing",
                kind: Kind::Bool,
                default: "true",
                unit: "",
                help: "whether traffic above the service's rates must be policed",
            },
        ],
    },
    quick: &[("duration", "1 s")],
    columns: &[
        ("step", CellType::Text),
        COLUMNS[0],
        COLUMNS[1],
        COLUMNS[2],
        COLUMNS[3],
        COLUMNS[4],
        COLUMNS[5],
        COLUMNS[6],
    ],
    form: Form::Table,
    run,
};

fn run(bench: &mut Bench<'_>, params: &Params) -> Result<Table, Error> {
    let service = Service {
        eir_bps: params.rate("eir").as_bps() as f64,
        ..Service::of(params)?
    };
    let mut steps: Vec<(String, f64)> = shares(params, "steps")?
        .iter()
        .map(|share| {
            (
                format!("{} % of CIR", 100.0 * share),
                share * service.cir_bps,
            )
        })
        .collect();
    if service.eir_bps > 0.0 {
        steps.push(("CIR + EIR".to_owned(), service.cir_bps + service.eir_bps));
    }
    if params.bool("policing") {
        steps.push(("overshoot".to_owned(), service.overshoot_bps()));
    }
    bench.each(&ENTRY, |bench, traffic, table| {
        let line_bps = bench.line_fps(traffic) * traffic.sizes.mean() * 8.0;
        for (step, bps) in &steps {
            if *bps > line_bps {
                return Err(Error::Setting(format!(
                    "`{step}` is {:.3} Mbit/s, and the line carries {:.3} Mbit/s in frames of {}; \
                     lower `cir` or `eir`, or set `policing` to false",
                    bps / 1e6,
                    line_bps / 1e6,
                    traffic.sizes,
                )));
            }
            let plan = Plan::of(&[load_of(*bps, traffic, params.time("duration"))?]);
            let measured = Measured::of(traffic, &bench.offer(traffic, &plan)?);
            let faults = if *bps <= service.cir_bps {
                service.faults(*bps, &measured)
            } else {
                service.faults_beyond(&measured)
            };
            let mut own: Vec<Cell> = vec![step.as_str().into()];
            own.extend(measured.cells(*bps, &faults));
            bench.push(table, traffic, own);
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fakes::{Device, made, refused, search, traffic};
    use trammel_core::Span;

    /// In frames of 64 bytes, a thousandth of a rate of 512 bit/s each.
    const GIVEN: [(&str, &str); 4] = [
        ("cir", "1.024 Mbit/s"),
        ("eir", "0.512 Mbit/s"),
        ("duration", "2 s"),
        ("ftd", "5 ms"),
    ];

    fn verdicts(device: &mut Device) -> Vec<String> {
        let table = made(&ENTRY, &GIVEN, device, &[traffic(64)], search());
        let row = |row: trammel_stats::table::Row<'_>| match row.text("why") {
            "" => row.text("verdict").to_owned(),
            why => format!("{}: {why}", row.text("verdict")),
        };
        table.rows().map(row).collect()
    }

    #[test]
    fn a_policer_passes_and_too_little_too_much_and_too_late_fail() {
        let allowed = Device {
            buffer: 2,
            delay: Span::from_us(500),
            ..Device::of_capacity(3000.0)
        };
        assert_eq!(verdicts(&mut allowed.clone()), ["pass"; 6]);
        let mut little = Device {
            capacity_fps: 1700.0,
            ..allowed.clone()
        };
        let low = "fail: IR too low";
        let lost = "fail: IR too low, FLR too high";
        assert_eq!(verdicts(&mut little)[2..], ["pass", lost, low, low]);
        let mut open = Device {
            capacity_fps: 1e9,
            ..allowed.clone()
        };
        assert_eq!(verdicts(&mut open)[4..], ["pass", "fail: IR too high"]);
        let mut late = Device {
            delay: Span::from_ms(6),
            ..allowed
        };
        assert_eq!(verdicts(&mut late)[3..5], ["fail: FTD too high", "pass"]);
    }

    #[test]
    fn rates_that_the_line_does_not_carry_are_refused() {
        let said = refused(
            &ENTRY,
            &[("cir", "1 Gbit/s")],
            &mut Device::of_capacity(1e3),
        );
        assert!(
            said.starts_with("`25 % of CIR` is 250.000 Mbit/s, and the line carries 5.120 Mbit/s"),
            "{said}"
        );
        let said = refused(&ENTRY, &[("cir", "0 bit/s")], &mut Device::of_capacity(1e3));
        assert!(said.starts_with("`cir` is 0"), "{said}");
    }
}
