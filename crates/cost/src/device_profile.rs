//! What a port and its driver are like: rings, notice, cycles a batch, frame and byte, rates of
//! link and bus.
//!
//! A profile is a TOML file, `devices/*.toml`. Each quantity is a table of `value`, `label` — how
//! it is known — and `source`: where from, or what it was fitted to. What is left out has the
//! default of [`KEYS`]. Nothing is known by being in a file: a simulation on a profile is as good
//! as its labels, so they are kept and shown.

use toml_edit::{DocumentMut, Item};
use trammel_core::label::Label;

/// How a quantity may be known.
const LABELS: [Label; 5] = [
    Label::Published,
    Label::Computed,
    Label::Measured,
    Label::Fitted,
    Label::Assumed,
];

/// A quantity that a profile may give.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key {
    /// Its name in the file.
    pub name: &'static str,
    /// Its unit and what it is.
    pub help: &'static str,
    /// The range that it may have.
    pub range: (f64, f64),
    /// What it is where it is left out; none where it must be given.
    pub default: Option<f64>,
    /// It is a whole number.
    pub is_whole: bool,
}

const fn key(
    name: &'static str,
    help: &'static str,
    range: (f64, f64),
    default: Option<f64>,
    is_whole: bool,
) -> Key {
    Key {
        name,
        help,
        range,
        default,
        is_whole,
    }
}

/// The most cycles that one thing may cost.
const MOST: f64 = 1e12;
/// The most frames of a ring.
const MOST_FRAMES: f64 = 1e6;
/// No limit: a rate of no bus, a batch of any size, no interrupts.
const NONE: f64 = f64::INFINITY;

/// Every quantity of a profile.
pub const KEYS: &[Key] = &[
    key("clock_hz", "Hz, of the core", (1e3, 1e12), None, false),
    key(
        "link_bps",
        "bit/s, of the link each way",
        (1.0, 1e15),
        None,
        true,
    ),
    key(
        "bus_bps",
        "bit/s of the bus in each direction; without it, no limit",
        (1.0, 1e15),
        Some(NONE),
        true,
    ),
    key("receive_ring", "frames", (1.0, MOST_FRAMES), None, true),
    key("transmit_ring", "frames", (1.0, MOST_FRAMES), None, true),
    key(
        "batch",
        "most frames that the driver delivers at a time",
        (1.0, MOST_FRAMES),
        Some(NONE),
        true,
    ),
    key(
        "interrupt_us",
        "us from a frame to its notice; without it, polled",
        (0.0, 1e6),
        Some(NONE),
        false,
    ),
    key(
        "look",
        "cycles of a look at descriptors",
        (0.0, MOST),
        Some(0.0),
        false,
    ),
    key(
        "receive_call",
        "cycles of a batch that is received",
        (0.0, MOST),
        Some(0.0),
        false,
    ),
    key(
        "receive_packet",
        "cycles of a frame",
        (0.0, MOST),
        None,
        false,
    ),
    key(
        "receive_byte",
        "cycles of a byte",
        (0.0, MOST),
        Some(0.0),
        false,
    ),
    key(
        "receive_empty",
        "cycles of a poll in vain",
        (0.0, MOST),
        Some(0.0),
        false,
    ),
    key(
        "transmit_call",
        "cycles of a batch that is sent",
        (0.0, MOST),
        Some(0.0),
        false,
    ),
    key(
        "transmit_packet",
        "cycles of a frame",
        (0.0, MOST),
        None,
        false,
    ),
    key(
        "transmit_byte",
        "cycles of a byte",
        (0.0, MOST),
        Some(0.0),
        false,
    ),
    key(
        "flush",
        "cycles to tell the port of frames that were gathered",
        (0.0, MOST),
        Some(0.0),
        false,
    ),
    key(
        "gathers",
        "1 where frames wait for the flush, else 0",
        (0.0, 1.0),
        Some(0.0),
        true,
    ),
    key(
        "graph_packet",
        "cycles per frame of a whole router, if its elements' costs are not known",
        (0.0, MOST),
        Some(0.0),
        false,
    ),
    key(
        "restart_ms",
        "ms for which a restarted router does not forward; without it, not known",
        (0.0, 1e9),
        Some(NONE),
        false,
    ),
];

/// A quantity as a profile gives it.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// Its value, in the unit of its key.
    pub value: f64,
    /// How it is known.
    pub label: Label,
    /// Where from, or what it was fitted to.
    pub source: String,
}

/// What a port and its driver are like.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceProfile {
    /// Its name: that of the file.
    pub name: String,
    /// In a few words.
    pub summary: String,
    /// By the place of the key in [`KEYS`]; none where it was left out.
    quantities: Vec<Option<Quantity>>,
}

/// The profiles that come with this crate, by name.
const SHIPPED: [(&str, &str); 3] = [
    (
        "click-pc-2009",
        include_str!("../devices/click-pc-2009.toml"),
    ),
    ("dpdk-10g", include_str!("../devices/dpdk-10g.toml")),
    ("memory-ring", include_str!("../devices/memory-ring.toml")),
];

/// Why a profile cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// It is no TOML.
    #[error("device profile `{name}`: {why}")]
    Toml {
        /// The profile.
        name: String,
        /// What the reader of TOML says.
        why: String,
    },
    /// A quantity is wrong.
    #[error("device profile `{name}`: `{key}` {what}")]
    Quantity {
        /// The profile.
        name: String,
        /// Which quantity.
        key: String,
        /// What is wrong, and what would be right.
        what: String,
    },
    /// There is no such profile.
    #[error("there is no device profile `{0}`: {known}", known = names())]
    Unknown(String),
}

fn names() -> String {
    let names: Vec<&str> = SHIPPED.iter().map(|(name, _)| *name).collect();
    names.join(", ")
}

fn number(item: Option<&Item>) -> Option<f64> {
    let value = item?.as_value()?;
    (value.as_float()).or_else(|| value.as_integer().map(|whole| whole as f64))
}

/// Reads one quantity.
fn quantity(key: &Key, item: &Item) -> Result<Quantity, String> {
    let text = |name: &str| item.get(name).and_then(Item::as_str);
    let value = number(item.get("value")).ok_or("has no number `value`")?;
    let (least, most) = key.range;
    if !(least..=most).contains(&value) || (key.is_whole && value.fract() != 0.0) {
        let whole = if key.is_whole { "a whole number " } else { "" };
        return Err(format!(
            "is {value}; it must be {whole}from {least} to {most} ({})",
            key.help
        ));
    }
    let word = text("label").unwrap_or_default();
    let label = Label::of_key(word, &LABELS).ok_or_else(|| {
        let words = LABELS.map(Label::key).join(", ");
        format!("has the label `{word}`; it must be one of {words}")
    })?;
    let source = text("source").filter(|source| !source.trim().is_empty());
    let source = source.ok_or("has no `source`: say where the value is from")?;
    Ok(Quantity {
        value,
        label,
        source: source.to_owned(),
    })
}

impl DeviceProfile {
    /// Reads the profile called `name`.
    pub fn read(name: &str, text: &str) -> Result<DeviceProfile, ProfileError> {
        let document: DocumentMut =
            text.parse()
                .map_err(|why: toml_edit::TomlError| ProfileError::Toml {
                    name: name.to_owned(),
                    why: why.to_string().replace('\n', " "),
                })?;
        let wrong = |key: &str, what: String| ProfileError::Quantity {
            name: name.to_owned(),
            key: key.to_owned(),
            what,
        };
        let mut quantities = vec![None; KEYS.len()];
        for (word, item) in document.iter().filter(|(word, _)| *word != "summary") {
            let Some(at) = KEYS.iter().position(|key| key.name == word) else {
                let keys: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
                return Err(wrong(
                    word,
                    format!("is not known; there are {}", keys.join(", ")),
                ));
            };
            quantities[at] = Some(quantity(&KEYS[at], item).map_err(|what| wrong(word, what))?);
        }
        let mut missing = KEYS.iter().zip(&quantities);
        if let Some((key, _)) = missing.find(|(key, q)| key.default.is_none() && q.is_none()) {
            return Err(wrong(key.name, format!("is missing ({})", key.help)));
        }
        let summary = document.get("summary").and_then(Item::as_str);
        Ok(DeviceProfile {
            name: name.to_owned(),
            summary: summary.unwrap_or_default().to_owned(),
            quantities,
        })
    }

    /// A profile that comes with this crate.
    pub fn shipped(name: &str) -> Result<DeviceProfile, ProfileError> {
        match SHIPPED.iter().find(|(known, _)| *known == name) {
            Some((name, text)) => DeviceProfile::read(name, text),
            None => Err(ProfileError::Unknown(name.to_owned())),
        }
    }

    /// The names of those that come with this crate.
    pub fn all_shipped() -> impl Iterator<Item = &'static str> {
        SHIPPED.iter().map(|(name, _)| *name)
    }

    /// The value of the quantity called `name`, its default where it was left out. None where it
    /// has none, or is not a quantity of profiles.
    pub fn value(&self, name: &str) -> Option<f64> {
        let at = KEYS.iter().position(|key| key.name == name)?;
        let given = self.quantities[at].as_ref().map(|quantity| quantity.value);
        given.or(KEYS[at].default).filter(|value| value.is_finite())
    }

    /// What is given, with its key: for tables that show how each value is known.
    pub fn given(&self) -> impl Iterator<Item = (&'static Key, &Quantity)> {
        let all = KEYS.iter().zip(&self.quantities);
        all.filter_map(|(key, quantity)| Some((key, quantity.as_ref()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn those_that_come_with_the_crate_are_right() {
        for name in DeviceProfile::all_shipped() {
            let profile = DeviceProfile::shipped(name).unwrap_or_else(|why| panic!("{why}"));
            assert!(!profile.summary.is_empty());
            assert!(profile.value("clock_hz").is_some_and(|hz| hz >= 1e9));
        }
        let said = DeviceProfile::shipped("x").unwrap_err().to_string();
        assert!(
            said.contains("no device profile `x`: click-pc-2009"),
            "{said}"
        );
    }

    #[test]
    fn what_was_fitted_says_to_what() {
        let profile = DeviceProfile::shipped("click-pc-2009").unwrap();
        let mut given = profile.given();
        let (_, graph) = given.find(|(key, _)| key.name == "graph_packet").unwrap();
        assert_eq!((graph.label, graph.label.key()), (Label::Fitted, "fitted"));
        assert!(graph.source.contains("fitted to 740,000"));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let right = SHIPPED[1].1;
        let said = |text: &str| DeviceProfile::read("p", text).unwrap_err().to_string();
        let ring = "[receive_ring]\nvalue = 1024";
        let changed = |to: &str| said(&right.replace(ring, to));
        assert!(
            changed("[receive_ring]\nvalue = 0")
                .contains("`receive_ring` is 0; it must be a whole number from 1")
        );
        assert!(changed("[receive_ring]\nvalue = 1.5").contains("`receive_ring` is 1.5"));
        assert!(
            changed("[ring]\nvalue = 1024").contains("`ring` is not known; there are clock_hz")
        );
        let said_of = |from: &str, to: &str| said(&right.replacen(from, to, 1));
        assert!(said_of("label = \"published\"", "label = \"true\"").contains("the label `true`"));
        assert!(said_of("source = \"", "from = \"").contains("no `source`"));
        assert!(said("summary = \"x\"").contains("`clock_hz` is missing"));
        assert!(said("[[[").starts_with("device profile `p`: "));
    }

    #[test]
    fn what_is_left_out_has_its_default() {
        let profile = DeviceProfile::shipped("dpdk-10g").unwrap();
        assert_eq!(profile.value("receive_byte"), Some(0.0));
        assert_eq!(
            (profile.value("interrupt_us"), profile.value("nonsense")),
            (None, None)
        );
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(\\[[a-z_]{1,12}\\]\n)?([a-z]{1,8} = [0-9.\"e-]{1,6}\n\
                                           ){0,4}") {
            let _ = DeviceProfile::read("p", &text);
        }
    }
}
