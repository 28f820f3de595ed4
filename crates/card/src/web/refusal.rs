//! Why a request is refused.

/// Makes the enumeration of reasons: name, status, key in the state, text for people.
macro_rules! refusals {
    ($($name:ident, $status:literal, $key:literal, $text:literal;)*) => {
        /// Why a request is refused. Each refusal is counted by its reason.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(super) enum Refusal { $(#[doc = $text] $name,)* }

        impl Refusal {
            pub(super) const ALL: &'static [Refusal] = &[$(Refusal::$name,)*];

            /// Status code and reason phrase (RFC 9110 §15).
            pub(super) fn status(self) -> &'static str {
                match self { $(Refusal::$name => $status,)* }
            }

            /// Its name in the state.
            pub(super) fn key(self) -> &'static str {
                match self { $(Refusal::$name => $key,)* }
            }

            pub(super) fn text(self) -> &'static str {
                match self { $(Refusal::$name => $text,)* }
            }
        }
    };
}

refusals! {
    Malformed, "400 Bad Request", "malformed", "this is no request of HTTP/1.1";
    Version, "505 HTTP Version Not Supported", "version", "speak HTTP/1.1 or HTTP/1.0";
    HeadTooLong, "431 Request Header Fields Too Large", "head_too_long",
        "the header has more than 8192 bytes or 64 fields";
    Encoding, "501 Not Implemented", "encoding", "send a body with Content-Length, not encoded";
    Length, "400 Bad Request", "length", "Content-Length is one decimal number";
    BodyTooLong, "413 Content Too Large", "body_too_long", "the body has more than 4096 bytes";
    Expectation, "417 Expectation Failed", "expectation", "send the body without Expect";
    Host, "403 Forbidden", "host", "name this machine by an IP address or as localhost";
    Origin, "403 Forbidden", "origin", "a page of another site asks";
    Token, "403 Forbidden", "token",
        "edits need the token that the card printed at its start: open the address with #token=";
    Path, "404 Not Found", "path", "there is nothing at this path";
    Method, "405 Method Not Allowed", "method",
        "pages and state are read by GET, edits sent by POST";
    Type, "415 Unsupported Media Type", "type", "send Content-Type: application/json";
    Body, "400 Bad Request", "body", "the body is no edit";
}
