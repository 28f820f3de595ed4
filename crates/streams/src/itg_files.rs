//! Logs as D-ITG has them: its summary, and its binary and text logs.

use super::decode::{DecodeJob, with_times};
use super::log_source;
use anyhow::{anyhow, bail};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use trammel_traffic::itg::file::Away;
use trammel_traffic::itg::line::Line;
use trammel_traffic::itg::summary::{Counter, Summary};
use trammel_traffic::itg::{binary_log, text_log};
use trammel_traffic::log::Entry;

/// A form of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// 144 bytes a packet, as `ITGSend -l` and `ITGRecv -l` write, in this machine's order of
    /// bytes.
    Binary,
    /// A line a packet, as `ITGDec -l` writes.
    Text,
}

/// Gives the lines of all records that the job's filter leaves. Returns how many records could not
/// be read.
fn lines(
    job: &DecodeJob,
    give: &mut dyn FnMut(&Line) -> anyhow::Result<()>,
    note: &mut dyn FnMut(String),
) -> anyhow::Result<u64> {
    let filter = with_times(job)?.filter;
    let mut bad = 0;
    for path in &job.logs {
        let mut away = Away::default();
        let mut wanted: BTreeMap<u32, bool> = BTreeMap::new();
        let take = &mut |entry: Entry, theirs: Option<&Line>| {
            let record = match &entry {
                Entry::Session(_) => {
                    wanted.clear();
                    None
                }
                Entry::Flow(flow) => {
                    wanted.insert(flow.number, filter.has_flow(flow.number, Some(flow)));
                    None
                }
                Entry::Sent { .. } => None,
                Entry::Record(record) => Some(*record),
            };
            let line = away.entry(&entry).map_err(|sequence| {
                anyhow!(
                    "packet {sequence} of a flow has a number above 2^32, which no log of \
                         D-ITG's can hold; filter it by `--to`"
                )
            })?;
            let (Some(record), Some(ours)) = (record, line) else {
                return Ok(());
            };
            let is_wanted = *wanted
                .entry(record.flow)
                .or_insert_with(|| filter.has_flow(record.flow, None));
            if is_wanted && filter.has_time(&record) {
                give(theirs.unwrap_or(&ours))?;
            }
            Ok(())
        };
        bad += log_source::read(path, take, note)?;
    }
    Ok(bad)
}

/// The numbers as D-ITG counts them, and with its layout as text.
pub fn summary(job: &DecodeJob, note: &mut dyn FnMut(String)) -> anyhow::Result<Summary> {
    let mut counter = Counter::default();
    let count = &mut |line: &Line| {
        counter.line(line);
        Ok(())
    };
    let bad = lines(job, count, note)?;
    Ok(counter.finish(bad))
}

/// Writes the records as a log of D-ITG's to `path`, which is there when it is whole. Returns how
/// many.
pub fn write(
    job: &DecodeJob,
    path: &Path,
    form: Form,
    note: &mut dyn FnMut(String),
) -> anyhow::Result<u64> {
    let same = |log: &PathBuf| {
        let real = |path: &Path| path.canonicalize().ok();
        real(log).is_some() && real(log) == real(path)
    };
    if job.logs.iter().any(same) {
        bail!(
            "`{}` is the log that is read; name another file",
            path.display()
        );
    }
    if path.file_name().is_none() {
        bail!("`{}` is no name of a file", path.display());
    }
    let wrong = |why: std::io::Error| unwritable(path, &why);
    match std::fs::metadata(path) {
        Ok(about) if about.is_dir() => bail!("`{}` is a folder; name a file", path.display()),
        Ok(about) if about.is_file() && about.len() > 0 && !log_source::is_of_itg(path) => bail!(
            "`{}` exists and is no log of D-ITG's; give another name, or remove it first",
            path.display()
        ),
        // A pipe or a device is written to, and stays.
        Ok(about) if !about.is_file() => {
            let device = OpenOptions::new().write(true).open(path).map_err(wrong)?;
            return write_part(job, &device, form, note);
        }
        _ => {}
    }
    let beside = path.parent().filter(|at| !at.as_os_str().is_empty());
    // Of a name that nobody knows beforehand; what is half is gone when it is dropped.
    let new = |part: &Path| File::create_new(part);
    let part = tempfile::Builder::new().make_in(beside.unwrap_or(Path::new(".")), new);
    let part = part.map_err(wrong)?;
    let records =
        write_part(job, part.as_file(), form, note).map_err(|why| match why.downcast() {
            Ok(io) => wrong(io),
            Err(other) => other,
        })?;
    part.persist(path).map_err(|error| wrong(error.error))?;
    Ok(records)
}

fn unwritable(path: &Path, why: &std::io::Error) -> anyhow::Error {
    anyhow!("`{}` cannot be written: {why}", path.display())
}

fn write_part(
    job: &DecodeJob,
    part: &File,
    form: Form,
    note: &mut dyn FnMut(String),
) -> anyhow::Result<u64> {
    let mut out = BufWriter::new(part);
    let (mut bytes, mut text, mut records) = (Vec::new(), String::new(), 0);
    let put = &mut |line: &Line| {
        records += 1;
        match form {
            Form::Binary => {
                bytes.clear();
                binary_log::write(line, binary_log::Order::NATIVE, &mut bytes);
                Ok(out.write_all(&bytes)?)
            }
            Form::Text => {
                text.clear();
                text_log::write(line, &mut text);
                Ok(out.write_all(text.as_bytes())?)
            }
        }
    };
    lines(job, put, note)?;
    out.flush()?;
    Ok(records)
}
