//! Numbers of the queues on both sides of the lookup, and sets of them.

/// Ports of a card, and its interfaces to the host.
pub const PORTS: usize = 4;

/// One of the eight queues into the data path or out of it. Even numbers are ports, odd ones the
/// host interfaces beside them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Queue(u8);

impl Queue {
    /// All of them, by number.
    pub const ALL: [Queue; 2 * PORTS] = [
        Queue(0),
        Queue(1),
        Queue(2),
        Queue(3),
        Queue(4),
        Queue(5),
        Queue(6),
        Queue(7),
    ];

    /// The queue of the port `port`, 0 to 3.
    ///
    /// # Panics
    /// Where there is no such port.
    pub const fn mac(port: usize) -> Queue {
        assert!(port < PORTS, "a card has four ports");
        Queue(2 * port as u8)
    }

    /// The queue of the host interface `port`, 0 to 3.
    ///
    /// # Panics
    /// Where there is no such interface.
    pub const fn cpu(port: usize) -> Queue {
        assert!(port < PORTS, "a card has four host interfaces");
        Queue(2 * port as u8 + 1)
    }

    /// Its number, 0 to 7.
    pub const fn number(self) -> usize {
        self.0 as usize
    }

    /// Its port or host interface.
    pub const fn port(self) -> usize {
        self.0 as usize / 2
    }

    /// Whether it is a host interface's.
    pub const fn is_cpu(self) -> bool {
        self.0 % 2 == 1
    }

    /// The queue of the other kind beside it.
    pub(crate) const fn pair(self) -> Queue {
        Queue(self.0 ^ 1)
    }
}

/// A set of queues: one bit each, as the module header has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queues(pub u8);

impl Queues {
    /// None.
    pub const NONE: Queues = Queues(0);

    /// The queues of all ports.
    pub(crate) const MACS: Queues = Queues(0x55);

    /// Only `queue`.
    pub const fn one(queue: Queue) -> Queues {
        Queues(1 << queue.0)
    }

    /// Those of both.
    pub(crate) const fn with(self, other: Queues) -> Queues {
        Queues(self.0 | other.0)
    }

    /// Those that are not in `other`.
    pub(crate) const fn without(self, other: Queues) -> Queues {
        Queues(self.0 & !other.0)
    }

    /// Whether `queue` is one of them.
    pub const fn has(self, queue: Queue) -> bool {
        self.0 >> queue.0 & 1 == 1
    }

    /// The queue, where it is only one.
    pub(crate) fn only(self) -> Option<Queue> {
        let mut others = self;
        let first = others.pop()?;
        (others == Queues::NONE).then_some(first)
    }

    /// Takes the lowest one out.
    pub(crate) fn pop(&mut self) -> Option<Queue> {
        let lowest = self.0.trailing_zeros();
        self.0 &= self.0.wrapping_sub(1);
        (lowest < 8).then_some(Queue(lowest as u8))
    }
}
