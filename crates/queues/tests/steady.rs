//! What a queue does in its steady state: it allocates nothing, obeys Little's law, and costs
//! little.
//!
//! An allocator that counts stands in for the system's.

// The trait of an allocator is unsafe to implement; nothing else here is.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::{Duration, Instant};
use trammel_core::ecn::Ecn;
use trammel_core::entry::Params;
use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};
use trammel_queues::aqm::{self, Discipline, Entry, Item, LinkFacts};

/// Counts what it passes on to the system's allocator, for each thread apart.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every method hands its arguments unchanged to the system's allocator, which keeps the
// contract of the trait; counting touches only a cell of the thread and never allocates.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps the contract of `alloc`, which is the same.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: `at` came from the system's allocator with this layout.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const FACTS: LinkFacts = LinkFacts {
    rate_bps: 12_000_000,
    mtu: 1500,
    limit_packets: 1000,
    limit_bytes: u64::MAX,
    overhead: 0,
};

fn build(entry: &Entry) -> Box<dyn Discipline> {
    (entry.build)(&Params::defaults(&entry.about), &FACTS).expect("defaults are possible")
}

/// A packet that is a millisecond of the link, of one of eight flows between four hosts and four,
/// with codepoints of both kinds.
fn packet(number: u32) -> Item {
    let flow = number % 8;
    Item {
        id: number,
        bytes: 1500,
        flow: flow * 0x0101_0101,
        ecn: [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1][(number % 3) as usize],
        source: (flow / 2) as u16,
        destination: (flow % 4) as u16,
        dscp: [0, 8, 46, 34][(number % 4) as usize],
        ..Item::default()
    }
}

/// Serves a packet each millisecond for `seconds`, of `load` that come meanwhile on average; gives
/// packets sent, the sum of their waits, and the integral of occupancy, both in packet
/// milliseconds.
fn run(
    queue: &mut dyn Discipline,
    rng: &mut Rng,
    from_s: u64,
    seconds: u64,
    load: f64,
) -> (u64, f64, f64) {
    let (mut sent, mut waited, mut occupied, mut number) = (0, 0.0, 0.0, 0);
    for ms in 1000 * from_s..1000 * (from_s + seconds) {
        let now = Time::from_ms(ms);
        let coming = u32::from(rng.chance(load / 2.0)) + u32::from(rng.chance(load / 2.0));
        for _ in 0..coming {
            queue.enqueue(now, packet(number), rng, &mut |_, _| {});
            number += 1;
        }
        occupied += f64::from(queue.packets());
        if let Some(item) = queue.dequeue(now + Span::from_ms(1), rng, &mut |_, _| {}) {
            sent += 1;
            waited += (now + Span::from_ms(1) - item.enqueued).as_secs_f64() * 1e3;
        }
    }
    (sent, waited, occupied)
}

#[test]
fn the_steady_state_allocates_nothing() {
    for entry in aqm::ALL {
        let mut queue = build(entry);
        let mut rng = Rng::new(7, "steady");
        // Overload first, so that every buffer has been as long as it gets.
        for number in 0..3000 {
            queue.enqueue(Time::ZERO, packet(number), &mut rng, &mut |_, _| {});
        }
        run(queue.as_mut(), &mut rng, 0, 5, 1.5);
        let before = ALLOCATIONS.with(Cell::get);
        run(queue.as_mut(), &mut rng, 5, 10, 1.3);
        let after = ALLOCATIONS.with(Cell::get);
        assert_eq!(after - before, 0, "{} allocates", entry.about.name);
    }
}

#[test]
fn mean_occupancy_is_the_rate_times_the_mean_delay() {
    for entry in aqm::ALL {
        let mut queue = build(entry);
        let mut rng = Rng::new(11, "steady");
        // Below its capacity, a queue drops next to nothing, and what it drops is not counted.
        let (sent, waited, occupied) = run(queue.as_mut(), &mut rng, 0, 60, 0.8);
        assert!(sent > 40_000, "{}: {sent}", entry.about.name);
        let error = (occupied - waited).abs() / occupied;
        assert!(error < 0.02, "{}: {occupied} {waited}", entry.about.name);
    }
}

/// The least time in which `name` takes a packet in and gives one out, among `rounds`.
fn cost(name: &str, rounds: u32) -> Duration {
    const PACKETS: u32 = 200_000;
    let mut least = Duration::MAX;
    for _ in 0..rounds {
        let mut queue = build(aqm::find(name).expect("it is built in"));
        let mut rng = Rng::new(3, "cost");
        for number in 0..100 {
            queue.enqueue(Time::ZERO, packet(number), &mut rng, &mut |_, _| {});
        }
        let start = Instant::now();
        for number in 0..PACKETS {
            // A delay of 3 ms: no law has much to do.
            let now = Time::from_us(30 * u64::from(number));
            queue.enqueue(now, packet(number), &mut rng, &mut |_, _| {});
            queue.dequeue(now, &mut rng, &mut |_, _| {});
        }
        least = least.min(start.elapsed() / PACKETS);
    }
    least
}

#[test]
#[ignore = "long: times disciplines; run with `--ignored --nocapture` on an idle machine"]
#[allow(clippy::print_stdout)] // It tells what it has timed.
fn cake_costs_at_most_twice_what_fq_codel_does() {
    for entry in aqm::ALL {
        println!("{}: {:?}", entry.about.name, cost(entry.about.name, 9));
    }
    let (cake, fq_codel) = (cost("cake", 15), cost("fq_codel", 15));
    assert!(cake <= 2 * fq_codel, "{cake:?} {fq_codel:?}");
}
