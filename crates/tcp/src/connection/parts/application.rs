//! What the application has written, and how much of it was sent.

use std::collections::VecDeque;

/// The application's side of the connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Application {
    /// Bytes that the application has had to send so far; `u64::MAX` for a source without end.
    pub(crate) offered: u64,
    /// Bytes of these that the socket has taken.
    pub(crate) written: u64,
    /// Payload bytes sent for the first time; the FIN is not counted.
    pub(crate) sent: u64,
    /// The application has closed its side.
    pub(crate) closed: bool,
    /// The FIN was sent.
    pub(crate) fin_sent: bool,
    /// The application reads data as soon as it arrives.
    pub(crate) auto_read: bool,
    /// Only full segments are sent.
    pub(crate) is_corked: bool,
    /// The last write said that more follows.
    pub(crate) has_more: bool,
    /// Segments that were held back go now.
    pub(crate) pushes: bool,
    /// Where the last segment ended that was not full.
    pub(crate) small_end: u32,
    /// Where records end, counted as `sent` is: no segment goes beyond the next one.
    pub(crate) record_ends: VecDeque<u64>,
}

impl Application {
    /// How much may go into the next segment of `unsent` bytes, and whether a record's end says so
    /// with more behind it.
    #[inline]
    pub(crate) fn in_record(&mut self, unsent: u64) -> (u64, bool) {
        if self.record_ends.is_empty() {
            return (unsent, false);
        }
        while self
            .record_ends
            .front()
            .is_some_and(|end| *end <= self.sent)
        {
            self.record_ends.pop_front();
        }
        match self.record_ends.front() {
            Some(end) if *end - self.sent < unsent => (*end - self.sent, true),
            _ => (unsent, false),
        }
    }

    /// Nothing written; data is read as soon as it arrives.
    pub(crate) fn new() -> Application {
        Application {
            auto_read: true,
            ..Application::default()
        }
    }
}
