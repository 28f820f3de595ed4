//! Prints 802.11 frames.
//!
//! # What it does
//! A line a frame: its length, its rate, signal and noise as the annotations have them, its kind
//! and what management frames of that kind tell, the addresses, the sequence number and flags.
//! Frames shorter than a header are told as such.
//!
//! # Example
//! ```click
//! FromDevice(wlan0) -> ExtraDecap -> PrintWifi(heard, TIMESTAMP true) -> Discard
//! ```

use super::beacon_scanner::BODY;
use super::shared::wifi::{self, Field, Header};
use super::shared::wifi_stations::{self as stations, Management, element, subtype};
use crate::args::addresses::EtherAddress;
use crate::args::{Args, Kind, flag, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use std::fmt::{self, Write};
use trammel_packet::batch::Packets;
use trammel_packet::packet::Packet;

/// The class.
pub static ENTRY: Entry = Entry::new("PrintWifi", "prints 802.11 frames", || {
    Box::<PrintWifi>::default()
})
.references(&["IEEE 802.11-2020, §9.3"])
.params(&[
    positional("LABEL", Kind::Text, "", "stands before each line"),
    flag("TIMESTAMP", "false", "whether the packet's time does"),
])
.ops("parse(64); work(2500)");

const REASONS: [&str; 9] = [
    "unspecified",
    "auth_expire",
    "auth_leave",
    "assoc_expire/inactive",
    "assoc_toomany",
    "not_authed",
    "not_assoced",
    "assoc_leave",
    "assoc_not_authed",
];

fn reason(number: u16) -> String {
    let known = usize::from(number)
        .checked_sub(1)
        .and_then(|at| REASONS.get(at));
    known.map_or_else(
        || format!("unknown reason {number}"),
        |text| (*text).to_owned(),
    )
}

fn status(number: u16) -> String {
    match number {
        0 => "success",
        1 => "unspecified",
        10 => "capinfo",
        11 => "not_assoced",
        12 => "other",
        13 => "alg",
        14 => "seq",
        15 => "challenge",
        16 => "timeout",
        18 => "basic_rates",
        22 => "too_many_stations",
        23 => "rates",
        25 => "shortslot_required",
        _ => return format!("unknown status {number}"),
    }
    .to_owned()
}

fn rates(of: &[u8]) -> String {
    let (basic, others) = stations::rates_text(of);
    format!("({{{basic}}} {others})")
}

/// What a beacon or an answer to a probe tells.
fn beacon(text: &mut String, frame: &Management<'_>) -> fmt::Result {
    let name = frame.name(BODY);
    let channel = frame.find(BODY, element::CHANNEL);
    let channel = channel.and_then(<[u8]>::first).copied().unwrap_or(0);
    let interval = frame.word(8).unwrap_or_default();
    let name = if name.is_empty() { "(none)" } else { &name };
    write!(
        text,
        "{} {name} chan {channel} b_int {interval} [ ",
        EtherAddress(frame.bssid)
    )?;
    for offered in stations::capabilities(frame.word(10).unwrap_or_default()) {
        write!(text, "{offered} ")?;
    }
    write!(text, "] {}", rates(&frame.rates(BODY)))
}

/// What a management frame tells.
fn management(text: &mut String, frame: &Management<'_>) -> fmt::Result {
    let word = |at| frame.word(at).unwrap_or_default();
    let offers = |field| format!("[{}]", stations::capabilities(field).join(" "));
    match frame.subtype {
        subtype::ASSOCIATION_REQUEST => write!(
            text,
            "assoc_req listen_int {} {} ssid {} rates {} ",
            word(2),
            offers(word(0)),
            frame.name(4),
            rates(&frame.rates(4))
        ),
        subtype::ASSOCIATION_RESPONSE => write!(
            text,
            "assoc_resp {} status {} {} associd {} ",
            offers(word(0)),
            word(2),
            status(word(2)),
            word(4)
        ),
        subtype::PROBE_REQUEST => write!(
            text,
            "probe_req ssid {} {} ",
            frame.name(0),
            rates(&frame.rates(0))
        ),
        subtype::PROBE_RESPONSE => {
            text.push_str("probe_resp ");
            beacon(text, frame)
        }
        subtype::BEACON => {
            text.push_str("beacon ");
            beacon(text, frame)
        }
        subtype::DISASSOCIATION => write!(text, "disassoc {} ", reason(word(0))),
        subtype::AUTHENTICATION => write!(
            text,
            "auth alg {} auth_seq {} status {} ",
            word(0),
            word(2),
            status(word(4))
        ),
        0x20 => write!(text, "reassoc_req "),
        0x30 => write!(text, "reassoc_resp "),
        0x90 => write!(text, "atim "),
        0xC0 => write!(text, "deauth "),
        other => write!(text, "unknown-subtype-{other} "),
    }
}

#[derive(Debug, Default)]
struct PrintWifi {
    label: String,
    stamps: bool,
}

impl PrintWifi {
    fn describe(&self, text: &mut String, packet: &Packet) -> fmt::Result {
        if !self.label.is_empty() {
            write!(text, "{}: ", self.label)?;
        }
        if self.stamps {
            write!(text, "{}: ", packet.timestamp())?;
        }
        let field = |which| wifi::field(packet, which);
        write!(text, "{:4} | ", packet.len())?;
        match field(Field::Rate) {
            11 => write!(text, " 5.5Mb ")?,
            rate => write!(text, "{:2}Mb ", rate / 2)?,
        }
        write!(
            text,
            "+{:2}/{:2} | ",
            field(Field::Signal),
            field(Field::Noise)
        )?;
        let data = packet.data();
        let [control, flags, ..] = *data else {
            return writeln!(text, "(too short)");
        };
        match control & 0x0C {
            0 => {
                text.push_str("mgmt ");
                if let Some(frame) = Management::read(data) {
                    management(text, &frame)?;
                    if matches!(frame.subtype, subtype::BEACON | subtype::PROBE_RESPONSE) {
                        return writeln!(text);
                    }
                }
            }
            4 => {
                let kind = match control & 0xF0 {
                    0xA0 => "psp  ".to_owned(),
                    0xB0 => "rts  ".to_owned(),
                    0xC0 => "cts  ".to_owned(),
                    0xD0 => {
                        let low = data.get(2).copied().unwrap_or(0);
                        let high = data.get(3).copied().unwrap_or(0);
                        format!("ack  {} ", u16::from_le_bytes([low, high]))
                    }
                    0xE0 => "cfe  ".to_owned(),
                    0xF0 => "cfea ".to_owned(),
                    other => format!("unknown-subtype-{other} "),
                };
                write!(text, "cntl {kind}")?;
            }
            8 => {
                let direction = ["nods", "tods", "frds", "dsds"][usize::from(flags & 3)];
                write!(text, "data {direction} ")?;
            }
            other => write!(text, "unknown-type-{other} ")?,
        }
        for (at, least) in [(4, 10), (10, 16), (16, 23)] {
            if let Some(address) = data.get(at..at + 6)
                && data.len() >= least
            {
                let mut bytes = [0; 6];
                bytes.copy_from_slice(address);
                write!(text, "{} ", EtherAddress(bytes))?;
            }
        }
        if let Some(header) = Header::read(data) {
            write!(text, "seq {}", header.sequence())?;
            if header.fragment() > 0 || header.has_more() {
                write!(text, " frag {}", header.fragment())?;
            }
            text.push(' ');
        }
        let told = wifi::flags(packet);
        text.push('[');
        for (is_set, name) in [
            (told & wifi::SENT != 0, " tx"),
            (told & wifi::FAILED != 0, " fail"),
            (told & wifi::OTHER_RATE != 0, " alt_rate"),
            (told & wifi::BAD != 0, " err"),
            (told & wifi::MORE != 0, " more"),
            (flags & 8 != 0, " retry"),
            (flags & 0x40 != 0, " wep"),
        ] {
            if is_set {
                text.push_str(name);
            }
        }
        text.push_str(" ] ");
        if told & wifi::SENT != 0 {
            write!(text, " retries {}", field(Field::Retries))?;
        }
        writeln!(text)
    }
}

impl Element for PrintWifi {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.label = args.text("LABEL").to_owned();
        self.stamps = args.bool("TIMESTAMP");
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        for handle in batch.iter() {
            let mut text = String::new();
            self.describe(&mut text, &ctx.pool()[handle])
                .expect("a string takes any text");
            ctx.host().say(&text);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::elements::wifi::shared::wifi::testing::{frame, tell};
    use crate::probe::Probe;

    #[test]
    fn kinds_addresses_and_flags_are_told() {
        let mut probe = Probe::new("PrintWifi(a)", 1);
        probe.send(&frame(1, 7 << 4 | 2, b"x"));
        assert_eq!(
            probe.said(),
            "a:   25 |  0Mb + 0/ 0 | data tods 02-02-02-02-02-02 04-04-04-04-04-04 \
             06-06-06-06-06-06 seq 7 frag 2 [ ] \n"
        );
        let before = probe.said().len();
        let mut disassociated = frame(8, 0, &[8, 0]);
        disassociated[0] = 0xA0;
        probe.send_with(&disassociated, |packet| tell(packet, 1));
        let said = probe.said()[before..].to_owned();
        assert!(said.contains("mgmt disassoc assoc_leave 02-02"), "{said}");
        assert!(said.ends_with("seq 0 [ tx retry ]  retries 0\n"), "{said}");
    }

    #[test]
    fn frames_of_any_length_are_told() {
        let mut probe = Probe::new("PrintWifi", 1);
        for control in 0..=255 {
            let mut whole = frame(0, 0, &[7; 40]);
            whole[0] = control;
            for len in [0, 1, 2, 9, 10, 15, 16, 22, 23, 24, 25, 40, 64] {
                assert_eq!(probe.send(&whole[..len]).len(), 1);
            }
        }
        assert!(probe.said().contains("cntl ack  "));
    }
}
