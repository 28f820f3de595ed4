//! What an interface's driver is asked by `ethtool`: offloads, queues and how it times frames.

use crate::error::{Error, Result};
use crate::sys;
use std::os::fd::{AsRawFd, OwnedFd};

const SIOCETHTOOL: u64 = 0x8946;
const SIOCGIFHWADDR: u64 = 0x8927;
const GET_DRIVER: u32 = 0x03;
const GET_CHANNELS: u32 = 0x3c;
const GET_TS_INFO: u32 = 0x41;
const SIOCSHWTSTAMP: u64 = 0x89b0;
const SIOCGHWTSTAMP: u64 = 0x89b1;
/// `HWTSTAMP_TX_ON` and `HWTSTAMP_FILTER_ALL`, of `linux/net_tstamp.h`.
const SEND_TIMES: u32 = 1;
const HEAR_ALL: u32 = 1;

/// The offloads that change what frames look like, with the command that sets each. Switching off
/// the transmit checksum also ends the segmentation of UDP, which needs it.
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

/// What an interface can tell about when frames leave and come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Whether the driver tells when it takes a frame.
    pub driver_sends: bool,
    /// Whether the interface tells by its clock when a frame leaves.
    pub hardware_sends: bool,
    /// And when a frame comes, whatever frame it is.
    pub hardware_hears: bool,
    /// The number of its clock (`/dev/ptp0`), if it has one: times of one clock go together.
    pub clock: Option<u32>,
}

/// An interface that times all frames by its clock; when this is dropped it does again what it did
/// before.
#[derive(Debug)]
pub struct HardwareTimes {
    ethtool: Ethtool,
    name: String,
    before: [u32; 3],
}

impl Drop for HardwareTimes {
    fn drop(&mut self) {
        // An interface that is gone has nothing to be put back.
        let _ = self
            .ethtool
            .hardware_times(SIOCSHWTSTAMP, &self.name, self.before);
    }
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
        // SAFETY: the request is as long as `struct ifreq`; the commands sent here write no further
        // than the structure that the caller gave.
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

    /// What it can tell about when frames leave and come; nothing where the driver does not say.
    pub fn times(&self, name: &str) -> Result<Times> {
        // struct ethtool_ts_info: cmd, so_timestamping, phc_index, tx_types, 3 reserved,
        // rx_filters, 3 reserved
        let mut info = [0; 11];
        info[0] = GET_TS_INFO;
        match self.command(name, &mut info) {
            Ok(()) => {}
            Err(Error::Kernel { .. }) => return Ok(Times::default()),
            Err(other) => return Err(other),
        }
        let tells = |flags: libc::c_uint| info[1] & flags == flags;
        let raw = libc::SOF_TIMESTAMPING_RAW_HARDWARE;
        Ok(Times {
            driver_sends: tells(libc::SOF_TIMESTAMPING_TX_SOFTWARE),
            hardware_sends: tells(libc::SOF_TIMESTAMPING_TX_HARDWARE | raw)
                && info[3] & 1 << SEND_TIMES != 0,
            hardware_hears: tells(libc::SOF_TIMESTAMPING_RX_HARDWARE | raw)
                && info[7] & 1 << HEAR_ALL != 0,
            clock: u32::try_from(info[2].cast_signed()).ok(),
        })
    }

    /// Has an interface time all frames by its clock.
    pub(crate) fn time_all(self, name: &str) -> Result<HardwareTimes> {
        // A driver that has never been asked may have no answer: then it times nothing.
        let before = self
            .hardware_times(SIOCGHWTSTAMP, name, [0; 3])
            .unwrap_or([0; 3]);
        self.hardware_times(SIOCSHWTSTAMP, name, [0, SEND_TIMES, HEAR_ALL])?;
        Ok(HardwareTimes {
            ethtool: self,
            name: name.to_owned(),
            before,
        })
    }

    /// Reads or sets how an interface times frames: `struct hwtstamp_config`, which is flags, what
    /// is sent, and what comes.
    fn hardware_times(&self, call: u64, name: &str, mut config: [u32; 3]) -> Result<[u32; 3]> {
        let mut request = Request {
            name: sys::interface_name(name)?,
            data: config.as_mut_ptr().cast(),
            rest: [0; 16],
        };
        // SAFETY: the request is as long as `struct ifreq`, and the configuration as
        // `struct hwtstamp_config`, which is all that the kernel reads and writes there.
        sys::check(unsafe { libc::ioctl(self.socket.as_raw_fd(), call as _, &raw mut request) })
            .map_err(Error::of(
                "set how frames are timed by",
                name,
                "CAP_NET_ADMIN",
            ))?;
        Ok(config)
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
