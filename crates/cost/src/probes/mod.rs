//! Pure work whose time tells what a machine is: loads from working sets of any size, and
//! multiplications.
//!
//! A probe of an operation stands with the operation (`eo`); here is what the memory and the clock
//! are measured with. Nothing here has a clock: who has one times it, and divides.

pub mod chain;
pub mod loads;

/// What a loop costs around the work of an operation's probe: the turns alone.
pub fn empty(times: u32) -> u64 {
    (0..u64::from(times)).fold(0, |_, turn| std::hint::black_box(turn))
}
