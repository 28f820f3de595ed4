//! Opens what the queues of the card are connected with.

use super::line::Line;
use super::options::{Method, Options};
use super::shared::Shared;
use crate::error::Error;
use trammel_io::afpacket::{self, AfPacket};
use trammel_io::afxdp::{self, AfXdp};
use trammel_io::cutting::Cutting;
use trammel_io::ethtool::Ethtool;
use trammel_io::netlink::Socket;
use trammel_io::tap::{self, Tap};
use trammel_netfpga::stages::{PORTS, Queue};
use trammel_packet::device::Device;
use trammel_packet::pool::Pool;

/// Packets of a card by packet sockets: batches on their way in and out.
const FEW_PACKETS: usize = 1024;
/// Frames that wait for the card at each port by AF_XDP: what comes in 27 ms at 0.3 million a
/// second, since a processor that is shared may be away for longer than 7 ms.
const RING: u32 = 8192;
/// Packets for each port by AF_XDP: what has come, and what is to go.
const RING_PACKETS: usize = 2 * RING as usize;
/// Drivers that may leave checksums out, which AF_XDP cannot tell.
const UNFINISHED: [&str; 3] = ["veth", "tun", "virtio_net"];

/// The pool for the ports of `options`.
pub(super) fn pool(options: &Options) -> Pool {
    let packets = match options.method {
        Method::AfPacket => FEW_PACKETS,
        _ => FEW_PACKETS + RING_PACKETS * options.ports.len(),
    };
    Pool::new(packets, packets)
}

/// Opens the ports. The second is those that the kernel's own stack sees frames of too.
pub(super) fn ports(options: &Options, pool: &mut Pool) -> Result<(Vec<Line>, Shared), Error> {
    if options.ports.is_empty() || options.ports.len() > PORTS {
        let count = options.ports.len();
        return Err(Error::Usage(format!(
            "{count} ports: a card has 1 to {PORTS}; name interfaces as `--ports eth1,eth2`"
        )));
    }
    let mut lines: Vec<Line> = Vec::new();
    let mut shared = Shared::new()?;
    for (port, name) in options.ports.iter().enumerate() {
        if lines.iter().any(|line| line.name() == name) {
            return Err(Error::Usage(format!(
                "`{name}` is two ports: name each interface once"
            )));
        }
        let device = port_device(name, options.method, pool, &mut shared)?;
        lines.push(Line::new(Queue::mac(port), device));
    }
    Ok((lines, shared))
}

fn port_device(
    name: &str,
    method: Method,
    pool: &mut Pool,
    shared: &mut Shared,
) -> Result<Box<dyn Device>, Error> {
    let options = afxdp::Options {
        ring: RING,
        ..afxdp::Options::default()
    };
    let by_xdp = |pool: &mut Pool| AfXdp::open(name, &options, pool);
    let why = match method {
        Method::AfXdp => return Ok(Box::new(by_xdp(pool)?)),
        Method::AfPacket => None,
        Method::Auto => match unfit(name)? {
            Some(why) => Some(why),
            None => match by_xdp(pool) {
                Ok(device) => return Ok(Box::new(device)),
                Err(why) => Some(why.to_string()),
            },
        },
    };
    let device = AfPacket::open(name, &afpacket::Options::default())?;
    shared.add(name)?;
    let remark = why.map(|why| format!("`{name}`: packet socket, not AF_XDP: {why}"));
    // Super-packets that come are cut into the frames that a line would have had.
    Ok(Box::new(Cutting::new(Box::new(device), true, remark)))
}

/// Why AF_XDP would not do unless it is asked for.
fn unfit(name: &str) -> Result<Option<String>, Error> {
    let ethtool = Ethtool::open()?;
    let queues = ethtool.receive_queues(name).unwrap_or(1);
    if queues > 1 {
        return Ok(Some(format!(
            "it would read one of {queues} receive queues"
        )));
    }
    let driver = ethtool.driver(name).unwrap_or_default();
    let is_unfinished = UNFINISHED.contains(&driver.as_str());
    Ok(is_unfinished.then(|| format!("{driver} may leave checksums out, which it cannot tell")))
}

/// Makes the host interfaces, with the MAC addresses `macs`, and sets them up.
pub(super) fn hosts(prefix: &str, macs: [[u8; 6]; PORTS]) -> Result<Vec<Line>, Error> {
    let mut kernel = Socket::open(&[]).map_err(Error::of("configure host interfaces"))?;
    let mut lines = Vec::new();
    for (port, mac) in macs.into_iter().enumerate() {
        let name = format!("{prefix}{port}");
        let device = Tap::open(&name, &tap::Options::default())?;
        let set = kernel.set_mac(&name, mac);
        set.and_then(|()| kernel.set_up(&name, true))
            .map_err(Error::of(format!("set up `{name}`")))?;
        lines.push(Line::new(Queue::cpu(port), Box::new(device)));
    }
    Ok(lines)
}
