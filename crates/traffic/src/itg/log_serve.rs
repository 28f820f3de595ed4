//! A log server that ITGSend and ITGRecv can log to: many logs at once, each a file of a folder.
//!
//! Differs from ITGLog: a file that is there is left alone, and the log gets a number after its
//! name; records are taken of the host that asked only; a log whose name a host has open already
//! gets the records of both; of a name only its last part counts; the port for the records is any
//! that is free, not one of 9003 to 10003.

use super::log_file::BinaryLog;
use super::log_protocol::{GREETING, RECORD, REQUEST, Request, read};
use super::serve::Say;
use crate::log::quota::Quota;
use crate::record::Protocol;
use crate::signal::listener::Listener;
use crate::signal::pending::{Door, Verdict};
use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};
use trammel_io::accept;

/// The longest that a client may take to ask, and to come with its records.
const PATIENCE: Duration = Duration::from_secs(10);
/// A log whose client has told its end, or is gone, is over when nothing has come for so long.
const QUIET: Duration = Duration::from_millis(300);
/// So often is looked whether it is.
const LOOK: Duration = Duration::from_millis(20);
/// More than any datagram.
const PART: usize = 1 << 16;

/// A log server.
#[derive(Debug)]
pub struct LogServer {
    listener: Listener,
    folder: PathBuf,
    quota: Quota,
    /// By who writes them, and the name that it asked for.
    open: Mutex<BTreeMap<(IpAddr, String), Weak<BinaryLog>>>,
}

impl LogServer {
    /// A server that listens at `address`, whose port 0 leaves the number to the system, and keeps
    /// logs in `folder`, as many bytes as `quota` has.
    ///
    /// # Errors
    /// If the port cannot be had.
    pub fn open(address: SocketAddr, folder: PathBuf, quota: Quota) -> io::Result<LogServer> {
        Ok(LogServer {
            listener: Listener::open(address)?,
            folder,
            quota,
            open: Mutex::default(),
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// Takes logs until `stop` is set; `say` hears what became of each.
    ///
    /// # Errors
    /// If no more clients can be accepted.
    pub fn run(&self, stop: &AtomicBool, say: Say<'_>) -> io::Result<()> {
        std::thread::scope(|scope| {
            let serve = move |stream, from| match self.serve(stream, stop) {
                Ok(None) => {}
                Ok(Some(what)) | Err(what) => say(from, &what),
            };
            self.listener.serve_others((scope, stop), &Asks, serve, say)
        })
    }

    /// The log of a name, which others of the same host may be writing already.
    fn log(&self, peer: IpAddr, file: &str) -> Result<Arc<BinaryLog>, String> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|_, log| log.strong_count() > 0);
        let key = (peer, file.to_owned());
        if let Some(log) = open.get(&key).and_then(Weak::upgrade) {
            return Ok(log);
        }
        let log = BinaryLog::begin_new(&self.folder, file, &self.quota);
        let log = log.map_err(|why| {
            let path = self.folder.join(file);
            format!("`{}` cannot be written: {why}", path.display())
        })?;
        let log = Arc::new(log);
        open.insert(key, Arc::downgrade(&log));
        Ok(log)
    }

    /// Serves a client to its end, and gives what is to be said of its log; none where it asked for
    /// none.
    fn serve(&self, mut control: TcpStream, stop: &AtomicBool) -> Result<Option<String>, String> {
        let told = |why: io::Error| why.to_string();
        control.set_read_timeout(Some(LOOK)).map_err(told)?;
        control.set_write_timeout(Some(PATIENCE)).map_err(told)?;
        let Some(bytes) = asked(&mut control, stop)? else {
            return Ok(None);
        };
        let request = Request::decode(&bytes).map_err(|why| why.to_string())?;
        let file = request.name.file_name()?;
        let here = SocketAddr::new(control.local_addr().map_err(told)?.ip(), 0);
        let peer = control.peer_addr().map_err(told)?.ip();
        let log = self.log(peer, &file)?;
        let mut ending = Ending::new(control);
        let mut taken = Taken::default();
        match request.protocol {
            Protocol::Tcp => {
                let listener = TcpListener::bind(here).map_err(told)?;
                listener.set_nonblocking(true).map_err(told)?;
                ending.answer(listener.local_addr().map_err(told)?.port())?;
                let Some(stream) = came(&listener, peer, &mut ending, stop) else {
                    return Err(format!("no records of its log `{file}` arrived"));
                };
                taken.of_stream(stream, &log, (&mut ending, stop))
            }
            _ => {
                let socket = UdpSocket::bind(here).map_err(told)?;
                ending.answer(socket.local_addr().map_err(told)?.port())?;
                taken.of_datagrams(&socket, peer, &log, (&mut ending, stop))
            }
        }
        .map_err(told)?;
        log.flush();
        if let Some(fault) = log.fault() {
            return Err(fault);
        }
        let Taken { records, wrong, .. } = taken;
        let and = match wrong {
            None => String::new(),
            Some(why) => format!("; others were none: {why}"),
        };
        let kept = match log.file_name() {
            Some(kept) if *kept != *file => format!(", kept as `{kept}`"),
            _ => String::new(),
        };
        Ok(Some(format!(
            "{records} records of its log `{file}`{kept}{and}"
        )))
    }
}

/// A client is greeted, and asks for a log.
struct Asks;

impl Door for Asks {
    fn greeting(&self) -> &[u8] {
        &[GREETING]
    }

    fn judge(&self, first: &[u8], _: SocketAddr) -> Verdict {
        if first.len() < REQUEST {
            Verdict::Wait
        } else {
            Verdict::Serve
        }
    }
}

/// The request of a client; none where it left without one.
fn asked(control: &mut TcpStream, stop: &AtomicBool) -> Result<Option<[u8; REQUEST]>, String> {
    let (since, mut bytes, mut have) = (Instant::now(), [0; REQUEST], 0);
    while have < REQUEST {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        if since.elapsed() > PATIENCE {
            return Err(format!("asked for no log in {} s", PATIENCE.as_secs()));
        }
        match control.read(&mut bytes[have..]) {
            Ok(0) if have == 0 => return Ok(None),
            Ok(0) => return Err("disconnected before it asked for a log".to_owned()),
            Ok(count) => have += count,
            Err(why) if is_later(&why) => {}
            Err(why) => return Err(why.to_string()),
        }
    }
    Ok(Some(bytes))
}

fn is_later(why: &io::Error) -> bool {
    matches!(
        why.kind(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}

/// The connection that records come on; none where it does not come.
fn came(
    listener: &TcpListener,
    peer: IpAddr,
    ending: &mut Ending,
    stop: &AtomicBool,
) -> Option<TcpStream> {
    let since = Instant::now();
    while since.elapsed() < PATIENCE && !stop.load(Ordering::Relaxed) && !ending.is_over() {
        match accept::tcp(listener).ok()?.or_rest() {
            Some((stream, from)) if from.ip() == peer => return Some(stream),
            // Not the one that asked.
            Some(_) => {}
            None => std::thread::sleep(LOOK),
        }
    }
    None
}

/// The channel of a client: whatever it says after its request, or its being gone, is the end.
struct Ending {
    control: TcpStream,
    changed: Instant,
    has_ended: bool,
}

impl Ending {
    fn new(control: TcpStream) -> Ending {
        Ending {
            control,
            changed: Instant::now(),
            has_ended: false,
        }
    }

    fn answer(&mut self, port: u16) -> Result<(), String> {
        let answered = self.control.write_all(&u32::from(port).to_be_bytes());
        answered
            .and_then(|()| self.control.set_nonblocking(true))
            .map_err(|why| why.to_string())
    }

    /// Something came.
    fn stir(&mut self) {
        self.changed = Instant::now();
    }

    fn is_over(&mut self) -> bool {
        if !self.has_ended {
            let heard = self.control.read(&mut [0; REQUEST]);
            self.has_ended = !heard.is_err_and(|why| is_later(&why));
            if self.has_ended {
                self.stir();
            }
        }
        self.has_ended && self.changed.elapsed() > QUIET
    }
}

/// What came of a log.
#[derive(Default)]
struct Taken {
    records: u64,
    /// What was wrong with the first that was none.
    wrong: Option<String>,
    /// The beginning of a record, of a stream.
    rest: Vec<u8>,
}

impl Taken {
    fn of_datagrams(
        &mut self,
        socket: &UdpSocket,
        peer: IpAddr,
        log: &BinaryLog,
        (ending, stop): (&mut Ending, &AtomicBool),
    ) -> io::Result<()> {
        socket.set_read_timeout(Some(LOOK))?;
        let mut part = vec![0; PART];
        while !stop.load(Ordering::Relaxed) && !ending.is_over() {
            match socket.recv_from(&mut part) {
                Ok((count, from)) if from.ip() == peer => {
                    ending.stir();
                    self.take(&part[..count], log);
                    if !std::mem::take(&mut self.rest).is_empty() {
                        self.wrong("a datagram ends within a record");
                    }
                }
                Ok(_) => {}
                // ITGRecv keeps its log for as long as it runs: what came is to be seen before.
                Err(why) if is_later(&why) => log.flush(),
                Err(why) => return Err(why),
            }
        }
        Ok(())
    }

    fn of_stream(
        &mut self,
        mut stream: TcpStream,
        log: &BinaryLog,
        (ending, stop): (&mut Ending, &AtomicBool),
    ) -> io::Result<()> {
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(LOOK))?;
        let mut part = vec![0; PART];
        while !stop.load(Ordering::Relaxed) && !ending.is_over() {
            match stream.read(&mut part) {
                Ok(0) => break,
                Ok(count) => {
                    ending.stir();
                    self.take(&part[..count], log);
                }
                // ITGRecv keeps its log for as long as it runs: what came is to be seen before.
                Err(why) if is_later(&why) => log.flush(),
                Err(why) => return Err(why),
            }
        }
        if !self.rest.is_empty() {
            self.wrong("the last was cut off");
        }
        Ok(())
    }

    fn wrong(&mut self, why: &str) {
        self.wrong.get_or_insert_with(|| why.to_owned());
    }

    /// Writes the whole records of what came, and keeps the rest.
    fn take(&mut self, bytes: &[u8], log: &BinaryLog) {
        self.rest.extend(bytes);
        let rest = std::mem::take(&mut self.rest);
        let mut chunks = rest.chunks_exact(RECORD);
        for chunk in &mut chunks {
            let whole = chunk.try_into().expect("chunks are of that size");
            match read(whole, self.records + 1) {
                Ok(line) => {
                    self.records += 1;
                    log.line(&line);
                }
                Err(why) => self.wrong(&why.to_string()),
            }
        }
        self.rest = chunks.remainder().to_vec();
    }
}
