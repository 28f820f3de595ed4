//! Writes packets to an IP summary dump, a line each.
//!
//! # What it does
//! The dump has the values of `FIELDS`, `-` where a packet has none. Packets go on to the output
//! where there is one.
//!
//! # Example
//! ```click
//! FromDump(a.pcap, STOP true, FORCE_IP true)
//!     -> ToIPSummaryDump(-, FIELDS timestamp ip_src sport ip_dst dport ip_proto)
//! ```

use crate::args::kinds::UINT;
use crate::args::times::unparse_timestamp;
use crate::args::{Args, Kind, Param, flag, keyword, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::notify::Signal;
use crate::engine::setup::Setup;
use crate::engine::task::TaskId;
use crate::engine::{Ctx, Element, Handler};
use crate::graph::processing::Mode;
use crate::reason::Reason;
use crate::summary::fields::Fields;
use crate::summary::writer::{Options, Writer};
use crate::trace::calendar::date;
use crate::trace::output::Output;
use std::io::Read;
use trammel_packet::anno;
use trammel_packet::batch::Batch;
use trammel_packet::packet::Packet;
use trammel_packet::timestamp::Timestamp;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "ToIPSummaryDump",
    "writes packets to an IP summary dump",
    || Box::<ToIpSummaryDump>::default(),
)
.ports("1/0-1", "a/h")
.params(&[
    mandatory(
        "FILENAME",
        Kind::Filename,
        "the dump; `-` is standard output",
    ),
    names("FIELDS", "what is written of each packet"),
    names("CONTENTS", "see `FIELDS`"),
    names("DATA", "see `FIELDS`"),
    flag("VERBOSE", "false", "whether the head tells host and time"),
    flag("HEADER", "true", "whether there is a head"),
    keyword("BANNER", Kind::Text, "", "who made the dump"),
    flag(
        "MULTIPACKET",
        "false",
        "whether a packet that stands for several is several lines, unless `count` is a field",
    ),
    flag(
        "BAD_PACKETS",
        "false",
        "whether a line `!bad` precedes packets with bad headers",
    ),
    flag(
        "CAREFUL_TRUNC",
        "true",
        "whether packets shorter than their IP length are bad",
    ),
    flag(
        "EXTRA_LENGTH",
        "true",
        "whether lengths count bytes that were not captured",
    ),
    flag("BINARY", "false", "whether the records are binary"),
    keyword("BURST", UINT, "1", "packets pulled at a time"),
])
.ops("parse(40); work(1435)");

const fn names(name: &'static str, help: &'static str) -> Param {
    keyword(name, Kind::Raw, "", help)
}

#[derive(Debug, Default)]
struct ToIpSummaryDump {
    output: Output,
    writer: Option<Writer>,
    options: Options,
    banner: String,
    verbose: bool,
    header: bool,
    splits: bool,
    burst: usize,
    pulls: bool,
    input: Option<(TaskId, Signal)>,
}

impl ToIpSummaryDump {
    fn write_all(&mut self, ctx: &mut Ctx, batch: &Batch) {
        let Some(writer) = &self.writer else { return };
        for handle in batch.iter() {
            let packet = &mut ctx.pool()[handle];
            if self.splits && packet.anno_u32(anno::EXTRA_PACKETS) > 0 {
                let extra = self.options.extra_length;
                write_parts(writer, extra, packet, &mut self.output.buffer);
            } else {
                writer.packet(packet, &mut self.output.buffer);
            }
            self.output.written(ctx);
        }
    }

    fn pass_on(&mut self, ctx: &mut Ctx, mut batch: Batch) {
        self.write_all(ctx, &batch);
        if ctx.outputs() > 0 {
            ctx.emit_all(0, batch);
        } else {
            ctx.drop_all(&mut batch, Reason::Consumed);
            ctx.recycle(batch);
        }
    }
}

/// A line for each packet that `packet` stands for, its length and time shared out among them.
fn write_parts(writer: &Writer, counts_extra: bool, packet: &mut Packet, out: &mut Vec<u8>) {
    let (before, end) = (*packet.annotations(), packet.timestamp());
    let extra = packet.anno_u32(anno::EXTRA_PACKETS);
    let (len, count) = (packet.len() as u64, u64::from(extra) + 1);
    let mut left = len;
    if counts_extra {
        left += u64::from(packet.anno_u32(anno::EXTRA_LENGTH));
    }
    left = left.max(count * len);
    let first = Timestamp(i64::from_ne_bytes(packet.anno_bytes(anno::FIRST_TIMESTAMP)));
    let mut step = Timestamp::ZERO;
    if !first.is_zero() {
        step = Timestamp((end - first).0 / i64::from(extra));
        packet.set_timestamp(first);
    }
    packet.set_anno_u32(anno::EXTRA_PACKETS, 0);
    for others in (1..=count).rev() {
        let share = left / others;
        left -= share;
        let more = u32::try_from(share - len).unwrap_or(u32::MAX);
        packet.set_anno_u32(anno::EXTRA_LENGTH, more);
        writer.packet(packet, out);
        packet.set_timestamp(packet.timestamp() + step);
    }
    *packet.annotations_mut() = before;
    packet.set_timestamp(end);
}

/// The name of this machine, where it tells.
fn host_name(ctx: &mut Ctx) -> Option<String> {
    let mut text = String::new();
    let mut file = ctx.host().open("/proc/sys/kernel/hostname").ok()?;
    file.read_to_string(&mut text).ok()?;
    Some(text.trim().to_owned())
}

impl Element for ToIpSummaryDump {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let mut said = Diagnostics::new();
        self.output = Output::new(args.text("FILENAME"));
        let given = ["DATA", "CONTENTS", "FIELDS"];
        let given = given.into_iter().find(|name| args.given(name));
        let (fields, unknown) = Fields::parse(given.map_or("timestamp ip_src", |n| args.text(n)));
        for name in &unknown {
            said.error(None, format!("unknown content type '{name}'"));
        }
        if fields.len() == unknown.len() {
            said.error(None, "no contents specified");
        }
        self.verbose = args.bool("VERBOSE");
        self.header = args.bool("HEADER");
        args.text("BANNER").clone_into(&mut self.banner);
        self.splits = args.bool("MULTIPACKET") && !fields.has("count");
        self.burst = args.uint("BURST").max(1) as usize;
        self.pulls = setup.inputs[0] == Mode::Pull;
        self.options = Options {
            is_binary: args.bool("BINARY"),
            bad_packets: args.bool("BAD_PACKETS"),
            careful_truncation: args.bool("CAREFUL_TRUNC"),
            extra_length: args.bool("EXTRA_LENGTH"),
        };
        match Writer::new(fields, self.options) {
            Ok(writer) => self.writer = Some(writer),
            Err(never) => {
                for name in never {
                    said.error(None, format!("cannot use field {name} with BINARY"));
                }
            }
        }
        if said.is_empty() { Ok(()) } else { Err(said) }
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        self.output.open(ctx)?;
        if self.pulls {
            let task = ctx.new_task(0);
            let signal = ctx.upstream_signal(0, Some(task));
            ctx.schedule(task);
            self.input = Some((task, signal));
        }
        let mut lines = String::new();
        if self.verbose {
            if let Some(name) = host_name(ctx) {
                lines = format!("!host {name}\n");
            }
            let now = ctx.now();
            lines = format!(
                "{lines}!runtime {} ({})\n",
                unparse_timestamp(now),
                date(now)
            );
        }
        if let Some(writer) = self.writer.as_ref().filter(|_| self.header) {
            writer.header(&self.banner, &lines, &mut self.output.buffer);
        }
        self.output.written(ctx);
        Ok(())
    }

    fn push(&mut self, ctx: &mut Ctx, _: usize, batch: Batch) {
        self.pass_on(ctx, batch);
    }

    fn run_task(&mut self, ctx: &mut Ctx, _: u32) -> bool {
        let mut batch = ctx.batch();
        let count = ctx.pull(0, self.burst, &mut batch);
        self.pass_on(ctx, batch);
        if let Some((task, signal)) = &self.input
            && (count > 0 || ctx.is_active(signal))
        {
            ctx.schedule(*task);
        }
        count > 0
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("flush", "w")]
    }

    fn write(&mut self, ctx: &mut Ctx, _: &str, _: &str) -> Result<(), String> {
        self.output.flush(ctx);
        Ok(())
    }

    fn cleanup(&mut self, ctx: &mut Ctx) {
        self.output.close(ctx);
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{errors, load_with, loaded};
    use crate::memory::MemoryHost;

    const TWO: &str =
        "FromIPSummaryDump(STOP true, DATA \"!data ip_src sport\n1.1.1.1 7\n2.2.2.2 8\")";

    #[test]
    fn writes_a_head_and_a_line_for_each_packet() {
        let mut run = loaded(&format!(
            "{TWO} -> ToIPSummaryDump(out, BANNER \"me & you\", FIELDS sport ip_src) \
             -> c :: Counter -> Discard"
        ));
        run.run(1.0);
        run.ctx.cleanup();
        let files = &run.host.memory().files;
        assert_eq!(
            String::from_utf8_lossy(&files["out"]),
            "!IPSummaryDump 1.3\n!creator \"me & you\"\n!data sport ip_src\n7 1.1.1.1\n8 2.2.2.2\n"
        );
    }

    #[test]
    fn what_it_prints_stands_in_the_order_of_events() {
        let mut run = loaded(&format!(
            "{TWO} -> ToIPSummaryDump(-, HEADER false, FIELDS sport) \
             -> ToIPSummaryDump(-, HEADER false, FIELDS ip_src)"
        ));
        run.run(1.0);
        assert_eq!(run.host.memory().printed, "7\n1.1.1.1\n8\n2.2.2.2\n");
    }

    #[test]
    fn pulls_and_lets_no_packet_leak() {
        let mut run = loaded(&format!(
            "{TWO} -> Null -> ToIPSummaryDump(-, BURST 8, HEADER false, FIELDS sport)"
        ));
        run.run(1.0);
        assert_eq!(run.host.memory().printed, "7\n8\n");
        assert_eq!(run.ctx.pool().in_use(), 0);
    }

    #[test]
    fn a_packet_of_several_is_several_lines_unless_they_are_counted() {
        let source = "FromIPSummaryDump(STOP true, DATA \"!data count first_timestamp timestamp \
            ip_src\n\
            2 1 5 9.9.9.9\")";
        let mut run = loaded(&format!(
            "{source} -> ToIPSummaryDump(-, HEADER false, MULTIPACKET true, FIELDS ts_sec) \
             -> ToIPSummaryDump(-, HEADER false, MULTIPACKET true, FIELDS ts_sec count)"
        ));
        run.run(1.0);
        assert_eq!(run.host.memory().printed, "1\n5\n5 2\n");
    }

    #[test]
    fn a_binary_dump_reads_back() {
        let host = MemoryHost::new();
        let mut run = load_with(
            &host,
            &format!("{TWO} -> ToIPSummaryDump(out, BINARY true, FIELDS sport ip_src)"),
        )
        .unwrap_or_else(|said| panic!("{said}"));
        run.run(1.0);
        run.ctx.cleanup();
        let again = "FromIPSummaryDump(out, STOP true) \
            -> ToIPSummaryDump(-, HEADER false, FIELDS ip_src sport)";
        let mut run = load_with(&host, again).unwrap_or_else(|said| panic!("{said}"));
        run.run(1.0);
        assert_eq!(host.memory().printed, "1.1.1.1 7\n2.2.2.2 8\n");
    }

    #[test]
    fn unknown_fields_and_those_without_a_binary_form_are_refused() {
        let config = "Idle -> ToIPSummaryDump(-, FIELDS nix)";
        assert!(errors(config).contains("unknown content type 'nix'"));
        let config = "Idle -> ToIPSummaryDump(-, BINARY true, FIELDS payload)";
        assert!(errors(config).contains("cannot use field payload with BINARY"));
    }
}
