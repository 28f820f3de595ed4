//! Transfers: amounts of bytes that become due, cut into packets and sent one after the other at a
//! line's rate.

use super::Error;
use crate::moments::{Numeric, Predicted};
use crate::record::MOST_BYTES;
use crate::stream::{Departure, Plan, Source};
use std::sync::Arc;
use trammel_core::entry::{Kind, Param, Params};
use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};
use trammel_core::units::{Rate, TxTime};
use trammel_stats::arrivals::{Renewal, Spans};
use trammel_stats::dist::{self, Distribution};

/// What cuts transfers: packets of up to `segment` bytes of payload, at `rate` bits of payload per
/// second.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    segment: u32,
    rate: Rate,
    time: TxTime,
}

/// The parameter of every line: its rate.
pub(crate) const RATE: Param = Param {
    name: "rate",
    kind: Kind::Rate,
    default: "100 Mbit/s",
    unit: "",
    help: "payload per second while a transfer goes on",
};

/// The parameter of every line: the length of packets. 1448 bytes is what TCP with time stamps has
/// in 1500.
pub(crate) const SEGMENT: Param = Param {
    name: "segment",
    kind: Kind::Int(1, MOST_BYTES as i64 - 1),
    default: "1448",
    unit: "B",
    help: "the payload of a full packet",
};

impl Line {
    /// The line that the parameters `rate` and `segment` describe.
    pub(crate) fn of(params: &Params) -> Result<Line, String> {
        Line::new(params.rate("rate"), params.int("segment") as u32)
            .map_err(|error| error.to_string())
    }

    /// A line of `rate`, at least 1 bit/s; full packets have `segment` bytes, from 1 to below
    /// [`MOST_BYTES`].
    pub fn new(rate: Rate, segment: u32) -> Result<Line, Error> {
        if rate.as_bps() == 0 || !(1..MOST_BYTES).contains(&segment) {
            return Err(Error::Invalid(format!(
                "a line of {rate} with packets of {segment} bytes sends nothing; both must be \
                 above 0, and packets below {MOST_BYTES} bytes"
            )));
        }
        let time = TxTime::new(rate);
        Ok(Line {
            segment,
            rate,
            time,
        })
    }

    /// Full packets per second.
    pub fn packet_rate(&self) -> f64 {
        self.rate.as_bps() as f64 / (8.0 * f64::from(self.segment))
    }

    /// Bits of payload per second.
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// How long `bytes` take.
    pub fn time(&self, bytes: u64) -> Span {
        self.time.of(bytes)
    }

    /// How many packets `bytes` become.
    pub fn packets(&self, bytes: u64) -> u64 {
        bytes.div_ceil(u64::from(self.segment))
    }

    /// The packets of `transfers`, (when due, bytes) each, in the order of time. One that becomes
    /// due while another goes on waits for its end.
    pub fn cut(self, transfers: impl Iterator<Item = (Time, u64)> + Send + 'static) -> Plan {
        let mut free = Time::ZERO;
        Box::new(transfers.flat_map(move |(due, bytes)| {
            let begin = due.max(free);
            free = begin.saturating_add(self.time.of(bytes));
            let segment = u64::from(self.segment);
            (0..self.packets(bytes)).map(move |number| {
                let before = number * segment;
                Departure {
                    at: begin.saturating_add(self.time.of(before)),
                    bytes: (bytes - before).min(segment) as u32,
                }
            })
        }))
    }

    /// The mean and the mean square of the packets of a transfer whose size follows `law`, rounded
    /// to whole bytes and at least 1; sizes beyond `most_bytes` are not looked for.
    pub(crate) fn packets_of(&self, law: &dyn Distribution, most_bytes: f64) -> (f64, f64) {
        let segment = f64::from(self.segment);
        let most = (most_bytes / segment) as u64;
        // So many evaluations at most; where steps have several packets, the middle stands for
        // them.
        let step = most.div_ceil(1 << 20).max(1);
        let (mut mean, mut square, mut k) = (1.0, 1.0, 1);
        // E K = Σ P(K > k) and E K² = Σ (2k + 1) P(K > k) over k ≥ 0; K > k where the size is above
        // k segments.
        while k <= most {
            let middle = (k + (step - 1) / 2) as f64;
            let above = 1.0 - law.cdf((middle * segment + 0.5).next_down());
            if above <= 0.0 {
                break;
            }
            mean += step as f64 * above;
            square += (step * (2 * k + step)) as f64 * above;
            k += step;
        }
        (mean, square)
    }
}

/// A size in whole bytes, at least 1.
pub(crate) fn whole_bytes(law: &dyn Distribution, rng: &mut Rng) -> u64 {
    (law.sample(rng).round() as u64).max(1)
}

/// Flows that come as a Poisson process, each of a size, over one line.
#[derive(Clone, Debug)]
pub struct Flows {
    sizes: Arc<dyn Distribution>,
    most_bytes: f64,
    line: Line,
    per_second: f64,
}

impl Flows {
    /// Flows of `sizes` in bytes, none above `most_bytes`, so many that they keep `line` busy for
    /// the share `load`, which lies between 0 and 1.
    pub fn new(
        sizes: Box<dyn Distribution>,
        most_bytes: f64,
        line: Line,
        load: f64,
    ) -> Result<Flows, Error> {
        let mean_bytes = sizes.mean().filter(|mean| *mean > 0.0);
        let per_second = mean_bytes.map_or(f64::NAN, |mean| {
            load * line.rate.as_bps() as f64 / (8.0 * mean)
        });
        if !(load > 0.0 && load < 1.0 && per_second > 0.0 && per_second.is_finite()) {
            return Err(Error::Invalid(format!(
                "a load of {load} is no share that flows can keep up; give one between 0 and 1"
            )));
        }
        Ok(Flows {
            sizes: sizes.into(),
            most_bytes,
            line,
            per_second,
        })
    }

    /// Flows per second.
    pub fn per_second(&self) -> f64 {
        self.per_second
    }
}

impl Source for Flows {
    fn plan(&self, seed: u64) -> Plan {
        let gaps = super::law("exponential", &[])
            .ok()
            .and_then(|law| Spans::at_rate(law, self.per_second))
            .expect("the rate was checked when this was made");
        let times = Renewal::new(Time::ZERO, gaps, Rng::new(seed, "flows"));
        let (sizes, mut rng) = (Arc::clone(&self.sizes), Rng::new(seed, "sizes"));
        self.line
            .cut(times.map(move |at| (at, whole_bytes(sizes.as_ref(), &mut rng))))
    }

    /// What waits at the line is negligible in the long run, so that counts disperse as batches of
    /// a Poisson process do: E K² / E K.
    fn predicted(&self) -> Predicted {
        let (mean, square) = self.line.packets_of(self.sizes.as_ref(), self.most_bytes);
        Predicted {
            mean_rate: Some(self.per_second * mean),
            peak_rate: Some(self.line.packet_rate()),
            mean_bytes: self.sizes.mean().map(|bytes| bytes / mean),
            size_cv: None,
            gap_cv: None,
            dispersion_limit: Some(square / mean),
            hurst: Some(0.5),
        }
    }

    fn numeric(&self) -> Numeric {
        Numeric {
            rate: true,
            sizes: true,
            dispersion: true,
            ..Numeric::default()
        }
    }
}

/// The flow sizes that [`dist::empirical`] calls `preset`, over the line and at the load of
/// `params`.
pub(crate) fn published_flows(
    preset: &str,
    most_bytes: f64,
    params: &Params,
) -> Result<Box<dyn Source>, String> {
    let entry = &dist::empirical::ENTRY;
    let given = [(
        "preset".to_owned(),
        trammel_core::entry::Value::Text(preset.to_owned()),
    )];
    let resolved = super::resolve(&entry.about, &given)?;
    let flows = Flows::new(
        (entry.build)(&resolved)?,
        most_bytes,
        Line::of(params)?,
        params.float("load"),
    );
    Ok(Box::new(flows.map_err(|error| error.to_string())?))
}

/// The parameter of flows: how busy the line is.
pub(crate) const LOAD: Param = Param {
    name: "load",
    kind: Kind::Float(0.0, 1.0),
    default: "0.5",
    unit: "",
    help: "the share of the line's rate, above 0 and below 1",
};

#[cfg(test)]
mod tests {
    use super::super::law;
    use super::*;

    #[test]
    fn transfers_are_cut_and_wait_for_one_another() {
        let line = Line::new(Rate::from_bps(8_000_000), 1000).unwrap();
        let transfers = [
            (Time::ZERO, 2500),
            (Time::from_ms(1), 1000),
            (Time::from_ms(10), 1),
        ];
        let found: Vec<_> = line
            .cut(transfers.into_iter())
            .map(|packet| (packet.at.as_us(), packet.bytes))
            .collect();
        assert_eq!(
            found,
            [
                (0, 1000),
                (1000, 1000),
                (2000, 500),
                (2500, 1000),
                (10_000, 1)
            ]
        );
    }

    #[test]
    fn packets_of_a_transfer_are_counted_exactly() {
        let line = Line::new(Rate::from_bps(1), 1000).unwrap();
        // 1 to 3000 bytes, each equally likely: 1, 2 or 3 packets.
        let sizes = law("uniform", &[("min", 0.5), ("max", 3000.5)]).unwrap();
        let (mean, square) = line.packets_of(sizes.as_ref(), 1e4);
        assert!((mean - 2.0).abs() < 1e-12, "{mean}");
        assert!((square - 14.0 / 3.0).abs() < 1e-12, "{square}");
    }

    #[test]
    fn impossible_lines_and_loads_are_refused() {
        assert!(Line::new(Rate::from_bps(0), 1000).is_err());
        assert!(Line::new(Rate::from_bps(1), 0).is_err());
        let line = Line::new(Rate::from_bps(1000), 1000).unwrap();
        for load in [0.0, 1.0, -1.0, f64::NAN] {
            assert!(Flows::new(law("constant", &[]).unwrap(), 1.0, line, load).is_err());
        }
    }
}
