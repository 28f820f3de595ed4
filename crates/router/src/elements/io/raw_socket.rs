//! Carries IP packets by a raw socket.
//!
//! # What it does
//! What this machine receives of the IP protocol `TYPE` comes out with its header marked, beside
//! what the kernel does with it; what comes in is sent to its destination address, header included.
//! `PORT` is accepted and without meaning: raw sockets of this machine have no ports, and an
//! `IPClassifier` behind it tells them.
//!
//! # Example
//! ```click
//! // Pings to this machine are answered by the router.
//! RawSocket(ICMP) -> CheckIPHeader -> IPClassifier(icmp type echo) -> ICMPPingResponder
//!     -> Queue -> RawSocket(ICMP)
//! ```

use super::shared::socket_element::{HEADROOM, SNAPLEN, SocketElement, take_common};
use super::shared::socket_transport::SocketTransport;
use crate::args::{Args, Kind, Need, Value, param};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::host::SocketRequest;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "RawSocket",
    "sends and receives IP packets by raw sockets",
    || Box::new(SocketElement::new(configure)),
)
.ports("0-1/0-1", "l/h")
.flow("x/y")
.params(&[
    param(
        "TYPE",
        Need::Mandatory,
        Kind::Text,
        "",
        "the IP protocol, a number or a name",
    ),
    param(
        "PORT",
        Need::Positional,
        Kind::Text,
        "0",
        "accepted and without meaning here",
    ),
    SNAPLEN,
    HEADROOM,
])
.ops("0.5 * driver(frame, 1); work(10)");

fn configure(setup: &mut Setup, args: &Args) -> Result<SocketTransport, Diagnostics> {
    // Names of protocols are written in capitals here, and in small letters elsewhere.
    let name = args.text("TYPE").to_ascii_lowercase();
    let Ok(Value::UInt(protocol)) = Kind::Protocol.parse(&name, &setup.names()) else {
        return Err(Diagnostics::of(
            "TYPE: expected an IP protocol, a number or a name such as UDP",
        ));
    };
    let mut transport = SocketTransport::new(SocketRequest {
        kind: "raw".to_owned(),
        local: String::new(),
        remote: String::new(),
        listen: false,
        options: vec![("PROTOCOL".to_owned(), protocol.to_string())],
    });
    take_common(&mut transport, args)?;
    transport.is_ip = true;
    Ok(transport)
}
