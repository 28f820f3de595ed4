//! The steady state of the simulator allocates nothing, loss episodes included.
//!
//! An allocator that counts stands in for the system's. Buffers grow to the largest window, queue
//! and loss episode seen; a first flight that no later one exceeds brings them there at once, where
//! chance would take minutes. What is allocated after the warm-up is counted and held against the
//! packets sent.

// The trait of an allocator is unsafe to implement; nothing else here is.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use trammel_core::entry::{Params, Value};
use trammel_core::time::{Span, Time};
use trammel_core::units::Rate;
use trammel_netsim::flow::FlowSpec;
use trammel_netsim::ids::FlowId;
use trammel_netsim::link::{LinkSpec, Queue};
use trammel_netsim::network::Network;
use trammel_netsim::trace::Pace;
use trammel_queues::loss;
use trammel_tcp::cc;
use trammel_tcp::stack::Stack;

/// Counts what it passes on to the system's allocator.
struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);

fn count(bytes: usize) {
    ALLOCATIONS.fetch_add(1, Relaxed);
    BYTES.fetch_add(bytes as u64, Relaxed);
}

// SAFETY: every method hands its arguments unchanged to the system's allocator, which keeps the
// contract of the trait; counting touches only atomics and never allocates.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`, which is the same.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: `at` came from the system's allocator with this layout.
        unsafe { System.dealloc(at, layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller keeps the contract of `alloc_zeroed`, which is the same.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        // SAFETY: `at` came from the system's allocator with this layout, and `size` obeys the
        // contract.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What the path loses.
#[derive(Clone, Copy, Debug)]
enum Losses {
    /// Nothing: windows are held below what the buffer takes.
    None,
    /// What a buffer of one bandwidth-delay product does not hold.
    Overflow,
    /// Besides, each packet whose number is a multiple.
    Periodic(i64),
}

const RATE: Rate = Rate::from_bps(100_000_000);
const RTT: Span = Span::from_ms(20);
/// RATE × RTT / 1500 bytes.
const BDP_PACKETS: u32 = 166;
/// More than is ever outstanding: while a lost retransmission waits for its timeout of ten round
/// trips, SACKed segments pile up behind it.
const FIRST_FLIGHT: u32 = 16 * BDP_PACKETS;

/// Two flows of `variant` over 100 Mbit/s, 20 ms, with access links at all hosts or none.
fn dumbbell(variant: &str, losses: Losses, has_access: bool) -> Network {
    let mut network = Network::new();
    let loss = match losses {
        Losses::Periodic(every) => {
            let entry = loss::find("periodic").expect("the loss model is built in");
            let given = [("every".to_owned(), Value::Int(every))];
            let params = Params::resolve(&entry.about, &given)
                .expect("the parameters are within their ranges");
            Some((entry.build)(&params).expect("possible"))
        }
        Losses::None | Losses::Overflow => None,
    };
    let bottleneck = network.add_link(LinkSpec {
        rate: Some(RATE),
        queue: Queue::DropTail {
            packets: BDP_PACKETS,
            bytes: u64::MAX,
        },
        loss,
        ..LinkSpec::wire("bottleneck", RTT / 2)
    });
    let back = network.add_link(LinkSpec::wire("return", RTT / 2));
    let entry = cc::find(variant).expect("the variant is built in");
    for index in 0..2 {
        let mut stack = Stack::linux_6();
        if matches!(losses, Losses::None) {
            stack.cwnd_clamp = BDP_PACKETS * 3 / 4;
        } else {
            stack.initial_window = FIRST_FLIGHT;
        }
        let (mut forward, mut backward) = (vec![bottleneck], vec![back]);
        if has_access {
            for route in [&mut forward, &mut backward] {
                let [before, behind] = ["before", "behind"].map(|side| {
                    network.add_link(LinkSpec {
                        rate: Some(Rate::from_bps(10_000_000_000)),
                        ..LinkSpec::wire(side, RTT / 20)
                    })
                });
                route.insert(0, before);
                route.push(behind);
            }
        }
        network.add_flow(FlowSpec {
            name: format!("flow {index}"),
            client: stack.clone(),
            server: stack,
            cc: Box::new(|| (entry.build)(&Params::defaults(&entry.about))),
            start: Time::from_ms(index),
            stop: Time::MAX,
            bytes: None,
            forward,
            backward,
            reader: None,
            overhead_bytes: 14,
            pace: Pace::Off,
            seed: 1,
        });
    }
    network
}

/// Data packets and recoveries so far.
fn progress(network: &mut Network) -> (u64, u64) {
    let mut sum = (0, 0);
    for index in 0..2 {
        let sender = network.flow(FlowId::new(index)).sender;
        sum = (sum.0 + sender.data_segments_sent, sum.1 + sender.recoveries);
    }
    sum
}

/// One test: the counters are the process's, and a second test in another thread would be counted
/// too.
#[test]
fn nothing_is_allocated_after_the_warm_up() {
    let mut table = String::new();
    let mut faults = 0;
    let all = [Losses::None, Losses::Overflow, Losses::Periodic(5_000)];
    let cases = [false, true].map(|has_access| all.map(|losses| (has_access, losses)));
    for variant in ["reno", "cubic", "scalable", "bbr"] {
        for (has_access, losses) in cases.concat() {
            let mut network = dumbbell(variant, losses, has_access);
            network.run_until(Time::from_secs(10));
            let before = progress(&mut network);
            let (allocations, bytes) = (ALLOCATIONS.load(Relaxed), BYTES.load(Relaxed));
            network.run_until(Time::from_secs(40));
            let allocations = ALLOCATIONS.load(Relaxed) - allocations;
            let bytes = BYTES.load(Relaxed) - bytes;
            let after = progress(&mut network);
            let (packets, recoveries) = (after.0 - before.0, after.1 - before.1);
            writeln!(
                table,
                "{variant:9} {:23} {packets:7} packets {recoveries:4} recoveries \
                 {allocations:3} allocations {bytes:6} bytes",
                format!("{losses:?}{}", if has_access { ", access" } else { "" }),
            )
            .expect("a string takes any text");
            faults += allocations;
            // That the test tests: packets flow, and losses occur where they should.
            assert!(
                packets > 30_000,
                "{variant} {losses:?}: only {packets} packets"
            );
            match losses {
                Losses::None => assert_eq!(recoveries, 0, "{variant}"),
                // BBR fills no buffer for long.
                Losses::Overflow if variant == "bbr" => {}
                Losses::Overflow | Losses::Periodic(_) => {
                    assert!(recoveries > 0, "{variant} {losses:?} has recoveries");
                }
            }
        }
    }
    eprintln!("{table}");
    assert_eq!(
        faults, 0,
        "something is allocated in the steady state:\n{table}"
    );
}
