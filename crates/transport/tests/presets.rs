//! Each preset in the engines: predicted or told why not, simulated, and taken by the guest of a
//! real kernel.
#![cfg(target_os = "linux")]

use std::path::Path;
use trammel_netsim::ids::FlowId;
use trammel_netsim::trace::Pace;
use trammel_scenario::File;
use trammel_scenario::model::{Engine, Scenario};
use trammel_scenario::preset;
use trammel_transport::network_of::network_of;
use trammel_transport::points::{RunOptions, Watch, run_points};
use trammel_transport::{predict, refusals};

/// What guests have no queue for.
const SIMULATED_ONLY: [&str; 1] = ["wifi-80211g"];

fn file(name: &str, seconds: &str) -> File {
    let text = format!(
        "duration = '{seconds} s'\n[path]\npreset = '{name}'\n[[flow]]\nvariant = 'cubic'\nstart = \
         '0 s'\n"
    );
    File::parse(name, &text, Path::new(".")).unwrap()
}

fn scenario(name: &str, seconds: &str) -> Scenario {
    file(name, seconds).points.remove(0).scenario
}

#[test]
fn every_preset_is_simulated_and_a_guest_takes_it() {
    for preset in preset::all() {
        let name = preset.name;
        let scenario = scenario(
            name,
            if name == "datacentre-10g" {
                "0.05"
            } else {
                "1.5"
            },
        );
        let mut built = network_of(&scenario, 1, Pace::Off).unwrap();
        built.network.run_until(scenario.end());
        let delivered = built.network.flow(FlowId::new(0)).bytes_delivered;
        // Over a satellite, the first window.
        assert!(delivered > 10_000, "{name}: {delivered}");
        let refused = refusals::refusals(&scenario, &[Engine::Measure]);
        assert_eq!(
            refused.is_empty(),
            !SIMULATED_ONLY.contains(&name),
            "{name}: {refused:?}"
        );
    }
}

#[test]
fn every_preset_is_predicted_or_told_why_not() {
    for preset in preset::all() {
        let mut scenario = scenario(preset.name, "60");
        let (all, _) = predict::predict(&scenario);
        // Named, a model says why it does not apply.
        scenario.models = vec![trammel_scenario::model::ModelChoice {
            name: "cubic".to_owned(),
            dialect: None,
        }];
        let (named, refused) = predict::predict(&scenario);
        assert!(
            named.len() + refused.len() == 1,
            "{}: {refused:?}",
            preset.name
        );
        assert!(!all.is_empty() || !refused.is_empty(), "{}", preset.name);
    }
}

struct Quiet;
impl Watch for Quiet {}

#[test]
#[ignore = "long: a guest of the real kernel for each preset; `cargo build -p trammel --bins`, \
            then `cargo test -p trammel-transport --test presets -- --ignored`"]
fn every_preset_runs_in_a_guest() {
    for preset in preset::all() {
        if SIMULATED_ONLY.contains(&preset.name) || preset.name == "datacentre-10g" {
            continue;
        }
        let options = RunOptions {
            engines: vec![Engine::Simulate, Engine::Measure],
            needs_all: true,
            ..RunOptions::default()
        };
        let outcome = run_points(&file(preset.name, "3"), &options, &Quiet).unwrap();
        assert_eq!(outcome.lacks, None);
        let goodput = |engine: &str| {
            let rows = outcome.flows.rows();
            let mut of = rows.filter(|row| row.text("engine") == engine);
            of.next()
                .and_then(|row| row.float("goodput_mbps"))
                .unwrap_or_default()
        };
        let (simulated, kernel) = (goodput("simulate"), goodput("linux_vt"));
        eprintln!(
            "{}: {simulated:.3} simulated, {kernel:.3} Mbit/s in the kernel",
            preset.name
        );
        assert!(
            kernel > 0.9 * simulated && kernel < 1.1 * simulated,
            "{}",
            preset.name
        );
    }
}
