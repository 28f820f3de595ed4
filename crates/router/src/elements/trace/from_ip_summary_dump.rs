//! Reads packets from an IP summary dump.
//!
//! # What it does
//! Each line of the dump becomes a packet with the headers that the line tells of. At a push output
//! each run of its task pushes `BURST` packets; at a pull output packets come as they are asked
//! for, and the notifier is off when the dump has ended. With `TIMING` the packets keep the
//! distances that their timestamps have; the first leaves at once.
//!
//! # Example
//! ```click
//! FromIPSummaryDump(a.dump, STOP true, CHECKSUM true) -> ToDump(b.pcap, ENCAP IP)
//! ```

use super::shared::feed::{BURST, Fed, Feed, Next, SAMPLE};
use crate::args::kinds::U8;
use crate::args::{Args, Kind, Need, Param, flag, keyword, param};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::notify::{self, Provided};
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::reason::Reason;
use crate::summary::reader::{Complaint, Options, Reader};
use crate::trace::input::{Input, Refused};
use std::io::ErrorKind;
use trammel_packet::anno;
use trammel_packet::batch::Packets;
use trammel_packet::headers::ipv4::protocol;
use trammel_packet::packet::Packet;
use trammel_packet::pool::Handle;
use trammel_packet::timestamp::Timestamp;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "FromIPSummaryDump",
    "reads packets from an IP summary dump",
    || Box::<FromIpSummaryDump>::default(),
)
.ports("0/1", "a/a")
.params(&[
    param(
        "FILENAME",
        Need::Positional,
        Kind::Filename,
        "",
        "the dump, which may be compressed by gzip; `-` is standard input",
    ),
    flag("STOP", "false", "whether it stops the driver at the end"),
    flag("ACTIVE", "true", "whether it emits packets"),
    flag(
        "ZERO",
        "true",
        "bytes that the dump does not tell are zero in any case",
    ),
    flag(
        "TIMING",
        "false",
        "whether packets keep their distances in time",
    ),
    flag(
        "CHECKSUM",
        "false",
        "whether checksums are computed and packets have all bytes of their IP length",
    ),
    SAMPLE,
    keyword(
        "PROTO",
        U8,
        "6",
        "IP protocol of packets whose line does not tell it",
    ),
    flag(
        "MULTIPACKET",
        "false",
        "whether a line is as many packets as its packet count",
    ),
    names("DEFAULT_CONTENTS", "see `FIELDS`"),
    names("DEFAULT_FIELDS", "see `FIELDS`"),
    names("DEFAULT_FLOWID", "see `FLOWID`"),
    names("CONTENTS", "see `FIELDS`"),
    names("FIELDS", "fields of the lines until the dump tells them"),
    names(
        "FLOWID",
        "`SRC SPORT DST DPORT [PROTO]` of lines that do not tell them",
    ),
    flag(
        "ALLOW_NONEXISTENT",
        "false",
        "whether the dump may be missing or empty",
    ),
    keyword(
        "DATA",
        Kind::Data,
        "",
        "the dump itself, in place of a file",
    ),
    BURST,
    keyword(
        "END_CALL",
        Kind::HandlerCall,
        "",
        "handler written at the end of the dump",
    ),
])
.ops("work(2000)");

const fn names(name: &'static str, help: &'static str) -> Param {
    keyword(name, Kind::Raw, "", help)
}

#[derive(Debug)]
struct FromIpSummaryDump {
    feed: Feed,
    reader: Reader,
    /// How the packet that waits, if it is more than one, is split.
    split: Option<Split>,
    splits: bool,
    may_be_missing: bool,
    has_ended: bool,
}

/// How a line is split into packets.
#[derive(Clone, Copy, Debug)]
struct Split {
    /// Bytes of each but the last.
    share: u32,
    /// Between the times of two.
    step: Timestamp,
    /// The time of the last.
    end: Timestamp,
}

impl Default for FromIpSummaryDump {
    fn default() -> FromIpSummaryDump {
        FromIpSummaryDump {
            feed: Feed::default(),
            reader: Reader::new(Options::default()),
            split: None,
            splits: false,
            may_be_missing: false,
            has_ended: false,
        }
    }
}

impl FromIpSummaryDump {
    fn place(&self, complaint: &Complaint) -> String {
        let unit = if complaint.is_record { "record " } else { "" };
        format!("{}:{unit}{}", self.feed.input.name(), complaint.number)
    }

    /// Prints what the reader has to say.
    #[cold]
    fn complain(&mut self, ctx: &mut Ctx) {
        for complaint in self.reader.take_complaints() {
            let kind = if complaint.is_error { "" } else { "warning: " };
            let text = format!("{}: {kind}{}\n", self.place(&complaint), complaint.text);
            ctx.host().say(&text);
        }
    }

    fn read_packet(&mut self, ctx: &mut Ctx) -> Next {
        let Some(from) = self.feed.input.reader() else {
            return Next::End;
        };
        let read = self.reader.next(from, ctx.pool());
        if self.reader.has_complaints() {
            self.complain(ctx);
        }
        match read {
            Ok(Some(packet)) => return Next::Packet(packet),
            Ok(None) => {}
            Err(error) if error.kind() == ErrorKind::OutOfMemory => {
                return Next::Later { is_full: true };
            }
            Err(error) => {
                let text = format!(
                    "{}:{}: {}\n",
                    self.feed.input.name(),
                    self.reader.number(),
                    crate::trace::system_text(&error)
                );
                ctx.host().say(&text);
            }
        }
        self.feed.input.close();
        Next::End
    }

    /// The next of the packets that `whole` stands for; the rest of it waits.
    fn part(&mut self, ctx: &mut Ctx, whole: Handle) -> Option<Handle> {
        let pool = ctx.pool();
        let extra = pool[&whole].anno_u32(anno::EXTRA_PACKETS);
        if extra == 0 {
            self.split = None;
            return Some(whole);
        }
        let split = *self
            .split
            .get_or_insert_with(|| begin_split(&mut pool[&whole], extra));
        let Some(part) = pool.duplicate(&whole) else {
            self.feed.waiting = Some(whole);
            return None;
        };
        let one = &mut pool[&part];
        one.set_anno_u32(anno::EXTRA_PACKETS, 0);
        one.set_anno_u32(anno::EXTRA_LENGTH, split.share - one.len() as u32);
        let rest = &mut pool[&whole];
        rest.set_anno_u32(anno::EXTRA_PACKETS, extra - 1);
        let left = rest
            .anno_u32(anno::EXTRA_LENGTH)
            .saturating_sub(split.share);
        rest.set_anno_u32(anno::EXTRA_LENGTH, left);
        if extra == 1 {
            rest.set_timestamp(split.end);
            set_lengths(rest, left);
            self.split = None;
        } else {
            rest.set_timestamp(rest.timestamp() + split.step);
        }
        self.feed.waiting = Some(whole);
        Some(part)
    }
}

impl Fed for FromIpSummaryDump {
    fn feed(&mut self) -> &mut Feed {
        &mut self.feed
    }

    fn next(&mut self, ctx: &mut Ctx) -> Next {
        loop {
            let packet = match self.feed.waiting.take() {
                Some(packet) => packet,
                None => match self.read_packet(ctx) {
                    Next::Packet(packet) => packet,
                    other => return other,
                },
            };
            let Some(mut packet) = self.feed.due(ctx, packet) else {
                return Next::Later { is_full: false };
            };
            if self.splits {
                match self.part(ctx, packet) {
                    Some(part) => packet = part,
                    None => return Next::Later { is_full: true },
                }
            }
            if self.feed.is_sampled(ctx) {
                return Next::Packet(packet);
            }
            ctx.drop(packet, Reason::Discarded);
        }
    }

    fn ended(&mut self, ctx: &mut Ctx) {
        self.feed.pace.rest(ctx);
        if !std::mem::replace(&mut self.has_ended, true)
            && let Some(call) = self.feed.end_call.take()
            && let Err(why) = ctx.call(&call)
        {
            Feed::call_failed(ctx, &why);
        }
        if self.feed.stops {
            ctx.stop();
        }
    }
}

/// Makes `packet`, which stands for `extra` more, the first of them.
fn begin_split(packet: &mut Packet, extra: u32) -> Split {
    let (len, count) = (packet.len() as u32, extra.saturating_add(1));
    let whole = len.saturating_add(packet.anno_u32(anno::EXTRA_LENGTH));
    let mut share = whole / count;
    if share < len {
        share = len;
        packet.set_anno_u32(anno::EXTRA_LENGTH, len.saturating_mul(extra));
    }
    let end = packet.timestamp();
    let first = Timestamp(i64::from_ne_bytes(packet.anno_bytes(anno::FIRST_TIMESTAMP)));
    let mut step = Timestamp::ZERO;
    if !first.is_zero() {
        step = Timestamp((end - first).0 / i64::from(extra));
        packet.set_timestamp(first);
    }
    set_lengths(packet, share - len);
    Split { share, step, end }
}

/// Brings the lengths in the headers into line with a packet of `extra` more bytes than it has.
fn set_lengths(packet: &mut Packet, extra: u32) {
    let len = packet.network_header().len() as u32 + extra;
    let len = len.min(u32::from(u16::MAX)) as u16;
    let ip = packet.network_header_mut();
    if ip.len() < 20 || ip[2..4] == len.to_be_bytes() {
        return;
    }
    ip[2..4].copy_from_slice(&len.to_be_bytes());
    let header = u16::from(ip[0] & 15) * 4;
    if ip[9] == protocol::UDP
        && let Some(field) = ip.get_mut(usize::from(header) + 4..usize::from(header) + 6)
    {
        field.copy_from_slice(&len.saturating_sub(header).to_be_bytes());
    }
}

impl Element for FromIpSummaryDump {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let mut said = Diagnostics::new();
        self.feed.configure(setup, args);
        self.splits = args.bool("MULTIPACKET");
        self.may_be_missing = args.bool("ALLOW_NONEXISTENT");
        self.reader = Reader::new(Options {
            protocol: args.uint("PROTO") as u8,
            checksum: args.bool("CHECKSUM"),
        });
        let (path, data) = (args.text("FILENAME"), args.data("DATA"));
        match (path.is_empty(), data.is_empty()) {
            (false, false) => said.error(None, "FILENAME and DATA conflict"),
            (true, true) => said.error(None, "FILENAME: required argument missing"),
            (true, false) => self.feed.input = Input::data(data),
            (false, true) => self.feed.input = Input::file(path),
        }
        let last =
            |names: &[&'static str]| names.iter().rev().find(|name| args.given(name)).copied();
        if let Some(name) = last(&["DEFAULT_CONTENTS", "DEFAULT_FIELDS", "CONTENTS", "FIELDS"]) {
            self.reader.set_fields(args.text(name));
        }
        if let Some(name) = last(&["DEFAULT_FLOWID", "FLOWID"]) {
            self.reader.set_flow(args.text(name));
        }
        for complaint in self.reader.take_complaints() {
            let text = format!("{}: {}", self.place(&complaint), complaint.text);
            if complaint.is_error {
                said.error(None, text);
            } else {
                setup.warnings.push(text);
            }
        }
        if said.is_empty() { Ok(()) } else { Err(said) }
    }

    fn prepare(&mut self, ctx: &mut Ctx) {
        self.feed.pace.prepare(ctx);
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        self.feed.pace.initialize(ctx);
        match self.feed.input.open(ctx) {
            Ok(()) => {}
            Err(Refused::Missing(_) | Refused::Empty(_)) if self.may_be_missing => return Ok(()),
            Err(refused) => return Err(refused.text()),
        }
        if let Some(from) = self.feed.input.reader() {
            let begun = self.reader.begin(from);
            begun.map_err(|e| {
                format!(
                    "{}: {}",
                    self.feed.input.name(),
                    crate::trace::system_text(&e)
                )
            })?;
        }
        self.complain(ctx);
        Ok(())
    }

    fn run_task(&mut self, ctx: &mut Ctx, _: u32) -> bool {
        self.push_burst(ctx)
    }

    fn pull(&mut self, ctx: &mut Ctx, _: usize, max: usize, into: &mut Packets) {
        if self.feed.pace.active {
            self.pull_burst(ctx, max, into);
        }
    }

    fn run_timer(&mut self, ctx: &mut Ctx, _: u32) {
        self.feed.pace.timer(ctx);
    }

    fn notifier(&self, kind: notify::Kind, _: usize) -> Provided {
        self.feed.pace.provided(kind)
    }

    fn handlers(&self) -> Vec<Handler> {
        let mut all = Feed::handlers().to_vec();
        all.extend(Input::handlers());
        all
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        match name {
            "encap" => Ok("IP".to_owned()),
            name => self.feed.read(name),
        }
    }

    fn write(&mut self, ctx: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        if name == "stop" {
            self.feed.pace.active = false;
            ctx.stop();
            return Ok(());
        }
        self.feed.write_active(ctx, value)
    }

    fn cleanup(&mut self, ctx: &mut Ctx) {
        self.feed.input.close();
        self.feed.cleanup(ctx);
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{Run, errors, load_with};
    use crate::memory::MemoryHost;

    fn run(files: &[(&str, &str)], config: &str) -> Run {
        let host = MemoryHost::new();
        for (name, text) in files {
            let text = text.as_bytes().to_vec();
            host.memory().files.insert((*name).to_owned(), text);
        }
        let mut run = load_with(&host, config).unwrap_or_else(|said| panic!("{said}"));
        run.run(100.0);
        run
    }

    const THREE: &str = "!IPSummaryDump 1.3\n!data timestamp ip_src ip_dst ip_proto\n\
        1.0 10.0.0.1 10.0.0.2 U\n2.0 10.0.0.3 10.0.0.4 T\n3.5 10.0.0.5 10.0.0.6 I\n";

    #[test]
    fn pushes_the_packets_of_a_file_and_stops() {
        let mut run = run(
            &[("f", THREE)],
            "f :: FromIPSummaryDump(f, STOP true) -> ToIPSummaryDump(-, FIELDS ip_src ip_proto, \
             HEADER false)",
        );
        assert_eq!(
            run.host.memory().printed,
            "10.0.0.1 U\n10.0.0.3 T\n10.0.0.5 I\n"
        );
        assert_eq!(run.ctx.pool().in_use(), 0);
        assert_eq!(run.read("f.encap"), "IP");
        assert_eq!(run.read("f.filesize"), THREE.len().to_string());
        assert_eq!(run.read("f.filepos"), THREE.len().to_string());
    }

    #[test]
    fn is_pulled_until_its_end() {
        let mut run = run(
            &[("f", THREE)],
            "FromIPSummaryDump(f) -> d :: Discard(BURST 2)",
        );
        assert_eq!(run.read("d.count"), "3");
        assert_eq!(run.ctx.pool().in_use(), 0);
    }

    #[test]
    fn timing_keeps_the_distances() {
        let run = run(
            &[("f", THREE)],
            "FromIPSummaryDump(f, TIMING true, STOP true) -> SetTimestamp \
             -> ToIPSummaryDump(-, FIELDS ts_sec, HEADER false)",
        );
        let printed = run.host.memory().printed.clone();
        let seconds: Vec<i64> = printed
            .lines()
            .map(|line| line.parse().expect("a number"))
            .collect();
        assert_eq!(seconds[1] - seconds[0], 1, "{printed}");
        assert!((2..=3).contains(&(seconds[2] - seconds[0])), "{printed}");
    }

    #[test]
    fn a_line_of_several_packets_is_split() {
        let dump = "!data first_timestamp timestamp ip_src ip_len count ip_proto\n\
            1 3 1.1.1.1 303 3 U\n";
        let run = run(
            &[("f", dump)],
            "FromIPSummaryDump(f, MULTIPACKET true, STOP true) \
             -> ToIPSummaryDump(-, FIELDS ts_sec ip_len count udp_len, HEADER false)",
        );
        assert_eq!(
            run.host.memory().printed,
            "1 101 1 81\n2 101 1 81\n3 101 1 81\n"
        );
    }

    #[test]
    fn a_probability_of_zero_emits_nothing() {
        let mut run = run(
            &[("f", THREE)],
            "f :: FromIPSummaryDump(f, SAMPLE 0, STOP true) -> c :: Counter -> Discard",
        );
        assert_eq!(
            (run.read("c.count"), run.read("f.sampling_prob")),
            ("0".into(), "0".into())
        );
        assert_eq!(run.ctx.pool().in_use(), 0);
    }

    #[test]
    fn data_and_default_fields_need_no_file() {
        let run = run(
            &[],
            "FromIPSummaryDump(DATA \"1.2.3.4 5\n1.2.3.5 6\", FIELDS ip_src sport, STOP true) \
             -> ToIPSummaryDump(-, FIELDS sport ip_src, HEADER false)",
        );
        assert_eq!(run.host.memory().printed, "5 1.2.3.4\n6 1.2.3.5\n");
    }

    #[test]
    fn a_missing_file_is_an_error_unless_allowed() {
        assert!(
            errors("FromIPSummaryDump(nix) -> Discard").contains("nix: No such file or directory")
        );
        assert!(
            errors("FromIPSummaryDump() -> Discard")
                .contains("FILENAME: required argument missing")
        );
        run(
            &[],
            "FromIPSummaryDump(nix, ALLOW_NONEXISTENT true, STOP true) -> Discard",
        );
    }

    #[test]
    fn an_inactive_one_waits_for_its_handler() {
        let mut run = run(
            &[("f", THREE)],
            "f :: FromIPSummaryDump(f, ACTIVE false, STOP true) -> c :: Counter -> Discard",
        );
        assert_eq!(run.read("c.count"), "0");
        run.write("f.active", "true").expect("it is a truth");
        run.run(1.0);
        assert_eq!(run.read("c.count"), "3");
    }
}
