use super::course::{Course, Flow as Offered};
use super::*;
use crate::forwarding::bench::Bench as Workbench;
use crate::forwarding::samples;
use crate::machines;
use proptest::prelude::*;
use trammel_bench::frames::Sizes;
use trammel_bench::testbed::Tags;

/// A configuration between ports of 10 Gbit/s.
fn bed(text: &str) -> Simulated {
    let bench = Workbench::new(text, "x.click", &[], &[samples::plain()]).unwrap();
    let configuration = Configuration { bench, rate: 10e9 };
    Simulated::new(configuration, machines::find("xeon-e5-2690v2").unwrap())
}

fn traffic() -> Traffic {
    Traffic::of(Sizes::of(64).unwrap())
}

fn load(fps: f64, frames: f64) -> Load {
    Load::new(fps, Time::from_secs_f64(frames / fps)).unwrap()
}

/// What a test sees of a plan whose loads are cut into stretches of so many frames; of one that is not cut at all.
fn seen(device: &Device, plan: &Plan, stretch: Option<u64>) -> Observation {
    let (seen, ended) = offered(device, plan, stretch).unwrap();
    observation(plan, seen, &ended)
}

fn quantiles(of: &Observation) -> Vec<Option<Time>> {
    let latency = of.outcome.latency.as_ref().unwrap();
    [0.0, 0.5, 0.99]
        .map(|share| latency.quantile_time(share))
        .into()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn what_is_left_out_would_have_come_to_the_same(
        text in prop::sample::select(vec![
            "FromDevice(a) -> Queue -> ToDevice(b);",
            "FromDevice(a) -> Counter -> Queue(64) -> ToDevice(b); FromDevice(c) -> Queue(32) -> ToDevice(d);",
            "FromDevice(a) -> CheckIPHeader(14) -> Paint(1) -> Queue(100) -> Unqueue -> Queue(5) -> ToDevice(b);",
        ]),
        shares in prop::collection::vec(0.05..1.0_f64, 1..3),
        burst in prop::sample::select(vec![1_u32, 1, 7]),
    ) {
        let bed = bed(text);
        let traffic = Traffic { burst, ..traffic() };
        let device = bed.load(&traffic).unwrap();
        let line = bed.line_fps(&traffic);
        let loads: Vec<Load> = shares.iter().map(|share| load(share * line, 60_000.0)).collect();
        let plan = Plan {
            tags: Some(Tags { from: loads[0].duration() / 2, frames: 20 }),
            ..Plan::of(&loads)
        };
        let (whole, cut) = (seen(&device, &plan, None), seen(&device, &plan, Some(4096)));
        prop_assert_eq!(whole.outcome.offered, cut.outcome.offered);
        let longer = whole.outcome.effective.as_ps().abs_diff(cut.outcome.effective.as_ps());
        prop_assert!(longer <= 1000, "{longer} ps");
        prop_assert_eq!(whole.outcome.lost() == 0, cut.outcome.lost() == 0);
        // Four stretches may lose a batch more or less, of the 4096 frames that each has.
        let apart = (whole.outcome.loss_ratio() - cut.outcome.loss_ratio()).abs();
        prop_assert!(apart <= 32.0 / 4096.0, "{apart}");
        if whole.outcome.lost() == 0 {
            prop_assert_eq!(whole.outcome.forwarded, cut.outcome.forwarded);
            for (whole, cut) in quantiles(&whole).into_iter().zip(quantiles(&cut)) {
                let (whole, cut) = (whole.unwrap().as_ps() as f64, cut.unwrap().as_ps() as f64);
                // In which part of a turn of polling frames come differs from stretch to stretch: some ten nanoseconds.
                let apart = (whole - cut).abs();
                prop_assert!(apart < 0.02 * whole || apart < 50_000.0, "{whole} {cut}");
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
fn most_of_a_long_trial_is_left_out_and_all_of_it_counted() {
    let bed = bed("FromDevice(a) -> Queue -> ToDevice(b);");
    let device = bed.load(&traffic()).unwrap();
    let hour = Plan::of(&[Load::new(5e6, Time::from_secs(3600)).unwrap()]);
    let (seen, ended) = offered(&device, &hour, Some(4096)).unwrap();
    assert_eq!((ended.offered, ended.lost), (18_000_000_000, 0));
    assert!(ended.report.balance.offered < 200_000);
    let observed = observation(&hour, seen, &ended);
    assert_eq!(observed.outcome.forwarded, 18_000_000_000);
    assert_eq!(observed.outcome.effective, Time::from_secs(3600));
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
        let (_, ended) = offered(&device, &plan, Some(4096)).unwrap();
        assert_eq!(ended.report.balance.offered, 60_000, "{text}");
    }
}

#[test]
fn a_fixed_delay_comes_out_exactly() {
    // A frame that comes alone waits for nobody: every one takes the same, to the picosecond, and what its elements cost more it
    // takes longer, to the picosecond.
    let machine = machines::find("xeon-e5-2690v2").unwrap();
    let latency = |more_cycles: f64| {
        let bed = bed("FromDevice(a) -> c :: Counter -> Queue -> ToDevice(b);");
        let mut router = bed.load(&traffic()).unwrap().router().clone();
        let cost = router.costs.names.get_mut("c").unwrap();
        cost.packet += more_cycles;
        let flows = [Offered {
            from: router.streams[0].from.clone(),
            frames: router.streams[0].frames.clone(),
            pattern: router.streams[0].pattern,
            loads: vec![load(1e3, 50.0)],
        }];
        let plan = Plan::of(&flows[0].loads);
        let mut seen = [Seen::of(&plan, 1)];
        Course::new(&router, &flows, &mut seen, None).unwrap().run();
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
    // Frames go out longer than they came in: what waits for the link is lost in the queue, and no ring in is full.
    let text =
        "FromDevice(a) -> EtherEncap(0x0800, 2:0:0:0:0:1, 2:0:0:0:0:a) -> Queue(5) -> ToDevice(b);";
    let mut bed = bed(text);
    let (high, low) = (load(14e6, 20_000.0), load(1e5, 1000.0));
    let observed = bed.offer(&traffic(), &Plan::of(&[high, low])).unwrap();
    assert!(observed.outcome.lost() > 0);
    let last = observed.last_lost.unwrap();
    let over = high.duration();
    assert!(
        last <= over + Time::from_us(300) && last + Time::from_us(300) > over,
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
    let flow = |from, to, fps| Flow::new(from, to, &traffic, load(fps, 0.02 * fps));
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
        age: Time::from_secs(300),
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
