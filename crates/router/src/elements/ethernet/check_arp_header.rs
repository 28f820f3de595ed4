//! Checks ARP messages.
//!
//! # What it does
//! The message must be whole, with lengths of addresses that fit Ethernet, IPv4 and IPv6. It is
//! marked as the network header. What is wrong leaves by output 1, or ends here.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> Classifier(12/0806) -> CheckARPHeader(14) -> ARPPrint -> Discard
//! ```
//!
//! # References
//! RFC 826.

use crate::args::kinds::UINT;
use crate::args::{Args, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::headers::header_faults::{DETAILS, Faults, VERBOSE};
use crate::headers::ip_packet::mark_len;
use crate::reason::Reason;
use trammel_packet::batch::Packets;
use trammel_packet::headers::ether::ethertype;

/// The class.
pub static ENTRY: Entry = Entry::new("CheckARPHeader", "checks ARP messages", || {
    Box::<CheckArpHeader>::default()
})
.ports("1/1-2", "a/ah")
.references(&["RFC 826"])
.params(&[
    positional("OFFSET", UINT, "0", "where the message begins"),
    VERBOSE,
    DETAILS,
])
.ops("parse(8); work(60)");

/// What can be wrong.
const FAULTS: &[&str] = &[
    "tiny packet",
    "too small for addresses",
    "bad hardware type/length",
    "bad protocol type/length",
];
/// What each is for the count of drops.
const REASONS: [Reason; 4] = [
    Reason::TooShort,
    Reason::TooShort,
    Reason::BadHeader,
    Reason::BadHeader,
];
/// Bytes before the addresses.
const HEAD: usize = 8;
/// The hardware type of Ethernet.
const ETHERNET: u16 = 1;

#[derive(Debug, Default)]
struct CheckArpHeader {
    offset: usize,
    faults: Faults,
}

/// Bytes of the message at the front of `data`, or the number of what is wrong.
fn check(data: &[u8]) -> Result<usize, usize> {
    let &[h0, h1, p0, p1, hardware_len, protocol_len, ..] =
        data.first_chunk::<HEAD>().ok_or(0_usize)?;
    let len = HEAD + 2 * (usize::from(hardware_len) + usize::from(protocol_len));
    if data.len() < len {
        return Err(1);
    }
    if u16::from_be_bytes([h0, h1]) == ETHERNET && hardware_len != 6 {
        return Err(2);
    }
    match (u16::from_be_bytes([p0, p1]), protocol_len) {
        (ethertype::IP, 4) | (ethertype::IP6, 16) => Ok(len),
        (ethertype::IP | ethertype::IP6, _) => Err(3),
        _ => Ok(len),
    }
}

impl Element for CheckArpHeader {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.offset = args.uint("OFFSET") as usize;
        self.faults = Faults::new(FAULTS, args);
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|handle| {
            let packet = &mut ctx.pool()[&handle];
            match check(packet.data().get(self.offset..).unwrap_or_default()) {
                Ok(len) => {
                    mark_len(packet, self.offset, len);
                    Some(handle)
                }
                Err(fault) => {
                    let introduction = |_: &Ctx| "ARP header check failed".to_owned();
                    self.faults
                        .reject(ctx, handle, fault, REASONS[fault], introduction);
                    None
                }
            }
        });
    }

    fn handlers(&self) -> Vec<Handler> {
        self.faults.handlers()
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(self.faults.read(name))
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::Probe;

    #[test]
    fn each_fault_is_told() {
        let mut probe = Probe::new("CheckARPHeader(2, VERBOSE true, DETAILS true)", 2);
        let mut right = vec![9, 9, 0, 1, 8, 0, 6, 4, 0, 1];
        right.extend([1; 20]);
        assert_eq!(probe.send(&right), [(0, right.clone())]);
        for (at, value) in [(6, 5), (7, 3)] {
            let mut wrong = right.clone();
            wrong[at] = value;
            assert_eq!(probe.send(&wrong)[0].0, 1);
        }
        assert_eq!(probe.send(&right[..9])[0].0, 1);
        assert_eq!(probe.send(&right[..1])[0].0, 1);
        assert_eq!(probe.send(&right[..29])[0].0, 1);
        assert_eq!(
            probe.run.read("x.drop_details"),
            "2\ttiny packet\n1\ttoo small for addresses\n1\tbad hardware type/length\n\
             1\tbad protocol type/length\n"
        );
        assert_eq!(probe.said().lines().count(), 5);
    }
}
