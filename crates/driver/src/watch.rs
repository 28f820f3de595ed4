//! Watching a router: packets followed from element to element, and what was counted at each.

use super::fitted::LEGEND;
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};
use trammel_openmetrics::page::{Page, labels};
use trammel_packet::capture::link::LinkType;
use trammel_packet::capture::pcapng::Writer;
use trammel_packet::capture::{Frame, Order, Sink};
use trammel_packet::device::DeviceCounters;
use trammel_packet::timestamp::Timestamp;
use trammel_router::Reason;
use trammel_router::engine::Ctx;
use trammel_router::engine::trace::{Event, Step};
use trammel_router::host::DeviceRequest;

/// A followed packet.
#[derive(Clone, Debug)]
struct Followed {
    /// When it was first seen, and its bytes then.
    at: Timestamp,
    data: Vec<u8>,
    /// Where it came, and how it ended.
    steps: Vec<(usize, Step)>,
}

/// The packets that are followed.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    packets: Arc<Mutex<Vec<Followed>>>,
}

impl Watch {
    /// Follows the next `count` packets of `ctx`.
    pub fn start(ctx: &mut Ctx, count: u16) -> Watch {
        let watch = Watch::default();
        let packets = Arc::clone(&watch.packets);
        ctx.trace(
            count,
            Box::new(move |event: Event<'_>| {
                let Ok(mut packets) = packets.lock() else {
                    return;
                };
                let number = usize::from(event.trace);
                if packets.len() < number {
                    packets.push(Followed {
                        at: event.at,
                        data: event.data.to_vec(),
                        steps: Vec::new(),
                    });
                }
                if let Some(packet) = packets.get_mut(number - 1) {
                    packet.steps.push((event.element, event.step));
                }
            }),
        );
        watch
    }

    /// A line for each packet: where it came and how it ended.
    pub fn lines(&self, ctx: &Ctx) -> Vec<String> {
        let Ok(packets) = self.packets.lock() else {
            return Vec::new();
        };
        packets.iter().map(|packet| line(packet, ctx)).collect()
    }

    /// Writes the packets as they were first seen, each with its line as a comment.
    pub fn save(&self, ctx: &Ctx, path: &Path) -> io::Result<()> {
        let mut writer = Writer::new(Sink::plain(std::fs::File::create(path)?), Order::Little)?;
        let interface = writer.interface("first seen", LinkType::EN10MB, 0)?;
        let lines = self.lines(ctx);
        if let Ok(packets) = self.packets.lock() {
            for (packet, line) in packets.iter().zip(&lines) {
                writer.write(&Frame {
                    timestamp: packet.at,
                    interface,
                    link: LinkType::EN10MB,
                    wire_len: packet.data.len() as u32,
                    data: &packet.data,
                    comment: line.as_str(),
                })?;
            }
        }
        writer.finish()
    }
}

fn line(packet: &Followed, ctx: &Ctx) -> String {
    let mut text = format!("{} {} bytes:", packet.at, packet.data.len());
    for (element, step) in &packet.steps {
        let name = ctx.name(*element);
        match step {
            Step::Pushed(port) => write!(text, " -> [{port}] {name}"),
            Step::Pulled(port) => write!(text, " <- {name} [{port}]"),
            Step::Ended(reason) => write!(text, ": {}", reason.text()),
        }
        .expect("a string takes any text");
    }
    if !matches!(packet.steps.last(), Some((_, Step::Ended(_)))) {
        text += ": still there";
    }
    text
}

/// What was counted at an element, as words of a table.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) class: String,
    pub(crate) packets: String,
    /// Packets a batch.
    pub(crate) batch: String,
    /// Ticks a packet.
    pub(crate) ticks: String,
    /// How many packets ended there, and why, a reason each.
    pub(crate) ended: Vec<String>,
}

/// What was counted at each element.
pub(crate) fn rows(ctx: &Ctx) -> Vec<Row> {
    let each = |total: u64, of: u64| {
        if of == 0 {
            String::new()
        } else {
            format!("{:.1}", total as f64 / of as f64)
        }
    };
    let row = |element: usize| {
        let (packets, _) = handled(ctx, element);
        Row {
            name: ctx.name(element).to_owned(),
            class: ctx.class(element).to_owned(),
            packets: packets.to_string(),
            batch: each(moved(ctx, element), batches(ctx, element)),
            ticks: each(ctx.counters(element).cycles, packets),
            ended: ended(ctx, element)
                .map(|(why, count)| format!("{count} {why}"))
                .collect(),
        }
    };
    (0..ctx.elements()).map(row).collect()
}

/// What was counted at each element: packets, batches, cycles a packet, packets that ended there
/// and why.
pub fn statistics(ctx: &Ctx) -> String {
    let mut text = format!(
        "{:<28} {:<20} {:>12} {:>10} {:>10}  {}\n",
        "element", "class", "packets", "a batch", "ticks", "ended there"
    );
    for row in rows(ctx) {
        writeln!(
            text,
            "{:<28} {:<20} {:>12} {:>10} {:>10}  {}",
            row.name,
            row.class,
            row.packets,
            row.batch,
            row.ticks,
            row.ended.join(", ")
        )
        .expect("a string takes any text");
    }
    text + LEGEND + "\n"
}

/// Calls by which packets came to an element or were asked of it; of one that is not called, those
/// by which it asked for packets, or the batches in which it sent off what it made.
fn batches(ctx: &Ctx, element: usize) -> u64 {
    let counted = ctx.counters(element);
    let own = counted.started.batches;
    counted.batches.max(counted.pulls).max(own)
}

/// The packets of these calls. Those of a queue count as they come and as they go, since both are
/// calls.
fn moved(ctx: &Ctx, element: usize) -> u64 {
    let counted = ctx.counters(element);
    match batches(ctx, element) {
        calls if calls == counted.batches => counted.packets,
        calls if calls == counted.pulls => counted.pulled,
        _ => counted.started.packets,
    }
}

/// Packets and bytes that came to an element, each once, or that one without inputs made.
fn handled(ctx: &Ctx, element: usize) -> (u64, u64) {
    let has_inputs = ctx.inputs_of(element) > 0;
    ctx.counters(element).handled(has_inputs)
}

/// Why packets ended at an element, and how many did.
fn ended(ctx: &Ctx, element: usize) -> impl Iterator<Item = (&'static str, u64)> {
    let drops = ctx.counters(element).drops;
    let all = Reason::ALL.iter();
    let all = all.map(move |reason| (reason.text(), drops[*reason as usize]));
    all.filter(|(_, count)| *count > 0)
}

/// The same numbers as JSON.
pub fn json(ctx: &Ctx) -> String {
    let element = |element: usize| {
        let (packets, bytes) = handled(ctx, element);
        let counted = ctx.counters(element);
        json!({
            "element": ctx.name(element),
            "class": ctx.class(element),
            "thread": ctx.home(element),
            "packets": packets,
            "bytes": bytes,
            "batches": batches(ctx, element),
            "ticks": counted.cycles,
            "stored": ctx.stored(element),
            "ended": ended(ctx, element).collect::<BTreeMap<_, _>>(),
        })
    };
    let interface = |(request, counted): (&DeviceRequest, DeviceCounters)| {
        json!({
            "interface": request.name,
            "received": counted.received,
            "sent": counted.sent,
            "receive_drops": counted.receive_drops,
            "send_errors": counted.send_errors,
        })
    };
    let interfaces = ctx.open_devices().into_iter().map(interface);
    let all = json!({
        "elements": (0..ctx.elements()).map(element).collect::<Vec<_>>(),
        "interfaces": interfaces.collect::<Vec<_>>(),
    });
    format!("{all:#}\n")
}

/// The same numbers as a page of OpenMetrics.
pub(crate) fn metrics(ctx: &Ctx) -> String {
    let mut page = Page::of(env!("CARGO_PKG_VERSION"));
    let label = |element: usize| {
        labels(&[
            ("element", ctx.name(element)),
            ("class", ctx.class(element)),
        ])
    };
    let of = |value: &dyn Fn(usize) -> u64| -> Vec<(String, u64)> {
        let all = 0..ctx.elements();
        all.map(|element| (label(element), value(element)))
            .collect()
    };
    let some = |value: &dyn Fn(usize) -> Option<usize>| -> Vec<(String, u64)> {
        let all = 0..ctx.elements();
        all.filter_map(|element| Some((label(element), value(element)? as u64)))
            .collect()
    };
    let homes = (0..ctx.elements()).map(|element| ctx.home(element));
    let threads = homes.max().map_or(1, |last| last as u64 + 1);
    page.gauge(
        "trammel_router_threads",
        "Threads that have elements.",
        [(String::new(), threads)],
    );
    page.gauge(
        "trammel_router_thread",
        "The number of the thread that an element runs on.",
        of(&|element| ctx.home(element) as u64),
    );
    page.counter(
        "trammel_router_packets",
        "Packets that reached an element; for an element without inputs, packets that it \
         generated.",
        of(&|element| handled(ctx, element).0),
    );
    page.counter(
        "trammel_router_bytes",
        "Bytes of the packets that reached an element; for an element without inputs, of those \
         that it generated.",
        of(&|element| handled(ctx, element).1),
    );
    page.counter(
        "trammel_router_batches",
        "Calls that pushed packets to an element or pulled them from it; for one that drives \
         packets, calls and batches of its own.",
        of(&|element| batches(ctx, element)),
    );
    page.counter(
        "trammel_router_ticks",
        "Ticks of the time-stamp counter in the element itself.",
        of(&|element| ctx.counters(element).cycles),
    );
    let rows = (0..ctx.elements()).flat_map(|element| {
        let with = move |(why, count)| (format!("{},reason=\"{why}\"", label(element)), count);
        ended(ctx, element).map(with).collect::<Vec<_>>()
    });
    page.counter(
        "trammel_router_ended",
        "Packets that ended at an element, by reason; `consumed` is not a loss.",
        rows,
    );
    page.gauge(
        "trammel_router_queue_packets",
        "Packets that an element stores.",
        some(&|element| ctx.stored(element)),
    );
    page.gauge(
        "trammel_router_queue_room",
        "Free places for packets in an element.",
        some(&|element| ctx.room(element)),
    );
    page.gauge(
        "trammel_router_pool_packets",
        "Packet buffers in use.",
        [(String::new(), ctx.packets_inside() as u64)],
    );
    let interfaces = ctx.open_devices();
    type Counter = fn(&DeviceCounters) -> u64;
    let counters: [(&str, &str, Counter); 4] = [
        ("received", "Frames received by an interface.", |c| {
            c.received
        }),
        ("sent", "Frames sent by an interface.", |c| c.sent),
        (
            "receive_drops",
            "Frames that an interface lost before they were read.",
            |c| c.receive_drops,
        ),
        (
            "send_errors",
            "Frames that an interface accepted and could not send.",
            |c| c.send_errors,
        ),
    ];
    for (name, help, value) in counters {
        let name = format!("trammel_router_interface_{name}");
        let rows = interfaces.iter().map(|(request, counted)| {
            let interface = labels(&[("interface", &request.name)]);
            (interface, value(counted))
        });
        page.counter(&name, help, rows);
    }
    page.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_router::MemoryHost;
    use trammel_router::engine::Options;
    use trammel_router::{BuiltIn, load};

    fn ran(config: &str) -> Ctx {
        let language = trammel_router::lang::Options {
            classes: Some(&BuiltIn),
            ..trammel_router::lang::Options::default()
        };
        let run = Options {
            profiled: true,
            ..Options::simulated()
        };
        let loaded = load(
            config,
            "config",
            &language,
            Box::new(MemoryHost::new()),
            run,
        );
        let (mut ctx, _) = loaded.unwrap_or_else(|refused| panic!("{}", refused.said.click()));
        let until = ctx.now() + Timestamp::from_secs(2);
        ctx.run_until(Some(until));
        ctx
    }

    /// The value of the line of a metric that has these labels.
    fn value(text: &str, name: &str, label: &str) -> Option<u64> {
        let mut lines = text.lines().filter(|line| {
            line.split(['{', ' ']).next() == Some(name)
                && (label.is_empty() || line.contains(label))
        });
        lines.next()?.rsplit(' ').next()?.parse().ok()
    }

    #[test]
    fn a_packet_counts_once_wherever_it_comes() {
        let text = metrics(&ran(
            "s :: RatedSource(DATA abcd, RATE 1000, LIMIT 100) -> q :: Queue -> u :: Unqueue -> c \
             :: Null -> d :: Discard;
             p :: InfiniteSource(DATA ab, LIMIT 7) -> n :: Null -> v :: Unqueue -> t :: ToDump(-);
             r :: TimedSource(0.1, LIMIT 5) -> f :: Queue(2) -> Idle",
        ));
        for (element, packets, bytes) in [
            ("s", 100, 400),
            ("q", 100, 400),
            ("u", 100, 400),
            ("c", 100, 400),
            ("d", 100, 400),
            ("p", 7, 14),
            ("n", 7, 14),
            ("v", 7, 14),
            ("t", 7, 14),
        ] {
            let label = format!("element=\"{element}\"");
            let of = |name| value(&text, name, &label);
            assert_eq!(
                of("trammel_router_packets_total"),
                Some(packets),
                "{element}"
            );
            assert_eq!(of("trammel_router_bytes_total"), Some(bytes), "{element}");
            // Of sources and of what pulls too.
            let batches = of("trammel_router_batches_total");
            assert!(
                batches.is_some_and(|count| count > 0),
                "{element}: {batches:?}"
            );
        }
        let ended = |label| value(&text, "trammel_router_ended_total", label);
        assert_eq!(
            ended("element=\"t\",class=\"ToDump\",reason=\"consumed\""),
            Some(7)
        );
        assert_eq!(
            ended("element=\"f\",class=\"Queue\",reason=\"queue full\""),
            Some(3)
        );
        let stored = |name| value(&text, name, "element=\"f\"");
        assert_eq!(stored("trammel_router_queue_packets"), Some(2));
        assert_eq!(stored("trammel_router_queue_room"), Some(0));
        assert_eq!(value(&text, "trammel_router_threads", ""), Some(1));
        assert_eq!(value(&text, "trammel_build_info", "version="), Some(1));
    }

    #[test]
    fn the_dashboard_asks_for_what_the_page_has() {
        let page = metrics(&ran(
            "s :: RatedSource(RATE 1000, LIMIT 10) -> q :: Queue(3) -> Idle",
        ));
        let path = "/../../share/grafana/router.json";
        let dashboard = std::fs::read_to_string(env!("CARGO_MANIFEST_DIR").to_owned() + path);
        let missing = trammel_openmetrics::reader::missing(&page, &dashboard.expect("it is there"));
        // What an interface counts is there with an interface.
        let missing = missing.expect("the page is right").into_iter();
        let of_none = "trammel_router_interface_";
        assert_eq!(missing.filter(|name| !name.starts_with(of_none)).count(), 0);
    }

    #[test]
    fn the_page_and_the_json_have_the_same_batches() {
        let ctx = ran(
            "s :: RatedSource(RATE 1000, LIMIT 100) -> q :: Queue -> u :: Unqueue -> c :: Counter \
             -> d :: Discard; p :: InfiniteSource(LIMIT 7) -> n :: Null -> v :: Discard",
        );
        let page = metrics(&ctx);
        let all: serde_json::Value = serde_json::from_str(&json(&ctx)).expect("the text is JSON");
        for element in all["elements"].as_array().expect("a list") {
            let name = element["element"].as_str().expect("a name");
            let of_page = value(
                &page,
                "trammel_router_batches_total",
                &format!("element=\"{name}\""),
            );
            assert_eq!(of_page, element["batches"].as_u64(), "{name}");
            assert_ne!(of_page, Some(0), "{name}");
        }
    }

    #[test]
    fn statistics_are_json_too() {
        let text = json(&ran(
            "s :: RatedSource(RATE 1000, LIMIT 10) -> q :: Queue(3) -> Idle",
        ));
        let all: serde_json::Value = serde_json::from_str(&text).expect("the text is JSON");
        let queue = &all["elements"][1];
        assert_eq!(queue["packets"], 10);
        assert_eq!(
            (&queue["stored"], &queue["ended"]["queue full"]),
            (&3.into(), &7.into())
        );
        assert_eq!(all["interfaces"], serde_json::json!([]));
    }
}
