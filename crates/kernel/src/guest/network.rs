//! A job's hosts as namespaces, its wires as pairs of interfaces, with addresses, routes and
//! queues.

use super::result::Result;
use crate::cable::Cable;
use crate::job::{GuestJob, Wire};
use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use trammel_io::netns::{Namespace, veth};
use trammel_io::rtnetlink::Hop;

/// The bits of a wire's network.
const PREFIX: u8 = 24;
/// Offloads that change what packets look like; checksums are left to veth, which needs none.
const OFFLOADS: [&str; 3] = ["tso", "gso", "gro"];

/// The network.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) hosts: Vec<Namespace>,
    /// The numbers of the interfaces at the ends of each wire.
    pub(crate) interfaces: Vec<[u32; 2]>,
}

/// The interface of a host at a wire.
pub(crate) fn name(wire: usize) -> String {
    format!("w{wire}")
}

/// The address of an end of a wire.
pub(crate) fn address(wire: usize, end: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, (wire >> 8) as u8, wire as u8, 1 + end as u8)
}

impl Network {
    /// The network of `job`. Where there is an emulator, it stands in its cables with an interface
    /// to each of their ends, and no queue is the kernel's; without one, the machine is the job's
    /// alone, and its variables are set too.
    pub(crate) fn build(
        job: &GuestJob,
        emulator: Option<(&Namespace, &[Cable])>,
    ) -> Result<Network> {
        if emulator.is_none() {
            set_machine(job)?;
        }
        let mut hosts = Vec::with_capacity(job.hosts.len());
        for host in &job.hosts {
            let namespace = Namespace::new()?;
            namespace.set_sysctl("ipv4/ip_forward", "1")?;
            for (variable, value) in &host.sysctls {
                namespace.set_sysctl(variable, value)?;
            }
            hosts.push(namespace);
        }
        let mut interfaces = Vec::with_capacity(job.wires.len());
        for (number, wire) in job.wires.iter().enumerate() {
            let cable = emulator.and_then(|(namespace, cables)| {
                let cable = cables.iter().find(|cable| cable.wire == number)?;
                Some((namespace, cable))
            });
            interfaces.push(lay(&hosts, number, wire, cable)?);
            if emulator.is_none() {
                queue(&hosts, number, wire)?;
            }
        }
        for route in &job.routes {
            let (host, by) = (&hosts[route.host], &job.wires[route.by]);
            let own = usize::from(by.ends[1] == route.host);
            let network = Ipv4Addr::new(10, (route.to >> 8) as u8, route.to as u8, 0);
            let hop = Hop {
                gateway: (route.by != route.to).then(|| address(route.by, 1 - own).into()),
                interface: interfaces[route.by][own],
                is_dead: false,
            };
            host.netlink()
                .add_route_with(network.into(), PREFIX, &hop, &route.metrics)?;
        }
        Ok(Network { hosts, interfaces })
    }
}

/// Sets variables of the whole machine, and looks whether it has the parameters.
fn set_machine(job: &GuestJob) -> Result<()> {
    for (variable, value) in &job.sysctls {
        write(&Path::new("/proc/sys").join(variable), value)?;
    }
    // They were given to the kernel as it started, which says nothing of one that it does not know.
    for (parameter, _) in &job.parameters {
        let (module, name) = parameter
            .split_once('.')
            .ok_or_else(|| format!("`{parameter}` is no MODULE.PARAMETER"))?;
        let path = Path::new("/sys/module")
            .join(module)
            .join("parameters")
            .join(name);
        if !path.exists() {
            return Err(format!("this kernel has no parameter `{parameter}`").into());
        }
    }
    Ok(())
}

/// Lays a wire; says the numbers of its interfaces.
fn lay(
    hosts: &[Namespace],
    number: usize,
    wire: &Wire,
    cable: Option<(&Namespace, &Cable)>,
) -> Result<[u32; 2]> {
    let name = name(number);
    let ends = wire.ends.map(|host| &hosts[host]);
    match cable {
        Some((emulator, cable)) => {
            for (at, end) in ends.iter().enumerate() {
                let inner = cable.interface(at);
                veth(end, &name, emulator, &inner)?;
                emulator.set_mtu(&inner, wire.mtu)?;
                for interface in [(*end, &name), (emulator, &inner)] {
                    // Checksums too: the emulator takes frames as they are.
                    interface.0.set_offloads(interface.1, false)?;
                }
            }
        }
        None => veth(ends[0], &name, ends[1], &name)?,
    }
    let mut links = Vec::new();
    for (at, end) in ends.iter().enumerate() {
        end.set_mtu(&name, wire.mtu)?;
        if !wire.offload {
            for offload in OFFLOADS {
                end.ethtool().set_offload(&name, offload, false)?;
            }
            // Without it, TCP makes super-packets all the same and has them cut.
            end.netlink().set_most_segments(&name, 1)?;
        }
        end.add_address(&name, &format!("{}/{PREFIX}", address(number, at)))?;
        links.push(end.link(&name)?);
    }
    for (at, end) in ends.iter().enumerate() {
        let (other, mac) = (IpAddr::from(address(number, 1 - at)), links[1 - at].mac);
        // Nobody asks for addresses, which would take a round trip of the first packet's.
        end.add_neighbour(
            &name,
            &other.to_string(),
            mac.ok_or("a wire without an address")?,
        )?;
    }
    Ok([links[0].index, links[1].index])
}

/// Gives the ends of a wire their queues.
fn queue(hosts: &[Namespace], number: usize, wire: &Wire) -> Result<()> {
    let name = name(number);
    for (host, way) in wire.ends.iter().zip(&wire.ways) {
        if let Some(kind) = &way.queue {
            hosts[*host].set_qdisc(&name, kind)?;
        }
        if let Some(kind) = &way.inner {
            hosts[*host].set_inner_qdisc(&name, kind)?;
        }
        if let Some(police) = way.police {
            hosts[*host].police(&name, police)?;
        }
    }
    Ok(())
}

fn write(path: &Path, value: &str) -> Result<()> {
    fs::write(path, value).map_err(|why| format!("`{}` = `{value}`: {why}", path.display()).into())
}
