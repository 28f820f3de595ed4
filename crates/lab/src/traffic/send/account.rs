//! What is kept of the packets that are sent: a log, and the numbers of what comes back.

use crate::traffic::log_file::LogFile;
use std::path::Path;
use trammel_traffic::decode::{Decoder, Options};
use trammel_traffic::log;
use trammel_traffic::record::{Flow, Instants, Record};

/// What is kept of a stream's packets: a log, where it is wanted, and the numbers of a round trip.
pub(super) struct Account {
    log: Option<LogFile>,
    pub(super) fault: Option<String>,
    pub(super) decoder: Decoder,
    /// Whether the decoder's numbers are shown: it takes time that a sender may not have.
    is_decoded: bool,
    /// How many it has.
    pub(super) records: u64,
}

impl Account {
    pub(super) fn new(log: Option<&Path>, session: &log::Session) -> anyhow::Result<Account> {
        let log = log.map(|path| LogFile::open(path, session)).transpose();
        let mut decoder = Decoder::new(Options::default());
        decoder.session(session.clone());
        Ok(Account {
            log: log.map_err(anyhow::Error::msg)?,
            fault: None,
            decoder,
            is_decoded: session.instants == Instants::SentReturned,
            records: 0,
        })
    }

    pub(super) fn flow(&mut self, flow: Flow) {
        self.log(|log| log.flow(&flow));
        self.decoder.flow(flow);
    }

    pub(super) fn record(&mut self, record: &Record) {
        self.records += 1;
        self.log(|log| log.record(record));
        if self.is_decoded {
            self.decoder.record(record);
        }
    }

    /// Writes to the log, until something goes wrong with it.
    pub(super) fn log(&mut self, write: impl FnOnce(&mut LogFile) -> Result<(), String>) {
        if let (Some(log), None) = (&mut self.log, &self.fault) {
            self.fault = write(log).err();
        }
    }

    /// Whether it takes records of when packets were due and sent: without a log nobody reads them.
    pub(super) fn takes_departures(&self) -> bool {
        self.log.is_some() && !self.is_decoded
    }
}
