//! A block of registers: one stage's, at one address or repeated at even distances.

/// What a program may do with a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Only read; writes have no effect.
    Read,
    /// A value that the program sets.
    ReadWrite,
    /// The device counts in it modulo 2³²; a program may set it, usually to 0.
    Counter,
    /// A write makes the device do something; a read gives what was written last.
    Command,
}

impl Access {
    /// The word that the reference page uses.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Access::Read => "read",
            Access::ReadWrite => "read, write",
            Access::Counter => "counter",
            Access::Command => "command",
        }
    }
}

/// A register, or several words in a row that belong together.
#[derive(Clone, Copy, Debug)]
pub struct Register {
    /// Its name within the block.
    pub name: &'static str,
    /// Bytes from the start of the block.
    pub offset: u32,
    /// Words in a row; where there are several, each has its number at the end of its name.
    pub words: u32,
    /// Bits that it has; the others read 0.
    pub width: u8,
    /// What a program may do with it.
    pub access: Access,
    /// What it holds.
    pub help: &'static str,
}

/// The registers of a stage.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// Its name, which begins the names of its registers.
    pub name: &'static str,
    /// The byte address of its first register.
    pub base: u32,
    /// How often it is there; where it is more than once, its number follows its name.
    pub instances: u32,
    /// Bytes from one to the next.
    pub stride: u32,
    /// What stage it belongs to.
    pub help: &'static str,
    /// Its registers in the order of their offsets.
    pub registers: &'static [Register],
}

impl Block {
    /// Words from the block's start to behind its last register.
    pub(crate) fn words(&self) -> usize {
        let last = self.registers.last();
        last.map_or(0, |last| (last.offset / 4 + last.words) as usize)
    }

    /// The register that has the word `word` of the block.
    pub(crate) fn register(&self, word: usize) -> Option<&'static Register> {
        let has = |register: &&Register| {
            let first = register.offset as usize / 4;
            (first..first + register.words as usize).contains(&word)
        };
        self.registers.iter().find(has)
    }
}

/// The number of the block and of its word that `address` belongs to, if `block` has a register
/// there.
pub(crate) fn place(block: &Block, address: u32) -> Option<(usize, usize)> {
    let distance = address.checked_sub(block.base)?;
    let (instance, offset) = match block.instances {
        1 => (0, distance),
        _ => (distance / block.stride, distance % block.stride),
    };
    let word = (offset / 4) as usize;
    let is_there = offset.is_multiple_of(4) && instance < block.instances;
    (is_there && block.register(word).is_some()).then_some((instance as usize, word))
}

/// A module with one block: a constant for the word of each register, and the block itself.
macro_rules! block {
    (
        $module:ident, $name:literal at $base:literal, $instances:literal of $stride:literal,
        $block_help:literal;
        $($register:ident, $offset:literal, $words:literal, $width:literal, $access:ident,
            $help:literal;)*
    ) => {
        #[doc = $block_help]
        pub(crate) mod $module {
            use crate::registers::{Access, Block, Register};

            $(
                #[doc = $help]
                #[allow(dead_code)] // The table is whole; not every register is needed by name.
                pub(crate) const $register: usize = $offset / 4;
            )*

            #[doc = $block_help]
            pub(crate) static BLOCK: Block = Block {
                name: $name,
                base: $base,
                instances: $instances,
                stride: $stride,
                help: $block_help,
                registers: &[$(Register {
                    name: stringify!($register),
                    offset: $offset,
                    words: $words,
                    width: $width,
                    access: Access::$access,
                    help: $help,
                },)*],
            };
        }
    };
}
pub(crate) use block;
