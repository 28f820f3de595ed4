//! What queues the packets of a job's ways: how many wait there, what was counted, and what their
//! rates become.

use super::network::Network;
use super::result::Result;
use crate::job::{GuestJob, QueueCounts};
use trammel_io::qdisc::{Kind, Tbf};

/// The queues of a job's network. A place is a wire and which of its ends.
pub trait Queues {
    /// Packets that wait there, and their bytes.
    fn waiting(&mut self, place: (usize, usize)) -> Result<(u32, u32)>;

    /// What it has counted.
    fn counts(&mut self, place: (usize, usize)) -> Result<QueueCounts>;

    /// Changes its rate.
    fn change(&mut self, place: (usize, usize), bucket: Tbf) -> Result<()>;
}

/// Those of the kernel, at the ends of a network's wires.
pub(super) struct OfKernel<'a> {
    pub(super) job: &'a GuestJob,
    pub(super) network: &'a Network,
}

impl Queues for OfKernel<'_> {
    fn waiting(&mut self, (wire, end): (usize, usize)) -> Result<(u32, u32)> {
        let host = &self.network.hosts[self.job.wires[wire].ends[end]];
        let counters = host.qdisc_counters(self.network.interfaces[wire][end], false)?;
        Ok((counters.waiting, counters.waiting_bytes))
    }

    fn counts(&mut self, (wire, end): (usize, usize)) -> Result<QueueCounts> {
        let host = &self.network.hosts[self.job.wires[wire].ends[end]];
        let interface = self.network.interfaces[wire][end];
        let own = host.qdisc_counters(interface, false)?;
        // What is dropped is told by the outer one too, what is marked by the inner one only.
        let marks = match self.job.wires[wire].ways[end].inner {
            Some(_) => host.qdisc_counters(interface, true)?.marks,
            None => own.marks,
        };
        Ok(QueueCounts {
            sent: own.sent,
            sent_bytes: own.sent_bytes,
            drops: own.drops,
            marks,
        })
    }

    fn change(&mut self, (wire, end): (usize, usize), bucket: Tbf) -> Result<()> {
        let host = &self.network.hosts[self.job.wires[wire].ends[end]];
        let interface = self.network.interfaces[wire][end];
        Ok(host.change_qdisc_of(interface, &Kind::Tbf(bucket))?)
    }
}
