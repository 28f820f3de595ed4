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

/// Now, as `2026-01-31 23:59:59 UTC`; WebAssembly has no clock.
pub fn now() -> String {
    if cfg!(target_family = "wasm") {
        return "at an unknown time".to_owned();
    }
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    date(since.map_or(0, |since| since.as_secs()))
}

/// The time `s` seconds after 1970, the same way; after the year 9999 the seconds.
pub fn date(s: u64) -> String {
    let at = i64::try_from(s)
        .ok()
        .and_then(|s| jiff::Timestamp::from_second(s).ok());
    at.map_or_else(
        || format!("{s} s after 1970"),
        |at| at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
    )
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn seconds_become_dates() {
        assert_eq!(date(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(date(11_016 * 86_400), "2000-02-29 00:00:00 UTC");
        assert_eq!(date(20_454 * 86_400 + 86_399), "2026-01-01 23:59:59 UTC");
        assert_eq!(date(u64::MAX), "18446744073709551615 s after 1970");
    }
}
