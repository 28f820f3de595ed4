//! What queues the packets of a job's ways: how many wait there, what was counted, and what their
//! rates become.

use super::network::{Network, address, name};
use super::result::Result;
use crate::job::{Change, GuestJob, QueueCounts};
use std::collections::BTreeMap;
use std::net::UdpSocket;
use trammel_io::qdisc::Kind;

/// The queues of a job's network. A place is a wire and which of its ends.
pub trait Queues {
    /// Packets that wait there, and their bytes.
    fn waiting(&mut self, place: (usize, usize)) -> Result<(u32, u32)>;

    /// What it has counted.
    fn counts(&mut self, place: (usize, usize)) -> Result<QueueCounts>;

    /// How long the oldest packets of its two queues have waited, us, where it has two.
    fn ages_us(&mut self, _place: (usize, usize)) -> Result<Option<[u32; 2]>> {
        Ok(None)
    }

    /// Changes it.
    fn change(&mut self, place: (usize, usize), change: &Change) -> Result<()>;
}

/// Those of the kernel, at the ends of a network's wires.
pub(super) struct OfKernel<'a> {
    job: &'a GuestJob,
    network: &'a Network,
    /// What was counted of marks by inner disciplines that are gone.
    marks: BTreeMap<(usize, usize), u64>,
}

/// The port that nothing listens at (`discard`).
const NOBODY: u16 = 9;

impl<'a> OfKernel<'a> {
    pub(super) fn new(job: &'a GuestJob, network: &'a Network) -> OfKernel<'a> {
        OfKernel {
            job,
            network,
            marks: BTreeMap::new(),
        }
    }
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
        let inner = match self.job.wires[wire].ways[end].inner {
            Some(_) => host.qdisc_counters(interface, true)?,
            None => own,
        };
        let emptied = self.marks.get(&(wire, end)).copied().unwrap_or_default();
        let policed = match self.job.wires[wire].ways[end].police {
            Some(_) => host.policed(interface)?,
            None => 0,
        };
        Ok(QueueCounts {
            sent: own.sent,
            sent_bytes: own.sent_bytes,
            drops: own.drops + policed,
            marks: emptied + inner.marks,
            sides: inner.sides.map(|sides| sides.map(|(packets, _)| packets)),
        })
    }

    fn ages_us(&mut self, (wire, end): (usize, usize)) -> Result<Option<[u32; 2]>> {
        let way = &self.job.wires[wire].ways[end];
        if !matches!(way.inner, Some(Kind::DualPi2(_))) {
            return Ok(None);
        }
        let host = &self.network.hosts[self.job.wires[wire].ends[end]];
        let counters = host.qdisc_counters(self.network.interfaces[wire][end], true)?;
        Ok(counters.sides.map(|sides| sides.map(|(_, age_us)| age_us)))
    }

    fn change(&mut self, (wire, end): (usize, usize), change: &Change) -> Result<()> {
        let host = &self.network.hosts[self.job.wires[wire].ends[end]];
        let interface = self.network.interfaces[wire][end];
        match change {
            Change::Options(kind) => host.change_qdisc_of(interface, kind)?,
            Change::Empty => {
                if let Some(inner) = &self.job.wires[wire].ways[end].inner {
                    let marks = host.qdisc_counters(interface, true)?.marks;
                    *self.marks.entry((wire, end)).or_default() += marks;
                    host.empty_inner_qdisc(&name(wire), inner)?;
                }
            }
            Change::Look => {
                let socket = host.run(|| UdpSocket::bind((address(wire, end), 0)))?;
                // One that finds the queue full has it looked at all the same.
                let _ = socket.send_to(&[0], (address(wire, 1 - end), NOBODY));
            }
        }
        Ok(())
    }
}
