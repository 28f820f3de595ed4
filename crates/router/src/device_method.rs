//! The ways to a device that elements name by `METHOD`.

/// What `METHOD word` asks of the machine; Click's own words mean the packet socket, which is what they were.
/// Nothing where there is no such method.
pub fn device_method(word: &str) -> Option<&'static str> {
    Some(match word.to_ascii_lowercase().as_str() {
        "" => "",
        "afxdp" | "xdp" => "afxdp",
        "afpacket" | "linux" | "pcap" | "pcapfd" => "afpacket",
        "tap" => "tap",
        "tun" => "tun",
        "ring" => "ring",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_other_routers_mean_the_packet_socket() {
        for (word, method) in [
            ("PCAP", Some("afpacket")),
            ("LINUX", Some("afpacket")),
            ("AFXDP", Some("afxdp")),
            ("", Some("")),
            ("NETMAP", None),
        ] {
            assert_eq!(device_method(word), method, "{word}");
        }
    }
}
