//! Search for a whole number: the longest burst that is not lost, the most addresses that are
//! learned.
//!
//! The most and the least are tried first, then the middle between one that passed and one that
//! failed, until they are a step apart. With *loss verification* a number that failed is tried
//! again, and fails only where it fails each time: a loss that chance made does not end a search
//! far below the limit.
//!
//! ETSI GS NFV-TST 009 §12.3, after RFC 9004 §6.2 and RFC 9971: the text itself was not at hand.

/// Where to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole {
    /// The least number that is tried.
    pub least: u64,
    /// The most; not below the least.
    pub most: u64,
    /// How far apart the two ends may be at the end; at least 1.
    pub step: u64,
    /// How often a number that failed is tried again.
    pub verifications: u64,
}

/// What was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bracket {
    /// The largest number that passed below all that failed; none where the least failed.
    pub passed: Option<u64>,
    /// The smallest that failed; none where the most passed.
    pub failed: Option<u64>,
}

impl Whole {
    /// Searches with `passes`, whose error ends the search.
    pub fn search<E>(&self, mut passes: impl FnMut(u64) -> Result<bool, E>) -> Result<Bracket, E> {
        let mut between = Bracket::default();
        self.place(self.most, &mut between, &mut passes)?;
        if between.passed.is_none() && self.least < self.most {
            self.place(self.least, &mut between, &mut passes)?;
        }
        while let (Some(low), Some(high)) = (between.passed, between.failed) {
            if high - low <= self.step.max(1) {
                break;
            }
            self.place(low + (high - low) / 2, &mut between, &mut passes)?;
        }
        Ok(between)
    }

    fn place<E>(
        &self,
        number: u64,
        between: &mut Bracket,
        passes: &mut impl FnMut(u64) -> Result<bool, E>,
    ) -> Result<(), E> {
        for _ in 0..=self.verifications {
            if passes(number)? {
                between.passed = Some(number);
                return Ok(());
            }
        }
        between.failed = Some(number);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(most: u64) -> Whole {
        Whole {
            least: 1,
            most,
            step: 1,
            verifications: 0,
        }
    }

    #[test]
    fn a_failure_that_chance_made_is_verified() {
        // The first trial of the first middle is lost.
        for (verifications, passed) in [(0, 499), (1, 700)] {
            let mut was_tried = false;
            let passes = |number: u64| {
                let is_lost = number == 500 && !std::mem::replace(&mut was_tried, true);
                Ok::<_, ()>(number <= 700 && !is_lost)
            };
            let search = Whole {
                verifications,
                ..of(1000)
            };
            assert_eq!(search.search(passes).unwrap().passed, Some(passed));
        }
    }

    #[test]
    fn an_error_ends_the_search() {
        let mut left = 3;
        let ended = of(1000).search(|number| {
            left -= 1;
            if left == 0 {
                return Err("gone");
            }
            Ok(number < 10)
        });
        assert_eq!((ended, left), (Err("gone"), 0));
    }

    proptest! {
        #[test]
        fn every_limit_is_found(limit in 0..2000_u64, most in 1..1000_u64, step in 1..20_u64) {
            let mut tried = 0;
            let search = Whole { step, ..of(most) };
            let found = search.search(|number| {
                tried += 1; Ok::<_, ()>(number <= limit)
            }).unwrap();
            match found {
                Bracket { passed: None, failed } => prop_assert_eq!((limit, failed), (0, Some(1))),
                Bracket { passed, failed: None } => prop_assert!(
                    passed == Some(most) && limit >= most
                ),
                Bracket { passed: Some(low), failed: Some(high) } => {
                    prop_assert!(low <= limit && limit < high && high - low <= step);
                }
            }
            prop_assert!(tried <= 12);
        }
    }
}
