//! What is kept of the packets that are sent: a log, and the numbers of what comes back.

use crate::log_file::{LogFile, LogTo};
use std::cmp::Ordering;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::AtomicBool;
use trammel_traffic::decode::{Decoder, Options};
use trammel_traffic::log;
use trammel_traffic::record::{Instants, LoggedFlow, Record};

/// What is kept of a stream's packets: a log, where it is wanted, and the numbers of what comes
/// back.
pub(super) struct Account {
    log: Option<LogFile>,
    pub(super) fault: Option<String>,
    pub(super) decoder: Decoder,
    instants: Instants,
    /// By flow, packets that were given to the kernel, and packets that left, as far as each has
    /// yet to be found among the others: either may be told first.
    leaving: BTreeMap<u32, (VecDeque<Record>, VecDeque<Record>)>,
    /// How many came back, or left.
    pub(super) came_back: u64,
}

impl Account {
    pub(super) fn new(
        log: Option<&LogTo>,
        session: &log::Session,
        stop: &AtomicBool,
    ) -> anyhow::Result<Account> {
        let log = log.map(|to| LogFile::begin(to, session, stop)).transpose();
        let mut decoder = Decoder::new(Options::default());
        decoder.session(session.clone());
        Ok(Account {
            log: log.map_err(anyhow::Error::msg)?,
            fault: None,
            decoder,
            instants: session.instants,
            leaving: BTreeMap::new(),
            came_back: 0,
        })
    }

    pub(super) fn flow(&mut self, flow: LoggedFlow) {
        self.log(|log| log.flow(&flow));
        self.decoder.flow(flow);
    }

    /// A packet was given to the kernel.
    pub(super) fn departs(&mut self, record: &Record) {
        if self.instants == Instants::DueLeft {
            self.leaving
                .entry(record.flow)
                .or_default()
                .0
                .push_back(*record);
            self.join(record.flow);
        } else {
            self.log(|log| log.record(record));
        }
    }

    /// A packet came back, or the kernel says that it left.
    pub(super) fn came_back(&mut self, record: &Record) {
        if self.instants == Instants::DueLeft {
            self.leaving
                .entry(record.flow)
                .or_default()
                .1
                .push_back(*record);
            self.join(record.flow);
        } else {
            self.note(record);
        }
    }

    fn note(&mut self, record: &Record) {
        self.came_back += 1;
        self.log(|log| log.record(record));
        self.decoder.record(record);
    }

    /// Brings together when packets were given and when they left; what only one of both is known
    /// of is passed over.
    fn join(&mut self, flow: u32) {
        let Some((mut given, mut left)) = self.leaving.remove(&flow) else {
            return;
        };
        while let (Some(one), Some(other)) = (given.front(), left.front()) {
            match one.sequence.cmp(&other.sequence) {
                Ordering::Less => {
                    given.pop_front();
                }
                Ordering::Greater => {
                    left.pop_front();
                }
                Ordering::Equal => {
                    let end_ns = other.end_ns;
                    let record = Record { end_ns, ..*one };
                    given.pop_front();
                    left.pop_front();
                    self.note(&record);
                }
            }
        }
        self.leaving.insert(flow, (given, left));
    }

    /// Writes to the log, until something goes wrong with it.
    pub(super) fn log(&mut self, write: impl FnOnce(&mut LogFile) -> Result<(), String>) {
        if let (Some(log), None) = (&mut self.log, &self.fault) {
            self.fault = write(log).err();
        }
    }

    /// Whether it is to hear when packets were given to the kernel: without a log nobody reads
    /// that.
    pub(super) fn notes_departures(&self) -> bool {
        match self.instants {
            Instants::DueLeft => true,
            Instants::SentReturned => false,
            _ => self.log.is_some(),
        }
    }
}
