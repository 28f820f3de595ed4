//! Whatever a control connection sends, in whatever pieces: every request is found or refused,
//! input and replies are bounded, and the same bytes in one piece are the same requests.

use super::input::Input;
use trammel_router::control::protocol::{MOST_BYTES, Request, Session};

/// More than all replies to wrong requests of so few bytes are: `HELP` gives the most for its
/// bytes.
const REPLY_BYTES_A_BYTE: usize = 256;

fn requests(pieces: &[&[u8]]) -> (Vec<Request>, Session) {
    let (mut found, mut session) = (Vec::new(), Session::new());
    for piece in pieces {
        session.take(piece);
        found.extend(std::iter::from_fn(|| session.next(false)));
    }
    found.extend(std::iter::from_fn(|| session.next(true)));
    (found, session)
}

pub(crate) fn run(bytes: &[u8]) {
    let mut input = Input(bytes);
    let size = usize::from(input.u8()) + 1;
    let all = input.0;
    let pieces: Vec<&[u8]> = all.chunks(size).collect();
    let (cut, session) = requests(&pieces);
    let (whole, _) = requests(&[all]);
    assert_eq!(cut, whole, "requests do not depend on how they are cut");
    assert!(session.output.len() <= REPLY_BYTES_A_BYTE * (all.len() + 1));
    for request in &cut {
        let (Request::Read(_, data) | Request::Write(_, data)) = request else {
            continue;
        };
        assert!(data.len() <= 4 * MOST_BYTES);
    }
}
