//! Units as a reader wants them: shares in per cent, times and rates by their size, and no line
//! break between a number and its unit.

/// By what a number of `unit` is multiplied, and its unit then; `largest` is the largest of what
/// stands beside it.
pub fn shown<'a>(unit: &'a str, metric: &str, largest: f64) -> (f64, &'a str) {
    match unit {
        "us" | "µs" if largest >= 1e6 => (1e-6, "s"),
        "us" | "µs" if largest >= 1e3 => (1e-3, "ms"),
        "us" | "µs" => (1.0, "µs"),
        "s" if largest > 0.0 && largest < 1e-3 => (1e6, "µs"),
        "s" if largest > 0.0 && largest < 1.0 => (1e3, "ms"),
        "bps" | "bit/s" if largest >= 1e9 => (1e-9, "Gbit/s"),
        "bps" | "bit/s" if largest >= 1e6 => (1e-6, "Mbit/s"),
        "bps" | "bit/s" if largest >= 1e3 => (1e-3, "kbit/s"),
        "bps" => (1.0, "bit/s"),
        "pps" => (1.0, "packets/s"),
        "pkts" => (1.0, "packets"),
        "1" if is_share(metric) => (100.0, "%"),
        "1" => (1.0, ""),
        unit => (1.0, unit),
    }
}

/// Whether a metric without a unit is a part of a whole: `goodput share` is one, `tail loss probes`
/// are counted.
fn is_share(metric: &str) -> bool {
    const SHARES: [&str; 8] = [
        "share",
        "utilisation",
        "loss",
        "lost",
        "dropped",
        "load",
        "limited",
        "probability",
    ];
    let metric = metric.trim_end_matches([' ', '_']);
    let metric = metric.trim_end_matches("_at").trim_end_matches(" at");
    let last = metric.rsplit([' ', '_']).next().unwrap_or_default();
    SHARES.contains(&last)
}

/// A metric as a person says it: `delay_p999_us` is the delay's 99.9th percentile.
pub fn spoken(metric: &str) -> String {
    const SUFFIXES: [&str; 5] = ["_us", "_ns", "_bps", "_pps", "_pkts"];
    let suffix = SUFFIXES.iter().find(|suffix| metric.ends_with(*suffix));
    let stem = metric.strip_suffix(suffix.copied().unwrap_or_default());
    let words = stem.unwrap_or(metric).split('_').map(|word| match word {
        "min" => "least".to_owned(),
        "max" => "most".to_owned(),
        "sd" => "standard deviation".to_owned(),
        "rfc3550" => "RFC 3550".to_owned(),
        "ipdv" | "pdv" => word.to_uppercase(),
        word => percentile(word).unwrap_or_else(|| word.to_owned()),
    });
    let words: Vec<String> = words.collect();
    match &words[..] {
        [_] => words.concat(),
        [first @ .., last] if is_statistic(last) => format!("{}, {last}", first.join(" ")),
        words => words.join(" "),
    }
}

fn is_statistic(word: &str) -> bool {
    let plain = [
        "least",
        "most",
        "mean",
        "median",
        "standard deviation",
        "RFC 3550",
    ];
    plain.contains(&word) || word.ends_with("percentile")
}

/// `99.9th percentile` of `p999`.
fn percentile(word: &str) -> Option<String> {
    let digits = word.strip_prefix('p')?;
    if digits.len() < 2 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let (whole, rest) = digits.split_at(2);
    Some(match (whole, rest) {
        ("50", "") => "median".to_owned(),
        (whole, "") => format!("{whole}th percentile"),
        (whole, rest) => format!("{whole}.{rest}th percentile"),
    })
}

/// `text` with a no-break space between each number and its unit.
pub(super) fn unbroken(text: &str) -> String {
    const UNITS: [&str; 22] = [
        "%",
        "ns",
        "µs",
        "ms",
        "s",
        "bit/s",
        "kbit/s",
        "Mbit/s",
        "Gbit/s",
        "B",
        "kB",
        "MB",
        "GB",
        "BDP",
        "bdp",
        "GHz",
        "MHz",
        "packets",
        "packets/s",
        "frames/s",
        "cycles",
        "dBm",
    ];
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        let is_unit = || {
            let rest = &text[at + 1..];
            let end = rest.find(|c: char| !(c.is_alphanumeric() || "/%".contains(c)));
            UNITS.contains(&&rest[..end.unwrap_or(rest.len())])
        };
        let follows_number = text[..at].ends_with(|c: char| c.is_ascii_digit());
        out.push(if c == ' ' && follows_number && is_unit() {
            '\u{a0}'
        } else {
            c
        });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_follow_the_size_and_the_metric() {
        assert_eq!(shown("us", "delay", 20_800.0), (1e-3, "ms"));
        assert_eq!(shown("µs", "delay", 900.0), (1.0, "µs"));
        assert_eq!(shown("1", "goodput share", 0.5), (100.0, "%"));
        assert_eq!(shown("1", "jain", 0.9), (1.0, ""));
        assert_eq!(shown("1", "tail loss probes", 3.0), (1.0, ""));
        assert_eq!(shown("1", "loss_at", 0.5), (100.0, "%"));
        assert_eq!(shown("bps", "payload", 4e6), (1e-6, "Mbit/s"));
    }

    #[test]
    fn metrics_are_said_in_words() {
        assert_eq!(spoken("delay_p999_us"), "delay, 99.9th percentile");
        assert_eq!(spoken("delay_p50_us"), "delay, median");
        assert_eq!(spoken("delay_mean_us"), "delay, mean");
        assert_eq!(spoken("loss_burst_mean_pkts"), "loss burst, mean");
        assert_eq!(spoken("payload_bps"), "payload");
        assert_eq!(spoken("jitter_rfc3550_us"), "jitter, RFC 3550");
    }

    #[test]
    fn a_number_and_its_unit_stay_on_one_line() {
        assert_eq!(
            unbroken("12.3 µs–8.82 ms of 50 % in 3 steps"),
            "12.3\u{a0}µs–8.82\u{a0}ms of 50\u{a0}% in 3 steps"
        );
    }
}
