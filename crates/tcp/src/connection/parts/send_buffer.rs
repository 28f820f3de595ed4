//! Size of a socket's send buffer.

/// A socket's send buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SendBuffer {
    /// Bytes of memory; [`u64::MAX`] never binds.
    pub(crate) size: u64,
    /// What it may grow to.
    pub(crate) most: u64,
    /// The application sleeps until there is room.
    pub(crate) is_full: bool,
}

impl SendBuffer {
    pub(crate) fn new(stack: &crate::stack::Stack) -> SendBuffer {
        SendBuffer {
            size: stack.send_buffer,
            most: stack.max_send_buffer.max(stack.send_buffer),
            is_full: false,
        }
    }

    /// Whether it may bind.
    #[inline]
    pub(crate) fn is_limited(&self) -> bool {
        self.size != u64::MAX
    }
}
