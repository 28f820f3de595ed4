//! Frames for a card that runs the design `packet-generator`, and frames that it captured.
//!
//! The card keeps what comes by the host interface of a port while `LOAD` is set, each frame with
//! the gap that `GAP` has then. While `CAPTURE` is set, frames to the host end with the instant at
//! which they began to come in.

mod capture;
mod loads;

pub use capture::Capture;
pub use loads::{Gaps, Load, loads};

use crate::client::Client;
use crate::error::Error;
use std::io;
use trammel_io::afpacket::{AfPacket, Options};
use trammel_io::clock;
use trammel_netfpga::stages::PORTS;
use trammel_packet::batch::Packets;
use trammel_packet::device::Device;
use trammel_packet::pool::Pool;

/// Bits of `PKT_GEN_i_CTRL`.
mod bit {
    pub(super) const LOAD: u32 = 1;
    pub(super) const RUN: u32 = 1 << 1;
    pub(super) const CAPTURE: u32 = 1 << 2;
    pub(super) const FORGET: u32 = 1 << 3;
}

/// Frames on their way to the card at a time: the queue of a host interface holds more.
const MOST_ON_THE_WAY: u32 = 64;
/// How often a load is begun anew because others sent by the host interface meanwhile.
const TRIES: u32 = 5;
/// How long the card may take for the next frame, in nanoseconds.
const PATIENCE_NS: i64 = 2_000_000_000;
/// Between two looks at a counter, in nanoseconds.
const LOOK_NS: i64 = 50_000;

/// The generators of a card.
#[derive(Debug)]
pub struct Generator {
    client: Client,
    prefix: String,
}

impl Generator {
    /// The generators of the card of `client`, whose host interfaces are called `prefix` and a
    /// number.
    ///
    /// # Errors
    /// Where the card has another design.
    pub fn new(client: Client, prefix: &str) -> Result<Generator, Error> {
        let design = client.design();
        if design.map().find("PKT_GEN_0_CTRL").is_err() {
            return Err(Error::Usage(format!(
                "the card is a `{}`: `trammel netfpga run --design packet-generator` sends and \
                 captures",
                design.name
            )));
        }
        Ok(Generator {
            client,
            prefix: prefix.to_owned(),
        })
    }

    /// Has `port`, 0 to 3, keep `loads` and nothing else. It sends nothing until it is started.
    ///
    /// # Errors
    /// Where the port has no room for them, the host interface cannot be used or others use it.
    pub fn load(&mut self, port: usize, loads: &[Load]) -> Result<(), Error> {
        for _ in 0..TRIES {
            if self.try_load(port, loads)? {
                return Ok(());
            }
        }
        Err(Error::Usage(format!(
            "others send by `{name}` meanwhile, and the card keeps their frames too: take \
             addresses from it, and `sysctl net.ipv6.conf.{name}.disable_ipv6=1`",
            name = self.interface(port)
        )))
    }

    /// Whether the port has them and nothing else.
    fn try_load(&mut self, port: usize, loads: &[Load]) -> Result<bool, Error> {
        let name = self.interface(port);
        let options = Options {
            ring_bytes: None,
            ..Options::default()
        };
        let mut device = AfPacket::open(&name, &options)?;
        let mut pool = Pool::new(1, 1);
        let [control, gap, refused] =
            ["CTRL", "GAP", "NUM_PKTS_REFUSED"].map(|name| self.address(port, name));
        self.client.write_many(&[
            (control, 0),
            (refused, 0),
            (control, bit::LOAD | bit::FORGET),
        ])?;
        let mut sent = 0;
        let mut last = None;
        for load in loads {
            if last != Some(load.gap) {
                if !self.has_loaded(port, sent)? {
                    return Ok(false);
                }
                self.client.write_many(&[(gap, load.gap.as_ns() as u32)])?;
                last = Some(load.gap);
            }
            send(&mut device, &mut pool, &load.frame)
                .map_err(Error::of(format!("send by `{name}`")))?;
            sent += 1;
            if sent % MOST_ON_THE_WAY == 0 && !self.has_loaded(port, sent)? {
                return Ok(false);
            }
        }
        let has_all = self.has_loaded(port, sent)?;
        self.client.write_many(&[(control, 0)])?;
        // Others may have sent before the bit was gone.
        Ok(has_all && self.read(port, "NUM_PKTS_LOADED")? == sent)
    }

    /// Waits until the card has taken `sent` frames. False where it has more.
    fn has_loaded(&mut self, port: usize, sent: u32) -> Result<bool, Error> {
        let counters = ["NUM_PKTS_LOADED", "NUM_PKTS_REFUSED"].map(|name| self.address(port, name));
        let (mut before, mut since) = (0, clock::monotonic_ns());
        loop {
            let counts = self.client.read_many(counters)?;
            let (loaded, refused) = (counts[0], counts[1]);
            if refused > 0 {
                return Err(Error::Usage(format!(
                    "port {port} has room for {loaded} of the frames: it keeps 1 MiB"
                )));
            }
            if loaded >= sent {
                return Ok(loaded == sent);
            }
            let now = clock::monotonic_ns();
            if loaded > before {
                (before, since) = (loaded, now);
            }
            if now - since > PATIENCE_NS {
                let name = self.interface(port);
                return Err(Error::Usage(format!(
                    "the card took {loaded} of {sent} frames that were sent by `{name}`: is it its \
                     host interface, and up?"
                )));
            }
            clock::wait(&[], Some(LOOK_NS)).map_err(Error::of("wait for the card"))?;
        }
    }

    /// Has `ports` send all that they keep `iterations` times, 0 for ever; they begin together.
    ///
    /// # Errors
    /// Where the card cannot be reached.
    pub fn start(&mut self, ports: &[usize], iterations: u32) -> Result<(), Error> {
        let mut writes = Vec::new();
        for port in ports {
            writes.push((self.address(*port, "ITERATIONS"), iterations));
            writes.push((self.address(*port, "NUM_PKTS_GENERATED"), 0));
        }
        let run = |port: &usize| (self.address(*port, "CTRL"), bit::RUN);
        writes.extend(ports.iter().map(run));
        self.client.write_many(&writes)
    }

    /// Ends what `ports` send.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn stop(&mut self, ports: &[usize]) -> Result<(), Error> {
        let end = |port: &usize| (self.address(*port, "CTRL"), 0);
        let writes: Vec<_> = ports.iter().map(end).collect();
        self.client.write_many(&writes)
    }

    /// How many frames have left by `port` since it was started, modulo 2³².
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn sent(&mut self, port: usize) -> Result<u32, Error> {
        let queue = format!("OQ_QUEUE_{}_NUM_PKTS_IN_Q", 2 * port);
        let queue = self.client.map().find(&queue);
        let queue = queue.expect("every design has output queues").address;
        let generated = self.address(port, "NUM_PKTS_GENERATED");
        let values = self.client.read_many([generated, queue])?;
        Ok(values[0].wrapping_sub(values[1]))
    }

    fn interface(&self, port: usize) -> String {
        format!("{}{port}", self.prefix)
    }

    fn address(&self, port: usize, register: &str) -> u32 {
        let name = format!("PKT_GEN_{}_{register}", port % PORTS);
        let found = self.client.map().find(&name);
        found.expect("the design has generators").address
    }

    fn read(&mut self, port: usize, register: &str) -> Result<u32, Error> {
        let address = self.address(port, register);
        Ok(self.client.read_many([address])?[0])
    }
}

/// Sends one frame, waiting for room.
fn send(device: &mut AfPacket, pool: &mut Pool, frame: &[u8]) -> io::Result<()> {
    let mut going = Packets::new();
    let packet = pool.alloc_with(frame);
    going.push(packet.expect("the packet before came back"));
    let until = clock::monotonic_ns() + PATIENCE_NS;
    while !going.is_empty() && clock::monotonic_ns() < until {
        device.transmit(pool, &mut going)?;
        device.flush(pool)?;
        if !going.is_empty() {
            clock::wait(&[], Some(LOOK_NS))?;
        }
    }
    if let Some(left) = going.pop() {
        pool.free(left);
        return Err(io::ErrorKind::TimedOut.into());
    }
    Ok(())
}
