//! The work that is timed, and one timed sample of it.

use std::hint::black_box;
use std::sync::Barrier;
use trammel_core::rng::Rng;
use trammel_cost::eo::Entry;
use trammel_cost::probes::loads::{self, Scatter};
use trammel_cost::probes::{chain, empty};
use trammel_packet::cpu::cycles;
use trammel_packet::headers::checksum;

/// The word of each line that holds 0, for scattered loads.
pub(super) const ZERO_LANE: usize = 0;
/// Lines of the way of [`Work::Evicted`] are so many lines apart.
const APART: usize = 4;
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
    /// Loads along a way that has just left the inner caches for the outer one: so soon that
    /// neighbours had no time to take its place there.
    Evicted {
        /// Where it has come to.
        at: u64,
        /// Lines of the way: as many are loaded in a sample, each once.
        lines: u32,
        /// What is read between, so that the inner caches hold that instead.
        by: Scatter,
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

    /// A way through so many lines that is followed when so many bytes were read after it, more
    /// than the inner caches hold.
    pub(super) fn evicted(&mut self, lane: usize, lines: usize, bytes: usize, seed: u64) -> Work {
        // Lines apart, so that none is fetched for the sake of the one beside it.
        let mut way = way(lines * loads::LINE_BYTES, seed, "evicted");
        for line in &mut way {
            *line *= APART;
        }
        loads::lay(&mut self.words, lane, &way);
        let first = way.first().copied().unwrap_or(0);
        Work::Evicted {
            at: (first * loads::LINE_WORDS + lane) as u64,
            lines: lines as u32,
            // From the beginning as well: the way's own lines are the first to go.
            by: Scatter::lines(bytes, ZERO_LANE),
        }
    }

    /// A way through the lines at `places`, in a lane of its own; `lap` loads before any that are
    /// timed.
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
            Work::Scattered { .. } | Work::AllCores { .. } | Work::Evicted { .. } => {}
        }
    }

    /// Ticks of the counter for so many steps.
    pub(super) fn sample(&mut self, work: &mut Work, steps: u32) -> u64 {
        if let Work::Evicted { at, lines, by } = work {
            *at = loads::follow(&self.words, *at, *lines);
            black_box(loads::touch(&self.words, *by));
        }
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
            Work::Walk { at, .. } | Work::Evicted { at, .. } => {
                *at = black_box(loads::follow(&self.words, *at, steps));
            }
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
                if let Some(run) = code(entry) {
                    black_box(run(&mut self.bytes, params, steps));
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

/// Code that is timed: its memory, its operation's parameters, and how many times.
type Code = fn(&mut [u8], &[f64], u32) -> u64;

/// What is timed for an operation: the function that the router's elements call, where there is
/// one, else the probe.
fn code(entry: &Entry) -> Option<Code> {
    match entry.about.name {
        "checksum" => Some(internet_checksum),
        _ => entry.probe.as_ref().map(|probe| probe.run),
    }
}

/// The checksum of one packet after the other.
fn internet_checksum(buffer: &mut [u8], params: &[f64], times: u32) -> u64 {
    let size = params[0] as usize;
    (0..times as usize).fold(0, |sum, turn| {
        let at = turn % 4 * 2048;
        sum + u64::from(checksum::checksum(black_box(&buffer[at..at + size])))
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_cost::eo;

    #[test]
    fn the_router_s_own_checksum_does_the_work_of_the_probe() {
        let entry = eo::find("checksum").expect("it is there");
        let probe = entry.probe.as_ref().expect("it has one");
        let bytes: Vec<u8> = (0..PROBE_BYTES as u32)
            .map(|at| ((at * 7) >> 3) as u8)
            .collect();
        for params in probe.points {
            let (mut one, mut other) = (bytes.clone(), bytes.clone());
            let sum = (probe.run)(&mut one, params, 1);
            let own = code(entry).expect("it has code")(&mut other, params, 1);
            assert_eq!(own, 0xffff - sum, "{params:?}");
        }
    }
}
