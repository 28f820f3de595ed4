//! By which clocks delays are measured: the sessions of the logs, and the clocks of pairs of hosts.

use super::decode::{Decoded, PairClock};
use super::metrics::instants;
use trammel_ground::machine::date;
use trammel_stats::table::{Cell, CellType, Table, format_float};
use trammel_traffic::decode::clock::Clock;

/// Digits that people see.
const DIGITS: usize = 6;
const NS_PER_US: f64 = 1e3;
/// Parts per million.
const PPM: f64 = 1e6;

/// By what a pair's clocks are told.
fn method(clock: &Clock) -> &'static str {
    match clock.offset_bound_ns {
        Some(_) => "both ways",
        None => "one way",
    }
}

/// The table `clocks`: a row a direction between two hosts. Of one way there is no offset, but the
/// sum of it and the least delay.
pub fn table(clocks: &[PairClock]) -> Table {
    use CellType::{Bool, Float, Int, Text};
    let mut table = Table::with(
        "clocks",
        &[
            ("from", Text),
            ("to", Text),
            ("method", Text),
            ("subtracted", Bool),
            ("pkts", Int),
            ("negative_delays_pkts", Int),
            ("offset_us", Float),
            ("offset_bound_us", Float),
            ("offset_and_least_delay_us", Float),
            ("drift_ppm", Float),
            ("drift_uncertainty_ppm", Float),
        ],
    );
    for one in clocks {
        let (from, to) = one.report.pair;
        let clock = one.report.clock;
        let has_offset = clock.is_some_and(|clock| clock.offset_bound_ns.is_some());
        let offset = clock.map(|clock| clock.offset_ns / NS_PER_US);
        let row: Vec<Cell> = vec![
            from.to_string().into(),
            to.to_string().into(),
            clock.as_ref().map(method).into(),
            one.is_subtracted.into(),
            one.report.pkts.into(),
            one.report.negative_pkts.into(),
            offset.filter(|_| has_offset).into(),
            clock
                .and_then(|clock| Some(clock.offset_bound_ns? / NS_PER_US))
                .into(),
            offset.filter(|_| !has_offset).into(),
            clock.map(|clock| clock.drift * PPM).into(),
            clock
                .and_then(|clock| Some(clock.drift_uncertainty? * PPM))
                .into(),
        ];
        table.push(row).expect("the row has a cell for each column");
    }
    table
}

/// A line a direction, for people; empty where there is nothing to tell.
pub fn text(clocks: &[PairClock]) -> String {
    let number = |value: f64| format_float(value, DIGITS);
    let mut text = String::new();
    for one in clocks {
        let (from, to) = one.report.pair;
        let Some(clock) = one.report.clock else {
            continue;
        };
        let offset = match clock.offset_bound_ns {
            Some(bound) => format!(
                "{} +- {} us ahead",
                number(clock.offset_ns / NS_PER_US),
                format_float(bound / NS_PER_US, 3)
            ),
            None => "offset unknown, since no flow goes in the other direction".to_owned(),
        };
        let drift = match clock.drift_uncertainty {
            Some(by) => format!(
                "gains {} +- {} ppm",
                number(clock.drift * PPM),
                format_float(by * PPM, 2)
            ),
            None => "too short to determine the drift".to_owned(),
        };
        let done = if one.is_subtracted {
            "subtracted"
        } else {
            "not subtracted"
        };
        text += &format!("clock of {to} against {from}: {offset}; {drift}; {done}\n");
    }
    text
}

/// The table `sessions`: who wrote what the logs hold, and by which clock.
pub fn sessions(decoded: &Decoded) -> Table {
    use CellType::{Int, Text};
    let names = ["date", "host", "clock", "program", "instants"];
    let columns: Vec<_> = (std::iter::once(("session", Int)))
        .chain(names.map(|name| (name, Text)))
        .chain([("seed", Int)])
        .collect();
    let mut table = Table::with("sessions", &columns);
    for (at, session) in decoded.report.sessions.iter().enumerate() {
        // A log of D-ITG's tells no date.
        let s = u64::try_from(session.date_ns / 1_000_000_000).unwrap_or(0);
        let date = (s > 0).then(|| date(s));
        let row: Vec<Cell> = vec![
            at.into(),
            date.into(),
            session.host.as_str().into(),
            session.clock.as_str().into(),
            session.program.as_str().into(),
            instants(session.instants).into(),
            session.seed.into(),
        ];
        table.push(row).expect("the row has a cell for each column");
    }
    table
}
