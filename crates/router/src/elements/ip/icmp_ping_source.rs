//! Sends echo requests and reports the replies.
//!
//! # What it does
//! A request leaves at each `INTERVAL`, or whenever one is pulled. Replies to them may come back to
//! an input: then each is told of as ping(1) does, and loss and times are kept. With `MIRROR` a
//! reply becomes the next request at once.
//!
//! # Example
//! ```click
//! // Ten pings, and what becomes of them.
//! p :: ICMPPingSource(10.0.0.1, 10.0.0.2, LIMIT 10)
//!     -> EtherEncap(0x0800, 2:0:0:0:0:1, 2:0:0:0:0:2)
//!     -> Queue -> ToDevice(eth0);
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> IPClassifier(icmp type echo-reply) -> p
//! ```
//!
//! # References
//! RFC 792.

use super::shared::icmp_encap::{Ends, Message};
use crate::args::kinds::{INT, U16};
use crate::args::numbers::{parse_bool, parse_int};
use crate::args::times::{parse_seconds_in, unparse_microseconds};
use crate::args::{Args, Kind, keyword, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::timer::TimerId;
use crate::engine::{Ctx, Element, Handler};
use crate::graph::processing::Mode;
use crate::headers::ip_packet::header;
use crate::reason::Reason;
use std::net::Ipv4Addr;
use trammel_packet::batch::{Batch, Packets};
use trammel_packet::headers::icmp::{Icmp, kind};
use trammel_packet::headers::ipv4::{Ipv4, protocol, set_checksum};
use trammel_packet::packet::Packet;
use trammel_packet::pool::Handle;
use trammel_packet::timestamp::Timestamp;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "ICMPPingSource",
    "sends echo requests and reports the replies",
    || Box::<IcmpPingSource>::default(),
)
.aliases(&["ICMPSendPings"])
.ports("0-1/1", "h/a")
.references(&["RFC 792"])
.params(&[
    mandatory("SRC", Kind::Ip, "the source address"),
    mandatory("DST", Kind::Ip, "the destination address"),
    keyword(
        "INTERVAL",
        Kind::SecondsIn(3),
        "1",
        "seconds between requests",
    ),
    keyword("IDENTIFIER", U16, "0", "the identifier of the requests"),
    keyword("LIMIT", INT, "-1", "requests in all; negative is no limit"),
    keyword("DATA", Kind::Text, "", "what requests carry"),
    keyword("ACTIVE", Kind::Bool, "true", "whether requests are sent"),
    keyword("VERBOSE", Kind::Bool, "true", "whether replies are told of"),
    keyword(
        "STOP",
        Kind::Bool,
        "false",
        "whether the driver stops after the last",
    ),
    keyword(
        "MIRROR",
        Kind::Bool,
        "false",
        "whether a reply becomes the next request",
    ),
])
.ops("copy(length); checksum(length + 8); 2 * checksum(20); deparse(28); work(200)");

const TTL: u8 = 200;
const HEADERS: usize = Ipv4::LEN + Icmp::LEN;
/// Sequence numbers, of which 0 is not used.
const SEQUENCES: usize = 1 << 16;

/// What is known of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Sent {
    #[default]
    Never,
    Waits(Timestamp),
    Answered(Timestamp),
}

#[derive(Debug, Default)]
struct Replies {
    /// By sequence number.
    sent: Vec<Sent>,
    received: u64,
    duplicates: u64,
    least_us: u64,
    most_us: u64,
    sum_us: u64,
    sum_of_squares: u64,
}

impl Replies {
    fn new() -> Replies {
        Replies {
            sent: vec![Sent::Never; SEQUENCES],
            ..Replies::default()
        }
    }

    /// Notes a reply that came `at`; gives its microseconds, where it answers a request.
    fn note(&mut self, sequence: u16, at: Timestamp) -> Option<u64> {
        let sent = &mut self.sent[usize::from(sequence)];
        let then = match *sent {
            Sent::Never => return None,
            Sent::Waits(then) => then,
            Sent::Answered(then) => {
                self.duplicates += 1;
                then
            }
        };
        *sent = Sent::Answered(then);
        let us = if at == Timestamp::default() {
            0
        } else {
            let us = ((at - then).0.max(0) / 1000) as u64;
            let is_first = self.received == 0;
            self.least_us = if is_first { us } else { self.least_us.min(us) };
            self.most_us = self.most_us.max(us);
            self.sum_us += us;
            self.sum_of_squares = self.sum_of_squares.saturating_add(us.saturating_mul(us));
            us
        };
        self.received += 1;
        Some(us)
    }

    fn average_us(&self) -> u64 {
        self.sum_us / self.received.max(1)
    }

    fn summary(&self, count: i64) -> String {
        let answered = self.received - self.duplicates;
        let mut text = format!("{count} packets transmitted, {answered} received");
        if self.duplicates > 0 {
            text += &format!(", +{} duplicates", self.duplicates);
        }
        // Differs from Click: a reply that came twice makes the loss no less, nor more.
        let lost = (count - answered as i64).max(0) * 100;
        if let Some(percent) = lost.checked_div(count) {
            text += &format!(", {percent}% packet loss\n");
        }
        if let Some(squares) = self.sum_of_squares.checked_div(self.received) {
            let average = self.average_us();
            let deviation = squares.saturating_sub(average * average).isqrt();
            let all = [self.least_us, average, self.most_us, deviation];
            let all = all.map(milliseconds).join("/");
            text += &format!("rtt min/avg/max/mdev = {all}\n");
        }
        text
    }
}

fn milliseconds(us: u64) -> String {
    format!("{}.{:03}", us / 1000, us % 1000)
}

#[derive(Debug, Default)]
struct IcmpPingSource {
    ends: Ends,
    interval_ms: u64,
    identifier: u16,
    limit: i64,
    count: i64,
    data: Vec<u8>,
    active: bool,
    verbose: bool,
    stops: bool,
    mirrors: bool,
    pushes: bool,
    timer: Option<TimerId>,
    replies: Option<Replies>,
}

impl IcmpPingSource {
    fn is_over(&self) -> bool {
        self.limit >= 0 && self.count >= self.limit
    }

    fn interval(&self) -> Timestamp {
        Timestamp(self.interval_ms as i64 * 1_000_000)
    }

    /// Makes the payload in `packet` the next request.
    fn put(&mut self, packet: &mut Packet, now: Timestamp) {
        let number = (self.count % 0xFFFF) as u16 + 1;
        let message = Message {
            kind: kind::ECHO,
            code: 0,
            identifier: self.identifier,
            sequence: number,
        };
        message.put(packet, self.ends.src, self.ends.dst, number);
        packet.data_mut()[8] = TTL;
        set_checksum(packet.data_mut());
        packet.set_timestamp(now);
        if let Some(replies) = &mut self.replies {
            replies.sent[usize::from(number)] = Sent::Waits(now);
        }
        self.count += 1;
    }

    fn make(&mut self, ctx: &mut Ctx) -> Option<Handle> {
        let now = ctx.now();
        let pool = ctx.pool();
        let handle = pool.alloc_with(&self.data)?;
        self.put(&mut pool[&handle], now);
        Some(handle)
    }

    /// Sets the timer, unless it is set or nothing is to be sent.
    fn wake(&self, ctx: &mut Ctx, after: Timestamp) {
        if let Some(timer) = self.timer
            && self.active
            && self.pushes
            && ctx.timer_at(timer).is_none()
        {
            ctx.set_timer_after(timer, after);
        }
    }

    /// Tells of a reply; whether it is one to this element's requests.
    fn receive(&mut self, ctx: &mut Ctx, handle: &Handle) -> bool {
        let packet = &ctx.pool()[handle];
        let (Some(ip), Some(icmp)) = (header(packet), Icmp::read(packet.transport_header())) else {
            return false;
        };
        if ip.protocol != protocol::ICMP
            || icmp.kind != kind::ECHO_REPLY
            || icmp.identifier.get() != self.identifier
        {
            return false;
        }
        let (sequence, at) = (icmp.sequence.get(), packet.timestamp());
        let (from, ttl) = (Ipv4Addr::from(ip.src), ip.ttl);
        let len = usize::from(ip.total_length.get()).saturating_sub(ip.header_len() + Icmp::LEN);
        let replies = self.replies.as_mut();
        if let Some(us) = replies.and_then(|replies| replies.note(sequence, at))
            && self.verbose
        {
            let text = format!(
                "{}: {len} bytes from {from}: icmp_seq={sequence} ttl={ttl} time={} ms\n",
                ctx.declaration(ctx.me()),
                milliseconds(us)
            );
            ctx.host().say(&text);
        }
        true
    }
}

impl Element for IcmpPingSource {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.ends = Ends::of(args);
        self.interval_ms = args.uint("INTERVAL");
        self.identifier = args.uint("IDENTIFIER") as u16;
        self.limit = args.int("LIMIT");
        self.data = args.text("DATA").as_bytes().to_vec();
        self.active = args.bool("ACTIVE");
        self.verbose = args.bool("VERBOSE");
        self.stops = args.bool("STOP");
        self.mirrors = args.bool("MIRROR");
        self.pushes = setup.outputs[0] == Mode::Push;
        if self.interval_ms == 0 {
            let text = "INTERVAL so small that it is zero";
            setup.warnings.push(text.to_owned());
        }
        if !self.pushes && args.given("INTERVAL") {
            let text = "element is pull, INTERVAL parameter will be ignored";
            setup.warnings.push(text.to_owned());
        }
        if !self.pushes && self.mirrors {
            let mut said = Diagnostics::new();
            said.error(None, "MIRROR invalid on pull element");
            return Err(said);
        }
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        self.timer = Some(ctx.new_timer(0));
        if self.limit != 0 {
            self.wake(ctx, self.interval());
        }
        if ctx.inputs() == 1 {
            self.replies = Some(Replies::new());
        }
        Ok(())
    }

    fn run_timer(&mut self, ctx: &mut Ctx, _: u32) {
        if self.is_over() {
            if self.stops {
                ctx.stop();
            }
            return;
        }
        if let Some(handle) = self.make(ctx) {
            ctx.emit(0, handle);
        }
        if let Some(timer) = self.timer {
            ctx.set_timer_again(timer, self.interval());
        }
    }

    fn pull(&mut self, ctx: &mut Ctx, _: usize, max: usize, into: &mut Packets) {
        for _ in 0..max.min(into.room()) {
            if self.is_over() {
                if std::mem::take(&mut self.stops) {
                    ctx.stop();
                }
                return;
            }
            match self.make(ctx) {
                Some(handle) => into.push(handle),
                None => return,
            }
        }
    }

    fn push(&mut self, ctx: &mut Ctx, _: usize, mut batch: Batch) {
        let now = ctx.now();
        for handle in batch.drain() {
            if !self.receive(ctx, &handle) || !self.mirrors {
                ctx.drop(handle, Reason::Consumed);
                continue;
            }
            let packet = &mut ctx.pool()[&handle];
            let at = packet.network_header_at().unwrap_or(0);
            packet.pull(usize::try_from(at).unwrap_or(0) + HEADERS);
            self.put(packet, now);
            ctx.emit(0, handle);
        }
        ctx.recycle(batch);
    }

    fn handlers(&self) -> Vec<Handler> {
        let mut all = vec![
            Handler::new("active", "rwc"),
            Handler::new("src", "rw."),
            Handler::new("dst", "rw."),
            Handler::new("count", "r"),
            Handler::new("limit", "w."),
            Handler::new("interval", "w"),
            Handler::new("reset_counts", "wb"),
        ];
        if self.replies.is_some() {
            let of_replies = ["summary", "rtt_min", "rtt_avg", "rtt_max"];
            all.extend(of_replies.map(|name| Handler::new(name, "r")));
        }
        all
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        let none = Replies::default();
        let replies = self.replies.as_ref().unwrap_or(&none);
        Ok(match name {
            "active" => self.active.to_string(),
            "src" | "dst" => self.ends.read(name),
            "count" => self.count.to_string(),
            "summary" => replies.summary(self.count),
            "rtt_min" => unparse_microseconds(replies.least_us),
            "rtt_avg" => unparse_microseconds(replies.average_us()),
            _ => unparse_microseconds(replies.most_us),
        })
    }

    fn write(&mut self, ctx: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        let value = value.trim();
        match name {
            "active" => {
                self.active = parse_bool(value).map_err(|_| "type mismatch")?;
                if self.active {
                    self.wake(ctx, Timestamp::default());
                } else if let Some(timer) = self.timer {
                    ctx.unset_timer(timer);
                }
            }
            "src" | "dst" => self.ends.write(ctx, name, value)?,
            "limit" => {
                let limit = parse_int(value, i64::from(i32::MIN), i64::from(i32::MAX));
                self.limit = limit.map_err(|_| "'limit' should be integer")?;
                if !self.is_over() {
                    self.wake(ctx, self.interval());
                }
            }
            "interval" => {
                let ms = parse_seconds_in(value, 3);
                self.interval_ms = ms.map_err(|_| "'interval' should be an interval")?.into();
            }
            _ => {
                self.count = 0;
                if let Some(replies) = &mut self.replies {
                    *replies = Replies::new();
                }
                if !self.is_over() {
                    self.wake(ctx, self.interval());
                }
            }
        }
        Ok(())
    }

    fn cleanup(&mut self, ctx: &mut Ctx) {
        if let Some(replies) = self.replies.as_ref().filter(|_| self.verbose) {
            let summary = replies.summary(self.count);
            let me = ctx.declaration(ctx.me());
            for line in summary.lines() {
                ctx.host().say(&format!("{me}: {line}\n"));
            }
        }
    }

    fn quantities(&self) -> Vec<(&'static str, f64)> {
        vec![("length", self.data.len() as f64)]
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{errors, loaded};

    #[test]
    fn requests_are_answered_and_told_of() {
        let mut run = loaded(
            "p :: ICMPPingSource(10.0.0.1, 10.0.0.2, INTERVAL 0.5, DATA abcd, LIMIT 3, STOP true)
             -> c :: Counter -> CheckIPHeader -> CheckICMPHeader -> ICMPPingResponder
             -> SetTimestamp -> p;",
        );
        assert_eq!(run.run(9.0), crate::engine::driver::Progress::Stopped);
        assert_eq!(
            (run.read("p.count"), run.read("c.byte_count")),
            ("3".into(), "96".into())
        );
        let said = run.host.memory().said.clone();
        assert!(
            said.starts_with("p :: ICMPPingSource: 4 bytes from 10.0.0.2: icmp_seq=1 ttl="),
            "{said}"
        );
        let summary = run.read("p.summary");
        assert!(
            summary.starts_with("3 packets transmitted, 3 received, 0% packet loss\nrtt min"),
            "{summary}"
        );
        assert_eq!(run.ctx.pool().in_use(), 0);
    }

    #[test]
    fn lost_requests_are_counted() {
        let mut run = loaded(
            "p :: ICMPPingSource(10.0.0.1, 10.0.0.2, LIMIT 4, INTERVAL 0.1) -> Discard; Idle -> p;",
        );
        run.run(2.0);
        let summary = run.read("p.summary");
        assert_eq!(
            summary,
            "4 packets transmitted, 0 received, 100% packet loss\n"
        );
        run.write("p.reset_counts", "").expect("a button");
        assert_eq!(run.read("p.count"), "0");
    }

    #[test]
    fn a_puller_gets_no_more_than_the_limit() {
        let mut run = loaded(
            "ICMPPingSource(10.0.0.1, 10.0.0.2, LIMIT 5) -> PullNull -> c :: Counter -> Discard",
        );
        // Who pulls never sleeps, and a pull takes nanoseconds.
        run.run(1e-5);
        assert_eq!(run.read("c.count"), "5");
        let said = errors("ICMPPingSource(1.1.1.1, 2.2.2.2, MIRROR true) -> PullNull -> Discard");
        assert!(said.contains("MIRROR invalid on pull element"), "{said}");
    }
}
