//! What the handshake settles: initial sequence number and options.

/// The handshake of this end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Handshake {
    /// Initial sequence number.
    pub(crate) iss: u32,
    /// The peer opened the connection.
    pub(crate) is_passive: bool,
    /// When the first SYN was sent, µs.
    pub(crate) syn_sent_us: u64,
    /// SACK was agreed on (RFC 2018).
    pub(crate) sack: bool,
    /// Timestamps were agreed on (RFC 7323).
    pub(crate) timestamps: bool,
    /// Window scaling was agreed on (RFC 7323).
    pub(crate) scaling: bool,
}

impl Handshake {
    /// Nothing agreed on yet.
    pub(crate) fn new(iss: u32) -> Handshake {
        Handshake {
            iss,
            ..Handshake::default()
        }
    }
}
