//! One memory for writes and reads: who has it in which cycles.
//!
//! A side that asks keeps the memory until it has all its words, or until it has had a burst and
//! the other side asks. The cycle after a side's last word finds it asking no more; each change
//! costs idle cycles. Writes have the longer burst, so that receive FIFOs do not overflow: what is
//! too much is lost late, in the queues.

use crate::params::Params;

/// Who has the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Write,
    Read,
}

/// What a side asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask {
    /// The first cycle of asking; [`super::receive::NEVER`] where it does not.
    pub(crate) from: u64,
    /// Words that it still needs.
    pub(crate) words: u64,
}

/// Words that a side gets one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Burst {
    pub(crate) side: Side,
    pub(crate) words: u64,
    /// The cycle of the last one.
    pub(crate) last: u64,
}

/// The arbiter of the memory, idle from `cycle` on with its eye on `turn`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Memory {
    pub(crate) cycle: u64,
    pub(crate) turn: Side,
    turnaround: u64,
    write_burst: u64,
    read_burst: u64,
    /// Whether it has two ports: whoever asks gets all words at once.
    is_ideal: bool,
}

impl Memory {
    pub(crate) fn new(params: &Params) -> Memory {
        Memory {
            cycle: 0,
            turn: Side::Write,
            turnaround: params.turnaround_cycles,
            write_burst: params.write_burst,
            read_burst: params.read_burst,
            is_ideal: params.ideal_memory == 1,
        }
    }

    /// The cycle of the last word that the reader would get if it asked alone.
    pub(crate) fn read_alone(&self, read: Ask) -> u64 {
        if self.is_ideal {
            return read.from + read.words;
        }
        let change = u64::from(self.turn == Side::Write);
        read.from.max(self.cycle) + change + self.turnaround + read.words - 1
    }

    /// The next burst; one of the two asks.
    pub(crate) fn grant(&mut self, write: Ask, read: Ask) -> Burst {
        if self.is_ideal {
            return self.grant_at_once(write, read);
        }
        let of = |side| if side == Side::Write { write } else { read };
        let (mine, theirs) = (
            self.cycle.max(of(self.turn).from),
            self.cycle.max(of(self.turn.other()).from),
        );
        // The arbiter's eye stays where it is while nobody asks; it moves in the cycle that sees
        // the other ask.
        let granted = if mine <= theirs {
            mine
        } else {
            self.turn = self.turn.other();
            theirs + 1
        };
        let side = self.turn;
        let (ask, other) = (of(side), of(side.other()));
        let burst = match side {
            Side::Write => self.write_burst,
            Side::Read => self.read_burst,
        };
        let first = granted + self.turnaround;
        let natural = first + ask.words - 1;
        let yields = other.from.max(first + burst);
        if yields <= natural {
            self.turn = side.other();
            self.cycle = yields + 1;
            return Burst {
                side,
                words: yields - first + 1,
                last: yields,
            };
        }
        if other.from <= natural + 1 {
            self.turn = side.other();
        }
        self.cycle = natural + 2;
        Burst {
            side,
            words: ask.words,
            last: natural,
        }
    }
}

impl Memory {
    /// All words to whoever asks first; the other is not kept.
    fn grant_at_once(&mut self, write: Ask, read: Ask) -> Burst {
        let (side, ask) = if write.from <= read.from {
            (Side::Write, write)
        } else {
            (Side::Read, read)
        };
        let last = ask.from + ask.words;
        self.cycle = last;
        Burst {
            side,
            words: ask.words,
            last,
        }
    }
}

impl Side {
    fn other(self) -> Side {
        match self {
            Side::Write => Side::Read,
            Side::Read => Side::Write,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::receive::NEVER;
    use proptest::prelude::*;

    /// What a side wants: pauses before it asks, at least the cycle in which it is seen to have
    /// ended, and words.
    type Script = Vec<(u64, u64)>;

    /// The same arbiter cycle by cycle, with the registers of its description: an eye, a state, a
    /// counter. The cycle and the side of every word.
    fn by_cycle(params: &Params, write: &Script, read: &Script) -> Vec<(Side, u64)> {
        let scripts = [write, read];
        let (mut item, mut left) = ([0, 0], [0, 0]);
        let mut from = [0, 1].map(|side| scripts[side].first().map_or(NEVER, |(pause, _)| *pause));
        for side in 0..2 {
            left[side] = scripts[side].first().map_or(0, |(_, words)| *words);
        }
        let (mut eye, mut is_busy, mut count, mut words) = (0, false, 0, Vec::new());
        for cycle in 0..20_000 {
            let asks = |side: usize| left[side] > 0 && from[side] <= cycle;
            let (mine, theirs) = (asks(eye), asks(1 - eye));
            match (is_busy, mine) {
                (false, true) => {
                    is_busy = true;
                    count = [params.write_burst, params.read_burst][eye];
                }
                (_, false) => {
                    is_busy = false;
                    eye = if theirs { 1 - eye } else { eye };
                }
                (true, true) => {
                    words.push(([Side::Write, Side::Read][eye], cycle));
                    left[eye] -= 1;
                    if left[eye] == 0 {
                        item[eye] += 1;
                        let next = scripts[eye].get(item[eye]);
                        from[eye] = next.map_or(NEVER, |(pause, _)| cycle + pause);
                        left[eye] = next.map_or(0, |(_, words)| *words);
                    }
                    if count == 0 && theirs {
                        (is_busy, eye) = (false, 1 - eye);
                    } else {
                        count = count.saturating_sub(1);
                    }
                }
            }
        }
        words
    }

    /// The same from bursts.
    fn by_burst(params: &Params, write: &Script, read: &Script) -> Vec<(Side, u64)> {
        let mut memory = Memory::new(params);
        let (mut scripts, mut words) = ([write.iter(), read.iter()], Vec::new());
        let ask = |next: Option<&(u64, u64)>, last: u64| Ask {
            from: next.map_or(NEVER, |(pause, _)| last + pause),
            words: next.map_or(1, |(_, words)| *words),
        };
        let mut asks = [0, 1].map(|side| ask(scripts[side].next(), 0));
        while asks.iter().any(|ask| ask.from != NEVER) {
            let burst = memory.grant(asks[0], asks[1]);
            let side = burst.side as usize;
            words.extend(
                (burst.last + 1 - burst.words..=burst.last).map(|cycle| (burst.side, cycle)),
            );
            asks[side].words -= burst.words;
            if asks[side].words == 0 {
                asks[side] = ask(scripts[side].next(), burst.last);
            }
        }
        words
    }

    fn script() -> impl Strategy<Value = Script> {
        // Three cycles at least between two frames, as the state machines of both sides have.
        prop::collection::vec((prop_oneof![4..12_u64, 4..200_u64], 1..100_u64), 0..20)
    }

    proptest! {
        #[test]
        fn bursts_are_what_the_arbiter_does_cycle_by_cycle(write in script(), read in script()) {
            let params = &Params::REFERENCE_1G;
            prop_assert_eq!(by_burst(params, &write, &read), by_cycle(params, &write, &read));
        }
    }

    #[test]
    fn two_sides_that_always_ask_share_it_by_their_bursts() {
        let params = &Params::REFERENCE_1G;
        let words = by_burst(params, &vec![(0, 21 * 50)], &vec![(0, 16 * 50)]);
        // 21 writes, a change, 16 reads, a change.
        assert_eq!(words.last(), Some(&(Side::Read, 39 * 50 - 1)));
    }

    #[test]
    fn frames_of_nine_words_take_it_in_turn_every_22_cycles() {
        let params = &Params::REFERENCE_1G;
        let script = vec![(4, 9); 100];
        let words = by_burst(params, &script, &script);
        let cycles = words.last().unwrap().1 - words[0].1;
        // 2 × (9 words, the cycle that sees the end, the change): this is where 4 × 1 Gbit/s of
        // 64-byte frames, one in 21 cycles, end.
        assert_eq!(cycles, 22 * 100 - 3, "{words:?}");
    }
}
