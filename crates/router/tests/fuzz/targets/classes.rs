//! A declaration for every class of the table that takes or gives packets: arguments that suit it,
//! and a graph around it.

use super::input::Input;
use super::small;
use trammel_router::MemoryDevice;
use trammel_router::MemoryHost;
use trammel_router::args::{Kind, Need};
use trammel_router::elements::{self, Entry};
use trammel_router::engine::Ctx;
use trammel_router::graph::ports::Ports;
use trammel_router::lang;
use trammel_router::{BuiltIn, load};

/// Arguments of classes whose form no table tells; further rows of a class are further ways to use
/// it.
const ARGUMENTS: &[(&str, &str)] = &[
    ("AggregateFilter", "1 7 9-12, deny 13, allow all"),
    ("AggregateIP", "ip src{4:28}"),
    ("AggregateIP", "transp[0:2], INCREMENTAL true"),
    ("ARPPrint", "a"),
    ("ARPQuerier", "10.0.0.1, 2:0:0:0:0:1"),
    (
        "ARPQuerier",
        "10.0.0.1/8, 2:0:0:0:0:1, TIMEOUT 1, CAPACITY 2",
    ),
    ("ARPResponder", "10.0.0.0/8 2:0:0:0:0:1"),
    ("AddressTranslator", "0, 1, 1, 0, ::1.0.0.1 6000 6010"),
    ("AssociationRequester", "RT ar, WIRELESS_INFO wi"),
    ("AssociationResponder", "RT ar, WIRELESS_INFO wi"),
    ("BeaconScanner", "RT ar, WIRELESS_INFO wi"),
    ("BeaconSource", "RT ar, WIRELESS_INFO wi"),
    ("BeaconTracker", "WIRELESS_INFO wi"),
    ("OpenAuthRequester", "WIRELESS_INFO wi"),
    ("OpenAuthResponder", "WIRELESS_INFO wi"),
    ("ProbeRequester", "RT ar"),
    ("ProbeResponder", "RT ar, SSID a"),
    ("ProbeTXRate", "OFFSET 4, RT ar"),
    ("WepDecap", "abc, 0"),
    ("WepEncap", "abc"),
    ("WifiEncap", "1, WIRELESS_INFO wi"),
    ("WifiEncap", "0, 2:0:0:0:0:1"),
    ("AddressTranslator", "1, 0, ::1 ::2, 0"),
    ("Align", "4, 2"),
    ("BandwidthMeter", "1kBps"),
    ("BandwidthMeter", "10Bps, 1kBps"),
    ("Burster", "0.001"),
    ("CheckIPHeader", "BADSRC 1.2.3.4 10.0.0.255, OFFSET 14"),
    ("CheckIPHeader2", ""),
    ("CheckIPHeader2", "14"),
    ("Classifier", "12/0806 20/0001, 12/0800 14/4?%f0, !3/01, -"),
    ("Classifier", "0/45 9/11, -"),
    ("DelayShaper", "0.001"),
    ("DelayUnqueue", "0.001"),
    ("DirectIPLookup", "10.0.0.0/8 0, 0.0.0.0/0 10.0.0.1 0"),
    ("ChatterSocket", "TCP, 11"),
    ("ControlSocket", "TCP, 10"),
    ("EtherRewrite", "2:0:0:0:0:1, 2:0:0:0:0:2"),
    ("FTPPortMapper", "rw, rw, 0"),
    ("FromDPDKDevice", "d"),
    ("FromDevice", "d"),
    ("PollDevice", "d"),
    ("FromDump", "trace.pcap"),
    ("FromIPSummaryDump", "trace.dump"),
    ("GetEtherAddress", "40, src"),
    ("GetEtherAddress", "20, 33"),
    ("GetIPAddress", "16"),
    ("GetIPAddress", "IP dst"),
    ("HashSwitch", "0, 4"),
    ("ICMP6Error", "fe80::1, 3, 0"),
    ("ICMP6Error", "fe80::1, 4, 2"),
    ("ICMPError", "10.0.0.1, timeexceeded"),
    ("ICMPError", "10.0.0.1, parameterproblem, erroratptr"),
    ("ICMPError", "10.0.0.1, redirect, host"),
    ("ICMPRewriter", "rw"),
    ("ICMPPingRewriter", "pattern 1.0.0.1 1-9 - - 0 0"),
    ("ICMPPingRewriter", "pass 0"),
    ("IP6Encap", "udp, fe80::1, fe80::2"),
    ("IP6NDAdvertiser", "fe80::/10 2:0:0:0:0:1"),
    ("IP6NDSolicitor", "fe80::1, 2:0:0:0:0:1"),
    ("IPAddrPairRewriter", "pattern 1.0.0.1-1.0.0.9 - 0 0"),
    ("IPAddrRewriter", "pattern 1.0.0.1-1.0.0.9 - 0 0"),
    ("IPRateMonitor", "PACKETS, 1, 1"),
    ("IPRateMonitor", "BYTES, 0.5, 100, 100"),
    ("SetEtherAddress", "2:0:0:0:0:1, 40"),
    ("SetPacketType", "BROADCAST"),
    ("StoreEtherAddress", "2:0:0:0:0:1, dst"),
    ("StoreEtherAddress", "OFFSET 60, ANNO 40"),
    ("StoreTimestamp", "9"),
    ("StoreTimestamp", "TAIL true"),
    (
        "IPClassifier",
        "icmp type echo, tcp syn, udp dst port 53 or ip frag, -",
    ),
    (
        "IPClassifier",
        "src net 10.0.0.0/8 and ip ttl > 3 or ip tos 3, -",
    ),
    ("IPEncap", "4, 1.0.0.1, 2.0.0.2"),
    ("IPEncap", "udp, 1.0.0.1, DST_ANNO"),
    (
        "IPFilter",
        "deny src net 10.0.0.0/8, allow tcp dst port www, deny all",
    ),
    ("IPFragmenter", "68, HONOR_DF false"),
    ("IPFragmenter", "576"),
    ("IP6Fragmenter", "1280"),
    ("IPInputCombo", "1"),
    ("IPOutputCombo", "1, 10.0.0.1, 576"),
    ("IPRewriter", "pattern 1.0.0.1 1024-1030 - - 0 0, pass 0"),
    ("IPRewriter", "keep 0 0"),
    ("IPRewriter", "drop, drop"),
    ("IPRewriter", "robin, hash"),
    ("LinearIPLookup", "10.0.0.0/8 0, 0.0.0.0/0 10.0.0.1 0"),
    ("LookupIP6Route", "fe80::/10 0, ::/0 fe80::1 0"),
    ("LossModel", "gilbert-elliott, P 0.1, R 0.2"),
    ("LossModel", "bernoulli, P 0.5"),
    ("MPLSLookup", "16 17 0, 18 0"),
    ("RadixIPLookup", "10.0.0.0/8 0, 0.0.0.0/0 10.0.0.1 0"),
    ("RangeIPLookup", "10.0.0.0/8 0, 0.0.0.0/0 10.0.0.1 0"),
    ("RED", "1, 5, 0.5"),
    ("AdaptiveRED", "2, 0.5"),
    ("Meter", "10"),
    ("RandomSample", "0.5"),
    ("RatedSource", "\"x\", 1000, 20"),
    ("TimedSource", "0.01, \"x\", LIMIT 20"),
    ("InfiniteSource", "\"x\", 20, 3"),
    ("ICMPPingSource", "1.0.0.1, 2.0.0.2, LIMIT 20"),
    ("Script", "write x.nothing"),
    ("SetIPECN", "ce"),
    ("StaticIPLookup", "10.0.0.0/8 0, 0.0.0.0/0 10.0.0.1 0"),
    ("StoreIP6Address", "fe80::1, src"),
    ("StoreIP6Address", "24"),
    ("StoreIPAddress", "1.2.3.4, dst"),
    ("StoreIPAddress", "16"),
    ("StrideSched", "1, 2"),
    ("StrideSwitch", "1, 2"),
    ("SubscriberGateway", "2:0:0:0:0:1, 7 100 4711"),
    ("TCPRewriter", "pattern 1.0.0.1 1024-1030 - - 0 0"),
    ("UDPRewriter", "pattern 1.0.0.1 1024-1030 - - 0 0"),
    ("TCPFragmenter", "MTU 100"),
    ("TCPFragmenter", "MTU_ANNO 4"),
    ("ToDPDKDevice", "d"),
    ("ToDevice", "d"),
    ("ToDump", "out.pcap"),
    ("ToDump", "out.pcap, ENCAP IP, EXTRA_LENGTH true"),
    (
        "ToIPSummaryDump",
        "out.dump, FIELDS src dst sport dport ip_len tcp_opt payload_md5_hex",
    ),
    (
        "ToIPSummaryDump",
        "out.dump, FIELDS eth_src tcp_seq icmp_type ip_opt, BAD_PACKETS true, BINARY true",
    ),
    ("UDPIP6Encap", "fe80::1, 1, fe80::2, 2"),
    ("UDPIPEncap", "1.0.0.1, 1, 2.0.0.2, 2"),
    ("UDPIPEncap", "1.0.0.1, 1, DST_ANNO, 2"),
];

/// What arguments may name, and its declaration.
const COMPANIONS: &[(&str, &str)] = &[
    (
        "rw",
        "rw :: IPRewriter(pattern 1.0.0.1 1024-1030 - - 0 0); Idle -> rw -> Discard;",
    ),
    ("ar", "ar :: AvailableRates(DEFAULT 2 4 11 22);"),
    ("wi", "wi :: WirelessInfo(SSID a, BSSID 2:0:0:0:0:1);"),
    (
        "robin",
        "robin :: RoundRobinIPMapper(- - 1.0.0.1 - 0 0, - - 1.0.0.2 - 0 0);",
    ),
    (
        "hash",
        "hash :: SourceIPHashMapper(500 0xbad, - - 1.0.0.1 - 0 0 1, - - 1.0.0.2 - 0 0 2);",
    ),
];

/// Classes that are in no graph of their own: a machine in memory has no sockets and no kernel,
/// mappers have no ports and stand among the companions, `Error` never runs.
#[cfg(test)]
const NOT_ALONE: &[&str] = &[
    "Error",
    "FollowKernelRoutes",
    "FromHost",
    "FromSocket",
    "KernelTap",
    "KernelTun",
    "McastSocket",
    "RawSocket",
    "RoundRobinIPMapper",
    "Socket",
    "SourceIPHashMapper",
    "ToSocket",
];

/// A value that suits a parameter; `choice` tells which.
fn sample(kind: Kind, choice: u8) -> &'static str {
    let of: &[&str] = match kind {
        Kind::Int { min, .. } if min < 0 => &["1", "0", "-1", "14", "40"],
        Kind::Int { .. } => &["1", "2", "14", "40", "0"],
        Kind::UInt { .. } => &["1", "0", "2", "4", "14", "20", "40", "100", "1500"],
        Kind::Bool => &["true", "false"],
        Kind::Double | Kind::Fixed(_) | Kind::Decimal(_) => &["0.5", "1", "0", "0.001"],
        Kind::Seconds | Kind::SecondsIn(_) | Kind::Timestamp => &["0.001", "1", "0", "60"],
        Kind::Bandwidth => &["1Mbps", "10kBps", "1"],
        Kind::Text | Kind::Raw | Kind::Word | Kind::Keyword => &["a", "1", "10.0.0.1", "src"],
        Kind::Filename => &["trace.pcap"],
        Kind::Ip | Kind::IpList => &["10.0.0.1", "1.2.3.4", "0.0.0.0"],
        Kind::Ip6 => &["fe80::1", "::"],
        Kind::Prefix | Kind::PrefixOrIp => &["10.0.0.0/8", "0.0.0.0/0"],
        Kind::Prefix6 | Kind::Prefix6OrIp6 => &["fe80::/10", "::/0"],
        Kind::IpPort(_) => &["1", "53"],
        Kind::Protocol => &["udp", "tcp", "41"],
        Kind::IcmpType => &["timeexceeded", "unreachable", "echo"],
        Kind::Ether => &["2:0:0:0:0:1", "ff:ff:ff:ff:ff:ff"],
        Kind::EtherType => &["0x0800", "0x86dd"],
        Kind::Anno { size: 1 } => &["PAINT", "3"],
        Kind::Anno { size: 2 } => &["VLAN_TCI", "4"],
        Kind::Anno { .. } => &["AGGREGATE", "0", "8"],
        Kind::Element => &["x", "rw"],
        Kind::HandlerCall => &["stop", "x.config"],
        Kind::Data => &["\"ab\"", "\"\""],
    };
    of[usize::from(choice) % of.len()]
}

/// What it must be given, by the table of its parameters.
fn required(entry: &Entry) -> String {
    let needed = entry.params.iter().filter_map(|param| match param.need {
        Need::Mandatory => Some(sample(param.kind, 0).to_owned()),
        Need::KeywordMandatory => Some(format!("{} {}", param.name, sample(param.kind, 0))),
        _ => None,
    });
    needed.collect::<Vec<_>>().join(", ")
}

/// An element in a graph of its own: `feeds` take what is offered.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) entry: &'static Entry,
    pub(crate) arguments: String,
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    /// Whether its inputs pull, where they may.
    pub(crate) pulls: bool,
}

impl Shape {
    /// The whole configuration, with `more` arguments.
    pub(crate) fn text(&self, more: &str) -> String {
        let mut arguments = self.arguments.clone();
        if !more.is_empty() && !arguments.is_empty() {
            arguments += ", ";
        }
        let mut text = format!("x :: {}({arguments}{more});\n", self.entry.about.name);
        for (name, declaration) in COMPANIONS {
            if self.arguments.split([',', ' ']).any(|word| word == *name) {
                text += declaration;
            }
        }
        let feed = if self.pulls {
            "SimpleQueue(64)"
        } else {
            "PushNull"
        };
        for input in 0..self.inputs {
            text += &format!("feed{input} :: {feed}; Idle -> feed{input} -> [{input}]x;\n");
        }
        for output in 0..self.outputs {
            text += &format!("x[{output}] -> Discard;\n");
        }
        text
    }

    /// Loads it on a small machine with some files and a device.
    pub(crate) fn loaded(&self, more: &str) -> Option<Ctx> {
        let host = MemoryHost::new();
        let frames = [vec![1; 60], vec![0x45; 20], Vec::new()];
        let device = MemoryDevice::new("d", frames.into_iter());
        let mut memory = host.memory();
        memory.devices.insert("d".to_owned(), Box::new(device));
        let dump = b"!data ip_src ip_dst ip_len\n1.2.3.4 5.6.7.8 40\n- - 9\n".to_vec();
        memory.files.insert("trace.dump".to_owned(), dump);
        let mut capture = vec![0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        capture.extend([0, 0, 1, 0, 1, 0, 0, 0]);
        capture.extend([1, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 60, 0, 0, 0, 1, 2, 3, 4]);
        memory.files.insert("trace.pcap".to_owned(), capture);
        drop(memory);
        let options = lang::Options {
            classes: Some(&BuiltIn),
            ..lang::Options::default()
        };
        let text = self.text(more);
        let loaded = load(&text, "config", &options, Box::new(host), small());
        loaded.ok().map(|(ctx, _)| ctx)
    }

    /// Some of its optional arguments.
    pub(crate) fn options(&self, input: &mut Input<'_>) -> String {
        let optional = |need| matches!(need, Need::Positional | Need::Keyword);
        let params: Vec<_> = self
            .entry
            .params
            .iter()
            .filter(|p| optional(p.need))
            .collect();
        let mut more: Vec<String> = Vec::new();
        for _ in 0..input.u8() % 4 {
            if params.is_empty() {
                break;
            }
            let param = *input.pick(&params);
            more.push(format!("{} {}", param.name, sample(param.kind, input.u8())));
        }
        more.join(", ")
    }
}

/// The arguments that are tried with a class: those of the table, else what it must be given.
fn arguments(entry: &Entry) -> Vec<String> {
    let rows = ARGUMENTS
        .iter()
        .filter(|(class, _)| *class == entry.about.name);
    let mut all: Vec<String> = rows.map(|(_, text)| (*text).to_owned()).collect();
    if all.is_empty() {
        all.push(required(entry));
    }
    all
}

/// The class, arguments and ports that the input chooses. Not all load.
pub(crate) fn chosen(input: &mut Input<'_>) -> Shape {
    let classes = elements::all();
    let entry = classes[usize::from(input.u16()) % classes.len()];
    let arguments = input.pick(&arguments(entry)).clone();
    let ports = Ports::parse(entry.ports);
    let (inputs, outputs) = (usize::from(input.u8() % 4), usize::from(input.u8() % 6));
    let (inputs, outputs) = ports.resolve(inputs, outputs);
    Shape {
        entry,
        arguments,
        inputs,
        outputs,
        pulls: input.u8() & 1 != 0,
    }
}

/// Every class has inputs to this fuzzer that load.
#[test]
fn every_class_that_can_run_here_is_among_those_chosen() {
    let mut unused = Vec::new();
    for (class, entry) in elements::all().into_iter().enumerate() {
        let tries = (0..3 * 6 * 2).map(|n| {
            let [high, low] = (class as u16).to_be_bytes();
            chosen(&mut Input(&[high, low, n % 5, n % 3, n / 6, n % 2]))
        });
        if !tries.into_iter().any(|shape| shape.loaded("").is_some()) {
            unused.push(entry.about.name);
        }
    }
    unused.sort_unstable();
    assert_eq!(unused, NOT_ALONE, "a new class may need a row in ARGUMENTS");
}
