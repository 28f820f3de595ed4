//! A report that fills itself while its run goes on: a page on this machine's loopback address, for
//! the user's own browser.
//!
//! The page is the report of what is done so far, and asks every second whether there is more. It
//! is read-only. Who may ask: programs that know the token in its address, which is printed and
//! nowhere else, by a name of this machine (`trammel_local_http`). With the run the page ends: a
//! browser that looks at it has the whole report, which needs nobody any more.

pub mod filling;
mod site;

use crate::{Block, Note, NoteKind, Report, Section};
use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use trammel_local_http::gate::{Gate, Names};
use trammel_local_http::request::Request;
use trammel_local_http::server::Server;
use trammel_local_http::token;

/// The least time between two pages.
const LEAST_PAUSE: Duration = Duration::from_millis(500);
/// The part of the time that pages may take: one in so many.
const SHARE: u32 = 20;
/// Who has asked within this time looks at the page.
const LOOKS: Duration = Duration::from_secs(5);
/// How long a browser that looks at the page has to take the last one.
const LAST_PAGE: Duration = Duration::from_secs(4);

/// What the server shows.
#[derive(Debug, Default)]
struct Shown {
    /// Counts pages.
    version: u64,
    page: Arc<str>,
    has_ended: bool,
    /// When somebody asked last.
    asked: Option<Instant>,
    /// The version that was taken last.
    taken: u64,
}

/// When the last page was made, and how long that took.
#[derive(Debug)]
struct Pace {
    made: Instant,
    took: Duration,
}

/// A page that is being filled. It ends with its last owner.
#[derive(Debug)]
pub struct Live {
    shown: Arc<Mutex<Shown>>,
    pace: Mutex<Pace>,
    server: Server,
    token: String,
}

fn locked<T>(one: &Mutex<T>) -> MutexGuard<'_, T> {
    one.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Live {
    /// Begins to offer the page of a run that is called `title`, at any free port.
    ///
    /// # Errors
    /// The machine gives no port, no thread or no random numbers.
    pub fn begin(title: &str) -> io::Result<Live> {
        let shown: Arc<Mutex<Shown>> = Arc::default();
        let token = token::draw()?;
        show(&shown, &waiting(title));
        let route = {
            let (shown, token) = (Arc::clone(&shown), token.clone());
            move |request: &Request| site::route(request, &shown, &token)
        };
        let gate = |address| Gate::new(address, Names::Addresses);
        Ok(Live {
            shown,
            pace: Mutex::new(Pace {
                made: Instant::now(),
                took: Duration::ZERO,
            }),
            server: Server::start((Ipv4Addr::LOCALHOST, 0).into(), gate, route)?,
            token,
        })
    }

    /// Where the page is.
    pub fn url(&self) -> String {
        format!("http://{}/{}/", self.server.address(), self.token)
    }

    /// Whether it is time for another page: not often, and not much of the time. Who hears that it
    /// is makes the page; nobody else does meanwhile.
    pub fn is_due(&self) -> bool {
        let mut pace = locked(&self.pace);
        let is_due = pace.made.elapsed() > LEAST_PAUSE.max(pace.took * SHARE);
        if is_due {
            pace.made = Instant::now();
        }
        is_due
    }

    /// Shows `report` of what is done so far.
    pub fn refill(&self, report: &Report) {
        show(&self.shown, report);
        let mut pace = locked(&self.pace);
        // Since it was due: what the report was made from took its time too.
        pace.took = pace.made.elapsed();
        pace.made = Instant::now();
    }

    /// Shows the whole report, and gives a browser that looks at the page the time to take it.
    pub(crate) fn end(&self, report: &Report) {
        show(&self.shown, report);
        let last = {
            let mut shown = locked(&self.shown);
            shown.has_ended = true;
            shown.version
        };
        let until = Instant::now() + LAST_PAGE;
        let is_waited_for = || {
            let shown = locked(&self.shown);
            let looks = shown.asked.is_some_and(|asked| asked.elapsed() < LOOKS);
            looks && shown.taken < last
        };
        while is_waited_for() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Has `report` be the page from now on.
fn show(shown: &Mutex<Shown>, report: &Report) {
    let page = report.to_live_html().into();
    let mut shown = locked(shown);
    shown.version += 1;
    shown.page = page;
}

impl Drop for Live {
    fn drop(&mut self) {
        self.server.end();
    }
}

/// The page before the first run is done.
fn waiting(title: &str) -> Report {
    let text = "No run is finished yet. The page fills itself as runs finish.".to_owned();
    let kind = NoteKind::Info;
    Report {
        title: title.to_owned(),
        sections: vec![Section {
            heading: "Results".to_owned(),
            blocks: vec![Block::Note(Note { kind, text })],
            ..Section::default()
        }],
        ..Report::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use trammel_local_http::desk::MOST_CONNECTIONS;

    fn ask(live: &Live, request: &str) -> String {
        let mut stream = TcpStream::connect(live.server.address()).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn get(live: &Live, path: &str) -> String {
        ask(
            live,
            &format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        )
    }

    fn titled(title: &str) -> Report {
        Report {
            title: title.to_owned(),
            ..Report::default()
        }
    }

    #[test]
    fn the_page_is_filled_and_ends() {
        let live = Live::begin("rates & windows").unwrap();
        let root = format!("/{}/", live.token);
        let state = format!("{root}state");
        let body = |answer: String| answer.split("\r\n\r\n").nth(1).unwrap().to_owned();
        assert!(get(&live, &root).contains("<h1>rates &amp; windows</h1>"));
        assert_eq!(body(get(&live, &state)), "1 running");
        live.refill(&titled("half"));
        assert_eq!(body(get(&live, &state)), "2 running");
        let looking = std::thread::scope(|scope| {
            let looker = scope.spawn(|| {
                while body(get(&live, &state)) != "3 ended" {}
                get(&live, &root)
            });
            live.end(&titled("whole"));
            looker.join().unwrap()
        });
        assert!(looking.contains("<h1>whole</h1>"));
        let address = live.server.address();
        drop(live);
        let mut tries = (0..200).map(|_| {
            std::thread::sleep(Duration::from_millis(5));
            TcpStream::connect(address)
        });
        assert!(tries.any(|tried| tried.is_err()), "nobody listens any more");
    }

    #[test]
    fn who_does_not_know_the_token_learns_nothing() {
        let live = Live::begin("t").unwrap();
        for path in ["/", "/state", "/0123456789abcdef0123456789abcdef/", "//"] {
            assert!(get(&live, path).starts_with("HTTP/1.1 404 "), "{path}");
        }
        let path = format!("/{}/", live.token);
        let rebound = format!("GET {path} HTTP/1.1\r\nHost: rebound.example\r\n\r\n");
        assert!(ask(&live, &rebound).starts_with("HTTP/1.1 403 "));
        let edit = format!("POST {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert!(ask(&live, &edit).starts_with("HTTP/1.1 405 "));
        let head = format!("HEAD {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        let answer = ask(&live, &head);
        assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("\r\n\r\n"));
    }

    #[test]
    fn silent_connections_keep_nobody_out() {
        let live = Live::begin("t").unwrap();
        let path = format!("/{}/state", live.token);
        let mut half_open: Vec<TcpStream> = Vec::new();
        for _ in 0..MOST_CONNECTIONS * 5 {
            let mut one = TcpStream::connect(live.server.address()).unwrap();
            // One that was closed meanwhile takes nothing.
            let _ = one.write_all(b"GET /m");
            half_open.push(one);
        }
        assert!(get(&live, &path).starts_with("HTTP/1.1 200 "));
        drop(half_open);
        live.end(&titled("t"));
    }

    #[test]
    fn pages_take_a_small_part_of_the_time() {
        let live = Live::begin("t").unwrap();
        assert!(!live.is_due());
        let made_before = || {
            let before = Instant::now().checked_sub(LEAST_PAUSE * 2);
            locked(&live.pace).made = before.unwrap();
        };
        made_before();
        assert!(live.is_due() && !live.is_due(), "one makes it");
        made_before();
        locked(&live.pace).took = LEAST_PAUSE;
        assert!(!live.is_due(), "a page that takes long comes seldom");
    }
}
