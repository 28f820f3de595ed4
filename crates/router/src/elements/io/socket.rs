//! Carries packets over TCP, UDP and UNIX sockets.
//!
//! # What it does
//! What comes in is sent; what is received comes out. `Socket(TCP, ADDR, PORT)` and `Socket(UNIX, FILE)` serve one
//! connection at a time, or with `CLIENT true` (the default without an output) make one; `UDP` and `UNIX_DGRAM` answer
//! whom the last packet came from, or with `CLIENT true` send to the one named. A UDP client of address 0.0.0.0
//! sends each packet to its destination annotation.  What is pushed to a socket that is full waits up to a batch; more is dropped.
//!
//! # Example
//! `Socket(UDP, 0.0.0.0, 4789) -> Counter -> Discard;`

use crate::args::kinds::{U16, UINT};
use crate::args::{Args, Kind, Need, Param, Value};
use crate::diagnostic::Diagnostics;
use crate::element::Element;
use crate::elements::Entry;
use crate::engine::Ctx;
use crate::engine::setup::Setup;
use crate::host::SocketRequest;
use crate::resizing::within_most;
use crate::socket_transport::SocketTransport;
use trammel_packet::batch::Batch;

/// The class.
pub static ENTRY: Entry = Entry::new("Socket", "packets by TCP, UDP and UNIX sockets", || {
    Box::<SocketElement>::default()
})
.ports("0-1/0-1", "a/h")
.flow("x/y")
.params(&[
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
    param(
        "SNAPLEN",
        Need::Keyword,
        UINT,
        "2048",
        "bytes that are kept of a packet",
    ),
    param(
        "HEADROOM",
        Need::Keyword,
        UINT,
        "28",
        "bytes free before a packet",
    ),
    param(
        "TIMESTAMP",
        Need::Keyword,
        Kind::Bool,
        "true",
        "whether packets carry their time",
    ),
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
    param(
        "SNDBUF",
        Need::Keyword,
        UINT,
        "",
        "bytes of the socket to send",
    ),
    param(
        "RCVBUF",
        Need::Keyword,
        UINT,
        "",
        "bytes of the socket to receive",
    ),
    param(
        "PROPER",
        Need::Keyword,
        Kind::Bool,
        "false",
        "accepted and without meaning here",
    ),
]);

const fn param(
    name: &'static str,
    need: Need,
    kind: Kind,
    default: &'static str,
    help: &'static str,
) -> Param {
    Param {
        name,
        need,
        kind,
        default,
        help,
    }
}

#[derive(Debug, Default)]
struct SocketElement {
    transport: Option<SocketTransport>,
}

impl Element for SocketElement {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
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
        let mut options = vec![("NODELAY".to_owned(), args.bool("NODELAY").to_string())];
        for key in ["SNDBUF", "RCVBUF"] {
            if let Some(bytes) = args.opt_uint(key) {
                options.push((key.to_owned(), bytes.to_string()));
            }
        }
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
        transport.snaplen = args.uint("SNAPLEN") as usize;
        transport.headroom = within_most("HEADROOM", args.uint("HEADROOM"))?;
        transport.stamps = args.bool("TIMESTAMP");
        transport.verbose = args.bool("VERBOSE");
        self.transport = Some(transport);
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        self.transport
            .as_mut()
            .map_or(Ok(()), |one| one.initialize(ctx))
    }

    fn push(&mut self, ctx: &mut Ctx, _: usize, batch: Batch) {
        match &mut self.transport {
            Some(transport) => transport.push(ctx, batch),
            None => ctx.recycle(batch),
        }
    }

    fn run_task(&mut self, ctx: &mut Ctx, _: u32) -> bool {
        self.transport.as_mut().is_some_and(|one| one.run_task(ctx))
    }

    fn ready(&mut self, ctx: &mut Ctx, descriptor: i32) {
        if let Some(transport) = &mut self.transport {
            transport.ready(ctx, descriptor, &mut |_, _| true);
        }
    }

    fn cleanup(&mut self, ctx: &mut Ctx) {
        if let Some(transport) = &mut self.transport {
            transport.cleanup(ctx);
        }
    }
}
