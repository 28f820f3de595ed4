//! What an interface's driver is asked by `ethtool`: offloads and queues.

use crate::error::{Error, Result};
use crate::sys;
use std::os::fd::{AsRawFd, OwnedFd};

const SIOCETHTOOL: u64 = 0x8946;
const SIOCGIFHWADDR: u64 = 0x8927;
const GET_DRIVER: u32 = 0x03;
const GET_CHANNELS: u32 = 0x3c;

/// The offloads that change what frames look like, with the command that sets each. Switching off the
/// transmit checksum also ends the segmentation of UDP, which needs it.
const OFFLOADS: &[(&str, u32)] = &[
    ("tso", 0x1f),
    ("gso", 0x24),
    ("gro", 0x2c),
    ("tx", 0x17),
    ("rx", 0x15),
];

/// `struct ifreq` with a pointer to the command.
#[repr(C)]
struct Request {
    name: [libc::c_char; libc::IFNAMSIZ],
    data: *mut u8,
    rest: [u8; 16],
}

/// A way to ask the drivers of the namespace that it was opened in.
#[derive(Debug)]
pub struct Ethtool {
    socket: OwnedFd,
}

impl Ethtool {
    /// Opens a way to ask.
    pub fn open() -> Result<Ethtool> {
        let socket = sys::socket(libc::AF_INET, libc::SOCK_DGRAM, 0).map_err(Error::of(
            "open a socket",
            "",
            "no capability",
        ))?;
        Ok(Ethtool { socket })
    }

    /// Sends a command: 32-bit numbers, the first its code; the answer stands in their place.
    fn command(&self, name: &str, command: &mut [u32]) -> Result<()> {
        let mut request = Request {
            name: sys::interface_name(name)?,
            data: command.as_mut_ptr().cast(),
            rest: [0; 16],
        };
        // SAFETY: the request is as long as `struct ifreq`; the commands sent here write no further than the
        // structure that the caller gave.
        sys::check(unsafe {
            libc::ioctl(self.socket.as_raw_fd(), SIOCETHTOOL as _, &raw mut request)
        })
        .map_err(Error::of("ask the driver", name, "CAP_NET_ADMIN"))?;
        Ok(())
    }

    /// Switches all offloads that change frames on or off.
    pub fn set_offloads(&self, name: &str, are_on: bool) -> Result<()> {
        for &(offload, code) in OFFLOADS {
            self.set(name, offload, code, are_on)?;
        }
        Ok(())
    }

    /// Switches one offload, by ethtool's name: `tso`, `gso`, `gro`, `tx`, `rx`.
    pub fn set_offload(&self, name: &str, offload: &str, is_on: bool) -> Result<()> {
        let &(offload, code) = OFFLOADS
            .iter()
            .find(|(known, _)| *known == offload)
            .ok_or_else(|| {
                Error::Invalid(format!("no offload `{offload}`: tso, gso, gro, tx, rx"))
            })?;
        self.set(name, offload, code, is_on)
    }

    fn set(&self, name: &str, offload: &str, code: u32, is_on: bool) -> Result<()> {
        match self.command(name, &mut [code, u32::from(is_on)]) {
            // A driver without the offload has it off already.
            Err(Error::Kernel { source, .. })
                if !is_on && source.raw_os_error() == Some(libc::EOPNOTSUPP) =>
            {
                Ok(())
            }
            Err(Error::Kernel { source, .. }) => Err(Error::Kernel {
                what: format!("cannot switch `{offload}` of `{name}`"),
                source,
            }),
            other => other,
        }
    }

    /// How many queues receive, 1 where the driver does not tell.
    pub fn receive_queues(&self, name: &str) -> Result<u32> {
        // struct ethtool_channels: cmd, max_{rx,tx,other,combined}, {rx,tx,other,combined}_count
        let mut channels = [0; 9];
        channels[0] = GET_CHANNELS;
        match self.command(name, &mut channels) {
            Ok(()) => Ok((channels[5] + channels[8]).max(1)),
            Err(Error::Kernel { .. }) => Ok(1),
            Err(other) => Err(other),
        }
    }

    /// The driver's name: `veth`.
    pub fn driver(&self, name: &str) -> Result<String> {
        // struct ethtool_drvinfo: cmd, the driver in 32 bytes, and others; 196 bytes
        let mut info = [0; 49];
        info[0] = GET_DRIVER;
        self.command(name, &mut info)?;
        let bytes = info[1..9].iter().flat_map(|word| word.to_ne_bytes());
        Ok(bytes
            .take_while(|&byte| byte != 0)
            .map(char::from)
            .collect())
    }

    /// The Ethernet address, where it has one.
    pub fn mac(&self, name: &str) -> Result<Option<[u8; 6]>> {
        // struct ifreq with a struct sockaddr in place of the pointer: family, address
        #[repr(C)]
        struct Hardware {
            name: [libc::c_char; libc::IFNAMSIZ],
            family: u16,
            address: [u8; 22],
        }
        let mut request = Hardware {
            name: sys::interface_name(name)?,
            family: 0,
            address: [0; 22],
        };
        // SAFETY: as long as `struct ifreq`, which is what the kernel writes.
        sys::check(unsafe {
            libc::ioctl(
                self.socket.as_raw_fd(),
                SIOCGIFHWADDR as _,
                &raw mut request,
            )
        })
        .map_err(Error::of("read the address", name, "CAP_NET_ADMIN"))?;
        let is_ethernet = request.family == libc::ARPHRD_ETHER;
        Ok(is_ethernet.then(|| std::array::from_fn(|at| request.address[at])))
    }
}
