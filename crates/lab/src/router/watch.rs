//! Watching a router: packets followed from element to element, and what was counted at each.

use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};
use trammel_packet::capture::link::LinkType;
use trammel_packet::capture::pcapng::Writer;
use trammel_packet::capture::{Frame, Order, Sink};
use trammel_packet::timestamp::Timestamp;
use trammel_router::engine::Ctx;
use trammel_router::engine::trace::{Event, Step};
use trammel_router::reason;

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
        .expect("a string grows");
    }
    if !matches!(packet.steps.last(), Some((_, Step::Ended(_)))) {
        text += ": still there";
    }
    text
}

/// What was counted at each element: packets, batches, cycles a packet, packets that ended there and why.
pub fn statistics(ctx: &Ctx) -> String {
    let mut text = format!(
        "{:<28} {:<20} {:>12} {:>10} {:>10}  {}\n",
        "element", "class", "packets", "a batch", "ticks", "ended there"
    );
    for element in 0..ctx.elements() {
        let counted = ctx.counters(element);
        let ends: Vec<String> = reason::ALL
            .iter()
            .filter(|reason| counted.drops[**reason as usize] > 0)
            .map(|reason| format!("{} {}", counted.drops[*reason as usize], reason.text()))
            .collect();
        let each = |total: u64, of: u64| {
            if of == 0 {
                String::new()
            } else {
                format!("{:.1}", total as f64 / of as f64)
            }
        };
        // Who drives packets is called for none: what it gives or asks for counts.
        let own = &counted.started;
        let (packets, batches) = match (counted.packets, counted.pulled) {
            (0, 0) => (own.packets, own.batches),
            (0, pulled) => (pulled, counted.pulls),
            (packets, _) => (packets, counted.batches),
        };
        writeln!(
            text,
            "{:<28} {:<20} {:>12} {:>10} {:>10}  {}",
            ctx.name(element),
            ctx.class(element),
            packets,
            each(packets, batches),
            each(counted.cycles, packets),
            ends.join(", ")
        )
        .expect("a string grows");
    }
    text + "ticks: of the time-stamp counter, a packet, in the element itself\n"
}

/// The same numbers in Prometheus' text format.
pub fn prometheus(ctx: &Ctx) -> String {
    let mut text = String::new();
    let mut family = |name: &str, help: &str, rows: Vec<(String, u64)>| {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} counter");
        for (labels, value) in rows {
            let _ = writeln!(text, "{name}{{{labels}}} {value}");
        }
    };
    let label = |element: usize| {
        let escape = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
        let (name, class) = (escape(ctx.name(element)), escape(ctx.class(element)));
        format!("element=\"{name}\",class=\"{class}\"")
    };
    let all = || (0..ctx.elements()).map(|element| (element, ctx.counters(element)));
    let rows = all().map(|(e, c)| (label(e), c.packets)).collect();
    family(
        "trammel_router_packets_total",
        "Packets given to an element or asked of it.",
        rows,
    );
    let rows = all().map(|(e, c)| (label(e), c.batches)).collect();
    family(
        "trammel_router_batches_total",
        "Calls that brought or fetched packets.",
        rows,
    );
    let rows = all().map(|(e, c)| (label(e), c.cycles)).collect();
    family(
        "trammel_router_ticks_total",
        "Ticks of the time-stamp counter.",
        rows,
    );
    let drops = all().flat_map(|(e, c)| {
        let some = reason::ALL
            .iter()
            .filter(|reason| c.drops[**reason as usize] > 0);
        some.map(move |reason| (e, reason.text(), c.drops[*reason as usize]))
    });
    let rows = drops
        .map(|(e, why, n)| (format!("{},reason=\"{why}\"", label(e)), n))
        .collect();
    family(
        "trammel_router_ended_total",
        "Packets that ended at an element.",
        rows,
    );
    text
}
