//! Whole rule sets: the compiled program against the rules taken one after the other.

use super::expr::Word;
use super::names::Usual;
use super::*;
use trammel_core::rng::Rng;
use trammel_packet::batch::{CAPACITY, Packets};
use trammel_packet::pool::Pool;

impl Rules {
    /// The first rule that matches, each evaluated as it was read.
    fn first_match(&self, frame: &Frame<'_>) -> Option<usize> {
        let word = |Word { base, offset }| {
            if base == Base::Length {
                return frame.available(offset as usize / 4);
            }
            let first = frame.starts[base as usize] as i64 + i64::from(offset);
            u32::from_be_bytes(std::array::from_fn(|i| {
                let at = usize::try_from(first + i as i64).ok();
                at.and_then(|at| frame.bytes.get(at)).copied().unwrap_or(0)
            }))
        };
        let found = self
            .all
            .iter()
            .find(|(expr, _)| self.arena.evaluate(*expr, &word));
        found.and_then(|&(_, target)| output(target))
    }
}

fn pick<'a>(rng: &mut Rng, all: &[&'a str]) -> &'a str {
    all[rng.below(all.len() as u64) as usize]
}

/// A random filter; values are few, so that rules meet.
fn filter(rng: &mut Rng, depth: u32) -> String {
    if depth > 0 && rng.chance(0.6) {
        let (a, b) = (filter(rng, depth - 1), filter(rng, depth - 1));
        return match rng.below(6) {
            0 => format!("not ({a})"),
            1 | 2 => format!("({a} && {b})"),
            3 => format!("({a} or {b})"),
            4 => format!("({a}) {b}"),
            _ => format!("({a} ? {b} : {})", filter(rng, depth - 1)),
        };
    }
    let ends = pick(rng, &["src", "dst", "", "src or dst", "src and dst"]);
    let order = pick(rng, &["", "==", "!=", "<", ">", "<=", ">="]);
    let equality = pick(rng, &["", "==", "!="]);
    let number = rng.below(5);
    match rng.below(16) {
        0 => format!("{ends} host {equality} 10.0.0.{number}"),
        1 => format!("{ends} net {equality} 10.0.{number}.0/{}", 8 * rng.below(5)),
        2 => format!(
            "{ends} net 10.0.0.{number} mask 255.0.255.{}",
            rng.below(256)
        ),
        3 => format!("{ends} port {order} {number}"),
        4 => format!("{ends} tcp port & {} {order} {number}", 1 + rng.below(7)),
        5 => format!("{ends} udp port {order} {}", rng.below(2000)),
        6 => pick(
            rng,
            &["tcp", "udp", "icmp", "tcpudp", "proto != tcp", "transp"],
        )
        .to_owned(),
        7 => pick(
            rng,
            &[
                "tcp opt syn",
                "tcp ack",
                "tcp opt rst",
                "ip frag",
                "ip unfrag",
                "ip ect",
                "ip ce",
            ],
        )
        .to_owned(),
        8 => format!("ip ttl {order} {number}"),
        9 => format!(
            "ip {} {order} {number}",
            pick(rng, &["hl", "vers", "tos", "dscp", "id", "len"])
        ),
        10 => format!("icmp type {order} {number}"),
        11 => format!(
            "ip[{}] & {} {order} {number}",
            rng.below(40),
            1 + rng.below(15)
        ),
        12 => format!("transp[{}:2] {order} {number}", 2 * rng.below(10)),
        13 => format!("{ends} ether host 0:0:0:0:0:{number}"),
        14 => format!("tcp win {order} {number}"),
        _ => pick(rng, &["true", "false"]).to_owned(),
    }
}

/// A random packet: mostly small bytes, headers that may lie about their lengths, any length.
fn packet(rng: &mut Rng, bytes: &mut Vec<u8>) -> [u32; BASES] {
    bytes.clear();
    let length = rng.below(80);
    let small = rng.chance(0.9);
    bytes.extend((0..length).map(|_| rng.below(if small { 4 } else { 256 }) as u8));
    let network = if rng.chance(0.2) { 0 } else { 14 };
    let mut set = |at: usize, value: u8| {
        if let Some(byte) = bytes.get_mut(at) {
            *byte = value;
        }
    };
    if rng.chance(0.9) {
        set(network + 9, [1, 6, 17, 33][rng.below(4) as usize]);
        for end in [12, 16] {
            set(network + end, 10);
            set(network + end + 1, 0);
        }
    }
    if rng.chance(0.8) {
        set(network + 6, 0);
        set(network + 7, 0);
    }
    let mut mark = |at: u64| {
        if rng.chance(0.03) {
            u32::MAX
        } else {
            at as u32
        }
    };
    let (link, network) = (mark(0), mark(network as u64));
    let transport = mark(u64::from(network.min(99)) + 20);
    let transport = if rng.chance(0.2) {
        rng.below(90) as u32
    } else {
        transport
    };
    [link.min(14), link, network, transport]
}

#[test]
fn a_compiled_program_decides_as_its_rules_do_one_after_the_other() {
    let mut bytes = Vec::new();
    let (mut matched, mut total) = (0, 0);
    for seed in 0..if cfg!(debug_assertions) { 400 } else { 4000 } {
        let mut rng = Rng::new(seed, "filters");
        let count = 1 + rng.below(12);
        let depth = rng.below(4) as u32;
        let all: Vec<(Action, String)> = (0..count)
            .map(|at| {
                let action = if rng.chance(0.2) {
                    Action::Drop
                } else {
                    Action::Output(at as usize / 2)
                };
                (action, filter(&mut rng, depth))
            })
            .collect();
        let mut said = Diagnostics::new();
        let rules = Rules::of_filters(&all, &Usual, &mut said);
        let program =
            Program::ip(&all, &Usual).unwrap_or_else(|e| panic!("{all:?}: {}", e.click()));
        // None of them fits this budget, or few do.
        let vast = Rules::of_filters(&all, &Usual, &mut said);
        let budget = if rng.chance(0.5) { 0 } else { 40 };
        let vast = vast.program_within(Diagnostics::new(), budget);
        let vast = vast.expect("it was good before");
        for _ in 0..200 {
            let starts = packet(&mut rng, &mut bytes);
            let frame = Frame {
                bytes: &bytes,
                end: bytes.len() as u32,
                starts: &starts,
            };
            let expected = rules.first_match(&frame);
            for program in [&program, &vast] {
                assert_eq!(
                    output(program.decide(&frame)),
                    expected,
                    "seed {seed}: {all:?} on {bytes:02x?} {starts:?}"
                );
            }
            matched += usize::from(expected.is_some());
            total += 1;
        }
    }
    // Packets that none or all match would test little.
    assert!(
        matched > total / 5 && matched < total * 19 / 20,
        "{matched} of {total}"
    );
}

/// Whether the clause is negated, where it looks, and the bytes and masks it wants.
type Clause = (bool, usize, Vec<(u8, u8)>);

/// What a pattern of plain clauses says, straight from its meaning.
fn pattern_matches(clauses: &[Clause], data: &[u8]) -> bool {
    clauses.iter().all(|(negated, offset, bytes)| {
        let holds = bytes.iter().enumerate().all(|(i, &(value, mask))| {
            mask == 0
                || data
                    .get(offset + i)
                    .is_some_and(|byte| byte & mask == value & mask)
        });
        holds != *negated
    })
}

#[test]
fn byte_patterns_decide_as_their_bytes_do() {
    let mut matched = 0;
    for seed in 0..if cfg!(debug_assertions) { 500 } else { 5000 } {
        let mut rng = Rng::new(seed, "patterns");
        let mut texts = Vec::new();
        let mut all = Vec::new();
        for _ in 0..=rng.below(25) {
            let mut clauses = Vec::new();
            let mut text = String::new();
            for _ in 0..=rng.below(4) {
                let negated = rng.chance(0.15);
                let offset = rng.below(20) as usize;
                let bytes: Vec<(u8, u8)> = (0..=rng.below(6))
                    .map(|_| {
                        (
                            rng.below(2) as u8,
                            [0xff, 0x0f, 0x01, 0][rng.below(4) as usize],
                        )
                    })
                    .collect();
                let hex = |part: fn(&(u8, u8)) -> u8| {
                    bytes.iter().fold(String::new(), |hex, byte| {
                        format!("{hex}{:02x}", part(byte))
                    })
                };
                let sign = if negated { "!" } else { "" };
                text = format!("{text}{sign}{offset}/{}%{} ", hex(|b| b.0), hex(|b| b.1));
                clauses.push((negated, offset, bytes));
            }
            texts.push(text);
            all.push(clauses);
        }
        let program = Program::classifier(&texts).expect("good patterns");
        for _ in 0..100 {
            let data: Vec<u8> = (0..rng.below(32)).map(|_| rng.below(2) as u8).collect();
            let expected = all
                .iter()
                .position(|clauses| pattern_matches(clauses, &data));
            assert_eq!(
                program.run_bytes(&data),
                expected,
                "seed {seed}: {texts:?} on {data:?}"
            );
            matched += usize::from(expected.is_some());
        }
    }
    assert!(matched > 1000);
}

/// A rule over addresses, ports and protocols.
fn access_rule(rng: &mut Rng) -> String {
    let mut parts = vec![pick(rng, &["tcp", "udp", "icmp", "ip proto != 1", "tcpudp"]).to_owned()];
    for (end, chance) in [("src", 1.0), ("dst", 0.5), ("src or dst", 0.2)] {
        let length = [8, 24, 24, 31, 32, 32][rng.below(6) as usize];
        if rng.chance(chance) {
            let (c, d) = (rng.below(256), rng.below(256));
            let mask = u32::MAX << (32 - length);
            let [a, b, c, d] = (10 << 24 | (c as u32) << 8 | d as u32 & mask).to_be_bytes();
            parts.push(format!("{end} net {a}.{b}.{c}.{d}/{length}"));
        }
        if rng.chance(0.3) {
            let (order, port) = (pick(rng, &["", "!=", ">", "<="]), rng.below(2000));
            parts.push(format!("{end} port {order} {port}"));
        }
    }
    if rng.chance(0.1) {
        parts.push("(tcp opt syn or ip ttl < 3 or src port 5 && ip tos 1)".to_owned());
    }
    parts.join(" && ")
}

#[test]
fn long_lists_that_overlap_are_decided_as_one_after_the_other() {
    let mut bytes = Vec::new();
    let mut at_depth = [0; 4];
    for (seed, count) in [40, 300, 520, 700, 1100].into_iter().enumerate() {
        let mut rng = Rng::new(seed as u64, "access");
        let all: Vec<(Action, String)> = (0..count)
            .map(|at| (Action::Output(at), access_rule(&mut rng)))
            .collect();
        let mut said = Diagnostics::new();
        let rules = Rules::of_filters(&all, &Usual, &mut said);
        let program = Rules::of_filters(&all, &Usual, &mut said);
        let program = program
            .program_within(said, 10 * count)
            .expect("good rules");
        assert!(program.machine.has_vectors());
        for _ in 0..400 {
            let starts = packet(&mut rng, &mut bytes);
            let frame = Frame {
                bytes: &bytes,
                end: bytes.len() as u32,
                starts: &starts,
            };
            let expected = rules.first_match(&frame);
            let found = output(program.decide(&frame));
            assert_eq!(found, expected, "seed {seed} on {bytes:02x?} {starts:?}");
            at_depth[expected.map_or(3, |at| at * 3 / count)] += 1;
        }
    }
    // Early rules, late ones and none.
    assert!(at_depth.iter().all(|&count| count > 20), "{at_depth:?}");
}

#[test]
fn lists_of_any_length_are_decided_as_one_after_the_other() {
    let count = super::vectors::MOST_RULES + 700;
    let texts: Vec<String> = (0..count)
        .map(|at| format!("0/{at:04x} 3/0{}", at % 3))
        .collect();
    let mut said = Diagnostics::new();
    let program = Rules::of_patterns(&texts, &mut said).program_within(said, 0);
    let program = program.expect("good patterns");
    for at in [0, 1, 511, 512, 16383, 16384, count - 1, count] {
        for last in 0..3 {
            let [high, low] = (at as u16).to_be_bytes();
            let found = program.run_bytes(&[high, low, 9, last]);
            let is_one = at < count && at % 3 == usize::from(last);
            assert_eq!(found, is_one.then_some(at));
            assert_eq!(program.run_bytes(&[high, low, 9]), None);
        }
    }
}

#[test]
fn a_list_that_overlaps_much_costs_memory_of_its_length_only() {
    let mut rng = Rng::new(1, "overlap");
    let mut rules = Rules::default();
    let mut said = Diagnostics::new();
    for at in 0..2000 {
        let [a, b, c, d] = [30_000, 30_000, 200, 200].map(|most| rng.below(most));
        let rule = format!(
            "src port >= {a} && src port < {} && dst port >= {b} && dst port < {} && \
             ip ttl >= {c} && ip ttl < {} && ip tos >= {d} && src net 10.0.0.0/{}",
            a + 25_000,
            b + 25_000,
            c + 50,
            at % 17,
        );
        let words = language::split(&rule);
        rules.add_filter(at, Action::Output(at), &words, &Usual, &mut said);
    }
    let program = rules.program(said).expect("good rules");
    assert!(program.machine.has_vectors());
    let bytes = program.machine.bytes();
    assert!(bytes < 4_000_000, "{bytes}");
}

#[test]
fn a_batch_is_decided_as_its_packets_are_one_by_one() {
    let mut matched = 0;
    for seed in 0..300 {
        let mut rng = Rng::new(seed, "batches");
        let count = 1 + rng.below(20) as usize;
        let program = if rng.chance(0.5) {
            let texts: Vec<String> = (0..count)
                .map(|at| {
                    let far = [20, 36, 62, 70][rng.below(4) as usize];
                    format!("12/0{}0{} {far}/0{}", rng.below(2), at % 4, rng.below(2))
                })
                .collect();
            Program::classifier(&texts)
        } else {
            let depth = rng.below(2) as u32;
            let all: Vec<(Action, String)> = (0..count)
                .map(|at| (Action::Output(at), filter(&mut rng, depth)))
                .collect();
            Program::ip(&all, &Usual)
        };
        let program = program.expect("good rules");
        let mut pool = Pool::new(CAPACITY, CAPACITY);
        let (mut batch, mut bytes) = (Packets::new(), Vec::new());
        for _ in 0..=rng.below(CAPACITY as u64) {
            let [_, link, network, transport] = packet(&mut rng, &mut bytes);
            if rng.chance(0.3) {
                bytes.extend_from_within(..);
                // One that outgrows its slot's room, so that its own has little behind it.
                bytes.resize(bytes.len() + 3000 * rng.below(2) as usize, 1);
            }
            let handle = pool.alloc_with(&bytes).expect("a slot for each");
            let packet = &mut pool[&handle];
            let marks = [link, network, transport].map(|at| at as usize);
            let has = |at: usize| at <= bytes.len();
            if has(marks[0]) {
                packet.set_mac_header(marks[0] as isize);
            }
            if has(marks[1]) {
                packet.set_network_header(marks[1] as isize);
            }
            if has(marks[2]) {
                packet.set_transport_header(marks[2] as isize);
            }
            packet.pull(14 * rng.below(2) as usize);
            batch.push(handle);
        }
        let mut outputs = [0; CAPACITY];
        program.classify_batch(&pool, &batch, &mut outputs);
        for (handle, found) in batch.drain().zip(outputs) {
            let expected = program.run(&pool[&handle]);
            assert_eq!(
                (found < Program::DENIED).then_some(found as usize),
                expected
            );
            matched += usize::from(expected.is_some());
            pool.free(handle);
        }
    }
    assert!(matched > 1000);
}
