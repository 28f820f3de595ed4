//! Formulas: what a cost is in frame size, table sizes and whatever else was left open.
//!
//! A cost is built from these whether its parameters are numbers or names, so the formula that is
//! shown is the one that is computed. What is known is folded as it is built: `5·⌈6/8⌉ + 30` is
//! `35` at once.
//!
//! ```text
//! sum     = product { ("+" | "-") product }
//! product = factor { ("*" | "/") factor }
//! factor  = number [ "K" | "M" | "G" ] | name | "(" sum ")" | "ceil" "(" sum ")" | "-" factor
//! ```
//! `K`, `M` and `G` are binary, as sizes of tables are meant: `2M` entries are 2²¹.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Add, Mul};

/// What names stand for.
pub type Values = BTreeMap<String, f64>;

/// A formula.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A number.
    Number(f64),
    /// A name: `frame`, the bytes of a frame with its FCS.
    Name(String),
    /// The sum of at least two parts, the number among them last.
    Sum(Vec<Expr>),
    /// The product of at least two parts, the number among them first.
    Product(Vec<Expr>),
    /// The least whole number that is no smaller.
    Ceil(Box<Expr>),
    /// 1 where the part is above the number, else 0.
    Above(Box<Expr>, f64),
}

impl Expr {
    /// The name of a quantity.
    pub fn name(name: impl Into<String>) -> Expr {
        Expr::Name(name.into())
    }

    /// The number that it is, where nothing is open.
    pub fn number(&self) -> Option<f64> {
        match self {
            Expr::Number(value) => Some(*value),
            _ => None,
        }
    }

    /// The least whole number that is no smaller.
    #[must_use]
    pub fn ceil(self) -> Expr {
        match self {
            Expr::Number(value) => Expr::Number(whole(value)),
            other if other.is_whole() => other,
            other => Expr::Ceil(Box::new(other)),
        }
    }

    /// Whether it is a whole number whatever the names stand for, so that it needs no rounding.
    fn is_whole(&self) -> bool {
        match self {
            Expr::Number(value) => value.fract() == 0.0,
            Expr::Name(_) => false,
            Expr::Sum(parts) | Expr::Product(parts) => parts.iter().all(Expr::is_whole),
            Expr::Ceil(_) | Expr::Above(..) => true,
        }
    }

    /// How many pieces of `size` it fills, the last one perhaps in part.
    #[must_use]
    pub fn pieces(self, size: f64) -> Expr {
        (self * (1.0 / size)).ceil()
    }

    /// 1 where it is above `bound`, else 0.
    #[must_use]
    pub fn above(self, bound: f64) -> Expr {
        match self {
            Expr::Number(value) => Expr::Number(f64::from(u8::from(value > bound))),
            other => Expr::Above(Box::new(other), bound),
        }
    }

    /// Its value; the error is the name that stands for nothing.
    pub fn value(&self, values: &Values) -> Result<f64, String> {
        let all = |parts: &[Expr]| -> Result<Vec<f64>, String> {
            parts.iter().map(|part| part.value(values)).collect()
        };
        match self {
            Expr::Number(value) => Ok(*value),
            Expr::Name(name) => values.get(name).copied().ok_or_else(|| name.clone()),
            Expr::Sum(parts) => Ok(all(parts)?.iter().sum()),
            Expr::Product(parts) => Ok(all(parts)?.iter().product()),
            Expr::Ceil(part) => Ok(whole(part.value(values)?)),
            Expr::Above(part, bound) => Ok(f64::from(u8::from(part.value(values)? > *bound))),
        }
    }

    /// The formula with numbers for the names that `values` knows.
    #[must_use]
    pub fn with(&self, values: &Values) -> Expr {
        match self {
            Expr::Number(value) => Expr::Number(*value),
            Expr::Name(name) => match values.get(name) {
                Some(value) => Expr::Number(*value),
                None => self.clone(),
            },
            Expr::Sum(parts) => parts.iter().map(|part| part.with(values)).sum(),
            Expr::Product(parts) => {
                let one = Expr::Number(1.0);
                parts.iter().fold(one, |all, part| all * part.with(values))
            }
            Expr::Ceil(part) => part.with(values).ceil(),
            Expr::Above(part, bound) => part.with(values).above(*bound),
        }
    }

    /// The names that stand in it, in order, each once.
    pub fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        self.collect(&mut names);
        names.sort_unstable();
        names.dedup();
        names
    }

    fn collect<'a>(&'a self, into: &mut Vec<&'a str>) {
        match self {
            Expr::Number(_) => {}
            Expr::Name(name) => into.push(name),
            Expr::Sum(parts) | Expr::Product(parts) => {
                for part in parts {
                    part.collect(into);
                }
            }
            Expr::Ceil(part) | Expr::Above(part, _) => part.collect(into),
        }
    }

    /// Reads a formula; the error is a sentence.
    pub fn parse(text: &str) -> Result<Expr, String> {
        let mut reader = super::expr_reader::Reader::new(text);
        let read = reader.sum()?;
        reader.end()?;
        Ok(read)
    }
}

/// Up to the next whole number, where the excess is more than what binary fractions do.
fn whole(value: f64) -> f64 {
    (value - 1e-9).ceil()
}

impl From<f64> for Expr {
    fn from(value: f64) -> Expr {
        Expr::Number(value)
    }
}

impl Add for Expr {
    type Output = Expr;

    fn add(self, other: Expr) -> Expr {
        let (mut number, mut parts): (f64, Vec<(f64, Expr)>) = (0.0, Vec::new());
        let both = [self, other].into_iter().flat_map(|one| match one {
            Expr::Sum(parts) => parts,
            one => vec![one],
        });
        for part in both {
            let (times, of) = match part {
                Expr::Number(value) => {
                    number += value;
                    continue;
                }
                Expr::Product(mut factors) => match factors.first().and_then(Expr::number) {
                    Some(times) => {
                        factors.remove(0);
                        (times, product(1.0, factors))
                    }
                    None => (1.0, Expr::Product(factors)),
                },
                part => (1.0, part),
            };
            match parts.iter_mut().find(|(_, known)| *known == of) {
                Some((sum, _)) => *sum += times,
                None => parts.push((times, of)),
            }
        }
        let mut sum: Vec<Expr> = parts
            .into_iter()
            .filter(|(times, _)| *times != 0.0)
            .map(|(times, of)| of * times)
            .collect();
        if number != 0.0 || sum.is_empty() {
            sum.push(Expr::Number(number));
        }
        match <[Expr; 1]>::try_from(sum) {
            Ok([one]) => one,
            Err(sum) => Expr::Sum(sum),
        }
    }
}

/// The product of a number and of parts that are none.
fn product(number: f64, mut parts: Vec<Expr>) -> Expr {
    if number == 0.0 {
        return Expr::Number(0.0);
    }
    if number != 1.0 || parts.is_empty() {
        parts.insert(0, Expr::Number(number));
    }
    match <[Expr; 1]>::try_from(parts) {
        Ok([one]) => one,
        Err(parts) => Expr::Product(parts),
    }
}

impl Mul for Expr {
    type Output = Expr;

    fn mul(self, other: Expr) -> Expr {
        // A number goes into each part of a sum, so that sums of costs fold.
        match (self, other) {
            (Expr::Number(n), Expr::Sum(parts)) | (Expr::Sum(parts), Expr::Number(n)) => {
                parts.into_iter().map(|part| part * n).sum()
            }
            (one, other) => {
                let (mut number, mut parts) = (1.0, Vec::new());
                for factor in [one, other].into_iter().flat_map(|one| match one {
                    Expr::Product(parts) => parts,
                    one => vec![one],
                }) {
                    match factor {
                        Expr::Number(value) => number *= value,
                        factor => parts.push(factor),
                    }
                }
                product(number, parts)
            }
        }
    }
}

impl Mul<f64> for Expr {
    type Output = Expr;

    fn mul(self, other: f64) -> Expr {
        self * Expr::Number(other)
    }
}

impl Add<f64> for Expr {
    type Output = Expr;

    fn add(self, other: f64) -> Expr {
        self + Expr::Number(other)
    }
}

impl std::iter::Sum for Expr {
    fn sum<I: Iterator<Item = Expr>>(parts: I) -> Expr {
        parts.fold(Expr::Number(0.0), Add::add)
    }
}

/// A number as people write it: up to four significant digits after the point.
fn digits(value: f64) -> String {
    let rounded = (value * 1e4).round() / 1e4;
    format!("{rounded}")
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expr::Number(value) => f.write_str(&digits(*value)),
            Expr::Name(name) => f.write_str(name),
            Expr::Sum(parts) => {
                for (at, part) in parts.iter().enumerate() {
                    let text = part.to_string();
                    match (at, text.strip_prefix('-')) {
                        (0, _) => f.write_str(&text)?,
                        (_, Some(rest)) => write!(f, " − {rest}")?,
                        (_, None) => write!(f, " + {text}")?,
                    }
                }
                Ok(())
            }
            Expr::Product(parts) => {
                // A small number stands for a share of something: 0.0156·x is x/64.
                let (number, rest) = match parts.first().and_then(Expr::number) {
                    Some(number) => (number, &parts[1..]),
                    None => (1.0, &parts[..]),
                };
                let whole = (1.0 / number).round();
                let is_share = number.abs() < 1.0 && (1.0 / number - whole).abs() < 1e-6;
                if number != 1.0 && !is_share {
                    write!(f, "{}·", digits(number))?;
                }
                for (at, part) in rest.iter().enumerate() {
                    let dot = if at > 0 { "·" } else { "" };
                    match part {
                        Expr::Sum(_) => write!(f, "{dot}({part})")?,
                        _ => write!(f, "{dot}{part}")?,
                    }
                }
                if is_share {
                    write!(f, "/{}", digits(whole))?;
                }
                Ok(())
            }
            Expr::Ceil(part) => write!(f, "⌈{}⌉", Ceiled(part)),
            Expr::Above(part, bound) => write!(f, "[{part} > {}]", digits(*bound)),
        }
    }
}

/// What stands between ⌈ and ⌉: shares of one size under one line.
struct Ceiled<'a>(&'a Expr);

impl fmt::Display for Ceiled<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Expr::Sum(parts) = self.0 else {
            return write!(f, "{}", self.0);
        };
        let share = parts.iter().find_map(|part| match part {
            Expr::Product(parts) => parts[0].number().filter(|n| n.abs() < 1.0),
            _ => None,
        });
        match share {
            Some(share) => {
                let whole = self.0.clone() * (1.0 / share);
                write!(f, "({whole})/{}", digits(1.0 / share))
            }
            None => write!(f, "{}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame() -> Expr {
        Expr::name("frame")
    }

    #[test]
    fn what_is_known_is_folded() {
        let cost = Expr::from(30.0) + Expr::from(6.0).pieces(8.0) * 5.0;
        assert_eq!(cost, Expr::Number(35.0));
        assert_eq!(frame() + frame() + 1.0, frame() * 2.0 + 1.0);
        assert_eq!(frame() * 0.0, Expr::Number(0.0));
        assert_eq!((frame() + 2.0) * 3.0, frame() * 3.0 + 6.0);
    }

    #[test]
    fn formulas_read_as_people_write_them() {
        let checksum = (frame() + -10.0).pieces(2.0) * 7.0 + 528.0;
        assert_eq!(checksum.to_string(), "7·⌈(frame − 10)/2⌉ + 528");
        assert_eq!(
            (Expr::name("a") * Expr::name("b")).pieces(64.0).to_string(),
            "⌈a·b/64⌉"
        );
        assert_eq!(frame().above(3.0).to_string(), "[frame > 3]");
    }

    #[test]
    fn values_are_those_of_the_formula() {
        let values = Values::from([("frame".to_owned(), 64.0)]);
        let read = |text: &str| Expr::parse(text).and_then(|e| e.value(&values));
        assert_eq!(read("ceil((frame - 10) / 64) + 5"), Ok(6.0));
        assert_eq!(read("2M * 12 / 1K"), Ok(24576.0));
        assert_eq!(read("-(1 + 2) * 3"), Ok(-9.0));
        assert_eq!(read("flows"), Err("flows".to_owned()));
        assert_eq!(Expr::parse("b * (a + 1)").unwrap().names(), ["a", "b"]);
    }

    #[test]
    fn a_formula_with_numbers_for_names_is_folded() {
        let cost = Expr::parse("7 * ceil((frame - 10) / 2) + routes * 3").unwrap();
        let some = cost.with(&Values::from([("frame".to_owned(), 64.0)]));
        assert_eq!(some.to_string(), "3·routes + 189");
    }

    #[test]
    fn a_ceiling_is_not_fooled_by_binary_fractions() {
        assert_eq!(Expr::from(0.1 * 3.0 * 10.0).ceil(), Expr::Number(3.0));
        assert_eq!(Expr::from(3.0 / 8.0 * 0.33).ceil(), Expr::Number(1.0));
    }
}
