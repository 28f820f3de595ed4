//! Where D-ITG's messages begin and end in a stream of TCP.

use super::command::Metadata;
use super::signalling::{Head, flow_of, head_length};
use crate::record::{MOST_BYTES, Protocol};

/// Cuts a stream of bytes into messages that begin with a head.
#[derive(Debug, Default)]
pub struct Framing {
    /// The head that is being read, as far as it has come.
    head: Vec<u8>,
    /// The message that is being read, and what of it is still to come.
    open: Option<(Head, usize)>,
    /// Something was no message.
    pub is_wrong: bool,
}

impl Framing {
    /// Whether the next byte is the first of a message.
    pub fn is_between(&self) -> bool {
        self.head.is_empty() && self.open.is_none() && !self.is_wrong
    }

    fn take(&mut self, left: &mut &[u8], whole: usize) -> bool {
        let count = whole.saturating_sub(self.head.len()).min(left.len());
        self.head.extend_from_slice(&left[..count]);
        *left = &left[count..];
        self.head.len() >= whole
    }

    /// The head of the next whole message of `left`, which loses what was read; `metadata` tells
    /// what the payloads of a flow begin with, if it is one.
    pub fn next(
        &mut self,
        left: &mut &[u8],
        metadata: &dyn Fn(u32) -> Option<Metadata>,
    ) -> Option<Head> {
        if self.is_wrong {
            *left = &[];
            return None;
        }
        if self.open.is_none() {
            if !self.take(left, size_of::<u32>()) {
                return None;
            }
            let kind = flow_of(&self.head).and_then(metadata);
            let length = head_length(kind.unwrap_or_default(), Protocol::Tcp);
            if kind.is_some() && !self.take(left, length) {
                return None;
            }
            let head = kind.and_then(|kind| Head::decode(&self.head, kind, Protocol::Tcp));
            self.head.clear();
            let rest = head.and_then(|head| {
                let bytes = head.bytes.filter(|bytes| *bytes < MOST_BYTES)?;
                (bytes as usize).checked_sub(length)
            });
            let (Some(head), Some(rest)) = (head, rest) else {
                self.is_wrong = true;
                *left = &[];
                return None;
            };
            self.open = Some((head, rest));
        }
        let (head, missing) = self.open.as_mut()?;
        let count = (*missing).min(left.len());
        *left = &left[count..];
        *missing -= count;
        let whole = (*missing == 0).then_some(*head)?;
        self.open = None;
        Some(whole)
    }
}
