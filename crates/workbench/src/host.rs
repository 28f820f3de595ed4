//! The machine that a workbench gives a configuration: files and time as they are, rings for
//! devices, nothing printed.

use crate::stopwatch::Stopwatch;
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use trammel_packet::device::Device;
use trammel_packet::pool::Pool;
use trammel_packet::timestamp::Timestamp;
use trammel_router::host::{DeviceRequest, Host, MachineNames, Refusal, Socket, SocketRequest};

/// The longest that the workbench sleeps at a time.
const LONGEST: Duration = Duration::from_millis(1);

/// Gives a device for packets of a pool, when the configuration asks for it.
pub type Opener = Box<dyn FnOnce(&mut Pool) -> Result<Box<dyn Device>, Refusal> + Send>;

/// Gives a device that is there already.
pub fn ready(device: impl Device + 'static) -> Opener {
    Box::new(|_| Ok(Box::new(device)))
}

/// The workbench as a host.
pub struct Workbench {
    /// Where the configuration's files are.
    directory: PathBuf,
    /// What stands in for devices, by their names.
    devices: BTreeMap<String, Opener>,
    since_start: Stopwatch,
}

impl std::fmt::Debug for Workbench {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workbench")
            .field("directory", &self.directory)
            .field("devices", &self.devices.keys())
            .finish_non_exhaustive()
    }
}

impl Workbench {
    /// A workbench with these devices.
    pub fn new(directory: PathBuf, devices: BTreeMap<String, Opener>) -> Workbench {
        Workbench {
            directory,
            devices,
            since_start: Stopwatch::start(),
        }
    }
}

impl Host for Workbench {
    fn now(&mut self) -> Timestamp {
        Timestamp(self.since_start.elapsed().as_nanos() as i64)
    }

    fn wait(&mut self, _: &[i32], _: &[i32], ns: Option<u64>, _: &mut Vec<i32>) -> io::Result<()> {
        // Nothing comes from outside; only a timer can be next, and who runs the bench looks at the
        // time as well.
        if let Some(ns @ 1..) = ns {
            self.since_start.wait(LONGEST.min(Duration::from_nanos(ns)));
        }
        Ok(())
    }

    fn open(&mut self, path: &str) -> io::Result<Box<dyn Read + Send>> {
        let file = std::fs::File::open(self.directory.join(path))?;
        Ok(Box::new(io::BufReader::new(file)))
    }

    fn create(&mut self, _: &str, _: bool) -> io::Result<Box<dyn Write + Send>> {
        Ok(Box::new(io::sink()))
    }

    fn print(&mut self, _: &str) {}

    fn say(&mut self, _: &str) {}

    fn device(
        &mut self,
        request: &DeviceRequest,
        pool: &mut Pool,
    ) -> Result<Box<dyn Device>, Refusal> {
        match self.devices.remove(&request.name) {
            Some(open) => open(pool),
            None => Err(Refusal {
                text: format!("{}: no such device on the workbench", request.name),
                mend: None,
                is_lack: false,
            }),
        }
    }

    fn socket(&mut self, _: &SocketRequest) -> io::Result<Box<dyn Socket>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn machine_names(&mut self) -> Arc<dyn MachineNames> {
        crate::names::here()
    }

    fn watch_signal(&mut self, _: i32) -> io::Result<()> {
        Ok(())
    }

    fn signals(&mut self) -> Vec<i32> {
        Vec::new()
    }

    fn kill(&mut self, _: i32, _: i32) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
