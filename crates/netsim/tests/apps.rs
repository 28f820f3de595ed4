//! Applications over a simulated path: what their users get, that books balance, and that one seed
//! gives one outcome.

use trammel_core::entry::{Params, Value};
use trammel_core::time::{Span, Time};
use trammel_core::units::Rate;
use trammel_netsim::apps::{self, Carrier};
use trammel_netsim::experience::Experience;
use trammel_netsim::ids::{AppId, LinkId};
use trammel_netsim::link::{LinkSpec, Queue};
use trammel_netsim::network::{AppSpec, Network};
use trammel_netsim::packet::Labels;
use trammel_netsim::workload::Template;
use trammel_tcp::cc;
use trammel_tcp::stack::Stack;

/// A path that carries data at `kbps` with a queue of `packets`, and a round trip of 40 ms.
fn path(kbps: u64, packets: u32, loss: f64) -> Network {
    let mut net = Network::new();
    for name in ["there", "back"] {
        let mut link = LinkSpec::wire(name, Span::from_ms(20));
        link.rate = Some(Rate::from_bps(kbps * 1000));
        link.queue = Queue::DropTail {
            packets,
            bytes: u64::MAX,
        };
        if loss > 0.0 && name == "there" {
            let entry = trammel_queues::loss::find("bernoulli").unwrap();
            let given = [("probability".to_owned(), Value::Float(loss))];
            let params = Params::resolve(&entry.about, &given).unwrap();
            link.loss = Some((entry.build)(&params).unwrap());
        }
        net.add_link(link);
    }
    net
}

fn spec(kind: &str, given: &[(&str, Value)], users: usize, seed: u64, seconds: u64) -> AppSpec {
    let entry = apps::find(kind).unwrap();
    let given: Vec<_> = given
        .iter()
        .map(|(key, value)| ((*key).to_owned(), value.clone()))
        .collect();
    let params = Params::resolve(&entry.about, &given).unwrap();
    let cubic = cc::find("cubic").unwrap();
    AppSpec {
        name: kind.to_owned(),
        flow: Template {
            client: Stack::linux_6(),
            server: Stack::linux_6(),
            cc: Box::new(|| (cubic.build)(&Params::defaults(&cubic.about))),
            forward: vec![LinkId::new(1)],
            backward: vec![LinkId::new(0)],
            overhead_bytes: 14,
        },
        carrier: entry.carrier,
        labels: Labels::default(),
        datagram_overhead: 42,
        users: (0..users)
            .map(|_| (entry.build)(&params).unwrap())
            .collect(),
        start: Time::ZERO,
        stop: Time::from_secs(seconds),
        since: Time::ZERO,
        seed,
    }
}

/// What users get of `kind` in `seconds` over `net`; the books of the network balance.
fn run(mut net: Network, kind: &str, given: &[(&str, Value)], users: usize, s: u64) -> Experience {
    net.add_app(spec(kind, given, users, 1, s));
    net.run_until(Time::from_secs(s));
    assert_eq!(net.audit(), Ok(()));
    net.experience(AppId::new(0))
}

fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

#[test]
fn a_video_takes_the_highest_quality_that_the_path_carries_and_does_not_stall() {
    for rule in ["bola", "throughput"] {
        let got = run(
            path(50_000, 200, 0.0),
            "video",
            &[("rule", text(rule))],
            1,
            120,
        );
        assert_eq!((got.stalls, got.stalled), (0, Span::ZERO), "{rule}");
        let mbps = got.bitrate().unwrap() / 1e6;
        assert!((5.0..=7.8).contains(&mbps), "{rule}: {mbps}");
        assert!(got.startup.mean().unwrap() < 2.0, "{rule}");
        // Playing begins with one segment; nothing is played that has not come.
        let segments = got.done as f64 * 6.0;
        assert!(got.played.as_secs_f64() <= segments, "{rule}");
        // And at most a buffer is held.
        assert!(segments - got.played.as_secs_f64() <= 25.0 + 1e-6, "{rule}");
    }
}

#[test]
fn a_video_over_a_path_of_a_tenth_of_its_lowest_rate_stalls_most_of_the_time() {
    let got = run(path(15, 20, 0.0), "video", &[], 1, 300);
    let stalled = got.stalled_share().unwrap();
    assert!(stalled > 0.7, "{stalled}");
    // A path that is down: it never begins, and that is no better.
    let got = run(path(50_000, 200, 1.0), "video", &[], 1, 30);
    assert_eq!(got.stalled_share(), Some(1.0));
    assert_eq!((got.done, got.bitrate()), (0, None));
}

#[test]
fn a_page_takes_its_round_trips_and_the_time_of_its_bytes() {
    let one = [("objects", Value::Int(0)), ("document", Value::Bytes(1000))];
    let got = run(path(1_000_000, 1000, 0.0), "web", &one, 1, 120);
    let time = got.time.as_ref().unwrap();
    // The handshakes of TCP and TLS and a request: three round trips of 40 ms.
    let least = time.min().unwrap() as f64 / 1e9;
    assert!((120.0..122.0).contains(&least), "{least} ms");
    assert!(got.done >= 10 && got.begun - got.done <= 1, "{got:?}");
    // Without TLS there is one less.
    let plain = [one.as_slice(), &[("tls", Value::Bool(false))]].concat();
    let got = run(path(1_000_000, 1000, 0.0), "web", &plain, 1, 120);
    let least = got.time.unwrap().min().unwrap() as f64 / 1e9;
    assert!((80.0..82.0).contains(&least), "{least} ms");
}

#[test]
fn more_connections_load_a_page_of_many_objects_sooner() {
    let median = |connections: i64| {
        let given = [("connections", Value::Int(connections))];
        let got = run(path(100_000, 1000, 0.0), "web", &given, 1, 300);
        got.time.unwrap().quantile(0.5).unwrap()
    };
    assert!(median(1) > 2 * median(6));
}

#[test]
fn calls_of_an_open_loop_come_as_often_as_asked_and_take_a_round_trip() {
    let got = run(path(1_000_000, 1000, 0.0), "rpc", &[], 20, 50);
    // 20 users, 10 a second, 49.5 s: four standard deviations of a Poisson number are 400.
    assert!(got.begun.abs_diff(9_900) < 400, "{}", got.begun);
    assert!(got.begun - got.done < 20, "{got:?}");
    let time = got.time.unwrap();
    let ms = |fraction: f64| time.quantile(fraction).unwrap() as f64 / 1e9;
    assert!((39.9..41.0).contains(&ms(0.5)), "{}", ms(0.5));
    assert!(ms(0.999) >= ms(0.99) && ms(0.99) >= ms(0.5));
}

#[test]
fn a_closed_loop_never_has_more_than_one_call_open() {
    let given = [("arrival", text("closed")), ("sizes", text("exponential"))];
    let got = run(path(10_000, 100, 0.01), "rpc", &given, 8, 50);
    assert!(got.begun - got.done <= 8);
    // A call each 100 ms of thought and 40 ms of way or more.
    assert!((1500..=2900).contains(&got.begun), "{}", got.begun);
}

#[test]
fn a_thousand_clients_that_ask_for_more_than_the_path_carries_stay_bounded() {
    // 1000 · 10 · 4 kB a second are 328 Mbit/s over 10.
    let mut net = path(10_000, 100, 0.0);
    net.add_app(spec("rpc", &[], 1000, 1, 10));
    net.run_until(Time::from_secs(10));
    let got = net.experience(AppId::new(0));
    assert_eq!(net.app_connections(AppId::new(0)), 1000);
    assert!(got.done < got.begun, "{got:?}");
    assert!(net.flow_places() <= 1000);
    assert_eq!(net.audit(), Ok(()));
}

#[test]
fn a_game_shows_delay_reaction_and_what_is_lost() {
    let got = run(path(10_000, 100, 0.05), "game", &[], 4, 60);
    let (delay, time) = (got.delay.as_ref().unwrap(), got.time.as_ref().unwrap());
    let ms = |ps: Option<u64>| ps.unwrap() as f64 / 1e9;
    assert!(
        (20.0..20.5).contains(&ms(delay.min())),
        "{}",
        ms(delay.min())
    );
    // A round trip, up to a tick at the server, and one more where an update was lost.
    assert!(
        (40.0..57.0).contains(&ms(time.quantile(0.5))),
        "{}",
        ms(time.quantile(0.5))
    );
    let loss = got.part(got.lost).unwrap();
    assert!((0.03..0.07).contains(&loss), "{loss}");
    assert_eq!(got.overdue, got.lost, "nothing waits long on an idle path");
}

#[test]
fn voice_over_an_idle_path_is_good_and_over_a_lossy_one_is_not() {
    let score = |loss| {
        let got = run(path(10_000, 100, loss), "voice", &[], 3, 60);
        got.score.mean().unwrap()
    };
    let (good, bad) = (score(0.0), score(0.1));
    // 93.2 - 0.024 · (20 + 20 ms and what the playout adds).
    assert!((4.3..4.42).contains(&good), "{good}");
    // 95 · 10 / 35.1 = 27.1 less: 3.4 at 65.
    assert!((3.2..3.5).contains(&bad), "{bad}");
}

#[test]
fn a_call_uses_a_free_path_and_leaves_no_queue_on_a_narrow_one() {
    let got = run(path(20_000, 500, 0.0), "call", &[], 1, 60);
    let mbps = got.bitrate().unwrap() / 1e6;
    assert!((1.5..=2.5).contains(&mbps), "{mbps}");
    assert_eq!((got.stalls, got.lost), (0, 0), "{got:?}");
    let got = run(path(800, 500, 0.0), "call", &[], 1, 60);
    let mbps = got.bitrate().unwrap() / 1e6;
    assert!((0.4..=0.8).contains(&mbps), "{mbps}");
    // 500 packets would be 6 s at this rate.
    let delay = got.delay.unwrap().quantile(0.95).unwrap() as f64 / 1e9;
    assert!(delay < 500.0, "{delay} ms");
}

#[test]
fn a_call_over_a_path_that_loses_everything_is_frozen() {
    let got = run(path(20_000, 500, 1.0), "call", &[], 1, 20);
    assert_eq!(got.stalled_share(), Some(1.0));
    assert_eq!(got.done, 0);
    assert_eq!(got.lost, got.sent);
}

#[test]
fn one_seed_gives_one_outcome_and_another_another() {
    for entry in apps::all() {
        let outcome = |seed: u64| {
            let mut net = path(3_000, 50, 0.01);
            net.add_app(spec(entry.about.name, &[], 3, seed, 20));
            net.run_until(Time::from_secs(20));
            format!("{:?}", net.experience(AppId::new(0)))
        };
        assert_eq!(outcome(1), outcome(1), "{}", entry.about.name);
        assert_ne!(outcome(1), outcome(2), "{}", entry.about.name);
    }
}

#[test]
fn what_is_impossible_is_refused_in_words() {
    let cases = [
        ("video", "ladder", Value::Floats(vec![]), "1 to 64"),
        ("video", "ladder", Value::Floats(vec![2.0, 1.0]), "rise"),
        (
            "video",
            "ladder",
            Value::Floats(vec![f64::NAN]),
            "from 0.01",
        ),
        ("video", "segment", text("0 s"), "`segment` must be from"),
        ("video", "buffer", text("7 s"), "two segments"),
        ("video", "startup", text("20 s"), "a segment less"),
        ("web", "object", text("0 B"), "`object` must be from"),
        (
            "call",
            "first",
            text("3 Mbit/s"),
            "between `least` and `most`",
        ),
        ("call", "least", text("1 bit/s"), "`least` must be from"),
        ("game", "tick", text("1 ns"), "`tick` must be from"),
        ("game", "update", text("1 MB"), "from 1 to 1200 bytes"),
        ("rpc", "response", text("0 B"), "`response` must be from"),
    ];
    for (kind, key, value, said) in cases {
        let entry = apps::find(kind).unwrap();
        let given = [(key.to_owned(), value)];
        let params = Params::resolve(&entry.about, &given).unwrap();
        let why = (entry.build)(&params).expect_err(key);
        assert!(why.contains(said), "{kind}.{key}: {why}");
    }
}

#[test]
fn an_application_without_users_gets_nothing() {
    for entry in apps::all() {
        let got = run(path(1_000, 10, 0.0), entry.about.name, &[], 0, 5);
        assert_eq!((got.begun, got.sent, got.score.count), (0, 0, 0));
        assert!(entry.carrier == Carrier::Tcp || got.bitrate().is_none());
    }
}
