//! A request of HTTP/1.1 (RFC 9112), read strictly and within bounds.
//!
//! Lines end with CR LF. What two programs may read differently is refused: a second Host or
//! Content-Length, folded lines, spaces before a colon, transfer encodings.

use crate::refusal::Refusal;

/// Bytes of a request's head, at most.
pub const LONGEST_HEAD: usize = 8 << 10;
/// Header fields, at most.
const MOST_FIELDS: usize = 64;
/// Letters of a method, at most.
const LONGEST_METHOD: usize = 15;
/// Fields that may be there once only: what they say decides.
const ONCE: [&str; 7] = [
    "host",
    "origin",
    "content-length",
    "content-type",
    "transfer-encoding",
    "expect",
    "sec-fetch-site",
];

/// What a request may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of its body, at most; 0 where nothing is sent but questions.
    pub body: usize,
    /// Fields, in lower case, that may be there once only, besides those that decide everywhere.
    pub once: &'static [&'static str],
}

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// In capitals, such as `GET`; any that has at most 15 letters.
    pub method: &'a str,
    /// From `/` on, without a query and as it was sent: nothing is decoded.
    pub path: &'a str,
    /// What follows the first `?`, if there is one.
    pub query: Option<&'a str>,
    fields: Vec<(&'a str, &'a str)>,
    /// As many bytes as Content-Length says.
    pub body: &'a [u8],
}

impl<'a> Request<'a> {
    /// The request at the beginning of `bytes`; none while it is not whole. What is refused stays
    /// so whatever follows, and whoever sends [`LONGEST_HEAD`] and `limits.body` bytes has a
    /// verdict.
    ///
    /// # Errors
    /// Why it is none, or too long.
    pub fn parse(bytes: &'a [u8], limits: Limits) -> Result<Option<Request<'a>>, Refusal> {
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
        let (method, target) = request_line(lines.next().unwrap_or(""))?;
        let split = target.split_once('?');
        let mut request = Request {
            method,
            path: split.map_or(target, |(path, _)| path),
            query: split.map(|(_, query)| query),
            fields: Vec::new(),
            body: &[],
        };
        for line in lines {
            if request.fields.len() >= MOST_FIELDS {
                return Err(Refusal::HeadTooLong);
            }
            request.fields.push(field(line)?);
        }
        for name in ONCE.iter().chain(limits.once) {
            if request.all(name).nth(1).is_some() {
                return Err(Refusal::Malformed);
            }
        }
        let length = request.length(limits.body)?;
        let begin = end + 4;
        match bytes.get(begin..begin + length) {
            Some(body) => request.body = body,
            None => return Ok(None),
        }
        Ok(Some(request))
    }

    /// The values of all fields `name`, which is compared without case.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &'a str> {
        let named = move |field: &&(&str, &str)| field.0.eq_ignore_ascii_case(name);
        self.fields.iter().filter(named).map(|field| field.1)
    }

    /// The value of the field `name` (compared without case), the first if there are several.
    pub fn field(&self, name: &str) -> Option<&'a str> {
        self.all(name).next()
    }

    /// Whether it asks for something and changes nothing.
    pub fn is_question(&self) -> bool {
        matches!(self.method, "GET" | "HEAD")
    }

    /// Bytes of the body.
    fn length(&self, most: usize) -> Result<usize, Refusal> {
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
        let length = text.parse().ok().filter(|length| *length <= most);
        length.ok_or(Refusal::BodyTooLong)
    }
}

/// Refuses what will be no request, however it goes on.
fn early<'a>(bytes: &[u8]) -> Result<Option<Request<'a>>, Refusal> {
    // No method of ours has a letter that is no capital.
    let is_method = |byte: &&u8| byte.is_ascii_uppercase();
    let letters = bytes.iter().take_while(is_method).count();
    let is_fit = letters <= LONGEST_METHOD && bytes.get(letters).is_none_or(|byte| *byte == b' ');
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

/// Method and target.
fn request_line(line: &str) -> Result<(&str, &str), Refusal> {
    let mut words = line.split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(Refusal::Malformed);
    };
    let is_method = (1..=LONGEST_METHOD).contains(&method.len())
        && method.bytes().all(|byte| byte.is_ascii_uppercase());
    if !is_method || !target.starts_with('/') || target.contains(['#', '\t']) {
        return Err(Refusal::Malformed);
    }
    if !matches!(version, "HTTP/1.1" | "HTTP/1.0") {
        let is_other = version.starts_with("HTTP/");
        return Err([Refusal::Malformed, Refusal::Version][usize::from(is_other)]);
    }
    Ok((method, target))
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
mod tests;
