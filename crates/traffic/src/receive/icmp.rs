//! Messages of ICMP that come to this host. Its kernel answers echo requests, so nothing is sent
//! from here.

use super::hub::Hub;
use super::reads::Reads;
use super::udp::Drops;
use crate::echo::Echo;
use crate::signal::idle::Idle;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::{Arc, Mutex, PoisonError};
use trammel_io::clock::{Waiter, wall_ns};
use trammel_io::datagrams::{self, Receiver};
use trammel_io::error::{Error, Result};
use trammel_io::icmp::{self, Takes};
use trammel_io::local::Local;

/// Messages that one call takes at most, and what is kept of each: all, since its checksum is over
/// all.
const BATCH: usize = 64;
const KEPT_BYTES: usize = 65_536;
/// What waits in the kernel, at most.
const BUFFER_BYTES: usize = 32 << 20;

/// What takes messages in.
#[derive(Debug)]
pub struct IcmpPort {
    /// One, or one of each version of IP where any address of both is listened on.
    sockets: Vec<(UdpSocket, Drops)>,
}

impl IcmpPort {
    /// Takes echo requests to `local`, or messages of all types. Needs `CAP_NET_RAW`.
    pub fn open(local: &Local<'_>, has_all_types: bool) -> Result<IcmpPort> {
        let mut ends = vec![*local];
        if local.address.is_ipv6() && local.address.ip().is_unspecified() {
            let any = Local::any(Ipv4Addr::UNSPECIFIED.into());
            ends.push(Local {
                device: local.device,
                ..any
            });
        }
        let open = |end: &Local<'_>| {
            let takes = if has_all_types {
                Takes::All
            } else {
                Takes::Only(Echo::Request.kind(end.address.is_ipv6()))
            };
            let socket = icmp::socket(end, takes)?;
            let options = datagrams::Options {
                tells: true,
                receive_bytes: Some(BUFFER_BYTES),
                ..datagrams::Options::default()
            };
            let configured = datagrams::configure(&socket, &options);
            configured.map_err(|source| Error::Kernel {
                what: "cannot receive messages of ICMP".to_owned(),
                source,
            })?;
            Ok((socket, Drops::default()))
        };
        Ok(IcmpPort {
            sockets: ends.iter().map(open).collect::<Result<_>>()?,
        })
    }

    /// Where it is; the port says nothing.
    pub fn address(&self) -> io::Result<SocketAddr> {
        let mut address = self.sockets[0].0.local_addr()?;
        address.set_port(0);
        Ok(address)
    }

    /// Messages that its sockets have had no room for by now.
    pub fn lost(&self) -> u64 {
        let drops = self.sockets.iter().map(|(socket, drops)| drops.of(socket));
        drops.sum()
    }

    /// Takes what comes until it is over; `reads` tells whose it is.
    pub fn serve(
        &self,
        hub: &Arc<Mutex<Hub>>,
        reads: &dyn Reads,
        is_over: &dyn Fn() -> bool,
    ) -> io::Result<()> {
        let mut taking = Vec::new();
        for (socket, _) in &self.sockets {
            taking.push((socket, Receiver::new(BATCH, KEPT_BYTES)));
        }
        let (mut waiter, mut idle) = (Waiter::new(), Idle::new());
        let descriptors: Vec<_> = taking
            .iter()
            .map(|(socket, _)| socket.as_raw_fd())
            .collect();
        waiter.set(&descriptors);
        while !is_over() {
            let mut came = 0;
            for (socket, receiver) in &mut taking {
                came += receiver.receive(socket)?;
                let mut hub = hub.lock().unwrap_or_else(PoisonError::into_inner);
                for one in receiver.datagrams() {
                    let time = one.time_ns.unwrap_or_else(wall_ns);
                    // Whoever else asks this host for an echo is none of ours.
                    if let Some(from) = one.from
                        && let Some((stamp, bytes)) = reads.message(one.data, from, time)
                    {
                        hub.note(Some(stamp), Some(from.ip()), bytes, time);
                    }
                }
            }
            if came == 0 {
                waiter.wait(Some(idle.wait_ns()))?;
            } else {
                idle.over();
            }
        }
        Ok(())
    }
}
