//! What the kernel says of this machine: its caches, its pages, its load.

use std::fs::read_to_string;
use std::path::Path;

/// A cache as the kernel describes it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cache {
    /// 1, 2 or 3.
    pub level: u32,
    /// Its size in bytes.
    pub bytes: usize,
}

/// The caches that data come through, the smallest first; empty where the kernel does not tell.
pub(super) fn caches() -> Vec<Cache> {
    let folder = Path::new("/sys/devices/system/cpu/cpu0/cache");
    let read = |index: u32, file: &str| {
        let text = read_to_string(folder.join(format!("index{index}")).join(file)).ok()?;
        Some(text.trim().to_owned())
    };
    let cache = |index: u32| {
        let kind = read(index, "type")?;
        let size = bytes(&read(index, "size")?)?;
        let level = read(index, "level")?.parse().ok()?;
        (kind != "Instruction").then_some(Cache { level, bytes: size })
    };
    let mut caches: Vec<Cache> = (0..8).filter_map(cache).collect();
    caches.sort_by_key(|cache| cache.level);
    caches.dedup_by(|outer, inner| outer.bytes <= inner.bytes);
    caches
}

/// The bytes of a size such as `32K`.
fn bytes(text: &str) -> Option<usize> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match &text[digits.len()..] {
        "" => 1,
        "K" => 1024,
        "M" => 1024 * 1024,
        _ => return None,
    };
    let number: usize = digits.parse().ok()?;
    number.checked_mul(factor).filter(|bytes| *bytes > 0)
}

/// Processors' sockets.
pub(super) fn sockets() -> u32 {
    let of = |cpu: usize| {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/physical_package_id");
        read_to_string(path).ok()
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut packages: Vec<String> = (0..cores).filter_map(of).collect();
    packages.sort();
    packages.dedup();
    packages.len().max(1) as u32
}

/// The load averages of 1, 5 and 15 minutes; empty where the kernel does not tell.
pub(super) fn load() -> String {
    let text = read_to_string("/proc/loadavg").unwrap_or_default();
    let three: Vec<&str> = text.split_whitespace().take(3).collect();
    three.join(" ")
}

/// How often the kernel made this thread wait for a processor, and for how long: what tells that
/// others ran in between.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Waited {
    ns: u64,
    slices: u64,
}

impl Waited {
    /// As the kernel has counted up to now; always the same where it does not count.
    pub(super) fn now() -> Waited {
        let text = read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        let mut numbers = text.split_whitespace().skip(1).map(str::parse);
        let mut next = || numbers.next().and_then(Result::ok).unwrap_or(0);
        Waited {
            ns: next(),
            slices: next(),
        }
    }
}

/// Ticks of all processors that the machine below took away from this one, and all ticks, since it
/// started.
pub(super) fn stolen() -> Option<(u64, u64)> {
    stolen_in(&read_to_string("/proc/stat").ok()?)
}

fn stolen_in(text: &str) -> Option<(u64, u64)> {
    let all: Vec<u64> = text
        .lines()
        .next()?
        .strip_prefix("cpu ")?
        .split_whitespace()
        .map_while(|number| number.parse().ok())
        .collect();
    // What guests used is in the first two already.
    Some((*all.get(7)?, all.iter().take(8).sum()))
}

/// Bytes that may be had without anything being swapped out.
pub(super) fn available_bytes() -> Option<usize> {
    let text = read_to_string("/proc/meminfo").ok()?;
    let kib = field(&text, "MemAvailable")?;
    Some(kib * 1024)
}

/// The number of a field such as `MemAvailable:  123 kB`.
fn field(text: &str, name: &str) -> Option<usize> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.strip_prefix(':')?
        .split_whitespace()
        .next()?
        .parse()
        .ok()
}

/// The pages behind a buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Backing {
    /// Bytes of an ordinary page.
    pub page_bytes: usize,
    /// The share of the buffer's mapping that has huge pages, 0 to 1.
    pub huge_share: f64,
}

/// What is behind the mapping that the address belongs to.
pub(super) fn backing(address: usize) -> Backing {
    let text = read_to_string("/proc/self/smaps").unwrap_or_default();
    backing_in(&text, address).unwrap_or(Backing {
        page_bytes: 4096,
        huge_share: 0.0,
    })
}

fn backing_in(smaps: &str, address: usize) -> Option<Backing> {
    let range = |line: &str| {
        let (from, to) = line.split_whitespace().next()?.split_once('-')?;
        let number = |text| usize::from_str_radix(text, 16).ok();
        Some(number(from)?..number(to)?)
    };
    let holds = |line: &str| range(line).is_some_and(|range| range.contains(&address));
    let mut lines = smaps.lines().skip_while(|line| !holds(line));
    lines.next()?;
    let mapping: Vec<&str> = lines.take_while(|line| range(line).is_none()).collect();
    let mapping = mapping.join("\n");
    let size = field(&mapping, "Size").filter(|kib| *kib > 0)?;
    Some(Backing {
        page_bytes: field(&mapping, "KernelPageSize")? * 1024,
        huge_share: field(&mapping, "AnonHugePages").unwrap_or(0) as f64 / size as f64,
    })
}

/// What the kernel does about huge pages: `always`, `madvise` or `never`.
pub(super) fn huge_pages() -> String {
    let text = read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    let chosen = text
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'));
    chosen.map_or_else(|| "unknown".to_owned(), |(word, _)| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_their_units() {
        assert_eq!(bytes("48K"), Some(49_152));
        assert_eq!(bytes("32M"), Some(33_554_432));
        assert_eq!(bytes("7Q"), None);
        assert_eq!(bytes("0K"), None);
    }

    #[test]
    fn stolen_ticks_are_the_eighth_number_of_all_processors() {
        let text = "cpu  10 20 30 40 50 60 70 80 90 100\ncpu0 1 2 3 4 5 6 7 8 9 10\n";
        assert_eq!(stolen_in(text), Some((80, 360)));
        assert_eq!(stolen_in("cpu  1 2 3 4\n"), None);
        assert_eq!(stolen_in(""), None);
    }

    #[test]
    fn the_mapping_of_an_address_tells_its_pages() {
        let text = "7f00-7fff rw-p 00000000 00:00 0 \nSize: 256 kB\nKernelPageSize: 4 kB\n\
                    AnonHugePages: 128 kB\n\
                    9000-9fff rw-p 00000000 00:00 0 \nSize: 16 kB\nKernelPageSize: 64 kB\n";
        let first = backing_in(text, 0x7f80).unwrap();
        assert_eq!((first.page_bytes, first.huge_share), (4096, 0.5));
        let second = backing_in(text, 0x9000).unwrap();
        assert_eq!((second.page_bytes, second.huge_share), (65_536, 0.0));
        assert_eq!(backing_in(text, 0x1000), None);
    }
}
