//! Two pieces of work on two processors at once: by how much each slows the other.
//!
//! ```text
//! phase      1        2          3        4          5        …
//! first      alone    together   –        together   alone
//! second     –        together   alone    together   –
//! ```
//! A phase falls into slices of some tens of microseconds. In a phase together, a slice counts only
//! where the other worked on all the while: a scheduler that gives the other's processor away for
//! some milliseconds would show as no slowdown at all; a phase alone counts only where the other
//! processor stood idle. A round's slowdown is its slices together over those alone before and
//! after it, so a change of pace between rounds touches neither; within a round it shows as the two
//! differing, and the round is left out.

mod idle;

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
#[cfg(target_os = "linux")]
use trammel_io::clock::pin;
use trammel_packet::cpu::cycles;

/// The share of a phase at its start that warms caches and is not looked at.
const WARM: f64 = 0.5;
/// The other worked on where none of its slices took this many times its median.
const LONGEST_SLICE: f64 = 2.0;
/// A round counts where what each took alone before and after it differs by no more than this.
pub(crate) const STEADY: f64 = 0.1;
/// Who works alone is alone where the other processor is idle for this share of the time.
const IDLE: f64 = 0.7;
/// Slices of a phase that there is room for from the start.
const SLICES: usize = 4096;
/// Slices of a phase without which it says nothing.
const LEAST_SLICES: usize = 8;

/// Binds the thread that calls it to a processor.
#[cfg(not(target_os = "linux"))]
fn pin(_processor: usize) -> Result<(), &'static str> {
    Err("only Linux does so here")
}

/// How long to look.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// A phase.
    pub phase: Duration,
    /// Rounds of four phases.
    pub rounds: usize,
}

/// Long against the time in which the last cache is filled, and against the ticks in which the
/// kernel counts idleness.
const PHASE: Duration = Duration::from_millis(50);

impl Plan {
    /// Of functions: 5 s.
    pub const FUNCTIONS: Plan = Plan {
        phase: PHASE,
        rounds: 25,
    };
    /// Of probes that stay in their processor's own caches: less than 2 s.
    #[cfg(target_os = "linux")]
    pub(crate) const PROBES: Plan = Plan {
        phase: PHASE,
        rounds: 8,
    };
}

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
#[derive(Clone, Debug, Default)]
struct Phase {
    slices: [Vec<Slice>; 2],
    /// The tick from which caches are warm.
    warm_at: u64,
    /// Whether the processor of who did not work stood idle.
    is_quiet: bool,
}

/// Who works in a phase.
fn works(phase: usize, who: usize) -> bool {
    phase % 2 == 1 || phase / 2 % 2 == who
}

/// Lets both work on their processors, by turns alone and together.
pub fn measure<E: Send>(
    processors: [usize; 2],
    makes: [Make<'_, E>; 2],
    plan: Plan,
    ticks_per_s: f64,
) -> Result<Both, Error<E>> {
    let phases = 4 * plan.rounds + 3;
    let barrier = Barrier::new(2);
    let length = (plan.phase.as_secs_f64() * ticks_per_s) as u64;
    let has_failed = AtomicBool::new(false);
    let ends: Vec<AtomicU64> = (0..phases).map(|_| AtomicU64::new(0)).collect();
    let one = |who: usize| -> Result<Vec<(Vec<Slice>, bool)>, Error<E>> {
        let made = pin(processors[who])
            .map_err(|why| {
                let processor = processors[who];
                Error::Other(format!(
                    "no thread can be bound to processor {processor}; `nproc` shows how many there \
                     are: {why}"
                ))
            })
            .and_then(|()| makes[who]().map_err(Error::Work));
        has_failed.fetch_or(made.is_err(), Ordering::SeqCst);
        // Both come here whatever happened, so that neither waits in vain.
        barrier.wait();
        let mut work = made?;
        let phases = if has_failed.load(Ordering::SeqCst) {
            0
        } else {
            phases
        };
        let turn = |phase: usize| {
            let mut slices = Vec::new();
            barrier.wait();
            if !works(phase, who) {
                return (slices, false);
            }
            slices.reserve(SLICES);
            let idle = idle::of(processors[1 - who]);
            let began = Instant::now();
            // The last to begin says when both end.
            ends[phase].fetch_max(cycles() + length, Ordering::Relaxed);
            loop {
                let start = cycles();
                let steps = work();
                let end = cycles();
                slices.push(Slice { start, end, steps });
                if end >= ends[phase].load(Ordering::Relaxed) || steps == 0 {
                    break;
                }
            }
            let took = began.elapsed();
            let stood = idle::of(processors[1 - who]).zip(idle);
            // Where the kernel does not tell, every phase is taken for quiet.
            let is_quiet = stood.is_none_or(|(now, then)| {
                now.saturating_sub(then).as_secs_f64() >= IDLE * took.as_secs_f64()
            });
            (slices, is_quiet)
        };
        Ok((0..phases).map(turn).collect())
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
    let cold = (length as f64 * (1.0 - WARM)) as u64;
    let phase = |(at, ((first, first_quiet), (second, second_quiet))): (usize, _)| Phase {
        slices: [first, second],
        warm_at: ends[at].load(Ordering::Relaxed).saturating_sub(cold),
        is_quiet: first_quiet || second_quiet,
    };
    let both = first.into_iter().zip(second).enumerate();
    let phases: Vec<Phase> = both.map(phase).collect();
    judge(&phases).ok_or_else(|| {
        Error::Other(
            "the two hardly ever ran at the same time: other programs use the processors; try \
             again when they have ended"
                .to_owned(),
        )
    })
}

/// Slowdowns from phases, nothing where too few say something.
fn judge(phases: &[Phase]) -> Option<Both> {
    let typical = |phase: usize, who: usize| typical(phases.get(phase)?, who);
    // Round k lies between the phases 4k and 4k + 4, which are both the first's alone; the second's
    // are two later.
    let rounds = phases.len().saturating_sub(3) / 4;
    let mut seen: Vec<[[f64; 3]; 2]> = Vec::new();
    let mut steady = Vec::new();
    for round in 0..rounds {
        let mut is_quiet = true;
        let mut of = |who: usize| {
            let first = 4 * round + 2 * who;
            let (before, after) = (typical(first, who)?, typical(first + 4, who)?);
            is_quiet &= phases[first].is_quiet && phases[first + 4].is_quiet;
            let (one, two) = (typical(first + 1, who), typical(first + 3, who));
            let together = match (one, two) {
                (Some(one), Some(two)) => f64::midpoint(one, two),
                (one, two) => one.or(two)?,
            };
            Some([before, together, after])
        };
        if let (Some(first), Some(second)) = (of(0), of(1)) {
            seen.push([first, second]);
            let is_steady = [first, second].iter().all(|[before, _, after]| {
                before.max(*after) <= before.min(*after) * (1.0 + STEADY)
            });
            if is_quiet && is_steady {
                steady.push([first, second]);
            }
        }
    }
    // Where the machine is never at rest, what there is is shown, and that it is not steady.
    let used = if steady.is_empty() { &seen } else { &steady };
    if used.is_empty() {
        return None;
    }
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
    Some(Both {
        each: [taken(0)?, taken(1)?],
        counted: steady.len(),
        rounds,
    })
}

/// Ticks a step of one of the two in a phase, alone or beside the other; nothing where too few
/// slices say it.
fn typical(phase: &Phase, who: usize) -> Option<f64> {
    let (own, other) = (&phase.slices[who], &phase.slices[1 - who]);
    let own = &own[own.partition_point(|slice| slice.start < phase.warm_at)..];
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

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut all: Vec<f64> = values.collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slices of a phase that began at a tick, each of so many ticks and ten steps.
    fn slices(start: u64, ticks: u64, count: u64) -> Vec<Slice> {
        let slice = |at: u64| Slice {
            start: start + at * ticks,
            end: start + (at + 1) * ticks,
            steps: 10,
        };
        (0..count).map(slice).collect()
    }

    fn of(slices: [Vec<Slice>; 2]) -> Phase {
        Phase {
            slices,
            warm_at: 1_000,
            is_quiet: true,
        }
    }

    /// Phases of so many rounds in which the first takes 100 ticks alone and `first` beside the
    /// other, which takes 200 and `second`.
    fn phases(rounds: usize, first: u64, second: u64) -> Vec<Phase> {
        let phase = |at: usize| {
            of(match at % 4 {
                0 => [slices(0, 100, 80), Vec::new()],
                2 => [Vec::new(), slices(0, 200, 40)],
                _ => [slices(0, first, 80), slices(0, second, 80 * first / second)],
            })
        };
        (0..4 * rounds + 3).map(phase).collect()
    }

    #[test]
    fn a_slowdown_is_what_it_takes_together_over_what_it_takes_alone() {
        let both = judge(&phases(5, 150, 210)).expect("there are slices");
        assert_eq!((both.counted, both.rounds), (5, 5));
        assert_eq!(both.each.map(|one| one.slowdown), [1.5, 1.05]);
        assert_eq!(both.each.map(|one| one.alone), [10.0, 20.0]);
    }

    #[test]
    fn slices_beside_one_that_waited_do_not_count() {
        let mut phase = of([slices(0, 150, 80), slices(0, 200, 60)]);
        assert_eq!(typical(&phase, 0), Some(15.0));
        // The other is away for a long time, in which the first is as fast as alone.
        phase.slices[1] = slices(0, 200, 35);
        phase.slices[1].push(Slice {
            start: 7_000,
            end: 12_000,
            steps: 10,
        });
        phase.slices[0] = slices(0, 100, 70);
        phase.slices[0].extend(slices(7_000, 50, 100));
        assert_eq!(typical(&phase, 0), Some(10.0));
    }

    #[test]
    fn a_round_in_which_the_pace_changed_does_not_count() {
        let mut all = phases(5, 150, 200);
        all[8] = of([slices(0, 130, 80), Vec::new()]);
        let both = judge(&all).expect("there are slices");
        // It lies between two rounds.
        assert_eq!((both.counted, both.rounds), (3, 5));
        assert_eq!(both.each[0].slowdown, 1.5);
        assert!(both.is_steady());
    }

    #[test]
    fn a_round_whose_other_processor_was_busy_does_not_count() {
        let mut all = phases(5, 150, 200);
        all[2].is_quiet = false;
        all[8].is_quiet = false;
        let both = judge(&all).expect("there are slices");
        assert_eq!((both.counted, both.rounds), (2, 5));
        assert!(!both.is_steady());
    }

    #[test]
    fn too_few_slices_say_nothing() {
        let few = |_| of([slices(0, 100, 4), Vec::new()]);
        let all: Vec<Phase> = (0..7).map(few).collect();
        assert_eq!(judge(&all), None);
    }

    #[test]
    fn both_are_measured_on_a_processor_each() {
        let make = || -> Result<Work, std::convert::Infallible> {
            Ok(Box::new(|| {
                std::hint::black_box(trammel_cost::probes::chain::multiply(3, 4096));
                4096
            }))
        };
        let plan = Plan {
            phase: Duration::from_millis(2),
            rounds: 2,
        };
        let makes: [Make<'_, _>; 2] = [&make, &make];
        // Where there is one processor only, they hardly ever work at the same time.
        if let Ok(both) = measure([0, 1], makes, plan, 1e9) {
            assert!(
                both.each
                    .iter()
                    .all(|one| one.slowdown > 0.5 && one.alone > 0.0)
            );
        }
        let fails = || Err("no work");
        let makes: [Make<'_, &str>; 2] = [&fails, &fails];
        let said = measure([0, 0], makes, plan, 1e9);
        assert!(matches!(said, Err(Error::Work("no work"))), "{said:?}");
    }
}
