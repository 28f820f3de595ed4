//! DIR-24-8: a word for every prefix of 24 bits, and chunks of 256 words where longer prefixes are.
//!
//! One access finds the next hop wherever no prefix is longer than 24 bits, two elsewhere. The
//! table has 64 MB whatever its routes; parts in which no route stands cost address space only.
//!
//! # References
//! Gupta, Lin and McKeown, "Routing Lookups in Hardware at Memory Access Speeds", INFOCOM 1998.

use super::rib::{Level, Rib, Run, paint};
use super::short::{SHORT, Short};
use super::{Address, BATCH, NextHop, Prefix, Table};
use trammel_packet::cpu::prefetch;

/// Bits that index the table.
const WIDTH: u8 = 24;
/// Words of a chunk.
const CHUNK: usize = 256;
/// Marks a word that is the number of a chunk rather than a next hop.
const SPLIT: u32 = 1 << 31;
/// The whole table, as a level.
const TABLE: Level<u32> = Level {
    base: 0,
    depth: 0,
    width: WIDTH,
};

/// A table of IPv4 routes.
#[derive(Clone, Debug)]
pub struct Direct {
    rib: Rib<u32>,
    short: Short,
    cells: Vec<u32>,
    chunks: Chunks,
    /// Kept for its memory.
    runs: Vec<Run<u32>>,
}

impl Direct {
    /// An empty table.
    pub fn new() -> Direct {
        Direct {
            rib: Rib::new(),
            short: Short::new(),
            cells: vec![0; 1 << WIDTH],
            chunks: Chunks::default(),
            runs: Vec::new(),
        }
    }

    /// Brings the words of whole cells in line with the routes.
    fn repaint(&mut self, region: Prefix<u32>) {
        self.rib.runs(region, SHORT + 1, &mut self.runs);
        if !self.chunks.is_empty() {
            for &cell in &self.cells[TABLE.slots(region)] {
                self.chunks.free(cell);
            }
        }
        let chunks = &mut self.chunks;
        paint(&mut self.cells, TABLE, region, &self.runs, |base, runs| {
            chunks.build(base, runs)
        });
    }

    fn change(&mut self, prefix: Prefix<u32>, hop: Option<NextHop>) {
        if prefix.len() <= SHORT {
            self.short.set(prefix, hop);
        } else {
            self.repaint(Prefix::new(prefix.first(), prefix.len().min(WIDTH)));
        }
    }
}

impl Default for Direct {
    fn default() -> Self {
        Direct::new()
    }
}

impl Table<u32> for Direct {
    #[inline]
    fn lookup(&self, addr: u32) -> Option<NextHop> {
        let mut word = self.cells[addr.field(0, WIDTH)];
        if word & SPLIT != 0 {
            word = self.chunks.words[Chunks::at(word, addr)];
        }
        self.short.or(word, addr)
    }

    fn lookup_batch(&self, addrs: &[u32], out: &mut [Option<NextHop>]) {
        for (addrs, out) in addrs.chunks(BATCH).zip(out.chunks_mut(BATCH)) {
            let mut words = [0_u32; BATCH];
            let mut active = [0_u8; BATCH];
            let mut count = 0;
            for addr in addrs {
                prefetch(&self.cells[addr.field(0, WIDTH)]);
            }
            for (i, addr) in addrs.iter().enumerate().take(BATCH) {
                let word = self.cells[addr.field(0, WIDTH)];
                words[i] = word;
                active[count] = i as u8;
                count += (word >> 31) as usize;
            }
            for &i in &active[..count] {
                let at = usize::from(i) % BATCH;
                prefetch(&self.chunks.words[Chunks::at(words[at], addrs[at])]);
            }
            for &i in &active[..count] {
                let at = usize::from(i) % BATCH;
                words[at] = self.chunks.words[Chunks::at(words[at], addrs[at])];
            }
            for ((out, addr), word) in out.iter_mut().zip(addrs).zip(words) {
                *out = self.short.or(word, *addr);
            }
        }
    }

    fn get(&self, prefix: Prefix<u32>) -> Option<NextHop> {
        self.rib.get(prefix)
    }

    fn set(&mut self, prefix: Prefix<u32>, hop: NextHop) -> Option<NextHop> {
        let old = self.rib.set(prefix, hop);
        if old != Some(hop) {
            self.change(prefix, Some(hop));
        }
        old
    }

    fn remove(&mut self, prefix: Prefix<u32>) -> Option<NextHop> {
        let old = self.rib.remove(prefix);
        if old.is_some() {
            self.change(prefix, None);
        }
        old
    }

    fn load(&mut self, routes: &[(Prefix<u32>, NextHop)]) {
        for &(prefix, hop) in routes.iter().filter(|(prefix, _)| prefix.len() <= SHORT) {
            self.short.set(prefix, Some(hop));
        }
        self.rib.load(routes);
        for region in Short::regions() {
            self.repaint(region);
        }
    }

    fn iter(&self) -> Box<dyn Iterator<Item = (Prefix<u32>, NextHop)> + '_> {
        Box::new(self.rib.iter())
    }

    fn len(&self) -> usize {
        self.rib.len()
    }

    fn path(&self, addr: u32, visit: &mut dyn FnMut(usize)) {
        let cell = addr.field(0, WIDTH);
        visit(4 * cell);
        if self.cells[cell] & SPLIT != 0 {
            visit(4 * (self.cells.len() + Chunks::at(self.cells[cell], addr)));
        }
    }

    fn bytes(&self) -> usize {
        4 * (self.cells.len() + self.chunks.words.len()) + size_of::<Short>()
    }
}

/// The words by the last eight bits of an address, wherever those matter.
#[derive(Clone, Debug, Default)]
struct Chunks {
    words: Vec<u32>,
    /// Words of cells whose chunk is free.
    free: Vec<u32>,
}

impl Chunks {
    #[inline]
    fn at(cell: u32, addr: u32) -> usize {
        ((cell & !SPLIT) as usize * CHUNK) | (addr & 0xff) as usize
    }

    fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    fn free(&mut self, cell: u32) {
        if cell & SPLIT != 0 {
            self.free.push(cell);
        }
    }

    fn build(&mut self, base: u32, runs: &[Run<u32>]) -> u32 {
        let cell = self.free.pop().unwrap_or_else(|| {
            let chunk = self.words.len() / CHUNK;
            self.words.resize(self.words.len() + CHUNK, 0);
            chunk as u32 | SPLIT
        });
        let at = Chunks::at(cell, 0);
        let level = Level {
            base,
            depth: WIDTH,
            width: 32 - WIDTH,
        };
        // No slot of one address has several runs.
        paint(
            &mut self.words[at..at + CHUNK],
            level,
            Prefix::new(base, WIDTH),
            runs,
            |_, _| 0,
        );
        cell
    }
}
