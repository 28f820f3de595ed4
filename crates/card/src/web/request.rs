//! A request of HTTP/1.1 (RFC 9112), read strictly and within bounds.
//!
//! Lines end with CR LF. What two programs may read differently is refused: a second Host or
//! Content-Length, folded lines, spaces before a colon, transfer encodings.

use super::refusal::Refusal;

/// Bytes of a request's head, at most.
pub(super) const LONGEST_HEAD: usize = 8 << 10;
/// Bytes of a request's body, at most.
pub(super) const LONGEST_BODY: usize = 4 << 10;
/// Header fields, at most.
const MOST_FIELDS: usize = 64;
/// Fields that may be there once only: what they say decides.
const ONCE: [&str; 8] = [
    "host",
    "origin",
    "content-length",
    "content-type",
    "transfer-encoding",
    "expect",
    "sec-fetch-site",
    super::gate::TOKEN_FIELD,
];

/// A request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request<'a> {
    pub(super) method: &'a str,
    /// Without a query.
    pub(super) path: &'a str,
    fields: Vec<(&'a str, &'a str)>,
    pub(super) body: &'a [u8],
}

impl<'a> Request<'a> {
    /// The first request of `bytes`; none while it is not whole.
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Option<Request<'a>>, Refusal> {
        let searched = &bytes[..bytes.len().min(LONGEST_HEAD)];
        let end = searched.windows(4).position(|four| four == b"\r\n\r\n");
        let Some(end) = end else {
            if bytes.len() >= LONGEST_HEAD {
                return Err(Refusal::HeadTooLong);
            }
            return early(searched);
        };
        let head = text(&bytes[..end])?;
        let mut lines = head.split("\r\n");
        let (method, path) = request_line(lines.next().unwrap_or(""))?;
        let mut request = Request {
            method,
            path,
            fields: Vec::new(),
            body: &[],
        };
        for line in lines {
            if request.fields.len() >= MOST_FIELDS {
                return Err(Refusal::HeadTooLong);
            }
            request.fields.push(field(line)?);
        }
        for name in ONCE {
            if request.all(name).nth(1).is_some() {
                return Err(Refusal::Malformed);
            }
        }
        let length = request.length()?;
        let begin = end + 4;
        match bytes.get(begin..begin + length) {
            Some(body) => request.body = body,
            None => return Ok(None),
        }
        Ok(Some(request))
    }

    fn all<'b>(&'b self, name: &'b str) -> impl Iterator<Item = &'a str> + 'b {
        let named = move |field: &&(&str, &str)| field.0.eq_ignore_ascii_case(name);
        self.fields.iter().filter(named).map(|field| field.1)
    }

    /// The value of the field `name`, one of [`ONCE`].
    pub(super) fn field(&self, name: &str) -> Option<&'a str> {
        debug_assert!(ONCE.contains(&name), "`{name}` may be there twice");
        self.all(name).next()
    }

    /// Bytes of the body.
    fn length(&self) -> Result<usize, Refusal> {
        if self.field("transfer-encoding").is_some() {
            return Err(Refusal::Encoding);
        }
        if self.field("expect").is_some() {
            return Err(Refusal::Expectation);
        }
        let Some(text) = self.field("content-length") else {
            return Ok(0);
        };
        if text.is_empty() || !text.bytes().all(|digit| digit.is_ascii_digit()) {
            return Err(Refusal::Length);
        }
        let length = text.parse().ok().filter(|length| *length <= LONGEST_BODY);
        length.ok_or(Refusal::BodyTooLong)
    }
}

/// Refuses what will be no request, however it goes on.
fn early<'a>(bytes: &[u8]) -> Result<Option<Request<'a>>, Refusal> {
    // No method of ours has a letter that is no capital.
    let is_method = |byte: &&u8| byte.is_ascii_uppercase();
    let letters = bytes.iter().take_while(is_method).count();
    let is_fit = letters < 16 && bytes.get(letters).is_none_or(|byte| *byte == b' ');
    if is_fit && (letters > 0 || bytes.is_empty()) {
        return Ok(None);
    }
    Err(Refusal::Malformed)
}

/// The head as text: visible ASCII, spaces, tabs, and CR only before LF and the reverse.
fn text(head: &[u8]) -> Result<&str, Refusal> {
    let mut before = 0;
    for byte in head.iter().copied().chain([0x20]) {
        let is_fit = match byte {
            b'\n' => before == b'\r',
            0x20..=0x7e | b'\t' | b'\r' => before != b'\r',
            _ => false,
        };
        if !is_fit {
            return Err(Refusal::Malformed);
        }
        before = byte;
    }
    std::str::from_utf8(head).map_err(|_| Refusal::Malformed)
}

/// Method and path.
fn request_line(line: &str) -> Result<(&str, &str), Refusal> {
    let mut words = line.split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(Refusal::Malformed);
    };
    let is_method = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase());
    if !is_method || !target.starts_with('/') || target.contains(['#', '\t']) {
        return Err(Refusal::Malformed);
    }
    if !matches!(version, "HTTP/1.1" | "HTTP/1.0") {
        let is_other = version.starts_with("HTTP/");
        return Err([Refusal::Malformed, Refusal::Version][usize::from(is_other)]);
    }
    let path = target.split_once('?').map_or(target, |(path, _)| path);
    Ok((method, path))
}

/// Name and value of a line.
fn field(line: &str) -> Result<(&str, &str), Refusal> {
    let (name, value) = line.split_once(':').ok_or(Refusal::Malformed)?;
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_token) {
        return Err(Refusal::Malformed);
    }
    Ok((name, value.trim_matches([' ', '\t'])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn refusal(text: &str) -> Refusal {
        Request::parse(text.as_bytes()).unwrap_err()
    }

    #[test]
    fn a_request_is_read_once_it_is_whole() {
        let text =
            "POST /api/table/set?x=1 HTTP/1.1\r\nHost: a\r\nContent-Length: \t3 \r\n\r\n{}\n";
        for cut in 0..text.len() {
            assert_eq!(Request::parse(&text.as_bytes()[..cut]), Ok(None), "{cut}");
        }
        let more = format!("{text}GET / HTTP/1.1\r\n\r\n");
        let request = Request::parse(more.as_bytes()).unwrap().unwrap();
        assert_eq!((request.method, request.path), ("POST", "/api/table/set"));
        assert_eq!(request.body, b"{}\n");
        assert_eq!(request.field("host"), Some("a"));
        assert_eq!(request.field("origin"), None);
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_refused() {
        use Refusal::{
            BodyTooLong, Encoding, Expectation, HeadTooLong, Length, Malformed, Version,
        };
        for (rest, why) in [
            ("Host: a\r\nHost: a", Malformed),
            ("Host: a\r\nhost: b", Malformed),
            ("Content-Length: 1\r\nContent-Length: 1", Malformed),
            ("Host : a", Malformed),
            (" Host: a", Malformed),
            ("Host: a\r\n b", Malformed),
            ("Host: a\nOrigin: b", Malformed),
            ("Host: a\rOrigin: b", Malformed),
            ("Host: a\r\r\nOrigin: b", Malformed),
            ("Host: \0", Malformed),
            ("Host: \u{e9}", Malformed),
            ("Host", Malformed),
            (": a", Malformed),
            ("Transfer-Encoding: chunked", Encoding),
            ("Transfer-Encoding: chunked\r\nContent-Length: 1", Encoding),
            ("Content-Length: +1", Length),
            ("Content-Length: 1, 1", Length),
            ("Content-Length:", Length),
            ("Content-Length: 0x1", Length),
            ("Content-Length: 4097", BodyTooLong),
            ("Content-Length: 99999999999999999999999", BodyTooLong),
            ("Expect: 100-continue", Expectation),
        ] {
            let text = format!("POST / HTTP/1.1\r\n{rest}\r\n\r\n");
            assert_eq!(refusal(&text), why, "{rest:?}");
        }
        for (line, why) in [
            ("", Malformed),
            ("GET /", Malformed),
            ("GET  / HTTP/1.1", Malformed),
            ("GET / HTTP/1.1 ", Malformed),
            ("get / HTTP/1.1", Malformed),
            ("GET http://a/ HTTP/1.1", Malformed),
            ("GET * HTTP/1.1", Malformed),
            ("GET /# HTTP/1.1", Malformed),
            ("GET / HTTP/2", Version),
            ("GET / http/1.1", Malformed),
        ] {
            assert_eq!(refusal(&format!("{line}\r\n\r\n")), why, "{line:?}");
        }
        let many = "a: b\r\n".repeat(MOST_FIELDS + 1);
        assert_eq!(
            refusal(&format!("GET / HTTP/1.1\r\n{many}\r\n")),
            HeadTooLong
        );
        let long = format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(LONGEST_HEAD));
        assert_eq!(refusal(&long), HeadTooLong);
        for no_http in ["\x16\x03\x01", "G\0", "METHODTHATISTOOLONG", "\r\n"] {
            assert_eq!(refusal(no_http), Malformed, "{no_http:?}");
        }
    }

    fn pieces() -> impl Strategy<Value = Vec<u8>> {
        let words = prop_oneof![
            Just(b"GET ".to_vec()),
            Just(b"/api/state ".to_vec()),
            Just(b"HTTP/1.1".to_vec()),
            Just(b"\r\n".to_vec()),
            Just(b"Host: ".to_vec()),
            Just(b"Content-Length: 7".to_vec()),
            prop::collection::vec(any::<u8>(), 0..6),
        ];
        prop::collection::vec(words, 0..16).prop_map(|all| all.concat())
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused_and_more_bytes_change_no_verdict(
            bytes in pieces(), more in prop::collection::vec(any::<u8>(), 0..9)
        ) {
            let longer = [&bytes[..], &more].concat();
            match Request::parse(&bytes) {
                Ok(None) => prop_assert!(bytes.len() < LONGEST_HEAD + LONGEST_BODY),
                Ok(Some(request)) => {
                    let again = Request::parse(&longer);
                    prop_assert_eq!(again, Ok(Some(request)));
                }
                Err(_) => prop_assert!(Request::parse(&longer).is_err()),
            }
        }
    }
}
