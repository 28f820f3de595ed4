//! What is counted around an element's calls.

use crate::reason;

/// What was counted around an element's calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counters {
    /// Packets given to it or asked of it.
    pub packets: u64,
    /// Of these, packets that others asked it for and got.
    pub asked: u64,
    /// Calls that pushed or pulled packets.
    pub batches: u64,
    /// Packets that it asked others for and got.
    pub pulled: u64,
    /// Times that it asked.
    pub pulls: u64,
    /// Cycles spent in it, those in what it pulled from left out; 0 unless asked for. Of its tasks
    /// and timers those turns count that moved a packet.
    pub cycles: u64,
    /// Calls and turns that took so long that something else had the processor meanwhile: their
    /// cycles are left out.
    pub interrupted: u64,
    /// Bytes of the packets that were given to it or asked of it; 0 unless asked for.
    pub bytes: u64,
    /// Of these, those of packets that others asked it for and got.
    pub asked_bytes: u64,
    /// Bytes of the packets that it asked others for; 0 unless asked for.
    pub pulled_bytes: u64,
    /// What its tasks and timers emitted; nothing unless asked for.
    pub started: Started,
    /// Packets that ended here, by reason.
    pub drops: [u64; reason::COUNT],
}

impl Counters {
    /// Packets and bytes that came to an element, each once, pushed to it or pulled by it; of one
    /// without inputs, what it made. Those of a turn of its own, and bytes, are known only where
    /// the run counts them.
    pub fn handled(&self, has_inputs: bool) -> (u64, u64) {
        if has_inputs {
            let packets = self.packets - self.asked + self.pulled;
            (packets, self.bytes - self.asked_bytes + self.pulled_bytes)
        } else {
            let own = &self.started;
            (own.packets + self.asked, own.bytes + self.asked_bytes)
        }
    }
}

/// Packets that an element emitted in turns of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Started {
    /// How many.
    pub packets: u64,
    /// Batches that they left in.
    pub batches: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Turns that moved a packet, pulled ones included.
    pub turns: u64,
}

impl Default for Counters {
    fn default() -> Counters {
        Counters {
            packets: 0,
            asked: 0,
            batches: 0,
            pulled: 0,
            pulls: 0,
            cycles: 0,
            interrupted: 0,
            bytes: 0,
            asked_bytes: 0,
            pulled_bytes: 0,
            started: Started::default(),
            drops: [0; reason::COUNT],
        }
    }
}
