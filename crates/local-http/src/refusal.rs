//! Why a request is refused before anybody looks at what it asks for.

/// Makes the enumeration of reasons: name, status, key, text for people.
macro_rules! refusals {
    ($($name:ident, $status:literal, $key:literal, $text:literal;)*) => {
        /// Why a request is refused.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Refusal { $(#[doc = $text] $name,)* }

        impl Refusal {
            /// All reasons, in the order of their discriminants.
            pub const ALL: &'static [Refusal] = &[$(Refusal::$name,)*];

            /// Status code and reason phrase (RFC 9110 §15).
            pub fn status(self) -> &'static str {
                match self { $(Refusal::$name => $status,)* }
            }

            /// Its name for programs.
            pub fn key(self) -> &'static str {
                match self { $(Refusal::$name => $key,)* }
            }

            /// What is wrong, for people.
            pub fn text(self) -> &'static str {
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
    BodyTooLong, "413 Content Too Large", "body_too_long",
        "the body has more bytes than are read here";
    Expectation, "417 Expectation Failed", "expectation", "send the body without Expect";
    Host, "403 Forbidden", "host", "name this machine by an IP address or as localhost";
    Origin, "403 Forbidden", "origin", "a page of another site asks";
}
