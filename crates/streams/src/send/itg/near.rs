//! This host's end of a flow or a channel: the address, the port and the interface that a command
//! names.

use super::plan::address;
use std::io;
use std::net::IpAddr;
use std::time::Duration;
use trammel_io::local::Local;
use trammel_io::reach::at_port;
use trammel_traffic::itg::command::Host;

/// The longest that a connection may take to be made.
pub(super) const CONNECTING: Duration = Duration::from_secs(10);

/// This host's end of what goes to `to`, as a command names it.
pub(super) fn near<'a>(
    to: IpAddr,
    (from, port): (Option<&Host>, Option<u16>),
    device: Option<&'a str>,
) -> io::Result<Local<'a>> {
    let any = Local::any(to);
    let from = from.map(address).transpose().map_err(io::Error::other)?;
    let from = from.unwrap_or(any.address);
    Ok(Local {
        address: at_port(from, port.unwrap_or(0)),
        device,
    })
}
