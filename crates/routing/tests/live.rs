//! Routers live, in network namespaces: what is measured beside what is simulated.
//!
//! Where the machine does not allow namespaces, a test prints why it did nothing.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout)]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use trammel_report::kept::Shelf;
use trammel_report::run::{Outcome, Request, Subject};
use trammel_routing::Routing;
use trammel_scenario::Reading;
use trammel_scenario::model::Engine;
use trammel_scenario::routing::RoutingFile;
use trammel_stats::table::Table;

fn job(text: &str, engines: &[Engine]) -> Routing {
    let text = format!("subject = 'forwarding'\nhello_interval = '1 s'\n{text}");
    let file = RoutingFile::parse("t.toml", &text, Path::new("."), &Reading::default());
    Routing {
        file: file.unwrap_or_else(|error| panic!("{error}")),
        engines: engines.to_vec(),
    }
}

/// The table `name` of a run by all engines; nothing where the machine lacks something.
fn tables(text: &str) -> Option<Vec<Table>> {
    let job = job(text, &[Engine::Predict, Engine::Simulate, Engine::Measure]);
    let outcome = job.carry_out(&Request::default(), &Shelf::default(), None);
    let outcome = outcome.unwrap_or_else(|error| panic!("{error:#}"));
    let status = outcome.status();
    if let Some(lack) = status.lacks.first() {
        println!("skipped: {lack}");
        return None;
    }
    assert_eq!(status.failures, [""; 0]);
    println!("{}{:?}", outcome.to_text(), status.warnings);
    Some(outcome.tables().into_iter().cloned().collect())
}

fn table<'a>(all: &'a [Table], name: &str) -> &'a Table {
    all.iter().find(|table| table.name() == name).expect(name)
}

/// The values of `column` that `engine` gave, an event each.
fn events(all: &[Table], engine: &str, column: &str) -> Vec<f64> {
    let rows = table(all, "events").rows();
    let rows = rows.filter(|row| row.text("engine") == engine);
    rows.map(|row| row.float(column).unwrap_or(0.0)).collect()
}

/// Asserts that what was measured is what was simulated, within `slack` seconds: a shared machine
/// runs threads late.
fn assert_near(all: &[Table], slack: f64) {
    for column in ["converged_s", "black_hole_s"] {
        let simulated = events(all, "simulate", column);
        let measured = events(all, "measure", column);
        assert_eq!(simulated.len(), measured.len());
        for (one, other) in simulated.iter().zip(&measured) {
            assert!(
                (one - other).abs() <= slack,
                "{column}: {simulated:?}, {measured:?}"
            );
        }
    }
    // Who knows whom at the end does not depend on time.
    let column = |engine: &str, name: &str| -> Vec<Option<i64>> {
        let rows = table(all, "routers").rows();
        let rows = rows.filter(|row| row.text("engine") == engine);
        rows.map(|row| row.int(name)).collect()
    };
    for name in ["routes", "neighbours"] {
        assert_eq!(column("simulate", name), column("measure", name), "{name}");
    }
}

#[test]
fn a_ring_loses_a_link_and_a_router_and_heals_as_simulated() {
    let Some(all) = tables(
        "topology = 'ring'\nduration = '19 s'\n\
         [[event]]\nat = '3.3 s'\nlink = 'r0-r1'\nlasts = '5.3 s'\n\
         [[event]]\nat = '11.1 s'\nrouter = 'r2'\nlasts = '4.2 s'\n",
    ) else {
        return;
    };
    assert_near(&all, 1.3);
    // Silence is noticed 2 to 3 HELLO intervals later; two of six probes take the link.
    let (holes, lost) = (
        events(&all, "measure", "black_hole_s"),
        events(&all, "measure", "lost_pkts"),
    );
    assert!((1.9..=4.5).contains(&holes[1]), "{holes:?}");
    assert!((35.0..=100.0).contains(&lost[1]), "{lost:?}");
    for column in ["hello_pkts", "lsu_pkts", "other_pkts", "spf_runs"] {
        let counts = events(&all, "measure", column);
        assert!(counts[0] > 0.0, "{column}: {counts:?}");
    }
    let compared = table(&all, "comparison");
    assert!(!compared.floats("measured").expect("a column").is_empty());
    assert!(
        !compared
            .floats("simulate_error")
            .expect("a column")
            .is_empty()
    );
}

#[test]
fn a_lost_carrier_is_noticed_at_once() {
    let Some(all) = tables(
        "topology = 'ring'\nduration = '7 s'\ncarrier = true\n\
         [[event]]\nat = '3.3 s'\nlink = 'r0-r1'\nlasts = '2 s'\n",
    ) else {
        return;
    };
    let holes = events(&all, "measure", "black_hole_s");
    assert!(holes[1] <= 1.9, "{holes:?}");
    assert_near(&all, 1.3);
}

#[test]
fn a_lan_a_gateway_and_slow_lines_are_as_simulated() {
    let Some(all) = tables(
        "duration = '6 s'\nrate = '1 Mbit/s'\ndelay = '5 ms'\n\
         [[router]]\nname = 'edge'\nkind = 'gateway'\n\
         [[router]]\nname = 'b'\n[[router]]\nname = 'c'\n[[router]]\nname = 'd'\n\
         [[link]]\nname = 'lan'\nbetween = ['edge', 'b', 'c']\n\
         [[link]]\nbetween = ['c', 'd']\n",
    ) else {
        return;
    };
    assert_near(&all, 1.3);
    let sent = events(&all, "measure", "probes_pkts")[0];
    let wanted = events(&all, "simulate", "probes_pkts")[0];
    assert!(sent <= wanted && sent >= 0.9 * wanted, "{sent} of {wanted}");
}

/// What is said of a scenario that cannot be measured.
fn lack(text: &str) -> Vec<String> {
    let job = job(text, &[Engine::Measure]);
    let outcome = job.carry_out(&Request::default(), &Shelf::default(), None);
    let outcome = outcome.unwrap_or_else(|error| panic!("{error:#}"));
    outcome.status().lacks.clone()
}

#[test]
fn what_is_too_large_is_refused_and_says_what_to_do() {
    assert_eq!(
        lack("[topology]\nkind = 'ring'\nrouters = 17\n"),
        [
            "17 routers are not measured: at most 16 run live; make fewer, or use `--engine \
          predict,simulate`"
        ]
    );
    assert_eq!(
        lack("topology = 'ring'\nduration = '16 min'\n"),
        [
            "a run of 960 s is not measured: it takes as long by the clock, at most 900 s; shorten \
          `duration`, or use `--engine predict,simulate`"
        ]
    );
    assert_eq!(
        lack("topology = 'campus'\n"),
        [
            "nothing is measured: router `core-east` has 6 interfaces, and a card has 4 ports; \
          `--engine predict,simulate` has no such limit"
        ]
    );
}

#[test]
fn an_interrupted_run_ends_soon_and_gives_nothing() {
    let job = job(
        "topology = 'ring'\nduration = '10 min'\n",
        &[Engine::Measure],
    );
    let request = Request {
        interrupted: Arc::new(AtomicBool::new(true)),
        ..Request::default()
    };
    let outcome = job.carry_out(&request, &Shelf::default(), None);
    let outcome = outcome.unwrap_or_else(|error| panic!("{error:#}"));
    assert!(outcome.status().is_interrupted);
    assert_eq!(outcome.status().runs, (1, 0));
}
