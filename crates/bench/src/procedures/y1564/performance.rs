//! Service performance test: all services at their committed rates, over a long time.
//!
//! # What it does
//! Each kind of traffic is a service; all are offered at their committed rates together, for 15
//! minutes, 2 hours or a day. Availability is not judged: what comes is not known second by second.
//!
//! # References
//! ITU-T Y.1564, from secondary sources: see [`crate::service`].

use super::super::{Bench, Entry, Error, Form};
use crate::ports::PortFlow;
use crate::service::{CIR, COLUMNS, FDV, FLR, FTD, Measured, Service, load_of};
use trammel_core::entry::{About, Param, Params};
use trammel_stats::table::Table;

/// The service performance test in the table of tests.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "service-performance",
        aliases: &["y1564-performance"],
        summary: "whether all services get their committed rates at once, over a long time, within \
                  their criteria",
        references: &["ITU-T Y.1564 (from secondary sources)"],
        params: &[
            CIR,
            FLR,
            FTD,
            FDV,
            Param::time(
                "duration",
                "900 s",
                "how long they are offered: 900 s, 7200 s or 86400 s",
            ),
        ],
    },
    quick: &[("duration", "5 s")],
    columns: &COLUMNS,
    form: Form::Table,
    run,
};

fn run(bench: &mut Bench<'_>, params: &Params) -> Result<Table, Error> {
    let service = Service::of(params)?;
    let flow = |traffic| {
        let load = load_of(service.cir_bps, traffic, params.time("duration"))?;
        Ok(PortFlow::new(0, 1, traffic, load))
    };
    let flows: Vec<PortFlow> = bench
        .traffics()
        .iter()
        .map(flow)
        .collect::<Result<_, Error>>()?;
    let shares = flows
        .iter()
        .map(|flow| flow.load.frames_per_second() / bench.line_fps(&flow.traffic));
    let share: f64 = shares.sum();
    if share > 1.0 {
        return Err(Error::Setting(format!(
            "{} times {:.3} Mbit/s is {:.0} % of what the line carries; lower `cir` or give fewer \
             kinds of traffic",
            flows.len(),
            service.cir_bps / 1e6,
            100.0 * share,
        )));
    }
    let mut observed = bench.offer_together(&flows)?.into_iter();
    bench.each(&ENTRY, |bench, traffic, table| {
        let of = observed.next().expect("each flow is observed");
        let measured = Measured::of(traffic, &of);
        let faults = service.faults(service.cir_bps, &measured);
        let own = measured.cells(service.cir_bps, &faults);
        bench.push(table, traffic, own);
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fakes::{Device, made, refused, search, traffic};

    #[test]
    fn services_that_pass_alone_fail_together_where_they_are_too_many() {
        let given = [("cir", "1 Mbit/s"), ("duration", "2 s")];
        // 1953 frames of 64 bytes and 977 of 128.
        let both = [traffic(64), traffic(128)];
        for (capacity, expected) in [(3000.0, "pass"), (2500.0, "fail")] {
            let mut device = Device::of_capacity(capacity);
            let table = made(&ENTRY, &given, &mut device, &both, search());
            assert_eq!(table.len(), 2);
            assert!(table.rows().all(|row| row.text("verdict") == expected));
            let alone = made(&ENTRY, &given, &mut device, &both[..1], search());
            assert_eq!(alone.rows().next().unwrap().text("verdict"), "pass");
        }
    }

    #[test]
    fn more_than_the_line_carries_is_refused() {
        let said = refused(
            &ENTRY,
            &[("cir", "10 Mbit/s")],
            &mut Device::of_capacity(1.0),
        );
        assert_eq!(
            said,
            "1 times 10.000 Mbit/s is 195 % of what the line carries; lower `cir` or give fewer \
             kinds of traffic"
        );
    }
}
