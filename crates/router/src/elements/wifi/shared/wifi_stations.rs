//! What stations and access points of IEEE 802.11 tell each other: management frames and their
//! information elements, and what elements know of the network.
//!
//! A rate stands in a byte, in units of 500 kbit/s; its highest bit says that every station of the
//! network must know it.

use super::wifi::{Header, LEN};
use crate::args::addresses::EtherAddress;
use crate::elements::wifi::available_rates::AvailableRates;
use crate::elements::wifi::wireless_info::{Info, WirelessInfo};
use crate::engine::{Ctx, ElementId};
use std::fmt::Write;

/// Frames to everybody.
pub(crate) const EVERYBODY: [u8; 6] = [0xFF; 6];
/// The flag of a rate that everybody must know.
pub(crate) const BASIC: u8 = 0x80;
/// Rates that the first element of rates has at most; the others follow in another.
const MOST_RATES: usize = 8;
/// The longest name of a network.
const MOST_NAME: usize = 32;

/// Management frames, by the first byte of their control field.
pub(crate) mod subtype {
    /// Asks to be taken up.
    pub(crate) const ASSOCIATION_REQUEST: u8 = 0x00;
    /// Answers that.
    pub(crate) const ASSOCIATION_RESPONSE: u8 = 0x10;
    /// Asks who is there.
    pub(crate) const PROBE_REQUEST: u8 = 0x40;
    /// Answers that.
    pub(crate) const PROBE_RESPONSE: u8 = 0x50;
    /// Tells everybody of a network.
    pub(crate) const BEACON: u8 = 0x80;
    /// Ends what an association began.
    pub(crate) const DISASSOCIATION: u8 = 0xA0;
    /// Says who one is.
    pub(crate) const AUTHENTICATION: u8 = 0xB0;
}

/// Information elements, by their numbers.
pub(crate) mod element {
    /// The name of the network.
    pub(crate) const NAME: u8 = 0;
    /// Rates.
    pub(crate) const RATES: u8 = 1;
    /// The channel.
    pub(crate) const CHANNEL: u8 = 3;
    /// For whom the access point holds frames.
    pub(crate) const TRAFFIC: u8 = 5;
    /// Further rates.
    pub(crate) const MORE_RATES: u8 = 50;
}

/// What a network offers, in its capability field.
pub(crate) mod capability {
    /// It has an access point.
    pub(crate) const ESS: u16 = 1;
    /// Frames are encrypted.
    pub(crate) const PRIVACY: u16 = 0x10;
}

const CAPABILITIES: [(u16, &str); 5] = [
    (capability::ESS, "ESS"),
    (2, "IBSS"),
    (4, "CF_POLLABLE"),
    (8, "CF_POLLREQ"),
    (capability::PRIVACY, "PRIVACY"),
];

/// The names of what a capability field says.
pub(crate) fn capabilities(field: u16) -> Vec<&'static str> {
    let known = CAPABILITIES.iter().filter(|(bit, _)| field & bit != 0);
    known.map(|(_, name)| *name).collect()
}

/// A management frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Management<'a> {
    /// Which one.
    pub subtype: u8,
    /// Who sent it.
    pub source: [u8; 6],
    /// The access point.
    pub bssid: [u8; 6],
    /// What follows the header.
    pub body: &'a [u8],
}

impl Management<'_> {
    /// The management frame in `data`.
    pub(crate) fn read(data: &[u8]) -> Option<Management<'_>> {
        let header = Header::read(data)?;
        let [_, source, bssid] = header.addresses;
        (data[0] & 0x0C == 0).then_some(Management {
            subtype: data[0] & 0xF0,
            source,
            bssid,
            body: &data[LEN..],
        })
    }

    /// The 16-bit number at `at` of the body; none where that is not all there.
    pub(crate) fn word(&self, at: usize) -> Option<u16> {
        let bytes = self.body.get(at..at + 2)?;
        Some(u16::from_le_bytes([bytes[0], bytes[1]]))
    }

    /// The information element called `id`, of those that begin at `from`.
    pub(crate) fn find(&self, from: usize, id: u8) -> Option<&[u8]> {
        let mut rest = self.body.get(from..)?;
        let mut found = None;
        while let [number, len, after @ ..] = rest {
            let len = usize::from(*len).min(after.len());
            if *number == id {
                found = Some(&after[..len]);
            }
            rest = &after[len..];
        }
        found
    }

    /// The network's name, empty where the frame has none.
    pub(crate) fn name(&self, from: usize) -> String {
        let name = self.find(from, element::NAME).unwrap_or_default();
        String::from_utf8_lossy(&name[..name.len().min(MOST_NAME)]).into_owned()
    }

    /// All rates, as they stand in the frame.
    pub(crate) fn rates(&self, from: usize) -> Vec<u8> {
        let of = |id| self.find(from, id).unwrap_or_default();
        let (first, more) = (of(element::RATES), of(element::MORE_RATES));
        let short = |rates: &[u8]| rates[..rates.len().min(MOST_RATES)].to_vec();
        [short(first), short(more)].concat()
    }
}

/// A management frame from `source` to `to`.
pub(crate) fn management(subtype: u8, to: [u8; 6], source: [u8; 6], bssid: [u8; 6]) -> Vec<u8> {
    let mut frame = vec![subtype, 0, 0, 0];
    for address in [to, source, bssid] {
        frame.extend(address);
    }
    frame.extend([0, 0]);
    frame
}

/// Appends an information element.
pub(crate) fn put(frame: &mut Vec<u8>, id: u8, data: &[u8]) {
    let data = &data[..data.len().min(255)];
    frame.push(id);
    frame.push(data.len() as u8);
    frame.extend(data);
}

/// Appends the network's name.
pub(crate) fn put_name(frame: &mut Vec<u8>, name: &str) {
    put(frame, element::NAME, name.as_bytes());
}

/// Appends the first rates, and says which are left for [`put_more_rates`]. The lowest of the band
/// is basic: 1 Mbit/s, or 6 Mbit/s where `is_5_ghz`.
pub(crate) fn put_rates(frame: &mut Vec<u8>, rates: &[u8], is_5_ghz: bool) -> Vec<u8> {
    let is_basic = |rate: u8| rate == 2 || is_5_ghz && rate == 12;
    let marked = |rate: &u8| rate | if is_basic(*rate) { BASIC } else { 0 };
    let mut first: Vec<u8> = rates.iter().map(marked).collect();
    let more = first.split_off(first.len().min(MOST_RATES));
    put(frame, element::RATES, &first);
    more
}

/// Appends the rates that are left.
pub(crate) fn put_more_rates(frame: &mut Vec<u8>, more: &[u8]) {
    if !more.is_empty() {
        put(frame, element::MORE_RATES, more);
    }
}

/// Rates without the flag.
pub(crate) fn plain(rates: &[u8]) -> Vec<u8> {
    rates.iter().map(|rate| rate & !BASIC).collect()
}

/// Basic rates and others, as lists with spaces between.
pub(crate) fn rates_text(rates: &[u8]) -> (String, String) {
    let listed = |is_basic: bool| {
        let of = rates.iter().filter(|rate| (*rate & BASIC != 0) == is_basic);
        let words: Vec<String> = of.map(|rate| (rate & !BASIC).to_string()).collect();
        words.join(" ")
    };
    (listed(true), listed(false))
}

/// `[ ESS ] ( { 2 4 } 11 )`: what a network offers, and its rates.
pub(crate) fn offer_text(field: u16, rates: &[u8]) -> String {
    let mut text = "[ ".to_owned();
    for name in capabilities(field) {
        write!(text, "{name} ").expect("a string takes any text");
    }
    text += "] ( { ";
    let (basic, others) = rates_text(rates);
    for (list, end) in [(basic, "} "), (others, ")")] {
        for rate in list.split_whitespace() {
            write!(text, "{rate} ").expect("a string takes any text");
        }
        text += end;
    }
    text
}

/// What is known of the network; that of `WirelessInfo` where one is named.
pub(crate) fn info(ctx: &mut Ctx, named: Option<ElementId>) -> Info {
    let of = named.and_then(|id| ctx.get::<WirelessInfo>(id));
    of.map_or_else(Info::default, |one| one.info.clone())
}

/// The rates of a station.
pub(crate) fn rates_of(ctx: &mut Ctx, named: Option<ElementId>, station: [u8; 6]) -> Vec<u8> {
    let of = named.and_then(|id| ctx.get::<AvailableRates>(id));
    of.map_or_else(Vec::new, |one| one.of(EtherAddress(station)))
}

/// Notes the rates of a station.
pub(crate) fn learn_rates(ctx: &mut Ctx, named: Option<ElementId>, station: [u8; 6], rates: &[u8]) {
    if let Some(table) = named.and_then(|id| ctx.get::<AvailableRates>(id)) {
        table.learn(EtherAddress(station), &plain(rates));
    }
}

/// Whether elements that arguments name are what they must be.
pub(crate) fn check(
    ctx: &mut Ctx,
    info: Option<ElementId>,
    rates: Option<ElementId>,
) -> Result<(), String> {
    if let Some(id) = info
        && ctx.get::<WirelessInfo>(id).is_none()
    {
        return Err("WIRELESS_INFO: element type mismatch, expected WirelessInfo".to_owned());
    }
    if let Some(id) = rates
        && ctx.get::<AvailableRates>(id).is_none()
    {
        return Err("RT: element type mismatch, expected AvailableRates".to_owned());
    }
    Ok(())
}

/// Sends a frame out of output 0.
pub(crate) fn send(ctx: &mut Ctx, frame: &[u8]) {
    if let Some(packet) = ctx.pool().alloc_with(frame) {
        ctx.emit(0, packet);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_beyond_eight_stand_in_an_element_of_their_own() {
        let mut frame = management(subtype::BEACON, EVERYBODY, [2; 6], [2; 6]);
        frame.extend([0; 12]);
        put_name(&mut frame, "net");
        let rates: Vec<u8> = (1..=10).map(|rate| 2 * rate).collect();
        let more = put_rates(&mut frame, &rates, false);
        put_more_rates(&mut frame, &more);
        let read = Management::read(&frame).expect("it is one");
        assert_eq!((read.subtype, read.source), (subtype::BEACON, [2; 6]));
        assert_eq!(read.name(12), "net");
        assert_eq!(plain(&read.rates(12)), rates);
        assert_eq!(offer_text(1, &read.rates(12)[..3]), "[ ESS ] ( { 2 } 4 6 )");
    }

    #[test]
    fn elements_that_are_cut_off_are_read_as_far_as_they_go() {
        let mut frame = management(subtype::PROBE_REQUEST, EVERYBODY, [2; 6], EVERYBODY);
        put_name(&mut frame, "network");
        for len in 0..frame.len() {
            if let Some(read) = Management::read(&frame[..len]) {
                assert!("network".starts_with(&read.name(0)));
            }
        }
        assert!(Management::read(&[8; 30]).is_none(), "data");
    }
}
