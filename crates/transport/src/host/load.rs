//! What the host's processors did during a measurement: its own work and that of others.

use serde::{Deserialize, Serialize};
use trammel_io::clock;

/// Shares of all processors' time, from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// Of the process that measures.
    pub own: f64,
    /// Of everything else, the kernel's work for packets that no process asked for included.
    pub others: f64,
}

/// A measurement under way.
#[derive(Debug)]
pub(super) struct Watch {
    /// Ticks that processors were busy, and all that passed; nothing where the system does not
    /// tell.
    ticks: Option<(u64, u64)>,
    cpu_ns: i64,
    began_ns: i64,
}

impl Watch {
    pub(super) fn start() -> Watch {
        Watch {
            ticks: ticks(),
            cpu_ns: clock::process_cpu_ns(),
            began_ns: clock::monotonic_ns(),
        }
    }

    pub(super) fn end(&self) -> Load {
        let (Some(before), Some(after)) = (self.ticks, ticks()) else {
            return Load::default();
        };
        let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
        let busy = share(after.0 - before.0, after.1 - before.1);
        let processors = std::thread::available_parallelism().map_or(1, usize::from) as f64;
        let passed = (clock::monotonic_ns() - self.began_ns).max(1) as f64;
        let own = (clock::process_cpu_ns() - self.cpu_ns) as f64 / passed / processors;
        Load {
            own,
            others: (busy - own).max(0.0),
        }
    }
}

fn ticks() -> Option<(u64, u64)> {
    busy_and_all(&std::fs::read_to_string("/proc/stat").ok()?)
}

/// Busy ticks and all, of the line `cpu` of `/proc/stat` (proc(5)): the fourth and fifth numbers
/// are idle ones, and those from the ninth on are counted among the first two.
fn busy_and_all(text: &str) -> Option<(u64, u64)> {
    let line = text.lines().find(|line| line.starts_with("cpu "))?;
    let numbers: Vec<u64> = line
        .split_whitespace()
        .skip(1)
        .take(8)
        .map_while(|number| number.parse().ok())
        .collect();
    let all: u64 = numbers.iter().sum();
    let idle = numbers.get(3)? + numbers.get(4)?;
    Some((all - idle, all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_ticks_are_told_from_busy_ones() {
        let text = "cpu  10 1 5 100 20 2 3 4 7 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
        assert_eq!(busy_and_all(text), Some((25, 145)));
        assert_eq!(busy_and_all("intr 1 2 3"), None);
    }
}
