//! CSIT's trending as CSV: a row for each test, a column for each build.
//!
//! The first rows are `Build Number:`, `Build Date:` and `Version:`; an empty field is a build
//! without that test. Rates are packets a second, of both directions together. Builds are repeats.

use crate::csit::named;
use crate::error::ImportError;
use crate::format::Format;
use crate::imported::{Imported, Run};
use crate::testers::{Number, doubt, summary};
use trammel_core::label::Label;
use trammel_stats::interval::LEVEL;
use trammel_stats::stats::{Interval, Moments};

/// What the file begins with.
const BEGINNING: &str = "Build Number:";

/// Whether a text is a file of trending.
pub(crate) fn is(front: &str) -> bool {
    front.trim_start().starts_with(BEGINNING)
}

/// The test by the last word of its name, and the metric.
fn test(name: &str) -> (&'static str, &'static str) {
    match name.rsplit('-').next() {
        Some("ndr" | "ndrpdr") => ("throughput", "throughput"),
        Some("pdr") => ("throughput at 0.5 % loss", "throughput"),
        _ => ("full load", "received"),
    }
}

/// Reads a file of trending.
pub(crate) fn read(text: &str) -> Result<Imported, ImportError> {
    let mut numbers = Vec::new();
    let mut notes = vec!["Each number is the mean over the builds.".to_owned()];
    for line in text.lines() {
        let mut fields = line.split(',').map(|field| field.trim_matches([' ', '"']));
        let name = fields.next().unwrap_or_default();
        if name.is_empty() || name.ends_with(':') {
            continue;
        }
        let rates = fields.filter_map(|field| field.parse::<f64>().ok());
        let rates = rates.filter(|rate| rate.is_finite() && *rate >= 0.0);
        let moments: Moments = rates.collect();
        let Some(mean) = moments.mean() else { continue };
        let interval = moments
            .variance()
            .and_then(|variance| Interval::of_mean(mean, variance, moments.count(), LEVEL));
        let (point, system) = named(name);
        let (test, metric) = test(name);
        numbers.push(Number {
            point,
            test,
            metric,
            unit: "frames/s",
            system,
            value: Some(mean),
            ends: interval.map(|ends| (ends.low, ends.high)),
            trials: usize::try_from(moments.count()).ok(),
            ..Number::default()
        });
    }
    doubt(&mut numbers, &mut notes);
    let Some(summary) = summary(&numbers) else {
        return Err(ImportError::nothing(
            "no test in it has a rate",
            "give a file of CSIT's trending, `*-trending.csv`",
        ));
    };
    Ok(Imported {
        format: Format::Csit,
        by: "CSIT's trending".to_owned(),
        label: Label::Measured,
        runs: vec![Run {
            tables: vec![summary],
            ..Run::default()
        }],
        notes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_has_the_mean_over_its_builds() {
        let text = "Build Number:,1,2,3\nBuild Date:,a,b,c\nVersion:,x,y,z\n\
                    10ge2p1x710-eth-ip4base.64b-1c-ip4base-mrr,10,,20\nnothing,,,\n";
        assert!(is(text));
        let imported = read(text).unwrap();
        let summary = imported.runs[0].table("summary").unwrap();
        assert_eq!(summary.len(), 1);
        let row = summary.rows().next().unwrap();
        assert_eq!((row.text("point"), row.text("entity")), ("64", "full load"));
        assert_eq!((row.float("mean"), row.int("n")), (Some(15.0), Some(2)));
        assert!(read("Build Number:,1\n").is_err());
    }
}
