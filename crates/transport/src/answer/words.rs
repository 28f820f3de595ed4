//! Numbers and conditions as a person reads them.

use super::axis::{name, value};
use super::numbers::Number;
use trammel_scenario::sweep::Point;
use trammel_stats::table::format_float;

pub(super) use trammel_report::words::{capital, list};

/// How intervals are made.
pub(super) const INTERVALS: &str = "Student's, on a log or logit scale for bounded metrics";

/// What kind of number it is, which decides how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A part of a whole.
    Percent,
    /// Mbit/s.
    Rate,
    /// Microseconds.
    Micros,
    /// Seconds.
    Seconds,
    /// So many times as much.
    Times,
    /// An index.
    Plain,
}

impl Kind {
    /// `value` in `digits` significant digits, with its unit.
    fn say(self, value: f64, digits: usize) -> String {
        let in_unit =
            |scale: f64, unit: &str| format!("{} {unit}", format_float(value * scale, digits));
        match self {
            Kind::Percent => percent(value),
            Kind::Rate if value >= 1e3 => in_unit(1e-3, "Gbit/s"),
            Kind::Rate if value >= 1.0 || value == 0.0 => in_unit(1.0, "Mbit/s"),
            Kind::Rate => in_unit(1e3, "kbit/s"),
            Kind::Micros if value >= 1e6 => in_unit(1e-6, "s"),
            Kind::Micros if value >= 1e3 => in_unit(1e-3, "ms"),
            Kind::Micros => in_unit(1.0, "µs"),
            Kind::Seconds if value >= 1.0 || value == 0.0 => in_unit(1.0, "s"),
            Kind::Seconds => in_unit(1e3, "ms"),
            Kind::Times => in_unit(1.0, "times"),
            Kind::Plain => format_float(value, digits),
        }
    }

    /// The unit of an axis, and what a value is multiplied by to be in it.
    pub(super) fn plotted(self) -> (&'static str, f64) {
        match self {
            Kind::Percent => ("%", 100.0),
            Kind::Rate => ("Mbit/s", 1.0),
            Kind::Micros => ("ms", 1e-3),
            Kind::Seconds => ("s", 1.0),
            Kind::Times => ("times", 1.0),
            Kind::Plain => ("", 1.0),
        }
    }

    /// The mean, with no more digits than its interval leaves.
    pub(super) fn mean(self, number: Number) -> String {
        self.to_place(number.mean, last_place(number))
    }

    /// `value` down to the decimal place `place`: 0 is the units', 1 the tens'.
    fn to_place(self, value: f64, place: i32) -> String {
        let digits = magnitude(value) - place + 1;
        self.say(value, usize::try_from(digits).unwrap_or(0).max(1))
    }

    /// `62 % (95 % interval 58–66 %)`; the mean alone where there is no interval, or none to see.
    pub(super) fn with_interval(self, number: Number) -> String {
        let (mean, place) = (self.mean(number), last_place(number));
        let end = |value| self.to_place(value, place);
        let range = (number.interval).map(|(low, high)| between(end(low), &end(high)));
        match range {
            // An interval in which no digit differs says nothing more.
            Some(range) if range != mean => format!("{mean} (95 % interval {range})"),
            _ => mean,
        }
    }

    /// `58–66 %`, or `940 µs to 1.2 ms`.
    pub(super) fn range(self, low: f64, high: f64) -> String {
        let digits = if high > 0.0 && low / high > 0.9 { 3 } else { 2 };
        between(self.say(low, digits), &self.say(high, digits))
    }

    /// The least and the greatest mean of `all`, in the digits of either alone: `18.6–19 Mbit/s`;
    /// nothing where there are none.
    pub(super) fn span(self, all: &[Number]) -> Option<String> {
        let by_mean = |a: &&Number, b: &&Number| a.mean.total_cmp(&b.mean);
        let (low, high) = (all.iter().min_by(by_mean)?, all.iter().max_by(by_mean)?);
        Some(between(self.mean(*low), &self.mean(*high)))
    }
}

/// Both ends, with one unit where they have the same.
fn between(from: String, to: &str) -> String {
    match (from.rsplit_once(' '), to.rsplit_once(' ')) {
        _ if from == to => from,
        (Some((bare, unit)), Some((_, other))) if unit == other => format!("{bare}–{to}"),
        (None, None) => format!("{from}–{to}"),
        _ => format!("{from} to {to}"),
    }
}

/// The decimal place of the first digit of `value`: 0 is the units', 1 the tens'.
fn magnitude(value: f64) -> i32 {
    if value == 0.0 {
        return 0;
    }
    value.abs().log10().floor() as i32
}

/// The decimal place of the last digit that is said of a mean and of the ends of its interval: no
/// coarser than half of the interval's half, so that the mean as it is said lies between the ends
/// as they are said; two or three digits of the mean.
fn last_place(number: Number) -> i32 {
    let first = magnitude(number.mean);
    let (finest, coarsest) = (first - 2, first - 1);
    match number.interval {
        Some((low, high)) if high > low => magnitude((high - low) / 4.0).clamp(finest, coarsest),
        _ => finest,
    }
}

/// A fraction in percent: two digits, more near both ends.
pub(super) fn percent(fraction: f64) -> String {
    let percent = fraction * 100.0;
    let from_end = percent.min(100.0 - percent).abs();
    let digits = if from_end < 0.005 {
        0
    } else if from_end < 0.1 {
        2
    } else {
        usize::from(from_end < 1.0)
    };
    format!("{percent:.digits$} %")
}

/// A number with three significant digits.
pub(super) fn three(value: f64) -> String {
    format_float(value, 3)
}

/// Microseconds in the unit that fits: `12.3 ms`.
pub(super) fn micros(us: f64) -> (String, &'static str) {
    match us {
        us if us >= 1e6 => (three(us / 1e6), "s"),
        us if us >= 1e3 => (three(us / 1e3), "ms"),
        us => (three(us), "µs"),
    }
}

/// The value of the swept parameter `at` as a phrase: `with a queue of 0.5 BDP`, `at 10 Mbit/s`,
/// `with vegas`.
pub(super) fn condition(point: &Point, at: usize) -> String {
    let said = placed(point, at);
    let mut parts = point.swept[at].key.split('.');
    let first = parts.next().unwrap_or_default();
    let last = point.swept[at].key.rsplit('.').next().unwrap_or_default();
    match (first, last) {
        ("path" | "link" | "flow" | "topology", "limit") => {
            format!("with a queue of {}", said.replace("bdp", "BDP"))
        }
        ("flow" | "workload", "variant") | (_, "queue" | "discipline") => format!("with {said}"),
        ("flow", "bytes") => format!("for {said}"),
        ("flow", "initial_window") => format!("with an initial window of {said}"),
        ("flow", "delayed_ack") if said.starts_with("1 ") || said == "1" => {
            "with an ACK for each packet".to_owned()
        }
        ("flow", "delayed_ack") => {
            let packets = said.split(' ').next().unwrap_or_default();
            format!("with one for {packets} packets")
        }
        (_, "receive_buffer") => format!("with a receive buffer of {said}"),
        (_, "socket_buffer") => format!("with a send buffer of {said}"),
        (_, "ack_rate") => format!("with {said} for ACKs"),
        ("flow", "count") if said == "1" => "with 1 flow".to_owned(),
        ("flow", "count") => format!("with {said} flows"),
        ("app", "rate") => format!("at {said} calls a second of each user"),
        ("path", "schedule_period") => format!("with changes every {said}"),
        ("path", "threshold") if said == "1" => "with a threshold of 1 packet".to_owned(),
        ("path", "threshold") => format!("with a threshold of {said} packets"),
        ("flow", "min_rto") => format!("with a least timeout of {said}"),
        (_, "rate") => format!("at {said}"),
        (_, "rtt") => format!("at a round trip of {said}"),
        (_, "delay") => format!("at a delay of {said}"),
        (_, "probability") => format!("at a loss probability of {said}"),
        (_, "load") => format!("at a load of {said}"),
        (_, "received_power") => format!("at a received power of {}", said.replace('-', "−")),
        (_, "distance") => format!("at a distance of {said}"),
        (_, "stations") if said == "1" => "with 1 station".to_owned(),
        (_, "stations") => format!("with {said} stations"),
        (_, "trace") => format!("over {said}"),
        _ => format!("with {} {said}", name(point, at).0),
    }
}

/// The phrases of the parameters `which`: `at 10 Mbit/s and a round trip of 20 ms`.
pub(super) fn conditions(point: &Point, which: &[usize]) -> String {
    let all: Vec<String> = which.iter().map(|at| condition(point, *at)).collect();
    all.join(", ")
}

/// The value of a point on the axis `at`, with its unit.
pub(super) fn placed(point: &Point, at: usize) -> String {
    let (_, unit) = name(point, at);
    let text = value(point, at);
    // What the user wrote mostly has its own unit.
    if text.parse::<f64>().is_ok() {
        format!("{text} {unit}").trim().to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_long_as_they_need_to_be() {
        assert_eq!(percent(0.5), "50 %");
        assert_eq!(percent(0.9963), "99.6 %");
        assert_eq!(percent(0.0004), "0.04 %");
        assert_eq!(percent(1.0), "100 %");
        assert_eq!(percent(0.999_999), "100 %");
        assert_eq!(Kind::Rate.say(943.21, 3), "943 Mbit/s");
        assert_eq!(Kind::Rate.say(0.02, 3), "20 kbit/s");
        assert_eq!(micros(41_234.0), ("41.2".to_owned(), "ms"));
    }

    #[test]
    fn a_mean_has_no_digit_that_its_interval_hides() {
        let number = |mean: f64, low: f64, high: f64| Number {
            mean,
            interval: Some((low, high)),
            n: 5,
        };
        let wide = number(44.63, 31.0, 57.0);
        assert_eq!(
            Kind::Rate.with_interval(wide),
            "45 Mbit/s (95 % interval 31–57 Mbit/s)"
        );
        // Three means whose second digit would lie outside of what is said of their intervals.
        for (mean, low, high, said) in [
            (
                124.94,
                121.0,
                129.0,
                "125 Mbit/s (95 % interval 121–129 Mbit/s)",
            ),
            (
                105.6,
                98.4,
                110.4,
                "106 Mbit/s (95 % interval 98–110 Mbit/s)",
            ),
            (
                125.4,
                122.0,
                128.6,
                "125 Mbit/s (95 % interval 122–129 Mbit/s)",
            ),
            (2.3, 1.06, 5.62, "2.3 Mbit/s (95 % interval 1.1–5.6 Mbit/s)"),
            (
                999.6,
                940.0,
                1061.0,
                "1000 Mbit/s (95 % interval 940 Mbit/s to 1.06 Gbit/s)",
            ),
        ] {
            assert_eq!(Kind::Rate.with_interval(number(mean, low, high)), said);
        }
        let certain = number(0.99999, 0.999985, 0.999995);
        assert_eq!(Kind::Plain.with_interval(certain), "1");
        let narrow = number(44.63, 44.5, 44.7);
        assert_eq!(Kind::Rate.mean(narrow), "44.6 Mbit/s");
        assert_eq!(Kind::Micros.range(940.0, 1234.0), "940 µs to 1.2 ms");
    }
}
