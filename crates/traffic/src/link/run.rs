//! The run of a test at one end: a thread for each stream, and a look at all of them each interval.

use super::carriers::{Course, Stream};
use crate::record::Protocol;
use crate::signal::link::Told;
use crate::signal::link::Wish;
use crate::signal::link::said::Part;
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

/// What ends a run, as who talks to the other end sees it.
#[derive(Debug, Default)]
pub(super) struct Ends {
    /// It is wanted no more.
    pub(super) halt: AtomicBool,
    /// All has come that the other end was to send.
    pub(super) arrived: AtomicBool,
    /// What was on its way has come.
    pub(super) settled: AtomicBool,
}

/// Runs `streams` until the wished time is over, the wished bytes are there or it is halted, and
/// takes in what is on its way until that is settled; what is seen goes to `tells`.
pub(super) fn run(streams: &[Stream], wish: &Wish, ends: &Ends, tells: &Sender<Seen>) {
    let (course, begun, cpu_ns) = (Course::new(streams, wish), Instant::now(), process_cpu_ns());
    let Ends { halt, settled, .. } = ends;
    let sends = streams.iter().any(|stream| stream.is_out);
    let is_over = || {
        let has_all = if sends {
            course.sending.load(Ordering::SeqCst) == 0
        } else {
            ends.arrived.load(Ordering::SeqCst)
        };
        halt.load(Ordering::Relaxed) || (wish.bytes > 0 && has_all)
    };
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
            let course = &course;
            let started = std::thread::Builder::new()
                .name(format!("stream {}", stream.number))
                .spawn_scoped(scope, move || stream.run(wish, course, settled));
            if started.is_err() {
                stream.counts.breaks();
                if stream.is_out {
                    course.sending.fetch_sub(1, Ordering::SeqCst);
                }
            }
        }
        let mut number = 0;
        loop {
            let due = wish.end_of(number);
            while begun.elapsed() < due && !is_over() {
                std::thread::sleep(LOOK.min(due.saturating_sub(begun.elapsed())));
            }
            if due >= wish.whole() || is_over() {
                let (at, told) = (begun.elapsed(), look(false));
                course.over.store(true, Ordering::Relaxed);
                tell(Part::End, number, at, told.clone());
                break (number, at, told);
            }
            tell(Part::Interval, number, begun.elapsed(), look(false));
            number += 1;
            if number == wish.omitted() {
                course.begin();
                for stream in streams {
                    stream.counts.begin();
                }
            }
        }
    });
    // What TCP carries after its time counts for nothing; datagrams that come then were sent
    // before.
    let last = if wish.protocol == Protocol::Udp {
        look(true)
    } else {
        end
    };
    tell(Part::Last, number, at, last);
}
