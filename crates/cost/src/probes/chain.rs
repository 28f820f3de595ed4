//! Multiplications that wait for one another: their cycles are known, so their time tells the
//! clock.
//!
//! An integer multiplication of 64 bits has a latency of three cycles, and a bitwise or one of one,
//! on every x86-64 processor since Nehalem and K10, and on Arm's Neoverse cores (N1: 3 or 4; see
//! `CYCLES`).
//!
//! Fog, "Instruction tables", 2022, `IMUL r64,r64` and `OR`; Arm, "Neoverse N1 Software
//! Optimization Guide", §3.5.

/// Cycles of a step.
#[cfg(not(target_arch = "aarch64"))]
pub const CYCLES: f64 = 4.0;
/// Cycles of a step: 64-bit multiplications take four on Neoverse N1.
#[cfg(target_arch = "aarch64")]
pub const CYCLES: f64 = 5.0;

/// So many steps from `seed`; what comes out depends on all of them.
pub fn multiply(seed: u64, steps: u32) -> u64 {
    (0..steps).fold(seed, |value, _| value.wrapping_mul(value) | 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_squares_and_sets_the_lowest_bit() {
        assert_eq!(multiply(2, 1), 5);
        assert_eq!(multiply(2, 2), 25);
        assert_eq!(multiply(7, 0), 7);
    }
}
