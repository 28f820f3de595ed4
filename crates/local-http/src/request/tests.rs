use super::*;
use proptest::prelude::*;

/// Of a listener that takes short bodies and decides by a field of its own.
const LIMITS: Limits = Limits {
    body: 4096,
    once: &["x-token"],
};

fn refusal(text: &str) -> Refusal {
    Request::parse(text.as_bytes(), LIMITS).unwrap_err()
}

#[test]
fn a_request_is_read_once_it_is_whole() {
    let text = "POST /api/table/set?x=1?y HTTP/1.1\r\nHost: a\r\nContent-Length: \t3 \r\n\
                A: 1\r\na: 2\r\n\r\n{}\n";
    for cut in 0..text.len() {
        let parsed = Request::parse(&text.as_bytes()[..cut], LIMITS);
        assert_eq!(parsed, Ok(None), "{cut}");
    }
    let more = format!("{text}GET / HTTP/1.1\r\n\r\n");
    let request = Request::parse(more.as_bytes(), LIMITS).unwrap().unwrap();
    assert_eq!((request.method, request.path), ("POST", "/api/table/set"));
    assert_eq!(request.query, Some("x=1?y"));
    assert_eq!(request.body, b"{}\n");
    assert_eq!(request.field("host"), Some("a"));
    assert_eq!(request.field("origin"), None);
    assert_eq!(request.all("a").collect::<Vec<_>>(), ["1", "2"]);
    assert!(!request.is_question());
}

#[test]
fn what_can_be_read_in_two_ways_is_refused() {
    use Refusal::{BodyTooLong, Encoding, Expectation, HeadTooLong, Length, Malformed, Version};
    for (rest, why) in [
        ("Host: a\r\nHost: a", Malformed),
        ("Host: a\r\nhost: b", Malformed),
        ("X-Token: a\r\nx-token: a", Malformed),
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
        ("METHODTHATISTOOLONG / HTTP/1.1", Malformed),
        ("GET http://a/ HTTP/1.1", Malformed),
        ("GET * HTTP/1.1", Malformed),
        ("GET /# HTTP/1.1", Malformed),
        ("GET / HTTP/2", Version),
        ("GET / http/1.1", Malformed),
    ] {
        assert_eq!(refusal(&format!("{line}\r\n\r\n")), why, "{line:?}");
    }
    let many = "a: b\r\n".repeat(MOST_FIELDS + 1);
    let many = format!("GET / HTTP/1.1\r\n{many}\r\n");
    assert_eq!(refusal(&many), HeadTooLong);
    let long = format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(LONGEST_HEAD));
    assert_eq!(refusal(&long), HeadTooLong);
    for no_http in ["\x16\x03\x01", "G\0", "METHODTHATISTOOLONG", "\r\n"] {
        assert_eq!(refusal(no_http), Malformed, "{no_http:?}");
    }
}

#[test]
fn where_questions_alone_are_taken_a_body_is_too_long() {
    let asked = |length: &str| {
        let text = format!("GET / HTTP/1.1\r\nContent-Length: {length}\r\n\r\n");
        Request::parse(text.as_bytes(), Limits::default()).map(|request| request.is_some())
    };
    assert_eq!(asked("0"), Ok(true));
    assert_eq!(asked("1"), Err(Refusal::BodyTooLong));
}

fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let words = prop_oneof![
        Just(b"GET ".to_vec()),
        Just(b"/api/state?a ".to_vec()),
        Just(b"HTTP/1.1".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"Host: ".to_vec()),
        Just(b"Content-Length: 7".to_vec()),
        prop::collection::vec(any::<u8>(), 0..6),
    ];
    prop::collection::vec(words, 0..16).prop_map(|all| all.concat())
}

/// Requests that are right, with a body.
fn requests() -> impl Strategy<Value = String> {
    let fields = prop::collection::vec(("[a-z]{1,9}", "[ -~]{0,20}"), 0..6);
    let target = "/[a-z/]{0,20}(\\?[a-z=&]{0,9})?";
    ("(GET|HEAD|POST|PUT)", target, fields, "[ -~]{0,30}").prop_map(
        |(method, target, fields, body)| {
            let shown = |(name, value): (String, String)| format!("x-{name}: {value}\r\n");
            let fields: String = fields.into_iter().map(shown).collect();
            let length = body.len();
            format!(
                "{method} {target} HTTP/1.1\r\nHost: localhost\r\n{fields}Content-Length: \
                 {length}\r\n\r\n{body}"
            )
        },
    )
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused_and_more_bytes_change_no_verdict(
        bytes in pieces(), more in prop::collection::vec(any::<u8>(), 0..9)
    ) {
        let longer = [&bytes[..], &more].concat();
        match Request::parse(&bytes, LIMITS) {
            Ok(None) => prop_assert!(bytes.len() < LONGEST_HEAD + LIMITS.body),
            Ok(Some(request)) => {
                let again = Request::parse(&longer, LIMITS);
                prop_assert_eq!(again, Ok(Some(request)));
            }
            Err(_) => prop_assert!(Request::parse(&longer, LIMITS).is_err()),
        }
    }

    #[test]
    fn any_part_of_a_request_is_waited_for(
        text in requests(), cut in any::<prop::sample::Index>()
    ) {
        // A field may happen to be one that is there once.
        prop_assume!(!text.contains("x-token"));
        let whole = Request::parse(text.as_bytes(), LIMITS).unwrap().unwrap();
        prop_assert!(text.ends_with(std::str::from_utf8(whole.body).unwrap()));
        let part = &text.as_bytes()[..cut.index(text.len())];
        prop_assert_eq!(Request::parse(part, LIMITS), Ok(None));
    }

    #[test]
    fn a_request_with_a_byte_changed_is_read_or_refused(
        text in requests(), at in any::<prop::sample::Index>(), byte in any::<u8>()
    ) {
        let mut bytes = text.into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let _ = Request::parse(&bytes, LIMITS);
    }
}
