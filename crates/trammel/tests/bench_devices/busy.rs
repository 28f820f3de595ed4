//! A machine that is busy with other programs: what is found is the device's, or is marked as the
//! tester's.

use crate::rig::{Rig, traffic};
use std::process::{Child, Command, Stdio};
use trammel::testbeds::devices::dut::Dut;
use trammel_bench::procedures::{Bench, Search};
use trammel_bench::search::{Found, Verdict};
use trammel_core::time::Span;
use trammel_traffic::tester::Threads;
use trammel_traffic::tester::port::Way;

/// What the device lets through, frames a second, and how many more at once.
const LIMIT_FPS: f64 = 20_000.0;
const BURST: u32 = 200;
/// How far a throughput may be from it: the width of a search, and what a burst adds to a trial of
/// a second.
const WITHIN: f64 = 0.02;
/// Searches that are made.
const SEARCHES: usize = 5;

/// Programs that take all the time that they get; they end with this.
struct Busy(Vec<Child>);

impl Busy {
    fn of(programs: usize) -> Busy {
        let start = |_| {
            let mut shell = Command::new("/bin/sh");
            shell
                .args(["-c", "while :; do :; done"])
                .stdin(Stdio::null());
            shell.spawn().expect("the program can be started")
        };
        Busy((0..programs).map(start).collect())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for program in &mut self.0 {
            // Nothing can be done about one that does not end.
            let _ = program.kill();
            let _ = program.wait();
        }
    }
}

/// A bridge that drops what comes faster than its limit.
fn limited(threads: Threads) -> Option<Rig> {
    let mut rig = Rig::new(Dut::Bridge, Way::AfPacket, &traffic(512))?;
    rig.run_by(threads);
    rig.command("nft", "add table bridge bench")?;
    rig.command(
        "nft",
        "add chain bridge bench forward { type filter hook forward priority 0 ; }",
    )?;
    let rule = format!(
        "add rule bridge bench forward limit rate over {LIMIT_FPS}/second burst {BURST} packets \
         drop"
    );
    rig.command("nft", &rule)?;
    Some(rig)
}

/// One search after the other, of each what it found.
fn searches(rig: &mut Rig) -> Vec<Found> {
    let search = Search {
        final_duration: Span::from_secs(1),
        verifications: 1,
        // A doubt that stays marks the load: enough here, and soon told.
        doubts: 2,
        least: 0.02,
        ..Search::binary(Span::from_ms(200))
    };
    let one = |_| {
        let mut bench = Bench::new(&mut rig.bed, vec![traffic(512)], search);
        bench.throughput(&traffic(512)).expect("it can be searched")
    };
    (0..SEARCHES).map(one).collect()
}

/// No number that is wrong and not marked.
fn are_true_or_marked(found: &[Found], how: &str) {
    let told = found.iter().map(|one| (one.verdict, one.lower));
    let told: Vec<_> = told.collect();
    println!("{how}: {told:?}");
    assert_eq!(told.len(), SEARCHES);
    for (verdict, lower) in &told {
        let lower = lower.unwrap_or(0.0);
        let is_true = (lower / LIMIT_FPS - 1.0).abs() <= WITHIN;
        let is_marked = *verdict == Verdict::Tester && lower <= LIMIT_FPS * (1.0 + WITHIN);
        assert!(is_true || is_marked, "{how}: {told:?}");
    }
}

#[test]
fn beside_two_busy_programs_a_throughput_is_the_devices_or_marked_as_the_testers() {
    let Some(mut rig) = limited(Threads::default()) else {
        return;
    };
    let _busy = Busy::of(2);
    are_true_or_marked(&searches(&mut rig), "beside busy programs");
}

#[test]
fn a_tester_that_runs_first_is_not_kept_from_it_by_busy_programs() {
    let threads = Threads {
        priority: Some(40),
        ..Threads::default()
    };
    let tried = std::thread::spawn(|| trammel_io::clock::real_time(40));
    if let Err(why) = tried.join().expect("the thread does not panic") {
        println!("skipped: {why}");
        return;
    }
    let Some(mut rig) = limited(threads) else {
        return;
    };
    let _busy = Busy::of(2);
    are_true_or_marked(&searches(&mut rig), "run first beside busy programs");
}
