//! Drops packets by a loss model.
//!
//! # What it does
//! `MODEL` is one of the loss models that simulated links have, and the other arguments are its
//! parameters: `PROBABILITY` of `bernoulli`, `P` and `R` of `gilbert-elliott`, and so on; numbers
//! of a list have spaces between. Lost packets leave by output 1 where there is one.
//!
//! # Handlers
//! - `lost`: packets that were lost
//! - `probability`: makes it the probability of loss from now on, of a model that is one
//! - `mean_loss`: the share of packets that the model loses in the long run
//!
//! # Example
//! ```click
//! // Losses in bursts.
//! FromDevice(eth0) -> LossModel(MODEL gilbert-elliott, P 0.001, R 0.2) -> Queue -> ToDevice(eth1)
//! ```

use crate::args::{Args, Kind, Need, mandatory, param};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::reason::Reason;
use crate::script::format::real;
use trammel_core::entry::{Kind as ParamKind, Params, Value};
use trammel_core::time::Time;
use trammel_packet::batch::Packets;
use trammel_packet::timestamp::Timestamp;
use trammel_queues::loss;

/// The class.
pub static ENTRY: Entry = Entry::new("LossModel", "drops packets like a lossy path", || {
    Box::<Lossy>::default()
})
.ports("1/1-2", "a/ah")
.references(&["Gilbert 1960", "Elliott 1963"])
.params(&[
    mandatory("MODEL", Kind::Text, "the model's name"),
    param(
        "PARAMETERS",
        Need::KeywordRest,
        Kind::Raw,
        "",
        "the model's parameters, each by its name",
    ),
])
.ops("random(); work(25)");

#[derive(Debug, Default)]
struct Lossy {
    name: String,
    model: Option<Box<dyn loss::LossModel>>,
    start: Timestamp,
    packets: u64,
    lost: u64,
}

fn build(name: &str, given: &[(String, String)]) -> Result<Box<dyn loss::LossModel>, Diagnostics> {
    let entry = loss::FAMILY
        .get(name)
        .map_err(|unknown| Diagnostics::of(unknown.to_string()))?;
    let given = given.iter().map(|(keyword, text)| {
        let name = keyword.to_ascii_lowercase();
        let param = entry.about.params.iter().find(|param| param.name == name);
        let is_list = param.is_some_and(|param| matches!(param.kind, ParamKind::Floats));
        let text = if is_list {
            text.split_whitespace().collect::<Vec<_>>().join(",")
        } else {
            text.trim().to_owned()
        };
        (name, Value::Text(text))
    });
    let params = Params::resolve(&entry.about, &given.collect::<Vec<_>>()).map_err(|faults| {
        let mut all = Diagnostics::new();
        for fault in faults {
            all.error(None, fault.to_string());
        }
        all
    })?;
    (entry.build)(&params).map_err(Diagnostics::of)
}

impl Element for Lossy {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        args.text("MODEL").clone_into(&mut self.name);
        self.model = Some(build(&self.name, args.keyword_rest())?);
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        self.start = ctx.now();
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let Some(model) = &mut self.model else {
            return;
        };
        let ns = (ctx.now() - self.start).0.max(0) as u64;
        let now = Time::from_ps(ns.saturating_mul(1000));
        self.packets += batch.len() as u64;
        batch.filter(|packet| {
            let bytes = u32::try_from(ctx.pool()[&packet].len()).unwrap_or(u32::MAX);
            if !model.loses(now, bytes, ctx.rng()) {
                return Some(packet);
            }
            self.lost += 1;
            ctx.reject(1, packet, Reason::Lost);
            None
        });
    }

    fn handlers(&self) -> Vec<Handler> {
        ["model", "count", "lost", "mean_loss"]
            .map(|name| Handler::new(name, "r"))
            .into_iter()
            .chain([
                Handler::new("probability", "w"),
                Handler::new("reset_counts", "wb"),
            ])
            .collect()
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "model" => self.name.clone(),
            "count" => self.packets.to_string(),
            "lost" => self.lost.to_string(),
            _ => {
                let mean = self.model.as_ref().and_then(|model| model.mean_loss());
                mean.map_or("unknown".to_owned(), real)
            }
        })
    }

    fn write(&mut self, ctx: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        if name == "probability" {
            let probability: Option<f64> = value.trim().parse().ok();
            let probability = probability
                .filter(|one| (0.0..=1.0).contains(one))
                .ok_or("a probability is a number from 0 to 1")?;
            let seed = ctx.rng().below(u64::MAX);
            if let Some(model) = &mut self.model {
                model.change(Some(probability), seed);
            }
            return Ok(());
        }
        (self.packets, self.lost) = (0, 0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{errors, loaded};

    #[test]
    fn as_many_are_lost_as_the_model_says() {
        for (model, low, high) in [
            ("bernoulli, PROBABILITY 0.1", 9_620, 10_380),
            ("gilbert-elliott, P 0.01, R 0.09", 8_500, 11_500),
            ("periodic, EVERY 10", 9_999, 10_001),
        ] {
            let mut run = loaded(&format!(
                "InfiniteSource(LIMIT 100000, BURST 32, STOP true) \
                 -> l :: LossModel(MODEL {model}) -> Discard;
                 l [1] -> c :: Counter -> Discard;"
            ));
            run.run(1.0);
            let lost: u32 = run.read("c.count").parse().expect("a number");
            assert!((low..=high).contains(&lost), "{model}: {lost}");
            assert_eq!(
                (run.read("l.lost"), run.read("l.count")),
                (lost.to_string(), "100000".into())
            );
        }
    }

    #[test]
    fn what_is_wrong_with_a_model_is_told() {
        let text = errors("Idle -> LossModel(bernouli, PROBABILITY 0.1) -> Discard");
        assert!(text.contains("did you mean `bernoulli`?"), "{text}");
        let text = errors("Idle -> LossModel(bernoulli, PROBABILITY 2) -> Discard");
        assert!(text.contains("a number from 0 to 1"), "{text}");
        let text = errors("Idle -> LossModel(bernoulli) -> Discard");
        assert!(text.contains("probability"), "{text}");
    }
}
