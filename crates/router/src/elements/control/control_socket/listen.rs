//! Where a control socket listens: a port of TCP, a file, or an open descriptor.

use crate::args::names::{Names, TCP, parse_port};
use crate::diagnostic::Diagnostics;
use crate::engine::Ctx;
use crate::host::{Socket, SocketRequest, reason};
use std::fmt;
use std::io::ErrorKind;

/// Ports that are tried after the first.
const PORTS_TRIED: u16 = 11;
/// Bytes of a file's name: what the system's addresses of files hold.
const MOST_NAME: usize = 108;

/// A place to listen at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    kind: Kind,
    /// The port, with `+` where it is the first of several; the file; the descriptor.
    text: String,
    /// Whether a port is one of this machine's own address only.
    is_local: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Tcp,
    Unix,
    Descriptor,
}

/// A socket that was opened.
pub(super) enum Opened {
    /// Connections come to it.
    Listener(Box<dyn Socket>),
    /// It is a connection itself.
    Connection(Box<dyn Socket>),
}

impl Place {
    /// The place that arguments `TYPE`, `PORT` and `LOCALHOST` give.
    pub(super) fn parse(
        kind: &str,
        text: &str,
        is_local: bool,
        names: &impl Names,
    ) -> Result<Place, Diagnostics> {
        let kind = kind.to_ascii_uppercase();
        let (kind, text) = match kind.as_str() {
            "TCP" => {
                let number = parse_port(text, TCP, names);
                let from = text.strip_suffix('+').and_then(|p| p.parse::<u16>().ok());
                match (number, from) {
                    (Ok(port), _) => (Kind::Tcp, port.to_string()),
                    (_, Some(port @ 1..)) => (Kind::Tcp, format!("{port}+")),
                    _ => return Err(Diagnostics::of("PORT requires TCP port")),
                }
            }
            "UNIX" if text.len() >= MOST_NAME => {
                return Err(Diagnostics::of("filename too long"));
            }
            "UNIX" => (Kind::Unix, text.to_owned()),
            "SOCKET" if text.parse::<i32>().is_ok() => (Kind::Descriptor, text.to_owned()),
            "SOCKET" => return Err(Diagnostics::of("FD: invalid number")),
            _ => {
                let text = format!("unknown socket type '{kind}'");
                return Err(Diagnostics::of(text));
            }
        };
        Ok(Place {
            kind,
            text,
            is_local,
        })
    }

    /// Opens a socket there; a text tells why there is none.
    pub(super) fn open(&self, ctx: &mut Ctx) -> Result<Opened, String> {
        let request = |kind: &str, local: String| SocketRequest {
            kind: kind.to_owned(),
            local,
            remote: String::new(),
            listen: true,
            options: vec![("MODE".to_owned(), "0600".to_owned())],
        };
        let of_place = match self.kind {
            Kind::Tcp => return self.open_port(ctx, |address| request("tcp", address)),
            Kind::Unix => request("unix", self.text.clone()),
            Kind::Descriptor => {
                let request = SocketRequest {
                    listen: false,
                    ..request("descriptor", self.text.clone())
                };
                let socket = ctx.host().socket(&request).map_err(|e| reason(&e))?;
                return Ok(Opened::Connection(socket));
            }
        };
        let opened = ctx.open_socket(&of_place).map(Opened::Listener);
        opened.map_err(|e| format!("bind: {}", reason(&e)))
    }

    /// Opens the port, or the first free one from it on.
    fn open_port(
        &self,
        ctx: &mut Ctx,
        request: impl Fn(String) -> SocketRequest,
    ) -> Result<Opened, String> {
        let (first, tries) = match self.text.strip_suffix('+') {
            Some(first) => (first, PORTS_TRIED),
            None => (self.text.as_str(), 1),
        };
        let first = first.parse::<u16>().unwrap_or(0);
        let address = if self.is_local {
            "127.0.0.1"
        } else {
            "0.0.0.0"
        };
        let mut failed = String::new();
        for offset in 0..tries {
            let port = first.saturating_add(offset);
            match ctx.open_socket(&request(format!("{address}:{port}"))) {
                Ok(socket) => return Ok(Opened::Listener(socket)),
                Err(e) => {
                    failed = format!("bind: {}", reason(&e));
                    if e.kind() != ErrorKind::AddrInUse {
                        break;
                    }
                }
            }
        }
        Err(failed)
    }

    /// The port that `listener` has, which is one of this place.
    pub(super) fn port_of(&self, listener: &dyn Socket) -> Option<String> {
        let address = listener.address();
        let port = address.rsplit(':').next().map(str::to_owned);
        port.filter(|_| self.kind == Kind::Tcp)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
