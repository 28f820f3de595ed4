//! Reads the streams of an experiment of a `paper.toml`.

use super::reader::{Reader, numbers};
use crate::spec::{Imposed, Streams};
use trammel_scenario::tree::Value;
use trammel_traffic::record::Protocol;
use trammel_traffic::sources::sizes::DATAGRAM_MAX;
use trammel_traffic::stamp::STAMP_BYTES;

/// The longest stream, in seconds.
const MOST_SECONDS: f64 = 3600.0;
/// The greatest rate, in packets or megabits a second.
const MOST_RATE: f64 = 1e7;
/// The keys of payload sizes.
const SIZES: [(&str, Protocol); 2] = [("tcp_bytes", Protocol::Tcp), ("udp_bytes", Protocol::Udp)];

/// The streams; what is wrong with them is noted.
pub(super) fn streams(r: &Reader<'_>, is_measured: bool) -> Streams {
    let mut kinds = Vec::new();
    for (key, protocol) in SIZES {
        let sizes = list(r, key, STAMP_BYTES as f64, f64::from(DATAGRAM_MAX));
        kinds.extend(sizes.into_iter().map(|bytes| (protocol, bytes as u32)));
    }
    if kinds.is_empty() {
        r.missing("udp_bytes");
    }
    let imposed = match r.entry("pps") {
        Some(_) => Imposed::Pps(list(r, "pps", 1.0, MOST_RATE)),
        None => Imposed::Mbps(list(r, "mbps", 1.0, MOST_RATE)),
    };
    if r.entry("pps").is_some() && r.entry("mbps").is_some() {
        let help = "leave one of them out";
        r.fault(
            &r.span,
            "`pps` and `mbps` exclude each other",
            "this has both",
            help,
        );
    }
    let link_mbps = match r.entry("link_mbps") {
        Some(_) => list(r, "link_mbps", 1.0, MOST_RATE).first().copied(),
        None => None,
    };
    Streams {
        kinds,
        imposed,
        is_measured,
        published: r.entry("published").map(|_| r.text("published")),
        link_mbps: link_mbps.unwrap_or(f64::INFINITY),
        seconds: (seconds(r, "quick"), seconds(r, "full")),
    }
}

/// Whole numbers of a range, in a list or alone; none where the key is not there.
fn list(r: &Reader<'_>, key: &str, least: f64, most: f64) -> Vec<f64> {
    let Some(entry) = r.entry(key) else {
        return Vec::new();
    };
    let found = match &entry.node.value {
        Value::Int(n) => vec![*n as f64],
        _ => numbers(&entry.node),
    };
    let is_right = |n: &f64| (least..=most).contains(n) && n.fract() == 0.0;
    if found.is_empty() || !found.iter().all(is_right) {
        let wanted = format!("whole numbers from {least} to {most}");
        r.wrong(&entry.node, key, &wanted);
        return Vec::new();
    }
    found
}

/// `seconds` of a choice; one where it is not said.
fn seconds(r: &Reader<'_>, choice: &str) -> f64 {
    let settings = r.settings(choice);
    let found = settings.iter().find(|(key, _)| key == "seconds");
    let value = match found {
        Some((_, Value::Int(n))) => *n as f64,
        Some((_, Value::Float(n))) => *n,
        Some(_) => f64::NAN,
        None => 1.0,
    };
    if value > 0.0 && value <= MOST_SECONDS {
        return value;
    }
    if let Some(entry) = r.entry(choice) {
        let wanted = format!("`seconds` above 0, at most {MOST_SECONDS}");
        r.wrong(&entry.node, choice, &wanted);
    }
    1.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Spec;
    use trammel_core::label::Label;

    const HEAD: &str = "title = 't'\nclaim = 'c'\n[[experiment]]\nid = 'a'\nengine = 'measure'\n";

    #[test]
    fn streams_are_read_with_their_rates() {
        let text = format!(
            "{HEAD}udp_bytes = [16, 1472]\ntcp_bytes = [16]\nmbps = [1, 100]\nlink_mbps = 100\n\
             quick = {{ seconds = 0.5 }}\n"
        );
        let spec = Spec::parse("paper.toml", &text).unwrap();
        let experiment = &spec.experiments[0];
        let streams = experiment.streams.as_ref().unwrap();
        assert_eq!(experiment.label, Label::Measured);
        assert!(experiment.estimate.is_none() && experiment.scenario.is_empty());
        let kinds = [
            (Protocol::Tcp, 16),
            (Protocol::Udp, 16),
            (Protocol::Udp, 1472),
        ];
        assert_eq!(streams.kinds, kinds);
        assert_eq!((streams.seconds, streams.link_mbps), ((0.5, 1.0), 100.0));
        assert_eq!(streams.imposed.pps(1, 64), 195_312.5);
    }

    #[test]
    fn every_fault_of_streams_is_shown() {
        let text = format!(
            "{HEAD}udp_bytes = [15]\npps = [0]\nmbps = [1]\nquick = {{ seconds = -1 }}\n\
             [[experiment]]\nid = 'b'\nengine = 'measure'\npps = [1]\n"
        );
        let shown = Spec::parse("paper.toml", &text).unwrap_err().to_string();
        for part in [
            "whole numbers from 16 to 65507",
            "whole numbers from 1 to 10000000",
            "exclude each other",
            "`seconds` above 0",
            "needs `udp_bytes`",
        ] {
            assert!(shown.contains(part), "{part}\n{shown}");
        }
    }
}
