//! States of a connection, and why it failed.

/// The states of RFC 9293 §3.3.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No connection.
    Closed,
    /// Waiting for a SYN.
    Listen,
    /// A SYN was sent.
    SynSent,
    /// A SYN was received and answered.
    SynReceived,
    /// Data flows.
    Established,
    /// Our FIN was sent.
    FinWait1,
    /// Our FIN was acknowledged.
    FinWait2,
    /// The peer's FIN came first.
    CloseWait,
    /// Both FINs crossed.
    Closing,
    /// Our FIN follows the peer's.
    LastAck,
    /// Waiting for stray segments to die.
    TimeWait,
}

/// Why a connection ended before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The peer reset it.
    #[error("connection reset by peer")]
    Reset,
    /// The peer refused it.
    #[error("connection refused")]
    Refused,
    /// Retransmissions went unanswered.
    #[error("connection timed out")]
    TimedOut,
}
