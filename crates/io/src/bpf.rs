//! Small programs that the kernel runs on frames, loaded as raw instructions by `bpf(2)`: no
//! compiler, no library.
//!
//! Source: `bpf(2)`, RFC 9669 (the instruction set), `linux/bpf.h`.

use crate::error::{Error, Result};
use crate::sys;
use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, OwnedFd};

const RIGHT: &str = "CAP_BPF and CAP_NET_ADMIN in the initial user namespace";

const MAP_CREATE: libc::c_int = 0;
const MAP_LOOKUP: libc::c_int = 1;
const MAP_UPDATE: libc::c_int = 2;
const PROG_LOAD: libc::c_int = 5;
const PROG_TEST_RUN: libc::c_int = 10;
const LINK_CREATE: libc::c_int = 28;
const PROG_TYPE_XDP: u32 = 6;
const ATTACH_XDP: u32 = 37;
const TEST_LIVE_FRAMES: u32 = 2;

/// The kinds of maps that are used here.
#[derive(Clone, Copy, Debug)]
pub enum MapKind {
    /// Values by number.
    Array = 2,
    /// Interfaces by number, to send frames out of.
    Devices = 14,
    /// AF_XDP sockets by queue.
    Sockets = 17,
}

/// What a program makes of a frame.
pub mod verdict {
    /// Drop it.
    pub const DROP: i32 = 1;
    /// Give it to the kernel's stack.
    pub const PASS: i32 = 2;
}

/// Makes `bpf(2)` do `command`. The attribute is zero behind what is given.
///
/// # Safety
/// Every pointer in `attribute` must be valid for what the command reads and writes there.
unsafe fn bpf<T>(command: libc::c_int, attribute: &mut T) -> io::Result<libc::c_int> {
    // SAFETY: the pointer and the length are those of `attribute`; what it points to is the
    // caller's promise.
    let result = unsafe {
        libc::syscall(
            libc::SYS_bpf,
            command,
            std::ptr::from_mut(attribute),
            size_of::<T>(),
        )
    };
    sys::check(result as libc::c_int)
}

/// A table that programs and this process share.
#[derive(Debug)]
pub struct Map {
    fd: OwnedFd,
    value_bytes: usize,
}

#[repr(C)]
struct Element {
    map: u32,
    pad: u32,
    key: u64,
    value: u64,
    flags: u64,
}

impl Map {
    /// A table of `entries` values of `value_bytes` each, by numbers from 0.
    pub fn new(kind: MapKind, value_bytes: usize, entries: u32) -> Result<Map> {
        let mut attribute = [kind as u32, 4, value_bytes as u32, entries];
        // SAFETY: no pointers.
        let made = unsafe { bpf(MAP_CREATE, &mut attribute) };
        let fd = made
            .and_then(sys::owned)
            .map_err(Error::of("make a BPF map", "", RIGHT))?;
        Ok(Map { fd, value_bytes })
    }

    fn element(&self, command: libc::c_int, key: u32, value: *mut u8) -> io::Result<()> {
        let mut attribute = Element {
            map: self.fd.as_raw_fd().cast_unsigned(),
            pad: 0,
            key: std::ptr::from_ref(&key) as u64,
            value: value as u64,
            flags: 0,
        };
        // SAFETY: the key has four bytes, and both callers give `value_bytes` bytes.
        unsafe { bpf(command, &mut attribute) }.map(drop)
    }

    /// Sets an entry.
    ///
    /// # Panics
    /// Where the value's length is not that of the table.
    pub fn set(&self, key: u32, value: &[u8]) -> io::Result<()> {
        let mut value = value.to_vec();
        assert_eq!(value.len(), self.value_bytes);
        self.element(MAP_UPDATE, key, value.as_mut_ptr())
    }

    /// Reads an entry.
    pub fn get(&self, key: u32) -> io::Result<Vec<u8>> {
        let mut value = vec![0; self.value_bytes];
        self.element(MAP_LOOKUP, key, value.as_mut_ptr())?;
        Ok(value)
    }
}

/// Instructions of a program, in the order that they run.
#[derive(Debug, Default)]
pub struct Code(Vec<u64>);

/// Sizes of loads and stores, as the instruction set codes them.
#[derive(Clone, Copy, Debug)]
pub enum Size {
    /// Four bytes.
    Word = 0x00,
    /// Two bytes.
    Half = 0x08,
    /// One byte.
    Byte = 0x10,
    /// Eight bytes.
    Double = 0x18,
}

impl Code {
    fn add(mut self, code: u8, to: u8, from: u8, offset: i16, value: i32) -> Code {
        let registers = from << 4 | to;
        let offset = offset.cast_unsigned();
        let word = u64::from(code) | u64::from(registers) << 8 | u64::from(offset) << 16;
        self.0.push(word | u64::from(value.cast_unsigned()) << 32);
        self
    }

    /// `to = *(size *)(from + offset)`
    pub fn load(self, size: Size, to: u8, from: u8, offset: i16) -> Code {
        self.add(0x61 | size as u8, to, from, offset, 0)
    }

    /// `*(size *)(to + offset) = from`
    pub fn store(self, size: Size, to: u8, offset: i16, from: u8) -> Code {
        self.add(0x63 | size as u8, to, from, offset, 0)
    }

    /// `*(u64 *)(to + offset) += from`, atomically
    pub(crate) fn add_to_memory(self, to: u8, offset: i16, from: u8) -> Code {
        self.add(0xdb, to, from, offset, 0)
    }

    /// `to = value`
    pub fn set(self, to: u8, value: i32) -> Code {
        self.add(0xb7, to, 0, 0, value)
    }

    /// `to = from`
    pub fn copy(self, to: u8, from: u8) -> Code {
        self.add(0xbf, to, from, 0, 0)
    }

    /// `to += value`
    pub fn increase(self, to: u8, value: i32) -> Code {
        self.add(0x07, to, 0, 0, value)
    }

    /// `to += from`
    pub fn sum(self, to: u8, from: u8) -> Code {
        self.add(0x0f, to, from, 0, 0)
    }

    /// `to -= from`
    pub fn subtract(self, to: u8, from: u8) -> Code {
        self.add(0x1f, to, from, 0, 0)
    }

    /// `to |= from`
    pub fn join(self, to: u8, from: u8) -> Code {
        self.add(0x4f, to, from, 0, 0)
    }

    /// `to ^= value`
    pub fn flip(self, to: u8, value: i32) -> Code {
        self.add(0xa7, to, 0, 0, value)
    }

    /// `to %= value`, without sign; `value` is not 0
    pub fn modulo(self, to: u8, value: i32) -> Code {
        self.add(0x97, to, 0, 0, value)
    }

    /// `to <<= bits`
    pub(crate) fn shift_left(self, to: u8, bits: i32) -> Code {
        self.add(0x67, to, 0, 0, bits)
    }

    /// `to >>= bits`, zeroes from the left
    pub(crate) fn shift_right(self, to: u8, bits: i32) -> Code {
        self.add(0x77, to, 0, 0, bits)
    }

    /// The lowest `bits` (16, 32, 64) of `to` in the network's order, and zeroes above them.
    pub(crate) fn big_endian(self, to: u8, bits: i32) -> Code {
        self.add(0xdc, to, 0, 0, bits)
    }

    /// Skips `skip` instructions where `a > b`.
    pub fn skip_if_greater(self, a: u8, b: u8, skip: i16) -> Code {
        self.add(0x2d, a, b, skip, 0)
    }

    /// Skips `skip` instructions where `a` is zero.
    pub fn skip_if_zero(self, a: u8, skip: i16) -> Code {
        self.add(0x15, a, 0, skip, 0)
    }

    /// Skips `skip` instructions where `a` is not `value`.
    pub fn skip_unless(self, a: u8, value: i32, skip: i16) -> Code {
        self.add(0x55, a, 0, skip, value)
    }

    /// Skips `skip` instructions.
    pub fn skip(self, skip: i16) -> Code {
        self.add(0x05, 0, 0, skip, 0)
    }

    /// `to &= value`
    pub fn mask(self, to: u8, value: i32) -> Code {
        self.add(0x57, to, 0, 0, value)
    }

    /// `to = map`
    pub fn map(self, to: u8, map: &Map) -> Code {
        self.add(0x18, to, 1, 0, map.fd.as_raw_fd())
            .add(0, 0, 0, 0, 0)
    }

    /// `r0 = bpf_map_lookup_elem(r1, r2)`
    pub fn look_up(self) -> Code {
        self.add(0x85, 0, 0, 0, 1)
    }

    /// `r0 = bpf_redirect_map(r1, r2, r3)`
    pub fn redirect(self) -> Code {
        self.add(0x85, 0, 0, 0, 51)
    }

    /// `r0 = bpf_ktime_get_ns()`: what [`crate::clock::monotonic_ns`] shows
    pub fn monotonic_ns(self) -> Code {
        self.add(0x85, 0, 0, 0, 5)
    }

    /// `return r0`
    pub fn exit(self) -> Code {
        self.add(0x95, 0, 0, 0, 0)
    }

    /// All of `next` behind these.
    pub fn then(mut self, next: Code) -> Code {
        self.0.extend(next.0);
        self
    }

    /// Instructions that a jump over all of these skips.
    pub fn len(&self) -> i16 {
        self.0.len() as i16
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A program for frames that come in (XDP).
#[derive(Debug)]
pub struct Program {
    fd: OwnedFd,
}

/// A program that runs at an interface as long as this lives.
#[derive(Debug)]
pub struct Attachment {
    _link: OwnedFd,
}

/// Where the program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the driver, before the kernel has made anything of the frame.
    Driver = 1 << 2,
    /// Behind the driver: every interface can do it, slower.
    Generic = 1 << 1,
}

#[repr(C)]
struct Load {
    kind: u32,
    instructions: u32,
    code: u64,
    licence: u64,
    log_level: u32,
    log_bytes: u32,
    log: u64,
    /// Kernel version, flags, name, interface.
    rest: [u32; 7],
    attach: u32,
}

/// `struct xdp_md`: what a program is told of a frame.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Context {
    data: u32,
    data_end: u32,
    data_meta: u32,
    ingress: u32,
    queue: u32,
    egress: u32,
}

#[repr(C)]
struct TestRun {
    program: u32,
    result: u32,
    data_bytes: u32,
    data_out_bytes: u32,
    data: u64,
    data_out: u64,
    repeat: u32,
    duration: u32,
    context_bytes: u32,
    context_out_bytes: u32,
    context: u64,
    context_out: u64,
    flags: u32,
    cpu: u32,
    batch: u32,
    pad: u32,
}

impl Program {
    /// Loads a program; where the verifier refuses it, the error has its words.
    pub fn load(code: &Code) -> Result<Program> {
        let mut log = vec![0_u8; 64 << 10];
        let mut attribute = Load {
            kind: PROG_TYPE_XDP,
            instructions: code.0.len() as u32,
            code: code.0.as_ptr() as u64,
            licence: c"Dual MIT/GPL".as_ptr() as u64,
            log_level: 1,
            log_bytes: log.len() as u32,
            log: log.as_mut_ptr() as u64,
            rest: [0; 7],
            attach: ATTACH_XDP,
        };
        // SAFETY: the code and the log have the lengths that are told; the licence ends with a
        // zero.
        match unsafe { bpf(PROG_LOAD, &mut attribute) }.and_then(sys::owned) {
            Ok(fd) => Ok(Program { fd }),
            Err(error)
                if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::EACCES))
                    && log[0] != 0 =>
            {
                let end = log.iter().position(|&byte| byte == 0).unwrap_or(log.len());
                let words = String::from_utf8_lossy(&log[..end]).into_owned();
                Err(Error::Kernel {
                    what: format!("the verifier refuses the program: {}", words.trim()),
                    source: error,
                })
            }
            Err(error) => Err(Error::from_kernel("load a BPF program", "", RIGHT, error)),
        }
    }

    /// Runs the program at interface `name`, whose number in the caller's namespace is `index`.
    pub fn attach(&self, name: &str, index: u32, place: Place) -> Result<Attachment> {
        let program = self.fd.as_raw_fd().cast_unsigned();
        let mut attribute = [program, index, ATTACH_XDP, place as u32];
        // SAFETY: no pointers.
        match unsafe { bpf(LINK_CREATE, &mut attribute) }.and_then(sys::owned) {
            Ok(link) => Ok(Attachment { _link: link }),
            Err(error) if matches!(error.raw_os_error(), Some(libc::EBUSY | libc::EEXIST)) => {
                Err(Error::Busy {
                    name: name.to_owned(),
                    what: "another XDP program runs there".to_owned(),
                    mend: format!("ip link set dev {name} xdp off"),
                })
            }
            Err(error) => Err(Error::from_kernel(
                "attach an XDP program",
                name,
                RIGHT,
                error,
            )),
        }
    }

    /// Runs the program on `repeat` copies of `frame` as if they came, in batches of `batch`, and
    /// does with them what it says. The kernel uses the frames' memory again without writing
    /// `frame` into it anew.
    pub(crate) fn run_live(&self, frame: &[u8], repeat: u32, batch: u32) -> io::Result<()> {
        let context = Context {
            data_end: frame.len() as u32,
            ..Context::default()
        };
        let mut attribute = TestRun {
            program: self.fd.as_raw_fd().cast_unsigned(),
            result: 0,
            data_bytes: frame.len() as u32,
            data_out_bytes: 0,
            data: frame.as_ptr() as u64,
            data_out: 0,
            repeat,
            duration: 0,
            context_bytes: size_of::<Context>() as u32,
            context_out_bytes: 0,
            context: std::ptr::from_ref(&context) as u64,
            context_out: 0,
            flags: TEST_LIVE_FRAMES,
            cpu: 0,
            batch,
            pad: 0,
        };
        // SAFETY: the frame and the context have the lengths that are told and are only read.
        unsafe { bpf(PROG_TEST_RUN, &mut attribute) }.map(drop)
    }
}
