//! The facts of this machine and process for `run.json` and the report's provenance.

use std::collections::BTreeMap;

/// Processor, kernel, cores and memory, as far as the system tells.
pub fn facts() -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    facts.insert("cores".to_owned(), cores.to_string());
    facts.insert("system".to_owned(), std::env::consts::OS.to_owned());
    facts.insert("architecture".to_owned(), std::env::consts::ARCH.to_owned());
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let value = |text: &str, key: &str| {
        let line = text.lines().find(|line| line.starts_with(key))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    if let Some(model) = value(&read("/proc/cpuinfo"), "model name") {
        facts.insert("processor".to_owned(), model);
    }
    let kernel = read("/proc/sys/kernel/osrelease");
    if !kernel.is_empty() {
        facts.insert("kernel".to_owned(), kernel.trim().to_owned());
    }
    facts
}

/// The processor's model; `unknown` where the system does not tell.
pub fn processor() -> String {
    let mut facts = facts();
    let model = facts.remove("processor");
    model.unwrap_or_else(|| "unknown".to_owned())
}

/// Now, as `2026-01-31 23:59:59 UTC`.
pub fn now() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    date(since.map_or(0, |since| since.as_secs()))
}

/// The time `s` seconds after 1970, the same way.
pub fn date(s: u64) -> String {
    let (days, rest) = (s / 86_400, s % 86_400);
    let (year, month, day) = civil(days);
    let (h, m, s) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02} {h:02}:{m:02}:{s:02} UTC")
}

/// The date `days` days after 1970-01-01 (Richards 2013, for the Gregorian calendar).
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let of_era = shifted % 146_097;
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::civil;

    #[test]
    fn days_become_dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(11_016), (2000, 2, 29));
        assert_eq!(civil(20_454), (2026, 1, 1));
    }
}
