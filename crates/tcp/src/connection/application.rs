//! The application's calls: writing, reading, closing.

use super::Connection;
use super::parts::status::State;
use crate::stack::EcnOption;
use trammel_core::time::{Span, Time};

impl Connection {
    /// Hands `bytes` more to be sent; nothing can follow a FIN.
    pub fn write(&mut self, bytes: u64) {
        if self.app.fin_sent {
            return;
        }
        self.app.offered = self.app.offered.saturating_add(bytes);
        self.take_from_application();
        self.app.has_more = false;
        self.output.new_data = true;
    }

    /// As [`write`](Connection::write) of an application that says that more follows (`MSG_MORE`):
    /// what does not fill a segment waits for the next write or ACK, a retransmission timeout at
    /// most.
    pub fn write_more(&mut self, bytes: u64) {
        self.write(bytes);
        self.app.has_more = true;
    }

    /// As [`write`](Connection::write) of an application that says that a record ends here
    /// (`MSG_EOR`): no segment carries data from both sides of its end.
    pub fn write_record(&mut self, bytes: u64) {
        self.write(bytes);
        if !self.app.fin_sent {
            self.app.record_ends.push_back(self.app.offered);
        }
    }

    /// Gives up data that is not acknowledged so long after its first retransmission (RFC 9293
    /// §3.9.1, USER TIMEOUT; `TCP_USER_TIMEOUT`); zero for the usual number of retransmissions.
    pub fn set_user_timeout(&mut self, timeout: Span) {
        self.timers.user_timeout_us = timeout.as_us();
    }

    /// Forgets the connection without a word: what comes is answered by a reset.
    pub fn discard(&mut self) {
        self.state = State::Closed;
        self.disarm_if_closed();
    }

    /// When the AccECN option is sent from now on (`tcp_ecn_option`).
    pub fn set_ecn_option(&mut self, option: EcnOption) {
        self.stack.ecn_option = option;
    }

    /// Sends full segments only until it is called with false (`TCP_CORK`); what does not fill one
    /// waits a retransmission timeout at most.
    pub fn set_cork(&mut self, cork: bool) {
        self.app.is_corked = cork;
        self.output.new_data |= !cork;
    }

    /// Turns Nagle's algorithm on or off (RFC 9293 §3.7.4; `TCP_NODELAY`). What is held back goes
    /// at once where it is turned off, a cork notwithstanding.
    pub fn set_nagle(&mut self, nagle: bool) {
        self.stack.nagle = nagle;
        self.app.pushes |= !nagle;
        self.output.new_data |= !nagle;
    }

    /// Makes the application a source without end.
    pub fn write_forever(&mut self) {
        self.write(u64::MAX);
    }

    /// Turns a source without end into one that has written just what was sent.
    pub fn stop_writing(&mut self) {
        (self.app.offered, self.app.written) = (self.app.sent, self.app.sent);
    }

    /// Bytes handed over and not yet sent; `u64::MAX` for a source without end.
    pub fn unsent(&self) -> u64 {
        if self.app.offered == u64::MAX {
            u64::MAX
        } else {
            self.app.offered - self.app.sent
        }
    }

    /// Whether the application reads what comes as soon as it comes (the default).
    pub fn set_auto_read(&mut self, auto_read: bool) {
        self.app.auto_read = auto_read;
    }

    /// Bytes waiting for the application.
    pub fn readable(&self) -> u32 {
        self.receiver.readable()
    }

    /// The application reads up to `most` bytes at `now`; returns how many there were.
    pub fn read(&mut self, now: Time, most: u32) -> u32 {
        let bytes = self.receiver.read(now, most);
        if bytes > 0 {
            self.receiver.after_read();
        }
        bytes
    }

    /// Whether the application can write no more: it has closed its side, or the connection is
    /// over.
    pub fn is_writing_over(&self) -> bool {
        self.app.closed || self.app.fin_sent || self.state == State::Closed
    }

    /// Closes the application's side as soon as all that was written has been sent, also before the
    /// connection is established.
    pub fn close_when_written(&mut self) {
        self.app.closed = true;
        self.output.new_data = true;
    }

    /// Whether nothing is in flight and nothing waits to be sent.
    pub fn is_idle(&self) -> bool {
        self.board.is_empty() && self.unsent() == 0
    }

    /// Whether everything written was acknowledged.
    pub fn all_acked(&self) -> bool {
        self.app.offered != u64::MAX
            && self.tp.bytes_acked >= self.app.offered
            && (!self.app.closed || self.fin_acked())
    }
}
