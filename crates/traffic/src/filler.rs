//! What packets are filled with behind their heads: the same bytes in each, or the next piece of a
//! file.

/// Bytes of packets from their first on. Heads are written over the first of them.
#[derive(Clone, Debug)]
pub struct Filler {
    bytes: Vec<u8>,
    pieces: Option<Pieces>,
}

/// A file that packets take their turn of: each goes on where the one before ended. The last piece
/// of the file is followed by zeroes, and the next packet begins the file anew, as with ITGSend's
/// `-Fp`.
#[derive(Clone, Debug)]
struct Pieces {
    file: Vec<u8>,
    /// Bytes of a packet before its piece.
    head: usize,
    at: usize,
}

impl Filler {
    /// All packets are filled with `bytes`, which are as many as the longest has.
    #[must_use]
    pub fn same(bytes: Vec<u8>) -> Filler {
        Filler {
            bytes,
            pieces: None,
        }
    }

    /// Each packet, of at most `most` bytes, carries the next piece of `file` behind its first
    /// `head` bytes.
    #[must_use]
    pub fn pieces(file: Vec<u8>, head: usize, most: usize) -> Filler {
        let pieces = (!file.is_empty()).then_some(Pieces { file, head, at: 0 });
        Filler {
            bytes: vec![0; most],
            pieces,
        }
    }

    /// The same behind `more` further bytes, which are zeroes.
    #[must_use]
    pub fn behind(&self, more: usize) -> Filler {
        Filler {
            bytes: [&vec![0; more], self.bytes.as_slice()].concat(),
            pieces: self.pieces.clone().map(|pieces| Pieces {
                head: pieces.head + more,
                ..pieces
            }),
        }
    }

    /// How many packets may share what [`Filler::next`] gives.
    #[must_use]
    pub fn at_once(&self) -> usize {
        if self.pieces.is_some() { 1 } else { usize::MAX }
    }

    /// The bytes of the next packet, which has `length` of them, or of the next ones where they
    /// share theirs.
    pub fn next(&mut self, length: usize) -> &[u8] {
        if let Some(pieces) = &mut self.pieces {
            let end = length.min(self.bytes.len());
            let room = self.bytes.get_mut(pieces.head..end).unwrap_or_default();
            let left = &pieces.file[pieces.at..];
            let count = left.len().min(room.len());
            room[..count].copy_from_slice(&left[..count]);
            room[count..].fill(0);
            pieces.at = (pieces.at + count) % pieces.file.len();
        }
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_goes_on_from_packet_to_packet_and_begins_anew_after_its_end() {
        let mut filler = Filler::pieces(b"ABCDEFGHIJ".to_vec(), 2, 8);
        assert_eq!(filler.at_once(), 1);
        let mut piece = |length| filler.next(length)[2..length].to_vec();
        assert_eq!(piece(8), b"ABCDEF");
        assert_eq!(piece(8), b"GHIJ\0\0");
        assert_eq!(piece(7), b"ABCDE");
        // One that ends with the file is followed by its beginning.
        assert_eq!(piece(7), b"FGHIJ");
        assert_eq!(piece(4), b"AB");
        assert_eq!(piece(2), b"");
        assert_eq!(piece(3), b"C");
    }

    #[test]
    fn a_packet_that_is_no_longer_than_its_head_takes_nothing() {
        let mut filler = Filler::pieces(b"AB".to_vec(), 4, 8).behind(2);
        assert_eq!(filler.next(3), [0; 10]);
        assert_eq!(&filler.next(8)[6..8], b"AB");
        let mut same = Filler::same(vec![7; 4]);
        assert_eq!((same.at_once(), same.next(2)), (usize::MAX, &[7; 4][..]));
    }
}
