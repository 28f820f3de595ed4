//! Moments of Markov-modulated Poisson processes, in closed form.
//!
//! With the generator Q, the shares of time π, the rates λ and their mean r = πλ (Fischer and
//! Meier-Hellstern, "The Markov-Modulated Poisson Process (MMPP) Cookbook", 1993):
//!
//! ```text
//! E[gap²] = (2 / r) π (Λ − Q)⁻¹ 1
//! IDC(t) = 1 + (2 / r t) Σ πᵢ λᵢ [D t − D² (I − e^Qt)] λ,    D = (1π − Q)⁻¹ − 1π
//! ```

use super::Predicted;
use trammel_stats::arrivals::modulated::Chain;

type Matrix = Vec<Vec<f64>>;

/// What the process is like, but for sizes.
pub(crate) fn predicted(chain: &Chain) -> Predicted {
    let mean = chain.mean_rate();
    let rates = rates(chain);
    let mut matrix = generator(chain);
    for (at, row) in matrix.iter_mut().enumerate() {
        for entry in row.iter_mut() {
            *entry = -*entry;
        }
        row[at] += rates[at];
    }
    let spans = solve(matrix, vec![1.0; rates.len()]);
    let square = 2.0 * mean * dot(chain.shares(), &spans);
    let peak = rates.iter().copied().fold(0.0, f64::max);
    Predicted {
        mean_rate: Some(mean),
        peak_rate: Some(peak),
        mean_bytes: None,
        size_cv: None,
        gap_cv: Some((square - 1.0).max(0.0).sqrt()),
        dispersion_limit: Some(1.0 + 2.0 * weigh(chain, &deviation(chain, centred(chain))) / mean),
        hurst: Some(0.5),
    }
}

/// IDC(t) at t = `secs`.
pub(crate) fn dispersion(chain: &Chain, secs: f64) -> Option<f64> {
    if !(secs > 0.0 && secs.is_finite()) {
        return None;
    }
    let mean = chain.mean_rate();
    let fastest = chain
        .states()
        .iter()
        .map(|state| 1.0 / state.sojourn_secs)
        .fold(0.0, f64::max);
    let rates = centred(chain);
    let extra = if fastest * secs < 1e-4 {
        // So short that the state hardly changes; the difference below would cancel.
        weigh(chain, &rates) * secs * secs / 2.0
    } else {
        let decayed = decay(chain, &rates, secs);
        let lost = rates
            .iter()
            .zip(&decayed)
            .map(|(now, then)| now - then)
            .collect();
        let once = deviation(chain, rates);
        let twice = deviation(chain, deviation(chain, lost));
        weigh(chain, &once) * secs - weigh(chain, &twice)
    };
    Some(1.0 + 2.0 * extra / (mean * secs))
}

fn rates(chain: &Chain) -> Vec<f64> {
    chain
        .states()
        .iter()
        .map(|state| state.per_second)
        .collect()
}

/// The rates less their mean.
fn centred(chain: &Chain) -> Vec<f64> {
    let mean = chain.mean_rate();
    rates(chain).into_iter().map(|rate| rate - mean).collect()
}

/// Σ πᵢ λᵢ vᵢ.
fn weigh(chain: &Chain, vector: &[f64]) -> f64 {
    let weights: Vec<f64> = chain
        .shares()
        .iter()
        .zip(rates(chain))
        .map(|(p, rate)| p * rate)
        .collect();
    dot(&weights, vector)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Q. That of a single state is 0.
fn generator(chain: &Chain) -> Matrix {
    let rows = chain.states().iter().enumerate().map(|(at, state)| {
        let mut row: Vec<f64> = state.next.iter().map(|p| p / state.sojourn_secs).collect();
        row[at] = 0.0;
        row[at] = -row.iter().sum::<f64>();
        row
    });
    rows.collect()
}

/// (1π − Q)⁻¹ of a vector whose mean under π is 0, which is what D makes of it.
fn deviation(chain: &Chain, vector: Vec<f64>) -> Vec<f64> {
    let mut matrix = generator(chain);
    for row in &mut matrix {
        for (entry, share) in row.iter_mut().zip(chain.shares()) {
            *entry = share - *entry;
        }
    }
    solve(matrix, vector)
}

/// e^(Q t) of a vector: a short time by its series, then doubled.
fn decay(chain: &Chain, vector: &[f64], secs: f64) -> Vec<f64> {
    let mut step = generator(chain);
    let norm = step
        .iter()
        .enumerate()
        .map(|(at, row)| -row[at])
        .fold(0.0, f64::max)
        * secs;
    // After 60 doublings more every state is forgotten; stochastic matrices stay so when squared.
    let doublings = (norm.log2().ceil().max(0.0) as i32 + 3).min(200);
    let scale = secs / 2_f64.powi(doublings);
    for entry in step.iter_mut().flatten() {
        *entry *= scale;
    }
    let count = vector.len();
    let identity = |at: usize| (0..count).map(|to| f64::from(u8::from(at == to))).collect();
    let mut sum: Matrix = (0..count).map(identity).collect();
    let mut term = sum.clone();
    // The norm is at most 1/8 (twice that by rows): 14 terms are beyond rounding.
    for order in 1..=14 {
        term = product(&term, &step);
        for (entry, more) in sum.iter_mut().flatten().zip(term.iter_mut().flatten()) {
            *more /= f64::from(order);
            *entry += *more;
        }
    }
    for _ in 0..doublings {
        sum = product(&sum, &sum);
        // Rows add up to 1; squaring would double what rounding has taken away.
        for row in &mut sum {
            let total: f64 = row.iter().sum();
            for entry in row {
                *entry /= total;
            }
        }
    }
    sum.iter().map(|row| dot(row, vector)).collect()
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let row = |row: &Vec<f64>| {
        let mut out = vec![0.0; row.len()];
        for (factor, other) in row.iter().zip(b) {
            for (entry, value) in out.iter_mut().zip(other) {
                *entry += factor * value;
            }
        }
        out
    };
    a.iter().map(row).collect()
}

/// x of `matrix` x = `vector`, by elimination with the largest pivot of each column.
fn solve(mut matrix: Matrix, mut vector: Vec<f64>) -> Vec<f64> {
    let count = vector.len();
    for at in 0..count {
        let size = |row: &usize| matrix[*row][at].abs();
        let pivot = (at..count)
            .max_by(|a, b| size(a).total_cmp(&size(b)))
            .unwrap_or(at);
        matrix.swap(at, pivot);
        vector.swap(at, pivot);
        let (above, below) = matrix.split_at_mut(at + 1);
        let pivot_row = &above[at];
        for (row, number) in below.iter_mut().zip(at + 1..) {
            let factor = row[at] / pivot_row[at];
            for (entry, value) in row.iter_mut().zip(pivot_row).skip(at) {
                *entry -= factor * value;
            }
            vector[number] -= factor * vector[at];
        }
    }
    for at in (0..count).rev() {
        let known = dot(&matrix[at][at + 1..], &vector[at + 1..]);
        vector[at] = (vector[at] - known) / matrix[at][at];
    }
    vector
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_stats::arrivals::modulated::State;

    #[test]
    fn two_states_have_the_known_closed_forms() {
        let chain = Chain::two([2000.0, 100.0], [0.01, 0.03]).unwrap();
        // p(1 − p)(λ₁ − λ₂)² e^(−ct), c = 1/on + 1/off; the mean is 575 per second.
        let (c, power, mean) = (100.0 + 100.0 / 3.0, 1900.0_f64.powi(2) * 3.0 / 16.0, 575.0);
        let exact =
            |t: f64| 1.0 + 2.0 * power * (t / c - (1.0 - (-c * t).exp()) / (c * c)) / (mean * t);
        for t in [1e-3, 0.01, 0.1, 1.0, 100.0] {
            let found = dispersion(&chain, t).unwrap();
            assert!(
                (found / exact(t) - 1.0).abs() < 1e-9,
                "{t}: {found}, {}",
                exact(t)
            );
        }
        let small = 1e-8;
        let found = dispersion(&chain, small).unwrap() - 1.0;
        assert!((found / (power * small / mean) - 1.0).abs() < 1e-5);
        let limit = predicted(&chain).dispersion_limit.unwrap();
        assert!((limit / (1.0 + 2.0 * power / (c * mean)) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn equal_rates_make_a_poisson_process() {
        let state = |next: [f64; 3]| State {
            per_second: 50.0,
            sojourn_secs: 0.1,
            next: next.to_vec(),
        };
        let states = [[0.0, 1.0, 0.0], [0.3, 0.0, 0.7], [1.0, 0.0, 0.0]].map(state);
        let chain = Chain::new(states.to_vec()).unwrap();
        let predicted = predicted(&chain);
        assert!((predicted.gap_cv.unwrap() - 1.0).abs() < 1e-12);
        assert!((predicted.dispersion_limit.unwrap() - 1.0).abs() < 1e-12);
        assert!((dispersion(&chain, 0.3).unwrap() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn an_interrupted_process_has_the_gaps_of_its_closed_form() {
        // Hyper-exponential gaps (Kuczura 1973): CV² = 1 + 2 λ a / (a + b)², with "on" ending at a
        // and "off" at b.
        let (lambda, a, b) = (1000.0, 20.0, 5.0);
        let chain = Chain::two([lambda, 0.0], [1.0 / a, 1.0 / b]).unwrap();
        let exact: f64 = 1.0 + 2.0 * lambda * a / (a + b).powi(2);
        assert!((predicted(&chain).gap_cv.unwrap().powi(2) / exact - 1.0).abs() < 1e-12);
    }
}
