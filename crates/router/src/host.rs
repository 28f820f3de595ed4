//! What the machine does for elements: files, standard streams, devices, time and waiting.
//!
//! The router itself opens nothing and reads no clock; whoever runs it gives it a [`Host`].

use std::fmt::Debug;
use std::io::{self, Read, Write};
use trammel_packet::device::Device;
use trammel_packet::pool::Pool;
use trammel_packet::timestamp::Timestamp;

/// What a device is asked to be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceRequest {
    /// The interface: `eth0`.
    pub name: String,
    /// `afxdp`, `afpacket`, `tap`, `tun`, `ring`, `pcap`; empty for the host's choice.
    pub method: String,
    /// Frames to others are wanted as well.
    pub promiscuous: bool,
    /// The address and prefix that a TAP or TUN interface gets.
    pub address: Option<String>,
    /// Further options, as `KEY value`.
    pub options: Vec<(String, String)>,
}

/// Why the machine does not give what was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What is wrong, naming the thing.
    pub text: String,
    /// The command that would mend it.
    pub mend: Option<String>,
    /// The machine lacks something, rather than the wish being wrong.
    pub is_lack: bool,
}

/// A listening socket or a connection, for elements that serve or speak.
pub trait Socket: Debug + Send {
    /// A connection that has come, where this listens.
    fn accept(&mut self) -> io::Result<Option<Box<dyn Socket>>>;
    /// Reads what is there; 0 at the end. `WouldBlock` where nothing is there yet.
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize>;
    /// Writes what goes now.
    fn write(&mut self, from: &[u8]) -> io::Result<usize>;
    /// The descriptor to wait on.
    fn descriptor(&self) -> i32;
    /// Where it listens or to whom it speaks: `127.0.0.1:7777`.
    fn address(&self) -> String;
}

/// What a socket is asked to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SocketRequest {
    /// `tcp`, `udp`, `unix`, `unix-datagram`, `multicast`, `raw`.
    pub kind: String,
    /// Where to listen or bind: an address with a port, or a path. Empty for none.
    pub local: String,
    /// Whom to speak to.
    pub remote: String,
    /// Whether it waits for connections.
    pub listen: bool,
    /// Further options, as `KEY value`.
    pub options: Vec<(String, String)>,
}

/// The services of the machine.
pub trait Host: Debug + Send {
    /// The time of day.
    fn now(&mut self) -> Timestamp;

    /// Nanoseconds of processor time that this process has used.
    fn cpu_ns(&mut self) -> u64 {
        0
    }

    /// Sleeps until one of `readable` or `writable` is ready, `timeout_ns` has passed (none: for ever), or a signal has come.
    /// The ready ones are appended to `ready`.
    fn wait(
        &mut self,
        readable: &[i32],
        writable: &[i32],
        timeout_ns: Option<u64>,
        ready: &mut Vec<i32>,
    ) -> io::Result<()>;

    /// Opens a file to read; `-` is standard input.
    fn open(&mut self, path: &str) -> io::Result<Box<dyn Read + Send>>;

    /// Opens a file to write; `-` is standard output.
    fn create(&mut self, path: &str, append: bool) -> io::Result<Box<dyn Write + Send>>;

    /// Prints on standard output.
    fn print(&mut self, text: &str);

    /// Prints on standard error: what elements such as `Print` say.
    fn say(&mut self, text: &str);

    /// Opens a device. Its frames may lie in `pool`, which then stays as long as the device.
    fn device(
        &mut self,
        request: &DeviceRequest,
        pool: &mut Pool,
    ) -> Result<Box<dyn Device>, Refusal>;

    /// Opens a socket.
    fn socket(&mut self, request: &SocketRequest) -> io::Result<Box<dyn Socket>>;

    /// Asks that signal `number` be counted; [`Host::signals`] tells what has come.
    fn watch_signal(&mut self, number: i32) -> io::Result<()>;

    /// Has a signal do again what it does to a process that does not watch it.
    fn unwatch_signal(&mut self, number: i32) {
        let _ = number;
    }

    /// Watched signals that have come since the last call.
    fn signals(&mut self) -> Vec<i32>;

    /// Sends a signal to a process.
    fn kill(&mut self, process: i32, signal: i32) -> io::Result<()>;

    /// A variable of the environment.
    fn environment(&mut self, name: &str) -> Option<String> {
        let _ = name;
        None
    }
}

/// What went wrong, in the system's words without its number: `No such file or directory`.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((text, _)) => text.to_owned(),
        None => text,
    }
}
