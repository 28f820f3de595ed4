//! When the packets of a stream left, as the kernel tells it.

use super::answers::Answers;
use crate::record::Record;
use std::io;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use trammel_io::clock::Waiter;
use trammel_io::departures;

/// So often is looked whether to stop.
const SLICE_NS: i64 = 20_000_000;

/// Departures by a socket of datagrams. Their records tell the place in the flow and when it left,
/// and nothing else.
#[derive(Debug)]
pub struct Departures {
    socket: UdpSocket,
    departures: departures::Departures,
}

impl Departures {
    /// Of what `socket` sends from now on.
    pub fn new(socket: &UdpSocket) -> io::Result<Departures> {
        departures::watch(socket)?;
        Ok(Departures {
            socket: socket.try_clone()?,
            departures: departures::Departures::default(),
        })
    }
}

impl Answers for Departures {
    fn collect(
        &mut self,
        flow: u32,
        stop: &AtomicBool,
        note: &mut dyn FnMut(&Record),
    ) -> io::Result<()> {
        let mut waiter = Waiter::new();
        waiter.set(&[self.socket.as_raw_fd()]);
        let (mut left, mut sequence) = (Vec::new(), 0_u64);
        while !stop.load(Ordering::Relaxed) {
            self.departures.take(&self.socket, &mut left)?;
            if left.is_empty() {
                waiter.wait(Some(SLICE_NS))?;
            }
            for departure in &left {
                // The kernel's numbers begin anew after 2³²; ours do not.
                sequence += u64::from(departure.number.wrapping_sub(sequence as u32));
                note(&Record {
                    flow,
                    sequence,
                    bytes: 0,
                    start_ns: 0,
                    end_ns: departure.time_ns,
                });
            }
        }
        Ok(())
    }
}
