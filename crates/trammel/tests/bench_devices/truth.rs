//! Devices whose limit is known: rate within 1 %, loss within its binomial interval, delay within
//! 50 us.
//!
//! The kernel's own — a token bucket, nftables, netem, a program of XDP — share no code with the
//! tester. A trial says something of the device only where the machine lets the tester work, so
//! what a busy machine can only worsen is tried several times.

use crate::rig::{Rig, has, load, or_skip, traffic};
use std::sync::atomic::AtomicBool;
use trammel::testbeds::devices::dut::Dut;
use trammel::testbeds::devices::filters::Filters;
use trammel_bench::procedures::{Bench, Search, find};
use trammel_bench::testbed::{Faults, LatencyOf, Observation, Plan, Tags, Testbed, Traffic};
use trammel_core::entry::Params;
use trammel_core::time::{Span, Time};
use trammel_io::bpf::{Attachment, Code, Map, MapKind, Place, Program, Size, verdict};
use trammel_io::error::{Error, Result};
use trammel_io::route::interface;
use trammel_stats::histogram::Histogram;
use trammel_traffic::addresses::{Addresses, Side};
use trammel_traffic::tester::observation::DirectionSeen;
use trammel_traffic::tester::port::Way;
use trammel_traffic::tester::schedule::Load as Offered;
use trammel_traffic::tester::timing::TimedBy;
use trammel_traffic::tester::traffic::{Stream, Traffic as Frames};
use trammel_traffic::tester::{Direction, Plan as Run, Tester};

/// How often a trial is made that the machine may spoil.
const ATTEMPTS: usize = 8;
/// The rate of the devices that have one, in bits a second of frames without their check sequences.
const RATE_BPS: f64 = 40e6;
/// Their frames, in bytes.
const LONG: u32 = 1518;
const FCS: f64 = 4.0;
/// Frames that they keep.
const KEPT: u32 = 16;
/// And that a bucket lets pass at once.
const AT_ONCE: u32 = 10;

fn rate_fps() -> f64 {
    RATE_BPS / 8.0 / (f64::from(LONG) - FCS)
}

/// A device of a known rate: what it forwards of twice that much, and whether 97 % of it pass
/// whole. What it has saved up before a trial and keeps at its end is the same for a short trial
/// and a long one: their difference is the rate.
fn rate_is_told(rig: &mut Rig) {
    let (traffic, second) = (traffic(LONG), Span::from_secs(1));
    let truth = rate_fps();
    let mut ratio = 0.0;
    for _ in 0..ATTEMPTS {
        let [short, long] = [500, 2500].map(|ms| {
            let seen = rig.offer(&traffic, &[load(2.0 * truth, Span::from_ms(ms))]);
            seen.outcome.forwarded as f64
        });
        ratio = (long - short) / 2.0 / truth;
        println!("forwarded of twice the rate: {ratio:.4} of the rate");
        if is_near(ratio) {
            break;
        }
    }
    assert!(is_near(ratio), "{ratio}");
    let passes = (0..ATTEMPTS).any(|_| {
        let seen = rig.offer(&traffic, &[load(0.97 * truth, second)]);
        seen.outcome.lost() == 0
    });
    assert!(passes, "97 % of the rate never passed");
}

fn is_near(ratio: f64) -> bool {
    (ratio - 1.0).abs() <= 0.01
}

/// A kernel's router whose way out is a token bucket.
fn token_bucket() -> Option<Rig> {
    let rig = Rig::kernel(&traffic(LONG))?;
    let [burst, limit] = [AT_ONCE, KEPT].map(|frames| frames * (LONG - 4));
    let bucket =
        format!("qdisc add dev out root tbf rate {RATE_BPS}bit burst {burst} limit {limit}");
    rig.command("tc", &bucket)?;
    Some(rig)
}

/// Our router with elements between its two devices, and others beside them.
fn click(elements: &str, beside: &str) -> Option<(Rig, tempfile::TempDir)> {
    let (dut, folder) = configuration(elements, beside);
    Some((Rig::new(dut, Way::AfPacket, &traffic(LONG))?, folder))
}

/// As a device, and the folder that it is in.
fn configuration(elements: &str, beside: &str) -> (Dut, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let file = folder.path().join("device.click");
    let text = format!(
        "FromDevice(in, PROMISC true, METHOD afpacket) -> {elements} -> ToDevice(out, METHOD \
         afpacket); {beside}"
    );
    std::fs::write(&file, text).expect("the file can be written");
    (Dut::Click(file), folder)
}

#[test]
fn the_rate_of_a_token_bucket_is_told() {
    if let Some(mut rig) = token_bucket() {
        rate_is_told(&mut rig);
        let above = load(1.03 * rate_fps(), Span::from_secs(1));
        let seen = rig.offer(&traffic(LONG), &[above]);
        assert!(seen.outcome.lost() > 0, "103 % of the rate passed");
    }
}

#[test]
fn the_rate_of_our_shaper_is_told() {
    // Its queue holds what comes while others have its processor.
    let shaper = format!("Queue(300) -> BandwidthShaper({})", RATE_BPS / 8.0);
    if let Some((mut rig, _folder)) = click(&shaper, "") {
        rate_is_told(&mut rig);
    }
}

#[test]
fn a_burst_is_what_a_bucket_and_its_queue_take_and_no_more() {
    let Some(mut rig) = token_bucket() else {
        return;
    };
    // While a burst comes, the bucket lets a frame pass now and then; a queue counts its head or
    // does not.
    let taken = u64::from(AT_ONCE + KEPT);
    let burst = |frames| Traffic {
        burst: frames,
        ..traffic(LONG)
    };
    // A third of what passes evenly: between bursts of 64 the bucket fills and its queue empties.
    let (fps, bursts) = (rate_fps() / 3.0, 16_u64);
    let mut losses = |frames: u32| {
        let duration = Span::from_secs_f64((bursts * u64::from(frames)) as f64 / fps);
        let seen = rig.offer(&burst(frames), &[load(fps, duration)]);
        let intended = load(fps, duration);
        let falls_short = seen.outcome.falls_short(intended, 0.001, 1);
        println!(
            "bursts of {frames}: {:?} in all, short {falls_short}",
            seen.outcome.lost()
        );
        (seen.outcome.lost(), falls_short)
    };
    assert_eq!(losses(1).0, 0, "an even flow of a third of the rate");
    let passes = (0..ATTEMPTS).any(|_| losses(16) == (0, false));
    assert!(passes, "16 frames at once never passed");
    let is_told = (0..ATTEMPTS).any(|_| {
        let (lost, falls_short) = losses(64);
        !falls_short && ((64 - taken - 6) * bursts..=(64 - taken + 2) * bursts).contains(&lost)
    });
    assert!(is_told, "64 frames at once never lost what is over {taken}");
}

#[test]
#[ignore = "long: a search by the procedure, a minute"]
fn the_throughput_of_a_token_bucket_is_found() {
    let Some(mut rig) = token_bucket() else {
        return;
    };
    let entry = find("throughput").expect("it is a test");
    let search = Search {
        width: 0.0025,
        ..Search::binary(Span::from_secs(4))
    };
    let mut bench = Bench::new(&mut rig.bed, vec![traffic(LONG)], search);
    let made = bench.run(entry, &Params::defaults(&entry.about));
    let table = made.expect("it can be tried");
    let row = table.rows().next().expect("a row for the one traffic");
    let (found, verdict) = (row.float("throughput_fps"), row.text("verdict"));
    println!("throughput {found:?} ({verdict}), truth {}", rate_fps());
    let found = found.expect("a throughput is found");
    assert!(is_near(found / rate_fps()), "{found}");
}

/// Drops every `n`th frame that comes to `name`.
fn dropping(name: &str, n: i32) -> Result<Attachment> {
    let count = Map::new(MapKind::Array, 8, 1)?;
    let counted = Code::default()
        .load(Size::Double, 1, 0, 0)
        .increase(1, 1)
        .store(Size::Double, 0, 0, 1)
        .modulo(1, n)
        .skip_unless(1, 0, 2)
        .set(0, verdict::DROP)
        .exit();
    let code = Code::default()
        .set(1, 0)
        .store(Size::Word, 10, -4, 1)
        .copy(2, 10)
        .increase(2, -4)
        .map(1, &count)
        .look_up()
        .skip_if_zero(0, counted.len())
        .then(counted)
        .set(0, verdict::PASS)
        .exit();
    Program::load(&code)?.attach(name, interface(name)?, Place::Driver)
}

#[test]
fn every_nth_frame_is_missed_to_the_frame() {
    let (traffic, n, frames) = (traffic(64), 100, 20_000);
    let Some(mut rig) = Rig::kernel(&traffic) else {
        return;
    };
    let program = rig.middle.run(|| dropping("in", n));
    let Some(_program) = or_skip(program) else {
        return;
    };
    let trial = [load(20_000.0, Span::from_secs(1))];
    // Frames that are none of the trial's are counted by the program too: which is dropped first is
    // not known.
    let whole = frames / n as u64;
    let is_told = (0..ATTEMPTS).any(|_| {
        let lost = rig.offer(&traffic, &trial).outcome.lost();
        println!("every {n}th of {frames}: lost {lost}");
        (whole..=whole + 1).contains(&lost)
    });
    assert!(is_told, "it never lost every {n}th");
}

/// Whether so many of `frames` are lost by chance `p`, within four standard deviations.
fn is_binomial(seen: &Observation, p: f64) -> bool {
    let (frames, lost) = (seen.outcome.offered as f64, seen.outcome.lost() as f64);
    let sd = (frames * p * (1.0 - p)).sqrt();
    println!(
        "lost {lost} of {frames} by a chance of {p}: {:+.2} standard deviations",
        (lost - frames * p) / sd
    );
    (lost - frames * p).abs() <= 4.0 * sd
}

fn losing(rig: &mut Rig, traffic: &Traffic, p: f64) {
    let trial = [load(20_000.0, Span::from_secs(1))];
    let is_told = (0..ATTEMPTS).any(|_| is_binomial(&rig.offer(traffic, &trial), p));
    assert!(is_told, "no trial lost what chance says");
}

#[test]
fn random_loss_of_nftables_is_within_its_interval() {
    let traffic = traffic(64);
    let Some(mut rig) = Rig::kernel(&traffic) else {
        return;
    };
    for rule in [
        "add table inet t",
        "add chain inet t f { type filter hook forward priority 0 ; }",
        "add rule inet t f numgen random mod 100 < 1 drop",
    ] {
        if rig.command("nft", rule).is_none() {
            return;
        }
    }
    losing(&mut rig, &traffic, 0.01);
}

/// Frames of an address that one of the 24 refuses do not pass; those of its neighbour do.
#[test]
fn filters_refuse_what_they_name_and_nothing_else() {
    if !has("nft") {
        return;
    }
    let stop = AtomicBool::new(false);
    let traffic = traffic(128);
    let filtered = Dut::Filtered(Filters::Many);
    let Some(mut rig) = Rig::new(filtered.clone(), Way::AfPacket, &traffic) else {
        return;
    };
    let seen = rig.offer(&traffic, &[load(1000.0, Span::from_ms(200))]);
    assert_eq!((seen.outcome.offered, seen.outcome.lost()), (200, 0));
    let home = or_skip(Rig::home(filtered, Way::AfPacket, &traffic)).expect("there was one before");
    let mut tester =
        Tester::open(home.ports(Way::AfPacket, true)).expect("its ports can be opened");
    tester
        .learn(Span::from_secs(10), &stop)
        .expect("the router answers");
    for (network, host, passes) in [(3, 3, 0), (3, 4, 100), (24, 24, 0), (25, 25, 100)] {
        let node = |second, third| Addresses::one([198, second, third, host].into());
        let stream = Stream {
            from: node(18, network),
            to: node(19, 100 + network),
            ..Stream::of_rfc2544(Side::Input, false, 1, &[128])
        };
        let loads = vec![Offered {
            frames_per_second: 1000.0,
            duration: Span::from_ms(100),
        }];
        let direction = Direction {
            traffic: Frames::of(stream),
            loads,
        };
        let seen = tester
            .run(&Run::one_way(direction), &stop)
            .expect("the run succeeds");
        let received = seen.directions[0].as_ref().map(DirectionSeen::received);
        assert_eq!(received, Some(passes), "198.18.{network}.{host}");
    }
}

#[test]
fn random_loss_of_our_element_is_within_its_interval() {
    let Some((mut rig, _folder)) = click("RandomSample(DROP 0.01) -> Queue(1000)", "") else {
        return;
    };
    losing(&mut rig, &traffic(64), 0.01);
}

/// A delay of 2 ms is told by the frames that nothing else kept; of half of all, on a machine that
/// others use too, by ten times what is asked for where it has nothing else to do.
fn delay_is_told(rig: &mut Rig, median_within_us: f64) {
    const TRUTH_US: f64 = 2000.0;
    let is_told = (0..ATTEMPTS).any(|_| {
        // A thousand a second are a small share of what the machine carries.
        let seen = rig.offer(&traffic(64), &[load(1000.0, Span::from_ms(500))]);
        let latency = seen.outcome.latency.expect("it is measured");
        let [least, median] = [0.0, 0.5].map(|share| {
            let time = latency.quantile_time(share).expect("frames came");
            time.as_ps() as f64 / 1e6
        });
        println!("a delay of {TRUTH_US} us: least {least:.1}, median {median:.1}");
        assert!(least >= TRUTH_US, "{least}");
        least - TRUTH_US <= 50.0 && median - TRUTH_US <= median_within_us
    });
    assert!(is_told, "the delay was never told");
}

/// How far the median may be off on a machine that is busy, and on one that is not.
const BUSY_US: f64 = 500.0;
const CALM_US: f64 = 50.0;

/// A kernel's router that delays what goes out.
fn netem() -> Option<Rig> {
    let rig = Rig::kernel(&traffic(64))?;
    rig.command("tc", "qdisc add dev out root netem delay 2ms limit 10000")?;
    Some(rig)
}

/// An element that delays, in a router that never sleeps: what waking costs is not its delay.
fn delayer() -> Option<(Rig, tempfile::TempDir)> {
    click(DELAYER.0, DELAYER.1)
}
const DELAYER: (&str, &str) = (
    "Queue(1000) -> DelayShaper(2ms)",
    "InfiniteSource -> Discard;",
);

#[test]
fn the_delay_of_netem_is_told() {
    if let Some(mut rig) = netem() {
        delay_is_told(&mut rig, BUSY_US);
    }
}

#[test]
fn the_delay_of_our_element_is_told() {
    if let Some((mut rig, _folder)) = delayer() {
        delay_is_told(&mut rig, BUSY_US);
    }
}

/// A satellite's link, and an emulator of one: nothing comes for longer than a quick run waits for
/// residual frames.
#[test]
fn frames_that_take_half_a_second_are_waited_for() {
    let delaying = "Queue(10000) -> DelayUnqueue(500ms) -> Queue(10000)";
    let Some((mut rig, _folder)) = click(delaying, "") else {
        return;
    };
    let traffic = traffic(LONG);
    let is_whole = (0..ATTEMPTS).any(|_| {
        let seen = rig.offer(&traffic, &[load(1000.0, Span::from_ms(300))]);
        assert_eq!(seen.faults, Faults::default());
        let least = seen.outcome.latency.as_ref().and_then(Histogram::min);
        let least = least.map(Time::from_ps).expect("some frames came");
        assert!(least >= Time::from_ms(500), "{least:?}");
        (seen.outcome.offered, seen.outcome.lost()) == (300, 0)
    });
    assert!(is_whole, "no trial came through whole");
}

/// Tagged frames are timed by the kernel at both ends, keep their places among the others, and each
/// takes what it is delayed by.
#[test]
fn a_delay_is_told_by_the_times_of_drivers() {
    const TRUTH_US: f64 = 2000.0;
    let (dut, _folder) = configuration(DELAYER.0, DELAYER.1);
    let traffic = traffic(64);
    let Some(mut rig) = or_skip(Rig::timed(dut, Way::AfPacket, &traffic, TimedBy::Driver)) else {
        return;
    };
    assert_eq!(rig.bed.latency_of(), LatencyOf::Driver);
    let plan = Plan {
        tags: Some(Tags {
            from: Time::from_ms(100),
            frames: 100,
        }),
        ..Plan::of(&[load(2000.0, Span::from_ms(500))])
    };
    let is_told = (0..ATTEMPTS).any(|_| {
        let seen = rig.bed.offer(&traffic, &plan).expect("it can be offered");
        assert_eq!((seen.outcome.offered, seen.outcome.lost()), (1000, 0));
        assert_eq!(seen.faults, Faults::default());
        assert_eq!(seen.tagged.len(), 100);
        let mut us: Vec<f64> = seen
            .tagged
            .iter()
            .map(|time| time.as_ps() as f64 / 1e6)
            .collect();
        us.sort_by(f64::total_cmp);
        println!("by drivers: least {:.1}, median {:.1}", us[0], us[50]);
        assert!(us[0] >= TRUTH_US, "{}", us[0]);
        us[50] - TRUTH_US <= BUSY_US
    });
    assert!(is_told, "the delay was never told");
}

#[test]
fn interfaces_without_a_clock_are_not_asked_for_times() {
    let traffic = traffic(64);
    let refused = Rig::timed(Dut::Kernel, Way::AfPacket, &traffic, TimedBy::Hardware);
    match refused.err() {
        Some(Error::Invalid(why)) => assert!(why.contains("does not timestamp"), "{why}"),
        other => assert!(
            or_skip(other.map_or(Ok(()), Err)).is_none(),
            "it was not refused"
        ),
    }
}

#[test]
#[ignore = "long: needs a machine that nobody else uses"]
fn delays_are_told_within_50_us() {
    if let Some(mut rig) = netem() {
        delay_is_told(&mut rig, CALM_US);
    }
    if let Some((mut rig, _folder)) = delayer() {
        delay_is_told(&mut rig, CALM_US);
    }
}
