//! The kernel's links, addresses, routes and neighbours: read, followed and changed.
//!
//! [`Follower`] first tells all there is, then each change. Where the kernel lost notices it tells
//! [`Event::Restart`] and all there is anew: who follows forgets what it knew.
//!
//! The kernel does not tell all that becomes of its routes: those of IPv4 by an interface that is
//! set down, or from an address that goes, vanish without a notice, and so do those by a next hop
//! object. The follower tells [`Event::Unsettled`] then, and who follows asks for all there is anew
//! ([`Follower::restart`]) once the kernel is done.

use crate::netlink::{Message, Received, Socket, attributes, half_at, number_at};
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::RawFd;

/// Attributes (`linux/if_link.h`, `if_addr.h`, `rtnetlink.h`, `neighbour.h`), which the `libc`
/// crate has in several types.
pub(crate) const IFLA_ADDRESS: u16 = 1;
pub(crate) const IFLA_IFNAME: u16 = 3;
pub(crate) const IFLA_MTU: u16 = 4;
const IFLA_STATS64: u16 = 23;
pub(crate) const IFA_ADDRESS: u16 = 1;
pub(crate) const IFA_LOCAL: u16 = 2;
pub(crate) const RTA_DST: u16 = 1;
pub(crate) const RTA_OIF: u16 = 4;
pub(crate) const RTA_GATEWAY: u16 = 5;
const RTA_PRIORITY: u16 = 6;
const RTA_MULTIPATH: u16 = 9;
const RTA_TABLE: u16 = 15;
const RTA_VIA: u16 = 18;
const RTA_NH_ID: u16 = 30;
/// Next hop objects (`linux/nexthop.h`): attributes, messages and their group.
const NHA_ID: u16 = 1;
const NHA_GROUP: u16 = 2;
const NHA_BLACKHOLE: u16 = 4;
const NHA_OIF: u16 = 5;
const NHA_GATEWAY: u16 = 6;
const RTM_NEWNEXTHOP: u16 = 104;
const RTM_DELNEXTHOP: u16 = 105;
const RTM_GETNEXTHOP: u16 = 106;
const RTNLGRP_NEXTHOP: libc::c_uint = 32;
/// A hop that is not used (`linux/rtnetlink.h`).
const RTNH_F_DEAD: u32 = 1;
/// The kind of a route that takes packets in and loses them.
const RTN_BLACKHOLE: u8 = 6;
pub(crate) const NDA_DST: u16 = 1;
pub(crate) const NDA_LLADDR: u16 = 2;

/// Whether something came or went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It came or is now otherwise.
    Add,
    /// It went.
    Del,
}

/// An interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its number.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// Its Ethernet address.
    pub mac: Option<[u8; 6]>,
    /// Its largest packet without the link header, in bytes.
    pub mtu: u32,
    /// Whether it is set up.
    pub is_up: bool,
    /// Whether it has a carrier.
    pub is_running: bool,
    /// What it counted.
    pub counters: LinkCounters,
}

/// What the kernel counts of an interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// Frames that came.
    pub received: u64,
    /// Frames that went.
    pub sent: u64,
    /// Frames that came and were dropped.
    pub receive_drops: u64,
    /// Frames that were to go and were dropped.
    pub send_drops: u64,
}

/// An address of an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The interface's number.
    pub interface: u32,
    /// The address.
    pub address: IpAddr,
    /// The bits of its network.
    pub prefix: u8,
}

/// A route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The network.
    pub destination: IpAddr,
    /// Its bits.
    pub prefix: u8,
    /// The kind, `RTN_UNICAST` and so on.
    pub kind: u8,
    /// The table, 254 the main one.
    pub table: u32,
    /// The metric; the lowest wins.
    pub metric: u32,
    /// The type of service of the packets that it is for; 0 for all.
    pub tos: u8,
    /// It takes the place of the one that was there, rather than standing beside it.
    pub replaces: bool,
    /// Where to send: several for a route of several paths.
    pub hops: Vec<Hop>,
}

/// A next hop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The router, or none where the network is on the link.
    pub gateway: Option<IpAddr>,
    /// The interface's number.
    pub interface: u32,
    /// It is not used now, since its interface is down.
    pub is_dead: bool,
}

/// A neighbour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// The interface's number.
    pub interface: u32,
    /// Its address.
    pub address: IpAddr,
    /// Its Ethernet address, where it is known.
    pub mac: Option<[u8; 6]>,
    /// Its state, `NUD_…`.
    pub state: u16,
}

impl Neighbour {
    /// Whether frames may be sent to [`Neighbour::mac`].
    pub fn is_usable(&self) -> bool {
        let usable = libc::NUD_PERMANENT
            | libc::NUD_NOARP
            | libc::NUD_REACHABLE
            | libc::NUD_STALE
            | libc::NUD_DELAY
            | libc::NUD_PROBE;
        self.mac.is_some() && self.state & usable != 0
    }
}

/// What a follower tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Forget everything: all there is follows.
    Restart,
    /// All there is has been told; changes follow.
    Complete,
    /// An interface.
    Link(Change, Link),
    /// An address.
    Address(Change, Address),
    /// A route.
    Route(Change, Route),
    /// A neighbour.
    Neighbour(Change, Neighbour),
    /// Routes may have gone, come or changed of which there is no notice.
    Unsettled,
}

fn ip(bytes: &[u8]) -> Option<IpAddr> {
    match bytes.len() {
        4 => <[u8; 4]>::try_from(bytes)
            .ok()
            .map(|b| Ipv4Addr::from(b).into()),
        16 => <[u8; 16]>::try_from(bytes)
            .ok()
            .map(|b| Ipv6Addr::from(b).into()),
        _ => None,
    }
}

fn family_of(bytes: &[u8]) -> Option<IpAddr> {
    match libc::c_int::from(*bytes.first()?) {
        libc::AF_INET => Some(Ipv4Addr::UNSPECIFIED.into()),
        libc::AF_INET6 => Some(Ipv6Addr::UNSPECIFIED.into()),
        _ => None,
    }
}

fn number(value: &[u8]) -> u32 {
    number_at(value, 0).unwrap_or(0)
}

pub(crate) fn link(payload: &[u8]) -> Option<Link> {
    let flags = number_at(payload, 8)?;
    let mut link = Link {
        index: number_at(payload, 4)?,
        name: String::new(),
        mac: None,
        mtu: 0,
        is_up: flags & libc::IFF_UP as u32 != 0,
        is_running: flags & libc::IFF_RUNNING as u32 != 0,
        counters: LinkCounters::default(),
    };
    for (kind, value) in attributes(payload.get(16..)?) {
        match kind {
            IFLA_IFNAME => {
                link.name =
                    String::from_utf8_lossy(value.strip_suffix(&[0]).unwrap_or(value)).into_owned();
            }
            IFLA_ADDRESS => link.mac = value.try_into().ok(),
            IFLA_MTU => link.mtu = number(value),
            IFLA_STATS64 => {
                // rx_packets, tx_packets, rx_bytes, tx_bytes, rx_errors, tx_errors, rx_dropped,
                // tx_dropped
                let counter = |n: usize| {
                    value
                        .get(n * 8..n * 8 + 8)
                        .and_then(|bytes| bytes.try_into().ok())
                        .map_or(0, u64::from_ne_bytes)
                };
                link.counters = LinkCounters {
                    received: counter(0),
                    sent: counter(1),
                    receive_drops: counter(6),
                    send_drops: counter(7),
                };
            }
            _ => {}
        }
    }
    Some(link)
}

pub(crate) fn address(payload: &[u8]) -> Option<Address> {
    family_of(payload)?;
    let (mut local, mut peer) = (None, None);
    for (kind, value) in attributes(payload.get(8..)?) {
        match kind {
            IFA_LOCAL => local = ip(value),
            IFA_ADDRESS => peer = ip(value),
            _ => {}
        }
    }
    Some(Address {
        interface: number_at(payload, 4)?,
        address: local.or(peer)?,
        prefix: *payload.get(1)?,
    })
}

pub(crate) fn route(payload: &[u8]) -> Option<Route> {
    Some(route_and_object(payload)?.0)
}

/// A route, and the number of the next hop object that it goes by.
fn route_and_object(payload: &[u8]) -> Option<(Route, Option<u32>)> {
    let mut route = Route {
        destination: family_of(payload)?,
        prefix: *payload.get(1)?,
        tos: *payload.get(3)?,
        replaces: false,
        table: u32::from(*payload.get(4)?),
        kind: *payload.get(7)?,
        metric: 0,
        hops: Vec::new(),
    };
    let (mut gateway, mut interface, mut object) = (None, None, None);
    let is_dead = number_at(payload, 8)? & RTNH_F_DEAD != 0;
    for (kind, value) in attributes(payload.get(12..)?) {
        match kind {
            RTA_DST => route.destination = ip(value)?,
            RTA_GATEWAY => gateway = ip(value),
            RTA_VIA => gateway = via(value),
            RTA_NH_ID => object = number_at(value, 0),
            RTA_OIF => interface = number_at(value, 0),
            RTA_PRIORITY => route.metric = number(value),
            RTA_TABLE => route.table = number(value),
            RTA_MULTIPATH => route.hops = paths(value),
            _ => {}
        }
    }
    if let Some(interface) = interface {
        route.hops.push(Hop {
            gateway,
            interface,
            is_dead,
        });
    }
    Some((route, object))
}

/// `struct rtvia`: a family, and an address of it.
fn via(value: &[u8]) -> Option<IpAddr> {
    ip(value.get(2..)?)
}

/// The hops of a route of several paths: `struct rtnexthop`, each with attributes of its own.
fn paths(mut bytes: &[u8]) -> Vec<Hop> {
    let mut hops = Vec::new();
    while let (Some(len), Some(interface)) = (half_at(bytes, 0), number_at(bytes, 4)) {
        let len = len as usize;
        if len < 8 || len > bytes.len() {
            break;
        }
        let gateway = attributes(&bytes[8..len]).find_map(|(kind, value)| match kind {
            RTA_GATEWAY => ip(value),
            RTA_VIA => via(value),
            _ => None,
        });
        hops.push(Hop {
            gateway,
            interface,
            is_dead: u32::from(bytes[2]) & RTNH_F_DEAD != 0,
        });
        bytes = bytes.get(len.next_multiple_of(4)..).unwrap_or(&[]);
    }
    hops
}

pub(crate) fn neighbour(payload: &[u8]) -> Option<Neighbour> {
    family_of(payload)?;
    let (mut address, mut mac) = (None, None);
    for (kind, value) in attributes(payload.get(12..)?) {
        match kind {
            NDA_DST => address = ip(value),
            NDA_LLADDR => mac = value.try_into().ok(),
            _ => {}
        }
    }
    Some(Neighbour {
        interface: number_at(payload, 4)?,
        address: address?,
        mac,
        state: half_at(payload, 8)?,
    })
}

/// What a message tells besides routes.
fn event(message: &Received<'_>) -> Option<Event> {
    use Change::{Add, Del};
    let payload = message.payload;
    match message.kind {
        libc::RTM_NEWLINK => link(payload).map(|link| Event::Link(Add, link)),
        libc::RTM_DELLINK => link(payload).map(|link| Event::Link(Del, link)),
        libc::RTM_NEWADDR => address(payload).map(|address| Event::Address(Add, address)),
        libc::RTM_DELADDR => address(payload).map(|address| Event::Address(Del, address)),
        libc::RTM_NEWNEIGH => neighbour(payload).map(|neighbour| Event::Neighbour(Add, neighbour)),
        libc::RTM_DELNEIGH => neighbour(payload).map(|neighbour| Event::Neighbour(Del, neighbour)),
        _ => None,
    }
}

/// A next hop object.
#[derive(Debug)]
enum Object {
    Hop(Hop),
    Group(Vec<u32>),
    Blackhole,
}

fn object(payload: &[u8]) -> Option<(u32, Object)> {
    let (mut number, mut group, mut interface, mut gateway) = (None, None, None, None);
    let (mut is_blackhole, flags) = (false, number_at(payload, 4)?);
    for (kind, value) in attributes(payload.get(8..)?) {
        match kind {
            NHA_ID => number = number_at(value, 0),
            // `struct nexthop_grp`: the number, the weight, and room.
            NHA_GROUP => group = Some(value.chunks_exact(8).filter_map(|one| number_at(one, 0))),
            NHA_BLACKHOLE => is_blackhole = true,
            NHA_OIF => interface = number_at(value, 0),
            NHA_GATEWAY => gateway = ip(value),
            _ => {}
        }
    }
    let object = match (group, interface) {
        (Some(group), _) => Object::Group(group.collect()),
        _ if is_blackhole => Object::Blackhole,
        (_, Some(interface)) => Object::Hop(Hop {
            gateway,
            interface,
            is_dead: flags & RTNH_F_DEAD != 0,
        }),
        _ => return None,
    };
    Some((number?, object))
}

/// What the follower knows besides what it tells.
#[derive(Debug, Default)]
struct Known {
    /// The flags of links, by their numbers.
    links: BTreeMap<u32, u32>,
    objects: BTreeMap<u32, Object>,
}

impl Known {
    /// Notes what a message says; whether routes may change with it of which there will be no
    /// notice.
    fn note(&mut self, message: &Received<'_>) -> bool {
        let payload = message.payload;
        match message.kind {
            libc::RTM_NEWLINK | libc::RTM_DELLINK => {
                let (Some(index), Some(flags)) = (number_at(payload, 4), number_at(payload, 8))
                else {
                    return false;
                };
                if message.kind == libc::RTM_DELLINK {
                    return self.links.remove(&index).is_some();
                }
                let before = self.links.insert(index, flags);
                before.is_some_and(|before| before != flags)
            }
            libc::RTM_DELADDR | RTM_DELNEXTHOP => true,
            RTM_NEWNEXTHOP => {
                if let Some((number, object)) = object(payload) {
                    self.objects.insert(number, object);
                }
                message.is_notice()
            }
            _ => false,
        }
    }

    /// A route with its hops, of next hop objects too: the kernel leaves them out where the switch
    /// `net.ipv4.nexthop_compat_mode` is off.
    fn route(&self, payload: &[u8]) -> Option<Route> {
        let (mut route, object) = route_and_object(payload)?;
        let Some(object) = object.filter(|_| route.hops.is_empty()) else {
            return Some(route);
        };
        let single = |number: &u32| match self.objects.get(number) {
            Some(Object::Hop(hop)) => Some(hop.clone()),
            _ => None,
        };
        match self.objects.get(&object) {
            Some(Object::Hop(hop)) => route.hops.push(hop.clone()),
            Some(Object::Group(all)) => route.hops.extend(all.iter().filter_map(single)),
            Some(Object::Blackhole) => route.kind = RTN_BLACKHOLE,
            None => {}
        }
        Some(route)
    }

    /// What a message tells, if it is one of those that are followed.
    fn events(&mut self, message: &Received<'_>, tell: &mut impl FnMut(Event)) {
        if self.note(message) {
            tell(Event::Unsettled);
        }
        let event = match message.kind {
            libc::RTM_NEWROUTE | libc::RTM_DELROUTE => {
                self.route(message.payload).map(|mut route| {
                    route.replaces = message.flags & libc::NLM_F_REPLACE as u16 != 0;
                    let is_new = message.kind == libc::RTM_NEWROUTE;
                    Event::Route(if is_new { Change::Add } else { Change::Del }, route)
                })
            }
            _ => event(message),
        };
        if let Some(event) = event {
            tell(event);
        }
    }
}

/// Follows the tables of the namespace that it was opened in.
#[derive(Debug)]
pub struct Follower {
    socket: Socket,
    is_started: bool,
    known: Known,
}

impl Follower {
    /// Follows links, addresses, routes and neighbours, of IPv4 and IPv6.
    pub fn open() -> io::Result<Follower> {
        let socket = Socket::open(&[
            libc::RTNLGRP_LINK,
            libc::RTNLGRP_NEIGH,
            libc::RTNLGRP_IPV4_IFADDR,
            libc::RTNLGRP_IPV6_IFADDR,
            libc::RTNLGRP_IPV4_ROUTE,
            libc::RTNLGRP_IPV6_ROUTE,
        ])?;
        // A full table of the Internet is loaded at some 200 bytes a route and faster than a busy
        // router reads; what does not fit costs a restart, no error.
        socket.set_buffer(8 << 20)?;
        // A kernel before 5.3 has no next hop objects.
        let _ = socket.join(RTNLGRP_NEXTHOP);
        Ok(Follower {
            socket,
            is_started: false,
            known: Known::default(),
        })
    }

    /// Has the next [`poll`](Self::poll) tell all there is anew.
    pub fn restart(&mut self) {
        self.is_started = false;
    }

    /// The descriptor to wait on.
    pub fn descriptor(&self) -> RawFd {
        self.socket.descriptor()
    }

    /// Tells what has happened since the last call, the first time all there is. Does not wait for
    /// changes.
    pub fn poll(&mut self, mut tell: impl FnMut(Event)) -> io::Result<()> {
        if !self.is_started {
            self.dump(&mut tell)?;
            self.is_started = true;
        }
        loop {
            let known = &mut self.known;
            let polled = (self.socket).poll(|message| known.events(&message, &mut tell));
            match polled {
                Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => {
                    self.dump(&mut tell)?;
                }
                other => return other,
            }
        }
    }

    fn dump(&mut self, tell: &mut impl FnMut(Event)) -> io::Result<()> {
        'again: loop {
            tell(Event::Restart);
            self.known = Known::default();
            for kind in [
                libc::RTM_GETLINK,
                libc::RTM_GETADDR,
                RTM_GETNEXTHOP,
                libc::RTM_GETROUTE,
                libc::RTM_GETNEIGH,
            ] {
                let mut was_interrupted = false;
                // The kernel is strict about the length of this one.
                let fixed = if kind == RTM_GETNEXTHOP { 8 } else { 16 };
                let all = Message::new(kind, libc::NLM_F_DUMP).fixed(&[0; 16][..fixed]);
                let known = &mut self.known;
                let done = self.socket.exchange(all, |message| {
                    was_interrupted |= message.flags & libc::NLM_F_DUMP_INTR as u16 != 0;
                    known.events(&message, tell);
                });
                match done {
                    Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => continue 'again,
                    // A kernel before 5.3 knows no such message.
                    Err(_) if kind == RTM_GETNEXTHOP => {}
                    other => other?,
                }
                if was_interrupted {
                    continue 'again;
                }
            }
            tell(Event::Complete);
            return Ok(());
        }
    }
}
