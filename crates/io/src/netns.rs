//! Network namespaces for tests and measurements, removed whatever happens.
//!
//! A namespace lives as long as its [`Namespace`]: it is held by a descriptor, so it is gone when
//! the value is dropped, when a panic unwinds, and when the process is killed. A named one can be
//! entered by `ip netns exec` and leaves a file in `/run/netns`, which a killed process cannot
//! remove; the next [`Namespace::named`] removes those whose process is gone.
//!
//! ```no_run
//! use trammel_io::netns::{Namespace, veth};
//! let (left, right) = (Namespace::new()?, Namespace::new()?);
//! veth(&left, "a", &right, "b")?;
//! left.add_address("a", "10.0.0.1/24")?;
//! right.add_address("b", "10.0.0.2/24")?;
//! left.command("ping", &["-c", "1", "10.0.0.2"])?;
//! let socket = right.run(|| std::net::UdpSocket::bind("10.0.0.2:0"))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//! Works as root and inside `unshare -Urn`. A descriptor stays in the namespace that it was opened
//! in, so a device opened by [`Namespace::run`] can be used by any thread.

use crate::error::{Error, Result};
use crate::ethtool::Ethtool;
use crate::netlink::Socket;
use crate::program;
use crate::rtnetlink::{Change, Hop, Link};
use crate::sys;
use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

const FOLDER: &str = "/run/netns";
const RIGHT: &str = "CAP_SYS_ADMIN";
/// What the names of all namespaces of this harness start with.
const PREFIX: &str = "trammel";

/// A network namespace, removed when dropped.
#[derive(Debug)]
pub struct Namespace {
    fd: OwnedFd,
    netlink: Mutex<Socket>,
    ethtool: Ethtool,
    file: Option<NamedFile>,
}

/// A namespace's file in `/run/netns`.
#[derive(Debug)]
struct NamedFile {
    path: PathBuf,
}

impl Drop for NamedFile {
    fn drop(&mut self) {
        remove_file(&self.path);
    }
}

fn remove_file(path: &Path) {
    if let Some(target) = path.to_str().and_then(|path| CString::new(path).ok()) {
        // SAFETY: a string that ends with a zero. Nothing is mounted where mounting failed: no
        // matter.
        unsafe { libc::umount2(target.as_ptr(), libc::MNT_DETACH) };
    }
    // Nothing can be done about a file that stays; `remove_stale` tries again.
    let _ = fs::remove_file(path);
}

/// Runs `action` in a thread of its own, whose namespace is none of the caller's business, and lets
/// a panic of it pass.
fn in_thread<T: Send>(action: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| match scope.spawn(action).join() {
        Ok(value) => value,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}

fn enter(fd: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: no pointers; only the calling thread, which is one of ours, changes its namespace.
    sys::check(unsafe { libc::setns(fd.as_raw_fd(), libc::CLONE_NEWNET) }).map(drop)
}

impl Namespace {
    /// A new namespace without a name; its loopback is up and IPv6 is off, so that nothing but what
    /// is asked for is on its wires (see [`Namespace::enable_ipv6`]).
    pub fn new() -> Result<Namespace> {
        Namespace::make(None)
    }

    /// A new namespace with a file in `/run/netns`, so that `ip netns exec` can enter it; its name
    /// is `trammel-LABEL-PID-N`, which no other has.
    pub fn named(label: &str) -> Result<Namespace> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        if label.contains(['/', '\0']) {
            return Err(Error::Invalid(format!(
                "`{label}` is no name of a namespace"
            )));
        }
        remove_stale();
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PREFIX}-{label}-{}-{number}", std::process::id());
        Namespace::make(Some(Path::new(FOLDER).join(name)))
    }

    fn make(path: Option<PathBuf>) -> Result<Namespace> {
        in_thread(|| {
            let of = |what| Error::of(what, "", RIGHT);
            // SAFETY: no pointers; the thread ends with the namespace that it makes for itself.
            sys::check(unsafe { libc::unshare(libc::CLONE_NEWNET) })
                .map_err(of("make a network namespace"))?;
            let here = "/proc/thread-self/ns/net";
            let fd = File::open(here)
                .map_err(of("open the new namespace"))?
                .into();
            let file = path.map(|path| mount(here, path)).transpose()?;
            let netlink = Socket::open(&[]).map_err(of("open a netlink socket"))?;
            let namespace = Namespace {
                fd,
                netlink: Mutex::new(netlink),
                ethtool: Ethtool::open()?,
                file,
            };
            namespace.set_up("lo", true)?;
            // A kernel without IPv6 has nothing to switch off.
            let _ = namespace.set_ipv6(false);
            Ok(namespace)
        })
    }

    /// The name, if it has one.
    pub fn name(&self) -> Option<&str> {
        self.file.as_ref()?.path.file_name()?.to_str()
    }

    /// Runs `action` in the namespace. What it opens stays in it; a panic of it goes on in the
    /// caller.
    pub fn run<T: Send>(&self, action: impl FnOnce() -> T + Send) -> T {
        in_thread(|| {
            enter(self.fd.as_fd())
                .expect("a namespace of ours can be entered while its descriptor is open");
            action()
        })
    }

    /// Runs a command in the namespace to its end; one that fails is an error with what it wrote.
    /// It is looked for in absolute folders and runs isolated (see [`program`]).
    pub fn command(&self, name: &str, arguments: &[&str]) -> Result<Output> {
        let failed = |source| Error::Kernel {
            what: format!("`{name} {}` failed", arguments.join(" ")),
            source,
        };
        let found = program::find(name).ok_or(io::ErrorKind::NotFound);
        let found = found.map_err(|kind| failed(kind.into()))?;
        let output = self
            .run(|| {
                program::isolated(&found, Path::new("/"))
                    .args(arguments)
                    .output()
            })
            .map_err(failed)?;
        if output.status.success() {
            return Ok(output);
        }
        let mut said = String::from_utf8_lossy(&output.stderr).into_owned();
        said.push_str(&String::from_utf8_lossy(&output.stdout));
        Err(failed(io::Error::other(format!(
            "{}: {}",
            output.status,
            said.trim()
        ))))
    }

    /// Its netlink socket, for what the methods here do not do.
    pub fn netlink(&self) -> MutexGuard<'_, Socket> {
        self.netlink.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(
        &self,
        what: &str,
        name: &str,
        by: impl FnOnce(&mut Socket) -> io::Result<()>,
    ) -> Result<()> {
        by(&mut self.netlink()).map_err(Error::of(what, name, "CAP_NET_ADMIN"))
    }

    /// The interface `name`: its number, address, counters.
    pub fn link(&self, name: &str) -> Result<Link> {
        let link = self.netlink().link(name);
        link.map_err(Error::of("read the interface", name, "CAP_NET_ADMIN"))
    }

    /// Sets an interface up or down.
    pub fn set_up(&self, name: &str, is_up: bool) -> Result<()> {
        self.change("set the interface up", name, |netlink| {
            netlink.set_up(name, is_up)
        })
    }

    /// Sets an interface's largest packet, in bytes without the link header.
    pub fn set_mtu(&self, name: &str, mtu_bytes: u32) -> Result<()> {
        self.change("set the MTU", name, |netlink| {
            netlink.set_mtu(name, mtu_bytes)
        })
    }

    /// Sets an interface's Ethernet address.
    pub fn set_mac(&self, name: &str, mac: [u8; 6]) -> Result<()> {
        self.change("set the address", name, |netlink| {
            netlink.set_mac(name, mac)
        })
    }

    /// Joins interfaces by a bridge of the kernel's, which is set up.
    pub fn add_bridge(&self, bridge: &str, interfaces: &[&str]) -> Result<()> {
        self.change("make the bridge", bridge, |netlink| {
            netlink.add_bridge(bridge)?;
            for interface in interfaces {
                netlink.set_bridge(interface, bridge)?;
            }
            netlink.set_up(bridge, true)
        })
    }

    /// Removes an interface, and of a veth pair the other end too.
    pub fn delete_link(&self, name: &str) -> Result<()> {
        self.change("remove the interface", name, |netlink| {
            netlink.delete_link(name)
        })
    }

    /// Gives an interface an address with its network: `10.0.0.1/24`.
    pub fn add_address(&self, name: &str, address: &str) -> Result<()> {
        let (address, prefix) = parse_prefix(address)?;
        self.change("add the address", name, |netlink| {
            netlink.add_address(name, address, prefix)
        })
    }

    /// Routes a network (`10.1.0.0/16`) by a router, or out of an interface where there is none.
    pub fn add_route(&self, network: &str, gateway: Option<&str>, interface: &str) -> Result<()> {
        let (network, prefix) = parse_prefix(network)?;
        let hop = Hop {
            gateway: gateway.map(parse_address).transpose()?,
            interface: self.link(interface)?.index,
            is_dead: false,
        };
        self.change("add the route", interface, |netlink| {
            netlink.change_route(Change::Add, network, prefix, &hop)
        })
    }

    /// Says by which Ethernet address a neighbour is reached, for good.
    pub fn add_neighbour(&self, interface: &str, address: &str, mac: [u8; 6]) -> Result<()> {
        let address = parse_address(address)?;
        self.change("add the neighbour", interface, |netlink| {
            netlink.add_neighbour(interface, address, mac)
        })
    }

    /// Switches all offloads of an interface that change what frames look like.
    pub fn set_offloads(&self, name: &str, are_on: bool) -> Result<()> {
        self.ethtool.set_offloads(name, are_on)
    }

    /// Its interfaces' drivers.
    pub fn ethtool(&self) -> &Ethtool {
        &self.ethtool
    }

    /// Writes a variable below `/proc/sys/net`: `ipv4/ip_forward`.
    pub fn set_sysctl(&self, variable: &str, value: &str) -> Result<()> {
        let path = Path::new("/proc/sys/net").join(variable);
        let what = format!("write {}", path.display());
        self.run(|| fs::write(&path, value))
            .map_err(Error::of(&what, "", "CAP_NET_ADMIN"))
    }

    /// Has the kernel speak IPv6 on the interfaces that there are and will be.
    pub fn enable_ipv6(&self) -> Result<()> {
        self.set_ipv6(true)
    }

    fn set_ipv6(&self, is_on: bool) -> Result<()> {
        let value = if is_on { "0" } else { "1" };
        self.set_sysctl("ipv6/conf/default/disable_ipv6", value)?;
        self.set_sysctl("ipv6/conf/all/disable_ipv6", value)
    }
}

impl AsFd for Namespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Gives the namespace `source` a file.
fn mount(source: &str, path: PathBuf) -> Result<NamedFile> {
    let what = format!("name a namespace in {FOLDER}");
    fs::create_dir_all(FOLDER).map_err(Error::of(&what, "", RIGHT))?;
    File::create_new(&path).map_err(Error::of(&what, "", RIGHT))?;
    let file = NamedFile { path };
    let target = file.path.to_str().and_then(|path| CString::new(path).ok());
    let (Some(target), Ok(source)) = (target, CString::new(source)) else {
        return Err(Error::Invalid(format!(
            "`{}` is no path",
            file.path.display()
        )));
    };
    // SAFETY: strings that end with a zero.
    sys::check(unsafe {
        libc::mount(
            source.as_ptr(),
            target.as_ptr(),
            c"none".as_ptr(),
            libc::MS_BIND,
            std::ptr::null(),
        )
    })
    .map_err(Error::of(&what, "", RIGHT))?;
    Ok(file)
}

/// Removes the files of namespaces of this harness whose process is gone; says how many.
pub(crate) fn remove_stale() -> usize {
    let Ok(entries) = fs::read_dir(FOLDER) else {
        return 0;
    };
    let mut removed = 0;
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or("");
        let pid = name
            .strip_prefix(PREFIX)
            .and_then(|rest| rest.rsplit('-').nth(1)?.parse::<u32>().ok());
        if pid.is_some_and(|pid| !Path::new("/proc").join(pid.to_string()).exists()) {
            remove_file(&path);
            removed += 1;
        }
    }
    removed
}

/// Gives a process that is not root's a user namespace of its own, where it may make network
/// namespaces; what root starts keeps its rights. To be called while the process has one thread.
pub fn own_user() -> Result<()> {
    // SAFETY: no pointers.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    if user == 0 {
        return Ok(());
    }
    let of = Error::of("make a user namespace", "", RIGHT);
    // SAFETY: no pointers.
    sys::check(unsafe { libc::unshare(libc::CLONE_NEWUSER) }).map_err(of)?;
    for (file, text) in [
        ("setgroups", "deny".to_owned()),
        ("uid_map", format!("0 {user} 1")),
        ("gid_map", format!("0 {group} 1")),
    ] {
        let of = Error::of("name the users of a user namespace", "", RIGHT);
        fs::write(Path::new("/proc/self").join(file), text).map_err(of)?;
    }
    Ok(())
}

/// Connects two namespaces by a pair of interfaces, both up.
pub fn veth(a: &Namespace, a_name: &str, b: &Namespace, b_name: &str) -> Result<()> {
    for name in [a_name, b_name] {
        sys::interface_name(name)?;
    }
    let what = format!("make the pair `{a_name}`, `{b_name}`");
    a.change(&what, "", |netlink| {
        netlink.add_veth(a_name, b.fd.as_raw_fd(), b_name)
    })?;
    a.set_up(a_name, true)?;
    b.set_up(b_name, true)
}

fn parse_address(text: &str) -> Result<IpAddr> {
    text.parse()
        .map_err(|_| Error::Invalid(format!("`{text}` is no IP address")))
}

fn parse_prefix(text: &str) -> Result<(IpAddr, u8)> {
    let (address, prefix) = text.split_once('/').ok_or_else(|| {
        Error::Invalid(format!("`{text}` has no `/` with the bits of the network"))
    })?;
    let address = parse_address(address)?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    match prefix.parse() {
        Ok(prefix) if prefix <= most => Ok((address, prefix)),
        _ => Err(Error::Invalid(format!(
            "`{text}`: the network has 0 to {most} bits"
        ))),
    }
}
