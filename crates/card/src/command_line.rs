//! A client of the command line of a card's control software.

use crate::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// How long a reply may take: a command may wait for the network.
const PATIENCE: Duration = Duration::from_secs(30);
/// Bytes of a reply, at most.
const LONGEST_REPLY: usize = 16 << 20;
/// Bytes of the line before a reply, at most.
const LONGEST_HEAD: u64 = 64;

/// A connection to the command line of a card that runs with control software.
#[derive(Debug)]
pub struct CommandLine {
    stream: BufReader<UnixStream>,
    place: String,
}

impl CommandLine {
    /// Connects to the command line whose socket is at `path`.
    ///
    /// # Errors
    /// Where no card with control software runs there.
    pub fn connect(path: &Path) -> Result<CommandLine, Error> {
        let place = path.display().to_string();
        let stream = UnixStream::connect(path).map_err(|why| Error::Lack {
            what: format!("no control software at `{place}`: {why}"),
            mend: Some(
                "start a card by `trammel netfpga run --control cpuhw …`, or name its socket by \
                 `--console`"
                    .to_owned(),
            ),
        })?;
        let set = stream.set_read_timeout(Some(PATIENCE));
        set.and(stream.set_write_timeout(Some(PATIENCE)))
            .map_err(Error::of(format!("use `{place}`")))?;
        Ok(CommandLine {
            stream: BufReader::new(stream),
            place,
        })
    }

    /// Runs a line: whether it was carried out, and the reply's text, or its JSON.
    ///
    /// # Errors
    /// Where the card ends or does not answer.
    pub fn run(&mut self, line: &str, in_json: bool) -> Result<(bool, String), Error> {
        if line.contains(['\n', '\r']) {
            return Err(Error::Usage("a command is one line".to_owned()));
        }
        if matches!(line.trim(), "quit" | "exit") {
            return Ok((true, String::new()));
        }
        let before = if in_json { "json " } else { "" };
        let place = self.place.clone();
        let fault = |why: String| Error::Protocol { place, why };
        let sent = writeln!(self.stream.get_mut(), "{before}{line}");
        let replied = sent.and_then(|()| self.reply());
        match replied {
            Ok(Some(reply)) => Ok(reply),
            Ok(None) => Err(fault(
                "it does not answer as a card's command line".to_owned(),
            )),
            Err(why) => Err(fault(why.to_string())),
        }
    }

    /// A reply; none where it is none.
    fn reply(&mut self) -> std::io::Result<Option<(bool, String)>> {
        let mut head = String::new();
        let mut limited = self.stream.by_ref().take(LONGEST_HEAD);
        limited.read_line(&mut head)?;
        let words = head.trim_end().split_once(' ');
        let Some((state, Ok(bytes))) = words.map(|(state, bytes)| (state, bytes.parse())) else {
            return Ok(None);
        };
        if bytes > LONGEST_REPLY {
            return Ok(None);
        }
        let mut text = vec![0; bytes];
        self.stream.read_exact(&mut text)?;
        let text = String::from_utf8_lossy(&text).into_owned();
        Ok(Some((state == "ok", text)))
    }
}
