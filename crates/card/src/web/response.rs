//! The answers of the site.

use super::refusal::Refusal;
use serde_json::json;
use trammel_local_http::response::Response;

/// Only what this server gave is run, shown or asked for, and no other page shows this one in a
/// frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// The type of state and of what is said of edits.
pub(super) const JSON: &str = "application/json; charset=utf-8";

/// An answer whose body has the type `media`.
pub(super) fn ok(media: &'static str, body: &str) -> Response {
    Response::new("200 OK", media, body.to_owned()).with_policy(POLICY)
}

/// A refusal; `what` says more than its reason does.
pub(super) fn refused(refusal: Refusal, what: Option<&str>) -> Response {
    let error = what.unwrap_or(refusal.text());
    let body = json!({ "ok": false, "error": error, "reason": refusal.key() }).to_string();
    let response = Response::new(refusal.status(), JSON, body).with_policy(POLICY);
    if refusal == Refusal::Method {
        response.allowing("GET, HEAD, POST")
    } else {
        response
    }
}
