//! The key that two ends share, and the proofs that they hold it.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt;
use std::io::{self, Read};

/// Bytes of a nonce and of a proof.
pub const NONCE_BYTES: usize = 16;
/// See [`NONCE_BYTES`].
pub(crate) const PROOF_BYTES: usize = 32;
/// The least length of a key, in bytes: what is shorter can be guessed.
pub const LEAST_KEY_BYTES: usize = 16;

/// Which end proves: so that neither can send the other's proof back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Who opens the channel.
    Sender,
    /// Who listens.
    Receiver,
}

/// A shared key.
#[derive(Clone)]
pub struct Key(Vec<u8>);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

impl Key {
    /// A key of these bytes; the white space around them is none of it. None where they are too
    /// few.
    pub fn new(bytes: &[u8]) -> Option<Key> {
        let bytes = bytes.trim_ascii();
        (bytes.len() >= LEAST_KEY_BYTES).then(|| Key(bytes.to_vec()))
    }

    fn code(
        &self,
        end: End,
        sender: &[u8; NONCE_BYTES],
        receiver: &[u8; NONCE_BYTES],
    ) -> Hmac<Sha256> {
        let mut code = Hmac::<Sha256>::new_from_slice(&self.0).expect("a key may have any length");
        code.update(match end {
            End::Sender => b"trammel sender",
            End::Receiver => b"trammel receiver",
        });
        code.update(sender);
        code.update(receiver);
        code
    }

    /// What `end` proves with that it holds the key, to whom both nonces are known.
    pub fn proof(
        &self,
        end: End,
        sender: &[u8; NONCE_BYTES],
        receiver: &[u8; NONCE_BYTES],
    ) -> [u8; PROOF_BYTES] {
        self.code(end, sender, receiver)
            .finalize()
            .into_bytes()
            .into()
    }

    /// Whether `proof` is the HMAC-SHA-256 of `text` under the key, in hexadecimal; takes the same
    /// time whatever is wrong with it.
    pub fn is_code_of(&self, text: &[u8], proof: &str) -> bool {
        let digits = proof.as_bytes().as_chunks::<2>();
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let byte = |pair: &[u8; 2]| Some((digit(pair[0])? << 4 | digit(pair[1])?) as u8);
        let bytes: Option<Vec<u8>> = digits.0.iter().map(byte).collect();
        let mut code = Hmac::<Sha256>::new_from_slice(&self.0).expect("a key may have any length");
        code.update(text);
        let bytes = bytes.filter(|_| digits.1.is_empty());
        bytes.is_some_and(|bytes| code.verify_slice(&bytes).is_ok())
    }

    /// Whether `proof` is that of `end`; takes the same time whatever is wrong with it.
    pub fn is_proven(
        &self,
        end: End,
        sender: &[u8; NONCE_BYTES],
        receiver: &[u8; NONCE_BYTES],
        proof: &[u8; PROOF_BYTES],
    ) -> bool {
        self.code(end, sender, receiver).verify_slice(proof).is_ok()
    }
}

/// Random bytes of the system's.
pub fn nonce() -> io::Result<[u8; NONCE_BYTES]> {
    let mut bytes = [0; NONCE_BYTES];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_key_end_and_nonces_prove() {
        let key = Key::new(b"  a key of sixteen.\n").expect("the key is long enough");
        let other = Key::new(b"another key of sixteen").expect("the key is long enough");
        assert!(Key::new(b" short \n").is_none());
        let (sender, receiver) = ([1; NONCE_BYTES], [2; NONCE_BYTES]);
        let proof = key.proof(End::Sender, &sender, &receiver);
        assert!(key.is_proven(End::Sender, &sender, &receiver, &proof));
        assert!(!key.is_proven(End::Receiver, &sender, &receiver, &proof));
        assert!(!key.is_proven(End::Sender, &receiver, &sender, &proof));
        assert!(!other.is_proven(End::Sender, &sender, &receiver, &proof));
        assert_eq!(format!("{key:?}"), "Key(…)");
    }

    // RFC 4231 §4.8, test case 7, whose key is long enough to be one here.
    #[test]
    fn a_code_is_that_of_the_standard() {
        let key = Key(vec![0xaa; 131]);
        let text = b"This is a test using a larger than block-size key and a larger than \
                     block-size data. The key needs to be hashed before being used by the HMAC \
                     algorithm.";
        let code = "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2";
        assert!(key.is_code_of(text, code));
        for wrong in [
            "",
            "9b",
            &code[1..],
            &code.replace('9', "8"),
            &format!("{code}00"),
            "é",
        ] {
            assert!(!key.is_code_of(text, wrong), "{wrong}");
        }
    }

    #[test]
    fn nonces_differ() {
        assert_ne!(
            nonce().expect("Linux has it"),
            nonce().expect("Linux has it")
        );
    }
}
