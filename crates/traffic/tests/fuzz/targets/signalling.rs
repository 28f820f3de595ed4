//! Whatever comes on the signalling channel is messages or refused; a message is written as it was
//! read, and none waits for more bytes than the longest has.

use trammel_traffic::signal::message::{MOST_BLOCK_BYTES, Message};

pub(crate) fn run(bytes: &[u8]) {
    let mut left = bytes;
    loop {
        match Message::read(left) {
            Ok(Some((message, length))) => {
                let mut again = Vec::new();
                message.write(&mut again);
                assert_eq!(again, left[..length]);
                left = &left[length..];
            }
            Ok(None) => {
                assert!(left.len() < 4 + 1 + MOST_BLOCK_BYTES);
                return;
            }
            Err(why) => {
                assert!(!why.to_string().is_empty());
                return;
            }
        }
    }
}
