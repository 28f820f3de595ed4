//! Frames made and counted inside the kernel: the fastest source and sink that a machine without a
//! second has.
//!
//! The source runs a program on live frames (`BPF_PROG_RUN`) that writes the headers anew and sends
//! each out of an interface; the sink is a program that counts and drops. A frame costs either some
//! 100 ns. Source: Linux's `bpf_prog_run.rst`.

pub mod numbered;

use crate::bpf::{Attachment, Code, Map, MapKind, Place, Program, Size, verdict};
use crate::error::{Error, Result};
use crate::sys;
use std::io;

/// The bytes of each frame that are written anew, since the kernel uses frames again as they came
/// back.
const WRITTEN: usize = 40;
/// Where the sink counts.
const COUNT_BYTES: usize = 8;

/// Sends copies of a frame.
#[derive(Debug)]
pub struct Source {
    program: Program,
    frame: Vec<u8>,
    // The program holds them; kept for clarity about who is alive.
    _maps: [Map; 2],
}

impl Source {
    /// Will send copies of `frame` out of interface `name` of the calling thread's namespace. Its
    /// peer has to run an XDP program.
    pub fn open(name: &str, frame: &[u8]) -> Result<Source> {
        let Some(head) = frame.get(..WRITTEN) else {
            return Err(Error::Invalid(format!(
                "a frame of {} bytes: at least {WRITTEN} are needed",
                frame.len()
            )));
        };
        let of = |what| Error::of(what, name, "CAP_BPF in the initial user namespace");
        let index = sys::interface_index(name)?;
        let devices = Map::new(MapKind::Devices, 4, 1)?;
        devices
            .set(0, &index.to_ne_bytes())
            .map_err(of("send out of the interface"))?;
        let template = Map::new(MapKind::Array, WRITTEN, 1)?;
        template.set(0, head).map_err(of("write the frame"))?;
        // r7 = the frame, r8 = its end; without WRITTEN bytes or a template: abort
        let mut code = Code::default()
            .load(Size::Word, 7, 1, 0)
            .load(Size::Word, 8, 1, 4)
            .copy(1, 7)
            .increase(1, WRITTEN as i32)
            .skip_if_greater(1, 8, 8 + 10 + 6)
            .set(1, 0)
            .store(Size::Word, 10, -4, 1)
            .copy(2, 10)
            .increase(2, -4)
            .map(1, &template)
            .look_up()
            .skip_if_zero(0, 10 + 6);
        for at in (0..WRITTEN as i16).step_by(8) {
            code = code
                .load(Size::Double, 1, 0, at)
                .store(Size::Double, 7, at, 1);
        }
        let code = code
            .map(1, &devices)
            .set(2, 0)
            .set(3, verdict::DROP)
            .redirect()
            .exit()
            .set(0, 0)
            .exit();
        Ok(Source {
            program: Program::load(&code)?,
            frame: frame.to_vec(),
            _maps: [devices, template],
        })
    }

    /// Sends `count` frames at once, as fast as they are taken. A call costs some 25 ms beside its
    /// frames.
    pub fn send(&self, count: u32) -> io::Result<()> {
        self.program.run_live(&self.frame, count, 64)
    }
}

/// Counts and drops what comes.
#[derive(Debug)]
pub struct Sink {
    count: Map,
    _attachment: Attachment,
}

impl Sink {
    /// Counts and drops what comes at interface `name` of the calling thread's namespace.
    pub fn open(name: &str) -> Result<Sink> {
        let count = Map::new(MapKind::Array, COUNT_BYTES, 1)?;
        let code = Code::default()
            .set(1, 0)
            .store(Size::Word, 10, -4, 1)
            .copy(2, 10)
            .increase(2, -4)
            .map(1, &count)
            .look_up()
            .skip_if_zero(0, 2)
            .set(1, 1)
            .add_to_memory(0, 0, 1)
            .set(0, verdict::DROP)
            .exit();
        let program = Program::load(&code)?;
        let attachment = program.attach(name, sys::interface_index(name)?, Place::Driver)?;
        Ok(Sink {
            count,
            _attachment: attachment,
        })
    }

    /// Frames that came.
    pub fn count(&self) -> Result<u64> {
        let value = self
            .count
            .get(0)
            .map_err(Error::of("read the count", "", "CAP_BPF"))?;
        let bytes = value
            .try_into()
            .expect("the table's values are of eight bytes");
        Ok(u64::from_ne_bytes(bytes))
    }
}

/// Lets everything pass to the kernel's stack: an interface with a program takes frames of a
/// [`Source`].
pub fn pass(name: &str) -> Result<Attachment> {
    let program = Program::load(&Code::default().set(0, verdict::PASS).exit())?;
    program.attach(name, sys::interface_index(name)?, Place::Driver)
}
