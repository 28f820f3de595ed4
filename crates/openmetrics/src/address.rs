//! Where metrics are served: an address with a port, or a port of this machine alone.

use std::net::SocketAddr;

/// Reads `127.0.0.1:9100`, `[::1]:9100`, or `9100`, which is of 127.0.0.1.
///
/// # Errors
/// What would be right.
pub fn read(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.parse::<u16>() {
        return Ok(([127, 0, 0, 1], port).into());
    }
    text.parse()
        .map_err(|_| "give a port, or an address and a port, such as 127.0.0.1:9100".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_local() {
        assert_eq!(read("9100").unwrap().to_string(), "127.0.0.1:9100");
        assert_eq!(read("[::1]:0").unwrap().to_string(), "[::1]:0");
        for wrong in ["", "65536", "localhost:80", "127.0.0.1", ":80"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
