//! A port of the tester: an interface, where it is, by what frames go, and who the tester is on
//! that wire.

use super::neighbours::Host;
use crate::addresses::{Addresses, Side};
use std::net::IpAddr;
use std::sync::Arc;
use trammel_io::afpacket::{self, AfPacket};
use trammel_io::afxdp::{self, AfXdp};
use trammel_io::error::{Error, Result};
use trammel_io::netlink::Socket;
use trammel_io::netns::Namespace;
use trammel_io::rtnetlink::Link;
use trammel_packet::device::Device;
use trammel_packet::headers::ether::Ether;
use trammel_packet::headers::vlan::Vlan;
use trammel_packet::pool::{FRAME_BYTES, Pool};

/// Entries of a ring of AF_XDP: 2 ms at a million frames a second.
const RING: u32 = 2048;
/// Bytes that wait to be read from a packet socket: some 80,000 short frames, or a tenth of a
/// second of long ones.
const RING_BYTES: usize = 16 << 20;
/// What the kernel's memory for a live frame leaves: a page, less head-room and the description of
/// a socket buffer.
const LIVE_BYTES: usize = 3496;

/// By what frames go and come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// AF_XDP: the fastest that checks every frame. Needs the right to load programs in the initial
    /// user namespace.
    AfXdp,
    /// Packet sockets: any interface; arrivals have the kernel's time.
    AfPacket,
    /// Made and counted by programs in the kernel: several million frames a second of one stream
    /// and one size, which tell no latency. The other end of each wire has to run an XDP program,
    /// as AF_XDP does.
    Live,
}

/// A port. The interface is the tester's alone: it should have no address of the kernel's.
#[derive(Clone, Debug)]
pub struct Port {
    /// The interface's name.
    pub interface: String,
    /// The namespace that it is in, which lives as long as the port; without one, that of the
    /// thread that opens it.
    pub namespace: Option<Arc<Namespace>>,
    /// By what frames go and come.
    pub way: Way,
    /// The tester's address there, for which it answers, as for all of its network but the
    /// device's.
    pub address: IpAddr,
    /// The bits of the network.
    pub prefix: u8,
    /// The device's address in it, if it is a router: its Ethernet address is asked for. Without
    /// one, frames go to that of the other port, as over a wire or through a bridge.
    pub gateway: Option<IpAddr>,
    /// The tester's Ethernet address there; without one, the interface's own, or where the kernel's
    /// stack sees frames too (packet sockets), one made of it: what is not to its own address the
    /// stack drops at once, and never answers.
    pub mac: Option<[u8; 6]>,
    /// The control information of the tag that all frames have, if they have one.
    pub tag: Option<u16>,
    /// The processor that the port's thread runs on, if it is to stay on one.
    pub processor: Option<usize>,
}

impl Port {
    /// A port at a side of the device with the addresses of RFC 2544 and RFC 5180; there is a
    /// router if `is_routed`.
    pub fn of_rfc2544(
        interface: &str,
        way: Way,
        side: Side,
        is_ipv6: bool,
        is_routed: bool,
    ) -> Port {
        let address = Addresses::nodes(side, is_ipv6, 1).nth(0);
        // The device is node 1, the tester node 2.
        let device = match address {
            IpAddr::V4(own) => IpAddr::from((u32::from(own) - 1).to_be_bytes()),
            IpAddr::V6(own) => IpAddr::from((u128::from(own) - 1).to_be_bytes()),
        };
        Port {
            interface: interface.to_owned(),
            namespace: None,
            way,
            address,
            prefix: if is_ipv6 { 64 } else { 24 },
            gateway: is_routed.then_some(device),
            mac: None,
            tag: None,
            processor: None,
        }
    }

    /// Runs `action` where the interface is.
    pub(crate) fn there<T: Send>(&self, action: impl FnOnce() -> T + Send) -> T {
        match &self.namespace {
            Some(namespace) => namespace.run(action),
            None => action(),
        }
    }

    /// Refuses addresses that do not go together.
    pub(crate) fn check(&self) -> Result<()> {
        let most = if self.address.is_ipv4() { 32 } else { 128 };
        let is_other = |gateway: &IpAddr| {
            gateway.is_ipv4() != self.address.is_ipv4() || *gateway == self.address
        };
        if self.prefix > most || self.gateway.as_ref().is_some_and(is_other) {
            return Err(Error::Invalid(format!(
                "port `{}`: {}/{} with the device at {:?}: two addresses of one version of IP, and \
                 0 to {most} bits",
                self.interface, self.address, self.prefix, self.gateway
            )));
        }
        Ok(())
    }

    /// The interface as it is.
    pub(crate) fn link(&self) -> Result<Link> {
        let read = || Socket::open(&[]).and_then(|mut socket| socket.link(&self.interface));
        self.there(read)
            .map_err(|source| match source.raw_os_error() {
                Some(_) => Error::NoInterface {
                    name: self.interface.clone(),
                },
                None => Error::Kernel {
                    what: format!("cannot read the interface `{}`", self.interface),
                    source,
                },
            })
    }

    /// Who the tester is there.
    pub(crate) fn host(&self, link: &Link) -> Result<Host> {
        let own = link.mac.filter(|mac| *mac != [0; 6]).ok_or_else(|| {
            Error::Invalid(format!("`{}` is not an Ethernet interface", self.interface))
        })?;
        let mac = self.mac.unwrap_or(match self.way {
            Way::AfXdp => own,
            Way::AfPacket | Way::Live => beside(own),
        });
        Ok(Host {
            mac,
            tag: self.tag,
            address: self.address,
            prefix: self.prefix,
            device: self.gateway,
        })
    }

    /// Bytes of the longest frame that it takes, without the check sequence.
    pub(crate) fn most_bytes(&self, link: &Link) -> usize {
        let tag = self.tag.map_or(0, |_| Vlan::LEN);
        let most = Ether::LEN + tag + link.mtu as usize;
        most.min(match self.way {
            Way::AfXdp => FRAME_BYTES,
            Way::AfPacket => usize::MAX,
            Way::Live => LIVE_BYTES,
        })
    }

    /// The device, and the pool whose packets it takes. A live port's device sees what its programs
    /// leave.
    pub(crate) fn open(&self) -> Result<(Box<dyn Device>, Pool)> {
        let mut pool = Pool::new(4 * RING as usize, 4 * RING as usize);
        let device: Result<Box<dyn Device>> = self.there(|| match self.way {
            Way::AfXdp => {
                let options = afxdp::Options {
                    ring: RING,
                    ..afxdp::Options::default()
                };
                Ok(Box::new(AfXdp::open(&self.interface, &options, &mut pool)?) as Box<dyn Device>)
            }
            Way::AfPacket | Way::Live => {
                let options = afpacket::Options {
                    ring_bytes: Some(RING_BYTES),
                    ..afpacket::Options::default()
                };
                Ok(Box::new(AfPacket::open(&self.interface, &options)?) as Box<dyn Device>)
            }
        });
        Ok((device?, pool))
    }
}

/// A locally administered address (IEEE 802) beside that of an interface.
fn beside([first, rest @ ..]: [u8; 6]) -> [u8; 6] {
    let [a, b, c, d, e] = rest;
    [(first ^ 4) | 2, a, b, c, d, e]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_beside_an_interface_is_another_one_of_one_host() {
        for own in [
            [0x52, 1, 2, 3, 4, 5],
            [0, 1, 2, 3, 4, 5],
            [6, 1, 2, 3, 4, 5],
        ] {
            let other = beside(own);
            assert!(other != own && other[0] & 3 == 2 && other[1..] == own[1..]);
        }
    }

    #[test]
    fn ports_of_the_rfcs_face_node_1() {
        let port = |side, is_ipv6| {
            let port = Port::of_rfc2544("eth1", Way::AfPacket, side, is_ipv6, true);
            port.check().expect("it is right");
            (
                port.address.to_string(),
                port.gateway.expect("it is routed").to_string(),
            )
        };
        assert_eq!(
            port(Side::Input, false),
            ("198.18.1.2".into(), "198.18.1.1".into())
        );
        assert_eq!(
            port(Side::Output, true),
            ("2001:2:0:8001::2".into(), "2001:2:0:8001::1".into())
        );
    }

    #[test]
    fn addresses_of_two_versions_are_refused() {
        let mut port = Port::of_rfc2544("eth1", Way::AfPacket, Side::Input, false, true);
        port.gateway = Some([0; 16].into());
        assert!(port.check().is_err());
        port.gateway = None;
        port.prefix = 33;
        assert!(port.check().is_err());
    }
}
