//! An answer of HTTP/1.1 with the headers that keep it to itself.

use crate::refusal::Refusal;

/// What a page may do that is none: nothing.
const NOTHING: &str = "default-src 'none'; frame-ancestors 'none'";
/// `no-store`: what is asked for is old at once, and a page of another release would misread it.
const HEADERS: &str = "X-Content-Type-Options: nosniff\r\n\
    X-Frame-Options: DENY\r\n\
    Referrer-Policy: no-referrer\r\n\
    Cross-Origin-Opener-Policy: same-origin\r\n\
    Cross-Origin-Resource-Policy: same-origin\r\n\
    Cache-Control: no-store\r\n\
    Connection: close\r\n\r\n";

/// An answer. After it the connection ends.
#[derive(Clone, Debug)]
pub struct Response {
    status: &'static str,
    media: &'static str,
    policy: &'static str,
    allow: Option<&'static str>,
    body: String,
}

impl Response {
    /// An answer with status code and reason phrase `status`, whose `body` has the type `media`
    /// with its parameters, such as `text/plain; charset=utf-8`.
    pub fn new(status: &'static str, media: &'static str, body: String) -> Response {
        Response {
            status,
            media,
            policy: NOTHING,
            allow: None,
            body,
        }
    }

    /// Says in a line of text why nothing else is answered.
    pub fn text(status: &'static str, line: &str) -> Response {
        Response::new(status, "text/plain; charset=utf-8", format!("{line}\n"))
    }

    /// Says in a line of text why the request is refused.
    pub(crate) fn refused(refusal: Refusal) -> Response {
        Response::text(refusal.status(), refusal.text())
    }

    /// Says that the method is none of `allow`, such as `GET, HEAD` (RFC 9110 §15.5.6).
    #[must_use]
    pub fn allowing(mut self, allow: &'static str) -> Response {
        self.allow = Some(allow);
        self
    }

    /// Sets the Content-Security-Policy: what the page in the body may load and do, which is
    /// nothing otherwise.
    #[must_use]
    pub fn with_policy(mut self, policy: &'static str) -> Response {
        self.policy = policy;
        self
    }

    /// The bytes of the answer to the request that `input` begins with. One to HEAD has no body
    /// (RFC 9110 §9.3.2), a refusal neither.
    pub fn bytes(&self, input: &[u8]) -> Vec<u8> {
        let allow = self.allow.map(|allow| format!("Allow: {allow}\r\n"));
        let head = format!(
            "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{}Content-Security-Policy: \
             {}\r\n{HEADERS}",
            self.status,
            self.media,
            self.body.len(),
            allow.unwrap_or_default(),
            self.policy,
        );
        let body = if input.starts_with(b"HEAD ") {
            ""
        } else {
            &self.body
        };
        (head + body).into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_to_head_has_the_length_and_no_body() {
        let answer = Response::text("404 Not Found", "nothing").allowing("GET, HEAD");
        let text = |input: &[u8]| String::from_utf8(answer.bytes(input)).unwrap();
        let whole = text(b"GET / HTTP/1.1\r\n\r\n");
        let (head, body) = whole.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 404 Not Found\r\n"), "{head}");
        for field in [
            "\r\nContent-Length: 8\r\n",
            "\r\nAllow: GET, HEAD\r\n",
            "\r\nContent-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n",
            "\r\nX-Content-Type-Options: nosniff\r\n",
        ] {
            assert!(head.contains(field), "{head}");
        }
        assert_eq!(body, "nothing\n");
        assert_eq!(text(b"HEAD / HTTP/1.1\r\n\r\n"), format!("{head}\r\n\r\n"));
    }
}
