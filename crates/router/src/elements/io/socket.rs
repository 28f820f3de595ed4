//! Carries packets over TCP, UDP and UNIX sockets.
//!
//! # What it does
//! What comes in is sent; what is received comes out. `Socket(TCP, ADDR, PORT)` and
//! `Socket(UNIX, FILE)` serve one connection at a time, or with `CLIENT true` (the default without
//! an output) make one; `UDP` and `UNIX_DGRAM` answer whom the last packet came from, or with
//! `CLIENT true` send to the one named. A UDP client of address 0.0.0.0 sends each packet to its
//! destination annotation. What is pushed to a socket that is full waits up to a batch; more is
//! dropped.
//!
//! A server takes whom `ALLOW`, a table of routes such as `RadixIPLookup`, has a route to, and of
//! the others whom `DENY` has none to.
//!
//! # Example
//! ```click
//! Socket(UDP, 0.0.0.0, 4789) -> Counter -> Discard
//! ```

use super::shared::socket_element::{
    HEADROOM, RCVBUF, SNAPLEN, SNDBUF, SocketElement, TIMESTAMP, buffers, take_common,
};
use super::shared::socket_transport::SocketTransport;
use crate::args::kinds::U16;
use crate::args::{Args, Kind, Need, Param, Value, param};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::host::SocketRequest;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "Socket",
    "sends and receives packets by TCP, UDP and UNIX sockets",
    || Box::new(SocketElement::new(configure)),
)
.ports("0-1/0-1", "a/h")
.flow("x/y")
.params(PARAMS)
.ops("0.5 * driver(frame, 1); work(10)");

/// The arguments, which are those of `FromSocket` and `ToSocket` too.
pub static PARAMS: &[Param] = &[
    param(
        "TYPE",
        Need::Mandatory,
        Kind::Text,
        "",
        "TCP, UDP, UNIX or UNIX_DGRAM",
    ),
    param(
        "ADDR",
        Need::Mandatory,
        Kind::Text,
        "",
        "the address, or the file",
    ),
    param(
        "PORT",
        Need::Positional,
        Kind::Text,
        "",
        "the port, or the local file",
    ),
    param(
        "LOCAL_ADDR",
        Need::Positional,
        Kind::Ip,
        "0.0.0.0",
        "the local address of a client",
    ),
    param(
        "LOCAL_PORT",
        Need::Positional,
        U16,
        "0",
        "the local port of a client",
    ),
    SNAPLEN,
    HEADROOM,
    TIMESTAMP,
    param(
        "NODELAY",
        Need::Keyword,
        Kind::Bool,
        "true",
        "whether TCP sends at once",
    ),
    param(
        "CLIENT",
        Need::Keyword,
        Kind::Bool,
        "false",
        "whether it connects",
    ),
    param(
        "VERBOSE",
        Need::Keyword,
        Kind::Bool,
        "false",
        "whether connections are told",
    ),
    SNDBUF,
    RCVBUF,
    param(
        "ALLOW",
        Need::Keyword,
        Kind::Element,
        "",
        "the table of routes to those who may speak to a server",
    ),
    param(
        "DENY",
        Need::Keyword,
        Kind::Element,
        "",
        "the table of routes to those who may not, unless ALLOW has one",
    ),
    param(
        "PROPER",
        Need::Keyword,
        Kind::Bool,
        "false",
        "accepted and without meaning here",
    ),
];

/// The transport that the arguments ask for.
pub fn configure(setup: &mut Setup, args: &Args) -> Result<SocketTransport, Diagnostics> {
    let mut said = Diagnostics::new();
    let kind = args.text("TYPE").to_ascii_uppercase();
    let (name, is_stream, is_unix) = match kind.as_str() {
        "TCP" => ("tcp", true, false),
        "UDP" => ("udp", false, false),
        "UNIX" => ("unix", true, true),
        "UNIX_DGRAM" => ("unix-datagram", false, true),
        _ => {
            said.error(None, format!("unknown socket type `{kind}'"));
            return Err(said);
        }
    };
    let mut has_local = args.given("LOCAL_PORT") || args.given("LOCAL_ADDR");
    let (there, local) = if is_unix {
        has_local = args.given("PORT");
        (args.text("ADDR").to_owned(), args.text("PORT").to_owned())
    } else {
        let protocol = if is_stream { 6 } else { 17 };
        let address = Kind::Ip.parse(args.text("ADDR"), &setup.names());
        let port = Kind::IpPort(protocol).parse(args.text("PORT"), &setup.names());
        let (Ok(Value::Ip(address)), Ok(Value::UInt(port))) = (address, port) else {
            said.error(None, "ADDR and PORT: an IP address and a port are required");
            return Err(said);
        };
        let local = format!("{}:{}", args.ip("LOCAL_ADDR"), args.uint("LOCAL_PORT"));
        (format!("{address}:{port}"), local)
    };
    let is_client = (args.opt_bool("CLIENT")).unwrap_or(setup.outputs.is_empty() || has_local);
    let mut options = buffers(args);
    options.push(("NODELAY".to_owned(), args.bool("NODELAY").to_string()));
    let mut transport = SocketTransport::new(SocketRequest {
        kind: name.to_owned(),
        local: match (is_client, has_local) {
            (false, _) => there.clone(),
            (true, true) => local,
            (true, false) => String::new(),
        },
        remote: if is_client {
            there.clone()
        } else {
            String::new()
        },
        listen: !is_client,
        options,
    });
    transport.is_stream = is_stream;
    transport.by_annotation = name == "udp" && is_client && there.starts_with("0.0.0.0:");
    take_common(&mut transport, args)?;
    transport.tables = ["ALLOW", "DENY"].map(|key| args.element(key));
    transport.stamps = args.bool("TIMESTAMP");
    transport.verbose = args.bool("VERBOSE");
    Ok(transport)
}
