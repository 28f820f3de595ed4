//! Every key of a placement file, in one table: name, kind, default, unit, help.

#![allow(clippy::enum_glob_use)] // The rows of the table would drown in prefixes.

use crate::keys_kind::Fallback::*;
use crate::keys_kind::Kind::*;
use crate::keys_kind::{Kind, Section, k};
use trammel_core::units::Dimension as D;
use trammel_cost::place::faults::{MOST_REPLICAS, MOST_SERVERS};

/// The words of `cache`, in the order of the model's.
pub(crate) const CACHES: &[&str] = &["shared", "reserved", "ignored"];
/// The words of `arrivals`.
pub(crate) const ARRIVALS: &[&str] = &["smooth", "poisson", "bursts"];
/// The words of `huge_pages`.
pub(crate) const HUGE_PAGES: &[&str] = &["none", "2 MiB", "1 GiB"];

const BYTES: Kind = Quantity(&[D::Bytes], 0.0, 1e15);
const RATE: Kind = Quantity(&[D::Rate], 1.0, 1e14);

/// The file itself.
#[rustfmt::skip] // One row a key reads as the table it is.
pub static ROOT: Section = Section {
    name: "",
    help: "the file: what to place, and how to judge it",
    extra: None,
    keys: &[
        k("title", Text, Is(""), "", "what the file shows, in a line"),
        k(
            "subject", Word(&[crate::Subject::Placement.name()]), Required, "",
            "`placement`: chains of network functions on servers"
        ),
        k("seed", Whole(0, i64::MAX), Is("1"), "", "seed of the simulated cores"),
        k("cache", Word(CACHES), Is("shared"), "",
            "how chains on a node share its last-level cache: by use, in fixed parts, or not at \
             all (every access goes to memory)"),
        k("contention_validated", Text, Absent, "",
            "source of a measurement of co-location on these servers; it removes the note that \
             there is none"),
        k("server", Tables(&SERVER), Required, "", "a kind of server"),
        k("function", Tables(&FUNCTION), Required, "", "a network function and what it costs"),
        k("chain", Tables(&CHAIN), Required, "", "a chain of functions and its demand"),
    ],
};

/// `[[server]]`.
#[rustfmt::skip] // One row a key reads as the table it is.
pub static SERVER: Section = Section {
    name: "server",
    help: "identical servers; cores, caches and memory are those of one NUMA node that chains may \
           use",
    extra: None,
    keys: &[
        k("name", Text, Required, "", "its name; several of a kind are numbered from 0"),
        k("count", Whole(1, MOST_SERVERS as i64), Is("1"), "", "how many there are"),
        k("machine", Text, Absent, "", "the machine for estimates of functions without numbers"),
        k("clock", Quantity(&[D::Frequency], 1.0, 1e12), Required, "Hz", "clock under load"),
        k("nodes", Whole(1, 16), Is("1"), "", "NUMA nodes (sockets)"),
        k("cores", Whole(1, 4096), Required, "", "cores of a node that chains may use"),
        k(
            "llc", BYTES, Required, "bytes",
            "last-level cache of a node that chains can effectively use"
        ),
        k(
            "dram_accesses_per_s", Number(0.0, 1e15), Required, "1/s",
            "memory accesses that a node serves"
        ),
        k(
            "dram_latency", Quantity(&[D::Time], 0.0, 1.0), Is("100 ns"), "s",
            "latency of one access to memory"
        ),
        k(
            "parallel_misses", Number(1.0, 1000.0), Is("10"), "",
            "concurrent misses of a core if accesses are independent"
        ),
        k(
            "memory", BYTES, Required, "bytes",
            "memory of a node for tables, in huge pages if there are any"
        ),
        k(
            "huge_pages", Word(HUGE_PAGES), Is("2 MiB"), "",
            "page size of tables; a replica takes whole pages"
        ),
        k(
            "pcie_overhead", Quantity(&[D::Bytes], 0.0, 1e4), Is("28 B"), "bytes",
            "bytes on the bus per packet besides its frame"
        ),
        k("port", Tables(&PORT), Required, "", "ports of one node"),
    ],
};

/// `[[server.port]]`.
#[rustfmt::skip] // One row a key reads as the table it is.
pub static PORT: Section = Section {
    name: "port",
    help: "identical ports; the ports of a node are one bundle, over which its chains' packets are \
           spread",
    extra: None,
    keys: &[
        k("node", Whole(0, 15), Is("0"), "", "the NUMA node that they are on, from 0"),
        k("count", Whole(1, 64), Is("1"), "", "how many there are"),
        k("rate", RATE, Required, "bit/s", "rate of each, in each direction"),
        k(
            "pcie", RATE, Is("63 Gbit/s"), "bit/s",
            "rate of the bus to each, in each direction; the default is eight lanes of PCIe 3.0"
        ),
    ],
};

/// `[[function]]`.
#[rustfmt::skip] // One row a key reads as the table it is.
pub(crate) static FUNCTION: Section = Section {
    name: "function",
    help: "a network function: its costs in numbers (`cycles`), measured (`profile`), or estimated \
           (`paper`, `click`)",
    extra: None,
    keys: &[
        k("name", Text, Required, "", "its name, for `functions` of a chain"),
        k(
            "cycles", Interval(0.0, 1e9), Absent, "cycles",
            "cycles per packet with its tables in the last-level cache"
        ),
        k(
            "accesses", Number(0.0, 1e6), Is("0"), "",
            "accesses per packet beyond the core's own caches"
        ),
        k("hot", BYTES, Is("0 B"), "bytes", "bytes that these accesses touch repeatedly"),
        k("memory", BYTES, Is("0 B"), "bytes", "memory of each replica"),
        k("profile", Text, Absent, "", "file of a measured capacity profile, instead of `cycles`"),
        k("paper", Text, Absent, "", "name of a function of a paper, to be estimated"),
        k("click", Text, Absent, "", "Click file, to be estimated"),
        k(
            "flows", Whole(1, i64::MAX), Is("1"), "",
            "flows that its packets belong to, for a profile or an estimate"
        ),
        k(
            "routes", Whole(1, i64::MAX), Is("1"), "",
            "routes, rules or entries that it knows, for a profile or an estimate"
        ),
        k("clamp", Bool, Is("false"), "", "outside its profile, use the cost at the nearest edge"),
    ],
};

/// `[[chain]]`.
#[rustfmt::skip] // One row a key reads as the table it is.
pub(crate) static CHAIN: Section = Section {
    name: "chain",
    help: "functions that each packet passes on one core, and the packet rate",
    extra: None,
    keys: &[
        k("name", Text, Required, "", "its name"),
        k("functions", Names, Required, "", "its functions, in order"),
        k(
            "demand", Quantity(&[D::PacketRate], f64::MIN_POSITIVE, 1e12), Required, "packets/s",
            "packets that it must carry"
        ),
        k(
            "frame", Quantity(&[D::Bytes], 64.0, 65_535.0), Is("64 B"), "bytes",
            "frame size, with the check sequence"
        ),
        k("arrivals", Word(ARRIVALS), Is("poisson"), "", "how its packets come"),
        k(
            "burst", Whole(1, 65_536), Is("32"), "packets",
            "frames per burst, back to back, for `bursts`"
        ),
        k("ring", Whole(1, 1 << 20), Is("512"), "", "descriptors of a core's receive ring"),
        k(
            "utilisation", Quantity(&[D::Ratio], 0.0, 1.0), See("by arrivals and ring"), "",
            "largest use of a core at the high end of its cost"
        ),
        k("split", Bool, Is("false"), "", "it may be split into equal replicas"),
        k(
            "max_replicas", Whole(1, MOST_REPLICAS as i64), Is("64"), "",
            "how many of these at most"
        ),
        k(
            "same_socket_as_port", Bool, Is("false"), "",
            "its cores must be on the node of its ports"
        ),
        k(
            "apart", Names, Absent, "",
            "chains that may not share a server with it; its own name keeps its replicas apart"
        ),
    ],
};

/// Every table of a placement file.
pub static SECTIONS: &[&Section] = &[&ROOT, &SERVER, &PORT, &FUNCTION, &CHAIN];
