//! Sets the aggregate to a field of the IP packet.
//!
//! # What it does
//! The annotation AGGREGATE becomes the field that is described, by its name (`ip src/8`,
//! `tcp dport`) or by its place (`ip[12:2]`, `transp{0-15}`). With `INCREMENTAL` it is appended to
//! the aggregate that the packet has. Packets without the field, as they are too short, later
//! fragments or of another protocol, leave by output 1 or end here.
//!
//! # Handlers
//! - `header`, `bit_offset`, `bit_length`: the header of the field, where it begins in it, and its
//!   length
//!
//! # Example
//! ```click
//! // Packets are counted by the networks of 16 bits that they go to.
//! FromDump(a.pcap, STOP true, FORCE_IP true) -> AggregateIP(ip dst/16) -> AggregateCounter
//!     -> Discard
//! ```

use super::shared::ip_field::{IP, IpField};
use crate::args::{Args, Kind, flag, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::reason::Reason;
use trammel_packet::anno;
use trammel_packet::batch::Packets;
use trammel_packet::packet::Packet;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "AggregateIP",
    "sets the aggregate to a field of the IP packet",
    || Box::<AggregateIp>::default(),
)
.ports("1/1-2", "a/ah")
.params(&[
    mandatory(
        "FIELD",
        Kind::Raw,
        "the field: `ip src/8`, `tcp dport`, `transp[0:2]`, `ip{96-103}`",
    ),
    flag(
        "INCREMENTAL",
        "false",
        "whether it is appended to the aggregate",
    ),
    flag(
        "UNSHIFT_IP_ADDR",
        "false",
        "whether a part of an address stays at its place in the address",
    ),
])
.ops("parse(4); work(50)");

/// The bits of the two addresses.
const ADDRESSES: std::ops::Range<u32> = 96..160;

#[derive(Debug, Default)]
struct AggregateIp {
    field: IpField,
    incremental: bool,
    /// Of the word that the field lies in: its first byte, how far to shift it, what remains.
    word: usize,
    shift: u32,
    mask: u32,
}

impl AggregateIp {
    fn value(&self, packet: &Packet) -> Option<u32> {
        let at = self.field.offset(packet)? + self.word;
        let word = packet.data().get(at..)?.first_chunk::<4>()?;
        Some(u32::from_be_bytes(*word) >> self.shift & self.mask)
    }
}

impl Element for AggregateIp {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let text = crate::args::text::parse_text(args.text("FIELD"));
        let text = text.unwrap_or_else(|_| args.text("FIELD").to_owned());
        self.field = IpField::parse(&text, &setup.names()).map_err(Diagnostics::of)?;
        self.incremental = args.bool("INCREMENTAL");
        let IpField {
            header,
            first_bit,
            bits,
        } = self.field;
        let last_bit = first_bit + bits - 1;
        if bits > 32 {
            return Err(Diagnostics::of("field length too large, max 32"));
        }
        if first_bit / 32 != last_bit / 32 {
            return Err(Diagnostics::of(
                "field specification does not fit within a single word",
            ));
        }
        if bits == 32 && self.incremental {
            return Err(Diagnostics::of(
                "'INCREMENTAL' is incompatible with field length 32",
            ));
        }
        self.word = (first_bit / 32 * 4) as usize;
        self.mask = u32::MAX >> (32 - bits);
        self.shift = 31 - last_bit % 32;
        let is_address = header == IP && ADDRESSES.contains(&first_bit);
        if args.bool("UNSHIFT_IP_ADDR") && is_address {
            self.mask <<= self.shift;
            self.shift = 0;
        }
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|handle| {
            let packet = &mut ctx.pool()[&handle];
            let Some(value) = self.value(packet) else {
                ctx.reject(1, handle, Reason::NoMatch);
                return None;
            };
            let before = if self.incremental {
                packet.anno_u32(anno::AGGREGATE) << self.field.bits
            } else {
                0
            };
            packet.set_anno_u32(anno::AGGREGATE, before.wrapping_add(value));
            Some(handle)
        });
    }

    fn handlers(&self) -> Vec<Handler> {
        ["header", "bit_offset", "bit_length", "field"]
            .map(|name| Handler::new(name, "r"))
            .into()
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "header" => self.field.header_name(),
            "bit_offset" => self.field.first_bit.to_string(),
            "bit_length" => self.field.bits.to_string(),
            _ => self.field.unparse(),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{errors, loaded};

    fn aggregates(arguments: &str) -> String {
        let mut run = loaded(&format!(
            "FromIPSummaryDump(STOP true, CHECKSUM true, \
             DATA \"!data ip_src ip_dst sport dport ip_proto ip_fragoff payload\n\
             18.26.4.9 1.2.3.4 7 80 T 0 \\\"abcd\\\"\n18.27.0.1 1.2.3.5 9 53 U 0 \\\"efgh\\\"\n\
             18.27.0.1 1.2.3.5 - - U 8 \\\"efghijklmn\\\"\") \
             -> a :: AggregateIP({arguments}) -> ToIPSummaryDump(-, HEADER false, \
             FIELDS aggregate) -> Discard; \
             a [1] -> ToIPSummaryDump(-, HEADER false, FIELDS ip_fragoff) -> Discard"
        ));
        run.run(1.0);
        assert_eq!(run.ctx.pool().in_use(), 0);
        run.host.memory().printed.trim().replace('\n', " ")
    }

    #[test]
    fn a_field_is_the_aggregate() {
        assert_eq!(aggregates("ip src/16"), "4634 4635 4635");
        assert_eq!(
            aggregates("ip src/16, UNSHIFT_IP_ADDR true"),
            "303693824 303759360 303759360"
        );
        assert_eq!(aggregates("dport"), "80 53 8");
        assert_eq!(aggregates("\"udp dport\""), "0 53 8");
        assert_eq!(aggregates("payload[0]"), "97 101 8");
    }

    #[test]
    fn it_joins_the_aggregate_that_there_is() {
        let mut run = loaded(
            "FromIPSummaryDump(DATA \"!data ip_src ip_tos\n\
             1.2.3.4 5\", STOP true) -> AggregateIP(ip src{24:8}) \
             -> a :: AggregateIP(ip tos, INCREMENTAL true) \
             -> ToIPSummaryDump(-, HEADER false, FIELDS aggregate)",
        );
        run.run(1.0);
        assert_eq!(run.host.memory().printed, "1029\n");
        let read =
            ["a.header", "a.bit_offset", "a.bit_length", "a.field"].map(|name| run.read(name));
        assert_eq!(read.join(","), "ip,8,8,ip tos");
    }

    #[test]
    fn fields_that_do_not_fit_a_word_are_refused() {
        for (field, why) in [
            ("ip[3:2]", "single word"),
            ("ip[0:5]", "max 32"),
            ("ip bogus", "HEADER"),
        ] {
            let text = errors(&format!("Idle -> AggregateIP({field}) -> Discard"));
            assert!(text.contains(why), "{text}");
        }
        assert!(
            errors("Idle -> AggregateIP(ip src, INCREMENTAL true) -> Discard")
                .contains("incompatible")
        );
    }
}
