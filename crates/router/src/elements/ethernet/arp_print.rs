//! Prints ARP packets.
//!
//! # What it does
//! A line for each packet whose network header is marked, as `tcpdump` shows ARP; every packet
//! passes.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> c :: Classifier(12/0806, -) -> ARPPrint(arp) -> Discard; c[1] -> Discard
//! ```

use crate::args::addresses::EtherAddress;
use crate::args::numbers::parse_bool;
use crate::args::times::unparse_timestamp;
use crate::args::{Args, Kind, flag, keyword, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use std::fmt::{self, Write as _};
use std::io::Write;
use std::net::Ipv4Addr;
use trammel_packet::batch::Packets;
use trammel_packet::headers::arp::{Arp, HRD_ETHERNET};
use trammel_packet::headers::ether::{Ether, ethertype};
use trammel_packet::packet::Packet;

/// The class.
pub static ENTRY: Entry = Entry::new("ARPPrint", "prints ARP packets", || {
    Box::<ArpPrint>::default()
})
.references(&["RFC 826", "RFC 903", "RFC 2390"])
.params(&[
    positional("LABEL", Kind::Text, "", "what each line begins with"),
    flag("TIMESTAMP", "true", "whether the packet's time is printed"),
    flag(
        "ETHER",
        "false",
        "whether the Ethernet addresses are printed",
    ),
    flag("ACTIVE", "true", "whether anything is printed"),
    keyword(
        "OUTFILE",
        Kind::Filename,
        "",
        "a file to print to instead of standard error",
    ),
])
.ops("parse(28); work(5000)");

/// Trailer encapsulation (RFC 893), an Ethernet type.
const TRAILER: u16 = 0x1000;
/// Bytes of the part that does not depend on the kinds of addresses.
const FIXED_LEN: usize = 8;

#[derive(Default)]
struct ArpPrint {
    label: String,
    stamps: bool,
    ether: bool,
    active: bool,
    path: String,
    file: Option<Box<dyn Write + Send>>,
}

impl ArpPrint {
    /// The line for a packet; nothing for packets of other protocols.
    fn line(&self, packet: &Packet) -> Option<String> {
        let at = packet.network_header_at()?;
        let mut line = String::new();
        self.write_line(&mut line, packet, at)
            .expect("a string takes any text")
            .then_some(line)
    }

    fn write_line(
        &self,
        line: &mut String,
        packet: &Packet,
        network_at: isize,
    ) -> Result<bool, fmt::Error> {
        if !self.label.is_empty() {
            write!(line, "{}: ", self.label)?;
        }
        if self.stamps {
            write!(line, "{}: ", unparse_timestamp(packet.timestamp()))?;
        }
        if self.ether {
            let at = packet.mac_header_at().unwrap_or(0);
            let stripped = packet.before(usize::try_from(-at).unwrap_or(0));
            let kept = packet.data().get(usize::try_from(at).unwrap_or(0)..);
            let all = stripped.iter().chain(kept.unwrap_or_default());
            let frame: Vec<u8> = all.take(Ether::LEN).copied().collect();
            let room = at + Ether::LEN as isize <= network_at;
            if let Some(header) = Ether::read(&frame).filter(|_| room) {
                write!(
                    line,
                    "{} > {}: ",
                    EtherAddress(header.src),
                    EtherAddress(header.dst)
                )?;
            }
        }
        let data = packet.network_header();
        let Some(fixed) = data.first_chunk::<FIXED_LEN>() else {
            write!(line, "truncated-arp ({})", data.len())?;
            return Ok(true);
        };
        let pro = u16::from_be_bytes([fixed[2], fixed[3]]);
        if (pro != ethertype::IP && pro != TRAILER) || fixed[5] != 4 || fixed[4] == 0 {
            return Ok(false);
        }
        match Arp::read(data) {
            Some(arp) => write_addresses(line, arp)?,
            None => write!(line, "truncated-arp ({})", data.len())?,
        }
        Ok(true)
    }
}

fn write_addresses(line: &mut String, arp: &Arp) -> fmt::Result {
    let (sha, tha) = (EtherAddress(arp.sha), EtherAddress(arp.tha));
    let (spa, tpa) = (Ipv4Addr::from(arp.spa), Ipv4Addr::from(arp.tpa));
    if arp.pro.get() == TRAILER {
        line.push_str("trailer-");
    }
    match arp.op.get() {
        1 => {
            write!(line, "arp who-has {tpa}")?;
            if arp.tha != [0; 6] {
                write!(line, " ({tha})")?;
            }
            write!(line, " tell {spa}")?;
        }
        2 => write!(line, "arp reply {spa} is-at {sha}")?,
        3 => write!(line, "rarp who-is {tha} tell {sha}")?,
        4 => write!(line, "rarp reply {tha} at {tpa}")?,
        8 => write!(line, "invarp who-is {tha} tell {sha}")?,
        9 => write!(line, "invarp reply {tha} at {tpa}")?,
        op => write!(line, "arp-#{op}")?,
    }
    if arp.hrd.get() != HRD_ETHERNET {
        write!(line, "hardware #{}", arp.hrd.get())?;
    }
    Ok(())
}

impl Element for ArpPrint {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.label = args.text("LABEL").to_owned();
        self.stamps = args.bool("TIMESTAMP");
        self.ether = args.bool("ETHER");
        self.active = args.bool("ACTIVE");
        self.path = args.text("OUTFILE").to_owned();
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        if !self.path.is_empty() {
            let file = ctx.create_file(&self.path, false);
            self.file = Some(file.map_err(|why| format!("{}: {why}", self.path))?);
        }
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        if !self.active {
            return;
        }
        for h in batch.iter() {
            let Some(mut line) = self.line(&ctx.pool()[h]) else {
                continue;
            };
            line.push('\n');
            match &mut self.file {
                // As in Click, a file that takes no more ends nothing; the host tells of it.
                Some(file) => drop(file.write_all(line.as_bytes())),
                None => ctx.host().say(&line),
            }
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("active", "rw")]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        Ok(self.active.to_string())
    }

    fn write(&mut self, _: &mut Ctx, _: &str, value: &str) -> Result<(), String> {
        self.active = parse_bool(value.trim()).map_err(|why| why.to_string())?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::neighbours::arp::{self, Party};
    use crate::probe::Probe;

    #[test]
    fn questions_and_answers_are_printed() {
        let mut x = Probe::new("ARPPrint(a, TIMESTAMP false, ETHER true)", 1);
        let party = |last| Party {
            ether: [2, 0, 0, 0, 0, last],
            ip: [10, 0, 0, last],
        };
        for op in [1, 2, 3, 9, 77] {
            x.send_with(&arp::frame([0xFF; 6], op, party(1), party(2)), arp::mark);
        }
        x.send_with(&[0; 20], arp::mark);
        let mut other = arp::frame([0xFF; 6], 1, party(1), party(2));
        other[16] = 9;
        x.send_with(&other, arp::mark);
        x.send(&other);
        let line = |text: &str| format!("a: 02-00-00-00-00-01 > FF-FF-FF-FF-FF-FF: {text}\n");
        let expected = [
            line("arp who-has 10.0.0.2 (02-00-00-00-00-02) tell 10.0.0.1"),
            line("arp reply 10.0.0.1 is-at 02-00-00-00-00-01"),
            line("rarp who-is 02-00-00-00-00-02 tell 02-00-00-00-00-01"),
            line("invarp reply 02-00-00-00-00-02 at 10.0.0.2"),
            line("arp-#77"),
            "a: 00-00-00-00-00-00 > 00-00-00-00-00-00: truncated-arp (6)\n".to_owned(),
        ];
        assert_eq!(x.said(), expected.concat());
        assert_eq!(x.held(), 0);
    }
}
