//! The machine of a simulated router: its ports, and another machine's files.

use super::port::Port;
use crate::engine::core_clock::CoreClock;
use crate::host::{DeviceRequest, Host, MachineNames, Refusal, Socket, SocketRequest};
use std::io::{self, Read, Write};
use std::sync::Arc;
use trammel_core::time::Time;
use trammel_packet::device::Device;
use trammel_packet::pool::Pool;
use trammel_packet::timestamp::Timestamp;

/// The descriptor of the first port; those of the others follow.
const FIRST_DESCRIPTOR: i32 = 1;

/// A machine with simulated ports. Files and what is printed are those of `files`; nothing else of
/// it is used.
#[derive(Debug)]
pub(super) struct SimulatedHost {
    pub(super) clock: CoreClock,
    pub(super) start: Timestamp,
    pub(super) ports: Vec<Port>,
    pub(super) files: Box<dyn Host>,
}

impl SimulatedHost {
    fn port(&self, descriptor: i32) -> Option<&Port> {
        let number = usize::try_from(descriptor.checked_sub(FIRST_DESCRIPTOR)?).ok()?;
        self.ports.get(number)
    }
}

impl Host for SimulatedHost {
    fn now(&mut self) -> Timestamp {
        self.start + Timestamp(self.clock.now().as_ns() as i64)
    }

    fn wait(
        &mut self,
        readable: &[i32],
        writable: &[i32],
        _: Option<u64>,
        ready: &mut Vec<i32>,
    ) -> io::Result<()> {
        let now = self.clock.now();
        let can_read = |d: &&i32| self.port(**d).is_some_and(|port| port.is_readable(now));
        ready.extend(readable.iter().filter(can_read));
        let can_write = |d: &&i32| self.port(**d).is_some_and(|port| port.is_writable(now));
        for descriptor in writable.iter().filter(can_write) {
            if !ready.contains(descriptor) {
                ready.push(*descriptor);
            }
        }
        Ok(())
    }

    fn next_ready(&mut self, readable: &[i32], writable: &[i32], polls: bool) -> Option<Time> {
        let now = self.clock.now();
        let port = |descriptor: &i32| self.port(*descriptor);
        let reads = readable
            .iter()
            .filter_map(port)
            .filter_map(|port| port.next_readable(now));
        let writes = writable
            .iter()
            .filter_map(port)
            .filter_map(|port| port.next_writable(now));
        let polled = self.ports.iter().filter(|_| polls);
        let polled = polled.filter_map(|port| port.next_polled(now));
        reads.chain(writes).chain(polled).min()
    }

    fn open(&mut self, path: &str) -> io::Result<Box<dyn Read + Send>> {
        self.files.open(path)
    }

    fn create(&mut self, path: &str, append: bool) -> io::Result<Box<dyn Write + Send>> {
        self.files.create(path, append)
    }

    fn file_bytes(&mut self, path: &str) -> Option<u64> {
        self.files.file_bytes(path)
    }

    fn print(&mut self, text: &str) {
        self.files.print(text);
    }

    fn print_bytes(&mut self, bytes: &[u8]) {
        self.files.print_bytes(bytes);
    }

    fn say(&mut self, text: &str) {
        self.files.say(text);
    }

    fn device(
        &mut self,
        request: &DeviceRequest,
        _: &mut Pool,
    ) -> Result<Box<dyn Device>, Refusal> {
        let mut all = self.ports.iter().zip(FIRST_DESCRIPTOR..);
        match all.find(|(port, _)| port.name() == request.name) {
            Some((port, descriptor)) => Ok(Box::new(port.device(descriptor))),
            None => Err(Refusal {
                text: format!(
                    "the simulated machine has no port `{}`, only {}",
                    request.name,
                    self.port_names()
                ),
                mend: None,
                is_lack: false,
            }),
        }
    }

    fn socket(&mut self, _: &SocketRequest) -> io::Result<Box<dyn Socket>> {
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "a simulated machine has no sockets",
        ))
    }

    fn watch_signal(&mut self, _: i32) -> io::Result<()> {
        Ok(())
    }

    fn machine_names(&mut self) -> Arc<dyn MachineNames> {
        self.files.machine_names()
    }

    fn signals(&mut self) -> Vec<i32> {
        Vec::new()
    }

    fn kill(&mut self, _: i32, _: i32) -> io::Result<()> {
        Err(io::Error::from(io::ErrorKind::PermissionDenied))
    }
}

impl SimulatedHost {
    fn port_names(&self) -> String {
        let names: Vec<String> = self
            .ports
            .iter()
            .map(|p| format!("`{}`", p.name()))
            .collect();
        if names.is_empty() {
            "none at all".to_owned()
        } else {
            names.join(", ")
        }
    }
}
