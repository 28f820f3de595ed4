//! A law of gaps, sizes or times whose numbers a method of Python's gives by the block.

use super::block::Blocks;
use super::class::Object;
use std::sync::{Mutex, OnceLock};
use trammel_core::entry::Params;
use trammel_core::rng::Rng;
use trammel_stats::dist::Distribution;

/// Draws from which the mean and the distribution function are known, where the class does not
/// say.
const DRAWS: usize = 4096;

/// Makes the law that `params` are for.
pub(super) fn build(params: &Params) -> Result<Box<dyn Distribution>, String> {
    let of = Object::new(params)?;
    let name = of.class.name;
    let fault = || format!("`{name}` has no method `draw`");
    let blocks = Blocks::new(of, "draw").ok_or_else(fault)?;
    let params = params.clone();
    Ok(Box::new(Law {
        blocks: Mutex::new(blocks),
        params,
        drawn: OnceLock::new(),
    }))
}

#[derive(Debug)]
struct Law {
    /// Whoever draws has a law of his own, so nobody waits.
    blocks: Mutex<Blocks>,
    params: Params,
    /// Draws of an object of their own, sorted.
    drawn: OnceLock<Vec<f64>>,
}

impl Law {
    fn drawn(&self) -> &[f64] {
        self.drawn.get_or_init(|| {
            // The draws of a run are not touched.
            let of = Object::new(&self.params).ok();
            let Some(mut blocks) = of.and_then(|of| Blocks::new(of, "draw")) else {
                return Vec::new();
            };
            let mut rng = Rng::new(0, "a law as it is seen before the run");
            let mut all: Vec<f64> = (0..DRAWS).map(|_| blocks.next(&mut rng)).collect();
            all.sort_by(f64::total_cmp);
            all
        })
    }
}

impl Distribution for Law {
    fn sample(&self, rng: &mut Rng) -> f64 {
        let mut blocks = self.blocks.lock().expect("whoever draws alone has it");
        blocks.next(rng)
    }
    fn mean(&self) -> Option<f64> {
        let said = self
            .blocks
            .lock()
            .expect("whoever draws alone has it")
            .of
            .number("mean");
        if said.is_finite() {
            return Some(said);
        }
        let all = self.drawn();
        Some(all.iter().sum::<f64>() / all.len() as f64).filter(|mean| mean.is_finite())
    }
    fn variance(&self) -> Option<f64> {
        let (all, mean) = (self.drawn(), self.mean()?);
        let sum: f64 = all.iter().map(|value| (value - mean).powi(2)).sum();
        Some(sum / all.len() as f64).filter(|variance| variance.is_finite())
    }
    fn cdf(&self, x: f64) -> f64 {
        let all = self.drawn();
        all.partition_point(|value| *value <= x) as f64 / all.len().max(1) as f64
    }
}
