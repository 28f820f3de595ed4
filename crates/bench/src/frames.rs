//! Sizes of frames: one size, or a mix of sizes taken in turn; and what a line carries of them at
//! most.
//!
//! Sizes count the frame check sequence. A mix is a genome of RFC 6985: a letter for each frame of
//! the sequence, which is then repeated. Small letters mean the sizes of the RFC's table; capital
//! ones are the user's own.
//!
//! ```text
//! 64        imix:aaafg        imix:AAAB/A=78/B=1518        imix: the usual seven, four and one
//! ```

use std::fmt;
use std::str::FromStr;

/// The sizes for Ethernet, in bytes.
//= rfc2544 §9.1
//# 64, 128, 256, 512, 1024, 1280, 1518
pub const ETHERNET: [u32; 7] = [64, 128, 256, 512, 1024, 1280, 1518];

/// The letters of small sizes.
//= rfc6985 §4
//# The following table gives the letter encoding for the [RFC2544] standard sizes (64, 128, 256,
//# 512, 1024, 1280, and 1518 bytes) and "jumbo" sizes (2112, 9000, and 16000 bytes).
const LETTERS: [(char, u32); 10] = [
    ('a', 64),
    ('b', 128),
    ('c', 256),
    ('d', 512),
    ('e', 1024),
    ('f', 1280),
    ('g', 1518),
    ('h', 2112),
    ('i', 9000),
    ('j', 16000),
];

/// What is called IMIX without more: seven small frames, four middling ones and a large one, which
/// is no standard.
const USUAL: &str = "AAAAAAABBBBC/A=64/B=570/C=1518";

/// The least and the most that a frame may have, in bytes.
pub const LEAST: u32 = 64;
/// See [`LEAST`].
pub const MOST: u32 = 16_000;

/// Frames of a mix, at most.
const LONGEST: usize = 1_000;

/// Bytes of a frame's preamble and of the gap after it, which a line carries too (IEEE 802.3).
pub const GAP_AND_PREAMBLE: f64 = 20.0;

/// The sizes of frames, in the order in which they are sent, again and again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sizes {
    bytes: Vec<u32>,
    name: String,
}

/// Why a text is no size.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SizesError {
    /// Not a number, nor a mix.
    #[error(
        "`{0}` is not a frame size; give bytes from {LEAST} to {MOST}, or a mix: `imix`, \
         `imix:aaafg`, `imix:AAB/A=78/B=1518`"
    )]
    Unknown(String),
    /// A size out of range.
    #[error(
        "a frame of {0} bytes cannot be sent; frames have {LEAST} to {MOST} bytes, their FCS \
         included"
    )]
    Range(u32),
    /// A letter without a size.
    #[error("`{letter}` in `{text}` has no size; give it one: `imix:{text}/{letter}=78`")]
    Letter {
        /// The mix.
        text: String,
        /// The letter.
        letter: char,
    },
    /// Too long a mix, or an empty one.
    #[error("a mix has 1 to {LONGEST} frames, not {0}")]
    Length(usize),
}

impl Sizes {
    /// Frames of one size; `bytes` from [`LEAST`] to [`MOST`].
    pub fn of(bytes: u32) -> Result<Sizes, SizesError> {
        Sizes::checked(vec![bytes], bytes.to_string())
    }

    fn checked(bytes: Vec<u32>, name: String) -> Result<Sizes, SizesError> {
        if bytes.is_empty() || bytes.len() > LONGEST {
            return Err(SizesError::Length(bytes.len()));
        }
        match bytes.iter().find(|size| !(LEAST..=MOST).contains(size)) {
            Some(size) => Err(SizesError::Range(*size)),
            None => Ok(Sizes { bytes, name }),
        }
    }

    /// The sizes, one for each frame of the sequence; at least one.
    pub fn bytes(&self) -> &[u32] {
        &self.bytes
    }

    /// The size of every frame, where there is but one.
    pub fn only(&self) -> Option<u32> {
        let first = self.bytes[0];
        self.bytes
            .iter()
            .all(|size| *size == first)
            .then_some(first)
    }

    /// The smallest.
    pub fn least(&self) -> u32 {
        self.bytes.iter().copied().min().unwrap_or(LEAST)
    }

    /// The largest.
    pub fn most(&self) -> u32 {
        self.bytes.iter().copied().max().unwrap_or(LEAST)
    }

    /// Bytes of a frame in the mean.
    pub fn mean(&self) -> f64 {
        let sum: u64 = self.bytes.iter().map(|size| u64::from(*size)).sum();
        sum as f64 / self.bytes.len() as f64
    }

    /// Frames a second that a line of `bits_per_second` carries at most: gap and preamble are
    /// carried too.
    pub fn line_fps(&self, bits_per_second: f64) -> f64 {
        bits_per_second / (8.0 * (self.mean() + GAP_AND_PREAMBLE))
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl FromStr for Sizes {
    type Err = SizesError;

    fn from_str(text: &str) -> Result<Sizes, SizesError> {
        if let Ok(bytes) = text.parse() {
            return Sizes::of(bytes);
        }
        let unknown = || SizesError::Unknown(text.to_owned());
        let genome = match text.strip_prefix("imix").ok_or_else(unknown)? {
            "" => USUAL,
            rest => rest.strip_prefix(':').ok_or_else(unknown)?,
        };
        let mut parts = genome.split('/');
        let letters = parts.next().unwrap_or_default();
        let mut own = Vec::new();
        for part in parts {
            let given = part.split_once('=').and_then(|(letter, bytes)| {
                let mut letter = letter.chars();
                let first = letter.next().filter(char::is_ascii_uppercase)?;
                let bytes: u32 = bytes.parse().ok()?;
                letter.next().is_none().then_some((first, bytes))
            });
            own.push(given.ok_or_else(unknown)?);
        }
        let size = |letter: char| {
            let mut known = LETTERS.iter().chain(&own);
            let found = known.find(|(of, _)| *of == letter).map(|(_, bytes)| *bytes);
            found.ok_or_else(|| SizesError::Letter {
                text: genome.to_owned(),
                letter,
            })
        };
        let bytes = letters.chars().map(size).collect::<Result<_, _>>()?;
        Sizes::checked(bytes, text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(text: &str) -> Sizes {
        text.parse().unwrap()
    }

    fn refused(text: &str) -> String {
        text.parse::<Sizes>().unwrap_err().to_string()
    }

    #[test]
    fn a_gigabit_carries_what_everybody_knows() {
        let at = |bytes: u32| Sizes::of(bytes).unwrap().line_fps(1e9).round();
        assert_eq!(
            ETHERNET.map(at),
            [
                1_488_095.0,
                844_595.0,
                452_899.0,
                234_962.0,
                119_732.0,
                96_154.0,
                81_274.0
            ]
        );
    }

    #[test]
    fn genomes_are_read_as_the_rfc_writes_them() {
        // RFC 6985 §4: "a five-packet sequence with sizes 64,64,64,1280,1518 would be designated:
        // IMIX - aaafg".
        assert_eq!(sizes("imix:aaafg").bytes(), [64, 64, 64, 1280, 1518]);
        assert_eq!(sizes("imix:AAB/A=78/B=1518").bytes(), [78, 78, 1518]);
        let usual = sizes("imix");
        assert_eq!(
            (usual.bytes().len(), usual.least(), usual.most()),
            (12, 64, 1518)
        );
        assert!((usual.mean() - 353.833).abs() < 0.001);
        assert_eq!((usual.only(), sizes("512").only()), (None, Some(512)));
        assert_eq!(usual.to_string(), "imix");
    }

    #[test]
    fn what_is_no_size_is_told() {
        assert!(refused("63").starts_with("a frame of 63 bytes cannot be sent"));
        assert!(refused("big").starts_with("`big` is not a frame size"));
        assert!(refused("imix:").starts_with("a mix has 1 to 1000 frames, not 0"));
        assert_eq!(
            refused("imix:aX"),
            "`X` in `aX` has no size; give it one: `imix:aX/X=78`"
        );
        assert!(refused("imix:A/A=lots").contains("not a frame size"));
        assert!(refused("imix:A/a=64").contains("not a frame size"));
    }
}
