//! An answer of HTTP/1.1 with the headers that keep a page to itself.

use super::refusal::Refusal;
use serde_json::json;

/// Only what this server gave is run, shown or asked for, and no other page shows this one in a
/// frame. `no-store`: the state is old at once, and a page of another release would misread it.
const HEADERS: &str = "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src \
    'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'\r\n\
    X-Content-Type-Options: nosniff\r\n\
    X-Frame-Options: DENY\r\n\
    Referrer-Policy: no-referrer\r\n\
    Cross-Origin-Opener-Policy: same-origin\r\n\
    Cross-Origin-Resource-Policy: same-origin\r\n\
    Cache-Control: no-store\r\n\
    Connection: close\r\n\r\n";

/// An answer whose body has the type `media`.
pub(super) fn ok(media: &str, body: &str) -> Vec<u8> {
    answer("200 OK", media, body)
}

/// A refusal; `what` says more than its reason does.
pub(super) fn refused(refusal: Refusal, what: Option<&str>) -> Vec<u8> {
    let error = what.unwrap_or(refusal.text());
    let body = json!({ "ok": false, "error": error, "reason": refusal.key() }).to_string();
    answer(refusal.status(), "application/json", &body)
}

fn answer(status: &str, media: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    // RFC 9110 §15.5.6: an answer of 405 says what is allowed.
    let allow = if status.starts_with("405") {
        "Allow: GET, HEAD, POST\r\n"
    } else {
        ""
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {media}; charset=utf-8\r\nContent-Length: \
         {length}\r\n{allow}{HEADERS}"
    );
    (head + body).into_bytes()
}

/// The answer without its body, for HEAD.
pub(super) fn head_only(mut answer: Vec<u8>) -> Vec<u8> {
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n");
    answer.truncate(end.map_or(answer.len(), |end| end + 4));
    answer
}
