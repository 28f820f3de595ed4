//! The work that is timed, and one timed sample of it.

use std::hint::black_box;
use std::sync::Barrier;
use trammel_core::rng::Rng;
use trammel_cost::eo::Entry;
use trammel_cost::probes::loads::{self, Scatter};
use trammel_cost::probes::{chain, empty};
use trammel_packet::cpu::cycles;

/// The word of each line that holds 0, for scattered loads.
pub(super) const ZERO_LANE: usize = 0;
/// Bytes of the buffer of operations' probes: it stays in the first cache.
const PROBE_BYTES: usize = 16_384;

/// Work of a known number of steps.
pub(super) enum Work {
    /// Multiplications that wait for one another.
    Chain,
    /// The turns of a loop alone.
    Empty,
    /// Loads along a way; `lap` loads before they are timed.
    Walk {
        /// Where it has come to.
        at: u64,
        /// Loads that bring it into the cache, or its pages into the TLB.
        lap: u32,
    },
    /// Loads at random places.
    Scattered {
        /// The places.
        scatter: Scatter,
        /// Each waits for the one before.
        waits: bool,
        /// Caches first get what they can hold.
        is_warmed: bool,
        /// The next turn.
        turn: u64,
    },
    /// The same on all cores at once; its time is that of an access of all of them together.
    AllCores {
        /// The places.
        scatter: Scatter,
        /// The next turn.
        turn: u64,
    },
    /// An operation's probe.
    Operation {
        /// The operation.
        entry: &'static Entry,
        /// Its parameters.
        params: &'static [f64],
    },
}

/// The buffers that work is done on.
pub(super) struct Bench {
    words: Vec<u64>,
    bytes: Vec<u8>,
    cores: usize,
}

impl Bench {
    /// Buffers of so many bytes for loads. `seed` decides on every order.
    pub(super) fn new(bytes: usize) -> Bench {
        let mut words = vec![0_u64; bytes / 8];
        // Pages are there once they are written to.
        for word in words.iter_mut().step_by(512) {
            *word = black_box(0);
        }
        let byte = |at: u32| (at.wrapping_mul(2_654_435_761) >> 13) as u8;
        Bench {
            words,
            bytes: (0..PROBE_BYTES as u32).map(byte).collect(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }

    /// Bytes of the buffer for loads.
    pub(super) fn len_bytes(&self) -> usize {
        self.words.len() * 8
    }

    /// Where the buffer for loads is.
    pub(super) fn address(&self) -> usize {
        self.words.as_ptr().addr() + self.len_bytes() / 2
    }

    /// A way through the lines at `places`, in a lane of its own; `lap` loads before any that are timed.
    pub(super) fn walk(&mut self, lane: usize, places: &[usize], lap: usize) -> Work {
        loads::lay(&mut self.words, lane, places);
        let first = places.first().copied().unwrap_or(0);
        Work::Walk {
            at: (first * loads::LINE_WORDS + lane) as u64,
            lap: lap as u32,
        }
    }

    /// Brings the caches to where the work finds what it would find in the long run.
    pub(super) fn warm(&mut self, work: &mut Work, steps: u32) {
        match work {
            Work::Walk { at, lap } => *at = loads::follow(&self.words, *at, *lap),
            Work::Scattered {
                scatter,
                is_warmed: true,
                ..
            } => {
                black_box(loads::touch(&self.words, *scatter));
            }
            Work::Chain | Work::Empty | Work::Operation { .. } => {
                self.sample(work, steps);
            }
            Work::Scattered { .. } | Work::AllCores { .. } => {}
        }
    }

    /// Ticks of the counter for so many steps.
    pub(super) fn sample(&mut self, work: &mut Work, steps: u32) -> u64 {
        if let Work::AllCores { scatter, turn } = work {
            let from = *turn;
            *turn += u64::from(steps);
            return self.together(*scatter, from, steps);
        }
        let start = cycles();
        match work {
            Work::Chain => {
                black_box(chain::multiply(black_box(3), steps));
            }
            Work::Empty => {
                black_box(empty(steps));
            }
            Work::Walk { at, .. } => *at = black_box(loads::follow(&self.words, *at, steps)),
            Work::Scattered {
                scatter,
                waits,
                turn,
                ..
            } => {
                let load = if *waits {
                    loads::dependent
                } else {
                    loads::independent
                };
                black_box(load(&self.words, *scatter, *turn, steps));
                *turn += u64::from(steps);
            }
            Work::AllCores { .. } => {}
            Work::Operation { entry, params } => {
                if let Some(probe) = &entry.probe {
                    black_box((probe.run)(&mut self.bytes, params, steps));
                }
            }
        }
        cycles().saturating_sub(start)
    }

    /// Ticks from when all cores begin until the last has done `steps` over the number of cores.
    fn together(&self, scatter: Scatter, from: u64, steps: u32) -> u64 {
        let each = (steps / self.cores as u32).max(1);
        let barrier = Barrier::new(self.cores);
        let one = |core: usize| {
            // Cores draw places of their own.
            let from = from + ((core as u64) << 40);
            barrier.wait();
            let start = cycles();
            black_box(loads::independent(&self.words, scatter, from, each));
            (start, cycles())
        };
        let one = &one;
        let times: Vec<(u64, u64)> = std::thread::scope(|scope| {
            let others: Vec<_> = (1..self.cores)
                .map(|core| scope.spawn(move || one(core)))
                .collect();
            let mine = one(0);
            let others = others.into_iter().filter_map(|other| other.join().ok());
            others.chain([mine]).collect()
        });
        let first = times.iter().map(|(start, _)| *start).min().unwrap_or(0);
        let last = times.iter().map(|(_, end)| *end).max().unwrap_or(0);
        last.saturating_sub(first)
    }
}

/// A way for latencies within a cache of so many bytes.
pub(super) fn way(bytes: usize, seed: u64, name: &str) -> Vec<usize> {
    loads::shuffled(bytes, &mut Rng::new(seed, name))
}

/// A way for memory's latency, on which one load in `lines_a_page` has to find its page.
pub(super) fn way_by_pages(
    bytes: usize,
    page_bytes: usize,
    lines_a_page: usize,
    seed: u64,
) -> Vec<usize> {
    let mut rng = Rng::new(seed, "memory");
    loads::by_pages(bytes, page_bytes, lines_a_page, &mut rng)
}
