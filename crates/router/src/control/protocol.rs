//! Requests from bytes, and replies to bytes. No sockets: bytes come and go by two buffers.
//!
//! A request is a line, some with data after it. Replies have a code, `200 text`, or `200-text`
//! where more lines follow. Everything that comes is bounded: who sends more than is allowed is
//! told so and cut off.
//!
//! A web page can have a browser send bytes to a port of this machine, in the body of an HTTP
//! request. A line that a browser sends and no client of this protocol does — a request line of
//! HTTP, its `Host:`, bytes of TLS — therefore ends the session before anything after it is looked
//! at.

/// The longest line, and the most data, of a request.
pub const MOST_BYTES: usize = 1 << 20;

/// What is said first.
pub const GREETING: &str = "Click::ControlSocket/1.3\r\n";

/// What `HELP` says.
const HELP: &[&str] = &[
    "Commands supported:",
    "READ handler [arg...]   call read handler, return DATA",
    "READDATA handler len    call read handler with len data bytes, return DATA",
    "READUNTIL handler term  call read handler, take data until term, return DATA",
    "WRITE handler [arg...]  call write handler",
    "WRITEDATA handler len   call write handler, pass len data bytes",
    "WRITEUNTIL handler term call write handler, take data until term",
    "CHECKREAD handler       check if read handler is valid",
    "CHECKWRITE handler      check if write handler is valid",
    "LLRPC elt#number [len]  call LLRPC, pass len data bytes, return DATA",
    "AUTH [proof]            ask for a nonce, or prove that you hold the key",
    "QUIT                    close connection",
];

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// A handler is to be read.
    Read(String, String),
    /// A handler is to be written.
    Write(String, String),
    /// Whether a handler is there, to be written or read.
    Check(String, bool),
    /// A call by number, `element#hexadecimal`, with its data.
    Llrpc(String, Vec<u8>),
    /// A nonce is asked for, or the key is proven.
    Auth(Option<String>),
}

/// What the number of an LLRPC says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Bytes that are sent with it.
    pub takes_bytes: usize,
    /// Its data are no pointers, so it may be called from afar.
    pub is_flat: bool,
}

impl Call {
    /// As Linux's ioctl numbers have it: direction in the upper bits, then size, then flags and
    /// number.
    pub fn of(number: u32) -> Call {
        let size = (number >> 16 & 0xfff) as usize;
        let is_written = number & 0x8000_0000 != 0;
        Call {
            takes_bytes: if is_written { size } else { 0 },
            is_flat: number & 0x4000 != 0,
        }
    }
}

/// One connection's bytes.
#[derive(Debug, Default)]
pub struct Session {
    /// What has come and is not dealt with.
    input: Vec<u8>,
    /// What is to go.
    pub output: Vec<u8>,
    /// Nothing more is read; it ends when all has gone.
    pub closing: bool,
    /// It ended since a browser spoke.
    pub is_web: bool,
    /// What the other end is to prove the key with, once it asked for it.
    pub nonce: Option<String>,
    /// It has proven that it holds the key.
    pub is_proven: bool,
}

/// How a request ends that cannot be answered yet.
enum Stop {
    /// More bytes are needed.
    More,
    /// It is wrong, and was told so.
    Wrong,
}

impl Session {
    /// A session that has greeted.
    pub fn new() -> Session {
        Session {
            output: GREETING.as_bytes().to_vec(),
            ..Session::default()
        }
    }

    /// Adds bytes that came.
    pub fn take(&mut self, bytes: &[u8]) {
        self.input.extend_from_slice(bytes);
    }

    /// Says `text` with `code`, and that more follows where it does.
    pub fn say(&mut self, code: u16, text: &str, more: bool) {
        let dash = if more { '-' } else { ' ' };
        // Names that came from the other end stand in replies: no byte of them steers a terminal.
        let plain = |c: char| if c.is_control() && c != '\t' { '?' } else { c };
        let text: String = text.chars().map(plain).collect();
        let line = format!("{code}{dash}{text}\r\n");
        self.output.extend_from_slice(line.as_bytes());
    }

    /// Says `text`, and beneath it what else there is.
    pub fn say_all(&mut self, code: u16, text: &str, lines: &[&str]) {
        match lines.split_last() {
            None => self.say(code, text, false),
            Some((last, lines)) => {
                self.say(code, &format!("{text}:"), true);
                for line in lines {
                    self.say(code, line, true);
                }
                self.say(code, last, false);
            }
        }
    }

    /// Gives data, after a reply.
    pub fn give(&mut self, data: &[u8]) {
        let head = format!("DATA {}\r\n", data.len());
        self.output.extend_from_slice(head.as_bytes());
        self.output.extend_from_slice(data);
    }

    /// The next request that has come whole; what is wrong is answered here. At the end of what
    /// will ever come, data that is missing is missed.
    pub fn next(&mut self, is_end: bool) -> Option<Request> {
        while !self.closing {
            let Some((line, after)) = line_at(&self.input, 0) else {
                if self.input.len() > MOST_BYTES {
                    self.too_big();
                }
                return None;
            };
            if is_of_browsers(&self.input[..line]) {
                self.say(400, "this is no web server", false);
                self.input.clear();
                (self.closing, self.is_web) = (true, true);
                return None;
            }
            let text = String::from_utf8_lossy(&self.input[..line]).into_owned();
            let mut used = after;
            let request = self.request(&text, &mut used);
            match request {
                Err(Stop::More) if is_end => {
                    self.say(500, "Not enough data", false);
                    self.input.clear();
                }
                Err(Stop::More) => {
                    if self.input.len() > after + MOST_BYTES {
                        self.too_big();
                    }
                    return None;
                }
                Err(Stop::Wrong) | Ok(None) => {
                    self.input.drain(..used.min(self.input.len()));
                }
                Ok(Some(request)) => {
                    self.input.drain(..used.min(self.input.len()));
                    return Some(request);
                }
            }
        }
        None
    }

    fn too_big(&mut self) {
        self.say(521, "Request too large", false);
        self.input.clear();
        self.closing = true;
    }

    fn wrong(&mut self, text: &str) -> Stop {
        self.say(500, text, false);
        Stop::Wrong
    }

    fn request(&mut self, line: &str, used: &mut usize) -> Result<Option<Request>, Stop> {
        let mut rest = line;
        let mut word = || {
            let text = rest.trim_start();
            let end = text.find(char::is_whitespace).unwrap_or(text.len());
            let (word, after) = text.split_at(end);
            rest = after;
            (!word.is_empty()).then(|| word.to_owned())
        };
        let Some(command) = word() else {
            return Ok(None);
        };
        let command = command.to_ascii_uppercase();
        let (handler, third) = (word(), word());
        let more = word().is_some();
        // What stands after the handler, as it was written.
        let tail = handler.as_ref().map_or("", |_| {
            let from = line.trim_start();
            let from = from[command.len()..].trim_start();
            let end = from.find(char::is_whitespace).unwrap_or(from.len());
            from[end..].trim()
        });
        const COUNT: &str = "Wrong number of arguments";
        Ok(Some(match command.as_str() {
            "READ" | "GET" | "WRITE" | "SET" => {
                let handler = handler.ok_or_else(|| self.wrong(COUNT))?;
                match command.as_str() {
                    "READ" | "GET" => Request::Read(handler, tail.to_owned()),
                    _ => Request::Write(handler, tail.to_owned()),
                }
            }
            "READDATA" | "WRITEDATA" | "SETDATA" => {
                let (Some(handler), Some(count), false) = (handler, third, more) else {
                    return Err(self.wrong(COUNT));
                };
                let data = self.data(&count, used, &command)?;
                if command == "READDATA" {
                    Request::Read(handler, data)
                } else {
                    Request::Write(handler, data)
                }
            }
            "READUNTIL" | "WRITEUNTIL" => {
                let handler = handler.ok_or_else(|| self.wrong(COUNT))?;
                let data = self.data_until(tail, used)?;
                if command == "READUNTIL" {
                    Request::Read(handler, data)
                } else {
                    Request::Write(handler, data)
                }
            }
            "CHECKREAD" | "CHECKWRITE" => match (handler, third) {
                (Some(handler), None) => Request::Check(handler, command == "CHECKWRITE"),
                _ => return Err(self.wrong(COUNT)),
            },
            "LLRPC" => {
                let (Some(name), false) = (handler, more) else {
                    return Err(self.wrong(COUNT));
                };
                let data = match third {
                    Some(count) => self.bytes(&count, used, "llrpc")?,
                    None => Vec::new(),
                };
                Request::Llrpc(name, data)
            }
            "AUTH" => match (handler, third) {
                (proof, None) => Request::Auth(proof),
                _ => return Err(self.wrong(COUNT)),
            },
            "CLOSE" | "QUIT" => {
                if handler.is_some() {
                    self.say(500, "Bad command syntax", false);
                }
                self.say(200, "Goodbye!", false);
                self.closing = true;
                return Ok(None);
            }
            "HELP" => {
                for (at, text) in HELP.iter().enumerate() {
                    self.say(200, text, at + 1 < HELP.len());
                }
                return Ok(None);
            }
            _ => {
                // A word may be as long as a line.
                let shown: String = command.chars().take(80).collect();
                self.say(501, &format!("Command '{shown}' unimplemented"), false);
                return Ok(None);
            }
        }))
    }

    /// `count` bytes after the line, as text.
    fn data(&mut self, count: &str, used: &mut usize, command: &str) -> Result<String, Stop> {
        let bytes = self.bytes(count, used, command)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// `count` bytes after the line.
    fn bytes(&mut self, count: &str, used: &mut usize, command: &str) -> Result<Vec<u8>, Stop> {
        let Ok(count) = count.parse::<usize>() else {
            return Err(self.wrong(&format!("Syntax error in '{command}'")));
        };
        if count > MOST_BYTES {
            self.too_big();
            return Err(Stop::Wrong);
        }
        let bytes = self.input.get(*used..*used + count).ok_or(Stop::More)?;
        *used += count;
        Ok(bytes.to_vec())
    }

    /// What comes before a line that is `until`.
    fn data_until(&mut self, until: &str, used: &mut usize) -> Result<String, Stop> {
        let from = *used;
        let mut at = from;
        loop {
            let (end, after) = line_at(&self.input, at).ok_or(Stop::More)?;
            if self.input[at..end].trim_ascii_end() == until.as_bytes() {
                let text = String::from_utf8_lossy(&self.input[from..at]).into_owned();
                *used = after;
                return Ok(text);
            }
            at = after;
        }
    }
}

/// Whether browsers send such a line and clients of this protocol do not: a request line of HTTP
/// (RFC 9112 §3), the field `Host` that each request has (§3.2), or a record of TLS (RFC 8446
/// §5.1).
fn is_of_browsers(line: &[u8]) -> bool {
    const METHODS: &[&str] = &[
        "POST", "PUT", "HEAD", "DELETE", "OPTIONS", "PATCH", "CONNECT", "TRACE", "PRI",
    ];
    if line
        .first()
        .is_some_and(|byte| (0x14..=0x18).contains(byte))
    {
        return true;
    }
    let text = String::from_utf8_lossy(line);
    let mut words = text.split_whitespace();
    let (Some(first), second) = (words.next(), words.next()) else {
        return false;
    };
    let is = |word: &str| first.eq_ignore_ascii_case(word);
    let is_path = second.is_some_and(|path| path.starts_with('/') || path.contains("://"));
    let speaks_http = words.last().is_some_and(|last| {
        last.get(..5)
            .is_some_and(|head| head.eq_ignore_ascii_case("HTTP/"))
    });
    METHODS.iter().any(|method| is(method))
        || is("GET") && is_path
        || speaks_http && second.is_some_and(|path| path == "*" || is_path)
        || first
            .get(..5)
            .is_some_and(|head| head.eq_ignore_ascii_case("host:"))
}

/// Where the line that begins at `from` ends, and where the next begins.
fn line_at(bytes: &[u8], from: usize) -> Option<(usize, usize)> {
    let rest = bytes.get(from..)?;
    let end = from + rest.iter().position(|b| matches!(b, b'\n' | b'\r'))?;
    let is_pair = bytes[end] == b'\r' && bytes.get(end + 1) == Some(&b'\n');
    Some((end, end + 1 + usize::from(is_pair)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(session: &mut Session) -> Vec<Request> {
        std::iter::from_fn(|| session.next(false)).collect()
    }

    #[test]
    fn requests_come_whole_however_they_are_cut() {
        let text = "read a.b 1  2\r\nWRITEDATA x.y 3\nq\n!get z\nwriteuntil u.v END\none\ntwo\n\
            END  \nquit\n";
        let wanted = [
            Request::Read("a.b".into(), "1  2".into()),
            Request::Write("x.y".into(), "q\n!".into()),
            Request::Read("z".into(), String::new()),
            Request::Write("u.v".into(), "one\ntwo\n".into()),
        ];
        for piece in [1, 2, 7, 1000] {
            let mut session = Session::new();
            let mut got = Vec::new();
            for bytes in text.as_bytes().chunks(piece) {
                session.take(bytes);
                got.extend(all(&mut session));
            }
            assert_eq!(got, wanted, "{piece}");
            assert!(session.closing);
        }
    }

    #[test]
    fn what_is_wrong_is_told_and_the_next_is_heard() {
        let mut session = Session::default();
        session.take(b"read\nfly x\nreaddata a x\ncheckread a b\nread ok\n");
        assert_eq!(
            all(&mut session),
            [Request::Read("ok".into(), String::new())]
        );
        assert_eq!(
            String::from_utf8_lossy(&session.output),
            "500 Wrong number of arguments\r\n501 Command 'FLY' unimplemented\r\n\
             500 Syntax error in 'READDATA'\r\n500 Wrong number of arguments\r\n"
        );
    }

    #[test]
    fn what_a_browser_sends_is_not_carried_out() {
        let body = "\r\n\r\nwrite x.write_file /tmp/a\r\n";
        for head in [
            "POST / HTTP/1.1\r\nHost: 127.0.0.1:7777",
            "GET / HTTP/1.1",
            "GET /hotconfig?a HTTP/1.1",
            "GET http://127.0.0.1:7777/ HTTP/1.1",
            "options * HTTP/1.1",
            "PUT /x HTTP/1.1",
            "FROB /x HTTP/1.1",
            "PRI * HTTP/2.0",
            "host: 127.0.0.1",
            "\u{16}\u{3}\u{1}\u{2}",
            "FLY\r\nHOST: a",
        ] {
            for piece in [1, 1000] {
                let mut session = Session::default();
                let mut got = Vec::new();
                for bytes in format!("{head}{body}").as_bytes().chunks(piece) {
                    session.take(bytes);
                    got.extend(all(&mut session));
                }
                assert_eq!(got, [], "{head}");
                assert!(session.closing && session.is_web, "{head}");
            }
        }
        let mut session = Session::default();
        session.take(b"GET list\nread a.b http://x/ HTTP\nwrite host.x 1\n");
        assert_eq!((all(&mut session).len(), session.is_web), (3, false));
    }

    #[test]
    fn no_reply_steers_a_terminal() {
        let mut session = Session::default();
        session.take(b"\x1b[31mfly\n");
        assert_eq!(session.next(false), None);
        session.say(510, "No element named '\u{1b}]0;x\u{7}'", false);
        assert!(
            session
                .output
                .iter()
                .all(|byte| !byte.is_ascii_control() || b"\r\n".contains(byte))
        );
    }

    #[test]
    fn too_much_is_cut_off() {
        let mut session = Session::default();
        session.take(&vec![b'a'; MOST_BYTES + 1]);
        assert_eq!(session.next(false), None);
        assert!(session.closing);
        let mut session = Session::default();
        session.take(b"writedata a.b 99999999\n");
        assert_eq!(session.next(false), None);
        assert!(session.closing);
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut session = Session::new();
            session.take(&bytes);
            while session.next(true).is_some() {}
        }
    }
}
