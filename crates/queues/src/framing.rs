//! What a packet takes on a link: headers of lower layers, a least size, cells.

/// How a link's lower layers frame packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Framing {
    /// Bytes beside the IP packet.
    pub(crate) overhead: i64,
    /// The least size of a frame.
    pub(crate) least: u32,
    pub(crate) cells: Cells,
}

/// What frames are cut into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cells {
    /// Nothing.
    None,
    /// ATM's: 48 bytes of each 53.
    Atm,
    /// PTM's code words: 64 bytes of each 65.
    Ptm,
}

/// Named links: overhead, least size, cells (`tc-cake(8)`, "Overhead compensation parameters").
const LINKS: [(&str, i64, u32, Cells); 14] = [
    ("ip", 0, 0, Cells::None),
    ("conservative", 48, 0, Cells::Atm),
    ("ipoa-vcmux", 8, 0, Cells::Atm),
    ("ipoa-llcsnap", 16, 0, Cells::Atm),
    ("bridged-vcmux", 24, 0, Cells::Atm),
    ("bridged-llcsnap", 32, 0, Cells::Atm),
    ("pppoa-vcmux", 10, 0, Cells::Atm),
    ("pppoa-llc", 14, 0, Cells::Atm),
    ("pppoe-vcmux", 32, 0, Cells::Atm),
    ("pppoe-llcsnap", 40, 0, Cells::Atm),
    ("pppoe-ptm", 30, 0, Cells::Ptm),
    ("bridged-ptm", 22, 0, Cells::Ptm),
    ("docsis", 18, 64, Cells::None),
    ("ethernet", 38, 84, Cells::None),
];

impl Framing {
    /// That of the named kind of link, if there is one.
    pub(crate) fn of_link(name: &str) -> Option<Framing> {
        let found = LINKS.iter().find(|(link, ..)| *link == name);
        found.map(|(_, overhead, least, cells)| Framing {
            overhead: *overhead,
            least: *least,
            cells: *cells,
        })
    }

    /// Bytes that an IP packet of `bytes` bytes takes.
    #[inline]
    pub(crate) fn bytes_of(&self, bytes: u32) -> u64 {
        let framed = (i64::from(bytes) + self.overhead).max(0).cast_unsigned();
        let framed = framed.max(u64::from(self.least));
        match self.cells {
            Cells::None => framed,
            Cells::Atm => framed.div_ceil(48) * 53,
            Cells::Ptm => framed + framed.div_ceil(64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ack_takes_its_cells_or_the_least_frame() {
        let taken = |link, bytes| Framing::of_link(link).map(|framing| framing.bytes_of(bytes));
        assert_eq!(taken("ip", 1500), Some(1500));
        assert_eq!(taken("ethernet", 40), Some(84));
        assert_eq!(taken("docsis", 1500), Some(1518));
        // 40 + 40 bytes are two cells; 1540 are 33.
        assert_eq!(taken("pppoe-llcsnap", 40), Some(106));
        assert_eq!(taken("pppoe-llcsnap", 1500), Some(33 * 53));
        // 1530 bytes, and one for each 64 of them.
        assert_eq!(taken("pppoe-ptm", 1500), Some(1554));
        assert_eq!(taken("token-ring", 1500), None);
    }

    #[test]
    fn a_negative_overhead_never_goes_below_nothing() {
        let framing = Framing {
            overhead: -64,
            least: 0,
            cells: Cells::None,
        };
        assert_eq!((framing.bytes_of(40), framing.bytes_of(100)), (0, 36));
    }
}
