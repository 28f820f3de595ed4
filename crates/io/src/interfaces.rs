//! The interfaces of this network namespace with their addresses, and the routers of their default
//! routes.

use crate::netlink::{Message, Socket};
use crate::rtnetlink::{self, Address, Link, Route};
use std::io;
use std::net::{IpAddr, Ipv4Addr};

/// `RT_TABLE_MAIN` and `RTN_UNICAST`.
const MAIN_TABLE: u32 = 254;
const UNICAST: u8 = 1;

/// An interface with its addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// The interface.
    pub link: Link,
    /// Its addresses with the bits of their networks, the main one of each kind first.
    pub addresses: Vec<(IpAddr, u8)>,
}

/// All interfaces.
pub fn interfaces() -> io::Result<Vec<Interface>> {
    let mut socket = Socket::open(&[])?;
    let mut all: Vec<Interface> = Vec::new();
    dump(&mut socket, libc::RTM_GETLINK, |payload| {
        all.extend(rtnetlink::link(payload).map(|link| Interface {
            link,
            addresses: Vec::new(),
        }));
    })?;
    dump(&mut socket, libc::RTM_GETADDR, |payload| {
        let Some(Address {
            interface,
            address,
            prefix,
        }) = rtnetlink::address(payload)
        else {
            return;
        };
        let of = all.iter_mut().find(|one| one.link.index == interface);
        if let Some(one) = of {
            one.addresses.push((address, prefix));
        }
    })?;
    Ok(all)
}

/// The router of the default route by the interface of number `index`, that of the lowest metric.
pub fn default_router(index: u32) -> io::Result<Option<Ipv4Addr>> {
    let mut socket = Socket::open(&[])?;
    let mut best: Option<(u32, Ipv4Addr)> = None;
    dump(&mut socket, libc::RTM_GETROUTE, |payload| {
        let Some(Route {
            destination: IpAddr::V4(_),
            prefix: 0,
            table: MAIN_TABLE,
            kind: UNICAST,
            metric,
            hops,
            ..
        }) = rtnetlink::route(payload)
        else {
            return;
        };
        let hop = hops.iter().find(|hop| hop.interface == index);
        if let Some(IpAddr::V4(router)) = hop.and_then(|hop| hop.gateway)
            && best.is_none_or(|(lowest, _)| metric < lowest)
        {
            best = Some((metric, router));
        }
    })?;
    Ok(best.map(|(_, router)| router))
}

/// Gives each of the kernel's answers to a question of `kind` to `each`.
fn dump(socket: &mut Socket, kind: u16, mut each: impl FnMut(&[u8])) -> io::Result<()> {
    let all = Message::new(kind, libc::NLM_F_DUMP).fixed(&[0; 16]);
    socket.exchange(all, |message| each(message.payload))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_interface_has_its_address() {
        let all = interfaces().expect("the kernel answers");
        let lo = all.iter().find(|one| one.link.name == "lo");
        let Some(lo) = lo.filter(|lo| lo.link.is_up) else {
            eprintln!("skipped: there is no loopback interface that is up");
            return;
        };
        assert!(
            lo.addresses.contains(&(Ipv4Addr::LOCALHOST.into(), 8)),
            "{lo:?}"
        );
        assert_eq!(
            default_router(lo.link.index).expect("the kernel answers"),
            None
        );
    }
}
