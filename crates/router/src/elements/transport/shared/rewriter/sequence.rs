//! How sequence numbers of a connection move when what one side said was made longer or shorter.
//!
//! For each direction a list of steps: from this sequence number on, that much is added.
//! Acknowledgements and selective ones of the other direction have it taken away again. A step a
//! gigabyte back is taken to hold for all numbers that can still come.

/// One direction.
#[derive(Clone, Debug, Default)]
struct Steps {
    /// What is added to numbers before the first step.
    base: i32,
    /// From which number on, and how much in all.
    steps: Vec<(u32, i32)>,
}

/// Both directions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Deltas([Steps; 2]);

/// A step further back than this holds for all.
const FAR: u32 = 1 << 30;

/// Whether `a` is `b` or after it, on the circle of sequence numbers.
#[inline]
fn at_or_after(a: u32, b: u32) -> bool {
    a.wrapping_sub(b) < 1 << 31
}

impl Deltas {
    /// From `from` on, `more` is added to the numbers of a direction beyond what is already. A
    /// second saying of the same, by a retransmission, changes nothing. Says whether it was taken:
    /// a step before the last one is not.
    pub(crate) fn add(&mut self, reply: bool, from: u32, more: i32) -> bool {
        let steps = &mut self.0[usize::from(reply)];
        let before = match steps.steps.last() {
            Some((last, _)) if *last == from => {
                steps.steps.pop();
                steps.last()
            }
            Some((last, _)) if !at_or_after(from, *last) => return false,
            _ => steps.last(),
        };
        steps.steps.push((from, before.wrapping_add(more)));
        steps.forget(from);
        true
    }

    /// A number of this direction on the other side.
    pub(crate) fn sequence(&self, reply: bool, number: u32) -> u32 {
        let steps = &self.0[usize::from(reply)];
        let of = steps.steps.iter().rev();
        let delta = of.clone().find(|(from, _)| at_or_after(number, *from));
        number.wrapping_add_signed(delta.map_or(steps.base, |(_, delta)| *delta))
    }

    /// An acknowledgement in this direction, of what the other said, on the other side.
    pub(crate) fn acknowledgement(&self, reply: bool, number: u32) -> u32 {
        let steps = &self.0[usize::from(!reply)];
        for (from, delta) in steps.steps.iter().rev() {
            let said = number.wrapping_sub(*delta as u32);
            if at_or_after(said, *from) {
                return said;
            }
        }
        number.wrapping_sub(steps.base as u32)
    }

    /// Whether numbers of this direction change.
    pub(crate) fn any(&self, reply: bool) -> bool {
        let steps = &self.0[usize::from(reply)];
        steps.base != 0 || !steps.steps.is_empty()
    }

    /// The latest change of this direction.
    pub(crate) fn last(&self, reply: bool) -> i32 {
        self.0[usize::from(reply)].last()
    }

    /// Forgets what is far behind `number` of this direction.
    pub(crate) fn forget(&mut self, reply: bool, number: u32) {
        self.0[usize::from(reply)].forget(number);
    }
}

impl Steps {
    fn last(&self) -> i32 {
        self.steps.last().map_or(self.base, |(_, delta)| *delta)
    }

    fn forget(&mut self, number: u32) {
        let far = |(from, _): &(u32, i32)| at_or_after(number, from.wrapping_add(FAR));
        if let Some(last) = self.steps.iter().rposition(far) {
            self.base = self.steps[last].1;
            self.steps.drain(..=last);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_move_from_the_step_on_and_acknowledgements_move_back() {
        let mut deltas = Deltas::default();
        assert!(deltas.add(false, 100, -10));
        assert_eq!(
            (deltas.sequence(false, 99), deltas.sequence(false, 100)),
            (99, 90)
        );
        assert_eq!(deltas.sequence(true, 100), 100);
        assert_eq!(
            (
                deltas.acknowledgement(true, 90),
                deltas.acknowledgement(true, 89)
            ),
            (100, 89)
        );
    }

    #[test]
    fn a_retransmission_adds_nothing_and_an_older_step_is_refused() {
        let mut deltas = Deltas::default();
        assert!(deltas.add(false, 100, 5) && deltas.add(false, 200, 5));
        assert!(deltas.add(false, 200, 5));
        assert!(!deltas.add(false, 150, 5));
        assert_eq!(deltas.sequence(false, 300), 310);
        assert_eq!(deltas.sequence(false, 150), 155);
    }

    #[test]
    fn a_step_far_back_holds_after_the_numbers_have_gone_round() {
        let mut deltas = Deltas::default();
        deltas.add(false, 10, 7);
        deltas.forget(false, 10 + FAR);
        assert_eq!(deltas.sequence(false, 9), 16);
        assert!(deltas.any(false) && !deltas.any(true));
        assert_eq!(deltas.acknowledgement(true, 16), 9);
    }
}
