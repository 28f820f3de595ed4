//! What a script says: options, a set-up command, and events in the order of time.
//!
//! The language is packetdrill's (Cardwell et al., "packetdrill: Scriptable Network Stack Testing,
//! from Sockets to Packets", USENIX ATC 2013). One event is a time and an action:
//!
//! ```text
//! +.1 < . 1:1(0) ack 1001 win 257            a segment that arrives
//! +0  > P. 1001:2001(1000) ack 1             a segment that is expected to leave
//! +0  write(4, ..., 1000) = 1000             a system call and its result
//! +0  %{ assert tcpi_snd_cwnd == 10 }%       what must hold of the connection
//! +0  `sysctl -q net.ipv4.tcp_ecn=1`         a command
//! ```

mod call;
mod cursor;
mod parse;
mod print;
mod segment;

use trammel_core::time::Span;
use trammel_tcp::accecn::AccEcn;
use trammel_tcp::segment::{Ecn, Flags};

/// A script that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// `--name=value` lines at its top, in their order; the value is empty where there is none.
    pub options: Vec<(Place, String, String)>,
    /// Set-up command, events, clean-up command.
    pub events: Vec<Event>,
}

/// Where something stands in a script, from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Line.
    pub line: u32,
    /// Column, in characters.
    pub column: u32,
}

/// Why a script cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// It is not in the language.
    #[error("{}:{}: {what}", place.line, place.column)]
    Malformed {
        /// Where.
        place: Place,
        /// What was found, why that is wrong and what to do.
        what: String,
    },
    /// It uses a part of the language that concerns no TCP of ours.
    #[error("{what}")]
    OutOfScope {
        /// Where.
        place: Place,
        /// What it uses.
        what: String,
    },
}

/// One line of a script, as a rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Where it begins.
    pub place: Place,
    /// When it is to happen.
    pub when: When,
    /// What is to happen.
    pub action: Action,
}

/// The time of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// `0.1`: so long after the script's start.
    Absolute(Span),
    /// `+0.1`: so long after the event before.
    Relative(Span),
    /// `0.1~0.2`: between two times after the script's start.
    AbsoluteRange(Span, Span),
    /// `+0.1~+0.2`: between two times after the event before.
    RelativeRange(Span, Span),
    /// `*`: whenever.
    Any,
}

/// What happens in an event.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// `<`: a segment arrives.
    Inject(SegmentLine),
    /// `>`: a segment is expected to leave.
    Expect(SegmentLine),
    /// A system call.
    Call(Call),
    /// `` `…` ``: the text of a command for a shell.
    Command(String),
    /// `%{ … }%`: the text of assertions.
    Code(String),
}

/// A segment in packetdrill's notation. Sequence numbers are relative to the initial ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentLine {
    /// ECN field of the IP header; any where there is none.
    pub ecn: Option<Ecn>,
    /// Header flags.
    pub flags: Flags,
    /// Sequence number.
    pub seq: u32,
    /// Payload bytes.
    pub len: u32,
    /// Acknowledgement number.
    pub ack: Option<u32>,
    /// Window field, not scaled; any where there is none.
    pub window: Option<u16>,
    /// TCP options; any where there is none (`<...>`).
    pub options: Option<Vec<TcpOption>>,
}

/// A TCP option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TcpOption {
    /// No operation.
    Nop,
    /// End of options.
    Eol,
    /// Maximum segment size, bytes.
    Mss(u16),
    /// Window scale.
    WindowScale(u8),
    /// SACK-permitted.
    SackPermitted,
    /// SACK blocks: first sequence number, first one after.
    Sack(Vec<(u32, u32)>),
    /// Timestamps: value, echo reply.
    Timestamps(u32, u32),
    /// The AccECN option (RFC 9768 §3.2.3).
    AccEcn(AccEcn),
}

/// A system call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Its name.
    pub name: String,
    /// Its arguments.
    pub arguments: Vec<Expr>,
    /// When it is to return, where it blocks; after the same instant as the event's own time.
    pub until: Option<Span>,
    /// What it is to return; anything where there is none.
    pub result: Option<i64>,
    /// The error that it is to return.
    pub errno: Option<String>,
}

/// An argument of a system call.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// `...`: whatever serves.
    Ellipsis,
    /// A number.
    Int(i64),
    /// A name.
    Word(String),
    /// A string.
    Text(String),
    /// `A|B`.
    Or(Vec<Expr>),
    /// `[a, b]`.
    List(Vec<Expr>),
    /// `{a, b=c}`.
    Struct(Vec<Expr>),
    /// `name(…) = value` or `name = value`.
    Field(String, Box<Expr>),
    /// `name(a, b)`.
    Apply(String, Vec<Expr>),
}
