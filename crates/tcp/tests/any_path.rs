//! Whatever the path does, what was written arrives once and in order, and the connection closes.

mod harness;

use harness::{CLIENT, Fate, Pair, SERVER, Sent, variant};
use proptest::prelude::*;
use trammel_core::Span;
use trammel_core::rng::Rng;
use trammel_tcp::cc;
use trammel_tcp::connection::{Connection, Failure, State};
use trammel_tcp::stack::{AckPolicy, EcnMode, EcnOption, LossDetection, Reduction, Stack};

/// What one direction of a path does, in hundredths.
#[derive(Clone, Copy, Debug)]
struct Weather {
    lost: u64,
    late: u64,
    twice: u64,
    marked: u64,
}

#[derive(Clone, Debug)]
struct Case {
    stacks: [Stack; 2],
    variants: [&'static str; 2],
    weather: [Weather; 2],
    one_way_ms: u64,
    seed: u64,
    /// Writes of both ends: milliseconds after the start, and bytes.
    writes: [Vec<(u64, u64)>; 2],
    /// Reads every so many milliseconds; 0 at once.
    read_ms: [u64; 2],
    read_bytes: u32,
}

fn stack() -> impl Strategy<Value = Stack> {
    let preset = prop::sample::select(Stack::PRESETS);
    let options = (
        any::<[bool; 7]>(),
        prop::sample::select(vec![EcnMode::Off, EcnMode::Classic, EcnMode::Accurate]),
        prop::sample::select(vec![EcnOption::Never, EcnOption::Minimum, EcnOption::Full]),
        prop::sample::select(vec![1460_u16, 536, 9000, 100]),
    );
    let methods = (0..3_usize, 0..3_usize, 0..3_usize, any::<bool>());
    let buffers = prop::sample::select(vec![2_000_u64, 20_000, 200_000, 64 << 20]);
    (preset, options, methods, buffers).prop_map(
        |(preset, (flags, ecn, option, mss), methods, buffer)| {
            let mut stack = Stack::preset(preset).expect("the preset is built in");
            // One preset in two stays as it is.
            if methods.3 {
                [
                    stack.sack,
                    stack.timestamps,
                    stack.window_scaling,
                    stack.dsack,
                    stack.nagle,
                    stack.frto,
                    stack.tail_loss_probe,
                ] = flags;
                (stack.ecn, stack.ecn_option) = (ecn, option);
                stack.detection = [
                    LossDetection::Rack,
                    LossDetection::Fack,
                    LossDetection::DupThresh,
                ][methods.0];
                stack.reduction =
                    [Reduction::Prr, Reduction::RateHalving, Reduction::Immediate][methods.1];
                stack.ack_policy = [
                    AckPolicy::Linux,
                    AckPolicy::EverySegment,
                    AckPolicy::Delayed(Span::from_ms(100)),
                ][methods.2];
                stack.undo = flags[0] ^ flags[4];
                stack.mss = mss;
                stack.receive_buffer = buffer;
                stack.send_buffer = if flags[1] { u64::MAX } else { 100_000 };
            }
            stack
        },
    )
}

fn weather() -> impl Strategy<Value = Weather> {
    let calm = Just(Weather {
        lost: 0,
        late: 0,
        twice: 0,
        marked: 0,
    });
    let foul =
        (0..16_u64, 0..20_u64, 0..10_u64, 0..20_u64).prop_map(|(lost, late, twice, marked)| {
            Weather {
                lost,
                late,
                twice,
                marked,
            }
        });
    prop_oneof![1 => calm, 3 => foul]
}

fn writes() -> impl Strategy<Value = Vec<(u64, u64)>> {
    prop::collection::vec(
        (0..3_000_u64, prop_oneof![1..3_000_u64, 1..40_000_u64]),
        0..5,
    )
}

fn case() -> impl Strategy<Value = Case> {
    let names: Vec<&'static str> = cc::ALL.iter().map(|entry| entry.about.name).collect();
    let name = prop::sample::select(names);
    (
        (
            [stack(), stack()],
            [name.clone(), name],
            [weather(), weather()],
        ),
        (1..100_u64, any::<u64>(), [writes(), writes()]),
        (
            [
                prop_oneof![Just(0), 1..50_u64],
                prop_oneof![Just(0), 1..50_u64],
            ],
            1..100_000_u32,
        ),
    )
        .prop_map(
            |((stacks, variants, weather), (one_way_ms, seed, writes), (read_ms, read_bytes))| {
                Case {
                    stacks,
                    variants,
                    weather,
                    one_way_ms,
                    seed,
                    writes,
                    read_ms,
                    read_bytes,
                }
            },
        )
}

fn run(case: &Case) {
    let mut rng = Rng::new(case.seed, "weather");
    let client = Connection::client(
        &case.stacks[0],
        variant(case.variants[0]),
        Rng::new(case.seed, "client"),
    );
    let server = Connection::server(
        &case.stacks[1],
        variant(case.variants[1]),
        Rng::new(case.seed, "server"),
    );
    let mut pair = Pair::of([client, server], case.one_way_ms);
    let weather = case.weather;
    pair.filter(move |sent: &Sent| {
        let w = weather[sent.from];
        let mut roll = rng.below(100);
        let mut falls = |chance: u64| {
            let hit = roll < chance;
            roll = if hit { 0 } else { roll - chance };
            hit
        };
        if falls(w.lost) {
            Fate::Drop
        } else if falls(w.late) {
            Fate::Late(Span::from_ms(rng.below(60)))
        } else if falls(w.twice) {
            Fate::Twice(Span::from_ms(rng.below(60)))
        } else if falls(w.marked) {
            Fate::Mark
        } else {
            Fate::Pass
        }
    });
    for who in [CLIENT, SERVER] {
        pair.end[who].set_auto_read(case.read_ms[who] == 0);
    }
    pair.connect();

    // A calendar of what the applications do.
    let start = pair.now;
    let mut calendar: Vec<(u64, usize, Option<u64>)> = Vec::new();
    for who in [CLIENT, SERVER] {
        calendar.extend(
            case.writes[who]
                .iter()
                .map(|(at, bytes)| (*at, who, Some(*bytes))),
        );
        calendar.push((3_000, who, None));
    }
    calendar.sort_by_key(|(at, ..)| *at);
    let mut calendar = calendar.into_iter().peekable();
    let mut read = [0_u64; 2];
    let over = |pair: &Pair| {
        pair.end
            .iter()
            .all(|end| matches!(end.state(), State::Closed | State::TimeWait))
    };
    for ms in 1..8_000_000_u64 {
        let now = start + Span::from_ms(ms);
        if pair.next_event() > now && calendar.peek().is_none() && ms % 50 != 0 {
            continue;
        }
        pair.run_until(now);
        while calendar.peek().is_some_and(|(at, ..)| *at <= ms) {
            match calendar.next().expect("peeked") {
                (_, who, Some(bytes)) => pair.write(who, bytes),
                (_, who, None) => {
                    // Also where the handshake still goes on.
                    pair.end[who].close_when_written();
                    pair.pump(who);
                }
            }
        }
        for who in [CLIENT, SERVER] {
            if case.read_ms[who] > 0 && ms % case.read_ms[who] == 0 {
                read[who] += u64::from(pair.read(who, case.read_bytes));
            }
        }
        if over(&pair) {
            break;
        }
        if pair.end.iter().any(|end| end.failure().is_some()) {
            break;
        }
    }
    // Six SYNs in a row may well be lost; nothing was promised then.
    let unopened = |end: &Connection| end.tp().snd_una == end.tp().snd_nxt - 1;
    if pair
        .end
        .iter()
        .any(|end| end.failure() == Some(Failure::TimedOut) && unopened(end))
    {
        return;
    }
    for who in [CLIENT, SERVER] {
        assert_eq!(
            pair.end[who].failure(),
            None,
            "end {who}\n{}",
            pair.story(40)
        );
        let written: u64 = case.writes[1 - who].iter().map(|(_, bytes)| bytes).sum();
        assert_eq!(
            pair.delivered(who),
            written,
            "delivered to end {who}\n{}",
            pair.story(40)
        );
        if case.read_ms[who] > 0 {
            let left = pair.end[who].readable();
            assert_eq!(read[who] + u64::from(left), written, "read by end {who}");
        }
    }
    assert!(
        over(&pair),
        "{:?} and {:?}",
        pair.end[0].state(),
        pair.end[1].state()
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_was_written_arrives_once_and_in_order_and_the_connection_closes(case in case()) {
        run(&case);
    }
}

#[test]
fn a_probe_that_was_sacked_does_not_keep_a_timeout_from_sending() {
    run(&Case {
        stacks: [Stack::linux_2_6(), Stack::linux_6()],
        variants: ["reno", "bbr"],
        weather: [
            Weather {
                lost: 5,
                late: 13,
                twice: 3,
                marked: 0,
            },
            Weather {
                lost: 12,
                late: 15,
                twice: 0,
                marked: 0,
            },
        ],
        one_way_ms: 49,
        seed: 3594922360052116537,
        writes: [
            vec![(1671, 2897), (0, 30409)],
            vec![(1562, 1449), (1210, 1), (0, 1)],
        ],
        read_ms: [0, 0],
        read_bytes: 1,
    });
}
