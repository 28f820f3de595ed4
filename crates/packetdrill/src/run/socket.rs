//! Sockets: what a script's file descriptors stand for.

use crate::setup::Settings;
use trammel_core::entry::Params;
use trammel_core::rng::Rng;
use trammel_tcp::cc;
use trammel_tcp::connection::Connection;
use trammel_tcp::stack::{EcnMode, Stack};

/// What a socket is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Nothing yet.
    Fresh,
    /// It waits for connections.
    Listening,
    /// It has, or had, a connection: its number.
    Connected(usize),
}

/// A socket.
#[derive(Clone, Debug)]
pub(super) struct Socket {
    pub(super) role: Role,
    /// It has the port that what arrives is for.
    pub(super) is_bound: bool,
    /// Calls return at once (`O_NONBLOCK`).
    pub(super) is_nonblocking: bool,
    /// Nothing more is read (`SHUT_RD`).
    pub(super) is_shut_for_reading: bool,
    /// `TCP_MAXSEG`.
    pub(super) mss: Option<u16>,
    /// Nagle's algorithm: the contrary of `TCP_NODELAY`.
    pub(super) nagle: bool,
    /// `SO_SNDBUF`, doubled as the kernel does; without it the buffer grows to the sysctl's bound.
    pub(super) send_buffer: Option<u64>,
    /// `SO_RCVBUF`, which the kernel doubles.
    pub(super) receive_buffer: Option<u64>,
    /// `SO_LINGER` of zero seconds: closing resets.
    pub(super) resets_on_close: bool,
    /// `TCP_CONGESTION`.
    pub(super) congestion_control: &'static str,
    /// The connection's failure has been reported.
    pub(super) has_told_failure: bool,
}

impl Socket {
    pub(super) fn new(settings: &Settings) -> Socket {
        Socket {
            role: Role::Fresh,
            is_bound: false,
            is_nonblocking: false,
            is_shut_for_reading: false,
            mss: None,
            nagle: settings.stack.nagle,
            send_buffer: None,
            receive_buffer: None,
            resets_on_close: false,
            congestion_control: settings.congestion_control,
            has_told_failure: false,
        }
    }

    /// The socket of a connection that came in by this one.
    pub(super) fn accepted(&self, end: usize) -> Socket {
        Socket {
            role: Role::Connected(end),
            is_nonblocking: false,
            ..self.clone()
        }
    }

    fn stack(&self, settings: &Settings, ecn: EcnMode) -> Stack {
        let mut stack = Stack {
            mss: self
                .mss
                .map_or(settings.stack.mss, |mss| mss.min(settings.stack.mss)),
            nagle: self.nagle,
            ecn,
            ..settings.stack.clone()
        };
        if let Some(bytes) = self.receive_buffer {
            stack.set_receive_buffer(bytes);
        }
        stack
    }

    /// The connection that this socket opens, or that comes in by it; the `number`th of the script.
    pub(super) fn connection(&self, settings: &Settings, number: usize) -> Connection {
        let entry =
            cc::find(self.congestion_control).expect("names are looked up when they are set");
        let params =
            Params::resolve(&entry.about, &[]).expect("the defaults are within their ranges");
        let control = (entry.build)(&params);
        let rng = Rng::new(1, &format!("packetdrill:{number}"));
        let mut connection = if self.role == Role::Listening {
            let stack = self.stack(settings, settings.grants_ecn);
            Connection::server(&stack, control, rng)
        } else {
            let stack = self.stack(settings, settings.asks_for_ecn);
            Connection::client(&stack, control, rng)
        };
        connection.set_auto_read(false);
        connection
    }
}
