//! What limits the sender, and how much of its congestion window it uses (RFC 7661 §3).

/// What keeps a sender from sending more, as of its last attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bound {
    /// Nothing so far, or nothing is left to send.
    #[default]
    Application,
    /// The congestion window.
    Window,
    /// The congestion window, at the bound that the user has set.
    Clamp,
    /// The window that the peer offers.
    PeerWindow,
    /// The send buffer.
    SendBuffer,
    /// Pacing.
    Pacing,
}

/// Use of the congestion window.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WindowUsage {
    /// What kept the sender from sending more at its last attempt.
    pub(crate) bound: Bound,
    /// `snd_nxt` when the present measurement began.
    pub(crate) round_end: u32,
    /// Most segments outstanding since the window was last used in full.
    pub(crate) used: u32,
    /// When the window was last used in full or reduced for not being used, µs.
    pub(crate) stamp_us: u64,
}

impl WindowUsage {
    /// Nothing sent but a SYN numbered `iss`.
    pub(crate) fn new(iss: u32) -> WindowUsage {
        WindowUsage {
            round_end: iss,
            ..WindowUsage::default()
        }
    }
}
