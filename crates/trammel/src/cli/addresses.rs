//! Addresses of the command line.

/// An address and port to listen on; of a link's own address with its interface.
pub(super) fn listen_at(text: &str) -> Result<std::net::SocketAddr, String> {
    let help = "give ADDRESS:PORT or [IPv6]:PORT, of a link's own address with its interface, \
                `[fe80::1%eth0]:PORT`";
    trammel_io::reach::own(text, None).map_err(|why| format!("{why}; {help}"))
}
