//! Writes packets to a capture file.
//!
//! # What it does
//! The file is pcap, or pcapng where its name ends in `.pcapng`; compressed where it ends in `.gz`.
//! Packets go on to the output where there is one. A packet without a time is written with the time
//! of day.
//!
//! # Example
//! ```click
//! FromDump(a.pcap, STOP true, FORCE_IP true) -> IPFilter(allow tcp, deny all)
//!     -> ToDump(b.pcap, SNAPLEN 96, ENCAP IP)
//! ```

use crate::args::kinds::UINT;
use crate::args::text::split_words;
use crate::args::{Args, Kind, flag, keyword, mandatory, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::element::PHASE_LATE;
use crate::engine::notify::Signal;
use crate::engine::setup::Setup;
use crate::engine::task::TaskId;
use crate::engine::{Ctx, Element, Handler};
use crate::graph::processing::Mode;
use crate::reason::Reason;
use crate::trace::{encap, system_text};
use std::io::{self, BufWriter, Write};
use trammel_packet::anno;
use trammel_packet::batch::{Batch, Packets};
use trammel_packet::capture::link::LinkType;
use trammel_packet::capture::{Frame, Order, Sink, pcap, pcapng};
use trammel_packet::timestamp::Timestamp;

/// The class.
pub static ENTRY: Entry = Entry::new("ToDump", "writes packets to a capture file", || {
    Box::<ToDump>::default()
})
.ports("1/0-1", "a/a")
.phase(PHASE_LATE)
.params(&[
    mandatory(
        "FILENAME",
        Kind::Filename,
        "the file; `-` is standard output",
    ),
    positional(
        "SNAPLEN",
        UINT,
        "2000",
        "bytes kept of a packet at most; 0 is no limit",
    ),
    positional(
        "ENCAP",
        Kind::Word,
        "",
        "what packets begin with: `ETHER`, `IP`, `SLL`, ...",
    ),
    keyword(
        "USE_ENCAP_FROM",
        Kind::Raw,
        "",
        "elements whose handler `encap` tells it",
    ),
    flag(
        "EXTRA_LENGTH",
        "true",
        "whether lengths count bytes that were not captured",
    ),
    flag(
        "UNBUFFERED",
        "false",
        "whether every packet is in the file at once",
    ),
    flag("NANO", "true", "whether times have nanoseconds"),
    keyword("BURST", UINT, "1", "packets pulled at a time"),
])
.ops("copy(frame - 4); work(485)");

#[derive(Debug)]
enum Format {
    Pcap(pcap::Writer),
    Pcapng(pcapng::Writer),
}

impl Format {
    fn write(
        &mut self,
        at: Timestamp,
        wire_len: u32,
        kept: &[u8],
        link: LinkType,
    ) -> io::Result<()> {
        match self {
            Format::Pcap(writer) => writer.write(at, wire_len, kept),
            Format::Pcapng(writer) => writer.write(&Frame {
                timestamp: at,
                interface: 0,
                link,
                wire_len,
                data: kept,
                comment: "",
            }),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Format::Pcap(writer) => writer.flush(),
            Format::Pcapng(writer) => writer.flush(),
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Format::Pcap(writer) => writer.finish(),
            Format::Pcapng(writer) => writer.finish(),
        }
    }
}

#[derive(Debug, Default)]
struct ToDump {
    path: String,
    snap_len: u32,
    link: Option<LinkType>,
    link_from: Vec<String>,
    extra_length: bool,
    unbuffered: bool,
    is_nanosecond: bool,
    burst: usize,
    pulls: bool,
    count: u64,
    to: Option<Format>,
    input: Option<(TaskId, Signal)>,
}

impl ToDump {
    /// What the elements of `USE_ENCAP_FROM` agree on.
    fn agreed_link(&self, ctx: &mut Ctx) -> Result<LinkType, String> {
        let mut all: Vec<(String, String)> = Vec::new();
        for name in &self.link_from {
            let found = ctx.find(name, Some(ctx.me()));
            let element = found.ok_or_else(|| format!("no element named '{name}'"))?;
            let handler = ctx.find_handler(&format!("{name}.encap"), Some(ctx.me()));
            let handler = handler.map_err(|_| {
                let element = ctx.declaration(element);
                format!("'{element}' has no 'encap' read handler")
            })?;
            let encap = ctx.read_handler(&handler, "")?;
            if encap::parse(encap.trim()).is_none() {
                let what = "did not return a valid encapsulation type";
                return Err(format!("'{name}.encap' {what}"));
            }
            all.push((name.clone(), encap.trim().to_owned()));
        }
        if all.iter().any(|(_, encap)| *encap != all[0].1) {
            let mut text = "source encapsulation types disagree:".to_owned();
            for (name, encap) in &all {
                text = format!("{text}\n  {name} has {encap}");
            }
            return Err(text);
        }
        let first = all.first().and_then(|(_, encap)| encap::parse(encap));
        first.ok_or_else(|| "element names missing after 'USE_ENCAP_FROM'".to_owned())
    }

    fn open(&mut self, ctx: &mut Ctx, link: LinkType) -> io::Result<Format> {
        let to = ctx.create_file(&self.path, false)?;
        let (name, sink) = match self.path.strip_suffix(".gz") {
            Some(name) => (name, Sink::gz(BufWriter::new(to))),
            None => (self.path.as_str(), Sink::plain(Buffered::new(to))),
        };
        if name.ends_with(".pcapng") {
            let mut writer = pcapng::Writer::new(sink, Order::default())?;
            writer.interface("", link, self.snap_len)?;
            return Ok(Format::Pcapng(writer));
        }
        let options = pcap::Options {
            link,
            snap_len: self.snap_len,
            is_nanosecond: self.is_nanosecond,
            ..pcap::Options::default()
        };
        Ok(Format::Pcap(pcap::Writer::new(sink, options)?))
    }

    fn write_all(&mut self, ctx: &mut Ctx, batch: &Packets) {
        if batch.is_empty() {
            return;
        }
        let Some(to) = &mut self.to else { return };
        let (now, link) = (ctx.now(), self.link.unwrap_or(LinkType::EN10MB));
        let pool = ctx.pool();
        let mut result = Ok(());
        for handle in batch {
            let packet = &pool[handle];
            let time = packet.timestamp();
            let time = if time.is_zero() { now } else { time };
            let mut len = packet.len() as u32;
            if self.extra_length {
                len = len.saturating_add(packet.anno_u32(anno::EXTRA_LENGTH));
            }
            let kept = packet.len().min(self.snap_len as usize);
            result = to.write(time, len, &packet.data()[..kept], link);
            if result.is_err() {
                break;
            }
            self.count += 1;
        }
        if self.unbuffered {
            result = result.and_then(|()| to.flush());
        }
        if result.is_err() {
            // The host has told it; the packets go on.
            self.to = None;
        }
    }
}

/// Keeps what is written until there is much of it; the rest goes when it is dropped or flushed.
type Buffered = BufWriter<Box<dyn Write + Send>>;

impl Element for ToDump {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let mut said = Diagnostics::new();
        args.text("FILENAME").clone_into(&mut self.path);
        self.snap_len = match args.uint("SNAPLEN") as u32 {
            0 => u32::MAX,
            len => len,
        };
        self.extra_length = args.bool("EXTRA_LENGTH");
        self.unbuffered = args.bool("UNBUFFERED");
        self.is_nanosecond = args.bool("NANO");
        self.burst = args.uint("BURST").max(1) as usize;
        self.pulls = setup.inputs[0] == Mode::Pull && setup.outputs.is_empty();
        let encap = args.text("ENCAP");
        self.link_from = split_words(args.text("USE_ENCAP_FROM"));
        if args.given("USE_ENCAP_FROM") {
            if !encap.is_empty() {
                said.error(None, "specify at most one of 'ENCAP' and 'USE_ENCAP_FROM'");
            } else if self.link_from.is_empty() {
                said.error(None, "element names missing after 'USE_ENCAP_FROM'");
            }
        } else {
            self.link = encap::parse(if encap.is_empty() { "ETHER" } else { encap });
            if self.link.is_none() {
                said.error(None, "bad encapsulation type");
            }
        }
        if said.is_empty() { Ok(()) } else { Err(said) }
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        let link = match self.link {
            Some(link) => link,
            None => self.agreed_link(ctx)?,
        };
        self.link = Some(link);
        let opened = self.open(ctx, link);
        self.to = Some(opened.map_err(|e| format!("{}: {}", self.path, system_text(&e)))?);
        if self.pulls {
            let task = ctx.new_task(0);
            let signal = ctx.upstream_signal(0, Some(task));
            ctx.schedule(task);
            self.input = Some((task, signal));
        }
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        self.write_all(ctx, batch);
    }

    fn push(&mut self, ctx: &mut Ctx, _: usize, mut batch: Batch) {
        self.write_all(ctx, &batch);
        if ctx.outputs() > 0 {
            ctx.emit_all(0, batch);
        } else {
            ctx.drop_all(&mut batch, Reason::Consumed);
            ctx.recycle(batch);
        }
    }

    fn run_task(&mut self, ctx: &mut Ctx, _: u32) -> bool {
        let mut batch = ctx.batch();
        let count = ctx.pull(0, self.burst, &mut batch);
        self.write_all(ctx, &batch);
        ctx.drop_all(&mut batch, Reason::Consumed);
        ctx.recycle(batch);
        if let Some((task, signal)) = &self.input
            && (count > 0 || ctx.is_active(signal))
        {
            ctx.schedule(*task);
        }
        count > 0
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![
            Handler::new("filename", "r"),
            Handler::new("count", "r"),
            Handler::new("reset_counts", "wb"),
        ]
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "count" => self.count.to_string(),
            _ if self.path == "-" => "<stdout>".to_owned(),
            _ => self.path.clone(),
        })
    }

    fn write(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<(), String> {
        self.count = 0;
        Ok(())
    }

    fn cleanup(&mut self, _: &mut Ctx) {
        if let Some(to) = self.to.take() {
            // The host tells of a write that fails.
            _ = to.finish();
        }
    }
}
