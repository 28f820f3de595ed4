//! Flips bits of packets at random.
//!
//! # What it does
//! Each bit is changed with probability `P`: flipped, set or cleared as `KIND` says.
//!
//! # Handlers
//! - `p_bit_error`: the probability of an error in a bit
//! - `error_kind`: what becomes of such a bit: `flip`, `set`, `clear`
//!
//! # Example
//! ```click
//! // A bit of a million is wrong.
//! FromDevice(eth0) -> RandomBitErrors(0.000001) -> Queue -> ToDevice(eth1)
//! ```

use crate::args::numbers::{parse_bool, unparse_fixed};
use crate::args::{Args, Kind, mandatory, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::batch::Packets;
use trammel_queues::loss::Trials;

/// Bits of fraction of probabilities.
const BITS: u8 = 28;

/// The class.
pub static ENTRY: Entry = Entry::new("RandomBitErrors", "flips bits at random", || {
    Box::new(RandomBitErrors {
        probability: 0,
        kind: Change::Flip,
        active: true,
        errors: Trials::new(0.0),
    })
})
.params(&[
    mandatory(
        "P",
        Kind::Fixed(BITS),
        "the probability of each bit's change",
    ),
    positional("KIND", Kind::Text, "flip", "flip, set or clear"),
    positional("ACTIVE", Kind::Bool, "true", "whether it changes anything"),
])
.live()
.ops("work(30)");

/// What becomes of a bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Clear,
    Set,
    Flip,
}

const CHANGES: [(&str, Change); 3] = [
    ("clear", Change::Clear),
    ("set", Change::Set),
    ("flip", Change::Flip),
];

#[derive(Debug)]
struct RandomBitErrors {
    /// With `BITS` of fraction.
    probability: u64,
    kind: Change,
    active: bool,
    errors: Trials,
}

impl Element for RandomBitErrors {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let name = match args.text("KIND") {
            "" => "flip",
            name => name,
        };
        let Some((_, kind)) = CHANGES.into_iter().find(|(known, _)| *known == name) else {
            return Err(Diagnostics::of(format!(
                "bad action '{name}' (must be 'set', 'clear', or 'flip')"
            )));
        };
        let probability = args.uint("P");
        if probability > 1 << BITS {
            let text = "drop probability must be between 0 and 1";
            return Err(Diagnostics::of(text));
        }
        if probability == 0 {
            let text = "zero bit error probability (underflow?)";
            setup.warnings.push(text.to_owned());
        }
        (self.probability, self.kind, self.active) = (probability, kind, args.bool("ACTIVE"));
        self.errors = Trials::new(probability as f64 / f64::from(1 << BITS));
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        if !self.active {
            return;
        }
        for handle in batch.iter() {
            let bits = ctx.pool()[handle].len() as u64 * 8;
            let mut from = 0;
            while let Some(skipped) = self.errors.first_of(bits - from, ctx.rng()) {
                let bit = from + skipped;
                let byte = &mut ctx.pool()[handle].data_mut()[(bit / 8) as usize];
                let mask = 1 << (bit % 8);
                match self.kind {
                    Change::Clear => *byte &= !mask,
                    Change::Set => *byte |= mask,
                    Change::Flip => *byte ^= mask,
                }
                from = bit + 1;
            }
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![
            Handler::new("p_bit_error", "rw").of_argument(0, "P"),
            Handler::new("error_kind", "rw").of_argument(1, "KIND"),
            Handler::new("active", "rw"),
        ]
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "p_bit_error" => unparse_fixed(self.probability as i64, BITS),
            "active" => self.active.to_string(),
            _ => {
                let kind = CHANGES.into_iter().find(|(_, kind)| *kind == self.kind);
                kind.map(|(name, _)| name.to_owned()).unwrap_or_default()
            }
        })
    }

    fn write(&mut self, _: &mut Ctx, _: &str, value: &str) -> Result<(), String> {
        self.active = parse_bool(value.trim()).map_err(|_| "syntax error".to_owned())?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::errors;
    use crate::probe::Probe;

    /// Bits that are set after 1000 packets of 100 bytes of `fill` passed.
    fn ones(declaration: &str, fill: u8) -> u32 {
        let mut probe = Probe::new(declaration, 1);
        (0..1000)
            .flat_map(|_| probe.send(&[fill; 100]))
            .map(|(_, data)| data.iter().map(|byte| byte.count_ones()).sum::<u32>())
            .sum()
    }

    #[test]
    fn bits_change_as_often_as_asked() {
        // Four standard deviations of a binomial(800000, 0.01) are 356.
        let flipped = ones("RandomBitErrors(0.01)", 0);
        assert!(flipped.abs_diff(8000) < 356, "{flipped}");
        let cleared = 800_000 - ones("RandomBitErrors(0.01, clear)", 0xFF);
        assert!(cleared.abs_diff(8000) < 356, "{cleared}");
    }

    #[test]
    fn a_certain_change_changes_all_and_one_that_is_off_none() {
        assert_eq!(ones("RandomBitErrors(1, flip)", 0xFF), 0);
        assert_eq!(ones("RandomBitErrors(1, set)", 0), 800_000);
        assert_eq!(ones("RandomBitErrors(1, clear)", 0), 0);
        assert_eq!(ones("RandomBitErrors(1, flip, false)", 0), 0);
    }

    #[test]
    fn an_unknown_kind_is_refused() {
        let text = errors("Idle -> RandomBitErrors(0.1, turn) -> Discard");
        let wanted = "bad action 'turn' (must be 'set', 'clear', or 'flip')";
        assert!(text.contains(wanted), "{text}");
    }
}
