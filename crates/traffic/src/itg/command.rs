//! A flow as D-ITG's command line describes it: plain data, with D-ITG's own units and defaults.

use crate::record::Protocol;
use crate::stream::{Late, Limits, Meter};
use std::net::IpAddr;
use trammel_core::time::{Span, Time};

/// The name of a random law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// Always the same number.
    Constant,
    /// Smallest and largest.
    Uniform,
    /// Mean.
    Exponential,
    /// Mean and standard deviation.
    Normal,
    /// Mean.
    Poisson,
    /// Shape and scale.
    Pareto,
    /// Shape and scale, as D-ITG calls location and width.
    Cauchy,
    /// Shape and scale.
    Gamma,
    /// Shape and scale.
    Weibull,
}

/// What the numbers of a law are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Packets per second: the gap is drawn after each number was made one of time (x packets/s →
    /// 1000/x ms).
    PerSecond,
    /// Milliseconds.
    Milliseconds,
    /// Bytes of payload.
    Bytes,
}

/// Where gaps, sizes, or the lengths of bursts come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Drawn by a law.
    Drawn {
        /// Which.
        law: Law,
        /// Its numbers, one or two, in the order of [`Law`]'s description; finite.
        numbers: Vec<f64>,
        /// What they are.
        unit: Unit,
    },
    /// Read from a file of one number a line: milliseconds or bytes.
    File {
        /// Its path.
        path: String,
        /// What the numbers in it are.
        unit: Unit,
    },
}

/// On and off by turns.
#[derive(Clone, Debug, PartialEq)]
pub struct Bursts {
    /// How long the flow sends, ms.
    pub on: Values,
    /// How long it is silent, ms.
    pub off: Values,
}

/// What a packet's payload begins with (`-p`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Metadata {
    /// Flow, sequence number and time of sending.
    #[default]
    Full,
    /// Flow and sequence number.
    Sequence,
    /// Nothing.
    None,
}

/// An audio codec with its samples per packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Codec {
    /// G.711, one sample a packet.
    #[default]
    G711One,
    /// G.711, two samples a packet.
    G711Two,
    /// G.723.1.
    G723,
    /// G.729, two samples a packet.
    G729Two,
    /// G.729, three samples a packet.
    G729Three,
}

/// An application whose gaps and sizes are imitated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Application {
    /// A terminal session, over TCP.
    Telnet,
    /// Name look-ups.
    Dns,
    /// The game Quake III, over UDP.
    Quake3,
    /// Counter-Strike while one plays, over UDP.
    CounterStrikeActive,
    /// Counter-Strike while one watches, over UDP.
    CounterStrikeIdle,
    /// Speech, over UDP.
    Voip {
        /// The codec.
        codec: Codec,
        /// Whether the RTP header is compressed (`CRTP`).
        is_compressed: bool,
        /// Whether silences are left out (`-VAD`).
        is_silent_in_pauses: bool,
    },
}

/// A machine: its address, or a name that someone else resolves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// An address.
    Address(IpAddr),
    /// A name, or an address with a zone.
    Name(String),
}

/// A log server and how logs go there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogServer {
    /// Where it is.
    pub host: Host,
    /// Its TCP port, which only ITGRecv can be told; 9001.
    pub port: u16,
    /// UDP or TCP.
    pub protocol: Protocol,
}

/// What is to be logged and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logs {
    /// The sender's log file (`-l`).
    pub sender: Option<String>,
    /// The server that keeps it (`-L`).
    pub sender_server: Option<LogServer>,
    /// The receiver's log file (`-x`).
    pub receiver: Option<String>,
    /// The server that keeps it (`-X`).
    pub receiver_server: Option<LogServer>,
    /// Packets that are logged at once (`-q`).
    pub batch: u32,
}

impl Default for Logs {
    fn default() -> Logs {
        Logs {
            sender: None,
            sender_server: None,
            receiver: None,
            receiver_server: None,
            batch: 50,
        }
    }
}

/// Where and from where the signalling channel goes; what is not set is chosen by the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signalling {
    /// The receiver's address (`-Sda`); by default the flow's destination.
    pub to: Option<Host>,
    /// The receiver's port (`-Sdp`).
    pub port: u16,
    /// Our address (`-Ssa`).
    pub from: Option<Host>,
    /// Our port (`-Ssp`).
    pub from_port: Option<u16>,
    /// The network device (`-Si`).
    pub device: Option<String>,
}

impl Default for Signalling {
    fn default() -> Signalling {
        Signalling {
            to: None,
            port: super::signalling::PORT,
            from: None,
            from_port: None,
            device: None,
        }
    }
}

/// A flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    /// Where to (`-a`).
    pub destination: Host,
    /// To which port (`-rp`).
    pub port: u16,
    /// From where (`-sa`).
    pub source: Option<Host>,
    /// From which port (`-sp`).
    pub source_port: Option<u16>,
    /// By which network device (`-i`).
    pub device: Option<String>,
    /// What carries it (`-T`).
    pub protocol: Protocol,
    /// The type of the messages, for ICMP; 8 is an echo request.
    pub icmp_type: u8,
    /// For SCTP, the association's number and how many streams it has at most.
    pub sctp: Option<(u32, u32)>,
    /// Whether Nagle's algorithm is off, for TCP (`-D`).
    pub is_without_nagle: bool,
    /// When packets leave.
    pub gap: Values,
    /// How long they are.
    pub size: Values,
    /// On and off by turns (`-B`).
    pub bursts: Option<Bursts>,
    /// An application, which then says the gaps and sizes, and `gap` and `size` mean nothing.
    pub application: Option<Application>,
    /// When the flow ends (`-t`, `-z`, `-k`); 10 s unless one of the three is given.
    pub limits: Limits,
    /// When it starts (`-d`).
    pub start: Time,
    /// One way or round trip (`-m`).
    pub meter: Meter,
    /// What a payload begins with (`-p`).
    pub metadata: Metadata,
    /// A file that the rest of the payload comes from (`-Fp`).
    pub content: Option<String>,
    /// The byte of differentiated services (`-b`).
    pub ds: Option<u8>,
    /// The time to live (`-f`).
    pub ttl: Option<u8>,
    /// The seed of its chances, 0 to 1 (`-s`); none: another one each time.
    pub seed: Option<f64>,
    /// What is done when the sender is late: `-j 1` is [`Late::Burst`], `-j 0` [`Late::Stretch`].
    pub late: Late,
    /// Whether the processor may be kept busy for gaps below 1 ms (`-poll`).
    pub is_polling: bool,
    /// Whether the receiver opens all connections (`-H`).
    pub is_passive: bool,
    /// The serial line that is to be signalled on at each packet sent (`-sk`).
    pub sender_serial: Option<String>,
    /// The same at each packet received, by the receiver (`-rk`).
    pub receiver_serial: Option<String>,
    /// The signalling channel.
    pub signalling: Signalling,
    /// What is logged; in a script this stands on the command line instead.
    pub logs: Logs,
    /// What the user should be told: where ours differs from the original, and what is without
    /// effect.
    pub remarks: Vec<String>,
}

impl Default for Command {
    fn default() -> Command {
        Command {
            destination: Host::Address(IpAddr::from([127, 0, 0, 1])),
            port: 8999,
            source: None,
            source_port: None,
            device: None,
            protocol: Protocol::Udp,
            icmp_type: 8,
            sctp: None,
            is_without_nagle: false,
            gap: Values::Drawn {
                law: Law::Constant,
                numbers: vec![1000.0],
                unit: Unit::PerSecond,
            },
            size: Values::Drawn {
                law: Law::Constant,
                numbers: vec![512.0],
                unit: Unit::Bytes,
            },
            bursts: None,
            application: None,
            limits: Limits {
                duration: Some(Span::from_ms(10_000)),
                ..Limits::default()
            },
            start: Time::ZERO,
            meter: Meter::OneWay,
            metadata: Metadata::Full,
            content: None,
            ds: None,
            ttl: None,
            seed: None,
            late: Late::Burst,
            is_polling: false,
            is_passive: false,
            sender_serial: None,
            receiver_serial: None,
            signalling: Signalling::default(),
            logs: Logs::default(),
            remarks: Vec::new(),
        }
    }
}

/// How ITGRecv is to serve.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Serve {
    /// Where it listens (`-a`).
    pub address: Option<Host>,
    /// The port of signalling (`-Sp`).
    pub port: Option<u16>,
    /// Its log file (`-l`).
    pub log: Option<String>,
    /// The server that keeps it (`-L`).
    pub log_server: Option<LogServer>,
    /// Packets that the server gets at once (`-q`); 50.
    pub batch: Option<u32>,
    /// The network device that packets come by (`-i`).
    pub device: Option<String>,
    /// The network device of signalling (`-Si`).
    pub signalling_device: Option<String>,
    /// The sender that it goes to instead of waiting for one (`-H`).
    pub passive: Option<Host>,
    /// Datagrams that open the way of a passive receiver (`-n`).
    pub punches: Option<u32>,
    /// What the user should be told.
    pub remarks: Vec<String>,
}
