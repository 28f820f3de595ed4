//! Why a request is refused.

use trammel_local_http::refusal;

/// Why a request is refused. Each refusal is counted by its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It is no request, or one of a stranger.
    Http(refusal::Refusal),
    /// There is nothing at its path.
    Path,
    /// Its path is not for this method.
    Method,
    /// An edit without the token.
    Token,
    /// An edit that is not sent as JSON.
    Type,
    /// An edit that is none.
    Body,
}

impl From<refusal::Refusal> for Refusal {
    fn from(refusal: refusal::Refusal) -> Refusal {
        Refusal::Http(refusal)
    }
}

impl Refusal {
    /// All reasons.
    pub(super) fn all() -> impl Iterator<Item = Refusal> {
        use Refusal::{Body, Http, Method, Path, Token, Type};
        let http = refusal::Refusal::ALL.iter().copied().map(Http);
        http.chain([Path, Method, Token, Type, Body])
    }

    /// Status code and reason phrase (RFC 9110 §15).
    pub(super) fn status(self) -> &'static str {
        match self {
            Refusal::Http(why) => why.status(),
            Refusal::Path => "404 Not Found",
            Refusal::Method => "405 Method Not Allowed",
            Refusal::Token => "403 Forbidden",
            Refusal::Type => "415 Unsupported Media Type",
            Refusal::Body => "400 Bad Request",
        }
    }

    /// Its name in the state.
    pub(super) fn key(self) -> &'static str {
        match self {
            Refusal::Http(why) => why.key(),
            Refusal::Path => "path",
            Refusal::Method => "method",
            Refusal::Token => "token",
            Refusal::Type => "type",
            Refusal::Body => "body",
        }
    }

    /// What is wrong, for people.
    pub(super) fn text(self) -> &'static str {
        match self {
            Refusal::Http(refusal::Refusal::BodyTooLong) => "the body has more than 4096 bytes",
            Refusal::Http(why) => why.text(),
            Refusal::Path => "there is nothing at this path",
            Refusal::Method => "pages and state are read by GET, edits sent by POST",
            Refusal::Token => {
                "edits need the token that the card printed at its start: open the address with \
                 #token="
            }
            Refusal::Type => "send Content-Type: application/json",
            Refusal::Body => "the body is no edit",
        }
    }
}
