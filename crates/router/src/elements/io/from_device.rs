//! Receives frames from a network interface.
//!
//! # What it does
//! Emits what comes at `DEVNAME`, with the time and the type of packet that the device tells.
//! `METHOD` is `afxdp`, `afpacket` (Click's `PCAP` and `LINUX` mean it too), `tap`, `tun`, `ring`
//! or `pcap`; without one the machine chooses and says which. A `DEVNAME` with a `/` in it, or that
//! ends in `.pcap`, `.pcapng` or either and `.gz`, is a capture file: METHOD `pcap`, and frames
//! come as fast as they are taken until its end. By packet sockets the kernel's own stack sees the
//! frames as well; by `afxdp` it does not. A `ToDevice` of the same name sends by the same device.
//!
//! What the kernel leaves to hardware is done here: checksums are computed, and super-packets,
//! which stand for many packets of one connection, are cut. With `OFFLOAD carry`, by `afpacket`, a
//! super-packet is one packet of up to 64 KiB instead, all of whose lengths and checksums are
//! right; a `ToDevice` with `OFFLOAD carry` leaves cutting it to the kernel, and any other cuts it.
//! Those within tunnels are always cut.
//!
//! Its task runs while frames come, in batches; then it sleeps until the device's descriptor is
//! ready. With `BUSY_POLL true` it never sleeps.
//!
//! # Methods
//! | METHOD | is | needs |
//! | --- | --- | --- |
//! | `afxdp` | AF_XDP sockets: frames go past the kernel's own stack | CAP_NET_ADMIN, CAP_NET_RAW and CAP_BPF |
//! | `afpacket` | packet sockets: the kernel's stack sees the frames as well | CAP_NET_RAW |
//! | `tap`, `tun` | an interface of the kernel's that is made for it; of frames, or of IP packets | CAP_NET_ADMIN |
//! | `ring` | a wire in memory between two elements, `NAME.0` and `NAME.1` | nothing |
//! | `pcap` | a capture file | a file |
//!
//! # Example
//! ```click
//! // What comes by one interface leaves by another.
//! FromDevice(eth0, METHOD afpacket) -> Counter -> Queue -> ToDevice(eth1)
//! ```

use super::shared::device_method::{BAD_METHOD, device_method};
use super::shared::link_header::mark_ip;
use crate::args::kinds::{INT, U16, UINT};
use crate::args::{Args, Kind, Need, param};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::devices::DeviceId;
use crate::engine::setup::Setup;
use crate::engine::task::TaskId;
use crate::engine::{Ctx, Element, Handler};
use crate::host::DeviceRequest;
use crate::reason::Reason;
use trammel_packet::anno::EXTRA_LENGTH;
use trammel_packet::batch::{CAPACITY, Packets};
use trammel_packet::timestamp::Timestamp;

/// The class.
pub static ENTRY: Entry = Entry::new("FromDevice", "receives frames from an interface", || {
    Box::<FromDevice>::default()
})
.ports("0/1-2", "h/h")
.params(&[
    param("DEVNAME", Need::Mandatory, Kind::Text, "", "the interface"),
    param(
        "PROMISC",
        Need::Positional,
        Kind::Bool,
        "false",
        "whether frames to other hosts come too",
    ),
    param(
        "SNAPLEN",
        Need::Positional,
        UINT,
        "65535",
        "bytes that are kept of a frame",
    ),
    param(
        "SNIFFER",
        Need::Keyword,
        Kind::Bool,
        "true",
        "whether the kernel's stack is to see the frames as well",
    ),
    param(
        "FORCE_IP",
        Need::Keyword,
        Kind::Bool,
        "false",
        "whether only IP packets come, with their header marked",
    ),
    param("METHOD", Need::Keyword, Kind::Word, "", "how frames come"),
    param(
        "CAPTURE",
        Need::Keyword,
        Kind::Word,
        "",
        "the same as METHOD",
    ),
    param(
        "BPF_FILTER",
        Need::Keyword,
        Kind::Text,
        "",
        "ignored, with a warning: IPClassifier does it",
    ),
    param(
        "PROTOCOL",
        Need::Keyword,
        U16,
        "0",
        "the only Ethernet type that comes; 0 for all",
    ),
    param(
        "OUTBOUND",
        Need::Keyword,
        Kind::Bool,
        "false",
        "whether what the kernel sends comes too",
    ),
    param(
        "HEADROOM",
        Need::Keyword,
        UINT,
        "28",
        "bytes free before the frame, at least",
    ),
    param(
        "ENCAP",
        Need::Keyword,
        Kind::Word,
        "",
        "the encapsulation, ETHER or IP; the device knows it",
    ),
    param(
        "BURST",
        Need::Keyword,
        INT,
        "32",
        "frames of each run, rounded up to whole batches",
    ),
    param(
        "TIMESTAMP",
        Need::Keyword,
        Kind::Bool,
        "true",
        "whether packets carry the time they came",
    ),
    param(
        "BUSY_POLL",
        Need::Keyword,
        Kind::Bool,
        "false",
        "whether it asks without end rather than waiting",
    ),
    param(
        "OFFLOAD",
        Need::Keyword,
        Kind::Word,
        "segment",
        "whether super-packets are cut (`segment`) or one packet (`carry`), by METHOD afpacket",
    ),
    param(
        "STOP",
        Need::Keyword,
        Kind::Bool,
        "false",
        "whether the end of a capture file stops the driver",
    ),
    param(
        "QUEUE",
        Need::Keyword,
        U16,
        "0",
        "the receive queue, for METHOD afxdp",
    ),
    param(
        "RING",
        Need::Keyword,
        UINT,
        "",
        "frames that the device's ring holds",
    ),
])
.ops("0.5 * driver(frame, calls)");

/// Runs in vain before it sleeps: waking costs more than asking, and while frames come in bursts
/// the next is some microseconds away.
const PATIENCE: u32 = 64;

#[derive(Debug, Default)]
struct FromDevice {
    wish: DeviceRequest,
    snaplen: usize,
    headroom: usize,
    protocol: u16,
    forces_ip: bool,
    stamps: bool,
    polls: bool,
    /// Whether the device's end stops the driver.
    stops: bool,
    bursts: usize,
    /// Whether any packet has to be looked at.
    is_plain: bool,
    device: Option<DeviceId>,
    task: Option<TaskId>,
    descriptor: Option<i32>,
    empty: u32,
    count: u64,
}

impl FromDevice {
    /// What the arguments ask of each frame.
    fn look(&self, ctx: &mut Ctx, batch: &mut Packets) {
        let (has_error, encapsulated) = (ctx.outputs() > 1, !self.is_bare());
        batch.filter(|handle| {
            let packet = &mut ctx.pool()[&handle];
            if packet.len() > self.snaplen {
                let extra = packet.len() - self.snaplen;
                packet.take(extra);
                packet.set_anno_u32(EXTRA_LENGTH, extra as u32);
            }
            if !self.stamps {
                packet.set_timestamp(Timestamp::ZERO);
            }
            if packet.headroom() < self.headroom {
                packet.set_headroom(self.headroom);
            }
            if self.protocol != 0
                && packet.data().get(12..14) != Some(&self.protocol.to_be_bytes()[..])
            {
                ctx.drop(handle, Reason::Filtered);
                return None;
            }
            if self.forces_ip && !mark_ip(packet, encapsulated) {
                if has_error {
                    ctx.emit(1, handle);
                } else {
                    ctx.drop(handle, Reason::Filtered);
                }
                return None;
            }
            Some(handle)
        });
    }

    /// Gives the present time to frames of a device that tells none.
    fn stamp(ctx: &mut Ctx, batch: &Packets) {
        let mut now = None;
        for handle in batch {
            if ctx.pool()[handle].timestamp().is_zero() {
                let now = *now.get_or_insert_with(|| ctx.now());
                ctx.pool()[handle].set_timestamp(now);
            }
        }
    }

    /// Whether frames come without a link header.
    fn is_bare(&self) -> bool {
        self.wish.method == "tun"
    }
}

impl Element for FromDevice {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let mut said = Diagnostics::new();
        let word = match args.text("METHOD") {
            "" => args.text("CAPTURE"),
            word => word,
        };
        let method = device_method(word, args.text("DEVNAME"));
        if method.is_none() {
            said.error(None, BAD_METHOD);
        }
        for (name, least, most) in [("SNAPLEN", 14, 65535), ("HEADROOM", 0, 8190)] {
            if !(least..=most).contains(&args.uint(name)) {
                said.error(None, format!("{name} out of range"));
            }
        }
        if args.int("BURST") <= 0 {
            said.error(None, "BURST out of range");
        }
        if !matches!(args.text("OFFLOAD"), "segment" | "carry") {
            said.error(None, "bad OFFLOAD: expected segment or carry");
        }
        if !matches!(args.text("ENCAP"), "" | "ETHER" | "IP") {
            said.error(None, "bad encapsulation type");
        }
        if !args.text("BPF_FILTER").is_empty() {
            if word == "PCAP" {
                let text = "BPF_FILTER is not supported; put an IPClassifier behind it";
                said.error(None, text);
            } else {
                // As a Click that was built without libpcap.
                let text = "not using METHOD PCAP, BPF filter ignored: all frames come; \
                    put an IPClassifier behind it";
                setup.warnings.push(text.to_owned());
            }
        }
        if said.has_errors() {
            return Err(said);
        }
        let mut method = method.unwrap_or_default().to_owned();
        // What only the packet socket does.
        let is_shared = args.opt_bool("SNIFFER") == Some(true) || args.bool("OUTBOUND");
        if is_shared && method.is_empty() {
            method = "afpacket".to_owned();
        }
        if args.opt_bool("SNIFFER") == Some(false) && method == "afpacket" {
            let text =
                "SNIFFER false needs METHOD afxdp: the kernel's stack sees the frames as well";
            setup.warnings.push(text.to_owned());
        }
        let mut options = vec![
            ("OUTBOUND".to_owned(), args.bool("OUTBOUND").to_string()),
            ("QUEUE".to_owned(), args.uint("QUEUE").to_string()),
            ("READS".to_owned(), "true".to_owned()),
        ];
        if args.given("OFFLOAD") {
            options.push(("OFFLOAD".to_owned(), args.text("OFFLOAD").to_owned()));
        }
        if let Some(ring) = args.opt_uint("RING") {
            options.push(("RING".to_owned(), ring.to_string()));
        }
        self.wish = DeviceRequest {
            name: args.text("DEVNAME").to_owned(),
            method,
            promiscuous: args.bool("PROMISC"),
            address: None,
            options,
        };
        self.snaplen = args.uint("SNAPLEN") as usize;
        self.headroom = args.uint("HEADROOM") as usize;
        self.protocol = args.uint("PROTOCOL") as u16;
        self.forces_ip = args.bool("FORCE_IP");
        self.stamps = args.bool("TIMESTAMP");
        self.polls = args.bool("BUSY_POLL");
        self.stops = args.bool("STOP");
        self.bursts = (args.int("BURST") as usize).div_ceil(CAPACITY);
        self.is_plain = self.snaplen == 65535
            && self.headroom <= trammel_packet::pool::HEADROOM
            && self.protocol == 0
            && !self.forces_ip
            && self.stamps;
        Ok(())
    }

    fn prepare(&mut self, ctx: &mut Ctx) {
        self.device = Some(ctx.want_device(self.wish.clone()));
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        let Some(device) = self.device else {
            return Ok(());
        };
        ctx.open_wanted(device)?;
        self.descriptor = ctx
            .device(device)
            .and_then(trammel_packet::device::Device::descriptor);
        let task = ctx.new_task(0);
        ctx.schedule(task);
        self.task = Some(task);
        Ok(())
    }

    fn run_task(&mut self, ctx: &mut Ctx, _: u32) -> bool {
        let (Some(device), Some(task)) = (self.device, self.task) else {
            return false;
        };
        let before = self.count;
        for _ in 0..self.bursts.min(ctx.most_burst() / CAPACITY) {
            let mut batch = ctx.batch();
            let came = match ctx.receive(device, &mut batch) {
                Ok(came) => came,
                Err(why) => {
                    ctx.recycle(batch);
                    let text = format!("{}: {why}\n", ctx.declaration(ctx.me()));
                    ctx.host().say(&text);
                    return false;
                }
            };
            self.count += came as u64;
            // A capture's times are its own, zero among them.
            if self.stamps && self.wish.method != "pcap" {
                FromDevice::stamp(ctx, &batch);
            }
            if !self.is_plain {
                self.look(ctx, &mut batch);
            }
            ctx.emit_all(0, batch);
            if came < CAPACITY {
                break;
            }
        }
        if self.count > before {
            self.empty = 0;
            ctx.schedule(task);
            return true;
        }
        if ctx
            .device(device)
            .is_some_and(trammel_packet::device::Device::is_exhausted)
        {
            ctx.say_remarks(device);
            if self.stops {
                ctx.stop();
            }
            return false;
        }
        self.empty += 1;
        match self.descriptor {
            Some(descriptor) if !self.polls && self.empty > PATIENCE => {
                ctx.say_remarks(device);
                ctx.watch(descriptor, false);
            }
            _ => ctx.schedule(task),
        }
        false
    }

    fn ready(&mut self, ctx: &mut Ctx, descriptor: i32) {
        ctx.unwatch(descriptor, false);
        self.empty = 0;
        if let Some(task) = self.task {
            ctx.schedule(task);
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![
            Handler::new("kernel_drops", "r"),
            Handler::new("encap", "r"),
            Handler::new("count", "r"),
            Handler::new("reset_counts", "wb"),
            Handler::new("method", "r"),
        ]
    }

    fn read(&mut self, ctx: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        let device = self.device.ok_or("not initialized")?;
        Ok(match name {
            "kernel_drops" => ctx.device_counters(device).receive_drops.to_string(),
            "encap" if self.is_bare() => "IP".to_owned(),
            "encap" => "ETHER".to_owned(),
            "method" => ctx.device_request(device).method.clone(),
            _ => self.count.to_string(),
        })
    }

    fn write(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<(), String> {
        self.count = 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{errors, load_with};
    use crate::memory::MemoryDevice;
    use crate::memory::MemoryHost;

    #[test]
    fn frames_of_a_device_come_out_and_are_counted() {
        let host = MemoryHost::new();
        let device = MemoryDevice::new("eth0", (0..100).map(|n| vec![n; 60]));
        host.memory()
            .devices
            .insert("eth0".into(), Box::new(device));
        let mut run = load_with(&host, "f :: FromDevice(eth0) -> d :: Discard").expect("it loads");
        run.run(1.0);
        assert_eq!(
            (run.read("f.count"), run.read("d.count")),
            ("100".into(), "100".into())
        );
        assert_eq!(run.read("f.encap"), "ETHER");
        assert_eq!(run.ctx.pool().in_use(), 0);
    }

    #[test]
    fn a_filter_of_bpf_is_ignored_with_a_warning_unless_pcap_is_asked_for() {
        let config =
            |method: &str| format!("FromDevice(eth0, BPF_FILTER \"tcp\"{method}) -> Discard");
        let said = crate::load::testing::refusal(&config(""));
        assert!(
            said.contains("warning") && said.contains("BPF filter ignored"),
            "{said}"
        );
        let said = crate::load::testing::refusal(&config(", METHOD PCAP"));
        assert!(
            said.contains("error") && said.contains("BPF_FILTER is not supported"),
            "{said}"
        );
    }

    #[test]
    fn frames_of_a_device_that_tells_no_times_have_that_of_their_coming() {
        let host = MemoryHost::new();
        // Behind the device they wait together, so each is late by the delay and not by those
        // before it.
        let config = "FromDevice(eth0, BURST 100) -> Queue -> DelayUnqueue(10ms) -> d :: Discard;
            FromDevice(eth1, TIMESTAMP false, BURST 100) -> Queue -> DelayUnqueue(10ms) \
            -> e :: Discard";
        for name in ["eth0", "eth1"] {
            let device = MemoryDevice::new(name, (0..20).map(|n| vec![n; 60]));
            host.memory().devices.insert(name.into(), Box::new(device));
        }
        let mut run = load_with(&host, config).expect("it loads");
        run.run(0.05);
        assert_eq!(run.read("d.count"), "20");
        // Those without a time have the one at which they are pulled, each after the one before it.
        let count: u32 = run.read("e.count").parse().expect("a number");
        assert!((3..=5).contains(&count), "{count}");
    }

    #[test]
    fn only_the_protocol_and_only_ip_come_where_asked() {
        let host = MemoryHost::new();
        let frame = |kind: [u8; 2], first: u8| {
            let mut frame = vec![0; 60];
            frame[12..14].copy_from_slice(&kind);
            frame[14] = first;
            frame
        };
        let frames = [
            frame([8, 0], 0x45),
            frame([8, 6], 0),
            frame([8, 0], 0x91),
            vec![1; 3],
        ];
        let device = MemoryDevice::new("eth0", frames.into_iter());
        host.memory()
            .devices
            .insert("eth0".into(), Box::new(device));
        let config = "f :: FromDevice(eth0, FORCE_IP true) -> d :: Discard; f[1] -> e :: Discard";
        let mut run = load_with(&host, config).expect("it loads");
        run.run(1.0);
        assert_eq!(
            (run.read("d.count"), run.read("e.count")),
            ("1".into(), "3".into())
        );
        assert_eq!(run.ctx.pool().in_use(), 0);
    }

    #[test]
    fn what_is_missing_is_named_with_the_command_that_mends_it() {
        let said = errors("FromDevice(eth9) -> Discard");
        assert!(
            said.contains("no network interface `eth9`; try: ip link show"),
            "{said}"
        );
        assert!(errors("FromDevice(eth0, METHOD NETMAP) -> Discard").contains("bad METHOD"));
        assert!(errors("FromDevice(eth0, SNAPLEN 3) -> Discard").contains("SNAPLEN out of range"));
    }
}
