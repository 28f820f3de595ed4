//! The window that the peer offers (RFC 9293 §3.3.1).

/// The peer's receive window.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PeerWindow {
    /// Bytes offered (`SND.WND`).
    pub(crate) size: u32,
    /// Shift of the window field (RFC 7323 §2.2).
    pub(crate) scale: u8,
    /// Sequence number of the segment that last updated the window (`SND.WL1`).
    pub(crate) updated_by: u32,
    /// Largest window offered so far, bytes (`MAX.SND.WND`).
    pub(crate) largest: u32,
}
