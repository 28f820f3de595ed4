//! Carries packets over multicast UDP.
//!
//! # What it does
//! What comes in is sent to the group; what others send to it comes out. With `SOURCEIP` packets are sent from
//! that address by its interface, and its own are not received again; else `LOOP false` keeps this machine from
//! receiving what it sends.
//!
//! # Example
//! `link :: McastSocket(239.0.0.1, 1234, 127.0.0.1); Idle -> link -> Discard;`

use crate::args::kinds::UINT;
use crate::args::{Args, Kind, Need, Param};
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
pub static ENTRY: Entry = Entry::new("McastSocket", "packets by multicast UDP", || {
    Box::<McastSocket>::default()
})
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
struct McastSocket {
    transport: Option<SocketTransport>,
}

impl Element for McastSocket {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let mut options = vec![("LOOP".to_owned(), args.bool("LOOP").to_string())];
        for key in ["SNDBUF", "RCVBUF"] {
            if let Some(bytes) = args.opt_uint(key) {
                options.push((key.to_owned(), bytes.to_string()));
            }
        }
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
        transport.snaplen = args.uint("SNAPLEN") as usize;
        transport.headroom = within_most("HEADROOM", args.uint("HEADROOM"))?;
        transport.stamps = args.bool("TIMESTAMP");
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
