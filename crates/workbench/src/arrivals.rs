//! When frames come: one plan for the simulated device and for the measured one.

use trammel_bench::trial::Load;
use trammel_core::time::{Span, Time};
use trammel_router::simulate::offer::{self, Arrivals};

/// When the frames of a stream come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pattern {
    /// At equal gaps.
    Constant,
    /// At random, independently of one another.
    Poisson,
    /// So many at a time, at the link's rate; all at once where there is no link.
    Bursts(u32),
}

/// The share of each of several loads that one stream has.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Of the load; those of all streams together are 1.
    pub share: f64,
    /// The stream's number, which names its random numbers.
    pub number: usize,
    /// The seed of these.
    pub seed: u64,
}

impl Pattern {
    /// The instants of one stream under `loads`, one after the other from zero on. The error is a
    /// rate that cannot be offered, in frames a second.
    pub fn arrivals(self, part: Part, loads: &[Load]) -> Result<Arrivals, f64> {
        let mut all: Arrivals = Box::new(std::iter::empty());
        let mut start = Time::ZERO;
        for load in loads {
            let per_second = load.frames_per_second() * part.share;
            let end = start.saturating_add(load.duration());
            let next = match self {
                Pattern::Constant => offer::constant(per_second, start, end),
                Pattern::Poisson => {
                    let entity = format!("stream {}", part.number);
                    offer::poisson(per_second, start, end, part.seed, &entity)
                }
                Pattern::Bursts(frames) => {
                    offer::bursts(frames, Span::ZERO, per_second, start, end)
                }
            };
            all = Box::new(all.chain(next.ok_or(per_second)?));
            start = end;
        }
        Ok(all)
    }
}
