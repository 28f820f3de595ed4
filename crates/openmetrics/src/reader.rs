//! A strict reader of OpenMetrics text: what a page of ours must be, for tests of those who make
//! one.
//!
//! It takes what [`crate::page`] may write and refuses the rest: no exemplars, no time stamps.

use std::collections::{BTreeMap, BTreeSet};

/// What a family is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Family {
    /// `counter`, `gauge`, `histogram` or `info`.
    pub kind: String,
    /// The names of its samples, with what they are of as text, and the values.
    pub samples: Vec<(String, String, f64)>,
    has_help: bool,
}

/// The families of a page by name.
pub type Families = BTreeMap<String, Family>;

/// Reads a page.
///
/// # Errors
/// The line that is wrong, and why.
pub fn read(text: &str) -> Result<Families, String> {
    let body = text
        .strip_suffix("# EOF\n")
        .ok_or("the last line is not `# EOF`")?;
    let (mut families, mut at) = (Families::new(), String::new());
    let mut seen = BTreeSet::new();
    for line in body.lines() {
        let wrong = |why: &str| format!("`{line}`: {why}");
        if let Some(about) = line.strip_prefix("# ") {
            let mut words = about.splitn(3, ' ');
            let (what, name, rest) = (words.next(), words.next(), words.next());
            let (Some(what), Some(name), Some(rest)) = (what, name, rest) else {
                return Err(wrong("three words are needed"));
            };
            if what == "TYPE" {
                if !["counter", "gauge", "histogram", "info"].contains(&rest) {
                    return Err(wrong("no such type"));
                }
                let family = Family {
                    kind: rest.to_owned(),
                    ..Family::default()
                };
                if families.insert(name.to_owned(), family).is_some() {
                    return Err(wrong("the family is there already"));
                }
                name.clone_into(&mut at);
                continue;
            }
            let family = families.get_mut(name).filter(|_| name == at);
            let family = family.ok_or_else(|| wrong("it is not of the family before"))?;
            match what {
                "HELP" => family.has_help = true,
                "UNIT" if name.ends_with(&format!("_{rest}")) => {}
                _ => return Err(wrong("unknown, or a unit that the name does not end with")),
            }
            continue;
        }
        let (series, value) = line.rsplit_once(' ').ok_or_else(|| wrong("no value"))?;
        let value: f64 = value.parse().map_err(|_| wrong("no number"))?;
        if !seen.insert(series.to_owned()) {
            return Err(wrong("the series is there already"));
        }
        let (name, labels) = match series.split_once('{') {
            Some((name, rest)) => {
                let labels = rest.strip_suffix('}').ok_or_else(|| wrong("no `}`"))?;
                (name, labels)
            }
            None => (series, ""),
        };
        are_labels(labels).map_err(|why| wrong(&why))?;
        let family = families.get_mut(&at).ok_or_else(|| wrong("of no family"))?;
        let suffix = name
            .strip_prefix(at.as_str())
            .ok_or_else(|| wrong("of another family"))?;
        let fits = match family.kind.as_str() {
            "counter" => suffix == "_total",
            "info" => suffix == "_info" && value == 1.0,
            "histogram" => ["_bucket", "_count", "_sum"].contains(&suffix),
            _ => suffix.is_empty(),
        };
        if !fits || value < 0.0 {
            return Err(wrong("the family has no such sample"));
        }
        let sample = (name.to_owned(), labels.to_owned(), value);
        family.samples.push(sample);
    }
    for (name, family) in &families {
        if !family.has_help || family.samples.is_empty() {
            return Err(format!("`{name}` has no help or no sample"));
        }
        if family.kind == "histogram" {
            rises(name, family)?;
        }
    }
    Ok(families)
}

/// Whether `text` is labels between commas, each with a value between quotes.
fn are_labels(text: &str) -> Result<(), String> {
    let mut rest = text;
    while !rest.is_empty() {
        let (name, value) = rest.split_once("=\"").ok_or("a label has no value")?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty() || !name.chars().all(is_name) {
            return Err(format!("`{name}` is no name of a label"));
        }
        let mut end = None;
        let mut is_escaped = false;
        for (at, c) in value.char_indices() {
            match c {
                _ if is_escaped && !['\\', '"', 'n'].contains(&c) => {
                    return Err(format!("`\\{c}` is no escape"));
                }
                _ if is_escaped => is_escaped = false,
                '\\' => is_escaped = true,
                '"' => {
                    end = Some(at);
                    break;
                }
                _ => {}
            }
        }
        let end = end.ok_or("a value does not end")?;
        rest = &value[end + 1..];
        if !rest.is_empty() {
            rest = rest.strip_prefix(',').ok_or("labels need commas between")?;
        }
    }
    Ok(())
}

/// Buckets of a histogram rise to the count, and the last one is of everything.
fn rises(name: &str, family: &Family) -> Result<(), String> {
    let (mut bound, mut count, mut last) = (f64::NEG_INFINITY, 0.0, None);
    for (sample, labels, value) in &family.samples {
        if sample.ends_with("_bucket") {
            let (_, le) = labels
                .rsplit_once("le=\"")
                .ok_or_else(|| format!("`{name}` has a bucket without a bound"))?;
            let le = le.trim_end_matches('"').replace("+Inf", "inf");
            let le: f64 = le.parse().map_err(|_| format!("`{le}` is no bound"))?;
            if le <= bound || *value < count {
                return Err(format!("buckets of `{name}` do not rise"));
            }
            (bound, count) = (le, *value);
        } else if sample.ends_with("_count") {
            if bound != f64::INFINITY || *value != count {
                return Err(format!("`{name}` counts other than its buckets"));
            }
            (bound, count, last) = (f64::NEG_INFINITY, 0.0, Some(()));
        }
    }
    last.ok_or_else(|| format!("`{name}` has no count"))
}

/// Names of series in an expression of PromQL that are ours.
fn names_in(expression: &str) -> BTreeSet<String> {
    let is_in = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = expression.split(|c| !is_in(c));
    let ours = words.filter(|word| word.starts_with("trammel_"));
    ours.map(str::to_owned).collect()
}

/// Names of the series that a page has, and those that the queries of a Grafana dashboard ask for
/// and the page does not have.
///
/// # Errors
/// What [`read`] says.
pub fn missing(page: &str, dashboard: &str) -> Result<BTreeSet<String>, String> {
    let families = read(page)?;
    let samples = families.values().flat_map(|family| &family.samples);
    let has: BTreeSet<String> = samples.map(|(name, ..)| name.clone()).collect();
    let lines = dashboard.lines().filter(|line| line.contains("\"expr\":"));
    let asked: BTreeSet<String> = lines.flat_map(names_in).collect();
    if asked.is_empty() {
        return Err("the dashboard has no query".to_owned());
    }
    Ok(asked.difference(&has).cloned().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_refused() {
        let head = "# TYPE a gauge\n# HELP a Text.\n";
        assert!(read(&format!("{head}a 1\n# EOF\n")).is_ok());
        for (body, why) in [
            ("a 1\n", "EOF"),
            ("b 1\n# EOF\n", "another family"),
            ("a x\n# EOF\n", "no number"),
            ("a 1\na 1\n# EOF\n", "already"),
            ("a{l=1} 1\n# EOF\n", "no value"),
            ("a{l=\"\\x\"} 1\n# EOF\n", "escape"),
            ("# UNIT a seconds\na 1\n# EOF\n", "unit"),
        ] {
            let refused = read(&format!("{head}{body}")).expect_err(body);
            assert!(refused.contains(why), "{body}: {refused}");
        }
        let fallen = "# TYPE h histogram\n# HELP h T.\nh_bucket{le=\"1.0\"} 2\n\
                      h_bucket{le=\"+Inf\"} 1\nh_count 1\n# EOF\n";
        assert!(read(fallen).is_err());
    }
}
