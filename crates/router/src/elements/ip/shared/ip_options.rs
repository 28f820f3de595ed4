//! The options of IPv4 that a router takes part in: record route and timestamp.
//!
//! # References
//! RFC 791, §3.1; RFC 1812, §5.2.4 and §5.3.13.

use trammel_packet::headers::ipv4::{self, Ipv4, option};
use trammel_packet::packet::Packet;
use trammel_packet::timestamp::Timestamp;

/// Milliseconds since midnight, as the timestamp option has them.
pub(crate) fn milliseconds_of_day(now: Timestamp) -> u32 {
    const DAY_NS: i64 = 86_400_000_000_000;
    (now.0.rem_euclid(DAY_NS) / 1_000_000) as u32
}

/// The options of a header, in order, as places from its start; one that is not well formed ends
/// them and its place is the error.
pub(crate) fn places(
    header: &[u8],
) -> impl Iterator<Item = Result<std::ops::Range<usize>, usize>> + '_ {
    let mut at = Ipv4::LEN;
    std::iter::from_fn(move || {
        while header.get(at) == Some(&option::NOP) {
            at += 1;
        }
        if *header.get(at)? == option::EOL {
            return None;
        }
        let from = at;
        let len = usize::from(header.get(at + 1).copied().unwrap_or(0));
        if len < 2 || from + len > header.len() {
            at = header.len();
            return Some(Err(from));
        }
        at += len;
        Some(Ok(from..at))
    })
}

/// Writes what a router writes into the options of the header at the front of `network`: `address`
/// is the one to record, `own` are those whose timestamps are this router's. An error is the place
/// of what is wrong in the header, which is then left as it was.
#[cold]
pub(crate) fn record(
    network: &mut [u8],
    address: [u8; 4],
    own: &[[u8; 4]],
    milliseconds: u32,
) -> Result<(), u8> {
    let len = Ipv4::read(network).map_or(0, Ipv4::header_len);
    let Some(header) = network.get(..len) else {
        return Err(0);
    };
    let mut copy = [0; 60];
    copy[..len].copy_from_slice(header);
    let mut changes = false;
    for place in places(header) {
        let place = place.map_err(|at| at as u8 + 1)?;
        let at = place.start as u8;
        let option = &mut copy[place];
        let done = match option[0] {
            option::RR => record_route(option, address),
            option::TS => record_time(option, address, own, milliseconds.to_be_bytes()),
            _ => continue,
        };
        done.map_err(|wrong| at + wrong)?;
        changes = true;
    }
    if changes {
        network[..len].copy_from_slice(&copy[..len]);
        ipv4::set_checksum(network);
    }
    Ok(())
}

/// Appends an address; the error is the place within the option.
fn record_route(option: &mut [u8], address: [u8; 4]) -> Result<(), u8> {
    // The pointer counts from 1.
    let next = option
        .get(2)
        .map_or(0, |pointer| usize::from(*pointer))
        .wrapping_sub(1);
    let len = option.len();
    match option.get_mut(next..next.wrapping_add(4)) {
        Some(place) if next >= 3 => {
            place.copy_from_slice(&address);
            option[2] += 4;
            Ok(())
        }
        _ if next == len => Ok(()),
        _ => Err(2),
    }
}

/// Appends a timestamp, with an address where the option's flags want it.
fn record_time(
    option: &mut [u8],
    address: [u8; 4],
    own: &[[u8; 4]],
    time: [u8; 4],
) -> Result<(), u8> {
    let [_, _, pointer, flags, ..] = *option else {
        return Err(2);
    };
    let next = usize::from(pointer).wrapping_sub(1);
    if !(4..=255).contains(&next) {
        return Err(2);
    }
    let (missed, kind) = (flags >> 4, flags & 15);
    let is_room = |bytes: usize| next + bytes <= option.len();
    match kind {
        0 if is_room(4) => {
            option[next..next + 4].copy_from_slice(&time);
            option[2] += 4;
        }
        1 if is_room(8) => {
            option[next..next + 4].copy_from_slice(&address);
            option[next + 4..next + 8].copy_from_slice(&time);
            option[2] += 8;
        }
        3 if is_room(8) => {
            if own.iter().any(|own| option[next..next + 4] == *own) {
                option[next + 4..next + 8].copy_from_slice(&time);
                option[2] += 8;
            }
        }
        0 | 1 if missed < 15 => option[3] = (missed + 1) << 4 | kind,
        _ => return Err(3),
    }
    Ok(())
}

/// Whether a packet's header is longer than one without options.
#[inline]
pub(crate) fn has_options(packet: &Packet) -> bool {
    packet
        .network_header()
        .first()
        .is_some_and(|first| first & 15 > 5)
}

/// The options of a header that go into every fragment, padded to words.
pub(crate) fn copied_to_fragments(header: &[u8], into: &mut [u8; 40]) -> usize {
    let mut len = 0;
    for place in places(header).map_while(Result::ok) {
        let option = &header[place];
        // The highest bit of an option says that fragments carry it.
        if option[0] & 0x80 != 0 {
            into[len..len + option.len()].copy_from_slice(option);
            len += option.len();
        }
    }
    let padded = len.next_multiple_of(4);
    into[len..padded].fill(option::EOL);
    padded
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use trammel_packet::headers::checksum::checksum;

    /// A header with these options.
    fn header(options: &[u8]) -> Vec<u8> {
        let mut header = vec![0; 20];
        header.extend(options);
        header.resize(header.len().next_multiple_of(4), 0);
        header[0] = 0x40 | (header.len() / 4) as u8;
        header
    }

    #[test]
    fn a_route_is_recorded_until_there_is_no_room() {
        let mut h = header(&[1, 7, 7, 4, 0, 0, 0, 0]);
        assert_eq!(record(&mut h, [9, 8, 7, 6], &[], 0), Ok(()));
        assert_eq!(h[20..28], [1, 7, 7, 8, 9, 8, 7, 6]);
        assert_eq!(checksum(&h), 0);
        assert_eq!(record(&mut h, [1, 1, 1, 1], &[], 0), Ok(()));
        assert_eq!(h[24..28], [9, 8, 7, 6]);
        let mut odd = header(&[7, 7, 6, 0, 0, 0, 0]);
        assert_eq!(record(&mut odd, [1, 1, 1, 1], &[], 0), Err(22));
    }

    #[test]
    fn times_are_recorded_and_missed_ones_counted() {
        let mut h = header(&[68, 8, 5, 0x00, 0, 0, 0, 0]);
        assert_eq!(record(&mut h, [0; 4], &[], 0x0102_0304), Ok(()));
        assert_eq!(h[20..28], [68, 8, 9, 0, 1, 2, 3, 4]);
        assert_eq!(record(&mut h, [0; 4], &[], 0), Ok(()));
        assert_eq!(h[23], 0x10);
        let mut full = header(&[68, 8, 9, 0xF0, 0, 0, 0, 0]);
        assert_eq!(record(&mut full, [0; 4], &[], 0), Err(23));
        let mut mine = header(&[68, 12, 5, 3, 5, 5, 5, 5, 0, 0, 0, 0]);
        assert_eq!(record(&mut mine, [0; 4], &[[5, 5, 5, 5]], 7), Ok(()));
        assert_eq!(mine[20..32], [68, 12, 13, 3, 5, 5, 5, 5, 0, 0, 0, 7]);
    }

    #[test]
    fn a_length_that_lies_is_told() {
        assert_eq!(record(&mut header(&[7, 1]), [0; 4], &[], 0), Err(21));
        assert_eq!(
            record(&mut header(&[1, 130, 9, 0]), [0; 4], &[], 0),
            Err(22)
        );
    }

    #[test]
    fn fragments_get_what_says_so() {
        let mut into = [9; 40];
        let h = header(&[1, 7, 3, 4, 148, 4, 0, 0, 0]);
        assert_eq!(copied_to_fragments(&h, &mut into), 4);
        assert_eq!(into[..4], [148, 4, 0, 0]);
    }

    proptest! {
        #[test]
        fn no_options_are_trouble(options in prop::collection::vec(any::<u8>(), 0..40)) {
            let mut h = header(&options);
            let before = h.clone();
            if record(&mut h, [1, 2, 3, 4], &[[5; 4]], 6).is_err() {
                prop_assert_eq!(&h, &before);
            }
            let mut into = [0; 40];
            prop_assert!(copied_to_fragments(&h, &mut into) <= 40);
        }
    }
}
