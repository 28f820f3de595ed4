//! What may be observed or rewarded of a sender in an interval.

use crate::interval::Summary;

/// What is known of a sender when an interval is over.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Known {
    pub(crate) summary: Summary,
    /// The last round trip that was known, µs; 0 before the first.
    pub(crate) rtt_us: f64,
    /// The smallest round trip so far, µs; 0 before the first.
    pub(crate) min_rtt_us: f64,
    /// Segments delivered a second, over the interval.
    pub(crate) rate: f64,
    /// The most of that so far.
    pub(crate) most_rate: f64,
    /// Window and segments in flight.
    pub(crate) cwnd: f64,
    pub(crate) in_flight: f64,
    /// The pacing rate, Mbit/s; 0 where nothing is paced.
    pub(crate) pacing_mbps: f64,
    /// Payload of a segment in bits.
    pub(crate) segment_bits: f64,
    /// What no sender knows: the round trip of the empty path, µs, and the rate that its narrowest
    /// link had, bit/s.
    pub(crate) base_rtt_us: f64,
    pub(crate) link_bps: f64,
}

macro_rules! features {
    ($($(#[$doc:meta])* $name:ident $text:literal $low:literal $high:literal,)*) => {
        /// A number that an interval gives.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Feature {
            $($(#[$doc])* $name,)*
        }

        impl Feature {
            /// All, in the order of their values.
            pub const ALL: &[Feature] = &[$(Feature::$name),*];

            /// Its name.
            pub fn name(self) -> &'static str {
                match self { $(Feature::$name => $text,)* }
            }

            /// The least and the most that it can be; what is beyond is cut.
            pub fn range(self) -> (f64, f64) {
                match self { $(Feature::$name => ($low, $high),)* }
            }
        }
    };
}

features! {
    /// Mean round trip of the interval, ms; the last one known where it has no sample.
    RttMs "rtt_ms" 0.0 100_000.0,
    /// The same over the smallest round trip so far.
    RttRatio "rtt_ratio" 1.0 100.0,
    /// Slope of the round trip over time, s/s.
    RttGradient "rtt_gradient" -10.0 10.0,
    /// Round trip beyond the empty path's, over the empty path's. No sender knows it.
    Queueing "queueing" 0.0 100.0,
    /// Payload delivered, Mbit/s.
    DeliveryRateMbps "delivery_rate_mbps" 0.0 1_000_000.0,
    /// The same over the most so far.
    DeliveryRatio "delivery_ratio" 0.0 1.0,
    /// Payload delivered over what the narrowest link on the way could carry. No sender knows it.
    Throughput "throughput" 0.0 2.0,
    /// Segments marked lost of those acknowledged or lost.
    Loss "loss" 0.0 1.0,
    /// Segments marked Congestion Experienced of those acknowledged.
    Mark "mark" 0.0 1.0,
    /// Congestion window, segments.
    CwndPkts "cwnd_pkts" 0.0 65_536.0,
    /// The same over the product of most delivery rate and smallest round trip.
    CwndRatio "cwnd_ratio" 0.0 100.0,
    /// Segments in flight.
    InFlightPkts "in_flight_pkts" 0.0 65_536.0,
    /// Pacing rate, Mbit/s; 0 where nothing is paced.
    PacingRateMbps "pacing_rate_mbps" 0.0 100_000.0,
}

impl Feature {
    /// The one called `name`.
    pub fn from_name(name: &str) -> Option<Feature> {
        Feature::ALL
            .iter()
            .copied()
            .find(|feature| feature.name() == name)
    }

    /// Its value, within its range.
    pub(crate) fn of(self, known: &Known) -> f64 {
        let over = |a: f64, b: f64, none: f64| if b > 0.0 { a / b } else { none };
        let value = match self {
            Feature::RttMs => known.rtt_us / 1e3,
            Feature::RttRatio => over(known.rtt_us, known.min_rtt_us, 1.0),
            Feature::RttGradient => known.summary.rtt_gradient,
            Feature::Queueing if known.rtt_us == 0.0 => 0.0,
            Feature::Queueing => over(known.rtt_us - known.base_rtt_us, known.base_rtt_us, 0.0),
            Feature::DeliveryRateMbps => known.rate * known.segment_bits / 1e6,
            Feature::DeliveryRatio => over(known.rate, known.most_rate, 0.0),
            Feature::Throughput => over(known.rate * known.segment_bits, known.link_bps, 0.0),
            Feature::Loss => known.summary.loss_ratio(),
            Feature::Mark => known.summary.mark_ratio(),
            Feature::CwndPkts => known.cwnd,
            Feature::CwndRatio => over(known.cwnd, known.most_rate * known.min_rtt_us / 1e6, 1.0),
            Feature::InFlightPkts => known.in_flight,
            Feature::PacingRateMbps => known.pacing_mbps,
        };
        let (least, most) = self.range();
        value.clamp(least, most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_and_every_value_is_in_its_range() {
        let nothing = Known::default();
        let odd = Known {
            rtt_us: 1e12,
            most_rate: 1e-9,
            rate: 1e12,
            segment_bits: 1e9,
            link_bps: 1.0,
            cwnd: 1e9,
            ..nothing
        };
        for feature in Feature::ALL {
            assert_eq!(Feature::from_name(feature.name()), Some(*feature));
            let (least, most) = feature.range();
            for known in [&nothing, &odd] {
                let value = feature.of(known);
                assert!((least..=most).contains(&value), "{feature:?}: {value}");
            }
        }
    }
}
