//! What makes packets: laws of gaps and sizes, bursts, modulated and self-similar processes, files
//! and captures.
//!
//! All of them are deterministic: one seed, one plan. When packets leave and how long they are draw
//! from streams of chance of their own, so that other sizes leave the times where they are.

pub mod capture;
pub mod file;
pub mod interrupted;
pub mod laws;
pub mod modulated;
pub mod on_off;
pub mod self_similar;
pub mod sizes;
pub mod transfers;

use crate::stream::{Departure, Plan};
use sizes::Sizes;
use std::path::PathBuf;
use trammel_core::entry::{About, Kind, Params, Value};
use trammel_core::rng::Rng;
use trammel_core::time::Time;
use trammel_stats::dist::{self, Distribution};

/// Why a source cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Its numbers contradict one another or are out of range.
    #[error("{0}")]
    Invalid(String),
    /// A file cannot be read.
    #[error("`{}`: {error}; check the path and the rights", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// A line of a file is not a number that can be used.
    #[error("`{}`, line {line}: `{text}` is {what}; write one number a line", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// What stands there, shortened.
        text: String,
        /// What is wrong with it.
        what: String,
    },
    /// A capture cannot be read.
    #[error("`{}`: {error}; repair the capture or cut it off there", path.display())]
    Capture {
        /// The file.
        path: PathBuf,
        /// Where the trouble is and what it is.
        error: trammel_packet::capture::Error,
    },
    /// A file has nothing to send.
    #[error("`{}` {what}", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
        /// What is missing, and what to do.
        what: String,
    },
}

/// The distribution `name` with some of its numbers given, or what is wrong with them.
pub fn law(name: &str, given: &[(&str, f64)]) -> Result<Box<dyn Distribution>, String> {
    let entry = dist::FAMILY.get(name).map_err(|error| error.to_string())?;
    let value = |key: &str, value: f64| {
        let param = entry.about.params.iter().find(|param| param.name == key);
        match param.map(|param| param.kind) {
            Some(Kind::Int(..)) if value.fract() == 0.0 => Value::Int(value as i64),
            _ => Value::Float(value),
        }
    };
    let given: Vec<_> = given
        .iter()
        .map(|(key, number)| ((*key).to_owned(), value(key, *number)))
        .collect();
    (entry.build)(&resolve(&entry.about, &given)?)
}

/// The parameters of a distribution, or all that is wrong with them.
fn resolve(about: &About, given: &[(String, Value)]) -> Result<Params, String> {
    Params::resolve(about, given).map_err(|errors| {
        let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
        errors.join("; ")
    })
}

/// The distribution whose cumulative probabilities are the `corners`, (value, probability) each:
/// see [`dist::empirical`].
pub fn empirical(corners: &[(f64, f64)]) -> Result<Box<dyn Distribution>, String> {
    let (values, probabilities) = corners.iter().copied().unzip();
    let given = [
        ("values".to_owned(), Value::Floats(values)),
        ("probabilities".to_owned(), Value::Floats(probabilities)),
    ];
    let entry = &dist::empirical::ENTRY;
    (entry.build)(&resolve(&entry.about, &given)?)
}

/// The distribution of `weighted` values, (value, weight) each, the values rising and the weights
/// above 0.
pub(crate) fn discrete(weighted: &[(f64, f64)]) -> Result<Box<dyn Distribution>, String> {
    let total: f64 = weighted.iter().map(|(_, weight)| weight).sum();
    let mut corners = Vec::new();
    let mut below = 0.0;
    for (value, weight) in weighted {
        corners.push((*value, below / total));
        below += weight;
        corners.push((*value, below / total));
    }
    if let Some((_, probability)) = corners.last_mut() {
        // The sum of parts is 1 but for rounding.
        *probability = 1.0;
    }
    empirical(&corners)
}

/// Packets at `times`, of `sizes`.
fn packets(times: impl Iterator<Item = Time> + Send + 'static, sizes: Sizes, seed: u64) -> Plan {
    let mut rng = Rng::new(seed, "sizes");
    Box::new(times.map(move |at| Departure {
        at,
        bytes: sizes.draw(&mut rng),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::Source;
    use laws::Laws;
    use modulated::MarkovModulated;
    use on_off::Bursts;
    use proptest::prelude::*;
    use self_similar::SelfSimilarSum;
    use trammel_stats::arrivals::Spans;
    use trammel_stats::arrivals::modulated::Chain;
    use trammel_stats::arrivals::self_similar::Mixture;

    fn random_sources(sizes: &Sizes) -> Vec<Box<dyn Source>> {
        let spans = |mean| Spans::seconds(law("exponential", &[("mean", mean)]).unwrap());
        let mixture = Mixture {
            sources: 5,
            hurst: 0.7,
            per_second: 1000.0,
            on_secs: 0.1,
            off_secs: 0.1,
        };
        let chain = Chain::two([1000.0, 10.0], [0.1, 0.2]).unwrap();
        vec![
            Box::new(Laws::new(spans(1e-3), sizes.clone()).unwrap()),
            Box::new(Bursts::new(spans(0.1), spans(0.2), spans(1e-3), sizes.clone()).unwrap()),
            Box::new(MarkovModulated::new(chain, sizes.clone())),
            Box::new(SelfSimilarSum::new(mixture, sizes.clone()).unwrap()),
        ]
    }

    #[test]
    fn one_seed_gives_one_plan_and_other_sizes_leave_the_times() {
        let plan = |source: &dyn Source, seed| source.plan(seed).take(2000).collect::<Vec<_>>();
        let any = Sizes::new(
            law("uniform", &[("min", 1.0), ("max", 1000.0)]).unwrap(),
            1,
            1000,
        );
        let (any, always) = (any.unwrap(), Sizes::always(64).unwrap());
        for (varied, same) in random_sources(&any).iter().zip(random_sources(&always)) {
            let first = plan(varied.as_ref(), 1);
            assert_eq!(first, plan(varied.as_ref(), 1), "{varied:?}");
            assert_ne!(first, plan(varied.as_ref(), 2), "{varied:?}");
            assert!(first.is_sorted_by_key(|packet| packet.at), "{varied:?}");
            let times =
                |plan: &[Departure]| plan.iter().map(|packet| packet.at).collect::<Vec<_>>();
            assert_eq!(times(&first), times(&plan(same.as_ref(), 1)), "{varied:?}");
        }
    }

    #[test]
    fn a_law_is_found_by_name_with_whole_numbers_where_it_wants_them() {
        assert!(law("zipf", &[("n", 100.0)]).is_ok());
        let error = |name, given: &[(&str, f64)]| law(name, given).unwrap_err();
        assert!(error("zipf", &[("n", 1.5)]).contains("`n`"));
        assert!(error("parreto", &[]).contains("did you mean `pareto`"));
        assert!(error("gamma", &[("shape", -1.0), ("skale", 1.0)]).contains("; "));
    }

    #[test]
    fn gaps_that_never_end_are_refused() {
        let zero = || Spans::seconds(law("constant", &[("value", 0.0)]).unwrap());
        let one = || Spans::constant_rate(1.0).unwrap();
        let sizes = Sizes::always(1).unwrap();
        assert!(Laws::new(zero(), sizes.clone()).is_err());
        assert!(Bursts::new(one(), one(), zero(), sizes.clone()).is_err());
        assert!(Bursts::new(zero(), one(), one(), sizes.clone()).is_err());
        assert!(Bursts::new(one(), zero(), one(), sizes).is_ok());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        #[test]
        fn any_file_is_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), &bytes).unwrap();
            let _ = file::gaps(file.path());
            let _ = file::sizes(file.path());
            let _ = capture::Captured::read(file.path(), true);
        }

        #[test]
        fn any_numbers_are_read_back(gaps_us in proptest::collection::vec(
            1_u64..10_000_000, 1..50
        )) {
            let text: String = gaps_us.iter().map(|us| format!(
                "{}\n", *us as f64 / 1000.0
            )).collect();
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), text).unwrap();
            let found: Vec<u64> = file::gaps(file.path()).unwrap().iter().map(
                |gap| gap.as_us()
            ).collect();
            prop_assert_eq!(found, gaps_us);
        }
    }
}
