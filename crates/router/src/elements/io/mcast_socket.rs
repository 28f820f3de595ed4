//! Carries packets over multicast UDP.
//!
//! # What it does
//! What comes in is sent to the group; what others send to it comes out. With `SOURCEIP` packets
//! are sent from that address by its interface, and its own are not received again; else
//! `LOOP false` keeps this machine from receiving what it sends.
//!
//! # Example
//! ```click
//! link :: McastSocket(239.0.0.1, 1234, 127.0.0.1); Idle -> link -> Discard
//! ```

use super::shared::socket_element::{
    HEADROOM, RCVBUF, SNAPLEN, SNDBUF, SocketElement, TIMESTAMP, buffers, take_common,
};
use super::shared::socket_transport::SocketTransport;
use crate::args::{Args, Kind, Need, param};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::host::SocketRequest;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "McastSocket",
    "sends and receives packets by multicast UDP",
    || Box::new(SocketElement::new(configure)),
)
.ports("0-1/0-1", "a/h")
.flow("x/y")
.params(&[
    param("MCASTIP", Need::Mandatory, Kind::Ip, "", "the group"),
    param(
        "MCASTPORT",
        Need::Mandatory,
        Kind::IpPort(17),
        "",
        "its port",
    ),
    param(
        "SOURCEIP",
        Need::Positional,
        Kind::Ip,
        "0.0.0.0",
        "the address to send from, and its interface",
    ),
    param(
        "SOURCEPORT",
        Need::Positional,
        Kind::IpPort(17),
        "0",
        "the port to send from",
    ),
    param(
        "LOOP",
        Need::Keyword,
        Kind::Bool,
        "true",
        "whether this machine receives what is sent",
    ),
    SNAPLEN,
    HEADROOM,
    TIMESTAMP,
    SNDBUF,
    RCVBUF,
])
.ops("0.5 * driver(frame, 1); work(10)");

fn configure(_: &mut Setup, args: &Args) -> Result<SocketTransport, Diagnostics> {
    let mut options = buffers(args);
    options.push(("LOOP".to_owned(), args.bool("LOOP").to_string()));
    let source = args.ip("SOURCEIP");
    let mut transport = SocketTransport::new(SocketRequest {
        kind: "multicast".to_owned(),
        local: if source.is_unspecified() {
            String::new()
        } else {
            format!("{source}:{}", args.uint("SOURCEPORT"))
        },
        remote: format!("{}:{}", args.ip("MCASTIP"), args.uint("MCASTPORT")),
        listen: false,
        options,
    });
    take_common(&mut transport, args)?;
    transport.stamps = args.bool("TIMESTAMP");
    Ok(transport)
}
