//! What sends and receives frames: the boundary between the router and the machine.

use crate::batch::Packets;
use crate::pool::Pool;
use std::fmt::Debug;

/// What a device counts of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceCounters {
    /// Frames that came in.
    pub received: u64,
    /// Frames that went out.
    pub sent: u64,
    /// Frames that the device lost before they were read, as far as it tells.
    pub receive_drops: u64,
    /// Frames that it took and could not send.
    pub send_errors: u64,
}

/// A source and sink of frames. No method blocks.
pub trait Device: Debug + Send {
    /// The name in messages: `eth0`.
    fn name(&self) -> &str;

    /// Its Ethernet address, where it has one.
    fn mac(&self) -> Option<[u8; 6]> {
        None
    }

    /// Appends what has come to `into`, as far as it has room, and says how many.
    fn receive(&mut self, pool: &mut Pool, into: &mut Packets) -> std::io::Result<usize>;

    /// Takes packets from the front of `from` for sending; those it has no room for stay. Says how
    /// many.
    fn transmit(&mut self, pool: &mut Pool, from: &mut Packets) -> std::io::Result<usize>;

    /// Hands over what `transmit` gathered. Called when a task has nothing more to send at once.
    fn flush(&mut self, pool: &mut Pool) -> std::io::Result<()> {
        let _ = pool;
        Ok(())
    }

    /// Packets that were taken and could not be handed over yet; `flush` tries again.
    fn unsent(&self) -> usize {
        0
    }

    /// The descriptor that can be written when there is room for what is unsent, where there is
    /// one.
    fn send_descriptor(&self) -> Option<i32> {
        self.descriptor()
    }

    /// The descriptor to wait on for frames, where there is one; devices without one are polled.
    fn descriptor(&self) -> Option<i32> {
        None
    }

    /// Whether no further frame will ever come, as at the end of a file.
    fn is_exhausted(&self) -> bool {
        false
    }

    /// Gives every packet that it holds back to the pool; it receives and sends no more. A device
    /// that is dropped without this loses their slots, as when the pool goes with it.
    fn close(&mut self, pool: &mut Pool) {
        let _ = pool;
    }

    /// Its counters.
    fn counters(&self) -> DeviceCounters;

    /// Remarks for the user: what was asked for and not got.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }
}
