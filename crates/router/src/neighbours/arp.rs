//! Frames of ARP, and what the elements that keep an ARP table share (RFC 826).

use crate::args::addresses::EtherAddress;
use crate::args::kinds::UINT;
use crate::args::text::split_words;
use crate::args::times::unparse_timestamp;
use crate::args::{Args, Kind, Need, Param};
use crate::engine::Ctx;
use crate::neighbours::{Limits, Neighbours};
use std::net::Ipv4Addr;
use trammel_packet::headers::U16;
use trammel_packet::headers::arp::{Arp, HRD_ETHERNET};
use trammel_packet::headers::ether::{Ether, ethertype};
use trammel_packet::packet::Packet;
use trammel_packet::timestamp::Timestamp;

/// Bytes of a frame of ARP.
pub(crate) const FRAME_LEN: usize = Ether::LEN + Arp::LEN;

/// Who speaks or is spoken to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Party {
    /// Its Ethernet address.
    pub ether: [u8; 6],
    /// Its IP address.
    pub ip: [u8; 4],
}

/// A frame to `to` in which `sender` asks or tells `target`.
pub(crate) fn frame(to: [u8; 6], op: u16, sender: Party, target: Party) -> [u8; FRAME_LEN] {
    let ether = Ether {
        dst: to,
        src: sender.ether,
        ethertype: U16::new(ethertype::ARP),
    };
    let arp = Arp {
        hrd: U16::new(HRD_ETHERNET),
        pro: U16::new(ethertype::IP),
        hln: 6,
        pln: 4,
        op: U16::new(op),
        sha: sender.ether,
        spa: sender.ip,
        tha: target.ether,
        tpa: target.ip,
    };
    let mut frame = [0; FRAME_LEN];
    frame[..Ether::LEN].copy_from_slice(ether.bytes());
    frame[Ether::LEN..].copy_from_slice(arp.bytes());
    frame
}

/// The ARP packet in a frame of type ARP, for Ethernet and IPv4, with addresses of their lengths.
/// Click does not look at the lengths, and answers from bytes that are no addresses.
pub(crate) fn read(frame: &[u8]) -> Option<&Arp> {
    let ether = Ether::read(frame)?;
    let arp = Arp::read(frame.get(Ether::LEN..)?)?;
    let right = ether.ethertype.get() == ethertype::ARP
        && arp.hrd.get() == HRD_ETHERNET
        && arp.pro.get() == ethertype::IP
        && (arp.hln, arp.pln) == (6, 4);
    right.then_some(arp)
}

/// Marks the headers of a frame that was just made.
pub(crate) fn mark(packet: &mut Packet) {
    packet.set_mac_header(0);
    packet.set_network_header(Ether::LEN as isize);
}

/// Milliseconds of the time of day, the grain of an ARP table's times.
pub(crate) fn now_ms(ctx: &mut Ctx) -> i64 {
    ctx.now().0 / 1_000_000
}

/// A length of time in milliseconds. What does not fit Click's ticks is no limit at all.
pub(crate) fn timeout_ms(time: Timestamp) -> i64 {
    let ms = time.0 / 1_000_000;
    if (0..i64::from(u32::MAX)).contains(&ms) {
        ms
    } else {
        0
    }
}

/// `CAPACITY` of a table.
pub(crate) const CAPACITY: Param = Param {
    name: "CAPACITY",
    need: Need::Keyword,
    kind: UINT,
    default: "2048",
    help: "packets that may wait; 0 is no limit",
};
/// `ENTRY_CAPACITY` of a table.
pub(crate) const ENTRY_CAPACITY: Param = Param {
    name: "ENTRY_CAPACITY",
    need: Need::Keyword,
    kind: UINT,
    default: "0",
    help: "entries that the table may have; 0 is no limit",
};
/// `ENTRY_PACKET_CAPACITY` of a table.
pub(crate) const ENTRY_PACKET_CAPACITY: Param = Param {
    name: "ENTRY_PACKET_CAPACITY",
    need: Need::Keyword,
    kind: UINT,
    default: "0",
    help: "packets that may wait for one entry; 0 is no limit",
};
/// `CAPACITY_SLIM_FACTOR` of a table.
pub(crate) const CAPACITY_SLIM_FACTOR: Param = Param {
    name: "CAPACITY_SLIM_FACTOR",
    need: Need::Keyword,
    kind: UINT,
    default: "2",
    help: "one of so many waiting packets goes when there are too many",
};
/// `TIMEOUT` of a table.
pub(crate) const TIMEOUT: Param = Param {
    name: "TIMEOUT",
    need: Need::Keyword,
    kind: Kind::Timestamp,
    default: "300",
    help: "how long an entry is good; 0 is for ever",
};

/// Sets the limits that were given. A slim factor of 0 is refused.
pub(crate) fn set_limits(limits: &mut Limits, args: &Args) -> Result<(), String> {
    let factor = args.opt_uint("CAPACITY_SLIM_FACTOR");
    if factor == Some(0) {
        return Err("CAPACITY_SLIM_FACTOR cannot be zero".to_owned());
    }
    let set = |limit: &mut u32, name: &str| {
        if let Some(value) = args.opt_uint(name) {
            *limit = value as u32;
        }
    };
    set(&mut limits.packets, "CAPACITY");
    set(&mut limits.entries, "ENTRY_CAPACITY");
    set(&mut limits.packets_of_entry, "ENTRY_PACKET_CAPACITY");
    set(&mut limits.slim_factor, "CAPACITY_SLIM_FACTOR");
    if let Some(time) = args.opt_timestamp("TIMEOUT") {
        limits.timeout_ms = timeout_ms(time);
    }
    Ok(())
}

/// What the handler `table` prints.
pub(crate) fn table_text(table: &Neighbours<u32>, now_ms: i64) -> String {
    let line = |line: &crate::neighbours::Line<u32>| {
        format!(
            "{} {} {} {}\n",
            Ipv4Addr::from(line.key),
            u8::from(line.is_known),
            EtherAddress(line.address),
            unparse_timestamp(Timestamp(line.age_ms * 1_000_000))
        )
    };
    table.lines(now_ms).iter().map(line).collect()
}

const IP: Param = Param {
    name: "IP",
    need: Need::Mandatory,
    kind: Kind::Ip,
    default: "",
    help: "the IP address",
};
const ETH: Param = Param {
    name: "ETH",
    need: Need::Mandatory,
    kind: Kind::Ether,
    default: "",
    help: "the Ethernet address",
};

/// Does what the handlers `insert`, `delete` and `clear` say.
pub(crate) fn write(
    table: &mut Neighbours<u32>,
    ctx: &mut Ctx,
    name: &str,
    value: &str,
) -> Result<(), String> {
    let words = split_words(value);
    let args = |params: &[Param], ctx: &Ctx| {
        Args::resolve_list(params, &words, &ctx.names(), None).map_err(|said| said.click())
    };
    let (ip, ether) = match name {
        "insert" => {
            let args = args(&[IP, ETH], ctx)?;
            (args.ip("IP"), args.ether("ETH").0)
        }
        "delete" => (args(&[IP], ctx)?.ip("IP"), [0xFF; 6]),
        _ => {
            table.clear(ctx);
            return Ok(());
        }
    };
    let now = now_ms(ctx);
    table.learn(ctx, ip.to_bits(), ether, now);
    Ok(())
}
