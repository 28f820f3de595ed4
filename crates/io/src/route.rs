//! By which interface a packet leaves, and to which Ethernet address, as the kernel would send it.

use crate::configure::{family, link_header, octets};
use crate::error::{Error, Result};
use crate::netlink::{Message, Socket};
use crate::rtnetlink::{Link, NDA_DST, Neighbour, RTA_DST, RTA_OIF, Route, link, neighbour, route};
use crate::sys;
use std::io;
use std::net::IpAddr;

/// The first hop of packets to an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstHop {
    /// The interface that they leave by.
    pub link: Link,
    /// Who they are given to: a router, or the host itself.
    pub next: IpAddr,
    /// Its Ethernet address, where the kernel knows it.
    pub mac: Option<[u8; 6]>,
}

/// The number of the interface called `name`.
pub fn interface(name: &str) -> Result<u32> {
    sys::interface_index(name)
}

/// The first hop of packets to `to` by the interface of number `by`, or by that which the routes
/// choose.
pub fn first_hop(to: IpAddr, by: Option<u32>) -> Result<FirstHop> {
    let kernel = |what: String| move |source| Error::Kernel { what, source };
    let mut socket = Socket::open(&[]).map_err(kernel("cannot read the routes".to_owned()))?;
    let found = look_up(&mut socket, to, by);
    let that = if by.is_some() {
        " by that interface"
    } else {
        ""
    };
    let found = found.map_err(kernel(format!("no route to {to}{that}")))?;
    let read = || kernel(format!("cannot read the neighbours of {to}"));
    let link = link_of(&mut socket, found.interface).map_err(read())?;
    let next = found.gateway.unwrap_or(to);
    let neighbour = neighbour_of(&mut socket, link.index, next).map_err(read())?;
    let usable = neighbour.filter(Neighbour::is_usable);
    Ok(FirstHop {
        mac: usable.and_then(|neighbour| neighbour.mac),
        link,
        next,
    })
}

fn missing() -> io::Error {
    io::ErrorKind::NotFound.into()
}

fn look_up(socket: &mut Socket, to: IpAddr, by: Option<u32>) -> io::Result<crate::rtnetlink::Hop> {
    // `struct rtmsg`: family, bits of the destination, and nothing else.
    let bits = if to.is_ipv4() { 32 } else { 128 };
    let mut header = [0; 12];
    header[..2].copy_from_slice(&[family(to), bits]);
    let mut wish = Message::new(libc::RTM_GETROUTE, 0)
        .fixed(&header)
        .attribute(RTA_DST, &octets(to));
    if let Some(index) = by {
        wish = wish.number(RTA_OIF, index);
    }
    let mut found: Option<Route> = None;
    socket.exchange(wish, |message| {
        if message.kind == libc::RTM_NEWROUTE {
            found = found.take().or_else(|| route(message.payload));
        }
    })?;
    let mut hops = found.ok_or_else(missing)?.hops.into_iter();
    hops.next().ok_or_else(missing)
}

fn link_of(socket: &mut Socket, index: u32) -> io::Result<Link> {
    let wish = Message::new(libc::RTM_GETLINK, 0).fixed(&link_header(index, 0, 0));
    let mut found = None;
    socket.exchange(wish, |message| {
        if message.kind == libc::RTM_NEWLINK {
            found = found.take().or_else(|| link(message.payload));
        }
    })?;
    found.ok_or_else(missing)
}

/// The entry of `address`, if there is one.
fn neighbour_of(socket: &mut Socket, index: u32, address: IpAddr) -> io::Result<Option<Neighbour>> {
    // `struct ndmsg`: family, interface.
    let mut header = [0; 12];
    header[0] = family(address);
    header[4..8].copy_from_slice(&index.to_ne_bytes());
    let wish = Message::new(libc::RTM_GETNEIGH, 0)
        .fixed(&header)
        .attribute(NDA_DST, &octets(address));
    let mut found = None;
    let done = socket.exchange(wish, |message| {
        if message.kind == libc::RTM_NEWNEIGH {
            found = found.take().or_else(|| neighbour(message.payload));
        }
    });
    match done {
        Err(error) if error.raw_os_error() != Some(libc::ENOENT) => Err(error),
        _ => Ok(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netns::{Namespace, veth};

    #[test]
    fn the_kernel_tells_the_interface_the_router_and_its_mac() {
        let made = Namespace::new().and_then(|left| Ok((left, Namespace::new()?)));
        let (left, right) = match made {
            Ok(both) => both,
            Err(Error::NoRight { what, right }) => {
                eprintln!("skipped: no right to {what}: it needs {right}");
                return;
            }
            Err(error) => panic!("{error}"),
        };
        veth(&left, "a", &right, "b").expect("the pair of devices can be made");
        left.enable_ipv6().expect("Linux has it");
        left.add_address("a", "10.0.0.1/24")
            .expect("the address is free");
        left.add_address("a", "fd00::1/64")
            .expect("the address is free");
        left.add_route("10.9.0.0/16", Some("10.0.0.2"), "a")
            .expect("the router is near");
        let hop = |to: &str, by: Option<&str>| {
            let to = to.parse().expect("the address is well formed");
            left.run(|| first_hop(to, by.map(interface).transpose()?))
        };
        let found = hop("10.9.1.1", None).expect("there is a route");
        assert_eq!((found.link.name.as_str(), found.mac), ("a", None));
        assert_eq!(found.next, IpAddr::from([10, 0, 0, 2]));
        assert_eq!(found.link.mac, left.link("a").expect("it is there").mac);
        let mac = [2, 0, 0, 0, 0, 9];
        for address in ["10.0.0.2", "fd00::2"] {
            left.add_neighbour("a", address, mac).expect("it is new");
            let found = hop(address, Some("a")).expect("there is a route");
            assert_eq!(
                (found.mac, found.next.to_string().as_str()),
                (Some(mac), address)
            );
        }
        assert_eq!(
            hop("10.9.1.1", None).expect("there is a route").mac,
            Some(mac)
        );
        let error = hop("192.0.2.1", None).expect_err("no route").to_string();
        assert!(error.starts_with("no route to 192.0.2.1: "), "{error}");
        assert!(matches!(
            hop("10.0.0.2", Some("c")),
            Err(Error::NoInterface { .. })
        ));
    }
}
