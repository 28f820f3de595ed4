//! Two pieces of work on two processors at once: by how much each slows the other.
//!
//! ```text
//! phase      1        2          3        4          5        …
//! first      alone    together   –        together   alone
//! second     –        together   alone    together   –
//! ```
//! A phase falls into slices of some tens of microseconds. In a phase together, a slice counts only where the other
//! worked on all the while: a scheduler that gives the other's processor away for some milliseconds would show as no
//! slowdown at all. A round's slowdown is its slices together over those alone before and after it, so a change of pace
//! between rounds touches neither; within a round it shows as the two differing, and the round is left out.

use std::sync::Barrier;
use std::time::Duration;
use trammel_io::clock;
use trammel_packet::cpu::cycles;

/// A phase; long against the time in which a cache of some megabytes is filled.
const PHASE: Duration = Duration::from_millis(16);
/// The share of a phase at its start that warms caches and is not looked at.
const WARM: f64 = 0.25;
/// Rounds without which nothing is said.
const LEAST_ROUNDS: usize = 5;
/// The other worked on where none of its slices took this many times its median.
const LONGEST_SLICE: f64 = 2.0;
/// A round counts where what it took alone, before and after it, differs by no more than this, and is no slower than
/// the least of all rounds by more.
const STEADY: f64 = 0.05;
/// Slices of a phase without which it says nothing.
const LEAST_SLICES: usize = 8;

/// Work that goes on for ever: each call does a slice of it and gives how many steps that were.
pub type Work = Box<dyn FnMut() -> u64>;
/// Makes work on the thread that will do it.
pub type Make<'a, E> = &'a (dyn Fn() -> Result<Work, E> + Sync);

/// What one of two pieces of work takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Taken {
    /// Ticks of the time-stamp counter a step, alone.
    pub alone: f64,
    /// The same beside the other.
    pub together: f64,
    /// The median slowdown of the rounds that count.
    pub slowdown: f64,
    /// The lower and the upper quartile of the same.
    pub quartiles: [f64; 2],
    /// Ticks a step alone at the beginning and at the end: they show a change of pace.
    pub ends: [f64; 2],
}

/// What two pieces of work take beside each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Both {
    /// The first, the second.
    pub each: [Taken; 2],
    /// Rounds that count.
    pub counted: usize,
    /// Rounds.
    pub rounds: usize,
}

impl Both {
    /// Whether half of the rounds count.
    pub fn is_steady(&self) -> bool {
        2 * self.counted >= self.rounds
    }
}

/// Why nothing was measured.
#[derive(Debug)]
pub enum Error<E> {
    /// The work could not be made.
    Work(E),
    /// A sentence.
    Other(String),
}

/// One slice of work, in ticks.
#[derive(Clone, Copy, Debug)]
struct Slice {
    start: u64,
    end: u64,
    steps: u64,
}

impl Slice {
    fn each(&self) -> f64 {
        (self.end - self.start) as f64 / self.steps.max(1) as f64
    }
}

/// What each of the two did in a phase.
type Phase = [Vec<Slice>; 2];

/// Who works in a phase.
fn works(phase: usize, who: usize) -> bool {
    phase % 2 == 1 || phase / 2 % 2 == who
}

/// Lets both work on their processors, by turns alone and together, for about `time`.
pub fn measure<E: Send>(
    processors: [usize; 2],
    makes: [Make<'_, E>; 2],
    time: Duration,
    ticks_per_s: f64,
) -> Result<Both, Error<E>> {
    let rounds = (time.as_secs_f64() / (4.0 * PHASE.as_secs_f64())).ceil() as usize;
    let rounds = rounds.max(LEAST_ROUNDS);
    let phases = 4 * rounds + 3;
    let barrier = Barrier::new(2);
    let length = (PHASE.as_secs_f64() * ticks_per_s) as u64;
    let one = |who: usize| -> Result<Vec<Vec<Slice>>, Error<E>> {
        let pinned = clock::pin(processors[who]);
        let made = makes[who]();
        // Both come here whatever happened, so that neither waits in vain.
        barrier.wait();
        let mut seen = Vec::with_capacity(phases);
        let mut work = match (&pinned, made) {
            (Ok(()), Ok(work)) => Some(work),
            (Ok(()), Err(error)) => {
                seen.push(Err(Error::Work(error)));
                None
            }
            (Err(why), _) => {
                seen.push(Err(Error::Other(format!(
                    "nothing can be kept on processor {}: {why}",
                    processors[who]
                ))));
                None
            }
        };
        for phase in 0..phases {
            let mut slices = Vec::new();
            barrier.wait();
            if let Some(work) = work.as_mut().filter(|_| works(phase, who)) {
                slices.reserve(1024);
                let until = cycles() + length;
                loop {
                    let start = cycles();
                    let steps = work();
                    let end = cycles();
                    slices.push(Slice { start, end, steps });
                    if end >= until || steps == 0 {
                        break;
                    }
                }
            }
            seen.push(Ok(slices));
        }
        seen.into_iter().collect()
    };
    let (first, second) = std::thread::scope(|scope| {
        let one = &one;
        let second = scope.spawn(move || one(1));
        // A thread of its own as well: the caller's stays where it may run.
        let first = scope.spawn(move || one(0));
        (first.join(), second.join())
    });
    let ended = || Error::Other("a thread ended before its time".to_owned());
    let first = first.map_err(|_| ended())??;
    let second = second.map_err(|_| ended())??;
    let phases: Vec<Phase> = first.into_iter().zip(second).map(|(a, b)| [a, b]).collect();
    judge(&phases).ok_or_else(|| {
        Error::Other(
            "the two hardly ever worked at the same time: other programs have the processors; try again when they have ended"
                .to_owned(),
        )
    })
}

/// Slowdowns from phases, nothing where too few say something.
fn judge(phases: &[Phase]) -> Option<Both> {
    let typical = |phase: usize, who: usize| typical(phases.get(phase)?, who);
    // Round k lies between the phases 4k and 4k + 4, which are both the first's alone; the second's are two later.
    let rounds = phases.len().saturating_sub(3) / 4;
    let mut seen: Vec<[[f64; 3]; 2]> = Vec::new();
    for round in 0..rounds {
        let of = |who: usize| {
            let first = 4 * round + 2 * who;
            let (before, after) = (typical(first, who)?, typical(first + 4, who)?);
            let (one, two) = (typical(first + 1, who), typical(first + 3, who));
            let together = match (one, two) {
                (Some(one), Some(two)) => f64::midpoint(one, two),
                (one, two) => one.or(two)?,
            };
            Some([before, together, after])
        };
        if let (Some(first), Some(second)) = (of(0), of(1)) {
            seen.push([first, second]);
        }
    }
    let least = |who: usize| {
        let alone = seen.iter().flat_map(|round| [round[who][0], round[who][2]]);
        alone.fold(f64::INFINITY, f64::min)
    };
    let least = [least(0), least(1)];
    let is_steady = |round: &&[[f64; 3]; 2]| {
        (0..2).all(|who| {
            let [before, _, after] = round[who];
            before.max(after) <= least[who] * (1.0 + STEADY)
        })
    };
    let steady: Vec<_> = seen.iter().filter(is_steady).copied().collect();
    // Where the pace never holds, what there is is shown, and that it is not steady.
    let used = if steady.is_empty() { &seen } else { &steady };
    let taken = |who: usize| {
        let mut ratios: Vec<f64> = used
            .iter()
            .map(|round| round[who][1] / f64::midpoint(round[who][0], round[who][2]))
            .collect();
        ratios.sort_by(f64::total_cmp);
        let at = |share: f64| ratios.get((share * (ratios.len() - 1) as f64).round() as usize);
        let middle = |of: usize| {
            let mut all: Vec<f64> = used.iter().map(|round| round[who][of]).collect();
            all.sort_by(f64::total_cmp);
            all.get(all.len() / 2).copied()
        };
        Some(Taken {
            alone: middle(0)?,
            together: middle(1)?,
            slowdown: *at(0.5)?,
            quartiles: [*at(0.25)?, *at(0.75)?],
            ends: [seen.first()?[who][0], seen.last()?[who][2]],
        })
    };
    if seen.is_empty() {
        return None;
    }
    Some(Both {
        each: [taken(0)?, taken(1)?],
        counted: steady.len(),
        rounds,
    })
}

/// Ticks a step of one of the two in a phase, alone or beside the other; nothing where too few slices say it.
fn typical(phase: &Phase, who: usize) -> Option<f64> {
    let (own, other) = (warmed(&phase[who]), &phase[1 - who]);
    let mut each: Vec<f64> = if other.is_empty() {
        own.iter().map(Slice::each).collect()
    } else {
        let longest = LONGEST_SLICE * median(other.iter().map(|s| (s.end - s.start) as f64))?;
        let (first, last) = (other.first()?.start, other.last()?.end);
        let is_beside = |slice: &&Slice| {
            slice.start >= first
                && slice.end <= last
                && other
                    .iter()
                    .skip(other.partition_point(|o| o.end <= slice.start))
                    .take_while(|o| o.start < slice.end)
                    .all(|o| (o.end - o.start) as f64 <= longest)
        };
        own.iter().filter(is_beside).map(Slice::each).collect()
    };
    if each.len() < LEAST_SLICES {
        return None;
    }
    each.sort_by(f64::total_cmp);
    // Interruptions only make slices longer: the lower half is undisturbed.
    Some(each[each.len() / 4])
}

fn warmed(slices: &[Slice]) -> &[Slice] {
    &slices[(slices.len() as f64 * WARM) as usize..]
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut all: Vec<f64> = values.collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied()
}
