//! Quantities with units, and the one parser for them: `1 Gbit/s`, `10 ms`, `512 B`, `1 bdp`.
//!
//! A prefix is decimal unless it is binary by name (`KiB`). Rates are in bits per second on the
//! wire; `kpps` counts packets. The parser takes the spellings that `tc`, `iperf3` and the RFCs
//! use.

use crate::time::Span;
use std::fmt;

/// A bit rate, in bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// `bps` bits per second.
    pub const fn from_bps(bps: u64) -> Rate {
        Rate(bps)
    }
    /// Bits per second.
    pub const fn as_bps(self) -> u64 {
        self.0
    }
    /// Megabits (10⁶) per second.
    pub fn as_mbps(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 3] = [
            (1_000_000_000, "Gbit/s"),
            (1_000_000, "Mbit/s"),
            (1_000, "kbit/s"),
        ];
        match UNITS.iter().find(|(size, _)| self.0 >= *size) {
            Some((size, unit)) => write!(f, "{} {unit}", self.0 as f64 / *size as f64),
            None => write!(f, "{} bit/s", self.0),
        }
    }
}

/// Serialisation times at one rate, by one multiplication a packet.
///
/// Holds the picoseconds per byte as a 64.64 fixed-point number, so the error is under one
/// picosecond for any packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TxTime {
    whole_ps: u64,
    fraction: u64,
}

impl TxTime {
    /// The serialiser of a link of rate `rate`; a zero rate never finishes a byte.
    pub fn new(rate: Rate) -> TxTime {
        let bps = u128::from(rate.as_bps().max(1));
        let whole = 8_000_000_000_000_u128 / bps;
        let rest = 8_000_000_000_000_u128 % bps;
        TxTime {
            whole_ps: whole as u64,
            fraction: ((rest << 64) / bps) as u64,
        }
    }

    /// The time that `bytes` bytes take on the wire.
    #[inline]
    pub fn of(self, bytes: u64) -> Span {
        let fraction = (u128::from(self.fraction) * u128::from(bytes)) >> 64;
        Span::from_ps(
            self.whole_ps
                .saturating_mul(bytes)
                .saturating_add(fraction as u64),
        )
    }
}

/// What a number with a unit may mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// Seconds and their parts, into picoseconds.
    Time,
    /// Bits per second.
    Rate,
    /// Bytes.
    Bytes,
    /// Packets.
    Packets,
    /// Packets per second.
    PacketRate,
    /// Bandwidth-delay products of the path.
    Bdp,
    /// A bare number, or a percentage as a fraction of one.
    Ratio,
    /// Decibel-milliwatts.
    Dbm,
    /// Cycles a second, of a clock.
    Frequency,
}

impl Dimension {
    /// The unit in which a plain number of it is told: `s`, `bit/s`; nothing for a ratio.
    pub fn base_unit(self) -> &'static str {
        let base = |Unit(_, dimension, size): &&Unit| *dimension == self && *size == 1.0;
        UNITS
            .iter()
            .find(base)
            .map_or("", |Unit(names, ..)| names[0])
    }

    /// Every way to write one of its units.
    pub fn spellings(self) -> impl Iterator<Item = &'static str> {
        let units = UNITS
            .iter()
            .filter(move |Unit(_, dimension, _)| *dimension == self);
        units.flat_map(|Unit(names, ..)| names.iter().copied())
    }

    /// How to say it to a person, with an example.
    pub fn describe(self) -> &'static str {
        match self {
            Dimension::Time => "a time such as `10 ms`",
            Dimension::Rate => "a rate such as `100 Mbit/s`",
            Dimension::Bytes => "a size such as `64 KB`",
            Dimension::Packets => "a number of packets such as `100 packets`",
            Dimension::PacketRate => "a packet rate such as `10 kpps`",
            Dimension::Bdp => "a multiple of the bandwidth-delay product such as `1 bdp`",
            Dimension::Ratio => "a number or a percentage such as `0.1 %`",
            Dimension::Dbm => "a power such as `-76 dBm`",
            Dimension::Frequency => "a frequency such as `3.3 GHz`",
        }
    }
}

/// One unit: its spellings, what it measures, and its size in the base unit of its dimension.
struct Unit(&'static [&'static str], Dimension, f64);

const UNITS: &[Unit] = &[
    Unit(&["ps"], Dimension::Time, 1e-12),
    Unit(&["ns"], Dimension::Time, 1e-9),
    Unit(&["us", "µs", "μs"], Dimension::Time, 1e-6),
    Unit(&["ms"], Dimension::Time, 1e-3),
    Unit(&["s", "sec", "second", "seconds"], Dimension::Time, 1.0),
    Unit(&["min", "minute", "minutes"], Dimension::Time, 60.0),
    Unit(&["h", "hour", "hours"], Dimension::Time, 3600.0),
    Unit(&["bit/s", "bps", "bits/s"], Dimension::Rate, 1.0),
    Unit(&["kbit/s", "kbps", "Kbit/s", "Kbps"], Dimension::Rate, 1e3),
    Unit(&["Mbit/s", "Mbps"], Dimension::Rate, 1e6),
    Unit(&["Gbit/s", "Gbps"], Dimension::Rate, 1e9),
    Unit(&["Tbit/s", "Tbps"], Dimension::Rate, 1e12),
    Unit(&["B", "byte", "bytes"], Dimension::Bytes, 1.0),
    Unit(&["kB", "KB"], Dimension::Bytes, 1e3),
    Unit(&["MB"], Dimension::Bytes, 1e6),
    Unit(&["GB"], Dimension::Bytes, 1e9),
    Unit(&["TB"], Dimension::Bytes, 1e12),
    Unit(&["KiB"], Dimension::Bytes, 1024.0),
    Unit(&["MiB"], Dimension::Bytes, 1_048_576.0),
    Unit(&["GiB"], Dimension::Bytes, 1_073_741_824.0),
    Unit(
        &["packet", "packets", "pkt", "pkts", "p"],
        Dimension::Packets,
        1.0,
    ),
    Unit(&["pps"], Dimension::PacketRate, 1.0),
    Unit(&["kpps", "Kpps"], Dimension::PacketRate, 1e3),
    Unit(&["Mpps"], Dimension::PacketRate, 1e6),
    Unit(&["bdp", "BDP"], Dimension::Bdp, 1.0),
    Unit(&[""], Dimension::Ratio, 1.0),
    Unit(&["%"], Dimension::Ratio, 0.01),
    Unit(&["dBm"], Dimension::Dbm, 1.0),
    Unit(&["Hz"], Dimension::Frequency, 1.0),
    Unit(&["kHz"], Dimension::Frequency, 1e3),
    Unit(&["MHz"], Dimension::Frequency, 1e6),
    Unit(&["GHz"], Dimension::Frequency, 1e9),
];

/// A number in the base unit of its dimension (seconds, bit/s, bytes, packets, packets/s, …).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity {
    /// The number, in the base unit.
    pub value: f64,
    /// What it measures.
    pub dimension: Dimension,
}

/// Why a text is no quantity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnitError {
    /// The text does not begin with a number.
    #[error("`{0}` does not begin with a number")]
    NoNumber(String),
    /// The unit is not known; the nearest known one may be meant.
    #[error(
        "`{unit}` is no unit{}",
        nearest.as_ref().map(|n| format!("; did you mean `{n}`?")).unwrap_or_default()
    )]
    UnknownUnit {
        /// What was written.
        unit: String,
        /// The nearest spelling that is known.
        nearest: Option<String>,
    },
    /// The unit measures something else.
    #[error(
        "`{text}` is not {}", wanted.iter().map(|d| d.describe()).collect::<Vec<_>>().join(" or ")
    )]
    Wrong {
        /// What was written.
        text: String,
        /// What could have been written.
        wanted: Vec<Dimension>,
    },
}

impl Quantity {
    /// Reads `text`, a number and a unit with or without a space between them.
    pub fn parse(text: &str) -> Result<Quantity, UnitError> {
        let text = text.trim();
        let split = number_length(text);
        let value: f64 = text[..split]
            .replace('_', "")
            .parse()
            .map_err(|_| UnitError::NoNumber(text.to_owned()))?;
        let word = text[split..].trim();
        let found = UNITS.iter().find(|Unit(names, ..)| names.contains(&word));
        match found {
            Some(Unit(_, dimension, size)) => Ok(Quantity {
                value: value * size,
                dimension: *dimension,
            }),
            None => Err(UnitError::UnknownUnit {
                unit: word.to_owned(),
                nearest: nearest(
                    word,
                    UNITS.iter().flat_map(|Unit(names, ..)| *names).copied(),
                ),
            }),
        }
    }

    /// Reads `text` and requires one of the dimensions `wanted`.
    pub fn parse_as(text: &str, wanted: &[Dimension]) -> Result<Quantity, UnitError> {
        let quantity = Quantity::parse(text)?;
        if wanted.contains(&quantity.dimension) {
            Ok(quantity)
        } else {
            Err(UnitError::Wrong {
                text: text.to_owned(),
                wanted: wanted.to_vec(),
            })
        }
    }
}

/// The bytes of `text` that spell a number; an `e` counts only before digits.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    while at < bytes.len() {
        match bytes[at] {
            b'0'..=b'9' | b'.' | b'_' => at += 1,
            b'e' | b'E' => {
                let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
                if !bytes.get(at + 1 + sign).is_some_and(u8::is_ascii_digit) {
                    break;
                }
                at += 2 + sign;
            }
            _ => break,
        }
    }
    at
}

/// The candidate nearest to `word`, if it is near enough to be a slip of the hand.
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    let lower = word.to_lowercase();
    candidates
        .filter(|name| !name.is_empty())
        .map(|name| {
            (
                strsim::damerau_levenshtein(&lower, &name.to_lowercase()),
                name,
            )
        })
        .filter(|(distance, name)| *distance <= 1 + name.len().max(word.len()) / 4)
        // Among equally near ones, hands slip less often on the first letters.
        .min_by_key(|(distance, name)| {
            let shared = word
                .bytes()
                .zip(name.bytes())
                .take_while(|(a, b)| a == b)
                .count();
            (*distance, std::cmp::Reverse(shared))
        })
        .map(|(_, name)| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_numbers_with_units() {
        let read = |text| Quantity::parse(text).map(|q| (q.value, q.dimension));
        assert_eq!(read("1 Gbit/s"), Ok((1e9, Dimension::Rate)));
        assert_eq!(read("10ms"), Ok((0.01, Dimension::Time)));
        assert_eq!(read("1.5e-4"), Ok((1.5e-4, Dimension::Ratio)));
        assert_eq!(read("0.1 %"), Ok((0.001, Dimension::Ratio)));
        assert_eq!(read("-76 dBm"), Ok((-76.0, Dimension::Dbm)));
        assert_eq!(read("2 bdp"), Ok((2.0, Dimension::Bdp)));
        assert_eq!(read("3.3 GHz"), Ok((3.3e9, Dimension::Frequency)));
    }

    #[test]
    fn names_the_nearest_unit() {
        let error = Quantity::parse("10 Mbits/s").unwrap_err();
        assert_eq!(
            error.to_string(),
            "`Mbits/s` is no unit; did you mean `Mbit/s`?"
        );
        assert!(Quantity::parse("fast").is_err());
        assert!(Quantity::parse("").is_err());
    }

    #[test]
    fn says_what_was_wanted() {
        let error = Quantity::parse_as("10 ms", &[Dimension::Rate]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`10 ms` is not a rate such as `100 Mbit/s`"
        );
    }

    #[test]
    fn serialisation_is_exact() {
        assert_eq!(
            TxTime::new(Rate::from_bps(1_000_000_000)).of(1514),
            Span::from_ns(12_112)
        );
        assert_eq!(
            TxTime::new(Rate::from_bps(3)).of(3),
            Span::from_ps(7_999_999_999_999)
        );
    }
}
