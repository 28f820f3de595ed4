//! Who may edit: whoever has the token, which is in the address that the card printed and never
//! leaves the page but with an edit. Who may ask is said by `trammel_local_http::gate`.

use super::refusal::Refusal;
use trammel_local_http::request::{Limits, Request};
use trammel_local_http::token;

/// The field that has the token, in lower case.
const TOKEN_FIELD: &str = "x-trammel-token";
/// What requests may have: the longest edit is a row of a table.
pub(super) const LIMITS: Limits = Limits {
    body: 4 << 10,
    once: &[TOKEN_FIELD],
};

/// Refuses edits without `token`, which is not empty, or in another form than JSON: a page of
/// another site can send forms and text, but JSON only to who allows it.
pub(super) fn check_edit(request: &Request, token: &str) -> Result<(), Refusal> {
    let given = request.field(TOKEN_FIELD).unwrap_or("");
    if !token::is_equal(given, token) {
        return Err(Refusal::Token);
    }
    let media = request.field("content-type").unwrap_or("");
    let media = media.split(';').next().unwrap_or("").trim();
    if !media.eq_ignore_ascii_case("application/json") {
        return Err(Refusal::Type);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_needs_the_whole_token_and_json() {
        let edit = |fields: &str| {
            let text = format!("POST / HTTP/1.1\r\n{fields}\r\n");
            let request = Request::parse(text.as_bytes(), LIMITS).unwrap();
            check_edit(&request.unwrap(), "secret")
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
    }

    #[test]
    fn two_tokens_are_none() {
        let twice = "X-Trammel-Token: secret\r\n".repeat(2);
        let text = format!("POST / HTTP/1.1\r\n{twice}\r\n");
        assert!(Request::parse(text.as_bytes(), LIMITS).is_err());
    }
}
