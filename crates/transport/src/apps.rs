//! Results of applications: a row each, of all its users and of what began after the warm-up.

use super::network_of::BuiltApp;
use trammel_netsim::experience::Experience;
use trammel_stats::histogram::Histogram;
use trammel_stats::table::{Cell, Table};

/// Picoseconds in a second and in a microsecond.
const SECOND: f64 = 1e12;
const MICROSECOND: f64 = 1e6;

/// Mean and percentiles, in units of so many picoseconds. A percentile beyond which not even one
/// value lies is left out.
fn spread(of: Option<&Histogram>, unit: f64) -> [Cell; 5] {
    let quantile = |fraction: f64| {
        let of = of.filter(|of| of.count() as f64 * (1.0 - fraction) >= 1.0)?;
        of.quantile(fraction).map(|ps| ps as f64)
    };
    let mean = of.and_then(Histogram::mean);
    let all = [
        mean,
        quantile(0.5),
        quantile(0.95),
        quantile(0.99),
        quantile(0.999),
    ];
    all.map(|ps| ps.map(|ps| ps / unit).into())
}

/// The row of an application.
pub(super) fn row(table: &mut Table, built: &BuiltApp, got: &Experience) {
    let stalled = got.stalled_share();
    let (is_begun, is_shown) = (got.begun > 0, stalled.is_some());
    let has_qualities = built.kind == "video" && is_begun;
    let mut row: Vec<Cell> = vec![
        built.name.as_str().into(),
        built.kind.as_str().into(),
        built.variant.as_deref().unwrap_or_default().into(),
        is_begun.then_some(got.done).into(),
        is_begun.then(|| got.begun.saturating_sub(got.done)).into(),
        got.startup.mean().into(),
        stalled.into(),
        is_shown.then_some(got.stalls).into(),
        got.bitrate().map(|bps| bps / 1e6).into(),
        has_qualities.then_some(got.switches).into(),
    ];
    row.extend(spread(got.time.as_deref(), SECOND));
    row.extend(spread(got.delay.as_deref(), MICROSECOND));
    row.extend([
        got.part(got.lost).into(),
        got.overdue_share().into(),
        got.score.mean().into(),
    ]);
    table.push(row).expect("the row has the columns of `APPS`");
}

#[cfg(test)]
mod tests {
    use crate::simulate::simulate;
    use std::path::Path;
    use trammel_scenario::File;
    use trammel_stats::table::Table;

    fn apps(text: &str) -> Table {
        let text = format!("duration = '20 s'\n{text}");
        let file = File::parse("apps", &text, Path::new(".")).expect("it is sound");
        simulate(&file.points[0].scenario, 1, false).unwrap().apps
    }

    const PATH: &str = "[path]\nrate = '20 Mbit/s'\nrtt = '40 ms'\n";

    #[test]
    fn each_application_has_a_row_in_its_units() {
        let kinds = ["video", "web", "call", "game", "voice", "rpc"];
        let all = kinds.map(|kind| format!("[[app]]\nkind = '{kind}'\n"));
        let table = apps(&format!("{PATH}{}", all.concat()));
        let rows: Vec<_> = table.rows().collect();
        assert_eq!(rows.len(), kinds.len());
        let number = |kind: &str, column: &str| {
            let row = rows.iter().find(|row| row.text("kind") == kind).unwrap();
            row.float(column)
        };
        assert_eq!(number("video", "stalled"), Some(0.0));
        assert!(number("video", "bitrate_mbps").unwrap() > 1.0);
        assert!((0.2..4.0).contains(&number("web", "time_p50_s").unwrap()));
        assert!(number("call", "bitrate_mbps").unwrap() > 0.3);
        assert!(number("call", "stalled").unwrap() < 0.05);
        assert!((20_000.0..60_000.0).contains(&number("game", "delay_p50_us").unwrap()));
        assert!(number("voice", "mos").unwrap() > 2.0);
        assert!((0.04..0.2).contains(&number("rpc", "time_p50_s").unwrap()));
        for kind in ["call", "game", "voice"] {
            assert_eq!(
                number(kind, "time_p50_s").is_some(),
                kind == "game",
                "{kind}"
            );
            assert!(number(kind, "loss").is_some(), "{kind}");
        }
    }

    #[test]
    fn what_begins_before_the_warm_up_does_not_count() {
        let app = "[[app]]\nkind = 'rpc'\nusers = 10\n";
        let done = |warmup: &str| {
            let table = apps(&format!("{warmup}{PATH}{app}"));
            table.rows().next().unwrap().float("done").unwrap()
        };
        let (all, late) = (done(""), done("warmup = '15 s'\n"));
        assert!((0.2..0.3).contains(&(late / all)), "{late} of {all}");
    }

    #[test]
    fn an_application_that_has_no_time_has_a_row_without_numbers() {
        let app = "[[app]]\nkind = 'web'\nstart = '19.9999999 s'\n";
        let table = apps(&format!("{PATH}{app}[[flow]]\nvariant = 'reno'\n"));
        let row = table.rows().next().unwrap();
        assert_eq!(row.float("time_p50_s"), None);
    }
}
