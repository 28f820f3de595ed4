//! Words that nobody guesses.

use std::io::{self, Read};

/// Bytes of a token: too many to guess.
const BYTES: usize = 16;

/// Draws one: 128 random bits, in hexadecimal.
///
/// # Errors
/// The machine gives no random numbers.
pub fn draw() -> io::Result<String> {
    let mut bytes = [0; BYTES];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Whether two words are equal, in a time that depends on their lengths only. An empty one equals
/// nothing.
pub fn is_equal(one: &str, other: &str) -> bool {
    let pairs = one.bytes().zip(other.bytes());
    let differences = pairs.fold(0, |all, (a, b)| std::hint::black_box(all | (a ^ b)));
    !one.is_empty() && one.len() == other.len() && differences == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_equals_itself_alone() {
        let (one, other) = (draw().unwrap(), draw().unwrap());
        assert_eq!(one.len(), 2 * BYTES);
        assert!(is_equal(&one, &one.clone()));
        for wrong in ["", &other, &one[1..]] {
            assert!(!is_equal(wrong, &one), "{wrong}");
        }
        assert!(!is_equal("", ""));
    }
}
