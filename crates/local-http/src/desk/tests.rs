use super::*;
use crate::request::{LONGEST_HEAD, Limits, Request};

struct Rig {
    desk: Desk,
    answered: usize,
}

/// More than the buffers of a connection hold.
const LONG_BYTES: usize = 32 << 20;

impl Rig {
    fn new() -> Rig {
        Rig {
            desk: Desk::open(([127, 0, 0, 1], 0).into()).unwrap(),
            answered: 0,
        }
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(self.desk.address()).unwrap()
    }

    fn poll_at(&mut self, now: Duration) -> bool {
        let answer = |input: &[u8]| {
            let text = match Request::parse(input, Limits::default()) {
                Ok(None) => return None,
                Ok(Some(request)) if request.path == "/long" => "a".repeat(LONG_BYTES),
                Ok(Some(request)) => format!("asked {}", request.path),
                Err(refusal) => format!("refused {refusal:?}"),
            };
            self.answered += 1;
            Some(text.into_bytes())
        };
        self.desk.poll(now, answer).unwrap()
    }

    fn poll(&mut self) -> bool {
        self.poll_at(Duration::ZERO)
    }

    /// What comes until the connection ends.
    fn answer(&mut self, stream: &mut TcpStream) -> String {
        stream.set_nonblocking(true).unwrap();
        let mut bytes = Vec::new();
        loop {
            self.poll();
            let mut part = [0; CHUNK_BYTES];
            match stream.read(&mut part) {
                Ok(0) => return String::from_utf8(bytes).unwrap(),
                Ok(count) => bytes.extend(&part[..count]),
                Err(why) => assert_eq!(why.kind(), ErrorKind::WouldBlock, "{why}"),
            }
        }
    }

    /// Polls until there are `count` connections.
    fn until(&mut self, count: usize) {
        while self.desk.connections.len() != count {
            self.poll();
        }
    }
}

#[test]
fn a_request_in_pieces_is_answered_once_and_the_connection_ends() {
    let mut rig = Rig::new();
    let mut stream = rig.connect();
    rig.until(1);
    for piece in ["GET /a HT", "TP/1.1\r\nHost: localho"] {
        stream.write_all(piece.as_bytes()).unwrap();
        rig.poll();
    }
    stream.write_all(b"st\r\n\r\nGET /b HTTP/1.1\r\n").unwrap();
    assert_eq!(rig.answer(&mut stream), "asked /a");
    drop(stream);
    rig.until(0);
    assert_eq!(rig.answered, 1);
}

#[test]
fn who_sends_more_than_is_read_hears_why() {
    let mut rig = Rig::new();
    let mut stream = rig.connect();
    let long = format!("GET / HTTP/1.1\r\na: {}", "b".repeat(20 * LONGEST_HEAD));
    stream.write_all(long.as_bytes()).unwrap();
    assert_eq!(rig.answer(&mut stream), "refused HeadTooLong");
    for bytes in [&b"\x16\x03\x01\x02\x00"[..], b"SSH-2.0-x\r\n"] {
        let mut stream = rig.connect();
        stream.write_all(bytes).unwrap();
        assert_eq!(rig.answer(&mut stream), "refused Malformed");
    }
}

#[test]
fn silent_clients_keep_nobody_waiting_and_are_closed() {
    let mut rig = Rig::new();
    let _silent: Vec<TcpStream> = (0..MOST_CONNECTIONS).map(|_| rig.connect()).collect();
    rig.until(MOST_CONNECTIONS);
    let mut stream = rig.connect();
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    assert_eq!(rig.answer(&mut stream), "asked /");
    drop(stream);
    rig.until(MOST_CONNECTIONS - 1);
    assert_eq!(rig.desk.next_timeout(), Some(ASKING));
    rig.poll_at(ASKING);
    assert!(rig.desk.connections.is_empty());
}

#[test]
fn who_does_not_read_is_closed_and_who_reads_slowly_is_served() {
    let mut rig = Rig::new();
    let (mut silent, mut slow) = (rig.connect(), rig.connect());
    for stream in [&mut silent, &mut slow] {
        stream.write_all(b"GET /long HTTP/1.1\r\n\r\n").unwrap();
    }
    assert_eq!(rig.answer(&mut slow).len(), LONG_BYTES);
    drop(slow);
    rig.until(1);
    rig.poll_at(ANSWERING);
    assert!(rig.desk.connections.is_empty());
}

#[test]
fn who_never_goes_is_closed() {
    let mut rig = Rig::new();
    let mut stream = rig.connect();
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    assert_eq!(rig.answer(&mut stream), "asked /");
    rig.poll_at(LEAVING / 2);
    assert_eq!(rig.desk.connections.len(), 1);
    rig.poll_at(LEAVING);
    assert!(rig.desk.connections.is_empty());
}

#[test]
fn many_who_ask_at_once_are_all_answered() {
    let mut rig = Rig::new();
    let mut streams: Vec<TcpStream> = (0..MOST_CONNECTIONS).map(|_| rig.connect()).collect();
    for stream in &mut streams {
        stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    }
    for mut stream in streams {
        assert_eq!(rig.answer(&mut stream), "asked /");
    }
}
