//! Web pages over HTTP/1.1: a document, and in two waves the objects that it and its scripts name,
//! over several connections at once.
//!
//! # What it does
//! The user opens a page, waits until it is loaded, reads for a while and opens the next. A page is
//! a document over one connection; then half of its objects, which the document names; when all of
//! these are there, the other half, which scripts and style sheets name. As many connections as are
//! needed load them, at most `connections`, each one object at a time. Every page has connections
//! of its own, as from a server that the user has not seen before, and each begins with the
//! handshake of TLS 1.3: 517 bytes there and 4000 back, then the first request (*assumed* sizes). A
//! request has 500 bytes (*assumed*). Sizes are log-normal around their mean with a σ of 1.5
//! (*assumed*), no less than 100 bytes. Names are known: DNS is not asked. `time` is from opening a
//! page to the last byte of its last object; how long servers and the browser compute is not
//! counted.
//!
//! # Example
//! ```toml
//! duration = "30 s"
//! [path]
//! rate = "20 Mbit/s"
//! rtt = "40 ms"
//! [[app]]
//! kind = "web"
//! objects = 40
//! ```
//!
//! # Parameters
//! `document`, `objects`, `object`: sizes, and how many; the defaults are of the size of a median
//! page of the HTTP Archive's, 70 requests for 2.4 MB (*published*, rounded). `connections`: six,
//! as browsers open to a host (*observed*). `think`: mean of the exponential time from one page to
//! the next (*assumed*). `tls`.
//!
//! # References
//! RFC 9112, "HTTP/1.1", §9.4; RFC 8446, "TLS 1.3"; HTTP Archive, "State of the Web", 2024.

use super::shared::exchange::Exchange;
use super::{App, Carrier, Entry, Event, Io, Party, within};
use std::f64::consts::TAU;
use trammel_core::entry::{About, Kind, Param, Params};
use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};

const REQUEST: u64 = 500;
/// The client's and the server's part of a handshake.
const HELLO: [u64; 2] = [517, 4000];
const SIGMA: f64 = 1.5;
const LEAST: f64 = 100.0;
/// No object is larger: a page is no download.
const MOST: f64 = 50e6;

/// Web pages in the table of applications.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "web",
        aliases: &["http"],
        summary: "web pages over several connections: load times",
        references: &[
            "RFC 9112",
            "RFC 8446",
            "HTTP Archive, State of the Web, 2024",
        ],
        params: &[
            Param {
                name: "document",
                kind: Kind::Bytes,
                default: "30 kB",
                unit: "bytes",
                help: "mean size of the document",
            },
            Param {
                name: "objects",
                kind: Kind::Int(0, 10_000),
                default: "70",
                unit: "",
                help: "objects of a page beside the document",
            },
            Param {
                name: "object",
                kind: Kind::Bytes,
                default: "34 kB",
                unit: "bytes",
                help: "mean size of an object",
            },
            Param {
                name: "connections",
                kind: Kind::Int(1, 64),
                default: "6",
                unit: "",
                help: "connections at once",
            },
            Param {
                name: "think",
                kind: Kind::Time,
                default: "5 s",
                unit: "s",
                help: "mean time from a page that is loaded to the next",
            },
            Param {
                name: "tls",
                kind: Kind::Bool,
                default: "true",
                unit: "",
                help: "each connection begins with the handshake of TLS 1.3",
            },
        ],
    },
    carrier: Carrier::Tcp,
    connections: |params| params.int("connections") as u64,
    // A page takes a millisecond at least.
    pace: |params| {
        let page = params.time("think").as_secs_f64() + 1e-3;
        2.0 * (params.int("objects") + 1) as f64 / page
    },
    build: |params| Ok(Box::new(Web::new(params)?)),
};

/// What a connection of a page does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    Nothing,
    Shaking,
    Loading,
}

#[derive(Debug)]
struct Conn {
    exchange: Exchange,
    doing: Doing,
    /// The object that is loaded, or that waits for the handshake.
    object: u64,
}

#[derive(Debug)]
struct Web {
    document: f64,
    object: f64,
    objects: usize,
    most: usize,
    think: Span,
    tls: bool,
    /// When the page that is being loaded was opened.
    page: Option<Time>,
    /// Objects of this wave that no connection has begun to load.
    wave: Vec<u64>,
    /// Objects of the waves behind it, and whether the first of the two is among them.
    later: [usize; 2],
    loading: usize,
    conns: Vec<Conn>,
}

impl Web {
    fn new(params: &Params) -> Result<Web, String> {
        let mean = |name: &str| {
            let bytes = params.bytes(name) as f64;
            within(name, bytes, (1.0, MOST), "bytes").map(|()| bytes)
        };
        let think = params.time("think");
        Ok(Web {
            document: mean("document")?,
            object: mean("object")?,
            objects: params.int("objects") as usize,
            most: params.int("connections") as usize,
            think,
            tls: params.bool("tls"),
            page: None,
            wave: Vec::new(),
            later: [0; 2],
            loading: 0,
            conns: Vec::new(),
        })
    }

    fn open_page(&mut self, io: &mut Io<'_>) {
        if io.now >= io.stop {
            return;
        }
        io.got.begun += u64::from(io.counts());
        self.page = Some(io.now);
        let document = size(self.document, io.rng);
        self.wave.push(document);
        let first = self.objects.div_ceil(2);
        self.later = [first, self.objects - first];
        self.load(io);
    }

    /// Gives free connections, and new ones where there may be more, what is to be loaded.
    fn load(&mut self, io: &mut Io<'_>) {
        while !self.wave.is_empty() {
            let free = self
                .conns
                .iter()
                .position(|conn| conn.doing == Doing::Nothing);
            let at = match free {
                Some(at) => at,
                None if self.conns.len() < self.most => {
                    let at = self.conns.len();
                    self.conns.push(Conn {
                        exchange: Exchange::default(),
                        doing: Doing::Nothing,
                        object: 0,
                    });
                    io.open(at as u32);
                    if self.tls {
                        self.conns[at].exchange.ask(at as u32, HELLO, io);
                        self.conns[at].doing = Doing::Shaking;
                    }
                    at
                }
                None => return,
            };
            let conn = &mut self.conns[at];
            conn.object = self.wave.pop().expect("there is one");
            self.loading += 1;
            if conn.doing == Doing::Nothing {
                conn.exchange.ask(at as u32, [REQUEST, conn.object], io);
                conn.doing = Doing::Loading;
            }
        }
    }

    /// A response has come on connection `at`.
    fn take(&mut self, at: usize, io: &mut Io<'_>) {
        let conn = &mut self.conns[at];
        if conn.doing == Doing::Shaking {
            conn.exchange.ask(at as u32, [REQUEST, conn.object], io);
            conn.doing = Doing::Loading;
            return;
        }
        conn.doing = Doing::Nothing;
        self.loading -= 1;
        if self.loading == 0 && self.wave.is_empty() {
            let next = self.later.iter_mut().find(|objects| **objects > 0);
            let Some(objects) = next.map(std::mem::take) else {
                return self.end_page(io);
            };
            let object = self.object;
            self.wave.extend((0..objects).map(|_| size(object, io.rng)));
        }
        self.load(io);
    }

    fn end_page(&mut self, io: &mut Io<'_>) {
        let Some(began) = self.page.take() else {
            return;
        };
        if began >= io.since {
            io.got.done += 1;
            io.got.time(io.now.saturating_since(began));
        }
        self.close(io);
        let think = io.exponential(self.think);
        io.wake(io.now.saturating_add(think).min(io.stop.max(io.now)));
    }

    fn close(&mut self, io: &mut Io<'_>) {
        for at in 0..self.conns.len() {
            io.close(at as u32);
        }
        self.conns.clear();
    }
}

/// A log-normal size of this mean.
fn size(mean: f64, rng: &mut Rng) -> u64 {
    // Box and Muller: one of the two is enough.
    let (a, b) = (1.0 - rng.unit(), rng.unit());
    let normal = (-2.0 * a.ln()).sqrt() * (TAU * b).cos();
    let size = mean * (SIGMA * normal - SIGMA * SIGMA / 2.0).exp();
    size.clamp(LEAST, MOST).round() as u64
}

impl App for Web {
    fn start(&mut self, io: &mut Io<'_>) {
        self.open_page(io);
    }

    fn on(&mut self, event: Event, io: &mut Io<'_>) {
        match event {
            Event::Delivered { conn, to, bytes } => {
                let at = conn as usize;
                let Some(one) = self.conns.get_mut(at) else {
                    return;
                };
                let complete = one.exchange.on(conn, to, bytes, io);
                if to == Party::User && complete > 0 {
                    self.take(at, io);
                }
            }
            Event::Failed { conn } => {
                // The browser tries the object again on a connection of its own.
                let Some(one) = self.conns.get_mut(conn as usize) else {
                    return;
                };
                one.exchange = Exchange::default();
                io.open(conn);
                if one.doing != Doing::Nothing {
                    one.doing = Doing::Loading;
                    one.exchange.ask(conn, [REQUEST, one.object], io);
                }
            }
            Event::Timer if self.page.is_none() => self.open_page(io),
            Event::Timer | Event::Datagram { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_their_mean() {
        let mut rng = Rng::new(7, "sizes");
        let count = 400_000;
        let sum: u64 = (0..count).map(|_| size(34_000.0, &mut rng)).sum();
        let mean = sum as f64 / f64::from(count);
        // The standard deviation of one is 2.9 means: five of the sum's are 2.3 %.
        assert!((mean / 34_000.0 - 1.0).abs() < 0.025, "{mean}");
    }
}
