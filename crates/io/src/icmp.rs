//! Raw sockets of ICMP (RFC 792) and ICMPv6 (RFC 4443), which take in one type of message, all or
//! none.
//!
//! They send and receive as sockets of UDP do. What comes of IPv4 has its IP header in front; the
//! checksum of ICMPv6 is the kernel's work both ways, that of ICMP nobody's.

use crate::error::{Error, Result};
use crate::local::Local;
use crate::sys;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::OwnedFd;

/// Options that the `libc` crate lacks (`linux/icmp.h`, `linux/icmpv6.h`): which types are kept
/// out, a bit each.
const SOL_RAW: libc::c_int = 255;
const ICMP_FILTER: libc::c_int = 1;
const ICMPV6_FILTER: libc::c_int = 1;

/// The messages that a socket takes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// None.
    Nothing,
    /// Those of one type.
    Only(u8),
    /// All.
    All,
}

/// A socket at `local`, of its version of IP; its port says nothing. Needs `CAP_NET_RAW`.
///
/// # Errors
/// If there is no right to it, or the address or the interface is not this host's.
pub fn socket(local: &Local<'_>, takes: Takes) -> Result<UdpSocket> {
    let protocol = match local.address {
        SocketAddr::V4(_) => libc::IPPROTO_ICMP,
        SocketAddr::V6(_) => libc::IPPROTO_ICMPV6,
    };
    let of = |what| Error::of(what, "", "CAP_NET_RAW");
    let socket = local.socket(libc::SOCK_RAW, protocol);
    let socket = socket.map_err(of("open a raw socket of ICMP"))?;
    let kept = keep_out(&socket, local.address.is_ipv6(), takes);
    kept.map_err(of("choose the messages of ICMP"))?;
    local.bind(&socket).map_err(of("bind a raw socket"))?;
    Ok(socket.into())
}

fn keep_out(socket: &OwnedFd, is_ipv6: bool, takes: Takes) -> std::io::Result<()> {
    let mut out = [u32::MAX; 8];
    match takes {
        Takes::Nothing => {}
        Takes::Only(kind) => out[usize::from(kind / 32)] &= !(1 << (kind % 32)),
        Takes::All => out = [0; 8],
    }
    if is_ipv6 {
        return sys::set_option(socket, libc::IPPROTO_ICMPV6, ICMPV6_FILTER, &out);
    }
    // Of IPv4 the types from 32 on cannot be kept out, and none of them is in use.
    sys::set_option(socket, SOL_RAW, ICMP_FILTER, &out[0])
}
