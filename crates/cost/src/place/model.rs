//! What placement is asked: servers with their nodes, chains with their demands and costs.

/// Bytes that Ethernet adds to each frame on the wire: preamble, start delimiter and the gap
/// between frames.
pub(crate) const WIRE_OVERHEAD_BYTES: f64 = 20.0;

/// Bytes of a cache line.
pub const LINE_BYTES: f64 = 64.0;

/// All that a placement depends on.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    /// The kinds of server.
    pub kinds: Vec<Kind>,
    /// The chains.
    pub chains: Vec<Chain>,
    /// How chains on one node share its last-level cache.
    pub cache: Cache,
}

/// Servers that are alike.
#[derive(Clone, Debug)]
pub struct Kind {
    /// What they are called; several are numbered from 0.
    pub name: String,
    /// How many there are, at least 1.
    pub count: u32,
    /// Clock under load, Hz.
    pub clock_hz: f64,
    /// Latency of one access to memory, s.
    pub dram_latency_s: f64,
    /// Misses that code with independent accesses has in flight at once, at least 1.
    pub parallel_misses: f64,
    /// Bytes that the bus carries for each packet besides its frame: headers of transactions,
    /// descriptors.
    pub pcie_overhead_bytes: f64,
    /// Their NUMA nodes, each alike in all of them.
    pub nodes: Vec<Node>,
}

/// One NUMA node of a server: what its chains may use of it.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// Cores for chains.
    pub cores: u32,
    /// The last-level cache, bytes: what chains effectively have of it.
    pub llc_bytes: f64,
    /// Accesses to memory that the node serves each second.
    pub dram_per_s: f64,
    /// Memory for tables, bytes.
    pub memory_bytes: f64,
    /// Its ports together, bit/s in each direction.
    pub link_bps: f64,
    /// The bus to its ports, bit/s in each direction.
    pub pcie_bps: f64,
}

impl Node {
    /// Whether packets can come in here.
    pub fn has_port(&self) -> bool {
        self.link_bps > 0.0
    }
}

/// How chains on one node share its last-level cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cache {
    /// As they use it: what misses costs cycles and accesses to memory.
    #[default]
    Shared,
    /// Each has its hot bytes to itself, so they must fit together.
    Reserved,
    /// The cache is left out: every access counted goes to memory, and cycles are as given.
    Ignored,
}

/// A chain of functions that each packet passes on one core from end to end.
#[derive(Clone, Debug)]
pub struct Chain {
    /// Its name.
    pub name: String,
    /// Packets a second that it must carry.
    pub demand_pps: f64,
    /// Bytes of a frame, from 64.
    pub frame_bytes: u32,
    /// How its packets come.
    pub arrivals: Arrivals,
    /// Descriptors of each core's receive ring.
    pub ring: u32,
    /// The largest utilisation of a core at the high end of its cost; from burst and ring where it
    /// is not given.
    pub utilisation: Option<f64>,
    /// The largest number of equal replicas; 1 where it may not be split.
    pub max_replicas: u32,
    /// Its cores must be on the node of the ports that it uses.
    pub same_node_as_port: bool,
    /// Chains that may not be on the same server, by index; its own index keeps its replicas apart.
    pub apart: Vec<usize>,
    /// What a packet costs on each kind of server, in the order of [`Problem::kinds`].
    pub work: Vec<Work>,
}

/// How packets come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrivals {
    /// At equal distances.
    Smooth,
    /// Bursts of so many frames back to back, at exponential distances; 1 is Poisson.
    Bursts(u32),
}

/// A number that is not known exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interval {
    /// Its low end.
    pub low: f64,
    /// The best guess.
    pub centre: f64,
    /// Its high end.
    pub high: f64,
}

impl Interval {
    /// A number known exactly.
    pub fn exact(value: f64) -> Interval {
        Interval {
            low: value,
            centre: value,
            high: value,
        }
    }

    /// The sum, ends by ends.
    pub fn plus(self, other: Interval) -> Interval {
        Interval {
            low: self.low + other.low,
            centre: self.centre + other.centre,
            high: self.high + other.high,
        }
    }

    /// How far the high end is above the centre, as a part of it.
    pub fn half_width(self) -> f64 {
        if self.centre > 0.0 {
            self.high / self.centre - 1.0
        } else {
            0.0
        }
    }
}

/// What a packet costs a chain on one kind of server, and what each replica holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Work {
    /// Cycles a packet with the tables' hot bytes in the last-level cache.
    pub cycles: Interval,
    /// What it looks up beyond its cores' own caches.
    pub tables: Vec<Table>,
    /// Memory that a replica takes, bytes.
    pub memory_bytes: f64,
}

/// One set of bytes that packets look up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Table {
    /// Accesses a packet that go beyond the core's own caches.
    pub accesses: f64,
    /// The bytes that these accesses touch repeatedly.
    pub hot_bytes: f64,
}

impl Work {
    /// The work of a packet that passes both.
    pub fn plus(mut self, other: &Work) -> Work {
        self.cycles = self.cycles.plus(other.cycles);
        self.tables.extend(&other.tables);
        self.memory_bytes += other.memory_bytes;
        self
    }

    /// Accesses a packet beyond the core's own caches.
    pub fn accesses(&self) -> f64 {
        self.tables.iter().map(|table| table.accesses).sum()
    }

    /// Bytes that should stay in the last-level cache.
    pub fn hot_bytes(&self) -> f64 {
        self.tables.iter().map(|table| table.hot_bytes).sum()
    }
}

impl Chain {
    /// Bits that a packet takes on a link, in each direction.
    pub(crate) fn wire_bits(&self) -> f64 {
        8.0 * (f64::from(self.frame_bytes) + WIRE_OVERHEAD_BYTES)
    }

    /// Bits that a packet takes on the bus of a server of `kind`, in each direction.
    pub(crate) fn bus_bits(&self, kind: &Kind) -> f64 {
        8.0 * (f64::from(self.frame_bytes) + kind.pcie_overhead_bytes)
    }

    /// Accesses to memory that a packet costs besides when it comes from another node: one for each
    /// line.
    ///
    /// Baldi and Sapio (2018), table 1: `I/O_mem` reads the frame from the remote socket's memory.
    pub(crate) fn remote_accesses(&self) -> f64 {
        (f64::from(self.frame_bytes) / LINE_BYTES).ceil()
    }
}

/// One server: its name and the index of its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// The kind's name, with a number where there are several.
    pub name: String,
    /// Index into [`Problem::kinds`].
    pub kind: usize,
}

impl Problem {
    /// Every server, kind by kind.
    pub fn servers(&self) -> Vec<Server> {
        let kinds = self.kinds.iter().enumerate();
        kinds
            .flat_map(|(kind, of)| {
                (0..of.count).map(move |n| Server {
                    name: if of.count == 1 {
                        of.name.clone()
                    } else {
                        format!("{}-{n}", of.name)
                    },
                    kind,
                })
            })
            .collect()
    }

    /// Whether chains `a` and `b` may not be on the same server: either says so.
    pub(crate) fn are_apart(&self, a: usize, b: usize) -> bool {
        self.chains[a].apart.contains(&b) || self.chains[b].apart.contains(&a)
    }
}

/// Where every replica is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Placement {
    /// The replicas, by chain and number.
    pub placed: Vec<Placed>,
}

/// One replica of a chain and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// Index of its chain.
    pub chain: usize,
    /// Its number, from 0.
    pub replica: u32,
    /// Packets a second that it carries.
    pub pps: f64,
    /// Index into [`Problem::servers`].
    pub server: usize,
    /// The node that its cores and tables are on.
    pub node: usize,
    /// The node whose ports its packets pass.
    pub port_node: usize,
    /// Its cores, by number within the node.
    pub cores: Vec<u32>,
}

/// What a server has too little of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource {
    /// Cores.
    Cores,
    /// Accesses to memory a second.
    Dram,
    /// Bytes of the last-level cache.
    Llc,
    /// Bits a second of the ports.
    Link,
    /// Bits a second of the bus.
    Pcie,
    /// Bytes of memory.
    Memory,
}

impl Resource {
    /// All of them; [`Resource::index`] is the place in it.
    pub const ALL: [Resource; 6] = [
        Resource::Cores,
        Resource::Dram,
        Resource::Llc,
        Resource::Link,
        Resource::Pcie,
        Resource::Memory,
    ];

    /// Its place in a list of all.
    pub fn index(self) -> usize {
        self as usize
    }

    /// What a person calls it.
    pub fn name(self) -> &'static str {
        match self {
            Resource::Cores => "cores",
            Resource::Dram => "memory accesses",
            Resource::Llc => "last-level cache",
            Resource::Link => "link",
            Resource::Pcie => "PCIe",
            Resource::Memory => "memory",
        }
    }
}

impl Node {
    /// How much the node has of each resource, in the order of [`Resource::ALL`].
    pub(crate) fn capacities(&self) -> [f64; 6] {
        [
            f64::from(self.cores),
            self.dram_per_s,
            self.llc_bytes,
            self.link_bps,
            self.pcie_bps,
            self.memory_bytes,
        ]
    }
}
