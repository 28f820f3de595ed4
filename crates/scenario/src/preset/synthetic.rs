//! The traces of presets that are not measured: what a cell gives one user, made up.
//!
//! The logarithm of the rate is an autoregressive process of the first order in steps of 100 ms:
//! x ← a x + √(1 − a²) n, with n normal, and the rate is median · e^(σ x), between a tenth of the
//! median and ten times it. Fading of some seconds and medians are those of the sources that a
//! preset names; σ and a are assumed. Handovers come with exponential gaps; in one the link is down
//! for a time and its queue is kept.
//!
//! Source: the model is ours. That a cell's rate is well described by the past rate, not by more,
//! is in Winstein, Sivaraman and Balakrishnan, "Stochastic Forecasts Achieve High Throughput and
//! Low Delay over Cellular Networks", NSDI 2013, §3.

use std::fmt::Write;
use trammel_core::rng::Rng;

/// What a cell is like.
#[derive(Clone, Copy, Debug)]
struct Cell {
    /// The preset that has it.
    preset: &'static str,
    /// The median rates to the user and back, Mbit/s.
    median_mbps: [f64; 2],
    /// The deviation of the rate's logarithm.
    sigma: f64,
    /// How much of a step's value is that of the step before.
    memory: f64,
    /// The mean time between handovers, s, and how long one lasts, ms.
    handover: (f64, u64),
}

/// The cells.
static CELLS: [Cell; 2] = [
    Cell {
        preset: "lte",
        median_mbps: [13.0, 6.0],
        sigma: 0.5,
        memory: 0.97,
        handover: (20.0, 50),
    },
    Cell {
        preset: "5g",
        median_mbps: [150.0, 30.0],
        sigma: 0.7,
        memory: 0.97,
        handover: (15.0, 30),
    },
];

/// Steps of a trace, and their length in milliseconds.
const STEPS: u64 = 600;
const STEP_MS: u64 = 100;

impl Cell {
    /// The trace, as a file of `schedule_file`.
    fn trace(&self) -> String {
        let mut rng = Rng::new(28, &format!("preset:{}", self.preset));
        let mut normal = || {
            // Box and Muller.
            let (one, other) = (1.0 - rng.unit(), rng.unit());
            (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * other).cos()
        };
        let mut at = [normal(), normal()];
        let mut text = "time_ms,rate_mbps,ack_rate_mbps,down\n".to_owned();
        let mut rng = Rng::new(28, &format!("preset:{}:handovers", self.preset));
        let mut gap = || -(1.0 - rng.unit()).ln() * self.handover.0 * 1000.0;
        let mut next_ms = gap();
        for step in 0..STEPS {
            let rates = [0, 1].map(|way| {
                let median: f64 = self.median_mbps[way];
                (median * (self.sigma * at[way]).exp()).clamp(median / 10.0, median * 10.0)
            });
            let ms = step * STEP_MS;
            let is_down = next_ms < ms as f64 && step > 0;
            let [down, up] = rates;
            let _ = writeln!(text, "{ms},{down:.1},{up:.1},{}", u8::from(is_down));
            if is_down {
                let _ = writeln!(text, "{},,,0", ms + self.handover.1);
                next_ms = ms as f64 + gap();
            }
            let fresh = (1.0 - self.memory * self.memory).sqrt();
            at = at.map(|x| self.memory * x + fresh * normal());
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preset;

    /// `UPDATE_DOCS=1` writes what the generator makes into the presets.
    #[test]
    fn presets_have_what_the_generator_makes() {
        for cell in &CELLS {
            let path = format!(
                "{}/src/preset/{}.toml",
                env!("CARGO_MANIFEST_DIR"),
                cell.preset
            );
            let trace = cell.trace();
            if std::env::var_os("UPDATE_DOCS").is_some() {
                let text = std::fs::read_to_string(&path).unwrap();
                let (before, _) = text.split_once("[file]\n").expect("it has a file");
                let text = format!("{before}[file]\ntext = '''\n{trace}'''\n");
                std::fs::write(&path, text).unwrap();
                continue;
            }
            let preset = preset::find(cell.preset).expect("it is a preset");
            assert_eq!(preset.file.as_deref(), Some(&*trace), "{}", cell.preset);
        }
    }

    #[test]
    fn rates_have_the_cell_s_median() {
        for cell in &CELLS {
            let trace = cell.trace();
            let rows = crate::schedule_file::parse(&trace).unwrap();
            let rates = rows.iter().filter_map(|row| row.data.rate);
            let mut rates: Vec<f64> = rates.map(|rate| rate.as_bps() as f64 / 1e6).collect();
            rates.sort_by(f64::total_cmp);
            let median = rates[rates.len() / 2];
            // A minute has some twenty independent values.
            let ratio = median / cell.median_mbps[0];
            assert!((0.5..2.0).contains(&ratio), "{}: {median}", cell.preset);
            assert!(
                rows.iter().any(|row| row.data.down == Some(true)),
                "{}",
                cell.preset
            );
        }
    }
}
