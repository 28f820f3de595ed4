//! Whether the books of a network balance: what came went somewhere, and nothing is more than was
//! sent.

use super::Network;

impl Network {
    /// The first account that does not balance, in words. No packet may appear from nowhere or be
    /// forgotten, on any link or in a device; no flow or stream may deliver more than it was sent.
    /// Holds at every instant.
    pub fn audit(&mut self) -> Result<(), String> {
        for link in self.links.iter() {
            let (c, name) = (link.counters(), &link.name);
            let held = u64::from(link.queued());
            if c.arrived_pkts != c.sent_pkts + c.overflow_pkts + c.early_pkts + held {
                return Err(format!(
                    "link `{name}`: arrived is not sent, dropped and {held} queued: {c:?}"
                ));
            }
            let in_pipe = link.in_pipe() as u64;
            if c.sent_pkts != c.delivered_pkts + c.lost_pkts + in_pipe {
                return Err(format!(
                    "link `{name}`: sent is not delivered, lost and {in_pipe} under way: {c:?}"
                ));
            }
        }
        for placed in self.middleboxes.iter_mut() {
            let (entered, left) = (placed.entered, placed.let_out);
            let held = placed.held.iter().flatten().count() as u64;
            if entered != left + held {
                return Err(format!(
                    "a device: {entered} packets came, {left} left and {held} did not"
                ));
            }
            placed.middlebox.audit()?;
        }
        for (index, flow) in self.traffic.flows.entries_mut() {
            flow.update_result();
            let flow = &flow.result;
            // A FIN takes a sequence number, which is delivered by none and acknowledged by some.
            if flow.bytes_delivered > flow.sender.bytes_sent
                || flow.bytes_acked > flow.bytes_delivered + 1
            {
                return Err(format!("flow {index} got more than it was sent: {flow:?}"));
            }
        }
        for (index, stream) in self.traffic.streams.entries() {
            if stream.received_pkts > stream.sent_pkts || stream.received_bytes > stream.sent_bytes
            {
                return Err(format!("stream {index} got more than it was sent"));
            }
        }
        Ok(())
    }
}
