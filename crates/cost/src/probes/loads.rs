//! Loads from a working set: one after the other or side by side, at places that no prefetcher
//! foresees.
//!
//! Two orders, because they answer two questions. A *walk* is a closed way through all places, laid
//! at random: a cache that is too small answers nothing of it, so it tells the latency of whatever
//! is large enough. *Scattered* loads draw each place anew, so a cache answers its share of them:
//! they tell sizes, and they are what tables see.
//!
//! ```text
//! walk        at ← buffer[at]                              each place names the next
//! dependent   place ← draw(turn) + (what was loaded, 0)    waits for the load before
//! independent place ← draw(turn)                           waits for nothing
//! ```

use trammel_core::rng::Rng;

/// Words of eight bytes in a cache line.
pub const LINE_WORDS: usize = 8;
/// Bytes of a cache line.
pub const LINE_BYTES: usize = LINE_WORDS * 8;

/// Lays a closed way through the lines at `places` into word `lane` of each, in their order.
///
/// Ways in different lanes do not disturb one another; lanes are 0 to 7. Places beyond the buffer
/// are left out.
pub fn lay(buffer: &mut [u64], lane: usize, places: &[usize]) {
    let word = |line: usize| line * LINE_WORDS + lane;
    let next = places.iter().cycle().skip(1);
    for (place, next) in places.iter().zip(next) {
        if let Some(slot) = buffer.get_mut(word(*place)) {
            *slot = word(*next) as u64;
        }
    }
}

/// The lines of a working set of so many bytes, shuffled.
pub fn shuffled(bytes: usize, rng: &mut Rng) -> Vec<usize> {
    let mut lines: Vec<usize> = (0..bytes / LINE_BYTES).collect();
    shuffle(&mut lines, rng);
    lines
}

/// Pages of a group in `by_pages`: second-level TLBs know twice as many at least.
pub const GROUP: usize = 512;

/// Lines of a working set of so many bytes: a group of pages at a time, a few lines of each, in an
/// order that prefetchers cannot foresee. A page is found in the TLB but for its first line, so
/// that one load in `lines_a_page` walks, and no more.
pub fn by_pages(bytes: usize, page_bytes: usize, lines_a_page: usize, rng: &mut Rng) -> Vec<usize> {
    let lines = page_bytes / LINE_BYTES;
    let apart = (lines / lines_a_page.max(1)).max(1);
    let mut pages: Vec<usize> = (0..bytes / page_bytes.max(1)).collect();
    shuffle(&mut pages, rng);
    let mut order = Vec::with_capacity(pages.len() * lines_a_page);
    for group in pages.chunks(GROUP) {
        let from = order.len();
        for page in group {
            for part in (0..lines).step_by(apart).take(lines_a_page) {
                order.push(page * lines + part + rng.below(apart as u64) as usize);
            }
        }
        shuffle(&mut order[from..], rng);
    }
    order
}

/// Every order is as likely (Fisher and Yates).
fn shuffle(items: &mut [usize], rng: &mut Rng) {
    for last in (1..items.len()).rev() {
        items.swap(last, rng.below(last as u64 + 1) as usize);
    }
}

/// Follows a way from `at` for so many loads; gives where it comes to.
///
/// # Panics
/// Where no way was laid through `at`.
pub fn follow(buffer: &[u64], at: u64, times: u32) -> u64 {
    (0..times).fold(at, |at, _| buffer[at as usize])
}

/// Places that are drawn anew for each load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scatter {
    /// Places to draw from.
    pub places: usize,
    /// Lines from one place to the next.
    pub stride_lines: usize,
    /// The word of each line that is loaded; it must hold 0.
    pub lane: usize,
}

impl Scatter {
    /// The lines of a working set of so many bytes.
    pub fn lines(bytes: usize, lane: usize) -> Scatter {
        Scatter {
            places: (bytes / LINE_BYTES).max(1),
            stride_lines: 1,
            lane,
        }
    }

    /// A line of each of so many pages.
    pub fn pages(pages: usize, page_bytes: usize, lane: usize) -> Scatter {
        Scatter {
            places: pages.max(1),
            stride_lines: (page_bytes / LINE_BYTES).max(1),
            lane,
        }
    }

    /// The word of a place: another line of each page, so that pages do not compete for one set of
    /// a cache.
    fn word(self, place: usize) -> usize {
        let within = (place as u32).wrapping_mul(0x9e37_79b1) >> 8;
        let line = place * self.stride_lines + within as usize % self.stride_lines;
        line * LINE_WORDS + self.lane
    }

    /// The place of a turn.
    fn draw(self, turn: u64) -> usize {
        let mixed = turn.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        (((mixed >> 32) * self.places as u64) >> 32) as usize
    }

    /// Words that a buffer must have for these places.
    pub fn words(self) -> usize {
        self.places * self.stride_lines * LINE_WORDS
    }
}

/// Loads each place once, so that caches hold what they can.
///
/// # Panics
/// Where the buffer is smaller than `Scatter::words`; so do the two below.
pub fn touch(buffer: &[u64], scatter: Scatter) -> u64 {
    (0..scatter.places).fold(0, |sum, place| sum + buffer[scatter.word(place)])
}

/// Loads that wait for one another, for the turns from `from` on.
pub fn dependent(buffer: &[u64], scatter: Scatter, from: u64, times: u32) -> u64 {
    (from..from + u64::from(times)).fold(0, |loaded, turn| {
        buffer[scatter.word(scatter.draw(turn)) + loaded as usize]
    })
}

/// Loads that wait for nothing.
pub fn independent(buffer: &[u64], scatter: Scatter, from: u64, times: u32) -> u64 {
    (from..from + u64::from(times)).fold(0, |sum, turn| {
        sum + buffer[scatter.word(scatter.draw(turn))]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_comes_to_every_place_once_and_back() {
        let mut rng = Rng::new(1, "walk");
        let mut buffer = vec![0; 1024 * LINE_WORDS];
        for places in [
            shuffled(1024 * LINE_BYTES, &mut rng),
            by_pages(1024 * LINE_BYTES, 4096, 4, &mut rng),
        ] {
            lay(&mut buffer, 3, &places);
            let start = (places[0] * LINE_WORDS + 3) as u64;
            let mut at = start;
            let mut seen = std::collections::BTreeSet::new();
            while seen.insert(at) {
                at = follow(&buffer, at, 1);
            }
            assert_eq!((at, seen.len()), (start, places.len()), "seed 1");
            assert_eq!(follow(&buffer, start, places.len() as u32), start);
        }
    }

    #[test]
    fn pages_are_left_only_when_their_lines_are_done() {
        let mut rng = Rng::new(2, "pages");
        let order = by_pages(4 << 20, 4096, 8, &mut rng);
        assert_eq!(order.len(), 1024 * 8);
        let mut pages_seen = std::collections::BTreeSet::new();
        for group in order.chunks(512 * 8) {
            let pages: std::collections::BTreeSet<_> = group.iter().map(|line| line / 64).collect();
            assert_eq!(pages.len(), 512, "seed 2");
            pages_seen.extend(pages);
        }
        assert_eq!(pages_seen.len(), 1024);
        let lines: std::collections::BTreeSet<_> = order.iter().collect();
        assert_eq!(lines.len(), order.len(), "a line comes twice");
    }

    #[test]
    fn scattered_places_are_all_drawn_about_as_often() {
        let scatter = Scatter::pages(64, 4096, 1);
        let mut drawn = [0; 64];
        for turn in 0..64_000 {
            drawn[scatter.draw(turn)] += 1;
        }
        assert!(drawn.iter().all(|n| (800..1200).contains(n)), "{drawn:?}");
        let lines: std::collections::BTreeSet<_> =
            (0..64).map(|place| scatter.word(place) / 8 % 64).collect();
        assert!(lines.len() > 20, "pages share {} lines", lines.len());
    }

    #[test]
    fn what_is_loaded_is_what_stands_there() {
        let scatter = Scatter::lines(4096, 1);
        let mut buffer = vec![0_u64; scatter.words()];
        assert_eq!(dependent(&buffer, scatter, 0, 1000), 0);
        buffer
            .iter_mut()
            .skip(1)
            .step_by(8)
            .for_each(|word| *word = 1);
        assert_eq!(independent(&buffer, scatter, 0, 1000), 1000);
        assert_eq!(touch(&buffer, scatter), 64);
    }
}
