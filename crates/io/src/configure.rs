//! Changes of the kernel's links, addresses, routes and neighbours.

use crate::netlink::{Message, Socket, number_at};
use crate::rtnetlink::{
    Change, Hop, IFA_ADDRESS, IFA_LOCAL, IFLA_ADDRESS, IFLA_IFNAME, IFLA_MTU, Link, NDA_DST,
    NDA_LLADDR, RTA_DST, RTA_GATEWAY, RTA_OIF, link,
};
use std::io;
use std::net::IpAddr;
use std::os::fd::RawFd;

const IFLA_MASTER: u16 = 10;
const IFLA_LINKINFO: u16 = 18;
const IFLA_NET_NS_FD: u16 = 28;
const IFLA_INFO_KIND: u16 = 1;
const IFLA_INFO_DATA: u16 = 2;
const VETH_INFO_PEER: u16 = 1;
const IFLA_GSO_MAX_SEGS: u16 = 40;
const RTA_METRICS: u16 = 8;

/// `struct ifinfomsg`.
pub(crate) fn link_header(index: u32, flags: u32, change: u32) -> [u8; 16] {
    let mut header = [0; 16];
    header[4..8].copy_from_slice(&index.to_ne_bytes());
    header[8..12].copy_from_slice(&flags.to_ne_bytes());
    header[12..16].copy_from_slice(&change.to_ne_bytes());
    header
}

pub(crate) fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}

pub(crate) fn family(address: IpAddr) -> u8 {
    let family = if address.is_ipv4() {
        libc::AF_INET
    } else {
        libc::AF_INET6
    };
    family as u8
}

const CREATE: libc::c_int = libc::NLM_F_CREATE | libc::NLM_F_EXCL;
const REPLACE: libc::c_int = libc::NLM_F_CREATE | libc::NLM_F_REPLACE;

impl Socket {
    /// The interface called `name`.
    pub fn link(&mut self, name: &str) -> io::Result<Link> {
        let wish = Message::new(libc::RTM_GETLINK, 0)
            .fixed(&link_header(0, 0, 0))
            .text(IFLA_IFNAME, name);
        let mut found = None;
        self.exchange(wish, |message| {
            if message.kind == libc::RTM_NEWLINK {
                found = found.take().or_else(|| link(message.payload));
            }
        })?;
        found.ok_or_else(|| io::Error::from_raw_os_error(libc::ENODEV))
    }

    /// Makes a pair of veth interfaces, the second in the namespace of descriptor `other`.
    pub(crate) fn add_veth(
        &mut self,
        name: &str,
        other: RawFd,
        other_name: &str,
    ) -> io::Result<()> {
        let pair = Message::new(libc::RTM_NEWLINK, CREATE)
            .fixed(&link_header(0, 0, 0))
            .text(IFLA_IFNAME, name)
            .nested(IFLA_LINKINFO, |info| {
                info.text(IFLA_INFO_KIND, "veth")
                    .nested(IFLA_INFO_DATA, |data| {
                        data.nested(VETH_INFO_PEER, |peer| {
                            peer.fixed(&link_header(0, 0, 0))
                                .text(IFLA_IFNAME, other_name)
                                .number(IFLA_NET_NS_FD, other.cast_unsigned())
                        })
                    })
            });
        self.request(pair)
    }

    /// Makes a bridge.
    pub fn add_bridge(&mut self, name: &str) -> io::Result<()> {
        let bridge = Message::new(libc::RTM_NEWLINK, CREATE)
            .fixed(&link_header(0, 0, 0))
            .text(IFLA_IFNAME, name)
            .nested(IFLA_LINKINFO, |info| info.text(IFLA_INFO_KIND, "bridge"));
        self.request(bridge)
    }

    /// Makes an interface a port of a bridge.
    pub(crate) fn set_bridge(&mut self, name: &str, bridge: &str) -> io::Result<()> {
        let index = self.link(bridge)?.index;
        self.change(name, IFLA_MASTER, &index.to_ne_bytes())
    }

    /// Removes an interface.
    pub fn delete_link(&mut self, name: &str) -> io::Result<()> {
        let message = Message::new(libc::RTM_DELLINK, 0).fixed(&link_header(0, 0, 0));
        self.request(message.text(IFLA_IFNAME, name))
    }

    /// Sets an interface up or down.
    pub fn set_up(&mut self, name: &str, is_up: bool) -> io::Result<()> {
        let up = libc::IFF_UP as u32;
        let header = link_header(0, if is_up { up } else { 0 }, up);
        self.request(
            Message::new(libc::RTM_NEWLINK, 0)
                .fixed(&header)
                .text(IFLA_IFNAME, name),
        )
    }

    /// Has the kernel answer and ask by ARP on an interface, or do neither. Whether it did before.
    pub fn set_arp(&mut self, name: &str, is_on: bool) -> io::Result<bool> {
        let bit = libc::IFF_NOARP as u32;
        let named = |kind, header: [u8; 16]| {
            let message = Message::new(kind, 0).fixed(&header);
            message.text(IFLA_IFNAME, name)
        };
        let mut before = None;
        self.exchange(named(libc::RTM_GETLINK, link_header(0, 0, 0)), |message| {
            if message.kind == libc::RTM_NEWLINK {
                before = number_at(message.payload, 8);
            }
        })?;
        let before = before.ok_or_else(|| io::Error::from_raw_os_error(libc::ENODEV))?;
        let header = link_header(0, if is_on { 0 } else { bit }, bit);
        self.request(named(libc::RTM_NEWLINK, header))?;
        Ok(before & bit == 0)
    }

    fn change(&mut self, name: &str, kind: u16, value: &[u8]) -> io::Result<()> {
        let message = Message::new(libc::RTM_NEWLINK, 0).fixed(&link_header(0, 0, 0));
        self.request(message.text(IFLA_IFNAME, name).attribute(kind, value))
    }

    /// Sets the largest packet, in bytes without the link header.
    pub fn set_mtu(&mut self, name: &str, mtu_bytes: u32) -> io::Result<()> {
        self.change(name, IFLA_MTU, &mtu_bytes.to_ne_bytes())
    }

    /// Sets of how many segments a super-packet is at most that the kernel hands to the interface.
    pub fn set_most_segments(&mut self, name: &str, segments: u32) -> io::Result<()> {
        self.change(name, IFLA_GSO_MAX_SEGS, &segments.to_ne_bytes())
    }

    /// Sets the Ethernet address.
    pub fn set_mac(&mut self, name: &str, mac: [u8; 6]) -> io::Result<()> {
        self.change(name, IFLA_ADDRESS, &mac)
    }

    /// Gives an interface an address.
    pub fn add_address(&mut self, name: &str, address: IpAddr, prefix: u8) -> io::Result<()> {
        let index = self.link(name)?.index;
        // Flag IFA_F_NODAD: an IPv6 address may be used at once.
        let mut header = [family(address), prefix, 0x02, 0, 0, 0, 0, 0];
        header[4..].copy_from_slice(&index.to_ne_bytes());
        let message = Message::new(libc::RTM_NEWADDR, REPLACE).fixed(&header);
        let bytes = octets(address);
        self.request(
            message
                .attribute(IFA_LOCAL, &bytes)
                .attribute(IFA_ADDRESS, &bytes),
        )
    }

    /// Adds or replaces a route of the main table, or removes it.
    pub fn change_route(
        &mut self,
        change: Change,
        to: IpAddr,
        prefix: u8,
        hop: &Hop,
    ) -> io::Result<()> {
        self.request(Socket::route(change, to, prefix, hop))
    }

    /// Adds or replaces a route whose connections have these metrics: numbers `RTAX_…` and values.
    pub fn add_route_with(
        &mut self,
        to: IpAddr,
        prefix: u8,
        hop: &Hop,
        metrics: &[(u16, u32)],
    ) -> io::Result<()> {
        let message = Socket::route(Change::Add, to, prefix, hop);
        self.request(message.nested(RTA_METRICS, |inner| {
            let put = |inner: Message, &(metric, value): &(u16, u32)| inner.number(metric, value);
            metrics.iter().fold(inner, put)
        }))
    }

    fn route(change: Change, to: IpAddr, prefix: u8, hop: &Hop) -> Message {
        let (kind, flags) = match change {
            Change::Add => (libc::RTM_NEWROUTE, REPLACE),
            Change::Del => (libc::RTM_DELROUTE, 0),
        };
        let scope = match (change, hop.gateway) {
            (Change::Del, _) => libc::RT_SCOPE_NOWHERE,
            (_, Some(_)) => libc::RT_SCOPE_UNIVERSE,
            (_, None) => libc::RT_SCOPE_LINK,
        };
        let (protocol, unicast) = match change {
            Change::Add => (libc::RTPROT_STATIC, libc::RTN_UNICAST),
            Change::Del => (0, 0),
        };
        let table = libc::RT_TABLE_MAIN;
        let header = [
            family(to),
            prefix,
            0,
            0,
            table,
            protocol,
            scope,
            unicast,
            0,
            0,
            0,
            0,
        ];
        let mut message = Message::new(kind, flags)
            .fixed(&header)
            .attribute(RTA_DST, &octets(to));
        if let Some(gateway) = hop.gateway {
            message = message.attribute(RTA_GATEWAY, &octets(gateway));
        }
        message.number(RTA_OIF, hop.interface)
    }

    /// Adds or replaces a neighbour that stays.
    pub fn add_neighbour(&mut self, name: &str, address: IpAddr, mac: [u8; 6]) -> io::Result<()> {
        let index = self.link(name)?.index;
        let mut header = [0; 12];
        header[0] = family(address);
        header[4..8].copy_from_slice(&index.to_ne_bytes());
        header[8..10].copy_from_slice(&libc::NUD_PERMANENT.to_ne_bytes());
        let message = Message::new(libc::RTM_NEWNEIGH, REPLACE).fixed(&header);
        self.request(
            message
                .attribute(NDA_DST, &octets(address))
                .attribute(NDA_LLADDR, &mac),
        )
    }
}
