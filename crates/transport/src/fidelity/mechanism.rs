//! Why a miss is a miss: `mechanisms.toml`, checked both ways.
//!
//! ```toml
//! [[mechanism]]
//! misses = ["e3/htcp/goodput"]            # set/variant/metric
//! text   = "what in the two systems differs, and how it makes this number differ"
//! found  = false                          # where that is only what is known, and the mechanism is not
//! ```
//!
//! A miss without a mechanism fails the study; a mechanism without its miss is reported, since it
//! explains nothing any more.

use super::finding::Finding;
use anyhow::{Context, bail};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use toml_edit::DocumentMut;

/// Explanations by miss.
#[derive(Clone, Debug, Default)]
pub struct Mechanisms(BTreeMap<String, Explanation>);

/// What is known of a miss.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Explanation {
    words: String,
    /// Whether that is its mechanism.
    is_found: bool,
}

/// Misses and explanations that lack each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gaps {
    /// Misses without a mechanism.
    pub unexplained: Vec<String>,
    /// Mechanisms without their miss.
    pub stale: Vec<String>,
}

/// The key of the miss that `finding` is: `e3/htcp/goodput`.
pub fn key(finding: &Finding) -> String {
    let Finding {
        set,
        variant,
        metric,
        ..
    } = finding;
    format!("{set}/{variant}/{}", metric.key())
}

impl Mechanisms {
    /// Reads `path`.
    pub fn read(path: &Path) -> anyhow::Result<Mechanisms> {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("`{}`", path.display()))?;
        Mechanisms::parse(&text).with_context(|| format!("`{}`", path.display()))
    }

    pub(super) fn parse(text: &str) -> anyhow::Result<Mechanisms> {
        let document: DocumentMut = text.parse()?;
        let mut mechanisms = BTreeMap::new();
        let entries = document
            .get("mechanism")
            .and_then(|item| item.as_array_of_tables());
        for entry in entries.into_iter().flatten() {
            let text = entry.get("text").and_then(|item| item.as_str());
            let text = text.context("a mechanism without `text`")?;
            let is_found = entry.get("found").and_then(toml_edit::Item::as_bool);
            let misses = entry.get("misses").and_then(|item| item.as_array());
            for miss in misses.context("a mechanism without `misses`")? {
                let miss = miss.as_str().context("a miss is a text")?.to_owned();
                // Line ends in the file are for its reader.
                let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
                let explanation = Explanation {
                    words,
                    is_found: is_found.unwrap_or(true),
                };
                if mechanisms.insert(miss.clone(), explanation).is_some() {
                    bail!("`{miss}` is explained twice");
                }
            }
        }
        Ok(Mechanisms(mechanisms))
    }

    /// The explanation of the miss `key`.
    pub fn of(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(|one| one.words.as_str())
    }

    /// Whether the mechanism of the miss `key` is found.
    pub fn is_found(&self, key: &str) -> bool {
        self.0.get(key).is_some_and(|one| one.is_found)
    }

    /// Compares with the misses among `findings`; `is_judged` says of a set whether its misses
    /// count.
    pub fn gaps(&self, findings: &[Finding], is_judged: impl Fn(&str) -> bool) -> Gaps {
        let judged = findings.iter().filter(|finding| is_judged(finding.set));
        let misses: BTreeSet<String> = judged.filter(|f| f.is_miss()).map(key).collect();
        let set_of = |key: &str| key.split('/').next().unwrap_or_default().to_owned();
        let lacks = |miss: &&String| !self.0.contains_key(*miss);
        let is_stale = |key: &&String| !misses.contains(*key) && is_judged(&set_of(key));
        Gaps {
            unexplained: misses.iter().filter(lacks).cloned().collect(),
            stale: self.0.keys().filter(is_stale).cloned().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::{Metric, Rule, Spread};
    use super::*;

    fn missing(variant: &str) -> Finding {
        Finding {
            set: "e2",
            variant: variant.to_owned(),
            flow: 0,
            cc: variant.to_owned(),
            metric: Metric::QueueDelay,
            kernel: Spread::one(10.0),
            ours: Spread::one(20.0),
            null: 0.0,
            rule: Rule::Near(1.0),
            is_target: true,
            has_room: true,
        }
    }

    #[test]
    fn both_kinds_of_gap_are_found() {
        let text = "[[mechanism]]\ntext = \"\"\"a\n  b\"\"\"\n\
                    misses = [\"e2/reno/queue-delay\", \"e2/bic/goodput\", \"e1/bic/goodput\"]";
        let mechanisms = Mechanisms::parse(text).unwrap();
        assert_eq!(mechanisms.of("e2/reno/queue-delay"), Some("a b"));
        assert!(mechanisms.is_found("e2/reno/queue-delay"));
        let open = text.replace("misses =", "found = false\nmisses =");
        let open = Mechanisms::parse(&open).unwrap();
        assert_eq!(open.of("e2/reno/queue-delay"), Some("a b"));
        assert!(!open.is_found("e2/reno/queue-delay") && !open.is_found("e2/nosuch"));
        let gaps = mechanisms.gaps(&[missing("reno"), missing("nv")], |set| set != "e1");
        assert_eq!(gaps.unexplained, ["e2/nv/queue-delay"]);
        assert_eq!(gaps.stale, ["e2/bic/goodput"], "e1 is not judged");
    }

    #[test]
    fn two_explanations_of_one_miss_are_refused() {
        let entry = "[[mechanism]]\ntext = \"x\"\nmisses = [\"e2/bic/goodput\"]\n";
        let error = Mechanisms::parse(&entry.repeat(2)).unwrap_err();
        assert_eq!(error.to_string(), "`e2/bic/goodput` is explained twice");
        assert!(Mechanisms::parse("[[mechanism]]\ntext = \"x\"").is_err());
    }
}
