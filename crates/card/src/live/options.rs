//! What a live card is made of.

use crate::tables::Row;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use trammel_control::Config;

/// How frames of a port come and go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// AF_XDP where it loses nothing and the right is there, else a packet socket.
    #[default]
    Auto,
    /// AF_XDP.
    AfXdp,
    /// A packet socket.
    AfPacket,
}

/// A live card.
#[derive(Clone, Debug)]
pub struct Options {
    /// The name of the design.
    pub design: String,
    /// Interfaces that are the ports, from 0 on; at most four.
    pub ports: Vec<String>,
    /// How their frames come and go.
    pub method: Method,
    /// What the names of the host interfaces begin with; their port's number follows.
    pub prefix: String,
    /// Whether there are host interfaces.
    pub has_hosts: bool,
    /// Where the registers are offered; nowhere if none.
    pub registers: Option<PathBuf>,
    /// Whether the kernel's routes, neighbours and addresses of the host interfaces are mirrored
    /// into the tables.
    pub has_mirror: bool,
    /// The control software that runs on the CPU queues, if any.
    pub control: Option<Config>,
    /// What the tables are from the start. Control software then answers and sends, and leaves the
    /// tables as they are; a mirror would not, so it may not be there.
    pub tables: Option<Vec<Row>>,
    /// Where the command line of the control software is offered; nowhere if none.
    pub console: Option<PathBuf>,
    /// Where it is offered by telnet; nowhere if none.
    pub telnet: Option<SocketAddr>,
    /// Where the web page is offered; nowhere if none. Only whoever has its token edits, but
    /// everybody who reaches the address looks: a local one is the usual choice.
    pub web: Option<SocketAddr>,
}

impl Options {
    /// The reference router between `ports`, with host interfaces `nf2c0` to `nf2c3` and without
    /// anything else.
    pub fn new(ports: &[&str]) -> Options {
        Options {
            design: "reference-router".to_owned(),
            ports: ports.iter().map(|port| (*port).to_owned()).collect(),
            method: Method::Auto,
            prefix: "nf2c".to_owned(),
            has_hosts: true,
            registers: None,
            has_mirror: false,
            control: None,
            tables: None,
            console: None,
            telnet: None,
            web: None,
        }
    }
}

/// Where the socket `kind` (`registers`, `console`) of the card with host interfaces `prefix` is
/// unless it is said: in the user's folder for sockets, or in `/run`.
pub fn usual_socket(prefix: &str, kind: &str) -> PathBuf {
    let folder = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let folder = folder.filter(|folder| folder.is_absolute());
    let name = format!("trammel-{prefix}.{kind}");
    folder.as_deref().unwrap_or(Path::new("/run")).join(name)
}
