//! Writes a log: sessions and flows at once, records a block at a time.

use super::Session;
use super::block::{
    BASES_BYTES, Bases, Kind, MOST_BODY_BYTES, MOST_RECORDS, MOST_TEXT_BYTES, head, put_flow,
    put_sent, put_session,
};
use crate::record::{LoggedFlow, MOST_BYTES, MOST_FLOWS, MOST_SEQUENCE, Record};
use std::io::{self, Write};

/// Why something was not logged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file took no more.
    #[error("the log cannot be written: {0}")]
    Io(#[from] io::Error),
    /// A text is longer than 255 bytes.
    #[error("the log cannot hold {what} of {bytes} bytes: it holds at most 255; shorten it")]
    Text {
        /// Which.
        what: &'static str,
        /// How long it is.
        bytes: usize,
    },
    /// A number is beyond what a log holds; nothing was written.
    #[error("the log cannot hold {what} {value}: it holds numbers below {limit}")]
    Number {
        /// Of what.
        what: &'static str,
        /// The number.
        value: u64,
        /// What it has to be below.
        limit: u64,
    },
    /// An earlier write failed: behind what it may have left nobody would read.
    #[error(
        "the log is broken since a write failed; begin another, or truncate it to its good length \
         and append"
    )]
    Broken,
}

/// Writes a log into `W`, which need not be buffered: every block is one write.
///
/// Records wait for their block to be full, at most 4096 of them: [`flush`](Writer::flush) writes
/// what waits. A writer that is dropped writes it too, without telling of errors.
#[derive(Debug)]
pub struct Writer<W: Write> {
    into: W,
    bases: Option<Bases>,
    /// How many records wait in `body`.
    count: usize,
    body: Vec<u8>,
    is_broken: bool,
}

impl<W: Write> Writer<W> {
    /// Writes at the place where `into` stands: at a new file's start or at a good file's end.
    /// Begin with a session.
    pub fn new(into: W) -> Writer<W> {
        Writer {
            into,
            bases: None,
            count: 0,
            body: Vec::with_capacity(MOST_BODY_BYTES),
            is_broken: false,
        }
    }

    /// Begins a session: writes what waits, and it.
    pub fn session(&mut self, session: &Session) -> Result<(), Error> {
        check_text("a host name", &session.host)?;
        check_text("a clock's name", &session.clock)?;
        check_text("a program's name", &session.program)?;
        self.flush()?;
        let mut body = Vec::new();
        put_session(&mut body, session);
        self.write(Kind::Session, 1, &body)
    }

    /// Tells of a flow: writes what waits, and it.
    pub fn flow(&mut self, flow: &LoggedFlow) -> Result<(), Error> {
        check("flow", flow.number.into(), MOST_FLOWS.into())?;
        check_text("a flow's name", &flow.name)?;
        self.flush()?;
        let mut body = Vec::new();
        put_flow(&mut body, flow);
        self.write(Kind::Flow, 1, &body)
    }

    /// Tells how many packets of a flow its sender says that it sent: writes what waits, and it.
    pub fn sent(&mut self, flow: u32, packets: u64) -> Result<(), Error> {
        check("flow", flow.into(), MOST_FLOWS.into())?;
        self.flush()?;
        let mut body = Vec::new();
        put_sent(&mut body, flow, packets);
        self.write(Kind::Sent, 1, &body)
    }

    /// Takes in a packet. A block is written when it is full, or when `record` is more than 39
    /// hours from its first.
    pub fn record(&mut self, record: &Record) -> Result<(), Error> {
        check("flow", record.flow.into(), MOST_FLOWS.into())?;
        check("sequence number", record.sequence, MOST_SEQUENCE)?;
        check("payload of bytes", record.bytes.into(), MOST_BYTES.into())?;
        if self.count == MOST_RECORDS {
            self.write_records()?;
        }
        let fits = self.bases.and_then(|bases| bases.encode(record));
        let bytes = match fits {
            Some(bytes) => bytes,
            None => {
                self.write_records()?;
                let bases = Bases::of(record);
                self.bases = Some(bases);
                bases.put(&mut self.body);
                bases.encode(record).expect("bases are made for the record")
            }
        };
        self.body.extend(bytes);
        self.count += 1;
        Ok(())
    }

    /// Writes the records that wait, and flushes what is written into.
    pub fn flush(&mut self) -> Result<(), Error> {
        self.write_records()?;
        Ok(self.into.flush()?)
    }

    /// What is written into.
    pub fn get_ref(&self) -> &W {
        &self.into
    }

    /// What is written into, to end it.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.into
    }

    fn write_records(&mut self) -> Result<(), Error> {
        if self.count == 0 {
            return Ok(());
        }
        debug_assert!(self.body.len() > BASES_BYTES);
        let (body, count) = (std::mem::take(&mut self.body), self.count);
        let written = self.write(Kind::Records, count, &body);
        self.body = body;
        self.body.clear();
        (self.bases, self.count) = (None, 0);
        written
    }

    fn write(&mut self, kind: Kind, count: usize, body: &[u8]) -> Result<(), Error> {
        let mut block = Vec::with_capacity(super::block::HEAD_BYTES + body.len());
        block.extend(head(kind, count, body));
        block.extend(body);
        if self.is_broken {
            return Err(Error::Broken);
        }
        let written = self.into.write_all(&block);
        self.is_broken = written.is_err();
        Ok(written?)
    }
}

impl<W: Write> Drop for Writer<W> {
    fn drop(&mut self) {
        // A process that panics has no order left to keep: only what is whole is to be in the file.
        if !std::thread::panicking() {
            let _ = self.flush();
        }
    }
}

fn check(what: &'static str, value: u64, limit: u64) -> Result<(), Error> {
    if value < limit {
        Ok(())
    } else {
        Err(Error::Number { what, value, limit })
    }
}

fn check_text(what: &'static str, text: &str) -> Result<(), Error> {
    let bytes = text.len();
    if bytes <= MOST_TEXT_BYTES {
        Ok(())
    } else {
        Err(Error::Text { what, bytes })
    }
}
