//! What a sender did over time: its variables by name, its phase and its congestion state.

use std::collections::BTreeMap;

/// Samples of a sender, in the order of time. A value that is not known is NaN.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// When each sample is, seconds.
    pub times: Vec<f64>,
    /// The variables.
    pub columns: BTreeMap<String, Vec<f64>>,
    /// The variant's own phase at each sample: `startup`; empty where there is none.
    pub phases: Vec<&'static str>,
    /// The state of congestion control: `open`, `recovery`; empty where it is not known.
    pub states: Vec<&'static str>,
}

/// What the congestion states are called, in the order of [`trammel_tcp::cc::CaState`].
pub(crate) const STATES: [&str; 5] = ["open", "disorder", "cwr", "recovery", "loss"];

impl Series {
    /// Whether any sample has a phase called `name`, or could have: whether `name` is a state's.
    fn line(&self, name: &str) -> &[&'static str] {
        if STATES.contains(&name) {
            &self.states
        } else {
            &self.phases
        }
    }

    /// Whether phases, or states where `name` is a state's, are known at all.
    pub fn knows(&self, name: &str) -> bool {
        self.line(name).iter().any(|one| !one.is_empty())
    }

    /// Whether the sender is in phase or state `name` at sample `at`. `probe-bw` is every phase of
    /// ProbeBW.
    pub fn is_in(&self, at: usize, name: &str) -> bool {
        let is = self.line(name).get(at).copied().unwrap_or_default();
        is == name || (name == PROBE_BW && is_probe_bw(is))
    }

    /// The phases from sample `from` to before `until`, without repetition.
    pub fn course(&self, from: usize, until: usize) -> Vec<&'static str> {
        let mut course: Vec<&'static str> = Vec::new();
        for phase in &self.phases[from.min(until)..until] {
            if !phase.is_empty() && course.last() != Some(phase) {
                course.push(phase);
            }
        }
        course
    }

    /// Puts a sample at the end; variables that it lacks are NaN.
    pub fn push(
        &mut self,
        time: f64,
        values: &[(&str, f64)],
        phase: &'static str,
        state: &'static str,
    ) {
        let len = self.times.len();
        self.times.push(time);
        self.phases.push(phase);
        self.states.push(state);
        for (name, value) in values {
            if let Some(column) = self.columns.get_mut(*name) {
                column.resize(len, f64::NAN);
                column.push(*value);
            } else {
                let mut column = vec![f64::NAN; len];
                column.push(*value);
                self.columns.insert((*name).to_owned(), column);
            }
        }
    }

    /// Fills every column to the length of the series.
    pub fn close(&mut self) {
        let len = self.times.len();
        for column in self.columns.values_mut() {
            column.resize(len, f64::NAN);
        }
    }
}

/// All phases of ProbeBW together.
pub(crate) const PROBE_BW: &str = "probe-bw";

/// Whether a phase is one of ProbeBW's.
pub(crate) fn is_probe_bw(phase: &str) -> bool {
    matches!(
        phase,
        "probe-up" | "probe-down" | "cruise" | "refill" | PROBE_BW
    )
}

/// The phase that a log calls `name`: in any case, with any of the usual separators and prefixes.
/// Nothing where it is none that checks know.
pub(crate) fn phase(name: &str) -> &'static str {
    const ALL: [(&str, &str); 20] = [
        ("startup", "startup"),
        ("drain", "drain"),
        ("probe-rtt", "probe-rtt"),
        ("probe-bw", PROBE_BW),
        ("probe-bw-up", "probe-up"),
        ("probe-up", "probe-up"),
        ("up", "probe-up"),
        ("probe-bw-down", "probe-down"),
        ("probe-down", "probe-down"),
        ("down", "probe-down"),
        ("probe-bw-cruise", "cruise"),
        ("probe-cruise", "cruise"),
        ("cruise", "cruise"),
        ("probe-bw-refill", "refill"),
        ("probe-refill", "refill"),
        ("refill", "refill"),
        ("slow-start", "slow-start"),
        ("congestion-avoidance", "congestion-avoidance"),
        ("application-limited", "application-limited"),
        ("css", "hystart-css"),
    ];
    let lower = name.trim().to_lowercase().replace(['_', ' '], "-");
    let plain = ["bbr-", "bbr2-", "bbr3-"];
    let plain = plain.iter().find_map(|prefix| lower.strip_prefix(prefix));
    let plain = plain.unwrap_or(&lower);
    let mut known = ALL.iter();
    known
        .find(|(known, _)| *known == plain)
        .map_or("", |(_, is)| *is)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_are_known_however_a_stack_writes_them() {
        for (written, is) in [
            ("BBR_STARTUP", "startup"),
            ("ProbeBW", ""),
            ("probe_bw_up", "probe-up"),
            ("Slow Start", "slow-start"),
            ("bbr-cruise", "cruise"),
        ] {
            assert_eq!(phase(written), is, "{written}");
        }
    }
}
