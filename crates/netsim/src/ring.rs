//! A first-in-first-out ring whose next place can be written before it is known whether it will be
//! used.
//!
//! A packet is written where it will lie in the pipe and is read from there: copying it out of the
//! small writes that made it would stall the processor until they have reached the cache.

/// A queue over a power-of-two buffer.
#[derive(Debug)]
pub(crate) struct Ring<T> {
    buffer: Box<[T]>,
    head: u64,
    tail: u64,
}

impl<T: Clone + Default> Ring<T> {
    pub(crate) fn new() -> Ring<T> {
        Ring {
            buffer: vec![T::default(); 16].into(),
            head: 0,
            tail: 0,
        }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        (self.tail - self.head) as usize
    }

    #[inline]
    fn index(&self, at: u64) -> usize {
        at as usize & (self.buffer.len() - 1)
    }

    /// The first element.
    #[inline]
    pub(crate) fn front(&self) -> Option<&T> {
        (self.head != self.tail).then(|| &self.buffer[self.index(self.head)])
    }

    /// Element number `at` of all that ever were, where it is there.
    #[inline]
    pub(crate) fn get(&self, at: u64) -> Option<&T> {
        let is_there = at.wrapping_sub(self.head) < self.tail - self.head;
        is_there.then(|| &self.buffer[self.index(at)])
    }

    /// Elements removed so far.
    #[inline]
    pub(crate) fn removed(&self) -> u64 {
        self.head
    }

    /// Whether the next element needs a larger buffer.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.len() == self.buffer.len()
    }

    /// Removes the first element; its place is not written before the next [`Ring::next`].
    #[inline]
    pub(crate) fn pop(&mut self) {
        debug_assert!(self.head != self.tail, "nothing to remove");
        self.head += 1;
    }

    /// The place of the next element; it holds what was there before.
    #[inline]
    pub(crate) fn next(&mut self) -> &mut T {
        if self.is_full() {
            self.grow();
        }
        let index = self.index(self.tail);
        &mut self.buffer[index]
    }

    /// The place that [`Ring::next`] gave.
    #[inline]
    pub(crate) fn written(&mut self) -> &mut T {
        let index = self.index(self.tail);
        &mut self.buffer[index]
    }

    /// Makes what was written to the next place the last element.
    #[inline]
    pub(crate) fn commit(&mut self) {
        debug_assert!(self.len() < self.buffer.len(), "`next` comes first");
        self.tail += 1;
    }

    /// Adds an element.
    #[inline]
    pub(crate) fn push(&mut self, element: T) {
        *self.next() = element;
        self.commit();
    }

    #[cold]
    fn grow(&mut self) {
        let mut buffer = vec![T::default(); self.buffer.len() * 2].into_boxed_slice();
        let mask = buffer.len() - 1;
        for at in self.head..self.tail {
            let index = self.index(at);
            std::mem::swap(&mut buffer[at as usize & mask], &mut self.buffer[index]);
        }
        self.buffer = buffer;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_order_while_it_grows_and_turns() {
        let mut ring = Ring::new();
        let mut expected = 0;
        for value in 0..1000_u32 {
            ring.push(value);
            if value % 3 == 0 {
                assert_eq!(ring.front(), Some(&expected));
                ring.pop();
                expected += 1;
            }
        }
        while let Some(value) = ring.front() {
            assert_eq!(*value, expected);
            ring.pop();
            expected += 1;
        }
        assert_eq!((expected, ring.len()), (1000, 0));
    }

    #[test]
    fn a_place_that_is_not_committed_is_not_seen() {
        let mut ring = Ring::new();
        *ring.next() = 7;
        assert_eq!(ring.front(), None);
        ring.commit();
        assert_eq!(ring.front(), Some(&7));
    }
}
