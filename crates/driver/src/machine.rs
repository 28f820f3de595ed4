//! This machine as the router's host: files, streams, devices, signals, time.

use super::devices::{self, Wires};
use super::written::Written;
use super::{kernel_tables, sockets};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use trammel_io::{clock, signals};
use trammel_packet::device::Device;
use trammel_packet::pool::Pool;
use trammel_packet::timestamp::Timestamp;
use trammel_router::host::{
    self, Bell, DeviceRequest, Host, KernelTables, MachineNames, Overheard, Refusal, Socket,
    SocketRequest,
};
use trammel_workbench::names;

/// How long a router that has nothing to do sleeps before it looks for signals again, ns.
const LONGEST_SLEEP_NS: u64 = 100_000_000;

/// This machine.
#[derive(Debug, Default)]
pub struct Machine {
    /// Whether what is said to a person goes nowhere.
    is_silent: bool,
    /// Standard output, written out when the router waits or looks around, ends, or prints to
    /// standard error.
    printed: Vec<u8>,
    wires: Wires,
    overheard: Overheard,
}

/// SIGINT and SIGTERM.
const ENDS: [i32; 2] = [2, 15];
const SIGHUP: i32 = 1;

/// What is kept of standard output before it is written.
const PRINTED: usize = 1 << 16;

impl Machine {
    /// Until [`Machine::watch_ends`] the signals that ask a program to end do so at once: a
    /// configuration may take long to load.
    pub fn new() -> io::Result<Machine> {
        for signal in ENDS {
            signals::end_on(signal)?;
        }
        Ok(Machine::default())
    }

    /// Has the router that runs from now on end cleanly on the signals that ask a program to end,
    /// and tell of SIGHUP.
    pub fn watch_ends() -> io::Result<()> {
        for signal in ENDS.into_iter().chain([SIGHUP]) {
            signals::watch(signal)?;
        }
        Ok(())
    }

    /// For a router that is a part of something else: it says nothing, and no signals end it.
    pub fn silent() -> Machine {
        let mut machine = Machine::default();
        machine.is_silent = true;
        machine
    }

    fn flush(&mut self) {
        // The router goes on; the command tells it at its end.
        let mut out = trammel_ground::stdout();
        if let Err(why) = out.write_all(&self.printed).and_then(|()| out.flush()) {
            trammel_ground::output_lost(why);
        }
        self.printed.clear();
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.flush();
    }
}

/// A bell for a thread: a byte in a socket of its own.
#[derive(Debug)]
struct SocketBell {
    near: UnixStream,
    far: UnixStream,
}

impl Bell for SocketBell {
    fn ring(&self) {
        // A full socket has rung already.
        let _ = (&self.near).write(&[1]);
    }

    fn silence(&self) {
        let mut rung = [0; 64];
        while matches!((&self.far).read(&mut rung), Ok(1..)) {}
    }

    fn descriptor(&self) -> i32 {
        self.far.as_raw_fd()
    }
}

/// A key of this machine's files, as the traffic tools have it.
#[derive(Debug)]
struct SharedKey(trammel_traffic::signal::key::Key);

impl host::Key for SharedKey {
    fn nonce(&self) -> io::Result<String> {
        let bytes = trammel_traffic::signal::key::nonce()?;
        Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    fn is_proven(&self, nonce: &str, proof: &str) -> bool {
        self.0.is_code_of(nonce.as_bytes(), proof)
    }
}

/// The path of `path` in `folder`, neither of which may lead elsewhere by a link.
fn within(folder: &str, path: &str) -> io::Result<String> {
    let folder = Path::new(folder).canonicalize()?;
    let folder = folder.to_str().ok_or(io::ErrorKind::InvalidInput)?;
    let path = host::within(folder, path)?;
    let leads_out = || {
        let text = format!("`{path}` leads out of the control folder `{folder}`");
        io::Error::new(io::ErrorKind::PermissionDenied, text)
    };
    let whole = Path::new(&path);
    let name = whole.file_name().ok_or_else(leads_out)?;
    let parent = whole.parent().ok_or_else(leads_out)?.canonicalize()?;
    let real = parent.join(name);
    let is_link = real.symlink_metadata().is_ok_and(|what| what.is_symlink());
    if is_link || !parent.starts_with(folder) {
        return Err(leads_out());
    }
    Ok(real.to_str().ok_or_else(leads_out)?.to_owned())
}

impl Host for Machine {
    fn now(&mut self) -> Timestamp {
        Timestamp(clock::wall_ns())
    }

    fn cpu_ns(&mut self) -> u64 {
        clock::process_cpu_ns() as u64
    }

    fn wait(
        &mut self,
        readable: &[i32],
        writable: &[i32],
        timeout_ns: Option<u64>,
        ready: &mut Vec<i32>,
    ) -> io::Result<()> {
        if !self.printed.is_empty() {
            self.flush();
        }
        if readable.is_empty() && writable.is_empty() && timeout_ns == Some(0) {
            return Ok(());
        }
        // A signal that came after the engine asked, and before it sleeps, wakes nobody: it is
        // looked for again soon.
        let most = if signals::pending() == 0 {
            LONGEST_SLEEP_NS
        } else {
            0
        };
        let timeout_ns = timeout_ns.map_or(most, |ns| ns.min(most));
        clock::wait_both(readable, writable, Some(timeout_ns as i64), ready)
    }

    fn open(&mut self, path: &str) -> io::Result<Box<dyn Read + Send>> {
        match path {
            "-" => Ok(Box::new(io::stdin())),
            path => Ok(Box::new(File::open(path)?)),
        }
    }

    fn create(&mut self, path: &str, append: bool) -> io::Result<Box<dyn Write + Send>> {
        if path == "-" {
            self.flush();
            return Ok(Box::new(Written::stdout()));
        }
        let mut how = OpenOptions::new();
        how.create(true)
            .write(true)
            .append(append)
            .truncate(!append);
        let file = how.open(path)?;
        Ok(Box::new(Written::file(path, file, self.is_silent)))
    }

    fn within(&mut self, folder: &str, path: &str) -> io::Result<String> {
        within(folder, path)
    }

    fn key(&mut self, path: &str) -> io::Result<Box<dyn host::Key>> {
        let key = crate::guard::key(Path::new(path)).map_err(io::Error::other)?;
        Ok(Box::new(SharedKey(key)))
    }

    fn file_bytes(&mut self, path: &str) -> Option<u64> {
        let about = std::fs::metadata(path).ok()?;
        about.is_file().then_some(about.len())
    }

    fn print(&mut self, text: &str) {
        self.print_bytes(text.as_bytes());
    }

    fn print_bytes(&mut self, bytes: &[u8]) {
        self.printed.extend_from_slice(bytes);
        if self.printed.len() > PRINTED {
            self.flush();
        }
    }

    fn overhear(&mut self, wanted: bool) {
        self.overheard.set(wanted);
    }

    fn take_overheard(&mut self) -> String {
        self.overheard.take()
    }

    fn say(&mut self, text: &str) {
        self.flush();
        self.overheard.add(text);
        if self.is_silent {
            return;
        }
        let _ = io::stderr().write_all(text.as_bytes());
    }

    fn device(
        &mut self,
        request: &DeviceRequest,
        pool: &mut Pool,
    ) -> Result<Box<dyn Device>, Refusal> {
        devices::open(request, pool, &mut self.wires)
    }

    fn socket(&mut self, request: &SocketRequest) -> io::Result<Box<dyn Socket>> {
        sockets::open(request)
    }

    fn machine_names(&mut self) -> Arc<dyn MachineNames> {
        names::here()
    }

    fn follow_kernel(&mut self) -> Result<Box<dyn KernelTables>, Refusal> {
        kernel_tables::follow()
    }

    fn watch_signal(&mut self, number: i32) -> io::Result<()> {
        signals::watch(number)
    }

    fn unwatch_signal(&mut self, number: i32) {
        // Those that ask the program to end always end it cleanly.
        if !ENDS.contains(&number) && number != SIGHUP {
            let _ = signals::unwatch(number);
        }
    }

    fn signals(&mut self) -> Vec<i32> {
        signals::take()
    }

    fn pending_signals(&mut self) -> u64 {
        signals::pending()
    }

    fn kill(&mut self, process: i32, signal: i32) -> io::Result<()> {
        // The signal may be the end of this process.
        self.flush();
        signals::send(process, signal)
    }

    fn another(&mut self) -> io::Result<Box<dyn Host>> {
        Ok(Box::new(Machine::default()))
    }

    fn bell(&mut self) -> io::Result<Box<dyn Bell>> {
        let (near, far) = UnixStream::pair()?;
        near.set_nonblocking(true)?;
        far.set_nonblocking(true)?;
        Ok(Box::new(SocketBell { near, far }))
    }

    fn pin(&mut self, processor: usize) -> io::Result<()> {
        clock::pin(processor)
    }

    fn environment(&mut self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_control_folder_is_not_left_by_links() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let inside = folder.path().join("control");
        std::fs::create_dir_all(inside.join("sub")).expect("the folder can be made");
        symlink(folder.path(), inside.join("out")).expect("the link can be made");
        symlink(folder.path().join("x"), inside.join("file")).expect("the link can be made");
        let control = inside.to_str().expect("the name is UTF-8");
        let real = inside.canonicalize().expect("it is there");
        for (path, is_well) in [
            ("a", true),
            ("sub/a", true),
            ("out/a", false),
            ("file", false),
            ("../x", false),
            ("/etc/passwd", false),
            ("none/a", false),
            ("", false),
        ] {
            let found = within(control, path);
            assert_eq!(found.is_ok(), is_well, "{path}: {found:?}");
            if let Ok(found) = found {
                assert!(Path::new(&found).starts_with(&real));
            }
        }
    }
}
