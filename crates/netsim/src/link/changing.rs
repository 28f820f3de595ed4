//! What changes behind the queue of a link, followed from step to step.

use super::spec::Conditions;
use trammel_core::schedule::Steps;
use trammel_core::time::Time;
use trammel_queues::loss::LossModel;

/// The conditions of the present, and those to come.
#[derive(Debug)]
pub(super) struct Changing {
    steps: Steps<Conditions>,
    pub(super) now: Conditions,
    /// When the next step begins, and how many have.
    until: Time,
    number: u64,
    /// The seed of losses; each step has the next one, as where a kernel's netem is changed.
    seed: u64,
}

impl Changing {
    pub(super) fn new(
        steps: Steps<Conditions>,
        seed: u64,
        loss: &mut Option<Box<dyn LossModel>>,
    ) -> Changing {
        let now = steps.at(Time::ZERO);
        if let (Some(loss), Some(probability)) = (loss, now.loss) {
            loss.change(Some(probability), seed);
        }
        let until = next(&steps, Time::ZERO);
        Changing {
            steps,
            now,
            until,
            number: 0,
            seed,
        }
    }

    /// Brings the conditions up to `at`, which never falls. What never leaves, because the rate
    /// stays zero, meets none.
    #[inline]
    pub(super) fn advance(&mut self, at: Time, loss: &mut Option<Box<dyn LossModel>>) {
        if at == Time::MAX {
            return;
        }
        while self.until <= at {
            self.now = self.steps.at(self.until);
            self.until = next(&self.steps, self.until);
            self.number += 1;
            if let Some(loss) = loss {
                loss.change(self.now.loss, self.seed.wrapping_add(self.number));
            }
        }
    }
}

fn next(steps: &Steps<Conditions>, now: Time) -> Time {
    steps.next_change(now).map_or(Time::MAX, |(time, _)| time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_core::time::Span;

    #[test]
    fn a_packet_that_never_leaves_does_not_ask_for_the_end_of_time() {
        let of = |ms| Conditions {
            delay: Span::from_ms(ms),
            ..Conditions::default()
        };
        let steps = vec![(Time::ZERO, of(10)), (Time::from_ms(3), of(20))];
        for period in [None, Some(Span::from_ms(5))] {
            let steps = Steps::new(steps.clone(), period).unwrap();
            let mut changing = Changing::new(steps, 1, &mut None);
            changing.advance(Time::from_ms(4), &mut None);
            assert_eq!(changing.now.delay, Span::from_ms(20));
            changing.advance(Time::MAX, &mut None);
            assert_eq!(changing.now.delay, Span::from_ms(20));
        }
    }
}
