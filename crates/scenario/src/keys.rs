//! Every key of a scenario file, in one table: name, kind, default, unit, help.
//!
//! From it come the check for unknown keys, the suggestions, the defaults, the JSON Schema and the
//! reference page. A reader asks for a key by name; a name that is not in the table is a fault of
//! ours and a test reads every section to find it.

#![allow(clippy::enum_glob_use)] // The rows of the table would drown in prefixes.

use super::keys_kind::{Fallback::*, Key, Kind, Kind::*, Section, k};
use crate::Subject;
use crate::registry::Family;
use trammel_core::units::Dimension as D;

/// The words of `subject`.
pub const SUBJECTS: &[&str] = &[
    Subject::Transport.name(),
    Subject::Forwarding.name(),
    Subject::Traffic.name(),
];
/// The name of the package's kernel among `measure.source` and `measure.kernels`.
pub(crate) const PACKAGED: &str = "packaged";
/// The words of `engines`.
pub const ENGINES: &[&str] = &["predict", "simulate", "measure"];
/// The words of `answer`.
pub(crate) const GOALS: &[&str] = &[
    "share",
    "rank",
    "goodput",
    "delay",
    "loss",
    "recovery",
    "utilisation",
    "fairness",
    "convergence",
    "completion",
    "experience",
    "agreement",
    "prediction",
];
/// The words of `stack`.
pub(crate) const STACKS: &[&str] = &["linux-6", "linux-2.6", "rfc"];
/// The words of `ecn`, beside `true` and `false`.
pub(crate) const ECN: &[&str] = &["classic", "accurate"];
/// Queues of a sending host.
pub(crate) const SENDER_QUEUES: &[&str] = &["none", "fq"];
/// Memory of sockets that nobody set.
pub(crate) const BUFFERS: &[&str] = &["unlimited", "linux"];
/// The words of `dscp`, and the codepoint of each (RFC 2474, 2597, 3246, 5865, 8622).
pub(crate) const DSCPS: [(&str, u8); 23] = [
    ("CS0", 0),
    ("CS1", 8),
    ("CS2", 16),
    ("CS3", 24),
    ("CS4", 32),
    ("CS5", 40),
    ("CS6", 48),
    ("CS7", 56),
    ("AF11", 10),
    ("AF12", 12),
    ("AF13", 14),
    ("AF21", 18),
    ("AF22", 20),
    ("AF23", 22),
    ("AF31", 26),
    ("AF32", 28),
    ("AF33", 30),
    ("AF41", 34),
    ("AF42", 36),
    ("AF43", 38),
    ("VA", 44),
    ("EF", 46),
    ("LE", 1),
];
const DSCP_WORDS: [&str; DSCPS.len()] = {
    let mut words = [""; DSCPS.len()];
    let mut at = 0;
    while at < words.len() {
        words[at] = DSCPS[at].0;
        at += 1;
    }
    words
};
/// The words of `wifi.standard`.
pub(crate) const WIFI_STANDARDS: &[&str] = &["802.11g"];
/// The words of `loss.direction`.
pub const DIRECTIONS: &[&str] = &["data", "ack", "both"];
/// The words of `schedule.direction`; `down` is another word for `data`, `up` for `ack`.
pub(crate) const WAYS: &[&str] = &["data", "ack", "both", "down", "up"];
/// The words of `schedule.outage`.
pub(crate) const OUTAGES: &[&str] = &["hold", "drop"];
/// The words of `schedule_file.between`.
pub(crate) const BETWEEN: &[&str] = &["steps", "linear"];
/// The words of `schedule_file.end`.
pub(crate) const FILE_ENDS: &[&str] = &["hold", "repeat"];
/// The words of `topology.preset`.
pub const TOPOLOGIES: &[&str] = &["dumbbell", "parking-lot", "four-host"];
/// The words of `host.device`: the presets of the card.
pub const DEVICES: &[&str] = &[
    "reference-1g",
    "ideal-memory-1g",
    "reference-10g",
    "reference-sume",
    "reference-plus",
];
/// The words of `workload.kind`.
pub const WORKLOADS: &[&str] = &["poisson", "request-response", "on-off", "background"];
/// The words of `matrix.pairs`.
pub const PAIRS: &[&str] = &["unordered", "distinct", "ordered"];

/// The longest time, s: simulated time ends after 213 days, and sums of several times must come
/// before.
pub(super) const LONGEST_S: f64 = 1e6;
/// The most bytes of a flow, a buffer or a memory.
pub(super) const MOST_BYTES: f64 = 1e15;
pub(super) const SPAN: Kind = Quantity(&[D::Time], f64::MIN_POSITIVE, LONGEST_S);
pub(super) const INSTANT: Kind = Quantity(&[D::Time], 0.0, LONGEST_S);
pub(super) const RATE: Kind = Quantity(&[D::Rate], 1.0, 1e14);
pub(super) const BYTES: Kind = Quantity(&[D::Bytes], 1.0, MOST_BYTES);
const PROBABILITY: Kind = Quantity(&[D::Ratio], 0.0, 1.0);

/// The file itself.
#[rustfmt::skip] // One row a key reads as the table it is.
pub static ROOT: Section = Section {
    name: "",
    help: "the file: the question, the duration, the repeats",
    extra: None,
    keys: &[
        k("title", Text, Is(""), "", "title of the scenario, in one line"),
        k("question", Text, Absent, "", "the question that it answers, for the report"),
        k(
            "answer", Word(GOALS), See("by the shape of the file"), "",
            "the kind of answer that the report's first sentence gives"
        ),
        k("subject", Word(SUBJECTS), Is("transport"), "", "what is studied"),
        k(
            "engines", Words(ENGINES), See("predict and simulate; measure too with `[measure]`"),
            "", "which engines answer"
        ),
        k("duration", SPAN, Is("30 s"), "s", "length of a run"),
        k("warmup", INSTANT, Is("0 s"), "s", "metrics are also computed from this instant on"),
        k(
            "repeat", Whole(1, 100_000), Is("1"), "",
            "runs of every point, with seeds `seed`, `seed` + 1, …"
        ),
        k("seed", Whole(0, i64::MAX), Is("1"), "", "first seed of the random streams"),
        k(
            "solo", Bool, Is("false"), "",
            "each flow also runs alone; its harm is the goodput that it loses to the others"
        ),
        k(
            "trace", WordOrTime(&["off", "ack"]), Is("off"), "",
            "what to trace of every flow: nothing, every ACK, or samples at an interval"
        ),
        k(
            "pcap", BoolOrNames, Is("false"), "",
            "links whose packets are captured, `true` for all; of a guest also its hosts"
        ),
        k("qlog", Bool, Is("false"), "",
            "the events of every flow are written as qlog 0.3, a JSON text sequence; `trace` is \
             `ack` then unless it is given"),
        k("path", Table(&PATH), Absent, "", "the path that all flows share"),
        k("topology", Table(&TOPOLOGY), Absent, "", "a preset network made of `[path]`s"),
        k("host", Tables(&HOST), Absent, "", "a host or router of an explicit network"),
        k("link", Tables(&LINK), Absent, "", "a link of an explicit network"),
        k("flow", Tables(&FLOW), Absent, "", "a TCP flow, or several alike"),
        k("workload", Tables(&WORKLOAD), Absent, "", "TCP flows that come and go"),
        k("stream", Tables(&STREAM), Absent, "", "a stream of datagrams"),
        k("app", Tables(&APP), Absent, "", "an application, for what its users get"),
        k("sweep", Sweep, Absent, "", "dotted keys with lists of values; all combinations run"),
        k(
            "matrix", Table(&MATRIX), Absent, "",
            "every pair from a list of variants, for the first two flows"
        ),
        k("predict", Table(&PREDICT), Absent, "", "the analytic models to use"),
        k("measure", Table(&MEASURE), Absent, "", "how real stacks are measured"),
    ],
};

/// `[path]`.
#[rustfmt::skip] // One row a key reads as the table it is.
pub static PATH: Section = Section {
    name: "path",
    help: "one bottleneck between all senders and all receivers",
    extra: None,
    keys: &with_line_keys::<8, 21>([
        k("preset", Text, Absent, "", "a named path; its keys apply unless given here"),
        k(
            "rate", RATE, See("required without `wifi`, `trace` or `preset`"), "bit/s",
            "rate of the bottleneck"
        ),
        k(
            "rtt", SPAN, See("required without `preset`"), "s",
            "unloaded round trip of the whole path"
        ),
        k(
            "access", Table(&ACCESS), Absent, "",
            "a separate access link for every sender and receiver"
        ),
        k(
            "wifi", Table(&WIFI), Absent, "",
            "the bottleneck is an 802.11 cell; `rate` defaults to its fastest mode"
        ),
        k("ack_rate", RATE, See("`rate`"), "bit/s", "rate of the way back"),
        k("queue", Table(&QUEUE), See("droptail, 1 bdp"), "", "queue before the bottleneck"),
        k("loss", Table(&LOSS), Absent, "", "losses behind the bottleneck"),
    ]),
};

/// The keys that every link has, be it the bottleneck of `[path]` or a `[[link]]`.
#[rustfmt::skip] // One row a key reads as the table it is.
const LINE_KEYS: [Key; 13] = [
    k("processing", INSTANT, See("none; `1 us` before a queue of one or two packets"), "s",
        "the largest delay with which packets leave the queue, drawn uniformly: the effect of \
         processing and timers. It keeps flows from running in step to the picosecond (phase \
         effects); at most the time of one packet counts"),
    k(
        "jitter", TimeOr(&JITTER), Absent, "s",
        "extra delay of each packet; a time means uniform from zero to it"
    ),
    k("reorder", BoolOr(&REORDER), Is("false"), "",
        "`true`: packets overtake each other where jitter, or a delay that falls, says so, as with \
         netem; a table: packets held back so that later ones overtake them"),
    k("mtu", Whole(68, 65_535), Is("1500"), "bytes", "largest IP packet"),
    k(
        "overhead", Quantity(&[D::Bytes], 0.0, 10_000.0), Is("14 B"), "bytes",
        "bytes the link counts beside each IP packet"
    ),
    k("burst", BYTES, Absent, "bytes",
        "depth of a token bucket in each direction, as in Linux's tbf; without it, packets are \
         serialised as on a wire"),
    k("schedule", Tables(&CHANGE), Absent, "",
        "changes of rate, delay, loss and jitter during the run, and outages"),
    k("schedule_period", SPAN, Absent, "s", "the schedule repeats after this time"),
    k("schedule_file", Table(&SCHEDULE_FILE), Absent, "", "the schedule as a file"),
    k(
        "trace", Text, Absent, "",
        "a mahimahi trace file of delivery opportunities, instead of a rate"
    ),
    k("ack_trace", Text, Absent, "", "the same of the way back, instead of `ack_rate`"),
    k("grants", Table(&GRANTS), Absent, "",
        "packets leave the line in bursts, as in a cell, over a cable or by Wi-Fi's block ACKs"),
    k("delay_limit", Whole(1, 100_000_000), See("no limit"), "packets",
        "packets that the delay holds at most, as netem's `limit`; those beyond are lost"),
];

/// The keys `own` of a section, then [`LINE_KEYS`].
pub(super) const fn with_line_keys<const OWN: usize, const ALL: usize>(
    own: [Key; OWN],
) -> [Key; ALL] {
    assert!(ALL == OWN + LINE_KEYS.len(), "a key would be left out");
    let mut all = [LINE_KEYS[0]; ALL];
    let mut at = 0;
    while at < ALL {
        all[at] = if at < OWN {
            own[at]
        } else {
            LINE_KEYS[at - OWN]
        };
        at += 1;
    }
    all
}

/// `path.access`.
#[rustfmt::skip] // One row a key reads as the table it is.
pub static ACCESS: Section = Section {
    name: "access",
    help: "the links between each host and the bottleneck",
    extra: None,
    keys: &[
        k("rate", RATE, Required, "bit/s", "rate of each"),
        k("delay", INSTANT, Is("0 s"), "s", "one-way delay of each, within the path's `rtt`"),
    ],
};

/// `path.wifi`.
#[rustfmt::skip] // One row a key reads as the table it is.
pub static WIFI: Section = Section {
    name: "wifi",
    help: "an 802.11 cell as the bottleneck",
    extra: None,
    keys: &[
        k("standard", Word(WIFI_STANDARDS), Is("802.11g"), "", "the physical layer"),
        k(
            "received_power", Quantity(&[D::Dbm, D::Ratio], -110.0, 30.0), Is("-60 dBm"), "dBm",
            "power at each receiver, which determines the rate and the losses of frames and ACKs"
        ),
        k(
            "distance", Number(0.1, 10_000.0), Absent, "m",
            "distance, which gives the power by a path-loss model"
        ),
        k("stations", Whole(1, 250), Is("1"), "", "stations that contend for the channel"),
    ],
};

/// `queue` of a path or link.
#[rustfmt::skip] // One row a key reads as the table it is.
pub static QUEUE: Section = Section {
    name: "queue",
    help: "a queue: its discipline and limit; further keys are the discipline's parameters",
    extra: Some(Family::Discipline),
    keys: &[
        k("discipline", Plugin(Family::Discipline), Is("droptail"), "", "the queue's law"),
        k(
            "limit", Quantity(&[D::Packets, D::Bytes, D::Bdp, D::Ratio], f64::MIN_POSITIVE, 1e12),
            See("codel and pie 1000 packets, fq_codel, fq_pie and cake 10240, fq and dualpi2 \
                 10000, as in Linux; else 1 bdp"), "",
            "capacity in packets, bytes or bandwidth-delay products; a bare number is packets"
        ),
        k(
            "ecn", Bool, See("the discipline's"), "",
            "the discipline marks ECN-capable packets instead of dropping them"
        ),
    ],
};

/// `loss` of a path or link.
#[rustfmt::skip] // One row a key reads as the table it is.
pub static LOSS: Section = Section {
    name: "loss",
    help: "losses that no queue causes; further keys are the model's parameters",
    extra: Some(Family::Loss),
    keys: &[
        k("model", Plugin(Family::Loss), Is("bernoulli"), "", "the law of loss"),
        k("direction", Word(DIRECTIONS), Is("data"), "", "whose packets are lost"),
    ],
};

/// `jitter` of a path or link.
#[rustfmt::skip] // One row a key reads as the table it is.
pub static JITTER: Section = Section {
    name: "jitter",
    help: "extra delay of each packet, in seconds; further keys are the distribution's parameters",
    extra: Some(Family::Distribution),
    keys: &[k("distribution", Plugin(Family::Distribution), Required, "", "its law")],
};

/// `reorder` of a path or link.
#[rustfmt::skip] // One row a key reads as the table it is.
pub(crate) static REORDER: Section = Section {
    name: "reorder",
    help: "packets held back so that later ones overtake them",
    extra: None,
    keys: &[
        k("probability", PROBABILITY, Required, "", "fraction of packets held back"),
        k("delay", SPAN, Required, "s", "for how long"),
    ],
};

/// One row of `schedule`.
#[rustfmt::skip] // One row a key reads as the table it is.
pub static CHANGE: Section = Section {
    name: "schedule",
    help: "one change of the path; what it does not name stays as it is",
    extra: None,
    keys: &[
        k("at", INSTANT, Required, "s", "when"),
        k("direction", Word(WAYS), Is("data"), "",
            "whose packets: `data` (or `down`) from senders to receivers, `ack` (or `up`) the way \
             back"),
        k("rate", Quantity(&[D::Rate], 0.0, 1e14), Absent, "bit/s",
            "the new rate; zero is an outage"),
        k("delay", INSTANT, Absent, "s",
            "the new one-way delay, in place of half of `rtt`; of a link, of its `delay`. No \
             packet overtakes another unless `reorder = true`"),
        k("loss", PROBABILITY, Absent, "", "the new probability of loss"),
        k("jitter", INSTANT, Absent, "s", "the most of an extra delay, drawn uniformly"),
        k("down", Bool, Absent, "", "whether an outage begins, or one ends"),
        k("outage", Word(OUTAGES), Is("hold"), "",
            "what an outage does with the queue: it keeps what waits and takes in what comes, or \
             it drops both"),
    ],
};

/// `schedule_file` of a path or link.
#[rustfmt::skip] // One row a key reads as the table it is.
pub static SCHEDULE_FILE: Section = Section {
    name: "schedule_file",
    help: "a schedule as a file: CSV with a header such as `time_s,rate_mbps,delay_ms,loss`, or a \
           log of paths as LeoEM computes them",
    extra: None,
    keys: &[
        k("file", Text, Required, "", "the file, named from the scenario's own folder"),
        k("between", Word(BETWEEN), Is("steps"), "",
            "what holds between two rows: the first of them, or values on a straight line, in \
             steps of 10 ms (rates of 100 ms)"),
        k("end", Word(FILE_ENDS), Is("hold"), "",
            "after the last row: it holds, or the file begins anew"),
        k("offset", INSTANT, Is("0 s"), "s", "the run begins at this time of the file"),
        k("direction", Word(WAYS), Is("both"), "",
            "whose packets its rows are about, but for columns that begin with `ack_`"),
        k("gap", INSTANT, Is("0 s"), "s",
            "an outage of this length at each change of the path, of logs that have one"),
        k("outage", Word(OUTAGES), Is("hold"), "", "what outages do with the queue"),
    ],
};

/// `grants` of a path or link.
#[rustfmt::skip] // One row a key reads as the table it is.
pub static GRANTS: Section = Section {
    name: "grants",
    help: "bursts in which packets leave the line, by netem's `slot`",
    extra: None,
    keys: &[
        k("every", SPAN, Required, "s",
            "from a packet that waits, or from a grant that was used up, to the next grant"),
        k("packets", Whole(1, 1_000_000), Required, "packets", "packets of a grant at most"),
        k("direction", Word(WAYS), Is("ack"), "", "whose packets"),
    ],
};

/// `[topology]`.
#[rustfmt::skip] // One row a key reads as the table it is.
pub static TOPOLOGY: Section = Section {
    name: "topology",
    help: "a preset network whose bottlenecks are as `[path]` says",
    extra: None,
    keys: &[
        k("preset", Word(TOPOLOGIES), Required, "", "its shape"),
        k(
            "pairs", Whole(1, 1_000), See("one for every flow"), "",
            "senders and receivers of a dumbbell"
        ),
        k("hops", Whole(1, 100), Is("3"), "", "bottlenecks in a row of a parking lot"),
    ],
};

/// `[[host]]`.
#[rustfmt::skip] // One row a key reads as the table it is.
pub static HOST: Section = Section {
    name: "host",
    help: "a host or router",
    extra: None,
    keys: &[
        k("name", Text, Required, "", "its name, for `from` and `to`"),
        k(
            "device", Word(DEVICES), Absent, "",
            "it is a NetFPGA reference router of this timing: frames take its time, wait in its \
             queues and go by its tables. Its ports are its links in the order of the file"
        ),
        k(
            "registers", Names, Absent, "",
            "registers of the device that are written before the run, such as \
             `OQ_QUEUE_2_MAX_PKTS_IN_Q=64`; after a table's fields, its `WR_ADDR` writes a row"
        ),
    ],
};

/// `[[link]]`.
#[rustfmt::skip] // One row a key reads as the table it is.
pub static LINK: Section = Section {
    name: "link",
    help: "a link in both directions; packets take the path of least delay",
    extra: None,
    keys: &with_line_keys::<8, 21>([
        k("name", Text, See("`from-to`"), "", "its name in the results"),
        k("from", Text, Required, "", "the host at one end"),
        k(
            "to", Text, Required, "",
            "the host at the other end; data direction is from `from` to `to`"
        ),
        k("rate", RATE, See("required without `trace`"), "bit/s", "its rate"),
        k("delay", INSTANT, Is("0 s"), "s", "its one-way delay"),
        k("ack_rate", RATE, See("`rate`"), "bit/s", "rate of the way back"),
        k(
            "queue", Table(&QUEUE), See("droptail, 1 bdp"), "",
            "queue before it, in both directions; a bdp is that of the longest flow across"
        ),
        k("loss", Table(&LOSS), Absent, "", "losses on it"),
    ]),
};

/// `[[flow]]`.
#[rustfmt::skip] // One row a key reads as the table it is.
pub static FLOW: Section = Section {
    name: "flow",
    help: "a TCP flow, or several alike",
    extra: None,
    keys: &[
        k(
            "name", Text, See("the variant's name, numbered where several share it"), "",
            "its name in the results"
        ),
        k(
            "variant", Plugin(Family::Variant), Required, "",
            "congestion control; `newreno` means reno over stack `rfc` without SACK"
        ),
        k("params", Params(Family::Variant), Absent, "", "the variant's parameters"),
        k("count", Whole(1, 10_000), Is("1"), "", "flows alike"),
        k(
            "start", INSTANT,
            See("drawn from the seed within the first round trip or second, whichever is longer"),
            "s", "when it starts; drawn by its `name`, without one by its place, so that variants \
            of a sweep start alike"
        ),
        k("stop", SPAN, See("the end of the run"), "s", "when it stops to send"),
        k("duration", SPAN, Absent, "s", "instead of `stop`: how long it sends"),
        k("bytes", BYTES, See("no end"), "bytes", "what it has to send"),
        k("rate", RATE, See("as fast as TCP sends"), "bit/s",
            "payload that its application writes, in whole segments and once a millisecond at \
             most; what TCP cannot send yet waits"),
        k("from", Text, Absent, "", "sending host, in a network"),
        k("to", Text, Absent, "", "receiving host, in a network"),
        k("rtt", SPAN, See("the path's"), "s", "its own unloaded round trip"),
        k("stack", Word(STACKS), Is("linux-6"), "", "the TCP around the congestion control"),
        k("sack", Bool, Is("true"), "", "selective acknowledgements"),
        k("ecn", BoolOrWord(ECN), See("what the variant needs"), "",
            "the ECN that is negotiated: `true` and `classic` by RFC 3168, `accurate` by RFC 9768 \
             (AccECN), with classic ECN where the peer has no other"),
        k("dscp", Word(&DSCP_WORDS), Is("CS0"), "",
            "differentiated services codepoint of its packets, in both directions"),
        k("buffers", Word(BUFFERS), Is("unlimited"), "",
            "socket memory, unless the next two keys set it: never a limit, or as in Linux, where \
             it grows to 4 MB for sending (`tcp_wmem`) and 6 MB for receiving (`tcp_rmem`)"),
        k("socket_buffer", BYTES, See("as `buffers` says"), "bytes",
            "send buffer, as an application sets it (`SO_SNDBUF`): the kernel takes twice as much \
             memory for it; the receiver's too, without `receive_buffer`"),
        k("receive_buffer", BYTES, See("as `buffers` says"), "bytes",
            "receive buffer, as an application sets it (`SO_RCVBUF`), which bounds the offered \
             window"),
        k("reader", SPAN, See("at once"), "s", "interval at which the receiving application reads"),
        k("delayed_ack", BoolOrWhole(1, 64), Is("true"), "segments",
            "whether ACKs are delayed, or after how many full segments an ACK is sent, within 100 \
             ms; more than 2 violates RFC 5681 §4.2"),
        k(
            "initial_window", Whole(1, 1000), See("the stack's: 10, 3 or RFC 3390"), "segments",
            "first congestion window"
        ),
        k(
            "min_rto", SPAN, See("the stack's: 200 ms, with `rfc` 1 s"), "s",
            "least retransmission timeout"
        ),
        k(
            "cwnd_clamp", Whole(1, 1_000_000_000), See("no limit"), "segments",
            "largest congestion window"
        ),
        k("timestamps", Bool, See("the stack's: on"), "", "the timestamp option"),
        k(
            "nagle", Bool, See("the stack's: off"), "",
            "small segments wait while data is unacknowledged"
        ),
        k("pacing", Bool, See("if the variant requires it"), "", "segments are paced"),
        k("pacing_rate", RATE, See("no limit"), "bit/s",
            "payload that is sent at most, paced whatever the variant asks for \
             (`SO_MAX_PACING_RATE`)"),
        k("sender_queue", Word(SENDER_QUEUES), Is("none"), "",
            "queue of the sending host: none that counts, or Linux's `fq`, which paces every flow, \
             by the variant's rate or the one that follows from the window"),
        k("kernel_variant", Text, Absent, "",
            "the congestion control for engine `measure`, by its name in the kernel, if it differs \
             from `variant`"),
        k("offload", Bool, Is("false"), "", "segmentation offload: bursts leave as super-segments"),
    ],
};

/// `[[workload]]`.
#[rustfmt::skip] // One row a key reads as the table it is.
pub static WORKLOAD: Section = Section {
    name: "workload",
    help: "TCP flows that come and go",
    extra: None,
    keys: &[
        k("name", Text, See("the kind"), "", "its name in the results"),
        k(
            "kind", Word(WORKLOADS), Required, "",
            "how flows arrive: independently, as transactions, in bursts, or as cross traffic"
        ),
        k("variant", Plugin(Family::Variant), Is("cubic"), "", "congestion control of its flows"),
        k("params", Params(Family::Variant), Absent, "", "the variant's parameters"),
        k("stack", Word(STACKS), Is("linux-6"), "", "the TCP around the congestion control"),
        k("buffers", Word(BUFFERS), Is("unlimited"), "", "memory of its sockets, as for a flow"),
        k("from", Text, Absent, "", "sending host, in a network"),
        k("to", Text, Absent, "", "receiving host, in a network"),
        k("start", INSTANT, Is("0 s"), "s", "when it starts"),
        k("stop", SPAN, See("the end of the run"), "s", "when no more flows come"),
        k(
            "load", Quantity(&[D::Ratio], f64::MIN_POSITIVE, 10.0), Absent, "",
            "poisson, background: offered fraction of the bottleneck"
        ),
        k(
            "rate", RATE, Absent, "bit/s",
            "poisson, background: offered payload; on-off: sending rate while on"
        ),
        k("arrivals", Number(1e-6, 1e9), Absent, "1/s", "poisson, background: flows per second"),
        k(
            "size", Distribution(D::Bytes), See("background: Pareto, mean 100 kB, shape 1.3"),
            "bytes", "poisson, background: bytes of a flow"
        ),
        k(
            "request", Distribution(D::Bytes), Is("300 B"), "bytes",
            "request-response: bytes of a request"
        ),
        k(
            "response", Distribution(D::Bytes), Is("10 kB"), "bytes",
            "request-response: bytes of a response"
        ),
        k(
            "think", Distribution(D::Time), Is("1 s"), "s",
            "request-response: pause before the next request"
        ),
        k(
            "connections", Whole(1, 100_000), Is("1"), "",
            "request-response, on-off: connections at once"
        ),
        k("on", Distribution(D::Time), Is("1 s"), "s", "on-off: length of a burst"),
        k("off", Distribution(D::Time), Is("1 s"), "s", "on-off: length of a pause"),
    ],
};

/// `[[stream]]`.
#[rustfmt::skip] // One row a key reads as the table it is.
pub static STREAM: Section = Section {
    name: "stream",
    help: "a stream of datagrams",
    extra: None,
    keys: &[
        k("name", Text, See("`stream-1`, `stream-2`, …"), "", "its name in the results"),
        k("protocol", Word(&["udp"]), Is("udp"), "", "the protocol"),
        k("size", Distribution(D::Bytes), Is("1400 B"), "bytes", "payload of a datagram"),
        k(
            "gap", Distribution(D::Time), Required, "s",
            "time from one datagram to the next; `rate` in packets per second sets the mean"
        ),
        k("dscp", Word(&DSCP_WORDS), Is("CS0"), "",
            "differentiated services codepoint of its datagrams"),
        k("from", Text, Absent, "", "sending host, in a network"),
        k("to", Text, Absent, "", "receiving host, in a network"),
        k("start", INSTANT, Is("0 s"), "s", "when it starts"),
        k("stop", SPAN, See("the end of the run"), "s", "when it stops"),
    ],
};

/// `[[app]]`.
#[rustfmt::skip] // One row a key reads as the table it is.
pub static APP: Section = Section {
    name: "app",
    help: "an application; the result is what its users get. Further keys are the kind's \
           parameters",
    extra: Some(Family::App),
    keys: &[
        k("name", Text, See("the kind"), "", "its name in the results"),
        k("kind", Plugin(Family::App), Required, "",
            "what a user does; the server is the sending host, the user the receiving one"),
        k("users", Whole(1, 10_000), Is("1"), "",
            "users alike; each begins within a second of `start`, drawn from the seed"),
        k("variant", Plugin(Family::Variant), Is("cubic"), "",
            "congestion control of its connections, where TCP carries it"),
        k("params", Params(Family::Variant), Absent, "", "the variant's parameters"),
        k("stack", Word(STACKS), Is("linux-6"), "", "the TCP around the congestion control"),
        k("dscp", Word(&DSCP_WORDS), Is("CS0"), "",
            "differentiated services codepoint of its packets, in both directions"),
        k("from", Text, Absent, "", "the server's host, in a network"),
        k("to", Text, Absent, "", "the users' host, in a network"),
        k("start", INSTANT, Is("0 s"), "s", "when its users begin"),
        k("stop", SPAN, See("the end of the run"), "s", "when they leave"),
    ],
};

/// `size`, `gap` and the like: a distribution with its parameters.
#[rustfmt::skip] // One row a key reads as the table it is.
pub static RANDOM: Section = Section {
    name: "distribution",
    help: "a distribution; further keys are its parameters. A plain value is constant",
    extra: Some(Family::Distribution),
    keys: &[k("distribution", Plugin(Family::Distribution), Required, "", "its law")],
};

/// `variant = { library = … }`.
#[rustfmt::skip] // One row a key reads as the table it is.
pub(crate) static LIBRARY: Section = Section {
    name: "variant",
    help: "a congestion control from a shared object (`trammel header`), in place of its name",
    extra: None,
    keys: &[
        k("library", Text, Required, "", "the shared object, relative to this file; it is loaded"),
    ],
};

/// `[matrix]`.
#[rustfmt::skip] // One row a key reads as the table it is.
pub static MATRIX: Section = Section {
    name: "matrix",
    help: "every pair from a list of variants, for the first two flows",
    extra: None,
    keys: &[
        k(
            "variants", Values, Required, "",
            "names, or tables with `variant` and other keys of a flow"
        ),
        k("pairs", Word(PAIRS), Is("unordered"), "",
            "each pair once including equal variants, `distinct` without those, or `ordered` in \
             both orders"),
    ],
};

/// `[predict]`.
#[rustfmt::skip] // One row a key reads as the table it is.
pub static PREDICT: Section = Section {
    name: "predict",
    help: "the analytic models to use",
    extra: None,
    keys: &[k("models", Names, See("every model that applies"), "", "names, or `name:dialect`")],
};

/// `[measure]`.
#[rustfmt::skip] // One row a key reads as the table it is.
pub static MEASURE: Section = Section {
    name: "measure",
    help: "how real stacks are measured",
    extra: None,
    keys: &[
        k(
            "kernel", Word(&["linux", "host"]), Is("linux"), "",
            "the kernel's TCP in virtual time, or this host's stack"
        ),
        k(
            "source", Text, See("the package linux-source-6.12"), "",
            "a source tree of Linux to build the kernel from; `TREE+x.patch` and \
             `packaged+x.patch` apply patches to a copy of it"
        ),
        k(
            "patches", Names, Absent, "",
            "patches to apply to a copy of the source, in this order"
        ),
        k("kernels", Names, Absent, "",
            "several kernels to measure with, each as in `source`, `packaged` for the package's: a \
             sweep over `measure.source`"),
        k(
            "module", Text, Absent, "",
            "a congestion control to compile for the kernel, a file of C such as `tcp_mine.c`"
        ),
        k(
            "sysctls", Names, Absent, "",
            "sysctls of all hosts below /proc/sys/net, such as `ipv4.tcp_reordering=5`"
        ),
        k(
            "parameters", Names, Absent, "",
            "parameters of the kernel's modules, such as `tcp_cubic.hystart=0`"
        ),
    ],
};

/// Every section once, the file first, in the order of the reference page.
#[rustfmt::skip] // One row a key reads as the table it is.
pub static SECTIONS: &[&Section] = &[
    &ROOT, &PATH, &QUEUE, &LOSS, &JITTER, &REORDER, &CHANGE, &SCHEDULE_FILE, &GRANTS,
    &ACCESS, &WIFI, &TOPOLOGY, &HOST,
    &LINK, &FLOW, &WORKLOAD,
    &STREAM, &APP, &RANDOM, &LIBRARY, &MATRIX, &PREDICT, &MEASURE,
];
