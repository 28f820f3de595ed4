//! The laws of gaps, sizes and bursts: their letters, and how many numbers each takes in which
//! unit.

use super::error::Error;
use super::reader::Reader;
use crate::itg::command::{Bursts, Law, Unit, Values};

/// The laws: letter, name, how many numbers, and whether the numbers of gaps are packets per
/// second.
static LAWS: [(char, Law, usize, bool); 9] = [
    ('C', Law::Constant, 1, true),
    ('U', Law::Uniform, 2, true),
    ('E', Law::Exponential, 1, true),
    ('N', Law::Normal, 2, false),
    ('O', Law::Poisson, 1, true),
    ('V', Law::Pareto, 2, false),
    ('Y', Law::Cauchy, 2, false),
    ('G', Law::Gamma, 2, false),
    ('W', Law::Weibull, 2, false),
];

impl Reader<'_> {
    /// The numbers of the law with this letter.
    pub(super) fn law(&mut self, letter: char, unit: Option<Unit>) -> Result<Values, Error> {
        let &(_, law, count, is_rate) = LAWS
            .iter()
            .find(|(known, ..)| *known == letter.to_ascii_uppercase())
            .ok_or_else(|| self.unfit(&letter.to_string()))?;
        let unit = unit.unwrap_or(if is_rate {
            Unit::PerSecond
        } else {
            Unit::Milliseconds
        });
        // Neither a rate nor a shape or a scale may be 0; a mean, a deviation or a size may.
        let least = match law {
            Law::Pareto | Law::Cauchy | Law::Gamma | Law::Weibull => f64::MIN_POSITIVE,
            _ if unit == Unit::PerSecond => f64::MIN_POSITIVE,
            _ => 0.0,
        };
        let mut numbers = Vec::with_capacity(count);
        for _ in 0..count {
            numbers.push(self.number(least, f64::MAX)?);
        }
        if law == Law::Uniform && numbers[0] > numbers[1] {
            let most = self.words[self.at - 1];
            return Err(self.unfit(most));
        }
        Ok(Values::Drawn { law, numbers, unit })
    }

    pub(super) fn gap(&mut self) -> Result<(), Error> {
        let values = self.law(letter(self.flag.word), None)?;
        self.set_gap(values);
        Ok(())
    }

    pub(super) fn size(&mut self) -> Result<(), Error> {
        let values = self.law(letter(self.flag.word), Some(Unit::Bytes))?;
        self.set_size(values);
        Ok(())
    }

    pub(super) fn set_gap(&mut self, values: Values) {
        if let Some(before) = self.gap_flag.replace(self.flag.word) {
            self.remark(format!(
                "`{before}` has no effect: `{}` comes after it",
                self.flag.word
            ));
        }
        self.command.gap = values;
    }

    pub(super) fn set_size(&mut self, values: Values) {
        if let Some(before) = self.size_flag.replace(self.flag.word) {
            self.remark(format!(
                "`{before}` has no effect: `{}` comes after it",
                self.flag.word
            ));
        }
        self.command.size = values;
    }

    pub(super) fn bursts(&mut self) -> Result<(), Error> {
        let mut part = || -> Result<Values, Error> {
            let word = self.word()?;
            let mut letters = word.chars();
            match (letters.next(), letters.next()) {
                (Some(letter), None) if letter.is_ascii_uppercase() => {
                    self.law(letter, Some(Unit::Milliseconds))
                }
                _ => Err(self.unfit(word)),
            }
        };
        let (on, off) = (part()?, part()?);
        self.command.bursts = Some(Bursts { on, off });
        Ok(())
    }
}

/// The letter of a law's flag.
fn letter(flag: &str) -> char {
    flag.chars()
        .nth(1)
        .expect("the flags of laws are of two characters")
}
