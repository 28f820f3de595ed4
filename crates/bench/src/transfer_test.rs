//! The test of file transfers: each is made through the device and, in turn with it, without the
//! device.

use crate::procedures::{Bench, Entry, Error};
use crate::summary::spread;
use crate::transfer::{Across, File, Protocol, Transferred, frames};
use trammel_core::entry::{Kind, Param, Params};
use trammel_stats::table::{Cell, CellType, Table};

/// The table of a test: one row, whatever frames the others are tried with.
pub(crate) fn tabulate(
    bench: &mut Bench<'_>,
    entry: &Entry,
    params: &Params,
    protocol: &Protocol,
) -> Result<Table, Error> {
    let bytes = params.bytes("bytes");
    if bytes == 0 {
        return Err(Error::Setting(
            "`bytes` is 0: give at least 1 byte".to_owned(),
        ));
    }
    bench.of(entry, &[frames()], |bench, traffic, table| {
        let (mut through, mut past) = (Vec::new(), Vec::new());
        for _ in 0..params.int("repeats") {
            for (across, all) in [(Across::Device, &mut through), (Across::Wire, &mut past)] {
                all.push(bench.transfer(&File {
                    bytes,
                    protocol: protocol.clone(),
                    across,
                })?);
            }
        }
        let own = cells(bytes, &through, &past);
        bench.push_stream(table, traffic, "TCP", own);
        Ok(())
    })
}

/// The cells of the columns.
fn cells(bytes: u64, through: &[Transferred], past: &[Transferred]) -> Vec<Cell> {
    let times = |all: &[Transferred]| -> Vec<f64> {
        all.iter().map(|one| one.time.as_secs_f64()).collect()
    };
    let mean = |all: &[Transferred]| times(all).iter().sum::<f64>() / all.len() as f64;
    let goodput = |seconds: f64| bytes as f64 * 8e-6 / seconds;
    let hosts = through.first().map(|one| one.hosts.clone());
    let again = through.iter().map(|one| one.retransmissions);
    let (device, wire) = (mean(through), mean(past));
    let mut cells = vec![hosts.into(), bytes.into(), through.len().into()];
    cells.extend(spread(&times(through)));
    cells.extend([
        goodput(device).into(),
        again.sum::<u64>().into(),
        wire.into(),
        goodput(wire).into(),
        (100.0 * wire / device).into(),
    ]);
    cells
}

/// The columns of each test's table.
pub(crate) const COLUMNS: &[(&str, CellType)] = &[
    ("hosts", CellType::Text),
    ("bytes", CellType::Int),
    ("repeats", CellType::Int),
    ("time_mean_s", CellType::Float),
    ("time_sd_s", CellType::Float),
    ("time_min_s", CellType::Float),
    ("time_max_s", CellType::Float),
    ("goodput_mbps", CellType::Float),
    ("retransmissions", CellType::Int),
    ("wire_mean_s", CellType::Float),
    ("wire_goodput_mbps", CellType::Float),
    ("of_wire_percent", CellType::Float),
];

/// How often each is made.
pub(crate) const REPEATS: Param = Param::int(
    "repeats",
    1,
    100_000,
    "10",
    "",
    "number of transfers through the device, and as many without it",
);

/// The setting that every transfer has.
pub(crate) const BYTES: Param = Param {
    name: "bytes",
    kind: Kind::Bytes,
    // "a file of 1.8GB size" (the paper, §5.7).
    default: "1.8 GB",
    unit: "B",
    help: "the length of the file",
};
