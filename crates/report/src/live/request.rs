//! A request for the page: GET or HEAD of HTTP/1.1 (RFC 9112), without a body, read strictly; and
//! who may ask.
//!
//! A browser on this machine runs pages of strangers. A page whose name was made to lead to this
//! machine (DNS rebinding) sends that name as Host; a page of another site sends its own Origin and
//! Sec-Fetch-Site.

/// Bytes of a request, at most.
pub(super) const LONGEST: usize = 8 << 10;
/// Header fields, at most.
const MOST_FIELDS: usize = 64;
/// Fields that decide, and of which there is one at most.
const DECIDE: [&str; 5] = [
    "host",
    "origin",
    "sec-fetch-site",
    "content-length",
    "transfer-encoding",
];

/// What is asked.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request<'a> {
    pub(super) path: &'a str,
    /// Whether the answer has no body.
    pub(super) is_head: bool,
}

/// Why nothing is answered: a status of HTTP.
pub(super) type Refusal = &'static str;
pub(super) const MALFORMED: Refusal = "400 Bad Request";
pub(super) const STRANGER: Refusal = "403 Forbidden";
pub(super) const METHOD: Refusal = "405 Method Not Allowed";
pub(super) const TOO_LONG: Refusal = "431 Request Header Fields Too Large";

/// The request at the beginning of `bytes`; nothing while it is not whole.
pub(super) fn parse(bytes: &[u8]) -> Result<Option<Request<'_>>, Refusal> {
    let searched = &bytes[..bytes.len().min(LONGEST)];
    let Some(end) = searched.windows(4).position(|four| four == b"\r\n\r\n") else {
        return if bytes.len() >= LONGEST {
            Err(TOO_LONG)
        } else {
            Ok(None)
        };
    };
    let head = std::str::from_utf8(&bytes[..end]).map_err(|_| MALFORMED)?;
    let is_text = |byte: u8| matches!(byte, b' '..=b'~' | b'\t' | b'\r' | b'\n');
    if !head.bytes().all(is_text) {
        return Err(MALFORMED);
    }
    let mut lines = head.split("\r\n");
    let line = lines.next().unwrap_or_default();
    let mut fields: Vec<(String, &str)> = Vec::new();
    for line in lines {
        let (name, value) = line.split_once(':').ok_or(MALFORMED)?;
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if line.contains(['\r', '\n']) || name.is_empty() || !name.bytes().all(is_name) {
            return Err(MALFORMED);
        }
        let name = name.to_ascii_lowercase();
        let is_second = fields.iter().any(|(other, _)| *other == name);
        if DECIDE.contains(&name.as_str()) && is_second {
            return Err(MALFORMED);
        }
        if fields.len() >= MOST_FIELDS {
            return Err(TOO_LONG);
        }
        fields.push((name, value.trim_matches([' ', '\t'])));
    }
    let field = |wanted: &str| {
        let mut found = fields.iter().filter(|(name, _)| name == wanted);
        found.next().map(|(_, value)| *value)
    };
    let words: Vec<&str> = line.split(' ').collect();
    let [method, path, "HTTP/1.1" | "HTTP/1.0"] = words[..] else {
        return Err(MALFORMED);
    };
    let has_body = field("content-length").is_some_and(|length| length != "0");
    if !path.starts_with('/') || field("transfer-encoding").is_some() || has_body {
        return Err(MALFORMED);
    }
    let host = field("host").filter(|host| is_own(host)).ok_or(STRANGER)?;
    let is_of_page = |origin: &str| origin.strip_prefix("http://") == Some(host);
    // `none`: typed by the user.
    let site = field("sec-fetch-site").unwrap_or("none");
    let is_here = matches!(site, "none" | "same-origin");
    if !field("origin").is_none_or(is_of_page) || !is_here {
        return Err(STRANGER);
    }
    match method {
        "GET" | "HEAD" => Ok(Some(Request {
            path: path.split_once('?').map_or(path, |(path, _)| path),
            is_head: method == "HEAD",
        })),
        _ => Err(METHOD),
    }
}

/// Whether `host` is a loopback address or `localhost`, with whatever port: a tunnel has another.
fn is_own(host: &str) -> bool {
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, port),
        _ => (host, "0"),
    };
    let is_port = port.len() <= 5 && !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
    let is_loopback = match name
        .strip_prefix('[')
        .and_then(|name| name.strip_suffix(']'))
    {
        Some(name) => name
            .parse()
            .is_ok_and(|it: std::net::Ipv6Addr| it.is_loopback()),
        None => {
            let address = name.parse().ok();
            name.eq_ignore_ascii_case("localhost")
                || address.is_some_and(|it: std::net::Ipv4Addr| it.is_loopback())
        }
    };
    is_port && is_loopback
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn asked(line: &str, fields: &str) -> Result<String, Refusal> {
        let text = format!("{line}\r\n{fields}\r\n");
        parse(text.as_bytes()).map(|request| request.expect("it is whole").path.to_owned())
    }

    #[test]
    fn names_of_this_machine_are_answered() {
        for host in [
            "localhost",
            "LOCALHOST:1",
            "127.0.0.1:8080",
            "127.1.2.3",
            "[::1]:80",
            "[::1]",
        ] {
            let fields = format!("Host: {host}\r\n");
            assert_eq!(
                asked("GET /a?b HTTP/1.1", &fields),
                Ok("/a".to_owned()),
                "{host}"
            );
        }
        for host in [
            "",
            "rebound.example",
            "localhost.example:80",
            "192.0.2.1",
            "127.0.0.1:x",
            "127.0.0.1:",
            "::1",
            "[::1",
            "[localhost]",
            "user@localhost",
            "0x7f000001",
            "127.1",
            "localhost:80:80",
        ] {
            let fields = format!("Host: {host}\r\n");
            assert_eq!(asked("GET / HTTP/1.1", &fields), Err(STRANGER), "{host}");
        }
        assert_eq!(asked("GET / HTTP/1.1", ""), Err(STRANGER));
    }

    #[test]
    fn pages_of_other_sites_are_refused() {
        let with = |field: &str| asked("GET / HTTP/1.1", &format!("Host: localhost:1\r\n{field}"));
        assert!(with("Origin: http://localhost:1\r\n").is_ok());
        assert!(with("Sec-Fetch-Site: same-origin\r\n").is_ok());
        for field in [
            "Origin: http://localhost:2\r\n",
            "Origin: https://localhost:1\r\n",
            "Origin: null\r\n",
            "Sec-Fetch-Site: cross-site\r\n",
            "Sec-Fetch-Site: same-site\r\n",
        ] {
            assert_eq!(with(field), Err(STRANGER), "{field}");
        }
    }

    #[test]
    fn what_two_programs_may_read_differently_is_refused() {
        let host = "Host: localhost\r\n";
        for (line, fields, why) in [
            (
                "GET / HTTP/1.1",
                "Host: localhost\r\nHost: localhost\r\n",
                MALFORMED,
            ),
            ("GET / HTTP/1.1", "Host : localhost\r\n", MALFORMED),
            (
                "GET / HTTP/1.1",
                "Host: localhost\r\n folded: 1\r\n",
                MALFORMED,
            ),
            (
                "GET / HTTP/1.1",
                "Host: localhost\r\nContent-Length: 5\r\n",
                MALFORMED,
            ),
            (
                "GET / HTTP/1.1",
                "Host: localhost\r\nTransfer-Encoding: chunked\r\n",
                MALFORMED,
            ),
            ("GET  / HTTP/1.1", host, MALFORMED),
            ("GET / HTTP/2", host, MALFORMED),
            ("GET http://localhost/ HTTP/1.1", host, MALFORMED),
            ("POST / HTTP/1.1", host, METHOD),
            ("DELETE / HTTP/1.1", host, METHOD),
        ] {
            assert_eq!(asked(line, fields), Err(why), "{line} {fields}");
        }
        assert_eq!(parse(b"GET / HTTP/1.1\r\nHost:"), Ok(None));
        assert_eq!(parse(&[b'a'; LONGEST]), Err(TOO_LONG));
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_strange(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
            let _ = parse(&bytes);
            let mut ended = b"GET / HTTP/1.1\r\nHost: localhost\r\n".to_vec();
            ended.extend(bytes);
            ended.extend(b"\r\n\r\n");
            let _ = parse(&ended);
        }
    }
}
