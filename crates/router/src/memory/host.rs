//! A machine in memory: files, what was printed, devices of the caller's. For tests, and for runs
//! that must touch nothing.

use crate::host::{
    Bell, DeviceRequest, Host, Key, MachineNames, NoNames, Overheard, Refusal, Socket,
    SocketRequest,
};
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex};
use trammel_packet::device::Device;
use trammel_packet::pool::Pool;
use trammel_packet::timestamp::Timestamp;

/// What such a machine holds; shared by its clones.
#[derive(Debug, Default)]
pub struct Memory {
    /// Files by their names.
    pub files: BTreeMap<String, Vec<u8>>,
    /// What was printed on standard output.
    pub printed: String,
    /// What was printed on standard error.
    pub said: String,
    /// Devices to be opened, by name.
    pub devices: BTreeMap<String, Box<dyn Device>>,
    /// What is kept of that for others.
    pub overheard: Overheard,
    /// What it knows by name.
    pub names: Option<Arc<dyn MachineNames>>,
    /// The time of day.
    pub now: Timestamp,
    /// Addresses that are listened on.
    pub listening: Vec<String>,
    /// Connections from outside, by number.
    pub wires: Vec<Wire>,
    /// Signals that have come.
    pub signals: Vec<i32>,
    /// Connections that have been accepted.
    pub accepted: usize,
}

/// A connection from outside.
#[derive(Debug, Default)]
pub struct Wire {
    /// What is sent to the router.
    pub to_router: VecDeque<u8>,
    /// What the router has sent.
    pub from_router: Vec<u8>,
    /// Nothing more will be sent to the router.
    pub is_ended: bool,
}

/// A machine in memory. Its clock moves by a microsecond a reading, and by what is slept.
#[derive(Clone, Debug, Default)]
pub struct MemoryHost {
    shared: Arc<Mutex<Memory>>,
}

impl MemoryHost {
    /// An empty machine.
    pub fn new() -> MemoryHost {
        MemoryHost::default()
    }

    /// What it holds.
    ///
    /// # Panics
    /// Where a thread panicked while it held it.
    pub fn memory(&self) -> std::sync::MutexGuard<'_, Memory> {
        self.shared.lock().expect("no thread panicked")
    }
}

/// The descriptor of a listener; those of connections follow it.
pub const LISTENER: i32 = 1000;

#[derive(Debug)]
struct MemorySocket {
    host: MemoryHost,
    /// The connection; none for a listener.
    wire: Option<usize>,
    address: String,
}

impl Drop for MemorySocket {
    fn drop(&mut self) {
        if self.wire.is_none() {
            let mut memory = self.host.memory();
            memory.listening.retain(|address| *address != self.address);
        }
    }
}

impl Socket for MemorySocket {
    fn accept(&mut self) -> io::Result<Option<Box<dyn Socket>>> {
        let mut memory = self.host.memory();
        if self.wire.is_some() || memory.accepted >= memory.wires.len() {
            return Ok(None);
        }
        let wire = Some(memory.accepted);
        memory.accepted += 1;
        let (host, address) = (self.host.clone(), self.address.clone());
        Ok(Some(Box::new(MemorySocket {
            host,
            wire,
            address,
        })))
    }

    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let wire = self.wire.ok_or(io::ErrorKind::NotConnected)?;
        let mut memory = self.host.memory();
        let wire = &mut memory.wires[wire];
        if wire.to_router.is_empty() && !wire.is_ended {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        wire.to_router.read(into)
    }

    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        let wire = self.wire.ok_or(io::ErrorKind::NotConnected)?;
        self.host.memory().wires[wire].from_router.write(from)
    }

    fn descriptor(&self) -> i32 {
        self.wire
            .map_or(LISTENER, |wire| LISTENER + 1 + wire as i32)
    }

    fn address(&self) -> String {
        self.address.clone()
    }
}

#[derive(Debug)]
struct File {
    host: MemoryHost,
    path: String,
}

impl Write for File {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        let mut memory = self.host.memory();
        if self.path == "-" {
            memory.printed += &String::from_utf8_lossy(from);
        } else {
            let file = memory.files.entry(self.path.clone()).or_default();
            file.extend_from_slice(from);
        }
        Ok(from.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The bell of threads whose waits all end at once.
#[derive(Debug)]
struct NeedsNone;

impl Bell for NeedsNone {
    fn ring(&self) {}

    fn silence(&self) {}

    fn descriptor(&self) -> i32 {
        -1
    }
}

/// A key without secrets: the proof is the nonce and the key.
#[derive(Debug)]
struct MemoryKey(String);

impl Key for MemoryKey {
    fn nonce(&self) -> io::Result<String> {
        Ok("once".to_owned())
    }

    fn is_proven(&self, nonce: &str, proof: &str) -> bool {
        proof == format!("{nonce}+{}", self.0)
    }
}

impl Host for MemoryHost {
    fn now(&mut self) -> Timestamp {
        let mut memory = self.memory();
        memory.now.0 += 1000;
        memory.now
    }

    fn wait(
        &mut self,
        _: &[i32],
        _: &[i32],
        timeout_ns: Option<u64>,
        _: &mut Vec<i32>,
    ) -> io::Result<()> {
        self.memory().now.0 += timeout_ns.unwrap_or(1_000_000) as i64;
        Ok(())
    }

    fn open(&mut self, path: &str) -> io::Result<Box<dyn Read + Send>> {
        let memory = self.memory();
        let file = memory.files.get(path).cloned();
        let file = file.ok_or_else(|| io::Error::from_raw_os_error(2))?;
        Ok(Box::new(io::Cursor::new(file)))
    }

    fn create(&mut self, path: &str, append: bool) -> io::Result<Box<dyn Write + Send>> {
        if !append {
            self.memory().files.insert(path.to_owned(), Vec::new());
        }
        Ok(Box::new(File {
            host: self.clone(),
            path: path.to_owned(),
        }))
    }

    fn key(&mut self, path: &str) -> io::Result<Box<dyn Key>> {
        let key = self.memory().files.get(path).cloned();
        let key = key.ok_or_else(|| io::Error::from_raw_os_error(2))?;
        Ok(Box::new(MemoryKey(
            String::from_utf8_lossy(&key).into_owned(),
        )))
    }

    fn file_bytes(&mut self, path: &str) -> Option<u64> {
        Some(self.memory().files.get(path)?.len() as u64)
    }

    fn print(&mut self, text: &str) {
        self.memory().printed += text;
    }

    fn say(&mut self, text: &str) {
        let mut memory = self.memory();
        memory.said += text;
        memory.overheard.add(text);
    }

    fn overhear(&mut self, wanted: bool) {
        self.memory().overheard.set(wanted);
    }

    fn take_overheard(&mut self) -> String {
        self.memory().overheard.take()
    }

    fn device(
        &mut self,
        request: &DeviceRequest,
        _: &mut Pool,
    ) -> Result<Box<dyn Device>, Refusal> {
        let device = self.memory().devices.remove(&request.name);
        device.ok_or_else(|| Refusal {
            text: format!("no network interface `{}`", request.name),
            mend: Some("ip link show".to_owned()),
            is_lack: true,
        })
    }

    fn socket(&mut self, request: &SocketRequest) -> io::Result<Box<dyn Socket>> {
        if !request.listen {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let mut memory = self.memory();
        if memory.listening.contains(&request.local) {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        memory.listening.push(request.local.clone());
        Ok(Box::new(MemorySocket {
            host: self.clone(),
            wire: None,
            address: request.local.clone(),
        }))
    }

    fn watch_signal(&mut self, _: i32) -> io::Result<()> {
        Ok(())
    }

    fn machine_names(&mut self) -> Arc<dyn MachineNames> {
        let names = self.memory().names.clone();
        names.unwrap_or_else(|| Arc::new(NoNames))
    }

    fn another(&mut self) -> io::Result<Box<dyn Host>> {
        Ok(Box::new(self.clone()))
    }

    fn bell(&mut self) -> io::Result<Box<dyn Bell>> {
        Ok(Box::new(NeedsNone))
    }

    fn signals(&mut self) -> Vec<i32> {
        std::mem::take(&mut self.memory().signals)
    }

    fn pending_signals(&mut self) -> u64 {
        let memory = self.memory();
        memory
            .signals
            .iter()
            .fold(0, |bits, signal| bits | 1 << signal)
    }

    fn kill(&mut self, _: i32, _: i32) -> io::Result<()> {
        Err(io::Error::from(io::ErrorKind::PermissionDenied))
    }
}
