//! The formats, their names and what they are.

/// A format that can be imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Format {
    /// A capture of packets: pcap or pcapng.
    Capture,
    /// iperf3's JSON.
    Iperf3,
    /// Flent's data files.
    Flent,
    /// qlog of QUIC stacks.
    Qlog,
    /// ns-3's flow monitor.
    FlowMonitor,
    /// A link for Mahimahi.
    MahimahiTrace,
    /// A log of Mahimahi's `mm-link`.
    MahimahiLog,
    /// Results of TRex, stateless.
    Trex,
    /// Test cases of CSIT.
    Csit,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 9] = [
        Format::Capture,
        Format::Iperf3,
        Format::Flent,
        Format::Qlog,
        Format::FlowMonitor,
        Format::MahimahiTrace,
        Format::MahimahiLog,
        Format::Trex,
        Format::Csit,
    ];

    /// The name in commands.
    pub fn name(self) -> &'static str {
        match self {
            Format::Capture => "pcap",
            Format::Iperf3 => "iperf3",
            Format::Flent => "flent",
            Format::Qlog => "qlog",
            Format::FlowMonitor => "flow-monitor",
            Format::MahimahiTrace => "mahimahi-trace",
            Format::MahimahiLog => "mahimahi-log",
            Format::Trex => "trex",
            Format::Csit => "csit",
        }
    }

    /// What it is, in a line.
    pub fn summary(self) -> &'static str {
        match self {
            Format::Capture => {
                "captures of TCP, pcap or pcapng: round trips, windows and losses of each flow"
            }
            Format::Iperf3 => "what `iperf3 -J` and `--json-stream` write; several are repeats",
            Format::Flent => "data files of Flent, version 4, plain or compressed",
            Format::Qlog => "logs of QUIC stacks: windows, round trips and losses of a sender",
            Format::FlowMonitor => "XML of ns-3's flow monitor",
            Format::MahimahiTrace => "traces of links for Mahimahi",
            Format::MahimahiLog => "logs of Mahimahi's `mm-link`: rates, delays, drops",
            Format::Trex => "results of TRex's NDR benchmark, or its statistics, as JSON",
            Format::Csit => "test cases of CSIT, `*.info.json`, and its trending, `*-trending.csv`",
        }
    }

    /// How the names of its files end, usually; compressed ones have `.gz` behind it.
    pub fn endings(self) -> &'static [&'static str] {
        match self {
            Format::Capture => &[".pcap", ".pcapng"],
            Format::Iperf3 | Format::Trex => &[".json"],
            Format::Flent => &[".flent", ".flent.gz"],
            Format::Qlog => &[".qlog", ".sqlog"],
            Format::FlowMonitor => &[".xml", ".flowmon"],
            Format::MahimahiTrace => &[".trace", ".up", ".down"],
            Format::MahimahiLog => &[".log"],
            Format::Csit => &[".info.json", ".csv"],
        }
    }

    /// The format called `name`.
    pub fn named(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }
}
