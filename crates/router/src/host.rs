//! What the machine does for elements: files, standard streams, devices, time and waiting.
//!
//! The router itself opens nothing and reads no clock; whoever runs it gives it a [`Host`].

use std::fmt::Debug;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use trammel_core::time::Time;
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
    /// Writes a datagram to `to`, where it speaks to no one in particular.
    fn send_to(&mut self, from: &[u8], to: Ipv4Addr) -> io::Result<usize> {
        let _ = (from, to);
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }
    /// The descriptor to wait on.
    fn descriptor(&self) -> i32;
    /// Where it listens or to whom it speaks: `127.0.0.1:7777`. Of datagrams, where the last came
    /// from.
    fn address(&self) -> String;
}

/// What becomes of the packets of a kernel's route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteKind {
    /// They go on.
    Unicast,
    /// They are refused or lost: `blackhole`, `unreachable`, `prohibit`, `throw`.
    Refused,
    /// They are for this machine, which is asked for before all other routes.
    Local,
}

/// What the kernel's tables tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KernelEvent {
    /// Forget everything: all there is follows.
    Restart,
    /// All there is has been told; changes follow.
    Complete,
    /// An interface came, or is now otherwise.
    Link {
        /// Its number.
        index: u32,
        /// Its name.
        name: String,
    },
    /// An address came or went.
    Address {
        /// Whether it is there now.
        is_there: bool,
        /// The interface's number.
        interface: u32,
        /// The address.
        address: IpAddr,
        /// The bits of its network.
        prefix: u8,
    },
    /// Routes may have gone, come or changed of which nothing was told: all there is should be
    /// asked for anew soon.
    Unsettled,
    /// A route of the main table, or of the table of local addresses, came or went.
    Route {
        /// Whether it is there now.
        is_there: bool,
        /// What becomes of its packets.
        kind: RouteKind,
        /// It takes the place of another rather than standing beside it.
        replaces: bool,
        /// The network.
        destination: IpAddr,
        /// Its bits.
        prefix: u8,
        /// The lowest wins.
        metric: u32,
        /// Next hops that are used: the router, or none on the link, and the interface's number.
        hops: Vec<(Option<IpAddr>, u32)>,
    },
    /// A neighbour came or went.
    Neighbour {
        /// Its Ethernet address, where frames may be sent to it now.
        mac: Option<[u8; 6]>,
        /// The interface's number.
        interface: u32,
        /// Its address.
        address: IpAddr,
    },
}

/// The kernel's links, addresses, routes and neighbours.
pub trait KernelTables: Debug + Send {
    /// Tells what has happened since the last call, the first time all there is. Does not wait.
    fn poll(&mut self, tell: &mut dyn FnMut(KernelEvent)) -> io::Result<()>;
    /// Has the next call tell all there is anew.
    fn restart(&mut self);
    /// The descriptor to wait on.
    fn descriptor(&self) -> i32;
}

/// The addresses of a network interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InterfaceAddresses {
    /// Its Ethernet address.
    pub ether: Option<[u8; 6]>,
    /// Its addresses with the bits of their networks, the main one of each kind first.
    pub addresses: Vec<(IpAddr, u8)>,
}

/// What the machine knows by name, as configurations use it.
pub trait MachineNames: Debug + Send + Sync {
    /// The addresses of the interface called `name`; none where there is no such interface.
    fn interface(&self, name: &str) -> Option<InterfaceAddresses> {
        let _ = name;
        None
    }

    /// The router to which the default route by this interface leads.
    fn gateway(&self, name: &str) -> Option<Ipv4Addr> {
        let _ = name;
        None
    }

    /// The table of services(5).
    fn services(&self) -> Option<String> {
        None
    }

    /// The table of protocols(5).
    fn protocols(&self) -> Option<String> {
        None
    }
}

/// A machine that knows no names.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoNames;

impl MachineNames for NoNames {}

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

/// Wakes a thread that waits.
pub trait Bell: Debug + Send + Sync {
    /// Wakes it, or has its next wait end at once.
    fn ring(&self);
    /// Forgets that it rang.
    fn silence(&self);
    /// The descriptor that can be read once it has rung.
    fn descriptor(&self) -> i32;
}

/// What was said, for who overhears it.
#[derive(Debug, Default)]
pub struct Overheard {
    text: Option<String>,
}

/// What is kept of it.
const MOST_OVERHEARD: usize = 1 << 19;

impl Overheard {
    /// Keeps what is said from now on, or no more.
    pub fn set(&mut self, wanted: bool) {
        if !wanted {
            self.text = None;
        } else if self.text.is_none() {
            self.text = Some(String::new());
        }
    }

    /// Takes note of `text`, where somebody overhears.
    pub fn add(&mut self, text: &str) {
        let Some(kept) = &mut self.text else {
            return;
        };
        kept.push_str(text);
        if kept.len() > MOST_OVERHEARD {
            let from = kept.len() - MOST_OVERHEARD;
            let from = (from..kept.len()).find(|at| kept.is_char_boundary(*at));
            kept.drain(..from.unwrap_or(0));
        }
    }

    /// Takes what was said.
    pub fn take(&mut self) -> String {
        self.text.as_mut().map(std::mem::take).unwrap_or_default()
    }
}

/// The services of the machine.
pub trait Host: Debug + Send {
    /// The time of day.
    fn now(&mut self) -> Timestamp;

    /// Nanoseconds of processor time that this process has used.
    fn cpu_ns(&mut self) -> u64 {
        0
    }

    /// Sleeps until one of `readable` or `writable` is ready, `timeout_ns` has passed (none: for
    /// ever), or a signal has come. The ready ones are appended to `ready`.
    fn wait(
        &mut self,
        readable: &[i32],
        writable: &[i32],
        timeout_ns: Option<u64>,
        ready: &mut Vec<i32>,
    ) -> io::Result<()>;

    /// Opens a file to read; `-` is standard input.
    fn open(&mut self, path: &str) -> io::Result<Box<dyn Read + Send>>;

    /// Opens a file to write; `-` is standard output. A write that fails later is told by the host,
    /// once for each file.
    fn create(&mut self, path: &str, append: bool) -> io::Result<Box<dyn Write + Send>>;

    /// The path of `path` in `folder`, where a relative one lies; an error where it leads out of
    /// it.
    fn within(&mut self, folder: &str, path: &str) -> io::Result<String> {
        within(folder, path)
    }

    /// Reads the key that control connections prove with.
    fn key(&mut self, path: &str) -> io::Result<Box<dyn Key>> {
        let _ = path;
        Err(io::ErrorKind::Unsupported.into())
    }

    /// The length of a regular file.
    fn file_bytes(&mut self, path: &str) -> Option<u64> {
        let _ = path;
        None
    }

    /// In simulated time, when one of `readable` or `writable` will be ready next, on the core's
    /// clock; where the router `polls`, also when a frame will come to a device that is polled.
    /// None where nothing will come.
    fn next_ready(&mut self, readable: &[i32], writable: &[i32], polls: bool) -> Option<Time> {
        let _ = (readable, writable, polls);
        None
    }

    /// Prints on standard output.
    fn print(&mut self, text: &str);

    /// Prints bytes that need not be text on standard output, in turn with [`Host::print`].
    fn print_bytes(&mut self, bytes: &[u8]) {
        self.print(&String::from_utf8_lossy(bytes));
    }

    /// Prints on standard error: what elements such as `Print` say.
    fn say(&mut self, text: &str);

    /// Asks that what is said be kept for [`Host::take_overheard`], or no more.
    fn overhear(&mut self, wanted: bool) {
        let _ = wanted;
    }

    /// What was said since the last call, the last half megabyte of it.
    fn take_overheard(&mut self) -> String {
        String::new()
    }

    /// Opens a device. Its frames may lie in `pool`, which then stays as long as the device.
    fn device(
        &mut self,
        request: &DeviceRequest,
        pool: &mut Pool,
    ) -> Result<Box<dyn Device>, Refusal>;

    /// Opens a socket.
    fn socket(&mut self, request: &SocketRequest) -> io::Result<Box<dyn Socket>>;

    /// What the machine knows by name, as it is now.
    fn machine_names(&mut self) -> Arc<dyn MachineNames> {
        Arc::new(NoNames)
    }

    /// Follows the kernel's tables.
    fn follow_kernel(&mut self) -> Result<Box<dyn KernelTables>, Refusal> {
        Err(Refusal {
            text: "no kernel whose tables could be followed".to_owned(),
            mend: None,
            is_lack: true,
        })
    }

    /// Asks that signal `number` be counted; [`Host::signals`] tells what has come.
    fn watch_signal(&mut self, number: i32) -> io::Result<()>;

    /// Has a signal do again what it does to a process that does not watch it.
    fn unwatch_signal(&mut self, number: i32) {
        let _ = number;
    }

    /// Watched signals that have come since the last call.
    fn signals(&mut self) -> Vec<i32>;

    /// Watched signals that have come since [`Host::signals`] was called last, a bit for each
    /// number; they stay to be asked for.
    fn pending_signals(&mut self) -> u64 {
        0
    }

    /// Sends a signal to a process.
    fn kill(&mut self, process: i32, signal: i32) -> io::Result<()>;

    /// The same machine for another thread.
    fn another(&mut self) -> io::Result<Box<dyn Host>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// A bell for a thread that waits with [`Host::wait`].
    fn bell(&mut self) -> io::Result<Box<dyn Bell>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Keeps the calling thread on one processor.
    fn pin(&mut self, processor: usize) -> io::Result<()> {
        let _ = processor;
        Err(io::ErrorKind::Unsupported.into())
    }

    /// A variable of the environment.
    fn environment(&mut self, name: &str) -> Option<String> {
        let _ = name;
        None
    }
}

/// A key that both ends of a control connection hold.
pub trait Key: Debug + Send {
    /// A number that comes once, as text.
    fn nonce(&self) -> io::Result<String>;
    /// Whether `proof` is that of the key for `nonce`.
    fn is_proven(&self, nonce: &str, proof: &str) -> bool;
}

/// The path of `path` in `folder`, by the names alone.
pub fn within(folder: &str, path: &str) -> io::Result<String> {
    let folder = folder.trim_end_matches('/');
    let inner = match path.strip_prefix(folder) {
        Some(rest) if rest.starts_with('/') => rest.trim_start_matches('/'),
        _ => path,
    };
    let is_inside = !inner.starts_with('/') && inner.split('/').all(|part| part != "..");
    if is_inside && !inner.is_empty() {
        Ok(format!("{folder}/{inner}"))
    } else {
        let text = format!("`{path}` is not in the control folder `{folder}`");
        Err(io::Error::new(io::ErrorKind::PermissionDenied, text))
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
