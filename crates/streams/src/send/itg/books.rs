//! What all flows write to: the account of their packets, D-ITG's log, and what became of each.

use super::plan::Planned;
use crate::log_file::LogFile;
use crate::send::account::Account;
use crate::send::{FlowOutcome, SendOutcome, held};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use trammel_traffic::itg::line::Line;
use trammel_traffic::itg::log_file::BinaryLog;
use trammel_traffic::record::Record;
use trammel_traffic::send::Sent;
use trammel_traffic::stream::Meter;

/// What all flows write to.
pub(super) struct Books {
    pub(super) account: Mutex<Account>,
    pub(super) log: Option<Arc<BinaryLog>>,
    /// By the places of flows: what was sent, and why a flow failed.
    pub(super) sent: Mutex<BTreeMap<usize, Sent>>,
}

impl Books {
    /// Takes a packet that was sent, or one that came back.
    pub(super) fn write(
        &self,
        record: &Record,
        (from, to): (SocketAddr, SocketAddr),
        came_back: bool,
    ) {
        let mut account = held(&self.account);
        if came_back {
            account.came_back(record);
        } else if account.notes_departures() {
            account.departs(record);
        }
        drop(account);
        if let Some(log) = &self.log {
            // D-ITG's log of a sender has the time of sending twice where nothing comes back.
            let start_ns = if came_back {
                record.start_ns
            } else {
                record.end_ns
            };
            let own = Record {
                start_ns,
                ..*record
            };
            if let Some(line) = Line::new(&own, from, to) {
                log.line(&line);
            }
        }
    }

    pub(super) fn note(&self, at: usize, sent: Sent) {
        let mut all = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(at, sent);
    }

    pub(super) fn fail(&self, at: usize, why: &str) {
        let mut all = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        let sent = all.entry(at).or_insert_with(Sent::nothing);
        sent.fault.get_or_insert_with(|| why.to_owned());
    }

    pub(super) fn close(self, planned: &[Planned<'_>]) -> SendOutcome {
        let mut account = self
            .account
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let mut sent = self
            .sent
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let mut flows = Vec::new();
        for (at, flow) in planned.iter().enumerate() {
            let sent = sent.remove(&at).unwrap_or_else(Sent::nothing);
            if flow.stream.meter == Meter::RoundTrip {
                account.decoder.sent(flow.number, sent.count.packets);
            }
            flows.push(FlowOutcome {
                name: flow.stream.name.clone(),
                sent,
                received: Err("D-ITG receivers do not report".to_owned()),
            });
        }
        account.log(LogFile::finish);
        let log_fault = self.log.as_ref().and_then(|log| {
            log.flush();
            log.fault()
        });
        let comes_back = planned
            .iter()
            .any(|one| one.stream.meter == Meter::RoundTrip);
        SendOutcome {
            flows,
            log_fault: account.fault.or(log_fault),
            reports: comes_back
                .then(|| account.decoder.finish())
                .into_iter()
                .collect(),
        }
    }
}
