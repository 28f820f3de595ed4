//! The ways to a device that elements name by `METHOD`.

use std::path::Path;

/// Said where there is no such method.
pub(crate) const BAD_METHOD: &str = "bad METHOD: expected afxdp, afpacket, tap, tun, ring or pcap";

/// What `METHOD word` of `device` asks of the machine. Click's own words mean the packet socket,
/// which is what they were, but a capture file is read and written whatever word says so. Nothing
/// where there is no such method.
pub(crate) fn device_method(word: &str, device: &str) -> Option<&'static str> {
    Some(match word.to_ascii_lowercase().as_str() {
        "" | "pcap" if is_capture(device) => "pcap",
        "" => "",
        "afxdp" | "xdp" => "afxdp",
        "afpacket" | "linux" | "pcap" | "pcapfd" => "afpacket",
        "tap" => "tap",
        "tun" => "tun",
        "ring" => "ring",
        _ => return None,
    })
}

/// Whether a name is one of a capture file rather than of an interface, in which there is no `/`.
fn is_capture(name: &str) -> bool {
    let bare = name.strip_suffix(".gz").unwrap_or(name);
    let extension = Path::new(bare).extension();
    name.contains('/') || extension.is_some_and(|end| end == "pcap" || end == "pcapng")
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
            assert_eq!(device_method(word, "eth0"), method, "{word}");
        }
    }

    #[test]
    fn a_capture_file_is_known_by_its_name() {
        for (word, name, method) in [
            ("pcap", "/tmp/in", Some("pcap")),
            ("", "in.pcap", Some("pcap")),
            ("", "in.pcapng.gz", Some("pcap")),
            ("afpacket", "in.pcap", Some("afpacket")),
            ("pcap", "eth0.5", Some("afpacket")),
        ] {
            assert_eq!(device_method(word, name), method, "{word} {name}");
        }
    }
}
