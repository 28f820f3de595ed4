//! The socket of the web page. Each connection has one request, one answer, and little time.

use super::Waits;
use super::buffered::{Buffered, Stream};
use crate::error::Error;
use crate::web::{Card, Site};
use std::io::Read;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::AsRawFd;
use trammel_core::{Span, Time};
use trammel_io::accept::Reserve;
use trammel_netfpga::device::Design;
use trammel_netfpga::registers::Registers;

/// Connections at once; the oldest makes room for one more.
const MOST_CONNECTIONS: usize = 32;
/// How long a connection may take in all.
const PATIENCE: Span = Span::from_secs(10);
/// Connections that are accepted, and requests that are answered, before frames have their turn.
const MOST_AT_ONCE: usize = 4;
/// Bytes of the token: too many to guess.
const TOKEN_BYTES: usize = 16;

#[derive(Debug)]
struct Connection {
    buffered: Buffered,
    since: Time,
}

/// The listener and its connections.
#[derive(Debug)]
pub(crate) struct WebService {
    listener: TcpListener,
    reserve: Reserve,
    address: SocketAddr,
    token: String,
    site: Site,
    connections: Vec<Connection>,
}

impl WebService {
    /// Listens at `address` with the page of a card with `design`.
    pub(crate) fn open(address: SocketAddr, design: &'static Design) -> Result<WebService, Error> {
        let of = || Error::of(format!("listen at {address} for the web page"));
        let listener = TcpListener::bind(address).map_err(of())?;
        listener.set_nonblocking(true).map_err(of())?;
        let address = listener.local_addr().map_err(of())?;
        let token = token().map_err(Error::of("draw a token for the web page"))?;
        Ok(WebService {
            site: Site::new(design, address, &token),
            listener,
            reserve: Reserve::new(),
            address,
            token,
            connections: Vec::new(),
        })
    }

    /// The address to open, with the token that edits need.
    pub(crate) fn link(&self) -> String {
        format!("http://{}/#token={}", self.address, self.token)
    }

    /// What the user should know of who reaches it.
    pub(crate) fn remark(&self) -> Option<String> {
        let address = self.address;
        let is_far = !address.ip().is_loopback();
        is_far.then(|| {
            format!(
                "everybody who reaches {address} sees the web page, and the token passes \
                 unencrypted: `--web {}` and a tunnel (`ssh -L`) are safer",
                address.port()
            )
        })
    }

    /// Notes the events in a frame that the design itself has sent.
    pub(crate) fn record(&mut self, frame: &[u8]) {
        self.site.record(frame);
    }

    /// Does what can be done at once. Whether there was anything to do.
    pub(crate) fn poll<R: Registers>(
        &mut self,
        now: Time,
        card: &mut Card<R>,
    ) -> Result<bool, Error> {
        self.site.sample(now, card.registers);
        let mut has_any = self
            .accept(now)
            .map_err(Error::of("accept a connection to the web page"))?;
        let mut answers = 0;
        for connection in &mut self.connections {
            let buffered = &mut connection.buffered;
            has_any |= buffered.fill(Site::LONGEST_REQUEST);
            if answers < MOST_AT_ONCE && !buffered.input.is_empty() {
                let input = &buffered.input;
                if let Some(answer) = self.site.answer(now, input, card) {
                    answers += 1;
                    buffered.send(&answer);
                    buffered.close();
                }
            }
            buffered.drain();
        }
        self.connections.retain_mut(|connection| {
            let is_late = now.saturating_since(connection.since) >= PATIENCE;
            !is_late && !connection.buffered.is_over(now)
        });
        // Those that had no turn have it in the next round.
        Ok(has_any || answers >= MOST_AT_ONCE)
    }

    fn accept(&mut self, now: Time) -> std::io::Result<bool> {
        for count in 0..MOST_AT_ONCE {
            let accepted = self.reserve.accept(|| self.listener.accept())?;
            let Some((stream, _)) = accepted else {
                return Ok(count > 0);
            };
            stream.set_nonblocking(true)?;
            if self.connections.len() >= MOST_CONNECTIONS {
                self.connections.remove(0);
            }
            self.connections.push(Connection {
                buffered: Buffered::new(Stream::Tcp(stream)),
                since: now,
            });
        }
        Ok(true)
    }

    /// When [`Self::poll`] has something to do though nothing came.
    pub(crate) fn next_timeout(&self) -> Option<Time> {
        let first = self.connections.first()?;
        Some(first.since.saturating_add(PATIENCE))
    }

    /// What is to be waited for.
    pub(crate) fn waits(&self, waits: &mut Waits) {
        waits.readable.push(self.listener.as_raw_fd());
        for connection in &self.connections {
            connection.buffered.waits(waits);
        }
    }
}

/// A token that nobody can guess, in hexadecimal.
fn token() -> std::io::Result<String> {
    let mut bytes = [0; TOKEN_BYTES];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::TcpStream;
    use trammel_netfpga::{Device, design};

    struct Rig {
        service: WebService,
        card: Device,
    }

    impl Rig {
        fn new() -> Rig {
            let card = Device::new(design("reference-router").unwrap());
            let address = ([127, 0, 0, 1], 0).into();
            Rig {
                service: WebService::open(address, card.design()).unwrap(),
                card,
            }
        }

        fn connect(&self) -> TcpStream {
            TcpStream::connect(self.service.address).unwrap()
        }

        fn poll(&mut self, now: Time) -> bool {
            let mut card = Card {
                registers: &mut self.card,
                ports: &[],
                control: None,
                has_mirror: false,
            };
            self.service.poll(now, &mut card).unwrap()
        }

        /// What comes until the connection ends.
        fn answer(&mut self, stream: &mut TcpStream) -> String {
            stream.set_nonblocking(true).unwrap();
            let mut bytes = Vec::new();
            loop {
                self.poll(Time::ZERO);
                let mut part = [0; 4096];
                match stream.read(&mut part) {
                    Ok(0) => return String::from_utf8(bytes).unwrap(),
                    Ok(count) => bytes.extend(&part[..count]),
                    Err(_) => std::thread::yield_now(),
                }
            }
        }

        /// Polls until there are `count` connections.
        fn until(&mut self, count: usize) {
            while self.service.connections.len() != count {
                self.poll(Time::ZERO);
            }
        }
    }

    #[test]
    fn a_request_in_pieces_is_answered_once_and_the_connection_ends() {
        let mut rig = Rig::new();
        let mut stream = rig.connect();
        rig.until(1);
        for piece in ["GET /api/state HT", "TP/1.1\r\nHost: localho"] {
            stream.write_all(piece.as_bytes()).unwrap();
            rig.poll(Time::ZERO);
        }
        stream.write_all(b"st\r\n\r\nGET / HTTP/1.1\r\n").unwrap();
        let answer = rig.answer(&mut stream);
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert_eq!(answer.matches("HTTP/1.1").count(), 1);
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        let state: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!(state["design"]["name"], "reference-router");
        assert!(rig.service.connections.is_empty());
    }

    #[test]
    fn what_is_no_request_is_refused_without_waiting_for_more() {
        let mut rig = Rig::new();
        for bytes in [&b"\x16\x03\x01\x02\x00"[..], b"SSH-2.0-x\r\n"] {
            let mut stream = rig.connect();
            stream.write_all(bytes).unwrap();
            assert!(rig.answer(&mut stream).starts_with("HTTP/1.1 400 "));
        }
        let mut stream = rig.connect();
        stream.write_all("A".repeat(20000).as_bytes()).unwrap();
        // Accepted, read, refused and gone in one round.
        while !rig.poll(Time::ZERO) {}
        assert!(rig.service.connections.is_empty());
    }

    #[test]
    fn silent_clients_keep_nobody_waiting_and_are_closed() {
        let mut rig = Rig::new();
        let _silent: Vec<TcpStream> = (0..MOST_CONNECTIONS).map(|_| rig.connect()).collect();
        rig.until(MOST_CONNECTIONS);
        let mut stream = rig.connect();
        stream
            .write_all(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            .unwrap();
        assert!(rig.answer(&mut stream).starts_with("HTTP/1.1 200 OK\r\n"));
        assert_eq!(rig.service.connections.len(), MOST_CONNECTIONS - 1);
        let late = Time::ZERO.saturating_add(PATIENCE);
        assert_eq!(rig.service.next_timeout(), Some(late));
        rig.poll(late);
        assert!(rig.service.connections.is_empty());
    }

    #[test]
    fn a_page_for_others_is_remarked_upon() {
        assert_eq!(Rig::new().service.remark(), None);
        let design = design("reference-router").unwrap();
        let far = WebService::open(([0, 0, 0, 0], 0).into(), design).unwrap();
        assert!(far.remark().unwrap().contains("ssh -L"));
    }

    #[test]
    fn the_link_has_a_token_of_its_own() {
        let links = [(); 2].map(|()| Rig::new().service.link());
        let tokens = links
            .each_ref()
            .map(|link| link.split_once("#token=").unwrap().1);
        assert_ne!(tokens[0], tokens[1]);
        assert!(tokens.iter().all(|token| token.len() == 2 * TOKEN_BYTES));
    }
}
