//! What a program with libITG tells a sender that waits for it (`ITGSend -Q`), and what it hears,
//! in datagrams of UDP port 8998.
//!
//! An order is the text of a command line, as `DITGsend` takes it. An answer is what
//! `catchManagerMsg` reads: a number of four bytes, 1 where a flow begins and 2 where it has ended,
//! another one, how long the text is that follows, and the order's text. Both numbers are in the
//! order of bytes of the machine: libITG reads them from its memory.
//!
//! Differs from ITGSend 2.8.1: its first answer has the byte 01, a byte of the text, the length in
//! two bytes and again text where two numbers should be, and lacks the text's last five bytes, so
//! that libITG reads no 1; ours is as its second, and as documented.

/// The daemon's UDP port.
pub const PORT: u16 = 8998;
/// The longest order, bytes, as the original's.
pub const MOST_BYTES: usize = 1457;
/// The longest text of an answer, bytes: libITG has room for 300 with the numbers and a closing
/// zero.
pub const MOST_ANSWER: usize = 291;

/// What an order's sender hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The flow begins.
    Begins,
    /// It has ended.
    Ended,
}

impl Answer {
    /// The answer to an order, with as much of its text as libITG has room for.
    #[must_use]
    pub fn to(self, order: &str) -> Vec<u8> {
        let number: u32 = match self {
            Answer::Begins => 1,
            Answer::Ended => 2,
        };
        let text = &order.as_bytes()[..order.len().min(MOST_ANSWER)];
        let mut bytes = number.to_ne_bytes().to_vec();
        bytes.extend((text.len() as u32).to_ne_bytes());
        bytes.extend(text);
        bytes
    }
}

/// The text of an order: what the datagram holds up to a zero or the end of a line. None if it is
/// no text.
#[must_use]
pub fn order(datagram: &[u8]) -> Option<&str> {
    let end = datagram.iter().position(|byte| b"\0\r\n".contains(byte));
    let text = std::str::from_utf8(&datagram[..end.unwrap_or(datagram.len())]).ok()?;
    Some(text.trim()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_answered_as_captured() {
        // Of ITGSend 2.8.1 on x86-64.
        let mut captured = vec![2, 0, 0, 0, 0x29, 0, 0, 0];
        let text = "-a 127.0.0.1 -rp 10001 -C 100 -c 100 -z 5";
        captured.extend(text.as_bytes());
        if cfg!(target_endian = "little") {
            assert_eq!(Answer::Ended.to(text), captured);
        }
        assert_eq!(Answer::Begins.to(&"x".repeat(1000)).len(), 8 + MOST_ANSWER);
    }

    #[test]
    fn an_order_is_a_line() {
        assert_eq!(order(b"-a ::1 -C 10\n"), Some("-a ::1 -C 10"));
        assert_eq!(order(b"-a ::1\0rest"), Some("-a ::1"));
        for none in [&b""[..], b"\n", b" ", b"\xff\xfe"] {
            assert_eq!(order(none), None);
        }
    }
}
