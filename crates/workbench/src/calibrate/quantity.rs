//! The list of what is timed on this machine.

use super::bench::{Bench, Work, ZERO_LANE, way, way_by_pages};
use super::system::Cache;
use trammel_cost::eo;
use trammel_cost::probes::loads::{self, Scatter};

/// What is timed, and the samples of it so far.
pub(super) struct Quantity {
    /// What it is.
    pub what: What,
    /// The work.
    pub work: Work,
    /// Steps of a sample, chosen so that a sample is short.
    pub steps: u32,
}

/// What a quantity is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum What {
    /// A step of the chain of multiplications.
    Clock,
    /// A turn of an empty loop.
    Loop,
    /// A load from the cache of this index, each waiting for the one before.
    Level(usize),
    /// A load from memory, each waiting for the one before; one in `LINES_A_PAGE` has to find its
    /// page.
    Memory,
    /// A dependent load at a random place of so many bytes.
    Set(usize),
    /// A load at a random place of the whole buffer that waits for the one before.
    FarDependent,
    /// One that waits for nothing.
    FarIndependent,
    /// The same on all cores, the time of an access of all of them.
    FarTogether,
    /// A dependent load at one of so many pages.
    Pages(usize),
    /// A dependent load at one of so many lines side by side.
    Lines(usize),
    /// An operation's probe at a point: indices into the family and the probe's points.
    Operation(usize, usize),
}

impl What {
    /// Whether the lower quartile of the samples is meant, not the least: what neighbours leave of
    /// a cache is not what they leave in their quietest moment, and of far loads the least are
    /// those that luck found in the cache.
    pub(super) fn is_shared(self) -> bool {
        matches!(
            self,
            What::Set(_)
                | What::Memory
                | What::FarDependent
                | What::FarIndependent
                | What::FarTogether
        )
    }
}

/// Lines of a page that the walk through memory comes to while the TLB knows the page.
pub(super) const LINES_A_PAGE: usize = 8;
/// Bytes of the smallest page of any machine.
const PAGE: usize = 4096;
/// Lines by which the latency of a shared cache is told.
const EVICTED: usize = 1024;
/// Pages and lines at which the TLB is looked at.
const PAGES: &[usize] = &[
    256, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12_288, 16_384,
];
/// Working sets by which shares are told, in quarters of each cache's size.
const QUARTERS: &[usize] = &[2, 4, 6, 8];
/// More of them for the last cache, in sixteenths of its size.
const LAST_SIXTEENTHS: &[usize] = &[1, 2, 4, 12];

/// Everything that is timed here. `page_bytes` is none where walks cannot be seen.
pub(super) fn all(
    bench: &mut Bench,
    caches: &[Cache],
    page_bytes: Option<usize>,
    seed: u64,
) -> Vec<Quantity> {
    let whole = bench.len_bytes();
    let mut all = vec![(What::Clock, Work::Chain), (What::Loop, Work::Empty)];
    let scattered = |scatter: Scatter, waits, is_warmed| Work::Scattered {
        scatter,
        waits,
        is_warmed,
        turn: 0,
    };
    for (at, cache) in caches.iter().enumerate() {
        let work = match at.checked_sub(1).map(|inner| caches[inner].bytes) {
            // Of a cache that others share, what was there a moment ago: a walk through more would
            // tell what neighbours have left of it, which is for the shares to say.
            Some(inner) if at >= 2 => {
                let enough = (inner * 2).min(inner + cache.bytes / 4);
                bench.evicted(at + 1, EVICTED, enough, seed)
            }
            _ => {
                // Few enough that no two lines want the same place. Of the nearest cache a page:
                // lines of two pages can look alike to a predictor of ways, as their addresses
                // happen to be, and then each is as far as the next cache.
                let most = if at == 0 { PAGE } else { usize::MAX };
                let bytes = (cache.bytes / 4).min(most);
                let places = way(bytes, seed, &format!("L{}", cache.level));
                bench.walk(at + 1, &places, places.len())
            }
        };
        all.push((What::Level(at), work));
    }
    let places = way_by_pages(whole, page_bytes.unwrap_or(4096), LINES_A_PAGE, seed);
    all.push((
        What::Memory,
        bench.walk(7, &places, loads::GROUP * LINES_A_PAGE),
    ));
    let far = Scatter::lines(whole, ZERO_LANE);
    all.push((What::FarDependent, scattered(far, true, false)));
    all.push((What::FarIndependent, scattered(far, false, false)));
    all.push((
        What::FarTogether,
        Work::AllCores {
            scatter: far,
            turn: 0,
        },
    ));
    for bytes in working_sets(caches, whole) {
        let scatter = Scatter::lines(bytes, ZERO_LANE);
        all.push((What::Set(bytes), scattered(scatter, true, true)));
    }
    if let Some(page) = page_bytes {
        for pages in PAGES.iter().copied().filter(|pages| pages * page <= whole) {
            let near = Scatter::pages(pages, page, ZERO_LANE);
            all.push((What::Pages(pages), scattered(near, true, true)));
            let near = Scatter::lines(pages * 64, ZERO_LANE);
            all.push((What::Lines(pages), scattered(near, true, true)));
        }
    }
    for (index, entry) in eo::all().into_iter().enumerate() {
        let points = entry
            .probe
            .as_ref()
            .map_or(&[] as &[_], |probe| probe.points);
        for (point, params) in points.iter().enumerate() {
            all.push((
                What::Operation(index, point),
                Work::Operation { entry, params },
            ));
        }
    }
    let quantity = |(what, mut work)| Quantity {
        steps: steps(bench, &mut work, what),
        what,
        work,
    };
    all.into_iter().map(quantity).collect()
}

/// Sizes of working sets that fit into the buffer, each once.
fn working_sets(caches: &[Cache], whole: usize) -> Vec<usize> {
    let mut sets: Vec<usize> = caches
        .iter()
        .flat_map(|cache| QUARTERS.iter().map(|quarter| cache.bytes / 4 * quarter))
        .chain(caches.last().into_iter().flat_map(|cache| {
            let of = move |sixteenth: &usize| cache.bytes / 16 * sixteenth;
            LAST_SIXTEENTHS.iter().map(of)
        }))
        .filter(|bytes| *bytes <= whole)
        .collect();
    sets.sort_unstable();
    sets.dedup();
    sets
}

/// Steps for which a sample takes some tens of microseconds: long against the counter, short
/// against a time slice. Of memory ten times as much: of few loads the least would be those that
/// found their lines in the last cache.
fn steps(bench: &mut Bench, work: &mut Work, what: What) -> u32 {
    const SAMPLE_TICKS: u64 = 60_000;
    const MOST: u32 = 1 << 20;
    if let Work::Evicted { lines, .. } = work {
        return *lines;
    }
    let enough = match what {
        what if what.is_shared() && !matches!(what, What::Set(_)) => 10 * SAMPLE_TICKS,
        _ => SAMPLE_TICKS,
    };
    // Whole groups of pages: where one begins, pages are looked for, and where it ends none are.
    // Samples of halves would be of the one or of the other.
    let mut steps = match what {
        What::Memory => (loads::GROUP * LINES_A_PAGE) as u32,
        _ => 64,
    };
    bench.warm(work, steps);
    while steps < MOST {
        let ticks = (0..3).map(|_| bench.sample(work, steps)).min();
        if ticks.is_none_or(|ticks| ticks >= enough) {
            break;
        }
        steps *= 2;
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_of_memory_is_whole_groups_of_pages_and_one_of_what_left_each_line_once() {
        const BYTES: usize = 16 << 20;
        let mut bench = Bench::new(BYTES);
        let group = loads::GROUP * LINES_A_PAGE;
        let places = way_by_pages(BYTES, 4096, LINES_A_PAGE, 1);
        let mut work = bench.walk(7, &places, group);
        let memory = steps(&mut bench, &mut work, What::Memory) as usize;
        assert!(memory > 0 && memory.is_multiple_of(group), "{memory}");
        let mut work = bench.evicted(3, EVICTED, 1 << 20, 1);
        let left = steps(&mut bench, &mut work, What::Level(2)) as usize;
        assert_eq!(left, EVICTED);
    }
}
