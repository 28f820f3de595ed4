//! A device that the bench builds by itself, in namespaces that are gone with it.
//!
//! ```text
//! tester: test-in ═ in | the device | out ═ test-out :tester        wire: test-in ═ test-out
//! ```
//! The tester's interfaces are each in a namespace of their own, the device in a third one. None of
//! them has a name that others could enter them by: descriptors hold them, so that they end with
//! this process however it ends. Addresses are those of RFC 2544, appendix C.2.2, and RFC 5180, §8.

use super::dut::Dut;
use super::process::Process;
use std::sync::Arc;
use trammel_bench::testbed::{Protocol, Traffic, Unable};
use trammel_bench::trial::Failure;
use trammel_io::error::{Error, Result};
use trammel_io::netns::{Namespace, veth};
use trammel_traffic::addresses::Side;
use trammel_traffic::tester::port::{Port, Way};

/// The tester's interfaces.
const ENDS: [&str; 2] = ["test-in", "test-out"];
/// The bridge.
const BRIDGE: &str = "bridge";
/// Bytes of a frame that its MTU does not count: header and check sequence.
const FRAMING_BYTES: u32 = 18;
/// The MTU of Ethernet.
const MTU_BYTES: u32 = 1500;
/// The device's addresses at both interfaces.
const ADDRESSES_V4: [&str; 2] = ["198.18.1.1/24", "198.19.1.1/24"];
const ADDRESSES_V6: [&str; 2] = ["2001:2:0:1::1/64", "2001:2:0:8001::1/64"];
/// The networks beyond both, and the tester's address through which they are reached.
const NETWORKS_V4: [(&str, &str); 2] = [
    ("198.18.0.0/16", "198.18.1.2"),
    ("198.19.0.0/16", "198.19.1.2"),
];
const NETWORKS_V6: [(&str, &str); 2] = [
    ("2001:2::/49", "2001:2:0:1::2"),
    ("2001:2:0:8000::/49", "2001:2:0:8001::2"),
];
/// Link down and up, of the interface that frames come out of.
const LINK: &str = "link";
/// The restart of the program that the device is.
//= rfc6201 §4.2.2
//# To characterize the time needed for a DUT to recover from a software process reset.
const PROCESS: &str = "software-process";

/// What is built.
#[derive(Clone, Debug)]
pub struct Wish {
    /// The device.
    pub dut: Dut,
    /// What will be offered: sizes and protocols decide on MTU and addresses.
    pub traffics: Vec<Traffic>,
    /// By what the tester's frames go.
    pub way: Way,
    /// A configuration or a program forwards by Ethernet addresses, or not by any: the tester asks
    /// for no router.
    pub is_bridged: bool,
    /// This program.
    pub own: String,
}

/// A device in a namespace, with the namespaces of the tester's interfaces.
#[derive(Debug)]
pub struct Home {
    // Before the namespace that it is in.
    process: Option<Process>,
    dut: Dut,
    is_ipv6: bool,
    interfaces: [String; 2],
    middle: Option<Arc<Namespace>>,
    ends: [Arc<Namespace>; 2],
}

impl Home {
    /// Builds it. The error of a wrong configuration is [`Error::Invalid`].
    pub fn build(wish: &Wish) -> Result<Home> {
        let is_ipv6 = wish
            .traffics
            .iter()
            .any(|one| one.protocol == Protocol::Ip6);
        let interfaces = wish.dut.interfaces().map_err(Error::Invalid)?;
        let ends = [Arc::new(Namespace::new()?), Arc::new(Namespace::new()?)];
        let longest = wish.traffics.iter().map(|one| one.sizes.most()).max();
        let mtu = longest
            .unwrap_or_default()
            .saturating_sub(FRAMING_BYTES)
            .max(MTU_BYTES);
        let prepare = |namespace: &Namespace, name: &str| {
            namespace.set_offloads(name, false)?;
            namespace.set_mtu(name, mtu)
        };
        let middle = match wish.dut {
            Dut::Wire => {
                veth(&ends[0], ENDS[0], &ends[1], ENDS[1])?;
                None
            }
            _ => {
                let middle = Namespace::new()?;
                for ((end, name), inner) in ends.iter().zip(ENDS).zip(&interfaces) {
                    veth(end, name, &middle, inner)?;
                    prepare(&middle, inner)?;
                }
                Some(Arc::new(middle))
            }
        };
        for (end, name) in ends.iter().zip(ENDS) {
            prepare(end, name)?;
        }
        let mut home = Home {
            process: None,
            dut: wish.dut.clone(),
            is_ipv6,
            interfaces,
            middle,
            ends,
        };
        home.set_up(&wish.own, wish.way)?;
        Ok(home)
    }

    /// Where the device is; none of a wire.
    pub fn middle(&self) -> Option<&Arc<Namespace>> {
        self.middle.as_ref()
    }

    /// The names of the device's interfaces, that which frames come in by first.
    pub fn interfaces(&self) -> &[String; 2] {
        &self.interfaces
    }

    /// The tester's ports.
    pub fn ports(&self, way: Way, is_routed: bool) -> [Port; 2] {
        let of = |at: usize, side| Port {
            namespace: Some(Arc::clone(&self.ends[at])),
            ..Port::of_rfc2544(ENDS[at], way, side, self.is_ipv6, is_routed)
        };
        [of(0, Side::Input), of(1, Side::Output)]
    }

    /// The namespaces of the tester's interfaces with their names, for those who put hosts in the
    /// tester's place.
    pub fn hosts(&self) -> [(Arc<Namespace>, &'static str); 2] {
        [0, 1].map(|at| (Arc::clone(&self.ends[at]), ENDS[at]))
    }

    /// What it is, for reports.
    pub(crate) fn name(&self) -> String {
        self.dut.name()
    }

    /// Names of the resets that can be caused.
    pub(crate) fn resets(&self) -> Vec<String> {
        match self.dut {
            Dut::Wire => Vec::new(),
            Dut::Kernel | Dut::Filtered(_) | Dut::Bridge => vec![LINK.to_owned()],
            Dut::NetFpga(_) | Dut::Click(_) | Dut::Command(_) => vec![PROCESS.to_owned()],
        }
    }

    /// Causes a reset.
    pub(crate) fn reset(&mut self, kind: &str) -> std::result::Result<(), Failure> {
        match (&self.middle, &mut self.process, kind) {
            (Some(middle), Some(process), PROCESS) => Ok(process.restart(middle)?),
            (Some(middle), None, LINK) => Ok(self.flap(middle)?),
            _ => Err(Unable(format!("the {} has no reset `{kind}`", self.dut.name())).into()),
        }
    }

    /// The error is why it does not work any more.
    pub(crate) fn check(&mut self) -> std::result::Result<(), Failure> {
        match self.process.as_mut().and_then(Process::ended) {
            Some(why) => Err(format!("the device's program {why}").into()),
            None => Ok(()),
        }
    }

    fn set_up(&mut self, own: &str, way: Way) -> Result<()> {
        let Some(middle) = &self.middle else {
            return Ok(());
        };
        match &self.dut {
            Dut::Kernel => self.route(middle),
            Dut::Filtered(_) if self.is_ipv6 => Err(Error::Invalid(
                "the filters of RFC 2544 §11.4.1 are for IPv4: leave `-6` or `filters` out"
                    .to_owned(),
            )),
            Dut::NetFpga(card) if self.is_ipv6 && card.is_router() => Err(Error::Invalid(
                "the NetFPGA routers route IPv4 only: leave `-6` or `netfpga` out".to_owned(),
            )),
            Dut::Filtered(filters) => {
                self.route(middle)?;
                filters.put(middle, &self.interfaces[0])
            }
            Dut::Bridge => {
                let interfaces = self.interfaces.each_ref().map(String::as_str);
                middle.add_bridge(BRIDGE, &interfaces)
            }
            dut => {
                let words = dut.program(own, &self.interfaces, way).unwrap_or_default();
                let started = Process::start(middle, &words);
                self.process = Some(started.map_err(|source| Error::Kernel {
                    what: format!("cannot start `{}`", words.join(" ")),
                    source,
                })?);
                Ok(())
            }
        }
    }

    /// Has the kernel forward between the interfaces.
    fn route(&self, middle: &Namespace) -> Result<()> {
        if self.is_ipv6 {
            // An interface that is set down and up again keeps its addresses.
            middle.set_sysctl("ipv6/conf/all/keep_addr_on_down", "1")?;
            middle.enable_ipv6()?;
            for interface in &self.interfaces {
                // Nobody else is on these wires: addresses need not be looked for first.
                middle.set_sysctl(&format!("ipv6/conf/{interface}/accept_dad"), "0")?;
                middle.set_sysctl(&format!("ipv6/conf/{interface}/keep_addr_on_down"), "1")?;
            }
        }
        let addresses = if self.is_ipv6 {
            ADDRESSES_V6
        } else {
            ADDRESSES_V4
        };
        for (interface, address) in self.interfaces.iter().zip(addresses) {
            middle.add_address(interface, address)?;
        }
        let forwarding = if self.is_ipv6 {
            "ipv6/conf/all/forwarding"
        } else {
            "ipv4/ip_forward"
        };
        middle.set_sysctl(forwarding, "1")?;
        self.add_routes(middle)
    }

    /// Routes go with their link.
    fn add_routes(&self, middle: &Namespace) -> Result<()> {
        let networks = if self.is_ipv6 {
            NETWORKS_V6
        } else {
            NETWORKS_V4
        };
        for (interface, (network, by)) in self.interfaces.iter().zip(networks) {
            middle.add_route(network, Some(by), interface)?;
        }
        Ok(())
    }

    fn flap(&self, middle: &Namespace) -> Result<()> {
        let [_, outward] = &self.interfaces;
        middle.set_up(outward, false)?;
        middle.set_up(outward, true)?;
        match self.dut {
            Dut::Kernel | Dut::Filtered(_) => self.add_routes(middle),
            _ => Ok(()),
        }
    }
}
