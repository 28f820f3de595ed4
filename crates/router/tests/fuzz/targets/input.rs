//! What a fuzzer's bytes are read as: numbers and pieces from the front, zeros where they end.

/// Bytes that are left.
pub(crate) struct Input<'a>(pub(crate) &'a [u8]);

impl<'a> Input<'a> {
    /// Whether none is left.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn u8(&mut self) -> u8 {
        let [byte] = self.bytes();
        byte
    }

    pub(crate) fn u16(&mut self) -> u16 {
        u16::from_be_bytes(self.bytes())
    }

    pub(crate) fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        let piece = self.piece(N);
        bytes[..piece.len()].copy_from_slice(piece);
        bytes
    }

    /// Up to `len` bytes.
    pub(crate) fn piece(&mut self, len: usize) -> &'a [u8] {
        let (piece, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        piece
    }

    /// One of `of`, which are some.
    pub(crate) fn pick<'b, T>(&mut self, of: &'b [T]) -> &'b T {
        &of[usize::from(self.u8()) % of.len()]
    }
}
