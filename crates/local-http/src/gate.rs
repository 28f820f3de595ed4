//! Who may ask.
//!
//! Programs of this machine's user may, and his browser for the pages that it got here. Pages of
//! strangers in that browser may not: one whose name was made to lead to this machine (DNS
//! rebinding) sends that name as Host, one of another site its own Origin and Sec-Fetch-Site.

use crate::refusal::Refusal;
use crate::request::Request;
use std::net::{IpAddr, SocketAddr};

/// The names by which a listener that others reach may be asked. One of this machine alone is asked
/// by a loopback address or as `localhost`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// IP addresses and `localhost`.
    Addresses,
    /// Any: Prometheus sends the name that its own configuration has. A page that uses DNS
    /// rebinding in a browser of that network can read what is there, so nothing that is
    /// confidential may be, and nothing that acts.
    Any,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// A page to look at, always the same: other sites may link to it.
    Page,
    /// What is read or done for the pages of this listener and for programs.
    Data,
}

/// The checks of a listener.
#[derive(Clone, Copy, Debug)]
pub struct Gate {
    is_local: bool,
    names: Names,
}

impl Gate {
    /// Of the listener at `address`, which is asked by `names` if others reach it.
    pub fn new(address: SocketAddr, names: Names) -> Gate {
        Gate {
            is_local: address.ip().is_loopback(),
            names,
        }
    }

    /// Refuses requests that pages of strangers have sent.
    ///
    /// # Errors
    /// [`Refusal::Host`] for another name than one of this listener's, or none;
    /// [`Refusal::Origin`] for what a page of another origin asks.
    pub fn check(self, request: &Request, usage: Use) -> Result<(), Refusal> {
        let host = request.field("host").ok_or(Refusal::Host)?;
        if !self.is_own(host) {
            return Err(Refusal::Host);
        }
        let origin = request.field("origin");
        if origin.is_some_and(|origin| origin.strip_prefix("http://") != Some(host)) {
            return Err(Refusal::Origin);
        }
        // `none`: typed by the user.
        let site = request.field("sec-fetch-site").unwrap_or("none");
        let is_linked_to = usage == Use::Page && request.is_question();
        if !is_linked_to && !matches!(site, "none" | "same-origin") {
            return Err(Refusal::Origin);
        }
        Ok(())
    }

    /// Whether `host` is a name of this listener. Any port is right: a tunnel has another.
    fn is_own(self, host: &str) -> bool {
        let bracketed = host.strip_prefix('[').map(|rest| rest.split_once(']'));
        let (name, rest) = match bracketed {
            Some(None) => return false,
            Some(Some(parts)) => parts,
            None => host.split_at(host.find(':').unwrap_or(host.len())),
        };
        let is_port = |port: &str| {
            (1..=5).contains(&port.len()) && port.bytes().all(|one| one.is_ascii_digit())
        };
        if !rest.is_empty() && !rest.strip_prefix(':').is_some_and(is_port) {
            return false;
        }
        if let Ok(address) = name.parse::<IpAddr>() {
            let is_fit = address.is_loopback() || !self.is_local;
            return is_fit && address.is_ipv6() == bracketed.is_some();
        }
        let is_any = !self.is_local && self.names == Names::Any;
        bracketed.is_none() && (name.eq_ignore_ascii_case("localhost") || is_any && is_name(name))
    }
}

/// Whether `name` may be one of the domain name system.
fn is_name(name: &str) -> bool {
    let is_letter = |one: u8| one.is_ascii_alphanumeric() || matches!(one, b'-' | b'.' | b'_');
    (1..=253).contains(&name.len()) && name.bytes().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Limits;

    fn gate(address: &str, names: Names) -> Gate {
        Gate::new(address.parse().unwrap(), names)
    }

    fn check(gate: Gate, line: &str, fields: &str, usage: Use) -> Result<(), Refusal> {
        let text = format!("{line} HTTP/1.1\r\n{fields}\r\n");
        let request = Request::parse(text.as_bytes(), Limits::default());
        gate.check(&request.unwrap().unwrap(), usage)
    }

    fn named(gate: Gate, host: &str) -> Result<(), Refusal> {
        check(gate, "GET /", &format!("Host: {host}\r\n"), Use::Data)
    }

    #[test]
    fn a_local_listener_is_asked_by_local_names_only() {
        for names in [Names::Addresses, Names::Any] {
            let gate = gate("127.0.0.1:8080", names);
            for right in [
                "localhost",
                "LOCALHOST:1",
                "127.0.0.1:8080",
                "127.1.2.3",
                "[::1]:8080",
                "[::1]",
            ] {
                assert_eq!(named(gate, right), Ok(()), "{right}");
            }
            for wrong in [
                "",
                "rebound.example",
                "localhost.example:8080",
                "localhost.",
                "127.0.0.1.example",
                "192.0.2.1:8080",
                "0.0.0.0:8080",
                "[::]",
                "127.0.0.1:8080:1",
                "127.0.0.1:x",
                "127.0.0.1:",
                "127.0.0.1:123456",
                "::1",
                "[::1",
                "[::1]x",
                "[localhost]",
                "[127.0.0.1]",
                "user@localhost",
                "0x7f000001",
                "127.1",
            ] {
                assert_eq!(named(gate, wrong), Err(Refusal::Host), "{wrong}");
            }
            assert_eq!(check(gate, "GET /", "", Use::Page), Err(Refusal::Host));
        }
    }

    #[test]
    fn a_listener_for_others_is_asked_by_addresses_and_where_it_may_by_any_name() {
        let strict = gate("192.0.2.1:8080", Names::Addresses);
        let open = gate("[::]:8080", Names::Any);
        for gate in [strict, open] {
            for right in ["192.0.2.1:8080", "[2001:db8::1]", "localhost:1"] {
                assert_eq!(named(gate, right), Ok(()), "{right}");
            }
            for wrong in ["", "a b", "user@a", "[a]", "2001:db8::1", "a:", "a/b"] {
                assert_eq!(named(gate, wrong), Err(Refusal::Host), "{wrong}");
            }
        }
        assert_eq!(named(strict, "lab7.example:8080"), Err(Refusal::Host));
        assert_eq!(named(open, "lab7.example:8080"), Ok(()));
    }

    #[test]
    fn pages_of_other_sites_are_refused() {
        let gate = gate("127.0.0.1:8080", Names::Addresses);
        for (line, fields, as_page, as_data) in [
            ("GET /", "", true, true),
            ("GET /", "Origin: http://localhost:8080\r\n", true, true),
            ("GET /", "Origin: http://localhost:8081\r\n", false, false),
            ("GET /", "Origin: https://localhost:8080\r\n", false, false),
            ("GET /", "Origin: null\r\n", false, false),
            ("POST /", "Origin: http://other.example\r\n", false, false),
            ("GET /", "Sec-Fetch-Site: cross-site\r\n", true, false),
            ("HEAD /", "Sec-Fetch-Site: cross-site\r\n", true, false),
            ("POST /", "Sec-Fetch-Site: cross-site\r\n", false, false),
            ("GET /", "Sec-Fetch-Site: same-site\r\n", true, false),
            ("GET /", "Sec-Fetch-Site: same-origin\r\n", true, true),
            ("GET /", "Sec-Fetch-Site: none\r\n", true, true),
        ] {
            let fields = format!("Host: localhost:8080\r\n{fields}");
            for (usage, is_right) in [(Use::Page, as_page), (Use::Data, as_data)] {
                let checked = check(gate, line, &fields, usage);
                assert_eq!(checked.is_ok(), is_right, "{line} {fields} {usage:?}");
            }
        }
    }
}
