//! What a summary sees of a packet: its headers, as far as they are there and valid.
//!
//! Bytes beyond the IP packet's end are padding of the link and not seen. What was stripped from
//! the front is seen where a header is marked there.

use std::borrow::Cow;
use trammel_packet::anno;
use trammel_packet::headers::icmp::Icmp;
use trammel_packet::headers::ipv4::{Ipv4, OFFSET_MASK, protocol};
use trammel_packet::headers::tcp::Tcp;
use trammel_packet::headers::udp::Udp;
use trammel_packet::packet::Packet;

/// Why a field has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// The packet need not have it: another protocol, another type of ICMP.
    NotOfIt,
    /// No Ethernet header ends where the network header begins.
    Ethernet,
    /// So many bytes of the IP header are not there.
    Ip,
    /// So many bytes of the header of one of these protocols are not there.
    Transport(&'static [u8], usize),
}

/// What a writer is asked to look at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Care {
    pub(super) truncation: bool,
    pub(super) extra_length: bool,
}

pub(super) struct View<'a> {
    pub(super) packet: &'a Packet,
    care: Care,
    bytes: Cow<'a, [u8]>,
    /// Places of data and headers in `bytes`.
    data_at: usize,
    mac_at: Option<usize>,
    network_at: Option<usize>,
    transport_at: usize,
    /// Where in `bytes` the IP packet ends.
    end: usize,
    /// Whether the IP header is valid.
    is_ip: bool,
    /// The TCP, UDP or ICMP header that is valid.
    upper: Option<u8>,
    /// Bytes that the packet had beyond those that are there, as its annotation says.
    extra_length: u32,
    /// What is wrong with its headers: the first thing.
    pub(super) bad: Option<String>,
}

impl<'a> View<'a> {
    pub(super) fn new(packet: &'a Packet, needs_ip: bool, care: Care) -> View<'a> {
        let (mac, network, transport) = (
            packet.mac_header_at(),
            packet.network_header_at(),
            packet.transport_header_at(),
        );
        let front = [mac, network, transport]
            .into_iter()
            .flatten()
            .min()
            .unwrap_or(0)
            .min(0);
        let bytes = if front < 0 {
            let before = packet.before(front.unsigned_abs());
            Cow::Owned([before, packet.data()].concat())
        } else {
            Cow::Borrowed(packet.data())
        };
        let data_at = bytes.len() - packet.len();
        let place = |at: isize| data_at.saturating_add_signed(at).min(bytes.len());
        let network_at = network.map(place);
        let mut view = View {
            packet,
            care,
            data_at,
            mac_at: mac.map(place),
            network_at,
            transport_at: transport.map_or(bytes.len(), place),
            end: bytes.len(),
            is_ip: false,
            upper: None,
            extra_length: packet.anno_u32(anno::EXTRA_LENGTH),
            bad: None,
            bytes,
        };
        if needs_ip {
            view.look_at_ip(transport.is_some());
        }
        view
    }

    fn look_at_ip(&mut self, has_transport: bool) {
        let Some(network_at) = self.network_at else {
            return;
        };
        let network = &self.bytes[network_at..];
        let [version_ihl, _, high, low, ..] = network else {
            self.complain("truncated IP header".to_owned());
            return;
        };
        let (version, words) = (version_ihl >> 4, version_ihl & 15);
        let claimed = usize::from(u16::from_be_bytes([*high, *low]));
        let header_len = usize::from(words) * 4;
        let there = network.len();
        if version != 4 {
            return self.complain(format!("IP version {version}"));
        } else if header_len < Ipv4::LEN {
            return self.complain(format!("IP header length {words}"));
        } else if claimed < header_len {
            return self.complain(format!("IP length {claimed}"));
        }
        self.is_ip = true;
        if there > claimed {
            let padding = there - claimed;
            self.end -= padding;
            self.extra_length = self.extra_length.saturating_add(padding as u32);
        } else {
            let missing = (claimed - there).saturating_sub(self.extra_length as usize);
            if self.care.truncation && missing > 0 {
                self.complain(format!("truncated IP missing {missing}"));
            }
        }
        if !has_transport {
            self.transport_at = (network_at + header_len).min(self.bytes.len());
        }
        // Lengths are those that the IP header tells, so that nothing is extra, but in packets that
        // are longer than the header can tell.
        let whole = (self.end - network_at) as u64 + u64::from(self.extra_length);
        let limit = u64::from(u16::MAX);
        self.extra_length = if claimed as u64 == limit {
            whole.saturating_sub(limit) as u32
        } else {
            0
        };
        self.look_at_transport(network_at + header_len);
    }

    fn look_at_transport(&mut self, ip_header_end: usize) {
        let network = self.network();
        let Some(kind) = network.get(9).copied() else {
            return;
        };
        if ip_header_end >= self.end || !self.is_first_fragment() {
            return;
        }
        if kind == protocol::TCP {
            let words = self.transport().get(12).map(|byte| byte >> 4);
            if let Some(words) = words.filter(|words| *words < 5) {
                return self.complain(format!("TCP header length {words}"));
            }
        }
        self.upper = Some(kind);
    }

    fn complain(&mut self, what: String) {
        self.bad.get_or_insert(what);
    }

    /// Notes why a field is missing, where that is the packet's fault.
    pub(super) fn note(&mut self, missing: Missing) {
        let what = match missing {
            Missing::NotOfIt => return,
            Missing::Ethernet => "Ethernet header".to_owned(),
            _ if !self.is_ip => "no IP header".to_owned(),
            Missing::Ip => "truncated IP header capture".to_owned(),
            Missing::Transport(protocols, len) => {
                let name = match protocols {
                    [protocol::TCP] => "TCP",
                    [protocol::UDP] => "UDP",
                    [protocol::ICMP] => "ICMP",
                    _ => "TCP/UDP",
                };
                let kind = self.network().get(9);
                if kind.is_some_and(|kind| !protocols.contains(kind)) {
                    return;
                }
                let whole = self.transport().len() as u64 + u64::from(self.extra_length);
                if !self.is_first_fragment() {
                    format!("fragmented {name} header")
                } else if whole >= len as u64 {
                    format!("truncated {name} header capture")
                } else {
                    format!("truncated {name} header")
                }
            }
        };
        self.complain(what);
    }

    fn network(&self) -> &[u8] {
        self.network_at
            .and_then(|at| self.bytes.get(at..self.end))
            .unwrap_or_default()
    }

    fn transport(&self) -> &[u8] {
        self.bytes
            .get(self.transport_at..self.end)
            .unwrap_or_default()
    }

    /// Whether the fragment's offset is 0, or not there.
    fn is_first_fragment(&self) -> bool {
        let field = self.network().get(6..8);
        field.is_none_or(|field| u16::from_be_bytes([field[0], field[1]]) & OFFSET_MASK == 0)
    }

    /// The valid IP header with at least `len` bytes.
    pub(super) fn ip(&self, len: usize) -> Result<&[u8], Missing> {
        let network = self.network();
        if self.is_ip && network.len() >= len {
            Ok(network)
        } else {
            Err(Missing::Ip)
        }
    }

    /// The options of the IP header.
    pub(super) fn ip_options(&self) -> Result<&[u8], Missing> {
        let len = usize::from(self.ip(1)?[0] & 15) * 4;
        // Without options, a header that is cut short lacks none of them.
        if len == Ipv4::LEN {
            return Ok(&[]);
        }
        Ok(&self.ip(len)?[Ipv4::LEN..len])
    }

    /// The valid transport header with at least `len` bytes, where it is of one of `protocols`.
    pub(super) fn upper(&self, protocols: &'static [u8], len: usize) -> Result<&[u8], Missing> {
        let is_of_it = self.upper.is_some_and(|upper| protocols.contains(&upper));
        let transport = self.transport();
        if is_of_it && transport.len() >= len {
            Ok(transport)
        } else {
            Err(Missing::Transport(protocols, len))
        }
    }

    /// The ports of a protocol that has them, as far as `len` bytes; a TCP header's length is no
    /// matter.
    pub(super) fn ports(&self, len: usize) -> Result<&[u8], Missing> {
        const WITH: [u8; 4] = [
            protocol::TCP,
            protocol::UDP,
            protocol::DCCP,
            protocol::UDPLITE,
        ];
        let missing = Missing::Transport(&[protocol::TCP, protocol::UDP], len);
        let ip = self.ip(10).map_err(|_| missing)?;
        let is_beyond = ip.len() > usize::from(ip[0] & 15) * 4;
        let transport = self.transport();
        let has = is_beyond && self.is_first_fragment() && WITH.contains(&ip[9]);
        if has && transport.len() >= len {
            Ok(transport)
        } else {
            Err(missing)
        }
    }

    /// The options of the TCP header.
    pub(super) fn tcp_options(&self) -> Result<&[u8], Missing> {
        let header = self.upper(&[protocol::TCP], 13)?;
        let len = usize::from(header[12] >> 4) * 4;
        if len <= Tcp::LEN {
            return Ok(&[]);
        }
        header
            .get(Tcp::LEN..len)
            .ok_or(Missing::Transport(&[protocol::TCP], header.len() + 1))
    }

    /// The type of the ICMP message.
    pub(super) fn icmp_type(&self) -> Option<u8> {
        self.upper(&[protocol::ICMP], 1)
            .ok()
            .map(|message| message[0])
    }

    /// The Ethernet header: 14 bytes that end where the network header begins.
    pub(super) fn ether(&self) -> Result<&[u8], Missing> {
        let is_ahead = self.network_at.is_none_or(|network| self.data_at < network);
        let mac = self.mac_at.or(is_ahead.then_some(self.data_at));
        let network = self.network_at.unwrap_or(self.end);
        let header = mac.and_then(|mac| self.bytes.get(mac..network));
        header
            .filter(|header| header.len() == 14)
            .ok_or(Missing::Ethernet)
    }

    /// Bytes of the packet as IP tells them, or that are there where this is not IP.
    pub(super) fn ip_len(&self) -> u32 {
        let len = match self.ip(4) {
            Ok(ip) => u32::from(u16::from_be_bytes([ip[2], ip[3]])),
            Err(_) => self.packet.len() as u32,
        };
        len.saturating_add(if self.care.extra_length {
            self.extra_length
        } else {
            0
        })
    }

    /// Bytes of the IP packet that are there.
    pub(super) fn capture_len(&self) -> u32 {
        if self.is_ip {
            self.network().len() as u32
        } else {
            self.packet.len() as u32
        }
    }

    /// Where in `bytes` the payload begins and how long it claims to be.
    fn payload_place(&self) -> Option<(usize, usize)> {
        let Ok(ip) = self.ip(4) else {
            return Some((self.data_at, self.bytes.len() - self.data_at));
        };
        let mut at = self.transport_at;
        if self.is_first_fragment() {
            at += match ip.get(9) {
                Some(&protocol::TCP) => {
                    let words = self.transport().get(12).map_or(0, |byte| byte >> 4);
                    (usize::from(words) * 4).max(Tcp::LEN)
                }
                Some(&(protocol::UDP | protocol::UDPLITE)) => Udp::LEN,
                _ => 0,
            };
        }
        let claimed = usize::from(u16::from_be_bytes([ip[2], ip[3]]));
        let before = at.checked_sub(self.network_at?)?;
        Some((at, claimed.checked_sub(before)?))
    }

    /// The length that the payload claims.
    pub(super) fn payload_len(&self) -> Result<u32, Missing> {
        let (_, len) = self.payload_place().ok_or(Missing::NotOfIt)?;
        let has_extra = !self.is_ip || self.care.extra_length;
        Ok((len as u32).saturating_add(if has_extra { self.extra_length } else { 0 }))
    }

    /// The payload, as far as it is there.
    pub(super) fn payload(&self) -> Result<&[u8], Missing> {
        let (at, len) = self.payload_place().ok_or(Missing::NotOfIt)?;
        if len > 0 && at >= self.bytes.len() {
            return Err(Missing::NotOfIt);
        }
        let end = (at + len).min(self.end);
        Ok(self.bytes.get(at..end).unwrap_or_default())
    }

    /// The ICMP message with at least `len` bytes.
    pub(super) fn icmp(&self, len: usize) -> Result<&[u8], Missing> {
        self.upper(&[protocol::ICMP], len)
    }

    /// The ICMP message, where its type has identifier and sequence, with at least `len` bytes.
    pub(super) fn icmp_sequenced(&self, len: usize) -> Result<&[u8], Missing> {
        if !super::builder::has_flow(self.icmp(1)?[0]) {
            return Err(Missing::NotOfIt);
        }
        self.icmp(len.min(Icmp::LEN))
    }
}
