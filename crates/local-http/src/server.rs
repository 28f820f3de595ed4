//! A [`Desk`] with a thread of its own: questions are answered while the program does its work.

use crate::desk::Desk;
use crate::gate::Gate;
use crate::request::{Limits, Request};
use crate::response::Response;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long the thread rests where the system has no room for connections.
const RESTING: Duration = Duration::from_millis(100);
/// How long [`Server::end`] tries to wake the thread.
const KNOCKING: Duration = Duration::from_secs(1);

/// A server. It serves until it is told to end or the process does.
#[derive(Clone, Debug)]
pub struct Server {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
}

impl Server {
    /// Listens at `address`, and answers questions that the gate that `gate` makes of the
    /// listener's address lets pass with what `route` makes of them.
    ///
    /// # Errors
    /// Where the address cannot be listened on, or there is no thread.
    pub fn start(
        address: SocketAddr,
        gate: impl FnOnce(SocketAddr) -> Gate,
        route: impl FnMut(&Request) -> Response + Send + 'static,
    ) -> io::Result<Server> {
        let desk = Desk::open(address)?;
        let address = desk.address();
        let gate = gate(address);
        let is_over = Arc::new(AtomicBool::new(false));
        let end = Arc::clone(&is_over);
        let serve = move || serve(desk, gate, route, &end);
        // The kernel keeps 15 letters of it.
        let thread = std::thread::Builder::new().name("local http".to_owned());
        thread.spawn(serve)?;
        Ok(Server { address, is_over })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends it soon; connections are closed.
    pub fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        // Whether it heard: it may have ended before.
        let _ = TcpStream::connect_timeout(&self.address, KNOCKING);
    }
}

fn serve(
    mut desk: Desk,
    gate: Gate,
    mut route: impl FnMut(&Request) -> Response,
    is_over: &AtomicBool,
) {
    let began = Instant::now();
    let mut answer = |input: &[u8]| {
        let answer = match Request::parse(input, Limits::default()) {
            Ok(None) => return None,
            Ok(Some(request)) => checked(gate, &request, &mut route),
            Err(refusal) => Response::refused(refusal),
        };
        Some(answer.bytes(input))
    };
    while !is_over.load(Ordering::Relaxed) {
        match desk.poll(began.elapsed(), &mut answer) {
            Ok(true) => {}
            Ok(false) => wait(&desk, began.elapsed()),
            Err(_) => std::thread::sleep(RESTING),
        }
    }
}

/// The answer to a whole request.
fn checked(
    gate: Gate,
    request: &Request,
    route: &mut impl FnMut(&Request) -> Response,
) -> Response {
    use crate::gate::Use;
    if let Err(refusal) = gate.check(request, Use::Data) {
        return Response::refused(refusal);
    }
    if !request.is_question() {
        let text = "nothing can be changed here: ask by GET";
        return Response::text("405 Method Not Allowed", text).allowing("GET, HEAD");
    }
    route(request)
}

/// Sleeps until there is something to do.
#[cfg(target_os = "linux")]
fn wait(desk: &Desk, now: Duration) {
    let (mut readable, mut writable) = (Vec::new(), Vec::new());
    desk.waits(&mut readable, &mut writable);
    let wait = desk.next_timeout().map(|until| until.saturating_sub(now));
    let wait = wait.map(|wait| wait.as_nanos() as i64);
    if trammel_io::clock::wait_both(&readable, &writable, wait, &mut Vec::new()).is_err() {
        std::thread::sleep(RESTING);
    }
}

/// Sleeps until there may be something to do: nothing here waits on descriptors of other systems.
#[cfg(not(target_os = "linux"))]
fn wait(_: &Desk, _: Duration) {
    std::thread::sleep(RESTING / 10);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::Names;
    use std::io::{Read, Write};

    fn begun() -> Server {
        let gate = |address| Gate::new(address, Names::Addresses);
        let route = |request: &Request| Response::text("200 OK", request.path);
        Server::start(([127, 0, 0, 1], 0).into(), gate, route).unwrap()
    }

    fn ask(server: &Server, request: &str) -> String {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn questions_are_answered_and_nothing_else() {
        let server = begun();
        let host = "Host: localhost\r\n";
        let right = ask(&server, &format!("GET /a?b HTTP/1.1\r\n{host}\r\n"));
        assert!(right.starts_with("HTTP/1.1 200 OK\r\n") && right.ends_with("\r\n\r\n/a\n"));
        let head = ask(&server, &format!("HEAD /a HTTP/1.0\r\n{host}\r\n"));
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.ends_with("\r\n\r\n"));
        for (line, fields, status) in [
            ("POST /", host, "405"),
            ("GET /", "Host: rebound.example\r\n", "403"),
            ("GET /", "", "403"),
            ("GET /", "Host: localhost\r\nOrigin: http://a\r\n", "403"),
            ("GET /", "Host: localhost\r\nContent-Length: 1\r\n", "413"),
            ("get /", host, "400"),
        ] {
            let answer = ask(&server, &format!("{line} HTTP/1.1\r\n{fields}\r\n"));
            let begin = format!("HTTP/1.1 {status} ");
            assert!(answer.starts_with(&begin), "{line} {fields}: {answer}");
        }
        let post = ask(&server, &format!("POST / HTTP/1.1\r\n{host}\r\n"));
        assert!(post.contains("\r\nAllow: GET, HEAD\r\n"), "{post}");
    }

    #[test]
    fn it_ends_when_it_is_told_to() {
        let server = begun();
        server.end();
        let mut tries = (0..200).map(|_| {
            std::thread::sleep(Duration::from_millis(5));
            TcpStream::connect(server.address())
        });
        assert!(tries.any(|tried| tried.is_err()), "nobody listens any more");
    }
}
