//! Who may ask, and who may edit.
//!
//! A browser on this machine runs pages of strangers. A page whose name was made to lead to this
//! machine (DNS rebinding) sends that name as Host. A page of another site sends its own Origin and
//! Sec-Fetch-Site. Neither has the token, which is in the address that the card printed and never
//! leaves the page but with an edit.

use super::refusal::Refusal;
use super::request::Request;
use std::net::{IpAddr, SocketAddr};

/// The field that has the token, in lower case.
pub(super) const TOKEN_FIELD: &str = "x-trammel-token";

/// The checks of a listener.
#[derive(Debug)]
pub(super) struct Gate {
    is_local: bool,
    token: String,
}

impl Gate {
    /// Of the listener at `address`.
    pub(super) fn new(address: SocketAddr, token: &str) -> Gate {
        Gate {
            is_local: address.ip().is_loopback(),
            token: token.to_owned(),
        }
    }

    /// Refuses requests that pages of strangers have sent.
    pub(super) fn check(&self, request: &Request) -> Result<(), Refusal> {
        let host = request.field("host").ok_or(Refusal::Host)?;
        if !self.is_own(host) {
            return Err(Refusal::Host);
        }
        let origin = request.field("origin");
        if origin.is_some_and(|origin| origin.strip_prefix("http://") != Some(host)) {
            return Err(Refusal::Origin);
        }
        // `none`: typed by the user. The page itself may be linked to from anywhere.
        let site = request.field("sec-fetch-site").unwrap_or("none");
        let is_page = request.method == "GET" && !request.path.starts_with("/api/");
        if !is_page && !matches!(site, "none" | "same-origin") {
            return Err(Refusal::Origin);
        }
        Ok(())
    }

    /// Refuses edits without the token.
    pub(super) fn check_edit(&self, request: &Request) -> Result<(), Refusal> {
        let given = request.field(TOKEN_FIELD).unwrap_or("");
        if !is_equal(given.as_bytes(), self.token.as_bytes()) {
            return Err(Refusal::Token);
        }
        let media = request.field("content-type").unwrap_or("");
        let media = media.split(';').next().unwrap_or("").trim();
        if !media.eq_ignore_ascii_case("application/json") {
            return Err(Refusal::Type);
        }
        Ok(())
    }

    /// Whether `host` names this machine by an address, a local one if only such ones lead here, or
    /// as `localhost`. Any port is right: a tunnel has another.
    fn is_own(&self, host: &str) -> bool {
        let (name, port) = match host.strip_prefix('[') {
            Some(rest) => rest.split_once(']').unwrap_or((rest, "?")),
            None => host.split_at(host.find(':').unwrap_or(host.len())),
        };
        let is_port = |port: &str| port.len() <= 5 && port.bytes().all(|one| one.is_ascii_digit());
        if !port.is_empty() && !port.strip_prefix(':').is_some_and(is_port) {
            return false;
        }
        let is_fit = |address: IpAddr| {
            let is_bracketed = host.starts_with('[');
            (address.is_loopback() || !self.is_local) && address.is_ipv6() == is_bracketed
        };
        (!host.starts_with('[') && name.eq_ignore_ascii_case("localhost"))
            || name.parse().is_ok_and(is_fit)
    }
}

/// Whether two texts are equal, in a time that depends on their lengths only. An empty text equals
/// nothing.
fn is_equal(one: &[u8], other: &[u8]) -> bool {
    let pairs = one.iter().zip(other);
    let differences = pairs.fold(0, |all, (a, b)| std::hint::black_box(all | (a ^ b)));
    !one.is_empty() && one.len() == other.len() && differences == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(address: &str) -> Gate {
        Gate::new(address.parse().unwrap(), "secret")
    }

    fn check(gate: &Gate, line: &str, fields: &str) -> Result<(), Refusal> {
        let text = format!("{line} HTTP/1.1\r\n{fields}\r\n");
        gate.check(&Request::parse(text.as_bytes()).unwrap().unwrap())
    }

    #[test]
    fn a_local_listener_is_asked_by_local_names_only() {
        let gate = gate("127.0.0.1:8080");
        for right in [
            "localhost",
            "LOCALHOST:1",
            "127.0.0.1:8080",
            "127.1.2.3:",
            "[::1]:8080",
        ] {
            let fields = format!("Host: {right}\r\n");
            assert_eq!(check(&gate, "GET /", &fields), Ok(()), "{right}");
        }
        for wrong in [
            "",
            "rebound.example",
            "localhost.example:8080",
            "127.0.0.1.example",
            "192.0.2.1:8080",
            "127.0.0.1:8080:1",
            "127.0.0.1:x",
            "::1",
            "[::1",
            "[localhost]",
            "[127.0.0.1]",
            "user@localhost",
            "0x7f000001",
            "127.1",
        ] {
            let fields = format!("Host: {wrong}\r\n");
            let checked = check(&gate, "GET /", &fields);
            assert_eq!(checked, Err(Refusal::Host), "{wrong}");
        }
        assert_eq!(check(&gate, "GET /", ""), Err(Refusal::Host));
    }

    #[test]
    fn a_listener_for_others_is_asked_by_addresses() {
        let gate = gate("192.0.2.1:8080");
        assert_eq!(check(&gate, "GET /", "Host: 192.0.2.1:8080\r\n"), Ok(()));
        assert_eq!(check(&gate, "GET /", "Host: [2001:db8::1]\r\n"), Ok(()));
        let named = check(&gate, "GET /", "Host: rebound.example\r\n");
        assert_eq!(named, Err(Refusal::Host));
    }

    #[test]
    fn pages_of_other_sites_are_refused() {
        let gate = gate("127.0.0.1:8080");
        let host = "Host: localhost:8080\r\n";
        for (line, fields, is_right) in [
            ("GET /api/state", "Origin: http://localhost:8080\r\n", true),
            ("GET /api/state", "Origin: http://localhost:8081\r\n", false),
            (
                "GET /api/state",
                "Origin: https://localhost:8080\r\n",
                false,
            ),
            ("GET /api/state", "Origin: null\r\n", false),
            ("POST /api/x", "Origin: http://other.example\r\n", false),
            ("GET /", "Sec-Fetch-Site: cross-site\r\n", true),
            ("GET /api/state", "Sec-Fetch-Site: cross-site\r\n", false),
            ("GET /api/state", "Sec-Fetch-Site: same-site\r\n", false),
            ("GET /api/state", "Sec-Fetch-Site: same-origin\r\n", true),
            ("POST /", "Sec-Fetch-Site: cross-site\r\n", false),
        ] {
            let checked = check(&gate, line, &format!("{host}{fields}"));
            assert_eq!(checked.is_ok(), is_right, "{line} {fields}");
        }
    }

    #[test]
    fn an_edit_needs_the_whole_token_and_json() {
        let gate = gate("127.0.0.1:8080");
        let edit = |fields: &str| {
            let text = format!("POST / HTTP/1.1\r\n{fields}\r\n");
            gate.check_edit(&Request::parse(text.as_bytes()).unwrap().unwrap())
        };
        let json = "Content-Type: application/json; charset=utf-8\r\n";
        for wrong in ["", "secre", "secret1", "Secret", "secreT"] {
            let fields = format!("X-Trammel-Token: {wrong}\r\n{json}");
            assert_eq!(edit(&fields), Err(Refusal::Token), "{wrong}");
        }
        assert_eq!(edit(json), Err(Refusal::Token));
        assert_eq!(edit(&format!("X-Trammel-Token: secret\r\n{json}")), Ok(()));
        let form = "X-Trammel-Token: secret\r\nContent-Type: text/plain\r\n";
        assert_eq!(edit(form), Err(Refusal::Type));
        assert!(!is_equal(b"", b""));
    }
}
