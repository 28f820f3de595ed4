//! Where something is served, as people write it: a port of this machine alone, or an address.

use std::net::SocketAddr;

/// Reads `8080`, which is of 127.0.0.1, or an address and a port, `192.0.2.1:8080` or `[::1]:80`:
/// only who writes an address has it reach further than this machine.
///
/// # Errors
/// What would be right.
pub fn read(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.parse::<u16>() {
        return Ok(([127, 0, 0, 1], port).into());
    }
    text.parse().map_err(|_| {
        let text = text.escape_default();
        format!("`{text}` is no port and no address with a port: write `8080` or `127.0.0.1:8080`")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_local() {
        let right = |text: &str| read(text).map(|at| at.to_string());
        assert_eq!(right("8080"), Ok("127.0.0.1:8080".to_owned()));
        assert_eq!(right("0.0.0.0:1"), Ok("0.0.0.0:1".to_owned()));
        assert_eq!(right("[::1]:80"), Ok("[::1]:80".to_owned()));
        for wrong in ["", "65536", "localhost:80", "127.0.0.1", ":80", "-1"] {
            assert!(read(wrong).unwrap_err().contains("write `8080`"), "{wrong}");
        }
    }
}
