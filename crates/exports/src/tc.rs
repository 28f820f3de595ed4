//! A path as qdiscs of Linux: netem for delay and losses, tbf for the rate, the law behind it.
//!
//! ```text
//! sender ── back [router] out ── receiver
//! ```
//! Each interface of the router delays (netem) and then queues (tbf and its law) what leaves by it:
//! in the simulator packets wait first. The round trip and the queue are the same.
//!
//! Source: the manual pages `tc-netem(8)`, `tc-tbf(8)` and those of the laws, iproute2 6.1.

use crate::shape::{ETHERNET_HEADER, Losses, Shape, Way};
use crate::{Script, comment, said};
use trammel_core::entry::{About, Params, Value};
use trammel_core::time::Span;
use trammel_scenario::model::Scenario;
use trammel_scenario::path::Limit;

/// How late a timer may be without costing rate: the depth of the bucket is of so much time.
const LATE: Span = Span::from_us(250);
/// A rate at which packets take no time: netem keeps their order where it has a rate.
const IN_ORDER: &str = "rate 100gbit";
/// Packets on their way that netem has room for, at least.
const LEAST_ON_THE_WAY: u64 = 1000;

/// What takes away the qdiscs of a script that ran before. The kernel's own, which come back, have
/// other handles, and cannot be deleted. Each interface is tried, whatever the other one says.
const OFF: &str = r#"take_off() {
    found=$(tc qdisc show dev "$1") || return
    case $found in
    *" 1: root "*) tc qdisc del dev "$1" root ;;
    esac
}
both() {
    ended=0
    take_off "$1" || ended=$?
    take_off "$2" || ended=$?
    return $ended
}
if [ "${1:-}" = off ]; then
    both "${2:?the interface to the receivers}" "${3:?the interface to the senders}"
    exit
fi
"#;

/// What goes before the qdiscs: what was there is not built upon, and half a path is none.
const BEGIN: &str = r#"both "$out" "$back"
trap 'both "$out" "$back"' EXIT
"#;

/// The path of `scenario`, which is of the file `name`, as a shell script.
///
/// # Errors
/// Where the scenario has no path that can be emulated.
pub fn script(name: &str, scenario: &Scenario) -> Result<Script, String> {
    let commands = Commands::of(scenario)?;
    let left_out = commands.left_out;
    let head = comment::line(&format!(
        "The path of {name} as qdiscs of Linux, on a router between senders and receivers."
    ));
    let mut text = format!(
        "#!/bin/sh\n{head}# usage: sh FILE OUT BACK      OUT: its interface to the receivers, \
         BACK: to the senders\n#        sh FILE off OUT BACK  takes the qdiscs away\n# Needs the \
         right to configure interfaces, and the modules sch_netem and sch_tbf.\n{}set \
         -eu\n{OFF}out=${{1:?the interface to the receivers}}\nback=${{2:?the interface to the \
         senders}}\n# Frames of several segments would be one to a qdisc; where they come from a \
         sender on this host, turn that off:\n# ethtool -K \"$out\" tso off gso off gro \
         off\n{BEGIN}",
        said(&left_out, &[])
    );
    for (title, device, way) in [
        ("From senders to receivers", "\"$out\"", &commands.data),
        ("From receivers to senders", "\"$back\"", &commands.back),
    ] {
        text += &format!("\n# {title}\n");
        for (what, words) in way {
            text += &comment::line(what);
            text += &format!("tc qdisc {}\n", words.replace("DEV", device));
        }
    }
    text += "\ntrap - EXIT\n";
    Ok(Script {
        text,
        left_out,
        changed: Vec::new(),
    })
}

/// Words behind `tc qdisc` with `DEV` for the interface, each with its comment.
pub(crate) struct Commands {
    pub(crate) data: Vec<(String, String)>,
    pub(crate) back: Vec<(String, String)>,
    pub(crate) left_out: Vec<String>,
}

impl Commands {
    pub(crate) fn of(scenario: &Scenario) -> Result<Commands, String> {
        let shape = Shape::of(scenario)?;
        let mut left_out = shape.left_out.clone();
        if shape.overhead < ETHERNET_HEADER {
            left_out.push(format!(
                "`overhead` of {} bytes: an Ethernet interface counts {ETHERNET_HEADER} of each \
                 frame",
                shape.overhead
            ));
        }
        let data = way(&shape, &shape.data, &mut left_out);
        let back = way(&shape, &shape.back, &mut left_out);
        Ok(Commands {
            data,
            back,
            left_out,
        })
    }
}

fn way(shape: &Shape, way: &Way, left_out: &mut Vec<String>) -> Vec<(String, String)> {
    if let Some(trace) = &way.trace {
        left_out.push(format!(
            "the trace `{}`: tbf has one rate, the mean of it",
            comment::fit(&trace.file)
        ));
    }
    let mut commands = vec![netem(shape, way)];
    commands.push(tbf(shape, way));
    let (comment, law) = match &way.law {
        Some((about, params)) => law(about, params, shape, way, left_out),
        None => (
            "a queue that is never full".to_owned(),
            format!("pfifo limit {}", way.limit_packets),
        ),
    };
    commands.push((comment, format!("add dev DEV parent 2:1 handle 3: {law}")));
    commands
}

/// A time in tc's words: netem refuses `ns`, but takes parts of a microsecond.
fn time(span: Span) -> String {
    match span.as_ns() {
        ns if ns % 1_000_000 == 0 => format!("{}ms", ns / 1_000_000),
        ns => format!("{}us", ns as f64 / 1e3),
    }
}

/// A share in per cent.
fn percent(share: f64) -> String {
    format!("{}%", (share * 1e8).round() / 1e6)
}

fn netem(shape: &Shape, way: &Way) -> (String, String) {
    // Twice what is on the way at the rate: nothing is lost here.
    let on_the_way = way.rate.as_bps() as f64 * way.delay.as_secs_f64() / 8.0;
    let room = (2.0 * on_the_way / 64.0) as u64;
    let limit = way
        .delay_limit
        .map_or(room.max(LEAST_ON_THE_WAY), u64::from);
    let mut comment = format!("{} ms of delay", way.delay.as_secs_f64() * 1e3);
    let mut words = format!("replace dev DEV root handle 1: netem limit {limit}");
    match way.jitter {
        // netem draws from both sides of the delay.
        Some(most) => {
            let half = Span::from_ps(most.as_ps() / 2);
            words += &format!(" delay {} {}", time(way.delay + half), time(half));
            comment += &format!(", and up to {} ms more", most.as_secs_f64() * 1e3);
            if !shape.overtakes {
                words += &format!(" {IN_ORDER}");
                comment += ", in order";
            }
        }
        None => words += &format!(" delay {}", time(way.delay)),
    }
    match way.losses {
        Some(Losses::Independent(share)) => {
            words += &format!(" loss random {}", percent(share));
            comment += &format!(", {} lost", percent(share));
        }
        Some(Losses::Gilbert(p, r, good, bad)) => {
            let all = [p, r, bad, good].map(percent).join(" ");
            words += &format!(" loss gemodel {all}");
            comment += ", lost in two states";
        }
        None => {}
    }
    if let Some((every, packets)) = way.grants {
        words += &format!(" slot {0} {0} packets {packets}", time(every));
        comment += &format!(", {packets} packets every {} ms", every.as_secs_f64() * 1e3);
    }
    (comment, words)
}

fn tbf(shape: &Shape, way: &Way) -> (String, String) {
    let frame = u64::from(shape.mtu + shape.overhead.max(ETHERNET_HEADER));
    let bps = way.rate.as_bps();
    let of_timers = (bps as f64 / 8.0 * LATE.as_secs_f64()) as u64;
    let burst = way.burst.unwrap_or(of_timers).max(frame);
    let more = shape.overhead.saturating_sub(ETHERNET_HEADER);
    let overhead = match more {
        0 => String::new(),
        more => format!(" overhead {more}"),
    };
    let comment = format!(
        "{} Mbit/s; a bucket of {burst} bytes, as timers may be {} µs late",
        bps as f64 / 1e6,
        LATE.as_secs_f64() * 1e6
    );
    // Its own limit is that of a queue which the next line replaces.
    let words = format!(
        "add dev DEV parent 1:1 handle 2: tbf rate {bps}bit burst {burst} limit {}{overhead}",
        burst.max(frame) * 2
    );
    (comment, words)
}

/// Parameters of a law: their names here, and tc's words.
type Words = &'static [(&'static str, &'static str)];

/// The queue's law behind the rate.
fn law(
    about: &About,
    params: &Params,
    shape: &Shape,
    way: &Way,
    left_out: &mut Vec<String>,
) -> (String, String) {
    let name = about.name;
    let packets = way.limit_packets;
    let quantum = &[("quantum", "quantum")];
    let codel: Words = &[
        ("target", "target"),
        ("interval", "interval"),
        ("ce_threshold", "ce_threshold"),
        ("ecn", "ecn"),
    ];
    let fq_codel: Words = &[
        ("flows", "flows"),
        ("quantum", "quantum"),
        ("drop_batch", "drop_batch"),
        ("target", "target"),
        ("interval", "interval"),
        ("ce_threshold", "ce_threshold"),
        ("ecn", "ecn"),
    ];
    let pie: Words = &[
        ("target", "target"),
        ("t_update", "tupdate"),
        ("ecn", "ecn"),
    ];
    let (kind, known): (&str, Words) = match name {
        "droptail" => {
            let fifo = match way.limit {
                Limit::Bytes(bytes) => format!("bfifo limit {bytes}"),
                Limit::Packets(_) | Limit::Bdp(_) => format!("pfifo limit {packets}"),
            };
            return (format!("a queue: {fifo}"), fifo);
        }
        "codel" => ("codel", codel),
        "fq_codel" => ("fq_codel", fq_codel),
        "pie" => ("pie", pie),
        "fq_pie" => ("fq_pie", pie),
        "fq" => ("fq", quantum),
        "red" => return red(params, shape, way, left_out),
        name => {
            left_out.push(format!(
                "the law `{name}`: a queue of as many packets that drops at its end stands for it"
            ));
            let fifo = format!("pfifo limit {packets}");
            return (format!("in place of `{name}`"), fifo);
        }
    };
    let mut words = format!("{kind} limit {packets}");
    let usual = Params::defaults(about);
    for ((param, value), (_, default)) in params.iter().zip(usual.iter()) {
        let word = known.iter().find(|(name, _)| *name == param);
        match (word, said_value(value)) {
            (Some((_, word)), Some(value)) if value.is_empty() => words += &format!(" {word}"),
            (Some((_, word)), Some(value)) => words += &format!(" {word} {value}"),
            (Some(_), None) => {}
            (None, _) if value == default => {}
            (None, _) => left_out.push(format!("`{name}`'s `{param}`: tc's own holds")),
        }
    }
    (format!("the law {name}, {packets} packets at most"), words)
}

/// A value in tc's words; nothing where it is off or zero, which is tc's default.
fn said_value(value: &Value) -> Option<String> {
    match value {
        Value::Bool(is_on) => is_on.then(String::new),
        Value::Time(span) if *span == Span::ZERO => None,
        Value::Time(span) => Some(time(*span)),
        Value::Int(number) => Some(number.to_string()),
        Value::Bytes(0) => None,
        Value::Bytes(bytes) => Some(bytes.to_string()),
        _ => None,
    }
}

/// RED, whose thresholds are of bytes in tc.
fn red(params: &Params, shape: &Shape, way: &Way, left_out: &mut Vec<String>) -> (String, String) {
    let frame = f64::from(shape.mtu + ETHERNET_HEADER);
    let bytes = |key| (params.float(key) * frame) as u64;
    let (min, max) = (bytes("min_threshold"), bytes("max_threshold"));
    // tc takes the weight from a burst: of (2 min + max) / 3 average packets, as its page says.
    let burst = ((2 * min + max) as f64 / (3.0 * frame)).ceil().max(1.0);
    left_out.push(format!(
        "RED's weight of {}: tc takes its own from `burst`",
        params.float("weight")
    ));
    let limit = u64::from(way.limit_packets) * frame as u64;
    let mut words = format!(
        "red limit {limit} min {min} max {max} avpkt {} burst {burst} bandwidth {}bit probability \
         {}",
        frame as u64,
        way.rate.as_bps(),
        params.float("max_probability")
    );
    if params.bool("ecn") {
        words += " ecn";
    }
    if params.bool("gentle") {
        left_out.push("RED's `gentle`: tc's drops all above `max`".to_owned());
    }
    ("the law RED, in bytes".to_owned(), words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_core::units::Rate;
    use trammel_scenario::path::{Direction, Jitter, Loss, Queue, Trace};
    use trammel_scenario::plugin::Plugin;

    fn scenario() -> Scenario {
        Scenario::dumbbell()
            .rate(Rate::from_bps(20_000_000))
            .rtt(Span::from_ms(30))
    }

    fn lines(scenario: &Scenario) -> Vec<String> {
        let commands = Commands::of(scenario).expect("it has a path");
        commands.data.into_iter().map(|(_, words)| words).collect()
    }

    #[test]
    fn a_path_is_a_delay_a_rate_and_a_queue_in_each_direction() {
        assert_eq!(
            lines(&scenario()),
            [
                "replace dev DEV root handle 1: netem limit 1171 delay 15ms",
                "add dev DEV parent 1:1 handle 2: tbf rate 20000000bit burst 1514 limit 3028",
                "add dev DEV parent 2:1 handle 3: pfifo limit 50",
            ]
        );
        let script = script("a.toml", &scenario()).expect("it has a path");
        assert_eq!(script.left_out, Vec::<String>::new());
        assert_eq!(script.text.matches("\ntc qdisc").count(), 6);
        // The qdiscs of a run before go first; those of a run that fails go too.
        let at = |what: &str| script.text.find(what).expect("it is there");
        assert!(at("\nboth \"$out\" \"$back\"\ntrap 'both ") < at("\ntc qdisc replace"));
        assert!(script.text.ends_with("\n\ntrap - EXIT\n"));
    }

    #[test]
    fn losses_jitter_and_laws_are_in_the_words_of_tc() {
        let loss = Loss {
            model: Plugin::new("gilbert-elliott")
                .with("p", Value::Float(0.01))
                .with("r", Value::Float(0.2)),
            direction: Direction::Data,
        };
        let queue = Queue::new("fq_codel").param("target", Value::Time(Span::from_ms(8)));
        let scenario = scenario().loss(loss).queue(queue.ecn()).path(|path| {
            path.line.jitter = Some(Jitter::Uniform(Span::from_ms(4)));
        });
        let lines = lines(&scenario);
        assert!(
            lines[0].ends_with("delay 17ms 2ms rate 100gbit loss gemodel 1% 20% 100% 0%"),
            "{lines:?}"
        );
        assert!(lines[2].contains("fq_codel limit 10240"), "{lines:?}");
        assert!(
            lines[2].contains(" target 8ms") && lines[2].contains(" ecn"),
            "{lines:?}"
        );
    }

    #[test]
    fn names_of_files_begin_no_line() {
        let name = "t\ntouch PWNED #";
        let trace = Trace::parse(name, "1\n2\n").expect("it is a trace");
        let scenario = scenario().path(|path| path.line.trace = Some(trace));
        let script = script("u\ntouch PWNED #.toml", &scenario).expect("it has a path");
        let is_ours = |line: &str| !line.starts_with("touch");
        assert!(script.text.lines().all(is_ours), "{}", script.text);
        let left_out = "# Left out: the trace `t\\ntouch PWNED #`: tbf";
        assert!(script.text.contains(left_out), "{}", script.text);
        assert!(!script.left_out.iter().any(|what| what.contains('\n')));
    }

    #[test]
    fn what_tc_does_not_do_is_said() {
        let queue = Queue::new("pi");
        let scenario = scenario().queue(queue).path(|path| path.line.overhead = 0);
        let script = script("a.toml", &scenario).expect("it has a path");
        assert_eq!(script.left_out.len(), 2, "{:?}", script.left_out);
        assert!(
            script.text.contains("# Left out: the law `pi`"),
            "{}",
            script.text
        );
    }
}
