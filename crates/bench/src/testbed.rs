//! What tests ask beyond one constant load: traffic of a kind, loads one after the other, when
//! frames were lost, resets.
//!
//! A *testbed* is a device with a tester around it. It is offered *traffic* by a *plan*: loads, one
//! after the other without a pause, so that a burst, an overload that ends, and a single frame are
//! all plans. A plan may reset the device on its way. With its traffic fixed, a testbed is a
//! [`Trial`], which is all that searches know.
//!
//! A testbed that is wrapped in another one can be watched, recorded, resumed or rehearsed; tests
//! know nothing of it.

use crate::frames::Sizes;
use crate::ports::{Learned, Learning, PortFlow};
use crate::transfer::{File, Protocol as Carrier, Transferred};
use crate::trial::{Failure, Load, Trial, TrialOutcome};
use trammel_core::label::Label;
use trammel_core::time::{Span, Time};
use trammel_stats::histogram::Histogram;

/// Which ways frames go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Directions {
    /// From the first port to the second.
    #[default]
    OneWay,
    /// Both ways, each half of the load.
    //= rfc2544 §14
    //# To test the bidirectional performance of a DUT, the test series SHOULD be run with the same
    //# data rate being offered from each direction.
    Both,
}

/// What frames are of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// UDP over IPv4.
    #[default]
    Ip4,
    /// UDP over IPv6 (RFC 5180).
    Ip6,
}

/// What is mixed into the test frames, in place of one of them (RFC 2544 §11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Modifier {
    /// Every hundredth frame goes to the broadcast address (§11.1).
    Broadcast,
    /// The first frame of each second is a management request (§11.2).
    Management,
    /// A routing update is the first frame, and comes again at its protocol's interval (§11.3).
    RoutingUpdates,
}

impl Modifier {
    /// Its name in commands and tables.
    pub fn name(self) -> &'static str {
        match self {
            Modifier::Broadcast => "broadcast",
            Modifier::Management => "management",
            Modifier::RoutingUpdates => "routing-updates",
        }
    }
}

/// What is offered.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Traffic {
    /// Sizes of frames, FCS included.
    pub sizes: Sizes,
    /// What they are of.
    pub protocol: Protocol,
    /// Which ways they go.
    pub directions: Directions,
    /// Pairs of addresses in each direction; at least 1.
    pub streams: u32,
    /// Networks among which destinations are drawn; 1, or 256 (RFC 2544 §12).
    pub networks: u32,
    /// Frames that come with the least gap between them; 1 is an even flow (RFC 2544 §21).
    pub burst: u32,
    /// What is mixed in.
    pub modifier: Option<Modifier>,
    /// The seed of random numbers.
    pub seed: u64,
}

impl Traffic {
    /// An even flow of UDP over IPv4 from one address to another, one way.
    pub fn of(sizes: Sizes) -> Traffic {
        Traffic {
            sizes,
            protocol: Protocol::default(),
            directions: Directions::default(),
            streams: 1,
            networks: 1,
            burst: 1,
            modifier: None,
            seed: 1,
        }
    }

    /// The *type of data stream* of RFC 2544 §26: what differs from one even flow from one address
    /// to another.
    pub fn stream(&self) -> String {
        let differs = [
            (self.protocol == Protocol::Ip6, "IPv6".to_owned()),
            (self.directions == Directions::Both, "both ways".to_owned()),
            (self.streams > 1, format!("{} streams", self.streams)),
            (self.networks > 1, format!("{} networks", self.networks)),
            (self.burst > 1, format!("bursts of {}", self.burst)),
            (
                self.modifier.is_some(),
                self.modifier.map_or("", Modifier::name).to_owned(),
            ),
        ];
        let named: Vec<String> = differs
            .into_iter()
            .filter(|(does, _)| *does)
            .map(|(_, name)| name)
            .collect();
        if named.is_empty() {
            return "plain".to_owned();
        }
        named.join(", ")
    }
}

/// A reset of the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reset {
    /// Which: a name of [`Testbed::resets`].
    pub kind: String,
    /// When it is caused, from the first frame.
    pub at: Time,
}

/// Frames whose latencies are told one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tags {
    /// The first of them is the first that is due then or later, from the first frame.
    pub from: Time,
    /// How many there are, evenly spread over what is left of the plan; at least 1.
    pub frames: u32,
}

/// What is done with the traffic.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Loads, one after the other without a pause; at least one.
    pub loads: Vec<Load>,
    /// What is done to the device meanwhile.
    pub reset: Option<Reset>,
    /// Which frames are tagged.
    pub tags: Option<Tags>,
}

impl Plan {
    /// One load after the other.
    pub fn of(loads: &[Load]) -> Plan {
        Plan {
            loads: loads.to_vec(),
            reset: None,
            tags: None,
        }
    }

    /// How long frames are sent.
    pub fn duration(&self) -> Span {
        let all = self.loads.iter();
        all.fold(Span::ZERO, |sum, load| sum.saturating_add(load.duration()))
    }

    /// Frames that are to be sent.
    pub fn frames(&self) -> f64 {
        self.loads.iter().map(|load| load.frames()).sum()
    }

    /// Whether less was offered than it intends, or slower, by more than the share `tolerance` and
    /// by more than `sources` whole frames. Of so few frames that one is more than that share, only
    /// the number is judged: how long they take is a matter of single gaps.
    pub fn falls_short(&self, outcome: &TrialOutcome, tolerance: f64, sources: u32) -> bool {
        let frames = self.frames();
        if frames * tolerance < 1.0 {
            let whole = outcome.offered + u64::from(sources.saturating_sub(1));
            // A part of a frame is none; what is a whole number but for rounding is that number.
            return (whole as f64) < (frames + 1e-3).floor();
        }
        let mean = Load::new(frames / self.duration().as_secs_f64(), self.duration());
        mean.is_some_and(|load| outcome.falls_short(load, tolerance, sources))
    }
}

/// Frames that came and should not have, or not so.
//= rfc2544 §10
//# The test equipment SHOULD discard any frames received during a test run that are not actual
//# forwarded test frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Came more than once.
    pub duplicated: u64,
    /// Came after one that was sent later (RFC 4737 §3).
    pub reordered: u64,
    /// Came with other bytes than they were sent with.
    pub corrupted: u64,
    /// Are not of this trial.
    pub stray: u64,
}

/// A time in which nothing came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// When the last frame before it was received, from the first frame sent.
    pub from: Time,
    /// When the first frame after it was.
    pub to: Time,
    /// Frames that were lost between them.
    pub lost: u64,
}

/// The difference of the delays of frames that were sent one after the other, told apart by its
/// sign.
#[derive(Clone, Debug)]
pub struct Variation {
    /// How much less the later one took, ps.
    pub less: Histogram,
    /// How much more, ps; none at all is counted here.
    pub more: Histogram,
}

/// What was observed of a plan.
#[derive(Clone, Debug)]
pub struct Observation {
    /// All loads and directions together.
    pub outcome: TrialOutcome,
    /// What came and should not have.
    pub faults: Faults,
    /// When the last of the frames that were lost was due to be sent, from the first frame; none
    /// where none was lost, or where it is not known.
    pub last_lost: Option<Time>,
    /// The longest time in which nothing came out and something was lost.
    pub outage: Option<Outage>,
    /// RFC 8219 §7.3.2, where it was measured.
    pub variation: Option<Variation>,
    /// The latencies of the tagged frames that came, in their order; none where the testbed tags no
    /// frames.
    pub tagged: Vec<Span>,
    /// Frames that came after the last one had been sent, where that is known.
    pub came_after: Option<u64>,
    /// By how much the tester sent its latest frame too late, where it sends by a clock.
    pub tester_late: Option<Span>,
    /// The most frames that it sent at once beyond those of the plan.
    pub tester_burst: Option<u64>,
    /// From when it began with the first frame until the last had left, by its clock.
    pub sending: Option<Span>,
}

impl Observation {
    /// Only the counts are known.
    pub fn of(outcome: TrialOutcome) -> Observation {
        Observation {
            outcome,
            faults: Faults::default(),
            last_lost: None,
            outage: None,
            variation: None,
            tagged: Vec::new(),
            came_after: None,
            tester_late: None,
            tester_burst: None,
            sending: None,
        }
    }
}

/// What the testbed has no way to do, so that a test has no result here; the text says why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unable(pub String);

/// From when to when the latency of a frame counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LatencyOf {
    /// From its last bit in to its first bit out (RFC 1242 §3.8, store and forward devices).
    StoreAndForward,
    /// From its first bit in to its first bit out (RFC 1242 §3.8, bit forwarding devices).
    BitForwarding,
    /// From the stamp of the sender to that of the receiver, with whatever lies between these and
    /// the device.
    #[default]
    Stamps,
    /// From when the driver takes the frame to when the kernel has it back.
    Driver,
    /// By the clock of the interfaces that the device is at.
    Hardware,
}

impl LatencyOf {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            LatencyOf::StoreAndForward => "store and forward",
            LatencyOf::BitForwarding => "bit forwarding",
            LatencyOf::Stamps => "sender's stamp to receiver's",
            LatencyOf::Driver => "sender's driver to receiver's kernel",
            LatencyOf::Hardware => "clock of the interfaces",
        }
    }
}

/// A device with a tester around it.
pub trait Testbed: std::fmt::Debug {
    /// What its results are.
    fn label(&self) -> Label;

    /// What is tested, in a line for reports.
    fn device(&self) -> String;

    /// Frames a second, of all directions together, that the media carry of this traffic at most.
    fn line_fps(&self, traffic: &Traffic) -> f64;

    /// Frames a second of this traffic, of all directions together, above which the tester and not
    /// the device is what limits, where it has measured itself. No search begins above it.
    fn ceiling_fps(&self, _traffic: &Traffic) -> Option<f64> {
        None
    }

    /// What a trial takes besides the time in which frames are sent.
    fn pauses(&self) -> Span {
        Span::ZERO
    }

    /// How many senders share the load, each of which sends a whole number of frames.
    fn sources(&self, traffic: &Traffic) -> u32 {
        match traffic.directions {
            Directions::OneWay => 1,
            Directions::Both => 2,
        }
    }

    /// From when to when its latencies count.
    fn latency_of(&self) -> LatencyOf {
        LatencyOf::default()
    }

    /// Whether a plan that is made again comes to the same in every number, so that it need not be
    /// made again.
    fn repeats_itself(&self) -> bool {
        false
    }

    /// How long a plan takes here, about; none where that is the time in which frames are sent and
    /// waited for. Testbeds in virtual time are faster or slower than that.
    fn takes(&self, _traffic: &Traffic, _plan: &Plan) -> Option<Span> {
        None
    }

    /// Names of the resets that it can cause. Those of RFC 6201 §4 begin with a word of
    /// [`crate::resets::TAXONOMY`]: `power`, `software-os`, `hardware-lc: slot 2`.
    fn resets(&self) -> Vec<String> {
        Vec::new()
    }

    /// Offers the traffic, waits for what is left on its way, and says what became of it. A plan
    /// begins with the device at rest. The failure is an [`Unable`] where the testbed has no way to
    /// do it at all.
    fn offer(&mut self, traffic: &Traffic, plan: &Plan) -> Result<Observation, Failure>;

    /// Offers all flows at once, as [`offer`](Self::offer) does one, and says what became of each.
    /// Without more, a testbed has two ports and does one flow from the first to the second.
    fn offer_together(&mut self, flows: &[PortFlow]) -> Result<Vec<Observation>, Failure> {
        match flows {
            [only] if (only.from, only.to) == (0, 1) => {
                let observed = self.offer(&only.traffic, &Plan::of(&[only.load]))?;
                Ok(vec![observed])
            }
            _ => Err(Unable(
                "this testbed offers one flow at a time, from its first port to its second"
                    .to_owned(),
            )
            .into()),
        }
    }

    /// Teaches the device addresses and then asks for them (RFC 2889 §5.7). It begins with all
    /// earlier ones forgotten: the testbed sees to that, or waits for their age.
    fn learn(&mut self, _traffic: &Traffic, _learning: &Learning) -> Result<Learned, Failure> {
        Err(Unable("this testbed has no third port to observe flooded frames".to_owned()).into())
    }

    /// Whether files go through the device by `carrier`; the error is why not.
    fn carries_files(&self, _carrier: &Carrier) -> Result<(), Unable> {
        Err(Unable(
            "this testbed has no hosts for file transfers".to_owned(),
        ))
    }

    /// Transfers a file from a host at the first port, which serves it, to one at the second, which
    /// fetches it. Asked for where [`carries_files`](Self::carries_files) has nothing against it.
    fn transfer(&mut self, file: &File) -> Result<Transferred, Failure> {
        self.carries_files(&file.protocol)?;
        Err(Unable("this testbed transfers no files".to_owned()).into())
    }
}

/// A testbed under traffic of one kind: what searches are given.
#[derive(Debug)]
pub struct Constant<'a, T: ?Sized> {
    /// The testbed.
    pub bed: &'a mut T,
    /// What it is offered.
    pub traffic: &'a Traffic,
}

impl<T: Testbed + ?Sized> Trial for Constant<'_, T> {
    fn run(&mut self, load: Load) -> Result<TrialOutcome, Failure> {
        let observed = self.bed.offer(self.traffic, &Plan::of(&[load]))?;
        Ok(observed.outcome)
    }

    fn sources(&self) -> u32 {
        self.bed.sources(self.traffic)
    }
}
