//! An operation's constants from measured cycles: least squares, none of them below zero.
//!
//! A measurement is a row: the terms of the formula at its parameters, and the cycles that were
//! seen. The constants make the sum of squared *relative* errors least, since 2 cycles of 10 are
//! more than 2 of 1,000. With few constants every choice of which of them are zero is tried, so the
//! answer is exact (Karush-Kuhn-Tucker, by search).
//!
//! Where terms are nearly multiples of one another, as words and chunks of an entry are, many
//! answers are as good; a slight pull towards zero (`PULL`) takes the one that divides the cycles
//! evenly, so that noise does not choose.

use crate::eo::Entry;
use crate::expr::Expr;

/// Pull towards zero, against each term's own weight: it changes well-determined constants by less
/// than this.
const PULL: f64 = 1e-3;
/// Constants at most; twice as many choices for each.
const MOST: usize = 12;

/// What a fit gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// A constant for each term, at least 0.
    pub constants: Vec<f64>,
    /// The root of the mean squared relative error.
    pub residual: f64,
}

/// The constants of `rows`, each the terms and the cycles (above 0).
///
/// `None` where there are no rows, no terms, too many, or nothing that a fit could be made of.
pub fn fit(rows: &[(Vec<f64>, f64)]) -> Option<Fit> {
    let terms = rows.first()?.0.len();
    let is_right = |(row, cycles): &(Vec<f64>, f64)| {
        row.len() == terms && row.iter().all(|term| term.is_finite()) && *cycles > 0.0
    };
    if terms == 0 || terms > MOST || !rows.iter().all(is_right) {
        return None;
    }
    let mut best: Option<(f64, Vec<f64>)> = None;
    for chosen in 1_u32..1 << terms {
        let columns: Vec<usize> = (0..terms).filter(|at| chosen >> at & 1 == 1).collect();
        let Some(found) = least_squares(rows, &columns) else {
            continue;
        };
        if found.iter().any(|constant| *constant < 0.0) {
            continue;
        }
        let mut constants = vec![0.0; terms];
        for (column, constant) in columns.iter().zip(found) {
            constants[*column] = constant;
        }
        let cost = squares(rows, &constants) + pull(rows, &constants);
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, constants));
        }
    }
    best.map(|(_, constants)| Fit {
        residual: (squares(rows, &constants) / rows.len() as f64).sqrt(),
        constants,
    })
}

/// The sum of squared relative errors.
fn squares(rows: &[(Vec<f64>, f64)], constants: &[f64]) -> f64 {
    let error = |(row, cycles): &(Vec<f64>, f64)| {
        let sum: f64 = row.iter().zip(constants).map(|(t, c)| t * c).sum();
        (sum / cycles - 1.0).powi(2)
    };
    rows.iter().map(error).sum()
}

/// What the pull adds to the sum of squares.
fn pull(rows: &[(Vec<f64>, f64)], constants: &[f64]) -> f64 {
    let weight = |at: usize| -> f64 { rows.iter().map(|(r, c)| (r[at] / c).powi(2)).sum() };
    let each = constants.iter().enumerate();
    each.map(|(at, constant)| PULL * weight(at) * constant * constant)
        .sum()
}

/// Solves the normal equations for these columns by elimination; `None` where they are singular.
fn least_squares(rows: &[(Vec<f64>, f64)], columns: &[usize]) -> Option<Vec<f64>> {
    let n = columns.len();
    let mut m = vec![vec![0.0; n + 1]; n];
    for (row, cycles) in rows {
        for (i, a) in columns.iter().enumerate() {
            let a = row[*a] / cycles;
            for (j, b) in columns.iter().enumerate() {
                m[i][j] += a * row[*b] / cycles;
            }
            m[i][n] += a;
        }
    }
    for (at, row) in m.iter_mut().enumerate() {
        row[at] *= 1.0 + PULL;
    }
    for at in 0..n {
        // The pull makes the matrix positive definite, so pivots are above zero where columns are.
        let top = m[at].clone();
        if top[at] <= 0.0 {
            return None;
        }
        for row in &mut m[at + 1..] {
            let factor = row[at] / top[at];
            for (value, above) in row.iter_mut().zip(&top).skip(at) {
                *value -= factor * above;
            }
        }
    }
    let mut solution = vec![0.0; n];
    for at in (0..n).rev() {
        let known: f64 = (at + 1..n).map(|j| m[at][j] * solution[j]).sum();
        solution[at] = (m[at][n] - known) / m[at][at];
    }
    Some(solution)
}

/// The constants of an operation, and what the loop around its probe costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// Its constants, in the order of `Entry::constants`.
    pub constants: Vec<f64>,
    /// Cycles of the probe's loop, where the formula itself has no part that is there whatever the
    /// parameters; where it has one, the loop is in it.
    pub overhead: Option<f64>,
    /// The root of the mean squared relative error.
    pub residual: f64,
}

/// Fits the constants of `entry` to the cycles at `points`, each the parameters and the cycles of
/// one turn.
pub fn operation(entry: &Entry, points: &[(&[f64], f64)]) -> Option<Fitted> {
    let terms = |params: &[f64]| -> Option<Vec<f64>> {
        let args: Vec<Expr> = params.iter().map(|value| Expr::from(*value)).collect();
        (entry.terms)(&args).iter().map(Expr::number).collect()
    };
    let rows: Option<Vec<_>> = points
        .iter()
        .map(|(params, cycles)| Some((terms(params)?, *cycles)))
        .collect();
    let mut rows = rows?;
    let width = rows.first()?.0.len();
    let is_constant = |at: usize| rows.iter().all(|(row, _)| row[at] == rows[0].0[at]);
    let lacks_fixed = rows.len() > width && !(0..width).any(is_constant);
    if lacks_fixed {
        for (row, _) in &mut rows {
            row.push(1.0);
        }
    }
    let mut fit = fit(&rows)?;
    let overhead = if lacks_fixed {
        fit.constants.pop()
    } else {
        None
    };
    Some(Fitted {
        constants: fit.constants,
        overhead,
        residual: fit.residual,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eo;
    use proptest::prelude::*;
    use trammel_core::rng::Rng;

    #[test]
    fn every_probe_gives_back_the_constants_that_made_its_cycles_within_the_noise() {
        let mut rng = Rng::new(1, "fit");
        for entry in eo::all() {
            let Some(probe) = &entry.probe else { continue };
            let known: Vec<f64> = (0..entry.constants().len())
                .map(|_| 2.0 + 10.0 * rng.unit())
                .collect();
            let cycles = |params: &[f64], noise: f64| {
                let args: Vec<Expr> = params.iter().map(|p| Expr::from(*p)).collect();
                let terms = (entry.terms)(&args);
                let sum: f64 = terms
                    .iter()
                    .zip(&known)
                    .map(|(t, c)| t.number().unwrap() * c)
                    .sum();
                sum * noise
            };
            let points: Vec<(&[f64], f64)> = probe
                .points
                .iter()
                .map(|params| (*params, cycles(params, 1.0 + 0.01 * rng.unit())))
                .collect();
            let fitted = operation(entry, &points).unwrap();
            // Constants of nearly parallel terms may trade cycles; what they predict may not.
            for (params, seen) in &points {
                let args: Vec<Expr> = params.iter().map(|p| Expr::from(*p)).collect();
                let terms = (entry.terms)(&args);
                let sum: f64 = terms
                    .iter()
                    .zip(&fitted.constants)
                    .map(|(t, c)| t.number().unwrap() * c)
                    .sum();
                let sum = sum + fitted.overhead.unwrap_or(0.0);
                assert!(
                    (sum / seen - 1.0).abs() < 0.03,
                    "{} {params:?}",
                    entry.about.name
                );
            }
            if known.len() <= 2 && probe.points.len() > 1 {
                for (found, known) in fitted.constants.iter().zip(&known) {
                    assert!(
                        (found / known - 1.0).abs() < 0.1,
                        "{}: {:?} against {known:?}",
                        entry.about.name,
                        fitted.constants
                    );
                }
            }
        }
    }

    #[test]
    fn a_constant_that_would_be_negative_is_zero() {
        // The line through these has a negative intercept.
        let rows = [
            (vec![1.0, 1.0], 1.0),
            (vec![1.0, 2.0], 4.0),
            (vec![1.0, 3.0], 7.0),
        ];
        let fit = fit(&rows).unwrap();
        assert_eq!(fit.constants[0], 0.0);
        assert!(fit.constants[1] > 1.0 && fit.residual > 0.1, "{fit:?}");
    }

    #[test]
    fn nothing_is_made_of_nothing() {
        assert_eq!(fit(&[]), None);
        assert_eq!(fit(&[(vec![], 1.0)]), None);
        assert_eq!(fit(&[(vec![1.0], 0.0)]), None);
        assert_eq!(fit(&[(vec![f64::NAN], 1.0)]), None);
        assert_eq!(fit(&[(vec![0.0], 1.0)]), None);
    }

    proptest! {
        #[test]
        fn no_other_constants_are_better(
            rows in prop::collection::vec((prop::collection::vec(0.0..100.0, 3), 0.1..1e4), 3..8),
            other in prop::collection::vec(0.0..100.0, 3),
        ) {
            if let Some(fit) = fit(&rows) {
                prop_assert!(fit.constants.iter().all(|c| *c >= 0.0));
                let cost = |constants: &[f64]| squares(&rows, constants) + pull(&rows, constants);
                prop_assert!(cost(&fit.constants) <= cost(&other) * (1.0 + 1e-9) + 1e-9);
            }
        }
    }
}
