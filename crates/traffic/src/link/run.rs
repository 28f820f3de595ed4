//! The run of a test at one end: a thread for each stream, and a look at all of them each interval.

use super::Wish;
use super::carriers::Stream;
use super::counts::Told;
use super::said::Part;
use crate::record::Protocol;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};
use trammel_io::clock::process_cpu_ns;

/// So often is looked whether to stop.
const LOOK: Duration = Duration::from_millis(10);

/// What was seen of all streams at a moment.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) part: Part,
    pub(super) number: u32,
    /// From the start on.
    pub(super) at: Duration,
    /// Of each stream.
    pub(super) told: Vec<Told>,
}

/// Runs `streams` until the wished time is over or `halt` is set, and takes in what is on its way until `settled`; what is
/// seen goes to `tells`.
pub(super) fn run(
    streams: &[Stream],
    wish: &Wish,
    (halt, settled): (&AtomicBool, &AtomicBool),
    tells: &Sender<Seen>,
) {
    let (over, begun, cpu_ns) = (AtomicBool::new(false), Instant::now(), process_cpu_ns());
    let look = |all: bool| {
        let took = process_cpu_ns() - cpu_ns;
        let told = streams.iter().map(move |stream| {
            let mut told = if all {
                stream.counts.tell_all()
            } else {
                stream.counts.tell()
            };
            stream.add_kernels(&mut told);
            told.cpu_ns = took.unsigned_abs();
            told
        });
        told.collect::<Vec<Told>>()
    };
    let tell = |part, number, at, told| {
        let seen = Seen {
            part,
            number,
            at,
            told,
        };
        // Nobody listens any more: nobody needs it.
        let _ = tells.send(seen);
    };
    let (number, at, end) = std::thread::scope(|scope| {
        for stream in streams {
            let (over, settled) = (&over, settled);
            let started = std::thread::Builder::new()
                .name(format!("stream {}", stream.number))
                .spawn_scoped(scope, move || stream.run(wish, over, settled));
            if started.is_err() {
                stream.counts.breaks();
            }
        }
        let mut number = 0;
        loop {
            let due = wish.interval.saturating_mul(number + 1).min(wish.duration);
            while begun.elapsed() < due && !halt.load(Ordering::Relaxed) {
                std::thread::sleep(LOOK.min(due.saturating_sub(begun.elapsed())));
            }
            if due >= wish.duration || halt.load(Ordering::Relaxed) {
                let (at, told) = (begun.elapsed(), look(false));
                over.store(true, Ordering::Relaxed);
                tell(Part::End, number, at, told.clone());
                break (number, at, told);
            }
            tell(Part::Interval, number, begun.elapsed(), look(false));
            number += 1;
        }
    });
    // What TCP carries after its time counts for nothing; datagrams that come then were sent before.
    let last = if wish.protocol == Protocol::Udp {
        look(true)
    } else {
        end
    };
    tell(Part::Last, number, at, last);
}
