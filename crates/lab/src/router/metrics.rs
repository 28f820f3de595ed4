//! The router's counters over HTTP, in Prometheus' text format.
//!
//! One thread answers one request after the other with the text that the router left last; the data path
//! never waits for it. It listens where it is told, and on local addresses unless told otherwise.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What a request may have at most, in bytes.
const REQUEST_BYTES: usize = 4096;
/// How long a client may take.
const PATIENCE: Duration = Duration::from_secs(1);

/// A server of the latest text.
#[derive(Debug)]
pub struct Metrics {
    text: Arc<Mutex<String>>,
    address: SocketAddr,
}

impl Metrics {
    /// Listens at `address`: `127.0.0.1:9100`, or a port alone.
    pub fn serve(address: &str) -> io::Result<Metrics> {
        let address = match address.parse::<u16>() {
            Ok(port) => SocketAddr::from(([127, 0, 0, 1], port)),
            Err(_) => address.parse().map_err(|_| {
                io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "an address and a port are wanted",
                )
            })?,
        };
        let listener = TcpListener::bind(address)?;
        let metrics = Metrics {
            text: Arc::default(),
            address: listener.local_addr()?,
        };
        let text = Arc::clone(&metrics.text);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let latest = text.lock().map(|text| text.clone()).unwrap_or_default();
                // A client that goes away is no matter.
                let _ = answer(client, &latest);
            }
        });
        Ok(metrics)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The text from now on.
    pub fn set(&self, text: String) {
        if let Ok(mut latest) = self.text.lock() {
            *latest = text;
        }
    }
}

fn answer(mut client: TcpStream, text: &str) -> io::Result<()> {
    client.set_read_timeout(Some(PATIENCE))?;
    client.set_write_timeout(Some(PATIENCE))?;
    let mut request = Vec::new();
    let mut part = [0; 512];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") && request.len() < REQUEST_BYTES {
        match client.read(&mut part)? {
            0 => break,
            count => request.extend_from_slice(&part[..count]),
        }
    }
    let (status, body) = if request.starts_with(b"GET /metrics") || request.starts_with(b"GET / ") {
        ("200 OK", text)
    } else {
        ("404 Not Found", "the counters are at /metrics\n")
    };
    write!(
        client,
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(metrics: &Metrics, request: &str) -> String {
        let mut client = TcpStream::connect(metrics.address()).expect("it listens");
        client.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        client.read_to_string(&mut answer).expect("it answers");
        answer
    }

    #[test]
    fn gives_the_latest_text_and_nothing_else() {
        let metrics = Metrics::serve("0").expect("a port is free");
        metrics.set("packets 1\n".to_owned());
        assert!(get(&metrics, "GET /metrics HTTP/1.1\r\n\r\n").ends_with("\r\n\r\npackets 1\n"));
        metrics.set("packets 2\n".to_owned());
        assert!(get(&metrics, "GET / HTTP/1.1\r\n\r\n").contains("packets 2"));
        assert!(get(&metrics, "GET /etc HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404"));
    }
}
