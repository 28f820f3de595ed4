//! Sample frames: from a capture, or the plain one that RFC 2544's addresses make.

use super::frames;
use super::traffic::TEMPLATES;
use std::fs::File;
use trammel_packet::capture::Reader;

/// A UDP datagram between two networks of 198.18.0.0/15 (RFC 2544, §12 and appendix C.2.2).
pub fn plain() -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
    frame.extend([0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0]);
    frame.extend([198, 18, 0, 1, 198, 19, 0, 1]);
    // The echo port's next neighbour, discard, as source and as destination.
    frame.extend([0, 9, 0, 9, 0, 0, 0, 0]);
    frame.resize(60, 0);
    frames::mend(&mut frame);
    frame
}

/// A UDP datagram over IPv6 between two networks of 2001:2::/48 (RFC 5180 §8), 66 bytes long with
/// its FCS, which are the fewest.
pub fn plain6() -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x86, 0xdd];
    frame.extend([0x60, 0, 0, 0, 0, 0, 17, 64]);
    for side in [0, 0x80] {
        frame.extend([0x20, 1, 0, 2, 0, 0, side, 1, 0, 0, 0, 0, 0, 0, 0, 2]);
    }
    frame.extend([0, 9, 0, 9, 0, 0, 0, 0]);
    frames::mend(&mut frame);
    frame
}

/// The first frames of a capture that differ. The error is a sentence.
pub fn of_capture(path: &str) -> Result<Vec<Vec<u8>>, String> {
    let why = |error: &dyn std::fmt::Display| format!("{path}: {error}");
    let file = File::open(path).map_err(|error| why(&error))?;
    let mut reader = Reader::new(file).map_err(|error| why(&error))?;
    let mut samples: Vec<Vec<u8>> = Vec::new();
    while samples.len() < TEMPLATES {
        let Some(frame) = reader.next_frame().map_err(|error| why(&error))? else {
            break;
        };
        if frame.data.len() >= 14 && !samples.iter().any(|known| known == frame.data) {
            samples.push(frame.data.to_vec());
        }
    }
    if samples.is_empty() {
        return Err(format!(
            "{path}: it has no frame; give a capture with at least one"
        ));
    }
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plain_frame_is_right() {
        let frame = plain();
        let mut right = frame.clone();
        frames::mend(&mut right);
        assert_eq!((frame.len(), frames::least(&frame)), (60, 46));
        assert_eq!(frame, right);
        let frame = plain6();
        let mut right = frame.clone();
        frames::mend(&mut right);
        assert_eq!((frame.len(), frames::least(&frame)), (62, 66));
        assert_eq!(frame, right);
    }
}
