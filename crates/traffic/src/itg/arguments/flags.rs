//! The table of flags: a row each, with what it wants, how it is written and what it does.

use super::applications::CODECS;
use super::bounds::KILOBYTE;
use super::error::Error;
use super::reader::Reader;
use crate::itg::command::{Application, Metadata, Unit, Values};
use crate::stream::{Late, Meter};
use trammel_core::Time;

/// Where a flag may stand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// On the command line, not in a script.
    Log,
    /// Anywhere, not beside an application.
    Law,
    /// Anywhere.
    Flow,
    /// Only after `VoIP`.
    Voip,
}

/// A row of the table: what it is called, what it wants, how it is written, and what it does.
pub(super) struct Flag {
    pub(super) word: &'static str,
    pub(super) part: Part,
    pub(super) wants: &'static str,
    pub(super) example: &'static str,
    pub(super) set: fn(&mut Reader<'_>) -> Result<(), Error>,
}

pub(super) const fn row(
    part: Part,
    word: &'static str,
    wants: &'static str,
    example: &'static str,
    set: fn(&mut Reader<'_>) -> Result<(), Error>,
) -> Flag {
    Flag {
        word,
        part,
        wants,
        example,
        set,
    }
}

const RATE: &str = "packets per second, above 0";
const RATES: &str = "the smallest and the largest rate in packets per second, above 0";
const SHAPE: &str = "two numbers above 0, shape and scale";
const NORMAL: &str = "mean and standard deviation, not negative";
const SIZE: &str = "bytes, not negative";
const FILE: &str = "the name of a file";
const SERVER: &str = "the address of a log server, and UDP or TCP";
const ADDRESS: &str = "an address or a host's name";
const PORT: &str = "a port, 0 to 65535";
const MILLISECONDS: &str = "milliseconds, not negative";

#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "a method of `Reader<'a>` is not general enough in `'a`"
)]
#[rustfmt::skip] // one flag a line
pub(super) static FLAGS: &[Flag] = &[
    row(
        Part::Log, "-l", FILE, "-l sender.log",
        |r| { r.logs.sender = Some(r.optional("/tmp/ITGSend.log")); Ok(()) }
    ),
    row(
        Part::Log, "-x", FILE, "-x receiver.log",
        |r| { r.logs.receiver = Some(r.optional("/tmp/ITGRecv.log")); Ok(()) }
    ),
    row(
        Part::Log, "-L", SERVER, "-L 10.0.0.9 UDP",
        |r| { r.logs.sender_server = Some(r.server()?); Ok(()) }
    ),
    row(
        Part::Log, "-X", SERVER, "-X 10.0.0.9 UDP",
        |r| { r.logs.receiver_server = Some(r.server()?); Ok(()) }
    ),
    row(
        Part::Log, "-q", "packets, 1 or more", "-q 50",
        |r| { r.logs.batch = r.whole(1, u32::MAX.into())? as u32; Ok(()) }
    ),

    row(
        Part::Flow, "-Sda", ADDRESS, "-Sda 10.0.0.2",
        |r| { r.command.signalling.to = Some(r.host()?); Ok(()) }
    ),
    row(
        Part::Flow, "-Sdp", PORT, "-Sdp 9000", |r| { r.command.signalling.port = r.port()?; Ok(()) }
    ),
    row(
        Part::Flow, "-Ssa", ADDRESS, "-Ssa 10.0.0.1",
        |r| { r.command.signalling.from = Some(r.host()?); Ok(()) }
    ),
    row(
        Part::Flow, "-Ssp", PORT, "-Ssp 9100",
        |r| { r.command.signalling.from_port = Some(r.port()?); Ok(()) }
    ),
    row(
        Part::Flow, "-Si", "a network device", "-Si eth0",
        |r| { r.command.signalling.device = Some(r.word()?.to_owned()); Ok(()) }
    ),

    row(Part::Flow, "-H", "nothing", "-H", |r| { r.command.is_passive = true; Ok(()) }),
    row(Part::Flow, "-m", "owdm (one way) or rttm (round trip)", "-m rttm", |r| {
        r.command.meter = r.choice(&[("owdm", Meter::OneWay), ("rttm", Meter::RoundTrip)])?; Ok(())
    }),
    row(
        Part::Flow, "-t", MILLISECONDS, "-t 10000",
        |r| { r.duration = Some(r.milliseconds()?); Ok(()) }
    ),
    row(
        Part::Flow, "-z", "a number of packets", "-z 1000",
        |r| { r.command.limits.packets = Some(r.whole(0, u64::MAX)?); Ok(()) }
    ),
    row(Part::Flow, "-k", "kilobytes, not negative", "-k 100", |r| {
        r.command.limits.bytes = Some(
            (r.number(0.0, 1e15)? * KILOBYTE as f64).ceil() as u64
        ); Ok(())
    }),
    row(
        Part::Flow, "-d", MILLISECONDS, "-d 500",
        |r| { r.command.start = Time::ZERO + r.milliseconds()?; Ok(()) }
    ),
    row(
        Part::Flow, "-b", "a byte, 0 to 255 or 0x0 to 0xff", "-b 0x2e",
        |r| { r.command.ds = Some(r.byte()?); Ok(()) }
    ),
    row(
        Part::Flow, "-f", "a byte, 0 to 255 or 0x0 to 0xff", "-f 64",
        |r| { r.command.ttl = Some(r.byte()?); Ok(()) }
    ),
    row(
        Part::Flow, "-a", ADDRESS, "-a 10.0.0.2", |r| { r.command.destination = r.host()?; Ok(()) }
    ),
    row(
        Part::Flow, "-sa", ADDRESS, "-sa 10.0.0.1",
        |r| { r.command.source = Some(r.host()?); Ok(()) }
    ),
    row(Part::Flow, "-rp", PORT, "-rp 10001", |r| { r.command.port = r.port()?; Ok(()) }),
    row(
        Part::Flow, "-sp", PORT, "-sp 20001",
        |r| { r.command.source_port = Some(r.port()?); Ok(()) }
    ),
    row(
        Part::Flow, "-i", "a network device", "-i eth0",
        |r| { r.command.device = Some(r.word()?.to_owned()); Ok(()) }
    ),
    row(Part::Flow, "-p", "0 (flow, number, time), 1 (flow, number) or 2 (nothing)", "-p 0", |r| {
        r.command.metadata = r.choice(&[
            ("0", Metadata::Full), ("1", Metadata::Sequence), ("2", Metadata::None)
        ])?; Ok(())
    }),
    row(
        Part::Flow, "-T", "UDP, TCP, ICMP [type], SCTP association streams, or DCCP", "-T UDP",
        |r| r.protocol()
    ),
    row(Part::Flow, "-D", "nothing", "-D", |r| { r.command.is_without_nagle = true; Ok(()) }),
    row(
        Part::Flow, "-Fp", FILE, "-Fp payload.bin",
        |r| { r.command.content = Some(r.word()?.to_owned()); Ok(()) }
    ),

    row(Part::Law, "-C", RATE, "-C 1000", |r| r.gap()),
    row(Part::Law, "-U", RATES, "-U 500 1500", |r| r.gap()),
    row(Part::Law, "-E", RATE, "-E 1000", |r| r.gap()),
    row(Part::Law, "-O", RATE, "-O 1000", |r| r.gap()),
    row(Part::Law, "-N", NORMAL, "-N 10 2", |r| r.gap()),
    row(Part::Law, "-V", SHAPE, "-V 1.5 10", |r| r.gap()),
    row(Part::Law, "-Y", SHAPE, "-Y 10 2", |r| r.gap()),
    row(Part::Law, "-G", SHAPE, "-G 2 5", |r| r.gap()),
    row(Part::Law, "-W", SHAPE, "-W 2 5", |r| r.gap()),
    row(Part::Law, "-Ft", FILE, "-Ft gaps.txt", |r| {
        let path = r.word()?.to_owned();
        r.set_gap(Values::File { path, unit: Unit::Milliseconds }); Ok(())
    }),
    row(
        Part::Law, "-B", "two distributions in milliseconds, on and off", "-B C 500 E 200",
        |r| r.bursts()
    ),

    row(Part::Law, "-c", SIZE, "-c 512", |r| r.size()),
    row(Part::Law, "-u", "the smallest and the largest size in bytes", "-u 500 1000", |r| r.size()),
    row(Part::Law, "-e", SIZE, "-e 512", |r| r.size()),
    row(Part::Law, "-o", SIZE, "-o 512", |r| r.size()),
    row(Part::Law, "-n", NORMAL, "-n 512 20", |r| r.size()),
    row(Part::Law, "-v", SHAPE, "-v 1.5 100", |r| r.size()),
    row(Part::Law, "-y", SHAPE, "-y 512 20", |r| r.size()),
    row(Part::Law, "-g", SHAPE, "-g 2 256", |r| r.size()),
    row(Part::Law, "-w", SHAPE, "-w 2 256", |r| r.size()),
    row(Part::Law, "-Fs", FILE, "-Fs sizes.txt", |r| {
        let path = r.word()?.to_owned();
        r.set_size(Values::File { path, unit: Unit::Bytes }); Ok(())
    }),

    row(Part::Voip, "-x", "a codec: G.711.1, G.711.2, G.723.1, G.729.2 or G.729.3", "VoIP -x \
        G.729.2", |r| {
        let chosen = r.choice(&CODECS)?;
        if let Some(
            Application::Voip { codec, .. }
        ) = &mut r.command.application { *codec = chosen; }
        Ok(())
    }),
    row(Part::Voip, "-h", "RTP or CRTP", "VoIP -h RTP", |r| {
        let chosen = r.choice(&[("RTP", false), ("CRTP", true)])?;
        if let Some(Application::Voip {
            is_compressed, ..
        }) = &mut r.command.application { *is_compressed = chosen; }
        Ok(())
    }),
    row(Part::Voip, "-VAD", "nothing", "VoIP -VAD", |r| {
        if let Some(Application::Voip {
            is_silent_in_pauses, ..
        }) = &mut r.command.application { *is_silent_in_pauses = true; }
        r.remark(
            "`-VAD`: ours leaves out packets in silences; the original only makes packets shorter"
        );
        Ok(())
    }),

    row(
        Part::Flow, "-s", "a seed, 0 to 1", "-s 0.5",
        |r| { r.command.seed = Some(r.number(0.0, 1.0)?); Ok(()) }
    ),
    row(Part::Flow, "-poll", "nothing", "-poll", |r| { r.command.is_polling = true; Ok(()) }),
    row(Part::Flow, "-j", "0 or 1", "-j 1", |r| {
        r.command.late = r.choice(&[("0", Late::Stretch), ("1", Late::Burst)])?;
        if r.command.late == Late::Burst {
            r.remark("`-j 1`: ours sends late packets at once, as documented, so that the mean \
                      rate holds; the original loses them");
        }
        Ok(())
    }),
    row(
        Part::Flow, "-sk", "a serial line", "-sk ttyS0",
        |r| { r.command.sender_serial = Some(r.word()?.to_owned()); Ok(()) }
    ),
    row(
        Part::Flow, "-rk", "a serial line", "-rk ttyS0",
        |r| { r.command.receiver_serial = Some(r.word()?.to_owned()); Ok(()) }
    ),
    row(
        Part::Flow, "-P", "nothing", "-P",
        |r| { r.remark("`-P` is for Windows and does nothing here"); Ok(()) }
    ),
];
