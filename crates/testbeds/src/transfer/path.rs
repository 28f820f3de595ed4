//! A server and a client with a device between them, each in a namespace of its own.
//!
//! ```text
//! server 198.18.1.2 ──── in  device  out ──── 198.19.1.2 client
//! ```
//! The device is one that `trammel bench --dut` builds; the tester's interfaces become those of two
//! hosts.

use crate::devices::dut::Dut;
use crate::devices::namespaces::{Home, Wish};
use anyhow::{Context, anyhow, bail};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};
use trammel_io::netns::Namespace;
use trammel_traffic::tester::port::Way;

/// The hosts' addresses and the device's at each side, in the networks of RFC 2544 (appendix
/// C.2.2).
const SIDES: [(Ipv4Addr, Ipv4Addr); 2] = [
    (Ipv4Addr::new(198, 18, 1, 2), Ipv4Addr::new(198, 18, 1, 1)),
    (Ipv4Addr::new(198, 19, 1, 2), Ipv4Addr::new(198, 19, 1, 1)),
];

/// Where the server is.
pub(super) const SERVER: Ipv4Addr = SIDES[0].0;

/// How long a server or a router may take to begin.
const BEGIN: Duration = Duration::from_secs(10);
/// How often it is asked.
const ASK: Duration = Duration::from_millis(20);

/// The path; nothing of it is left when it is dropped.
#[derive(Debug)]
pub struct Path {
    ends: [Arc<Namespace>; 2],
    _device: Home,
}

impl Path {
    /// A path across `dut`, which forwards as a bridge does where `is_bridged` says so of a
    /// configuration or a program; `own` is the `trammel` program, which runs configurations.
    pub fn new(dut: &Dut, is_bridged: bool, own: &str) -> anyhow::Result<Path> {
        let home = Home::build(&Wish {
            dut: dut.clone(),
            traffics: Vec::new(),
            way: Way::AfPacket,
            is_bridged,
            own: own.to_owned(),
        })?;
        let ends = home.hosts();
        for ((end, name), (address, gateway)) in ends.iter().zip(SIDES) {
            end.add_address(name, &format!("{address}/24"))?;
            // Where there is no router, each host asks for the other one itself.
            let router = dut.is_routed(is_bridged).then(|| gateway.to_string());
            end.add_route("0.0.0.0/0", router.as_deref(), name)?;
        }
        Ok(Path {
            ends: ends.map(|(end, _)| end),
            _device: home,
        })
    }

    /// Where the server is.
    pub(super) fn server(&self) -> &Namespace {
        &self.ends[0]
    }

    fn at_server<T: Send>(&self, action: impl FnOnce() -> T + Send) -> T {
        self.ends[0].run(action)
    }

    pub(super) fn at_client<T: Send>(&self, action: impl FnOnce() -> T + Send) -> T {
        self.ends[1].run(action)
    }

    /// Waits until the client reaches the server at `port`: both the server and the device have
    /// begun. `check` says why the server never will.
    pub(super) fn await_port(
        &self,
        port: u16,
        mut check: impl FnMut() -> anyhow::Result<()>,
        is_interrupted: &dyn Fn() -> bool,
    ) -> anyhow::Result<()> {
        let at = SocketAddr::from((SERVER, port));
        let begun = Instant::now();
        loop {
            check()?;
            if is_interrupted() {
                bail!("interrupted");
            }
            match self.at_client(|| TcpStream::connect_timeout(&at, BEGIN / 50)) {
                Ok(_) => return Ok(()),
                Err(why) if begun.elapsed() > BEGIN => {
                    return Err(anyhow!(
                        "the client does not reach the server at {at}: {why}; does the device \
                         forward between {} and {}?",
                        SIDES[0].0,
                        SIDES[1].0
                    ));
                }
                // Refused at once where the server has not begun: asked again a little later.
                Err(_) => std::thread::sleep(ASK),
            }
        }
    }

    /// Segments that the server's host has sent again since the path is there (`RetransSegs`, RFC
    /// 4022).
    pub(super) fn retransmissions(&self) -> anyhow::Result<u64> {
        let read = || std::fs::read_to_string("/proc/thread-self/net/snmp");
        let text = self.at_server(read).context("`/proc/net/snmp`")?;
        retransmitted(&text).context("`/proc/net/snmp` has no `RetransSegs` of TCP")
    }
}

/// The counter in the kernel's table: a line of names, then one of numbers.
fn retransmitted(text: &str) -> Option<u64> {
    let mut lines = text.lines().filter(|line| line.starts_with("Tcp:"));
    let names = lines.next()?.split_whitespace();
    let place = names.into_iter().position(|name| name == "RetransSegs")?;
    lines.next()?.split_whitespace().nth(place)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counter_stands_below_its_name() {
        let text =
            "Ip: Forwarding RetransSegs\nIp: 1 5\nTcp: InSegs RetransSegs InErrs\nTcp: 10 7 0\n";
        assert_eq!(retransmitted(text), Some(7));
        assert_eq!(retransmitted("Tcp: InSegs\nTcp: 10\n"), None);
        assert_eq!(retransmitted(""), None);
    }
}
