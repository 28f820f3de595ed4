//! A page of metrics over HTTP.
//!
//! One thread answers all clients; who counts never waits for it, and no client for another. It
//! listens where it is told. On local addresses it answers requests only that name such an address:
//! a web page whose name was made to lead here reads nothing. On others it answers to any name,
//! since Prometheus sends the one in its configuration. Who asks for OpenMetrics gets it; others
//! get Prometheus' older format of the same page.

use crate::page::{CLASSIC, OPEN_METRICS, classic};
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use trammel_local_http::gate::{Gate, Names};
use trammel_local_http::request::Request;
use trammel_local_http::response::Response;
use trammel_local_http::server::Server;

/// Listens at `address`, and answers with what `render` makes, in OpenMetrics, when somebody asks.
/// It serves until the process ends.
///
/// # Errors
/// Where the address cannot be listened on, or there is no thread.
pub fn start(
    address: SocketAddr,
    render: impl Fn() -> String + Send + 'static,
) -> io::Result<Server> {
    let gate = |address| Gate::new(address, Names::Any);
    Server::start(address, gate, move |request| answer(request, &render))
}

/// What is said where `--metrics` gave an `address` that cannot be listened on, and what to do.
pub fn refused(address: SocketAddr, why: &io::Error) -> (String, &'static str) {
    let what = format!("--metrics: {address} cannot be listened on: {why}");
    (what, "give another port")
}

/// The latest of a page that only one thread can make: it leaves it here, and the server takes it.
/// It is set before the server starts, since an empty text is no page.
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
fn asks_for_open_metrics(request: &Request) -> bool {
    let mut kinds = request.all("accept").flat_map(|value| value.split(','));
    kinds.any(|kind| {
        let mut words = kind.split(';');
        let name = words.next().unwrap_or("").trim();
        name.eq_ignore_ascii_case("application/openmetrics-text") && weight(words) > 0.0
    })
}

/// The answer to a question.
fn answer(request: &Request, render: &impl Fn() -> String) -> Response {
    match request.path {
        "/metrics" | "/" if asks_for_open_metrics(request) => {
            Response::new("200 OK", OPEN_METRICS, render())
        }
        "/metrics" | "/" => Response::new("200 OK", CLASSIC, classic(&render())),
        _ => Response::text("404 Not Found", "the counters are at /metrics"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use trammel_local_http::request::Limits;

    /// The answer to a request with these lines, which names this machine.
    fn get(metrics: &Server, lines: &str) -> String {
        let (line, fields) = lines.split_once('\n').unwrap_or((lines, ""));
        let fields = fields.replace('\n', "\r\n");
        let request = format!("{line} HTTP/1.1\r\nHost: localhost:9100\r\n{fields}\r\n");
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
        let server = start(([127, 0, 0, 1], 0).into(), move || taken.get());
        (server.expect("a port is free"), page)
    }

    #[test]
    fn who_asks_for_open_metrics_gets_it() {
        let (metrics, page) = served();
        page.set("# TYPE a counter\n# HELP a A.\na_total 1\n# EOF\n".to_owned());
        let asked = "GET /metrics\nAccept: \
                     application/openmetrics-text;version=1.0.0;q=0.8,*/*;q=0.1\n";
        let got = get(&metrics, asked);
        assert!(
            got.contains(OPEN_METRICS) && got.ends_with("# EOF\n"),
            "{got}"
        );
        let got = get(&metrics, "GET /metrics");
        assert!(
            got.contains(CLASSIC) && got.ends_with("\na_total 1\n"),
            "{got}"
        );
        assert!(got.contains("# TYPE a_total counter"), "{got}");
    }

    #[test]
    fn a_weight_of_zero_refuses_open_metrics() {
        let asks = |accept: &str| {
            let text = format!("GET / HTTP/1.1\r\nAccept: {accept}\r\n\r\n");
            let request = Request::parse(text.as_bytes(), Limits::default());
            asks_for_open_metrics(&request.unwrap().unwrap())
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
    fn gives_the_latest_text_and_nothing_else() {
        let (metrics, page) = served();
        page.set("packets 1\n".to_owned());
        assert!(get(&metrics, "GET /metrics").ends_with("\r\n\r\npackets 1\n"));
        page.set("packets 2\n".to_owned());
        assert!(get(&metrics, "GET /").contains("packets 2"));
        assert!(get(&metrics, "GET /etc").starts_with("HTTP/1.1 404"));
        assert!(get(&metrics, "POST /").starts_with("HTTP/1.1 405"));
        let other = get(&metrics, "GET /\nSec-Fetch-Site: cross-site\n");
        assert!(other.starts_with("HTTP/1.1 403"), "{other}");
    }
}
