//! What a live page answers: itself, and whether there is more.

use super::{Shown, locked};
use std::sync::{Arc, Mutex};
use std::time::Instant;
use trammel_local_http::request::Request;
use trammel_local_http::response::Response;
use trammel_local_http::token;

/// The page has a policy of its own in its head, which knows its scripts.
const POLICY: &str = "frame-ancestors 'none'";

/// The answer to a question that is allowed to be asked.
pub(super) fn route(request: &Request, shown: &Mutex<Shown>, token: &str) -> Response {
    let inside = request
        .path
        .strip_prefix('/')
        .and_then(|path| path.split_once('/'));
    let inside = inside.filter(|(given, _)| token::is_equal(given, token));
    let Some((_, what @ ("" | "state"))) = inside else {
        return Response::text("404 Not Found", "there is nothing here");
    };
    let mut shown = locked(shown);
    shown.asked = Some(Instant::now());
    if what == "state" {
        let word = if shown.has_ended { "ended" } else { "running" };
        let state = format!("{} {word}", shown.version);
        return Response::new("200 OK", "text/plain; charset=utf-8", state);
    }
    if request.method == "GET" {
        shown.taken = shown.version;
    }
    let page = Arc::clone(&shown.page);
    drop(shown);
    Response::new("200 OK", "text/html; charset=utf-8", page.to_string()).with_policy(POLICY)
}
