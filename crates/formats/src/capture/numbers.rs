//! Packets that a sender sent and nobody saw here, by the identifications of its IPv4 headers.
//!
//! Linux and others number the packets of a connection one by one. A number that is missing is a
//! packet that was lost before the point of capture, the second copy of a segment too, whose hole
//! tells of one loss only. Numbers count where they do what they are to do while nothing is lost:
//! data that follow the ones before them have the next number. Where they are random, shared with
//! other connections, or none, nothing is told.

/// Steps that must have been seen before numbers are believed.
const FEW: u64 = 16;
/// Of so many steps, one may be another than expected: an acknowledgement that was lost, or a
/// segment whose first copy was.
const ONE_OF: u64 = 20;

/// The numbers of a direction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Numbers {
    /// The first, and one past the last, as positions in a count that does not wrap.
    span: Option<(i64, i64)>,
    seen: u64,
    steps: u64,
    expected: u64,
    /// Whether the last packet came behind one with a later number.
    is_late: bool,
}

impl Numbers {
    /// A packet that carries `packets` segments; `is_next` says that its data follow the ones
    /// before them.
    pub(super) fn take(&mut self, id: Option<u16>, packets: u64, is_next: bool) {
        let Some((first, end)) = self.span else {
            if let Some(id) = id {
                self.span = Some((id.into(), i64::from(id) + packets as i64));
                self.seen = packets;
            }
            return;
        };
        // Zero is taken for no number, but when its turn has come.
        let Some(id) = id.or((end as u16 == 0).then_some(0)) else {
            return;
        };
        let ahead = i64::from(id.wrapping_sub(end as u16).cast_signed());
        self.is_late = ahead < 0;
        if is_next {
            self.steps += 1;
            self.expected += u64::from(ahead == 0);
        }
        let at = end + ahead;
        self.seen += packets;
        self.span = Some((first.min(at), end.max(at + packets as i64)));
    }

    /// Whether the last packet was overtaken, where numbers tell.
    pub(super) fn is_overtaken(&self) -> Option<bool> {
        self.missing().map(|_| self.is_late)
    }

    /// Packets that are missing so far; nothing where the numbers do not count packets.
    pub(super) fn missing(&self) -> Option<u64> {
        let (first, end) = self.span?;
        let are_counted =
            self.steps >= FEW && (self.steps - self.expected).saturating_mul(ONE_OF) <= self.steps;
        are_counted.then(|| (end - first).cast_unsigned().saturating_sub(self.seen))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_missing_are_packets_that_were_lost() {
        let mut numbers = Numbers::default();
        // Through a wrap: zero is one of them. Three are missing, one of them seen late.
        for n in 65_500_u32..65_600 {
            let id = n as u16;
            if ![65_510, 65_520, 65_570].contains(&n) {
                let is_next = ![65_511, 65_521, 65_571].contains(&n);
                numbers.take(Some(id).filter(|id| *id > 0), 1, is_next);
            }
        }
        assert_eq!(numbers.missing(), Some(3));
        assert_eq!(numbers.is_overtaken(), Some(false));
        numbers.take(Some(65_520), 1, false);
        assert_eq!(
            (numbers.missing(), numbers.is_overtaken()),
            (Some(2), Some(true))
        );
    }

    #[test]
    fn large_packets_take_several_numbers() {
        let mut numbers = Numbers::default();
        (0..40).for_each(|n| numbers.take(Some(1 + 10 * n), 10, true));
        assert_eq!(numbers.missing(), Some(0));
    }

    #[test]
    fn numbers_at_random_tell_nothing() {
        let mut numbers = Numbers::default();
        let random = (1..200_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 16) as u16);
        random.for_each(|id| numbers.take(Some(id), 1, true));
        assert_eq!(numbers.missing(), None);
        let mut none = Numbers::default();
        (0..200).for_each(|_| none.take(None, 1, true));
        assert_eq!(none.missing(), None);
    }
}
