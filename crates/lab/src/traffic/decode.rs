//! Logs read and decoded.

use anyhow::{anyhow, bail};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use trammel_traffic::decode::{Decoder, Options, Report};
use trammel_traffic::log::{Ending, Reader};

/// Decodes logs as if they were one; `note` hears of what could not be read.
pub fn decode(
    paths: &[PathBuf],
    options: Options,
    note: &mut dyn FnMut(String),
) -> anyhow::Result<Report> {
    let mut decoder = Decoder::new(options);
    for path in paths {
        read(path, &mut decoder, note)?;
    }
    Ok(decoder.finish())
}

fn read(path: &Path, decoder: &mut Decoder, note: &mut dyn FnMut(String)) -> anyhow::Result<()> {
    let name = path.display();
    let unreadable = |why: std::io::Error| anyhow!("`{name}` cannot be read: {why}");
    let file = File::open(path).map_err(unreadable)?;
    let bytes = file.metadata().map_or(0, |about| about.len());
    let mut reader = Reader::new(BufReader::new(file));
    let mut is_empty = true;
    for entry in reader.by_ref() {
        decoder.entry(entry.map_err(unreadable)?);
        is_empty = false;
    }
    let good = reader.good_bytes();
    match reader.ending() {
        None | Some(Ending::Whole) if is_empty => note(format!("`{name}` is empty")),
        None | Some(Ending::Whole) => {}
        Some(ending) if is_empty => {
            bail!("`{name}` is no log of Trammel's: {ending}; `trammel recv --log FILE` writes one")
        }
        Some(ending) => note(format!(
            "`{name}`: {ending}; the {} bytes behind byte {good} are left out, what is before them is whole",
            bytes.saturating_sub(good)
        )),
    }
    Ok(())
}
