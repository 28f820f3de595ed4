//! The live NetFPGA card under test: frames go through its tables, and nothing of it stays.

use crate::command::Run;
use crate::left_behind::Look;
use crate::rig::{Rig, has, load, or_skip, traffic};
use std::sync::Arc;
use trammel::testbeds::devices::dut::Dut;
use trammel_bench::testbed::{Directions, Plan, Reset, Testbed, Traffic};
use trammel_core::time::{Span, Time};
use trammel_io::netns::Namespace;
use trammel_io::signals;
use trammel_traffic::tester::port::Way;

const INTERRUPT: i32 = 2;
/// The machine may have been busy with something else.
const ATTEMPTS: usize = 5;

fn card(text: &str) -> Dut {
    text.parse().expect("it is a device")
}

#[test]
fn a_live_card_forwards_by_the_tables_of_its_control_software_and_comes_back_after_a_reset() {
    let both = Traffic {
        directions: Directions::Both,
        networks: 16,
        ..traffic(128)
    };
    let Some(mut rig) = Rig::new(card("netfpga"), Way::AfPacket, &both) else {
        return;
    };
    let passes = (0..ATTEMPTS).any(|_| {
        let seen = rig.offer(&both, &[load(2000.0, Span::from_ms(500))]);
        seen.outcome.offered == 1000 && seen.outcome.lost() == 0
    });
    assert!(passes, "2000 frames a second never passed");
    assert_eq!(rig.bed.resets(), ["software-process"]);
    let outage = (0..ATTEMPTS).find_map(|_| {
        let plan = Plan {
            reset: Some(Reset {
                kind: rig.bed.resets().remove(0),
                at: Time::from_ms(300),
            }),
            ..Plan::of(&[load(1000.0, Span::from_secs(3))])
        };
        let seen = rig.bed.offer(&both, &plan).expect("it can be reset");
        seen.outage
    });
    let outage = outage.expect("frames come again");
    let length = outage.to.saturating_since(outage.from);
    assert!(length < Span::from_ms(2_500), "{length}");
    assert!(outage.lost > 0);
}

#[test]
fn a_live_card_has_the_tables_of_a_file() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let file = folder.path().join("tables");
    let half = Traffic {
        networks: 2,
        ..traffic(128)
    };
    // Of networks 0 and 1 behind the output, frames to the first go back where they came from.
    // The second has no route: its frames go to the control software, which forwards them.
    let rows = "route 0 198.19.0.0/24 via 198.18.1.2 port 0\narp 0 198.18.1.2 2:0:0:0:0:1\n";
    std::fs::write(&file, rows).expect("the file can be written");
    let dut = card(&format!("netfpga:tables={}", file.display()));
    let Some(mut rig) = Rig::new(dut, Way::AfPacket, &half) else {
        return;
    };
    let seen = rig.offer(&half, &[load(1000.0, Span::from_ms(500))]);
    let (offered, forwarded) = (seen.outcome.offered, seen.outcome.forwarded);
    assert_eq!(offered, 500);
    // Destinations are drawn.
    assert!((50..350).contains(&forwarded), "{forwarded}");
}

#[test]
fn an_interrupted_run_leaves_nothing_of_a_live_card() {
    if !has("ip") || !has("tc") {
        return;
    }
    let Some(namespace) = or_skip(Namespace::new()).map(Arc::new) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let mark = folder.path().display().to_string();
    let before = Look::at(&namespace, &mark);
    let file = folder.path().join("tables");
    let rows = "route 0 198.19.0.0/16 via 198.19.1.2 port 1\narp 0 198.19.1.2 2:0:0:0:0:1\n";
    std::fs::write(&file, rows).expect("the file can be written");
    // The card's command has the mark: its file is there.
    let arguments = [
        "--dut",
        "netfpga:tables={mark}/tables",
        "--tests",
        "frame-loss",
    ];
    let mut run = Run::start(folder, &namespace, &[], &arguments);
    if !run.has_made(1) {
        let ended = run.ends();
        assert_eq!(ended.code, Some(3), "{}", ended.said);
        println!("skipped: {}", ended.said);
        return;
    }
    assert_ne!(run.look(), before, "the look sees nothing");
    signals::send(run.pid(), INTERRUPT).expect("it runs");
    assert_eq!(run.ends().code, Some(130));
    crate::command::until("everything of the run is gone", || run.look() == before);
}
