//! Families of metrics as text: OpenMetrics 1.0, and the older format of Prometheus made from it.
//!
//! Source: the OpenMetrics specification 1.0 (Prometheus project, 2020), §5 to §6, and Prometheus'
//! exposition format 0.0.4.

use crate::buckets::Buckets;
use std::fmt::Write as _;

/// The media type of the text that [`Page::finish`] gives.
pub(crate) const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// The media type of what [`classic`] makes of it.
pub(crate) const CLASSIC: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A text that grows by families.
#[derive(Debug, Default)]
pub struct Page(String);

/// Labels of a sample as text: `flow="1",name="a"`; names are as OpenMetrics wants them.
pub fn labels(pairs: &[(&str, &str)]) -> String {
    let pairs = pairs
        .iter()
        .map(|(name, value)| format!("{name}=\"{}\"", escaped(value)));
    pairs.collect::<Vec<_>>().join(",")
}

/// A label's value, or a help text, on one line.
fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    text.replace('\n', "\\n")
}

impl Page {
    /// The page of `program`, with its version: what each page begins with.
    pub fn of(version: &str) -> Page {
        let mut page = Page::default();
        page.head("info", "trammel_build", "The program that runs.");
        page.sample("trammel_build_info", &labels(&[("version", version)]), "1");
        page
    }

    /// What only grows. `name` is without `_total`, and ends with its unit where it has one.
    pub fn counter(
        &mut self,
        name: &str,
        help: &str,
        rows: impl IntoIterator<Item = (String, u64)>,
    ) {
        self.family("counter", name, "_total", help, rows);
    }

    /// What grows and shrinks.
    pub fn gauge(&mut self, name: &str, help: &str, rows: impl IntoIterator<Item = (String, u64)>) {
        self.family("gauge", name, "", help, rows);
    }

    /// Values up to bounds; `name` ends with the unit.
    pub fn histogram<'a>(
        &mut self,
        name: &str,
        help: &str,
        rows: impl IntoIterator<Item = (String, &'a Buckets)>,
    ) {
        let mut rows = rows.into_iter().peekable();
        if rows.peek().is_none() {
            return;
        }
        self.head("histogram", name, help);
        for (labels, buckets) in rows {
            let (up_to, count, sum) = buckets.read();
            let with = |bound: &str| match labels.as_str() {
                "" => format!("le=\"{bound}\""),
                labels => format!("{labels},le=\"{bound}\""),
            };
            let bucket = format!("{name}_bucket");
            for (bound, count) in up_to {
                self.sample(&bucket, &with(&float(bound)), &count.to_string());
            }
            self.sample(&bucket, &with("+Inf"), &count.to_string());
            self.sample(&format!("{name}_count"), &labels, &count.to_string());
            self.sample(&format!("{name}_sum"), &labels, &float(sum));
        }
    }

    /// The whole text.
    pub fn finish(self) -> String {
        self.0 + "# EOF\n"
    }

    fn family(
        &mut self,
        kind: &str,
        name: &str,
        suffix: &str,
        help: &str,
        rows: impl IntoIterator<Item = (String, u64)>,
    ) {
        let mut rows = rows.into_iter().peekable();
        if rows.peek().is_none() {
            return;
        }
        self.head(kind, name, help);
        let name = format!("{name}{suffix}");
        for (labels, value) in rows {
            self.sample(&name, &labels, &value.to_string());
        }
    }

    fn head(&mut self, kind: &str, name: &str, help: &str) {
        let _ = writeln!(self.0, "# TYPE {name} {kind}");
        if let Some(unit) = unit(name) {
            let _ = writeln!(self.0, "# UNIT {name} {unit}");
        }
        let _ = writeln!(self.0, "# HELP {name} {}", escaped(help));
    }

    fn sample(&mut self, name: &str, labels: &str, value: &str) {
        let _ = match labels {
            "" => writeln!(self.0, "{name} {value}"),
            labels => writeln!(self.0, "{name}{{{labels}}} {value}"),
        };
    }
}

/// The unit that a name ends with.
fn unit(name: &str) -> Option<&str> {
    let last = name.rsplit('_').next()?;
    ["seconds", "bytes", "packets", "frames", "ratio", "words"]
        .contains(&last)
        .then_some(last)
}

/// A number as OpenMetrics' canonical form asks: with a point.
fn float(value: f64) -> String {
    format!("{value:?}")
}

/// The same page in Prometheus' format 0.0.4, for who does not ask for OpenMetrics: a counter's
/// family has the name of its samples, there is neither unit nor end, and what is no type there is
/// a gauge.
pub(crate) fn classic(page: &str) -> String {
    let mut text = String::with_capacity(page.len());
    let mut suffix = "";
    for line in page.lines() {
        let mut words = line.splitn(4, ' ');
        match (words.next(), words.next(), words.next(), words.next()) {
            (Some("#"), Some("EOF" | "UNIT"), ..) => {}
            (Some("#"), Some("TYPE"), Some(name), Some(kind)) => {
                let kind = match kind {
                    "counter" => {
                        suffix = "_total";
                        kind
                    }
                    "info" => {
                        suffix = "_info";
                        "gauge"
                    }
                    kind => {
                        suffix = "";
                        kind
                    }
                };
                let _ = writeln!(text, "# TYPE {name}{suffix} {kind}");
            }
            (Some("#"), Some("HELP"), Some(name), Some(help)) => {
                let _ = writeln!(text, "# HELP {name}{suffix} {help}");
            }
            _ => {
                text += line;
                text.push('\n');
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> String {
        let mut page = Page::of("1.2.3");
        let of = |flow| labels(&[("flow", flow)]);
        page.counter(
            "trammel_a_packets",
            "Packets \\ sent.",
            [(of("x\"y\n"), 3), (of("z"), 4)],
        );
        page.gauge("trammel_a_open", "Flows.", [(String::new(), 2)]);
        page.gauge("trammel_a_none", "Nothing.", []);
        let late = Buckets::of_ns(&[1_000, 1_000_000]);
        late.add(500);
        late.add(2_000_000);
        page.histogram("trammel_a_late_seconds", "Late.", [(String::new(), &late)]);
        page.finish()
    }

    #[test]
    fn a_page_is_what_the_specification_says() {
        let expected = r#"# TYPE trammel_build info
# HELP trammel_build The program that runs.
trammel_build_info{version="1.2.3"} 1
# TYPE trammel_a_packets counter
# UNIT trammel_a_packets packets
# HELP trammel_a_packets Packets \\ sent.
trammel_a_packets_total{flow="x\"y\n"} 3
trammel_a_packets_total{flow="z"} 4
# TYPE trammel_a_open gauge
# HELP trammel_a_open Flows.
trammel_a_open 2
# TYPE trammel_a_late_seconds histogram
# UNIT trammel_a_late_seconds seconds
# HELP trammel_a_late_seconds Late.
trammel_a_late_seconds_bucket{le="1e-6"} 1
trammel_a_late_seconds_bucket{le="0.001"} 1
trammel_a_late_seconds_bucket{le="+Inf"} 2
trammel_a_late_seconds_count 2
trammel_a_late_seconds_sum 0.0020005
# EOF
"#;
        assert_eq!(page(), expected);
        crate::reader::read(expected).expect("the strict reader takes it");
    }

    #[test]
    fn the_older_format_names_a_counters_family_as_its_samples() {
        let text = classic(&page());
        assert!(text.contains("# TYPE trammel_a_packets_total counter\n"));
        assert!(text.contains("# TYPE trammel_build_info gauge\n"));
        assert!(text.contains("# TYPE trammel_a_late_seconds histogram\n"));
        assert!(!text.contains("UNIT") && !text.contains("EOF"));
    }
}
