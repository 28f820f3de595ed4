//! The values of one block.

use crate::registers::block::{Access, Block};

/// Registers that hold what was written or counted. A stage looks at those that mean more.
#[derive(Clone, Debug)]
pub(crate) struct File {
    block: &'static Block,
    values: Box<[u32]>,
}

impl File {
    /// All zero.
    pub(crate) fn new(block: &'static Block) -> File {
        File {
            block,
            values: vec![0; block.words()].into(),
        }
    }

    /// The word `word`; a stage asks only for those that its block has.
    pub(crate) fn get(&self, word: usize) -> u32 {
        self.values[word]
    }

    /// Sets the word `word`, whatever a program may do with it.
    pub(crate) fn set(&mut self, word: usize, value: u32) {
        self.values[word] = value;
    }

    /// Adds `more` to a counter.
    pub(crate) fn add(&mut self, word: usize, more: u32) {
        self.values[word] = self.values[word].wrapping_add(more);
    }

    /// Adds one to a counter.
    pub(crate) fn count(&mut self, word: usize) {
        self.add(word, 1);
    }

    /// What a program writes: the bits that the register has, where it may be written.
    pub(crate) fn write(&mut self, word: usize, value: u32) {
        if let Some(register) = self.block.register(word)
            && register.access != Access::Read
        {
            let unused = 32 - u32::from(register.width);
            self.values[word] = value & (u32::MAX >> unused);
        }
    }
}
