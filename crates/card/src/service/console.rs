//! The command line of the control software: lines in, replies out.
//!
//! On the local socket a reply is `ok BYTES` or `error BYTES` on a line of its own and so many
//! bytes of text; a line that begins with `json ` is replied to in JSON. By telnet a reply is its
//! text and a prompt.

use super::Waits;
use super::buffered::{Buffered, Stream};
use super::listener::Listener;
use crate::error::Error;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use trammel_control::Reply;
use trammel_core::Time;
use trammel_io::accept::Reserve;

/// Connections at once by the local socket, and as many by telnet: who comes from afar leaves room
/// for those who are here.
const MOST_CONNECTIONS: usize = 16;
/// Connections that are accepted of either kind before frames have their turn.
const MOST_AT_ONCE: usize = 16;
/// Bytes of a line, at most; the command line itself takes fewer.
const LONGEST_LINE: usize = 4096;
/// Lines of one connection before others have their turn.
const MOST_LINES: usize = 16;
/// What a client of telnet sees first, and after each reply.
const PROMPT: &str = "router> ";
/// Telnet's "interpret as command" (RFC 854), its four commands with an option, and the beginning
/// and end of what is said of one.
const IAC: u8 = 255;
const WILL_TO_DONT: std::ops::RangeInclusive<u8> = 251..=254;
const SB: u8 = 250;
const SE: u8 = 240;

#[derive(Debug)]
struct Session {
    buffered: Buffered,
    is_telnet: bool,
    /// The reply that it waits for, and whether in JSON.
    waits_for: Option<(u64, bool)>,
}

/// The sockets of the command line, and who has connected.
#[derive(Debug)]
pub struct Console {
    local: Option<Listener>,
    telnet: Option<(TcpListener, Reserve)>,
    sessions: Vec<Session>,
}

impl Console {
    /// Listens at the given places.
    ///
    /// # Errors
    /// Where another listens there, or nobody can.
    pub fn open(local: Option<&Path>, telnet: Option<SocketAddr>) -> Result<Console, Error> {
        let listen = |address: SocketAddr| -> Result<_, Error> {
            let of = || Error::unheard("--telnet", address);
            let listener = TcpListener::bind(address).map_err(of())?;
            listener.set_nonblocking(true).map_err(of())?;
            Ok((listener, Reserve::new()))
        };
        Ok(Console {
            local: local.map(Listener::open).transpose()?,
            telnet: telnet.map(listen).transpose()?,
            sessions: Vec::new(),
        })
    }

    /// Has `run` reply to the lines that have come. Whether there was anything to do.
    ///
    /// # Errors
    /// Where a listener is of no use any more.
    pub fn poll(&mut self, now: Time, mut run: impl FnMut(&str) -> Reply) -> Result<bool, Error> {
        let mut has_any = self
            .accept()
            .map_err(Error::of("accept a connection to the command line"))?;
        for session in &mut self.sessions {
            has_any |= session.poll(&mut run);
        }
        self.sessions
            .retain_mut(|session| session.waits_for.is_some() || !session.buffered.is_over(now));
        Ok(has_any)
    }

    fn accept(&mut self) -> std::io::Result<bool> {
        let mut has_any = false;
        for _ in 0..MOST_AT_ONCE {
            let Some(listener) = &mut self.local else {
                break;
            };
            let Some(stream) = listener.accept()? else {
                break;
            };
            has_any = true;
            self.admit(Stream::Unix(stream), false);
        }
        for _ in 0..MOST_AT_ONCE {
            let Some((listener, reserve)) = &mut self.telnet else {
                break;
            };
            let Some((stream, _)) = reserve.accept(|| listener.accept())? else {
                break;
            };
            has_any = true;
            stream.set_nonblocking(true)?;
            self.admit(Stream::Tcp(stream), true);
        }
        Ok(has_any)
    }

    /// Takes in a client of telnet, or of the local socket, whose stream does not block; one too
    /// many is told so.
    pub fn serve(&mut self, stream: UnixStream, is_telnet: bool) {
        self.admit(Stream::Unix(stream), is_telnet);
    }

    fn admit(&mut self, stream: Stream, is_telnet: bool) {
        let mut session = Session {
            buffered: Buffered::new(stream),
            is_telnet,
            waits_for: None,
        };
        let alike = self.sessions.iter();
        let alike = alike.filter(|session| session.is_telnet == is_telnet);
        if alike.count() >= MOST_CONNECTIONS {
            session.say(false, "too many connections: close another one first");
            session.buffered.drain();
            return;
        }
        if is_telnet {
            session.buffered.send(PROMPT.as_bytes());
            session.buffered.drain();
        }
        self.sessions.push(session);
    }

    /// Gives the reply of `number` to who waits for it.
    pub fn reply(&mut self, number: u64, reply: &Reply) {
        let waits = |session: &&mut Session| {
            (session.waits_for).is_some_and(|(wanted, _)| wanted == number)
        };
        if let Some(session) = self.sessions.iter_mut().find(waits) {
            let is_json = session.waits_for.take().is_some_and(|(_, is_json)| is_json);
            session.tell(reply, is_json);
            session.buffered.drain();
        }
    }

    /// When [`Self::poll`] has something to do though nothing came.
    pub(crate) fn next_timeout(&self) -> Option<Time> {
        let sessions = self.sessions.iter();
        sessions
            .filter_map(|session| session.buffered.next_timeout())
            .min()
    }

    /// What is to be waited for.
    pub(crate) fn waits(&self, waits: &mut Waits) {
        let local = self.local.iter().map(Listener::descriptor);
        let telnet = self.telnet.iter().map(|(listener, _)| listener.as_raw_fd());
        waits.readable.extend(local.chain(telnet));
        for session in &self.sessions {
            if session.waits_for.is_none() {
                session.buffered.waits(waits);
            }
        }
    }
}

impl Session {
    fn poll(&mut self, run: &mut impl FnMut(&str) -> Reply) -> bool {
        if self.waits_for.is_some() {
            // What comes meanwhile has to wait, and is not late.
            self.buffered.drain();
            return false;
        }
        let mut has_any = self.buffered.fill(LONGEST_LINE);
        for _ in 0..MOST_LINES {
            if self.waits_for.is_some() || self.buffered.is_full() {
                break;
            }
            let end = self.buffered.input.iter().position(|byte| *byte == b'\n');
            let Some(end) = end else {
                if self.buffered.input.len() >= LONGEST_LINE {
                    self.say(false, "the line is too long");
                    self.buffered.close();
                }
                break;
            };
            has_any = true;
            let line = text(&self.buffered.input[..end], self.is_telnet);
            self.buffered.consume(end + 1);
            self.take(&line, run);
        }
        self.buffered.drain();
        has_any
    }

    fn take(&mut self, line: &str, run: &mut impl FnMut(&str) -> Reply) {
        let line = line.trim();
        if matches!(line, "quit" | "exit") {
            self.buffered.close();
            return;
        }
        let in_json = line.strip_prefix("json ");
        let reply = run(in_json.unwrap_or(line));
        match reply.waits() {
            Some(number) => self.waits_for = Some((number, in_json.is_some())),
            None => self.tell(&reply, in_json.is_some()),
        }
    }

    fn tell(&mut self, reply: &Reply, is_json: bool) {
        let text = if is_json {
            reply.json()
        } else {
            reply.to_string()
        };
        self.say(reply.is_ok(), &text);
    }

    fn say(&mut self, is_ok: bool, text: &str) {
        if self.is_telnet {
            let mut shown = text.replace('\n', "\r\n");
            if !shown.is_empty() {
                shown += "\r\n";
            }
            self.buffered.send(shown.as_bytes());
            self.buffered.send(PROMPT.as_bytes());
            return;
        }
        let state = if is_ok { "ok" } else { "error" };
        let head = format!("{state} {}\n", text.len());
        self.buffered.send(head.as_bytes());
        self.buffered.send(text.as_bytes());
    }
}

/// Takes what is said of an option, up to its end.
fn pass_over(rest: &mut impl Iterator<Item = u8>) {
    while let Some(byte) = rest.next() {
        if byte == IAC && rest.next() == Some(SE) {
            return;
        }
    }
}

/// A line without what telnet negotiates in it.
fn text(bytes: &[u8], is_telnet: bool) -> String {
    if !is_telnet {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    let mut kept = Vec::new();
    let mut rest = bytes.iter().copied();
    while let Some(byte) = rest.next() {
        if byte != IAC {
            kept.push(byte);
            continue;
        }
        match rest.next() {
            Some(command) if WILL_TO_DONT.contains(&command) => drop(rest.next()),
            Some(SB) => pass_over(&mut rest),
            _ => {}
        }
    }
    String::from_utf8_lossy(&kept).into_owned()
}

#[cfg(test)]
mod tests;
