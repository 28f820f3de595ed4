//! A log in a file, whoever wrote it: Trammel's own, or one of D-ITG's two forms, told apart by
//! their content.

use anyhow::{anyhow, bail};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;
use trammel_traffic::itg::file::{Entries, Form, HEAD, Lines};
use trammel_traffic::itg::line::Line;
use trammel_traffic::log::{Ending, Entry, Reader};

/// Bytes that are read at once.
const AT_ONCE: usize = 1 << 18;

/// Who takes the entries; of a record of D-ITG's, with its line.
pub type Give<'a> = &'a mut dyn FnMut(Entry, Option<&Line>) -> anyhow::Result<()>;

/// Reads the log at `path`; `note` hears of what could not be read. Returns how many of D-ITG's
/// records that were.
pub fn read(path: &Path, give: Give<'_>, note: &mut dyn FnMut(String)) -> anyhow::Result<u64> {
    let name = path.display();
    let unreadable = |why: std::io::Error| anyhow!("`{name}` cannot be read: {why}");
    let mut file = File::open(path).map_err(unreadable)?;
    let bytes = file.metadata().map_or(0, |about| about.len());
    let mut head = Vec::with_capacity(HEAD);
    let most = HEAD as u64;
    let begun = (&mut file).take(most).read_to_end(&mut head);
    begun.map_err(unreadable)?;
    let form = Form::of(&head);
    let whole = BufReader::with_capacity(AT_ONCE, std::io::Cursor::new(head).chain(file));
    if let Some(form) = form {
        return itg(&name.to_string(), Lines::new(whole, form), give, note);
    }
    let mut reader = Reader::new(whole);
    let mut is_empty = true;
    for entry in reader.by_ref() {
        give(entry.map_err(unreadable)?, None)?;
        is_empty = false;
    }
    let good = reader.good_bytes();
    match reader.ending() {
        None | Some(Ending::Whole) if is_empty => note(format!("`{name}` is empty")),
        None | Some(Ending::Whole) => {}
        Some(ending) if is_empty => {
            bail!(
                "`{name}` is neither a Trammel log nor a D-ITG log: {ending}; `trammel recv --log \
                 FILE` writes one"
            )
        }
        Some(ending) => note(format!(
            "`{name}`: {ending}; the {} bytes behind byte {good} are left out, what is before them \
             is whole",
            bytes.saturating_sub(good)
        )),
    }
    Ok(0)
}

/// Whether the file at `path` begins as a log of D-ITG's does.
pub(crate) fn is_of_itg(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD as u64).read_to_end(&mut head));
    read.is_ok() && Form::of(&head).is_some()
}

fn itg<R: std::io::BufRead>(
    name: &str,
    lines: Lines<R>,
    give: Give<'_>,
    note: &mut dyn FnMut(String),
) -> anyhow::Result<u64> {
    let mut entries = Entries::default();
    give(Entry::Session(Entries::session()), None)?;
    let (mut bad, mut too_large, mut first) = (0_u64, 0_u64, None);
    let (mut read, mut with_delay, mut numbered) = (0_u64, 0_u64, 0_u64);
    for line in lines {
        let line = match line {
            Ok(line) => line,
            Err(why) => {
                bad += 1;
                first.get_or_insert(why);
                continue;
            }
        };
        read += 1;
        with_delay += u64::from(line.sent_us != line.received_us);
        numbered += u64::from(line.sequence > 0);
        let mut given = Ok(());
        let fits = entries.line(&line, &mut |entry| {
            if given.is_ok() {
                given = give(entry, Some(&line));
            }
        });
        given?;
        too_large += u64::from(!fits);
    }
    if let Some(first) = first {
        let more = match bad {
            1 => "it is left out".to_owned(),
            _ => format!("{bad} records like it are left out"),
        };
        note(format!("`{name}`: {first}; {more}"));
    }
    if too_large > 0 {
        note(format!(
            "`{name}`: {too_large} records have a flow or bytes above 2^24 and are left out"
        ));
    }
    if read > 1 && with_delay == 0 {
        note(format!(
            "`{name}`: send and receive times are equal, as in D-ITG's log of a sender: it has no \
             delays; decode the receiver's log"
        ));
    }
    if read > 1 && numbered == 0 {
        note(format!(
            "`{name}`: packets have no numbers (`-p 2`): all but the first count as duplicates, \
             and nothing is known of losses"
        ));
    }
    Ok(bad)
}
