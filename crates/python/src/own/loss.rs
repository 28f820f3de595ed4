//! A loss model whose decisions a method of Python's gives: by the block, or packet by packet.

use super::block::Blocks;
use super::call::attached;
use super::class::Object;
use pyo3::prelude::*;
use trammel_core::entry::Params;
use trammel_core::rng::Rng;
use trammel_core::time::Time;
use trammel_queues::loss::LossModel;

/// Makes the model that `params` are for.
pub(super) fn build(params: &Params) -> Result<Box<dyn LossModel>, String> {
    let of = Object::new(params)?;
    if let Some(hook) = of.hook("loses") {
        return Ok(Box::new(Single {
            of,
            hook,
            has_seed: false,
        }));
    }
    let name = of.class.name;
    let blocks = Blocks::new(of, "losses");
    let blocks = blocks.ok_or_else(|| format!("`{name}` has neither `losses` nor `loses`"))?;
    Ok(Box::new(Many(blocks)))
}

/// One whose method `losses` decides about many packets at once.
#[derive(Debug)]
struct Many(Blocks);

impl LossModel for Many {
    fn loses(&mut self, _now: Time, _bytes: u32, rng: &mut Rng) -> bool {
        self.0.next(rng) != 0.0
    }
    fn mean_loss(&self) -> Option<f64> {
        mean(&self.0.of)
    }
}

/// One whose method `loses` decides about each.
#[derive(Debug)]
struct Single {
    of: Object,
    hook: Py<PyAny>,
    has_seed: bool,
}

impl LossModel for Single {
    fn loses(&mut self, now: Time, bytes: u32, rng: &mut Rng) -> bool {
        let seed = (!self.has_seed).then(|| rng.below(1 << 63));
        self.has_seed = true;
        attached(self.of.class.name, |py| {
            if let Some(seed) = seed {
                self.of.set(py, "seed", seed)?;
            }
            let now_us = now.as_ps() / 1_000_000;
            self.hook.bind(py).call1((now_us, bytes))?.is_truthy()
        })
    }
    fn mean_loss(&self) -> Option<f64> {
        mean(&self.of)
    }
}

/// The long-run share that the class says that it loses.
fn mean(of: &Object) -> Option<f64> {
    Some(of.number("mean_loss")).filter(|share| (0.0..=1.0).contains(share))
}
