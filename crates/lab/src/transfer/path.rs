//! A server and a client with a device between them, each in a namespace of its own.
//!
//! ```text
//! server 198.18.1.2 ──── in  device  out ──── 198.19.1.2 client
//! ```
//! The device is one that `trammel bench --dut` builds; the tester's interfaces become those of two hosts.

use crate::bench::beds::dut::Dut;
use crate::bench::beds::namespaces::{Home, Wish};
use anyhow::anyhow;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};
use trammel_io::netns::Namespace;
use trammel_traffic::tester::port::Way;

/// The hosts' addresses and the device's at each side, in the networks of RFC 2544 (appendix C.2.2).
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
    /// A path across `dut`; `own` is the `trammel` program, which runs configurations.
    pub fn new(dut: &Dut, own: &str) -> anyhow::Result<Path> {
        let home = Home::build(&Wish {
            dut: dut.clone(),
            traffics: Vec::new(),
            way: Way::AfPacket,
            is_bridged: false,
            own: own.to_owned(),
        })?;
        let ends = home.hosts();
        for ((end, name), (address, gateway)) in ends.iter().zip(SIDES) {
            end.add_address(name, &format!("{address}/24"))?;
            end.add_route("0.0.0.0/0", Some(&gateway.to_string()), name)?;
        }
        Ok(Path {
            ends: ends.map(|(end, _)| end),
            _device: home,
        })
    }

    pub(super) fn at_server<T: Send>(&self, action: impl FnOnce() -> T + Send) -> T {
        self.ends[0].run(action)
    }

    pub(super) fn at_client<T: Send>(&self, action: impl FnOnce() -> T + Send) -> T {
        self.ends[1].run(action)
    }

    /// Waits until the client reaches the server at `port`: both the server and the device have begun.
    pub(super) fn await_port(&self, port: u16) -> anyhow::Result<()> {
        let at = SocketAddr::from((SERVER, port));
        let begun = Instant::now();
        loop {
            match self.at_client(|| TcpStream::connect_timeout(&at, BEGIN / 50)) {
                Ok(_) => return Ok(()),
                Err(why) if begun.elapsed() > BEGIN => {
                    return Err(anyhow!(
                        "the client does not reach the server at {at}: {why}"
                    ));
                }
                // Refused at once where the server has not begun: asked again a little later.
                Err(_) => std::thread::sleep(ASK),
            }
        }
    }
}
