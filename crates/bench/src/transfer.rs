//! Files through a device: how fast a transfer is, and what share of that without the device.
//!
//! ```text
//! server ── device ── client        and, by turns with it,        server ──────── client
//! ```
//! Both are transferred in turn, so that what changes of the machine meanwhile changes both.
//!
//! Linguaglossa, Lombardo, Reforgiato, Schembra, "Performance Comparison between the Click Modular Router and the NetFPGA
//! Router", §5.7: "show how fast a file transfer is".

use crate::frames::Sizes;
use crate::procedures::{Bench, Entry, Error};
use crate::summary::spread;
use crate::testbed::Traffic;
use trammel_core::entry::{Kind, Param, Params};
use trammel_core::time::Time;
use trammel_stats::table::{Cell, CellType, Table};

/// Frames of a file are as long as Ethernet has them, but the last.
const FRAME_BYTES: u32 = 1518;

/// What a file is on the line.
pub fn frames() -> Traffic {
    Traffic::of(Sizes::of(FRAME_BYTES).expect("Ethernet has them"))
}

/// By what a file is transferred.
#[derive(Clone, Debug, PartialEq)]
pub enum Protocol {
    /// RFC 959, passive: a real server and a real client.
    Ftp,
    /// RFC 9112: a real server and a real client.
    Http,
    /// The file alone over one connection of simulated hosts.
    Tcp {
        /// The congestion control.
        variant: String,
        /// The round trip that the lines have besides the device.
        rtt: Time,
    },
}

impl Protocol {
    /// Its name in tables and commands.
    pub fn name(&self) -> &'static str {
        match self {
            Protocol::Ftp => "ftp",
            Protocol::Http => "http",
            Protocol::Tcp { .. } => "tcp",
        }
    }
}

/// What lies between server and client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Across {
    /// The device.
    Device,
    /// Nothing: a wire of the same rate.
    Wire,
}

/// A file to be transferred.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    /// Its length; at least 1.
    pub bytes: u64,
    /// By what.
    pub protocol: Protocol,
    /// Across what.
    pub across: Across,
}

/// What a transfer came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Transferred {
    /// From the client's first word to the last byte; above 0.
    pub time: Time,
    /// Segments that were sent again.
    pub retransmissions: u64,
    /// Who served and who fetched, in a line for reports.
    pub hosts: String,
}

/// The setting that every transfer has.
pub const BYTES: Param = Param {
    name: "bytes",
    kind: Kind::Bytes,
    // "a file of 1.8GB size" (the paper, §5.7).
    default: "1.8 GB",
    unit: "B",
    help: "the length of the file",
};

/// How often each is made.
pub const REPEATS: Param = Param::int(
    "repeats",
    1,
    100_000,
    "10",
    "",
    "number of transfers through the device, and as many without it",
);

/// The columns of each test's table.
pub const COLUMNS: &[(&str, CellType)] = &[
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

/// The table of a test: one row, whatever frames the others are tried with.
pub fn tabulate(
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
