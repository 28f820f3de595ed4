//! Raw sockets of ICMP (RFC 792) and ICMPv6 (RFC 4443), which take in one type of message or none.
//!
//! They send and receive as sockets of UDP do. What comes of IPv4 has its IP header in front; the checksum of ICMPv6 is the
//! kernel's work both ways, that of ICMP nobody's.

use crate::error::{Error, Result};
use crate::sys;
use std::net::{IpAddr, UdpSocket};
use std::os::fd::OwnedFd;

/// Options that the `libc` crate lacks (`linux/icmp.h`, `linux/icmpv6.h`): which types are kept out, a bit each.
const SOL_RAW: libc::c_int = 255;
const ICMP_FILTER: libc::c_int = 1;
const ICMPV6_FILTER: libc::c_int = 1;

/// A socket at `local`, of its address family, that takes in messages of type `takes`. Needs `CAP_NET_RAW`.
pub fn socket(local: IpAddr, takes: Option<u8>) -> Result<UdpSocket> {
    let of = |what| Error::of(what, "", "CAP_NET_RAW");
    let (domain, protocol) = match local {
        IpAddr::V4(_) => (libc::AF_INET, libc::IPPROTO_ICMP),
        IpAddr::V6(_) => (libc::AF_INET6, libc::IPPROTO_ICMPV6),
    };
    let socket = sys::socket(domain, libc::SOCK_RAW, protocol);
    let socket = socket.map_err(of("open a raw socket of ICMP"))?;
    keep_out(&socket, local.is_ipv6(), takes).map_err(of("choose the messages of ICMP"))?;
    bind(&socket, local).map_err(of("bind a raw socket"))?;
    Ok(socket.into())
}

fn keep_out(socket: &OwnedFd, is_ipv6: bool, takes: Option<u8>) -> std::io::Result<()> {
    let mut out = [u32::MAX; 8];
    if let Some(kind) = takes {
        out[usize::from(kind / 32)] &= !(1 << (kind % 32));
    }
    if is_ipv6 {
        return sys::set_option(socket, libc::IPPROTO_ICMPV6, ICMPV6_FILTER, &out);
    }
    // Of IPv4 the types from 32 on cannot be kept out, and none of them is in use.
    sys::set_option(socket, SOL_RAW, ICMP_FILTER, &out[0])
}

fn bind(socket: &OwnedFd, local: IpAddr) -> std::io::Result<()> {
    match local {
        IpAddr::V4(ip) => {
            // SAFETY: all zeroes is a `sockaddr_in`.
            let mut address: libc::sockaddr_in = unsafe { std::mem::zeroed() };
            address.sin_family = libc::AF_INET as libc::sa_family_t;
            address.sin_addr.s_addr = u32::from(ip).to_be();
            sys::bind(socket, &address)
        }
        IpAddr::V6(ip) => {
            // SAFETY: all zeroes is a `sockaddr_in6`.
            let mut address: libc::sockaddr_in6 = unsafe { std::mem::zeroed() };
            address.sin6_family = libc::AF_INET6 as libc::sa_family_t;
            address.sin6_addr.s6_addr = ip.octets();
            sys::bind(socket, &address)
        }
    }
}
