//! The output queues: eight rings in one memory, each with its limits and counters.
//!
//! A frame takes a word for each 8 bytes that it has begun and one for its module header. Where the
//! queue has its greatest number of frames, or no more free words than its threshold, the whole
//! frame is dropped.

use crate::registers::table::output_queues as word;
use crate::registers::{File, place};
use crate::stages::queue::{Queue, Queues};
use crate::stages::sram::{self, Word};
use std::collections::{BTreeMap, VecDeque};

/// Bytes of a word.
const WORD_BYTES: usize = 8;
/// The module header of a stored frame.
const OVERHEAD_BYTES: u32 = 8;
/// Words of a queue before software moves its limits: 512 KiB.
const WORDS: u32 = 0x1_0000;
/// Twice the greatest frame.
const FULL_THRESHOLD: u32 = 512;
/// In [`word::CTRL`]: the queue sends.
const ENABLE_SEND: u32 = 1;
/// In [`word::CTRL`]: the queue is emptied.
const INITIALIZE: u32 = 2;

/// Words that a frame of `bytes` without its FCS takes in a queue.
pub(crate) fn words(bytes: usize) -> u32 {
    (bytes.div_ceil(WORD_BYTES) + 1) as u32
}

/// A queue.
#[derive(Clone, Debug)]
struct Ring {
    file: File,
    frames: VecDeque<Vec<u8>>,
}

impl Ring {
    fn new(number: u32) -> Ring {
        let mut file = File::new(&word::BLOCK);
        file.set(word::CTRL, ENABLE_SEND);
        file.set(word::ADDR_LO, number * WORDS);
        file.set(word::ADDR_HI, (number + 1) * WORDS - 1);
        file.set(word::FULL_THRESH, FULL_THRESHOLD);
        let mut ring = Ring {
            file,
            frames: VecDeque::new(),
        };
        ring.empty();
        ring
    }

    fn capacity(&self) -> u32 {
        let (lo, hi) = (self.file.get(word::ADDR_LO), self.file.get(word::ADDR_HI));
        (hi + 1).saturating_sub(lo)
    }

    /// Words that are free; none where the limits were moved below what is in it.
    fn left(&self) -> u32 {
        self.capacity()
            .saturating_sub(self.file.get(word::NUM_WORDS_IN_Q))
    }

    fn is_full(&self, words: u32) -> bool {
        let most = self.file.get(word::MAX_PKTS_IN_Q);
        let left = self.left();
        let has_room = left > self.file.get(word::FULL_THRESH) && left >= words;
        !has_room || (most != 0 && self.file.get(word::NUM_PKTS_IN_Q) >= most)
    }

    /// Throws away what is in it, and begins at its first word.
    fn empty(&mut self) {
        self.frames.clear();
        let lo = self.file.get(word::ADDR_LO);
        for (register, value) in [
            (word::RD_ADDR, lo),
            (word::WR_ADDR, lo),
            (word::NUM_PKTS_IN_Q, 0),
            (word::NUM_WORDS_IN_Q, 0),
        ] {
            self.file.set(register, value);
        }
    }

    /// Moves one of the two pointers on by `words`.
    fn advance(&mut self, pointer: usize, words: u32) {
        let (lo, capacity) = (self.file.get(word::ADDR_LO), self.capacity().max(1));
        let mut at = self.file.get(pointer).wrapping_sub(lo).wrapping_add(words);
        if at >= capacity {
            at %= capacity;
        }
        self.file.set(pointer, lo + at);
    }

    /// The frame that has the word `word` of the memory, and which of its words that is.
    fn find(&self, word: u32) -> Option<(usize, usize)> {
        let (lo, capacity) = (self.file.get(word::ADDR_LO), self.capacity());
        let place = word.checked_sub(lo).filter(|place| *place < capacity)?;
        let mut first = self.file.get(word::RD_ADDR).wrapping_sub(lo) % capacity;
        for (at, frame) in self.frames.iter().enumerate() {
            let words = words(frame.len());
            let distance = (place + capacity - first) % capacity;
            if distance < words {
                return Some((at, distance as usize));
            }
            first = (first + words) % capacity;
        }
        None
    }

    fn read(&self, at: usize) -> u32 {
        match at {
            word::NUM_WORDS_LEFT => self.left(),
            _ => self.file.get(at),
        }
    }

    fn write(&mut self, at: usize, value: u32) {
        self.file.write(at, value);
        if at == word::CTRL && value & INITIALIZE != 0 {
            self.empty();
            // The bit is a pulse.
            self.file.set(word::CTRL, value & ENABLE_SEND);
        }
    }
}

/// All queues.
#[derive(Clone, Debug)]
pub(crate) struct OutputQueues {
    rings: [Ring; 8],
    /// What a program wrote to words of the memory that no frame has.
    written: BTreeMap<u32, Word>,
}

impl OutputQueues {
    pub(crate) fn new() -> OutputQueues {
        OutputQueues {
            rings: std::array::from_fn(|number| Ring::new(number as u32)),
            written: BTreeMap::new(),
        }
    }

    /// Gives each queue `bytes` of memory, at most those of the 1G board; with `reserve` bytes free
    /// it is full.
    pub(crate) fn limit(&mut self, bytes: u64, reserve: u64) {
        let words = (bytes / WORD_BYTES as u64).clamp(1, u64::from(WORDS)) as u32;
        for ring in &mut self.rings {
            let last = ring.file.get(word::ADDR_LO) + words - 1;
            ring.file.set(word::ADDR_HI, last);
            let threshold = (reserve / WORD_BYTES as u64) as u32;
            ring.file.set(word::FULL_THRESH, threshold);
        }
    }

    /// Whether a frame of `bytes` finds room in `queue`. Counts it if it does not.
    pub(crate) fn admits(&mut self, queue: Queue, bytes: usize) -> bool {
        let ring = &mut self.rings[queue.number()];
        let is_full = ring.is_full(words(bytes));
        if is_full {
            ring.file.count(word::NUM_PKTS_DROPPED);
        }
        !is_full
    }

    /// Stores `frame`, which was admitted, in `queue`.
    pub(crate) fn store(&mut self, queue: Queue, frame: Vec<u8>) {
        let ring = &mut self.rings[queue.number()];
        let words = words(frame.len());
        ring.file
            .add(word::NUM_PKT_BYTES_STORED, frame.len() as u32);
        ring.file
            .add(word::NUM_OVERHEAD_BYTES_STORED, OVERHEAD_BYTES);
        ring.file.count(word::NUM_PKTS_STORED);
        ring.file.count(word::NUM_PKTS_IN_Q);
        ring.file.add(word::NUM_WORDS_IN_Q, words);
        ring.advance(word::WR_ADDR, words);
        ring.frames.push_back(frame);
    }

    /// A frame of `bytes`, which was admitted, is stored in `queue`, which is empty, and taken out
    /// at once.
    pub(crate) fn pass(&mut self, queue: Queue, bytes: usize) {
        let ring = &mut self.rings[queue.number()];
        let words = words(bytes);
        ring.file.add(word::NUM_PKT_BYTES_STORED, bytes as u32);
        ring.file.add(word::NUM_PKT_BYTES_REMOVED, bytes as u32);
        for overhead in [
            word::NUM_OVERHEAD_BYTES_STORED,
            word::NUM_OVERHEAD_BYTES_REMOVED,
        ] {
            ring.file.add(overhead, OVERHEAD_BYTES);
        }
        ring.file.count(word::NUM_PKTS_STORED);
        ring.file.count(word::NUM_PKTS_REMOVED);
        ring.advance(word::WR_ADDR, words);
        ring.advance(word::RD_ADDR, words);
    }

    /// The queues that have frames.
    pub(crate) fn filled(&self) -> Queues {
        let filled = Queue::ALL
            .into_iter()
            .filter(|queue| self.waiting(*queue) > 0);
        filled.fold(Queues::NONE, |all, queue| all.with(Queues::one(queue)))
    }

    /// Whether `queue` may send.
    pub(crate) fn may_send(&self, queue: Queue) -> bool {
        self.rings[queue.number()].file.get(word::CTRL) & ENABLE_SEND != 0
    }

    /// How many frames are in `queue`.
    pub(crate) fn waiting(&self, queue: Queue) -> usize {
        self.rings[queue.number()].frames.len()
    }

    /// Takes the first frame out of `queue`.
    pub(crate) fn remove(&mut self, queue: Queue) -> Option<Vec<u8>> {
        let ring = &mut self.rings[queue.number()];
        let frame = ring.frames.pop_front()?;
        let words = words(frame.len());
        ring.file
            .add(word::NUM_PKT_BYTES_REMOVED, frame.len() as u32);
        ring.file
            .add(word::NUM_OVERHEAD_BYTES_REMOVED, OVERHEAD_BYTES);
        ring.file.count(word::NUM_PKTS_REMOVED);
        ring.file.add(word::NUM_PKTS_IN_Q, u32::MAX);
        ring.file.add(word::NUM_WORDS_IN_Q, words.wrapping_neg());
        ring.advance(word::RD_ADDR, words);
        Some(frame)
    }

    /// The queue and the frame that have a word of the memory, and which of its words that is.
    fn find(&self, word: u32) -> Option<(usize, usize, usize)> {
        let rings = self.rings.iter().enumerate();
        rings.into_iter().find_map(|(queue, ring)| {
            let (frame, at) = ring.find(word)?;
            Some((queue, frame, at))
        })
    }

    /// A word of the memory: a frame's, or what a program wrote there.
    fn word(&self, word: u32) -> Word {
        match self.find(word) {
            Some((queue, frame, at)) => Word::of(&self.rings[queue].frames[frame], queue, at),
            None => self.written.get(&word).copied().unwrap_or_default(),
        }
    }

    pub(crate) fn read(&self, address: u32) -> Option<u32> {
        if let Some((word, quarter)) = sram::place(address) {
            return Some(self.word(word).read(quarter));
        }
        let (queue, at) = place(&word::BLOCK, address)?;
        Some(self.rings[queue].read(at))
    }

    pub(crate) fn write(&mut self, address: u32, value: u32) -> bool {
        if let Some((word, quarter)) = sram::place(address) {
            let new = self.word(word).with(quarter, value);
            match self.find(word) {
                Some((queue, frame, at)) => new.put(&mut self.rings[queue].frames[frame], at),
                None => {
                    self.written.insert(word, new);
                }
            }
            return true;
        }
        let place = place(&word::BLOCK, address);
        if let Some((queue, at)) = place {
            self.rings[queue].write(at, value);
        }
        place.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_shows_the_frames_of_the_queues() {
        let mut queues = OutputQueues::new();
        let (queue, base) = (Queue::mac(1), 0x100_0000 + 16 * 0x2_0000);
        // Twenty words, so that frames go round.
        let at = |word: usize| word::BLOCK.base + 2 * 0x200 + 4 * word as u32;
        queues.write(at(word::ADDR_HI), 0x2_0013);
        queues.write(at(word::FULL_THRESH), 0);
        for fill in 1..=4 {
            assert!(queues.admits(queue, 60));
            queues.store(queue, vec![fill; 60]);
            if fill < 4 {
                assert_eq!(queues.remove(queue), Some(vec![fill; 60]));
            }
        }
        // The fourth frame begins at word 27 of 20: its header at 7, its bytes from 8.
        let read = |queues: &OutputQueues, word: u32, part: u32| {
            queues.read(base + 16 * word + 4 * part).unwrap()
        };
        assert_eq!(
            [0, 1, 2, 3].map(|part| read(&queues, 7, part)),
            [0, 0xff, 0x0004_0008, 60]
        );
        assert_eq!(read(&queues, 8, 2), 0x0404_0404);
        assert_eq!(
            [1, 2].map(|part| read(&queues, 15, part)),
            [0x10, 0x0404_0404]
        );
        queues.write(base + 16 * 8 + 12, 0x0102_0304);
        let frame = queues.remove(queue).unwrap();
        assert_eq!(frame[..9], [4, 4, 4, 4, 1, 2, 3, 4, 4]);
        // Where no frame is, the memory keeps what was written to it.
        assert!(queues.write(base + 16 * 8 + 8, 0xdead) && read(&queues, 8, 2) == 0xdead);
        assert_eq!(read(&queues, 9, 2), 0);
    }

    #[test]
    fn pointers_go_round_and_limits_that_were_moved_hurt_nothing() {
        let mut queues = OutputQueues::new();
        let (queue, at) = (Queue::mac(0), |word: usize| {
            word::BLOCK.base + 4 * word as u32
        });
        queues.write(at(word::ADDR_HI), 1000);
        queues.write(at(word::CTRL), 3);
        for _ in 0..1000 {
            assert!(queues.admits(queue, 60));
            queues.store(queue, vec![0; 60]);
            assert_eq!(queues.remove(queue).map(|frame| frame.len()), Some(60));
        }
        assert_eq!(queues.read(at(word::WR_ADDR)), Some(9 * 1000 % 1001));
        assert_eq!(queues.read(at(word::RD_ADDR)), Some(9 * 1000 % 1001));
        queues.store(queue, vec![0; 2000]);
        // An end before the start: no word is free.
        queues.write(at(word::ADDR_LO), 0x7_ffff);
        assert_eq!(queues.read(at(word::NUM_WORDS_LEFT)), Some(0));
        assert!(!queues.admits(queue, 60));
        assert!(queues.remove(queue).is_some() && queues.remove(queue).is_none());
    }
}
