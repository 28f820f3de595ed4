//! The traces of a run folder: what a flow or a queue did over time, a file each.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use trammel_stats::table::Table;

/// Bytes of a trace that is read, at most: more is not drawn.
const MOST_BYTES: u64 = 64 << 20;

/// The traces in `folder` by name, `<point>.<entity>`, in order.
pub(crate) fn names(folder: &Path) -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(folder.join("traces"));
    let paths = entries.into_iter().flatten().flatten();
    let named = paths.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        Some((name.strip_suffix(".csv")?.to_owned(), entry.path()))
    });
    let mut named: Vec<_> = named.collect();
    named.sort();
    named
}

/// The table in `file`; nothing where it cannot be read or is too long.
pub(crate) fn read(file: &Path) -> Option<Table> {
    let input = File::open(file).ok()?;
    let is_short = input
        .metadata()
        .is_ok_and(|about| about.len() <= MOST_BYTES);
    Table::read_csv_inferring("trace", is_short.then_some(input)?).ok()
}
