//! A port that packets of one protocol come to.

use super::hub::Hub;
use super::icmp::IcmpPort;
use super::reads::Reads;
use super::tcp::TcpPort;
use super::udp::UdpPort;
use crate::record::Protocol;
use crate::send::way::carried;
use crate::signal::places::Places;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::thread::Scope;
use trammel_io::error::Error;
use trammel_io::local::Local;

/// How a port takes in what comes to it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Manner<'a> {
    /// Of UDP: what comes by this interface goes past the kernel's stack.
    pub xdp: Option<&'a str>,
    /// Only what comes by this interface.
    pub device: Option<&'a str>,
    /// Of ICMP: messages of all types, and not echo requests alone.
    pub has_all_types: bool,
}

/// A port.
#[derive(Clone, Debug)]
pub enum Port {
    /// Of datagrams.
    Udp(Arc<UdpPort>),
    /// Of connections.
    Tcp(Arc<TcpPort>),
    /// Of messages of ICMP.
    Icmp(Arc<IcmpPort>),
}

impl Port {
    /// A port at `address`, of which 0 leaves the number to the system.
    pub fn open(
        protocol: Protocol,
        address: SocketAddr,
        manner: Manner<'_>,
    ) -> Result<Port, String> {
        let told = |error: Error| match error.mend() {
            Some(mend) => format!("{error}; {mend}"),
            None => error.to_string(),
        };
        let device = manner.device;
        let local = Local { address, device };
        let opened = match protocol {
            Protocol::Udp => UdpPort::open(&local).map(|port| Port::Udp(Arc::new(port))),
            Protocol::Tcp => TcpPort::open(&local).map(|port| Port::Tcp(Arc::new(port))),
            Protocol::Icmp => {
                let port = IcmpPort::open(&local, manner.has_all_types).map_err(told)?;
                return Ok(Port::Icmp(Arc::new(port)));
            }
            other => {
                let why = carried(other).err().map(|why| why.to_string());
                return Err(
                    why.unwrap_or_else(|| format!("flows over {other:?} are not supported"))
                );
            }
        };
        let opened = opened.map_err(|why| format!("port {}: {why}", address.port()))?;
        if let (Port::Udp(port), Some(interface)) = (&opened, manner.xdp) {
            port.take_frames(interface).map_err(told)?;
        }
        Ok(opened)
    }

    /// Where it is.
    pub fn address(&self) -> io::Result<SocketAddr> {
        match self {
            Port::Udp(port) => port.address(),
            Port::Tcp(port) => port.address(),
            Port::Icmp(port) => port.address(),
        }
    }

    /// Packets that it has had no room for; TCP has its sender wait instead.
    pub fn lost(&self) -> u64 {
        match self {
            Port::Udp(port) => port.lost(),
            Port::Tcp(_) => 0,
            Port::Icmp(port) => port.lost(),
        }
    }

    /// Whether packets have come that were not taken yet; those of TCP tell by their connection.
    pub fn has_waiting(&self) -> bool {
        match self {
            Port::Udp(port) => port.has_waiting(),
            Port::Tcp(_) | Port::Icmp(_) => false,
        }
    }

    /// Takes what comes until it is over; `reads` tells whose it is. A connection takes one of the
    /// places until it ends.
    pub fn serve<'scope>(
        &self,
        (hub, reads, places): (&Arc<Mutex<Hub>>, &Arc<dyn Reads>, &Arc<Places>),
        run: (&'scope Scope<'scope, '_>, &'scope AtomicBool),
        is_over: &dyn Fn() -> bool,
    ) -> io::Result<()> {
        match self {
            Port::Udp(port) => port.serve(hub, reads.as_ref(), is_over),
            Port::Tcp(port) => port.serve((hub, reads, places), run, is_over),
            Port::Icmp(port) => port.serve(hub, reads.as_ref(), is_over),
        }
    }
}
