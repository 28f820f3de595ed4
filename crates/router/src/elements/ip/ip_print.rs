//! Prints a line about each IPv4 packet, in the manner of tcpdump.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> IPPrint(in, TTL true, CONTENTS hex) -> Discard
//! ```

use super::shared::ip_text::{self, Style, payload, write_bytes};
use crate::args::addresses::EtherAddress;
use crate::args::kinds::INT;
use crate::args::numbers::parse_bool;
use crate::args::times::unparse_timestamp;
use crate::args::{Args, Kind, flag, keyword, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::headers::ip_packet::header;
use std::fmt::Write as _;
use std::io::Write;
use trammel_packet::anno;
use trammel_packet::batch::Packets;
use trammel_packet::headers::ether::Ether;
use trammel_packet::packet::Packet;

/// The class.
pub static ENTRY: Entry = Entry::new("IPPrint", "prints a line about each IP packet", || {
    Box::<IpPrint>::default()
})
.params(&[
    positional("LABEL", Kind::Text, "", "stands before each line"),
    keyword(
        "CONTENTS",
        Kind::Word,
        "no",
        "`none`, `hex` or `ascii`: how the packet is printed",
    ),
    keyword(
        "PAYLOAD",
        Kind::Word,
        "no",
        "the same for what the packet carries only",
    ),
    keyword(
        "MAXLENGTH",
        INT,
        "1500",
        "the most bytes printed; -1 for all",
    ),
    keyword("NBYTES", INT, "1500", "old name of MAXLENGTH"),
    flag("ID", "false", "whether the IP identification is printed"),
    flag("TIMESTAMP", "true", "whether the time is printed"),
    flag("PAINT", "false", "whether the paint is printed"),
    flag("TOS", "false", "whether the type of service is printed"),
    flag("TTL", "false", "whether the time to live is printed"),
    flag(
        "SWAP",
        "true",
        "whether numbers of echoes are in the network's order",
    ),
    flag("LENGTH", "false", "whether the IP length is printed"),
    flag(
        "AGGREGATE",
        "false",
        "whether the aggregate annotation is printed",
    ),
    flag(
        "ETHER",
        "false",
        "whether the addresses of a marked Ethernet header are printed",
    ),
    flag("ACTIVE", "true", "whether it prints"),
    keyword("OUTFILE", Kind::Filename, "", "a file to print to"),
    keyword("CHANNEL", Kind::Word, "", "accepted, without effect"),
])
.ops("parse(40); work(300 * length + 5000)");

/// What is printed besides the packet's own line.
/// Bytes that are taken to be printed where no bound is given: those of a common frame.
const LONGEST: usize = 1514;

#[derive(Debug, Default)]
struct Fields {
    id: bool,
    time: bool,
    paint: bool,
    tos: bool,
    ttl: bool,
    length: bool,
    aggregate: bool,
    ether: bool,
}

#[derive(Default)]
struct IpPrint {
    label: String,
    fields: Fields,
    style: Style,
    only_payload: bool,
    most: usize,
    in_order: bool,
    active: bool,
    path: String,
    file: Option<Box<dyn Write + Send>>,
    line: String,
}

impl std::fmt::Debug for IpPrint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IpPrint").finish_non_exhaustive()
    }
}

impl IpPrint {
    /// Makes the line about a packet.
    fn describe(&mut self, packet: &Packet) -> std::fmt::Result {
        let (line, fields) = (&mut self.line, &self.fields);
        line.clear();
        if !self.label.is_empty() {
            write!(line, "{}: ", self.label)?;
        }
        if fields.time {
            write!(line, "{}: ", unparse_timestamp(packet.timestamp()))?;
        }
        if fields.aggregate {
            write!(line, "#{}", packet.anno_u32(anno::AGGREGATE))?;
        }
        if fields.paint {
            let before = if fields.aggregate { "." } else { "paint " };
            write!(line, "{before}{}", packet.anno_u8(anno::PAINT))?;
        }
        if fields.aggregate || fields.paint {
            line.push_str(": ");
        }
        if fields.ether
            && packet.has_mac_header()
            && let Some(ether) = Ether::read(packet.mac_header())
        {
            let (src, dst) = (EtherAddress(ether.src), EtherAddress(ether.dst));
            write!(line, "{src} > {dst}: ")?;
        }
        let Some(ip) = header(packet) else {
            line.push_str("truncated-ip");
            return Ok(());
        };
        if fields.id {
            write!(line, "id {} ", ip.identification.get())?;
        }
        if fields.ttl {
            write!(line, "ttl {} ", ip.ttl)?;
        }
        if fields.tos {
            write!(line, "tos {} ", ip.tos)?;
        }
        if fields.length {
            write!(line, "length {} ", ip.total_length.get())?;
        }
        ip_text::write(line, packet, ip, self.in_order)?;
        let data = if self.only_payload {
            payload(packet, ip)
        } else {
            packet.data()
        };
        write_bytes(line, &data[..data.len().min(self.most)], self.style)
    }
}

/// What `CONTENTS` and `PAYLOAD` mean, in any case of letters.
fn style(text: &str) -> Option<Style> {
    Some(match text.to_ascii_uppercase().as_str() {
        "NONE" | "NO" | "FALSE" | "0" | "N" | "F" => Style::None,
        "HEX" | "YES" | "TRUE" | "1" | "Y" | "T" => Style::Hex,
        "ASCII" => Style::Ascii,
        _ => return None,
    })
}

impl Element for IpPrint {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let mut said = Diagnostics::new();
        self.label = args.text("LABEL").to_owned();
        let upper = |name| args.text(name).to_ascii_uppercase();
        let contents = style(args.text("CONTENTS")).unwrap_or_else(|| {
            let text = format!(
                "bad contents value '{}'; should be 'NONE', 'HEX', or 'ASCII'",
                upper("CONTENTS")
            );
            said.error(None, text);
            Style::None
        });
        let payload = style(args.text("PAYLOAD")).unwrap_or_else(|| {
            let text = format!(
                "bad payload value '{}'; should be 'false', 'hex', or 'ascii'",
                upper("PAYLOAD")
            );
            said.error(None, text);
            Style::None
        });
        self.only_payload = payload != Style::None;
        if self.only_payload && contents != Style::None {
            said.error(None, "specify at most one of PAYLOAD and CONTENTS");
        }
        self.style = if self.only_payload { payload } else { contents };
        let most = args
            .opt_int("NBYTES")
            .unwrap_or_else(|| args.int("MAXLENGTH"));
        self.most = usize::try_from(most).unwrap_or(usize::MAX);
        self.fields = Fields {
            id: args.bool("ID"),
            time: args.bool("TIMESTAMP"),
            paint: args.bool("PAINT"),
            tos: args.bool("TOS"),
            ttl: args.bool("TTL"),
            length: args.bool("LENGTH"),
            aggregate: args.bool("AGGREGATE"),
            ether: args.bool("ETHER"),
        };
        self.in_order = args.bool("SWAP");
        self.active = args.bool("ACTIVE");
        self.path = args.text("OUTFILE").to_owned();
        if said.has_errors() { Err(said) } else { Ok(()) }
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
        for handle in batch.iter() {
            let packet = &ctx.pool()[handle];
            if !packet.has_network_header() || self.describe(packet).is_err() {
                continue;
            }
            self.line.push('\n');
            match &mut self.file {
                // A file that takes no more does not stop the packets; the host tells of it.
                Some(file) => _ = file.write_all(self.line.as_bytes()),
                None => ctx.host().say(&self.line),
            }
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("active", "rwx.")]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        Ok(self.active.to_string())
    }

    fn write(&mut self, _: &mut Ctx, _: &str, value: &str) -> Result<(), String> {
        self.active = parse_bool(value.trim()).map_err(|why| why.to_string())?;
        Ok(())
    }

    fn cleanup(&mut self, _: &mut Ctx) {
        self.file = None;
    }

    fn quantities(&self) -> Vec<(&'static str, f64)> {
        let length = match self.style {
            Style::None => 0,
            _ => self.most.min(LONGEST),
        };
        vec![("length", length as f64)]
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::errors;
    use crate::probe::{Probe, udp};

    #[test]
    fn lines_tell_what_is_asked() {
        let mut probe = Probe::new(
            "IPPrint(in, TIMESTAMP false, TTL true, ID true, PAYLOAD ascii)",
            1,
        );
        probe.send_ip(&udp(9, b"data\n"));
        probe.send_ip(&udp(9, b"")[..27]);
        let mut other = udp(9, b"");
        (other[9], other[6]) = (99, 0x20);
        probe.send_ip(&other);
        assert_eq!(
            probe.said(),
            "in: id 7 ttl 9 10.0.0.1.1000 > 10.0.0.2.2000: udp 13\n  data.\n\
             in: id 7 ttl 9 10.0.0.1.1000 > 10.0.0.2.2000: truncated-udp\n\
             in: id 7 ttl 9 10.0.0.1 > 10.0.0.2: ip-proto-99 (frag 7:8@0+)\n  .......#\n"
        );
    }

    #[test]
    fn the_addresses_of_a_marked_ethernet_header_are_told() {
        let frame = [&[2; 6][..], &[4; 6], &[8, 0], &udp(9, b"")].concat();
        let mut probe = Probe::new("IPPrint(TIMESTAMP false, ETHER true)", 1);
        probe.send_with(&frame, |packet| {
            packet.set_mac_header(0);
            crate::headers::ip_packet::mark(packet, 14);
        });
        probe.send_ip(&udp(9, b""));
        let line = "10.0.0.1.1000 > 10.0.0.2.2000: udp 8\n";
        let with = "04-04-04-04-04-04 > 02-02-02-02-02-02: ";
        assert_eq!(probe.said(), format!("{with}{line}{line}"));
    }

    #[test]
    fn segments_and_messages_are_told_by_their_fields() {
        let mut probe = Probe::new("IPPrint(TIMESTAMP false)", 1);
        let mut tcp = udp(9, &[0; 14]);
        tcp[9] = 6;
        tcp[24..36].copy_from_slice(&[0, 0, 0, 5, 0, 0, 0, 9, 0x50, 0x12, 1, 0]);
        probe.send_ip(&tcp);
        let mut echo = udp(9, b"");
        echo[9] = 1;
        echo[20..28].copy_from_slice(&[8, 0, 0, 0, 0, 7, 0, 1]);
        probe.send_ip(&echo);
        assert_eq!(
            probe.said(),
            "10.0.0.1.1000 > 10.0.0.2.2000: S 5:8(3,42,42) ack 9 win 256\n\
             10.0.0.1 > 10.0.0.2: icmp echo (7, 1)\n"
        );
    }

    #[test]
    fn no_bytes_are_trouble() {
        let mut probe = Probe::new("IPPrint(PAYLOAD hex)", 1);
        for protocol in [1, 6, 17] {
            for len in 0..70 {
                let mut packet = udp(9, &[3; 60]);
                packet[9] = protocol;
                (packet[20], packet[21]) = (3, 3);
                assert_eq!(probe.send_ip(&packet[..len]).len(), 1);
            }
        }
    }

    #[test]
    fn wrong_words_are_told() {
        let said = errors("Idle -> IPPrint(CONTENTS x) -> Idle");
        assert!(said.contains("bad contents value 'X'; should be 'NONE', 'HEX', or 'ASCII'"));
    }
}
