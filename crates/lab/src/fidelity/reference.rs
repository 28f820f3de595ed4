//! Reads the kernel's traces and ensembles from `papers/linux-6.12/data/`.
//!
//! A trace is `<set>.<variant>.flow<N>.<cc>.csv.gz` with the columns of `TCP_INFO` and a closing remark
//! `# done …`; an ensemble is a CSV with one row a flow.

use super::trace::{Stamp, Summary};
use anyhow::Context;
use flate2::read::GzDecoder;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use trammel_core::table::{CellType, Table};
use trammel_core::time::Time;

/// The trace of flow `index` of `variant` in `set`.
pub fn trace(data: &Path, set: &str, variant: &str, index: usize) -> anyhow::Result<Vec<Stamp>> {
    let path = data.join(format!("{set}.{variant}.flow{index}.{variant}.csv.gz"));
    let file = File::open(&path).with_context(|| format!("`{}`", path.display()))?;
    let stamps = read_trace(BufReader::new(GzDecoder::new(file)));
    stamps.with_context(|| format!("`{}`", path.display()))
}

fn read_trace(input: impl BufRead) -> anyhow::Result<Vec<Stamp>> {
    let mut lines = input.lines();
    let header = lines.next().context("an empty file")??;
    let column = |name: &str| {
        let at = header.split(',').position(|column| column == name);
        at.with_context(|| format!("no column `{name}`"))
    };
    let columns = [
        column("t")?,
        column("cwnd")?,
        column("srtt_us")?,
        column("retrans")?,
        column("bytes_acked")?,
    ];
    let mut stamps = Vec::new();
    for line in lines {
        let line = line?;
        if line.starts_with('#') {
            continue;
        }
        let cells: Vec<&str> = line.split(',').collect();
        let mut values = [0.0; 5];
        for (value, &column) in values.iter_mut().zip(&columns) {
            let cell = cells.get(column).copied().unwrap_or_default();
            *value = cell
                .parse()
                .with_context(|| format!("`{cell}` in the line `{line}`"))?;
        }
        let [time_s, cwnd_pkts, srtt_us, retrans_pkts, acked_bytes] = values;
        stamps.push(Stamp {
            time_s,
            cwnd_pkts,
            srtt_ms: srtt_us / 1e3,
            retrans_pkts,
            acked_bytes,
        });
    }
    Ok(stamps)
}

/// One flow of one run of an ensemble.
#[derive(Clone, Debug)]
pub struct Member {
    /// The variant that the run is about.
    pub variant: String,
    /// The seed: of the losses, or the number of the phase.
    pub seed: u64,
    /// The flow's place in the run.
    pub flow: usize,
    /// The flow's own variant.
    pub cc: String,
    /// When it connects.
    pub connect: Time,
    /// The first and the last stamp, seconds.
    pub span_s: (f64, f64),
    /// What it came to, means from the tenth second on.
    pub summary: Summary,
}

/// The members of `set` in the CSV file `path`; `rtt` is the path's own round trip.
pub fn ensemble(path: &Path, set: &str, rtt: Time) -> anyhow::Result<Vec<Member>> {
    let columns = [
        ("set", CellType::Text),
        ("variant", CellType::Text),
        ("seed", CellType::Int),
        ("flow", CellType::Int),
        ("cc", CellType::Text),
        ("connect_s", CellType::Float),
        ("start_s", CellType::Float),
        ("end_s", CellType::Float),
        ("goodput_mbps", CellType::Float),
        ("goodput_late_mbps", CellType::Float),
        ("retrans_pkts", CellType::Int),
        ("srtt_late_ms", CellType::Float),
        ("cwnd_late_pkts", CellType::Float),
        ("bottleneck_drops_pkts", CellType::Int),
    ];
    let file = File::open(path).with_context(|| format!("`{}`", path.display()))?;
    let table = Table::read_csv(&Table::with("ensembles", &columns), file)?;
    let rtt_s = rtt.as_secs_f64();
    let member = |row: trammel_core::table::Row<'_>| {
        let number = |name: &str| row.float(name).with_context(|| format!("no `{name}`"));
        let start_s = number("start_s")?;
        // The first stamp is taken once the handshake is over, a round trip after connecting (and
        // later by the queue that another flow has built, which only shifts the phase).
        let connect_s = row.float("connect_s").unwrap_or(start_s - rtt_s);
        Ok(Member {
            variant: row.text("variant").to_owned(),
            seed: number("seed")? as u64,
            flow: number("flow")? as usize,
            cc: row.text("cc").to_owned(),
            connect: Time::from_secs_f64(connect_s.max(0.0)),
            span_s: (start_s, number("end_s")?),
            summary: Summary {
                goodput_mbps: number("goodput_mbps")?,
                retrans_pkts: number("retrans_pkts")?,
                queue_ms: number("srtt_late_ms")? - rtt_s * 1e3,
                cwnd_pkts: number("cwnd_late_pkts")?,
            },
        })
    };
    let members = table.rows().filter(|row| row.text("set") == set);
    members
        .map(member)
        .collect::<anyhow::Result<_>>()
        .with_context(|| format!("`{}`", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_name_and_remarks_passed_over() {
        let text = "bytes_acked,t,cwnd,x,srtt_us,retrans\n5,0.1,10,9,50001,2\n# done cc=reno\n";
        let stamps = read_trace(text.as_bytes()).unwrap();
        let stamp = Stamp {
            time_s: 0.1,
            cwnd_pkts: 10.0,
            srtt_ms: 50.001,
            retrans_pkts: 2.0,
            acked_bytes: 5.0,
        };
        assert_eq!(stamps, [stamp]);
    }

    #[test]
    fn a_broken_line_is_named() {
        let text = "t,cwnd,srtt_us,retrans,bytes_acked\n0.1,10\n";
        let error = format!("{:#}", read_trace(text.as_bytes()).unwrap_err());
        assert!(error.contains("0.1,10"), "{error}");
        let error = read_trace("t,cwnd\n".as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), "no column `srtt_us`");
    }
}
