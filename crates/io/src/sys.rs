//! The few system calls that several devices make, each behind a safe function.

use std::ffi::CString;
use std::io;
use std::mem::{MaybeUninit, size_of};
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;

use crate::error::{Error, Result};

/// A result of a system call: negative means an error in `errno`.
pub(crate) fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// A result of a system call that tells a size.
pub(crate) fn check_size(result: isize) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

/// A new descriptor that the caller owns.
pub(crate) fn owned(result: libc::c_int) -> io::Result<OwnedFd> {
    let fd = check(result)?;
    // SAFETY: the kernel has just made it for us; nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// A socket, closed on `exec`.
pub(crate) fn socket(
    domain: libc::c_int,
    kind: libc::c_int,
    protocol: libc::c_int,
) -> io::Result<OwnedFd> {
    // SAFETY: no pointers.
    owned(unsafe { libc::socket(domain, kind | libc::SOCK_CLOEXEC, protocol) })
}

/// Types of the kernel's interface: integers only, no padding that matters, every bit pattern a
/// value.
///
/// # Safety
/// The type has no pointer that Rust would follow, no reference and no invalid bit pattern.
pub(crate) unsafe trait Plain: Copy {}
macro_rules! plain {
    ($($t:ty),* $(,)?) => { $(
        // SAFETY: integers, or arrays and structures of integers.
        unsafe impl Plain for $t {}
    )* };
}
plain!(
    libc::c_int,
    libc::c_uint,
    u64,
    libc::tpacket_req3,
    libc::tpacket_stats_v3,
    libc::packet_mreq,
    [u32; 8],
    [u32; 9],
    [libc::c_char; libc::IFNAMSIZ],
    libc::sockaddr_storage,
    libc::sockaddr_in,
    libc::sockaddr_in6,
    libc::sockaddr_ll,
    libc::sockaddr_un,
    libc::sockaddr_xdp,
    libc::sockaddr_nl,
    libc::xdp_desc,
    libc::xdp_umem_reg,
    libc::xdp_mmap_offsets,
    libc::xdp_statistics,
    libc::xdp_options,
);

/// Sets a socket's option.
pub(crate) fn set_option<T: Plain>(
    fd: &impl AsFd,
    level: libc::c_int,
    name: libc::c_int,
    value: &T,
) -> io::Result<()> {
    // SAFETY: the pointer and the length are those of `value`.
    check(unsafe {
        libc::setsockopt(
            fd.as_fd().as_raw_fd(),
            level,
            name,
            std::ptr::from_ref(value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    })
    .map(drop)
}

/// Has a socket send and receive by one interface only (`SO_BINDTODEVICE`, socket(7)).
pub(crate) fn bind_to_device(fd: &OwnedFd, interface: &str) -> Result<()> {
    let name = interface_name(interface)?;
    interface_index(interface)?;
    set_option(fd, libc::SOL_SOCKET, libc::SO_BINDTODEVICE, &name).map_err(Error::of(
        "use one interface",
        interface,
        "CAP_NET_RAW",
    ))
}

/// Reads a socket's option.
pub(crate) fn option<T: Plain>(
    fd: &impl AsFd,
    level: libc::c_int,
    name: libc::c_int,
) -> io::Result<T> {
    let mut value = MaybeUninit::<T>::zeroed();
    let mut len = size_of::<T>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `len` bytes; the rest stay zero, which `Plain` allows.
    unsafe {
        check(libc::getsockopt(
            fd.as_fd().as_raw_fd(),
            level,
            name,
            value.as_mut_ptr().cast(),
            &raw mut len,
        ))?;
        Ok(value.assume_init())
    }
}

/// An address of the Internet in the kernel's form, of which each family uses the first bytes.
pub(crate) fn internet(address: SocketAddr) -> libc::sockaddr_storage {
    // SAFETY: all zeroes is a `sockaddr_storage`.
    let mut raw: libc::sockaddr_storage = unsafe { std::mem::zeroed() };
    let at = std::ptr::from_mut(&mut raw);
    match address {
        SocketAddr::V4(address) => {
            // SAFETY: it is as large as an address of any family, aligned for all, and all zeroes
            // is one of each.
            let own = unsafe { &mut *at.cast::<libc::sockaddr_in>() };
            own.sin_family = libc::AF_INET as libc::sa_family_t;
            own.sin_port = address.port().to_be();
            own.sin_addr.s_addr = u32::from(*address.ip()).to_be();
        }
        SocketAddr::V6(address) => {
            // SAFETY: as above.
            let own = unsafe { &mut *at.cast::<libc::sockaddr_in6>() };
            own.sin6_family = libc::AF_INET6 as libc::sa_family_t;
            own.sin6_port = address.port().to_be();
            own.sin6_flowinfo = address.flowinfo();
            own.sin6_addr.s6_addr = address.ip().octets();
            own.sin6_scope_id = address.scope_id();
        }
    }
    raw
}

/// Binds a socket to an address.
pub(crate) fn bind<T: Plain>(fd: &OwnedFd, address: &T) -> io::Result<()> {
    // SAFETY: the pointer and the length are those of `address`.
    check(unsafe {
        libc::bind(
            fd.as_raw_fd(),
            std::ptr::from_ref(address).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    })
    .map(drop)
}

/// The address that a socket is bound to.
pub(crate) fn bound_address<T: Plain>(fd: &OwnedFd) -> io::Result<T> {
    let mut address = MaybeUninit::<T>::zeroed();
    let mut len = size_of::<T>() as libc::socklen_t;
    // SAFETY: as for `option`.
    unsafe {
        check(libc::getsockname(
            fd.as_raw_fd(),
            address.as_mut_ptr().cast(),
            &raw mut len,
        ))?;
        Ok(address.assume_init())
    }
}

/// The error that the kernel noted on a socket since the last call, as when its interface went
/// away.
pub(crate) fn pending_error(fd: &OwnedFd) -> Option<io::Error> {
    match option::<libc::c_int>(fd, libc::SOL_SOCKET, libc::SO_ERROR) {
        Ok(0) => None,
        Ok(errno) => Some(io::Error::from_raw_os_error(errno)),
        Err(error) => Some(error),
    }
}

/// The number of interface `name`.
pub(crate) fn interface_index(name: &str) -> Result<u32> {
    let wish = CString::new(name).map_err(|_| Error::NoInterface {
        name: name.to_owned(),
    })?;
    // SAFETY: a string that ends with a zero.
    match unsafe { libc::if_nametoindex(wish.as_ptr()) } {
        0 => Err(Error::NoInterface {
            name: name.to_owned(),
        }),
        index => Ok(index),
    }
}

/// An interface's name as the kernel's structures have it: 16 bytes that end with a zero.
pub(crate) fn interface_name(name: &str) -> Result<[libc::c_char; libc::IFNAMSIZ]> {
    if name.is_empty() || name.len() >= libc::IFNAMSIZ || name.contains(['\0', '/']) {
        return Err(Error::Invalid(format!(
            "`{name}` is no name of an interface: 1 to 15 bytes without `/`"
        )));
    }
    let mut bytes = [0; libc::IFNAMSIZ];
    for (to, from) in bytes.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    Ok(bytes)
}

/// Memory shared with the kernel, unmapped when dropped.
#[derive(Debug)]
pub(crate) struct Mapping {
    memory: NonNull<u8>,
    bytes: usize,
}

// SAFETY: a mapping is memory of the process, not of a thread.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps `bytes` of `fd` from `offset`, to read and write.
    pub(crate) fn new(fd: &OwnedFd, bytes: usize, offset: i64) -> io::Result<Mapping> {
        // SAFETY: a new mapping where the kernel likes; nothing of ours is replaced.
        let memory = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_POPULATE,
                fd.as_raw_fd(),
                offset,
            )
        };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let memory =
            NonNull::new(memory.cast()).ok_or_else(|| io::Error::other("mapped at address 0"))?;
        Ok(Mapping { memory, bytes })
    }

    /// The address of the `size` bytes from `offset`.
    ///
    /// # Panics
    /// Where they do not lie within the mapping.
    pub(crate) fn at(&self, offset: usize, size: usize) -> NonNull<u8> {
        assert!(
            offset <= self.bytes && size <= self.bytes - offset,
            "beyond the mapping"
        );
        // SAFETY: within the mapping by the assertion.
        unsafe { self.memory.add(offset) }
    }
}

impl Mapping {
    /// The address of a `T` at `offset`.
    ///
    /// # Panics
    /// Where it does not lie within the mapping, or is not aligned.
    pub(crate) fn of<T>(&self, offset: usize) -> NonNull<T> {
        let place = self.at(offset, size_of::<T>()).cast::<T>();
        assert!(place.is_aligned(), "not aligned");
        place
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` with this length; nothing that borrows from it outlives it.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), self.bytes) };
    }
}
