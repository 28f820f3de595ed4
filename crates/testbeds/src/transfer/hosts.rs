//! Hosts in the place of a tester: what a device that is built here has for transfers, a path
//! through it and one past it.

use super::download::transfer;
use super::path::Path;
use super::server::Protocol;
use crate::devices::dut::Dut;
use std::sync::atomic::{AtomicBool, Ordering};
use trammel_bench::testbed::Unable;
use trammel_bench::transfer::{Across, File, Protocol as Carrier, Transferred};
use trammel_bench::trial::Failure;
use trammel_core::time::Span;

/// Hosts around a device, and the same around a wire. They are built when they are first needed,
/// with a device of their own: the tester's interfaces stay the tester's.
#[derive(Debug)]
pub struct Hosts {
    device: Dut,
    is_bridged: bool,
    own: String,
    through: Option<Box<Path>>,
    past: Option<Box<Path>>,
}

/// The real protocol that `carrier` is; the error is why it is none.
pub fn real(carrier: &Carrier) -> Result<Protocol, Unable> {
    match carrier {
        Carrier::Ftp => Ok(Protocol::Ftp),
        Carrier::Http => Ok(Protocol::Http),
        Carrier::Tcp { .. } => Err(Unable(
            "the hosts around a real device are real: files go by `ftp-transfer` and \
             `http-transfer`"
                .to_owned(),
        )),
    }
}

impl Hosts {
    /// Hosts around `device`; `own` is the `trammel` program, which runs configurations.
    pub fn new(device: &Dut, is_bridged: bool, own: &str) -> Hosts {
        Hosts {
            device: device.clone(),
            is_bridged,
            own: own.to_owned(),
            through: None,
            past: None,
        }
    }

    fn path(&mut self, across: Across) -> anyhow::Result<&Path> {
        let (place, device) = match across {
            Across::Device => (&mut self.through, &self.device),
            Across::Wire => (&mut self.past, &Dut::Wire),
        };
        let path = match place.take() {
            Some(path) => path,
            None => Box::new(Path::new(device, self.is_bridged, &self.own)?),
        };
        Ok(place.insert(path))
    }

    /// Transfers `file`; an error at once when `interrupted` is set.
    pub fn transfer(
        &mut self,
        file: &File,
        interrupted: &AtomicBool,
    ) -> Result<Transferred, Failure> {
        let protocol = real(&file.protocol)?;
        let is_interrupted = || interrupted.load(Ordering::SeqCst);
        let transferred = self
            .path(file.across)
            .and_then(|path| transfer(path, protocol, file.bytes, &is_interrupted));
        let one = transferred.map_err(|why| format!("{why:#}"))?;
        Ok(Transferred {
            time: Span::from_secs_f64(one.seconds),
            retransmissions: one.retransmissions,
            hosts: format!("{}, curl", one.server),
        })
    }
}
