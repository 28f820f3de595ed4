//! Reads packets from a capture file.
//!
//! # What it does
//! The file is pcap or pcapng, in either byte order, plain or compressed by gzip. Packets from
//! `START` up to `END` leave, one each run of its task or `BURST`. With `TIMING` they keep their
//! distances in time. With `LOOP` the file is read again at its end, for ever. With `FORCE_IP` only
//! IP packets leave by output 0, without their link headers; others by output 1, or not at all.
//!
//! # Handlers
//! - `reset_timing`: has the next packet be due at once
//!
//! # Example
//! ```click
//! FromDump(a.pcap, STOP true, FORCE_IP true) -> IPPrint -> Discard
//! ```

use super::shared::feed::{BURST, Fed, Feed, Next, SAMPLE};
use crate::args::kinds::U64;
use crate::args::times::parse_timestamp;
use crate::args::{Args, Kind, Need, Param, flag, keyword, param};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::notify::{self, Provided};
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::headers::ip_packet;
use crate::reason::Reason;
use crate::trace::encap;
use crate::trace::input::{Input, Refused};
use trammel_packet::anno;
use trammel_packet::batch::Packets;
use trammel_packet::capture::Reader;
use trammel_packet::capture::link::LinkType;
use trammel_packet::headers::ether::ethertype;
use trammel_packet::headers::ipv4::Ipv4;
use trammel_packet::headers::ipv6::Ipv6;
use trammel_packet::packet::Packet;
use trammel_packet::timestamp::Timestamp;

/// The class.
pub static ENTRY: Entry = Entry::new("FromDump", "reads packets from a capture file", || {
    Box::<FromDump>::default()
})
.ports("0/1-2", "a/ah")
.params(&[
    param(
        "FILENAME",
        Need::Mandatory,
        Kind::Filename,
        "",
        "the capture; `-` is standard input",
    ),
    param(
        "TIMING",
        Need::Positional,
        Kind::Bool,
        "false",
        "whether packets keep their distances in time",
    ),
    flag("STOP", "false", "whether it stops the driver at the end"),
    flag("ACTIVE", "true", "whether it emits packets"),
    SAMPLE,
    flag("FORCE_IP", "false", "whether only IP packets are emitted"),
    time("START", "the first time that is emitted"),
    time("START_AFTER", "`START`, from the first packet"),
    time("END", "the first time that is not emitted"),
    time("END_AFTER", "`END`, from the first packet"),
    time("INTERVAL", "`END`, from the first packet emitted"),
    keyword(
        "END_CALL",
        Kind::HandlerCall,
        "",
        "handler written at the end",
    ),
    keyword(
        "FILEPOS",
        U64,
        "0",
        "packets before this place in the file are left out",
    ),
    flag(
        "LOOP",
        "false",
        "whether it begins anew at the end, its times going on",
    ),
    flag("MMAP", "false", "has no effect"),
    BURST,
])
.ops("copy(frame - 4); work(200)");

const fn time(name: &'static str, help: &'static str) -> Param {
    keyword(name, Kind::Timestamp, "", help)
}

#[derive(Debug, Default)]
struct FromDump {
    feed: Feed,
    reader: Option<Reader>,
    link: Option<LinkType>,
    force_ip: bool,
    start: Option<Timestamp>,
    /// Whether `start` counts from the first packet.
    start_is_after: bool,
    end: Option<Timestamp>,
    end_from: Option<Since>,
    /// Whether the first packet was seen.
    has_times: bool,
    first_place: u64,
    /// Where the packet emitted last begins.
    place: u64,
    count: u64,
    rounds: Rounds,
}

/// How a file is read again and again.
#[derive(Debug, Default)]
struct Rounds {
    is_wanted: bool,
    /// The first and the last time in the file, and how many packets it has, in this round.
    first: Timestamp,
    last: Timestamp,
    packets: u64,
    /// What is added to the times of this round.
    shift: Timestamp,
}

impl Rounds {
    /// A packet of this time in the file; its time in this round.
    fn seen(&mut self, time: Timestamp) -> Timestamp {
        if self.packets == 0 {
            self.first = time;
        }
        self.last = time;
        self.packets += 1;
        time + self.shift
    }

    /// Whether another round follows. It begins a mean distance of packets after the last one.
    fn begins_anew(&mut self) -> bool {
        if !self.is_wanted || self.packets == 0 {
            return false;
        }
        let length = (self.last - self.first).0.max(0);
        let gaps = i64::try_from(self.packets - 1).unwrap_or(i64::MAX).max(1);
        self.shift = self.shift + Timestamp(length + length / gaps);
        self.packets = 0;
        true
    }
}

/// What the end counts from, if not 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Since {
    FirstPacket,
    Start,
}

impl FromDump {
    fn open(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        self.feed.input.open(ctx).map_err(Refused::text)?;
        let Some(from) = self.feed.input.take() else {
            return Ok(());
        };
        let reader = Reader::new(from).map_err(|e| format!("{}: {e}", self.feed.input.name()))?;
        self.link = reader.link();
        self.reader = Some(reader);
        Ok(())
    }

    fn first_packet(&mut self, time: Timestamp) {
        if self.start_is_after {
            self.start = self.start.map(|start| start + time);
        }
        let from = match self.end_from {
            Some(Since::FirstPacket) => time,
            Some(Since::Start) => self.start.unwrap_or(time),
            None => Timestamp::ZERO,
        };
        self.end = self.end.map(|end| end + from);
        self.has_times = true;
    }

    /// Whether a packet of this time is wanted; nothing where the end was reached.
    fn wants(&mut self, ctx: &mut Ctx, time: Timestamp) -> Option<bool> {
        if !self.has_times {
            self.first_packet(time);
        }
        if self.start.is_some_and(|start| time < start) {
            return Some(false);
        }
        while let Some(end) = self.end.filter(|end| time >= *end) {
            self.ended(ctx);
            if !self.feed.pace.active {
                return None;
            }
            if self.end == Some(end) {
                // The call left the end as it was: there is none any more.
                self.end = None;
            }
        }
        Some(self.feed.is_sampled(ctx))
    }

    /// Reads a packet that is wanted.
    fn read_packet(&mut self, ctx: &mut Ctx) -> Next {
        loop {
            let Some(reader) = &mut self.reader else {
                return Next::End;
            };
            let place = reader.offset();
            let (time, link) = match reader.next_frame() {
                Ok(Some(frame)) => {
                    self.link = Some(frame.link);
                    let Some(handle) = ctx.pool().alloc_with(frame.data) else {
                        return Next::Later { is_full: true };
                    };
                    let packet = &mut ctx.pool()[&handle];
                    let time = self.rounds.seen(frame.timestamp);
                    packet.set_timestamp(time);
                    packet.set_mac_header(0);
                    let more = frame.wire_len.saturating_sub(frame.data.len() as u32);
                    packet.set_anno_u32(anno::EXTRA_LENGTH, more);
                    self.feed.waiting = Some(handle);
                    (time, frame.link)
                }
                Ok(None) => {
                    self.reader = None;
                    if self.rounds.begins_anew() {
                        match self.open(ctx) {
                            Ok(()) => return Next::Later { is_full: true },
                            Err(why) => ctx.host().say(&format!("{why}\n")),
                        }
                    }
                    return Next::End;
                }
                Err(error) => {
                    let text = format!("{}: {error}\n", self.feed.input.name());
                    ctx.host().say(&text);
                    self.reader = None;
                    return Next::End;
                }
            };
            let Some(handle) = self.feed.waiting.take() else {
                return Next::End;
            };
            self.place = place;
            let wanted = if place < self.first_place {
                Some(false)
            } else {
                self.wants(ctx, time)
            };
            match wanted {
                None => {
                    ctx.drop(handle, Reason::Discarded);
                    return Next::Later { is_full: false };
                }
                Some(false) => ctx.drop(handle, Reason::Discarded),
                Some(true) => {
                    let force = self.force_ip || link == LinkType::RAW;
                    if force && !force_ip(&mut ctx.pool()[&handle], link) {
                        ctx.reject(1, handle, Reason::BadHeader);
                    } else {
                        return Next::Packet(handle);
                    }
                }
            }
        }
    }
}

impl Fed for FromDump {
    fn feed(&mut self) -> &mut Feed {
        &mut self.feed
    }

    fn next(&mut self, ctx: &mut Ctx) -> Next {
        let packet = match self.feed.waiting.take() {
            Some(packet) => packet,
            None => match self.read_packet(ctx) {
                Next::Packet(packet) => packet,
                other => return other,
            },
        };
        let Some(packet) = self.feed.due(ctx, packet) else {
            return Next::Later { is_full: false };
        };
        self.count += 1;
        Next::Packet(packet)
    }

    fn ended(&mut self, ctx: &mut Ctx) {
        if let Some(call) = self.feed.end_call.clone() {
            if let Err(why) = ctx.call_back(self, &call) {
                Feed::call_failed(ctx, &why);
            }
        } else {
            self.feed.pace.set_active(ctx, false);
            if self.feed.stops {
                ctx.stop();
            }
        }
    }
}

/// Marks the IP header behind the link header; whether there is a whole one.
fn force_ip(packet: &mut Packet, link: LinkType) -> bool {
    let network = link.network(packet.data());
    let Some((ethertype::IP | ethertype::IP6, at)) = network else {
        return false;
    };
    let header = packet.data().get(at..).unwrap_or_default();
    // The version counts, not the type of the link header.
    let len = match header.first().map(|first| first >> 4) {
        Some(4) => usize::from(header[0] & 15) * 4,
        Some(6) => Ipv6::LEN,
        _ => return false,
    };
    if len < Ipv4::LEN || header.len() < len {
        return false;
    }
    if header[0] >> 4 == 4 {
        let dst = Ipv4::read(header).map_or([0; 4], |ip| ip.dst);
        packet.set_anno_bytes(anno::DST_IP, dst);
    }
    ip_packet::mark_len(packet, at, len);
    true
}

/// The one time of `names` that is given, with its name; an error where there are more.
fn one_of(
    args: &Args,
    names: &[&'static str],
    text: &str,
) -> Result<Option<(Timestamp, &'static str)>, Diagnostics> {
    let given = names.iter().map(|name| (args.timestamp(name), *name));
    let given: Vec<_> = given.filter(|(time, _)| !time.is_zero()).collect();
    if given.len() > 1 {
        let mut said = Diagnostics::new();
        said.error(None, text);
        return Err(said);
    }
    Ok(given.first().copied())
}

impl Element for FromDump {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.feed.configure(setup, args);
        let start = one_of(
            args,
            &["START", "START_AFTER"],
            "START and START_AFTER are mutually exclusive",
        )?;
        self.start = start.map(|(time, _)| time);
        self.start_is_after = start.is_some_and(|(_, name)| name == "START_AFTER");
        let end = one_of(
            args,
            &["END", "END_AFTER", "INTERVAL"],
            "END, END_AFTER, and INTERVAL are mutually exclusive",
        )?;
        self.end = end.map(|(time, _)| time);
        self.end_from = end.and_then(|(_, name)| match name {
            "END_AFTER" => Some(Since::FirstPacket),
            "INTERVAL" => Some(Since::Start),
            _ => None,
        });
        if self.feed.stops && self.feed.end_call.is_some() {
            let mut said = Diagnostics::new();
            said.error(None, "END_CALL and STOP are mutually exclusive");
            return Err(said);
        }
        self.feed.input = Input::file(args.text("FILENAME"));
        self.rounds.is_wanted = args.bool("LOOP");
        if self.rounds.is_wanted && args.text("FILENAME") == "-" {
            return Err(Diagnostics::of(
                "LOOP needs a file: standard input comes once",
            ));
        }
        self.force_ip = args.bool("FORCE_IP");
        self.first_place = args.uint("FILEPOS");
        Ok(())
    }

    fn prepare(&mut self, ctx: &mut Ctx) {
        self.feed.pace.prepare(ctx);
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        self.feed.pace.initialize(ctx);
        self.open(ctx)
    }

    fn run_task(&mut self, ctx: &mut Ctx, _: u32) -> bool {
        self.push_burst(ctx)
    }

    fn pull(&mut self, ctx: &mut Ctx, _: usize, max: usize, into: &mut Packets) {
        if !self.feed.pace.active {
            return self.feed.pace.rest(ctx);
        }
        self.pull_burst(ctx, max, into);
    }

    fn run_timer(&mut self, ctx: &mut Ctx, _: u32) {
        self.feed.pace.timer(ctx);
    }

    fn notifier(&self, kind: notify::Kind, _: usize) -> Provided {
        self.feed.pace.provided(kind)
    }

    fn handlers(&self) -> Vec<Handler> {
        let mut all = Input::handlers();
        all.extend(Feed::handlers());
        all.extend([
            Handler::new("packet_filepos", "r"),
            Handler::new("extend_interval", "w"),
            Handler::new("count", "r"),
            Handler::new("reset_counts", "wb"),
            Handler::new("reset_timing", "wb"),
        ]);
        all
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "encap" => self.link.map(encap::name).unwrap_or_default(),
            "packet_filepos" => self.place.to_string(),
            "count" => self.count.to_string(),
            "filepos" if self.reader.is_some() => {
                self.reader.as_ref().map_or(0, Reader::offset).to_string()
            }
            name => return self.feed.read(name),
        })
    }

    fn write(&mut self, ctx: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        match name {
            "active" => self.feed.write_active(ctx, value)?,
            "stop" => {
                self.feed.pace.set_active(ctx, false);
                ctx.stop();
            }
            "extend_interval" => {
                let time = parse_timestamp(value.trim())
                    .map_err(|_| "'extend_interval' takes a time interval".to_owned())?;
                self.end = self.end.map(|end| end + time);
                self.feed.pace.set_active(ctx, true);
            }
            "reset_counts" => self.count = 0,
            _ => {
                self.has_times = false;
                self.start_is_after = false;
                self.end_from = None;
                self.feed.pace.reset();
            }
        }
        Ok(())
    }

    fn cleanup(&mut self, ctx: &mut Ctx) {
        self.reader = None;
        self.feed.cleanup(ctx);
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{errors, load_with};
    use crate::memory::MemoryHost;

    const FOUR: &str = "FromIPSummaryDump(STOP true, CHECKSUM true, \
        DATA \"!data timestamp ip_src ip_proto \
        sport ip_len\n1.000000001 1.1.1.1 U 7 40\n2.0 1.1.1.2 T 8 60\n3.5 1.1.1.3 T 9 70\n\
        4.5 1.1.1.4 U 1 90\")";

    #[test]
    fn a_file_is_read_again_and_again_and_time_goes_on() {
        let host = MemoryHost::new();
        let mut run = load_with(&host, &format!("{FOUR} -> ToDump(out.pcap, ENCAP IP)"))
            .unwrap_or_else(|said| panic!("{said}"));
        run.run(1.0);
        run.ctx.cleanup();
        // Rounds of 3.5 s and a mean distance of 3.5 / 3 s.
        let text = "FromDump(out.pcap, LOOP true, TIMING true) -> c :: Counter -> Discard";
        let mut run = load_with(&host, text).unwrap_or_else(|said| panic!("{said}"));
        run.run(9.5);
        assert_eq!(run.read("c.count"), "9");
        let text = "FromDump(out.pcap, LOOP true) -> RatedUnqueue(100) -> c :: Counter -> Discard";
        let mut run = load_with(&host, text).unwrap_or_else(|said| panic!("{said}"));
        run.run(1.005);
        let count: u32 = run.read("c.count").parse().expect("a number");
        assert!((99..=102).contains(&count), "{count}");
        assert!(errors("FromDump(-, LOOP true) -> Discard").contains("LOOP needs a file"));
    }

    fn through(write: &str, read: &str) -> String {
        let host = MemoryHost::new();
        let mut run = load_with(&host, &format!("{FOUR} -> ToDump({write})"))
            .unwrap_or_else(|said| panic!("{said}"));
        run.run(1.0);
        run.ctx.cleanup();
        let config = format!(
            "f :: FromDump({read}) -> ToIPSummaryDump(-, HEADER false, \
             FIELDS timestamp ip_src ip_len sport)"
        );
        let mut run = load_with(&host, &config).unwrap_or_else(|said| panic!("{said}"));
        run.run(100.0);
        assert_eq!(run.ctx.pool().in_use(), 0);
        host.memory().printed.clone()
    }

    #[test]
    fn what_was_written_is_read_whatever_the_format() {
        let all = "1.000000001 1.1.1.1 40 7\n2.000000 1.1.1.2 60 8\n3.500000 1.1.1.3 70 9\n\
            4.500000 1.1.1.4 90 1\n";
        for name in ["a", "a.pcapng", "a.gz", "a.pcapng.gz"] {
            let read = format!("{name}, STOP true, FORCE_IP true");
            assert_eq!(through(&format!("{name}, ENCAP IP"), &read), all, "{name}");
        }
        assert_eq!(
            through("a, ENCAP IP, NANO false", "a, STOP true"),
            all.replace("000000001", "000000")
        );
    }

    #[test]
    fn times_bound_what_is_read() {
        let middle = "2.000000 1.1.1.2 60 8\n3.500000 1.1.1.3 70 9\n";
        assert_eq!(through("a, ENCAP IP", "a, START 2, END 4.5"), middle);
        assert_eq!(
            through("a, ENCAP IP", "a, START_AFTER 0.5, END_AFTER 3, STOP true"),
            middle
        );
        assert_eq!(
            through("a, ENCAP IP", "a, START 2, INTERVAL 2, TIMING true"),
            middle
        );
    }

    #[test]
    fn bare_packets_without_a_whole_ip_header_leave_by_output_1() {
        let host = MemoryHost::new();
        let whole = [0x60; 40];
        let short = [&whole[..39], &[0x45; 19], &[0x46; 20], &[0x55; 60], &[]];
        let mut file = [0xA1B2_C3D4_u32, 0x0004_0002, 0, 0, 65535, 101]
            .map(u32::to_le_bytes)
            .concat();
        for data in [&whole[..]].into_iter().chain(short) {
            let len = data.len() as u32;
            file.extend([1, 0, len, len].map(u32::to_le_bytes).concat());
            file.extend_from_slice(data);
        }
        host.memory().files.insert("a".to_owned(), file);
        let config =
            "f :: FromDump(a) -> a :: Counter -> Discard; f [1] -> b :: Counter -> Discard";
        let mut run = load_with(&host, config).unwrap_or_else(|said| panic!("{said}"));
        run.run(1.0);
        assert_eq!(
            (run.read("a.count"), run.read("b.count")),
            ("1".into(), "5".into())
        );
    }

    #[test]
    fn wrong_arguments_and_files_are_refused() {
        assert!(errors("FromDump(nix) -> Discard").contains("nix: No such file"));
        assert!(
            errors("FromDump(nix, END 3, INTERVAL 3) -> Discard").contains("mutually exclusive")
        );
        assert!(errors("Idle -> ToDump(x, ENCAP NIX)").contains("bad encapsulation type"));
    }
}
