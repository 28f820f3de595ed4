//! Which records are decoded: by flow, by host and by time.

use crate::record::{LoggedFlow, Record};
use std::net::IpAddr;

/// All that is given has to hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// The numbers of flows; empty for all.
    pub flows: Vec<u32>,
    /// Hosts of which one is a flow's source or destination; empty for all. A flow that the log
    /// does not describe before its records is of no host.
    pub hosts: Vec<IpAddr>,
    /// Records whose second instant is at or after it, in nanoseconds since 1970. Numbers before
    /// the first such record are not missed.
    pub from_ns: Option<i64>,
    /// Records whose second instant is before it.
    pub until_ns: Option<i64>,
}

impl Filter {
    /// Whether the flow `number`, as far as it is described, is wanted.
    pub fn has_flow(&self, number: u32, flow: Option<&LoggedFlow>) -> bool {
        let has_host = || {
            let ends = flow.into_iter().flat_map(|flow| [flow.from, flow.to]);
            let mut hosts = ends.flatten().map(|address| address.ip().to_canonical());
            hosts.any(|host| {
                self.hosts
                    .iter()
                    .any(|wanted| wanted.to_canonical() == host)
            })
        };
        (self.flows.is_empty() || self.flows.contains(&number))
            && (self.hosts.is_empty() || has_host())
    }

    /// Whether it leaves a part of the time out.
    pub(crate) fn is_of_time(&self) -> bool {
        self.from_ns.is_some() || self.until_ns.is_some()
    }

    /// Whether the record's time is wanted.
    pub fn has_time(&self, record: &Record) -> bool {
        self.from_ns.is_none_or(|from| record.end_ns >= from)
            && self.until_ns.is_none_or(|until| record.end_ns < until)
    }
}
