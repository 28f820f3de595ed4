//! A page of metrics over HTTP.
//!
//! One thread answers all clients; who counts never waits for it, and no client for another. It
//! listens where it is told, and on local addresses unless told otherwise. On those it answers
//! requests only that name such an address: a web page whose name was made to lead here reads
//! nothing. Who asks for OpenMetrics gets it; others get Prometheus' older format of the same page.

use crate::page::{CLASSIC, OPEN_METRICS, classic};
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use trammel_io::accept::{self, Accepted, RESTING};
use trammel_io::clock::wait_both;

/// What a request may have at most, in bytes.
const REQUEST_BYTES: usize = 4096;
/// How long a client may take in all.
const PATIENCE: Duration = Duration::from_secs(10);
/// Clients at a time; the one that came first makes room for one more.
const MOST_CLIENTS: usize = 64;

/// Makes the page, in OpenMetrics.
type Render = Box<dyn Fn() -> String + Send>;

/// A server of a page. It serves until the process ends.
#[derive(Clone, Copy, Debug)]
pub struct Server {
    address: SocketAddr,
}

impl Server {
    /// Listens at `address`, and answers with what `render` makes when somebody asks.
    ///
    /// # Errors
    /// Where the address cannot be listened on.
    pub fn start(
        address: SocketAddr,
        render: impl Fn() -> String + Send + 'static,
    ) -> io::Result<Server> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let mut desk = Desk {
            is_local: address.ip().is_loopback(),
            listener,
            render: Box::new(render),
            clients: Vec::new(),
        };
        std::thread::Builder::new().spawn(move || desk.run())?;
        Ok(Server { address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// The latest of a page that only one thread can make: it leaves it here, and a [`Server`] takes
/// it.
#[derive(Clone, Debug, Default)]
pub struct Latest(Arc<Mutex<String>>);

impl Latest {
    /// The page from now on.
    pub fn set(&self, page: String) {
        if let Ok(mut latest) = self.0.lock() {
            *latest = page;
        }
    }

    /// The page that was left last; empty before the first.
    pub fn get(&self) -> String {
        let latest = self.0.lock().map(|page| page.clone());
        latest.unwrap_or_default()
    }
}

/// Somebody who asks.
struct Client {
    stream: TcpStream,
    since: Instant,
    request: Vec<u8>,
    /// What is to go yet; something only once the request is whole.
    answer: Vec<u8>,
}

struct Desk {
    listener: TcpListener,
    is_local: bool,
    render: Render,
    /// In the order in which they came.
    clients: Vec<Client>,
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk")
            .field("listener", &self.listener)
            .finish_non_exhaustive()
    }
}

impl Desk {
    fn run(&mut self) {
        loop {
            let now = Instant::now();
            self.clients.retain(|client| now - client.since < PATIENCE);
            let mut readable = vec![self.listener.as_raw_fd()];
            let mut writable = Vec::new();
            for client in &self.clients {
                let to = if client.answer.is_empty() {
                    &mut readable
                } else {
                    &mut writable
                };
                to.push(client.stream.as_raw_fd());
            }
            let patience = PATIENCE.as_nanos() as i64;
            let first = self.clients.first();
            let wait = first.map(|client| patience - (now - client.since).as_nanos() as i64);
            if wait_both(&readable, &writable, wait, &mut Vec::new()).is_err() {
                std::thread::sleep(RESTING);
            }
            self.accept();
            let mut clients = std::mem::take(&mut self.clients);
            clients.retain_mut(|client| self.serve(client).unwrap_or(false));
            self.clients = clients;
        }
    }

    fn accept(&mut self) {
        loop {
            // Out of descriptors, say: the listener is ready all the time.
            match accept::tcp(&self.listener) {
                Ok(Accepted::Connection((stream, _))) => {
                    if stream.set_nonblocking(true).is_err() {
                        continue;
                    }
                    if self.clients.len() >= MOST_CLIENTS {
                        self.clients.remove(0);
                    }
                    self.clients.push(Client {
                        stream,
                        since: Instant::now(),
                        request: Vec::new(),
                        answer: Vec::new(),
                    });
                }
                Ok(Accepted::Nobody) => return,
                Ok(Accepted::Exhausted(_)) | Err(_) => return std::thread::sleep(RESTING),
            }
        }
    }

    /// Reads and writes what can be; whether the client stays. One that went away is no matter.
    fn serve(&self, client: &mut Client) -> io::Result<bool> {
        let mut part = [0; 512];
        while client.answer.is_empty() {
            let is_whole = client.request.windows(4).any(|end| end == b"\r\n\r\n");
            if is_whole || client.request.len() >= REQUEST_BYTES {
                client.answer = answer(&client.request, &self.render, self.is_local);
                break;
            }
            match client.stream.read(&mut part) {
                Ok(0) => return Ok(false),
                Ok(count) => client.request.extend_from_slice(&part[..count]),
                Err(why) if why.kind() == ErrorKind::WouldBlock => return Ok(true),
                Err(why) if why.kind() == ErrorKind::Interrupted => {}
                Err(why) => return Err(why),
            }
        }
        while !client.answer.is_empty() {
            match client.stream.write(&client.answer) {
                Ok(count) => drop(client.answer.drain(..count)),
                Err(why) if why.kind() == ErrorKind::WouldBlock => return Ok(true),
                Err(why) if why.kind() == ErrorKind::Interrupted => {}
                Err(why) => return Err(why),
            }
        }
        Ok(false)
    }
}

/// Whether a request names this machine by an address or as `localhost`, or by nothing.
fn names_this_machine(request: &str) -> bool {
    let fields = request
        .lines()
        .skip(1)
        .filter_map(|line| line.split_once(':'));
    let mut hosts = fields.filter(|(name, _)| name.eq_ignore_ascii_case("host"));
    hosts.all(|(_, host)| {
        let host = host.trim();
        let name = match host.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or(""),
            None => host.split(':').next().unwrap_or(""),
        };
        name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok()
    })
}

/// Whether the names of all fields are words with the colon right behind them (RFC 9112 5.1). Of
/// another a check would not know that it is there.
fn has_names(request: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let mut fields = request.lines().skip(1).take_while(|line| !line.is_empty());
    fields.all(|line| {
        let name = line.split_once(':').map_or("", |(name, _)| name);
        !name.is_empty() && name.bytes().all(is_word)
    })
}

/// The weight of a media type with its parameters (RFC 9110 12.4.2); 1 where none is said, 0 where
/// it is no number.
fn weight<'a>(mut parameters: impl Iterator<Item = &'a str>) -> f64 {
    let said = parameters.find_map(|one| {
        let (name, value) = one.split_once('=')?;
        name.trim()
            .eq_ignore_ascii_case("q")
            .then_some(value.trim())
    });
    said.map_or(1.0, |value| value.parse().unwrap_or(0.0))
}

/// Whether a request asks for OpenMetrics: a weight of 0 refuses it.
fn asks_for_open_metrics(request: &str) -> bool {
    let lines = request.lines().skip(1);
    let fields = lines.filter_map(|line| line.split_once(':'));
    let accepted = fields.filter(|(name, _)| name.eq_ignore_ascii_case("accept"));
    let mut kinds = accepted.flat_map(|(_, value)| value.split(','));
    kinds.any(|kind| {
        let mut words = kind.split(';');
        let name = words.next().unwrap_or("").trim();
        name.eq_ignore_ascii_case("application/openmetrics-text") && weight(words) > 0.0
    })
}

/// The answer to a request.
fn answer(request: &[u8], render: &Render, is_local: bool) -> Vec<u8> {
    let request = String::from_utf8_lossy(request);
    let mut words = request.split(' ');
    let (method, path) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let path = path.split('?').next().unwrap_or("");
    let plain = "text/plain; charset=utf-8";
    let (status, kind, body) = match (method, path) {
        _ if !has_names(&request) => (
            "400 Bad Request",
            plain,
            "the name of a field is a word with a colon behind it\n".to_owned(),
        ),
        _ if is_local && !names_this_machine(&request) => (
            "403 Forbidden",
            plain,
            "ask by an address, or as localhost\n".to_owned(),
        ),
        ("GET" | "HEAD", "/metrics" | "/") if asks_for_open_metrics(&request) => {
            ("200 OK", OPEN_METRICS, render())
        }
        ("GET" | "HEAD", "/metrics" | "/") => ("200 OK", CLASSIC, classic(&render())),
        ("GET" | "HEAD", _) => (
            "404 Not Found",
            plain,
            "the counters are at /metrics\n".to_owned(),
        ),
        _ => (
            "405 Method Not Allowed",
            plain,
            "counters are only read\n".to_owned(),
        ),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: \
         close\r\n\r\n",
        body.len()
    );
    let body = if method == "HEAD" {
        String::new()
    } else {
        body
    };
    format!("{head}{body}").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(metrics: Server, request: &str) -> String {
        let mut client = TcpStream::connect(metrics.address()).expect("the other end listens");
        client
            .write_all(request.as_bytes())
            .expect("the other end reads");
        let mut answer = String::new();
        client.read_to_string(&mut answer).expect("it answers");
        answer
    }

    fn served() -> (Server, Latest) {
        let page = Latest::default();
        let taken = page.clone();
        let server = Server::start(([127, 0, 0, 1], 0).into(), move || taken.get());
        (server.expect("a port is free"), page)
    }

    #[test]
    fn who_asks_for_open_metrics_gets_it() {
        let (metrics, page) = served();
        page.set("# TYPE a counter\n# HELP a A.\na_total 1\n# EOF\n".to_owned());
        let asked = "GET /metrics HTTP/1.1\r\nAccept: \
                     application/openmetrics-text;version=1.0.0;q=0.8,*/*;q=0.1\r\n\r\n";
        let got = get(metrics, asked);
        assert!(
            got.contains(OPEN_METRICS) && got.ends_with("# EOF\n"),
            "{got}"
        );
        let got = get(metrics, "GET /metrics HTTP/1.1\r\n\r\n");
        assert!(
            got.contains(CLASSIC) && got.ends_with("\na_total 1\n"),
            "{got}"
        );
        assert!(got.contains("# TYPE a_total counter"), "{got}");
    }

    #[test]
    fn a_weight_of_zero_refuses_open_metrics() {
        let asks = |accept: &str| {
            asks_for_open_metrics(&format!("GET / HTTP/1.1\r\nAccept: {accept}\r\n\r\n"))
        };
        for accept in [
            "application/openmetrics-text",
            "text/plain, application/openmetrics-text; version=1.0.0; q=0.5",
            "Application/OpenMetrics-Text;Q=1",
            "application/openmetrics-text;q=0.001",
        ] {
            assert!(asks(accept), "{accept}");
        }
        for accept in [
            "",
            "*/*",
            "application/openmetrics-text;q=0, text/plain",
            "application/openmetrics-text; version=1.0.0; q=0.000",
            "application/openmetrics-text;q=x",
            "application/openmetrics-texts",
            "text/plain;of=application/openmetrics-text",
        ] {
            assert!(!asks(accept), "{accept}");
        }
    }

    #[test]
    fn a_field_without_a_right_name_is_refused() {
        let (metrics, page) = served();
        page.set("packets 1\n".to_owned());
        for field in ["host : evil.example", " host: evil.example", "host", ": x"] {
            let got = get(metrics, &format!("GET / HTTP/1.1\r\n{field}\r\n\r\n"));
            assert!(got.starts_with("HTTP/1.1 400 "), "{field}: {got}");
        }
    }

    #[test]
    fn gives_the_latest_text_and_nothing_else() {
        let (metrics, page) = served();
        page.set("packets 1\n".to_owned());
        assert!(get(metrics, "GET /metrics HTTP/1.1\r\n\r\n").ends_with("\r\n\r\npackets 1\n"));
        page.set("packets 2\n".to_owned());
        let local = "GET / HTTP/1.1\r\nHost: localhost:9100\r\n\r\n";
        assert!(get(metrics, local).contains("packets 2"));
        let other = "GET / HTTP/1.1\r\nHost: page.example:9100\r\n\r\n";
        assert!(get(metrics, other).starts_with("HTTP/1.1 403"));
        assert!(get(metrics, "GET /etc HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404"));
        assert!(get(metrics, "POST / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405"));
    }

    #[test]
    fn silent_clients_keep_nobody_waiting() {
        let (metrics, page) = served();
        page.set("packets 1\n".to_owned());
        let address = metrics.address();
        let connect = |_| TcpStream::connect(address).expect("the other end listens");
        let silent: Vec<TcpStream> = (0..MOST_CLIENTS + 20).map(connect).collect();
        let before = Instant::now();
        assert!(get(metrics, "GET /metrics HTTP/1.1\r\n\r\n").contains("packets 1"));
        assert!(
            before.elapsed() < PATIENCE,
            "the silent ones were waited for"
        );
        drop(silent);
    }
}
