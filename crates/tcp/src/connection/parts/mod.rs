//! The state of a connection in named parts; what moves them lies beside this folder.
//!
//! | file | part |
//! | --- | --- |
//! | `status` | states of RFC 9293, and why a connection failed |
//! | `counters` | counters of one connection |
//! | `application` | what the application has written, and how much of it was sent |
//! | `accurate` | accurate ECN: what was agreed on, counted and reported |
//! | `arrivals` | when segments arrived, and whether they were ECN-capable |
//! | `handshake` | initial sequence number, options agreed on |
//! | `peer_window` | the window that the peer offers |
//! | `send_buffer` | memory of the socket for what is written and not acknowledged |
//! | `usage` | what limits the sender, and how much of its window it uses |
//! | `burst` | the burst that is leaving: super-segments and pacing |
//! | `sack` | what the receiver has reported out of order |
//! | `rtt` | round-trip time and retransmission timeout |
//! | `rate` | delivery-rate samples |
//! | `rack` | RACK's clock and reordering window |
//! | `recovery` | recovery point, undo, window reduction, reordering |
//! | `timers` | the transmit timer and its back-offs, the tail loss probe |
//! | `ack_news` | what the ACK in hand reports |
//! | `output` | what `poll_transmit` has still to look at |

pub(super) mod accurate;
pub(super) mod ack_news;
pub(super) mod application;
pub(super) mod arrivals;
pub(super) mod burst;
pub(super) mod counters;
pub(super) mod handshake;
pub(super) mod output;
pub(super) mod peer_window;
pub(super) mod rack;
pub(super) mod rate;
pub(super) mod recovery;
pub(super) mod rtt;
pub(super) mod sack;
pub(super) mod send_buffer;
pub(super) mod status;
pub(super) mod timers;
pub(super) mod usage;
