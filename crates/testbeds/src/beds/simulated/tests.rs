//! Simulated devices under test: what they lose, delay and repeat.

use super::course::{Course, CourseFlow as Offered};
use super::*;
use proptest::prelude::*;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use trammel_bench::frames::Sizes;
use trammel_bench::testbed::{Modifier, Protocol, Tags};
use trammel_core::{Span, Time};
use trammel_workbench::bench::Bench as Workbench;
use trammel_workbench::machines;
use trammel_workbench::samples;

/// A configuration between ports of 10 Gbit/s.
fn bed(text: &str) -> Simulated {
    let bench = Workbench::new(text, "x.click", &[], &[samples::plain()]).unwrap();
    let configuration = Configuration {
        bench,
        rate: 10e9,
        interrupted: Arc::default(),
    };
    Simulated::new(configuration, machines::find("xeon-e5-2690v2").unwrap())
}

fn traffic() -> Traffic {
    Traffic::of(Sizes::of(64).unwrap())
}

fn load(fps: f64, frames: f64) -> Load {
    Load::new(fps, Span::from_secs_f64(frames / fps)).unwrap()
}

/// What a test sees of a plan whose loads are cut into stretches of so many frames; of one that is
/// not cut at all.
fn seen(device: &Device, plan: &Plan, stretch: Option<u64>) -> Observation {
    let (seen, ended) = run(device, plan, stretch);
    observation((&traffic(), Span::ZERO), plan, seen, &ended)
}

fn run(device: &Device, plan: &Plan, stretch: Option<u64>) -> (Seen, Ended) {
    offered(device, plan, stretch, &AtomicBool::new(false)).unwrap()
}

/// Between what latencies the share of all frames is, give or take so much of them: two loads leave
/// a gap between their latencies, at whose ends one frame more or less is far apart.
fn quantile(of: &Observation, share: f64, slack: f64) -> [f64; 2] {
    let latency = of.outcome.latency.as_ref().unwrap();
    [share - slack, share + slack].map(|share| {
        let time = latency.quantile_time(share.clamp(0.0, 1.0)).unwrap();
        time.as_ps() as f64
    })
}

/// Where drawn destinations matter: half of the networks are behind each way out.
const ROUTES: &str = "FromDevice(a) -> Strip(14) -> CheckIPHeader \
  -> rt :: RadixIPLookup(198.19.0.0/17 0, 198.19.128.0/17 1); \
  rt[0] -> EtherEncap(0x0800, 2:0:0:0:0:1, 2:0:0:0:0:a) -> Queue(100) -> ToDevice(b); \
  rt[1] -> Counter -> Counter -> EtherEncap(0x0800, 2:0:0:0:0:1, 2:0:0:0:0:b) -> Queue(30) -> \
  ToDevice(c);";
const ROUTES6: &str = "FromDevice(a) -> Strip(14) -> CheckIP6Header -> GetIP6Address(24) \
  -> rt :: LookupIP6Route(2001:2:0:8000::/50 ::0 0, 2001:2:0:c000::/50 ::0 1); \
  rt[0] -> EtherEncap(0x86DD, 2:0:0:0:0:1, 2:0:0:0:0:a) -> Queue(100) -> ToDevice(b); \
  rt[1] -> EtherEncap(0x86DD, 2:0:0:0:0:1, 2:0:0:0:0:b) -> Queue(30) -> ToDevice(c);";
const PATH: &str = "FromDevice(a) -> Queue -> ToDevice(b);";
const TWO_PATHS: &str = "FromDevice(a) -> Counter -> Queue(64) -> ToDevice(b); \
  FromDevice(c) -> Queue(32) -> ToDevice(d);";
const LONG_PATH: &str = "FromDevice(a) -> CheckIPHeader(14) -> Paint(1) -> Queue(100) -> Unqueue \
                         -> Queue(5) -> ToDevice(b);";

/// The configuration of a case, and what it is offered: sizes, bursts, networks, modifier.
fn case(
    (text, sizes, burst, networks, modifier): (&str, &str, u32, u32, Option<Modifier>),
) -> (Simulated, Traffic) {
    let is_ipv6 = text == ROUTES6;
    let traffic = Traffic {
        burst,
        networks,
        modifier,
        protocol: if is_ipv6 {
            Protocol::Ip6
        } else {
            Protocol::Ip4
        },
        ..Traffic::of(sizes.parse().unwrap())
    };
    (bed(text), traffic)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn what_is_left_out_would_have_come_to_the_same(
        case_of in prop::sample::select(vec![
            (PATH, "64", 1, 1, None),
            (PATH, "64", 7, 1, None),
            (PATH, "512", 1, 1, None),
            (PATH, "imix", 1, 1, None),
            (PATH, "64", 1, 1, Some(Modifier::Broadcast)),
            (TWO_PATHS, "64", 1, 1, None),
            (TWO_PATHS, "imix:AAB/A=64/B=1518", 1, 1, Some(Modifier::Broadcast)),
            (LONG_PATH, "64", 7, 1, None),
            (LONG_PATH, "imix", 1, 256, None),
            (ROUTES, "64", 1, 256, None),
            (ROUTES, "imix", 1, 256, None),
            (ROUTES, "imix:ag", 1, 256, Some(Modifier::Broadcast)),
            (ROUTES6, "128", 1, 256, None),
            (ROUTES6, "imix:bbg", 1, 256, None),
        ]),
        shares in prop::collection::vec(prop_oneof![0.05..1.0_f64, Just(1.0)], 1..3),
    ) {
        let (bed, traffic) = case(case_of);
        let device = bed.load(&traffic).unwrap();
        let line = bed.line_fps(&traffic);
        let loads: Vec<Load> = shares.iter().map(|share| load(share * line, 40_000.0)).collect();
        let plan = Plan {
            tags: Some(Tags { from: Time::ZERO + loads[0].duration() / 2, frames: 20 }),
            ..Plan::of(&augmented(&traffic, &loads))
        };
        let of = |stretch| {
            let (seen, ended) = run(&device, &plan, stretch);
            observation((&traffic, Span::ZERO), &plan, seen, &ended)
        };
        let (whole, cut) = (of(None), of(Some(4096)));
        prop_assert_eq!(whole.outcome.offered, cut.outcome.offered);
        let longer = whole.outcome.effective.as_ps().abs_diff(cut.outcome.effective.as_ps());
        prop_assert!(longer <= 1000, "{longer} ps");
        prop_assert_eq!(whole.outcome.lost() == 0, cut.outcome.lost() == 0);
        // Four stretches may lose a batch more or less, of the 4096 frames that each has.
        let apart = (whole.outcome.loss_ratio() - cut.outcome.loss_ratio()).abs();
        prop_assert!(apart <= 32.0 / 4096.0, "{apart}");
        if whole.outcome.lost() == 0 {
            prop_assert_eq!(whole.outcome.forwarded, cut.outcome.forwarded);
            prop_assert_eq!(whole.outcome.forwarded, whole.outcome.offered);
            for share in [0.0, 0.5, 0.99] {
                let [least, most] = quantile(&whole, share, 0.005);
                let [cut, _] = quantile(&cut, share, 0.0);
                // In which part of a turn of polling frames come differs from stretch to stretch:
                // some ten nanoseconds.
                let slack = (0.02 * cut).max(50_000.0);
                prop_assert!(least - slack <= cut && cut <= most + slack, "{least} {cut} {most}");
            }
            prop_assert_eq!(whole.tagged.len(), cut.tagged.len());
            let count = |of: &Observation| {
                let variation = of.variation.as_ref().unwrap();
                variation.less.count() + variation.more.count()
            };
            // What leaves in a stretch is a batch more or less than what comes.
            let apart = count(&whole).abs_diff(count(&cut)) as f64 / count(&whole) as f64;
            prop_assert!(apart < 0.01, "{apart}");
        }
    }
}

#[test]
fn a_line_that_is_as_fast_as_what_comes_is_not_simulated_to_the_end() {
    for (text, sizes, networks) in [(PATH, "512", 1), (PATH, "imix", 1), (PATH, "128", 256)] {
        let (bed, traffic) = case((text, sizes, 1, networks, None));
        let device = bed.load(&traffic).unwrap();
        let minutes = Load::new(bed.line_fps(&traffic), Span::from_secs(600)).unwrap();
        let (_, ended) = run(&device, &Plan::of(&[minutes]), Some(4096));
        let offered = minutes.frames().round() as u64;
        assert_eq!((ended.offered, ended.lost), (offered, 0), "{sizes}");
        let simulated = ended.report.balance.offered;
        assert!(simulated < 1_000_000, "{sizes}: {simulated} of {offered}");
    }
}

#[test]
fn a_line_that_is_a_little_slower_than_what_comes_fills_its_ring_all_the_same() {
    // Frames go out as long as the line takes 1.5 % more for them than for those that come in.
    let text = "FromDevice(a) -> EtherEncap(0x0800, 2:0:0:0:0:1, 2:0:0:0:0:a) -> Queue(64) -> \
                ToDevice(b);";
    let (bed, traffic) = case((text, "1024", 1, 1, None));
    let device = bed.load(&traffic).unwrap();
    let out = 10e9 / (8.0 * f64::from(1024 + 14 + 20));
    for more in [1.006, 1.012] {
        let frames = 1500.0 / (more - 1.0);
        let plan = Plan::of(&[load(more * out, frames)]);
        let (whole, cut) = (seen(&device, &plan, None), seen(&device, &plan, Some(4096)));
        assert!(whole.outcome.lost() > 0 && cut.outcome.lost() > 0, "{more}");
        let apart = whole.outcome.loss_ratio() - cut.outcome.loss_ratio();
        assert!(apart.abs() < 1e-4, "{more}: {apart}");
    }
}

#[test]
fn a_mix_at_the_rate_of_the_line_comes_in_time() {
    let (mut bed, traffic) = case((PATH, "imix:abg", 1, 1, None));
    for frames in [40.0, 41.0, 42.0] {
        let plan = Plan::of(&[load(bed.line_fps(&traffic), frames)]);
        let outcome = bed.offer(&traffic, &plan).unwrap().outcome;
        assert_eq!(outcome.forwarded as f64, frames);
        assert!(
            !plan.falls_short(&outcome, 0.001, 1),
            "{frames}: {outcome:?}"
        );
        let beyond = Plan::of(&[load(1.2 * bed.line_fps(&traffic), 100.0 * frames)]);
        let outcome = bed.offer(&traffic, &beyond).unwrap().outcome;
        assert!(
            beyond.falls_short(&outcome, 0.001, 1),
            "{frames}: {outcome:?}"
        );
    }
    // A load of no frame at all says nothing of the device.
    let nothing = Plan::of(&[load(1e3, 0.1)]);
    assert_eq!(bed.offer(&traffic, &nothing).unwrap().outcome.offered, 0);
}

#[test]
fn a_trial_in_virtual_time_ends_when_the_user_interrupts() {
    // Elements that wait for times are simulated frame by frame, without end here.
    let text = "FromDevice(a) -> Queue -> DelayUnqueue(10us) -> Queue -> ToDevice(b);";
    let mut bed = bed(text);
    let forever = Plan::of(&[Load::new(1e6, Span::from_secs(1_000_000)).unwrap()]);
    bed.configuration.interrupted.store(true, Ordering::SeqCst);
    let why = bed.offer(&traffic(), &forever).unwrap_err();
    assert_eq!(why.to_string(), "interrupted");
}

#[test]
fn most_of_a_long_trial_is_left_out_and_all_of_it_counted() {
    let bed = bed("FromDevice(a) -> Queue -> ToDevice(b);");
    let device = bed.load(&traffic()).unwrap();
    let hour = Plan::of(&[Load::new(5e6, Span::from_secs(3600)).unwrap()]);
    let (seen, ended) = run(&device, &hour, Some(4096));
    assert_eq!((ended.offered, ended.lost), (18_000_000_000, 0));
    assert!(ended.report.balance.offered < 200_000);
    let observed = observation((&traffic(), Span::ZERO), &hour, seen, &ended);
    assert_eq!(observed.outcome.forwarded, 18_000_000_000);
    assert_eq!(observed.outcome.effective, Span::from_secs(3600));
}

#[test]
fn what_depends_on_chance_or_on_times_is_simulated_frame_by_frame() {
    for text in [
        "FromDevice(a) -> RandomSample(DROP 0.01) -> Queue -> ToDevice(b);",
        "FromDevice(a) -> Queue -> DelayUnqueue(10us) -> Queue -> ToDevice(b);",
    ] {
        let bed = bed(text);
        let device = bed.load(&traffic()).unwrap();
        let plan = Plan::of(&[load(1e6, 60_000.0)]);
        let (_, ended) = run(&device, &plan, Some(4096));
        assert_eq!(ended.report.balance.offered, 60_000, "{text}");
    }
}

#[test]
fn a_fixed_delay_comes_out_exactly() {
    // A frame that comes alone waits for nobody: every one takes the same, to the picosecond, and
    // what its elements cost more it takes longer, to the picosecond.
    let machine = machines::find("xeon-e5-2690v2").unwrap();
    let latency = |more_cycles: f64| {
        let bed = bed("FromDevice(a) -> c :: Counter -> Queue -> ToDevice(b);");
        let mut router = bed.load(&traffic()).unwrap().router().clone();
        let cost = router.costs.names.get_mut("c").unwrap();
        cost.packet += more_cycles;
        let flows = [Offered {
            from: router.streams[0].from.clone(),
            frames: router.streams[0].frames.clone(),
            beside: None,
            pattern: router.streams[0].pattern,
            loads: vec![load(1e3, 50.0)],
        }];
        let plan = Plan::of(&flows[0].loads);
        let mut seen = [Seen::of(&plan, 1)];
        let on = AtomicBool::new(false);
        let course = Course::new(&router, &flows, &mut seen, None, &on).unwrap();
        course.run().unwrap();
        let [seen] = seen;
        let latency = seen
            .observation(50, 50, plan.duration())
            .outcome
            .latency
            .unwrap();
        (latency.min().unwrap(), latency.max().unwrap())
    };
    let (least, most) = latency(0.0);
    let turn = most - least;
    for us in [1.0, 500.0] {
        let (slower_least, slower_most) = latency(us * machine.clock_hz / 1e6);
        let delay = (us * 1e6) as u64;
        // Where in its turn of polling a frame finds the router differs from frame to frame.
        assert!(
            slower_least.abs_diff(least + delay) <= turn,
            "{least} {slower_least}"
        );
        assert!(
            slower_most.abs_diff(most + delay) <= turn,
            "{most} {slower_most}"
        );
    }
    // A timer fires after the tasks of a round, some microseconds late and never early.
    let bed = bed("FromDevice(a) -> Queue -> DelayUnqueue(1ms) -> Queue -> ToDevice(b);");
    let plan = Plan::of(&[load(1e3, 50.0)]);
    let delayed = seen(&bed.load(&traffic()).unwrap(), &plan, None);
    let latency = delayed.outcome.latency.unwrap();
    let (least, most) = (latency.min().unwrap(), latency.max().unwrap());
    assert!(
        least >= 1_000_000_000 && most < 1_005_000_000,
        "{least} {most}"
    );
}

#[test]
fn losses_in_a_queue_have_their_time() {
    // Frames go out longer than they came in: what waits for the link is lost in the queue, and no
    // ring in is full.
    let text =
        "FromDevice(a) -> EtherEncap(0x0800, 2:0:0:0:0:1, 2:0:0:0:0:a) -> Queue(5) -> ToDevice(b);";
    let mut bed = bed(text);
    let (high, low) = (load(14e6, 20_000.0), load(1e5, 1000.0));
    let observed = bed.offer(&traffic(), &Plan::of(&[high, low])).unwrap();
    assert!(observed.outcome.lost() > 0);
    let last = observed.last_lost.unwrap();
    let over = Time::ZERO + high.duration();
    assert!(
        last <= over + Span::from_us(300) && last + Span::from_us(300) > over,
        "{last} {over}"
    );
}

#[test]
fn a_switch_takes_flows_between_its_ports_and_learns() {
    let ports = (0..4)
        .map(|n| format!("FromDevice(p{n}) -> [{n}]s; s[{n}] -> Queue(100) -> ToDevice(p{n});"));
    let text = format!(
        "s :: EtherSwitch(TIMEOUT 300); {}",
        ports.collect::<String>()
    );
    let mut switch = bed(&text);
    let traffic = traffic();
    let flow = |from, to, fps| PortFlow::new(from, to, &traffic, load(fps, 0.02 * fps));
    // Of what goes to the third port it carries half.
    let line = 10e9 / 672.0;
    let flows = [flow(0, 1, 1e5), flow(2, 3, line), flow(1, 3, line)];
    let all = switch.offer_together(&flows).unwrap();
    let ratio: Vec<f64> = all.iter().map(|one| one.outcome.loss_ratio()).collect();
    assert_eq!(ratio[0], 0.0);
    assert!(ratio[1] + ratio[2] > 0.9, "{ratio:?}");
    let learning = Learning {
        addresses: 500,
        learning_fps: 1e5,
        test_fps: 1e5,
        age: Span::from_secs(300),
    };
    let learned = switch.learn(&traffic, &learning).unwrap();
    assert!(learned.is_all(), "{learned:?}");
    assert_eq!((learned.offered, learned.forwarded), (500, 500));
    let mut router = bed("FromDevice(a) -> Queue -> ToDevice(b);");
    for refused in [
        router.learn(&traffic, &learning).map(|_| ()),
        router.offer_together(&[flow(0, 3, 1e5)]).map(|_| ()),
        switch.offer_together(&[flow(0, 7, 1e5)]).map(|_| ()),
    ] {
        let why = refused.unwrap_err();
        assert!(why.is::<trammel_bench::testbed::Unable>(), "{why}");
    }
}

#[test]
fn an_interrupted_bed_loads_no_device_to_say_how_long_trials_take() {
    let bed = bed("FromDevice(a) -> Queue -> ToDevice(b);");
    bed.configuration.interrupted.store(true, Ordering::SeqCst);
    let plan = Plan::of(&[load(1e5, 1e4)]);
    assert_eq!(bed.takes(&traffic(), &plan), Some(Span::ZERO));
    let why = bed.pace(&traffic()).unwrap_err();
    assert_eq!(why.to_string(), INTERRUPTED);
}
