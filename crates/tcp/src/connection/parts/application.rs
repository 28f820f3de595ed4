//! What the application has written, and how much of it was sent.

/// The application's side of the connection.
#[derive(Clone, Copy, Debug, Default)]
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
}

impl Application {
    /// Nothing written; data is read as soon as it arrives.
    pub(crate) fn new() -> Application {
        Application {
            auto_read: true,
            ..Application::default()
        }
    }
}
