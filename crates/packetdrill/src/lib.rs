//! packetdrill scripts against the TCP of `trammel-tcp`, in virtual time.
//!
//! A script says what an application does, what arrives from the network and what is to leave, each at its
//! time. [`run`] plays it against our [`Connection`](trammel_tcp::connection::Connection), on a clock that
//! goes from event to event, and compares. The language is packetdrill's (Cardwell et al., "packetdrill:
//! Scriptable Network Stack Testing, from Sockets to Packets", USENIX ATC 2013), so that the tests which
//! Linux's own TCP is held to can be put to ours.
//!
//! ```
//! let script = "
//!    0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
//!   +0 bind(3, ..., ...) = 0
//!   +0 listen(3, 1) = 0
//!   +0 < S 0:0(0) win 65535 <mss 1000,nop,nop,sackOK>
//!   +0 > S. 0:0(0) ack 1 <mss 1460,nop,nop,sackOK>
//!  +.1 < . 1:1(0) ack 1 win 65535
//!   +0 accept(3, ..., ...) = 4
//!   +0 write(4, ..., 20000) = 20000
//!   +0 > P. 1:10001(10000) ack 1
//!   +0 %{ assert tcpi_snd_cwnd == 10 }%
//! ";
//! let report = trammel_packetdrill::run(script, &|_| None).unwrap();
//! assert_eq!(report.outcome, trammel_packetdrill::Outcome::Passed);
//! ```
#![forbid(unsafe_code)]

mod assert;
mod run;
pub mod script;
mod setup;
mod sysctl;

pub use run::{Failure, Outcome, Report, run};
pub use setup::Files;
