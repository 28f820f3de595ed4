//! How long a processor has stood idle, as the kernel counts it.

use std::time::Duration;

/// A tick of the kernel's statistics: `sysconf(_SC_CLK_TCK)` is 100 on every architecture that
/// Linux has had for long.
const TICK: Duration = Duration::from_millis(10);

/// The time that a processor has been idle since the machine started; nothing where the kernel does
/// not tell.
pub(super) fn of(processor: usize) -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/stat").ok()?;
    idle_in(&text, processor)
}

/// `cpu0 user nice system idle iowait …`, of which the last two are idle.
fn idle_in(stat: &str, processor: usize) -> Option<Duration> {
    let name = format!("cpu{processor}");
    let mut lines = stat.lines().map(str::split_ascii_whitespace);
    let mut words = lines.find_map(|mut words| (words.next()? == name).then_some(words))?;
    let idle: u32 = words.nth(3)?.parse().ok()?;
    let waits: u32 = words.next()?.parse().ok()?;
    Some(TICK * idle.saturating_add(waits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_time_is_the_fourth_and_the_fifth_number() {
        let text = "cpu  9 9 9 9 9\ncpu0 5 6 7 100 3 0 0 0 0 0\ncpu1 5 6 7 20 0 0\nintr 5\n";
        assert_eq!(idle_in(text, 0), Some(Duration::from_millis(1030)));
        assert_eq!(idle_in(text, 1), Some(Duration::from_millis(200)));
        assert_eq!(idle_in(text, 2), None);
    }
}
