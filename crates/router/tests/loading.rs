//! Work grows with a configuration's length, not with its square: loading, names, searches,
//! handlers, replacement, end.
//!
//! The processor time of the thread is compared between a configuration and one four times as long.
//! Work in proportion gives about 4, work by the square 16; the bound is between them, and the best
//! of three trials counts.

use std::fmt::Write;
use trammel_router::MemoryHost;
use trammel_router::engine::Options;
use trammel_router::host::NoNames;
use trammel_router::lang;
use trammel_router::{BuiltIn, check, load};

const SHORT: usize = 3_000;
const LONG: usize = 4 * SHORT;
const BOUND: f64 = 8.0;

/// Nanoseconds that this thread has run. The kernel counts them when a thread gives way, which a
/// new one has not done yet.
fn thread_ns() -> Option<u64> {
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// A chain of `n` elements.
fn chain(n: usize) -> String {
    let mut text = "InfiniteSource(LIMIT 1) -> first :: Null".to_owned();
    for _ in 0..n {
        text += "\n -> Null";
    }
    text + " -> last :: Counter -> Discard;"
}

/// The same, declared from its end on: push spreads against the order of the connections.
fn backwards(n: usize) -> String {
    let mut text = "n0 :: Null -> Discard;".to_owned();
    for at in 1..n {
        writeln!(text, "n{at} :: Null -> n{};", at - 1).expect("a string takes any text");
    }
    writeln!(text, "InfiniteSource(LIMIT 1) -> n{};", n - 1).expect("a string takes any text");
    text
}

/// `n / 4` queues side by side, each with a reader of its own.
fn wide(n: usize) -> String {
    let mut text = String::new();
    for at in 0..n / 4 {
        writeln!(
            text,
            "Idle -> q{at} :: Queue(5) -> u{at} :: Unqueue -> Discard;"
        )
        .expect("a string takes any text");
    }
    text
}

/// `n` outputs of one element, and `n / 8` queues before one.
fn fans(n: usize) -> String {
    let mut text = "t :: Tee; Idle -> t; s :: RoundRobinSched -> Discard;".to_owned();
    for at in 0..n {
        writeln!(text, "t [{at}] -> Discard;").expect("a string takes any text");
    }
    for at in 0..n / 8 {
        writeln!(text, "Idle -> Queue(5) -> [{at}] s;").expect("a string takes any text");
    }
    text
}

/// `n / 4` compounds with a variable each, and elements that name others.
fn compounds(n: usize) -> String {
    let mut text =
        "elementclass C { $a | input -> q :: Queue($a) -> u :: Unqueue -> output };".to_owned();
    for at in 0..n / 4 {
        writeln!(
            text,
            "AddressInfo(a{at} 10.0.0.1); Idle -> c{at} :: C({}) -> SetIPAddress(a{at}) \
             -> Discard;",
            at % 50 + 1
        )
        .expect("a string takes any text");
    }
    text
}

/// What it costs to do `work`, in nanoseconds of this thread; nothing where the system counts none.
fn cost(work: impl FnOnce()) -> Option<u64> {
    let before = thread_ns()?;
    work();
    Some(thread_ns()?.saturating_sub(before)).filter(|ns| *ns > 0)
}

fn grows_in_proportion(what: &str, work: impl Fn(usize)) {
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let (Some(short), Some(long)) = (cost(|| work(SHORT)), cost(|| work(LONG))) else {
            eprintln!("skipped: this machine does not tell a thread's processor time");
            return;
        };
        best = best.min(long as f64 / short as f64);
        if best < BOUND {
            return;
        }
    }
    panic!("{what}: four times the length costs {best:.1} times the work");
}

fn language() -> lang::Options<'static> {
    lang::Options {
        classes: Some(&BuiltIn),
        ..lang::Options::default()
    }
}

/// Loads, reads handlers of every element, runs, replaces itself and ends.
fn live(text: &str) {
    let run = Options {
        reconfigurable: true,
        ..Options::simulated()
    };
    let host = Box::new(MemoryHost::new());
    let loaded = load(text, "config", &language(), host, run);
    let (mut ctx, _) = loaded.unwrap_or_else(|refused| panic!("{}", refused.said.click()));
    ctx.run_rounds(Some(ctx_until()), 1);
    for element in 0..ctx.elements() {
        let name = format!("{}.ports", ctx.name(element));
        let of = ctx.find_handler(&name, None).expect("every element has it");
        ctx.read_handler(&of, "").expect("it can be read");
    }
    let of = ctx.find_handler("hotconfig", None).expect("it is allowed");
    ctx.write_handler(&of, text).expect("it is right");
    ctx.change_over();
    ctx.cleanup();
}

fn ctx_until() -> trammel_packet::timestamp::Timestamp {
    trammel_packet::timestamp::Timestamp::from_secs(2_000_000_000)
}

#[test]
fn a_chain() {
    grows_in_proportion("a chain", |n| live(&chain(n)));
}

#[test]
fn a_chain_declared_from_its_end() {
    grows_in_proportion("a chain from its end", |n| live(&backwards(n)));
}

#[test]
fn queues_side_by_side() {
    grows_in_proportion("queues side by side", |n| live(&wide(n)));
}

#[test]
fn many_outputs_and_inputs() {
    grows_in_proportion("fans", |n| live(&fans(n)));
}

#[test]
fn compounds_variables_and_names() {
    grows_in_proportion("compounds", |n| live(&compounds(n)));
}

#[test]
fn a_check() {
    grows_in_proportion("a check", |n| {
        let said = check(
            &chain(n),
            "config",
            &language(),
            std::sync::Arc::new(NoNames),
        );
        assert!(!said.has_errors());
    });
}
