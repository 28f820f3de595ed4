//! What a receiver does with what comes: a log, a report at the end, and a line for each flow that
//! is closed.

use super::log_file::LogFile;
use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;
use trammel_ground::say;
use trammel_traffic::decode::{Decoder, Options, Report};
use trammel_traffic::receive::hub::Sink;
use trammel_traffic::record::{Instants, LoggedFlow, Record};
use trammel_traffic::signal::message::Count;

/// What is kept of what came.
pub struct Kept {
    decoder: Decoder,
    log: Option<LogFile>,
    /// What went wrong with the log first; then nothing more is written to it.
    fault: Option<String>,
    closed: usize,
}

/// The receiver's sink, and its end that whoever runs it asks.
#[derive(Clone)]
pub struct Keeper(Arc<(Mutex<Kept>, Condvar)>);

impl Keeper {
    /// Keeps a log, where there is one.
    pub fn new(log: Option<LogFile>) -> Keeper {
        let mut decoder = Decoder::new(Options::default());
        decoder.session(super::log_file::session(Instants::SentReceived, 0));
        let kept = Kept {
            decoder,
            log,
            fault: None,
            closed: 0,
        };
        Keeper(Arc::new((Mutex::new(kept), Condvar::new())))
    }

    /// How many flows are closed.
    pub fn closed(&self) -> usize {
        self.kept(|kept| kept.closed)
    }

    /// Waits until more than `closed` flows are, or for so long.
    pub fn wait(&self, closed: usize, most: Duration) {
        let (kept, one_more) = &*self.0;
        let kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = one_more.wait_timeout_while(kept, most, |kept| kept.closed <= closed);
        drop(waited);
    }

    /// Writes what waits to the log, so that a machine that stops loses no more than came since.
    pub fn flush(&self) {
        self.kept(|kept| kept.log(LogFile::flush));
    }

    /// The report, and what was wrong with the log. Nothing is kept after it.
    pub fn finish(&self) -> (Report, Option<String>) {
        self.kept(|kept| {
            if let Some(log) = &mut kept.log {
                kept.fault = kept.fault.take().or_else(|| log.finish().err());
            }
            let decoder = std::mem::replace(&mut kept.decoder, Decoder::new(Options::default()));
            (decoder.finish(), kept.fault.take())
        })
    }

    fn kept<T>(&self, work: impl FnOnce(&mut Kept) -> T) -> T {
        work(&mut self.0.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Kept {
    fn log(&mut self, write: impl FnOnce(&mut LogFile) -> Result<(), String>) {
        if let (Some(log), None) = (&mut self.log, &self.fault)
            && let Err(why) = write(log)
        {
            say(&format!(
                "warning: {why}; receiving goes on without the log"
            ));
            self.fault = Some(why);
        }
    }
}

impl Sink for Keeper {
    fn flow(&mut self, flow: &LoggedFlow) {
        self.kept(|kept| {
            kept.decoder.flow(flow.clone());
            kept.log(|log| log.flow(flow));
        });
    }

    fn record(&mut self, record: &Record) {
        self.kept(|kept| {
            kept.decoder.record(record);
            kept.log(|log| log.record(record));
        });
    }

    fn port_failed(&mut self, port: &str, why: &std::io::Error) {
        say(&format!(
            "warning: {port}: nothing more is received there: {why}"
        ));
    }

    fn tested(&mut self, from: SocketAddr, what: &str) {
        self.kept(|kept| kept.closed += 1);
        self.0.1.notify_all();
        say(&format!("{from}: {what}"));
    }

    fn closed(&mut self, flow: u32, received: Count, sent: Option<Count>) {
        self.kept(|kept| {
            kept.closed += 1;
            if let Some(sent) = sent {
                kept.log(|log| log.sent(flow, sent.packets));
                kept.decoder.sent(flow, sent.packets);
            }
            kept.decoder.close(flow);
            kept.log(LogFile::flush);
        });
        self.0.1.notify_all();
        let packets = received.packets;
        let of = match sent {
            Some(sent) => format!("{packets} of {} packets", sent.packets),
            None => format!("{packets} packets; the sender did not report how many it sent"),
        };
        let own = match received.lost {
            0 => String::new(),
            lost => format!("; {lost} were lost here: its port's buffer was full"),
        };
        let others = match received.unattributed {
            0 => String::new(),
            lost => format!(
                "; {lost} were lost here of this flow or of others that its port had at the same \
                 time"
            ),
        };
        say(&format!("flow {flow}: {of}{own}{others}"));
    }
}
