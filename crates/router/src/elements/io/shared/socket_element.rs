//! What the classes that speak by sockets share: an element whose configuration is a
//! [`SocketTransport`].

use super::socket_transport::SocketTransport;
use crate::args::kinds::UINT;
use crate::args::packet_length::within_most;
use crate::args::{Args, Kind, Need, Param, param};
use crate::diagnostic::Diagnostics;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use trammel_packet::batch::Batch;

/// Makes the transport of a class from its arguments.
pub(crate) type Configure = fn(&mut Setup, &Args) -> Result<SocketTransport, Diagnostics>;

/// An element that speaks by a socket.
#[derive(Debug)]
pub(crate) struct SocketElement {
    configure: Configure,
    transport: Option<SocketTransport>,
}

impl SocketElement {
    /// Of a class.
    pub(crate) fn new(configure: Configure) -> SocketElement {
        SocketElement {
            configure,
            transport: None,
        }
    }
}

/// `SNAPLEN`.
pub(crate) const SNAPLEN: Param = param(
    "SNAPLEN",
    Need::Keyword,
    UINT,
    "2048",
    "bytes that are kept of a packet",
);
/// `HEADROOM`.
pub(crate) const HEADROOM: Param = param(
    "HEADROOM",
    Need::Keyword,
    UINT,
    "28",
    "bytes free before a packet",
);
/// `TIMESTAMP`.
pub(crate) const TIMESTAMP: Param = param(
    "TIMESTAMP",
    Need::Keyword,
    Kind::Bool,
    "true",
    "whether packets carry their time",
);
/// `SNDBUF`.
pub(crate) const SNDBUF: Param = param(
    "SNDBUF",
    Need::Keyword,
    UINT,
    "",
    "bytes of the socket to send",
);
/// `RCVBUF`.
pub(crate) const RCVBUF: Param = param(
    "RCVBUF",
    Need::Keyword,
    UINT,
    "",
    "bytes of the socket to receive",
);

/// What the parameters above ask, of those that a class has.
pub(crate) fn take_common(transport: &mut SocketTransport, args: &Args) -> Result<(), Diagnostics> {
    transport.snaplen = args.uint("SNAPLEN") as usize;
    transport.headroom = within_most("HEADROOM", args.uint("HEADROOM"))?;
    Ok(())
}

/// The sizes of the socket's buffers, as its options.
pub(crate) fn buffers(args: &Args) -> Vec<(String, String)> {
    let given = |key: &'static str| {
        args.opt_uint(key)
            .map(|bytes| (key.to_owned(), bytes.to_string()))
    };
    ["SNDBUF", "RCVBUF"].into_iter().filter_map(given).collect()
}

impl Element for SocketElement {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.transport = Some((self.configure)(setup, args)?);
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        self.transport
            .as_mut()
            .map_or(Ok(()), |one| one.initialize(ctx))
    }

    fn push(&mut self, ctx: &mut Ctx, _: usize, mut batch: Batch) {
        match &mut self.transport {
            Some(transport) => transport.push(ctx, batch),
            None => {
                ctx.drop_all(&mut batch, crate::reason::Reason::SendFailed);
                ctx.recycle(batch);
            }
        }
    }

    fn run_task(&mut self, ctx: &mut Ctx, _: u32) -> bool {
        self.transport.as_mut().is_some_and(|one| one.run_task(ctx))
    }

    fn ready(&mut self, ctx: &mut Ctx, descriptor: i32) {
        if let Some(transport) = &mut self.transport {
            transport.ready(ctx, descriptor);
        }
    }

    fn cleanup(&mut self, ctx: &mut Ctx) {
        if let Some(transport) = &mut self.transport {
            transport.cleanup(ctx);
        }
    }
}
