//! What a stream sends, from the words of a command line: a law of gaps and one of sizes, or an
//! application.
//!
//! A law or an application is `NAME` or `NAME:KEY=VALUE,KEY=VALUE`, as
//! `trammel doc distribution NAME` and `trammel doc application NAME` show them.

use anyhow::{Context, bail};
use trammel_core::entry::{About, Params, Value};
use trammel_core::units::{Dimension, Quantity};
use trammel_stats::arrivals::Spans;
use trammel_stats::dist::{self, Distribution};
use trammel_traffic::apps;
use trammel_traffic::sources::laws::Laws;
use trammel_traffic::sources::sizes::{DATAGRAM_MAX, Sizes};
use trammel_traffic::stamp::STAMP_BYTES;
use trammel_traffic::stream::Source;

/// The words.
#[derive(Clone, Debug)]
pub struct Words {
    /// Packets a second; where it is given, `gap` is a shape only.
    pub rate: Option<String>,
    /// A law of gaps.
    pub gap: String,
    /// Bytes, or a law of sizes in bytes.
    pub size: String,
    /// An application instead of all these.
    pub app: Option<String>,
}

/// What makes the packets.
pub fn source(words: &Words) -> anyhow::Result<Box<dyn Source>> {
    if let Some(app) = &words.app {
        let (name, given) = split(app)?;
        let entry = apps::FAMILY.get(name)?;
        let params = params("application", &entry.about, &given)?;
        return (entry.build)(&params).map_err(|why| anyhow::anyhow!("`{app}`: {why}"));
    }
    let gap = law(&words.gap)?;
    let sizes = sizes(&words.size)?;
    let spans = match &words.rate {
        Some(rate) => {
            let per_second = packet_rate(rate, sizes.mean())?;
            Spans::at_rate(gap, per_second).with_context(|| {
                format!(
                    "`{}` has no mean, so it cannot be sent at {rate}; leave `--rate` out and give \
                     the distribution in seconds",
                    words.gap
                )
            })?
        }
        None if words.gap.contains(':') => Spans::seconds(gap),
        None => bail!(
            "no packet rate; give `--rate 1000`, or a distribution in seconds such as `--gap \
             exponential:mean=0.001`, or `--app voip`"
        ),
    };
    Ok(Box::new(Laws::new(spans, sizes)?))
}

/// Whether `text` is a share, where a plain number would be right.
pub fn is_share(text: &str) -> bool {
    text.trim_end().ends_with('%')
}

/// A rate of packets, `1000` or `10 kpps`; or one of bits of payloads, which have so many bytes in
/// the mean, `100 Mbit/s`.
fn packet_rate(text: &str, mean_bytes: f64) -> anyhow::Result<f64> {
    let wanted = [Dimension::PacketRate, Dimension::Rate, Dimension::Ratio];
    let rate = Quantity::parse_as(text, &wanted)?;
    let per_second = if rate.dimension == Dimension::Rate {
        rate.value / 8.0 / mean_bytes
    } else {
        rate.value
    };
    if per_second > 0.0 && per_second.is_finite() && !is_share(text) {
        return Ok(per_second);
    }
    bail!(
        "`{text}` is not a packet rate; give one above 0, such as `1000`, `10 kpps` or, of \
         payload, `100 Mbit/s`"
    )
}

fn sizes(text: &str) -> anyhow::Result<Sizes> {
    let wanted = [Dimension::Bytes, Dimension::Ratio];
    let least = STAMP_BYTES as u32;
    if let Ok(quantity) = Quantity::parse_as(text, &wanted) {
        let bytes = quantity.value;
        if is_share(text)
            || bytes.fract() != 0.0
            || !(f64::from(least)..=f64::from(DATAGRAM_MAX)).contains(&bytes)
        {
            bail!(
                "`{text}`: a payload has {least} bytes, for sequence number and time, to \
                 {DATAGRAM_MAX} bytes"
            );
        }
        return Ok(Sizes::always(bytes as u32)?);
    }
    Ok(Sizes::new(law(text)?, least, DATAGRAM_MAX)?)
}

fn law(text: &str) -> anyhow::Result<Box<dyn Distribution>> {
    let (name, given) = split(text)?;
    let entry = dist::FAMILY.get(name)?;
    let params = params("distribution", &entry.about, &given)?;
    (entry.build)(&params).map_err(|why| anyhow::anyhow!("`{text}`: {why}"))
}

fn params(kind: &str, about: &About, given: &[(String, Value)]) -> anyhow::Result<Params> {
    Params::resolve(about, given).map_err(|errors| {
        let all: Vec<String> = errors.iter().map(ToString::to_string).collect();
        anyhow::anyhow!(
            "`{0}`: {2}; `trammel doc {1} {0}` shows what it takes",
            about.name,
            kind,
            all.join("; ")
        )
    })
}

/// A name and what is given with it.
fn split(text: &str) -> anyhow::Result<(&str, Vec<(String, Value)>)> {
    let Some((name, rest)) = text.split_once(':') else {
        return Ok((text, Vec::new()));
    };
    let pair = |part: &str| -> anyhow::Result<(String, Value)> {
        let (key, value) = part.split_once('=').with_context(|| {
            format!("`{part}` in `{text}` is not KEY=VALUE; write `NAME:KEY=VALUE,KEY=VALUE`")
        })?;
        let value = Value::Text(value.trim().to_owned());
        Ok((key.trim().to_owned(), value))
    };
    let given: anyhow::Result<_> = rest.split(',').map(pair).collect();
    Ok((name, given?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(
        rate: Option<&str>,
        gap: &str,
        size: &str,
        app: Option<&str>,
    ) -> Result<(f64, f64), String> {
        let words = Words {
            rate: rate.map(str::to_owned),
            gap: gap.to_owned(),
            size: size.to_owned(),
            app: app.map(str::to_owned),
        };
        let source = source(&words).map_err(|error| format!("{error:#}"))?;
        let predicted = source.predicted();
        let (rate, bytes) = (predicted.mean_rate, predicted.mean_bytes);
        Ok((rate.unwrap_or(f64::NAN), bytes.unwrap_or(f64::NAN)))
    }

    #[test]
    fn words_make_the_source_that_they_say() {
        assert_eq!(
            made(Some("1000"), "constant", "512", None),
            Ok((1000.0, 512.0))
        );
        assert_eq!(
            made(Some("10 kpps"), "exponential", "64 B", None),
            Ok((1e4, 64.0))
        );
        let bits = made(Some("8 Mbit/s"), "constant", "1000", None);
        assert_eq!(bits, Ok((1000.0, 1000.0)));
        let law = made(
            None,
            "exponential:mean=0.002",
            "uniform:min=100,max=300",
            None,
        );
        let (rate, bytes) = law.expect("it is right");
        assert!((rate - 500.0).abs() < 1e-9 && (bytes - 200.0).abs() < 0.5);
        let (rate, _) = made(None, "constant", "16", Some("voip")).expect("it is right");
        assert!(rate > 10.0);
    }

    #[test]
    fn what_is_wrong_is_named_with_what_to_do() {
        for (rate, gap, size, app, said) in [
            (None, "constant", "512", None, "--rate 1000"),
            (Some("0"), "constant", "512", None, "above 0"),
            (Some("fast"), "constant", "512", None, "fast"),
            (Some("50 %"), "constant", "512", None, "not a packet rate"),
            (
                Some("10"),
                "constant",
                "5000 %",
                None,
                "a payload has 16 bytes",
            ),
            (Some("10"), "constnat", "512", None, "constant"),
            (Some("10"), "cauchy", "512", None, "no mean"),
            (Some("10"), "pareto:shpae=2", "512", None, "shape"),
            (Some("10"), "pareto:2", "512", None, "KEY=VALUE"),
            (Some("10"), "constant", "15", None, "a payload has 16 bytes"),
            (Some("10"), "constant", "16.5", None, "16.5"),
            (Some("10"), "constant", "70000", None, "65507"),
            (None, "constant", "512", Some("viop"), "voip"),
        ] {
            let refused = made(rate, gap, size, app).expect_err("it is wrong");
            assert!(refused.contains(said), "{refused}");
        }
    }
}
