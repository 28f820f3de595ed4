//! Whatever a connection sends is a request, is waited for within bounds, or is refused; more bytes
//! change no verdict; and who passes the gate has named this machine.

use std::net::SocketAddr;
use trammel_local_http::gate::{Gate, Names, Use};
use trammel_local_http::request::{LONGEST_HEAD, Limits, Request};

const LIMITS: Limits = Limits {
    body: 4096,
    once: &["x-trammel-token"],
};

pub(crate) fn run(bytes: &[u8]) {
    let whole = Request::parse(bytes, LIMITS);
    let part = &bytes[..bytes.len() / 2];
    match Request::parse(part, LIMITS) {
        Ok(None) => assert!(part.len() < LONGEST_HEAD + LIMITS.body, "it waits for ever"),
        Ok(Some(request)) => assert_eq!(whole.as_ref(), Ok(&Some(request))),
        Err(why) => assert!(whole.is_err(), "{why:?} was forgiven"),
    }
    let Ok(Some(request)) = whole else { return };
    assert!(request.path.starts_with('/') && request.body.len() <= LIMITS.body);
    let local = SocketAddr::from(([127, 0, 0, 1], 80));
    for names in [Names::Addresses, Names::Any] {
        if Gate::new(local, names).check(&request, Use::Data).is_err() {
            continue;
        }
        let host = request.field("host").expect("who is let in has named us");
        let host = host.to_ascii_lowercase();
        assert!(
            ["localhost", "127.", "["]
                .iter()
                .any(|own| host.starts_with(own)),
            "{host}"
        );
        let origin = request.field("origin");
        assert!(origin.is_none_or(|origin| origin.ends_with(request.field("host").unwrap_or("?"))));
    }
}
