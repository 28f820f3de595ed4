//! Whether the books of a network balance: what came went somewhere, and nothing is more than was sent.

use super::Network;
use trammel_core::time::Time;

impl Network {
    /// The first account that does not balance, in words. No packet may appear from nowhere or be forgotten,
    /// on any link; no flow or stream may deliver more than it was sent. Holds at every instant.
    pub fn audit(&mut self) -> Result<(), String> {
        for index in 0..self.links.len() {
            let link = &self.links[index];
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
        for index in 0..self.flows.len() {
            self.flows[index].update_result();
            let flow = &self.flows[index].result;
            // A FIN takes a sequence number, which is delivered by none and acknowledged by some.
            if flow.bytes_delivered > flow.sender.bytes_sent
                || flow.bytes_acked > flow.bytes_delivered + 1
            {
                return Err(format!("flow {index} got more than it was sent: {flow:?}"));
            }
        }
        for (index, stream) in self.streams.iter().enumerate() {
            if stream.received_pkts > stream.sent_pkts || stream.received_bytes > stream.sent_bytes
            {
                return Err(format!("stream {index} got more than it was sent"));
            }
        }
        Ok(())
    }
}

/// Things that may happen at one instant before time is held to stand still: more than any scenario has
/// connections, each with a window to send.
const MOST_AT_ONCE: u32 = 20_000_000;

/// Notices, where debug assertions are on, that time does not go on.
#[derive(Debug, Default)]
pub(super) struct Standstill {
    at: Time,
    turns: u32,
}

impl Standstill {
    /// Something happens at `now`.
    pub(super) fn note(&mut self, now: Time) {
        if self.at == now {
            self.turns += 1;
            assert!(self.turns < MOST_AT_ONCE, "time stands still at {now}");
        } else {
            *self = Standstill { at: now, turns: 0 };
        }
    }
}
