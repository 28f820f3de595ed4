//! Gaps and sizes from text files: one number a line, read again from the start at the end.
//!
//! Gaps are in milliseconds, sizes in whole bytes, as in D-ITG's `-Ft` and `-Fs`. Empty lines are
//! passed over. What no file gives follows a law. The first packet leaves at the start, the second
//! after the first gap.

use super::laws::Laws;
use super::sizes::Sizes;
use super::{Error, packets};
use crate::moments::{Predicted, sample};
use crate::record::MOST_BYTES;
use crate::stream::{Departure, Plan, Source};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};
use trammel_stats::arrivals::{Renewal, Spans};

/// The longest line that is read, in bytes.
const LINE_MAX: u64 = 4096;

/// The most numbers of a file.
pub(crate) const MOST_NUMBERS: usize = 1 << 26;

/// The longest gap, in milliseconds: a hundred days.
const GAP_MAX_MS: f64 = 8.64e9;

/// The gaps of the file at `path`, in milliseconds; not all of them 0.
pub fn gaps(path: &Path) -> Result<Arc<[Span]>, Error> {
    let gaps = numbers(path, |gap_ms| match gap_ms {
        _ if !(0.0..=GAP_MAX_MS).contains(&gap_ms) => {
            Err(format!("no gap between 0 and {GAP_MAX_MS} ms"))
        }
        _ => Ok(Span::from_ps((gap_ms * 1e9).round() as u64)),
    })?;
    if gaps.iter().all(|gap| *gap == Span::ZERO) {
        return Err(Error::Empty {
            path: path.to_owned(),
            what: "has only gaps of 0 ms, which would send all at once; give one above 0"
                .to_owned(),
        });
    }
    Ok(gaps)
}

/// The sizes of the file at `path`, in whole bytes below [`MOST_BYTES`].
pub fn sizes(path: &Path) -> Result<Arc<[u32]>, Error> {
    numbers(path, |bytes| {
        let most = f64::from(MOST_BYTES - 1);
        if bytes.fract() == 0.0 && (0.0..=most).contains(&bytes) {
            Ok(bytes as u32)
        } else {
            Err(format!("no whole number of bytes between 0 and {most}"))
        }
    })
}

/// The numbers of a file, each judged by `check`.
fn numbers<T>(path: &Path, check: impl Fn(f64) -> Result<T, String>) -> Result<Arc<[T]>, Error> {
    let unreadable = |error| Error::Unreadable {
        path: path.to_owned(),
        error,
    };
    let empty = |what: String| Error::Empty {
        path: path.to_owned(),
        what,
    };
    let mut file = BufReader::new(File::open(path).map_err(unreadable)?);
    let (mut found, mut bytes) = (Vec::new(), Vec::new());
    for line in 1.. {
        bytes.clear();
        let mut rest = file.by_ref().take(LINE_MAX);
        if rest.read_until(b'\n', &mut bytes).map_err(unreadable)? == 0 {
            break;
        }
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim();
        if text.is_empty() && (bytes.len() as u64) < LINE_MAX {
            continue;
        }
        let number = text.parse().map_err(|_| "no number".to_owned());
        let value = number.and_then(&check).map_err(|what| Error::Line {
            path: path.to_owned(),
            line,
            text: text.chars().take(40).collect(),
            what,
        })?;
        found.push(value);
        if found.len() > MOST_NUMBERS {
            return Err(empty(format!(
                "has more than {MOST_NUMBERS} numbers; shorten it"
            )));
        }
    }
    if found.is_empty() {
        return Err(empty("has no numbers; write one a line".to_owned()));
    }
    Ok(found.into())
}

/// Where gaps come from.
#[derive(Clone, Debug)]
pub enum Gaps {
    /// A law.
    Law(Spans),
    /// A list, over and over; not all of them zero.
    List(Arc<[Span]>),
}

/// Where sizes come from.
#[derive(Clone, Debug)]
pub enum Lengths {
    /// A law.
    Law(Sizes),
    /// A list of bytes, over and over.
    List(Arc<[u32]>),
}

/// Packets whose gaps, sizes or both are listed.
#[derive(Clone, Debug)]
pub struct Listed {
    gaps: Gaps,
    sizes: Lengths,
}

impl Listed {
    /// Packets after `gaps`, of `sizes`. Lists that are empty and gaps that are always zero are
    /// refused.
    pub fn new(gaps: Gaps, sizes: Lengths) -> Result<Listed, Error> {
        let refused = match (&gaps, &sizes) {
            (Gaps::List(gaps), _) if gaps.iter().all(|gap| *gap == Span::ZERO) => {
                Some("gaps that are all 0 send all packets at once; list one above 0")
            }
            (_, Lengths::List(sizes)) if sizes.is_empty() => Some("no size is listed; list one"),
            _ => None,
        };
        if let Gaps::Law(gaps) = &gaps {
            super::laws::lasting(gaps)?;
        }
        match refused {
            Some(why) => Err(Error::Invalid(why.to_owned())),
            None => Ok(Listed { gaps, sizes }),
        }
    }
}

/// The items of a list, over and over.
fn cycle<T: Copy + Send + Sync + 'static>(
    list: &Arc<[T]>,
) -> impl Iterator<Item = T> + Send + use<T> {
    let list = Arc::clone(list);
    (0..list.len()).cycle().map(move |at| list[at])
}

impl Source for Listed {
    fn plan(&self, seed: u64) -> Plan {
        let times: Box<dyn Iterator<Item = Time> + Send> = match &self.gaps {
            Gaps::Law(gaps) => Box::new(Renewal::new(
                Time::ZERO,
                gaps.clone(),
                Rng::new(seed, "gaps"),
            )),
            Gaps::List(gaps) => Box::new(std::iter::once(Span::ZERO).chain(cycle(gaps)).scan(
                Time::ZERO,
                |at, gap| {
                    *at += gap;
                    (*at < Time::MAX).then_some(*at)
                },
            )),
        };
        match &self.sizes {
            Lengths::Law(sizes) => packets(times, sizes.clone(), seed),
            Lengths::List(sizes) => Box::new(
                times
                    .zip(cycle(sizes))
                    .map(|(at, bytes)| Departure { at, bytes }),
            ),
        }
    }

    /// Listed gaps repeat, so that the variance of counts does not grow.
    fn predicted(&self) -> Predicted {
        let times = match &self.gaps {
            Gaps::List(gaps) => sample::of_repeated_gaps(gaps),
            // Their sizes do not matter: they are replaced below.
            Gaps::Law(gaps) => Sizes::always(0)
                .and_then(|sizes| Laws::new(gaps.clone(), sizes))
                .map_or(Predicted::default(), |laws| laws.predicted()),
        };
        let (mean_bytes, size_cv) = match &self.sizes {
            Lengths::Law(sizes) => (Some(sizes.mean()), Some(sizes.cv())),
            Lengths::List(sizes) => sample::of_all_sizes(sizes.iter().copied()),
        };
        Predicted {
            mean_bytes,
            size_cv,
            ..times
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(text: &[u8]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        file
    }

    #[test]
    fn lists_are_read_again_from_the_start() {
        let (gaps_ms, bytes) = (write(b"1\n\n2.5\r\n"), write(b"100\n200\n300"));
        let source = Listed::new(
            Gaps::List(gaps(gaps_ms.path()).unwrap()),
            Lengths::List(sizes(bytes.path()).unwrap()),
        );
        let source = source.unwrap();
        let found: Vec<_> = source
            .plan(1)
            .take(5)
            .map(|packet| (packet.at.as_us(), packet.bytes))
            .collect();
        assert_eq!(
            found,
            [(0, 100), (1000, 200), (3500, 300), (4500, 100), (7000, 200)]
        );
        let predicted = source.predicted();
        assert!((predicted.mean_rate.unwrap() - 2000.0 / 3.5).abs() < 1e-9);
        assert_eq!(predicted.mean_bytes, Some(200.0));
        assert!((predicted.gap_cv.unwrap() - 0.75 / 1.75).abs() < 1e-12);
    }

    #[test]
    fn a_bad_line_is_named_with_what_to_do() {
        let error = |text: &[u8], of_sizes: bool| {
            let file = write(text);
            let error = if of_sizes {
                sizes(file.path()).unwrap_err()
            } else {
                gaps(file.path()).unwrap_err()
            };
            error
                .to_string()
                .replace(&file.path().display().to_string(), "F")
        };
        assert_eq!(
            error(b"1\ntwo\n", false),
            "`F`, line 2: `two` is no number; write one number a line"
        );
        assert_eq!(
            error(b"1\n-2\n", false),
            "`F`, line 2: `-2` is no gap between 0 and 8640000000 ms; write one number a line"
        );
        assert!(error(b"NaN", false).contains("line 1: `NaN` is no gap"));
        assert!(error(b"1.5", true).contains("`1.5` is no whole number of bytes"));
        assert!(error(b"16777216", true).contains("between 0 and 16777215"));
        assert!(error(b"\xff\xfe", true).contains("line 1"));
        assert!(error(&[b'1'; 10_000], true).contains("line 1"));
        assert!(error(b"0\n0\n", false).contains("only gaps of 0 ms"));
        assert_eq!(error(b"\n", true), "`F` has no numbers; write one a line");
        let missing = gaps(Path::new("/nowhere/gaps")).unwrap_err().to_string();
        assert!(missing.starts_with("`/nowhere/gaps`: "), "{missing}");
    }

    #[test]
    fn what_no_file_gives_follows_a_law() {
        let sizes = Lengths::List(Arc::from([10, 20]));
        let source = Listed::new(Gaps::Law(Spans::constant_rate(1000.0).unwrap()), sizes).unwrap();
        let found: Vec<_> = source
            .plan(1)
            .take(3)
            .map(|p| (p.at.as_ms(), p.bytes))
            .collect();
        assert_eq!(found, [(0, 10), (1, 20), (2, 10)]);
        assert_eq!(source.predicted().mean_rate, Some(1000.0));
        let zero = Gaps::List(Arc::from([Span::ZERO]));
        assert!(Listed::new(zero, Lengths::Law(Sizes::always(1).unwrap())).is_err());
    }
}
