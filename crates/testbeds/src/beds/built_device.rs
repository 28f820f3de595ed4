//! A device that the bench builds, between the tester's ports; hosts can take the tester's place.

use super::ports::{Device, Ports, Setting};
use crate::devices::namespaces::{Home, Wish};
use crate::transfer::{Hosts, real};
use std::sync::atomic::AtomicBool;
use trammel_bench::testbed::Unable;
use trammel_bench::transfer::{File, Protocol, Transferred};
use trammel_bench::trial::Failure;
use trammel_io::error::Result;
use trammel_traffic::tester::port::Port;

/// A device in namespaces, and the hosts that transfer files through another one like it.
#[derive(Debug)]
pub struct BuiltDevice {
    home: Home,
    hosts: Hosts,
}

impl BuiltDevice {
    /// Builds the device. The error of a wrong configuration is
    /// [`Error::Invalid`](trammel_io::error::Error::Invalid).
    pub fn build(wish: &Wish) -> Result<BuiltDevice> {
        Ok(BuiltDevice {
            home: Home::build(wish)?,
            hosts: Hosts::new(&wish.dut, wish.is_bridged, &wish.own),
        })
    }

    /// The device with the namespaces of the tester's interfaces.
    pub fn home(&self) -> &Home {
        &self.home
    }
}

impl Device for BuiltDevice {
    fn name(&self) -> String {
        self.home.name()
    }

    fn resets(&self) -> Vec<String> {
        self.home.resets()
    }

    fn reset(&mut self, kind: &str) -> std::result::Result<(), Failure> {
        self.home.reset(kind)
    }

    fn check(&mut self) -> std::result::Result<(), Failure> {
        self.home.check()
    }

    fn carries_files(&self, protocol: &Protocol) -> std::result::Result<(), Unable> {
        real(protocol).map(|_| ())
    }

    fn transfer(
        &mut self,
        file: &File,
        interrupted: &AtomicBool,
    ) -> std::result::Result<Transferred, Failure> {
        self.hosts.transfer(file, interrupted)
    }
}

/// A device that is built, between its ports.
pub fn bed(wish: &Wish, setting: impl FnOnce([Port; 2]) -> Setting) -> Result<Ports> {
    let device = BuiltDevice::build(wish)?;
    let is_routed = wish.dut.is_routed(wish.is_bridged);
    let ports = device.home.ports(wish.way, is_routed);
    Ports::open(setting(ports), Box::new(device))
}
