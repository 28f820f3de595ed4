//! Sequence numbers of 32 bits as positions in a stream of any length.

/// Where the first number of a stream is put: what came before it has room.
const ORIGIN: u64 = 1 << 33;

/// Turns the numbers of one direction into positions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Positions {
    last: Option<u64>,
}

impl Positions {
    /// The position of `number`, which is within 2³¹ of the furthest one so far.
    pub(super) fn of(&mut self, number: u32) -> u64 {
        let Some(last) = self.last else {
            let first = ORIGIN + u64::from(number);
            self.last = Some(first);
            return first;
        };
        let distance = number.wrapping_sub(last as u32) as i32;
        let position = last.saturating_add_signed(i64::from(distance));
        self.last = Some(last.max(position));
        position
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_wrap_and_go_back() {
        let mut positions = Positions::default();
        let first = positions.of(u32::MAX - 9);
        assert_eq!(positions.of(20) - first, 30);
        assert_eq!(positions.of(u32::MAX) - first, 9);
        assert_eq!(positions.of(40) - first, 50);
    }
}
