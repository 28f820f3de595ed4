//! How Linux lets RED's average decay while nothing waits.
//!
//! The paper takes 1 − w to the power of the packets that could have gone. The kernel has a table
//! of shifts by cells of time, and before the first shift it takes a straight line instead, which
//! falls by a whole cell's share in a cell: half of the average is gone after half a cell, which is
//! a sixteenth to a thirty-third of the time that the power takes.
//!
//! Source: `include/net/red.h` of Linux 6.12, observed in its guest; Floyd and Jacobson 1993, §4.

/// Places of the kernel's table.
pub const PLACES: u32 = 256;
/// An average is shifted by so many bits at most.
const MOST_BITS: f64 = 31.0;

/// The kernel's table for one weight and rate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdleTable {
    /// Logarithm of a cell, µs.
    pub cell_log: u8,
    /// Bits by which the average is shifted after so many cells.
    pub shifts: Vec<u8>,
}

impl IdleTable {
    /// For an average of weight `weight` (0 to 1) on a link that sends a packet in `packet_us` µs.
    #[must_use]
    pub fn new(weight: f64, packet_us: f64) -> IdleTable {
        let bits_a_us = -(-weight).ln_1p() / std::f64::consts::LN_2 / packet_us;
        let longest_us = MOST_BITS / bits_a_us;
        let mut cell_log = 0;
        while cell_log < 31 && longest_us / f64::from(1_u32 << cell_log) >= f64::from(2 * PLACES) {
            cell_log += 1;
        }
        let shift = |place: u32| {
            (f64::from(place) * f64::from(1_u32 << cell_log) * bits_a_us).min(MOST_BITS) as u8
        };
        let mut shifts: Vec<u8> = (0..PLACES).map(shift).collect();
        shifts[PLACES as usize - 1] = MOST_BITS as u8;
        IdleTable { cell_log, shifts }
    }

    /// What `average` is after `idle_us` µs without a packet.
    #[must_use]
    pub fn decay(&self, average: f64, idle_us: u64) -> f64 {
        let last = u64::from(PLACES - 1);
        let idle_us = idle_us.min(last << self.cell_log);
        match self.shifts[(idle_us >> self.cell_log) as usize] {
            0 => {
                let cells = idle_us as f64 / (1_u64 << self.cell_log) as f64;
                average * (1.0 - cells.min(0.5))
            }
            shift => average / f64::from(1_u32 << shift),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_is_gone_after_half_a_cell_and_more_by_the_table() {
        // 31 bits take 46 s at a weight of 2⁻⁹ and 2.9 ms a packet, so a cell is 2¹⁶ µs.
        let table = IdleTable::new(1.0 / 512.0, 2903.0);
        assert_eq!(table.cell_log, 16);
        let cell = 1_u64 << table.cell_log;
        assert_eq!(table.decay(8.0, 0), 8.0);
        assert_eq!(table.decay(8.0, cell / 8), 7.0);
        assert_eq!(table.decay(8.0, cell / 2), 4.0);
        assert_eq!(table.decay(8.0, 3 * cell), 4.0);
        let halving_us = std::f64::consts::LN_2 * 512.0 * 2903.0;
        assert_eq!(table.decay(8.0, (2.1 * halving_us) as u64), 2.0);
        assert!(table.decay(8.0, u64::MAX) < 1e-8);
    }

    #[test]
    fn an_average_of_the_present_length_is_gone_at_once() {
        let table = IdleTable::new(1.0, 100.0);
        assert!(table.decay(8.0, 0) < 1e-8);
    }
}
