//! The listener of a live page: a thread for each connection, few of them, each with one answer.

use super::request::{self, LONGEST, Request};
use super::{Shown, locked};
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Connections at once; the one that came first makes room for one more. A browser holds some open
/// without a word.
pub(super) const MOST_CONNECTIONS: usize = 16;
/// How long a request may take to come, and an answer to go.
const PATIENCE: Duration = Duration::from_secs(2);

/// What every answer says: it is of this page, for this page, and not to be kept.
const HEADERS: &str = "Content-Security-Policy: frame-ancestors 'none'\r\n\
    X-Content-Type-Options: nosniff\r\n\
    X-Frame-Options: DENY\r\n\
    Referrer-Policy: no-referrer\r\n\
    Cross-Origin-Opener-Policy: same-origin\r\n\
    Cross-Origin-Resource-Policy: same-origin\r\n\
    Cache-Control: no-store\r\n\
    Connection: close\r\n\r\n";

/// Answers connections in a thread of its own, until the page is gone.
pub(super) fn begin(
    listener: TcpListener,
    shown: Arc<Mutex<Shown>>,
    token: String,
) -> io::Result<()> {
    let open = Arc::default();
    let accept = move || {
        for stream in listener.incoming() {
            if locked(&shown).is_gone {
                return;
            }
            let Ok(stream) = stream else { continue };
            let Ok(guard) = Open::of(&open, &stream) else {
                continue;
            };
            let (shown, token) = (Arc::clone(&shown), token.clone());
            let answer = move || {
                // Who goes away is not told of.
                let _ = serve(stream, &shown, &token);
                drop(guard);
            };
            // Without a thread the connection is closed.
            let _ = thread::Builder::new().spawn(answer);
        }
    };
    thread::Builder::new()
        .name("live page".to_owned())
        .spawn(accept)?;
    Ok(())
}

/// Wakes the listener at `address`, so that it sees that its page is gone.
pub(super) fn wake(address: SocketAddr) {
    let _ = TcpStream::connect_timeout(&address, PATIENCE);
}

/// The connections that are open, in the order in which they came.
type AllOpen = Arc<Mutex<VecDeque<Arc<TcpStream>>>>;

/// A connection that is open.
struct Open {
    all: AllOpen,
    one: Arc<TcpStream>,
}

impl Open {
    /// Adds `stream` to `all`; where those are too many the first is closed, which ends its thread.
    fn of(all: &AllOpen, stream: &TcpStream) -> io::Result<Open> {
        let one = Arc::new(stream.try_clone()?);
        let mut open = locked(all);
        if open.len() >= MOST_CONNECTIONS
            && let Some(first) = open.pop_front()
        {
            // It may be gone already.
            let _ = first.shutdown(Shutdown::Both);
        }
        open.push_back(Arc::clone(&one));
        Ok(Open {
            all: Arc::clone(all),
            one,
        })
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        locked(&self.all).retain(|one| !Arc::ptr_eq(one, &self.one));
    }
}

fn serve(mut stream: TcpStream, shown: &Mutex<Shown>, token: &str) -> io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    let until = Instant::now() + PATIENCE;
    let (mut bytes, mut part) = (Vec::new(), [0; 1024]);
    loop {
        let answer = match request::parse(&bytes) {
            Ok(Some(request)) => Some(route(&request, shown, token)),
            Ok(None) => None,
            Err(status) => Some(written(status, "text/plain", status)),
        };
        if let Some(mut answer) = answer {
            if bytes.starts_with(b"HEAD ") {
                let end = answer.windows(4).position(|four| four == b"\r\n\r\n");
                answer.truncate(end.map_or(answer.len(), |end| end + 4));
            }
            return stream.write_all(&answer);
        }
        let left = until.saturating_duration_since(Instant::now());
        stream.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
        let n = stream.read(&mut part)?;
        if n == 0 || left.is_zero() {
            return Ok(());
        }
        bytes.extend_from_slice(&part[..n]);
        bytes.truncate(LONGEST);
    }
}

fn route(request: &Request<'_>, shown: &Mutex<Shown>, token: &str) -> Vec<u8> {
    let inside = request
        .path
        .strip_prefix('/')
        .and_then(|path| path.split_once('/'));
    let Some((given, what)) = inside.filter(|(given, _)| is_equal(given, token)) else {
        return written("404 Not Found", "text/plain", "there is nothing here");
    };
    debug_assert_eq!(given.len(), token.len());
    let mut shown = locked(shown);
    shown.asked = Some(Instant::now());
    match what {
        "" => {
            if !request.is_head {
                shown.taken = shown.version;
            }
            let page = Arc::clone(&shown.page);
            drop(shown);
            written("200 OK", "text/html", &page)
        }
        "state" => {
            let word = if shown.has_ended { "ended" } else { "running" };
            written("200 OK", "text/plain", &format!("{} {word}", shown.version))
        }
        _ => written("404 Not Found", "text/plain", "there is nothing here"),
    }
}

/// Whether two words are equal, in a time that depends on their lengths only.
fn is_equal(one: &str, other: &str) -> bool {
    let pairs = one.bytes().zip(other.bytes());
    let differences = pairs.fold(0, |all, (a, b)| std::hint::black_box(all | (a ^ b)));
    one.len() == other.len() && differences == 0
}

fn written(status: &str, media: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    // RFC 9110 §15.5.6: an answer of 405 says what is allowed.
    let allow = if status.starts_with("405") {
        "Allow: GET, HEAD\r\n"
    } else {
        ""
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {media}; charset=utf-8\r\nContent-Length: \
         {length}\r\n{allow}{HEADERS}"
    );
    (head + body).into_bytes()
}
