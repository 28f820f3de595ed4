//! A device's capacity over frame size, flows and routes, as `trammel place` reads it: the
//! throughput of each traffic of a run.

use anyhow::{Context, anyhow};
use std::path::PathBuf;
use trammel_bench::procedures;
use trammel_bench::search::Verdict;
use trammel_bench::testbed::Traffic;
use trammel_core::label::Label;
use trammel_cost::capacity_profile::{CapacityProfile, Point};
use trammel_stats::table::Table;

/// A profile to be written.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Its file.
    pub path: PathBuf,
    /// The clock of the core that does the work, Hz.
    pub clock_hz: f64,
}

/// The profile of `device`, whose throughput under each of `traffics` is a row of `throughput`.
pub(super) fn profile(
    device: &str,
    label: Label,
    traffics: &[Traffic],
    throughput: &Table,
    clock_hz: f64,
) -> anyhow::Result<CapacityProfile> {
    if throughput.len() != traffics.len() {
        return Err(anyhow!(
            "of {} kinds of traffic {} have a throughput; a profile needs all",
            traffics.len(),
            throughput.len()
        ));
    }
    let mut points = Vec::new();
    let mut spread = 0.0_f64;
    for (traffic, row) in traffics.iter().zip(throughput.rows()) {
        let frame_bytes = traffic.sizes.only();
        let frame_bytes = frame_bytes.context("a profile needs frames of one size each")?;
        let ends = row.float("throughput_fps").zip(row.float("upper_fps"));
        let is_found = row.text("verdict") == procedures::verdict(Verdict::Between);
        let Some((lower, upper)) = ends.filter(|_| is_found) else {
            return Err(anyhow!(
                "frames of {frame_bytes} bytes, {}: {}; that is not the device's capacity; give a \
                 faster line (`--rate`) or a lower least load",
                traffic.stream(),
                row.text("verdict")
            ));
        };
        spread = spread.max((upper - lower) / (upper + lower));
        points.push(Point {
            frame_bytes: frame_bytes.into(),
            flows: traffic.streams.into(),
            routes: traffic.networks.into(),
            mpps: lower / 1e6,
        });
    }
    let origin = match label {
        Label::Measured => Label::Measured,
        _ => Label::Modelled,
    };
    let source = format!("trammel bench, {}: {device}", label.key());
    CapacityProfile::new(device, origin, source, clock_hz, spread, &points)
        .map_err(|why| anyhow!("{why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_bench::frames::Sizes;
    use trammel_cost::capacity_profile::Outside;
    use trammel_stats::table::CellType::{Float, Text};

    fn throughput(rows: &[(Option<f64>, Option<f64>)]) -> Table {
        let columns = [
            ("throughput_fps", Float),
            ("upper_fps", Float),
            ("verdict", Text),
        ];
        let mut table = Table::with("throughput", &columns);
        for (lower, upper) in rows {
            let row = vec![(*lower).into(), (*upper).into(), "found".into()];
            table.push(row).unwrap();
        }
        table
    }

    fn traffics() -> Vec<Traffic> {
        let traffic = |(bytes, streams)| Traffic {
            streams,
            ..Traffic::of(Sizes::of(bytes).unwrap())
        };
        [(64, 1), (64, 100), (512, 1), (512, 100)]
            .map(traffic)
            .to_vec()
    }

    #[test]
    fn what_was_found_is_read_by_those_who_place() {
        let found = [2e6, 1e6, 1.5e6, 0.5e6].map(|fps| (Some(fps), Some(fps * 1.01)));
        let of = |rows: &[_]| {
            profile(
                "a router",
                Label::Measured,
                &traffics(),
                &throughput(rows),
                3e9,
            )
        };
        let written = of(&found).unwrap().write();
        let read = CapacityProfile::parse(&written).unwrap();
        assert_eq!(read.origin, Label::Measured);
        assert!((read.spread - 0.01 / 2.01).abs() < 1e-4, "{}", read.spread);
        let mpps = read.mpps(512, 100, 1, Outside::Refuse).unwrap();
        assert!((mpps - 0.5).abs() < 1e-9);
        let mut limited = found;
        limited[2].1 = None;
        let said = of(&limited).unwrap_err().to_string();
        assert!(
            said.starts_with(
                "frames of 512 bytes, plain: found; that is not the device's capacity"
            ),
            "{said}"
        );
        let said = of(&found[..3]).unwrap_err().to_string();
        assert!(said.starts_with("of 4 kinds of traffic 3 have"), "{said}");
    }
}
