//! The machine's devices, as the router asks for them, and what to do where it has none.

use super::capture_device::CaptureDevice;
use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use trammel_io::afpacket::{self, AfPacket};
use trammel_io::afxdp::{self, AfXdp};
use trammel_io::cutting::Cutting;
use trammel_io::error::Error;
use trammel_io::ethtool::Ethtool;
use trammel_io::netlink;
use trammel_io::ring::{self, RingEnd};
use trammel_io::rtnetlink::{Change, Hop};
use trammel_io::tap::{self, Tap};
use trammel_packet::device::Device;
use trammel_packet::pool::Pool;
use trammel_router::args::addresses::{parse_ether, parse_ip_prefix};
use trammel_router::args::names::BuiltIn;
use trammel_router::host::{DeviceRequest, Refusal};
use trammel_workbench::refused::refusal;

/// Wires in memory whose other end nobody has opened yet, by the end's name.
pub type Wires = BTreeMap<String, RingEnd>;

/// Frames that a wire in memory holds in each direction.
const WIRE_FRAMES: u64 = 1024;
/// Drivers that hand over frames without their checksums, which AF_XDP cannot tell.
const UNFINISHED: [&str; 3] = ["veth", "tun", "virtio_net"];

/// Opens a device.
pub fn open(
    request: &DeviceRequest,
    pool: &mut Pool,
    wires: &mut Wires,
) -> Result<Box<dyn Device>, Refusal> {
    match request.method.as_str() {
        "afxdp" => Ok(cut(by_xdp(request, pool)?, None)),
        "afpacket" => Ok(packet_socket(request, None)?),
        "tap" => Ok(cut(tap(request)?, None)),
        "tun" => Ok(Box::new(Cutting::new(Box::new(tap(request)?), false, None))),
        "ring" => wire(request, wires),
        "pcap" => capture(request),
        "" => chosen(request, pool),
        other => Err(wrong(format!("there is no method `{other}`"))),
    }
}

fn wrong(text: String) -> Refusal {
    Refusal {
        text,
        mend: None,
        is_lack: false,
    }
}

/// A capture file to read or to write.
fn capture(request: &DeviceRequest) -> Result<Box<dyn Device>, Refusal> {
    let (reads, writes) = (
        text(request, "READS").is_some(),
        text(request, "WRITES").is_some(),
    );
    if reads && writes {
        return Err(wrong(format!(
            "`{}` cannot be read and written at once: give each device a file of its own",
            request.name
        )));
    }
    Ok(Box::new(CaptureDevice::open(&request.name, writes)?))
}

#[allow(clippy::needless_pass_by_value)] // for `map_err`
fn refused(error: Error) -> Refusal {
    refusal(&error)
}

/// A number among the options.
fn number(request: &DeviceRequest, key: &str) -> Option<u64> {
    text(request, key).and_then(|value| value.parse().ok())
}

fn text<'a>(request: &'a DeviceRequest, key: &str) -> Option<&'a str> {
    let found = request.options.iter().find(|(name, _)| name == key);
    found.map(|(_, value)| value.as_str())
}

fn by_xdp(request: &DeviceRequest, pool: &mut Pool) -> Result<AfXdp, Refusal> {
    let mut options = afxdp::Options {
        queue: number(request, "QUEUE").unwrap_or(0) as u32,
        is_promiscuous: request.promiscuous,
        ..afxdp::Options::default()
    };
    if let Some(ring) = number(request, "RING") {
        options.ring = ring as u32;
    }
    AfXdp::open(&request.name, &options, pool).map_err(refused)
}

fn by_packet_socket(request: &DeviceRequest) -> Result<AfPacket, Refusal> {
    let mut options = afpacket::Options {
        is_promiscuous: request.promiscuous,
        sees_outgoing: text(request, "OUTBOUND") == Some("true"),
        carries: carries(request),
        ..afpacket::Options::default()
    };
    if let Some(frames) = number(request, "RING") {
        // Some 200 bytes are what a short frame takes of the ring.
        options.ring_bytes = Some((frames as usize).saturating_mul(200));
    }
    AfPacket::open(&request.name, &options).map_err(refused)
}

/// A device of frames that carries no super-packets: those that come to it are cut.
fn cut(device: impl Device + 'static, remark: Option<String>) -> Box<dyn Device> {
    Box::new(Cutting::new(Box::new(device), true, remark))
}

/// A packet socket; where super-packets are not carried, those that come to it are cut.
fn packet_socket(
    request: &DeviceRequest,
    remark: Option<String>,
) -> Result<Box<dyn Device>, Refusal> {
    let device = by_packet_socket(request)?;
    Ok(match (carries(request), remark) {
        (true, None) => Box::new(device),
        (_, remark) => cut(device, remark),
    })
}

fn carries(request: &DeviceRequest) -> bool {
    text(request, "OFFLOAD") == Some("carry")
}

/// AF_XDP where it loses nothing and the right is there, else the packet socket; the device remarks
/// which.
fn chosen(request: &DeviceRequest, pool: &mut Pool) -> Result<Box<dyn Device>, Refusal> {
    let why = match unfit(&request.name) {
        Some(why) => why,
        None => match by_xdp(request, pool) {
            Ok(device) => return Ok(cut(device, None)),
            Err(refusal) => refusal.text,
        },
    };
    let remark = format!("`{}`: METHOD afpacket, not afxdp: {why}", request.name);
    packet_socket(request, Some(remark))
}

/// Why AF_XDP would not do unless it is asked for by name.
fn unfit(name: &str) -> Option<String> {
    let ethtool = Ethtool::open().ok()?;
    let queues = ethtool.receive_queues(name).unwrap_or(1);
    if queues > 1 {
        return Some(format!("it would read one of {queues} receive queues"));
    }
    let driver = ethtool.driver(name).ok()?;
    let is_unfinished = UNFINISHED.contains(&driver.as_str());
    is_unfinished.then(|| format!("{driver} may leave checksums out, which it cannot tell"))
}

/// A TAP or TUN with its addresses, up.
fn tap(request: &DeviceRequest) -> Result<Tap, Refusal> {
    let options = tap::Options {
        is_tun: request.method == "tun",
        has_offloads: false,
    };
    let name = match request.name.as_str() {
        "" if options.is_tun => "tun%d",
        "" => "tap%d",
        name => name,
    };
    let device = Tap::open(name, &options).map_err(refused)?;
    let name = device.name();
    let failed = |what: &str, why: &io::Error| Refusal {
        text: format!("cannot {what} `{name}`: {why}"),
        mend: Some("run it as root, or inside `unshare -Urn`".to_owned()),
        is_lack: true,
    };
    let mut kernel = netlink::Socket::open(&[]).map_err(|why| failed("configure", &why))?;
    if let Some(mac) = text(request, "ETHER") {
        let mac = parse_ether(mac, &BuiltIn).map_err(|why| wrong(format!("ETHER: {why}")))?;
        let set = kernel.set_mac(name, mac.0);
        set.map_err(|why| failed("set the Ethernet address of", &why))?;
    }
    if let Some(mtu) = number(request, "MTU") {
        let set = kernel.set_mtu(name, mtu as u32);
        set.map_err(|why| failed("set the MTU of", &why))?;
    }
    if let Some(address) = &request.address {
        let prefix = parse_ip_prefix(address, true, &BuiltIn);
        let prefix = prefix.map_err(|why| wrong(format!("`{address}`: {why}")))?;
        let bits = u32::from(prefix.mask).leading_ones() as u8;
        let set = kernel.add_address(name, IpAddr::V4(prefix.address), bits);
        set.map_err(|why| failed("set the address of", &why))?;
    }
    kernel
        .set_up(name, true)
        .map_err(|why| failed("set up", &why))?;
    if let Some(gateway) = text(request, "GATEWAY").and_then(|text| text.parse().ok()) {
        let interface = kernel
            .link(name)
            .map_err(|why| failed("look at", &why))?
            .index;
        let hop = Hop {
            gateway: Some(IpAddr::V4(gateway)),
            interface,
            is_dead: false,
        };
        let any = IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED);
        let set = kernel.change_route(Change::Add, any, 0, &hop);
        set.map_err(|why| failed("set the default route by", &why))?;
    }
    Ok(device)
}

/// An end, `NAME.0` or `NAME.1`, of a wire in memory; the first end that is opened makes the wire.
fn wire(request: &DeviceRequest, wires: &mut Wires) -> Result<Box<dyn Device>, Refusal> {
    if let Some(end) = wires.remove(&request.name) {
        return Ok(cut(end, None));
    }
    let Some((name, end @ ("0" | "1"))) = request.name.rsplit_once('.') else {
        let text = format!("`{}` is no end of a wire: NAME.0 or NAME.1", request.name);
        return Err(wrong(text));
    };
    let frames = number(request, "RING").unwrap_or(WIRE_FRAMES);
    let (first, second) = ring::pair(name, frames as usize);
    let (this, other) = if end == "0" {
        (first, second)
    } else {
        (second, first)
    };
    wires.insert(other.name().to_owned(), other);
    Ok(cut(this, None))
}
